//! Links and sessions. A personal link opens a page that says whose it is, and its button exchanges
//! the link for a session: a program that looks at links in mails signs nobody in, and a link that a
//! page elsewhere opens signs nobody in unseen.
//!
//! Another way to know who one is ends in [`begin`], too: a university's login ([`super::openid`]).
//! LTI 1.3 would be the third. A learning platform's launch is a form that it posts with an ID token,
//! after the same redirection with `state` and `nonce`: the address that takes it verifies the token
//! as `openid` does, looks for its claim in the roster, and calls [`begin`] with the exercise that the
//! launch names. The guard must let that one address be posted to from elsewhere. Deep linking answers a
//! launch of the type `LtiDeepLinkingRequest` with the exercises of [`super::lessons`], each by its
//! address. Passing grades back sends what [`super::marks::of_class`] computes to the platform's
//! assignment service, whenever a verdict of a submission is stored.
//!
//! *Invariant:* a secret is in the link and in the cookie, and nowhere else: its hash is kept.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::http::header::{self, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Redirect, Response};
use class::settings::Settings;
use class::store::Who;
use class::{DAY, Millis, secret};
use maud::{Markup, html};
use serde::Deserialize;

use super::guard::Asker;
use super::refusal::{Answered, Refusal, line, page_of, said};
use super::{Server, now, openid};
use crate::serve::frame::Page;

/// The time in which wrong links are counted.
const COUNTED: Millis = 10 * 60 * 1000;

/// The cookie's name. With TLS no other host or path can set it; without, the port is in the name,
/// because a cookie is sent to all ports.
pub fn cookie_name(settings: &Settings) -> String {
    match settings.tls() {
        true => "__Host-class".to_owned(),
        false => format!("class_{}", settings.listen.port()),
    }
}

/// A cookie with this value, for so many seconds.
pub fn cookie(settings: &Settings, name: &str, value: &str, seconds: i64) -> String {
    let secure = if settings.tls() { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// The link with a secret.
pub fn link(settings: &Settings, secret: &str) -> String {
    format!("{}/enter/{secret}", settings.address)
}

/// Whose link this is. Wrong ones are counted by address.
async fn who(server: &Server, asker: &Asker, secret: &str) -> Answered<Who> {
    let (store, address, now) = (&server.store, asker.network.to_string(), now());
    let found = match secret::is_secret(secret) {
        true => store.who_of_link(&secret::hash(secret)).await?,
        false => None,
    };
    if let Some(who) = found {
        return Ok(who);
    }
    // Right links go on working: a class may share an address with someone who guesses.
    if store.attempts(&address, now - COUNTED).await? >= u64::from(server.settings.limits.failed_sign_ins) {
        let sentence = "Wait ten minutes before you open another one.";
        return Err(said(StatusCode::TOO_MANY_REQUESTS, "Too many wrong links", sentence));
    }
    store.note_attempt(&address, now - COUNTED, now).await?;
    Err(closed())
}

/// The answer to a link that does not open the class.
fn closed() -> Refusal {
    let sentence = "It was replaced or revoked, or is not whole. Ask your teacher for a new one.";
    said(StatusCode::FORBIDDEN, "This link does not open the class", sentence)
}

/// The page of a link.
pub async fn page(State(server): State<Arc<Server>>, asker: Asker, Path(secret): Path<String>) -> Answered {
    let who = who(&server, &asker, &secret).await?;
    if asker.who.as_ref() == Some(&who) {
        return Ok(Redirect::to("/").into_response());
    }
    let name = match &who {
        Who::Teacher => "the teacher".to_owned(),
        Who::Student(id) => server.store.student(id).await?.map(|student| student.name).unwrap_or_default(),
    };
    let main = html! {
        main.index {
            h1 { (server.settings.title) }
            p { "This link is for " b { (name) } ". Keep it to yourself: who has it works in that name." }
            form method="post" action="/enter" {
                input type="hidden" name="secret" value=(secret);
                button.go { "Sign in as " (name) }
            }
        }
    };
    Ok(Page { title: "Sign in".to_owned(), main, ..Page::default() }.answer(StatusCode::OK)?)
}

/// The form of that page.
#[derive(Deserialize)]
pub struct Entering {
    secret: String,
}

/// Exchanges a link for a session.
pub async fn enter(
    State(server): State<Arc<Server>>,
    asker: Asker,
    form: Result<Form<Entering>, FormRejection>,
) -> Answered {
    let Ok(Form(Entering { secret })) = form else {
        return Err(line(StatusCode::BAD_REQUEST, "the form is not whole: open your link again").into());
    };
    let who = who(&server, &asker, &secret).await?;
    begin(&server, &who, Some(&secret), "/").await
}

/// Begins the session of someone who is known, by a link or otherwise, and leads to a page of this
/// server.
pub async fn begin(server: &Server, who: &Who, link: Option<&str>, to: &str) -> Answered {
    let days = i64::from(server.settings.limits.session_days);
    let (value, now) = (secret::new()?, now());
    let (hash, expires) = (secret::hash(&value), now + days * DAY);
    match link {
        None => server.store.put_session(&hash, who, now, expires).await?,
        Some(link) if server.store.enter(&secret::hash(link), &hash, who, now, expires).await? => {}
        Some(_) => return Err(closed()),
    }
    let cookie = cookie(&server.settings, &cookie_name(&server.settings), &value, days * DAY / 1000);
    Ok(with_cookie(Redirect::to(to).into_response(), &cookie))
}

/// Ends the session.
pub async fn leave(State(server): State<Arc<Server>>, asker: Asker) -> Answered {
    if let Some(session) = &asker.session {
        server.store.end_session(session).await?;
    }
    let gone = cookie(&server.settings, &cookie_name(&server.settings), "", 0);
    let left = with_cookie(Redirect::to("/").into_response(), &gone);
    Ok(match server.openid {
        Some(_) => with_cookie(left, &openid::asking(&server.settings, true)),
        None => left,
    })
}

/// An answer that sets one more cookie.
pub fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// The answer to someone who is not known, and wanted this.
pub fn wanted(server: &Server, wanted: &Uri) -> Refusal {
    let offer = server.openid.as_ref().map(|provider| openid::offer(provider, wanted));
    let begin = if offer.is_some() { "Or open" } else { "Open" };
    let main = html! {
        main.index {
            h1 { "Please sign in" }
            (offer.unwrap_or_default())
            p.card role="alert" { (begin) " the personal link that your teacher has sent you." }
        }
    };
    page_of(StatusCode::UNAUTHORIZED, "Please sign in", main)
}

/// Who is signed in, and the way out.
pub fn signed_in(name: &str) -> Markup {
    html! {
        form.leave method="post" action="/leave" {
            span.quiet { (name) }
            button { "Sign out" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str) -> Settings {
        Settings::of(&format!("title = 'T'\naddress = '{address}'\n"), std::path::Path::new("/")).unwrap()
    }

    #[test]
    fn with_tls_the_cookie_is_of_this_host_alone() {
        let of = |settings: &Settings| cookie(settings, &cookie_name(settings), "v", 60);
        let cookie = of(&settings("https://class.example"));
        assert_eq!(cookie, "__Host-class=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
        let cookie = of(&settings("http://127.0.0.1:8391"));
        assert_eq!(cookie, "class_8391=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn a_link_has_the_public_address() {
        assert_eq!(link(&settings("https://class.example"), "5"), "https://class.example/enter/5");
    }
}
