//! Baselines: `--save-baseline` and `--baseline` of `host run` and of the program `coalesce`, and
//! `coalesce compare`. The crate `baseline` has the file and compares; here are the flags, and what
//! is said of the outcome.
//!
//! As JSON, in `"baseline"`: `{"before", "compared", "changes", "new", "removed", "renamed",
//! "reshaped"}`. Each of `"changes"` has `{"kernel", "counter", "before", "after", "verdict",
//! "lines"}`, where `"verdict"` is `worse`, `allowed` or `better`, and `"lines"` are those that
//! changed most, each with `{"at", "by"}`. The others are names of kernels.

use std::io::Write;
use std::path::{Path, PathBuf};

use baseline::{Allowed, Baseline, Change, Comparison, LineChange, Verdict};
use clap::Args;
use common::output_file;
use device::input_file::Kind;
use device::{Error, Result};
use maud::html;
use serde_json::{Value, json};
use webpage::Place;
use wording::{number, printable, several};

use crate::ci::{Case, CiFlags, Problem};
use crate::report::{self, Format, Text};
use crate::{listing, recorded};

/// The flags of runs.
#[derive(Args, Clone, Debug, Default)]
pub struct BaselineFlags {
    /// Fail if a counter of a kernel is worse than in this file, which --save-baseline wrote
    #[arg(long, value_name = "FILE.json")]
    pub baseline: Option<PathBuf>,
    /// How much worse than in the baseline counters may be, as 1%, or one counter, as
    /// instructions=5%; may be repeated
    #[arg(long, value_name = "[COUNTER=]PERCENT", requires = "baseline")]
    pub allow: Vec<Allowed>,
    /// Write the counters of the kernels to this file, for --baseline and `coalesce compare`
    #[arg(long, value_name = "FILE.json")]
    pub save_baseline: Option<PathBuf>,
}

/// The longest file that is read from a stream, which may never end.
const LONGEST: usize = 64 << 20;

const JSON: Kind = Kind {
    name: "JSON",
    refuses: |bytes, _| (bytes.len() > LONGEST).then_some("it is longer than 64 MiB"),
    other: |_| None,
};

/// The baseline in a file.
///
/// # Errors
///
/// [`Error::File`] if it holds something else.
pub fn read(path: &Path) -> Result<Baseline> {
    Baseline::read(&JSON.read(path)?).map_err(|error| Error::file(path, printable(&error)))
}

/// A baseline to compare with.
#[derive(Clone, Debug)]
pub struct Against {
    /// The file's name.
    file: String,
    before: Baseline,
    allowed: Vec<Allowed>,
}

impl BaselineFlags {
    /// Reads the baseline, before anything runs on this device.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if it is no baseline or the new one cannot be written; [`Error::Request`] if
    /// it is of another device.
    pub fn read(&self, device: &str) -> Result<Option<Against>> {
        self.save_baseline.as_deref().map_or(Ok(()), output_file::check)?;
        let Some(path) = &self.baseline else { return Ok(None) };
        let before = read(path)?;
        if before.device != device {
            let of = printable(&before.device);
            let problem = format!("{} is of --device {of}, and this run of {device}", path.display());
            return Err(Error::request("--baseline", problem));
        }
        Ok(Some(Against { file: path.display().to_string(), before, allowed: self.allow.clone() }))
    }
}

impl Against {
    /// Whether times have to be predicted.
    pub fn predicts(&self) -> bool {
        self.before.predicts()
    }

    /// Compares what kernels counted.
    pub fn compare(&self, after: &Baseline) -> Outcome {
        Outcome { before: self.file.clone(), comparison: Comparison::of(&self.before, after, &self.allowed) }
    }
}

/// How kernels compare with a baseline.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The baseline's file.
    before: String,
    comparison: Comparison,
}

/// The columns of a table.
const TITLES: [&str; 7] = ["kernel", "counter", "before", "after", "change", "lines", "is"];

impl Outcome {
    /// Whether nothing is worse than is allowed.
    pub fn met(&self) -> bool {
        self.worse().next().is_none()
    }

    /// What is worse than is allowed.
    pub fn worse(&self) -> impl Iterator<Item = &Change> {
        self.comparison.worse()
    }

    /// A table of what changed, and the rest in sentences.
    pub fn text(&self) -> String {
        self.listed(Format::Table)
    }

