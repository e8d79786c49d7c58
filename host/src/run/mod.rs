//! `host run FILE.ptx KERNEL ...`: any kernel of a PTX file of any compiler, on either device.
//!
//! Data goes one way: flags -> arguments (see [`argument`]) -> a launch -> a report -> a format. The arguments
//! are held against the kernel's parameters before anything is opened; buffers that `--save` names are written when the kernel
//! has come to its end, each file whole or not at all.

pub mod argument;
mod demands;
mod fit;
mod flags;
mod launch;
mod output;
mod placed;
pub mod tensor;
pub mod texture;
pub mod value;

use std::collections::BTreeMap;
use std::io::Write;

use clap::{ArgMatches, FromArgMatches};
use simt::Checks;

use flags::{Flags, Save};

pub(crate) use flags::command;

use crate::device::{self, DeviceChoice, LaunchConfig};
use crate::error::{Error, Result, one_line};
use crate::faults::{Fault, Findings};
use crate::limits::Limits;
use crate::progress::Progress;
use crate::report::Format;

/// Runs what the arguments say on the device and writes what came of it.
///
/// # Errors
///
/// All that a device and a file can say; [`Error::Fault`] when the kernel misbehaved, after the report with the fault is written.
pub(crate) fn main(
    matches: &ArgMatches,
    choice: DeviceChoice,
    limits: Limits,
    format: Format,
    out: &mut dyn Write,
) -> Result<()> {
    let flags = Flags::from_arg_matches(matches).map_err(|error| Error::flag("run", one_line(&error.to_string())))?;
    flags.lines.check_format(format)?;
    let module = device::load_ptx(&flags.file)?;
    let function = demands::kernel(&module, &flags)?;
    demands::check_arguments(&module, function, &flags)?;
    demands::check_block(function, flags.block)?;
    demands::check_cluster(function, &flags)?;
    demands::check_outputs(&flags)?;

    let progress = Progress::on_terminal();
    progress.begin(|| "opening the device".to_owned());
    let device = device::open(choice, &device::Options { ptx: Some(flags.file.clone()), limits })?;
    let simulated = flags.counters || !device.properties().is_gpu();
    flags.lines.check_counted(simulated)?;
    flags.checks.check_simulated(simulated)?;
    let config = LaunchConfig {
        // Such a kernel says itself what its clusters are, and its grid counts them.
        cluster: flags.cluster.filter(|_| !function.grid_in_clusters),
        dynamic_shared: flags.shared,
        checks: flags.checks.or(Checks::ALL),
        carveout: flags.carveout,
        registers: flags.registers,
        ..LaunchConfig::new(flags.grid, flags.block)
    };
    config.check(&flags.kernel, None, device.properties())?;
    let prepared = launch::prepare(&device, &flags)?;
    // Not before: a request that cannot be met is one line.
    let notes = device.take_notes().into_iter().chain(fit::notes(&module, function, &flags));
    notes.for_each(|note| progress.note(&note));
    progress.add_steps(1);
    progress.begin(|| flags.kernel.clone());
    let launched = launch::launch(&device, &progress, &flags, &config, &prepared);
    // The bar must be gone before the report is written.
    drop(progress);

    let mut report = output::Report {
        file: flags.file.display().to_string(),
        kernel: &flags.kernel,
        config: &config,
        device: device.properties(),
        counters: None,
        lines: None,
        faults: Vec::new(),
        stopped: false,
        printed: device.take_printed(),
        buffers: BTreeMap::new(),
    };
    match launched {
        Ok(mut launched) => {
            for Save { argument, file } in &flags.save {
                if let (Some(values), Some(data)) = (launched.buffers.get(argument), prepared[*argument].data()) {
                    values.write(file, &data.shape)?;
                }
            }
            launched.buffers.retain(|argument, _| flags.print.contains(argument));
            report.counters = launched.counters;
            report.lines = launched.lines;
            report.buffers = launched.buffers;
            report.faults = launched.findings.faults();
            report.write(format, out)?;
            launched.findings.tell(format);
            launched.findings.error().map_or(Ok(()), Err)
        }
        Err(error) => {
            if let Error::Fault { trap, .. } = &error {
                let before = Findings::before(trap.as_deref());
                report.faults = before.faults().into_iter().chain(Fault::of(&error)).collect();
                report.stopped = true;
                report.write(format, out)?;
                before.tell(format);
            }
            Err(error)
        }
    }
}
