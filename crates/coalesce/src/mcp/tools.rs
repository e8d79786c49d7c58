//! The tools: what they take, and the commands of this program that they run, each in a process of
//! its own. Their text is what the command writes.

use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

/// The most text of an answer: a client's context is no file.
const MOST_TEXT: usize = 200_000;

/// A call of a tool.
#[derive(Debug)]
pub struct Call {
    arguments: Vec<String>,
    folder: Option<String>,
}

/// What `run` takes, and `explain` of a program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    command: Vec<String>,
    folder: Option<String>,
    check: Option<String>,
    device: Option<String>,
    kernel: Option<String>,
    #[serde(default)]
    require: Vec<String>,
    schedules: Option<u32>,
}

/// What `judge` takes, and `explain` of a candidate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Judge {
    reference: String,
    candidate: String,
    contract: Option<String>,
    folder: Option<String>,
    seed: Option<u64>,
    cases: Option<u32>,
    schedules: Option<u32>,
    model: Option<String>,
    python: Option<String>,
}

/// The tools, as the protocol lists them.
pub fn list() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let folder = text("The folder to run in");
    let run = json!({
        "command": texts("The program and its arguments, as in [\"python\", \"test.py\"]"),
        "folder": folder,
        "check": text("The faults to look for: all, or some of memory,init,race,sync,undefined; usually all"),
        "device": text("sim, or sim:MODEL (sim:hopper, sim:ampere) for that GPU's caches; usually sim"),
        "kernel": text("Count, check and predict this kernel alone"),
        "require": texts("Goals, as in \"shared.bank_conflicts of transpose == 0\""),
        "schedules": number("Compare each launch with so many other orders of blocks and warps"),
    });
    let judge = json!({
        "reference": text("A file that says what is right: PTX, a program with PTX in it, or Python with inputs(n, ..., rng) and reference(*inputs)"),
        "candidate": text("The file to judge: PTX, a program with PTX in it, or Python with candidate(*inputs, *outputs)"),
        "contract": text("For PTX, a file (.toml) with sizes, arguments and launches"),
        "folder": folder,
        "seed": number("Draw sizes, data and orders from this number; usually another each time"),
        "cases": number("How many combinations of sizes to try; usually 12"),
        "schedules": number("How many other orders of blocks and warps to try; usually 4"),
        "model": text("The GPU whose time is predicted; usually hopper"),
        "python": text("The Python for Python files; usually python3"),
    });
    let either = [&run, &judge].into_iter().flat_map(|all| all.as_object().cloned().unwrap_or_default());
    let explain: serde_json::Map<String, Value> = either.collect();
    let tool = |name: &str, about: &str, properties: Value, required: &[&str]| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        json!({"name": name, "description": about, "inputSchema": schema})
    };
    json!([
        tool(
            "run",
            "Run any CUDA program (numba, Triton, CUDA C++ with cudart shared) on a simulated GPU, with your rights. Returns \
             JSON: of each kernel its counters, findings and predicted time, and which goals are met.",
            run,
            &["command"],
        ),
        tool(
            "judge",
            "Judge a kernel by a reference, in a sandbox: right, wrong or refused (a trick), at drawn and awkward sizes, with \
             all checks and in other orders. Returns JSON: the problems, counters and predicted times beside the reference's, \
             and how sure each is.",
            judge,
            &["reference", "candidate"],
        ),
        tool(
            "explain",
            "Say where the cost of kernels arises: the costliest lines with their counters, and pictures of their accesses. \
             Give a command, as for run, or a reference and a candidate, as for judge. Returns text.",
            Value::Object(explain),
            &[],
        ),
    ])
}

impl Call {
    /// The call of these parameters.
    pub fn of(parameters: &Value) -> Result<Self, String> {
        let name = parameters.get("name").and_then(Value::as_str).ok_or("'name' names no tool")?;
        let given = parameters.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let is_of_program = given.get("command").is_some();
        match name {
            "run" => Ok(Self::of_run(parsed(given)?, false)),
            "judge" => Ok(Self::of_judge(parsed(given)?, false)),
            "explain" if is_of_program => Ok(Self::of_run(parsed(given)?, true)),
            "explain" => Ok(Self::of_judge(parsed(given)?, true)),
            _ => Err(format!("there is no tool '{name}'; there are run, judge and explain")),
        }
    }

