//! Tests of `learn serve` by real HTTP: who is answered, the file that is saved, and runs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::*;

/// Keeps the folders that these runs compile in apart from those of the other tests.
const RUNS: &str = "26";

/// A server of a course, which ends with the test.
struct Server {
    child: Child,
    port: u16,
    /// What the printed address has.
    token: String,
    cookie: String,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn new(course: &Course) -> Self {
        Self::of(std::process::Command::new(env!("CARGO_BIN_EXE_learn")), course, RUNS)
    }

    /// One that a program begins with the arguments, and that compiles in the folder of a job.
    fn of(mut command: std::process::Command, course: &Course, job: &str) -> Self {
        command.arg("--course").arg(course.folder.path()).args(["serve", "--no-open", "--plain", "--port", "0"]);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LEARN_JOB", job).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (port, token) = line.trim().split_once("/?token=").expect("an address");
        let (_, port) = port.rsplit_once(':').expect("a port");
        let port = port.parse().unwrap();
        let mut server = Self { child, port, token: token.to_owned(), cookie: String::new() };
        let entered = server.get(&format!("/?token={token}"));
        let cookie = entered.header("set-cookie").expect("a cookie").to_owned();
        assert!(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"), "{cookie}");
        assert!(cookie.starts_with(&format!("learn_{port}=")), "{cookie}");
        server.cookie = cookie.split(';').next().unwrap().to_owned();
        server
    }

    fn ask(&self, head: &str, body: &str) -> Answer {
        ask(self.port, head, body)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}", self.host(), self.cookie), "")
    }

    /// Sends a form, as a page does, or as a script that accepts JSON.
    fn post(&self, path: &str, fields: &[(&str, &str)], accept: &str) -> Answer {
        let host = self.host();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {}\r\nAccept: {accept}\r\n\
             Content-Type: application/x-www-form-urlencoded",
            self.cookie
        );
        let pairs = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
        self.ask(&head, &pairs.collect::<Vec<_>>().join("&"))
    }

    fn script(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post(path, fields, "application/json")
    }

    /// The digest of an exercise's file.
    fn digest(&self, name: &str) -> String {
        // The page makes the file of the starter, if there is none.
        self.get(&format!("/exercises/{name}"));
        self.get(&format!("/exercises/{name}/file")).json()["digest"].as_str().unwrap().to_owned()
    }

    /// The events of a run of this text.
    fn run(&self, name: &str, text: &str) -> Vec<Value> {
        let base = self.digest(name);
        let fields = [("text", text), ("base", &base), ("seed", ""), ("schedules", ""), ("device", "sim")];
        let answer = self.script(&format!("/exercises/{name}/run"), &fields);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Sends a request with these lines of its head, and nothing else in it.
pub fn ask(port: u16, head: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    let text = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    // A server that refuses a body closes before it has read it.
    let _ = stream.write_all(text.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Answer::of(&String::from_utf8(answer).unwrap())
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let mut answer = Self { status, head: head.to_owned(), body: body.to_owned() };
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = joined(body);
        }
        answer
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// A page that has these words, and nothing that its policy forbids.
    #[track_caller]
    pub fn page(&self, words: &[&str]) -> &str {
        assert_eq!(self.status, 200, "{}", self.body);
        let policy = self.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        without_inline(&self.body);
        for words in words {
            assert!(self.body.contains(words), "there is no '{words}' in {}", self.body);
        }
        &self.body
    }
}

/// Neither scripts nor styles stand in the text.
#[track_caller]
pub fn without_inline(html: &str) {
    for inline in [" style=", "<style", "<script>", " onclick=", "javascript:"] {
        assert!(!html.contains(inline), "{inline} in {html}");
    }
}

/// The text of chunks.
fn joined(mut chunks: &str) -> String {
    let mut text = String::new();
    while let Some((length, rest)) = chunks.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            break;
        }
        text.push_str(&rest[..length]);
        chunks = &rest[length + 2..];
    }
    text
}

pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { (byte as char).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The event of this name.
#[track_caller]
fn event<'e>(events: &'e [Value], name: &str) -> &'e Value {
    events.iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("no event '{name}': {events:?}"))
}

