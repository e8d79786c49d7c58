//! Judges Python: the reference makes data and results in one process, and the candidate is called
//! in another, in the sandbox, where the simulator's driver notes what streams are given. A script
//! of the Python package runs both sides (`_judge.py`); this compares what they leave.
//!
//! A call may not copy between host and device: what the host cannot see it cannot compute, so
//! results come from launches.
//!
//! *Invariant:* the candidate's process reads neither the reference nor its results, and an input
//! only from the device.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use coalesce_driver::record::{FaultRecord, GIVEN, Given, KernelRecord};
use common::random::Random;
use host::recorded::RecordedKernel;
use host::report::RowPrediction;
use sandbox::Sandbox;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::confined::{self, Ended, Limits};
use super::contract::{Range, Sizes};
use super::element::{Difference, Element};
use super::explain;
use super::sizes;
use super::verdict::{Measured, Verdict};
use super::{Options, read};
use crate::{library, recording, records};

/// The script.
const SCRIPT: &str = include_str!("../../../../python/src/coalesce/_judge.py");

/// What outputs hold before a call.
const POISON: u8 = 0xa5;

/// How many combinations of sizes run in drawn orders.
const IN_ORDERS: usize = 4;

/// What a candidate's process reads of the system, besides Python's folders and libraries: the
/// compilers that packages call, and what these and libraries look at.
const READS: [&str; 9] = [
    "/usr/bin",
    "/bin",
    "/usr/include",
    "/usr/share",
    "/etc/alternatives",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
];

/// `coalesce confined`: becomes a program that is limited and in the sandbox.
#[derive(Args, Debug)]
pub struct ConfinedOptions {
    #[command(flatten)]
    limits: Limits,
    #[arg(long)]
    read: Vec<PathBuf>,
    #[arg(long)]
    write: Vec<PathBuf>,
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// Becomes the program.
pub fn become_confined(options: &ConfinedOptions) -> Result<u8, String> {
    use std::os::unix::process::CommandExt as _;
    confined::limit(&options.limits)?;
    if !options.limits.no_sandbox {
        Sandbox::new(options.read.clone(), options.write.clone()).enter()?;
    }
    let (program, arguments) = options.program.split_first().ok_or("there is no program")?;
    let error = Command::new(program).args(arguments).exec();
    Err(format!("{} cannot be run: {error}", Path::new(program).display()))
}

/// What the script says of a reference.
#[derive(Deserialize)]
struct About {
    sizes: BTreeMap<String, Range>,
    reads: Vec<PathBuf>,
    /// Whether it has a candidate of its own, beside which another is measured.
    measured: bool,
}

/// A call: the combination of sizes, and which of its calls.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Call {
    case: usize,
    number: usize,
}

impl Call {
    fn name(self) -> String {
        format!("{}-{}", self.case, self.number)
    }
}

/// The files of a verdict, and how Python is started.
struct Bench<'a> {
    options: &'a Options,
    seed: u64,
    python: PathBuf,
    folder: TempDir,
    variables: Vec<(OsString, OsString)>,
    /// The driver's files.
    library: Vec<PathBuf>,
}

