//! The `hopper` model against what an H200 counted: all rows of `data/h200_caches.json` (see
//! `data/README.md`).
//!
//! Exact counters are asserted. For the rest, `data/hopper_model.csv` has each row's numbers,
//! measured and simulated, and `measurements/caches.md` the errors of each group of rows. This test writes
//! both with `COALESCE_BLESS=1 cargo test -p coalesce-simt --test caches`, and fails if they differ
//! from what the model gives.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;
use simt::counts::MetricValue;
use simt::tensors::TensorMap;
use simt::{Launch, Memory, Model, Program, Report};

#[derive(Clone, Deserialize)]
struct Row {
    case: String,
    module: String,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// Blocks of a cluster.
    cluster: Option<u32>,
    shared: u32,
    args: Vec<Argument>,
    launch: OnHardware,
    counters: BTreeMap<String, f64>,
}

/// What the driver and the profiler report of the launch.
#[derive(Clone, Copy, Deserialize)]
struct OnHardware {
    registers: u32,
    by_warps: u32,
    by_blocks: u32,
    by_registers: u32,
    occupancy: f64,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Argument {
    Word(u32),
    Wide((String, u64)),
    Buffer(String),
}

/// The buffers of the rows, by name.
fn buffers(memory: &mut Memory) -> BTreeMap<&'static str, u64> {
    const INDICES: u32 = 65536;
    let permuted = |i: u32| (i & !31) | ((7 * i + 3) & 31);
    let hashed = |i: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(12345) >> 8) & 0xffff;
    let contents: [(&str, u64, Vec<u32>); 9] = [
        ("A", 1 << 24, vec![]),
        ("B", 1 << 24, vec![]),
        ("I", 1 << 24, vec![]),
        ("O", 1 << 24, vec![]),
        ("W", 1 << 25, vec![]),
        ("IDX0", INDICES.into(), vec![]),
        ("IDXR", INDICES.into(), (0..INDICES).map(hashed).collect()),
        ("IDXP", INDICES.into(), (0..INDICES).map(permuted).collect()),
        ("RND", 1 << 20, (0..1 << 20).map(mixed).collect()),
    ];
    let place = |(name, words, values): (&'static str, u64, Vec<u32>)| {
        let address = memory.allocate(4 * words).expect("the limit allows for all buffers");
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        memory.write(address, &bytes).expect("the buffer holds its words");
        (name, address)
    };
    contents.into_iter().map(place).collect()
}

/// The finaliser of MurmurHash3: numbers without a pattern.
fn mixed(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

fn text(module: &str) -> &'static str {
    match module {
        "patterns.ptx" => include_str!("data/patterns.ptx"),
        "caches.ptx" => include_str!("data/caches.ptx"),
        "clusters.ptx" => include_str!("data/clusters.ptx"),
        "matmul.ptx" => include_str!("../benches/matmul.ptx"),
        "reduction.ptx" => include_str!("../benches/reduction.ptx"),
        "kernels.ptx" => include_str!("data/labs.ptx"),
        other => panic!("no module {other}"),
    }
}

struct Machine {
    memory: Memory,
    buffers: BTreeMap<&'static str, u64>,
    programs: BTreeMap<&'static str, Program>,
}

impl Machine {
    fn new() -> Self {
        let mut memory = Memory::new(1 << 30);
        let buffers = buffers(&mut memory);
        let programs = ["patterns.ptx", "caches.ptx", "clusters.ptx", "matmul.ptx", "reduction.ptx", "kernels.ptx"]
            .map(|name| {
                let module = ptx::parse(name, text(name)).unwrap_or_else(|errors| panic!("{errors}"));
                (name, Program::load(&module, &mut memory).unwrap_or_else(|error| panic!("{error}")))
            });
        Self { memory, buffers, programs: programs.into() }
    }

