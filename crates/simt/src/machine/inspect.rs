//! What the sanitizer inspects before a step: uses of uninitialised registers, and operands for
//! which the PTX manual leaves the result undefined.

use ptx::Space;

use crate::address::space_of;
use crate::lanes::{lanes, mask_where};
use crate::machine::state::{LoadedBy, Origin, Split, Storing, TrackedRegister, Warp, Worker};
use crate::machine::{access, held, written};
use crate::program;
use crate::program::{Action, CallFlow, Code, Inspection, Merge, RegisterFlow, RegisterUse, Rule};
use crate::sanitizer::FindingKind;

/// Inspects a step that the lanes of `mask`, out of a split, are about to execute.
#[cold]
#[inline(never)]
pub(super) fn before(worker: &mut Worker, warp: &mut Warp, split: &Split, inspection: &Inspection, mask: u32) {
    let Some(checks) = worker.checker.as_ref().map(|checker| checker.checks()) else { return };
    if let Some(flow) = inspection.registers.as_ref().filter(|flow| warp.unwritten.any() || !flow.of_loaded) {
        registers(worker, warp, split, flow, mask);
    }
    if let Some(held) = inspection.held.as_ref().filter(|_| checks.race && mask != 0) {
        held::follow(worker, warp, split, held, mask);
    }
    if let Some(rule) = inspection.rule.as_ref().filter(|_| checks.undefined && mask != 0) {
        follow(worker, warp, split, rule, mask);
    }
}

/// Reports one finding for each lane of a mask.
fn report(worker: &mut Worker, warp: &Warp, split: &Split, mask: u32, kind: impl Fn(usize) -> FindingKind) {
    let Some(&place) = worker.launched.code.origins.get(split.pc as usize) else { return };
    let Some(checker) = &mut worker.checker else { return };
    for lane in lanes(mask) {
        checker.report(kind(lane), place, warp.index, lane as u32, None);
    }
}

/// Reports uses of unwritten registers, and tracks what is written.
fn registers(worker: &mut Worker, warp: &mut Warp, split: &Split, flow: &RegisterFlow, mask: u32) {
    let first = warp.frame(split).tracked;
    let at = |register: u32| first + register as usize;
    if let Some(guard) = flow.guard {
        unwritten(worker, warp, split, guard, split.mask, RegisterUse::Condition);
    }
    for &(register, to) in &flow.uses {
        unwritten(worker, warp, split, register, mask, to);
    }
    let mut kept = 0;
    if let Some((step, elements)) = &flow.kept {
        kept = keep(worker, warp, split, (*step, elements), mask);
    }
    if let Some(&register) = flow.stored.first() {
        let written = flow.stored.iter().fold(0, |written, &register| written | warp.tracked[at(register)].written);
        unwritten(worker, warp, split, register, mask & !written & !kept, RegisterUse::Stored);
    }
    for made in &flow.moves {
        let (written, origin) = merge(warp, first, &made.merge, mask);
        let to = &mut warp.tracked[at(made.to)];
        to.written = to.written & !mask | written & mask;
        if mask & !written != 0 {
            to.origin = origin;
        }
    }
    for &register in &flow.writes {
        warp.tracked[at(register)].written |= mask;
    }
    if let Some(register) = flow.forgets {
        let register = &mut warp.tracked[at(register)];
        register.written &= !mask;
    }
}

/// Lanes are about to store unwritten values, which they loaded, to local memory. That is not a
/// use. Returns these lanes.
#[cold]
fn keep(worker: &Worker, warp: &mut Warp, split: &Split, (step, elements): (u32, &[Option<u32>]), mask: u32) -> u32 {
    let code = worker.launched.code;
    let (Some(instruction), Some(&place)) = (code.instructions.get(step as usize), code.origins.get(step as usize))
    else {
        return 0;
    };
    let Action::Store(store) = &instruction.action else { return 0 };
    let is_local: u32 = match store.reach.space {
        Space::Local => mask,
        _ => {
            let addresses = access::addresses(warp, &store.reach, split);
            mask_where(mask, |lane| space_of(addresses[lane]) == Space::Local)
        }
    };
    let first = warp.frame(split).tracked;
    let unwritten = |element: &Option<u32>| match element.map(|register| warp.tracked[first + register as usize]) {
        Some(TrackedRegister { written, origin: Origin::Load(load) }) => (is_local & !written, load),
        _ => (0, 0),
    };
    let elements: Vec<(u32, u32)> = elements.iter().map(unwritten).collect();
    let kept = elements.iter().fold(0, |kept, (unwritten, _)| kept | unwritten);
    warp.unwritten.storing = (kept != 0).then_some(Storing { place, elements });
    kept
}

