//! What each instruction becomes: every line of `data/instructions.ptx` with its typed operation,
//! pinned in `snapshots`, one file for each family.

use ptx::{Function, Module};
use std::fmt::Write as _;

/// `text` with the handles of registers replaced by their names.
fn with_names(text: &str, function: &Function) -> String {
    let names: Vec<&str> = function.registers.iter().map(|(_, register)| register.name.as_str()).collect();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let is_register = ["Some(", "Register(", "register: "].iter().any(|prefix| before.ends_with(prefix));
        let number = after[1..].split_once(']').filter(|_| is_register);
        match number.and_then(|(digits, rest)| Some((digits.parse::<usize>().ok()?, rest))) {
            Some((index, tail)) => {
                out.push_str(names[index]);
                rest = tail;
            }
            None => {
                out.push('[');
                rest = &after[1..];
            }
        }
    }
    out + rest
}

/// Each instruction of a function: its text, and beneath it what it became.
fn listing(module: &Module, function: &Function) -> String {
    let mut listing = String::new();
    for instruction in function.body.iter().flatten() {
        let text = &module.text[instruction.span.start as usize..instruction.span.end as usize];
        let guard = instruction.guard.map_or_else(String::new, |guard| format!("{guard:?} "));
        let line = format!("    {guard}{:?}", instruction.op);
        writeln!(listing, "{text}\n{}", with_names(&line, function)).expect("a string takes all");
    }
    listing
}

#[test]
fn instructions_become_what_they_mean() {
    for text in [include_str!("data/instructions.ptx"), include_str!("data/instructions_100.ptx")] {
        let module = ptx::parse("instructions.ptx", text).unwrap_or_else(|e| panic!("{e}"));
        for (_, kernel) in module.kernels() {
            insta::assert_snapshot!(kernel.name.as_str(), listing(&module, kernel));
        }
    }
}
