//! The answers to requests. Forms are answered with pages, and scripts, which accept JSON, with
//! data. Whatever a form asks for, the text in it is saved first.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, Path, Query, Request, State};
use axum::http::header::{self, HeaderMap};
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use exercise::Exercise;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

use super::access::{Passage, protect};
use super::exercise::{Said, address, hints_of};
use super::frame::{Page, asset, problem};
use super::run::failed;
use super::work::{Saved, Work};
use super::{Server, cache, exercise as pages, map};
use crate::arguments::device;
use crate::error::{Error, Result};
use crate::guard::LONGEST;
use crate::progress::Progress;
use crate::student;

/// The most that a form may have: each byte of the text may be sent as three.
const MOST: usize = 3 * LONGEST + 4096;

type Shared = State<Arc<Server>>;

/// All addresses.
pub fn routes(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(course))
        .route("/assets/{name}", get(file_of_page))
        .route("/exercises/{name}", get(exercise))
        .route("/exercises/{name}/file", get(file))
        .route("/exercises/{name}/solution", get(solution))
        .route("/exercises/{name}/stop", post(stop))
        .route("/exercises/{name}/{action}", post(act).get(back))
        .fallback(async |uri: Uri| (StatusCode::NOT_FOUND, format!("error: there is nothing at {}\n", uri.path())))
        .layer(DefaultBodyLimit::max(MOST))
        .layer(from_fn_with_state(Arc::clone(&server), guarded))
        .with_state(server)
}

/// Lets a request pass or not, and protects the answer.
async fn guarded(State(server): Shared, request: Request, next: Next) -> Response {
    match server.access.passage(request.method(), request.uri(), request.headers()) {
        Passage::Answered(response) => response,
        Passage::Granted => {
            let mut response = next.run(request).await;
            protect(&mut response, None);
            response
        }
    }
}

/// Does what reads or writes files on another thread.
async fn elsewhere(work: impl FnOnce() -> Result<Response> + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => problem(&error).unwrap_or_else(|error| error.to_string().into_response()),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "error: the answer is lost\n").into_response(),
    }
}

async fn file_of_page(State(server): Shared, Path(name): Path<String>) -> Response {
    elsewhere(move || Ok(asset(&name, &server.bundle))).await
}

async fn course(State(server): Shared) -> Response {
    elsewhere(move || map::page(&server.course)?.answer(StatusCode::OK)).await
}

async fn exercise(State(server): Shared, Path(name): Path<String>) -> Response {
    elsewhere(move || server.page(&server.course.exercise(&name)?, &Said::default())).await
}

/// What a script knows of the file.
#[derive(Deserialize)]
struct Known {
    #[serde(default)]
    digest: String,
}

/// The file, unless the page has it already.
async fn file(State(server): Shared, Path(name): Path<String>, Query(known): Query<Known>) -> Response {
    elsewhere(move || {
        Ok(match Work::there(&server.course.exercise(&name)?)? {
            None => StatusCode::GONE.into_response(),
            Some(work) if work.digest == known.digest => StatusCode::NO_CONTENT.into_response(),
            Some(work) => data(StatusCode::OK, &of_work(&work)),
        })
    })
    .await
}

async fn solution(State(server): Shared, Path(name): Path<String>) -> Response {
    elsewhere(move || {
        let exercise = server.course.exercise(&name)?;
        let text = student::solution_text(&server.course, &exercise)?;
        let main = html! {
            main.index {
                h1 { "The solution of " (exercise.name) }
                p { a href=(address(&exercise.name)) { "Back to the exercise" } }
                pre.card.scroll tabindex="0" { (text) }
            }
        };
        let links = vec![("/".to_owned(), "Course"), (address(&exercise.name), "Exercise")];
        Page { title: format!("{}: solution", exercise.name), links, main, ..Page::default() }.answer(StatusCode::OK)
    })
    .await
}

/// The address of a form that was sent, opened again.
async fn back(Path((name, action)): Path<(String, String)>) -> Response {
    match action.as_str() {
        "save" | "hint" | "reset" | "run" => Redirect::to(&address(&name)).into_response(),
        _ => no_action(&action),
    }
}

fn no_action(action: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("error: there is no action '{action}'\n")).into_response()
}

