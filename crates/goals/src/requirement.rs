//! Requirements: goals that the kernels of any program must meet, as `--require` and a file of
//! goals name them. Pure.
//!
//! A requirement is a [`Goal`] that needs no solution beside it:
//!
//! - without `of KERNEL` it is about all launches together; `of NAME` is about that kernel, by its
//!   name in the PTX or in the source; `of NAME*` is about each kernel whose name fits;
//! - its bound may name other metrics, and `launches`, `blocks`, `threads` (of all launches), or
//!   `grid.x` to `block.z` (if all launches have the same);
//! - its model must be the one that counts: a GPU's name for its caches, and for times the one for
//!   which they are predicted.

use serde::Deserialize;
use simt::Model;
use simt::counts::InstructionInfo;
use wording::number;

use crate::goal::Goal;
use crate::metric::{FINDINGS, Launched, Metric, PREDICTED, REGISTERS};
use crate::seen::Seen;

/// A goal that launches must meet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The goal.
    pub that: Goal,
    /// What to do if it is missed.
    pub why: Option<String>,
}

/// A file of requirements: a `[[goal]]` each, as in an exercise's `goals.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    goal: Vec<Requirement>,
}

/// What one kernel did in all of its launches.
pub struct Kernel<'a> {
    /// Its name in the source, without parameters.
    pub name: String,
    /// The file of its module.
    pub module: String,
    /// Its name in the PTX and its counters; `None` if no launch ended.
    pub launched: Option<&'a Launched>,
    /// Launches that ended.
    pub launches: u64,
    /// The shapes of these launches.
    pub shapes: Vec<Shape>,
    /// The predicted time of all launches.
    pub predicted_us: Option<f64>,
    /// The registers of a thread, if `ptxas` was asked.
    pub registers: Option<u32>,
    /// Faults.
    pub findings: u64,
}

/// Launches of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// How many launches there were.
    pub launches: u64,
}

impl Shape {
    /// Blocks of all of these launches.
    fn blocks(&self) -> f64 {
        product(self.grid) * self.launches as f64
    }

    fn threads(&self) -> f64 {
        self.blocks() * product(self.block)
    }
}

fn product(sides: [u32; 3]) -> f64 {
    sides.iter().map(|&side| f64::from(side)).product()
}

/// On what kernels ran.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The model with whose caches they are counted.
    pub counts: Option<&'static Model>,
    /// The model for which times are predicted.
    pub predicts: &'static Model,
    /// Whether `ptxas` is there, which allocates registers.
    pub has_ptxas: bool,
}

/// What became of a requirement.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The goal's text.
    pub goal: String,
    /// Why it matters.
    pub why: Option<String>,
    /// The kernel, if the requirement is about each of several.
    pub kernel: Option<String>,
    /// Whether it is met.
    pub met: bool,
    /// The value, or why there is no value to compare.
    pub value: Result<f64, String>,
    /// The bound.
    pub bound: f64,
    /// The line that contributes most, and its share.
    pub blamed: Option<Line>,
    /// The access to draw.
    pub seen: Option<Seen>,
}

/// A line of a source, and what it contributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The source.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The metric's value for this line alone.
    pub value: f64,
}

impl Judged {
    /// What was wanted and what came out, without the outcome: `loads.sectors <= 8: 32, line 7 of
    /// copy.cu has 24`.
    pub fn text(&self) -> String {
        let kernel = self.kernel.as_ref().map(|kernel| format!(" ({kernel})")).unwrap_or_default();
        let value = match &self.value {
            Ok(value) => number(*value),
            Err(why) => why.clone(),
        };
        let bound = number(self.bound);
        let bound = match self.goal.ends_with(&format!(" {bound}")) || self.value.is_err() {
            true => String::new(),
            false => format!(", bound {bound}"),
        };
        let blamed = self.blamed.as_ref().filter(|_| !self.met);
        let blamed = blamed.map(|Line { file, line, value }| format!("; {file}:{line} has {}", number(*value)));
        let why = self.why.as_ref().filter(|_| !self.met).map(|why| format!(". {}", why.trim()));
        format!("{}{kernel}: {value}{bound}{}{}", self.goal, blamed.unwrap_or_default(), why.unwrap_or_default())
    }
}

