//! The report of kernels that another program launched, from what was recorded of them, in each
//! format. The program `coalesce` calls it.
//!
//! As JSON: `{"device", "kernels"}`. Each of `"kernels"` has `{"kernel", "name", "module",
//! "launches", "shapes", "seconds", "predicted", "counters", "lines", "findings", "orders",
//! "stopped"}`: `"shapes"` says how often the kernel was launched with which blocks and threads,
//! `"seconds"` how long the simulator took, `"findings"` what the checks found (`{"kind", "text",
//! "file", "line", "count"}`), and `"orders"` how many launches in other orders were compared. The
//! other fields are as in the JSON of `host run`. `"goals"` is there if goals were given
//! ([`crate::requirements`]), `"baseline"` if there is one to compare with ([`crate::baselines`]).

use std::io::Write;
use std::path::{Path, PathBuf};

use device::{Counters, LaunchConfig, Properties, Result, names};
use goals::requirement::{Kernel, Shape};
use serde::Serialize;
use serde_json::Value;
use simt::counts::MetricValue;
use simt::prediction::Bound;
use simt::{Model, Report};
use wording::printable;

use crate::ci::{Case, Problem};
use crate::faults::Findings;
use crate::lines::{LineCounts, LineFlags, Lines};
use crate::report::{self, Format, Launched, Metrics, RowPrediction, Together, VariantReport};
use crate::requirements::{Requirements, Verdict};
use crate::{listing, run, terminal, units};

/// A kernel in all of its launches.
#[derive(Clone, Debug, Default)]
pub struct RecordedKernel {
    /// Its name in the PTX.
    pub kernel: String,
    /// The name of its PTX file.
    pub module: String,
    /// Launches that ended.
    pub launches: u64,
    /// How it was launched, and how often.
    pub shapes: Vec<(LaunchConfig, u64)>,
    /// How long the simulator took.
    pub seconds: f64,
    /// The counters of its instructions, if a launch ended.
    pub counted: Option<Report>,
    /// The predicted time of all launches.
    pub predicted: Option<RowPrediction>,
    /// The registers of a thread, if a goal is about them.
    pub registers: Option<u32>,
    /// What the checks found.
    pub findings: Vec<RecordedFault>,
    /// How often they found something else.
    pub findings_beyond: u64,
    /// Launches in other orders, whose results were compared.
    pub orders: u64,
    /// The fault that stopped it.
    pub stopped: Option<RecordedFault>,
}

/// A fault of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordedFault {
    /// Its kind, as a word that programs can compare.
    pub kind: String,
    /// The message for people.
    pub text: String,
    /// The source file, if the PTX says.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// How often it occurred.
    pub count: u64,
}

/// What is to be shown.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Which lines are listed or drawn.
    pub lines: LineFlags,
    /// Further folders of sources.
    pub sources: Vec<PathBuf>,
    /// The goals, if there are any.
    pub goals: Option<Requirements>,
}

/// The predicted time of launches that take so many milliseconds when they are added up, cold or
/// `warm`; `limit` names what limits the longest.
pub fn predicted(model: &'static Model, time_ms: f64, limit: &str, warm: bool) -> Option<RowPrediction> {
    let all = [
        Bound::Dram,
        Bound::L2,
        Bound::Lsu,
        Bound::SharedMemory,
        Bound::Issue,
        Bound::Fp32,
        Bound::Integer,
        Bound::Fp64,
        Bound::SpecialFunctions,
        Bound::Constants,
        Bound::Textures,
        Bound::Latency,
        Bound::Barriers,
        Bound::Dependences,
        Bound::Launch,
        Bound::Link,
    ];
    let limit = all.into_iter().find(|bound| bound.name() == limit)?;
    Some(RowPrediction::of_sum(model, time_ms, limit, Together::Added { warm }))
}

/// Why launches have no predicted time.
pub fn not_predicted(why: String) -> RowPrediction {
    RowPrediction::Not(why.into())
}

#[derive(Serialize)]
struct Json<'a> {
    device: &'a Properties,
    kernels: Vec<JsonKernel<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goals: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Value>,
}

