//! `host list` and `host devices`: what there is, in any of the formats.

use std::io::Write;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use crate::device::{Device, Properties};
use crate::error::Result;
use crate::report::Format;
use crate::{labs, units};

/// Lists the labs.
///
/// # Errors
///
/// [`crate::Error::Output`] when `out` does not take it.
pub fn labs(format: Format, out: &mut dyn Write) -> Result<()> {
    let titles = ["lab", "what it shows", "kernels"];
    let rows = labs::ALL.iter().map(|lab| vec![lab.name.into(), lab.about.into(), lab.kernels.join(", ")]).collect();
    let json =
        labs::ALL.iter().map(|lab| json!({"lab": lab.name, "about": lab.about, "kernels": lab.kernels})).collect();
    write(format, &titles, rows, json, out)
}

/// Lists the devices, one column each.
///
/// # Errors
///
/// [`crate::Error::Output`] when `out` does not take it.
pub fn devices(devices: &[Device], format: Format, out: &mut dyn Write) -> Result<()> {
    let all: Vec<_> = devices.iter().map(|device| described(device.properties())).collect();
    let mut titles = vec![""];
    let names: Vec<String> = devices
        .iter()
        .map(|device| match device.properties().index {
            Some(index) => format!("gpu:{index}"),
            None => "sim".to_owned(),
        })
        .collect();
    titles.extend(names.iter().map(String::as_str));
    let rows = PROPERTIES
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let mut row = vec![(*name).to_owned()];
            row.extend(all.iter().map(|device| device[index].clone()));
            row
        })
        .collect();
    let json = devices.iter().map(|device| json!(device.properties())).collect();
    write(format, &titles, rows, json, out)
}

/// The properties that are listed, in the order of [`described`].
const PROPERTIES: [&str; 19] = [
    "name",
    "compute capability",
    "multiprocessors",
    "memory",
    "memory bus",
    "clock",
    "memory clock",
    "peak bandwidth",
    "level-2 cache",
    "shared memory of a block",
    "  when the kernel opts in",
    "shared memory of a multiprocessor",
    "threads of a block",
    "threads of a multiprocessor",
    "alignment of pitched rows",
    "alignment of textures",
    "alignment of texture rows",
    "driver, CUDA version",
    "PTX loaded, model",
];

/// A device's properties in words; a dash for what it has no such thing of.
fn described(device: &Properties) -> [String; 19] {
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
        or_dash(device.l2_bytes, units::bytes),
        units::bytes(device.shared_per_block),
        units::bytes(device.shared_per_block_opt_in),
        or_dash(device.shared_per_multiprocessor, units::bytes),
        device.max_threads_per_block.to_string(),
        or_dash(device.max_threads_per_multiprocessor, |count| count.to_string()),
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

/// Writes a list in the format: rows of text, or the JSON behind them.
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
                .set_width(100)
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