    fn run(&self, row: &Row, model: &'static Model, threads: Option<usize>) -> Report {
        let value = |argument: &Argument| match argument {
            Argument::Word(value) => value.to_le_bytes().to_vec(),
            Argument::Wide((_, value)) => value.to_le_bytes().to_vec(),
            // The map of a tensor in a buffer.
            Argument::Buffer(text) if text.contains(':') => {
                let (name, map) = text.split_once(':').expect("it has one");
                let map: TensorMap = map.parse().expect("the map is one");
                let map = TensorMap { address: self.buffers[name], ..map };
                map.encode().expect("the tensor is in its buffer").to_vec()
            }
            Argument::Buffer(text) => {
                let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
                (self.buffers[name] + offset.parse::<u64>().expect("an offset is a number")).to_le_bytes().to_vec()
            }
        };
        let values: Vec<Vec<u8>> = row.args.iter().map(value).collect();
        let arguments: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let launch = Launch {
            kernel: &row.kernel,
            grid: row.grid,
            block: row.block,
            cluster: row.cluster.map(|blocks| [blocks, 1, 1]),
            dynamic_shared: row.shared,
            shared_limit: 227 << 10,
            arguments: &arguments,
            model: Some(model),
            registers: Some(row.launch.registers),
            threads,
            ..Launch::default()
        };
        self.programs[row.module.as_str()]
            .launch(&self.memory, &launch)
            .unwrap_or_else(|error| panic!("{}: {error}", row.case))
    }
}

fn counted(report: &Report) -> BTreeMap<&'static str, f64> {
    let number = |value| match value {
        MetricValue::Count(count) => count as f64,
        MetricValue::Ratio(ratio) => ratio.unwrap_or(0.0),
    };
    report.counters().metrics().into_iter().map(|metric| (metric.name, number(metric.value))).collect()
}

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("data/h200_caches.json")).expect("the data is JSON")
}

const L1_HITS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum";
const LOCAL_HITS: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum";
const TO_L1: &str = "l1tex__m_xbar2l1tex_read_sectors.sum";
const FROM_L1: &str = "l1tex__m_l1tex2xbar_write_sectors.sum";
const L2_READS: &str = "lts__t_sectors_srcunit_tex_op_read.sum";
const L2_HITS: &str = "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum";
const L2_WRITES: &str = "lts__t_sectors_srcunit_tex_op_write.sum";
const DRAM_READ: &str = "dram__bytes_read.sum";
const DRAM_WRITE: &str = "dram__bytes_write.sum";

const LOADS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const STORES: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
const LOCAL_LOADS: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";

/// What is compared inexactly: the name in the tables, the counter, and what its error is a
/// percentage of.
const COMPARED: [(&str, &str, Whole); 9] = [
    ("L1 hits, global", L1_HITS, Whole::Of(LOADS)),
    ("L1 hits, local", LOCAL_HITS, Whole::Of(LOCAL_LOADS)),
    ("L2 to L1", TO_L1, Whole::Itself),
    ("L1 to L2", FROM_L1, Whole::Itself),
    ("L2 reads", L2_READS, Whole::Itself),
    ("L2 read hits", L2_HITS, Whole::Of(L2_READS)),
    ("L2 writes", L2_WRITES, Whole::Itself),
    ("DRAM read", DRAM_READ, Whole::Bytes),
    ("DRAM written", DRAM_WRITE, Whole::Bytes),
];

