//! Compares the check with what threads do: random functions, executed by a few threads.
//!
//! Where the check finds nothing, all threads must wait at the same barriers, with the same
//! operands.

use std::collections::HashMap;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::check;

const THREADS: u32 = 4;
const STEPS: usize = 300;
const OPERATIONS: [&str; 5] = ["add", "xor", "and", "mul", "lshr"];

/// A function of random blocks. Values are named by numbers.
#[derive(Debug, Default)]
struct Program {
    blocks: Vec<Block>,
    names: u32,
}

#[derive(Debug, Default)]
struct Block {
    /// A name, and the value for each block before.
    phis: Vec<(u32, Vec<(usize, Value)>)>,
    operations: Vec<(u32, usize, Value, Value)>,
    barrier: Option<Value>,
    end: End,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    Return,
    Trap,
    Jump(usize),
    /// Jumps to the first block if the first value is below the second.
    Branch(Value, Value, [usize; 2]),
}

#[derive(Debug, Clone, Copy)]
enum Value {
    Thread,
    Parameter,
    Constant(u32),
    Named(u32),
}

/// Random numbers, and zeros when there are no more.
struct Choices(std::vec::IntoIter<u32>);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % limit
    }
}

impl Program {
    fn random(choices: &mut Choices) -> Self {
        let count = 3 + choices.below(5);
        let mut program = Program::default();
        let mut targets = Vec::new();
        for block in 0..count - 1 {
            // Mostly ahead. Nothing may jump to the first block.
            let mut target = || match choices.below(3) {
                0 => 1 + choices.below(count - 1),
                _ => block + 1 + choices.below(count - block - 1),
            };
            let pair = [target(), target()];
            targets.push(match choices.below(8) {
                0 => vec![],
                1..3 => vec![pair[0]],
                _ => pair.to_vec(),
            });
        }
        targets.push(vec![]);
        let dominators = dominators(&targets);
        // All names first, since a phi may take what is defined later.
        let mut defined: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (block, defined) in defined.iter_mut().enumerate() {
            let (phis, operations) = (usize::from(block > 0) * choices.below(3), choices.below(3));
            program.blocks.push(Block::default());
            for index in 0..phis + operations {
                program.names += 1;
                defined.push(program.names);
                let name = program.names;
                match index < phis {
                    true => program.blocks[block].phis.push((name, Vec::new())),
                    false => {
                        let operation = choices.below(OPERATIONS.len());
                        program.blocks[block].operations.push((name, operation, Value::Thread, Value::Thread));
                    }
                }
            }
        }
        let of_others = |block: usize| -> Vec<u32> {
            dominators[block]
                .iter()
                .filter(|&&other| other != block)
                .flat_map(|&other| defined[other].clone())
                .collect()
        };
        for block in 0..count {
            let mut known = of_others(block);
            known.extend(program.blocks[block].phis.iter().map(|(name, _)| name));
            for index in 0..program.blocks[block].operations.len() {
                let operands = (value(choices, &known), value(choices, &known));
                let operation = &mut program.blocks[block].operations[index];
                (operation.2, operation.3) = operands;
                known.push(operation.0);
            }
            program.blocks[block].barrier =
                (choices.below(if block + 1 < count { 6 } else { 2 }) == 0).then(|| value(choices, &known));
            program.blocks[block].end = match *targets[block] {
                [] if block + 1 < count && choices.below(2) == 0 => End::Trap,
                [] => End::Return,
                [only] => End::Jump(only),
                [first, second, ..] => {
                    let (a, b) = condition(choices, &known);
                    End::Branch(a, b, [first, second])
                }
            };
            let from: Vec<usize> = (0..count).filter(|&other| targets[other].contains(&block)).collect();
            for index in 0..program.blocks[block].phis.len() {
                for &from in &from {
                    let known: Vec<u32> = of_others(from).into_iter().chain(defined[from].clone()).collect();
                    program.blocks[block].phis[index].1.push((from, value(choices, &known)));
                }
            }
        }
        program
    }

    fn text(&self) -> String {
        let mut text = "define ptx_kernel void @k(i32 %p) {\n".to_owned();
        for (index, block) in self.blocks.iter().enumerate() {
            let _ = writeln!(text, "b{index}:");
            if index == 0 {
                text += "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
            }
            for (name, incoming) in block.phis.iter().filter(|(_, incoming)| !incoming.is_empty()) {
                let pairs: Vec<_> =
                    incoming.iter().map(|(from, value)| format!("[ {}, %b{from} ]", value.text())).collect();
                let _ = writeln!(text, "  %v{name} = phi i32 {}", pairs.join(", "));
            }
            for (name, operation, a, b) in &block.operations {
                let _ = writeln!(text, "  %v{name} = {} i32 {}, {}", OPERATIONS[*operation], a.text(), b.text());
            }
            if let Some(value) = block.barrier {
                let _ = writeln!(text, "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 {})", value.text());
            }
            let _ = match block.end {
                End::Return => writeln!(text, "  ret void"),
                End::Trap => writeln!(text, "  call void @llvm.trap()\n  unreachable"),
                End::Jump(target) => writeln!(text, "  br label %b{target}"),
                End::Branch(a, b, [yes, no]) => writeln!(
                    text,
                    "  %c{index} = icmp ult i32 {}, {}\n  br i1 %c{index}, label %b{yes}, label %b{no}",
                    a.text(),
                    b.text()
                ),
            };
        }
        text + "}\n"
    }