/// A load has read unwritten memory: marks its destination registers as unwritten. `load`: its
/// place and width.
#[cold]
#[inline(never)]
pub(super) fn loaded(code: &Code, warp: &mut Warp, split: &Split, load: (u32, u32)) {
    let all = warp.unwritten.take_loaded();
    let Some(registers) = code.inspections.of(split.pc).and_then(|inspection| inspection.loaded.as_ref()) else {
        return;
    };
    let first = warp.frame(split).tracked;
    for by in &all {
        let LoadedBy { lane, elements, .. } = *by;
        for element in lanes(elements) {
            let Some(Some(register)) = registers.get(element) else { continue };
            let blamed = warp.unwritten.blamed(load, by, element as u32);
            let register = &mut warp.tracked[first + *register as usize];
            register.written &= !(1 << lane);
            register.origin = Origin::Load(blamed);
        }
    }
}

/// Lanes have called a function and are about to start it; `caller` is at the step after the call.
/// A parameter counts as written if its argument does.
#[cold]
pub(super) fn hand_over(code: &Code, warp: &mut Warp, caller: &Split, inside: &Split) {
    let (from, to) = (warp.frame(caller).tracked, warp.frame(inside));
    let (to, function) = (to.tracked, to.function);
    let Some(callee) = code.functions.get(function as usize) else { return };
    let flow = call_before(code, caller);
    for (argument, words) in callee.tracked_parameters.iter().enumerate() {
        for (word, number) in words.iter().enumerate() {
            let Some(number) = number else { continue };
            let passed = flow.and_then(|flow| *flow.arguments.get(argument)?.get(word)?);
            let passed = passed.map(|passed| warp.tracked[from + passed as usize]);
            let written = passed.map_or(u32::MAX, |passed| passed.written);
            let register = &mut warp.tracked[to + *number as usize];
            register.written = register.written & !inside.mask | written & inside.mask;
            register.take_load(passed, inside.mask);
        }
    }
}

/// Lanes are about to return from a function. A result counts as written in the caller if it does
/// here.
#[cold]
pub(super) fn hand_back(code: &Code, warp: &mut Warp, split: &Split) {
    let Some(caller) = warp.caller(split) else { return };
    let (to, from) = (warp.frame(&caller).tracked, warp.frame(split));
    let (from, function) = (from.tracked, from.function);
    let (Some(callee), Some(flow)) = (code.functions.get(function as usize), call_before(code, &caller)) else {
        return;
    };
    let mut last = None;
    for (result, words) in flow.results.iter().enumerate() {
        for (word, number) in words.iter().enumerate() {
            let Some(number) = *number else { continue };
            let returned = callee.tracked_results.get(result).and_then(|words| words.get(word));
            let size = callee.results.get(result).map_or(0, |rows| rows.count as usize);
            if word >= size {
                continue;
            }
            let returned = returned.copied().flatten();
            let returned = returned.map(|returned| warp.tracked[from + returned as usize]);
            let written = returned.map_or(u32::MAX, |returned| returned.written);
            let register = &mut warp.tracked[to + number as usize];
            // A register may take several words: some may be padding.
            let kept = if last == Some(number) { u32::MAX } else { !split.mask };
            register.written = register.written & kept | written & split.mask;
            register.take_load(returned, split.mask);
            last = Some(number);
        }
    }
}

/// The flow of values through the call before a step.
fn call_before<'c>(code: &'c Code, behind: &Split) -> Option<&'c CallFlow> {
    code.inspections.of(behind.pc.checked_sub(1)?)?.call.as_deref()
}