#[derive(Serialize)]
struct JsonKernel<'a> {
    kernel: &'a str,
    name: String,
    module: &'a str,
    launches: u64,
    shapes: Vec<JsonShape>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<&'a RowPrediction>,
    counters: Option<Metrics<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Lines>,
    findings: &'a [RecordedFault],
    findings_beyond: u64,
    #[serde(skip_serializing_if = "is_none")]
    orders: u64,
    stopped: Option<&'a str>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct JsonShape {
    grid: [u32; 3],
    block: [u32; 3],
    cluster: Option<[u32; 3]>,
    cooperative: bool,
    dynamic_shared: u32,
    launches: u64,
}

impl RecordedKernel {
    /// Its name in the source, without the parameters.
    pub fn name(&self) -> String {
        short(&names::shown(&self.kernel))
    }

    fn counters(&self) -> Option<Counters> {
        self.counted.as_ref().map(Report::counters)
    }

    fn row(&self) -> VariantReport {
        VariantReport {
            name: printable(&self.name()),
            counters: self.counters(),
            predicted: self.predicted.clone(),
            ..VariantReport::default()
        }
    }

    /// Its lines, as far as they are wanted.
    fn lines(&self, wanted: &Wanted) -> Option<Lines> {
        wanted.lines.of_launch(self.counted.as_ref()?, &self.module, &wanted.sources)
    }

    /// All of its lines, for a page.
    fn all_lines(&self, wanted: &Wanted) -> Option<Lines> {
        let mut counts = LineCounts::default();
        counts.add(self.counted.as_ref()?);
        Some(Lines::all(counts, &self.module, &wanted.sources))
    }

    /// How it was launched, in a sentence.
    fn about(&self) -> String {
        let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let shape = |(config, count): &(LaunchConfig, u64)| format!("{} ({})", run::shape_of(config), times(*count));
        let shapes: Vec<String> = self.shapes.iter().take(4).map(shape).collect();
        let more = if self.shapes.len() > 4 { "; and others" } else { "" };
        let stopped = self.stopped.as_ref().map_or(String::new(), |fault| format!("; stopped: {}", fault.text));
        format!("{}: {}{more}{stopped}", self.name(), shapes.join("; "))
    }

    /// Its findings, in a sentence.
    fn found(&self) -> Option<String> {
        let count = self.findings.len() as u64 + self.findings_beyond;
        let what = if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") };
        (count > 0).then(|| format!("The checks found {what} in {}: see above.", self.name()))
    }

    /// That other orders leave the same results, in a sentence.
    fn same_in_other_orders(&self) -> Option<String> {
        let what = if self.orders == 1 { "1 launch" } else { &format!("{} launches", self.orders) };
        let same = self.orders > 0 && self.findings.is_empty();
        same.then(|| format!("{}: {what} in other orders of blocks and warps gave the same results.", self.name()))
    }

    /// Names and values of its counters.
    fn metrics(&self, wanted: impl Fn(MetricValue) -> bool) -> Vec<[String; 2]> {
        let metrics = self.counters().map(|counters| counters.metrics()).unwrap_or_default();
        let text = |value| match value {
            MetricValue::Count(count) => count.to_string(),
            MetricValue::Ratio(Some(ratio)) => units::three_digits(ratio),
            MetricValue::Ratio(None) => String::new(),
        };
        let wanted = metrics.into_iter().filter(|metric| wanted(metric.value));
        wanted.map(|metric| [metric.name.to_owned(), text(metric.value)]).collect()
    }
}

/// The cases that CI systems show: each kernel has no faults.
pub fn cases(kernels: &[RecordedKernel]) -> Vec<Case> {
    let case = |kernel: &RecordedKernel| {
        let name = kernel.name();
        let problem = |fault: &RecordedFault| Problem {
            rule: fault.kind.clone(),
            kernel: name.clone(),
            text: fault.text.clone(),
            place: fault.file.clone().zip(fault.line),
        };
        Case::of_faults(&name, kernel.findings.iter().chain(&kernel.stopped).map(problem).collect())
    };
    kernels.iter().map(case).collect()
}

