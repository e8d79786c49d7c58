//! The teacher's first page: students by exercises, and the page of one student.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use class::marks::Mark;
use class::settings::Settings;
use class::store::{Cell, Counted, Student, Who};
use maud::{Markup, html};

use super::guard::Teacher;
use super::lessons::{Lesson, Lessons};
use super::refusal::{Answered, said};
use super::sign_in::signed_in;
use super::status::{points, several_points};
use super::{Server, history, map, status, time};
use crate::serve::frame::Page;

/// What the class has done, by student and exercise.
pub struct Class {
    pub students: Vec<Student>,
    cells: HashMap<(String, String), Cell>,
    submissions: HashMap<(String, String), Vec<Counted>>,
    /// Jobs that wait, and that are being judged.
    queue: (u64, u64),
}

impl Class {
    pub async fn read(server: &Server) -> class::Result<Self> {
        let store = &server.store;
        let cells = store.cells().await?.into_iter();
        let mut submissions: HashMap<_, Vec<Counted>> = HashMap::new();
        for one in store.submissions().await? {
            submissions.entry((one.student.clone(), one.exercise.clone())).or_default().push(one);
        }
        Ok(Self {
            students: store.students().await?,
            cells: cells.map(|cell| ((cell.student.clone(), cell.exercise.clone()), cell)).collect(),
            submissions,
            queue: store.queue_length().await?,
        })
    }

    fn cell(&self, student: &Student, lesson: &Lesson) -> Option<&Cell> {
        self.cells.get(&(student.id.clone(), lesson.exercise.name.clone()))
    }

    /// What counts of a student's submissions.
    pub fn mark(&self, student: &Student, lesson: &Lesson, lessons: &Lessons, settings: &Settings) -> Option<Mark<'_>> {
        let key = (student.id.clone(), lesson.exercise.name.clone());
        map::mark_of(self.submissions.get(&key)?, lesson, lessons, settings)
    }

    fn solved(&self, lesson: &Lesson) -> usize {
        self.students.iter().filter(|student| self.cell(student, lesson).is_some_and(|cell| cell.solved)).count()
    }
}

/// The class in a cell's colour, and in words.
fn look(cell: Option<&Cell>, mark: Option<&Mark<'_>>) -> (&'static str, &'static str) {
    match (mark.and_then(|mark| mark.of.status.as_deref()), cell) {
        (Some(status), _) => {
            let status = status::of(status);
            (status::class(status), status.words())
        }
        (None, Some(cell)) if cell.solved => ("unsubmitted", "solved, not submitted"),
        (None, Some(_)) => ("tried", "tried, not submitted"),
        (None, None) => ("none", "nothing yet"),
    }
}

/// What a cell shows: points, and whether they are late.
fn shown(mark: Option<&Mark<'_>>, colour: &str) -> String {
    match mark {
        Some(mark) => format!("{}{}", points(mark.points), if mark.days_late > 0 { "*" } else { "" }),
        None if colour == "unsubmitted" => "\u{2713}".to_owned(),
        None => "\u{b7}".to_owned(),
    }
}

/// The first page.
pub async fn page(server: &Server) -> Answered {
    let class = Class::read(server).await?;
    let lessons = server.lessons();
    let settings = &server.settings;
    let most: f64 = lessons.all.iter().map(|lesson| lesson.points).sum();
    let row = |student: &Student| {
        let marks = lessons.all.iter().map(|lesson| class.mark(student, lesson, &lessons, settings));
        let sum: f64 = marks.flatten().map(|mark| mark.points).sum();
        html! {
            tr {
                th scope="row" { a href=(format!("/class/students/{}", student.id)) { (student.name) } }
                td { (points(sum)) }
                @for lesson in &lessons.all {
                    @let mark = class.mark(student, lesson, &lessons, settings);
                    @let cell = class.cell(student, lesson);
                    @let (colour, words) = look(cell, mark.as_ref());
                    td class={ "cell " (colour) } {
                        @if cell.is_some() {
                            @let shown = shown(mark.as_ref(), colour);
                            a href=(history::address(&Who::Teacher, &student.id, &lesson.exercise.name)) title=(words)
                                aria-label={ (student.name) ", " (lesson.exercise.name) ": " (words) ", " (shown) } { (shown) }
                        }
                    }
                }
            }
        }
    };
    let main = html! {
        main.class {
            h1 { (settings.title) }
            p {
                b { (class.students.len()) } " students, " b { (lessons.all.len()) } " exercises, " (several_points(most)) ". "
                @match class.queue {
                    (0, 0) => "No run waits.",
                    (waiting, running) => { (waiting) " runs wait, " (running) " are being judged." },
                }
            }
            @if class.students.is_empty() {
                p.card { "Add students with " code { "cargo learn roster add students.csv" } "." }
            } @else {
                div.scroll.matrix tabindex="0" role="region" aria-label="Students and exercises" {
                    table {
                        thead {
                            tr {
                                th.name scope="col" { "Student" }
                                th scope="col" { "Points" }
                                @for lesson in &lessons.all {
                                    th.slanted scope="col" { a href=(history::of_exercise(&lesson.exercise.name)) { (lesson.exercise.name) } }
                                }
                            }
                            tr.solved-by {
                                th.name scope="row" { "Solved by" }
                                td {}
                                @for lesson in &lessons.all { td { (class.solved(lesson)) } }
                            }
                        }
                        tbody { @for student in &class.students { (row(student)) } }
                    }
                }
                (key())
            }
            (downloads())
        }
    };
    let page = Page {
        title: settings.title.clone(),
        script: Some("time.js"),
        aside: signed_in("Teacher"),
        main,
        ..Page::default()
    };
    Ok(page.answer(StatusCode::OK)?)
}