/// What an error is a percentage of.
enum Whole {
    /// The measured value.
    Itself,
    /// Another measured value.
    Of(&'static str),
    /// The measured bytes to and from DRAM.
    Bytes,
}

/// Bytes that an H200 reads beside the kernel's data, which the model does not have: instructions,
/// constants, parameters.
const OWN_TRAFFIC: f64 = 8192.0;

impl Whole {
    /// The error in percent; `None` if there is nothing to compare.
    fn error(&self, row: &Row, name: &str, simulated: f64) -> Option<f64> {
        let measured = |name: &str| row.counters.get(name).copied().unwrap_or(0.0);
        let whole = match self {
            Self::Itself => measured(name),
            Self::Of(other) => measured(other),
            Self::Bytes => measured(DRAM_READ) + measured(DRAM_WRITE),
        };
        let difference = simulated - measured(name);
        let difference = match self {
            Self::Bytes if difference.abs() <= OWN_TRAFFIC => 0.0,
            _ => difference,
        };
        match (difference == 0.0, whole == 0.0) {
            (true, true) => None,
            (true, false) => Some(0.0),
            (false, _) => Some(difference * 100.0 / whole.max(1.0)),
        }
    }
}

/// Groups of rows: the start of their names, and what they are about.
const GROUPS: [(&[&str], &str); 13] = [
    (&["l1_"], "one block reads 16 KiB to 512 KiB twice: sizes, carveouts, operators, strides"),
    (&["l2_"], "the grid reads 1 MiB to 96 MiB twice"),
    (&["share"], "every block reads the same 16 KiB to 1 MiB"),
    (&["gather"], "random words of 64 KiB to 64 MiB"),
    (&["fill", "update"], "stores: up to 96 MiB, strided, after loads"),
    (&["write_read", "read_write", "red_", "atom", "fence"], "loads after stores, atomic operations and fences"),
    (&["local"], "local memory"),
    (&["transpose"], "the transposes of the lab"),
    (&["offset"], "the lab of misaligned reads and writes"),
    (&["matmul", "reduce"], "a matrix product and a reduction"),
    (&["cluster"], "clusters of 2 to 16 blocks"),
    (&["bulk", "tensor"], "bulk copies and boxes of tensors by the copy engine"),
    (&[""], "72 launches of access patterns"),
];

fn group_of(case: &str) -> usize {
    let found = GROUPS.iter().position(|(starts, _)| starts.iter().any(|start| case.starts_with(start)));
    // Earlier patterns have names like these.
    if matches!(case, "gather_random" | "gather_same") || case.ends_with("_st") {
        GROUPS.len() - 1
    } else {
        found.unwrap_or(0)
    }
}

/// Whether a row takes more than a second. Such rows only run when the tables are written.
fn is_long(row: &Row) -> bool {
    row.counters[TO_L1] + row.counters[FROM_L1] > 5e5
}

/// What the model counts for a row, as a line of the table; counters that must be equal but are not
/// go to `unequal`.
fn line_of(machine: &Machine, row: &Row, model: &'static Model, unequal: &mut Vec<String>) -> String {
    let report = machine.run(row, model, None);
    let counted = counted(&report);
    for name in [LOADS, STORES, LOCAL_LOADS] {
        if row.counters[name] != counted[name] {
            let (measured, simulated) = (row.counters[name], counted[name]);
            unequal.push(format!("{}: {name}: an H200 counts {measured}, the model {simulated}", row.case));
        }
    }
    let found = report.occupancy().expect("there is a model");
    let expected = (row.launch.by_warps, row.launch.by_blocks, row.launch.by_registers, row.launch.occupancy);
    let found = (found.by_warps, found.by_blocks, found.by_registers.unwrap_or(0), found.percent());
    if expected != found {
        unequal.push(format!("{}: occupancy: {expected:?} on an H200, {found:?} in the model", row.case));
    }
    let mut line = row.case.clone();
    for (_, name, _) in COMPARED {
        let measured = row.counters.get(name).copied().unwrap_or(0.0);
        write!(line, ",{measured},{}", counted[name]).expect("a string takes everything");
    }
    line
}

#[test]
fn the_hopper_model_is_as_far_from_an_h200_as_is_stated() {
    let machine = Machine::new();
    let model = Model::named("hopper").expect("there is one");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/data/hopper_model.csv");
    let stated = std::fs::read_to_string(&path).unwrap_or_default();
    let rows = rows();
    let mut table =
        COMPARED.iter().fold(String::from("case"), |head, (title, ..)| format!("{head},{title}: H200,{title}: model"));
    table.push('\n');
    let mut unequal = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let line = match stated.lines().nth(index + 1) {
            Some(line) if is_long(row) && !blesses() => line.to_owned(),
            _ => line_of(&machine, row, model, &mut unequal),
        };
        table += &line;
        table.push('\n');
    }
    assert!(unequal.is_empty(), "{} differences:\n{}", unequal.len(), unequal.join("\n"));
    check_or_bless(&path, |_| table.clone());
    let summary = summary(&rows, &table);
    check_or_bless(&root.join("../../measurements/caches.md"), |text| {
        const MARKS: [&str; 2] = ["<!-- errors: begin -->\n", "<!-- errors: end -->"];
        let (before, rest) = text.split_once(MARKS[0]).expect("the page has the mark");
        let (_, after) = rest.split_once(MARKS[1]).expect("the page has the mark");
        format!("{before}{}{summary}{}{after}", MARKS[0], MARKS[1])
    });
}

