//! The table `[points]` of `course.toml`: how many points each exercise has. `cargo learn grade`
//! writes them for other programs.
//!
//! ```toml
//! [points]
//! each = 1                       # of an exercise that is not listed below
//! goals_missed = 0.5             # the share for a right file that misses goals
//! exercises = { padding = 2, gram = 3 }
//! ```
//!
//! Without the table each exercise has one point, for a file that is solved.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Points of the exercises of a course.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Points {
    each: f64,
    goals_missed: f64,
    exercises: BTreeMap<String, f64>,
}

impl Default for Points {
    fn default() -> Self {
        Self { each: 1.0, goals_missed: 0.0, exercises: BTreeMap::new() }
    }
}

/// The most points that an exercise may have.
const MOST: f64 = 1e6;

impl Points {
    /// The points of an exercise.
    pub fn of(&self, exercise: &str) -> f64 {
        self.exercises.get(exercise).copied().unwrap_or(self.each)
    }

    /// The share of them for a right file that misses goals.
    pub fn share_of_missed_goals(&self) -> f64 {
        self.goals_missed
    }

    /// What is wrong, in a course with these exercises.
    pub(crate) fn check(&self, names: &[&String]) -> Result<(), String> {
        let all = self.exercises.iter().map(|(name, points)| (name.as_str(), points)).chain([("each", &self.each)]);
        if let Some((name, points)) = all.into_iter().find(|(_, points)| !(0.0..=MOST).contains(*points)) {
            return Err(format!("points: {name} = {points} is not from 0 to {MOST}"));
        }
        if !(0.0..=1.0).contains(&self.goals_missed) {
            return Err(format!("points: goals_missed = {} is not from 0 to 1", self.goals_missed));
        }
        match self.exercises.keys().find(|name| !names.contains(name)) {
            Some(name) => Err(format!("points: there is no exercise '{name}'")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(table: &str) -> Result<Points, String> {
        let points: Points = toml::from_str(table).map_err(|error| error.to_string())?;
        points.check(&[&"copy".to_owned(), &"gram".to_owned()])?;
        Ok(points)
    }

    #[test]
    fn an_exercise_has_one_point_unless_the_course_says_more() {
        let points = checked("").unwrap();
        assert_eq!((points.of("copy"), points.share_of_missed_goals()), (1.0, 0.0));
        let points = checked("each = 2\ngoals_missed = 0.5\nexercises = { gram = 3.5 }").unwrap();
        assert_eq!((points.of("copy"), points.of("gram"), points.share_of_missed_goals()), (2.0, 3.5, 0.5));
    }

    #[test]
    fn what_cannot_be_points_is_refused() {
        for (table, problem) in [
            ("each = -1", "points: each = -1 is not from 0 to 1000000"),
            ("each = nan", "points: each = NaN is not from 0 to 1000000"),
            ("exercises = { copy = inf }", "points: copy = inf is not from 0 to 1000000"),
            ("goals_missed = 2", "points: goals_missed = 2 is not from 0 to 1"),
            ("exercises = { cpoy = 1 }", "points: there is no exercise 'cpoy'"),
        ] {
            assert_eq!(checked(table).unwrap_err(), problem);
        }
        assert!(checked("total = 1").unwrap_err().contains("unknown field `total`"));
    }
}
