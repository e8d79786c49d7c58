//! `--lines`: the source of a kernel with what each of its lines did.
//!
//! The lines are those that `.loc` in the PTX names: of Rust, or whatever the kernel was written in. PTX that names none is
//! listed by its own lines. The numbers are the simulator's.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::json;
use simt::{InstructionCounters, Report, SourceLine};

use crate::device::Device;
use crate::error::{Error, Result, printable};
use crate::flag_values::whole_number;
use crate::report::Format;
use crate::units;

/// A line that did nothing is shown if it stands between two that did something and are at most this far apart.
const NEAR: u32 = 4;

/// No source file is longer.
const LONGEST_FILE: u64 = 16 << 20;

/// Columns of the listing; the source has what the numbers leave of them.
const WIDTH: usize = 100;

const TITLES: &str = concat!(
    "              warp active          sectors per      bank\n",
    "  line instructions  lanes requests     request conflicts\n",
);

const LEGEND: &str = "\
Requests are those to global and local memory; bank conflicts are the wavefronts of shared memory
beyond those that the same accesses would need without conflicts.
";

/// Flags of every subcommand that launches kernels.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct LineFlags {
    /// Show the kernel's source with the counters of each line (simulator, or GPU with --counters)
    #[arg(long)]
    lines: bool,
    /// Of these, show only the N worst, worst first: most sectors and wavefronts, then most instructions
    #[arg(long, value_name = "N", requires = "lines", value_parser = whole_number(1, u64::MAX))]
    hot: Option<u64>,
}

/// The lines of a launch that did something.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    rows: Vec<Line>,
    /// The texts of the lines of each file that was found, by their numbers.
    sources: BTreeMap<Arc<str>, BTreeMap<u32, String>>,
    /// Warp instructions that come from no line.
    elsewhere: u64,
    /// Whether the worst line is the first.
    sorted: bool,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    place: SourceLine,
    counted: InstructionCounters,
}

