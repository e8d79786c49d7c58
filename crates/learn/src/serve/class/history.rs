//! The runs of a student's exercise, the newest first: for the student and for the teacher.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use class::store::Who;
use maud::html;
use serde::Deserialize;

use super::guard::{Student, Teacher};
use super::refusal::{Answered, said};
use super::sign_in::signed_in;
use super::work::Chosen;
use super::{Server, status, time};
use crate::serve::exercise;
use crate::serve::frame::Page;

/// How many are on a page.
const SHOWN: u32 = 50;

/// The address of a history.
pub fn address(who: &Who, student: &str, exercise: &str) -> String {
    match who {
        Who::Student(_) => format!("{}/history", exercise::address(exercise)),
        Who::Teacher => format!("/class/students/{student}/{exercise}"),
    }
}

/// The teacher's page of an exercise.
pub fn of_exercise(exercise: &str) -> String {
    format!("/class/exercises/{exercise}")
}

/// Runs older than this one.
#[derive(Deserialize)]
pub struct Before {
    before: Option<i64>,
}

pub async fn own(
    State(server): State<Arc<Server>>,
    Student(id): Student,
    Path(name): Path<String>,
    Query(before): Query<Before>,
) -> Answered {
    page(&server, &Who::Student(id.clone()), &id, &name, before.before).await
}

pub async fn of_student(
    State(server): State<Arc<Server>>,
    _: Teacher,
    Path((id, name)): Path<(String, String)>,
    Query(before): Query<Before>,
) -> Answered {
    page(&server, &Who::Teacher, &id, &name, before.before).await
}

async fn page(server: &Server, who: &Who, id: &str, name: &str, before: Option<i64>) -> Answered {
    let chosen = Chosen::of(server, name)?;
    let lesson = chosen.lesson();
    let store = &server.store;
    let student = store.student(id).await?;
    let Some(student) = student else {
        return Err(said(StatusCode::NOT_FOUND, "No such student", "The class has no student with this id."));
    };
    let runs = store.runs_of(id, name, before, SHOWN).await?;
    let deadline = lesson.assigned.deadline;
    let main = html! {
        main.index {
            h1 { (lesson.exercise.goals.title) }
            p.quiet { "The runs of " (student.name) ", the newest first." }
            @if runs.is_empty() {
                p { "There are none" @if before.is_some() { " before" } "." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label="Runs" {
                    table.runs {
                        thead { tr { th.name { "Run" } th.name { "Time" } th.name { "Result" } th.name { "Counts" } th.more { "Seconds" } } }
                        tbody {
                            @for run in &runs {
                                tr {
                                    th scope="row" { a href=(format!("/runs/{}", run.id)) { "Run " (run.id) } }
                                    td.name { (time::time(run.queued)) }
                                    td.name { (status::mark(run)) }
                                    td.name {
                                        @if run.submitted {
                                            "submitted" @if deadline.is_some_and(|deadline| run.queued > deadline) { ", late" }
                                        }
                                    }
                                    td.more { @if let Some(last) = &run.last { (format!("{:.1}", last.milliseconds as f64 / 1000.0)) } }
                                }
                            }
                        }
                    }
                }
                @if let Some(last) = runs.last().filter(|_| runs.len() == SHOWN as usize) {
                    p { a href={ (address(who, id, name)) "?before=" (last.id) } { "Older runs" } }
                }
            }
        }
    };
    let (links, aside) = match who {
        Who::Student(_) => {
            (vec![("/".to_owned(), "Course"), (exercise::address(name), "Exercise")], signed_in(&student.name))
        }
        Who::Teacher => {
            let of_student = (format!("/class/students/{id}"), "Student");
            (vec![("/".to_owned(), "Class"), of_student, (of_exercise(name), "Exercise")], signed_in("Teacher"))
        }
    };
    let title = format!("History: {}", lesson.exercise.goals.title);
    let page = Page { title, script: Some("time.js"), links, aside, main, ..Page::default() };
    Ok(page.answer(StatusCode::OK)?)
}
