//! What the driver left: records of kernels, for the report of the crate `host`.

use std::collections::HashMap;
use std::path::Path;

use coalesce_driver::Shape;
use coalesce_driver::record::{ENDING, FAILED, FaultRecord, KernelRecord, WHOLE};
use device::LaunchConfig;
use host::recorded::{self, RecordedFault, RecordedKernel};
use host::requirements::Requirements;
use simt::Model;

/// The records in a folder, in the order in which the kernels were first launched.
pub fn read(folder: &Path) -> Result<Vec<RecordedKernel>, String> {
    named(folder)?.iter().map(|name| one(folder, name)).collect()
}

/// The names of the records.
fn named(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder).map_err(failed)? {
        let name = file.map_err(failed)?.file_name();
        name.to_str().map_or(Ok(()), |name| check_whole(folder, name))?;
        names.extend(name.to_str().filter(|name| name.ends_with(ENDING)).map(str::to_owned));
    }
    names.sort_by_key(|name| order(name));
    Ok(names)
}

/// The same as the driver wrote them, without the counters of each instruction's place.
pub fn raw(folder: &Path) -> Result<Vec<KernelRecord>, String> {
    named(folder)?.iter().map(|name| parsed(&folder.join(name))).collect()
}

/// Adds the registers of kernels whose records are in a folder, if a goal is about them.
pub fn add_registers(kernels: &mut [RecordedKernel], folder: &Path, goals: &Requirements) -> Result<(), String> {
    let mut modules: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for kernel in kernels {
        if !modules.contains_key(&kernel.module) {
            let path = folder.join(&kernel.module);
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let registers = goals.registers(&text).map_err(|error| error.to_string())?;
            modules.insert(kernel.module.clone(), registers);
        }
        kernel.registers = modules[&kernel.module].get(&kernel.kernel).copied();
    }
    Ok(())
}

/// Readies a folder for records.
pub fn prepare(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join(WHOLE), "")
}

/// Fails if a process could not write its records there.
fn check_whole(folder: &Path, name: &str) -> Result<(), String> {
    let Some(error) = name.strip_prefix(FAILED).and_then(|number| number.parse().ok()) else { return Ok(()) };
    let error = std::io::Error::from_raw_os_error(error);
    Err(format!(
        "{}: the records of kernels cannot be written: {error}; name another folder in TMPDIR",
        folder.display()
    ))
}

/// The process and the kernel's number.
fn order(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

fn parsed(path: &Path) -> Result<KernelRecord, String> {
    let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn one(folder: &Path, name: &str) -> Result<RecordedKernel, String> {
    let record = parsed(&folder.join(name))?;
    if record.version != env!("CARGO_PKG_VERSION") {
        return Err(format!("the driver is of version {}, this program of another", record.version));
    }
    let model = record.gpu.as_deref().and_then(Model::named);
    let time = record.predicted.as_ref().zip(model);
    let predicted = match &record.not_predicted {
        Some(why) => Some(recorded::not_predicted(why.clone())),
        None => {
            time.and_then(|(times, model)| recorded::predicted(model, times.all_us / 1e3, &times.bound, times.warm))
        }
    };
    Ok(RecordedKernel {
        counted: record.report(folder)?,
        shapes: record.shapes.iter().map(|(shape, count)| (config(shape), *count)).collect(),
        kernel: record.kernel,
        module: record.module,
        launches: record.launches,
        seconds: record.seconds,
        predicted,
        registers: None,
        findings: record.findings.into_iter().map(fault).collect(),
        findings_beyond: record.findings_beyond,
        orders: record.orders,
        stopped: record.stopped.map(fault),
    })
}

fn fault(FaultRecord { kind, text, place, count }: FaultRecord) -> RecordedFault {
    let (file, line) = place.unzip();
    RecordedFault { kind, text, file, line, count }
}

fn config(shape: &Shape) -> LaunchConfig {
    let &Shape { grid, block, dynamic_shared, cooperative, cluster } = shape;
    LaunchConfig { dynamic_shared, cooperative, cluster, ..LaunchConfig::new(grid, block) }
}