async fn stop(State(server): Shared) -> StatusCode {
    server.runs.stop();
    StatusCode::NO_CONTENT
}

/// A form of an exercise's page.
#[derive(Deserialize)]
struct Sent {
    text: String,
    base: String,
    #[serde(default)]
    seed: String,
    #[serde(default)]
    schedules: String,
    #[serde(default)]
    device: String,
    /// Whether to run again although the verdict on this text is known.
    #[serde(default)]
    again: bool,
}

async fn act(
    State(server): Shared,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    sent: std::result::Result<Form<Sent>, FormRejection>,
) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let by_script = accepts.contains("application/json");
    elsewhere(move || {
        let Form(sent) = sent.map_err(|rejection| refused(&rejection))?;
        let exercise = server.course.exercise(&name)?;
        let work = match Work::save(&exercise, &sent.text, &sent.base)? {
            Saved::Yes(work) => work,
            Saved::Conflict(work) if by_script => return Ok(data(StatusCode::CONFLICT, &of_work(&work))),
            Saved::Conflict(_) => {
                let said = Said { conflict: Some(sent.text), ..Said::default() };
                return server.page(&exercise, &said);
            }
        };
        match action.as_str() {
            "save" if by_script => Ok(data(StatusCode::OK, &of_work(&work))),
            "save" => server.page(&exercise, &Said { status: Some("Saved.".to_owned()), ..Said::default() }),
            "hint" => server.hint(&exercise, &work, by_script),
            "reset" => server.reset(&exercise, by_script),
            "run" => server.run(&exercise, &work, &sent, by_script),
            _ => Ok(no_action(&action)),
        }
    })
    .await
}

/// What is said of a form that cannot be read.
fn refused(rejection: &FormRejection) -> Error {
    Error::Usage(match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => format!("the text is too long: {LONGEST} bytes are allowed"),
        _ => "the form is not whole: open the page again".to_owned(),
    })
}

impl Server {
    fn has_editor(&self) -> bool {
        !self.plain && self.bundle.is_there()
    }

    fn page(&self, exercise: &Exercise, said: &Said) -> Result<Response> {
        pages::page(&self.course, exercise, said, self.has_editor())?.answer(StatusCode::OK)
    }

    fn hint(&self, exercise: &Exercise, work: &Work, by_script: bool) -> Result<Response> {
        let mut progress = Progress::read(&self.course)?;
        let count = student::one_more_hint(exercise, &exercise.hints()?, &progress);
        progress.set_hints(&exercise.name, count)?;
        if by_script {
            let html = hints_of(exercise, &progress)?.into_string();
            return Ok(data(StatusCode::OK, &json!({ "text": work.text, "digest": work.digest, "html": html })));
        }
        Ok(Redirect::to(&format!("{}#hints", address(&exercise.name))).into_response())
    }

    fn reset(&self, exercise: &Exercise, by_script: bool) -> Result<Response> {
        let status = student::reset_file(&self.course, exercise)?;
        if by_script {
            let Work { text, digest } = Work::read(exercise)?;
            return Ok(data(StatusCode::OK, &json!({ "text": text, "digest": digest, "status": status })));
        }
        self.page(exercise, &Said { status: Some(status), ..Said::default() })
    }

    fn run(self: &Arc<Self>, exercise: &Exercise, work: &Work, sent: &Sent, by_script: bool) -> Result<Response> {
        let arguments = arguments(sent)?;
        let key = cache::key(&self.course, exercise, &work.text, &arguments)?;
        let kept = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let known = key.as_ref().filter(|_| !sent.again).and_then(|key| kept().get(key));
        let mut saved = of_work(work);
        saved["event"] = "saved".into();
        let mut lines = match known {
            Some(line) => {
                let last = self.ended(exercise, Some(&line), true)?;
                Lines::known([format!("{line}\n"), format!("{last}\n")])
            }
            None => {
                let (server, of, digest) = (Arc::clone(self), exercise.clone(), work.digest.clone());
                let done = move |line: Option<&str>| {
                    // The process has read the file, which another program may have changed.
                    if !Work::there(&of).is_ok_and(|there| there.is_some_and(|there| there.digest == digest)) {
                        return Some(failed("the file was changed on the disk while it ran: run it again"));
                    }
                    if let Some((key, line)) = key.zip(line) {
                        server.cache.lock().unwrap_or_else(PoisonError::into_inner).keep(key, line.to_owned());
                    }
                    Some(server.ended(&of, line, false).unwrap_or_else(|error| failed(&error.to_string())))
                };
                Lines::of(self.runs.start(&self.course, &exercise.name, &arguments, done))
            }
        };
        if by_script {
            lines.first.insert(0, format!("{saved}\n"));
            let kind = [(header::CONTENT_TYPE, "application/jsonl; charset=utf-8")];
            return Ok((kind, Body::from_stream(lines)).into_response());
        }
        let said = lines.said();
        self.page(exercise, &said)
    }

