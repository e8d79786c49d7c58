//! `coalesce mcp`, as a client talks to it: lines of JSON-RPC on its standard input and output.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::{Bench, beside};

/// A server, and a client of it.
struct Session {
    server: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Session {
    fn new() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_coalesce"))
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let output = BufReader::new(server.stdout.take().expect("its output")).lines();
        let input = server.stdin.take();
        let mut session = Self { server, input, output, next: 1 };
        let client = json!({"name": "test", "version": "1"});
        let version = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let about = session.ask("initialize", &version);
        assert_eq!(about["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(about["result"]["serverInfo"]["name"], "coalesce");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        session
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("it reads");
    }

    fn answer(&mut self) -> Value {
        let line = self.output.next().expect("an answer").expect("text");
        serde_json::from_str(&line).expect("JSON")
    }

    fn begin(&mut self, method: &str, parameters: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}).to_string());
        id
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.begin(method, parameters);
        let answer = self.answer();
        assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!(id), &json!("2.0")));
        answer
    }

    /// Calls a tool. Returns its text, and whether it failed.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))["result"].take();
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        (text.to_owned(), result["isError"] == true)
    }

    /// Ends the input. Returns the exit code.
    fn end(mut self) -> Option<i32> {
        self.input = None;
        assert!(self.output.next().is_none());
        self.server.wait().expect("it ends").code()
    }
}

#[test]
fn tools_are_listed_and_called() {
    if sandbox::missing().is_some() {
        return;
    }
    let mut session = Session::new();
    let tools = session.ask("tools/list", &json!({}))["result"]["tools"].take();
    let names: Vec<_> = tools.as_array().expect("a list").iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["run", "judge", "explain"]);

    let bench = Bench::new();
    let wrong = include_str!("scale.ptx").replace("setp.ge.u32", "setp.gt.u32");
    bench.file("new.ptx", &wrong);
    let judged = |candidate: &str| {
        json!({
            "reference": beside("scale.ptx"),
            "contract": beside("scale.toml"),
            "candidate": candidate,
            "folder": bench.folder.path(),
        })
    };
    let (text, failed) = session.call("judge", &judged("new.ptx"));
    let verdict: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&verdict["verdict"], &verdict["problems"][0]["rule"], failed),
        (&json!("wrong"), &json!("finding"), false)
    );
    let (text, failed) = session.call("explain", &judged(beside("scale.ptx").to_str().expect("UTF-8")));
    assert!(!failed && text.contains("scale.ptx: right") && text.contains("ld.global.f32 %f2, [%rd4];"), "{text}");
    assert!(text.contains("32 lanes ask for 128 bytes; 4 sectors, 128 bytes, move: 100 % used."), "{text}");
    let (text, failed) = session.call("judge", &judged("none.ptx"));
    assert!(failed && text.contains("none.ptx: No such file"), "{text}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn programs_are_run() {
    let mut session = Session::new();
    let command = ["sh", "-c", "echo said; exit 3"];
    let (text, failed) = session.call("run", &json!({"command": command}));
    assert!(!failed && text.contains("\"kernels\": []"), "{text}");
    assert!(text.contains("The program printed:\nsaid\n") && text.ends_with("Exit code: 3\n"), "{text}");
    let (text, failed) = session.call("run", &json!({"command": ["true"], "folder": "/none"}));
    assert!(failed && text.contains("/none: there is no such folder"), "{text}");
    let (text, failed) = session.call("run", &json!({"command": ["true"], "require": ["banks == 0"]}));
    assert!(failed && text.contains("unknown metric 'banks'"), "{text}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn others_are_answered_while_a_tool_runs() {
    let mut session = Session::new();
    let bench = Bench::new();
    let wait = format!("until [ -e {} ]; do :; done", bench.folder.path().join("go").display());
    let slow = session.begin("tools/call", &json!({"name": "run", "arguments": {"command": ["sh", "-c", wait]}}));
    assert_eq!(session.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(session.ask("nothing", &json!({}))["error"]["code"], -32601);
    session.send("{\"broken");
    assert_eq!(session.answer()["error"]["code"], -32700);
    bench.file("go", "");
    assert_eq!(session.answer()["id"], json!(slow));
    assert_eq!(session.end(), Some(0));
}
