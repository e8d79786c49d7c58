//! The exercises as the class has them: those of the course, with points and deadlines of
//! `class.toml`. Only reads.

use class::Millis;
use class::settings::{Assigned, Late, Settings};
use exercise::Exercise;

use crate::course::Course;
use crate::error::{Error, Result};

/// An exercise of the class.
#[derive(Clone, Debug)]
pub struct Lesson {
    pub exercise: Exercise,
    /// The title of its chapter.
    pub chapter: String,
    pub assigned: Assigned,
    pub points: f64,
}

/// All exercises, in order.
#[derive(Clone, Debug)]
pub struct Lessons {
    pub all: Vec<Lesson>,
    /// The share of the points for a right file that misses goals.
    pub share_of_missed_goals: f64,
}

impl Lessons {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the class has an exercise that the course lacks; those of a course that
    /// is wrong.
    pub fn read(course: &Course, settings: &Settings) -> Result<Self> {
        let all_of_the_course = || {
            let assigned =
                |name: &str| Assigned { name: name.to_owned(), points: None, deadline: None, late: Late::default() };
            course.names().map(assigned).collect()
        };
        let assigned = if settings.exercises.is_empty() { all_of_the_course() } else { settings.exercises.clone() };
        let lesson = |assigned: Assigned| {
            let name = &assigned.name;
            let exercise = course.exercise(name).map_err(|error| match error {
                Error::NoSuchExercise { .. } => {
                    Error::Usage(format!("the class has an exercise '{name}', and the course has not"))
                }
                error => error,
            })?;
            let chapter = course.chapters.iter().find(|chapter| chapter.exercises.contains(name));
            let chapter = chapter.map(|chapter| chapter.title.clone()).unwrap_or_default();
            let points = assigned.points.unwrap_or_else(|| course.points.of(name));
            Ok(Lesson { exercise, chapter, assigned, points })
        };
        let all = assigned.into_iter().map(lesson).collect::<Result<_>>()?;
        Ok(Self { all, share_of_missed_goals: course.points.share_of_missed_goals() })
    }

    /// The exercise of this name.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchExercise`].
    pub fn of(&self, name: &str) -> Result<&Lesson> {
        let found = self.all.iter().find(|lesson| lesson.exercise.name == name);
        found.ok_or_else(|| Error::NoSuchExercise { name: crate::terminal::plain(name), closest: None })
    }

    /// The versions of the exercises, for workers.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn versions(&self) -> Result<String> {
        crate::worker::versions(self.all.iter().map(|lesson| &lesson.exercise))
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.all.iter().map(|lesson| lesson.exercise.name.as_str()).collect()
    }

    /// The exercises of each chapter, in the order of the class.
    pub fn chapters(&self) -> Vec<(&str, Vec<&Lesson>)> {
        let mut chapters: Vec<(&str, Vec<&Lesson>)> = Vec::new();
        for lesson in &self.all {
            match chapters.iter_mut().find(|(title, _)| *title == lesson.chapter) {
                Some((_, lessons)) => lessons.push(lesson),
                None => chapters.push((&lesson.chapter, vec![lesson])),
            }
        }
        chapters
    }

    /// The share of an exercise's points for a status.
    pub fn share(&self, status: &str) -> f64 {
        match status {
            "solved" => 1.0,
            "goals_missed" => self.share_of_missed_goals,
            _ => 0.0,
        }
    }
}

impl Lesson {
    /// Whether what is handed in now loses points, or counts no more.
    pub fn is_over(&self, now: Millis) -> bool {
        self.assigned.deadline.is_some_and(|deadline| now > deadline)
    }
}
