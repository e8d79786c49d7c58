//! Finds the loads whose values a compare-and-swap expects, in any function, and marks them as
//! atomic in the decoded code.
//!
//! The programming guide builds atomic operations from a plain read and a compare-and-swap that
//! does nothing if the value has changed since. Such a read counts as atomic. In unoptimised code,
//! the two may be in different functions.

use ptx::{Callee, ControlOp, Handle, Op};

use super::function::Builder;
use super::unwritten::Searched;
use crate::program::code::Action;

/// Marks these loads as atomic.
pub(super) fn mark(builder: &mut Builder<'_>, all: &[Searched<'_>]) {
    let index = |handle: Handle<ptx::Function>| builder.by_handle.get(&handle.index()).map(|&index| index as usize);
    // For each function, its values, and for each parameter whether its value is expected.
    let mut expected: Vec<Vec<bool>> = all.iter().map(|Searched { flows, .. }| flows.expected()).collect();
    if !expected.iter().flatten().any(|&expected| expected) {
        return;
    }
    let mut parameters: Vec<Vec<bool>> =
        all.iter().map(|Searched { flows, .. }| vec![false; flows.function.parameters.len()]).collect();
    loop {
        let mut is_news = false;
        for (function, Searched { flows, .. }) in all.iter().enumerate() {
            let values = &mut expected[function];
            for instruction in flows.body {
                let Op::Control(ControlOp::Call { callee: Callee::Direct(callee), .. }) = &instruction.op else {
                    continue;
                };
                let (Some(callee), Some(passed)) = (index(*callee), flows.passed(&instruction.op)) else { continue };
                for (words, _) in passed.arguments.iter().zip(&parameters[callee]).filter(|(_, expected)| **expected) {
                    words.iter().flatten().for_each(|&word| values[word] = true);
                }
            }
            flows.spread_expected(values);
            for (&parameter, expected) in flows.function.parameters.iter().zip(&mut parameters[function]) {
                let is_expected = flows.words.of(parameter).any(|word| values[word]);
                is_news |= is_expected && !std::mem::replace(expected, true);
            }
        }
        if !is_news {
            break;
        }
    }
    for (Searched { flows, .. }, expected) in all.iter().zip(&expected) {
        for (step, registers) in flows.uses.loaded() {
            // Values of 128 bits, and structs, are loaded as vectors.
            if registers.is_empty() || !registers.iter().all(|register| expected[register.index()]) {
                continue;
            }
            let Some(Action::Load(load)) = builder.instructions.get_mut(*step).map(|step| &mut step.action) else {
                continue;
            };
            load.operation.order.strong = true;
        }
    }
}
