//! `host list` and `host devices`, in any of the formats. `cli` calls it; `check`, `course`,
//! `compare` and `run` write JSON and tables with its helpers.

use std::io::Write;

use comfy_table::{ContentArrangement, Table, presets};
use device::{Device, Properties, Result};
use serde_json::{Value, json};
use simt::Model;

use crate::report::Format;
use crate::{labs, units};

/// The help of `host devices`, which is also the course's first lab.
pub const ABOUT_DEVICES: &str =
    "List the devices and their properties: all of them, or only the one that --device names";

/// Lists the labs. The table shows how many kernels each lab has; the other formats have the
/// kernels' names.
///
/// # Errors
///
/// [`device::Error::Output`] when writing to `out` fails.
pub fn labs(format: Format, out: &mut dyn Write) -> Result<()> {
    let titles = ["lab", "what it shows", "kernels"];
    let devices = std::iter::once(("devices", ABOUT_DEVICES, Vec::new()));
    let labs = labs::ALL.iter().map(|lab| (lab.name, lab.about, lab.kernels().collect()));
    let labs: Vec<(&str, &str, Vec<&str>)> = devices.chain(labs).collect();
    let row = |(name, about, kernels): &(&str, &str, Vec<&str>)| {
        let kernels = match format {
            Format::Table if kernels.is_empty() => "-".to_owned(),
            Format::Table => kernels.len().to_string(),
            _ => kernels.join(", "),
        };
        vec![(*name).to_owned(), (*about).to_owned(), kernels]
    };
    let rows = labs.iter().map(row).collect();
    let json =
        labs.iter().map(|(name, about, kernels)| json!({"lab": name, "about": about, "kernels": kernels})).collect();
    write(format, &titles, rows, json, out)?;
    if format == Format::Table {
        writeln!(out, "\n`host LAB --help` has a lab's flags, `host list --format json` the kernels' names.")?;
    }
    Ok(())
}

/// Lists the devices, one column each; `models` of the simulator in a table of their own, one row
/// each.
///
/// # Errors
///
/// [`device::Error::Output`] when writing to `out` fails.
pub fn devices(devices: &[Device], models: &[Properties], format: Format, out: &mut dyn Write) -> Result<()> {
    let all: Vec<&Properties> = devices.iter().map(Device::properties).chain(models).collect();
    let json = all.iter().map(|device| json!(device)).collect();
    if format != Format::Table || models.is_empty() {
        let (titles, rows) = by_columns(&all);
        return write(format, &titles.iter().map(String::as_str).collect::<Vec<_>>(), rows, json, out);
    }
    let gpus = devices.iter().filter(|device| device.properties().is_gpu()).count();
    if gpus == 0 {
        writeln!(out, "{NO_GPU}")?;
    } else {
        let (titles, rows) = by_columns(&all[..devices.len()]);
        write(format, &titles.iter().map(String::as_str).collect::<Vec<_>>(), rows, Value::Null, out)?;
    }
    writeln!(out, "\n{MODELS}\n")?;
    // The newest first: most readers look for theirs.
    let rows = models.iter().rev().map(|model| model_row(model).to_vec()).collect();
    write(format, &MODEL_TITLES, rows, Value::Null, out)
}

/// Said where there is no GPU.
const NO_GPU: &str =
    "No GPU here: the simulator stands in. Without a model it counts like every GPU from Volta to Hopper;
a model adds SMs, caches and predicted times.";

/// Said above the table of models.
const MODELS: &str = "Models, for --device sim:MODEL. Threads, L1 and shared memory are per multiprocessor (SM). Where
L1 and shared memory divide one memory, each is at its largest. DRAM: predicted streaming reads.";

/// Titles, and a row for each property.
fn by_columns(devices: &[&Properties]) -> (Vec<String>, Vec<Vec<String>>) {
    let name = |device: &&Properties| match (device.index, device.simulates) {
        (Some(index), _) => format!("gpu:{index}"),
        (None, Some(model)) => format!("sim:{model}"),
        (None, None) => "sim".to_owned(),
    };
    let titles = std::iter::once(String::new()).chain(devices.iter().map(name)).collect();
    let all: Vec<_> = devices.iter().map(|device| described(device)).collect();
    let row = |(index, name): (usize, &&str)| {
        std::iter::once((*name).to_owned()).chain(all.iter().map(|device| device[index].clone())).collect()
    };
    // A property that no device has says nothing.
    let known = |row: &Vec<String>| row[1..].iter().any(|value| value != "-");
    (titles, PROPERTIES.iter().enumerate().map(row).filter(known).collect())
}

/// The columns of the table of models.
const MODEL_TITLES: [&str; 9] =
    ["MODEL", "chip", "CC", "SMs", "threads", "L1, KiB", "L2, KiB", "shared, KiB", "DRAM, GB/s"];