/// Lanes have met at a shuffle; each is about to get the value of another lane, or keep its own. A
/// value from a lane that does not take part is undefined.
#[cold]
pub(super) fn exchange(code: &Code, warp: &mut Warp, split: &Split, sources: &[Option<u32>; 32], mask: u32) {
    let flow = code.inspections.of(split.pc).and_then(|inspection| inspection.registers.as_ref());
    let Some((to, from)) = flow.and_then(|flow| flow.exchanges) else { return };
    let first = warp.frame(split).tracked;
    let value = from.map_or(WRITTEN, |from| warp.tracked[first + from as usize]);
    let source = |lane: usize| sources[lane].unwrap_or(lane as u32) & 31;
    let outside = mask_where(mask, |lane| mask >> source(lane) & 1 == 0);
    let got = mask_where(mask & !outside, |lane| value.written >> source(lane) & 1 == 1);
    let mut origin = value.origin;
    if outside != 0
        && let Some(&place) = code.origins.get(split.pc as usize)
    {
        origin = Origin::Load(warp.unwritten.shuffled(place, outside, source));
    }
    let to = &mut warp.tracked[first + to as usize];
    to.written = to.written & !mask | got;
    if mask & !got != 0 {
        to.origin = origin;
    }
}

/// A value that is always written.
const WRITTEN: TrackedRegister = TrackedRegister { written: u32::MAX, origin: Origin::Register(0) };

/// The lanes in which a computed value counts as written, and the register to blame for the rest of
/// `mask`.
fn merge(warp: &Warp, first: usize, merge: &Merge, mask: u32) -> (u32, Origin) {
    let of = |register: &u32| warp.tracked[first + *register as usize];
    let maybe = |register: &Option<u32>| register.as_ref().map_or(WRITTEN, of);
    let holds = |operand: u32| warp.registers.predicate(operand);
    let blame = |written: u32, parts: &[TrackedRegister]| {
        let culprit = parts.iter().find(|part| mask & !(part.written | written) != 0);
        (written, culprit.map_or(WRITTEN.origin, |part| part.origin))
    };
    match merge {
        Merge::All(parts) => {
            let parts: Vec<TrackedRegister> = parts.iter().map(of).collect();
            blame(parts.iter().fold(u32::MAX, |written, part| written & part.written), &parts)
        }
        Merge::Any(parts) => {
            let parts: Vec<TrackedRegister> = parts.iter().map(of).collect();
            blame(parts.iter().fold(0, |written, part| written | part.written), &parts)
        }
        Merge::Choice { predicate, chooser, yes, no } => {
            let (chosen, chooser, mut yes, mut no) = (holds(*predicate), maybe(chooser), maybe(yes), maybe(no));
            yes.written |= !chosen;
            no.written |= chosen;
            blame(chooser.written & yes.written & no.written, &[chooser, yes, no])
        }
        Merge::Logic { and, operands: [(a_operand, a), (b_operand, b)] } => {
            let decides = |operand: u32| if *and { !holds(operand) } else { holds(operand) };
            let (a, b) = (maybe(a), maybe(b));
            let both = a.written & b.written;
            let written = both | a.written & decides(*a_operand) | b.written & decides(*b_operand);
            blame(written, &[a, b])
        }
    }
}

/// Reports, once, lanes that use an unwritten register.
fn unwritten(worker: &mut Worker, warp: &mut Warp, split: &Split, register: u32, mask: u32, to: RegisterUse) {
    let frame = warp.frame(split);
    let (first, function) = (frame.tracked, frame.function as usize);
    let TrackedRegister { written, origin } = warp.tracked[first + register as usize];
    let guilty = mask & !written;
    if guilty == 0 {
        return;
    }
    let origin = match origin {
        Origin::Register(origin) => origin,
        Origin::Load(load) => {
            if let Some(checker) = &mut worker.checker {
                written::matters(checker, warp, load, guilty);
            }
            warp.tracked[first + register as usize].written |= guilty;
            return;
        }
    };
    let Some(names) = worker.launched.code.functions.get(function).map(|function| &function.tracked) else { return };
    let name = |register: u32| names.get(register as usize).and_then(Option::as_deref);
    let checks = worker.checker.as_ref().map(|checker| checker.checks()).unwrap_or_default();
    match (name(register), name(origin)) {
        (Some(register), Some(origin)) if checks.init => report(worker, warp, split, guilty, |_| {
            FindingKind::UnwrittenRegister { register: register.into(), origin: origin.into(), to }
        }),
        (None, _) if checks.undefined => report(worker, warp, split, guilty, |_| FindingKind::UnsetCarry),
        _ => {}
    }
    for register in [register, origin] {
        warp.tracked[first + register as usize].written |= guilty;
    }
}

