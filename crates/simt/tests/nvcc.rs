//! The simulator counts for nvcc's PTX what an H100 counts, whose driver makes machine code of it:
//! with fewer and wider accesses to memory (simt's `program/requests`).
//!
//! `data/nvcc.cu` has programs as courses have them, `data/h100_nvcc.json` their launches and what
//! Nsight Compute counted.

use std::collections::BTreeMap;

use serde::Deserialize;
use simt::counts::MetricValue;
use simt::{Launch, Memory, Program};

#[derive(Deserialize)]
struct Counted {
    metrics: Vec<String>,
    launches: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    args: Vec<Argument>,
    counts: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Argument {
    Value(u32),
    Buffer(String),
}

/// Launches whose counts are known to differ, and why.
const DIFFER: [(&str, &str); 2] = [
    ("float_atomics", "other warps change the words between a load and its compare-and-swap"),
    ("atomics", "the order of the atomic operations decides which words are written"),
];

/// The buffers of the rows, by name.
fn buffers(memory: &mut Memory) -> BTreeMap<&'static str, u64> {
    const ELEMENTS: u64 = 1 << 20;
    let words: Vec<u32> = (0..ELEMENTS).map(|index| ((index * 2_654_435_761 + 12345) >> 8 & 0xffff) as u32).collect();
    let floats: Vec<f32> = words.iter().map(|word| (word % 1000) as f32 / 8.0).collect();
    let bytes = |words: &mut dyn Iterator<Item = u32>| words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let contents = [
        ("A", bytes(&mut floats.iter().map(|float| float.to_bits()))),
        ("B", bytes(&mut floats.iter().rev().map(|float| float.to_bits()))),
        ("I", bytes(&mut words.iter().copied())),
        ("D", floats.iter().flat_map(|&float| f64::from(float).to_le_bytes()).collect()),
        ("H", vec![0; 2 * ELEMENTS as usize]),
        ("C", vec![0; 8 * ELEMENTS as usize]),
    ];
    contents
        .into_iter()
        .map(|(name, bytes)| {
            let address = memory.allocate(bytes.len() as u64).expect("there is room");
            memory.write(address, &bytes).expect("the buffer holds its words");
            (name, address)
        })
        .collect()
}

