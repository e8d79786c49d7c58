//! Judges PTX: both sides run on the simulator, in this process, with data that is drawn from a
//! seed.
//!
//! Each combination of sizes is called twice in one memory, with other data at the same addresses:
//! first with all checks and outputs that nothing has written, then with outputs that hold numbers.
//! So a kernel that returns what an earlier call has left is wrong at the second.
//!
//! *Invariant:* both sides get the same data, and nothing of the other's results.

use std::path::Path;

use common::random::Random;
use device::LaunchConfig;
use goals::metric::{Launched, Metric};
use host::recorded::RecordedKernel;
use ptx::Module;
use simt::orders::DrawnOrder;
use simt::prediction::{Predicted, Prediction};
use simt::{Checks, Launch, LaunchError, Memory, Model, Program, Report};

use super::contract::{Argument, Contract, Role, Shape, Side, Sizes, whole};
use super::explain;
use super::modules;
use super::sizes;
use super::verdict::{Measured, Verdict};

/// Memory of a side.
const MEMORY: u64 = 4 << 30;

/// The most warp instructions of a launch of the reference.
const MOST_STEPS: u64 = 1 << 30;

/// A candidate may take so many times the warp instructions of the reference, and so many more.
const TIMES_STEPS: u64 = 256;
const MORE_STEPS: u64 = 1 << 20;

/// How many combinations of sizes run in drawn orders.
const IN_ORDERS: usize = 4;

/// The rule of a candidate that writes no output.
const NOTHING_COMPUTED: &str = "nothing_computed";

/// What is judged.
pub struct Request<'a> {
    pub contract: &'a Contract,
    /// The files of the reference and the candidate, and what they hold.
    pub reference: (&'a Path, &'a [u8]),
    pub candidate: (&'a Path, &'a [u8]),
    pub seed: u64,
    /// How many combinations of sizes, and how many drawn orders of each that has them.
    pub cases: usize,
    pub schedules: u64,
    pub model: &'static Model,
    /// Whether the verdict says where the candidate's cost arises.
    pub explains: bool,
    /// Called before a side runs.
    pub begins: &'a dyn Fn(Side),
}

/// The data of a call: the bytes of each argument.
type Data = Vec<Vec<u8>>;

/// What a call has left.
struct Left {
    /// The bytes of each argument afterwards.
    data: Data,
    /// Which elements of each nothing has written; of a checked call.
    unwritten: Vec<Vec<bool>>,
    reports: Vec<(String, Report)>,
}

/// A kernel's own fault, or what it lacks.
enum Failed {
    /// It was stopped.
    Stopped(String),
    /// It cannot be launched.
    Cannot(String),
}

/// How launches run.
#[derive(Clone, Copy)]
enum Mode<'a> {
    Checked,
    Plain,
    InOrder(&'a DrawnOrder),
    Timed(&'static Model),
}

/// A side at certain sizes.
struct Prepared<'a> {
    arguments: &'a [Argument],
    shapes: Vec<Shape>,
    memory: Memory,
    program: Program,
    /// The address of each buffer.
    addresses: Vec<Option<u64>>,
    steps: u64,
}

