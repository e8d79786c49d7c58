//! Sign-in with a university's account: OpenID Connect's code flow with PKCE. `/openid` leads to the
//! provider, which leads back to `/openid/back`; there the account's claim is looked for in the
//! roster, and [`sign_in::begin`] does the rest.
//!
//! | attack | what refuses it |
//! | --- | --- |
//! | a sign-in that another browser has begun ends here | `state` is a hash of this browser's cookie |
//! | a code is stolen | PKCE: its verifier is another hash of the cookie |
//! | a token of another sign-in is slipped in | `nonce`, a third hash; signature, issuer and audience |
//! | an answer is used twice | the cookie has gone; the provider takes a code once |
//! | it leads to a page elsewhere | only a path of this server |
//! | a provider that hangs or never stops | time, bytes and requests at once are bounded |
//! | the next person at a browser is signed in with the account of the one before | who has signed out, or was refused, must type the password again |
//!
//! *Invariants:* the server keeps nothing of a sign-in that has not ended: all of it follows from the
//! cookie's secret. The client's secret, codes and tokens are in no message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::header::HeaderMap;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect};
use class::settings::{OpenId, Settings};
use class::store::{Student, Who};
use class::{DAY, secret};
use maud::{Markup, html};
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::url::form_urlencoded::byte_serialize;
use openidconnect::{
    AdditionalClaims, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken,
    EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenFields,
    IssuerUrl, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    Scope, StandardErrorResponse, StandardTokenResponse, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::refusal::{Answered, Refusal, line, note_seldom, page_of, said};
use super::{Server, origin, sign_in};
use crate::error::Error;

/// How long a person may take at the provider, in seconds.
const AT_PROVIDER: i64 = 600;

/// How long all requests of one question to the provider may take, so that the guard's time is not
/// over before; and how many bytes an answer may have.
const PATIENCE: Duration = Duration::from_secs(15);
const LONGEST_ANSWER: u64 = 1 << 20;

/// How many sign-ins may wait for the provider at once.
const AT_ONCE: usize = 16;

/// How long the provider's addresses and keys are taken as known.
const KNOWN: Duration = Duration::from_secs(600);

/// The longest path to come back to.
const LONGEST_PATH: usize = 300;

/// What the class knows of the provider.
pub struct Provider {
    openid: OpenId,
    issuer: IssuerUrl,
    secret: ClientSecret,
    back: RedirectUrl,
    agent: ureq::Agent,
    known: Mutex<Option<(Instant, CoreProviderMetadata)>>,
    asking: Arc<Semaphore>,
}

/// Why there is no account, with what the teacher should know of it.
#[derive(Debug, PartialEq, Eq)]
enum Why {
    /// The provider does not answer, or not as one.
    Unreachable(String),
    /// The code was used, or is too old.
    Over,
    /// The provider does not know the class, or its token is not what was asked for.
    Refused(String),
    /// The account lacks the claim.
    NoClaim,
    /// Nobody has checked that the address is the account's.
    Unverified,
}

impl Provider {
    /// The one of the settings. It is not asked yet, so that the class begins without it, too.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the secret is missing, or if an address is not valid.
    pub fn new(openid: &OpenId, settings: &Settings) -> crate::error::Result<Self> {
        let wrong = |what: &str, text: &str| Error::Usage(format!("openid: {what} = {text:?}: this is no address"));
        let issuer = IssuerUrl::new(openid.issuer.clone()).map_err(|_| wrong("issuer", &openid.issuer))?;
        let back = format!("{}/openid/back", settings.address);
        let back = RedirectUrl::new(back.clone()).map_err(|_| wrong("address", &back))?;
        let tls = ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            // A provider does not lead the server to other addresses.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .new_agent();
        let secret = ClientSecret::new(openid.read_secret()?);
        let (known, asking) = (Mutex::new(None), Arc::new(Semaphore::new(AT_ONCE)));
        Ok(Self { openid: openid.clone(), issuer, secret, back, agent, known, asking })
    }

    fn send(&self, request: HttpRequest, until: Instant) -> Result<HttpResponse, ureq::Error> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ureq::Error::Timeout(ureq::Timeout::Global));
        }
        let (parts, body) = request.into_parts();
        let answer = match body.is_empty() {
            true => self.run(axum::http::Request::from_parts(parts, ()), left),
            false => self.run(axum::http::Request::from_parts(parts, body), left),
        }?;
        let (parts, mut body) = answer.into_parts();
        let body = body.with_config().limit(LONGEST_ANSWER).read_to_vec()?;
        Ok(HttpResponse::from_parts(parts, body))
    }

    fn run(&self, request: axum::http::Request<impl ureq::AsSendBody>, left: Duration) -> Result<Sent, ureq::Error> {
        self.agent.run(self.agent.configure_request(request).timeout_global(Some(left)).build())
    }

    /// The provider's addresses and keys.
    fn metadata(&self, until: Instant) -> Result<CoreProviderMetadata, Why> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, metadata)) = known
            && at.elapsed() < KNOWN
        {
            return Ok(metadata);
        }
        let send = |request| self.send(request, until);
        let metadata = CoreProviderMetadata::discover(&self.issuer, &send).map_err(|error| Why::unreachable(&error))?;
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), metadata.clone()));
        Ok(metadata)
    }

    /// What speaks with the provider. Some take the class's secret in the request's body alone.
    fn client(&self, until: Instant) -> Result<Client, Why> {
        let metadata = self.metadata(until)?;
        let ways = metadata.token_endpoint_auth_methods_supported().cloned().unwrap_or_default();
        let takes = |way| ways.contains(&way);
        let in_body = takes(CoreClientAuthMethod::ClientSecretPost) && !takes(CoreClientAuthMethod::ClientSecretBasic);
        let id = ClientId::new(self.openid.client_id.clone());
        let client = Client::from_provider_metadata(metadata, id, Some(self.secret.clone()));
        let client = client.set_redirect_uri(self.back.clone());
        Ok(client.set_auth_type(if in_body { AuthType::RequestBody } else { AuthType::BasicAuth }))
    }

    /// The provider's address for a sign-in; if `asks`, the provider asks for the password in any case.
    fn address(&self, of: &Secret, asks: bool, until: Instant) -> Result<String, Why> {
        let client = self.client(until)?;
        let (state, nonce) = (of.state(), of.nonce());
        let request = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || CsrfToken::new(state.clone()),
                move || Nonce::new(nonce.clone()),
            )
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&of.verifier()));
        let scopes = ["email", "profile"].map(|scope| Scope::new(scope.to_owned()));
        let request = request.add_scopes(scopes);
        let request = if asks { request.add_prompt(CoreAuthPrompt::Login) } else { request };
        Ok(request.url().0.into())
    }

    /// What the account of a code has as its claim. It is in the token, or in what the provider says of
    /// the user.
    fn claim(&self, of: &Secret, code: String, until: Instant) -> Result<String, Why> {
        let client = self.client(until)?;
        let send = |request| self.send(request, until);
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(|error| Why::unreachable(&error))?;
        let tokens = request.set_pkce_verifier(of.verifier()).request(&send).map_err(|error| match error {
            RequestTokenError::ServerResponse(said) if said.error().as_ref() == "invalid_grant" => Why::Over,
            RequestTokenError::ServerResponse(said) => Why::Refused(said.error().to_string()),
            error => Why::unreachable(&error),
        })?;
        let token = tokens.extra_fields().id_token().ok_or_else(|| Why::Refused("there is no ID token".to_owned()))?;
        let nonce = Nonce::new(of.nonce());
        let claims = match token.claims(&client.id_token_verifier(), &nonce) {
            // The provider may have changed its keys.
            Err(ClaimsVerificationError::SignatureVerification(_)) => {
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
                token.claims(&self.client(until)?.id_token_verifier(), &nonce)
            }
            verified => verified,
        };
        let claims = claims.map_err(|error| Why::Refused(whole(&error)))?;
        let in_token = claim(&serde_json::to_value(claims).unwrap_or_default(), &self.openid);
        let Err(why) = in_token else { return in_token };
        let subject = Some(claims.subject().clone());
        let Ok(request) = client.user_info(tokens.access_token().to_owned(), subject) else {
            return Err(why);
        };
        let user: UserInfoClaims<Claims, CoreGenderClaim> =
            request.request(&send).map_err(|error| Why::unreachable(&error))?;
        claim(&serde_json::to_value(user).unwrap_or_default(), &self.openid)
    }

    /// The students of the roster whom a claim may name. Addresses match in any case, ids exactly.
    fn matching<'s>(&self, students: &'s [Student], claim: &str) -> Vec<&'s Student> {
        let is_email = self.openid.claim == "email";
        let matches = |student: &&Student| match is_email {
            true => student.email.eq_ignore_ascii_case(claim),
            false => student.id == claim,
        };
        students.iter().filter(matches).collect()
    }
}

