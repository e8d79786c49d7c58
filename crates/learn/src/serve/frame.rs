//! What all pages share: the frame, the look and the scripts. Nothing is inline, so that a page's
//! policy can forbid it, and nothing is loaded from elsewhere.

use axum::http::StatusCode;
use axum::http::header::{self, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};

use super::access::{protect, secret};
use super::bundle::Bundle;
use crate::error::{Error, Result};

/// The icon: a warp's lanes above a word, as the site has it.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 2h3v3H2zM11 \
                    2h3v3h-3z' fill='%230072b2'/%3E%3Cpath d='M4 5l3 6M12 5L9 11' stroke='%230072b2'/%3E%3Cpath d='M6 11h4v3H6z' \
                    fill='%23e69f00'/%3E%3C/svg%3E";

/// The scripts: each is a module with one subject.
const SCRIPTS: [(&str, &str); 6] = [
    ("exercise.js", include_str!("assets/exercise.js")),
    ("file.js", include_str!("assets/file.js")),
    ("predict.js", include_str!("assets/predict.js")),
    ("run.js", include_str!("assets/run.js")),
    ("text.js", include_str!("assets/text.js")),
    ("time.js", include_str!("assets/time.js")),
];

/// A page.
#[derive(Default)]
pub struct Page {
    pub title: String,
    /// Its script, if it has one.
    pub script: Option<&'static str>,
    /// Links to other pages: address and text.
    pub links: Vec<(String, &'static str)>,
    /// What stands at the end of the page's head.
    pub aside: Markup,
    /// After how many seconds it is loaded again, if at all.
    pub refresh: Option<u32>,
    pub main: Markup,
}

impl Page {
    /// The answer with this page.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the system has no random numbers.
    pub fn answer(&self, status: StatusCode) -> Result<Response> {
        let nonce = secret()?;
        let text = self.render(&nonce);
        let mut response = (status, text).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        protect(&mut response, Some(&nonce));
        Ok(response)
    }

    /// The page's text. Styles that its script makes have the nonce.
    fn render(&self, nonce: &str) -> String {
        let Self { title, script, links, aside, refresh, main } = self;
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="style-nonce" nonce=(nonce);
                    @if let Some(seconds) = refresh { meta http-equiv="refresh" content=(seconds); }
                    title { (title) " - Coalesce" }
                    link rel="icon" href=(ICON);
                    link rel="stylesheet" href="/assets/pages.css";
                    @if let Some(script) = script { script type="module" src={ "/assets/" (script) } {} }
                }
                body.site {
                    a.skip href="#content" { "Skip to the page" }
                    header.top {
                        a.brand href="/" { "Coalesce" }
                        nav aria-label="Pages" {
                            ul { @for (address, text) in links { li { a href=(address) { (text) } } } }
                        }
                        (aside)
                    }
                    div #content tabindex="-1" { (main) }
                }
            }
        };
        document.into_string()
    }
}

/// The page that says what went wrong.
pub fn problem(error: &Error) -> Result<Response> {
    let status = match error {
        Error::NoSuchExercise { .. } => StatusCode::NOT_FOUND,
        Error::Usage(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let main = html! {
        main.index {
            h1 { "This did not work" }
            p.card role="alert" { (error) }
            p { a href="/" { "The course" } }
        }
    };
    Page { title: "Error".to_owned(), main, ..Page::default() }.answer(status)
}

/// What pages load, by name.
pub fn asset(name: &str, bundle: &Bundle) -> Response {
    let script = || SCRIPTS.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    let (kind, text) = match name {
        "pages.css" => {
            let own = [include_str!("assets/pages.css"), include_str!("assets/class.css")];
            let parts = [webpage::STYLE, picture::STYLE, webpage::FRAME, own[0], own[1]];
            ("text/css; charset=utf-8", Some(parts.concat()))
        }
        "editor.js" => ("text/javascript; charset=utf-8", bundle.text()),
        "tables.js" => ("text/javascript; charset=utf-8", Some(webpage::SCRIPT.to_owned())),
        _ => ("text/javascript; charset=utf-8", script()),
    };
    match text {
        Some(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        None => (StatusCode::NOT_FOUND, "error: there is no such file\n").into_response(),
    }
}