/// Judges. An error is the reference's or the contract's.
pub fn judge(request: &Request<'_>) -> Result<Verdict, String> {
    let Request { contract, reference, candidate, seed, .. } = *request;
    let mut verdict = Verdict {
        reference: reference.0.display().to_string(),
        candidate: candidate.0.display().to_string(),
        seed,
        ..Verdict::default()
    };
    let module = |(file, bytes), side| modules::of_file(file, bytes, &contract.kernels(side));
    let reference = module(reference, Side::Reference).map_err(|why| format!("the reference: {why}"))?;
    let mut random = Random::new(seed);
    verdict.sizes = sizes::drawn(contract.sizes.iter(), request.cases, &mut random);
    (request.begins)(Side::Candidate);
    let candidate = match module(candidate, Side::Candidate) {
        Ok(module) => module,
        Err(why) => {
            verdict.add("invalid", false, why, None);
            verdict.complete(request.model.name);
            return Ok(verdict);
        }
    };
    let cases = verdict.sizes.clone();
    let every = cases.len().div_ceil(IN_ORDERS);
    for (index, sizes) in cases.iter().enumerate() {
        let in_orders = index % every == 0;
        let calls = [drawn(contract, sizes, &mut random)?, drawn(contract, sizes, &mut random)?];
        let mut compared = Compared { request, sizes, calls: &calls, verdict: &mut verdict };
        (request.begins)(Side::Reference);
        let expected = compared.reference(&reference)?;
        (request.begins)(Side::Candidate);
        if compared.candidate(&candidate, &expected, in_orders) {
            verdict.right_at.push(sizes.clone());
        }
    }
    if let Some(largest) = cases.last() {
        verdict.measured_at = largest.clone();
        let data = drawn(contract, largest, &mut random)?;
        let sides = [(&reference, Side::Reference), (&candidate, Side::Candidate)];
        let [reference, candidate] =
            sides.map(|(module, side)| measured(request, module, side, largest, &data).unwrap_or_default());
        if request.explains {
            verdict.explanation = Some(explain::text(&recorded(request, &candidate), &verdict.candidate)?);
        }
        verdict.kernels.reference = of_kernels(reference);
        verdict.kernels.candidate = of_kernels(candidate);
    }
    verdict.complete(request.model.name);
    Ok(verdict)
}

/// What the reference has left after both calls, and how many warp instructions it took.
struct Expected {
    data: [Data; 2],
    /// Which elements it does not write.
    unwritten: Vec<Vec<bool>>,
    steps: u64,
}

/// Both sides at certain sizes.
struct Compared<'a> {
    request: &'a Request<'a>,
    sizes: &'a Sizes,
    calls: &'a [Data; 2],
    verdict: &'a mut Verdict,
}

