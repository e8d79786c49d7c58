//! Who may ask: only a browser that has the token of the printed address. Each request passes here
//! first.
//!
//! | attack | what refuses it |
//! | --- | --- |
//! | another machine connects | the server listens at 127.0.0.1 alone |
//! | another user of this machine connects | the token, 256 random bits; then a cookie of its own |
//! | a page elsewhere sends a form (CSRF) | `Origin` must be ours; the cookie is `SameSite=Strict` |
//! | a name elsewhere resolves to 127.0.0.1 (DNS rebinding) | `Host` must be ours |
//! | a page elsewhere frames ours, or loads a part | the headers of each answer |
//!
//! *Invariant:* nothing of the course is read or changed before a request has passed.

use std::sync::{Mutex, PoisonError};

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use maud::html;

use crate::error::{Error, Result};

/// What the address has the token in.
const PARAMETER: &str = "token=";

/// Says who may ask.
pub struct Access {
    port: u16,
    /// Of the printed address.
    token: String,
    /// Of the address that the browser is started with, which others may see among the processes:
    /// it serves once.
    once: Mutex<Option<String>>,
    /// The cookie's value.
    session: String,
}

/// What is to be done with a request.
pub enum Passage {
    /// It goes on.
    Granted,
    /// This is the answer.
    Answered(Response),
}

impl Access {
    /// To a server at this port.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the system has no random numbers.
    pub fn new(port: u16) -> Result<Self> {
        Ok(Self { port, token: secret()?, once: Mutex::new(None), session: secret()? })
    }

    /// The address to print.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?{PARAMETER}{}", self.port, self.token)
    }

    /// An address that serves once.
    ///
    /// # Errors
    ///
    /// As [`Access::new`].
    pub fn address_for_once(&self) -> Result<String> {
        let token = secret()?;
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        Ok(format!("http://127.0.0.1:{}/?{PARAMETER}{token}", self.port))
    }

    /// Whether a request passes.
    pub fn passage(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Passage {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !text(header::HOST).is_some_and(|host| hosts.iter().any(|known| known == host)) {
            return refused(&format!("this server is at {} only", hosts[0]));
        }
        let of_ours =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|of| hosts.iter().any(|host| host == of));
        let origin = text(header::ORIGIN);
        let asks = method == Method::GET || method == Method::HEAD;
        if origin.map_or(!asks, |origin| !of_ours(origin)) {
            return refused("this was sent by a page of another server");
        }
        let given = uri.query().and_then(|query| query.split('&').find_map(|part| part.strip_prefix(PARAMETER)));
        if asks && given.is_some_and(|given| self.opens(given)) {
            return Passage::Answered(self.enter());
        }
        match self.has_cookie(headers) {
            true => Passage::Granted,
            false => refused("open the address that `cargo learn serve` has printed, with its token"),
        }
    }

    fn opens(&self, given: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        same(given, &self.token) || once.take_if(|token| same(given, token)).is_some()
    }

    /// The port is in the name, because a cookie is sent to all ports.
    fn cookie_name(&self) -> String {
        format!("learn_{}", self.port)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let name = self.cookie_name();
        pairs.any(|(known, value)| known == name && same(value, &self.session))
    }

    /// Gives the cookie for the token. The page goes on by itself and not by a redirection: a
    /// browser would not send the cookie if a page elsewhere had the link to the first address.
    fn enter(&self) -> Response {
        let page = html! {
            (maud::DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="refresh" content="0;url=/";
                    title { "Coalesce" }
                    link rel="icon" href="data:,";
                }
                body { a href="/" { "The course" } }
            }
        };
        let mut response = page.into_string().into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.session);
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            headers.insert(header::SET_COOKIE, cookie);
        }
        protect(&mut response, None);
        response
    }
}

fn refused(why: &str) -> Passage {
    let mut response = (StatusCode::FORBIDDEN, format!("error: {why}\n")).into_response();
    protect(&mut response, None);
    Passage::Answered(response)
}

/// The headers of each answer: what its page may load, and who may use it. Elements that a script
/// with this nonce makes may have styles.
pub fn protect(response: &mut Response, nonce: Option<&str>) {
    let nonce = nonce.map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; style-src 'self'{nonce}; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    }
}

/// A secret: 256 random bits.
///
/// # Errors
///
/// [`Error::Usage`] if the system has no random numbers.
pub fn secret() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| Error::Usage(format!("the system has no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a text is the secret, in a time that does not depend on where they differ.
fn same(given: &str, secret: &str) -> bool {
    let differ = given.bytes().zip(secret.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == secret.len() && std::hint::black_box(differ) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The status of the answer, or none if the request passes.
    fn ask(access: &Access, method: &Method, path: &str, headers: &[(&'static str, &str)]) -> Option<StatusCode> {
        let pairs = headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        match access.passage(method, &path.parse().unwrap(), &pairs.collect()) {
            Passage::Granted => None,
            Passage::Answered(response) => Some(response.status()),
        }
    }

    #[test]
    fn only_the_token_and_the_cookie_open() {
        let access = Access::new(8391).unwrap();
        let host = ("host", "127.0.0.1:8391");
        let get = |path: &str, cookie: &str| ask(&access, &Method::GET, path, &[host, ("cookie", cookie)]);
        let cookie = format!("a=b; learn_8391={}", access.session);
        assert_eq!(get("/", &cookie), None);
        for wrong in ["", "learn_8391=", "learn_8391", &format!("learn_8392={}", access.session)] {
            assert_eq!(get("/", wrong), Some(StatusCode::FORBIDDEN), "{wrong}");
        }
        assert_eq!(get(&format!("/?token={}", access.token), ""), Some(StatusCode::OK));
        assert_eq!(get(&format!("/?token={}0", access.token), ""), Some(StatusCode::FORBIDDEN));
        assert_eq!(get(&format!("/?token={}", access.session), ""), Some(StatusCode::FORBIDDEN));
        let once = access.address_for_once().unwrap();
        let (_, query) = once.split_once("8391").unwrap();
        assert_eq!([get(query, ""), get(query, "")], [Some(StatusCode::OK), Some(StatusCode::FORBIDDEN)]);
    }

    #[test]
    fn other_hosts_and_origins_are_refused() {
        let access = Access::new(80).unwrap();
        let cookie = format!("learn_80={}", access.session);
        let sent = |method: &Method, host, origin: Option<&str>| {
            let mut headers = vec![("host", host), ("cookie", cookie.as_str())];
            headers.extend(origin.map(|origin| ("origin", origin)));
            ask(&access, method, "/", &headers)
        };
        let forbidden = Some(StatusCode::FORBIDDEN);
        assert_eq!(sent(&Method::GET, "localhost:80", None), None);
        assert_eq!(sent(&Method::POST, "127.0.0.1:80", Some("http://127.0.0.1:80")), None);
        for host in ["evil.example:80", "127.0.0.1", "127.0.0.1:81", "127.0.0.1:80.evil.example"] {
            assert_eq!(sent(&Method::GET, host, None), forbidden, "{host}");
        }
        for origin in [None, Some("null"), Some("http://127.0.0.1:81"), Some("https://127.0.0.1:80")] {
            assert_eq!(sent(&Method::POST, "127.0.0.1:80", origin), forbidden, "{origin:?}");
        }
        assert_eq!(sent(&Method::GET, "127.0.0.1:80", Some("http://evil.example")), forbidden);
    }
}