/// The marks as files.
fn downloads() -> Markup {
    html! {
        h2 { "Marks" }
        ul.tools.plain {
            @for (format, text) in super::marks::DOWNLOADS { li { a href={ "/class/marks/" (format) } { (text) } } }
        }
        p.quiet { "Other formats: " code { "cargo learn roster marks --format gradescope --out results/" } }
    }
}

/// What the colours mean.
fn key() -> Markup {
    let colours = [
        ("solved", "solved"),
        ("goals", "right, misses goals"),
        ("wrong", "wrong"),
        ("unsubmitted", "solved, not submitted"),
        ("tried", "tried, not submitted"),
    ];
    html! {
        p.key-of-colours {
            @for (class, words) in colours { span { span class={ "cell " (class) } {} " " (words) } " " }
            span { "A number has the points that count; * is late." }
        }
    }
}

/// The page of one student.
pub async fn student(State(server): State<Arc<Server>>, _: Teacher, Path(id): Path<String>) -> Answered {
    let class = Class::read(&server).await?;
    let Some(student) = class.students.iter().find(|student| student.id == id) else {
        return Err(said(StatusCode::NOT_FOUND, "No such student", "The class has no student with this id."));
    };
    let lessons = server.lessons();
    let marks: Vec<_> =
        lessons.all.iter().map(|lesson| class.mark(student, lesson, &lessons, &server.settings)).collect();
    let sum: f64 = marks.iter().flatten().map(|mark| mark.points).sum();
    let most: f64 = lessons.all.iter().map(|lesson| lesson.points).sum();
    let main = html! {
        main.index {
            h1 { (student.name) }
            p.quiet { (student.id) @if !student.email.is_empty() { ", " (student.email) } }
            p { b { (points(sum)) } " of " (several_points(most)) "." }
            div.scroll tabindex="0" role="region" aria-label="Exercises" {
                table.runs {
                    thead { tr { th.name { "Exercise" } th.name { "State" } th { "Points" } th { "Runs" } th.name { "Last run" } } }
                    tbody {
                        @for (lesson, mark) in lessons.all.iter().zip(&marks) {
                            @let cell = class.cell(student, lesson);
                            @let (colour, words) = look(cell, mark.as_ref());
                            tr {
                                th scope="row" {
                                    a href=(history::address(&Who::Teacher, &student.id, &lesson.exercise.name)) { (lesson.exercise.name) }
                                }
                                td.name { span class={ "state " (colour) } { (words) } }
                                td { @if let Some(mark) = mark { (points(mark.points)) @if mark.days_late > 0 { "*" } } " / " (points(lesson.points)) }
                                td { @if let Some(cell) = cell { (cell.runs) } }
                                td.name { @if let Some(cell) = cell { (time::time(cell.last)) } }
                            }
                        }
                    }
                }
            }
        }
    };
    let links = vec![("/".to_owned(), "Class")];
    let page = Page {
        title: student.name.clone(),
        script: Some("time.js"),
        links,
        aside: signed_in("Teacher"),
        main,
        ..Page::default()
    };
    Ok(page.answer(StatusCode::OK)?)
}