impl Compared<'_> {
    fn reference(&self, module: &Module) -> Result<Expected, String> {
        let of_reference = |why: String| {
            let file = self.request.reference.0.display();
            format!("the reference, {file} (at {}): {why}", super::verdict::shown(self.sizes))
        };
        let told = |failed| match failed {
            Failed::Stopped(why) | Failed::Cannot(why) => of_reference(why),
        };
        let mut side =
            Prepared::new(self.request.contract, module, Side::Reference, self.sizes, MOST_STEPS).map_err(told)?;
        let first = side.call(&self.calls[0], Mode::Checked, None).map_err(told)?;
        if let Some(finding) = first.findings().next() {
            return Err(of_reference(finding));
        }
        if let Some(name) = side.changed_input(&self.calls[0], &first.data) {
            return Err(of_reference(format!("argument '{name}' changes: give it role = \"inout\"")));
        }
        let second = side.call(&self.calls[1], Mode::Plain, None).map_err(told)?;
        let steps = first.reports.iter().map(|(_, report)| report.counters().instructions_executed).max().unwrap_or(0);
        Ok(Expected { data: [first.data, second.data], unwritten: first.unwritten, steps })
    }

    /// Whether the candidate is right.
    fn candidate(&mut self, module: &Module, expected: &Expected, in_orders: bool) -> bool {
        let contract = self.request.contract;
        let steps = expected.steps.saturating_mul(TIMES_STEPS).saturating_add(MORE_STEPS);
        let prepared = Prepared::new(contract, module, Side::Candidate, self.sizes, steps);
        let Some(mut side) = self.unless_failed(prepared) else { return false };
        let first = side.call(&self.calls[0], Mode::Checked, None);
        let Some(first) = self.unless_failed(first) else { return false };
        self.verdict.calls += 1;
        if let Some(finding) = first.findings().next() {
            return self.wrong("finding", false, finding);
        }
        if let Some(name) = side.changed_input(&self.calls[0], &first.data) {
            let text = format!("argument '{name}' is an input, and the candidate changes it");
            return self.wrong("input_changed", false, text);
        }
        if let Some((rule, text)) = self.unwritten(&first, expected) {
            return self.wrong(rule, rule == NOTHING_COMPUTED, text);
        }
        if let Some(text) = self.difference(&first.data, &expected.data[0]) {
            return self.wrong("result", false, text);
        }
        // Outputs hold what the first call has left, as if it were to be returned again.
        let second = side.call(&self.calls[1], Mode::Plain, Some(&first.data));
        let Some(second) = self.unless_failed(second) else { return false };
        self.verdict.calls += 1;
        if let Some(text) = self.difference(&second.data, &expected.data[1]) {
            return match self.difference(&second.data, &first.data) {
                None => self.wrong("earlier_output", true, "a second call leaves the output of the first".to_owned()),
                Some(_) => self.wrong("second_call", false, format!("in a second call in the same memory, {text}")),
            };
        }
        !in_orders || self.in_orders(&mut side, expected)
    }

    /// Runs the first call in drawn orders. Returns whether all are right.
    fn in_orders(&mut self, side: &mut Prepared<'_>, expected: &Expected) -> bool {
        let mut points = 0;
        side.steps = DrawnOrder::step_limit(side.steps);
        for index in 0..self.request.schedules {
            let order = DrawnOrder::nth(self.request.seed, index, points);
            self.verdict.orders += 1;
            match side.call(&self.calls[0], Mode::InOrder(&order), None) {
                Ok(left) => {
                    let drawn = left.reports.iter().filter_map(|(_, report)| report.drawn());
                    points = drawn.map(|drawn| drawn.points).max().unwrap_or(0).max(points);
                    if let Some(text) = self.difference(&left.data, &expected.data[0]) {
                        return self.wrong("other_order", false, format!("in the order {order}, {text}"));
                    }
                }
                Err(Failed::Stopped(why) | Failed::Cannot(why)) => {
                    return self.wrong("other_order", false, format!("in the order {order}: {why}"));
                }
            }
        }
        true
    }

    /// What of the reference's output nothing writes, as a rule and a text.
    fn unwritten(&self, left: &Left, expected: &Expected) -> Option<(&'static str, String)> {
        let arguments = &self.request.contract.arguments;
        let outputs = arguments.iter().enumerate().filter(|(_, argument)| argument.role == Role::Out);
        let mut missing = Vec::new();
        let mut any = false;
        for (at, argument) in outputs {
            let is_missing = |list: &[bool], index: usize| list.get(index) == Some(&true);
            let length = left.data[at].len() / argument.element().bytes();
            let wanted = (0..length).filter(|&index| !is_missing(&expected.unwritten[at], index));
            let (lacks, has): (Vec<usize>, Vec<usize>) =
                wanted.partition(|&index| is_missing(&left.unwritten[at], index));
            any |= !has.is_empty();
            if let Some(first) = lacks.first() {
                missing.push(format!("{}[{first}] and {} more of its elements", argument.name, lacks.len() - 1));
            }
        }
        let text = format!("nothing writes {}", missing.join(", "));
        (!missing.is_empty()).then_some((if any { "not_written" } else { NOTHING_COMPUTED }, text))
    }

    /// How results differ, in a line.
    fn difference(&self, is: &Data, should_be: &Data) -> Option<String> {
        let contract = self.request.contract;
        let compared = contract.arguments.iter().enumerate();
        compared.filter(|(_, argument)| matches!(argument.role, Role::Out | Role::Inout)).find_map(|(at, argument)| {
            let element = argument.element();
            let tolerance = contract.tolerance.unwrap_or(element.tolerance());
            let found = element.difference(&is[at], &should_be[at], tolerance)?;
            let more = if found.count > 1 { format!(", and {} more differ", found.count - 1) } else { String::new() };
            Some(format!("{}[{}] is {}, not {}{more}", argument.name, found.index, found.is, found.should_be))
        })
    }

    fn unless_failed<T>(&mut self, result: Result<T, Failed>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(Failed::Stopped(why)) => self.wrong("stopped", false, why),
            Err(Failed::Cannot(why)) => self.wrong("invalid", false, why),
        };
        None
    }

    /// Adds a problem. Returns false.
    fn wrong(&mut self, rule: &str, trick: bool, text: String) -> bool {
        self.verdict.add(rule, trick, text, Some(self.sizes));
        false
    }
}

