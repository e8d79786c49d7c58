//! An answer that says why there is no other. A handler returns it with `?`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::error::Error;
use crate::serve::frame::{Page, problem};
use crate::terminal::note;

/// How long to be silent after a note: each of many requests may fail.
const SILENT: Duration = Duration::from_secs(1);

/// The answer.
pub struct Refusal(Box<Response>);

/// What a handler returns.
pub type Answered<T = Response> = Result<T, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<Response> for Refusal {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl From<class::Error> for Refusal {
    /// A message of the database is for who runs the server, not for who asks. It has none of the
    /// values of a query.
    fn from(error: class::Error) -> Self {
        match error {
            class::Error::Refused(why) => said(StatusCode::TOO_MANY_REQUESTS, "Not now", &why),
            error => {
                note_seldom(&error.to_string());
                let sentence = "The database does not answer. Try again in a minute.";
                said(StatusCode::INTERNAL_SERVER_ERROR, "This did not work", sentence)
            }
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        problem(&error).unwrap_or_else(|error| lost(&error)).into()
    }
}

/// A page that says a sentence.
pub fn said(status: StatusCode, title: &str, sentence: &str) -> Refusal {
    page_of(status, title, html! { main.index { h1 { (title) } p.card role="alert" { (sentence) } } })
}

/// A page that is no answer to what was asked.
pub fn page_of(status: StatusCode, title: &str, main: Markup) -> Refusal {
    let page = Page { title: title.to_owned(), main, ..Page::default() };
    page.answer(status).unwrap_or_else(|error| lost(&error)).into()
}

/// An answer of one line.
pub fn line(status: StatusCode, text: &str) -> Response {
    (status, format!("error: {text}\n")).into_response()
}

/// Writes one line on the standard error, unless there was one just now.
pub fn note_seldom(error: &str) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let is_due = is_due(&mut LAST.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
    if is_due {
        note!("note: {}", error.replace(char::is_control, " "));
    }
}

/// Whether a note may be written now, which then is the last one.
fn is_due(last: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = last.is_none_or(|last| now.duration_since(last) >= SILENT);
    if is_due {
        *last = Some(now);
    }
    is_due
}

fn lost(error: &Error) -> Response {
    line(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_seldom() {
        let (begin, mut last) = (Instant::now(), None);
        let due = [0, 999, 1000, 1001, 2000].map(|after| is_due(&mut last, begin + Duration::from_millis(after)));
        assert_eq!(due, [true, false, true, false, true]);
    }
}