/// What became of the goals.
pub fn judge(kernels: &[RecordedKernel], goals: &Requirements) -> Verdict {
    let launched = kernels.iter().map(|kernel| {
        let report = kernel.counted.clone()?;
        Some(goals::metric::Launched { kernel: kernel.kernel.clone(), counters: report.counters(), report })
    });
    let launched: Vec<_> = launched.collect();
    let shape = |&(config, launches): &(LaunchConfig, u64)| Shape { grid: config.grid, block: config.block, launches };
    let kernels = kernels.iter().zip(&launched).map(|(kernel, launched)| {
        let faults = kernel.findings.iter().map(|fault| fault.count).sum::<u64>() + kernel.findings_beyond;
        Kernel {
            name: kernel.name(),
            // The module's name has the number of the process.
            module: "PTX".to_owned(),
            launched: launched.as_ref(),
            launches: kernel.launches,
            shapes: kernel.shapes.iter().map(shape).collect(),
            predicted_us: match &kernel.predicted {
                Some(RowPrediction::Time(time)) => Some(1e3 * time.time_ms),
                _ => None,
            },
            registers: kernel.registers,
            findings: faults + u64::from(kernel.stopped.is_some()),
        }
    });
    goals.judge(&kernels.collect::<Vec<_>>())
}

/// Writes the report of these kernels, which the program `about` launched. Returns what became of
/// the goals.
///
/// # Errors
///
/// [`device::Error::Output`] when writing fails.
pub fn write(
    kernels: &[RecordedKernel],
    device: &Properties,
    (about, wanted, format): (&str, &Wanted, Format),
    out: &mut dyn Write,
) -> Result<Option<Verdict>> {
    let verdict = wanted.goals.as_ref().map(|goals| judge(kernels, goals));
    match format {
        Format::Json => {
            let counters: Vec<Option<Counters>> = kernels.iter().map(RecordedKernel::counters).collect();
            let kernels = kernels.iter().zip(&counters).map(|(kernel, counters)| json(kernel, counters, wanted));
            let json = Json {
                device,
                kernels: kernels.collect(),
                goals: verdict.as_ref().and_then(Verdict::goals_json),
                baseline: verdict.as_ref().and_then(Verdict::baseline_json),
            };
            serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        Format::Table => {
            write_table(kernels, device, (about, wanted), out)?;
            if let Some(verdict) = &verdict {
                write!(out, "{}", verdict.text())?;
            }
        }
        Format::Csv | Format::Markdown => {
            let rows = kernels.iter().flat_map(|kernel| {
                let launches = ["launches".to_owned(), kernel.launches.to_string()];
                let predicted = kernel.predicted.iter().flat_map(report::predicted_rows);
                let all = std::iter::once(launches).chain(predicted).chain(kernel.metrics(|_| true));
                all.map(|[name, value]| vec![kernel.kernel.clone(), name, value])
            });
            let goals = verdict.iter().flat_map(Verdict::rows).map(|[goal, met]| vec![String::new(), goal, met]);
            listing::write(format, &["kernel", "name", "value"], rows.chain(goals).collect(), Value::Null, out)?;
        }
    }
    out.flush()?;
    Ok(verdict)
}

fn json<'a>(kernel: &'a RecordedKernel, counters: &'a Option<Counters>, wanted: &Wanted) -> JsonKernel<'a> {
    let shape = |(config, launches): &(LaunchConfig, u64)| JsonShape {
        grid: config.grid,
        block: config.block,
        cluster: config.cluster,
        cooperative: config.cooperative,
        dynamic_shared: config.dynamic_shared,
        launches: *launches,
    };
    JsonKernel {
        kernel: &kernel.kernel,
        name: kernel.name(),
        module: &kernel.module,
        launches: kernel.launches,
        shapes: kernel.shapes.iter().map(shape).collect(),
        seconds: kernel.seconds,
        predicted: kernel.predicted.as_ref(),
        counters: counters.as_ref().map(Metrics),
        lines: kernel.lines(wanted),
        findings: &kernel.findings,
        findings_beyond: kernel.findings_beyond,
        orders: kernel.orders,
        stopped: kernel.stopped.as_ref().map(|fault| &*fault.text),
    }
}

/// A demangled name without its parameters.
pub(crate) fn short(name: &str) -> String {
    // A name such as `(anonymous namespace)::k` begins with a parenthesis.
    name.split('(').next().filter(|short| !short.is_empty()).unwrap_or(name).to_owned()
}

/// Kernels and launches of the program, and where they ran.
fn heading(kernels: &[RecordedKernel], device: &Properties, about: &str) -> [String; 2] {
    let launches: u64 = kernels.iter().map(|kernel| kernel.launches + u64::from(kernel.stopped.is_some())).sum();
    let count = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}es").replace("kerneles", "kernels"),
    };
    let predicted = kernels.iter().find_map(|kernel| match &kernel.predicted {
        Some(RowPrediction::Time(time)) => Some(time.model),
        _ => None,
    });
    [
        format!("{} of {} by {about}", count(launches, "launch"), count(kernels.len() as u64, "kernel")),
        report::on_simulator(device, predicted),
    ]
}