    fn of_run(run: Run, explains: bool) -> Self {
        let Run { command, folder, check, device, kernel, require, schedules } = run;
        let mut arguments = vec!["run".to_owned(), "--predict".to_owned()];
        let check = check.unwrap_or_else(|| "all".to_owned());
        arguments.push(format!("--check={check}"));
        let more = [("device", device), ("only", kernel), ("schedules", schedules.map(|it| it.to_string()))];
        arguments.extend(more.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?))));
        arguments.extend(require.into_iter().map(|goal| format!("--require={goal}")));
        let shown: &[&str] = if explains { &["--lines", "--hot=10", "--picture"] } else { &["--format=json"] };
        arguments.extend(shown.iter().map(|&flag| flag.to_owned()));
        arguments.push("--".to_owned());
        arguments.extend(command);
        Self { arguments, folder }
    }

    fn of_judge(judge: Judge, explains: bool) -> Self {
        let Judge { reference, candidate, contract, folder, seed, cases, schedules, model, python } = judge;
        let mut arguments = vec!["judge".to_owned()];
        let given = [
            ("reference", Some(reference)),
            ("candidate", Some(candidate)),
            ("contract", contract),
            ("seed", seed.map(|it| it.to_string())),
            ("cases", cases.map(|it| it.to_string())),
            ("schedules", schedules.map(|it| it.to_string())),
            ("model", model),
            ("python", python),
        ];
        arguments.extend(given.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?))));
        arguments.push(if explains { "--explain" } else { "--format=json" }.to_owned());
        Self { arguments, folder }
    }

    /// Runs the command. Returns the result of the protocol: its text, and whether it failed.
    pub fn run(self) -> Value {
        let (text, failed) = match self.output() {
            Ok(done) => done,
            Err(why) => (format!("error: {why}"), true),
        };
        json!({"content": [{"type": "text", "text": text}], "isError": failed})
    }

    fn output(mut self) -> Result<(String, bool), String> {
        let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
        let report = tempfile::NamedTempFile::new().map_err(|error| format!("a temporary file: {error}"))?;
        let of_program = self.arguments.first().is_some_and(|first| first == "run");
        if of_program {
            // What the program prints is not part of the report.
            self.arguments.insert(1, format!("--output={}", report.path().display()));
        }
        let mut command = Command::new(program);
        command.args(&self.arguments).stdin(Stdio::null());
        if let Some(folder) = &self.folder {
            if !std::path::Path::new(folder).is_dir() {
                return Err(format!("{folder}: there is no such folder"));
            }
            command.current_dir(folder);
        }
        let done = command.output().map_err(|error| format!("the command cannot be run: {error}"))?;
        let [said, errors] = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let code = done.status.code();
        let mut text = String::new();
        if of_program {
            text = std::fs::read_to_string(report.path()).unwrap_or_default();
            if !said.trim().is_empty() {
                text += &format!("\nThe program printed:\n{said}");
            }
        } else {
            text += &said;
        }
        if !errors.trim().is_empty() {
            text += &format!("\nErrors and findings:\n{errors}");
        }
        if let Some(code) = code.filter(|_| of_program) {
            text += &format!("\nExit code: {code}\n");
        }
        Ok((cut(text), code.is_none_or(|code| code == 2)))
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(given: Value) -> Result<T, String> {
    serde_json::from_value(given).map_err(|error| format!("arguments: {error}"))
}

/// Cuts a text that is too long.
fn cut(mut text: String) -> String {
    if text.len() > MOST_TEXT {
        text.truncate((0..=MOST_TEXT).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0));
        text.push_str("\n[the rest is omitted: name one kernel]\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_commands() {
        let of = |name: &str, arguments: Value| {
            Call::of(&json!({"name": name, "arguments": arguments})).map(|call| call.arguments.join(" "))
        };
        assert_eq!(
            of("judge", json!({"reference": "r.py", "candidate": "c.py", "seed": 7})),
            Ok("judge --reference=r.py --candidate=c.py --seed=7 --format=json".to_owned())
        );
        assert_eq!(
            of("explain", json!({"command": ["python", "t.py"], "kernel": "add"})),
            Ok("run --predict --check=all --only=add --lines --hot=10 --picture -- python t.py".to_owned())
        );
        assert!(of("explain", json!({"reference": "r", "candidate": "c"})).is_ok_and(|it| it.ends_with("--explain")));
        for (name, arguments, said) in [
            ("run", json!({}), "missing field `command`"),
            ("run", json!({"command": "ls"}), "expected a sequence"),
            ("judge", json!({"reference": "r"}), "missing field `candidate`"),
            ("judge", json!({"reference": "r", "candidate": "c", "speed": 1}), "unknown field `speed`"),
            ("explain", json!({}), "missing field `reference`"),
        ] {
            let problem = of(name, arguments).expect_err("a problem");
            assert!(problem.contains(said), "{problem}");
        }
    }

    #[test]
    fn the_tools_say_what_they_take() {
        let tools = list();
        let names: Vec<&str> =
            tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["run", "judge", "explain"]);
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["reference", "candidate"]));
        assert!(tools[2]["inputSchema"]["properties"]["command"].is_object());
    }
}
