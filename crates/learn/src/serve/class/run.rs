//! The page of one run, for its student and for the teacher: the verdict, the text, and what
//! differs from an earlier run. While it waits, the page loads itself again, without scripts, and so
//! without what costs time.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, Uri};
use class::store::{Position, Run, State as RunState, Verdict, Who};
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;
use serde_json::Value;

use super::guard::Asker;
use super::refusal::{Answered, said};
use super::sign_in::{signed_in, wanted};
use super::{Server, diff, history, now, status, time};
use crate::serve::exercise::address;
use crate::serve::frame::Page;

/// How many earlier runs can be chosen for comparison.
const EARLIER: u32 = 100;

/// A run that someone may see: a student's own, or any for the teacher. Others are not there.
pub async fn own(server: &Server, who: &Who, id: i64) -> Answered<Run> {
    let run = server.store.run(id).await?;
    let may_see = |run: &Run| match who {
        Who::Teacher => true,
        Who::Student(id) => run.student == *id,
    };
    run.filter(may_see)
        .ok_or_else(|| said(StatusCode::NOT_FOUND, "No such run", "There is no run of this number here."))
}

/// Which earlier run to compare with.
#[derive(Deserialize)]
pub struct Against {
    against: Option<i64>,
}

pub async fn page(
    State(server): State<Arc<Server>>,
    asker: Asker,
    Path(id): Path<i64>,
    uri: Uri,
    Query(Against { against }): Query<Against>,
) -> Answered {
    let who = asker.who.ok_or_else(|| wanted(&server, &uri))?;
    let run = own(&server, &who, id).await?;
    let store = &server.store;
    let read = async {
        let earlier = store.runs_of(&run.student, &run.exercise, Some(run.id), EARLIER).await?;
        let student = store.student(&run.student).await?.map(|student| student.name).unwrap_or_default();
        let position = match run.state {
            RunState::Waiting => store.position(run.id, &server.settings.limits, now()).await?,
            _ => None,
        };
        let text = store.text_of(run.id).await?.unwrap_or_default();
        Ok::<_, class::Error>((earlier, student, position, text, store.verdict(run.id).await?))
    };
    let (earlier, student, position, text, verdict) = read.await?;
    let against = match against {
        // Only one of the same student and exercise.
        Some(id) => earlier.iter().find(|run| run.id == id),
        None => earlier.first(),
    };
    let is_waiting = run.last.is_none() && matches!(run.state, RunState::Waiting | RunState::Running);
    let before = match against {
        Some(run) if !is_waiting => store.text_of(run.id).await?,
        _ => None,
    };
    let lessons = server.lessons();
    let title =
        lessons.of(&run.exercise).map_or_else(|_| run.exercise.clone(), |lesson| lesson.exercise.goals.title.clone());
    let main = html! {
        main.run {
            h1 { (title) }
            p {
                (status::mark(&run)) ": "
                @if who == Who::Teacher { (student) ", " }
                "run " (run.id) ", " (time::time(run.queued))
                @if run.submitted { ", " b { "submitted" } }
                @if let Some(last) = &run.last { ", " (format!("{:.1}", last.milliseconds as f64 / 1000.0)) " s" @if last.status != "timed_out" { " of processor time" } }
                "."
            }
            @if is_waiting {
                (waits(position))
            }
            div #results {
                @if let Some(verdict) = &verdict { (of_verdict(verdict)) }
            }
            details.card open[before.is_some()] {
                summary { "Changes" }
                @if let (Some(before), Some(against)) = (&before, against) {
                    form.tools method="get" action=(format!("/runs/{}", run.id)) {
                        label { "since " select name="against" {
                            @for one in &earlier {
                                option value=(one.id) selected[one.id == against.id] { "run " (one.id) ", " (status::words(one)) }
                            }
                        } }
                        button { "Compare" }
                    }
                    (diff::markup(before, &text))
                } @else {
                    p.quiet {
                        @if against.is_some() { "They are shown when the run has ended." }
                        @else { "This is the first run." }
                    }
                }
            }
            details.card { summary { "The text" } pre.scroll tabindex="0" { (text) } }
        }
    };
    let (first, back) = match &who {
        Who::Student(_) => (("/".to_owned(), "Course"), (address(&run.exercise), "Exercise")),
        Who::Teacher => (("/".to_owned(), "Class"), (history::of_exercise(&run.exercise), "Exercise")),
    };
    let links = vec![first, back, (history::address(&who, &run.student, &run.exercise), "History")];
    let aside = signed_in(if who == Who::Teacher { "Teacher" } else { &student });
    let refresh = is_waiting.then_some(2);
    let page = Page { title: format!("Run {}: {title}", run.id), script: Some("time.js"), links, aside, refresh, main };
    Ok(page.answer(StatusCode::OK)?)
}

/// How long a run that has no verdict waits.
fn waits(position: Option<Position>) -> Markup {
    html! {
        p.card role="status" {
            @match position {
                Some(position) if position.out_of_time => "Your computing time for this hour is used up: this run waits for the next hour.",
                Some(position) if position.ahead > 0 => { "In the queue: " (position.ahead) " before you." },
                Some(_) => "In the queue: you are next.",
                None => "It is being judged.",
            }
            " This page loads itself again."
        }
    }
}

/// The verdict as a page has it; of older runs, the report.
fn of_verdict(verdict: &Verdict) -> Markup {
    let page = verdict.page.as_deref().and_then(|page| serde_json::from_str::<Value>(page).ok());
    // The judge has escaped what is not its own.
    let html = page.as_ref().and_then(|page| page["html"].as_str());
    match html {
        Some(html) => html! { (PreEscaped(html)) },
        None => html! { pre.card.scroll tabindex="0" { (verdict.report) } },
    }
}
