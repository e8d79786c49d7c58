//! The flow that every lab runs through: variants, launch, check, time, report. Data goes one way; a lab never sees the report
//! while it is made.
//!
//! For each variant: the output is poisoned, the kernel launched, the output compared with the reference, and on a GPU the
//! launch is timed. On the simulator the first launch gives the counters.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value};
use simt::Checks;

use crate::device::{Buffer, CacheConfig, Counters, Device, LaunchConfig, OnDevice};
use crate::error::{Error, Result};
use crate::faults::{CheckFlags, Fault, Findings};
use crate::flag_values::whole_number;
use crate::lines::{LineFlags, Lines};
use crate::npy;
use crate::progress::Progress;
use crate::report::{Check, CounterSource, DeviceCopy, LabReport, VariantReport};
use crate::timing::{self, Policy, Timed, Timing};

/// Flags that every lab has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common to all labs")]
pub struct Settings {
    /// Seed of the random data; the same seed gives the same data everywhere
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole_number(0, u64::MAX))]
    pub seed: u64,
    /// What the kernels prefer to be large: shared memory, the L1 cache, or both equally
    #[arg(long, value_enum, value_name = "WISH", default_value_t = CacheConfig::None)]
    pub cache_config: CacheConfig,
    /// The part of a multiprocessor's memory that should be shared memory, in percent (0 to 100)
    #[arg(long, value_name = "PERCENT", value_parser = whole_number(0, 100u8))]
    pub carveout: Option<u8>,
    /// The most seconds to time one variant on a GPU
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub time_limit: Duration,
    /// On a GPU: also run every variant on the simulator, for its counters
    #[arg(long)]
    pub counters: bool,
    /// What each line of the kernels did.
    #[command(flatten)]
    pub lines: LineFlags,
    /// What to look for on the simulator.
    #[command(flatten)]
    pub checks: CheckFlags,
    /// Where to say how far it is.
    #[arg(skip)]
    pub progress: Progress,
}

/// A number of seconds from a flag.
fn seconds(text: &str) -> std::result::Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| (0.001..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give a number of seconds from 0.001 to 86400".to_owned())
}

impl Settings {
    /// A launch with the preferences of the flags.
    pub fn launch(&self, grid: [u32; 3], block: [u32; 3]) -> LaunchConfig {
        LaunchConfig {
            cache: self.cache_config,
            carveout: self.carveout,
            checks: self.checks(),
            ..LaunchConfig::new(grid, block)
        }
    }

    /// What to look for: nothing unless it is asked for, since the labs' kernels are known and their data is large.
    fn checks(&self) -> Checks {
        self.checks.or(Checks::NONE)
    }
}

/// A lab with its data on a device.
pub trait Lab {
    /// One of the things it compares.
    type Variant;

    /// What is the same for all variants, for the report.
    fn parameters(&self) -> Map<String, Value>;

    /// What a variant is, for the report.
    fn describe(&self, variant: &Self::Variant) -> Description;

    /// Overwrites the output, so that nothing of an earlier variant is left.
    fn poison(&mut self) -> Result<()>;

    /// Launches a variant once.
    fn launch(&mut self, device: &Device, variant: &Self::Variant) -> Result<Option<Counters>>;

    /// Reads the output and compares it with the reference.
    fn check(&mut self, variant: &Self::Variant) -> Result<Check>;

    /// Starts the device's own copy of as much memory as the lab's input has, or less if the output has; returns how many bytes
    /// are copied. Nothing needs the output any more.
    fn copy(&mut self, device: &Device) -> Result<u64>;
}

/// A variant as the report names it.
pub struct Description {
    /// Its name.
    pub name: String,
    /// The kernels that it launches.
    pub kernels: Vec<&'static str>,
    /// What distinguishes it.
    pub parameters: Map<String, Value>,
    /// Bytes that the task itself has to read and write.
    pub useful_bytes: u64,
}

