//! Which addresses are the same but for a constant, and what they are multiples of.
//!
//! A value is a sum of roots with factors, and a constant. A root is what is not such a sum: a
//! special register, a loaded value, a product of two registers, and so on; the same operation on
//! the same values is the same root. Where paths meet with different values of a register, that is
//! a root, too.

use super::body::Body;
use super::flow::Flow;
use super::forms::{ALL_ZEROS, Form, Key, Value, Zeros};
use super::results::Registers;
use crate::program::blocks::BasicBlocks;

/// Functions with more registers that are written several times, times blocks, are not followed
/// across blocks.
const MOST_STATES: usize = 1 << 20;

/// The addresses of a function's accesses.
pub(super) struct Values {
    addresses: Vec<Option<Form>>,
    /// The low zero bits of each root.
    zeros: Vec<u32>,
    is_uniform: Vec<bool>,
}

impl Values {
    pub fn new(body: &Body<'_>, blocks: &BasicBlocks, flow: &Flow) -> Self {
        let mut registers = Registers::new(body);
        let addresses = follow(&mut registers, body, blocks, flow);
        let (zeros, is_uniform) = (registers.forms.all_zeros(), registers.forms.uniform_roots());
        Self { addresses, zeros, is_uniform }
    }

    /// The address of the access at a position.
    pub fn address(&self, position: usize) -> Option<&Form> {
        self.addresses[position].as_ref()
    }

    /// How many low bits of these terms' sum are zero.
    pub fn zeros(&self, terms: &[(u32, i64)]) -> u32 {
        let all = terms.iter().map(|&(root, factor)| self.zeros[root as usize] + factor.trailing_zeros());
        all.min().unwrap_or(ALL_ZEROS)
    }

    /// Whether all threads of a warp that make the access have the same address.
    pub fn is_uniform(&self, position: usize) -> bool {
        let form = self.address(position);
        form.is_some_and(|form| form.terms.iter().all(|&(root, _)| self.is_uniform[root as usize]))
    }
}

/// The addresses of a function's accesses, from block to block.
fn follow(registers: &mut Registers, body: &Body<'_>, blocks: &BasicBlocks, flow: &Flow) -> Vec<Option<Form>> {
    let written = registers.of_state();
    let many = written.len();
    let follows = many * blocks.count() <= MOST_STATES;
    let mut addresses = vec![None; body.instructions.len()];
    let mut ends: Vec<Option<Vec<Value>>> = vec![None; blocks.count()];
    let mut meetings = Vec::new();
    for &block in &flow.order {
        let before: Vec<usize> =
            blocks.before[block].iter().copied().filter(|&from| flow.number[from] != usize::MAX).collect();
        match before[..] {
            [only] if follows && ends[only].is_some() && block != 0 => {
                registers.state.clone_from(ends[only].as_ref().unwrap_or(&registers.state.clone()));
            }
            _ => {
                for slot in 0..many {
                    let mut all = before.iter().map(|&from| ends[from].as_ref().map(|end| end[slot]));
                    let same = match all.next().flatten() {
                        Some(first) if block != 0 && all.all(|other| other == Some(first)) => Some(first),
                        _ => None,
                    };
                    registers.state[slot] = match same {
                        Some(same) if follows => same,
                        _ => {
                            let wide = body.writes_wide(written[slot]);
                            let root = registers.forms.root(Key::Meeting(block, slot), Zeros::Known(0), false);
                            meetings.push((root, block, slot));
                            registers.forms.alone(root, wide)
                        }
                    };
                }
            }
        }
        for position in blocks.positions(block) {
            addresses[position] = registers.step(position);
        }
        if follows {
            ends[block] = Some(registers.state.clone());
        }
    }
    if follows {
        for (root, block, slot) in meetings {
            let all = blocks.before[block].iter().filter_map(|&from| Some(ends[from].as_ref()?[slot]));
            let all: Vec<Value> = all.collect();
            if block != 0 && !all.is_empty() {
                registers.forms.set_zeros(root, Zeros::Least(all));
            }
        }
    }
    addresses
}
