//! Reports to the sanitizer what orders threads: fences, the barriers of a block, and `.sync`
//! instructions, which lanes of a warp execute together.

use crate::lanes::{Row, lanes};
use crate::machine::state::{Split, Wait, Warp, Worker};
use crate::machine::{across, inspect};
use crate::program::CLUSTER_BARRIER;
use crate::program::{Action, Fence, Instruction};
use crate::sanitizer::FindingKind;

/// Some lanes execute a fence.
pub(in crate::machine) fn fence(worker: &mut Worker, warp: &Warp, mask: u32, fence: &Fence) {
    if let Some(races) = worker.races() {
        races.fence(warp.index, mask, fence);
    }
}

/// Some lanes have reached a barrier.
pub(in crate::machine) fn arrive(worker: &mut Worker, warp: &Warp, barrier: u32, mask: u32, waits: bool) {
    if let Some(races) = worker.races() {
        races.arrive(barrier, warp.index, mask, waits);
    }
}

/// Some lanes have reached the cluster's barrier; a `relaxed` arrival does not order what comes
/// before it.
pub(in crate::machine) fn arrive_in_cluster(worker: &mut Worker, warp: &Warp, mask: u32, relaxed: bool) {
    if let Some(races) = worker.races() {
        races.arrive_in_cluster(warp.index, mask, relaxed);
    }
}

/// Some lanes did something between their arrival at the cluster's barrier and their wait.
pub(in crate::machine) fn wait_late(worker: &mut Worker) {
    if let Some(races) = worker.races() {
        races.wait_late();
    }
}

/// The cluster's barrier is complete.
pub(in crate::machine) fn complete_in_cluster(worker: &mut Worker, warps: &[Warp]) {
    if let Some(races) = worker.races() {
        let waits = |warp: &Warp| {
            let waiting = warp.waiting.iter().filter(|(_, wait)| matches!(wait, Wait::Barrier(CLUSTER_BARRIER)));
            waiting.fold(0, |mask, (split, _)| mask | split.mask)
        };
        races.complete_in_cluster(warps.iter().all(|warp| warp.alive & !waits(warp) == 0));
    }
}

/// Lanes have reached a barrier for their whole warp, and other lanes of the warp exit instead.
pub(in crate::machine) fn left_in_warp(worker: &mut Worker, warp: &Warp, split: &Split, (barrier, left): (u32, u32)) {
    let Some(&place) = worker.launched.code.origins.get(split.pc as usize) else { return };
    let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().sync) else { return };
    let (thread, lane) = (warp.thread(left.trailing_zeros()), split.mask.trailing_zeros() & 31);
    checker.report(FindingKind::BarrierLeft { barrier, thread, in_warp: true }, place, warp.index, lane, None);
}

/// Some lanes execute a `.sync` instruction; `members` has the lanes that each names.
pub(in crate::machine) fn lanes_named(
    worker: &mut Worker,
    warp: &Warp,
    split: &Split,
    members: &Row,
    mask: u32,
    place: u32,
) {
    let code = worker.launched.code;
    let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().sync) else { return };
    let mut report = |kind, lane: usize| checker.report(kind, place, warp.index, lane as u32, None);
    for lane in lanes(mask) {
        let named = members[lane];
        if named >> lane & 1 == 0 {
            report(FindingKind::NotMember { members: named, lane: lane as u32 }, lane);
        } else if let Some(other) = lanes(mask & named).find(|&other| members[other] != named) {
            let lanes = [lane as u32, other as u32];
            report(FindingKind::DifferentMasks { lanes, members: [named, members[other]] }, lane);
        }
    }
    let first = mask.trailing_zeros() as usize & 31;
    let exited = members[first] & warp.exists & !warp.alive;
    if exited != 0 && code.instructions.get(split.pc as usize).is_some_and(needs_all) {
        report(FindingKind::ExitedLanes { members: members[first], exited }, first);
    }
}

/// Whether all lanes of the mask must execute a `.sync` instruction. All but `elect` are defined
/// for the "non-exited threads" in the mask (PTX ISA, "vote.sync", "shfl.sync" and others).
fn needs_all(instruction: &Instruction) -> bool {
    matches!(instruction.action, Action::Elect { .. })
}

/// Lanes wait at a `.sync` instruction for lanes on another path, which wait for them in turn.
pub(in crate::machine) fn lanes_absent(worker: &mut Worker, warp: &Warp, split: &Split, members: u32, absent: u32) {
    let code = worker.launched.code;
    let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().sync) else { return };
    let Some(instruction) = code.instructions.get(split.pc as usize) else { return };
    // Lanes with nothing left to execute count as exited.
    let kind = if absent & !warp.waits_at_joins(|pc| code.ends_at(pc)) != 0 {
        FindingKind::AbsentLanes { members, absent }
    } else if !needs_all(instruction) {
        return;
    } else {
        FindingKind::ExitedLanes { members, exited: members & warp.exists & !warp.alive | absent }
    };
    checker.report(kind, instruction.place, warp.index, split.mask.trailing_zeros() & 31, None);
}

/// Lanes are about to execute a `.sync` instruction together.
pub(in crate::machine) fn lanes_met(worker: &mut Worker, warp: &mut Warp, split: &Split, mask: u32) {
    let Some(checker) = &mut worker.checker else { return };
    let code = worker.launched.code;
    let Some(instruction) = code.instructions.get(split.pc as usize) else { return };
    match &instruction.action {
        Action::WarpBarrier { .. } => {
            if let Some(races) = checker.races() {
                races.meet_lanes(warp.index, mask);
            }
        }
        Action::Shuffle(shuffle) => {
            let follows = worker.inspects && checker.checks().init;
            let races = checker.races().filter(|races| races.has_apart(warp.index));
            if !follows && races.is_none() {
                return;
            }
            warp.enter(split);
            let sources = across::shuffle_sources(&warp.registers, shuffle);
            if let Some(races) = races {
                races.shuffle(warp.index, mask, |lane| sources[lane]);
            }
            if follows {
                inspect::exchange(code, warp, split, &sources, mask);
            }
        }
        _ => {}
    }
}
