//! A run's status in words and colours.

use class::store::{Run, State};
use maud::{Markup, html};

use crate::marks::Status;

/// The status that a word stands for.
pub fn of(word: &str) -> Status {
    serde_json::from_value(word.into()).unwrap_or(Status::Failed)
}

/// Its class in the style.
pub fn class(status: Status) -> &'static str {
    match status {
        Status::Solved => "solved",
        Status::GoalsMissed => "goals",
        Status::Failed | Status::Missing => "open",
        _ => "wrong",
    }
}

/// What happens to a run, or what came of it.
pub fn words(run: &Run) -> &'static str {
    match (run.state, &run.last) {
        (State::Waiting, None) => "waiting",
        (State::Running, None) => "running",
        (State::Cancelled, None) => "stopped",
        (State::Done, None) => "not judged",
        (_, Some(last)) => of(&last.status).words(),
    }
}

/// That as a mark on a page.
pub fn mark(run: &Run) -> Markup {
    let class = run.last.as_ref().map_or("open", |last| class(of(&last.status)));
    html! { span class={ "state " (class) } { (words(run)) } }
}

/// A number of points, without the noise of binary fractions.
pub fn points(points: f64) -> String {
    // A sum of no numbers is -0.
    format!("{}", (points * 100.0).round() / 100.0 + 0.0)
}

/// A number of points, with its unit.
pub fn several_points(number: f64) -> String {
    format!("{} point{}", points(number), if number == 1.0 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_grader_is_known() {
        for status in [Status::Solved, Status::GoalsMissed, Status::Wrong, Status::DoesNotCompile, Status::TimedOut] {
            let word = serde_json::to_value(status).unwrap();
            assert_eq!(of(word.as_str().unwrap()), status);
        }
        assert_eq!((of("nonsense"), class(Status::GoalsMissed)), (Status::Failed, "goals"));
        assert_eq!(
            (points(0.1 + 0.2), several_points(1.0), several_points(-0.0)),
            ("0.3".to_owned(), "1 point".to_owned(), "0 points".to_owned())
        );
    }
}
