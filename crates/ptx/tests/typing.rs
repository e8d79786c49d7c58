//! What each instruction becomes: every line of `data/instructions.ptx` with its kind of operation
//! and, beneath it, how the operation is printed, if that differs. Pinned in `snapshots`, one file
//! for each family.

use super::files::{text, variant};
use ptx::{Function, Module, Op};
use std::fmt::Write as _;

fn parse(text: &str) -> Module {
    ptx::parse("instructions.ptx", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn listing(module: &Module, function: &Function) -> String {
    let mut listing = String::new();
    for instruction in function.body.iter().flatten() {
        let (text, printed) = (text(module, instruction), instruction.in_function(module, function));
        writeln!(listing, "{:<20}{text}", variant(&instruction.op).1).expect("a string takes all");
        let same = text.split_whitespace().eq(printed.split_whitespace());
        if !same {
            writeln!(listing, "{:<20}{printed}", "").expect("a string takes all");
        }
    }
    listing
}

#[test]
fn instructions_become_what_they_mean() {
    for text in [include_str!("data/instructions.ptx"), include_str!("data/instructions_100.ptx")] {
        let module = parse(text);
        for (_, kernel) in module.kernels() {
            insta::assert_snapshot!(kernel.name.as_str(), listing(&module, kernel));
        }
    }
}

#[test]
fn additions_of_f32_flush_subnormal_numbers_except_in_shared_memory() {
    let module = parse(include_str!("data/instructions.ptx"));
    let bodies = module.functions.iter().filter_map(|(_, function)| function.body.as_ref());
    let flushing = bodies.flatten().filter(|instruction| {
        let (Op::Atomic { flush_subnormals, .. } | Op::AtomicVector { flush_subnormals, .. }) = instruction.op else {
            return false;
        };
        flush_subnormals
    });
    let flushing: Vec<&str> = flushing.map(|instruction| text(&module, instruction)).collect();
    insta::assert_snapshot!(flushing.join("\n"), @r"
    atom.global.add.f32 %f1, [%rd1], %f2;
    red.global.add.f32 [%rd1], %f1;
    red.relaxed.gpu.global.add.v2.f32 [%rd1], {%f1, %f2};
    ");
}