/// A course with this exercise of the repository's.
fn of_the_course(name: &str) -> Course {
    let course = Course::new(&[]);
    for entry in fs::read_dir(root().join("exercises").join(name)).unwrap().flatten() {
        // Whoever works in the clone may have solved it.
        let file = entry.file_name().into_string().unwrap();
        if entry.path().is_file() && !file.starts_with("kernel.rs") && !file.starts_with("predict.toml") {
            course.write(&format!("{name}/{file}"), &fs::read_to_string(entry.path()).unwrap());
        }
    }
    course.list(&[name]);
    course
}

#[test]
fn only_the_browser_with_the_token_is_answered() {
    let course = Course::new(&["copy"]);
    let server = Server::new(&course);
    let (host, cookie) = (server.host(), &server.cookie);
    let get = |head: &str| server.ask(&format!("GET / HTTP/1.1\r\n{head}"), "");
    let post = |head: &str| {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let head = format!("POST /exercises/copy/save HTTP/1.1\r\n{kind}\r\nCookie: {cookie}\r\n{head}");
        server.ask(&head, "text=stolen&base=")
    };
    for refused in [
        get(&format!("Host: {host}")),
        get(&format!("Host: {host}\r\nCookie: {}0", cookie)),
        // A name elsewhere that resolves to this machine.
        get(&format!("Host: evil.example:{}\r\nCookie: {cookie}", server.port)),
        server.ask(&format!("GET / HTTP/1.1\r\nCookie: {cookie}"), ""),
        server.ask(&format!("GET /?token={}0 HTTP/1.1\r\nHost: {host}", server.token), ""),
        // A form of a page elsewhere, or of none.
        post(&format!("Host: {host}")),
        post(&format!("Host: {host}\r\nOrigin: http://evil.example")),
        post(&format!("Host: {host}\r\nOrigin: null")),
        post(&format!("Host: {host}\r\nOrigin: http://127.0.0.1:1")),
    ] {
        assert!(matches!(refused.status, 400 | 403), "{} {}", refused.head, refused.body);
        assert!(!refused.body.contains("Beginnings"), "{}", refused.body);
        assert_eq!(refused.header("set-cookie"), None);
    }
    assert!(!course.path("copy/kernel.rs").exists());
    assert!(get(&format!("Host: {host}")).body.contains("open the address that `cargo learn serve` has printed"));
    get(&format!("Host: localhost:{}\r\nCookie: a=b; {cookie}", server.port))
        .page(&["Beginnings", "Copy without the end"]);

    // A port that is taken.
    let taken = course.learn(&["serve", "--no-open", "--plain", "--port", &server.port.to_string()]);
    let line = taken.refuses(&["--port ", "give another port"]);
    assert_eq!(line.trim_end().lines().count(), 1, "{line}");
}

#[test]
fn pages_show_the_course_as_it_is() {
    let course = Course::new(&["copy", "other", "third"]);
    let server = Server::new(&course);
    course.write("other/kernel.rs", "// </textarea><script>alert(1)</script>\n");
    let map = server.get("/");
    let map = map.page(&["<b>0</b> of <b>3</b> exercises solved", "Next: Copy without the end", "/exercises/third"]);
    assert_eq!(
        ["open", "tried", "solved"].map(|state| map.matches(&format!("<li class=\"{state}\"")).count()),
        [2, 1, 0]
    );
    // The file is text, whatever it has.
    let page = server.get("/exercises/other");
    page.page(&[
        "// &lt;/textarea&gt;&lt;script&gt;alert(1)",
        "<h1>Copy without the end",
        "other/kernel.rs",
        "<span id=\"state\" class=\"state tried\">tried</span>",
        "Show a hint",
        "data-editor=\"text.js\"",
    ]);
    server.get("/assets/pages.css").page(&[".picture", ".warm20{", ".tiles"]);
    server.get("/assets/exercise.js").page(&["import"]);
    let missing = server.get("/exercises/nothing");
    assert!(
        missing.status == 404 && missing.body.contains("there is no exercise &#39;nothing&#39;")
            || missing.body.contains("there is no exercise 'nothing'"),
        "{}",
        missing.body
    );
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e%2fmod.rs",
        "/nowhere",
        "/exercises/copy/nothing",
        "/exercises/..%2f..%2fetc/file",
    ] {
        let status = server.get(path).status;
        assert!(matches!(status, 404 | 405), "{path}: {status}");
    }
}

