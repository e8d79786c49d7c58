//! The teacher's page of an exercise: its runs over time, the lines where most fail, the questions
//! and what was answered. And its regrade.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect};
use class::store::{Answer, RunOfExercise};
use exercise::Exercise;
use maud::{Markup, html};
use serde::Deserialize;

use super::guard::Teacher;
use super::hard_lines::{self, Failed};
use super::refusal::Answered;
use super::sign_in::signed_in;
use super::status::{self, several_points};
use super::work::Chosen;
use super::{Server, chart, history, time};
use crate::serve::exercise::code;
use crate::serve::frame::Page;

/// The most runs that the drawing has.
const MOST: u32 = 20_000;

/// The most failed runs whose lines are counted, and of one student.
const MOST_FAILED: usize = 400;
const MOST_OF_STUDENT: usize = 8;

/// What was done before this page was asked for.
#[derive(Deserialize)]
pub struct Done {
    regraded: Option<u64>,
}

pub async fn page(
    State(server): State<Arc<Server>>,
    _: Teacher,
    Path(name): Path<String>,
    Query(done): Query<Done>,
) -> Answered {
    let chosen = Chosen::of(&server, &name)?;
    let lesson = chosen.lesson();
    let exercise = &lesson.exercise;
    let store = &server.store;
    let runs = store.runs_of_exercise(&name, MOST).await?;
    let texts = failed_texts(&server, &runs).await?;
    let failures: Vec<_> = texts.iter().map(|(run, text)| failure(run, text)).collect();
    let answers = match exercise.is_predicted() {
        true => store.answers(&name, None).await?,
        false => Vec::new(),
    };
    let over_time: Vec<_> = runs.iter().map(|run| (run.queued, run.status == "solved")).collect();
    let students: HashSet<&str> = runs.iter().map(|run| run.student.as_str()).collect();
    let solved: HashSet<&str> =
        runs.iter().filter(|run| run.status == "solved").map(|run| run.student.as_str()).collect();
    let main = html! {
        main.index {
            h1 { (exercise.goals.title) }
            p.quiet {
                (name) ", " (several_points(lesson.points))
                @if let Some(deadline) = lesson.assigned.deadline { ", due " (time::time(deadline)) }
                "."
            }
            @if let Some(count) = done.regraded {
                p.card role="status" { (count) " runs are judged again, behind those of students." }
            }
            p { b { (solved.len()) } " of " b { (students.len()) } " students who ran it have solved it, in " b { (runs.len()) } " runs." }
            section.card aria-label="Runs over time" { h2 { "Runs over time" } (chart::markup(&over_time, lesson.assigned.deadline)) }
            @if exercise.is_predicted() {
                section.card aria-label="Answers" { h2 { "Questions and answers" } (questions(exercise, &answers)) }
            } @else {
                section.card aria-label="Lines" { h2 { "Lines where most fail" } (hard_lines::markup(&failures)) }
                section.card aria-label="Results" { h2 { "Results" } (results(&runs)) }
            }
            section.card aria-label="Regrade" {
                h2 { "Judge again" }
                p { "After a change of the course, all submissions are judged by it. Earlier verdicts are kept." }
                form method="post" action={ (history::of_exercise(&name)) "/regrade" } { button { "Judge all submissions again" } }
            }
        }
    };
    let links = vec![("/".to_owned(), "Class")];
    let title = exercise.goals.title.clone();
    let page = Page { title, script: Some("time.js"), links, aside: signed_in("Teacher"), main, ..Page::default() };
    Ok(page.answer(StatusCode::OK)?)
}

