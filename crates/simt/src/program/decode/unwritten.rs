//! Finds registers that may be read before they are written, so that the sanitizer tracks only
//! these. Runs once all functions of a kernel are decoded; `tracked` adds inspections to the
//! kernel's code.
//!
//! A register that every path writes before reading needs no tracking, and compilers produce hardly
//! any other. For the rest, this follows where their values may go. Compilers compute with values
//! that they drop later (`fma`, then `selp`), so a value matters only if it is a condition (a
//! branch, a guard), an address, a stored value, an operand of a matrix product, or visible to
//! other threads. If no value gets there, nothing is tracked.
//!
//! A value that is composed of parts (`mov` of vectors, `bfi`, `prmt`, `and`, `or`, elements of a
//! store) counts as written if one of its parts was: the rest is padding. A shuffle returns the
//! source lane's value, written or not; from a lane that does not take part, an undefined value.
//!
//! Values are followed into called functions and back, word by word of arguments and results:
//! passing an unwritten value is not a fault, using it in the function is. So all functions of a
//! kernel are searched together: which arguments may be passed unwritten, and which results may be
//! returned unwritten.

use ptx::{ComputeOp, ControlOp, Handle, Instruction, Op, StackOp, WarpOp};

use super::flows::{Flows, Passed, Provenance, Words};
use super::function::{Builder, FunctionDecoder};
use super::tracked::Found;
use crate::program::blocks::BasicBlocks;

/// The most steps of the search. Registers that it does not reach by then are tracked in any case.
const SEARCH_LIMIT: usize = 1 << 24;

/// A decoded function to search.
pub(super) struct Searched<'m> {
    pub flows: Flows<'m>,
    /// The first step of each position of the body, then the end.
    starts: Vec<u32>,
    /// For each value, whether some path reads it before it is written. Parameters are not
    /// included: that depends on callers.
    exposed: Vec<bool>,
    /// Whether callers may pass each word of the parameters unwritten, and whether it may return
    /// each word of the results unwritten.
    passed: Vec<Vec<bool>>,
    returned: Vec<Vec<bool>>,
}

impl<'m> Searched<'m> {
    /// `successors` are the successors of each position of the body, `starts` the steps that they
    /// begin at.
    pub fn new(
        decoder: &mut FunctionDecoder<'_, 'm>,
        body: &'m [Instruction],
        successors: &[Vec<u32>],
        starts: &[u32],
    ) -> Self {
        let (module, function) = (decoder.builder.module, decoder.function);
        let words = Words::new(decoder);
        let of = |variables: &[Handle<ptx::Variable>]| -> Vec<Vec<bool>> {
            variables.iter().map(|&variable| words.of(variable).map(|_| false).collect()).collect()
        };
        let (passed, returned) = (of(&function.parameters), of(&function.results));
        let (uses, rows) = (std::mem::take(&mut decoder.uses), decoder.rows.clone());
        let flows = Flows { module, function, body, uses, rows, words, follows_local: false, follows_shuffles: false };
        let exposed = flows.exposed(successors);
        // A shuffle may read what another lane has not written. The frames of callees are not
        // examined here.
        let is_of_others = |instruction: &Instruction| {
            matches!(instruction.op, Op::Warp(WarpOp::Shuffle { .. }) | Op::Control(ControlOp::Call { .. }))
        };
        decoder.frame.needs_no_zeros = !exposed.contains(&true) && !body.iter().any(is_of_others);
        let end = decoder.builder.instructions.len() as u32;
        Self { flows, starts: starts.iter().copied().chain([end]).collect(), exposed, passed, returned }
    }

    /// The values that may be unwritten, or computed from such values, given what is known of
    /// callers and callees.
    fn reached(&self, returned: impl Fn(Handle<ptx::Function>, usize, usize) -> bool) -> Vec<bool> {
        let Self { flows, exposed, passed, .. } = self;
        let mut reached = exposed.clone();
        for (&parameter, words) in flows.function.parameters.iter().zip(passed) {
            flows.words.of(parameter).zip(words).for_each(|(word, &passed)| reached[word] &= passed);
        }
        for call in flows.body.iter().filter_map(|instruction| flows.passed(&instruction.op)) {
            for (result, words) in call.results.iter().enumerate() {
                for (word, &to) in words.iter().enumerate() {
                    let may_be = || call.callees.iter().any(|&callee| returned(callee, result, word));
                    if let Some(to) = to.filter(|_| may_be()) {
                        reached[to] = true;
                    }
                }
            }
        }
        for position in 0..flows.body.len() {
            flows.loaded(position).iter().flatten().for_each(|register| reached[register.index()] = true);
            flows.shuffled(position).into_iter().for_each(|register| reached[register] = true);
        }
        flows.spread(&mut reached);
        reached
    }
}

/// Whether threads of the kernel have local memory.
fn has_local(builder: &Builder<'_>, all: &[Searched<'_>]) -> bool {
    let allocates = |instruction: &Instruction| matches!(instruction.op, Op::Stack(StackOp::Allocate { .. }));
    builder.functions.iter().any(|function| function.local > 0)
        || all.iter().any(|searched| searched.flows.body.iter().any(allocates))
}

/// Whether a function has shuffles.
fn shuffles(searched: &Searched<'_>) -> bool {
    let is_shuffle = |op: &Op| matches!(op, Op::Warp(WarpOp::Shuffle { dst: Some(_), .. }));
    searched.flows.body.iter().any(|instruction| is_shuffle(&instruction.op))
}