#[test]
fn programs_by_nvcc_count_what_an_h100_counts() {
    let counted: Counted = serde_json::from_str(include_str!("data/h100_nvcc.json")).expect("the data is JSON");
    let module = ptx::parse("nvcc.ptx", include_str!("data/nvcc.ptx")).unwrap_or_else(|errors| panic!("{errors}"));
    let mut memory = Memory::new(1 << 30);
    let program = Program::load(&module, &mut memory).unwrap_or_else(|error| panic!("{error}"));
    let buffers = buffers(&mut memory);
    let (mut differences, mut differ) = (Vec::new(), Vec::new());
    for row in &counted.launches {
        let zeros = vec![0; 8 << 20];
        memory.write(buffers["C"], &zeros).expect("the buffer holds its words");
        let values: Vec<Vec<u8>> = row
            .args
            .iter()
            .map(|argument| match argument {
                Argument::Value(value) => value.to_le_bytes().to_vec(),
                Argument::Buffer(name) => buffers[name.as_str()].to_le_bytes().to_vec(),
            })
            .collect();
        let arguments: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let (grid, block, dynamic_shared) = (row.grid, row.block, row.shared);
        let launch =
            Launch { kernel: &row.kernel, grid, block, dynamic_shared, arguments: &arguments, ..Launch::default() };
        let report = program.launch(&memory, &launch).unwrap_or_else(|error| panic!("{}: {error}", row.kernel));
        let metrics = report.counters().metrics();
        let mut found = Vec::new();
        for (name, &expected) in counted.metrics.iter().zip(&row.counts) {
            let ours = name.replace("smsp__sass_l1tex_", "l1tex__");
            let value = metrics.iter().find(|metric| metric.name == ours).expect("the simulator counts it").value;
            if value != MetricValue::Count(expected) {
                found.push(format!("{}: {name}: an H100 counts {expected}, the simulator {value:?}", row.kernel));
            }
        }
        if DIFFER.iter().any(|(kernel, _)| *kernel == row.kernel) {
            assert!(!found.is_empty(), "{} is equal now", row.kernel);
            differ.push(row.kernel.as_str());
        } else {
            differences.append(&mut found);
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(differ.len(), DIFFER.len());
    assert!(counted.launches.len() >= 35);
}

/// What `ptxas` does with memory instructions, one question in each kernel.
#[test]
fn small_kernels_make_the_requests_of_their_machine_code() {
    const COUNTERS: [&str; 6] = [
        "smsp__sass_inst_executed_op_shared_ld.sum",
        "smsp__sass_inst_executed_op_shared_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    ];
    let mut differences = Vec::new();
    let kernels = include_str!("data/ptxas.txt").split("\n== ").skip(1);
    let mut count = 0;
    for text in kernels {
        let (head, body) = text.split_once('\n').expect("a line, then the body");
        let (name, counts) = head.split_once(':').expect("the counts are behind a colon");
        let mut words = name.split_whitespace();
        let name = words.next().expect("a name");
        let more: Vec<&str> = words.collect();
        let parameters: String = more
            .iter()
            .map(|one| match *one {
                "in" => ", .param .u64 in",
                "in8" => ", .param .u64 .ptr .global .align 8 in",
                "in16" => ", .param .u64 .ptr .global .align 16 in",
                "n" => ", .param .u32 n",
                other => panic!("{name}: a parameter {other}"),
            })
            .collect();
        let is_global = |line: &&str| line.starts_with('.') && !line.starts_with(".local");
        let (outside, inside): (Vec<&str>, Vec<&str>) = body.lines().partition(is_global);
        let text = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n{}\n.visible .entry {name}(.param .u64 out{parameters})\n{{\n\
             .reg .pred %p<9>;\n.reg .b16 %h<20>;\n.reg .b32 %r<99>;\n.reg .f32 %f<101>;\n.reg .f64 %fd<9>;\n\
             .reg .b64 %rd<50>;\nld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n\
             ld.global.v4.f32 {{%f60, %f61, %f62, %f63}}, [%rd2+1024];\nmov.f32 %f50, %f60;\nmov.f32 %f54, %f61;\n\
             mov.f32 %f58, %f62;\nmov.f32 %f62, %f63;\n{}\nret;\n}}\n",
            outside.join("\n"),
            inside.join("\n"),
        );
        let module = ptx::parse(name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        let mut memory = Memory::new(1 << 30);
        let program = Program::load(&module, &mut memory).unwrap_or_else(|error| panic!("{error}"));
        let mut buffer = || memory.allocate(1 << 16).expect("there is room").to_le_bytes().to_vec();
        let values: Vec<Vec<u8>> = std::iter::once(buffer())
            .chain(more.iter().map(|one| if *one == "n" { 1u32.to_le_bytes().to_vec() } else { vec![] }))
            .collect();
        let other = buffer();
        let arguments: Vec<&[u8]> =
            values.iter().map(|value| if value.is_empty() { &other[..] } else { &value[..] }).collect();
        let (block, dynamic_shared) = ([32, 1, 1], 4096);
        let launch = Launch { kernel: name, block, dynamic_shared, arguments: &arguments, ..Launch::default() };
        count += 1;
        let report = match program.launch(&memory, &launch) {
            Ok(report) => report,
            Err(error) => {
                differences.push(format!("{name}: {error}"));
                continue;
            }
        };
        let metrics = report.counters().metrics();
        let expected = counts.split_whitespace().map(|count| count.parse::<u64>().expect("a number"));
        for (counter, expected) in COUNTERS.into_iter().zip(expected) {
            let metric = metrics.iter().find(|metric| metric.name == counter).expect("the simulator counts it");
            if metric.value != MetricValue::Count(expected) {
                differences
                    .push(format!("{name}: {counter}: ptxas makes {expected}, the simulator {:?}", metric.value));
            }
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(count > 150, "{count} kernels");
}
