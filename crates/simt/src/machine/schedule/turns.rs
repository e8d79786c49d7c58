//! Runs blocks: their warps take turns until all threads have exited.
//!
//! A worker runs one block, or, in a launch with clusters, the blocks of one cluster, which take
//! turns too: only the loops over `by_block` tell the difference. Workers run in parallel; traps
//! and output are ordered by the number of the cluster, which without clusters is the block's.
//!
//! When no split of any warp can proceed, this decides what happens: lanes that only wait to
//! reconverge proceed separately, waits for what is asynchronous fail, and if none of this helps,
//! the launch stops with a deadlock.

use crate::lanes::lanes;
use crate::machine::schedule::{deadlock, endless, patience};
use crate::machine::state::copies::Copies;
use crate::machine::state::{Fault, Split, Stage, Stop, Wait, Warp, Worker};
use crate::machine::{asynchronous, barriers, meeting, observe, step, written};
use crate::program::{Action, Barrier, Code, NUMBERED_BARRIERS};
use crate::sanitizer::FindingKind;
use crate::trap::TrapKind;

/// Instructions in one turn of a warp.
pub(crate) const QUANTUM: u64 = 1 << 13;
/// A worker adds its count of instructions to the launch's total after this many.
const TALLY: u64 = 1 << 16;

/// The outcome of a turn of all warps of a block.
struct Turn {
    /// Whether any warp could proceed.
    progress: bool,
    /// Whether all threads have exited.
    done: bool,
}

/// Runs the blocks of a cluster until all threads have exited.
pub fn run<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], cluster: u64) -> Result<(), Stop> {
    begin(worker, warps, cluster);
    while !turn(worker, warps, QUANTUM)? {}
    Ok(())
}

/// Starts a cluster.
pub fn begin<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], cluster: u64) {
    let launched = worker.launched;
    worker.cluster = cluster;
    asynchronous::turns::begin(worker);
    let first = cluster * u64::from(launched.blocks_per_cluster);
    for (number, block) in (first..).zip(worker.block.all_mut()) {
        block.number = number;
        block.position = launched.block_position(number);
        block.shared.reset(launched.shared);
        if let Some(draws) = &mut worker.draws
            && draws.notes.is_none()
        {
            block.shared.fill(|| draws.word());
        }
        block.barriers.reset();
        block.copies.iter_mut().for_each(Copies::clear);
        block.stage = Stage::Waits;
    }
    if let Some(checker) = &mut worker.checker
        && worker.resident_cluster == 0
    {
        checker.start(first);
    }
    for warp in warps.iter_mut() {
        warp.start(&launched.code.functions[0]);
    }
}

/// Gives each warp of the cluster its turn, of at most `quantum` instructions. Returns whether the
/// cluster has ended.
pub fn turn<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], quantum: u64) -> Result<bool, Stop> {
    let result = turn_of_blocks(worker, warps, quantum);
    if let Ok(true) = result {
        worker.by_block(warps).for_each(|(_, warps)| worker.launched.add_evenness(warps));
    }
    if !matches!(result, Ok(false)) {
        for block in worker.block.all_mut() {
            worker.launched.keep_output(block.number, &mut block.output);
        }
    }
    result
}

fn turn_of_blocks<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], quantum: u64) -> Result<bool, Stop> {
    let (mut progress, mut done) = (false, true);
    for (rank, warps) in worker.by_block(warps) {
        worker.select(rank);
        worker.block.stage = Stage::Runs;
        let turn = turn_of_each(worker, warps, quantum);
        if warps.iter().all(|warp| warp.alive == 0) {
            worker.block.stage = Stage::Ended;
            warps.iter_mut().for_each(|warp| written::settle(worker, warp));
        }
        let finished = match worker.block.stage {
            Stage::Ended => asynchronous::turns::end(worker).map_err(|fault| worker.stop(fault, &warps[0])),
            _ => Ok(()),
        };
        let turn = turn?;
        finished?;
        progress |= turn.progress;
        done &= turn.done;
    }
    progress |= asynchronous::turns::release(worker, warps, progress);
    progress |= !progress && !done && go_on_past_lanes(worker, warps);
    progress |= !progress && !done && end_past_barriers(worker, warps);
    if !progress && !done && !asynchronous::turns::fail_waits(worker, warps)? {
        return Err(deadlock::report(worker, warps));
    }
    Ok(done)
}

