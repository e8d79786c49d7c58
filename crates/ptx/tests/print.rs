//! What `print` writes is PTX that means the same: the text of every instruction, in the place of
//! the original, is parsed to the same operation.

use super::files::text;
use super::targets::module;
use ptx::{Callee, ControlOp, Function, Instruction, Module, Op, Space};
use std::collections::BTreeMap;
use std::path::Path;

/// An instruction as it is printed; where that is no PTX, with the label or the name of the table
/// that the module's text has.
fn printed(module: &Module, function: &Function, instruction: &Instruction) -> String {
    let printed = instruction.in_function(module, function);
    let without_semicolon = text(module, instruction).trim_end_matches(';').trim_end();
    let last = without_semicolon.rsplit([' ', '\t', ',']).next().unwrap_or_default();
    let cut = match &instruction.op {
        Op::Control(ControlOp::Branch { .. }) => printed.rfind('L'),
        Op::Control(ControlOp::BranchIndexed { .. } | ControlOp::Call { callee: Callee::Indirect { .. }, .. }) => {
            printed.rfind('{')
        }
        _ => None,
    };
    match cut {
        Some(cut) => format!("{}{last};", &printed[..cut]),
        None => printed,
    }
}

/// The instructions that the text spells out, by where they begin. Others load parameters that are
/// registers, and store results.
fn spelt(module: &Module) -> BTreeMap<u32, (&Function, &Instruction)> {
    let mut found = BTreeMap::new();
    for (_, function) in module.functions.iter() {
        for instruction in function.body.iter().flatten() {
            let span = instruction.span;
            let is_statement = module.text[..span.end as usize].ends_with(';');
            let passes = matches!(
                instruction.op,
                Op::Load { space: Space::Parameter, .. } | Op::Store { space: Space::Parameter, .. }
            );
            if is_statement && !(passes && found.contains_key(&span.start)) {
                found.insert(span.start, (function, instruction));
            }
        }
    }
    found
}

/// The module's text with the instructions for which `is_chosen` holds, given their text and what
/// is printed, as they are printed.
fn rewritten(module: &Module, is_chosen: impl Fn(&str, &str) -> bool) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (&start, &(function, instruction)) in &spelt(module) {
        let printed = printed(module, function, instruction);
        let original = text(module, instruction);
        out += &module.text[at..start as usize];
        out += if is_chosen(original, &printed) { &printed } else { original };
        at = instruction.span.end as usize;
    }
    out + &module.text[at..]
}

/// Whether no register is lost, such as that of a cache policy. A register gets its handle where it
/// is first named.
fn names_all(original: &str, printed: &str) -> bool {
    let words = original.split(|c: char| !c.is_alphanumeric() && !"%_$".contains(c));
    words.filter(|word| word.starts_with('%')).all(|word| printed.contains(word))
}

/// The instructions of a module, each with its function.
fn instructions(module: &Module) -> impl Iterator<Item = (&Function, &Instruction)> {
    let functions = module.functions.iter().map(|(_, function)| function);
    functions.flat_map(|function| function.body.iter().flatten().map(move |instruction| (function, instruction)))
}

/// Checks every instruction of a text.
pub(super) fn check(name: &str, ptx: &str) {
    let parse = |text: &str| ptx::parse(name, text).unwrap_or_else(|errors| panic!("{errors}"));
    let module = parse(ptx);
    let with_all = parse(&rewritten(&module, |_, _| true));
    let with_most = parse(&rewritten(&module, names_all));
    for again in [&with_all, &with_most] {
        assert_eq!(instructions(again).count(), instructions(&module).count(), "{name}");
    }
    for (((of, old), (_, new)), (of_all, all)) in
        instructions(&module).zip(instructions(&with_most)).zip(instructions(&with_all))
    {
        let (original, printed) = (text(&module, old), old.in_function(&module, of));
        assert_eq!((&new.op, new.guard), (&old.op, old.guard), "{name}: {original} is {printed}");
        assert_eq!(all.in_function(&with_all, of_all), printed, "{name}: {original}");
    }
}

#[test]
fn printed_files_are_parsed_to_the_same_operations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for folder in [folder.join("tests/data"), folder.join("../../kernels/ptx"), folder.join("../../kernels/best/ptx")] {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            let name = path.to_string_lossy();
            if name.ends_with(".ptx") && !name.ends_with(".sm_75.ptx") && !name.ends_with("best_kernels.sm_80.ptx") {
                check(&name, &std::fs::read_to_string(&path).expect("a readable file"));
                count += 1;
            }
        }
    }
    assert!(count >= 7, "{count}");
}

#[test]
fn printed_examples_are_parsed_to_the_same_operations() {
    let versions = include_str!("data/versions.txt").lines().map(|line| line.splitn(3, ' ').last());
    let targets = include_str!("data/targets.txt").lines().map(|line| line.splitn(2, ' ').last());
    let mut count = 0;
    for instruction in versions.chain(targets).flatten().filter(|line| line.ends_with(';')) {
        let texts = ["90a", "100a"].map(|target| module("8.8", target, instruction));
        let accepted = texts.iter().find(|text| ptx::parse(instruction, text).is_ok());
        check(instruction, accepted.unwrap_or_else(|| panic!("{instruction}")));
        count += 1;
    }
    assert!(count > 400, "{count}");
}

#[test]
fn without_a_module_handles_are_numbers() {
    let body =
        "ld.param.u64 %rd1, [p]; ld.shared.f32 %f1, [sh+4]; @!%p1 bra L; setp.lt.and.u32 %p1|%p2, %r1, 7, !%p3; L:";
    let parsed = ptx::parse("k.ptx", &module("8.8", "90a", body)).unwrap_or_else(|errors| panic!("{errors}"));
    let printed: Vec<String> = instructions(&parsed).map(|(_, instruction)| instruction.op.to_string()).collect();
    insta::assert_snapshot!(printed.join("\n"), @r"
    ld.param.u64 %0, [variable1]
    ld.shared.f32 %1, [variable0+4]
    bra L4
    setp.lt.and.u32 %2|%3, %4, 7, !%5
    ret
    ");
}
