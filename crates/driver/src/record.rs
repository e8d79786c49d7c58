//! What launches leave for `coalesce run`: a file of JSON for each kernel of a module, in the
//! folder that `COALESCE_RECORD` names, and the module's PTX beside it. Counters are added up over
//! launches, so a record stays small however long a program runs.
//!
//! A file is written after each of a kernel's first launches, then after every sixty-fourth, and
//! when the process ends in order: a process that is killed loses the last few launches at most.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ptx::Pieces;
use serde::{Deserialize, Serialize};
use simt::counts::{InstructionCounters, ModelCounters};
use simt::faults::SourcePosition;
use simt::models::Occupancy;
use simt::prediction::Predicted;
use simt::requests::Request;
use simt::{Counters, Finding, Memory, Model, Program, Report, Trap};

use crate::boundary::say;
use crate::objects::{Function, Handle};
use crate::orders::Found;

/// The ending of a record's name.
pub const ENDING: &str = "kernel.json";

/// A file that `coalesce run` puts into the folder. A process whose records cannot be written
/// renames it to [`FAILED`] and the number of the system's error, which a full disk allows.
pub const WHOLE: &str = "whole";
/// What that name begins with.
pub const FAILED: &str = "failed-";

/// The name of the file with what streams were given during a recording ([`Given`]).
pub const GIVEN: &str = "given.json";

/// How many launches of a kernel are each written at once.
const AT_ONCE: u64 = 64;
/// How many shapes of launches and findings a record has at most.
const MOST: usize = 32;

/// What a launch asks for besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Whether all blocks run at once.
    pub cooperative: bool,
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
}

/// What a kernel of a module did in all launches of a process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KernelRecord {
    /// The version of the library that wrote it.
    pub version: String,
    /// The file with the module's PTX, in the same folder.
    pub module: String,
    /// The kernel.
    pub kernel: String,
    /// Launches that ended.
    pub launches: u64,
    /// The first shapes of launches, and how often each was launched.
    pub shapes: Vec<(Shape, u64)>,
    /// How long the simulator took.
    pub seconds: f64,
    /// The times that are predicted, added up.
    pub predicted: Option<PredictedTimes>,
    /// Why some launch has no predicted time.
    pub not_predicted: Option<String>,
    /// What the checks found, each once.
    pub findings: Vec<FaultRecord>,
    /// How often they found something else.
    pub findings_beyond: u64,
    /// Launches in other orders.
    pub orders: u64,
    /// The fault that stopped a launch.
    pub stopped: Option<FaultRecord>,
    /// The counters of each instruction.
    pub counters: Vec<Vec<u64>>,
    /// Requests of the first launch, as numbers, if they were asked for.
    #[serde(default)]
    pub requests: Vec<Vec<u64>>,
    /// The GPU whose model the device has.
    pub gpu: Option<String>,
    /// The counters of the GPU's model, if launches ran on it.
    pub model: Option<Vec<u64>>,
    /// The occupancy of the first launch on a model.
    pub occupancy: Option<[Option<u32>; 8]>,
}

/// A fault that a check found, or that stopped a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Its kind, as a word that programs can compare.
    pub kind: String,
    /// The message for people.
    pub text: String,
    /// File and line in the source, if the PTX says.
    pub place: Option<(String, u32)>,
    /// How often it occurred.
    pub count: u64,
}

impl FaultRecord {
    fn new(kind: &str, text: String, position: Option<&SourcePosition>) -> Self {
        let place = position.map(|at| (at.file.clone(), at.line));
        Self { kind: kind.to_owned(), text, place, count: 1 }
    }

    fn found(finding: &Finding) -> Self {
        Self::new(finding.kind.name(), finding.to_string(), finding.first.position())
    }
}

/// The predicted times of launches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PredictedTimes {
    /// Microseconds of all launches, added up.
    pub all_us: f64,
    /// Whether each found its data in the level-2 cache, if it fits; otherwise the cache was flushed.
    pub warm: bool,
    /// Of the longest.
    pub longest_us: f64,
    /// What limits the longest.
    pub bound: String,
}

/// What streams were given during a recording.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Given {
    /// Launches.
    pub launches: u64,
    /// Bytes of copies from the host, and to it.
    pub bytes_to_device: u64,
    /// See above.
    pub bytes_to_host: u64,
    /// Fills of memory.
    pub fills: u64,
    /// How much of all this is on another stream than the default stream.
    pub on_other_streams: u64,
    /// Allocations of memory that host and device share.
    pub shared_allocations: u64,
}

/// A kernel, and the GPU of the device that it runs on.
type Launched<'a> = (&'a Function, &'static Model);