fn turn_of_each<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], quantum: u64) -> Result<Turn, Stop> {
    let (mut progress, mut done) = (false, true);
    for index in 0..warps.len() {
        if turn_of_one(worker, warps, index, quantum)? {
            (progress, done) = (true, false);
        } else {
            done &= warps[index].waiting.is_empty();
        }
    }
    Ok(Turn { progress, done })
}

/// Gives one warp of a block its turn. Returns whether it could go on.
#[inline(always)]
fn turn_of_one<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], index: usize, quantum: u64) -> Result<bool, Stop> {
    asynchronous::turns::resume(worker, &mut warps[index])?;
    let warp = &mut warps[index];
    if warp.ready.is_empty() && !release_lanes(worker, warp) {
        return Ok(false);
    }
    let before = warp.executed;
    let most = if warp.separated { patience::QUANTUM } else { quantum };
    let quantum = worker.launched.launch.step_limit.clamp(1, quantum.min(most));
    let result = step::run(worker, warp, quantum);
    worker.unreported += warp.executed - before;
    result.map_err(|fault| worker.stop(fault, &warps[index]))?;
    check(worker, &warps[index])?;
    let warp = &mut warps[index];
    if warp.executed >= warp.look_at {
        patience::look(worker.launched.code, warp);
        endless::look(worker.launched.code, warp);
    }
    for barrier in worker.block.barriers.take_complete() {
        if let Some(races) = worker.races() {
            races.complete(barrier);
        }
        release(worker, warps, barrier);
    }
    Ok(true)
}

/// What came of the turn of one warp.
pub(crate) struct OneTurn {
    /// Whether it could go on.
    pub went_on: bool,
    /// Whether the cluster has ended.
    pub ended: bool,
}

/// Gives one warp of the cluster its turn, for a schedule that chooses each.
pub fn turn_of_warp<'l>(
    worker: &mut Worker<'l>,
    warps: &mut [Warp<'l>],
    number: usize,
    quantum: u64,
) -> Result<OneTurn, Stop> {
    let result = turn_of_chosen(worker, warps, number, quantum);
    if !matches!(result, Ok(OneTurn { ended: false, .. })) {
        for block in worker.block.all_mut() {
            worker.launched.keep_output(block.number, &mut block.output);
        }
    }
    result
}

fn turn_of_chosen<'l>(
    worker: &mut Worker<'l>,
    warps: &mut [Warp<'l>],
    number: usize,
    quantum: u64,
) -> Result<OneTurn, Stop> {
    let of_block = worker.launched.threads.div_ceil(32) as usize;
    let (rank, index) = (number / of_block, number % of_block);
    worker.select(rank);
    worker.block.stage = Stage::Runs;
    let block = &mut warps[rank * of_block..][..of_block];
    let went_on = turn_of_one(worker, block, index, quantum);
    if block[index].alive == 0 && block.iter().all(|warp| warp.alive == 0) {
        worker.block.stage = Stage::Ended;
        block.iter_mut().for_each(|warp| written::settle(worker, warp));
        asynchronous::turns::end(worker).map_err(|fault| worker.stop(fault, &block[0]))?;
    }
    let went_on = went_on?;
    let ended = worker.block.stage == Stage::Ended
        && warps.iter().all(|warp| warp.alive == 0 && warp.ready.is_empty() && warp.waiting.is_empty());
    asynchronous::turns::release(worker, warps, true);
    Ok(OneTurn { went_on, ended })
}

/// No warp of the cluster can go on: lets some of them, or stops the launch.
pub fn rescue<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>]) -> Result<(), Stop> {
    let progress = asynchronous::turns::release(worker, warps, false)
        || go_on_past_lanes(worker, warps)
        || end_past_barriers(worker, warps)
        || asynchronous::turns::fail_waits(worker, warps)?;
    if progress { Ok(()) } else { Err(deadlock::report(worker, warps)) }
}

/// Fails if the launch must stop: it was cancelled, has faulted elsewhere, or has reached a limit.
fn check<'l>(worker: &mut Worker<'l>, warp: &Warp) -> Result<(), Stop> {
    let launched = worker.launched;
    if launched.is_beyond_fault(worker.cluster) {
        return Err(Stop::Abandoned);
    }
    let faults = worker.checker.as_ref().map_or(0, |checker| checker.faults());
    let limit = match () {
        () if launched.is_cancelled() => Some(TrapKind::Cancelled),
        () if faults > launched.launch.fault_limit => Some(TrapKind::FaultLimit { limit: launched.launch.fault_limit }),
        () if launched.steps(worker.unreported) > launched.launch.step_limit => {
            Some(TrapKind::StepLimit { limit: launched.launch.step_limit })
        }
        () => None,
    };
    if let Some(kind) = limit {
        let split = warp.ready.last().or(warp.waiting.last().map(|(split, _)| split));
        let (pc, lane) = split.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
        return Err(worker.stop(Fault { kind, lane, pc }, warp));
    }
    if worker.unreported >= TALLY {
        worker.report_steps();
    }
    Ok(())
}

