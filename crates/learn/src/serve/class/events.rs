//! What happens to a run, as events that the server sends: the place in the queue, the judge's
//! steps, the verdict. A page may come back at any time: the first events say how things are.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::response::sse::{Event, KeepAlive, Sse};
use class::store::{Run, State as RunState};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::guard::Student;
use super::refusal::{Answered, line, note_seldom};
use super::{Server, map, now, run};
use crate::serve::counted::Counted;
use crate::serve::exercise::{address, hints};

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(400);

/// How long a stream lasts: the browser then asks again.
const LONGEST: Duration = Duration::from_secs(600);

/// The most streams at once, and of one student.
const MOST: usize = 2000;
const MOST_OF_STUDENT: usize = 16;

/// The streams that there are, by student.
pub type Streams = Counted<String>;

/// No streams yet.
pub fn streams() -> Streams {
    Counted::new(MOST, MOST_OF_STUDENT)
}

/// The events of a student's own run.
pub async fn of_run(State(server): State<Arc<Server>>, Student(id): Student, Path(run): Path<i64>) -> Answered {
    let run = run::own(&server, &class::store::Who::Student(id), run).await?;
    let Some(open) = server.streams.open(run.student.clone()) else {
        return Err(line(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open: try again in a minute").into());
    };
    let (sender, receiver) = channel(16);
    tokio::spawn(async move {
        let _open = open;
        let _ = tokio::time::timeout(LONGEST, tell(&server, run, &sender)).await;
    });
    Ok(Sse::new(Events(receiver)).keep_alive(KeepAlive::default()).into_response())
}

/// Tells what happens until there is a verdict, or nobody listens. While the database does not answer,
/// it says so, and looks again.
async fn tell(server: &Server, mut run: Run, to: &Sender<Value>) {
    let (mut last, mut looked) = (Value::Null, Ok(()));
    while !to.is_closed() {
        let now = match looked {
            Ok(()) => state(server, &run).await,
            Err(error) => Err(error),
        };
        let (is_known, event) = (now.is_ok(), now.unwrap_or_else(|error| troubled(&error)));
        if is_known && last["event"] == "note" && to.send(json!({ "event": "taken" })).await.is_err() {
            return;
        }
        if event != last && to.send(event.clone()).await.is_err() {
            return;
        }
        last = event;
        if is_known && (run.last.is_some() || matches!(run.state, RunState::Done | RunState::Cancelled)) {
            match end(server, &run).await {
                Ok(end) => {
                    let _ = to.send(end).await;
                    return;
                }
                Err(error) => looked = Err(error),
            }
        } else {
            looked = Ok(());
        }
        tokio::time::sleep(INTERVAL).await;
        if looked.is_ok() {
            match server.store.run(run.id).await {
                Ok(Some(now)) => run = now,
                // The student was removed.
                Ok(None) => return,
                Err(error) => looked = Err(error),
            }
        }
    }
}

/// The event for an error of the database.
fn troubled(error: &class::Error) -> Value {
    note_seldom(&error.to_string());
    json!({ "event": "note", "text": "The database does not answer. Your run is kept, and this page looks again." })
}

/// The event for what happens to a run now.
async fn state(server: &Server, run: &Run) -> class::Result<Value> {
    if run.last.is_some() {
        let verdict = server.store.verdict(run.id).await?;
        let page = verdict.as_ref().and_then(|verdict| verdict.page.as_deref());
        return Ok(match page.and_then(|page| serde_json::from_str(page).ok()) {
            Some(Value::Object(mut event)) => {
                event.insert("event".to_owned(), "verdict".into());
                event.insert("submitted".to_owned(), run.submitted.into());
                event.into()
            }
            _ => json!({ "event": "error", "text": verdict.map(|verdict| first_line(&verdict.report)) }),
        });
    }
    Ok(match run.state {
        RunState::Waiting => match server.store.position(run.id, &server.settings.limits, now()).await? {
            Some(position) => {
                json!({ "event": "waiting", "position": position.ahead + 1, "out_of_time": position.out_of_time })
            }
            None => json!({ "event": "taken" }),
        },
        RunState::Running => match run.step.as_deref().map(|step| step.split_once(' ').unwrap_or((step, ""))) {
            Some((step @ ("compiling" | "running" | "orders" | "goals"), detail)) => {
                json!({ "event": step, "sizes": detail })
            }
            _ => json!({ "event": "taken" }),
        },
        RunState::Cancelled => json!({ "event": "stopped" }),
        RunState::Done => json!({ "event": "error", "text": "the run has no verdict: run it again" }),
    })
}

/// The first line of a report.
fn first_line(report: &str) -> String {
    report.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("the judge says nothing").to_owned()
}

/// The last event: how far the student is now.
async fn end(server: &Server, run: &Run) -> class::Result<Value> {
    let lessons = server.lessons();
    let solved = server.store.solved(&run.student).await?;
    let read = server.store.hints(&run.student, &run.exercise).await?;
    let (student, tried) = (
        map::Known { name: "", solved: &solved, tried: std::slice::from_ref(&run.exercise), submissions: &[] },
        &run.exercise,
    );
    let is_solved = solved.contains(tried);
    let next = lessons.all.iter().find(|lesson| !solved.contains(&lesson.exercise.name)).filter(|_| is_solved);
    let next = next.map(|next| json!({ "address": address(&next.exercise.name), "title": next.exercise.goals.title }));
    let read = usize::try_from(read).unwrap_or(usize::MAX);
    let hints =
        lessons.of(&run.exercise).and_then(|lesson| hints(&lesson.exercise, read)).map(maud::PreEscaped::into_string);
    Ok(json!({
        "event": "end", "known": false, "state": student.state(&run.exercise).word(), "next": next,
        "hints": hints.ok(), "run": run.id,
    }))
}

/// Events as they come.
struct Events(Receiver<Value>);

impl futures_core::Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(|event| Ok(Event::default().data(event.to_string()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_said_in_its_first_line() {
        assert_eq!(first_line("\n  the judge failed\nmore\n"), "the judge failed");
        assert_eq!(first_line(" \n"), "the judge says nothing");
    }
}
