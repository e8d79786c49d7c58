//! No input makes the machine panic or hang: runs the files of `filetests/` with lines moved,
//! tokens swapped and numbers changed, as far as they still parse.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use simt::{Launch, Memory, Program};

/// One change to a text.
#[derive(Clone, Debug)]
enum Change {
    /// Removes a line.
    Remove(prop::sample::Index),
    /// Copies a line to another place.
    Copy(prop::sample::Index, prop::sample::Index),
    /// Replaces a token by another token of the text.
    Token(prop::sample::Index, prop::sample::Index),
    /// Replaces a token by a number.
    Number(prop::sample::Index, u64),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Change::Remove),
        (index(), index()).prop_map(|(from, to)| Change::Copy(from, to)),
        (index(), index()).prop_map(|(at, from)| Change::Token(at, from)),
        (index(), prop_oneof![0..70u64, any::<u64>()]).prop_map(|(at, number)| Change::Number(at, number)),
    ]
}

fn apply(lines: &mut Vec<String>, change: &Change) {
    if lines.is_empty() {
        return;
    }
    let is_part = |character: char| character.is_alphanumeric() || "%_.$".contains(character);
    let token = |line: &str, at: &prop::sample::Index| -> Option<(usize, usize)> {
        let starts: Vec<(usize, usize)> = line
            .split(|character: char| !is_part(character))
            .filter(|token| !token.is_empty())
            .map(|token| (token.as_ptr() as usize - line.as_ptr() as usize, token.len()))
            .collect();
        (!starts.is_empty()).then(|| starts[at.index(starts.len())])
    };
    match change {
        Change::Remove(at) => {
            lines.remove(at.index(lines.len()));
        }
        Change::Copy(from, to) => {
            let line = lines[from.index(lines.len())].clone();
            lines.insert(to.index(lines.len()), line);
        }
        Change::Token(at, from) => {
            let other = lines[from.index(lines.len())].clone();
            let place = at.index(lines.len());
            if let (Some((start, length)), Some((other_start, other_length))) =
                (token(&lines[place], from), token(&other, at))
            {
                lines[place].replace_range(start..start + length, &other[other_start..other_start + other_length]);
            }
        }
        Change::Number(at, number) => {
            let place = at.index(lines.len());
            if let Some((start, length)) = token(&lines[place], at) {
                lines[place].replace_range(start..start + length, &number.to_string());
            }
        }
    }
}

/// Runs all kernels of a text that parses. Returns how many were launched.
fn run(text: &str) -> usize {
    let Ok(module) = ptx::parse("mutated.ptx", text) else { return 0 };
    let mut memory = Memory::new(1 << 22);
    let Ok(program) = Program::load(&module, &mut memory) else { return 0 };
    let Ok(buffer) = memory.allocate(4096) else { return 0 };
    let mut launched = 0;
    for kernel in program.kernels() {
        let arguments: Vec<Vec<u8>> = kernel
            .parameters
            .iter()
            .map(|&(size, _)| (0..size.min(1 << 16)).map(|byte| buffer.to_le_bytes()[byte as usize % 8]).collect())
            .collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let launch = Launch {
            kernel: &kernel.name,
            grid: [2, 1, 1],
            block: [45, 1, 1],
            arguments: &arguments,
            step_limit: 3000,
            threads: Some(1),
            ..Launch::default()
        };
        // Whether it ends well or not does not matter; that it ends does.
        launched += usize::from(program.launch(&memory, &launch).is_ok());
    }
    launched
}

#[test]
fn mutated_programs_neither_panic_nor_hang() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut launched = 0;
    for name in ["barriers.ptx", "calls.ptx", "divergence.ptx", "memory.ptx", "traps.ptx", "warps.ptx"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let original: Vec<String> = text.lines().map(String::from).collect();
        let mut runner = TestRunner::new(Config { cases: 800, failure_persistence: None, ..Config::default() });
        let counted = std::cell::Cell::new(0);
        runner
            .run(&prop::collection::vec(change(), 1..4), |changes| {
                let mut lines = original.clone();
                for change in &changes {
                    apply(&mut lines, change);
                }
                counted.set(counted.get() + run(&lines.join("\n")));
                Ok(())
            })
            .unwrap();
        launched += counted.get();
    }
    assert!(launched > 100, "{launched} launches came to their end: the mutations spoil everything");
}
