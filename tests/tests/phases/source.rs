//! A random kernel as Rust.

use super::program::{COLS, Phase, Program, ROWS, THREADS, Value};

/// What stands before the kernels.
pub const PRELUDE: &str = "#![no_std]
#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]
#![allow(unused)]

use cuda_std::phases::{Block, Shared};
use cuda_std::{DisjointMatrix, kernel, thread};

/// The element at an index, modulo the length.
#[inline(always)]
fn at<const N: usize>(array: &[u32; N], index: u32) -> u32 {
    array[index as usize % N]
}

/// The thread's index in the launch.
fn index(number: u32) -> usize {
    (64 * thread::block_idx_x() + number) as usize
}
";

/// The kernel, with this name.
pub fn kernel(name: &str, program: &Program) -> String {
    format!(
        "
#[kernel(block(32, 2))]
pub fn {name}(
    mut block: Block<32, 2>,
    mut a0: Shared<[u32; {THREADS}]>,
    mut a1: Shared<[u32; {THREADS}]>,
    mut a2: Shared<[u32; {THREADS}]>,
    mut rows: Shared<[[u32; 33]; {ROWS}]>,
    input: &[u32],
    mut output: DisjointMatrix<u32>,
) {{
    let mut kept = 0_u32;
    block.update((&mut a0, &mut a1, &mut a2), |thread, (a0, a1, a2)| {{
        (*a0.one(), *a1.one(), *a2.one()) = (thread.number(), 1, 2);
    }});
    block.update(&mut rows, |thread, mut own| own.each(|row, element| *element = row));
{phases}    block.finish(|thread| {{
        let t = thread.number();
        let sum = kept
            .wrapping_add(at(a0.read(thread), t))
            .wrapping_add(at(a1.read(thread), t))
            .wrapping_add(at(a2.read(thread), t))
            .wrapping_add(at(&rows.read(thread)[t as usize % {ROWS}], t % {COLS}));
        if let Some(to) = output.get_mut(thread.position()) {{
            *to = sum;
        }}
    }});
}}
",
        phases = phases(&program.phases, 1)
    )
}

fn phases(phases: &[Phase], depth: usize) -> String {
    let indent = "    ".repeat(depth);
    phases.iter().map(|one| format!("{indent}{}\n", phase(one, depth))).collect()
}

fn phase(phase: &Phase, depth: usize) -> String {
    let closing = "    ".repeat(depth);
    match phase {
        Phase::Fill { array, value } => {
            format!("block.fill(&mut a{array}, |thread, _| {});", text(value))
        }
        Phase::Update { arrays, skip, value } => {
            let names: Vec<String> = arrays.iter().map(|array| format!("&mut a{array}")).collect();
            let (tiles, own, store) = match names.as_slice() {
                [one] => (one.clone(), "a", "*a.one() = value;"),
                _ => (format!("({})", names.join(", ")), "(a, b)", "*a.one() = value; *b.one() = !value;"),
            };
            let value = text(value);
            format!(
                "block.update({tiles}, |thread, {own}| if thread.number() % 3 != {skip} {{ let value = {value}; {store} }});"
            )
        }
        Phase::UpdateRows { value } => format!(
            "block.update(&mut rows, |thread, mut own| own.each(|row, element| *element = row.wrapping_add({})));",
            text(value)
        ),
        Phase::Pairs { array, distance } => {
            format!("block.pairs(&mut a{array}, {distance}, |first, second| *first = first.wrapping_add(*second));")
        }
        Phase::Each { skip, value } => format!(
            "block.each(|thread| if thread.number() % 3 != {skip} {{ kept = kept.wrapping_add({}); }});",
            text(value)
        ),
        Phase::Swap(a, b) if a == b => String::new(),
        Phase::Swap(a, b) => format!("a{a}.swap(&mut a{b});"),
        Phase::WarpReduce => "kept = block.warp_reduce(kept, u32::wrapping_add);".to_owned(),
        Phase::Repeat { times, phases: inner } => {
            format!("for _ in 0..{times} {{\n{}{closing}}}", phases(inner, depth + 1))
        }
        Phase::InBlock { block, phases: inner } => {
            format!("if thread::block_idx_x() == {block} {{\n{}{closing}}}", phases(inner, depth + 1))
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Constant(constant) => format!("{constant}_u32"),
        Value::Number => "thread.number()".to_owned(),
        Value::Kept => "kept".to_owned(),
        Value::Input => "input.get(index(thread.number())).copied().unwrap_or(0)".to_owned(),
        Value::Array(array, index) => format!("at(a{array}.read(thread), {})", text(index)),
        Value::Rows(row, col) => {
            format!("at(&rows.read(thread)[({}) as usize % {ROWS}], ({}) % {COLS})", text(row), text(col))
        }
        Value::Sum(a, b) => format!("({}).wrapping_add({})", text(a), text(b)),
        Value::Product(a, factor) => format!("({}).wrapping_mul({factor})", text(a)),
    }
}
