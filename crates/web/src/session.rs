//! What the page asks for, and the runs whose parts it may ask for later.

use std::collections::BTreeMap;
use std::ffi::OsString;

use host::cli::{self, Viewed};
use host::report::RunView;
use serde::Deserialize;
use serde_json::{Value, json};

#[cfg(target_family = "wasm")]
use crate::predict;
use crate::predict::Asked;

/// How many requests of each access are kept to step through.
const STEPS: u32 = 32;

/// The limits of each run. An endless kernel ends, if nobody cancels it before.
const LIMITS: [&str; 4] = ["--memory-limit", "256M", "--step-limit", "400000000"];

/// How many runs are kept: two side by side, and the sweep.
const SLOTS: usize = 3;

/// A page's state: its last runs.
#[derive(Default)]
pub struct Session {
    runs: [Option<RunView>; SLOTS],
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Give { texts: BTreeMap<String, String> },
    Text { arguments: Vec<String> },
    Run { slot: usize, arguments: Vec<String> },
    Source { slot: usize, row: usize },
    Picture { slot: usize, row: usize, access: usize, request: usize },
    Pattern { arguments: Vec<String> },
    Predict(Asked),
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
            Request::Pattern { arguments } => pattern(words(arguments)),
            Request::Predict(asked) => predict(&asked).unwrap_or_else(|error| json!({"error": error})),
        }
    }

    fn shown(&self, slot: usize) -> Option<&RunView> {
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

/// Judges a prediction for the exercise whose files were given.
#[cfg(target_family = "wasm")]
fn predict(asked: &Asked) -> Result<Value, String> {
    let goals = device::given::text("goals").and_then(|text| exercise::obfuscation::reveal(&text));
    let goals = goals.ok_or("there is no exercise on this page")?;
    let goals = serde_json::from_str(&goals).map_err(|error| error.to_string())?;
    let exercise = exercise::Exercise { name: String::new(), folder: std::path::PathBuf::new(), goals };
    predict::reply(&exercise, &exercise.given_ptx_file(), asked)
}

#[cfg(not(target_family = "wasm"))]
fn predict(_: &Asked) -> Result<Value, String> {
    Err("here the exercises are judged by `cargo learn`".to_owned())
}

/// What an index costs: the sentence and the drawing, the costs and the lanes, and where the last
/// number of the index stands.
fn pattern(arguments: Vec<OsString>) -> Value {
    match cli::pattern(arguments) {
        Ok(pattern) => json!({
            "says": pattern.says(),
            "svg": pattern.svg(),
            "costs": pattern.costs(),
            "columns": pattern.columns(),
            "lanes": pattern.lanes(),
            "number": pattern.last_number(),
        }),
        Err(error) => json!({"error": error}),
    }
}

fn text(arguments: Vec<OsString>) -> Value {
    let mut output = Vec::new();
    let (exit_code, messages) = cli::call(arguments, &mut output);
    json!({"output": String::from_utf8_lossy(&output), "messages": messages, "exit_code": exit_code})
}

/// Runs, and keeps what there is to show of it. The run before makes room first.
fn run(place: &mut Option<RunView>, mut arguments: Vec<OsString>) -> Value {
    *place = None;
    arguments.extend(LIMITS.map(OsString::from));
    let Viewed { view, exit_code, messages } = cli::view(arguments, STEPS);
    let overview = view.as_ref().map(RunView::overview);
    *place = view;
    json!({"overview": overview, "messages": messages, "exit_code": exit_code})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(session: &mut Session, request: &Value) -> Value {
        serde_json::from_str(&session.answer(request.to_string().as_bytes())).expect("a reply is JSON")
    }

    #[test]
    fn a_run_stays_in_its_slot() {
        let mut session = Session::default();
        let run = |slot: usize, stride: &str| {
            let arguments = ["banks", "--stride", stride, "--rounds", "1", "--device", "sim"];
            json!({"do": "run", "slot": slot, "arguments": arguments})
        };
        for (slot, stride) in [(0, "32"), (1, "33")] {
            let reply = ask(&mut session, &run(slot, stride));
            assert_eq!((&reply["exit_code"], &reply["messages"]), (&json!(0), &json!("")));
            assert_eq!(reply["overview"]["rows"][0]["name"], format!("stride-{stride}"));
        }
        for (slot, wavefronts) in [(0, "32 wavefronts"), (1, "1 wavefront:")] {
            let shared = json!({"do": "picture", "slot": slot, "row": 0, "access": 2, "request": 0});
            let svg = ask(&mut session, &shared)["picture"]["svg"].as_str().unwrap_or_default().to_owned();
            assert!(svg.contains(wavefronts), "{slot}: {svg}");
        }
        let source = ask(&mut session, &json!({"do": "source", "slot": 1, "row": 0}));
        assert!(source["source"].as_str().unwrap().contains("kernels/src/banks.rs"));
    }

    #[test]
    fn a_run_that_fails_leaves_no_other_in_its_slot() {
        let mut session = Session::default();
        for (size, exit_code) in [("64", 0), ("x", 2)] {
            let arguments = ["offset", "--size", size, "--device", "sim"];
            let reply = ask(&mut session, &json!({"do": "run", "slot": 0, "arguments": arguments}));
            assert_eq!((&reply["exit_code"], reply["overview"].is_null()), (&json!(exit_code), exit_code != 0));
        }
        assert_eq!(ask(&mut session, &json!({"do": "source", "slot": 0, "row": 0})), json!({"source": null}));
    }

    #[test]
    fn a_text_is_what_the_program_writes() {
        let reply = ask(&mut Session::default(), &json!({"do": "text", "arguments": ["list"]}));
        assert!(reply["output"].as_str().unwrap().contains("transpose") && reply["exit_code"] == 0, "{reply}");
    }

    #[test]
    fn an_index_is_drawn_or_refused() {
        let ask = |arguments: &[&str]| ask(&mut Session::default(), &json!({"do": "pattern", "arguments": arguments}));
        let reply = ask(&["tile[x*32 + y]", "--memory", "shared"]);
        assert!(reply["says"].as_str().unwrap().contains("<b>32</b> wavefronts"), "{reply}");
        assert_eq!((&reply["costs"][0], &reply["number"]), (&json!(["wavefronts", 32]), &json!([7, 2])));
        assert_eq!(reply["lanes"][3], json!([3, 3, 0, 96, 0, 4]));
        assert!(reply["svg"].as_str().unwrap().starts_with("<svg"));
        assert_eq!(ask(&["tile[x*"])["error"], "INDEX: column 8: the index ends too early");
        assert!(ask(&["x", "--type", "f80"])["error"].as_str().unwrap().contains("give one of u8"));
    }

    #[test]
    fn an_endless_run_ends_at_its_limit() {
        let ptx = tempfile::NamedTempFile::new().unwrap();
        let text = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nL:\nbra L;\n}\n";
        std::fs::write(ptx.path(), text).unwrap();
        let arguments =
            ["run", ptx.path().to_str().unwrap(), "k", "--grid", "1", "--block", "32", "--step-limit", "1000"];
        let reply = ask(&mut Session::default(), &json!({"do": "run", "slot": 0, "arguments": arguments}));
        assert_ne!(reply["exit_code"], 0);
    }

    #[test]
    fn what_is_no_request_is_answered_with_an_error() {
        let mut session = Session::default();
        for (request, words) in [
            (json!({"do": "dance"}), "unknown variant `dance`"),
            (json!({"do": "run", "slot": 7, "arguments": []}), "there are 3 slots"),
            (json!({"do": "source", "slot": 0}), "missing field `row`"),
        ] {
            let error = ask(&mut session, &request)["error"].as_str().unwrap_or_default().to_owned();
            assert!(error.contains(words), "{error}");
        }
        assert!(session.answer(b"\xff").contains("not a request"));
    }
}
