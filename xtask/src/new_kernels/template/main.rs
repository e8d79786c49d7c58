//! Runs the kernels on a GPU or on the simulator, checks what they compute, and prints what the
//! simulator counts.

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use device::{
    Counters, Device, DeviceChoice, Error, LaunchConfig, Options, PtxFile, Report, memory,
};
use kernels::{axpy, block_sums};
use simt::Checks;
use simt::counts::MetricValue;

/// The PTX that the build script makes of the kernels.
const PTX: &str = env!("KERNELS_PTX");

/// Runs the kernels and checks their results.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to run: auto (a GPU if there is one), gpu, gpu:N, sim or sim:MODEL.
    #[arg(long, default_value_t)]
    device: DeviceChoice,

    /// Elements of each vector.
    #[arg(long, default_value_t = 100_000)]
    length: usize,
}

/// What a launch leaves: its result and, on the simulator, its report.
type Launched = Result<(Vec<f32>, Option<Report>), Error>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Whether all results are right.
fn run(arguments: &Arguments) -> Result<bool, Error> {
    let device = open(arguments.device)?;
    if let Some(why) = device.fallback() {
        eprintln!("note: running on the simulator: {why}");
    }
    writeln!(stdout(), "device: {}", device.properties().name)?;
    // Two vectors, two results, and what is expected of both, of 4 bytes an element.
    memory::check_host("the data", (arguments.length as u64).saturating_mul(6 * 4))?;
    let (x, y) = vectors(arguments.length);
    let (result, report) = launch_axpy(&device, Checks::NONE, 2.0, &x, &y)?;
    let axpy_right = show("axpy", &result, &expected_axpy(2.0, &x, &y), report)?;
    let (result, report) = launch_block_sums(&device, Checks::NONE, &x)?;
    let sums_right = show("block_sums", &result, &expected_block_sums(&x), report)?;
    Ok(axpy_right && sums_right)
}

/// A device with this crate's kernels.
fn open(choice: DeviceChoice) -> Result<Device, Error> {
    let options = Options {
        ptx: vec![PtxFile::from(PathBuf::from(PTX))],
        ..Options::default()
    };
    device::open(choice, &options)
}

/// Prints whether a kernel's result is right and each counter that is not zero.
fn show(
    kernel: &str,
    result: &[f32],
    expected: &[f32],
    report: Option<Report>,
) -> Result<bool, Error> {
    let mut out = stdout().lock();
    let wrong = result
        .iter()
        .zip(expected)
        .position(|(result, expected)| result != expected);
    match wrong {
        None => writeln!(out, "\n{kernel}: right")?,
        Some(i) => {
            let (is, should_be) = (result[i], expected[i]);
            writeln!(
                out,
                "\n{kernel}: WRONG: element {i} is {is}, not {should_be}"
            )?;
        }
    }
    let counters = report.map(|report| report.counters());
    for metric in counters.iter().flat_map(Counters::metrics) {
        match metric.value {
            MetricValue::Count(0) | MetricValue::Ratio(None) => {}
            MetricValue::Count(count) => writeln!(out, "  {:<76} {count:>9}", metric.name)?,
            MetricValue::Ratio(Some(ratio)) => writeln!(out, "  {:<76} {ratio:>9.2}", metric.name)?,
        }
    }
    Ok(wrong.is_none())
}

/// `axpy` on a device, with what the simulator's sanitizer is to look for.
fn launch_axpy(device: &Device, checks: Checks, a: f32, x: &[f32], y: &[f32]) -> Launched {
    let mut on_device = (device.buffer(x.len())?, device.buffer(y.len())?);
    on_device.0.write(x)?;
    on_device.1.write(y)?;
    let config = LaunchConfig {
        checks,
        ..LaunchConfig::linear(x.len(), 256)
    };
    let report = device.launch(&axpy, &config, (a, &on_device.0, &mut on_device.1))?;
    Ok((on_device.1.read()?, report))
}

/// `block_sums` likewise.
fn launch_block_sums(device: &Device, checks: Checks, x: &[f32]) -> Launched {
    let mut input = device.buffer(x.len())?;
    input.write(x)?;
    let [block, _, _] = block_sums.block();
    let mut sums = device.buffer(x.len().div_ceil(block as usize))?;
    // So that an element which the kernel forgets is wrong.
    sums.poison()?;
    let config = LaunchConfig {
        checks,
        ..LaunchConfig::linear(x.len(), block)
    };
    let report = device.launch(&block_sums, &config, (&input, &mut sums))?;
    Ok((sums.read()?, report))
}

fn expected_axpy(a: f32, x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| a * x + y).collect()
}

fn expected_block_sums(x: &[f32]) -> Vec<f32> {
    let [block, _, _] = block_sums.block();
    x.chunks(block as usize)
        .map(|block| block.iter().sum())
        .collect()
}

/// Small whole numbers, whose sums are exact in any order.
fn vectors(length: usize) -> (Vec<f32>, Vec<f32>) {
    (0..length)
        .map(|i| ((i % 17) as f32, (i % 5) as f32))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One element, whole warps and blocks, and lengths at which the last warp is not full.
    const LENGTHS: [usize; 6] = [1, 31, 32, 256, 257, 1000];

    /// The simulator needs no GPU, and its checks find races, bad accesses and missing barriers.
    fn simulator() -> Device {
        open(DeviceChoice::Simulator).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The result of a launch without findings.
    fn clean(launched: Launched) -> Vec<f32> {
        let (result, report) = launched.unwrap_or_else(|error| panic!("{error}"));
        let report = report.expect("the simulator reports each launch");
        let findings: Vec<_> = report.findings().iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{}", findings.join("\n"));
        result
    }

    #[test]
    fn axpy_is_right_and_clean() {
        let device = simulator();
        for length in LENGTHS {
            let (x, y) = vectors(length);
            let result = clean(launch_axpy(&device, Checks::ALL, 3.0, &x, &y));
            assert_eq!(result, expected_axpy(3.0, &x, &y), "{length} elements");
        }
    }

    #[test]
    fn block_sums_are_right_and_clean() {
        let device = simulator();
        for length in LENGTHS {
            let (x, _) = vectors(length);
            let result = clean(launch_block_sums(&device, Checks::ALL, &x));
            assert_eq!(result, expected_block_sums(&x), "{length} elements");
        }
    }

    #[test]
    fn the_loads_of_axpy_are_coalesced() {
        let (x, y) = vectors(256);
        let (_, report) = launch_axpy(&simulator(), Checks::NONE, 2.0, &x, &y).expect("it runs");
        let report = report.expect("the simulator counts");
        let loads = report.counters().global.load;
        // 32 floats of a warp lie in 4 sectors of 32 bytes.
        assert_eq!((loads.requests, loads.sectors), (16, 64));
    }
}