/// Judges. An error is the reference's or the request's.
pub fn judge(options: &Options, seed: u64) -> Result<Verdict, String> {
    confined::check(&options.limits)?;
    let bench = Bench::new(options, seed)?;
    let about = bench.about()?;
    let mut random = Random::new(seed);
    let mut verdict = Verdict {
        reference: options.reference.display().to_string(),
        candidate: options.candidate.display().to_string(),
        seed,
        sizes: sizes::drawn(about.sizes.iter(), options.cases as usize, &mut random),
        ..Verdict::default()
    };
    let last = verdict.sizes.len() - 1;
    let measured = Call { case: last, number: 2 };
    let all: Vec<Call> = (0..=last).flat_map(|case| [0, 1].map(|number| Call { case, number })).collect();
    let calls = || all.iter().copied().chain([measured]);
    bench.plan("plan", &verdict.sizes, calls())?;
    bench.reference(&["reference", "REF", "plan.json", ""])?;
    if about.measured {
        bench.plan("measured", &verdict.sizes, std::iter::once(measured))?;
        bench.copy_data(measured)?;
        bench.reference(&["candidate", "REF", "measured.json", "own", "beside"])?;
        if let Ok(why) = std::fs::read_to_string(bench.path("beside").join(format!("{}.txt", measured.name()))) {
            return Err(format!("{}: candidate: {why}", options.reference.display()));
        }
        verdict.kernels.reference = kernels(&records::read(&bench.path("beside").join(measured.name()))?);
    }
    if let Some((rule, why)) = bench.candidate(about.reads)? {
        verdict.add(rule, false, why, None);
    }
    verdict.measured_at = verdict.sizes[last].clone();
    let left = bench.path("left");
    let begun = bench.begun(&mut verdict)?;
    if begun {
        for case in 0..=last {
            let sizes = verdict.sizes[case].clone();
            let mut compared = Compared { bench: &bench, sizes: &sizes, verdict: &mut verdict };
            if compared.case(case)? {
                verdict.right_at.push(sizes);
            }
        }
        if left.join(measured.name()).is_dir() {
            let launched = records::read(&left.join(measured.name()))?;
            verdict.kernels.candidate = kernels(&launched);
            if options.explain {
                fault_text::sources::also_beside(vec![bench.path("candidate")]);
                verdict.explanation = Some(bench.named(&explain::text(&launched, &verdict.candidate)?));
            }
        }
    }
    verdict.complete(&options.model);
    Ok(verdict)
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options, seed: u64) -> Result<Self, String> {
        let mut python = options.python.clone();
        if python.components().count() > 1 {
            // It is started in another folder. A link is what makes an environment of Python.
            python = std::path::absolute(&python).map_err(|error| format!("{}: {error}", python.display()))?;
        }
        let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
        let path = |name: &str| folder.path().join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", folder.path().display());
        for name in ["driver", "home", "data", "expected", "left", "own", "beside", "candidate"] {
            std::fs::create_dir(path(name)).map_err(failed)?;
        }
        std::fs::write(path("_judge.py"), SCRIPT).map_err(failed)?;
        read(&options.reference)?;
        // Beside the candidate there may be the reference.
        std::fs::write(path("candidate/candidate.py"), read(&options.candidate)?).map_err(failed)?;
        let found = library::find()?;
        found.link_into(&path("driver"))?;
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for (name, value) in found.variables(&path("driver")) {
            let value = if name == "LD_LIBRARY_PATH" { library::before(&value, std::env::var_os(name)) } else { value };
            variables.push((name.into(), value));
        }
        for (name, value) in [
            ("HOME", path("home").into()),
            ("TMPDIR", path("home").into()),
            ("NUMBA_CACHE_DIR", path("home").into()),
            ("TRITON_CACHE_DIR", path("home").into()),
            // Older versions of numba look for no other.
            ("NUMBA_CUDA_DRIVER", path("driver/libcuda.so.1").into()),
            ("COALESCE_DEVICE", options.model.clone().into()),
            ("OPENBLAS_NUM_THREADS", OsString::from("1")),
            ("PYTHONHASHSEED", "0".into()),
            ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ] {
            variables.push((name.into(), value));
        }
        let kept = ["PATH", "PYTHONPATH", "LANG", "LC_ALL", "CUDA_PATH", "VIRTUAL_ENV"];
        variables.extend(kept.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))));
        Ok(Self { options, seed, python, variables, library: found.files(), folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.path("home"));
        command
    }

    /// Runs the script on the reference, with these arguments: of files, in the folder.
    fn reference(&self, arguments: &[&str]) -> Result<(), String> {
        let file = std::path::absolute(&self.options.reference).map_err(|error| error.to_string())?;
        let mut command = self.command(&self.python);
        command.arg(self.path("_judge.py")).arg(arguments[0]).arg(&file);
        command.args(arguments[2..].iter().map(|name| self.path(name)));
        let of_reference = |why: &str| format!("{}: {why}", self.options.reference.display());
        match confined::run(&mut command, &self.options.limits)? {
            Ended::Said(_) => Ok(()),
            Ended::Failed(why) => Err(of_reference(&why)),
            Ended::Killed(why, said) => Err(of_reference(
                said.lines().rfind(|line| !line.is_empty()).unwrap_or(&why).trim_start_matches("error: "),
            )),
        }
    }

    fn about(&self) -> Result<About, String> {
        self.reference(&["describe", "REF", "about.json"])?;
        let path = self.path("about.json");
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let about: About =
            serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", self.options.reference.display()))?;
        for (name, range) in &about.sizes {
            range.check(name).map_err(|why| format!("{}: {why}", self.options.reference.display()))?;
        }
        Ok(about)
    }

    /// Writes which calls there are, and how each is recorded.
    fn plan(&self, name: &str, cases: &[Sizes], calls: impl Iterator<Item = Call>) -> Result<(), String> {
        let every = cases.len().div_ceil(IN_ORDERS);
        let (mut listed, mut settings) = (Vec::new(), serde_json::Map::new());
        for call in calls {
            listed.push(json!([call.name(), call.case, call.number]));
            let orders = if call.case % every == 0 { self.options.schedules } else { 0 };
            let of_call = match call.number {
                0 => json!({
                    "COALESCE_CHECK": "all",
                    "COALESCE_PREDICT": "never",
                    "COALESCE_SCHEDULES": orders.to_string(),
                    "COALESCE_SEED": self.seed.to_string(),
                }),
                1 => json!({"COALESCE_PREDICT": "never"}),
                _ => json!({"COALESCE_PREDICT": "always", "COALESCE_REQUESTS": "1"}),
            };
            settings.insert(call.name(), of_call);
        }
        let plan = json!({"seed": self.seed, "cases": cases, "calls": listed, "settings": settings});
        let path = self.path(&format!("{name}.json"));
        std::fs::write(&path, plan.to_string()).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn copy_data(&self, call: Call) -> Result<(), String> {
        let name = format!("{}.npz", call.name());
        let copied = std::fs::copy(self.path("data").join(&name), self.path("own").join(&name));
        copied.map(|_| ()).map_err(|error| format!("{name}: {error}"))
    }

    /// Calls the candidate. Returns why it did not come to its end, as a rule and a text.
    fn candidate(&self, reads: Vec<PathBuf>) -> Result<Option<(&'static str, String)>, String> {
        let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
        let limits = &self.options.limits;
        let mut command = self.command(&program);
        command.arg("confined");
        command
            .arg(format!("--time-limit={}", limits.time_limit))
            .arg(format!("--memory-limit={}", limits.memory_limit));
        command.args(limits.no_sandbox.then_some("--no-sandbox"));
        let own = ["driver", "candidate", "_judge.py", "plan.json"].map(|name| self.path(name));
        let reads = reads.into_iter().chain(READS.map(PathBuf::from)).chain(own).chain(self.library.clone());
        reads.filter(|path| path.exists()).for_each(|path| _ = command.arg("--read").arg(path));
        ["home", "data", "left"].iter().for_each(|name| _ = command.arg("--write").arg(self.path(name)));
        command.arg("--").arg(&self.python).arg(self.path("_judge.py")).arg("candidate");
        let named = ["candidate/candidate.py", "plan.json", "data", "left"];
        command.args(named.map(|name| self.path(name)));
        Ok(match confined::run(&mut command, limits)? {
            Ended::Said(_) => None,
            Ended::Failed(why) => return Err(why),
            Ended::Killed(why, said) => {
                let last = said.lines().rfind(|line| line.starts_with("error: "));
                Some(last.map_or(("resources", why), |last| ("failed", last.trim_start_matches("error: ").to_owned())))
            }
        })
    }

    /// Whether the candidate could be called at all. If not, the verdict says why.
    fn begun(&self, verdict: &mut Verdict) -> Result<bool, String> {
        #[derive(Deserialize)]
        struct Guarded {
            rule: String,
            trick: bool,
            text: String,
        }
        let left = self.path("left");
        if let Ok(text) = std::fs::read(left.join("guard.json")) {
            let guarded: Vec<Guarded> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
            guarded.iter().for_each(|it| verdict.add(&it.rule, it.trick, it.text.clone(), None));
        }
        if let Ok(why) = std::fs::read_to_string(left.join("failed.txt")) {
            verdict.add("failed", false, why, None);
        }
        if given(&left.join("import")).is_some_and(|given| given.shared_allocations > 0) {
            verdict.add(HOST, true, SHARED.to_owned(), None);
        }
        if verdict.problems.is_empty() && !left.join("0-0").is_dir() {
            verdict.add("resources", false, "it ended before it was called".to_owned(), None);
        }
        Ok(left.join("0-0").is_dir())
    }

    /// A text in which the candidate has the name that it was given.
    fn named(&self, text: &str) -> String {
        let copied = self.path("candidate/candidate.py").display().to_string();
        text.replace(&copied, &self.options.candidate.display().to_string())
    }

    /// The elements of an array that a side has left; `None` if there is none of this number.
    fn array(&self, side: &str, name: &str) -> Result<Option<Values>, String> {
        let path = self.path(side).join(name);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let element = Element::of_numpy(&String::from_utf8_lossy(&bytes[..line]));
        let element = element.ok_or_else(|| format!("{}: it has no type that can be judged", path.display()))?;
        Ok(Some(Values { element, bytes: bytes.get(line + 1..).unwrap_or_default().to_vec() }))
    }
}

