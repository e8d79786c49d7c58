//! Tests of `learn roster` and `learn serve --class` by real HTTP: who sees what, and what is
//! refused. The server has no workers here, so that runs wait.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::serving::{Answer, ask, encoded, without_inline};
use super::*;

/// The longest wait for events.
const PATIENCE: Duration = Duration::from_secs(120);

/// A name that is a script, a formula and a cell's end.
const HOSTILE: &str = "=1+\"<script>alert(1)</script>,";

/// A class with a server, which ends with the test.
struct Class {
    course: Course,
    /// Apart from the course, which judges may read.
    folder: tempfile::TempDir,
    server: Option<Child>,
    port: u16,
    /// What the server has printed.
    said: String,
}

impl Drop for Class {
    fn drop(&mut self) {
        self.end();
    }
}

/// The setting by which a program that root starts stays root's.
fn user() -> &'static str {
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        return "user = \"root\"\n";
    }
    ""
}

/// Someone who is signed in, or nobody.
#[derive(Clone, Copy)]
struct Person<'c> {
    class: &'c Class,
    cookie: &'c str,
}

impl Class {
    /// A class of anna, ben and a hostile name, with these further settings.
    fn new(exercises: &[&str], settings: &str) -> Self {
        let course = Course::new(exercises);
        let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let class = Self { course, folder: tempfile::tempdir().unwrap(), server: None, port, said: String::new() };
        class.write(
            "class.toml",
            &format!("title = \"<b>GPUs</b>\"\nlisten = \"127.0.0.1:{port}\"\nworkers = 0\n{}{settings}", user()),
        );
        class.write(
            "students.csv",
            &format!("name,id,email\nAnna,anna,anna@uni.edu\nBen,ben,\n\"{}\",evil,\n", HOSTILE.replace('"', "\"\"")),
        );
        class.roster(&["add", &class.path("students.csv")]).succeeds();
        class
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn roster(&self, arguments: &[&str]) -> Outcome {
        let settings = self.path("class.toml");
        let all = [&["roster", "--class", settings.as_str()], arguments].concat();
        self.course.learn(&all)
    }

    /// The secret of a new link.
    fn secret(&self, of: &str) -> String {
        let table = self.roster(&["link", of]).succeeds();
        let link = table.lines().nth(1).unwrap().rsplit(',').next().unwrap().to_owned();
        let secret = link.strip_prefix(&format!("http://127.0.0.1:{}/enter/", self.port)).expect(&link);
        assert!(secret.len() == 64, "{secret}");
        secret.to_owned()
    }

    fn begin(&mut self) {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(self.course.folder.path()).args(["serve", "--plain", "--class"]);
        command.arg(self.path("class.toml")).current_dir(env!("CARGO_MANIFEST_DIR"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut self.said).unwrap();
        self.server = Some(child);
    }

    /// Ends the server. Returns all that it has written.
    fn end(&mut self) -> String {
        if let Some(mut child) = self.server.take() {
            let _ = child.kill();
            let output = child.wait_with_output().unwrap();
            self.said.push_str(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
        }
        self.said.clone()
    }

    fn nobody(&self) -> Person<'_> {
        Person { class: self, cookie: "" }
    }

    fn person<'c>(&'c self, cookie: &'c str) -> Person<'c> {
        Person { class: self, cookie }
    }

    /// The cookie for a secret.
    fn enter(&self, secret: &str) -> String {
        let entered = self.nobody().post("/enter", &[("secret", secret)]);
        assert_eq!((entered.status, entered.header("location")), (303, Some("/")), "{}", entered.body);
        let cookie = entered.header("set-cookie").expect("a cookie");
        assert!(cookie.contains("; HttpOnly; SameSite=Lax") && cookie.contains("Path=/;"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }
}

impl Person<'_> {
    fn head(&self, method: &str, path: &str) -> String {
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}", self.class.port, self.cookie)
    }

    fn get(&self, path: &str) -> Answer {
        ask(self.class.port, &self.head("GET", path), "")
    }

    /// Sends a form with these further lines in its head.
    fn sends(&self, path: &str, fields: &[(&str, &str)], lines: &str) -> Answer {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let pairs = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        ask(self.class.port, &format!("{}\r\n{kind}\r\n{lines}", self.head("POST", path)), &body)
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.sends(path, fields, &format!("Origin: http://127.0.0.1:{}", self.class.port))
    }

    fn script(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let lines = format!("Accept: application/json\r\nOrigin: http://127.0.0.1:{}", self.class.port);
        self.sends(path, fields, &lines)
    }

    /// Puts a text into the queue. Returns the run.
    #[track_caller]
    fn runs(&self, exercise: &str, action: &str, text: &str) -> i64 {
        let base = self.script(&format!("/exercises/{exercise}/save"), &[("text", text), ("base", "")]);
        let base = base.json()["digest"].as_str().unwrap().to_owned();
        let sent = self.script(&format!("/exercises/{exercise}/{action}"), &[("text", text), ("base", &base)]);
        assert_eq!(sent.status, 200, "{}", sent.body);
        sent.json()["run"].as_i64().unwrap()
    }
}

#[test]
fn a_wrong_row_adds_nobody() {
    let class = Class::new(&["copy"], "");
    class.write("bad.csv", "name,id,email\nNew,new,\n,x,\nTwice,new,\nA,../a,\n");
    let bad = class.roster(&["add", &class.path("bad.csv")]);
    assert_eq!(bad.code, Some(2));
    let lines: Vec<&str> = bad.stderr.lines().collect();
    for (line, words) in [
        (0, "line 3: the name is missing"),
        (1, "line 4: the id 'new' is on line 2, too"),
        (2, "line 5: the id '../a'"),
    ] {
        assert!(lines[line].starts_with("error: ") && lines[line].contains(words), "{lines:?}");
    }
    assert!(lines.len() == 3 && lines[2].ends_with("nothing was added"), "{lines:?}");
    let list = class.roster(&["list"]).succeeds();
    assert!(list.contains("3 students, 0 with a link") && !list.contains("new"), "{list}");
    class.roster(&["add", &class.path("none.csv")]).refuses(&["none.csv", "cannot be read"]);
    class.roster(&["link", "nobody"]).refuses(&["there is no student 'nobody'"]);
    class.roster(&["revoke", "nobody"]).refuses(&["there is no student 'nobody'"]);
    // The file for a mail merge runs no formula, and a link is made once.
    let links = class.roster(&["link"]).succeeds();
    assert!(links.starts_with("name,id,email,link\n") && links.contains("\"'=1+\"\"<script>"), "{links}");
    assert_eq!(links.lines().count(), 4);
    class.roster(&["link"]).refuses(&["every student has a link"]);
    assert!(class.roster(&["list"]).succeeds().contains("3 students, 3 with a link"));
    class.write("class.toml", "titel = 1\n");
    class.roster(&["list"]).refuses(&["class.toml", "line 1"]);
}

#[test]
fn a_link_opens_until_it_is_revoked() {
    let mut class = Class::new(&["copy"], "[limits]\nfailed_sign_ins = 3\n");
    let (anna, teacher) = (class.secret("anna"), class.secret("--teacher"));
    class.begin();
    let page = class.nobody().get(&format!("/enter/{anna}"));
    page.page(&["Sign in as Anna", "&lt;b&gt;GPUs"]);
    assert_eq!(page.header("set-cookie"), None);
    let cookie = class.enter(&anna);
    class.person(&cookie).get("/").page(&["Anna", "Sign out", "Copy without the end"]);
    assert_eq!(class.person(&cookie).get(&format!("/enter/{anna}")).header("location"), Some("/"));
    // The secret of a link is no session, and neither is another one of its length.
    for wrong in [&anna, &"0".repeat(64)] {
        let cookie = format!("class_{}={wrong}", class.port);
        assert_eq!(class.person(&cookie).get("/").status, 401);
    }
    // Signing out ends this session, and a revoked link all.
    let other = class.enter(&anna);
    class.person(&other).post("/leave", &[]);
    assert_eq!((class.person(&other).get("/").status, class.person(&cookie).get("/").status), (401, 200));
    class.roster(&["revoke", "anna"]).succeeds();
    assert_eq!(class.person(&cookie).get("/").status, 401);
    assert_eq!(class.nobody().post("/enter", &[("secret", &anna)]).status, 403);
    // A new link takes the place of the one before.
    let ben = class.secret("ben");
    let again = class.secret("ben");
    assert_eq!(class.nobody().get(&format!("/enter/{ben}")).status, 403);
    class.enter(&again);
    // After as many wrong links as are allowed, right ones still open.
    assert_eq!(class.nobody().get("/enter/nonsense").status, 403);
    for path in ["/enter/nonsense".to_owned(), format!("/enter/{ben}")] {
        assert_eq!(class.nobody().get(&path).status, 429);
    }
    let teachers = class.enter(&teacher);
    assert_eq!(class.person(&teachers).get("/").status, 200);
    // Of secrets only hashes are kept, and nothing is logged.
    let said = class.end();
    let kept = ["class.db", "class.db-wal"].map(|file| fs::read(class.path(file)).unwrap_or_default()).concat();
    let kept = String::from_utf8_lossy(&kept);
    assert!(kept.contains("students"));
    let cookies = [&cookie, &teachers].map(|cookie| cookie.split_once('=').unwrap().1);
    for secret in [anna.as_str(), &ben, &again, &teacher].into_iter().chain(cookies) {
        assert!(!said.contains(secret) && !kept.contains(secret), "{said}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(class.path("class.db")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
}

/// Each address, by whom it is for: the student, the teacher, or both.
#[test]
fn each_sees_what_is_his() {
    let mut class = Class::new(&["copy"], "");
    let secrets = ["anna", "ben", "--teacher"].map(|of| class.secret(of));
    class.begin();
    let [anna, ben, teacher] = secrets.map(|secret| class.enter(&secret));
    let [anna, ben, teacher] = [&anna, &ben, &teacher].map(|cookie| class.person(cookie));
    let run = anna.runs("copy", "run", "// anna's text\n");
    let statuses = |path: &str| [class.nobody(), anna, ben, teacher].map(|person| person.get(path).status);
    assert_eq!(statuses("/"), [401, 200, 200, 200]);
    for path in ["/exercises/copy", "/exercises/copy/history"] {
        assert_eq!(statuses(path), [401, 200, 200, 403], "{path}");
        assert!(!ben.get(path).body.contains("anna"), "{path}");
    }
    assert_eq!(statuses("/exercises/copy/file"), [401, 200, 204, 403]);
    assert_eq!(statuses("/exercises/copy/run"), [401, 303, 303, 403]);
    assert_eq!(statuses(&format!("/runs/{run}")), [401, 200, 404, 200]);
    assert_eq!(
        [class.nobody(), ben, teacher].map(|person| person.get(&format!("/runs/{run}/events")).status),
        [401, 404, 403]
    );
    for path in [
        "/class/students/anna",
        "/class/students/anna/copy",
        "/class/exercises/copy",
        "/class/marks/marks.csv",
        "/class/marks/marks.json",
    ] {
        assert_eq!(statuses(path), [401, 403, 403, 200], "{path}");
    }
    let [of_anna, of_ben] = [anna, ben].map(|person| person.get("/exercises/copy").body);
    assert!(of_anna.contains("anna&#39;s text") || of_anna.contains("anna's text"), "{of_anna}");
    assert!(!of_ben.contains("s text"), "{of_ben}");
    // Another's run is no base of a comparison, and a number that is none is like one of nobody.
    let own = ben.runs("copy", "run", "// ben's\n");
    ben.get(&format!("/runs/{own}")).page(&["In the queue"]);
    // Ben stops what is his alone.
    ben.post("/exercises/copy/stop", &[]);
    ben.get(&format!("/runs/{own}")).page(&["stopped"]);
    anna.get(&format!("/runs/{run}")).page(&["In the queue"]);
    let page = ben.get(&format!("/runs/{own}?against={run}"));
    assert!(page.status == 200 && !page.body.contains("s text"), "{}", page.body);
    assert_eq!((ben.get("/runs/999999").status, ben.get("/runs/x").status), (404, 400));
    // What changes something.
    let posts = |path: &str| {
        [class.nobody(), anna, teacher].map(|person| person.post(path, &[("text", "// x\n"), ("base", "")]).status)
    };
    assert_eq!(posts("/class/exercises/copy/regrade"), [401, 403, 303]);
    for action in ["save", "hint", "reset", "run", "submit"] {
        let path = format!("/exercises/copy/{action}");
        assert_eq!(
            [class.nobody(), teacher].map(|person| person.post(&path, &[("text", "// x\n"), ("base", "")]).status),
            [401, 403],
            "{path}"
        );
    }
}

/// So that no worker judges again by the course as it was.
#[test]
fn what_is_judged_again_is_judged_by_the_course_as_it_is() {
    let mut class = Class::new(&["copy"], "");
    let secret = class.secret("--teacher");
    class.begin();
    let cookie = class.enter(&secret);
    let address = format!("sqlite:{}", class.path("class.db"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let kept = || {
        runtime
            .block_on(async { ::class::store::Store::open(&address).await.unwrap().course().await.unwrap().unwrap() })
    };
    let before = kept();
    class.course.write("copy/starter.rs", &format!("{}// changed\n", class.course.read("copy/starter.rs")));
    assert_eq!(class.person(&cookie).post("/class/exercises/copy/regrade", &[]).status, 303);
    assert_ne!(kept(), before);
}

#[test]
fn pages_elsewhere_change_nothing() {
    let mut class = Class::new(&["copy"], "");
    let secret = class.secret("anna");
    class.begin();
    let cookie = class.enter(&secret);
    let anna = class.person(&cookie);
    let ours = format!("Origin: http://127.0.0.1:{}", class.port);
    for lines in [
        "Accept: text/html",
        "Origin: null",
        "Origin: https://evil.example",
        "Origin: http://127.0.0.1:1",
        "Sec-Fetch-Site: same-origin",
        &format!("{ours}\r\nSec-Fetch-Site: cross-site"),
        &format!("{ours}\r\nSec-Fetch-Site: same-site"),
    ] {
        for path in ["/exercises/copy/save", "/leave", "/enter"] {
            let refused = anna.sends(path, &[("text", "stolen"), ("base", ""), ("secret", &secret)], lines);
            assert_eq!((refused.status, refused.header("set-cookie")), (403, None), "{lines}: {path}");
        }
    }
    assert_eq!(anna.get("/exercises/copy/file").status, 204);
    let elsewhere = ask(class.port, &format!("GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie}"), "");
    assert!(elsewhere.status == 421 && elsewhere.body.lines().count() == 1, "{}", elsewhere.body);
}

#[test]
fn methods_and_addresses_that_are_wrong_have_one_line() {
    let mut class = Class::new(&["copy"], "[limits]\nsource_bytes = 1000\nbody_bytes = 5000\n");
    let secret = class.secret("anna");
    class.begin();
    let cookie = class.enter(&secret);
    let anna = class.person(&cookie);
    let head = ask(class.port, &anna.head("HEAD", "/exercises/copy"), "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for path in [
        "/nowhere",
        "/exercises/nothing",
        "/exercises/copy/nothing",
        "/exercises/..%2f..%2fetc/history",
        "/exercises/%0d%0aSet-Cookie:%20a=b/run",
        "/assets/..%2fmod.rs",
        "/class",
    ] {
        assert_eq!(anna.get(path).status, 404, "{path}");
    }
    for (method, path) in
        [("DELETE", "/"), ("PUT", "/exercises/copy"), ("GET", "/leave"), ("GET", "/exercises/copy/stop")]
    {
        let lines = format!("{}\r\nOrigin: http://127.0.0.1:{}", anna.head(method, path), class.port);
        let refused = ask(class.port, &lines, "");
        assert_eq!((refused.status, refused.body.lines().count()), (405, 1), "{method} {path}: {}", refused.body);
        assert!(refused.header("allow").is_some(), "{}", refused.head);
    }
    let save = |text: &str| anna.script("/exercises/copy/save", &[("text", text), ("base", "")]);
    assert_eq!([1000, 1001, 6000].map(|bytes| save(&"x".repeat(bytes)).status), [200, 413, 413]);
    assert_eq!(save("a\0b").status, 400);
    assert_eq!(anna.script("/exercises/copy/save", &[("text", "a"), ("base", "\0")]).status, 400);
    let part = anna.script("/exercises/copy/save", &[("base", "")]);
    assert!(part.status == 400 && part.body.contains("The form is not whole"), "{}", part.body);
    for path in ["/assets/pages.css", "/assets/exercise.js", "/assets/time.js"] {
        let first = class.nobody().get(path);
        let tag = first.header("etag").expect("a tag").to_owned();
        let again = ask(class.port, &format!("{}\r\nIf-None-Match: {tag}", anna.head("GET", path)), "");
        assert_eq!((first.status, again.status, again.body.as_str()), (200, 304, ""), "{path}");
    }
}

#[test]
fn names_and_texts_are_text() {
    let mut class = Class::new(&["copy"], "");
    let secrets = ["evil", "--teacher"].map(|of| class.secret(of));
    class.begin();
    let [evil, teacher] = secrets.map(|secret| class.enter(&secret));
    let [evil, teacher] = [&evil, &teacher].map(|cookie| class.person(cookie));
    let run = evil.runs("copy", "submit", "</textarea><script>alert(2)</script>\n");
    let again = evil.runs("copy", "run", "</pre><script>alert(3)</script>\n");
    // What has ended is compared.
    evil.post("/exercises/copy/stop", &[]);
    evil.get(&format!("/runs/{again}")).page(&["stopped", "class=\"removed\"", "class=\"added\""]);
    for page in [
        evil.get("/"),
        evil.get("/exercises/copy"),
        evil.get("/exercises/copy/history"),
        evil.get(&format!("/runs/{again}?against={run}")),
        teacher.get("/"),
        teacher.get("/class/students/evil"),
        teacher.get("/class/students/evil/copy"),
        teacher.get("/class/exercises/copy"),
        teacher.get(&format!("/runs/{run}")),
    ] {
        page.page(&[]);
        without_inline(&page.body);
        assert!(!page.body.contains("<script>alert"), "{}", page.body);
    }
    for file in ["marks.csv", "grades.csv"] {
        let table = teacher.get(&format!("/class/marks/{file}"));
        assert!(table.header("content-disposition").is_some_and(|it| it.contains("attachment")), "{}", table.head);
        assert!(
            table.body.contains("anna") && table.body.lines().all(|line| !line.starts_with(['=', '+', '-', '@'])),
            "{}",
            table.body
        );
    }
    let marks: Value = teacher.get("/class/marks/marks.json").json();
    assert_eq!(marks["students"].as_array().unwrap().len(), 3);
    let written = class.roster(&["marks", "--format", "gradescope", "--out", &format!("{}/", class.path("results"))]);
    written.succeeds();
    assert!(fs::read_to_string(class.path("results/anna/results.json")).unwrap().contains("0 of 1 exercise solved"));
}

#[test]
fn a_text_is_saved_and_waits() {
    let mut class = Class::new(&["copy"], "[limits]\nwaiting_per_student = 2\n");
    let secret = class.secret("anna");
    class.begin();
    let cookie = class.enter(&secret);
    let anna = class.person(&cookie);
    let save = |text: &str, base: &str| anna.script("/exercises/copy/save", &[("text", text), ("base", base)]);
    let first = save("// mine\r\n", "").json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(save("// other window\n", "").status, 409);
    assert_eq!(anna.get(&format!("/exercises/copy/file?digest={first}")).status, 204);
    assert_eq!(anna.get("/exercises/copy/file").json()["text"], "// mine\n");
    // A page without scripts shows both.
    let both = anna.post("/exercises/copy/save", &[("text", "// other window\n"), ("base", "")]);
    both.page(&["// other window", "<pre id=\"disk\">// mine", "in another window"]);
    // The starter is put into the editor; what is saved stays.
    let reset = anna.post("/exercises/copy/reset", &[("text", "// mine\n"), ("base", &first)]);
    reset.page(&["The starter is in the editor", "pub unsafe fn copy"]);
    assert_eq!(anna.get("/exercises/copy/file").json()["text"], "// mine\n");
    let hint = anna.script("/exercises/copy/hint", &[("text", "// mine\n"), ("base", &first)]).json();
    assert!(hint["html"].as_str().unwrap().contains("Hint 1 of 2"), "{hint}");
    // Without scripts a run leads to its page, which loads itself again.
    let sent = anna.post("/exercises/copy/run", &[("text", "// mine\n"), ("base", &first)]);
    let path = sent.header("location").expect("an address").to_owned();
    assert_eq!(sent.status, 303);
    anna.get(&path).page(&["In the queue: you are next.", "http-equiv=\"refresh\"", "This is the first run."]);
    let second = anna.runs("copy", "submit", "// mine\n// too\n");
    anna.get(&format!("/runs/{second}")).page(&[
        "In the queue: 1 before you.",
        "when the run has ended",
        "<b>submitted</b>",
    ]);
    let history = anna.get("/exercises/copy/history");
    history.page(&["submitted", "waiting", &format!("/runs/{second}")]);
    // More may not wait.
    let third = anna.script(
        "/exercises/copy/run",
        &[("text", "// mine\n// too\n"), ("base", save("// mine\n// too\n", "").json()["digest"].as_str().unwrap())],
    );
    assert!(third.status == 429 && third.body.contains("you have 2 runs waiting"), "{} {}", third.status, third.body);
    // The events say where it is.
    let mut stream = TcpStream::connect(("127.0.0.1", class.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("{}\r\n\r\n", anna.head("GET", &format!("/runs/{second}/events"))).as_bytes()).unwrap();
    let mut seen = String::new();
    let mut part = [0; 512];
    let begun = Instant::now();
    while !seen.contains("}\n") {
        // The server keeps the connection open by lines that say nothing.
        assert!(begun.elapsed() < PATIENCE, "{seen}");
        let length = stream.read(&mut part).unwrap();
        assert!(length > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&part[..length]));
    }
    assert!(seen.contains("text/event-stream") && seen.contains("\"position\":2"), "{seen}");
}

#[test]
fn a_student_who_was_removed_is_signed_out_and_on_no_page() {
    let mut class = Class::new(&["copy"], "");
    let secrets = ["anna", "ben", "--teacher"].map(|of| class.secret(of));
    class.begin();
    let [cookie, ben, teacher] = secrets.clone().map(|secret| class.enter(&secret));
    let [anna, ben, teacher] = [&cookie, &ben, &teacher].map(|cookie| class.person(cookie));
    let run = anna.runs("copy", "submit", "// anna's text\n");
    ben.runs("copy", "submit", "// ben's text\n");
    class.roster(&["remove", "anna", "nobody"]).refuses(&["there is no student 'nobody'"]);
    assert_eq!(anna.get("/").status, 200, "all or none");
    // A stream of events that has begun.
    let mut stream = TcpStream::connect(("127.0.0.1", class.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = anna.head("GET", &format!("/runs/{run}/events"));
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(stream.read(&mut [0; 64]).unwrap() > 0);
    let said = class.roster(&["remove", "anna"]).succeeds();
    assert!(said.contains("anna is removed and signed out. The work is kept"), "{said}");
    assert_eq!(anna.get("/").status, 401);
    stream.read_to_end(&mut Vec::new()).expect("it ends");
    assert_eq!(class.nobody().post("/enter", &[("secret", &secrets[0])]).status, 403);
    for page in ["/", "/class/exercises/copy", "/class/marks/marks.csv", "/class/marks/marks.json"] {
        let page = teacher.get(page);
        assert!(page.status == 200 && !page.body.contains("anna"), "{}", page.body);
    }
    for path in ["/class/students/anna", "/class/students/anna/copy", &format!("/runs/{run}")] {
        assert_eq!(teacher.get(path).status, 404, "{path}");
    }
    let list = class.roster(&["list"]).succeeds();
    assert!(list.contains("2 students, 1 with a link, 1 removed"), "{list}");
    class.roster(&["link", "anna"]).refuses(&["there is no student 'anna'"]);
    class.roster(&["remove", "anna"]).refuses(&["there is no student 'anna'"]);
    // One who comes back finds all of it.
    class.roster(&["add", &class.path("students.csv")]).succeeds();
    let again = class.enter(&class.secret("anna"));
    assert_eq!(anna.get("/").status, 401, "what ended stays so");
    class.person(&again).get(&format!("/runs/{run}")).page(&["submitted"]);
    let said = class.roster(&["remove", "--erase", "anna"]).succeeds();
    assert_eq!(said, "Everything stored about anna is deleted.\n");
    assert_eq!((class.person(&again).get("/").status, teacher.get(&format!("/runs/{run}")).status), (401, 404));
    class.roster(&["remove", "--erase", "anna"]).refuses(&["there is no student 'anna'"]);
    class.end();
    let kept = fs::read(class.path("class.db")).unwrap();
    let kept = String::from_utf8_lossy(&kept);
    assert!(kept.contains("ben's text") && !kept.contains("anna"), "of anna there is something");
}

#[test]
fn an_interrupted_deletion_is_finished_by_the_same_ids_alone() {
    let class = Class::new(&["copy"], "");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = ::class::store::Store::open(&format!("sqlite:{}", class.path("class.db"))).await.unwrap();
        store.remove("anna", 1).await.unwrap();
        assert!(store.erase("anna").await.unwrap());
    });
    for mistyped in ["anne", "bne"] {
        class.roster(&["remove", "--erase", "anna", mistyped]).refuses(&[&format!("no student '{mistyped}'")]);
    }
    let said = class.roster(&["remove", "--erase", "anna"]).succeeds();
    assert_eq!(said, "Everything stored about anna is deleted.\n");
    class.roster(&["remove", "--erase", "anna"]).refuses(&["there is no student 'anna'"]);
}

#[test]
fn each_student_and_address_has_so_many_requests() {
    let mut class = Class::new(&["copy"], "[limits]\nstudent_requests = 5\naddress_requests = 8\n");
    let secrets = ["anna", "ben"].map(|of| class.secret(of));
    class.begin();
    let [anna, ben] = secrets.map(|secret| class.enter(&secret));
    let [anna, ben] = [&anna, &ben].map(|cookie| class.person(cookie));
    let refused = |person: Person<'_>, status: u16| {
        let answers: Vec<Answer> = (0..20).map(|_| person.get("/exercises/copy")).collect();
        assert_eq!(answers[0].status, status);
        let refused = answers.iter().find(|answer| answer.status == 429).expect("one is refused");
        assert_eq!((refused.header("retry-after"), refused.body.lines().count()), (Some("60"), 1), "{}", refused.body);
    };
    refused(anna, 200);
    refused(class.nobody(), 401);
    // Another student of the same address is not concerned.
    assert_eq!(ben.get("/exercises/copy").status, 200);
}

#[test]
fn half_a_head_is_not_waited_for() {
    let mut class = Class::new(&["copy"], "");
    class.begin();
    super::serving::half_a_head_is_cut(class.port, || assert_eq!(class.nobody().get("/").status, 401));
}