    /// The last line after a verdict: how far the student is now.
    fn ended(&self, exercise: &Exercise, verdict: Option<&str>, known: bool) -> Result<Value> {
        let mut progress = Progress::read(&self.course)?;
        let solved =
            verdict.is_some_and(|line| serde_json::from_str::<Value>(line).is_ok_and(|it| it["solved"] == true));
        // It may have been forgotten since the verdict was given.
        if solved && known {
            progress.set_solved(exercise, true)?;
        }
        let next = progress.next(&self.course).filter(|_| solved);
        let next = next.map(|name| self.course.exercise(name)).transpose()?;
        let next = next.map(|next| json!({ "address": address(&next.name), "title": next.goals.title }));
        let state = map::State::of(exercise, &progress).word();
        let hints = hints_of(exercise, &progress)?.into_string();
        Ok(json!({ "event": "end", "known": known, "state": state, "next": next, "hints": hints }))
    }
}

/// The arguments of `cargo learn run` for a form, each of which is checked.
fn arguments(sent: &Sent) -> Result<Vec<String>> {
    let wrong =
        |what: &str, text: &str| Error::Usage(format!("{what}: '{text}' is not a number that is possible here"));
    let mut arguments = Vec::new();
    if !sent.seed.trim().is_empty() {
        let seed: u64 = sent.seed.trim().parse().map_err(|_| wrong("the seed", &sent.seed))?;
        arguments.extend(["--seed".to_owned(), seed.to_string()]);
    }
    if !sent.schedules.trim().is_empty() {
        let schedules = sent.schedules.trim().parse().ok().filter(|count| (1..=1_000_000).contains(count));
        let schedules: u32 = schedules.ok_or_else(|| wrong("other orders", &sent.schedules))?;
        arguments.extend(["--schedules".to_owned(), schedules.to_string()]);
    }
    if !matches!(sent.device.as_str(), "" | "sim") {
        device(&sent.device).map_err(|why| Error::Usage(format!("the device: {why}")))?;
        arguments.extend(["--device".to_owned(), sent.device.clone()]);
    }
    Ok(arguments)
}

fn of_work(Work { text, digest }: &Work) -> Value {
    json!({ "text": text, "digest": digest })
}

fn data(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// The lines of a run.
struct Lines {
    /// Those that are there already, in order.
    first: Vec<String>,
    /// Those that come.
    rest: Option<Receiver<String>>,
}

impl Lines {
    fn known(lines: [String; 2]) -> Self {
        Self { first: lines.into(), rest: None }
    }

    fn of(rest: Receiver<String>) -> Self {
        Self { first: Vec::new(), rest: Some(rest) }
    }

    /// What a page without scripts says when the run has ended.
    fn said(mut self) -> Said {
        let rest = std::iter::from_fn(|| self.rest.as_mut()?.blocking_recv());
        let mut said = Said::default();
        for line in self.first.into_iter().chain(rest) {
            let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
            let text = |of: &str| event[of].as_str().map(str::to_owned);
            match event["event"].as_str() {
                Some("verdict") => said.verdict = text("html"),
                Some("error") => said.status = text("text"),
                Some("stopped") => said.status = Some("Stopped.".to_owned()),
                _ => {}
            }
        }
        said
    }
}

impl futures_core::Stream for Lines {
    type Item = std::result::Result<String, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(self.first.remove(0))));
        }
        match &mut self.rest {
            Some(rest) => rest.poll_recv(context).map(|line| line.map(Ok)),
            None => Poll::Ready(None),
        }
    }
}