/// The newest failed runs, some of each student, with their texts.
async fn failed_texts<'a>(
    server: &Server,
    runs: &'a [RunOfExercise],
) -> class::Result<Vec<(&'a RunOfExercise, String)>> {
    let mut of_student: HashMap<&str, usize> = HashMap::new();
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    for run in runs.iter().filter(|run| run.status != "solved" && run.places != "[]") {
        let count = of_student.entry(&run.student).or_default();
        if *count == MOST_OF_STUDENT || !seen.insert((&run.student, &run.digest)) {
            continue;
        }
        *count += 1;
        texts.push((run, server.store.text_of(run.run).await?.unwrap_or_default()));
        if texts.len() == MOST_FAILED {
            break;
        }
    }
    Ok(texts)
}

fn failure<'a>(run: &'a RunOfExercise, text: &'a str) -> Failed<'a> {
    Failed { student: &run.student, text, places: serde_json::from_str(&run.places).unwrap_or_default() }
}

/// How many runs have each status.
fn results(runs: &[RunOfExercise]) -> Markup {
    let mut counts: BTreeMap<&'static str, (&'static str, usize)> = BTreeMap::new();
    for run in runs {
        let status = status::of(&run.status);
        counts.entry(status.words()).or_insert((status::class(status), 0)).1 += 1;
    }
    html! {
        ul.plain { @for (words, (class, count)) in &counts { li { span class={ "state " (class) } { (words) } ": " (count) } } }
    }
}

/// The last answer of each student to each question, counted.
fn questions(exercise: &Exercise, answers: &[Answer]) -> Markup {
    let mut last: BTreeMap<(&str, &str), &Answer> = BTreeMap::new();
    for answer in answers {
        last.insert((&answer.question, &answer.student), answer);
    }
    let of_question = |name: &str| {
        let mut counts: BTreeMap<&str, (usize, Option<bool>)> = BTreeMap::new();
        for ((question, _), answer) in &last {
            if *question == name {
                let entry = counts.entry(&answer.answer).or_insert((0, answer.correct));
                entry.0 += 1;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        counts
    };
    html! {
        @for question in &exercise.goals.question {
            @let counts = of_question(&question.name);
            div.answered {
                h3 { (code(&question.ask)) }
                @if counts.is_empty() {
                    p.quiet { "No answers yet." }
                } @else {
                    ul.plain {
                        @for (answer, (count, correct)) in &counts {
                            li {
                                span class=(match correct { Some(true) => "state solved", Some(false) => "state wrong", None => "state open" }) { (answer) }
                                ": " (count) @if *count == 1 { " student" } @else { " students" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Judges the submissions of an exercise again, by the course as it is now.
pub async fn regrade(State(server): State<Arc<Server>>, _: Teacher, Path(name): Path<String>) -> Answered {
    let again = Arc::clone(&server);
    let read = move || {
        again.read_lessons()?;
        again.lessons().versions()
    };
    let read = tokio::task::spawn_blocking(read).await;
    Chosen::of(&server, &name)?;
    // Before there are jobs: a worker with the course as it was takes none of them.
    if let Ok(versions) = read {
        server.store.put_course(&versions?).await?;
    }
    let count = server.store.regrade(&name, true).await?;
    Ok(Redirect::to(&format!("{}?regraded={count}", history::of_exercise(&name))).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_of_a_student_counts() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../exercises/predict_banks");
        let exercise = Exercise::read(&root).unwrap();
        let name = exercise.goals.question[0].name.clone();
        let answer = |student: &str, answer: &str, correct| Answer {
            student: student.to_owned(),
            question: name.clone(),
            answer: answer.to_owned(),
            correct: Some(correct),
            at: 0,
        };
        let answers = [
            answer("anna", "<b>", false),
            answer("ben", "4", false),
            answer("anna", "1", true),
            answer("carl", "1", true),
        ];
        let html = questions(&exercise, &answers).into_string();
        assert!(html.contains("<span class=\"state solved\">1</span>: 2 students"), "{html}");
        assert!(html.contains("<span class=\"state wrong\">4</span>: 1 student<"), "{html}");
        assert!(!html.contains("&lt;b&gt;") && html.contains("No answers yet."), "{html}");
    }
}
