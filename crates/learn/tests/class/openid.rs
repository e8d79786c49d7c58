//! Sign-in with a university's account, by a real identity provider: the npm package `oidc-provider`,
//! which `.ci/run class` installs from `provider/package-lock.json` into the folder that the
//! environment names in `CLASS_TEST_PROVIDER`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use class::store::Student;

use crate::database::Class;
use crate::http::encoded;
use crate::server::Server;

const SECRET: &str = "s3cr37-of-the-client";

/// The provider, killed at the end. It writes to the pipe until then.
struct Provider(Child, BufReader<ChildStdout>);

impl Provider {
    /// Starts it, and waits until it listens.
    fn start(port: u16, class: &str, from: &str) -> Self {
        let folder =
            std::env::var_os("CLASS_TEST_PROVIDER").expect("CLASS_TEST_PROVIDER names no folder: see .ci/run class");
        let script = Path::new(&folder).join("provider.mjs");
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/class/provider/provider.mjs"), &script).unwrap();
        let mut command = Command::new("node");
        command.arg(script).arg(port.to_string()).args([class, SECRET, from]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut provider = Self(child, output);
        assert!(
            provider.1.by_ref().lines().map_while(Result::ok).any(|line| line == "ready"),
            "the provider does not begin"
        );
        provider
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A browser that goes from one server of this machine to the other, with cookies by path and name.
#[derive(Clone, Default)]
struct Browser {
    jar: BTreeMap<(String, String), String>,
}

#[derive(Debug)]
struct Answer {
    address: String,
    status: u16,
    location: Option<String>,
    body: String,
}

impl Browser {
    /// Sends one request.
    fn ask(&mut self, method: &str, address: &str, form: &[(&str, &str)]) -> Answer {
        let rest = address.strip_prefix("http://").expect(address);
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        let cookies = self.jar.iter().filter(|((of, _), _)| path.starts_with(of.as_str()));
        let cookies: Vec<String> = cookies.map(|((_, name), value)| format!("{name}={value}")).collect();
        let body: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let body = body.join("&");
        // The answer ends with its connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            cookies.join("; "),
            body.len()
        );
        // As a browser opens a page to which another server has led it.
        let opens = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document\r\n";
        let request = match method {
            "GET" => request.replace(&format!("Origin: http://{host}\r\n"), opens),
            _ => request,
        };
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect(&text);
        let mut location = None;
        for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
            match name.to_ascii_lowercase().as_str() {
                "location" if value.starts_with('/') => location = Some(format!("http://{host}{value}")),
                "location" => location = Some(value.to_owned()),
                "set-cookie" => self.keep(value),
                _ => {}
            }
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect(head);
        Answer { address: address.to_owned(), status, location, body: body.to_owned() }
    }

    fn keep(&mut self, cookie: &str) {
        let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
        let (name, value) = pair.split_once('=').expect(cookie);
        let attributes = attributes.to_ascii_lowercase();
        let path = attributes.split(';').find_map(|one| one.trim().strip_prefix("path=").map(str::to_owned));
        // The provider's paths have letters of both cases.
        let at = attributes.find("path=").map_or(0, |at| pair.len() + 1 + at + 5);
        let path = path.map(|path| cookie[at..at + path.len()].to_owned()).unwrap_or_else(|| "/".to_owned());
        let key = (path, name.to_owned());
        match value.is_empty() || attributes.contains("max-age=0") {
            true => self.jar.remove(&key),
            false => self.jar.insert(key, value.to_owned()),
        };
    }

    /// Follows redirections until a page, or until the class is to be asked for `stop`.
    fn until(&mut self, mut answer: Answer, stop: &str) -> Answer {
        for _ in 0..10 {
            match answer.location.clone() {
                Some(location) if !location.contains(stop) => answer = self.ask("GET", &location, &[]),
                _ => return answer,
            }
        }
        panic!("it is led around: {answer:?}");
    }

    /// Begins to sign in at the class, and types a name at the provider. Returns the provider's answer
    /// that leads back to the class.
    fn type_name(&mut self, class: &str, to: &str, name: &str) -> Answer {
        let begun = self.ask("GET", &format!("{class}/openid?to={}", encoded(to)), &[]);
        let mut page = self.until(begun, "/openid/back");
        for (prompt, fields) in [("login", &[("login", name), ("password", "any")][..]), ("consent", &[])] {
            assert!(page.body.contains(&format!("value=\"{prompt}\"")), "{page:?}");
            let action = page.body.split("action=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            let fields = [&[("prompt", prompt)], fields].concat();
            let sent = self.ask("POST", action, &fields);
            page = self.until(sent, "/openid/back");
        }
        page
    }

    /// Signs in. Returns the class's page.
    fn sign_in(&mut self, class: &str, to: &str, name: &str) -> Answer {
        let back = self.type_name(class, to, name);
        self.until(back, "no such page")
    }
}

impl Answer {
    #[track_caller]
    fn says(&self, status: u16, words: &str) {
        assert!(self.status == status && self.body.contains(words), "not {status} with {words:?}: {self:?}");
    }
}

/// A class of anna, `unverified` and `unstated` whose sign-in is at this port, with further settings.
fn class(port: u16, more: &str) -> (Class, Server) {
    let ids = ["anna", "unverified", "unstated"];
    let class = Class::each(&ids).remove(0);
    let student =
        |id: &str| Student { id: id.into(), name: id.into(), email: format!("{}@Uni.edu", id.to_uppercase()) };
    class.runtime.block_on(class.store.add_students(&ids.map(student), 0)).unwrap();
    fs::write(class.folder.path().join("secret"), format!("{SECRET}\n")).unwrap();
    let table =
        format!("[openid]\nissuer = 'http://127.0.0.1:{port}'\nclient_id = 'class'\nsecret_file = 'secret'\n{more}");
    let server = Server::with(&class, 0, &table);
    (class, server)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
#[ignore = "needs an identity provider, which `.ci/run class` installs"]
fn an_account_of_the_roster_signs_in_and_no_other() {
    let port = free_port();
    let (kept, mut server) = class(port, "");
    let address = server.address.clone();
    let class = address.as_str();
    // The class is there without the provider, and says so.
    let mut anna = Browser::default();
    let wanted = format!("{class}/exercises/guard");
    anna.ask("GET", &wanted, &[]).says(401, "href=\"/openid?to=%2Fexercises%2Fguard\"");
    anna.ask("GET", &format!("{class}/openid"), &[]).says(502, "The login does not answer");
    let _provider = Provider::start(port, class, "user");
    let page = anna.sign_in(class, "/exercises/guard", "anna");
    page.says(200, "Sign out");
    assert_eq!(page.address, wanted);
    // Signing out ends the session, and who signs in next is asked for a name.
    anna.ask("POST", &format!("{class}/leave"), &[]);
    anna.ask("GET", &wanted, &[]).says(401, "Please sign in");
    let asked = anna.ask("GET", &format!("{class}/openid"), &[]);
    anna.until(asked, "no such page").says(200, "value=\"login\"");

    // An answer counts in the browser that has asked, once, with the state that it has sent.
    let mut anna = Browser::default();
    let back = anna.type_name(class, "//evil.example", "anna").location.unwrap();
    let (mut other, before) = (Browser::default(), anna.clone());
    other.ask("GET", &back, &[]).says(400, "This sign-in is over");
    let (start, state) = back.split_once("state=").unwrap();
    let wrong = format!("{start}state={}{}", "0".repeat(64), &state[64..]);
    anna.ask("GET", &wrong, &[]).says(400, "This sign-in is over");
    let first = anna.ask("GET", &back, &[]);
    assert_eq!((first.status, first.location), (303, Some(format!("{class}/"))), "no other place: {}", first.body);
    anna.ask("GET", class, &[]).says(200, "Sign out");
    anna.ask("GET", &back, &[]).says(400, "This sign-in is over");
    // Nor with the cookie that it had: the provider takes a code once.
    let mut again = before;
    again.ask("GET", &back, &[]).says(400, "This sign-in is over");
    again.ask("GET", class, &[]).says(401, "Please sign in");

    let unknown = Browser::default().sign_in(class, "/", "mallory");
    unknown.says(403, "mallory@uni.edu, is not on the roster");
    assert_eq!(unknown.body.matches("role=\"alert\"").count(), 1, "{}", unknown.body);
    for name in ["unverified", "unstated"] {
        Browser::default().sign_in(class, "/", name).says(403, "Confirm your address");
    }
    // Who thinks better of it.
    let mut ben = Browser::default();
    let begun = ben.ask("GET", &format!("{class}/openid"), &[]);
    let page = ben.until(begun, "no such page");
    let refused = ben.ask("GET", &format!("{}/abort", page.address), &[]);
    ben.until(refused, "no such page").says(403, "access_denied");

    // A class that the provider does not know.
    fs::write(kept.folder.path().join("secret"), "another").unwrap();
    server.kill();
    Browser::default().sign_in(class, "/", "anna").says(502, "The login refuses this class");
    let log = server.log();
    assert!(log.contains("openid: http://127.0.0.1:") && log.contains("invalid_client"), "{log}");
    assert!(!log.contains(SECRET) && !log.contains("code="), "{log}");
}

/// A bounded number of sign-ins wait for the provider, each for a bounded time; others are refused at once.
#[test]
fn a_provider_that_hangs_holds_nobody_for_long() {
    // The system accepts connections, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_kept, server) = class(silent.local_addr().unwrap().port(), "");
    let address = format!("{}/openid", server.address);
    let ask = || Browser::default().ask("GET", &address, &[]);
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let of = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((of(502), of(503)), (16, 4), "{answers:?}");
    assert!(answers.iter().all(|answer| answer.body.matches("role=\"alert\"").count() == 1), "{answers:?}");
    // Who signs in by a link notices nothing.
    Browser::default().ask("GET", &server.address, &[]).says(401, "Please sign in");
    let log = server.log();
    assert!(log.lines().filter(|line| line.contains("openid: ")).count() >= 1, "{log}");
}

#[test]
#[ignore = "needs an identity provider, which `.ci/run class` installs"]
fn a_claim_of_the_token_is_the_rosters_id() {
    let port = free_port();
    let (_kept, server) = class(port, "claim = 'preferred_username'\n");
    let _provider = Provider::start(port, &server.address, "token");
    Browser::default().sign_in(&server.address, "/", "anna").says(200, "Sign out");
    Browser::default()
        .sign_in(&server.address, "/", "Anna")
        .says(403, "preferred_username, Anna, is not on the roster");
}
