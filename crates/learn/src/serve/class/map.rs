//! A student's first page: the course as a map, with points, deadlines and what counts so far.

use class::Millis;
use class::marks::{Mark, mark};
use class::settings::Settings;
use class::store::Counted;
use maud::{Markup, html};

use super::lessons::{Lesson, Lessons};
use super::status::{points, several_points};
use super::{sign_in, time};
use crate::serve::exercise::address;
use crate::serve::frame::Page;
use crate::serve::map::{State, tile};

/// What is known of a student.
pub struct Known<'a> {
    pub name: &'a str,
    pub solved: &'a [String],
    /// The exercises with a run.
    pub tried: &'a [String],
    pub submissions: &'a [Counted],
}

impl Known<'_> {
    /// How far the student is with an exercise.
    pub fn state(&self, exercise: &str) -> State {
        let has = |names: &[String]| names.iter().any(|name| name == exercise);
        match (has(self.solved), has(self.tried)) {
            (true, _) => State::Solved,
            (false, true) => State::Tried,
            (false, false) => State::Open,
        }
    }
}

/// The mark of a student's submissions for a lesson.
pub fn mark_of<'a>(
    submissions: impl IntoIterator<Item = &'a Counted>,
    lesson: &Lesson,
    lessons: &Lessons,
    settings: &Settings,
) -> Option<Mark<'a>> {
    let own = submissions.into_iter().filter(|one| one.exercise == lesson.exercise.name);
    mark(own, &lesson.assigned, settings.counts, lesson.points, |status| lessons.share(status))
}

/// The page.
pub fn page(known: &Known<'_>, lessons: &Lessons, settings: &Settings, now: Millis) -> Page {
    let marks: Vec<_> =
        lessons.all.iter().map(|lesson| mark_of(known.submissions, lesson, lessons, settings)).collect();
    let state = |lesson: &Lesson| known.state(&lesson.exercise.name);
    let solved = lessons.all.iter().filter(|lesson| state(lesson) == State::Solved).count();
    let (own, most): (f64, f64) =
        (marks.iter().flatten().map(|mark| mark.points).sum(), lessons.all.iter().map(|lesson| lesson.points).sum());
    let next = lessons.all.iter().find(|lesson| state(lesson) != State::Solved);
    let mark = |lesson: &Lesson| {
        let at = lessons.all.iter().position(|one| one.exercise.name == lesson.exercise.name);
        at.and_then(|at| marks[at].as_ref())
    };
    let main = html! {
        main.map {
            h1 { (settings.title) }
            section.progress aria-label="Progress" {
                p { b { (points(own)) } " of " b { (several_points(most)) } ", " b { (solved) } " of " b { (lessons.all.len()) } " exercises solved" }
                progress value=(points(own)) max=(points(most.max(0.01))) aria-label="Points" { (points(own)) " of " (points(most)) }
                @match next {
                    Some(next) => p { a.go href=(address(&next.exercise.name)) { "Next: " (next.exercise.goals.title) } },
                    None => p { "All of them." },
                }
            }
            @for (title, of_chapter) in lessons.chapters() {
                @let done = of_chapter.iter().filter(|lesson| state(lesson) == State::Solved).count();
                section aria-label=(title) {
                    h2 { (title) " " span.quiet { (done) " of " (of_chapter.len()) } }
                    ol.tiles {
                        @for lesson in of_chapter {
                            @let is_next = next.is_some_and(|next| next.exercise.name == lesson.exercise.name);
                            (tile(&lesson.exercise, state(lesson), is_next, &more(lesson, mark(lesson), now)))
                        }
                    }
                }
            }
        }
    };
    let aside = sign_in::signed_in(known.name);
    Page { title: settings.title.clone(), script: Some("time.js"), aside, main, ..Page::default() }
}

/// Points and deadline on a tile.
fn more(lesson: &Lesson, mark: Option<&Mark<'_>>, now: Millis) -> Markup {
    html! {
        span.quiet {
            @match mark {
                Some(mark) => b { (points(mark.points)) " of " (several_points(lesson.points)) },
                None => (several_points(lesson.points)),
            }
            @if let Some(deadline) = lesson.assigned.deadline {
                @if lesson.is_over(now) { ", was due " } @else { ", due " }
                (time::time(deadline))
            }
        }
    }
}

/// What counts, on the page of an exercise.
pub fn about(lesson: &Lesson, mark: Option<&Mark<'_>>, now: Millis) -> Markup {
    let late = &lesson.assigned.late;
    html! {
        p.about-marks {
            (several_points(lesson.points)) ". "
            @if let Some(deadline) = lesson.assigned.deadline {
                @if lesson.is_over(now) {
                    "Was due " (time::time(deadline)) ", " (time::left(deadline, now)) " ago. "
                } @else {
                    "Due " (time::time(deadline)) ", in " (time::left(deadline, now)) ". "
                }
                @if late.cut_off_days > 0 {
                    "Each day after that costs " (late.percent_per_day) "%, and after "
                    (late.cut_off_days) @if late.cut_off_days == 1 { " day" } @else { " days" } " nothing counts. "
                }
            }
            @match mark {
                Some(mark) => {
                    "What counts: " b { (points(mark.points)) } ", submitted " (time::time(mark.of.queued))
                    @if mark.days_late > 0 { ", late" }
                    "."
                }
                None => "Nothing is submitted that counts.",
            }
            " " a href={ (address(&lesson.exercise.name)) "/history" } { "Your history" }
        }
    }
}