    /// The barriers that a thread waits at, and whether it returns.
    fn run(&self, thread: u32, parameter: u32) -> (Vec<(usize, u32)>, bool) {
        let mut values: HashMap<u32, u32> = HashMap::new();
        let mut waited = Vec::new();
        let (mut block, mut from) = (0, 0);
        for _ in 0..STEPS {
            let read = |value: Value, values: &HashMap<u32, u32>| match value {
                Value::Thread => thread,
                Value::Parameter => parameter,
                Value::Constant(number) => number,
                Value::Named(name) => values[&name],
            };
            let Block { phis, operations, barrier, end } = &self.blocks[block];
            let chosen: Vec<(u32, u32)> = phis
                .iter()
                .filter_map(|(name, incoming)| {
                    let (_, value) = incoming.iter().find(|(other, _)| *other == from)?;
                    Some((*name, read(*value, &values)))
                })
                .collect();
            values.extend(chosen);
            for &(name, operation, a, b) in operations {
                let (a, b) = (read(a, &values), read(b, &values));
                let result = match OPERATIONS[operation] {
                    "add" => a.wrapping_add(b),
                    "xor" => a ^ b,
                    "and" => a & b,
                    "mul" => a.wrapping_mul(b),
                    _ => a >> (b % 32),
                };
                values.insert(name, result);
            }
            waited.extend(barrier.map(|value| (block, read(value, &values))));
            from = block;
            block = match *end {
                End::Return => return (waited, true),
                End::Trap => return (waited, false),
                End::Jump(target) => target,
                End::Branch(a, b, [yes, no]) => {
                    if read(a, &values) < read(b, &values) {
                        yes
                    } else {
                        no
                    }
                }
            };
        }
        (waited, false)
    }
}

impl Value {
    fn text(self) -> String {
        match self {
            Value::Thread => "%t".to_owned(),
            Value::Parameter => "%p".to_owned(),
            Value::Constant(number) => number.to_string(),
            Value::Named(name) => format!("%v{name}"),
        }
    }
}

/// A value of those known, mostly one that is the same in all threads.
fn value(choices: &mut Choices, known: &[u32]) -> Value {
    match choices.below(16) {
        0 => Value::Thread,
        1 | 2 => Value::Parameter,
        3 | 4 => Value::Constant(choices.below(4) as u32),
        _ if known.is_empty() => Value::Parameter,
        _ => Value::Named(known[choices.below(known.len())]),
    }
}

/// What a branch compares: often the thread with something else.
fn condition(choices: &mut Choices, known: &[u32]) -> (Value, Value) {
    let other = value(choices, known);
    match choices.below(6) {
        0 => (Value::Thread, other),
        1 => (other, Value::Thread),
        _ => (value(choices, known), Value::Constant(1 + choices.below(3) as u32)),
    }
}

/// For each block, those that lie on every path to it. An unreachable block has only itself.
fn dominators(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let reaches = |block: usize, without: usize| {
        let mut seen = vec![false; targets.len()];
        let mut open = vec![0];
        while let Some(next) = open.pop() {
            if next != without && !std::mem::replace(&mut seen[next], true) {
                open.extend(&targets[next]);
            }
        }
        seen[block]
    };
    let all = 0..targets.len();
    all.clone()
        .map(|block| match reaches(block, usize::MAX) {
            true => all.clone().filter(|&other| other == block || !reaches(block, other)).collect(),
            false => vec![block],
        })
        .collect()
}

/// Whether two threads wait at the same barriers. One that never returns may wait less often.
fn wait_together((a, a_returns): &(Vec<(usize, u32)>, bool), (b, b_returns): &(Vec<(usize, u32)>, bool)) -> bool {
    let together = a.iter().zip(b).all(|(a, b)| a == b);
    together && (!a_returns || b.len() <= a.len()) && (!b_returns || a.len() <= b.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn threads_of_what_is_accepted_wait_together(choices in prop::collection::vec(any::<u32>(), 400), parameter in 0..6_u32) {
        let program = Program::random(&mut Choices(choices.into_iter()));
        let text = program.text();
        if check(&text, "").is_empty() {
            let first = program.run(0, parameter);
            for thread in 1..THREADS {
                let other = program.run(thread, parameter);
                prop_assert!(wait_together(&first, &other), "{text}\n{first:?}\n{other:?}");
            }
        }
    }
}

/// The property would hold if all were refused.
#[test]
fn some_branches_on_the_thread_are_accepted() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let choices = prop::collection::vec(any::<u32>(), 400);
    let mut accepted = 0;
    for _ in 0..1000 {
        let choices = proptest::strategy::ValueTree::current(&Strategy::new_tree(&choices, &mut runner).unwrap());
        let program = Program::random(&mut Choices(choices.into_iter()));
        let waits = |thread| program.run(thread, 3).0.len() > 1;
        accepted += u32::from(waits(0) && program.text().contains("%t,") && check(&program.text(), "").is_empty());
    }
    assert!(accepted > 20, "{accepted}");
}