/// Runs the lab that `build` makes for a device, and returns it with the report.
///
/// With [`Settings::counters`] on a GPU, it is built and run a second time, on the simulator.
///
/// # Errors
///
/// Those of `build` and of the device. A wrong result is no error, nor is a fault of a kernel: they are in the report.
pub fn run<L: Lab>(
    name: &'static str,
    device: &Device,
    settings: &Settings,
    build: impl Fn(&Device) -> Result<(L, Vec<L::Variant>)>,
) -> Result<(LabReport, L)> {
    let progress = &settings.progress;
    progress.begin(|| format!("{name}: making the data"));
    device.watch(progress);
    let (mut lab, variants) = build(device)?;
    // Not before: a request that cannot be met is one line.
    if let Some(why) = device.fallback() {
        progress.note(&format!("running on the simulator: {why}"));
    }
    let alongside = settings.counters && device.properties().is_gpu();
    let simulated = alongside || !device.properties().is_gpu();
    settings.lines.check_counted(simulated)?;
    settings.checks.check_simulated(simulated)?;
    progress.add_steps(variants.len() * if alongside { 2 } else { 1 });

    let mut report = LabReport {
        lab: name,
        device: device.properties().clone(),
        parameters: lab.parameters(),
        device_copy: None,
        counters_from: None,
        variants: Vec::with_capacity(variants.len()),
        stopped: None,
    };
    if settings.checks().any() {
        report.parameters.insert("check".into(), settings.checks().to_string().into());
    }
    let mut stopwatch = Stopwatch::new(device, settings)?;
    if let Some(stopwatch) = &mut stopwatch {
        report.device_copy = Some(stopwatch.copy(&mut lab)?);
    }
    for variant in &variants {
        let description = lab.describe(variant);
        progress.begin(|| format!("{name}: {}", description.name));
        lab.poison()?;
        let launched = match launch(&mut lab, device, variant, settings) {
            Err(error) if Fault::of(&error).is_some() => {
                let simulated = Simulated::until(&error);
                report.variants.push(variant_report(description, None, None, simulated, &report));
                report.stopped = Some(error);
                break;
            }
            launched => launched?,
        };
        let check = lab.check(variant)?;
        let timing = match &mut stopwatch {
            Some(stopwatch) => Some(stopwatch.launch(&mut lab, variant, &description)?),
            None => None,
        };
        report.variants.push(variant_report(description, Some(check), timing, launched, &report));
        progress.done();
    }
    if !device.properties().is_gpu() {
        report.counters_from = Some(CounterSource::Simulator);
    } else if alongside && report.stopped.is_none() {
        count_alongside(name, device, &mut report, settings, build)?;
    }
    // The bar must be gone before the report is written.
    device.watch(&Progress::default());
    Ok((report, lab))
}

/// Writes a result for `--output`, unless a fault cut the run short. A wrong one is written all the same, and a note says so: whoever
/// looks for the mistake needs it, and nobody should take it for right.
pub(super) fn save(
    path: Option<&Path>,
    shape: &[usize],
    result: Option<&[f32]>,
    report: &LabReport,
    settings: &Settings,
) -> Result<()> {
    let (Some(path), Some(result), None) = (path, result, &report.stopped) else { return Ok(()) };
    npy::write(path, shape, result)?;
    if !report.correct() {
        settings.progress.note(&format!("{} holds a wrong result", path.display()));
    }
    Ok(())
}

/// What the simulator knows of a launch.
#[derive(Default)]
struct Simulated {
    counters: Option<Counters>,
    lines: Option<Lines>,
    findings: Option<Findings>,
    stopped: Option<Fault>,
}

impl Simulated {
    /// Of a launch that this fault stopped.
    fn until(error: &Error) -> Self {
        let Error::Fault { trap, .. } = error else { return Self::default() };
        Self { findings: Some(Findings::before(trap.as_deref())), stopped: Fault::of(error), ..Self::default() }
    }
}

/// Launches a variant, to its end.
fn launch<L: Lab>(lab: &mut L, device: &Device, variant: &L::Variant, settings: &Settings) -> Result<Simulated> {
    let counters = lab.launch(device, variant)?;
    device.synchronize()?;
    let report = device.last_report().filter(|_| settings.checks().any());
    Ok(Simulated {
        counters,
        lines: settings.lines.of(device, &ptx_name(device)),
        findings: report.map(|report| Findings::of(&report)),
        stopped: None,
    })
}

/// What to call the PTX where it does not name its source.
fn ptx_name(device: &Device) -> String {
    format!("PTX for {}", device.properties().ptx_target)
}

/// A variant's part of the report; `before` holds the variants that ran before it.
fn variant_report(
    description: Description,
    check: Option<Check>,
    timing: Option<Timing>,
    simulated: Simulated,
    before: &LabReport,
) -> VariantReport {
    let time = timing.as_ref().map(|timing| timing.median_ms);
    let gbps = time.map(|time| gbps(description.useful_bytes, time));
    let first = match before.variants.first() {
        Some(first) => first.timing.as_ref().map(|timing| timing.median_ms),
        None => time,
    };
    VariantReport {
        name: description.name,
        kernels: description.kernels,
        parameters: description.parameters,
        check,
        useful_bytes: description.useful_bytes,
        percent_of_copy: gbps.zip(before.device_copy.as_ref()).map(|(gbps, copy)| gbps / copy.gbps * 100.0),
        gbps,
        speedup: first.zip(time).map(|(first, time)| first / time),
        timing,
        counters: simulated.counters,
        lines: simulated.lines,
        findings: simulated.findings,
        stopped: simulated.stopped,
    }
}