impl LineFlags {
    /// Whether the lines have a place in this format.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`] when they have none.
    pub fn check_format(self, format: Format) -> Result<()> {
        match format {
            Format::Csv | Format::Markdown if self.lines => {
                Err(Error::flag("--lines", "this format has no place for them; use --format table or json"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the launches of a device are counted, alongside on the simulator or on itself.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`] when they are not, and lines are wanted.
    pub fn check_counted(self, counted: bool) -> Result<()> {
        match counted || !self.lines {
            true => Ok(()),
            false => Err(Error::flag("--lines", "a GPU counts no lines; give --counters, too, or --device sim")),
        }
    }

    /// Whether lines are to be shown.
    pub fn wanted(self) -> bool {
        self.lines
    }

    /// The lines of the device's last launch, if they are wanted. `ptx` names the PTX file.
    pub fn of_last_launch(self, device: &Device, ptx: &str) -> Option<Lines> {
        let report = device.last_report().filter(|_| self.lines)?;
        let mut counts = LineCounts::default();
        counts.add(&report);
        self.of(counts, ptx)
    }

    /// The lines of these launches, if they are wanted.
    pub fn of(self, counts: LineCounts, ptx: &str) -> Option<Lines> {
        self.lines.then(|| Lines::of(counts, ptx, self.hot))
    }
}

/// What the lines of kernels did, in one launch or in several.
#[derive(Clone, Debug, Default)]
pub struct LineCounts {
    by_source: BTreeMap<SourceLine, InstructionCounters>,
    /// For PTX that names no source: by its own lines.
    by_ptx: BTreeMap<u32, InstructionCounters>,
    /// The texts of those lines, also of those between them.
    ptx: BTreeMap<u32, String>,
    /// Warp instructions in all.
    executed: u64,
}

impl LineCounts {
    /// Adds what a launch did.
    pub fn add(&mut self, report: &Report) {
        let counted = report.by_source_line();
        if counted.is_empty() {
            for (line, counters) in report.by_ptx_line() {
                *self.by_ptx.entry(line).or_default() += counters;
            }
            self.ptx.extend(report.instructions().map(|row| (row.info.ptx_line, row.info.text.to_string())));
        }
        for (line, counters) in counted {
            *self.by_source.entry(line).or_default() += counters;
        }
        self.executed += report.counters().instructions_executed;
    }
}

/// What a line costs: sectors and wavefronts, then instructions.
fn cost(counted: &InstructionCounters) -> (u64, u64) {
    let moved = counted.global.sectors + counted.local.sectors + counted.shared.wavefronts;
    (moved, counted.executed)
}

fn quotient(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

fn requests(counted: &InstructionCounters) -> u64 {
    counted.global.requests + counted.local.requests
}

fn sectors_per_request(counted: &InstructionCounters) -> Option<f64> {
    quotient(counted.global.sectors + counted.local.sectors, requests(counted))
}

fn active_lanes(counted: &InstructionCounters) -> Option<f64> {
    quotient(counted.active_lanes, counted.executed)
}

impl Lines {
    fn of(counts: LineCounts, ptx: &str, hot: Option<u64>) -> Self {
        let LineCounts { by_source, by_ptx, ptx: texts, executed } = counts;
        let mut sources: BTreeMap<Arc<str>, BTreeMap<u32, String>> = BTreeMap::new();
        for place in by_source.keys() {
            if !sources.contains_key(&place.file) {
                sources.insert(place.file.clone(), read_source(Path::new(&*place.file)).unwrap_or_default());
            }
        }
        let mut counted = by_source;
        let file: Arc<str> = ptx.into();
        sources.insert(file.clone(), texts);
        counted.extend(by_ptx.into_iter().map(|(line, counters)| (SourceLine { file: file.clone(), line }, counters)));
        let elsewhere = executed - counted.values().map(|counted| counted.executed).sum::<u64>();
        let mut rows: Vec<Line> = counted.into_iter().map(|(place, counted)| Line { place, counted }).collect();
        if let Some(most) = hot {
            // Stable: of two that cost the same, the one that stands first.
            rows.sort_by_key(|row| std::cmp::Reverse(cost(&row.counted)));
            rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        Self { rows, sources, elsewhere, sorted: hot.is_some() }
    }

    fn source(&self, place: &SourceLine) -> Option<&str> {
        self.sources.get(&place.file)?.get(&place.line).map(String::as_str)
    }

    /// The listing for people.
    pub fn text(&self) -> String {
        let mut text = TITLES.to_owned();
        let mut before: Option<&SourceLine> = None;
        for Line { place, counted } in &self.rows {
            match before.filter(|before| before.file == place.file) {
                None => text += &format!("{}\n", printable(&place.file)),
                Some(_) if self.sorted => {}
                Some(before) if place.line - before.line <= NEAR => {
                    for line in before.line + 1..place.line {
                        let between = SourceLine { file: place.file.clone(), line };
                        self.push_line(&mut text, &between, [const { String::new() }; 5]);
                    }
                }
                Some(_) => text += "    ...\n",
            }
            before = Some(place);
            self.push_line(&mut text, place, cells(counted));
        }
        if self.elsewhere > 0 {
            text += &format!("{} warp instructions come from no line that the PTX names.\n", self.elsewhere);
        }
        text + LEGEND
    }

    fn push_line(&self, text: &mut String, place: &SourceLine, cells: [String; 5]) {
        let [instructions, lanes, requests, sectors, conflicts] = cells;
        let numbers =
            format!("{:>6} {instructions:>12} {lanes:>6} {requests:>8} {sectors:>11} {conflicts:>9}  ", place.line);
        let source = self.source(place).unwrap_or_default().replace('\t', "    ");
        // Half the indentation shows the shape in little room; lines that stand alone need none.
        let code = source.trim_start();
        let indentation = if self.sorted { 0 } else { (source.len() - code.len()) / 2 };
        let source = " ".repeat(indentation) + code;
        let source: String = printable(&source).chars().take(WIDTH.saturating_sub(numbers.len())).collect();
        *text += (numbers + &source).trim_end();
        text.push('\n');
    }
}

/// A line's numbers; a dash where there is nothing of which they could be.
fn cells(counted: &InstructionCounters) -> [String; 5] {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    [
        counted.executed.to_string(),
        or_dash(active_lanes(counted).map(|lanes| format!("{lanes:.1}"))),
        or_dash((requests(counted) > 0).then(|| requests(counted).to_string())),
        or_dash(sectors_per_request(counted).map(units::three_digits)),
        or_dash((counted.shared.requests > 0).then(|| counted.shared.bank_conflicts.to_string())),
    ]
}

/// As a list of objects: file, line, source, instructions, active_lanes, requests, sectors_per_request, bank_conflicts.
impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|Line { place, counted }| {
            json!({
                "file": &*place.file,
                "line": place.line,
                "source": self.source(place),
                "instructions": counted.executed,
                "active_lanes": active_lanes(counted),
                "requests": requests(counted),
                "sectors_per_request": sectors_per_request(counted),
                "bank_conflicts": counted.shared.bank_conflicts,
            })
        }))
    }
}

/// The lines of a source file by their numbers, if it is found. A relative path is looked for in the current folder, in those
/// above it, and in those above the program: one of them is the workspace that the PTX was made in.
pub(crate) fn read_source(path: &Path) -> Option<BTreeMap<u32, String>> {
    let current = std::env::current_dir().ok();
    let program = std::env::current_exe().ok();
    let roots = [current, program].into_iter().flatten();
    let mut candidates = roots.flat_map(|root| root.ancestors().map(|folder| folder.join(path)).collect::<Vec<_>>());
    let file = candidates
        .find(|file| std::fs::metadata(file).is_ok_and(|there| there.is_file() && there.len() <= LONGEST_FILE))?;
    let bytes = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some((1..).zip(text.lines().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose second store is a column of a matrix, in lines 3 and 9 of a file, if it says so.
    fn report(locations: bool) -> Report {
        let text = "
.version 7.8
.target sm_75
.address_size 64
.file 1 \"no/such/kernel.rs\"
.visible .entry k(.param .u64 out) {
.reg .b32 %r<2>;
.reg .b64 %rd<5>;
.loc 1 2 1
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
.loc 1 3 1
st.global.u32 [%rd3], %r1;
.loc 1 9 1
mul.wide.u32 %rd2, %r1, 128;
add.s64 %rd4, %rd1, %rd2;
st.global.u32 [%rd4], %r1;
.loc 1 11 1
ret;
}
";
        let text = match locations {
            true => text.to_owned(),
            false => text.lines().filter(|line| !line.starts_with(".loc")).map(|line| format!("{line}\n")).collect(),
        };
        let module = ptx::parse("k.ptx", &text).unwrap();
        let mut memory = simt::Memory::new(1 << 20);
        let program = simt::Program::load(&module, &mut memory).unwrap();
        let out = memory.allocate(8192).unwrap();
        let launch = simt::Launch {
            kernel: "k",
            block: [64, 1, 1],
            arguments: &[&out.to_le_bytes()],
            ..simt::Launch::default()
        };
        program.launch(&memory, &launch).unwrap()
    }

    fn lines(locations: bool, hot: Option<u64>) -> Lines {
        let mut counts = LineCounts::default();
        counts.add(&report(locations));
        Lines::of(counts, "k.ptx", hot)
    }

    #[test]
    fn several_launches_are_added_up() {
        for locations in [true, false] {
            let mut counts = LineCounts::default();
            counts.add(&report(locations));
            counts.add(&report(locations));
            let twice = Lines::of(counts, "k.ptx", None);
            let once = lines(locations, None);
            let executed = |lines: &Lines| lines.rows.iter().map(|row| row.counted.executed).collect::<Vec<_>>();
            assert_eq!(executed(&twice), executed(&once).iter().map(|count| 2 * count).collect::<Vec<_>>());
            assert_eq!(twice.elsewhere, 2 * once.elsewhere);
        }
    }

    #[test]
    fn lines_stand_in_the_order_of_the_source() {
        let text = lines(true, None).text();
        let expected = "\
no/such/kernel.rs
     2            8   32.0        -           -         -
     3            2   32.0        2        4.00         -
    ...
     9            6   32.0        2        32.0         -
    10
    11            2   32.0        -           -         -
";
        assert_eq!(text, format!("{TITLES}{expected}{LEGEND}"));
    }

    #[test]
    fn the_worst_come_first() {
        let lines = lines(true, Some(2));
        let json = serde_json::to_value(&lines).unwrap();
        assert_eq!(
            json,
            json!([
                {
                    "file": "no/such/kernel.rs", "line": 9, "source": null, "instructions": 6, "active_lanes": 32.0,
                    "requests": 2, "sectors_per_request": 32.0, "bank_conflicts": 0,
                },
                {
                    "file": "no/such/kernel.rs", "line": 3, "source": null, "instructions": 2, "active_lanes": 32.0,
                    "requests": 2, "sectors_per_request": 4.0, "bank_conflicts": 0,
                },
            ])
        );
    }

    #[test]
    fn without_locations_the_ptx_is_listed() {
        let text = lines(false, Some(1)).text();
        let expected = "\
k.ptx
    16            2   32.0        2        32.0         -  st.global.u32 [%rd4], %r1;
";
        assert_eq!(text, format!("{TITLES}{expected}{LEGEND}"));
    }

    #[test]
    fn a_source_is_found_above_the_current_folder() {
        let lines = read_source(Path::new("host/src/lines.rs")).unwrap();
        assert!(lines[&1].starts_with("//! `--lines`"));
        assert_eq!(read_source(Path::new("host/src/no-such.rs")), None);
        assert_eq!(read_source(Path::new("host/src")), None);
    }
}
