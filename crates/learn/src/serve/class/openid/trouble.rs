//! Providers that hang, that never stop, and that answer what nobody asked for: each sign-in ends, in
//! bounded time, with one line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use class::settings::Settings;
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreIdToken, CoreIdTokenClaims, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey as _};
use serde_json::{Value, json};

use super::{Provider, Secret, Why};

/// The keys of a provider, and of somebody else.
const KEYS: [&str; 2] = [
    "MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB",
    "MC4CAQAwBQYDK2VwBCIEIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC",
];

/// How long the provider may take here, and after how long a test gives up.
const PATIENCE: Duration = Duration::from_millis(400);
const LONGEST: Duration = Duration::from_secs(60);

/// What a server does with a request.
enum Told {
    Json(Value),
    /// Whatever it is, after the connection's end.
    Raw(String),
    /// This, byte by byte, with pauses.
    Slow(String),
    /// Nothing.
    Silence,
    /// A body without an end.
    Endless,
}

/// Serves until the tests end. Returns the port.
fn serve(answer: impl Fn(&str, &str) -> Told + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            // A client that has seen enough closes the connection.
            spawn(move || drop(tell(stream, &*answer)));
        }
    });
    port
}

fn tell(mut stream: TcpStream, answer: &dyn Fn(&str, &str) -> Told) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {
        let line = head.lines().last().unwrap_or_default().to_ascii_lowercase();
        length = line.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = head.split(' ').nth(1).unwrap_or_default();
    let start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    match answer(path, &String::from_utf8_lossy(&body)) {
        Told::Json(value) => {
            let text = value.to_string();
            write!(stream, "{start}Content-Length: {}\r\n\r\n{text}", text.len())
        }
        Told::Raw(text) => stream.write_all(text.as_bytes()),
        Told::Slow(text) => text.bytes().try_for_each(|byte| {
            sleep(PATIENCE / 20);
            stream.write_all(&[byte])
        }),
        Told::Silence => reader.read_to_end(&mut Vec::new()).map(drop),
        Told::Endless => {
            write!(stream, "{start}\r\n[")?;
            loop {
                stream.write_all(&[b' '; 1 << 14])?;
            }
        }
    }
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The class's side of it.
fn provider(port: u16) -> Provider {
    let text = format!(
        "title = 'T'\naddress = 'https://class.example'\n[openid]\nissuer = '{}'\nclient_id = 'class'\n\
         secret_env = 'PATH'\nclaim = 'sub'",
        address(port)
    );
    let settings = Settings::of(&text, std::path::Path::new("/")).unwrap();
    Provider::new(settings.openid.as_ref().unwrap(), &settings).unwrap()
}

fn secret() -> Secret {
    Secret("5".repeat(64))
}

fn key(which: usize, name: &str) -> CoreEdDsaPrivateSigningKey {
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", KEYS[which]);
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, Some(JsonWebKeyId::new(name.to_owned()))).unwrap()
}