/// Resumes the splits that waited at a barrier, now that it is complete.
fn release<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], barrier: u32) {
    if worker.checker.as_ref().is_some_and(|checker| checker.checks().strict) {
        report_of_places(worker, warps, barrier);
        if worker.block.barriers.has_exits() {
            report_of_exits(worker, warps, barrier);
        }
    }
    let outcome = worker.block.barriers.outcome(barrier);
    note_meeting(worker, warps, barrier);
    for warp in warps {
        let mut index = 0;
        while index < warp.waiting.len() {
            let (mut split, wait) = warp.waiting[index];
            if !matches!(wait, Wait::Barrier(number) if number == barrier) {
                index += 1;
                continue;
            }
            warp.waiting.swap_remove(index);
            barriers::pass(worker.launched, warp, &split, &outcome);
            split.pc += 1;
            warp.resume(split);
        }
    }
}

/// Notes which warps continue after a barrier, for a caller that chooses each step.
#[inline]
fn note_meeting<'l>(worker: &mut Worker<'l>, warps: &[Warp<'l>], barrier: u32) {
    let block = worker.block.number as u32;
    let Some(notes) = worker.draws.as_mut().and_then(|draws| draws.notes.as_mut()) else { return };
    let waits = |wait: &Wait| matches!(wait, Wait::Barrier(number) if *number == barrier);
    let of_warp = |warp: &Warp| {
        let mask = warp.waiting.iter().filter(|(_, wait)| waits(wait)).fold(0, |mask, (split, _)| mask | split.mask);
        (mask != 0).then_some((block, warp.index, mask))
    };
    notes.met.push(warps.iter().filter_map(of_warp).collect());
}

/// Reports, under `strict`, a barrier for all threads of the block that completed without some of
/// them.
#[cold]
fn report_of_exits<'l>(worker: &mut Worker<'l>, warps: &[Warp<'l>], barrier: u32) {
    let code = worker.launched.code;
    let Some(checker) = &mut worker.checker else { return };
    let waits = |warp: &Warp| {
        let mut waiting = warp.waiting.iter();
        waiting.find(|(_, wait)| matches!(wait, Wait::Barrier(number) if *number == barrier)).map(|&(split, _)| split)
    };
    let Some((warp, split)) = warps.iter().find_map(|warp| Some((warp, waits(warp)?))) else { return };
    let Some(instruction) = code.instructions.get(split.pc as usize) else { return };
    let exited = warps.iter().find_map(|warp| Some(warp.thread(lanes(warp.exists & !warp.alive).next()? as u32)));
    if let (Action::Barrier(waited), Some(thread)) = (&instruction.action, exited)
        && waited.threads.is_none()
    {
        let kind = FindingKind::BarrierLeft { barrier, thread, in_warp: false };
        checker.report(kind, instruction.place, warp.index, split.mask.trailing_zeros() & 31, None);
    }
}

/// Reports, under `strict`, a barrier for all threads of the block that they reach at different
/// instructions. (With a count of threads, that is how producers and consumers meet; without
/// `.aligned`, it is what the barrier is for. If only some reduce, `undefined` reports that.)
#[cold]
fn report_of_places<'l>(worker: &mut Worker<'l>, warps: &[Warp<'l>], barrier: u32) {
    let (code, Some(checker)) = (worker.launched.code, &mut worker.checker) else { return };
    let is_here = |(_, wait): &&(Split, Wait)| matches!(wait, Wait::Barrier(number) if *number == barrier);
    let mut waiting =
        warps.iter().flat_map(|warp| warp.waiting.iter().filter(is_here).map(move |(split, _)| (warp, split)));
    let Some((first, place)) = waiting.next() else { return };
    let Some((other, elsewhere)) = waiting.find(|(_, split)| split.pc != place.pc) else { return };
    let instruction = |split: &Split| code.instructions.get(split.pc as usize);
    let (Some(one), Some(another)) = (instruction(place), instruction(elsewhere)) else { return };
    let (Action::Barrier(one_waits), Action::Barrier(other_waits)) = (&one.action, &another.action) else { return };
    let is_for_all = |waited: &Barrier| waited.aligned && waited.threads.is_none();
    let same_kind = one_waits.reduction.is_some() == other_waits.reduction.is_some();
    if same_kind && is_for_all(one_waits) && is_for_all(other_waits) {
        let thread = |warp: &Warp, split: &Split| warp.index * 32 + (split.mask.trailing_zeros() & 31);
        let (now, before) = ((another.place, thread(other, elsewhere)), (one.place, thread(first, place)));
        checker.report_both(FindingKind::DifferentBarriers { barrier }, now, before);
    }
}