fn write_table(
    kernels: &[RecordedKernel],
    device: &Properties,
    (about, wanted): (&str, &Wanted),
    out: &mut dyn Write,
) -> Result<()> {
    for line in heading(kernels, device, about) {
        writeln!(out, "{}", printable(&line))?;
    }
    let rows: Vec<VariantReport> =
        kernels.iter().filter(|kernel| kernel.counted.is_some()).map(RecordedKernel::row).collect();
    if !rows.is_empty() {
        write!(out, "\n{}", report::of_kernels(rows, device))?;
    }
    writeln!(out)?;
    for kernel in kernels {
        writeln!(out, "{}", wording::paragraph(&printable(&kernel.about())))?;
    }
    let found = kernels.iter().filter_map(RecordedKernel::found);
    for found in found.chain(kernels.iter().filter_map(RecordedKernel::same_in_other_orders)) {
        writeln!(out, "{}", wording::paragraph(&printable(&found)))?;
    }
    if wanted.lines.wanted() {
        let width = terminal::width();
        let mut legend = None;
        for kernel in kernels {
            let Some(lines) = kernel.lines(wanted) else { continue };
            writeln!(out, "\n{}, {}:\n{}", printable(&kernel.name()), lines.heading(), lines.text(width))?;
            legend = Some(lines.legend(width));
        }
        if let Some(legend) = legend {
            write!(out, "{legend}")?;
        }
    }
    Ok(())
}

/// Fails if the picture of a line is wanted that made no access in any kernel.
///
/// # Errors
///
/// [`device::Error::Request`].
pub fn check_pictured(kernels: &[RecordedKernel], wanted: &Wanted) -> Result<()> {
    let lines: Vec<Lines> = kernels.iter().filter_map(|kernel| kernel.lines(wanted)).collect();
    wanted.lines.check_pictured(lines.iter())
}

/// Writes the report as a web page, whole or not at all.
///
/// # Errors
///
/// [`device::Error::File`].
pub fn write_page(
    kernels: &[RecordedKernel],
    device: &Properties,
    (about, wanted): (&str, &Wanted),
    path: &Path,
) -> Result<()> {
    let launched = kernels.iter().filter(|kernel| kernel.counted.is_some()).map(|kernel| Launched {
        row: kernel.row(),
        on_page: kernel.all_lines(wanted),
        findings: Findings::default(),
        metrics: kernel.metrics(|value| !matches!(value, MetricValue::Count(0) | MetricValue::Ratio(None))),
        printed: String::new(),
    });
    let view = report::of_launches(launched.collect(), Vec::new(), device);
    let [what, place] = heading(kernels, device, about);
    let mut details = vec![place];
    details.extend(kernels.iter().map(RecordedKernel::about));
    details.extend(kernels.iter().flat_map(|kernel| kernel.findings.iter().map(|fault| fault.text.clone())));
    report::write_launches((about, &what, &details), view, None, path)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_are_short() {
        assert_eq!(short("__main__::add(Array<float, 1>, int)"), "__main__::add");
        assert_eq!(short("add"), "add");
        assert_eq!(short("(anonymous namespace)::k(int)"), "(anonymous namespace)::k(int)");
    }
}
