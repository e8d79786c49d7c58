//! `coalesce mcp`: a server of the Model Context Protocol on the standard input and output, for
//! programs that write kernels. Its tools are `coalesce run` and `coalesce judge` (`tools`).
//!
//! The transport is a message of JSON-RPC a line. That and four methods are all that such a server
//! needs; the protocol's Rust library would bring sixty crates. Calls of tools run beside each other
//! and beside this loop, so that whoever asks meanwhile is answered.
//!
//! *Invariant:* whatever a line holds, the answer is a message; only the end of the input ends the
//! server, after the calls under way.

mod tools;

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::Mutex;

use clap::Args;
use serde_json::{Value, json};

/// The versions of the protocol with these messages, the newest last.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The longest line.
const LONGEST: u64 = 16 << 20;

/// The most calls of tools at a time.
const MOST_CALLS: usize = 4;

/// Errors of JSON-RPC.
const NO_JSON: i64 = -32700;
const NO_REQUEST: i64 = -32600;
const NO_METHOD: i64 = -32601;
const WRONG_PARAMETERS: i64 = -32602;
const BUSY: i64 = -32000;

/// Serve `run`, `judge` and `explain` by the Model Context Protocol, on standard input and output
#[derive(Args, Debug)]
pub struct Options {}

/// Serves until the input ends. Returns the exit code.
pub fn main(_: &Options) -> Result<u8, String> {
    let mut input = std::io::stdin().lock();
    let running = Mutex::new(0usize);
    std::thread::scope(|scope| {
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(|error| format!("the standard input: {error}"))? == 0 {
                return Ok(0);
            }
            let (id, asked) = match understood(&line) {
                Ok(Some(request)) => request,
                Ok(None) => continue,
                Err(answer) => {
                    say(&answer)?;
                    continue;
                }
            };
            let Asked::Tool(call) = asked else {
                let Asked::Answer(answer) = asked else { continue };
                say(&answer_of(&id, answer))?;
                continue;
            };
            if !begins(&running) {
                say(&answer_of(&id, Err((BUSY, format!("{MOST_CALLS} calls are under way; wait for one")))))?;
                continue;
            }
            let running = &running;
            scope.spawn(move || {
                let answer = answer_of(&id, Ok(call.run()));
                if let Ok(mut running) = running.lock() {
                    *running -= 1;
                }
                // Whoever asked has gone, if this fails.
                let _ = say(&answer);
            });
        }
    })
}

/// Notes that a call begins, unless there are too many.
fn begins(running: &Mutex<usize>) -> bool {
    running.lock().is_ok_and(|mut running| {
        let has_room = *running < MOST_CALLS;
        *running += usize::from(has_room);
        has_room
    })
}

/// What becomes of a request.
enum Asked {
    /// It is answered at once.
    Answer(Result<Value, (i64, String)>),
    /// It calls a tool.
    Tool(tools::Call),
}

/// A message: its id, and what it asks for. Nothing, if it asks for nothing; an answer, if it is
/// none that can be understood.
fn understood(line: &[u8]) -> Result<Option<(Value, Asked)>, Value> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| answer_of(&Value::Null, Err((NO_JSON, format!("this line is no JSON: {error}")))))?;
    let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        // Perhaps an answer; this server asks nothing.
        let is_answer = id.is_some() && (message.get("result").is_some() || message.get("error").is_some());
        let wrong = || answer_of(&id.unwrap_or_default(), Err((NO_REQUEST, "this is no request".to_owned())));
        return if is_answer { Ok(None) } else { Err(wrong()) };
    };
    // Notifications: that the client is ready, or does not want an answer any more.
    let Some(id) = id else { return Ok(None) };
    let parameters = message.get("params").cloned().unwrap_or_default();
    let asked = match method {
        "initialize" => Asked::Answer(Ok(initialized(&parameters))),
        "ping" => Asked::Answer(Ok(json!({}))),
        "tools/list" => Asked::Answer(Ok(json!({"tools": tools::list()}))),
        "tools/call" => match tools::Call::of(&parameters) {
            Ok(call) => Asked::Tool(call),
            Err(why) => Asked::Answer(Err((WRONG_PARAMETERS, why))),
        },
        _ => Asked::Answer(Err((NO_METHOD, format!("there is no method '{method}'")))),
    };
    Ok(Some((id, asked)))
}

/// What this server is, in the version that the client asks for, or in the newest.
fn initialized(parameters: &Value) -> Value {
    let wanted = parameters.get("protocolVersion").and_then(Value::as_str);
    let version = wanted.filter(|wanted| VERSIONS.contains(wanted)).unwrap_or(VERSIONS[VERSIONS.len() - 1]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "coalesce", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "CUDA kernels on a simulated GPU, without a GPU: `judge` says whether a kernel is right and what it \
                         costs beside a reference, `explain` where its cost arises, and `run` does the same for whole programs.",
    })
}

fn answer_of(id: &Value, answer: Result<Value, (i64, String)>) -> Value {
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, message)) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}),
    }
}

/// Writes a message as a line, whole.
fn say(message: &Value) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let text = format!("{message}\n");
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| format!("the standard output: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> Option<Value> {
        match understood(line.as_bytes()) {
            Ok(None) => None,
            Ok(Some((id, Asked::Answer(answer)))) => Some(answer_of(&id, answer)),
            Ok(Some((_, Asked::Tool(_)))) => panic!("a call"),
            Err(answer) => Some(answer),
        }
    }

    #[test]
    fn every_line_has_an_answer_or_wants_none() {
        let version = |wanted: &str| {
            let line =
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": wanted}});
            answer(&line.to_string()).expect("an answer")["result"]["protocolVersion"].clone()
        };
        assert_eq!((version("2025-03-26"), version("1999-01-01")), (json!("2025-03-26"), json!("2025-11-25")));
        for (line, code) in [
            ("{", NO_JSON),
            ("[]", NO_REQUEST),
            ("{\"id\": 1}", NO_REQUEST),
            ("{\"id\": 1, \"method\": \"resources/list\"}", NO_METHOD),
            ("{\"id\": 1, \"method\": \"tools/call\"}", WRONG_PARAMETERS),
            ("{\"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"dance\"}}", WRONG_PARAMETERS),
        ] {
            assert_eq!(answer(line).expect("an answer")["error"]["code"], json!(code), "{line}");
        }
        for line in ["", " ", "{\"method\": \"notifications/initialized\"}", "{\"id\": 7, \"result\": {}}"] {
            assert_eq!(answer(line), None, "{line}");
        }
        assert_eq!(answer("{\"id\": \"a\", \"method\": \"ping\"}").expect("an answer")["result"], json!({}));
    }

    #[test]
    fn too_many_calls_are_refused() {
        let running = Mutex::new(0);
        let begun: Vec<bool> = (0..=MOST_CALLS).map(|_| begins(&running)).collect();
        assert_eq!(begun.iter().filter(|&&begun| begun).count(), MOST_CALLS);
    }
}