/// Resumes splits of a warp that waited for each other, if all have arrived. Returns whether any
/// did.
fn release_lanes<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>) -> bool {
    for index in 0..warp.waiting.len() {
        let (split, Wait::Lanes { members }) = warp.waiting[index] else { continue };
        let code = worker.launched.code;
        let meets = |entry: &(Split, Wait)| meets(code, &split, members, entry);
        let there = lanes_there(code, warp, &split, members);
        if members & warp.alive & !there != 0 {
            continue;
        }
        let (met, rest) = std::mem::take(&mut warp.waiting).into_iter().partition::<Vec<_>, _>(meets);
        warp.waiting = rest;
        observe::lanes_met(worker, warp, &split, there);
        meeting::cross_lanes(code, warp, &split, there);
        for (mut split, _) in met {
            split.pc += 1;
            warp.ready.push(split);
        }
        return true;
    }
    false
}

/// Called when no split can proceed. If lanes wait for lanes that only wait to reconverge with
/// them, the latter proceed separately; usually they are about to exit. Returns whether there were
/// any.
fn go_on_past_lanes<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>]) -> bool {
    let mut any = false;
    for (rank, warps) in worker.by_block(warps) {
        worker.select(rank);
        for warp in warps {
            let joined = warp.waits_at_joins(|_| true);
            let held_up = warp.waiting.iter().find_map(|(split, wait)| {
                let Wait::Lanes { members } = *wait else { return None };
                let missing = members & warp.alive & !lanes_there(worker.launched.code, warp, split, members);
                (missing & !joined == 0).then_some((*split, members, missing))
            });
            if let Some((split, members, missing)) = held_up {
                observe::lanes_absent(worker, warp, &split, members, missing);
                any |= warp.release_joins(|_| true);
            }
        }
    }
    any
}

/// Called when no split can proceed. Lanes with nothing left to execute, which wait to reconverge
/// with lanes at a barrier, exit. Returns whether there were any.
fn end_past_barriers<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>]) -> bool {
    let code = worker.launched.code;
    let at_barrier = |(_, wait): &(Split, Wait)| matches!(wait, Wait::Barrier(number) if *number < NUMBERED_BARRIERS);
    let mut any = false;
    for warp in warps.iter_mut().filter(|warp| warp.waiting.iter().any(at_barrier)) {
        any |= warp.release_joins(|pc| code.ends_at(pc));
    }
    any
}

/// Whether an entry waits for the same lanes as a split, at the same instruction.
fn meets(code: &Code, split: &Split, members: u32, (other, wait): &(Split, Wait)) -> bool {
    matches!(wait, Wait::Lanes { members: others } if *others == members) && meeting::may_meet(code, split, other)
}

/// The lanes that have reached the point where a split waits for `members`.
fn lanes_there(code: &Code, warp: &Warp, split: &Split, members: u32) -> u32 {
    let there = warp.waiting.iter().filter(|entry| meets(code, split, members, entry));
    there.fold(0, |mask, (split, _)| mask | split.mask)
}

#[cfg(test)]
mod tests {
    use crate::machine::schedule::turns::{begin, turn};
    use crate::machine::state::{RunningLaunch, Stage, Stop, Worker};
    use crate::trap::TrapKind;
    use crate::{Launch, Memory, Program};