/// The requirements in a file's text.
///
/// # Errors
///
/// What is wrong, with its line.
pub fn of_file(text: &str) -> Result<Vec<Requirement>, String> {
    let File { goal } = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{line}{}", error.message())
    })?;
    Ok(goal)
}

impl Requirement {
    /// From the text of its goal.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        Ok(Self { that: text.parse()?, why: None })
    }

    /// Whether times have to be predicted for it.
    pub fn predicts(&self) -> bool {
        let named = |name: &str| name == PREDICTED;
        named(self.that.counted.metric.name) || self.that.bound.uses(&named)
    }

    /// Whether registers have to be counted for it.
    pub fn is_of_registers(&self) -> bool {
        self.that.counted.metric.name == REGISTERS || self.that.bound.uses(&|name| name == REGISTERS)
    }

    /// Whether a picture would show how it is missed.
    pub fn is_drawn(&self) -> bool {
        Seen::draws(self.that.counted.metric)
    }

    /// Fails if launches on this machine say nothing about it.
    ///
    /// # Errors
    ///
    /// What is wrong, and what to do.
    pub fn check(&self, machine: Machine) -> Result<(), String> {
        let Goal { model, counted, bound, .. } = &self.that;
        let metric = counted.metric;
        if metric.is_of_exercises() {
            return Err(format!("{}: only exercises have it", metric.name));
        }
        if let Some(name) = bound.first(&|name| !VARIABLES.contains(&name) && known(name).is_none()) {
            return Err(format!("unknown name '{name}': a bound may name metrics, and {}", VARIABLES.join(", ")));
        }
        if metric.is_of_model() && machine.counts.is_none() {
            let name = model.map_or("MODEL", |model| model.name);
            return Err(format!("{} is counted on a GPU's model: give --device sim:{name}", metric.name));
        }
        if bound.uses(&|name| known(name).is_some_and(|metric| metric.is_of_model())) && machine.counts.is_none() {
            return Err(format!("'{bound}' is counted on a GPU's model: give --device sim:MODEL"));
        }
        if self.is_of_registers() && !machine.has_ptxas {
            return Err("ptxas allocates registers, and is not installed: name it in COALESCE_PTXAS".to_owned());
        }
        let Some(model) = model else { return Ok(()) };
        let is_for_chip = [PREDICTED, REGISTERS].contains(&metric.name);
        let counts = if is_for_chip { Some(machine.predicts) } else { machine.counts };
        match counts.is_some_and(|counts| counts.name == model.name) {
            true => Ok(()),
            false => Err(format!("the goal is about {0}: give --device sim:{0}", model.name)),
        }
    }

    /// Fails if the report of one launch says nothing about it.
    pub(crate) fn check_of_launch(&self) -> Result<(), String> {
        let Goal { model, counted, bound, .. } = &self.that;
        if model.is_some() || counted.kernel.is_some() {
            return Err("a report is of one launch on one device: leave out the model and the kernel".to_owned());
        }
        if counted.metric.is_of_exercises() {
            return Err(format!("{}: only exercises have it", counted.metric.name));
        }
        if self.is_of_registers() {
            return Err("a report has no registers: `coalesce run` and `host run` ask ptxas".to_owned());
        }
        match bound.first(&|name| name != LAUNCHES && known(name).is_none()) {
            Some(name) => Err(format!("unknown name '{name}': a bound may name metrics")),
            None => Ok(()),
        }
    }

    /// Judges what kernels did: once, or once for each kernel if there are several. A requirement
    /// about a kernel that was not launched is missed.
    pub fn judge(&self, kernels: &[Kernel<'_>]) -> Vec<Judged> {
        let Some(wanted) = &self.that.counted.kernel else {
            return vec![self.of(&kernels.iter().collect::<Vec<_>>(), None)];
        };
        let chosen: Vec<&Kernel<'_>> = kernels.iter().filter(|kernel| kernel.is_named(wanted)).collect();
        match (wanted.contains('*'), chosen.is_empty()) {
            (_, true) => vec![self.without("no such kernel was launched")],
            (true, _) => {
                let mut names: Vec<&String> = chosen.iter().map(|kernel| &kernel.name).collect();
                names.sort_unstable();
                names.dedup();
                let of =
                    |name: &String| chosen.iter().copied().filter(|kernel| kernel.name == *name).collect::<Vec<_>>();
                names.into_iter().map(|name| self.of(&of(name), Some(name.clone()))).collect()
            }
            (false, _) => vec![self.of(&chosen, None)],
        }
    }

    fn without(&self, why: &str) -> Judged {
        Judged {
            goal: self.that.to_string(),
            why: self.why.clone(),
            kernel: None,
            met: false,
            value: Err(why.to_owned()),
            bound: f64::NAN,
            blamed: None,
            seen: None,
        }
    }

    fn of(&self, kernels: &[&Kernel<'_>], kernel: Option<String>) -> Judged {
        let Goal { counted, operator, bound, .. } = &self.that;
        let metric = counted.metric;
        let launched: Vec<&Launched> = kernels.iter().filter_map(|kernel| kernel.launched).collect();
        let named = |name: &str| variable(kernels, name).or_else(|| value(known(name)?, kernels, &launched));
        let bound = match bound.evaluate(&named) {
            Ok(bound) if bound.is_finite() => bound,
            Ok(_) => return Judged { kernel, ..self.without(&format!("the bound '{bound}' is no number here")) },
            Err(_) => {
                let why = format!("'{bound}' names what these launches have not, or not alike");
                return Judged { kernel, ..self.without(&why) };
            }
        };
        let Some(value) = value(metric, kernels, &launched) else {
            let what = match metric.name {
                PREDICTED => "no time was predicted",
                REGISTERS => "ptxas compiles no such kernel",
                _ => "nothing was counted",
            };
            return Judged { kernel, bound, ..self.without(what) };
        };
        let met = operator.holds(value, bound);
        let module = kernels.first().map_or("", |kernel| &kernel.module);
        let worst =
            if met { None } else { metric.worst(&launched, |info| Some(line_of(info, module)), operator.wants_more()) };
        let seen = worst
            .as_ref()
            .and_then(|(at, _)| Seen::worst_where(metric, &launched, |info| line_of(info, module) == *at));
        let blamed = worst.map(|((file, line), value)| Line { file: file.to_owned(), line, value });
        Judged { kernel, met, value: Ok(value), bound, blamed, seen, ..self.without("") }
    }
}

impl Kernel<'_> {
    /// The costliest access that a metric counts, in lines of this number or in any. `None` if the
    /// metric is about no access, or the launches kept none.
    pub fn costliest(&self, metric: &str, line: Option<u32>) -> Option<Seen> {
        let is_there = |info: &InstructionInfo| line.is_none_or(|line| line_of(info, "").1 == line);
        Seen::worst_where(known(metric)?, &[self.launched?], is_there)
    }

    /// Whether this name, in which `*` stands for anything, is the kernel's.
    fn is_named(&self, name: &str) -> bool {
        let in_ptx = self.launched.is_some_and(|launched| fits(&launched.kernel, name));
        // `transpose::padded`, also as `padded`.
        let last = self.name.rsplit("::").next().unwrap_or_default();
        in_ptx || fits(&self.name, name) || fits(last, name)
    }
}