/// The records of this process.
#[derive(Default)]
pub struct Recorder {
    /// Where records go, if anywhere.
    folder: Option<PathBuf>,
    /// What streams were given.
    pub given: Given,
    kernels: Vec<Kernel>,
    /// By module, name, and the GPU of the device.
    by_name: HashMap<(Handle, Arc<str>, &'static str), usize>,
    /// Whether an error was reported; then nothing more is written.
    failed: bool,
}

struct Kernel {
    record: KernelRecord,
    counted: Vec<InstructionCounters>,
    total: Counters,
    path: PathBuf,
    written: u64,
}

impl Recorder {
    /// Records into this folder, if there is one.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// Whether no launch of a kernel has ended yet.
    pub fn is_first(&self, function: &Function, gpu: &'static Model) -> bool {
        !self.by_name.contains_key(&(function.module, function.name.clone(), gpu.name))
    }

    /// Adds a launch that ended, timed as with warm caches or not, with what others in other orders
    /// show, and how long it took.
    pub fn add(
        &mut self,
        function: Launched,
        shape: &Shape,
        (report, warm): (&Report, bool),
        (orders, seconds): (&Found, f64),
    ) {
        let Some(index) = self.of(function, shape) else { return };
        let Kernel { record, counted, total, .. } = &mut self.kernels[index];
        record.launches += 1;
        record.seconds += seconds;
        counted.resize(report.instructions().count(), InstructionCounters::default());
        for (all, row) in counted.iter_mut().zip(report.instructions()) {
            *all += *row.counters;
        }
        *total += report.counters();
        if record.requests.is_empty() {
            record.requests = report.requests().iter().map(Request::numbers).collect();
        }
        record.predict(report.predicted(), warm);
        report.findings().iter().for_each(|finding| record.find(FaultRecord::found(finding)));
        record.findings_beyond += report.findings_beyond();
        record.orders += orders.tried;
        if let Some(finding) = orders.finding() {
            record.find(FaultRecord::new("other_order", finding, None));
        }
        if record.launches <= AT_ONCE || record.launches % AT_ONCE == 0 {
            self.flush(index);
        }
    }

    /// Notes a launch that a fault stopped.
    pub fn stopped(&mut self, function: Launched, shape: &Shape, trap: &Trap) {
        let Some(index) = self.of(function, shape) else { return };
        let record = &mut self.kernels[index].record;
        // The record names the kernel.
        let text = trap.to_string().replacen(&format!("kernel `{}`: ", trap.kernel), "", 1);
        record.stopped = Some(FaultRecord::new(trap.kind.name(), text, trap.position()));
        trap.findings.iter().for_each(|finding| record.find(FaultRecord::found(finding)));
        self.flush(index);
    }

    /// Writes what was not written yet.
    pub fn finish(&mut self) {
        for index in 0..self.kernels.len() {
            if self.kernels[index].written < self.kernels[index].record.launches {
                self.flush(index);
            }
        }
    }

    /// Writes what streams were given.
    pub fn write_given(&mut self) {
        if let Some(folder) = self.folder.clone() {
            let text = serde_json::to_vec(&self.given).unwrap_or_default();
            self.write(&folder.join(GIVEN), &text);
        }
    }

    /// The kernel's record, with this shape.
    fn of(&mut self, (function, gpu): Launched, shape: &Shape) -> Option<usize> {
        let folder = self.folder.clone()?;
        let key = (function.module, function.name.clone(), gpu.name);
        let next = self.kernels.len();
        let index = *self.by_name.entry(key).or_insert(next);
        if index == next {
            if !self.by_name.keys().any(|(module, name, _)| *module == function.module && *name != function.name) {
                self.write(&folder.join(module_file(function.module)), function.ptx.as_bytes());
            }
            let record = KernelRecord {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                module: module_file(function.module),
                kernel: function.name.to_string(),
                gpu: Some(gpu.name.to_owned()),
                ..KernelRecord::default()
            };
            self.kernels.push(Kernel {
                record,
                counted: Vec::new(),
                total: Counters::default(),
                path: folder.join(format!("{}-{index:06}.{ENDING}", std::process::id())),
                written: 0,
            });
        }
        let shapes = &mut self.kernels[index].record.shapes;
        match shapes.iter().position(|(known, _)| known == shape) {
            Some(at) => shapes[at].1 += 1,
            None if shapes.len() < MOST => shapes.push((*shape, 1)),
            None => {}
        }
        Some(index)
    }

    fn flush(&mut self, index: usize) {
        let kernel = &mut self.kernels[index];
        let record = &mut kernel.record;
        record.counters = kernel.counted.iter().map(|counters| counters.numbers().to_vec()).collect();
        record.model = kernel.total.model.map(|model| model.numbers().to_vec());
        record.occupancy = kernel.total.occupancy.map(|occupancy| numbers_of(&occupancy));
        kernel.written = record.launches;
        let text = serde_json::to_vec(record).unwrap_or_default();
        let path = kernel.path.clone();
        self.write(&path, &text);
    }

