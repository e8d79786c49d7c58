//! The report of a launch of `host run`, in each format. [`super`] calls it after a single launch;
//! `sequence` shares its parts. It writes to the output that it is given.
//!
//! As JSON: `{"kernel", "device", "correct", "counters", "faults", "buffers"}`. `"device"` is as in
//! `host devices`; `"correct"` is null, since there is nothing to compare with; `"counters"` is
//! null on a GPU (without `--counters`) and after a fault; `"output"` is what the kernel printed,
//! or null on a GPU, whose driver writes it to the standard output; `"buffers"` holds the elements
//! that `--print` requests, by the argument's number or the variable's name. Numbers that JSON
//! cannot hold (infinities and NaN) are null, and so are elements that nothing has written:
//! `"unwritten"` has the first and last of each run of these. With `--lines`, `"lines"` has the
//! counts of each line. A launch that was timed on a GPU also has `"useful_bytes"`, `"time_ms"`,
//! `"warm_time_ms"`, `"gbps"`, `"percent_of_memory_limit"`, `"timing"` and `"warm_timing"`, as a
//! lab's variant has them. A predicted time is `"predicted"`, as a lab's variant has it, and
//! `--why` adds `"conclusions"`. With `--schedules` and `--schedule`, `"orders"` is an
//! [`OrdersReport`]; with `--require` and `--goals`, `"goals"` is as [`crate::requirements`] says, and
//! with `--baseline` `"baseline"` as [`crate::baselines`] says.

use std::collections::BTreeMap;
use std::io::Write;

use device::{Counters, LaunchConfig, Properties, Result, names};
use serde::{Serialize, Serializer};
use serde_json::Value;
use simt::Printed;
use simt::counts::MetricValue;
use simt::requests::ArrayCounts;
use wording::{WIDTH, printable, printable_lines, wrapped};

use super::unwritten;
use super::value::Values;
use crate::faults::Fault;
use crate::lines::Lines;
use crate::orders::OrdersReport;
use crate::predicted::why;
use crate::report::{self, Format, Hottest, LaunchTimes, Metrics, RowPrediction, VariantReport, predicted_rows};
use crate::requirements::Verdict;
use crate::{listing, terminal, units};

/// Elements of a buffer per line of the table.
const ON_A_LINE: usize = 8;

/// The report of one launch.
pub struct Report<'a> {
    /// The PTX file.
    pub file: String,
    /// The kernel.
    pub kernel: &'a str,
    /// How it was launched.
    pub config: &'a LaunchConfig,
    /// The device it ran on.
    pub device: &'a Properties,
    /// What the simulator counted.
    pub counters: Option<Counters>,
    /// How long it took, if it was timed.
    pub times: Option<LaunchTimes>,
    /// How long a GPU would take, if the simulator predicts it.
    pub predicted: Option<RowPrediction>,
    /// Where warps would wait longest.
    pub hottest: Option<Hottest>,
    /// Whether the predicted time is to be explained.
    pub why: bool,
    /// The counts of each line, if requested.
    pub lines: Option<Lines>,
    /// How often each word is loaded, if that was counted.
    pub arrays: Vec<ArrayCounts>,
    /// Whether to draw what moves between the memories.
    pub chart: bool,
    /// The kernel's faults.
    pub faults: Vec<Fault>,
    /// Whether the last fault stopped it.
    pub stopped: bool,
    /// What the kernel printed, if known.
    pub printed: Option<Printed>,
    /// The buffers and variables to show.
    pub buffers: Vec<Shown>,
    /// What other orders of blocks and warps give, if asked for.
    pub orders: Option<OrdersReport>,
    /// What became of the goals of all launches.
    pub goals: Option<Verdict>,
}

/// A buffer or variable to show.
pub struct Shown {
    /// Its name in `--print`.
    pub name: String,
    /// Its title in the table.
    pub title: String,
    /// Its elements.
    pub values: Values,
    /// Which of them nothing has written; nothing if all were, or if it is not known.
    pub unwritten: Vec<bool>,
}