type Sent = axum::http::Response<ureq::Body>;

/// All that a token has besides the standard's claims.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Claims(HashMap<String, Value>);

impl AdditionalClaims for Claims {}

type Fields = IdTokenFields<
    Claims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

/// [`openidconnect::core::CoreClient`] with [`Claims`], as a provider's metadata makes it.
type Client = openidconnect::Client<
    Claims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The claim's value. An address is one's own only if the provider says so: at some anyone may write
/// another's.
fn claim(claims: &Value, of: &OpenId) -> Result<String, Why> {
    let value = claims[&of.claim].as_str().filter(|value| !value.is_empty()).ok_or(Why::NoClaim)?;
    match of.claim != "email" || of.unverified_email || claims["email_verified"] == true {
        true => Ok(value.to_owned()),
        false => Err(Why::Unverified),
    }
}

/// An error with its causes, of which the last says most.
fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    causes.collect::<Vec<_>>().join(": ")
}

impl Why {
    fn unreachable(error: &dyn std::error::Error) -> Self {
        Self::Unreachable(whole(error))
    }

    /// The page that says so. The teacher's part of it is for the standard error.
    fn refusal(self, provider: &OpenId) -> Refusal {
        let note = |why: &str| note_seldom(&format!("openid: {}: {why}", provider.issuer));
        let (status, title, sentence) = match self {
            Self::Unreachable(why) => {
                note(&why);
                (StatusCode::BAD_GATEWAY, "The login does not answer", "Try again in a minute.")
            }
            Self::Refused(why) => {
                note(&why);
                (StatusCode::BAD_GATEWAY, "The login refuses this class", "Tell your teacher.")
            }
            Self::Over => return over(),
            Self::NoClaim => {
                note(&format!("an account has no claim {}", provider.claim));
                let sentence = "Your account does not say who you are. Tell your teacher.";
                (StatusCode::FORBIDDEN, "You are not signed in", sentence)
            }
            Self::Unverified => {
                note("an account's email is not verified: see unverified_email in docs/TEACHING.md");
                let sentence = "Confirm your address of email where your account is kept, and try again.";
                (StatusCode::FORBIDDEN, "You are not signed in", sentence)
            }
        };
        said(status, title, sentence)
    }
}

