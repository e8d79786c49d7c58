//! The first page: the course as a map of its chapters, with the student's progress.

use std::fs;

use exercise::Exercise;
use exercise::goals_file::Task;
use maud::{Markup, html};

use super::exercise::address;
use super::frame::Page;
use crate::course::Course;
use crate::error::Result;
use crate::progress::Progress;

/// How far a student is with an exercise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    Solved,
    /// The student's file differs from the starter.
    Tried,
    Open,
}

impl State {
    /// How far the student is with this one.
    pub fn of(exercise: &Exercise, progress: &Progress) -> Self {
        let differs = || {
            let [file, starter] = [exercise.student_file(), exercise.starter_file()].map(fs::read);
            file.is_ok_and(|text| starter.is_ok_and(|starter| starter != text))
        };
        match progress.is_solved(&exercise.name) {
            true => Self::Solved,
            false if differs() => Self::Tried,
            false => Self::Open,
        }
    }

    /// It as a word, which is its class in the style, too.
    pub fn word(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Tried => "tried",
            Self::Open => "open",
        }
    }
}

/// What an exercise asks for.
pub fn task(exercise: &Exercise) -> &'static str {
    match exercise.goals.task {
        Task::Right => "make it right",
        Task::Fast => "make it fast",
        Task::Predict => "predict",
        Task::Host => "write the host code",
        Task::Open => "open: make it the fastest",
    }
}

/// The page.
pub fn page(course: &Course) -> Result<Page> {
    let progress = Progress::read(course)?;
    let (solved, all) = (progress.solved(course), course.names().count());
    let next = progress.next(course).map(|name| course.exercise(name)).transpose()?;
    let chapters = course.chapters.iter().map(|chapter| {
        let read = chapter.exercises.iter().map(|name| course.exercise(name));
        Ok((chapter.title.as_str(), read.collect::<Result<Vec<_>>>()?))
    });
    let chapters = chapters.collect::<Result<Vec<_>>>()?;
    let main = html! {
        main.map {
            h1 { "The course" }
            section.progress aria-label="Progress" {
                p { b { (solved) } " of " b { (all) } " exercises solved" }
                progress value=(solved) max=(all.max(1)) aria-label="Exercises solved" { (solved) " of " (all) }
                @match &next {
                    Some(next) => p { a.go href=(address(&next.name)) { "Next: " (next.goals.title) } },
                    None => p { "All of them." },
                }
            }
            @for (title, exercises) in &chapters {
                @let done = exercises.iter().filter(|exercise| progress.is_solved(&exercise.name)).count();
                section aria-label=(title) {
                    h2 { (title) " " span.quiet { (done) " of " (exercises.len()) } }
                    ol.tiles {
                        @for exercise in exercises {
                            @let is_next = next.as_ref().is_some_and(|next| next.name == exercise.name);
                            (tile(exercise, State::of(exercise, &progress), is_next, &html! {}))
                        }
                    }
                }
            }
        }
    };
    Ok(Page { title: "The course".to_owned(), main, ..Page::default() })
}

/// The way to an exercise. `more` is what the student should know of it besides.
pub fn tile(exercise: &Exercise, state: State, next: bool, more: &Markup) -> Markup {
    html! {
        li class=(state.word()) {
            a.card href=(address(&exercise.name)) aria-current=[next.then_some("step")] {
                span.state { (state.word()) }
                strong { (exercise.goals.title) }
                span.quiet { (exercise.name) ": " (task(exercise)) ", " (exercise.goals.minutes) "\u{a0}min" }
                (more)
            }
        }
    }
}