#[test]
fn the_file_is_saved_unless_the_disk_has_another_one() {
    let course = Course::new(&["copy"]);
    let server = Server::new(&course);
    let save = |text: &str, base: &str| server.script("/exercises/copy/save", &[("text", text), ("base", base)]);
    let first = server.digest("copy");
    assert_eq!(server.get(&format!("/exercises/copy/file?digest={first}")).status, 204);
    let saved = save("// mine\n", &first);
    assert_eq!((saved.status, course.read("copy/kernel.rs").as_str()), (200, "// mine\n"));
    // As an editor beside the page changes it.
    course.write("copy/kernel.rs", "// theirs\n");
    let mine = saved.json()["digest"].as_str().unwrap().to_owned();
    let conflict = save("// mine again\n", &mine);
    assert_eq!((conflict.status, course.read("copy/kernel.rs").as_str()), (409, "// theirs\n"));
    assert_eq!(conflict.json()["text"], "// theirs\n");
    // A page without scripts shows both, and its next form decides.
    let page = server.post("/exercises/copy/save", &[("text", "// mine again\n"), ("base", &mine)], "text/html");
    let theirs = conflict.json()["digest"].as_str().unwrap().to_owned();
    page.page(&["// mine again", "<pre id=\"disk\">// theirs", &format!("name=\"base\" value=\"{theirs}\"")]);
    assert_eq!(save("// mine again\n", &theirs).status, 200);
    assert_eq!(course.read("copy/kernel.rs"), "// mine again\n");
    // Lines end as they do in the file; a form ends them its own way.
    course.write("copy/kernel.rs", "// a\r\n// b\r\n");
    save("// a\r\n// c\r\n", &server.digest("copy"));
    assert_eq!(course.read("copy/kernel.rs"), "// a\r\n// c\r\n");
    assert_eq!(server.get("/exercises/copy/file").json()["text"], "// a\n// c\n");
    // What is no text is left alone.
    fs::write(course.path("copy/kernel.rs"), [0xff, 0xfe]).unwrap();
    let refused = save("// text\n", "");
    assert!(refused.status == 400 && refused.body.contains("not UTF-8"), "{}", refused.body);
    assert_eq!(fs::read(course.path("copy/kernel.rs")).unwrap(), [0xff, 0xfe]);
    // Too much is not read, and what is no form neither.
    course.write("copy/kernel.rs", "// short\n");
    let base = server.digest("copy");
    let long = [1 << 20, 1 << 19].map(|bytes| save(&"x".repeat(bytes), &base));
    assert!(long[0].status == 400 && long[0].body.contains("the text is too long"), "{}", long[0].body);
    assert!(long[1].body.contains("the text has 524288 bytes, and 262144 are allowed"), "{}", long[1].body);
    let part = server.script("/exercises/copy/save", &[("base", &base)]);
    assert!(part.status == 400 && part.body.contains("the form is not whole"), "{}", part.body);
    assert_eq!(course.read("copy/kernel.rs"), "// short\n");
    // The address of a form, opened again, leads back.
    let back = server.get("/exercises/copy/save");
    assert_eq!((back.status, back.header("location")), (303, Some("/exercises/copy")));
}

#[test]
fn a_file_that_was_deleted_is_in_the_page_alone() {
    let course = Course::new(&["copy"]);
    let server = Server::new(&course);
    let save = |text: &str, base: &str| server.script("/exercises/copy/save", &[("text", text), ("base", base)]);
    let mine = save("// mine\n", &server.digest("copy")).json()["digest"].as_str().unwrap().to_owned();
    let file = course.path("copy/kernel.rs");
    fs::remove_file(&file).unwrap();
    // To ask for it does not make another.
    assert_eq!(server.get(&format!("/exercises/copy/file?digest={mine}")).status, 410);
    assert!(!file.exists());
    assert_eq!(save("// mine\n", &mine).status, 200);
    assert_eq!(course.read("copy/kernel.rs"), "// mine\n");
    // What a hint saves is what was sent, whatever was typed since.
    let hint = server.script("/exercises/copy/hint", &[("text", "// sent\n"), ("base", &mine)]).json();
    assert_eq!((hint["text"].as_str(), hint["digest"].as_str()), (Some("// sent\n"), Some(&*server.digest("copy"))));
    // A file without an end is not read.
    #[cfg(unix)]
    {
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        let refused = server.get("/exercises/copy");
        assert!(refused.status == 400 && refused.body.contains("this is no ordinary file"), "{}", refused.body);
    }
}