    /// As a table for a terminal or in Markdown.
    fn listed(&self, format: Format) -> String {
        let is_table = format == Format::Table;
        let code = |text: String| if is_table || text.is_empty() { text } else { format!("`{text}`") };
        let mut out = format!("{}\n", wording::paragraph(&self.summary()));
        if !self.comparison.changes.is_empty() {
            let rows = self.comparison.changes.iter().map(|change| {
                let [kernel, counter, before, after, percent, lines, is] =
                    self.cells(change, if is_table { "\n" } else { ", " });
                let cells = [code(kernel), counter, before, after, percent, code(lines), is];
                // A bar ends a cell of Markdown.
                cells.map(|cell| if is_table { cell } else { cell.replace('|', "\\|") }).to_vec()
            });
            let mut table = Vec::new();
            // A vector takes everything.
            let _ = listing::write(format, &TITLES, rows.collect(), Value::Null, &mut table);
            out += &format!("\n{}", String::from_utf8_lossy(&table));
        }
        let notes = self.notes(&code);
        if !notes.is_empty() {
            let first = if is_table { "" } else { "- " };
            let notes = notes.iter().map(|note| format!("{}\n", wording::wrapped(note, wording::WIDTH, first, "  ")));
            out += &format!("\n{}", notes.collect::<String>());
        }
        out
    }

    /// What is compared, and how it comes out.
    fn summary(&self) -> String {
        let Comparison { changes, compared, .. } = &self.comparison;
        let kernels = several(*compared, "kernel");
        let before = printable(&self.before);
        let counts = [Verdict::Worse, Verdict::Allowed, Verdict::Better].map(|verdict| {
            let count = changes.iter().filter(|change| change.verdict == verdict).count();
            (count > 0).then(|| format!("{} {}", several(count, "counter"), verdict.word()))
        });
        let said: Vec<String> = counts.into_iter().flatten().collect();
        match said.is_empty() {
            true => format!("{kernels} compared with {before}: all counters are the same."),
            false => format!("{kernels} compared with {before}: {}.", said.join(", ")),
        }
    }

    /// What a table does not show, in sentences.
    fn notes(&self, code: &dyn Fn(String) -> String) -> Vec<String> {
        let Comparison { new, removed, renamed, reshaped, .. } = &self.comparison;
        let shown = |name: &String| code(self.short(name));
        let list = |what: &str, all: &[String]| {
            (!all.is_empty()).then(|| format!("{what}: {}.", all.iter().map(shown).collect::<Vec<_>>().join(", ")))
        };
        let renamed = renamed.iter().map(|[before, after]| format!("Renamed: {} to {}.", shown(before), shown(after)));
        let mut notes: Vec<String> = renamed.collect();
        notes.extend(list("Launched in other shapes, or otherwise often", reshaped));
        notes.extend(list("Not in the baseline", new));
        notes.extend(list("In the baseline alone", removed));
        notes
    }

    /// A kernel's name without its parameters, unless another has the same.
    fn short(&self, name: &str) -> String {
        let Comparison { changes, new, removed, renamed, reshaped, .. } = &self.comparison;
        let all = changes.iter().map(|change| &change.kernel).chain(new).chain(removed).chain(reshaped);
        let short = recorded::short(name);
        let is_alone = all.chain(renamed.as_flattened()).all(|other| other == name || recorded::short(other) != short);
        printable(if is_alone { &short } else { name })
    }

    fn cells(&self, change: &Change, between: &str) -> [String; 7] {
        let Change { kernel, counter, before, after, verdict, lines } = change;
        let lines: Vec<String> = lines.iter().map(|line| printable(&line.to_string())).collect();
        [
            self.short(kernel),
            counter.clone(),
            number(*before),
            number(*after),
            change.percent(),
            lines.join(between),
            verdict.word().to_owned(),
        ]
    }

    /// The error if something is worse: in a sentence below a table, else with each change.
    pub fn error(&self, is_table: bool) -> Option<String> {
        let count = self.worse().count();
        if count == 0 {
            return None;
        }
        let verb = if count == 1 { "is" } else { "are" };
        let than = printable(&self.before);
        Some(match is_table {
            true => format!("error: {} {verb} worse than in {than}\n", several(count, "counter")),
            false => {
                let each = |change: &Change| format!("error: worse than in {than}: {}\n", printable(&change.text()));
                self.worse().map(each).collect()
            }
        })
    }

    /// The case that CI systems show: no counter is worse.
    pub fn case(&self) -> Case {
        let before = Path::new(&self.before).file_name().unwrap_or_default().display();
        let problem = |change: &Change| Problem {
            rule: "baseline".to_owned(),
            kernel: change.kernel.clone(),
            text: format!("worse than in {before}: {}", change.text()),
            place: change.lines.first().and_then(LineChange::place),
        };
        let name = format!("no counter is worse than in {before}");
        Case { about: "baseline".to_owned(), name, problems: self.worse().map(problem).collect() }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let Comparison { changes, compared, new, removed, renamed, reshaped } = &self.comparison;
        let change = |change: &Change| {
            let lines = change.lines.iter().map(|line| json!({"at": line.at, "by": line.by})).collect::<Vec<_>>();
            json!({
                "kernel": change.kernel,
                "counter": change.counter,
                "before": change.before,
                "after": change.after,
                "verdict": change.verdict.word(),
                "lines": lines,
            })
        };
        json!({
            "before": self.before,
            "compared": compared,
            "changes": changes.iter().map(change).collect::<Vec<_>>(),
            "new": new,
            "removed": removed,
            "renamed": renamed,
            "reshaped": reshaped,
        })
    }