/// Whether a name fits a pattern, in which `*` stands for anything.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

/// The number of launches.
const LAUNCHES: &str = "launches";

/// What a bound may name besides metrics.
const VARIABLES: [&str; 9] =
    [LAUNCHES, "blocks", "threads", "grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z"];

/// The metric of this name, if launches of a program have it.
fn known(name: &str) -> Option<Metric> {
    Metric::named(name).filter(|metric| !metric.is_of_exercises())
}

fn variable(kernels: &[&Kernel<'_>], name: &str) -> Option<f64> {
    let shapes = || kernels.iter().flat_map(|kernel| &kernel.shapes);
    let same = |side: fn(&Shape) -> [u32; 3], axis: usize| {
        let first = side(shapes().next()?)[axis];
        shapes().all(|shape| side(shape)[axis] == first).then(|| f64::from(first))
    };
    match name {
        LAUNCHES => Some(kernels.iter().map(|kernel| kernel.launches).sum::<u64>() as f64),
        "blocks" => Some(shapes().fold(0.0, |sum, shape| sum + shape.blocks())),
        "threads" => Some(shapes().fold(0.0, |sum, shape| sum + shape.threads())),
        _ => {
            let (of, axis) = name.split_once('.')?;
            let axis = ["x", "y", "z"].iter().position(|it| *it == axis)?;
            match of {
                "grid" => same(|shape| shape.grid, axis),
                "block" => same(|shape| shape.block, axis),
                _ => None,
            }
        }
    }
}

/// A metric's value over these kernels, whose counters are `launched`.
fn value(metric: Metric, kernels: &[&Kernel<'_>], launched: &[&Launched]) -> Option<f64> {
    match metric.name {
        FINDINGS => Some(kernels.iter().map(|kernel| kernel.findings).sum::<u64>() as f64),
        PREDICTED if kernels.is_empty() => None,
        PREDICTED => kernels.iter().map(|kernel| kernel.predicted_us).sum(),
        REGISTERS => kernels.iter().map(|kernel| kernel.registers).max().flatten().map(f64::from),
        LAUNCHES => variable(kernels, LAUNCHES),
        _ => metric.value(launched),
    }
}

/// The file and line of an instruction: of the source if the PTX names it, else of the module.
pub fn line_of<'i>(info: &'i InstructionInfo, module: &'i str) -> (&'i str, u32) {
    info.source.as_ref().map_or((module, info.ptx_line), |source| (&*source.file, source.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(counts: Option<&str>) -> Machine {
        Machine { counts: counts.and_then(Model::named), predicts: Model::named("hopper").unwrap(), has_ptxas: false }
    }

    fn kernel(name: &str, shapes: &[([u32; 3], [u32; 3], u64)]) -> Kernel<'static> {
        let shapes: Vec<Shape> =
            shapes.iter().map(|&(grid, block, launches)| Shape { grid, block, launches }).collect();
        Kernel {
            name: name.to_owned(),
            module: String::new(),
            launched: None,
            launches: shapes.iter().map(|shape| shape.launches).sum(),
            shapes,
            predicted_us: Some(3.0),
            registers: Some(40),
            findings: 2,
        }
    }

    /// What is said of a goal about these kernels, each with whether it is met.
    fn said(goal: &str, kernels: &[Kernel<'_>]) -> Vec<(bool, String)> {
        let judged = Requirement::new(goal).unwrap().judge(kernels);
        judged.iter().map(|judged| (judged.met, judged.text())).collect()
    }

    #[test]
    fn names_may_be_patterns() {
        for (name, pattern) in [("copy", "copy"), ("copy", "*"), ("copy4", "copy*"), ("a_b_c", "a*b*c"), ("aba", "a*a")]
        {
            assert!(fits(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [("copy", "cop"), ("copy4", "copy"), ("a", "a*a"), ("abc", "*b"), ("", "?*")] {
            assert!(!fits(name, pattern), "{name} {pattern}");
        }
    }

    #[test]
    fn all_launches_one_kernel_or_each_of_several() {
        let kernels = [
            kernel("ns::copy", &[([4, 1, 1], [32, 2, 1], 3)]),
            kernel("copy4", &[([1, 1, 1], [32, 1, 1], 1), ([1, 1, 1], [64, 1, 1], 1)]),
        ];
        assert_eq!(said("launches == 5", &kernels), [(true, "launches == 5: 5".to_owned())]);
        assert_eq!(
            said("findings of copy <= launches", &kernels),
            [(true, "findings of copy <= launches: 2, bound 3".to_owned())]
        );
        let each = said("findings of copy* < launches", &kernels);
        assert_eq!(each[0], (false, "findings of copy* < launches (copy4): 2, bound 2".to_owned()));
        assert_eq!(each[1], (true, "findings of copy* < launches (ns::copy): 2, bound 3".to_owned()));
        assert_eq!(said("registers <= launches", &kernels)[0].1, "registers <= launches: 40, bound 5");
        assert_eq!(said("predicted.us >= blocks", &kernels)[0].1, "predicted.us >= blocks: 6, bound 14");
        assert_eq!(said("launches >= threads", &kernels)[0].1, "launches >= threads: 5, bound 864");
        let (met, text) = &said("launches of copy == block.x * grid.y", &kernels)[0];
        assert!(!met && text.ends_with(": 3, bound 32"), "{text}");
        // The blocks of `copy4` differ.
        let (met, text) = &said("launches of copy4 == block.x", &kernels)[0];
        assert!(!met && text.ends_with("'block.x' names what these launches have not, or not alike"), "{text}");
        let (met, text) = &said("launches of paste == 0", &kernels)[0];
        assert!(!met && text.ends_with(": no such kernel was launched"), "{text}");
        let (met, text) = &said("launches <= 1 / (launches - 5)", &kernels)[0];
        assert!(!met && text.ends_with(": the bound '1 / (launches - 5)' is no number here"), "{text}");
    }

    #[test]
    fn what_a_machine_does_not_count_is_refused() {
        for (goal, counts, wrong) in [
            ("unsafe == 0", None, "unsafe: only exercises have it"),
            ("copies == 0", None, "copies: only exercises have it"),
            ("launches <= solution", None, "unknown name 'solution': a bound may name metrics, and launches, blocks, "),
            ("occupancy >= 50", None, "occupancy is counted on a GPU's model: give --device sim:MODEL"),
            ("fermi: occupancy >= 50", None, "occupancy is counted on a GPU's model: give --device sim:fermi"),
            ("launches >= occupancy", None, "'occupancy' is counted on a GPU's model: give --device sim:MODEL"),
            ("fermi: occupancy >= 50", Some("hopper"), "the goal is about fermi: give --device sim:fermi"),
            ("fermi: loads.sectors >= 50", None, "the goal is about fermi: give --device sim:fermi"),
            ("registers <= 64", None, "ptxas allocates registers, and is not installed: name it in COALESCE_PTXAS"),
            ("launches < registers", None, "ptxas allocates registers, and is not installed"),
            ("fermi: predicted.us < 50", None, "the goal is about fermi: give --device sim:fermi"),
        ] {
            let error = Requirement::new(goal).unwrap().check(machine(counts)).unwrap_err();
            assert!(error.starts_with(wrong), "{goal}: {error}");
        }
        for (goal, counts) in [
            ("hopper: predicted.us < 50", None),
            ("fermi: occupancy >= 50", Some("fermi")),
            ("loads.sectors of copy* <= 1.05 * loads.bytes / 32 + launches", None),
        ] {
            assert_eq!(Requirement::new(goal).unwrap().check(machine(counts)), Ok(()), "{goal}");
        }
    }

    #[test]
    fn a_file_has_goals_and_their_reasons() {
        let text = "[[goal]]\nthat = \"launches == 1\"\nwhy = \"Fuse them.\"\n\n[[goal]]\nthat = \"findings == 0\"\n";
        let goals = of_file(text).unwrap();
        assert_eq!(goals.len(), 2);
        let judged = &goals[0].judge(&[])[0];
        assert_eq!(judged.text(), "launches == 1: 0. Fuse them.");
        for (text, wrong) in [
            ("[[goal]]\nthat = \"launches\"", "line 2: 'launches': a goal needs"),
            ("[[goal]]\nthat = \"launches == 1\"\nmore = 1", "line 3: unknown field `more`"),
            ("goal = 3", "line 1: "),
            ("[[goal]", "line 1: "),
        ] {
            let error = of_file(text).unwrap_err();
            assert!(error.starts_with(wrong), "{error}");
        }
    }
}