/// The answer to a sign-in that cannot go on.
fn over() -> Refusal {
    let sentence = "It took too long, began in another browser, or has ended before. Begin again.";
    said(StatusCode::BAD_REQUEST, "This sign-in is over", sentence)
}

/// What a cookie keeps of a sign-in: a secret, and the path to come back to.
struct Secret(String);

impl Secret {
    fn of(&self, use_of: &str) -> String {
        secret::hash(&format!("{use_of} {}", self.0))
    }

    fn state(&self) -> String {
        self.of("state")
    }

    fn nonce(&self) -> String {
        self.of("nonce")
    }

    fn verifier(&self) -> PkceCodeVerifier {
        PkceCodeVerifier::new(self.of("verifier"))
    }
}

/// The cookie's name, as of [`sign_in::cookie_name`].
fn cookie_name(settings: &Settings) -> String {
    format!("{}_openid", sign_in::cookie_name(settings))
}

/// The name of the cookie of a browser whose next sign-in asks for the password.
fn asking_name(settings: &Settings) -> String {
    format!("{}_asks", cookie_name(settings))
}

/// The cookie of a browser whose next sign-in asks for the password, or does not.
pub fn asking(settings: &Settings, asks: bool) -> String {
    let (value, days) = if asks { ("1", i64::from(settings.limits.session_days)) } else { ("", 0) };
    sign_in::cookie(settings, &asking_name(settings), value, days * DAY / 1000)
}

/// A path of this server to come back to; of anything else, the first page.
fn path(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && to.len() <= LONGEST_PATH;
    match is_path && to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        true => to,
        false => "/",
    }
}