/// Checks operands against a rule.
fn follow(worker: &mut Worker, warp: &Warp, split: &Split, rule: &Rule, mask: u32) {
    let which = |holds: &dyn Fn(usize) -> bool| {
        lanes(mask).filter(|&lane| holds(lane)).fold(0, |lanes, lane| lanes | 1u32 << lane)
    };
    let first = mask.trailing_zeros() as usize & 31;
    match *rule {
        Rule::Divisor { row, bits: 64 } => {
            let divisors = warp.registers.wide(row);
            let zero = which(&|lane| divisors[lane] == 0);
            report(worker, warp, split, zero, |_| FindingKind::DivisionByZero);
        }
        Rule::Divisor { row, bits } => {
            let divisors = warp.registers.word(row);
            let zero = which(&|lane| divisors[lane] << (32 - bits.clamp(1, 32)) == 0);
            report(worker, warp, split, zero, |_| FindingKind::DivisionByZero);
        }
        Rule::AtMost { row, limit, operand } => {
            let values = *warp.registers.word(row);
            let beyond = which(&|lane| values[lane] > limit);
            report(worker, warp, split, beyond, |lane| {
                let value = values[lane];
                FindingKind::OperandBeyondLimit { operand, value, limit }
            });
        }
        Rule::UniformBranch => {
            let others = split.mask & !mask;
            if others != 0 {
                let lanes = [first as u32, others.trailing_zeros()];
                report(worker, warp, split, 1 << first, |_| FindingKind::DivergentUniform { lanes });
            }
        }
        Rule::UniformIndex { row } => {
            let indices = warp.registers.word(row);
            if let Some(other) = lanes(mask).find(|&lane| indices[lane] != indices[first]) {
                let lanes = [first as u32, other as u32];
                report(worker, warp, split, 1 << first, |_| FindingKind::DivergentUniform { lanes });
            }
        }
        Rule::UniformAddress { ref reach } => {
            let addresses = access::addresses(warp, reach, split);
            if let Some(other) = lanes(mask).find(|&lane| addresses[lane] != addresses[first]) {
                let lanes = [first as u32, other as u32];
                report(worker, warp, split, 1 << first, |_| FindingKind::DifferentAddresses { lanes });
            }
        }
        Rule::Barrier { row, reduces } => {
            let barrier = warp.registers.word(row)[first];
            if worker.block.barriers.reduces(barrier).is_some_and(|others| others != reduces) {
                report(worker, warp, split, 1 << first, |_| FindingKind::MixedBarrier { barrier });
            }
        }
        Rule::Mbarrier { ref reach, ends } => {
            let mut addresses = access::addresses(warp, reach, split);
            if reach.space == Space::Generic {
                let window = program::window(Space::Shared);
                for lane in lanes(mask).filter(|&lane| space_of(addresses[lane]) == Space::Shared).collect::<Vec<_>>() {
                    addresses[lane] = addresses[lane].wrapping_sub(window);
                }
            }
            let Some(checker) = &mut worker.checker else { return };
            let again = lanes(mask).filter(|&lane| {
                let is_new = checker.keeps_mbarrier(addresses[lane], !ends);
                !ends && !is_new
            });
            let again = again.fold(0, |lanes, lane| lanes | 1u32 << lane);
            report(worker, warp, split, again, |lane| FindingKind::RepeatedInitialization { address: addresses[lane] });
        }
    }
}