    /// Writes a file, whole or not at all.
    fn write(&mut self, path: &Path, bytes: &[u8]) {
        if self.failed {
            return;
        }
        let beside = path.with_extension("part");
        let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
        if let Err(error) = written {
            let _ = fs::remove_file(&beside);
            let failed = path.with_file_name(format!("{FAILED}{}", error.raw_os_error().unwrap_or(0)));
            // `coalesce run` reports it.
            if fs::rename(path.with_file_name(WHOLE), &failed).is_err() && !failed.exists() {
                say(&format!("the record {} cannot be written: {error}", path.display()));
            }
            self.failed = true;
        }
    }
}

impl KernelRecord {
    fn predict(&mut self, predicted: Option<&Predicted>, warm: bool) {
        match predicted {
            Some(Predicted::Time(time)) => {
                let (us, bound) = time.of_caches(warm);
                let bound = bound.name();
                let all = self.predicted.get_or_insert_with(|| PredictedTimes {
                    all_us: 0.0,
                    warm,
                    longest_us: 0.0,
                    bound: bound.to_owned(),
                });
                all.all_us += us;
                if us > all.longest_us {
                    (all.longest_us, all.bound) = (us, bound.to_owned());
                }
            }
            Some(Predicted::Not(why)) => self.not_predicted = Some((*why).to_owned()),
            None => {}
        }
    }

    fn find(&mut self, fault: FaultRecord) {
        match self.findings.iter().position(|known| known.text == fault.text) {
            Some(at) => self.findings[at].count += 1,
            None if self.findings.len() < MOST => self.findings.push(fault),
            None => self.findings_beyond += 1,
        }
    }

    /// The counters of each instruction, unless the record is broken.
    pub fn counted(&self) -> Option<Vec<InstructionCounters>> {
        let of = |numbers: &Vec<u64>| Some(InstructionCounters::of_numbers(numbers.as_slice().try_into().ok()?));
        self.counters.iter().map(of).collect()
    }

    /// The report of the counters: with the module's PTX, which is in the same folder, each has its
    /// instruction. Nothing if no launch ended.
    ///
    /// # Errors
    ///
    /// Why the record cannot be read, in a line.
    pub fn report(&self, folder: &Path) -> Result<Option<Report>, String> {
        if self.counters.is_empty() {
            return Ok(None);
        }
        let path = folder.join(&self.module);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let module = match ptx::parse(&self.module, &text) {
            Ok(module) => module,
            // Other kernels of it may be beyond the parser.
            Err(_) => Pieces::of(&self.module, &text).parse(&[&self.kernel]).map_err(|errors| errors.to_string())?,
        };
        let program = Program::load(&module, &mut Memory::new(1 << 40)).map_err(|error| error.to_string())?;
        let modelled = self.modelled();
        let report = self.counted().map(|counted| program.recorded(&self.kernel, counted, modelled, self.seen()));
        let report = report.transpose().map_err(|error| error.to_string())?.flatten();
        report.map(Some).ok_or_else(|| format!("the record of {} is not of this version", self.kernel))
    }

    /// The requests that were kept.
    fn seen(&self) -> Vec<Request> {
        self.requests.iter().filter_map(|numbers| Request::of_numbers(numbers)).collect()
    }

    /// What the GPU's model counted.
    fn modelled(&self) -> Option<(Occupancy, ModelCounters)> {
        let model = Model::named(self.gpu.as_ref()?)?;
        let numbers = self.model.as_ref()?.as_slice().try_into().ok()?;
        Some((self.occupancy()?, ModelCounters::of_numbers(model, numbers)))
    }

    /// The occupancy.
    pub fn occupancy(&self) -> Option<Occupancy> {
        let [by_warps, by_blocks, by_shared, by_registers, clusters, warps_per_block, most_warps, carveout] =
            self.occupancy?;
        Some(Occupancy {
            by_warps: by_warps?,
            by_blocks: by_blocks?,
            by_shared,
            by_registers,
            clusters,
            warps_per_block: warps_per_block?,
            most_warps: most_warps?,
            carveout: carveout?,
        })
    }
}

fn numbers_of(occupancy: &Occupancy) -> [Option<u32>; 8] {
    let Occupancy { by_warps, by_blocks, by_shared, by_registers, clusters, .. } = *occupancy;
    let Occupancy { warps_per_block, most_warps, carveout, .. } = *occupancy;
    [
        Some(by_warps),
        Some(by_blocks),
        by_shared,
        by_registers,
        clusters,
        Some(warps_per_block),
        Some(most_warps),
        Some(carveout),
    ]
}

fn module_file(module: Handle) -> String {
    format!("{}-module{module:x}.ptx", std::process::id())
}
