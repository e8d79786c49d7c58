//! An answer that says why there is no other. A handler returns it with `?`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;

use crate::error::Error;
use crate::serve::frame::{Page, problem};

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
    /// A message of the database may have what a request had in it: it is not shown.
    fn from(error: class::Error) -> Self {
        match error {
            class::Error::Refused(why) => said(StatusCode::TOO_MANY_REQUESTS, "Not now", &why),
            _ => {
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
    let main = html! { main.index { h1 { (title) } p.card role="alert" { (sentence) } } };
    let page = Page { title: title.to_owned(), main, ..Page::default() };
    page.answer(status).unwrap_or_else(|error| lost(&error)).into()
}

/// An answer of one line.
pub fn line(status: StatusCode, text: &str) -> Response {
    (status, format!("error: {text}\n")).into_response()
}

fn lost(error: &Error) -> Response {
    line(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
}
