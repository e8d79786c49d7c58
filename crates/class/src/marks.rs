//! Which of a student's submissions counts, and its points.
//!
//! A submission has a share of the exercise's points by its verdict, and loses what `[late]` says
//! for each day that has begun since the deadline. Of those that are in time, or not too late, the
//! best or the latest counts, as the teacher sets. One that could not be judged does not count, as
//! one that is not judged yet. Pure.

use crate::settings::{Assigned, Counts};
use crate::store::{Counted, FAILED};
use crate::{DAY, Millis};

/// A submission that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark<'a> {
    /// The submission.
    pub of: &'a Counted,
    /// Its points, without the noise of binary fractions.
    pub points: f64,
    /// How many days late it is: days that have begun.
    pub days_late: i64,
}

/// The mark among a student's submissions for an exercise, in the order in which they came; `None`
/// if none counts. `share` is the share of the points for a status.
pub fn mark<'a>(
    submissions: impl IntoIterator<Item = &'a Counted>,
    exercise: &Assigned,
    counts: Counts,
    points: f64,
    share: impl Fn(&str) -> f64,
) -> Option<Mark<'a>> {
    let marked = submissions.into_iter().filter_map(|of| {
        let (left, days_late) = left(exercise, of.queued)?;
        let share = share(of.status.as_deref().filter(|status| *status != FAILED)?);
        Some(Mark { of, points: (100.0 * points * share * left).round() / 100.0, days_late })
    });
    match counts {
        Counts::Latest => marked.last(),
        // The first of those that are as good.
        Counts::Best => marked.reduce(|best, one| if one.points > best.points { one } else { best }),
    }
}

/// The share of the points that is left to what was handed in then, and how many days late it is;
/// `None` if it does not count any more.
fn left(exercise: &Assigned, queued: Millis) -> Option<(f64, i64)> {
    let late = exercise.deadline.map_or(0, |deadline| queued.saturating_sub(deadline));
    if late <= 0 {
        return Some((1.0, 0));
    }
    let days = (late - 1) / DAY + 1;
    if days > i64::from(exercise.late.cut_off_days) {
        return None;
    }
    Some(((1.0 - exercise.late.percent_per_day / 100.0 * days as f64).max(0.0), days))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Late;

    fn submission(run: i64, queued: Millis, status: &str) -> Counted {
        let status = Some(status.to_owned()).filter(|status| !status.is_empty());
        Counted { run, student: "anna".to_owned(), exercise: "guard".to_owned(), queued, status }
    }

    fn marked(counts: Counts, submissions: &[Counted]) -> Option<(i64, f64, i64)> {
        let late = Late { percent_per_day: 10.0, cut_off_days: 2 };
        let exercise = Assigned { name: "guard".to_owned(), points: None, deadline: Some(10 * DAY), late };
        let share = |status: &str| match status {
            "solved" => 1.0,
            "goals_missed" => 0.5,
            _ => 0.0,
        };
        mark(submissions, &exercise, counts, 3.0, share).map(|mark| (mark.of.run, mark.points, mark.days_late))
    }

    #[test]
    fn a_day_that_has_begun_costs_its_part() {
        let alone = |queued| marked(Counts::Best, &[submission(1, queued, "solved")]);
        assert_eq!(alone(10 * DAY), Some((1, 3.0, 0)));
        assert_eq!(alone(10 * DAY + 1), Some((1, 2.7, 1)));
        assert_eq!(alone(11 * DAY), Some((1, 2.7, 1)));
        assert_eq!(alone(11 * DAY + 1), Some((1, 2.4, 2)));
        assert_eq!(alone(12 * DAY + 1), None);
    }

    #[test]
    fn the_best_or_the_latest_counts() {
        let all = [
            submission(1, 9 * DAY, "wrong"),
            submission(2, 9 * DAY, "goals_missed"),
            submission(3, 10 * DAY, "solved"),
            submission(4, 10 * DAY + 1, "solved"),
            submission(5, 11 * DAY, "wrong"),
            submission(6, 13 * DAY, "solved"),
        ];
        assert_eq!(marked(Counts::Best, &all), Some((3, 3.0, 0)));
        assert_eq!(marked(Counts::Latest, &all), Some((5, 0.0, 1)));
        assert_eq!(marked(Counts::Latest, &all[..3]), Some((3, 3.0, 0)));
        // A late one that is solved is worth more than one in time that is not.
        assert_eq!(
            marked(Counts::Best, &[submission(1, 0, "wrong"), submission(2, 11 * DAY, "solved")]),
            Some((2, 2.7, 1))
        );
    }

    #[test]
    fn what_is_not_judged_does_not_count() {
        assert_eq!(marked(Counts::Best, &[]), None);
        assert_eq!(marked(Counts::Latest, &[submission(1, 0, "solved"), submission(2, 0, "")]), Some((1, 3.0, 0)));
        assert_eq!(marked(Counts::Latest, &[submission(1, 0, "solved"), submission(2, 0, FAILED)]), Some((1, 3.0, 0)));
        assert_eq!(marked(Counts::Best, &[submission(1, 0, FAILED)]), None);
    }
}
