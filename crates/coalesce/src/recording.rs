//! `coalesce recording`: reports the records in a folder, for the Python package, whose blocks
//! record themselves (`recording` of the driver).

use std::path::PathBuf;

use clap::Args;
use device::DeviceChoice;
use goals::metric::{Launched, Metric};
use host::lines::LineFlags;
use host::recorded::{self, RecordedKernel, Wanted};
use host::report::Format;
use host::requirements::RequireFlags;
use serde_json::{Map, Value};

use crate::{records, run};

/// Report the records in a folder: what became of the goals if there are any, else all as JSON
#[derive(Args, Debug)]
pub struct Options {
    /// The device on which they were counted
    #[arg(long, value_name = "DEVICE", default_value = "sim")]
    device: DeviceChoice,
    /// Only the kernel of this number, from 0, in the order of the report
    #[arg(long, value_name = "NUMBER")]
    kernel: Option<usize>,
    #[command(flatten)]
    required: RequireFlags,
    /// The folder
    folder: PathBuf,
}

/// Reports. Returns the exit code: 1 if a goal is missed.
pub fn main(options: &Options) -> Result<u8, String> {
    let goals = run::goals(options.device, &options.required)?;
    let mut kernels = records::read(&options.folder)?;
    if let Some(number) = options.kernel {
        kernels = kernels.into_iter().skip(number).take(1).collect();
    }
    if options.required.any() {
        records::add_registers(&mut kernels, &options.folder, &goals)?;
        let verdict = recorded::judge(&kernels, &goals);
        run::print(&verdict.text())?;
        return Ok(u8::from(!verdict.met()));
    }
    let device = device::open(options.device, &host::built_in::options()).map_err(|error| error.to_string())?;
    let wanted = Wanted { lines: LineFlags::everything(), ..Wanted::default() };
    let mut text = Vec::new();
    recorded::write(&kernels, device.properties(), ("", &wanted, Format::Json), &mut text)
        .map_err(|error| error.to_string())?;
    let mut report: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    for (index, kernel) in kernels.iter().enumerate() {
        report["kernels"][index]["metrics"] = metrics(kernel);
    }
    run::print(&report.to_string())?;
    Ok(0)
}

/// The counters of a kernel by the names that goals use.
pub fn metrics(kernel: &RecordedKernel) -> Value {
    let Some(report) = kernel.counted.clone() else { return Value::Object(Map::new()) };
    let launched = Launched { kernel: kernel.kernel.clone(), counters: report.counters(), report };
    let value = |metric: Metric| Some((metric.name.to_owned(), Value::from(metric.value(&[&launched])?)));
    let mut values: Map<_, _> = Metric::all().filter(|metric| !metric.is_of_exercises()).filter_map(value).collect();
    values.insert("launches".to_owned(), kernel.launches.into());
    Value::Object(values)
}