/// What a provider says of itself.
fn metadata(of: &str) -> Value {
    json!({
        "issuer": of, "authorization_endpoint": format!("{of}/auth"), "token_endpoint": format!("{of}/token"),
        "jwks_uri": format!("{of}/keys"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    })
}

/// A token of anna for the class's sign-in, but for these claims.
fn token(port: u16, key: &CoreEdDsaPrivateSigningKey, other: Value) -> String {
    let mut claims = json!({
        "iss": address(port), "aud": "class", "sub": "anna", "iat": 1_700_000_000, "exp": 32_000_000_000_u64,
        "nonce": secret().nonce(),
    });
    for (name, value) in other.as_object().unwrap() {
        claims[name] = value.clone();
    }
    let claims: CoreIdTokenClaims = serde_json::from_value(claims).unwrap();
    CoreIdToken::new(claims, key, CoreJwsSigningAlgorithm::EdDsa, None, None).unwrap().to_string()
}

fn tokens(id_token: impl Into<Value>) -> Value {
    json!({ "access_token": "a", "token_type": "Bearer", "id_token": id_token.into() })
}

/// What comes of a sign-in whose code is exchanged for this.
fn claimed(exchanged: impl Fn(u16) -> Told + Send + Sync + 'static) -> Result<String, Why> {
    let asked = move |path: &str, port: u16| match path {
        "/.well-known/openid-configuration" => Told::Json(metadata(&address(port))),
        "/keys" => Told::Json(json!({ "keys": [key(0, "one").as_verification_key()] })),
        _ => exchanged(port),
    };
    claim(LONGEST, asked).0
}

/// What comes of a sign-in at a server that knows its port, within this time.
fn claim(
    within: Duration,
    asked: impl Fn(&str, u16) -> Told + Send + Sync + 'static,
) -> (Result<String, Why>, Provider) {
    let own = Arc::new(AtomicUsize::new(0));
    let known = Arc::clone(&own);
    let port = serve(move |path, _| asked(path, known.load(Ordering::Relaxed) as u16));
    own.store(usize::from(port), Ordering::Relaxed);
    let (provider, begun) = (provider(port), Instant::now());
    let claim = provider.claim(&secret(), "code".to_owned(), begun + within);
    assert!(begun.elapsed() < LONGEST);
    (claim, provider)
}

/// Whether the error is that the provider does not answer as one, in one line.
fn is_unreachable<T>(answered: Result<T, Why>) -> bool {
    matches!(answered, Err(Why::Unreachable(why)) if !why.is_empty() && !why.contains('\n'))
}

#[test]
fn a_token_for_this_sign_in_names_the_account() {
    assert_eq!(claimed(|port| Told::Json(tokens(token(port, &key(0, "one"), json!({}))))), Ok("anna".to_owned()));
}

#[test]
fn a_token_that_was_not_asked_for_is_refused() {
    let refused = |words: &str, exchanged: fn(u16) -> Value| {
        let answered = claimed(move |port| Told::Json(exchanged(port)));
        let Err(Why::Refused(why)) = &answered else { panic!("{words}: {answered:?}") };
        assert!(why.contains(words) && !why.contains('\n'), "{words}: {why}");
    };
    fn of(port: u16, other: Value) -> Value {
        tokens(token(port, &key(0, "one"), other))
    }
    refused("Invalid nonce", |port| of(port, json!({ "nonce": "0" })));
    refused("Invalid nonce", |port| of(port, json!({ "nonce": null })));
    refused("Expired", |port| of(port, json!({ "exp": 1_700_000_001 })));
    refused("Invalid issuer", |port| of(port, json!({ "iss": "https://evil.example" })));
    refused("Invalid audiences", |port| of(port, json!({ "aud": "another" })));
    refused("no ID token", |_| json!({ "access_token": "a", "token_type": "Bearer" }));
    refused("Signature verification failed", |port| tokens(token(port, &key(1, "other"), json!({}))));
    refused("Signature verification failed", |port| tokens(token(port, &key(1, "one"), json!({}))));
    // Signed by nobody, and with the signature of another token.
    refused("No signature found", |port| {
        let whole = token(port, &key(0, "one"), json!({}));
        tokens(format!("eyJhbGciOiJub25lIn0.{}.", whole.split('.').nth(1).unwrap()))
    });
    refused("Signature verification failed", |port| {
        let [one, other] = ["anna", "ben"].map(|sub| token(port, &key(0, "one"), json!({ "sub": sub })));
        tokens(format!("{}.{}", other.rsplit_once('.').unwrap().0, one.rsplit_once('.').unwrap().1))
    });
}

#[test]
fn a_provider_may_change_its_keys() {
    let asked = AtomicUsize::new(0);
    let (claim, provider) = claim(LONGEST, move |path, port| match path {
        "/.well-known/openid-configuration" => Told::Json(metadata(&address(port))),
        // Those of yesterday at first.
        "/keys" => {
            let name = if asked.fetch_add(1, Ordering::Relaxed) == 0 { "old" } else { "one" };
            Told::Json(json!({ "keys": [key(0, name).as_verification_key()] }))
        }
        _ => Told::Json(tokens(token(port, &key(0, "one"), json!({})))),
    });
    assert_eq!(claim, Ok("anna".to_owned()));
    assert!(provider.known.lock().unwrap().is_some());
}

#[test]
fn an_answer_that_is_none_is_said_in_time() {
    let page = || "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>".to_owned();
    let elsewhere = || "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_owned();
    let slow_head = || "HTTP/1.1 200 OK\r\n".to_owned() + &"X-Slow: 1\r\n".repeat(1000);
    let slow_body = || format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{}", " ".repeat(9999));
    let troubles = move || {
        [
            Told::Silence,
            Told::Slow(slow_head()),
            Told::Slow(slow_body()),
            Told::Endless,
            Told::Raw(String::new()),
            Told::Raw("SSH-2.0-OpenSSH\r\n".to_owned()),
            Told::Raw(page()),
            Told::Raw(elsewhere()),
            Told::Raw("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n".to_owned()),
            Told::Json(json!([1, "two"])),
            Told::Json(json!({})),
        ]
    };
    for at in ["/.well-known/openid-configuration", "/keys", "/token"] {
        for number in 0..troubles().len() {
            let (answered, _) = claim(PATIENCE, move |path, port| match path {
                path if path == at => troubles().into_iter().nth(number).unwrap(),
                "/.well-known/openid-configuration" => Told::Json(metadata(&address(port))),
                "/keys" => Told::Json(json!({ "keys": [] })),
                _ => Told::Json(json!({})),
            });
            assert!(is_unreachable(answered), "{at}, {number}");
        }
    }
    // It says that it is another.
    let (answered, provider) = claim(LONGEST, |_, _| Told::Json(metadata("https://evil.example")));
    assert!(is_unreachable(answered));
    assert!(is_unreachable(provider.address(&secret(), false, Instant::now() + PATIENCE)));
}

#[test]
fn who_must_type_the_password_again_is_asked_to() {
    let asked = |path: &str, port| match path {
        "/keys" => Told::Json(json!({ "keys": [] })),
        _ => Told::Json(metadata(&address(port))),
    };
    let (_, provider) = claim(LONGEST, asked);
    let address = |asks| provider.address(&secret(), asks, Instant::now() + LONGEST).unwrap();
    assert!(address(true).contains("prompt=login") && !address(false).contains("prompt"), "{}", address(true));
    assert!(address(false).contains("code_challenge_method=S256"), "{}", address(false));
}
