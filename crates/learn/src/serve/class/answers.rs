//! All addresses of the class.
//!
//! | address | for |
//! | --- | --- |
//! | `/enter/SECRET`, `/enter`, `/openid`, `/openid/back`, `/leave`, `/assets/*` | everyone |
//! | `/` | the student's map, or the teacher's table |
//! | `/exercises/*` | the student |
//! | `/runs/ID` | its student, and the teacher; `/runs/ID/events`: its student |
//! | `/class/*` | the teacher |

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use class::store::Who;

use super::guard::{Asker, guarded};
use super::refusal::{Answered, line};
use super::{Server, events, exercises, history, map, marks, matrix, now, openid, run, sign_in, work};
use crate::digest;
use crate::serve::frame::asset;

/// The answers.
pub fn routes(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(first))
        .route("/enter/{secret}", get(sign_in::page))
        .route("/enter", post(sign_in::enter))
        .route("/openid", get(openid::begin))
        .route("/openid/back", get(openid::back))
        .route("/leave", post(sign_in::leave))
        .route("/assets/{name}", get(file_of_page))
        .route("/exercises/{name}", get(work::page))
        .route("/exercises/{name}/file", get(work::file))
        .route("/exercises/{name}/history", get(history::own))
        .route("/exercises/{name}/stop", post(work::stop))
        .route("/exercises/{name}/{action}", post(work::act).get(work::back))
        .route("/runs/{id}", get(run::page))
        .route("/runs/{id}/events", get(events::of_run))
        .route("/class/students/{id}", get(matrix::student))
        .route("/class/students/{id}/{name}", get(history::of_student))
        .route("/class/exercises/{name}", get(exercises::page))
        .route("/class/exercises/{name}/regrade", post(exercises::regrade))
        .route("/class/marks/{name}", get(marks::download))
        .fallback(async || line(StatusCode::NOT_FOUND, "there is nothing at this address"))
        .method_not_allowed_fallback(async || line(StatusCode::METHOD_NOT_ALLOWED, "this address has no such method"))
        .layer(DefaultBodyLimit::max(server.settings.limits.body_bytes))
        .layer(from_fn_with_state(Arc::clone(&server), guarded))
        .with_state(server)
}

/// The student's map, or the teacher's table.
async fn first(State(server): State<Arc<Server>>, uri: Uri, asker: Asker) -> Answered {
    let id = match asker.who.ok_or_else(|| sign_in::wanted(&server, &uri))? {
        Who::Teacher => return matrix::page(&server).await,
        Who::Student(id) => id,
    };
    let store = &server.store;
    let known = async {
        let name = store.student(&id).await?.map(|student| student.name).unwrap_or_default();
        let tried = store.last_runs(&id).await?.into_iter().map(|run| run.exercise).collect::<Vec<_>>();
        Ok::<_, class::Error>((name, store.solved(&id).await?, tried, store.submissions_of(&id).await?))
    };
    let (name, solved, tried, submissions) = known.await?;
    let known = map::Known { name: &name, solved: &solved, tried: &tried, submissions: &submissions };
    let page = map::page(&known, &server.lessons(), &server.settings, now());
    Ok(page.answer(StatusCode::OK)?)
}

/// What pages load. A browser keeps it, and asks whether it is still the same.
async fn file_of_page(State(server): State<Arc<Server>>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let made = tokio::task::spawn_blocking(move || asset(&name, &server.bundle));
    let Ok(response) = made.await else { return line(StatusCode::INTERNAL_SERVER_ERROR, "the file is lost") };
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return line(StatusCode::INTERNAL_SERVER_ERROR, "the file is lost");
    };
    if parts.status != StatusCode::OK {
        return (parts, bytes).into_response();
    }
    let tag = format!("\"{}\"", &digest::of(&[&bytes])[..32]);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        parts.headers.insert(header::ETAG, tag);
    }
    parts.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    match is_known {
        true => {
            parts.status = StatusCode::NOT_MODIFIED;
            parts.headers.remove(header::CONTENT_LENGTH);
            parts.into_response()
        }
        false => (parts, bytes).into_response(),
    }
}