impl Shown {
    /// The elements as text.
    fn texts(&self) -> impl Iterator<Item = String> {
        let marked = |(index, text)| match self.unwritten.get(index) {
            Some(true) => unwritten::MARK.to_owned(),
            _ => text,
        };
        self.values.texts().enumerate().map(marked)
    }
}

/// Buffers in the JSON: by their names.
pub(super) struct Buffers<'a>(pub(super) &'a [Shown]);

impl Serialize for Buffers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        struct Known<'a>(&'a Shown);
        impl Serialize for Known<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                self.0.values.serialize_known(&self.0.unwritten, serializer)
            }
        }
        serializer.collect_map(self.0.iter().map(|shown| (&shown.name, Known(shown))))
    }
}

/// The first and last elements of each run of elements that nothing has written, by the buffers'
/// names; only buffers that have such.
pub(super) fn unwritten_runs(buffers: &[Shown]) -> BTreeMap<&str, Vec<[usize; 2]>> {
    let runs = buffers.iter().map(|shown| (shown.name.as_str(), unwritten::runs(&shown.unwritten)));
    runs.filter(|(_, runs)| !runs.is_empty()).collect()
}

/// A launch in the JSON of several.
#[derive(Serialize)]
pub(super) struct Launched<'a> {
    kernel: &'a str,
    #[serde(flatten)]
    times: Option<LaunchTimes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<&'a RowPrediction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conclusions: Vec<String>,
    counters: Option<Metrics<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<&'a Lines>,
    faults: &'a [Fault],
    output: Option<String>,
}

/// The JSON. Not a `Value`, which would turn each f32 into an f64 with many digits.
#[derive(Serialize)]
struct Json<'a> {
    kernel: &'a str,
    device: &'a Properties,
    correct: Option<bool>,
    #[serde(flatten)]
    times: Option<LaunchTimes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<&'a RowPrediction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conclusions: Vec<String>,
    counters: Option<Metrics<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<&'a Lines>,
    faults: &'a [Fault],
    output: Option<String>,
    buffers: Buffers<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unwritten: BTreeMap<&'a str, Vec<[usize; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<&'a OrdersReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goals: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Value>,
}