/// The way in, on a page for someone who is not known and wanted this.
pub fn offer(provider: &Provider, wanted: &Uri) -> Markup {
    let to = wanted.path_and_query().map_or("/", |path| path.as_str());
    let to: String = byte_serialize(path(to).as_bytes()).collect();
    let host = provider.issuer.url().host_str().unwrap_or_default();
    html! { p { a.go href={ "/openid?to=" (to) } { "Sign in with your account at " (host) } } }
}

/// The provider of the class. Without one there is no such address.
fn provider(server: &Server) -> Answered<&Provider> {
    let none = || line(StatusCode::NOT_FOUND, "there is nothing at this address").into();
    server.openid.as_ref().ok_or_else(none)
}

/// What a provider says, until the time that the question gets, on a thread that may wait.
async fn ask<T: Send + 'static>(
    server: &Arc<Server>,
    question: impl FnOnce(&Provider, Instant) -> Result<T, Why> + Send + 'static,
) -> Answered<T> {
    let of = provider(server)?;
    let Ok(one) = Arc::clone(&of.asking).try_acquire_owned() else {
        let sentence = "Very many sign in just now. Try again in a minute.";
        return Err(said(StatusCode::SERVICE_UNAVAILABLE, "Not now", sentence));
    };
    let asked = Arc::clone(server);
    let until = Instant::now() + PATIENCE;
    let question = move || {
        // It is asked to the end, even if nobody waits for the answer any more.
        let _one = one;
        provider(&asked).map(|provider| question(provider, until)).ok()
    };
    let answered = tokio::task::spawn_blocking(question).await;
    let lost = || Why::Unreachable("the answer is lost".to_owned());
    answered.ok().flatten().unwrap_or_else(|| Err(lost())).map_err(|why| why.refusal(&of.openid))
}

/// Where to come back to.
#[derive(Deserialize)]
pub struct Begin {
    to: Option<String>,
}

/// Leads to the provider.
pub async fn begin(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    Query(Begin { to }): Query<Begin>,
) -> Answered {
    let value = secret::new()?;
    let of = Secret(value.clone());
    let asks = origin::cookie(&headers, &asking_name(&server.settings)).is_some();
    let address = ask(&server, move |provider, until| provider.address(&of, asks, until)).await?;
    let to: String = path(to.as_deref().unwrap_or("/")).bytes().map(|byte| format!("{byte:02x}")).collect();
    let cookie =
        sign_in::cookie(&server.settings, &cookie_name(&server.settings), &format!("{value}.{to}"), AT_PROVIDER);
    Ok(sign_in::with_cookie(Redirect::to(&address).into_response(), &cookie))
}

/// What the provider says by the browser.
#[derive(Deserialize)]
pub struct Back {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
}

/// Signs in who comes back from the provider, and leads to the page that was wanted.
pub async fn back(State(server): State<Arc<Server>>, headers: HeaderMap, Query(said): Query<Back>) -> Answered {
    provider(&server)?;
    let kept = origin::cookie(&headers, &cookie_name(&server.settings)).and_then(|value| value.split_once('.'));
    let Some((value, to)) = kept.filter(|(value, _)| secret::is_secret(value)) else { return Err(over()) };
    let (of, to) = (Secret(value.to_owned()), from_hex(to));
    if said.state.as_deref() != Some(&of.state()) {
        return Err(over());
    }
    let answered = end(&server, of, said, path(&to)).await;
    // After a refusal, the next sign-in asks for the password, so that another account can be used.
    let asks = asking(&server.settings, answered.is_err());
    // Whatever came of it, it has ended.
    let gone = sign_in::cookie(&server.settings, &cookie_name(&server.settings), "", 0);
    let answer = answered.unwrap_or_else(IntoResponse::into_response);
    Ok(sign_in::with_cookie(sign_in::with_cookie(answer, &gone), &asks))
}