/// A table of the errors of each group: the median of their sizes and the largest.
fn summary(rows: &[Row], table: &str) -> String {
    let mut errors = vec![vec![Vec::new(); COMPARED.len()]; GROUPS.len()];
    let mut counts = [0; GROUPS.len()];
    for (row, line) in rows.iter().zip(table.lines().skip(1)) {
        let group = group_of(&row.case);
        counts[group] += 1;
        let simulated = line.split(',').skip(2).step_by(2).map(|number| number.parse().expect("the table has numbers"));
        for (index, ((_, name, whole), simulated)) in COMPARED.iter().zip(simulated).enumerate() {
            errors[group][index].extend(whole.error(row, name, simulated));
        }
    }
    let mut text = String::from("| rows | launches |");
    for (title, ..) in COMPARED {
        write!(text, " {title} |").unwrap();
    }
    text += "\n| --- | ---: |";
    text += &" ---: |".repeat(COMPARED.len());
    text.push('\n');
    for (((_, about), errors), count) in GROUPS.iter().zip(errors).zip(counts) {
        write!(text, "| {about} | {count} |").unwrap();
        for errors in errors {
            let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
            sizes.sort_unstable_by(f64::total_cmp);
            match sizes.last() {
                None => text += " - |",
                Some(&0.0) => text += " exact |",
                Some(largest) => write!(text, " {:.1}, {largest:.1} |", sizes[sizes.len() / 2]).unwrap(),
            }
        }
        text.push('\n');
    }
    text
}

/// Compares a file with what it should be, or writes it if blessing.
fn check_or_bless(path: &Path, make: impl FnOnce(&str) -> String) {
    let old = std::fs::read_to_string(path).unwrap_or_default();
    let new = make(&old);
    if blesses() {
        std::fs::write(path, &new).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    } else {
        assert!(old == new, "{} is not what the model gives: run with COALESCE_BLESS=1", path.display());
    }
}

fn blesses() -> bool {
    std::env::var_os("COALESCE_BLESS").is_some()
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_hosts_threads_change_nothing() {
    let machine = Machine::new();
    let rows = rows();
    let wanted = [
        "transpose_strided_writes_1024",
        "gather_1M",
        "atom_step4",
        "local_64_132",
        "reduce",
        "share_64K",
        "cluster_bins_of_4",
        "cluster_share_16K_of_16",
        "bulk_multicast_of_4",
    ];
    for row in rows.iter().filter(|row| wanted.contains(&row.case.as_str())) {
        for model in ["fermi", "hopper"] {
            let model = Model::named(model).unwrap();
            if row.module == "clusters.ptx" && model.gpcs.is_empty() {
                continue;
            }
            let limited = Row { launch: OnHardware { registers: 16, ..row.launch }, ..row.clone() };
            let one = machine.run(&limited, model, Some(1));
            for threads in [2, 5] {
                let other = machine.run(&limited, model, Some(threads));
                assert!(one == other, "{} on {} with {threads} threads", row.case, model.name);
            }
        }
    }
}