impl<'a> Prepared<'a> {
    fn new(contract: &'a Contract, module: &Module, side: Side, sizes: &Sizes, steps: u64) -> Result<Self, Failed> {
        let mut memory = Memory::new(MEMORY);
        let program = Program::load(module, &mut memory).map_err(|error| Failed::Cannot(error.to_string()))?;
        let mut shapes = contract.shapes(side, sizes).map_err(Failed::Cannot)?;
        for shape in &mut shapes {
            if let Some(known) = modules::kernel_named(module, &shape.kernel) {
                shape.kernel = known.to_owned();
            }
        }
        let mut addresses = Vec::new();
        for argument in &contract.arguments {
            let length = argument.length(sizes).map_err(Failed::Cannot)?;
            let bytes = length.map(|length| (length * argument.element().bytes()) as u64);
            let address = bytes.map(|bytes| memory.allocate(bytes)).transpose();
            addresses.push(address.map_err(|error| Failed::Cannot(error.to_string()))?);
        }
        Ok(Self { arguments: &contract.arguments, shapes, memory, program, addresses, steps })
    }

    /// Fills the buffers and launches. Outputs hold `before`, or, without it, nothing that a check
    /// counts as written.
    fn call(&mut self, data: &Data, mode: Mode<'_>, before: Option<&Data>) -> Result<Left, Failed> {
        let cannot = |error: simt::MemoryError| Failed::Cannot(error.to_string());
        for (at, argument) in self.arguments.iter().enumerate() {
            let Some(address) = self.addresses[at] else { continue };
            match (argument.role, before) {
                (Role::In | Role::Inout, _) => self.memory.write(address, &data[at]).map_err(cannot)?,
                (Role::Out, Some(before)) => self.memory.write(address, &before[at]).map_err(cannot)?,
                // In a drawn order, what an earlier run has left shall not look like a result.
                (Role::Out, None) if matches!(mode, Mode::InOrder(_)) => {
                    self.memory.fill(address, data[at].len() as u64, 0xa5).map_err(cannot)?;
                }
                (Role::Out | Role::Scratch, _) => {}
            }
        }
        let mut reports = Vec::new();
        for shape in &self.shapes {
            reports.push((shape.kernel.clone(), self.launch(shape, data, mode)?));
        }
        let mut left = Left { data: Vec::new(), unwritten: Vec::new(), reports };
        for (at, argument) in self.arguments.iter().enumerate() {
            let mut bytes = data[at].clone();
            let mut unwritten = Vec::new();
            if let Some(address) = self.addresses[at] {
                self.memory.read(address, &mut bytes).map_err(cannot)?;
                let element = argument.element().bytes();
                unwritten = self.memory.unwritten(address, element as u64, bytes.len() / element);
            }
            left.data.push(bytes);
            left.unwritten.push(unwritten);
        }
        Ok(left)
    }

    fn launch(&self, shape: &Shape, data: &Data, mode: Mode<'_>) -> Result<Report, Failed> {
        let bytes: Vec<Vec<u8>> = shape
            .arguments
            .iter()
            .map(|&at| self.addresses[at].map_or_else(|| data[at].clone(), |address| address.to_le_bytes().to_vec()))
            .collect();
        let arguments: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let launch = Launch {
            kernel: &shape.kernel,
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.shared,
            shared_limit: 227 << 10,
            arguments: &arguments,
            step_limit: self.steps,
            checks: if matches!(mode, Mode::Checked) { Checks::ALL } else { Checks::NONE },
            order: if let Mode::InOrder(order) = mode { Some(*order) } else { None },
            predicts: if let Mode::Timed(model) = mode { Some(model) } else { None },
            watch: matches!(mode, Mode::Timed(_)).then_some(explain::WATCH),
            ..Launch::default()
        };
        self.program.launch(&self.memory, &launch).map_err(|error| match error {
            LaunchError::Trap(trap) => Failed::Stopped(trap.to_string()),
            error => Failed::Cannot(error.to_string()),
        })
    }

    /// The first input that a call has changed.
    fn changed_input(&self, before: &Data, after: &Data) -> Option<&'a str> {
        let mut all = self.arguments.iter().zip(before.iter().zip(after));
        let found = all.find(|(argument, (before, after))| argument.role == Role::In && before != after);
        found.map(|(argument, _)| &*argument.name)
    }
}