/// The elements of an array.
struct Values {
    element: Element,
    bytes: Vec<u8>,
}

/// The rule of what the host does.
const HOST: &str = "host";
/// What is said of memory that both sides see.
const SHARED: &str = "it allocates memory that the host shares with the device, where results can be computed";

/// Both sides at certain sizes.
struct Compared<'a> {
    bench: &'a Bench<'a>,
    sizes: &'a Sizes,
    verdict: &'a mut Verdict,
}

impl Compared<'_> {
    /// Compares both calls. Returns whether they are right.
    fn case(&mut self, case: usize) -> Result<bool, String> {
        for number in [0, 1] {
            let call = Call { case, number };
            if !self.bench.path("left").join(call.name()).is_dir() {
                return Ok(self.wrong("resources", false, "it ended before this call".to_owned()));
            }
            self.verdict.calls += 1;
            if !self.was_honest(call)? || !self.is_right(call)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the call ended, without findings and tricks.
    fn was_honest(&mut self, call: Call) -> Result<bool, String> {
        let folder = self.bench.path("left").join(call.name());
        let given = given(&folder).unwrap_or_default();
        let copied = given.bytes_to_device + given.bytes_to_host;
        if copied > 0 {
            let text = format!(
                "it copies {} bytes to the device and {} to the host: results come from kernels, and room on the device \
                 needs no copy",
                given.bytes_to_device, given.bytes_to_host
            );
            return Ok(self.wrong(HOST, true, text));
        }
        if given.shared_allocations > 0 {
            return Ok(self.wrong(HOST, true, SHARED.to_owned()));
        }
        if given.on_other_streams > 0 {
            let text = "it works on another stream, for which whoever takes its time does not wait".to_owned();
            return Ok(self.wrong("other_stream", true, text));
        }
        if let Ok(why) = std::fs::read_to_string(self.bench.path("left").join(format!("{}.txt", call.name()))) {
            return Ok(self.wrong("failed", false, why));
        }
        if given.launches == 0 && self.expects_anything(call)? {
            return Ok(self.wrong("no_launch", true, "it launches no kernel".to_owned()));
        }
        for KernelRecord { findings, stopped, orders, .. } in records::raw(&folder)? {
            self.verdict.orders += orders;
            if let Some(FaultRecord { kind, text, .. }) = stopped.into_iter().chain(findings).next() {
                let rule = if kind == "other_order" { "other_order" } else { "finding" };
                let text = self.bench.named(&text);
                return Ok(self.wrong(rule, false, text));
            }
        }
        Ok(true)
    }

    /// Whether the reference has output.
    fn expects_anything(&self, call: Call) -> Result<bool, String> {
        let first = self.bench.array("expected", &format!("{}-out0", call.name()))?;
        Ok(first.is_some_and(|values| !values.bytes.is_empty()))
    }

    /// Whether inputs are as before, and outputs are right.
    fn is_right(&mut self, call: Call) -> Result<bool, String> {
        for at in 0.. {
            let name = format!("{}-in{at}", call.name());
            let Some(before) = self.bench.array("expected", &name)? else {
                // A number, or none.
                if at < MOST_ARRAYS { continue } else { break }
            };
            if self.bench.array("left", &name)?.is_none_or(|after| after.bytes != before.bytes) {
                return Ok(self.wrong("input_changed", false, format!("the candidate changes input {at}")));
            }
        }
        for at in 0.. {
            let name = format!("{}-out{at}", call.name());
            let Some(expected) = self.bench.array("expected", &name)? else { break };
            let left = self.bench.array("left", &name)?.filter(|left| left.bytes.len() == expected.bytes.len());
            let Some(left) = left else {
                return Ok(self.wrong("failed", false, format!("output {at} cannot be read")));
            };
            let element = expected.element;
            if call.number == 0
                && let Some((rule, text)) = unwritten(at, &left.bytes, element.bytes())
            {
                return Ok(self.wrong(rule, rule == "nothing_computed", text));
            }
            let differs = |values: &Values| element.difference(&left.bytes, &values.bytes, element.tolerance());
            if let Some(Difference { index, is, should_be, count }) = differs(&expected) {
                let earlier = self.bench.array("left", &format!("{}-out{at}", Call { number: 0, ..call }.name()))?;
                if call.number > 0 && earlier.is_some_and(|earlier| differs(&earlier).is_none()) {
                    let text = "a second call leaves the output of the first".to_owned();
                    return Ok(self.wrong("earlier_output", true, text));
                }
                let more = if count > 1 { format!(", and {} more differ", count - 1) } else { String::new() };
                let second = if call.number > 0 { "in a second call, " } else { "" };
                let text = format!("{second}element {index} of output {at} is {is}, not {should_be}{more}");
                return Ok(self.wrong(if call.number > 0 { "second_call" } else { "result" }, false, text));
            }
        }
        Ok(true)
    }

    fn wrong(&mut self, rule: &str, trick: bool, text: String) -> bool {
        self.verdict.add(rule, trick, text, Some(self.sizes));
        false
    }
}

/// Inputs of a function are looked for up to this number: those that are numbers have no file.
const MOST_ARRAYS: usize = 64;

/// What of an output nothing has written, as a rule and a text.
fn unwritten(at: usize, bytes: &[u8], each: usize) -> Option<(&'static str, String)> {
    let is_poison = |element: &[u8]| element.iter().all(|&byte| byte == POISON);
    // A byte that is a result may be the poison's.
    let elements = || bytes.chunks_exact(each).enumerate().filter(|(_, element)| each > 1 && is_poison(element));
    let (first, _) = elements().next()?;
    let count = elements().count();
    let rule = if count * each == bytes.len() { "nothing_computed" } else { "not_written" };
    Some((rule, format!("nothing writes element {first} of output {at} and {} more", count - 1)))
}

/// What streams were given in a call.
fn given(folder: &Path) -> Option<Given> {
    serde_json::from_slice(&std::fs::read(folder.join(GIVEN)).ok()?).ok()
}

/// What the kernels of a call counted.
fn kernels(launched: &[RecordedKernel]) -> Vec<Measured> {
    let of_kernel = |kernel: &RecordedKernel| Measured {
        counters: match recording::metrics(kernel) {
            Value::Object(all) => all.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect(),
            _ => BTreeMap::new(),
        },
        predicted_us: match &kernel.predicted {
            Some(RowPrediction::Time(time)) => Some(1e3 * time.time_ms),
            _ => None,
        },
        launches: kernel.launches,
        kernel: kernel.name(),
    };
    launched.iter().map(of_kernel).collect()
}
