//! What the page asks for, and the runs whose parts it may ask for later.

use std::collections::BTreeMap;
use std::ffi::OsString;

use host::cli::{self, Exhibited};
use host::report::Exhibit;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many requests of each access are kept to step through.
const STEPS: u32 = 32;

/// The limits of each run. An endless kernel ends, if nobody cancels it before.
const LIMITS: [&str; 4] = ["--memory-limit", "256M", "--step-limit", "400000000"];

/// How many runs are kept: two side by side, and the sweep.
const SLOTS: usize = 3;

/// A page's state: its last runs.
#[derive(Default)]
pub struct Session {
    runs: [Option<Exhibit>; SLOTS],
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Give { texts: BTreeMap<String, String> },
    Text { arguments: Vec<String> },
    Run { slot: usize, arguments: Vec<String> },
    Source { slot: usize, row: usize },
    Picture { slot: usize, row: usize, access: usize, request: usize },
}

impl Session {
    /// Answers a request, which is JSON, in JSON. A bad request is answered with an error.
    pub fn answer(&mut self, request: &[u8]) -> String {
        let reply = match serde_json::from_slice(request) {
            Ok(request) => self.reply(request),
            Err(error) => json!({"error": format!("not a request: {error}")}),
        };
        reply.to_string()
    }

    fn reply(&mut self, request: Request) -> Value {
        match request {
            Request::Give { texts } => give(&texts),
            Request::Text { arguments } => text(words(arguments)),
            Request::Run { slot, arguments } => match self.runs.get_mut(slot) {
                Some(place) => run(place, words(arguments)),
                None => json!({"error": format!("there are {SLOTS} slots")}),
            },
            Request::Source { slot, row } => json!({"source": self.shown(slot).map(|run| run.source(row))}),
            Request::Picture { slot, row, access, request } => {
                json!({"picture": self.shown(slot).and_then(|run| run.picture(row, access, request))})
            }
        }
    }

    fn shown(&self, slot: usize) -> Option<&Exhibit> {
        self.runs.get(slot)?.as_ref()
    }
}

fn words(arguments: Vec<String>) -> Vec<OsString> {
    arguments.into_iter().map(OsString::from).collect()
}

#[cfg(target_family = "wasm")]
fn give(texts: &BTreeMap<String, String>) -> Value {
    texts.iter().for_each(|(name, text)| device::given::give(name, text));
    json!({})
}

#[cfg(not(target_family = "wasm"))]
fn give(_: &BTreeMap<String, String>) -> Value {
    json!({"error": "here the program reads its files itself"})
}

fn text(arguments: Vec<OsString>) -> Value {
    let mut output = Vec::new();
    let (exit_code, messages) = cli::call(arguments, &mut output);
    json!({"output": String::from_utf8_lossy(&output), "messages": messages, "exit_code": exit_code})
}

/// Runs, and keeps what there is to show of it. The run before makes room first.
fn run(place: &mut Option<Exhibit>, mut arguments: Vec<OsString>) -> Value {
    *place = None;
    arguments.extend(LIMITS.map(OsString::from));
    let Exhibited { exhibit, exit_code, messages } = cli::exhibit(arguments, STEPS);
    let overview = exhibit.as_ref().map(Exhibit::overview);
    *place = exhibit;
    json!({"overview": overview, "messages": messages, "exit_code": exit_code})
}
