//! Lanes that wait to reconverge with lanes that wait for them. For example, a lane that got a lock
//! has left the loop that acquires it, and will release it after the loop, while the others are
//! still in the loop. Since Volta, a GPU lets every thread proceed eventually.
//!
//! Here lanes first wait for each other, as a GPU's do in all other loops. If the others take long,
//! and the code that they execute until they reconverge polls memory, the waiting lanes proceed
//! separately.
//!
//! The lanes that proceed may return from a function to do so, and merge with the others again at a
//! barrier. All other loops keep the hardware's counts, however long they run.

use std::collections::HashSet;

use crate::lanes::ALWAYS;
use crate::machine::calls::take_results;
use crate::machine::state::{Split, Warp};
use crate::program::{Code, NextStep, OnMemory};

/// Instructions that each split of a warp executes in turn after lanes have proceeded separately:
/// most of them poll.
pub(crate) const QUANTUM: u64 = 1 << 8;

/// Lets lanes proceed that have waited too long. Call it when the warp has reached
/// [`Warp::look_at`].
pub(crate) fn look(code: &Code, warp: &mut Warp) {
    for join in warp.impatient_joins() {
        let polls =
            |split: &Split| warp.ways_to(split, join).is_some_and(|ways| ways.iter().any(|way| polls(code, *way)));
        if warp.ready.iter().any(polls) {
            warp.separated = true;
            if let Some((frame, caller)) = warp.abandon_join(join) {
                take_results(code, warp, &frame, &caller);
            }
        }
    }
    warp.look_at = warp.executed + warp.patience();
}

/// Whether a lane that proceeds at `from` may execute atomic operations, or loads other than plain
/// ones, before it reaches `end`.
fn polls(code: &Code, (from, end): (u32, u32)) -> bool {
    let mut seen = HashSet::new();
    let mut next = vec![from];
    while let Some(position) = next.pop() {
        if position == end || !seen.insert(position) {
            continue;
        }
        let Some(instruction) = code.instructions.get(position as usize) else { continue };
        let effects = instruction.action.effects();
        if effects.memory == OnMemory::Polls {
            return true;
        }
        let falls_through = instruction.guard != ALWAYS || matches!(effects.next, NextStep::Following);
        match effects.next {
            NextStep::Callee => return true,
            NextStep::Following | NextStep::End => {}
            NextStep::Jump(target) => next.push(target),
            NextStep::JumpIndexed(targets) => next.extend(targets),
        }
        next.extend(falls_through.then_some(position + 1));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{look, polls};
    use crate::machine::state::Worker;
    use crate::{Launch, Memory, Program};

    /// A loop that thread 0 leaves at once and the others only when they see a word change, with
    /// `body` before the word is tested.
    fn spinning(body: &str) -> Program {
        let text = format!(
            "
.version 7.8
.target sm_75
.address_size 64
.func none() {{ ret; }}
.visible .entry k(.param .u64 word) {{
    .reg .pred %p<3>;
    .reg .u32 %r<3>;
    .reg .u64 %rd;
    ld.param.u64 %rd, [word];
    mov.u32 %r1, %tid.x;
again:
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra done;
    {body}
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra again;
done:
    ret;
}}"
        );
        let module = ptx::parse("spinning.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"));
        Program::load(&module, &mut Memory::new(1 << 20)).unwrap()
    }

    fn launch() -> Launch<'static> {
        Launch { kernel: "k", block: [32, 1, 1], arguments: &[&[0; 8]], ..Launch::default() }
    }

    #[test]
    fn atomics_calls_and_ordered_loads_poll_and_plain_loads_do_not() {
        for (body, expected) in [
            ("ld.volatile.global.u32 %r2, [%rd];", true),
            ("ld.relaxed.gpu.global.u32 %r2, [%rd];", true),
            ("atom.global.add.u32 %r2, [%rd], 0;", true),
            ("call none;", true),
            ("ld.global.u32 %r2, [%rd];", false),
            ("st.global.u32 [%rd], 1;", false),
        ] {
            let program = spinning(body);
            let memory = Memory::new(1 << 20);
            program.begun(&memory, &launch(), |launched| {
                let end = launched.code.instructions.len() as u32;
                assert_eq!(polls(launched.code, (0, end)), expected, "{body}");
                // Nothing is executed on the way from a place to itself.
                assert!(!polls(launched.code, (2, 2)), "{body}");
            });
        }
    }

    #[test]
    fn lanes_that_wait_for_polling_ones_proceed_when_patience_ends() {
        for (body, separated) in [("ld.volatile.global.u32 %r2, [%rd];", true), ("ld.global.u32 %r2, [%rd];", false)] {
            let program = spinning(body);
            let memory = Memory::new(1 << 20);
            program.begun(&memory, &launch(), |launched| {
                let worker = Worker::new(launched, None);
                let mut warp = worker.warps().remove(0);
                warp.start(&launched.code.functions[0]);
                let mut split = warp.ready.pop().expect("the kernel begins");
                let done = launched.code.instructions.len() as u32 - 2;
                (split.pc, warp.executed) = (3, 1);
                warp.diverge(split, &[(done, 1), (4, !1)], done);
                look(launched.code, &mut warp);
                assert!(!warp.separated, "the patience has not ended: {body}");
                warp.executed += warp.patience();
                look(launched.code, &mut warp);
                assert_eq!(warp.separated, separated, "{body}");
                assert_eq!(warp.ready.len(), 1 + usize::from(separated), "{body}");
                assert!(warp.look_at > warp.executed);
            });
        }
    }
}
