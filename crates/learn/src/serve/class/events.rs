//! What happens to a run, as events that the server sends: the place in the queue, the judge's
//! steps, the verdict. A page may come back at any time: the first events say how things are.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
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
use super::refusal::{Answered, line};
use super::{Server, map, now, run};
use crate::serve::exercise::{address, hints};

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(400);

/// How long a stream lasts: the browser then asks again.
const LONGEST: Duration = Duration::from_secs(600);

/// The most streams at once, and of one student.
const MOST: usize = 2000;
const MOST_OF_STUDENT: usize = 16;

/// The streams that there are, by student.
#[derive(Clone, Debug, Default)]
pub struct Streams(Arc<Mutex<HashMap<String, usize>>>);

/// One of them, until it is dropped.
struct Open {
    all: Streams,
    student: String,
}

impl Streams {
    fn open(&self, student: &str) -> Option<Open> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.get(student).copied().unwrap_or(0);
        if own >= MOST_OF_STUDENT || all.values().sum::<usize>() >= MOST {
            return None;
        }
        all.insert(student.to_owned(), own + 1);
        Some(Open { all: self.clone(), student: student.to_owned() })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = all.get(&self.student).map_or(0, |own| own - 1);
        match left {
            0 => all.remove(&self.student),
            _ => all.insert(self.student.clone(), left),
        };
    }
}

/// The events of a student's own run.
pub async fn of_run(State(server): State<Arc<Server>>, Student(id): Student, Path(run): Path<i64>) -> Answered {
    let run = run::own(&server, &class::store::Who::Student(id), run).await?;
    let Some(open) = server.streams.open(&run.student) else {
        return Err(line(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open: try again in a minute").into());
    };
    let (sender, receiver) = channel(16);
    tokio::spawn(async move {
        let _open = open;
        let _ = tokio::time::timeout(LONGEST, tell(&server, run, &sender)).await;
    });
    Ok(Sse::new(Events(receiver)).keep_alive(KeepAlive::default()).into_response())
}

/// Tells what happens until there is a verdict, or nobody listens.
async fn tell(server: &Server, mut run: Run, to: &Sender<Value>) {
    let mut last = Value::Null;
    while !to.is_closed() {
        let event = match state(server, &run).await {
            Ok(event) => event,
            Err(error) => json!({ "event": "error", "text": shown(&error) }),
        };
        if event != last && to.send(event.clone()).await.is_err() {
            return;
        }
        last = event;
        if run.last.is_some() || matches!(run.state, RunState::Done | RunState::Cancelled) {
            let _ = to.send(end(server, &run).await).await;
            return;
        }
        tokio::time::sleep(INTERVAL).await;
        // If the database does not answer, the next look may find it.
        if let Ok(Some(now)) = server.store.run(run.id).await {
            run = now;
        }
    }
}

fn shown(error: &class::Error) -> String {
    match error {
        class::Error::Refused(why) => why.clone(),
        _ => "the database does not answer".to_owned(),
    }
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
async fn end(server: &Server, run: &Run) -> Value {
    let lessons = server.lessons();
    let known = async {
        let solved = server.store.solved(&run.student).await?;
        Ok((solved, server.store.hints(&run.student, &run.exercise).await?))
    };
    let Ok::<_, class::Error>((solved, read)) = known.await else { return json!({ "event": "end" }) };
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
    json!({
        "event": "end", "known": false, "state": student.state(&run.exercise).word(), "next": next,
        "hints": hints.ok(), "run": run.id,
    })
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
    fn a_student_has_so_many_streams() {
        let streams = Streams::default();
        let mut open: Vec<_> = (0..MOST_OF_STUDENT).map(|_| streams.open("anna").unwrap()).collect();
        assert!(streams.open("anna").is_none() && streams.open("ben").is_some());
        open.pop();
        assert!(streams.open("anna").is_some());
        drop(open);
        assert!(streams.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_report_is_said_in_its_first_line() {
        assert_eq!(first_line("\n  the judge failed\nmore\n"), "the judge failed");
        assert_eq!(first_line(" \n"), "the judge says nothing");
    }
}