/// A model in the table of models.
fn model_row(model: &Properties) -> [String; 9] {
    let or_dash = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let chip = ["simulator of ", "GeForce ", "Tesla "]
        .into_iter()
        .fold(model.name.as_str(), |name, maker| name.strip_prefix(maker).unwrap_or(name));
    [
        model.simulates.unwrap_or_default().to_owned(),
        chip.split(" (").next().unwrap_or_default().to_owned(),
        model.compute_capability.to_string(),
        or_dash(model.multiprocessors.map(u64::from)),
        or_dash(model.max_threads_per_multiprocessor.map(u64::from)),
        or_dash(model.l1_bytes.map(|bytes| bytes >> 10)),
        or_dash(model.l2_bytes.map(|bytes| bytes >> 10)),
        or_dash(model.shared_sizes.iter().max().map(|bytes| u64::from(bytes >> 10))),
        or_dash(model.simulates.and_then(Model::named).and_then(Model::dram_gbps).map(|gbps| gbps as u64)),
    ]
}

/// Sizes in KiB.
fn kibibytes(bytes: &[u32]) -> String {
    bytes.iter().map(|size| (size >> 10).to_string()).collect::<Vec<_>>().join(" ")
}

/// Sizes of shared memory.
fn sizes(bytes: &[u32]) -> String {
    match bytes {
        [] => "-".to_owned(),
        sizes => format!("{} KiB", kibibytes(sizes)),
    }
}

/// The properties that are listed, in the order of [`described`].
const PROPERTIES: [&str; 24] = [
    "name",
    "compute capability",
    "multiprocessors",
    "memory",
    "memory bus",
    "clock",
    "memory clock",
    "peak bandwidth",
    "peak of f32 arithmetic",
    "level-2 cache",
    "level-1 cache of a multiprocessor",
    "shared memory of a block",
    "  when the kernel opts in",
    "shared memory of a multiprocessor",
    "  sizes it can have (carveouts)",
    "threads of a block",
    "threads of a multiprocessor",
    "blocks of a multiprocessor",
    "registers of a multiprocessor",
    "alignment of pitched rows",
    "alignment of a texture's start",
    "alignment of a texture's rows",
    "driver, CUDA version",
    "PTX loaded, model",
];

/// A device's properties as text; a dash where it has none.
fn described(device: &Properties) -> [String; 24] {
    fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
        value.map_or("-".to_owned(), show)
    }
    let megahertz = |value: f64| format!("{value:.0} MHz");
    [
        device.name.clone(),
        device.compute_capability.to_string(),
        or_dash(device.multiprocessors, |count| count.to_string()),
        units::bytes(device.memory_bytes),
        or_dash(device.memory_bus_bits, |bits| format!("{bits} bits")),
        or_dash(device.clock_mhz, megahertz),
        or_dash(device.memory_clock_mhz, megahertz),
        or_dash(device.peak_gbps, |gbps| format!("{gbps:.0} GB/s")),
        or_dash(device.clock_mhz.and_then(|clock| device.peak_gflops(clock)), |gflops| format!("{gflops:.0} GFLOP/s")),
        or_dash(device.l2_bytes, units::bytes),
        or_dash(device.l1_bytes, units::bytes),
        units::bytes(device.shared_per_block),
        units::bytes(device.shared_per_block_opt_in),
        or_dash(device.shared_per_multiprocessor, units::bytes),
        sizes(&device.shared_sizes),
        device.max_threads_per_block.to_string(),
        or_dash(device.max_threads_per_multiprocessor, |count| count.to_string()),
        or_dash(device.max_blocks_per_multiprocessor, |count| count.to_string()),
        or_dash(device.registers_per_multiprocessor, |count| count.to_string()),
        units::bytes(device.pitch_alignment),
        units::bytes(device.texture_alignment),
        units::bytes(device.texture_pitch_alignment),
        match (&device.driver, &device.cuda_version) {
            (Some(driver), Some(cuda)) => format!("{driver}, {cuda}"),
            (None, Some(cuda)) => format!("-, {cuda}"),
            _ => "-".to_owned(),
        },
        match &device.model {
            Some(model) => format!("{}; {model}", device.ptx_target),
            None => device.ptx_target.clone(),
        },
    ]
}

/// Writes a list in the requested format: rows of text, or the same as JSON.
pub(crate) fn write(
    format: Format,
    titles: &[&str],
    rows: Vec<Vec<String>>,
    json: Value,
    out: &mut dyn Write,
) -> Result<()> {
    match format {
        Format::Table => {
            let mut table = Table::new();
            table
                .load_style(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(wording::WIDTH as u16)
                .set_header(titles.to_vec());
            table.add_rows(rows);
            for line in table.lines() {
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        Format::Json => writeln!(out, "{json:#}")?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut *out);
            let lines = std::iter::once(titles.iter().map(|title| (*title).to_owned()).collect());
            for line in lines.chain(rows) {
                writer.write_record(&line).map_err(std::io::Error::from)?;
            }
            writer.flush()?;
        }
        Format::Markdown => {
            writeln!(out, "| {} |", titles.join(" | "))?;
            writeln!(out, "|{}", " --- |".repeat(titles.len()))?;
            for row in rows {
                writeln!(out, "| {} |", row.join(" | "))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}