    /// Names and values, for rows: the kernel's counter, and what became of it.
    pub fn rows(&self) -> impl Iterator<Item = [String; 2]> {
        self.comparison.changes.iter().map(|change| {
            let Change { kernel, counter, before, after, verdict, .. } = change;
            [format!("{kernel}: {counter}"), format!("{before} to {after}: {}", verdict.word())]
        })
    }

    /// Writes a web page.
    fn write_page(&self, details: &[String], path: &Path) -> Result<()> {
        let cells = |change: &Change| {
            let values = [None, None, Some(change.before), Some(change.after), None, None, None];
            let class = match change.verdict {
                Verdict::Worse => "slower",
                Verdict::Allowed => "unsure",
                Verdict::Better => "faster",
            };
            let last = values.len() - 1;
            let cells = self.cells(change, ", ").into_iter().zip(values).enumerate();
            let cell = |(column, (text, value))| Text { text, value, class: if column == last { class } else { "" } };
            cells.map(cell).collect::<Vec<Text>>()
        };
        let rows: Vec<Vec<Text>> = self.comparison.changes.iter().map(cells).collect();
        let place = Place::alone();
        let notes = self.notes(&|name| name);
        let content = html! {
            p.says { (webpage::numbers(&self.summary())) }
            @if !rows.is_empty() { (report::of_texts(&TITLES, &rows, &place.named("What changed"))) }
            @if !notes.is_empty() { ul { @for note in &notes { li { (note) } } } }
        };
        let about = "What do the kernels count more or less of?";
        let main = place.card("What changed", &content);
        report::write_text(&webpage::Page { title: "Two baselines compared", about, details, main }, path)
    }
}

/// Compare two baselines: what rose or fell from the first to the second
///
/// The exit code is 1 if a counter is worse than is allowed.
#[derive(Args, Clone, Debug)]
pub struct CompareFlags {
    /// The earlier baseline, as --save-baseline wrote it
    #[arg(value_name = "BEFORE.json")]
    before: PathBuf,
    /// The later one
    #[arg(value_name = "AFTER.json")]
    after: PathBuf,
    /// How much worse counters may be, as 1%, or one counter, as instructions=5%; may be repeated
    #[arg(long, value_name = "[COUNTER=]PERCENT")]
    allow: Vec<Allowed>,
    /// The format: table, json, csv or markdown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    format: Format,
    /// Also write it in Markdown
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Also write it as a web page
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    #[command(flatten)]
    ci: CiFlags,
}

/// Compares two baselines. Returns the error if something is worse.
///
/// # Errors
///
/// [`Error::File`] for a file that is no baseline or cannot be written; [`Error::Request`] if they
/// are of different devices.
pub fn compare(flags: &CompareFlags, out: &mut dyn Write) -> Result<Option<String>> {
    let [before, after] = [read(&flags.before)?, read(&flags.after)?];
    if before.device != after.device {
        let devices = format!("one is of {}, the other of {}", printable(&before.device), printable(&after.device));
        return Err(Error::request("compare", format!("{devices}: compare baselines of one device")));
    }
    let comparison = Comparison::of(&before, &after, &flags.allow);
    let outcome = Outcome { before: flags.before.display().to_string(), comparison };
    let files = [("--markdown", &flags.markdown), ("--html", &flags.html)];
    flags.ci.check(files.into_iter().filter_map(|(flag, file)| Some((flag, file.as_deref()?))))?;
    flags.ci.write(&[outcome.case()])?;
    if let Some(path) = &flags.markdown {
        output_file::write_whole(path, |out| out.write_all(outcome.listed(Format::Markdown).as_bytes()))?;
    }
    if let Some(path) = &flags.html {
        let side = |when: &str, path: &Path| format!("{when}: {}", path.display());
        let details =
            [side("before", &flags.before), side("after", &flags.after), format!("counted on {}", after.device)];
        outcome.write_page(&details, path)?;
    }
    match flags.format {
        Format::Table | Format::Markdown => write!(out, "{}", outcome.listed(flags.format))?,
        Format::Json => writeln!(out, "{:#}", outcome.json())?,
        Format::Csv => {
            let rows = outcome.comparison.changes.iter().map(|change| outcome.cells(change, ", ").to_vec());
            listing::write(flags.format, &TITLES, rows.collect(), Value::Null, out)?;
        }
    }
    out.flush()?;
    Ok(outcome.error(flags.format == Format::Table))
}
