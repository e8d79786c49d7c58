//! Stores that are left out, and stores that become one.

use ptx::Op;

use super::body::{Body, Candidate, Class, Found, Part};
use super::flow::Flow;
use super::live::Live;
use super::loads::{alignments, window};
use super::values::Values;
use super::versions::reaches;

/// A store of a run.
struct Stored {
    position: usize,
    offset: i64,
    width: u32,
    unit: u32,
}

/// Stores without any other access to their memory between, all in one window.
struct Run {
    class: Class,
    terms: Vec<(u32, i64)>,
    /// The window's size and beginning.
    window: (i64, i64),
    stores: Vec<Stored>,
}

/// `found` has the loads already.
pub(super) fn find(body: &Body<'_>, flow: &Flow, live: &Live, values: &Values, found: &mut Found) {
    let alignments = alignments(body, flow, live, values);
    let mut runs: Vec<Run> = Vec::new();
    let mut block = usize::MAX;
    for (position, instruction) in body.instructions.iter().enumerate() {
        if flow.block[position] != block {
            block = flow.block[position];
            runs.drain(..).for_each(|run| finish(&run, found));
        }
        let candidate = match &instruction.op {
            Op::Store { .. } => Candidate::of(instruction).zip(values.address(position)),
            _ => None,
        };
        if let Some((candidate, address)) = candidate {
            let known = alignments.get(&address.terms).map_or(&[][..], Vec::as_slice);
            let (size, start) = window(values.zeros(&address.terms), candidate.class, known, flow, position);
            let first = start + (address.constant - start).div_euclid(size) * size;
            let (offset, unit, width) = (address.constant, candidate.unit, candidate.width());
            let stored = Stored { position, offset, width, unit };
            let class = candidate.class;
            let at = runs.iter().position(|run| run.class == class);
            match at.map(|at| &mut runs[at]) {
                Some(run) if run.terms == address.terms && run.continues(&stored, (size, first)) => {
                    run.push(stored, found);
                    continue;
                }
                _ => {}
            }
            if let Some(at) = at {
                finish(&runs.swap_remove(at), found);
            }
            runs.push(Run { class, terms: address.terms.clone(), window: (size, first), stores: vec![stored] });
            continue;
        }
        let is_left_out = found.requests.get(&position).is_some_and(Vec::is_empty);
        if is_left_out && matches!(instruction.op, Op::Load { .. }) {
            continue;
        }
        // Any other access to the memory ends the run.
        let (ended, rest) = runs.drain(..).partition(|run: &Run| reaches(&instruction.op, run.class));
        runs = rest;
        let ended: Vec<Run> = ended;
        ended.iter().for_each(|run| finish(run, found));
    }
    runs.iter().for_each(|run| finish(run, found));
}

impl Run {
    fn continues(&self, next: &Stored, window: (i64, i64)) -> bool {
        let last = self.stores.last();
        let overwrites = last.is_some_and(|last| last.offset == next.offset && last.width == next.width);
        let is_new = |one: &Stored| one.unit == next.unit && one.offset != next.offset;
        overwrites || self.window == window && self.stores.iter().all(is_new)
    }

    fn push(&mut self, next: Stored, found: &mut Found) {
        let overwritten = |last: &mut Stored| last.offset == next.offset && last.width == next.width;
        if let Some(last) = self.stores.pop_if(overwritten) {
            found.requests.insert(last.position, Vec::new());
            found.served.insert(last.position, next.position);
        }
        self.stores.push(next);
    }
}

/// Notes how the stores of a run are counted: what fills a window is one, and so are two aligned
/// neighbours.
fn finish(run: &Run, found: &mut Found) {
    let (window, first) = run.window;
    let Some(one) = run.stores.first() else { return };
    let width = i64::from(one.width);
    let mut stores: Vec<&Stored> = run.stores.iter().collect();
    stores.sort_by_key(|store| store.offset);
    let is_even = |store: &&Stored| i64::from(store.width) == width && (store.offset - first) % width == 0;
    let rises = stores.windows(2).all(|two| two[0].offset < two[1].offset);
    if stores.len() < 2 || !matches!(width, 4 | 8) || !stores.iter().all(is_even) || !rises {
        return;
    }
    let mut rest = &stores[..];
    while let [start, ..] = rest {
        let fits = |count: i64| {
            let bytes = count * width;
            let together =
                rest.get(..count as usize).filter(|_| bytes <= window && (start.offset - first) % bytes == 0)?;
            let follows = together.windows(2).all(|two| two[1].offset - two[0].offset == width);
            follows.then_some(together)
        };
        let together = [4, 2].into_iter().find_map(fits).unwrap_or(&rest[..1]);
        rest = &rest[together.len()..];
        if together.len() > 1 {
            // Counted where the first is made.
            let Some(by) = together.iter().map(|store| store.position).min() else { continue };
            for store in together {
                let mut parts = Vec::new();
                if store.position == by {
                    let bytes = (together.len() as i64 * width) as u32;
                    parts.push(Part { offset: start.offset - store.offset, width: bytes });
                } else {
                    found.served.insert(store.position, by);
                }
                found.requests.insert(store.position, parts);
            }
        }
    }
}