/// Decides what the sanitizer tracks in the functions of a kernel.
pub(super) fn track(builder: &mut Builder<'_>, mut all: Vec<Searched<'_>>) {
    let always = reach(builder, &mut all);
    let (follows_local, follows_shuffles) = (has_local(builder, &all), all.iter().any(shuffles));
    let reached = if follows_local || follows_shuffles {
        for Searched { flows, .. } in &mut all {
            (flows.follows_local, flows.follows_shuffles) = (follows_local, follows_shuffles);
        }
        reach(builder, &mut all)
    } else {
        always.clone()
    };
    for (function, (searched, reached)) in all.iter().zip(&reached).enumerate() {
        if reached.contains(&true) || follows_local {
            let found = Found { exposed: &searched.exposed, always: &always[function], reached };
            searched.flows.inspect(builder, function, &searched.starts, &found);
        }
    }
}

/// For each function, the values that may be unwritten, or computed from such values.
fn reach(builder: &Builder<'_>, all: &mut [Searched<'_>]) -> Vec<Vec<bool>> {
    let index = |handle: Handle<ptx::Function>| builder.by_handle.get(&handle.index()).map(|&index| index as usize);
    // Iterates until nothing new is found about arguments and results.
    loop {
        let returns = |handle, result: usize, word: usize| {
            let returned = index(handle).map(|index| &all[index].returned);
            returned.is_some_and(|returned| returned.get(result).and_then(|words| words.get(word)) == Some(&true))
        };
        let reached: Vec<Vec<bool>> = all.iter().map(|searched| searched.reached(returns)).collect();
        let mut is_news = false;
        for caller in 0..all.len() {
            if !reached[caller].contains(&true) {
                continue;
            }
            let flows = &all[caller].flows;
            let calls: Vec<Passed> =
                flows.body.iter().filter_map(|instruction| flows.passed(&instruction.op)).collect();
            let returned: Vec<Vec<bool>> = (flows.function.results.iter())
                .map(|&result| flows.words.of(result).map(|word| reached[caller][word]).collect())
                .collect();
            is_news |= std::mem::replace(&mut all[caller].returned, returned.clone()) != returned;
            for Passed { callees, arguments, .. } in calls {
                for callee in callees.into_iter().filter_map(index) {
                    for (words, passed) in arguments.iter().zip(&mut all[callee].passed) {
                        for (word, passed) in words.iter().zip(passed) {
                            if word.is_some_and(|word| reached[caller][word]) {
                                is_news |= !std::mem::replace(passed, true);
                            }
                        }
                    }
                }
            }
        }
        if !is_news {
            return reached;
        }
    }
}

impl Flows<'_> {
    /// The values that some path reads before they are written.
    fn exposed(&self, successors: &[Vec<u32>]) -> Vec<bool> {
        let mut exposed = vec![false; self.count()];
        let blocks = BasicBlocks::new(self.body.len(), successors);
        exposed[self.carry()] = self.carry_is_exposed(&blocks);
        // For each value, the blocks that read it before they write it, and those that write it.
        let mut readers = vec![Vec::new(); self.count()];
        let mut writers = vec![Vec::new(); self.count()];
        for block in 0..blocks.count() {
            for position in blocks.positions(block) {
                for value in self.reads(position) {
                    if writers[value].last() != Some(&block) && readers[value].last() != Some(&block) {
                        readers[value].push(block);
                    }
                }
                if self.body[position].guard.is_none() {
                    self.each_written(position, |value| {
                        let writers = &mut writers[value];
                        if writers.last() != Some(&block) {
                            writers.push(block);
                        }
                    });
                }
            }
        }
        let mut steps = 0;
        let mut seen = vec![usize::MAX; blocks.count()];
        for (value, readers) in readers.iter_mut().enumerate() {
            // Backwards from each reader, to the entry.
            while let Some(block) = readers.pop() {
                if block == 0 || steps > SEARCH_LIMIT {
                    exposed[value] = true;
                    break;
                }
                for &before in &blocks.before[block] {
                    steps += 1;
                    if seen[before] != value {
                        seen[before] = value;
                        if writers[value].binary_search(&before).is_err() {
                            readers.push(before);
                        }
                    }
                }
            }
        }
        exposed
    }

    /// Whether the carry flag may be read before it is set, or after a call, which clobbers it. It
    /// is meant for straight-line code; anything else is tracked.
    fn carry_is_exposed(&self, blocks: &BasicBlocks) -> bool {
        (0..blocks.count()).any(|block| {
            let mut is_set = false;
            blocks.positions(block).any(|position| {
                let instruction = &self.body[position];
                match instruction.op {
                    Op::Compute(ComputeOp::Carry { carry_in: true, .. }) if !is_set => return true,
                    Op::Compute(ComputeOp::Carry { carry_out: true, .. }) if instruction.guard.is_none() => {
                        is_set = true
                    }
                    Op::Control(ControlOp::Call { .. }) => is_set = false,
                    _ => {}
                }
                false
            })
        })
    }

    /// Spreads `reached` forwards, to where these values may go.
    fn spread(&self, reached: &mut [bool]) {
        let mut next: Vec<usize> =
            (0..reached.len()).filter(|&value| reached[value] && value != self.carry()).collect();
        if next.is_empty() {
            return;
        }
        let mut readers = vec![Vec::new(); self.count()];
        for position in 0..self.body.len() {
            for (to, made) in self.flow(position).makes {
                made.sources().into_iter().for_each(|source| readers[source].push((to, position)));
            }
        }
        while let Some(value) = next.pop() {
            for &(to, position) in &readers[value] {
                let is_written =
                    |(made_to, made): &(usize, Provenance)| *made_to == to && made.is_of_written_part(reached);
                if !reached[to] && !self.flow(position).makes.iter().any(is_written) {
                    reached[to] = true;
                    next.push(to);
                }
            }
        }
    }
}