impl Report<'_> {
    /// Writes it. The table of a stopped launch is empty: the fault is the program's error.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Json => {
                let json = Json {
                    kernel: self.kernel,
                    device: self.device,
                    correct: None,
                    times: self.times,
                    predicted: self.predicted.as_ref(),
                    conclusions: self.conclusions(),
                    counters: self.counters.as_ref().map(Metrics),
                    lines: self.lines.as_ref(),
                    faults: &self.faults,
                    output: self.printed.as_ref().map(text_of),
                    buffers: Buffers(&self.buffers),
                    unwritten: unwritten_runs(&self.buffers),
                    orders: self.orders.as_ref(),
                    goals: self.goals.as_ref().and_then(Verdict::goals_json),
                    baseline: self.goals.as_ref().and_then(Verdict::baseline_json),
                };
                serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
                writeln!(out)?;
                out.flush()?;
                Ok(())
            }
            Format::Table => {
                self.write_printed(out)?;
                if self.stopped {
                    return Ok(());
                }
                self.write_table(out)?;
                self.write_orders(out)
            }
            _ if self.stopped => Ok(()),
            Format::Csv | Format::Markdown => {
                let rows =
                    self.rows().into_iter().chain(self.order_rows()).chain(self.goal_rows()).chain(self.buffer_rows());
                let rows = rows.map(Vec::from);
                listing::write(format, &["name", "value"], rows.collect(), Value::Null, out)
            }
        }
    }

    /// This launch in the JSON of several.
    pub(super) fn launched(&self) -> Launched<'_> {
        Launched {
            kernel: self.kernel,
            times: self.times,
            predicted: self.predicted.as_ref(),
            conclusions: self.conclusions(),
            counters: self.counters.as_ref().map(Metrics),
            lines: self.lines.as_ref(),
            faults: &self.faults,
            output: self.printed.as_ref().map(text_of),
        }
    }

    /// Names and values of the times and of the counters, and what the kernel printed.
    pub(super) fn rows(&self) -> Vec<[String; 2]> {
        let printed = self.printed.iter().map(text_of).filter(|text| !text.is_empty());
        let printed = printed.map(|text| ["output".to_owned(), text]);
        let times = self.times.iter().flat_map(LaunchTimes::rows);
        let predicted = self.predicted.iter().flat_map(predicted_rows);
        times.chain(predicted).chain(self.metrics(|_| true)).chain(printed).collect()
    }

    /// The launch as a row of this name, for the labs' columns.
    pub(super) fn row(&self, name: String) -> VariantReport {
        let timed = self.times.as_ref().map(LaunchTimes::variant).unwrap_or_default();
        VariantReport {
            name,
            counters: self.counters,
            arrays: self.arrays.clone(),
            predicted: self.predicted.clone(),
            hottest: self.hottest.clone(),
            stopped: self.faults.last().filter(|_| self.stopped).cloned(),
            ..timed
        }
    }

    /// Why it takes the time that is predicted, if that is asked for.
    pub(super) fn conclusions(&self) -> Vec<String> {
        if self.why { why::of(&self.row(names::shown(self.kernel).into_owned())) } else { Vec::new() }
    }

    /// Names and values of the elements of the buffers.
    pub(super) fn buffer_rows(&self) -> impl Iterator<Item = [String; 2]> {
        self.buffers.iter().flat_map(|shown| {
            let name = &shown.name;
            shown.texts().enumerate().map(move |(index, text)| [format!("buffer {name}[{index}]"), text])
        })
    }

    /// How many other orders ran, and how many of them give another result.
    pub(super) fn order_rows(&self) -> Vec<[String; 2]> {
        let of = |orders: &OrdersReport| [("orders tried", orders.tried), ("orders that differ", orders.different)];
        self.orders.iter().flat_map(of).map(|(name, value)| [name.to_owned(), value.to_string()]).collect()
    }

    /// The goals, and whether they are met.
    pub(super) fn goal_rows(&self) -> Vec<[String; 2]> {
        self.goals.iter().flat_map(Verdict::rows).collect()
    }

    /// What became of the goals.
    pub(super) fn write_goals(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(goals) = &self.goals {
            write!(out, "{}", goals.text())?;
        }
        out.flush()?;
        Ok(())
    }

    /// That all orders give the same result, if they do. Otherwise that is the program's error.
    pub(super) fn write_orders(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(orders) = self.orders.as_ref().filter(|orders| orders.right()) {
            writeln!(out, "\n{}", wrapped(&orders.sentences(), terminal::width().min(WIDTH), "", ""))?;
            out.flush()?;
        }
        Ok(())
    }

    /// What the kernel printed, with an empty line after it. What would do more to a terminal than
    /// fill it is escaped; JSON and CSV have it unchanged.
    fn write_printed(&self, out: &mut dyn Write) -> Result<()> {
        let text = self.printed_text();
        if !text.is_empty() {
            let end = if text.ends_with('\n') { "\n" } else { "\n\n" };
            write!(out, "{text}{end}")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Names and values of the requested counters.
    fn metrics(&self, wanted: impl Fn(MetricValue) -> bool) -> Vec<[String; 2]> {
        let metrics = self.counters.as_ref().map(Counters::metrics).unwrap_or_default();
        let text = |value| match value {
            MetricValue::Count(count) => count.to_string(),
            MetricValue::Ratio(Some(ratio)) => units::three_digits(ratio),
            MetricValue::Ratio(None) => String::new(),
        };
        let wanted = metrics.into_iter().filter(|metric| wanted(metric.value));
        wanted.map(|metric| [metric.name.to_owned(), text(metric.value)]).collect()
    }

    /// What was launched, in a line.
    pub(super) fn what(&self) -> String {
        format!("{} of {}: {}", names::shown(self.kernel), self.file, shape_of(self.config))
    }

    /// Where it ran, in a line.
    pub(super) fn on(&self) -> String {
        let model = match &self.predicted {
            Some(RowPrediction::Time(time)) => Some(time.model),
            _ => None,
        };
        let counters = if self.counters.is_some() { "; counters: from the simulator, the same launch" } else { "" };
        match (self.device.is_gpu(), model) {
            (false, model) => report::on_simulator(self.device, model),
            (true, None) => format!("on {}{counters}", self.device.name),
            (true, Some(model)) => format!("on {}{counters}\n{}", self.device.name, report::beside(model)),
        }
    }

    /// The counters that are not zero, with their names.
    pub(super) fn known_metrics(&self) -> Vec<[String; 2]> {
        self.metrics(|value| !matches!(value, MetricValue::Count(0) | MetricValue::Ratio(None)))
    }

    /// What the kernel printed, for people.
    pub(super) fn printed_text(&self) -> String {
        self.printed.as_ref().map(|printed| printable_lines(&text_of(printed))).unwrap_or_default()
    }

    fn write_table(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{}", printable(&self.what()))?;
        writeln!(out, "{}", self.on())?;
        if let Some(times) = &self.times {
            writeln!(out, "{}", times.how())?;
        }
        let metrics = self.known_metrics();
        let width = |column: usize| metrics.iter().map(|metric| metric[column].len()).max().unwrap_or(0);
        let (names, values) = (width(0), width(1));
        let summary = report::of_launch(self.row(printable(self.kernel)), self.device);
        if !summary.is_empty() {
            write!(out, "\n{summary}")?;
        }
        let why: String = self.conclusions().iter().map(|line| wording::paragraph(line) + "\n").collect();
        if !why.is_empty() {
            write!(out, "\n{why}")?;
        }
        if !metrics.is_empty() {
            writeln!(out, "\nAll counters that are not zero, by Nsight Compute's names:")?;
        }
        for [name, value] in &metrics {
            writeln!(out, "{name:names$} {value:>values$}")?;
        }
        let row = self.row(printable(&names::shown(self.kernel)));
        if let Some(chart) = report::memory_chart(std::slice::from_ref(&row), None).filter(|_| self.chart) {
            write!(out, "\n{}", picture::memory_text(&chart, terminal::width(), terminal::paint()))?;
        }
        if let Some(maps) = report::element_maps(std::slice::from_ref(&row), None) {
            write!(out, "\n{}", picture::elements_text(&maps, terminal::width(), terminal::paint()))?;
        }
        if let Some(lines) = &self.lines {
            let width = terminal::width();
            let heading = lines.heading();
            let (first, rest) = heading.split_at(1);
            write!(out, "\n{}{rest}:\n{}\n{}", first.to_uppercase(), lines.text(width), lines.legend(width))?;
        }
        for shown @ Shown { title, values, .. } in &self.buffers {
            let length = values.bytes().len() / values.ty().bytes();
            writeln!(out, "\n{}, {}[{length}]:", printable(title), values.ty().name())?;
            let digits = length.saturating_sub(1).to_string().len();
            let mut texts = shown.texts().enumerate().peekable();
            while let Some(&(first, _)) = texts.peek() {
                let line: Vec<_> = texts.by_ref().take(ON_A_LINE).map(|(_, text)| text).collect();
                writeln!(out, "{first:digits$}: {}", line.join(" "))?;
            }
        }
        out.flush()?;
        Ok(())
    }
}

/// Blocks, threads and shared memory of a launch, in words.
pub(crate) fn shape_of(config: &LaunchConfig) -> String {
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let &LaunchConfig { grid, block, cluster, cooperative, dynamic_shared, .. } = config;
    let shared = match dynamic_shared {
        0 => String::new(),
        bytes => format!(", {bytes} bytes of dynamic shared memory"),
    };
    let clusters = cluster.map_or(String::new(), |cluster| format!(", in clusters of {} blocks", shape(cluster)));
    let at_once = if cooperative { ", all at once" } else { "" };
    format!("{} blocks of {} threads{clusters}{at_once}{shared}", shape(grid), shape(block))
}

/// The printed text, and how much was lost.
fn text_of(printed: &Printed) -> String {
    match printed.lost {
        0 => printed.text(),
        lost => format!("{}\n[{lost} more bytes were printed, and are not kept]\n", printed.text()),
    }
}