/// Bytes in milliseconds as GB/s (10^9 bytes).
fn gbps(bytes: u64, milliseconds: f64) -> f64 {
    bytes as f64 / milliseconds / 1e6
}

/// Runs the same variants on the simulator and takes over its counters. Its outputs must be right too.
fn count_alongside<L: Lab>(
    name: &'static str,
    device: &Device,
    report: &mut LabReport,
    settings: &Settings,
    build: impl Fn(&Device) -> Result<(L, Vec<L::Variant>)>,
) -> Result<()> {
    let progress = &settings.progress;
    let simulator = device.simulator()?;
    simulator.watch(progress);
    let (mut lab, variants) = build(&simulator)?;
    for (variant, on_gpu) in variants.iter().zip(&mut report.variants) {
        progress.begin(|| format!("{name}: {} on the simulator", on_gpu.name));
        lab.poison()?;
        let launched = match launch(&mut lab, &simulator, variant, settings) {
            Err(error) if Fault::of(&error).is_some() => {
                let Simulated { findings, stopped, .. } = Simulated::until(&error);
                (on_gpu.findings, on_gpu.stopped, report.stopped) = (findings, stopped, Some(error));
                break;
            }
            launched => launched?,
        };
        (on_gpu.counters, on_gpu.lines, on_gpu.findings) = (launched.counters, launched.lines, launched.findings);
        let check = lab.check(variant)?;
        if !check.correct() {
            on_gpu.check = Some(check);
        }
        progress.done();
    }
    report.counters_from = Some(CounterSource::Simulator);
    Ok(())
}

/// What times launches on a GPU.
struct Stopwatch {
    device: Device,
    policy: Policy,
    /// Twice as large as the level-2 cache: filling it leaves nothing else there.
    flush: Buffer<u8>,
}

impl Stopwatch {
    /// `None` on the simulator.
    fn new(device: &Device, settings: &Settings) -> Result<Option<Self>> {
        if !device.properties().is_gpu() {
            return Ok(None);
        }
        let l2 = device.properties().l2_bytes.unwrap_or(0);
        Ok(Some(Self {
            device: device.clone(),
            policy: Policy { time_limit: settings.time_limit, ..Policy::default() },
            flush: device.buffer((l2 * 2) as usize)?,
        }))
    }

    /// Times the device's own copy.
    fn copy<L: Lab>(&mut self, lab: &mut L) -> Result<DeviceCopy> {
        let device = self.device.clone();
        let bytes = lab.copy(&device)?;
        let timing = self.measure(2 * bytes, &mut || lab.copy(&device).map(drop))?;
        Ok(DeviceCopy { bytes, gbps: gbps(2 * bytes, timing.median_ms), timing })
    }

    /// Times a variant.
    fn launch<L: Lab>(&mut self, lab: &mut L, variant: &L::Variant, description: &Description) -> Result<Timing> {
        let device = self.device.clone();
        self.measure(description.useful_bytes, &mut || lab.launch(&device, variant).map(drop))
    }

    fn measure(&mut self, footprint: u64, work: &mut dyn FnMut() -> Result<()>) -> Result<Timing> {
        let mut timed = OnGpu { device: &self.device, flush: &mut self.flush, work };
        let l2 = self.device.properties().l2_bytes;
        timing::measure(&mut timed, footprint, l2, &self.policy)
    }
}

/// A launch on a GPU, as the timing sees it.
struct OnGpu<'a> {
    device: &'a Device,
    flush: &'a mut Buffer<u8>,
    work: &'a mut dyn FnMut() -> Result<()>,
}

impl Timed for OnGpu<'_> {
    fn sample(&mut self, launches: u32) -> Result<f64> {
        let time = self.device.time(&mut || (0..launches).try_for_each(|_| (self.work)()))?;
        time.ok_or_else(|| Error::Simulator { doing: "timing".to_owned(), problem: "it has no clock".to_owned() })
    }

    fn flush(&mut self) -> Result<()> {
        match self.flush.bytes() {
            0 => Ok(()),
            _ => self.flush.fill_bytes(0),
        }
    }
}