/// What comes of an answer of the provider to this sign-in.
async fn end(server: &Arc<Server>, of: Secret, answer: Back, to: &str) -> Answered {
    let of_class = provider(server)?;
    let Some(code) = answer.code else {
        let word: String = answer.error.unwrap_or_default().chars().filter(|c| !c.is_control()).take(60).collect();
        let sentence = format!("The login says: {word}. Begin again, or ask your teacher for a personal link.");
        return Err(said(StatusCode::FORBIDDEN, "You are not signed in", &sentence));
    };
    let claim = ask(server, move |provider, until| provider.claim(&of, code, until)).await?;
    let students = server.store.students().await?;
    match of_class.matching(&students, &claim).as_slice() {
        [one] => sign_in::begin(server, &Who::Student(one.id.clone()), None, to).await,
        found => {
            let name = &of_class.openid.claim;
            let sentence = match found {
                [] => format!("Your account's {name}, {claim}, is not on the roster of this class. Tell your teacher."),
                _ => format!("Several students of the roster have the {name} {claim}. Tell your teacher."),
            };
            let title = "You are not on the roster";
            let main = html! {
                main.index {
                    h1 { (title) }
                    p.card role="alert" { (sentence) }
                    p { a href="/openid" { "Sign in with another account" } }
                }
            };
            Err(page_of(StatusCode::FORBIDDEN, title, main))
        }
    }
}

/// The text of hexadecimal digits.
fn from_hex(digits: &str) -> String {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod trouble;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(table: &str) -> Settings {
        let text = format!(
            "title = 'T'\naddress = 'https://class.example'\n[openid]\nissuer = 'https://login.example'\n\
             client_id = 'c'\nsecret_env = 'PATH'\n{table}"
        );
        Settings::of(&text, std::path::Path::new("/")).unwrap()
    }

    fn provider(table: &str) -> Provider {
        let settings = settings(table);
        Provider::new(settings.openid.as_ref().unwrap(), &settings).unwrap()
    }

    #[test]
    fn it_leads_back_to_paths_of_this_server_alone() {
        for own in ["/", "/exercises/guard", "/runs/3?against=2"] {
            assert_eq!(path(own), own);
        }
        let long = format!("/{}", "x".repeat(LONGEST_PATH));
        for other in ["", "//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", "/\u{e9}", "a", &long]
        {
            assert_eq!(path(other), "/", "{other:?}");
        }
        let page = offer(&provider(""), &"/runs/3?against=2".parse().unwrap()).into_string();
        assert!(page.contains("\"/openid?to=%2Fruns%2F3%3Fagainst%3D2\"") && page.contains("login.example"), "{page}");
    }

    #[test]
    fn a_claim_is_a_word_and_its_address_is_verified() {
        let of = |table: &str| settings(table).openid.unwrap();
        let (email, lax) = (of(""), of("unverified_email = true"));
        assert_eq!(claim(&json!({ "email": "a@b", "email_verified": true }), &email), Ok("a@b".to_owned()));
        assert_eq!(claim(&json!({ "sub": "a", "email_verified": false }), &of("claim = 'sub'")), Ok("a".to_owned()));
        for unverified in [json!({ "email": "a@b" }), json!({ "email": "a@b", "email_verified": false })] {
            assert_eq!(claim(&unverified, &email), Err(Why::Unverified));
            assert_eq!(claim(&unverified, &lax), Ok("a@b".to_owned()));
        }
        for none in [json!({}), json!({ "email": "" }), json!({ "email": ["a@b"] })] {
            assert_eq!(claim(&none, &email), Err(Why::NoClaim));
        }
    }

    #[test]
    fn a_claim_means_one_of_the_roster() {
        let student = |id: &str, email: &str| Student { id: id.into(), name: id.into(), email: email.into() };
        let all = [student("anna", "anna@uni.edu"), student("ben", ""), student("Anna", "other@uni.edu")];
        let found = |table: &str, claim: &str| -> Vec<String> {
            provider(table).matching(&all, claim).into_iter().map(|student| student.id.clone()).collect()
        };
        assert_eq!(found("", "Anna@Uni.edu"), ["anna"]);
        assert!(found("", "anna").is_empty());
        let by_id = "claim = 'preferred_username'";
        assert_eq!((found(by_id, "Anna"), found(by_id, "ANNA").is_empty()), (vec!["Anna".to_owned()], true));
    }

    #[test]
    fn what_is_sent_does_not_show_the_cookies_secret() {
        let of = Secret("0".repeat(64));
        let [state, nonce, verifier] = [of.state(), of.nonce(), of.verifier().secret().clone()];
        assert!(state != nonce && nonce != verifier && state != verifier);
        assert_eq!(from_hex("2f61"), "/a");
        assert_eq!([from_hex("2"), from_hex("zz"), from_hex("ff")], ["\u{2}", "", ""]);
    }
}