/// As many as have no descriptors left ended it.
#[cfg(target_os = "linux")]
#[test]
fn connections_beyond_what_the_system_allows_do_not_end_the_server() {
    let course = Course::new(&["copy"]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 48; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_learn")]);
    let server = Server::of(command, &course, RUNS);
    let connections: Vec<_> = (0..96).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(connections);
    server.get("/exercises/copy").page(&["Run"]);
}

#[test]
fn hints_reset_and_solution_are_those_of_the_command_line() {
    let course = Course::new(&["copy"]);
    let server = Server::new(&course);
    let act = |action: &str, text: &str, accept: &str| {
        let base = server.digest("copy");
        server.post(&format!("/exercises/copy/{action}"), &[("text", text), ("base", &base)], accept)
    };
    let first = act("hint", "// mine\n", "application/json").json()["html"].as_str().unwrap().to_owned();
    assert!(first.contains("Hint 1 of 2") && !first.contains("Hint 2 of 2"), "{first}");
    let redirected = act("hint", "// mine\n", "text/html");
    assert_eq!((redirected.status, redirected.header("location")), (303, Some("/exercises/copy#hints")));
    server.get("/exercises/copy").page(&["Hint 2 of 2"]);
    assert!(course.learn(&["hint"]).succeeds().contains("Hint 2 of 2"));
    // The page's text is saved, and then kept beside the starter.
    act("reset", "// mine, too\n", "text/html").page(&["is the starter again", "kernel.rs.before"]);
    assert_eq!(course.read("copy/kernel.rs"), course.read("copy/starter.rs"));
    assert_eq!(course.read("copy/kernel.rs.before"), "// mine, too\n");
    let refused = server.get("/exercises/copy/solution");
    assert!(refused.body.contains("copy is not solved yet"), "{}", refused.body);
    course.write("progress.toml", "solved = [\"copy\"]\n");
    server.get("/exercises/copy/solution").page(&["pub unsafe fn copy"]);
}

#[test]
fn a_run_says_what_happens_and_is_known_afterwards() {
    if !has_compiler() {
        return;
    }
    let course = of_the_course("padding");
    let server = Server::new(&course);
    let starter = course.read("padding/starter.rs");
    let events = server.run("padding", &starter);
    let names: Vec<&str> =
        events.iter().filter_map(|event| event["event"].as_str()).filter(|name| *name != "note").collect();
    assert_eq!((names[0], names[1], names[2]), ("saved", "compiling", "running"), "{names:?}");
    assert!(names.ends_with(&["orders", "goals", "verdict", "end"]), "{names:?}");
    assert!(event(&events, "running")["sizes"].as_str().unwrap().starts_with("rows = "));
    let verdict = event(&events, "verdict");
    let html = verdict["html"].as_str().unwrap();
    without_inline(html);
    for words in [
        "Not solved yet: <b>2</b> of <b>4</b> goals are met.",
        "<svg",
        "The source, line by line",
        "Predicted on an H200",
    ] {
        assert!(html.contains(words), "there is no '{words}' in {html}");
    }
    let blamed = 1 + starter.lines().position(|line| line.contains("(*tile)[x][line]")).unwrap();
    let place = &verdict["places"][0];
    assert!(
        place["line"] == blamed && place["message"].as_str().unwrap().starts_with("shared.bank_conflicts is "),
        "{place}"
    );
    let end = event(&events, "end");
    assert!(end["known"] == false && end["state"] == "open" && end["next"].is_null(), "{end}");

    // The same text again; then with another seed, which is another run.
    let again = server.run("padding", &starter);
    assert_eq!(again.len(), 3, "{again:?}");
    assert!(event(&again, "verdict") == verdict && event(&again, "end")["known"] == true);

    let solution = course.read("padding/solution.rs");
    let events = server.run("padding", &solution);
    assert_eq!(event(&events, "verdict")["solved"], true);
    assert_eq!(event(&events, "end")["state"], "solved");
    assert_eq!(course.read("padding/kernel.rs"), solution);
    assert!(course.learn(&["list"]).succeeds().ends_with("1 of 1 solved.\n"));
    // Known, but forgotten: it counts again.
    course.write("progress.toml", "");
    assert_eq!(event(&server.run("padding", &solution), "end")["known"], true);
    assert!(course.read("progress.toml").contains("padding"));

    let events = server.run("padding", &solution.replace("let tile =", "let tile: u32 ="));
    let place = &event(&events, "verdict")["places"][0];
    let line = 1 + solution.lines().position(|line| line.contains("let tile =")).unwrap();
    assert!(place["line"] == line && place["column"].is_u64(), "{place}");
    assert!(place["message"].as_str().unwrap().contains("mismatched types"), "{place}");

    // Without scripts, the answer to the form is the page with the verdict.
    let base = server.digest("padding");
    let fields = [("text", solution.as_str()), ("base", base.as_str()), ("seed", "7")];
    server.post("/exercises/padding/run", &fields, "text/html,*/*").page(&["<p>Solved.</p>", "id=\"text\""]);
    for (name, value) in [("seed", "-1"), ("seed", "x; rm"), ("schedules", "0"), ("device", "--report=x")] {
        let refused = server.script("/exercises/padding/run", &[("text", &solution), ("base", &base), (name, value)]);
        assert_eq!(refused.status, 400, "{name}={value}: {}", refused.body);
    }
}

#[test]
fn predictions_are_judged() {
    if !has_compiler() {
        return;
    }
    let course = of_the_course("predict_banks");
    let server = Server::new(&course);
    let page = server.get("/exercises/predict_banks");
    page.page(&["data-question=\"stride_33\"", "Given: given.rs", "predict_banks/predict.toml"]);
    let events = server.run("predict_banks", &course.read("predict_banks/solution.toml"));
    assert_eq!(event(&events, "verdict")["solved"], true, "{events:?}");
    // Each wrong run counts, also of the same numbers: after two of them, they are explained.
    let wrong = course.read("predict_banks/solution.toml").replace("stride_33 = 1", "stride_33 = 5");
    let html = |events: &[Value]| event(events, "verdict")["html"].as_str().unwrap().to_owned();
    assert!(!html(&server.run("predict_banks", &wrong)).contains("The simulator counts"));
    assert!(html(&server.run("predict_banks", &wrong)).contains("The simulator counts"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_can_be_stopped_and_ends_with_the_server() {
    use std::os::unix::process::ExitStatusExt as _;

    use crate::interrupted::{endless, processes, until};

    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    // Nothing else compiles there.
    const JOB: &str = "29";
    let server = Server::of(std::process::Command::new(env!("CARGO_BIN_EXE_learn")), &course, JOB);
    let base = server.digest("copy");
    let folder = format!("learn/{JOB}000/");
    let compiles = || !processes(&folder).is_empty();
    let run = || server.script("/exercises/copy/run", &[("text", &endless()), ("base", &base)]);
    std::thread::scope(|scope| {
        let answer = scope.spawn(run);
        until("it compiles", compiles);
        assert_eq!(server.script("/exercises/copy/stop", &[]).status, 204);
        let answer = answer.join().unwrap();
        assert!(answer.body.trim_end().ends_with("{\"event\":\"stopped\"}"), "{}", answer.body);
        until("nothing compiles any more", || !compiles());
    });
    // Nobody reads it any more, as when the page is closed.
    let base = server.digest("copy");
    let body = format!("text={}&base={base}", encoded(&endless()));
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let (host, cookie, length) = (server.host(), &server.cookie, body.len());
    let head = format!(
        "POST /exercises/copy/run HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n\
         Accept: application/json\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    until("it compiles", compiles);
    drop(stream);
    until("nothing compiles any more", || !compiles());
    // The server is killed.
    std::thread::scope(|scope| {
        let answer = scope.spawn(run);
        until("it compiles", compiles);
        let id = rustix::process::Pid::from_raw(server.child.id().cast_signed()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        until("nothing compiles any more", || !compiles());
        answer.join().unwrap();
    });
    let mut server = server;
    assert_eq!(server.child.wait().unwrap().signal(), Some(9));
}

/// Sends half a request's head and nothing more, while `others` are answered: the server closes the
/// connection.
pub fn half_a_head_is_cut(port: u16, others: impl Fn()) {
    let mut slow = TcpStream::connect(("127.0.0.1", port)).unwrap();
    slow.set_read_timeout(Some(std::time::Duration::from_secs(120))).unwrap();
    slow.write_all(format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Slow: ").as_bytes()).unwrap();
    others();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("the connection is closed");
    assert!(answer.is_empty() || answer.contains(" 408 "), "{answer}");
    others();
}

#[test]
#[ignore = "long: the server waits ten seconds for the rest of the head"]
fn half_a_head_is_not_waited_for() {
    let course = Course::new(&["copy"]);
    let server = Server::new(&course);
    half_a_head_is_cut(server.port, || assert_eq!(server.get("/").status, 200));
}