    const TEXT: &str = "
.version 7.8
.target sm_90
.address_size 64
.visible .entry counts() {
    .reg .u32 %r;
    add.u32 %r, 1, 1;
    add.u32 %r, %r, 1;
    add.u32 %r, %r, 1;
    add.u32 %r, %r, 1;
    ret;
}
.visible .entry meets() {
    .reg .u32 %r;
    bar.sync 0;
    add.u32 %r, 1, 1;
    ret;
}
// Only the first block waits, for a warp that has exited.
.visible .entry stuck() {
    .reg .pred %p<3>;
    .reg .u32 %r<3>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    setp.gt.u32 %p2, %r2, 31;
    @%p1 exit;
    @%p2 exit;
    bar.sync 1, 64;
    ret;
}
// Waits for a phase that nobody completes.
.visible .entry waits() {
    .reg .pred %p;
    .shared .align 8 .b64 phase;
    mbarrier.init.shared.b64 [phase], 1;
again:
    mbarrier.try_wait.parity.shared.b64 %p, [phase], 0;
    @!%p bra again;
    ret;
}
";

    fn begun<R>(kernel: &str, block: u32, cluster: Option<u32>, each: impl FnOnce(&RunningLaunch) -> R) -> R {
        let module = ptx::parse("turns.ptx", TEXT).unwrap_or_else(|errors| panic!("{errors}"));
        let mut memory = Memory::new(1 << 20);
        let program = Program::load(&module, &mut memory).unwrap();
        let cluster = cluster.map(|blocks| [blocks, 1, 1]);
        let grid = [cluster.map_or(1, |cluster| cluster[0]), 1, 1];
        program.begun(&memory, &Launch { kernel, grid, cluster, block: [block, 1, 1], ..Launch::default() }, each)
    }

    #[test]
    fn a_turn_has_at_most_so_many_instructions_of_each_warp() {
        begun("counts", 64, None, |launched| {
            let mut worker = Worker::new(launched, None);
            let mut warps = worker.warps();
            begin(&mut worker, &mut warps, 0);
            assert_eq!(worker.block.stage, Stage::Waits);
            for executed in [2, 4] {
                assert!(matches!(turn(&mut worker, &mut warps, 2), Ok(false)));
                assert_eq!(warps.iter().map(|warp| warp.executed).collect::<Vec<_>>(), [executed; 2]);
                assert_eq!(worker.block.stage, Stage::Runs);
            }
            while !turn(&mut worker, &mut warps, 2).unwrap_or_else(|_| panic!("it does not stop")) {}
            assert_eq!(worker.block.stage, Stage::Ended);
            assert!(warps.iter().all(|warp| warp.executed == 5 && warp.alive == 0));
        });
    }

    #[test]
    fn the_last_warp_at_a_barrier_releases_the_others() {
        begun("meets", 64, None, |launched| {
            let mut worker = Worker::new(launched, None);
            let mut warps = worker.warps();
            begin(&mut worker, &mut warps, 0);
            assert!(matches!(turn(&mut worker, &mut warps, 1), Ok(false)));
            assert_eq!(
                warps.iter().map(|warp| (warp.ready.len(), warp.waiting.len())).collect::<Vec<_>>(),
                [(1, 0); 2]
            );
        });
    }

    #[test]
    fn the_running_block_is_the_one_that_is_deadlocked() {
        begun("stuck", 64, Some(3), |launched| {
            let mut worker = Worker::new(launched, None);
            let mut warps = worker.warps();
            begin(&mut worker, &mut warps, 0);
            let stop = loop {
                match turn(&mut worker, &mut warps, 100) {
                    Ok(done) => assert!(!done),
                    Err(stop) => break stop,
                }
            };
            let Stop::Trap(trap) = stop else { panic!("a deadlock is a trap") };
            assert!(matches!(trap.kind, TrapKind::BarrierNeverReached { barrier: 1, arrived: 32, expected: 64, .. }));
            assert_eq!((trap.block, worker.block.number), ([0; 3], 0));
            assert_eq!(worker.block.all_mut().iter().map(|block| block.number).collect::<Vec<_>>(), [0, 1, 2]);
        });
    }

    #[test]
    fn waits_for_a_phase_fail_until_patience_ends() {
        begun("waits", 1, None, |launched| {
            let mut worker = Worker::new(launched, None);
            let mut warps = worker.warps();
            begin(&mut worker, &mut warps, 0);
            let mut turns = 0;
            let stop = loop {
                match turn(&mut worker, &mut warps, 100) {
                    Ok(_) => turns += 1,
                    Err(stop) => break stop,
                }
            };
            let Stop::Trap(trap) = stop else { panic!("a deadlock is a trap") };
            assert_eq!(trap.kind, TrapKind::PhaseNeverComplete { address: 0, arrivals: 1, bytes: 0 });
            assert!(turns >= crate::machine::asynchronous::turns::PATIENCE, "{turns}");
        });
    }
}
