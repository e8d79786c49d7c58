//! A student's page of an exercise, and what its buttons do. Whatever a form asks for, the text in
//! it is saved first.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap};
use axum::response::{IntoResponse as _, Redirect, Response};
use class::store::{Answer, Draft, NewRun, Run, Saved, State as RunState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::guard::Student;
use super::lessons::{Lesson, Lessons};
use super::refusal::{Answered, line, said};
use super::sign_in::signed_in;
use super::{Server, map, now};
use crate::guard::LONGEST;
use crate::predictions::read_predictions;
use crate::serve::exercise::{Kept, Said, View, address, hints, links};
use crate::serve::frame::Page;
use crate::serve::work::{Work, with_line_feeds};

type Shared = State<Arc<Server>>;

/// The exercises, and the one of this name among them.
pub struct Chosen {
    lessons: Arc<Lessons>,
    at: usize,
}

impl Chosen {
    pub fn of(server: &Server, name: &str) -> Answered<Self> {
        let lessons = server.lessons();
        match lessons.all.iter().position(|lesson| lesson.exercise.name == name) {
            Some(at) => Ok(Self { lessons, at }),
            None => Err(said(StatusCode::NOT_FOUND, "No such exercise", "The class has no exercise of this name.")),
        }
    }

    pub fn lesson(&self) -> &Lesson {
        &self.lessons.all[self.at]
    }

    pub fn lessons(&self) -> &Lessons {
        &self.lessons
    }
}

pub async fn page(State(server): Shared, Student(id): Student, Path(name): Path<String>) -> Answered {
    let chosen = Chosen::of(&server, &name)?;
    show(&server, &id, &chosen, Said::default()).await
}

/// The draft, or the starter.
async fn draft(server: &Server, id: &str, lesson: &Lesson) -> Answered<Work> {
    let draft = server.store.draft(id, &lesson.exercise.name).await?;
    Ok(match draft {
        Some(Draft { text, digest, .. }) => Work { text, digest },
        None => Work { text: starter(lesson)?, digest: String::new() },
    })
}

fn starter(lesson: &Lesson) -> Answered<String> {
    let file = lesson.exercise.starter_file();
    let read = std::fs::read_to_string(&file).map_err(crate::error::Error::reading(&file));
    Ok(with_line_feeds(&read?))
}

/// The student's run that goes on, if there is one.
async fn going_on(server: &Server, id: &str, exercise: &str) -> Answered<Option<Run>> {
    let runs = server.store.runs_of(id, exercise, None, 20).await?;
    Ok(runs.into_iter().find(|run| run.last.is_none() && matches!(run.state, RunState::Waiting | RunState::Running)))
}

async fn show(server: &Arc<Server>, id: &str, chosen: &Chosen, mut said: Said) -> Answered {
    let lesson = chosen.lesson();
    let name = &lesson.exercise.name;
    let work = draft(server, id, lesson).await?;
    let store = &server.store;
    let known = async {
        let student = store.student(id).await?.map(|student| student.name).unwrap_or_default();
        let tried = store.last_runs(id).await?.into_iter().map(|run| run.exercise).collect::<Vec<_>>();
        Ok::<_, class::Error>((
            student,
            store.solved(id).await?,
            tried,
            store.submissions_of(id).await?,
            store.hints(id, name).await?,
        ))
    };
    let (student, solved, tried, submissions, read) = known.await?;
    let known = map::Known { name: &student, solved: &solved, tried: &tried, submissions: &submissions };
    let mark = map::mark_of(&submissions, lesson, chosen.lessons(), &server.settings);
    let going_on = going_on(server, id, name).await?;
    if let Some(run) = going_on.as_ref().filter(|_| said.status.is_none()) {
        said.status = Some(format!("Run {} is being judged.", run.id));
    }
    let view = View {
        exercise: &lesson.exercise,
        chapter: Some(&lesson.chapter),
        state: known.state(name),
        work: &work,
        said: &said,
        hints: hints(&lesson.exercise, usize::try_from(read).unwrap_or(usize::MAX))?,
        has_editor: server.has_editor(),
        kept: Kept::InClass {
            about: map::about(lesson, mark.as_ref(), now()),
            events: going_on.map(|run| events(run.id)),
        },
    };
    let main = view.main()?;
    let page = Page {
        title: lesson.exercise.goals.title.clone(),
        script: Some("exercise.js"),
        links: links(&chosen.lessons().names(), name),
        aside: signed_in(&student),
        main,
        ..Page::default()
    };
    Ok(page.answer(StatusCode::OK)?)
}

/// The address of a run's events.
fn events(run: i64) -> String {
    format!("/runs/{run}/events")
}

/// What a script knows of the text.
#[derive(Deserialize)]
pub struct Digest {
    #[serde(default)]
    digest: String,
}

/// The text, unless the page has it already.
pub async fn file(
    State(server): Shared,
    Student(id): Student,
    Path(name): Path<String>,
    Query(known): Query<Digest>,
) -> Answered {
    let chosen = Chosen::of(&server, &name)?;
    let draft = server.store.draft(&id, &chosen.lesson().exercise.name).await?;
    Ok(match draft {
        Some(draft) if draft.digest != known.digest => data(StatusCode::OK, &of_draft(&draft)),
        _ => StatusCode::NO_CONTENT.into_response(),
    })
}

/// A form of an exercise's page.
#[derive(Deserialize)]
pub struct Sent {
    text: String,
    base: String,
}

/// Stops what goes on of an exercise.
pub async fn stop(State(server): Shared, Student(id): Student, Path(name): Path<String>) -> Answered {
    let chosen = Chosen::of(&server, &name)?;
    if let Some(run) = going_on(&server, &id, &chosen.lesson().exercise.name).await? {
        server.store.cancel(&id, run.id, now()).await?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The address of a form that was sent, opened again.
pub async fn back(State(server): Shared, _: Student, Path((name, action)): Path<(String, String)>) -> Answered {
    let chosen = Chosen::of(&server, &name)?;
    match action.as_str() {
        "save" | "hint" | "reset" | "run" | "submit" => {
            Ok(Redirect::to(&address(&chosen.lesson().exercise.name)).into_response())
        }
        _ => Err(line(StatusCode::NOT_FOUND, "there is nothing at this address").into()),
    }
}

/// Does what a button says.
pub async fn act(
    State(server): Shared,
    Student(id): Student,
    Path((name, action)): Path<(String, String)>,
    headers: HeaderMap,
    sent: Result<Form<Sent>, FormRejection>,
) -> Answered {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let by_script = accepts.contains("application/json");
    let chosen = Chosen::of(&server, &name)?;
    if !["save", "hint", "reset", "run", "submit"].contains(&action.as_str()) {
        return Err(line(StatusCode::NOT_FOUND, "there is nothing at this address").into());
    }
    let most = server.settings.limits.source_bytes.min(LONGEST);
    let too_long =
        || said(StatusCode::PAYLOAD_TOO_LARGE, "Too long", &format!("The text is too long: {most} bytes are allowed."));
    let Form(sent) = sent.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_long(),
        _ => said(StatusCode::BAD_REQUEST, "Not whole", "The form is not whole: open the page again."),
    })?;
    let text = with_line_feeds(&sent.text);
    if text.len() > most {
        return Err(too_long());
    }
    // PostgreSQL cannot store a zero byte.
    if text.contains('\0') || sent.base.contains('\0') {
        return Err(said(StatusCode::BAD_REQUEST, "No text", "The text contains a zero byte."));
    }
    let exercise = &chosen.lesson().exercise;
    let saved = server.store.save_draft(&id, &exercise.name, &text, Some(&sent.base), now()).await;
    let draft = match saved? {
        Saved::Yes(draft) => draft,
        Saved::Conflict(there) if by_script => return Ok(data(StatusCode::CONFLICT, &of_draft(&there))),
        Saved::Conflict(_) => {
            return show(&server, &id, &chosen, Said { conflict: Some(text), ..Said::default() }).await;
        }
    };
    match action.as_str() {
        "save" if by_script => Ok(data(StatusCode::OK, &of_draft(&draft))),
        "save" => show(&server, &id, &chosen, Said { status: Some("Saved.".to_owned()), ..Said::default() }).await,
        "hint" => one_more_hint(&server, &id, &chosen, &draft, by_script).await,
        "reset" => reset(&server, &id, &chosen, &draft, by_script).await,
        _ => run(&server, &id, &chosen, &draft, action == "submit", by_script).await,
    }
}

async fn one_more_hint(server: &Server, id: &str, chosen: &Chosen, draft: &Draft, by_script: bool) -> Answered {
    let exercise = &chosen.lesson().exercise;
    let all = exercise.hints().map_err(crate::error::Error::from)?.len() as u64;
    let change = async {
        let read = (server.store.hints(id, &exercise.name).await? + 1).min(all);
        server.store.set_hints(id, &exercise.name, read).await?;
        Ok::<_, class::Error>(read)
    };
    let read = change.await?;
    if !by_script {
        return Ok(Redirect::to(&format!("{}#hints", address(&exercise.name))).into_response());
    }
    let html = hints(exercise, usize::try_from(read).unwrap_or(usize::MAX))?;
    let mut answer = of_draft(draft);
    answer["html"] = html.into_string().into();
    Ok(data(StatusCode::OK, &answer))
}

/// Puts the starter into the editor. What is saved stays until the student saves.
async fn reset(server: &Arc<Server>, id: &str, chosen: &Chosen, draft: &Draft, by_script: bool) -> Answered {
    let text = starter(chosen.lesson())?;
    let status = "The starter is in the editor. Yours stays saved until you save or run.";
    if by_script {
        let mut answer = of_draft(draft);
        answer["starter"] = text.into();
        answer["status"] = status.into();
        return Ok(data(StatusCode::OK, &answer));
    }
    let said = Said { status: Some(status.to_owned()), instead: Some(text), ..Said::default() };
    show(server, id, chosen, said).await
}

/// Puts the text into the queue.
async fn run(server: &Server, id: &str, chosen: &Chosen, draft: &Draft, submitted: bool, by_script: bool) -> Answered {
    let exercise = &chosen.lesson().exercise;
    let new = NewRun { student: id, exercise: &exercise.name, text: &draft.text, submitted };
    let run = server.store.enqueue(&new, &server.settings.limits, now()).await?;
    if exercise.is_predicted() {
        keep_answers(server, id, chosen, &draft.text).await?;
    }
    if by_script {
        return Ok(data(StatusCode::OK, &json!({ "saved": of_draft(draft), "run": run, "events": events(run) })));
    }
    Ok(Redirect::to(&format!("/runs/{run}")).into_response())
}

/// Keeps what a student has answered to the questions, and whether it is right.
async fn keep_answers(server: &Server, id: &str, chosen: &Chosen, text: &str) -> class::Result<()> {
    let exercise = &chosen.lesson().exercise;
    let Ok(given) = read_predictions(text, exercise) else { return Ok(()) };
    let solution = std::fs::read_to_string(exercise.solution_file()).unwrap_or_default();
    let right = read_predictions(&solution, exercise).unwrap_or_default();
    for question in &exercise.goals.question {
        let Some(answer) = given.get(&question.name).copied().flatten() else { continue };
        let right = right.get(&question.name).copied().flatten();
        let correct = right.map(|right| (right - answer).abs() < 1e-6);
        let answer = Answer {
            student: id.to_owned(),
            question: question.name.clone(),
            answer: answer.to_string(),
            correct,
            at: now(),
        };
        server.store.add_answer(&exercise.name, &answer).await?;
    }
    Ok(())
}

fn of_draft(draft: &Draft) -> Value {
    json!({ "text": draft.text, "digest": draft.digest })
}

fn data(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