impl Left {
    /// What the checks found.
    fn findings(&self) -> impl Iterator<Item = String> {
        self.reports.iter().flat_map(|(_, report)| report.findings()).map(ToString::to_string)
    }
}

/// Draws the data of a call.
fn drawn(contract: &Contract, sizes: &Sizes, random: &mut Random) -> Result<Data, String> {
    let each = contract.arguments.iter().map(|argument| {
        let element = argument.element();
        if let Some(value) = &argument.value {
            let value = value.evaluate(&|name| sizes.get(name).map(|&size| size as f64))?;
            return Ok(element.number(value));
        }
        let below = argument.below.as_ref().map(|text| whole(text, sizes, u64::MAX)).transpose()?;
        let length = argument.length(sizes)?.unwrap_or(1);
        Ok(match argument.role {
            Role::In | Role::Inout => element.draw(random, length, below, argument.scale.unwrap_or(1.0)),
            Role::Out | Role::Scratch => vec![0; length * element.bytes()],
        })
    });
    each.collect()
}

/// The launches of a call, with counters, requests and predicted times. `None` if they cannot run.
fn measured(request: &Request<'_>, module: &Module, side: Side, sizes: &Sizes, data: &Data) -> Option<Vec<Timed>> {
    (request.begins)(side);
    let mut side = Prepared::new(request.contract, module, side, sizes, MOST_STEPS).ok()?;
    let left = side.call(data, Mode::Timed(request.model), None).ok()?;
    Some(side.shapes.into_iter().zip(left.reports).map(|(shape, (_, report))| Timed { shape, report }).collect())
}

/// A launch, and what it counted.
struct Timed {
    shape: Shape,
    report: Report,
}

impl Timed {
    fn time(&self) -> Option<&Prediction> {
        match self.report.predicted() {
            Some(Predicted::Time(time)) => Some(time),
            _ => None,
        }
    }
}

/// The launches as those of another program, for their report.
fn recorded(request: &Request<'_>, launches: &[Timed]) -> Vec<RecordedKernel> {
    let of_launch = |timed: &Timed| {
        let Shape { kernel, grid, block, shared, .. } = &timed.shape;
        let config = LaunchConfig { dynamic_shared: *shared, ..LaunchConfig::new(*grid, *block) };
        let time = timed.time();
        RecordedKernel {
            kernel: kernel.clone(),
            module: request.candidate.0.display().to_string(),
            launches: 1,
            shapes: vec![(config, 1)],
            counted: Some(timed.report.clone()),
            predicted: time
                .and_then(|time| host::recorded::predicted(time.model, time.cold_us / 1e3, time.bound.name(), false)),
            ..RecordedKernel::default()
        }
    };
    launches.iter().map(of_launch).collect()
}

/// What each kernel counted in all of its launches.
fn of_kernels(launches: Vec<Timed>) -> Vec<Measured> {
    let mut kernels: Vec<(Vec<Launched>, Measured)> = Vec::new();
    for timed in launches {
        let time = timed.time().map(|time| time.cold_us);
        let kernel = device::names::shown(&timed.shape.kernel).into_owned();
        let launched = Launched { kernel: timed.shape.kernel, counters: timed.report.counters(), report: timed.report };
        match kernels.iter_mut().find(|(_, known)| known.kernel == kernel) {
            Some((all, known)) => {
                all.push(launched);
                known.predicted_us = known.predicted_us.zip(time).map(|(all, time)| all + time);
            }
            None => {
                let known = Measured { kernel, predicted_us: time, ..Measured::default() };
                kernels.push((vec![launched], known));
            }
        }
    }
    let counted = kernels.into_iter().map(|(launched, known)| {
        let all: Vec<&Launched> = launched.iter().collect();
        let metrics = Metric::all().filter(|metric| !metric.is_of_exercises());
        let counters = metrics.filter_map(|metric| Some((metric.name.to_owned(), metric.value(&all)?)));
        Measured { launches: launched.len() as u64, counters: counters.collect(), ..known }
    });
    counted.collect()
}
