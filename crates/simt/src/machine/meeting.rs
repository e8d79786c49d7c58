//! Instructions that the lanes of a warp execute together (`.sync`): lanes wait until all that they
//! name have arrived.

use crate::lanes::lanes;
use crate::machine::state::{Fault, Next, Split, Wait, Warp, Worker};
use crate::machine::{across, observe};
use crate::program::{Action, Code};

/// Executes a `.sync` instruction, or makes its lanes wait for those that it names. If lanes name
/// different members (the tiles of a warp), it is executed once for each set of members.
pub(super) fn meet_lanes(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    members: u32,
    mask: u32,
    place: u32,
) -> Result<Next, Fault> {
    let code = worker.launched.code;
    let named = *warp.registers.word(members);
    observe::lanes_named(worker, warp, split, &named, mask, place);
    let lane = mask.trailing_zeros() & 31;
    let members = named[lane as usize];
    let group = |members: u32| lanes(mask).fold(0, |m, lane| m | u32::from(named[lane] == members) << lane);
    // Lanes that have exited or never existed are not waited for, as on the hardware.
    let missing = |members: u32| members & warp.alive & !mask;
    if lanes(mask).all(|lane| missing(named[lane]) == 0) {
        let mut left = mask;
        while left != 0 {
            let met = group(named[left.trailing_zeros() as usize & 31]);
            observe::lanes_met(worker, warp, split, met);
            cross_lanes(code, warp, split, met);
            left &= !met;
        }
        split.pc += 1;
        return Ok(Next::On);
    }
    let met = group(members);
    let (others, rest) = (mask & !met, split.mask & !mask);
    let mut waits = *split;
    if others | rest != 0 {
        waits = warp.part(*split, met, &[(split.pc, others), (split.pc + 1, rest)], split.pc + 1);
    }
    warp.waiting.push((waits, Wait::Lanes { members }));
    Ok(Next::Gone)
}

/// Whether two splits of a warp wait at the same instruction (or both at a barrier for lanes), in
/// the same frame.
pub(super) fn may_meet(code: &Code, a: &Split, b: &Split) -> bool {
    let is_barrier = |split: &Split| {
        matches!(
            code.instructions.get(split.pc as usize).map(|instruction| &instruction.action),
            Some(Action::WarpBarrier { .. })
        )
    };
    a.pc == b.pc && a.frame == b.frame || is_barrier(a) && is_barrier(b)
}

/// Executes the instruction for lanes that have met.
pub(super) fn cross_lanes(code: &Code, warp: &mut Warp, split: &Split, mask: u32) {
    warp.enter(split);
    let registers = &mut warp.registers;
    match code.instructions.get(split.pc as usize).map(|instruction| &instruction.action) {
        Some(Action::Shuffle(shuffle)) => across::shuffle(registers, shuffle, mask),
        Some(Action::Vote { mode, d, predicate, .. }) => across::vote(registers, *mode, *d, *predicate, mask),
        Some(Action::Match(matching)) => across::matching(registers, matching, mask),
        Some(Action::Elect { d, leader, .. }) => across::elect(registers, *d, *leader, mask),
        Some(Action::WarpReduce { op, ty, d, source, .. }) => across::reduce(registers, *op, *ty, *d, *source, mask),
        _ => {}
    }
}
