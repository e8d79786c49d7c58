//! The simulator counts what an H200 counts: all rows of `data/h200.json`, equal to the digit (see
//! `data/README.md`).

use std::collections::BTreeMap;

use serde::Deserialize;
use simt::counts::MetricValue;
use simt::{Launch, Memory, Program};

#[derive(Deserialize)]
struct Row {
    case: String,
    kernel: String,
    grid: u32,
    block: u32,
    args: Vec<Argument>,
    counters: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Argument {
    Value(u32),
    Buffer(String),
}

/// The buffers of the rows, by name.
struct Buffers(BTreeMap<&'static str, u64>);

impl Buffers {
    fn new(memory: &mut Memory) -> Self {
        let mut buffers = BTreeMap::new();
        let mut add = |name, bytes: u64, words: Option<Vec<u32>>| {
            let address = memory.allocate(bytes).expect("the limit allows for all buffers");
            if let Some(words) = words {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                memory.write(address, &bytes).expect("the buffer holds its words");
            }
            buffers.insert(name, address);
        };
        const ELEMENTS: u64 = 1 << 24;
        const INDICES: u32 = 65536;
        add("A", 4 * ELEMENTS, None);
        add("B", 4 * ELEMENTS, None);
        add("I", 4 * ELEMENTS, None);
        add("O", 1 << 26, None);
        add("IDX0", 4 * u64::from(INDICES), None);
        let random = |i: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(12345) >> 8) & 0xffff;
        add("IDXR", 4 * u64::from(INDICES), Some((0..INDICES).map(random).collect()));
        let permuted = |i: u32| (i & !31) | ((7 * i + 3) & 31);
        add("IDXP", 4 * u64::from(INDICES), Some((0..INDICES).map(permuted).collect()));
        Self(buffers)
    }

    /// The address that `A` or `A+8` names.
    fn address(&self, text: &str) -> u64 {
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        self.0[name] + offset.parse::<u64>().expect("an offset is a number")
    }
}

#[test]
fn every_row_that_an_h200_counted_is_equal() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("data/h200.json")).expect("the data is JSON");
    assert_eq!(rows.len(), 72);
    let module =
        ptx::parse("patterns.ptx", include_str!("data/patterns.ptx")).unwrap_or_else(|errors| panic!("{errors}"));
    let mut memory = Memory::new(1 << 30);
    let program = Program::load(&module, &mut memory).unwrap_or_else(|error| panic!("{error}"));
    let buffers = Buffers::new(&mut memory);

    let mut differences = Vec::new();
    for row in &rows {
        let values: Vec<Vec<u8>> = row
            .args
            .iter()
            .map(|argument| match argument {
                Argument::Value(value) => value.to_le_bytes().to_vec(),
                Argument::Buffer(name) => buffers.address(name).to_le_bytes().to_vec(),
            })
            .collect();
        let arguments: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let launch = Launch {
            kernel: &row.kernel,
            grid: [row.grid, 1, 1],
            block: [row.block, 1, 1],
            arguments: &arguments,
            ..Launch::default()
        };
        let report = program.launch(&memory, &launch).unwrap_or_else(|error| panic!("{}: {error}", row.case));
        let metrics = report.counters().metrics();
        for (name, expected) in &row.counters {
            let metric =
                metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no counter {name}"));
            // The profiler shows 0 where nothing was counted, and rounds a ratio to two digits.
            let (counted, tolerance) = match metric.value {
                MetricValue::Count(count) => (count as f64, 0.0),
                MetricValue::Ratio(ratio) => (ratio.unwrap_or(0.0), 0.005 + 1e-9),
            };
            if (counted - expected).abs() > tolerance {
                differences.push(format!("{}: {name}: an H200 counts {expected}, the simulator {counted}", row.case));
            }
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
