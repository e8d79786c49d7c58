//! Each request passes here first: where it comes from, how often, and who sends it.
//!
//! | attack | what refuses it |
//! | --- | --- |
//! | a page elsewhere sends a form (CSRF) | `Origin` and `Sec-Fetch-Site`; the cookie is `SameSite=Lax` |
//! | another name leads here | `Host` must be the class's |
//! | a sign-in of another browser ends in this one | [`super::openid`] |
//! | a link is guessed | 256 bits; wrong ones are counted by address |
//! | a cookie that was never given | what is no secret by its form is not looked for |
//! | too many requests | a rate for each student, and for each address without a session |
//! | a request that never ends | a time limit; bodies are bounded |
//!
//! *Invariant:* nothing of a student is read or changed before a request has passed.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use class::secret;
use class::settings::Settings;
use class::store::Who;

use super::limiter::{Limiter, Rate};
use super::refusal::{Answered, Refusal, line};
use super::{Server, now, origin, sign_in};
use crate::serve::access::protect;
use crate::serve::connections::network;

/// How long an answer may take to begin.
const LONGEST: Duration = Duration::from_secs(30);

/// What the guard remembers.
pub struct Guard {
    began: Instant,
    /// By key; the teacher has none.
    students: Limiter<Option<String>>,
    addresses: Limiter<IpAddr>,
    /// Whether a proxy on this machine says who asks.
    behind_proxy: bool,
}

impl Guard {
    pub fn new(settings: &Settings) -> Self {
        let rate = |each_minute: u32| Rate { burst: each_minute, each_minute };
        let (student, address) = (settings.limits.student_requests, settings.limits.address_requests);
        Self {
            began: Instant::now(),
            students: Limiter::new(rate(student)),
            addresses: Limiter::new(rate(address)),
            behind_proxy: settings.tls(),
        }
    }
}

/// Who asks, and from where.
#[derive(Clone, Debug)]
pub struct Asker {
    pub who: Option<Who>,
    pub network: IpAddr,
    /// The hash of the session.
    pub session: Option<String>,
}

impl FromRequestParts<Arc<Server>> for Asker {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Answered<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| sign_in::wanted(server, &parts.uri))
    }
}

/// The student who asks: the session's, whatever the request says.
pub struct Student(pub String);

impl FromRequestParts<Arc<Server>> for Student {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Answered<Self> {
        match Asker::from_request_parts(parts, server).await?.who {
            Some(Who::Student(id)) => Ok(Self(id)),
            Some(Who::Teacher) => Err(line(StatusCode::FORBIDDEN, "this is a page for students").into()),
            None => Err(sign_in::wanted(server, &parts.uri)),
        }
    }
}

/// That the teacher asks.
pub struct Teacher;

impl FromRequestParts<Arc<Server>> for Teacher {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Answered<Self> {
        match Asker::from_request_parts(parts, server).await?.who {
            Some(Who::Teacher) => Ok(Self),
            Some(Who::Student(_)) => Err(line(StatusCode::FORBIDDEN, "this is a page for the teacher").into()),
            None => Err(sign_in::wanted(server, &parts.uri)),
        }
    }
}

/// Lets a request pass or not, and protects the answer.
pub async fn guarded(State(server): State<Arc<Server>>, mut request: Request, next: Next) -> Response {
    let mut response = match pass(&server, &mut request).await {
        Err(refused) => refused.into_response(),
        Ok(()) => {
            let answered = tokio::time::timeout(LONGEST, next.run(request)).await;
            answered.unwrap_or_else(|_| line(StatusCode::REQUEST_TIMEOUT, "this took too long: try again"))
        }
    };
    protect(&mut response, None);
    response
}

async fn pass(server: &Server, request: &mut Request) -> Answered<()> {
    let address = &server.settings.address;
    let headers = request.headers();
    if !origin::is_for_us(address, headers) {
        return Err(line(StatusCode::MISDIRECTED_REQUEST, &format!("this server is at {address} only")).into());
    }
    if !origin::is_ours(address, request.method(), headers) {
        return Err(line(StatusCode::FORBIDDEN, "this was sent by a page of another server").into());
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| *peer);
    let peer = peer.ok_or_else(|| line(StatusCode::INTERNAL_SERVER_ERROR, "the address is not known"))?;
    let guard = &server.guard;
    let network = network(origin::client(peer, guard.behind_proxy, headers));
    let session = origin::cookie(headers, &sign_in::cookie_name(&server.settings));
    let session = session.filter(|value| secret::is_secret(value)).map(secret::hash);
    let who = match &session {
        Some(hash) => server.store.who_of_session(hash, now()).await?,
        None => None,
    };
    let time = guard.began.elapsed();
    let allowed = match &who {
        Some(Who::Student(id)) => guard.students.takes(Some(id.clone()), time),
        Some(Who::Teacher) => guard.students.takes(None, time),
        None => guard.addresses.takes(network, time),
    };
    if !allowed {
        let mut refused = line(StatusCode::TOO_MANY_REQUESTS, "too many requests: wait a minute");
        refused.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("60"));
        return Err(refused.into());
    }
    request.extensions_mut().insert(Asker { who, network, session });
    Ok(())
}
