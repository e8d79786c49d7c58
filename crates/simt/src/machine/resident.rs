//! A launch on a model: blocks are resident side by side on the model's multiprocessors.
//!
//! The launch goes in rounds. In each, every resident block gives each of its warps a few instructions; then L2 serves what the
//! multiprocessors asked for, one request of each in turn. A multiprocessor that has room takes the next block of the grid when a
//! round begins. So the order of all requests follows from the launch and the model alone: the host's threads run the
//! multiprocessors of a round in any order, but those share nothing in it except device memory.

use rayon::prelude::*;

use super::block::Worker;
use super::launched::{Launched, Stop};
use super::modelled::{Modelled, MoreWavefronts};
use super::warp::Warp;
use crate::counters::InstructionCounters;
use crate::model::{Chip, LoadCaching, Model, ModelCounters, Multiprocessor, Occupancy};

/// Instructions of each warp in a round.
const INSTRUCTIONS: u64 = 4;

/// How a launch runs on a model.
#[derive(Clone, Copy)]
pub(crate) struct Placement {
    pub model: &'static Model,
    pub occupancy: Occupancy,
    pub caching: LoadCaching,
}

/// A multiprocessor with the blocks that are resident on it.
struct Resident<'l> {
    /// What the blocks share: its counters, and its caches.
    counters: Vec<InstructionCounters>,
    modelled: Option<Box<Modelled>>,
    slots: Vec<Slot<'l>>,
}

/// Room for a block.
struct Slot<'l> {
    worker: Worker<'l>,
    warps: Vec<Warp<'l>>,
    runs: bool,
    first_warp: u64,
}

/// Runs all blocks of a launch. Where one faults, or the launch is cancelled, the rest is left.
pub(super) fn run(launched: &Launched, placement: &Placement) -> (Vec<InstructionCounters>, ModelCounters) {
    let mut chip = Chip::new(placement.model);
    let mut residents = residents(launched, placement);
    let blocks = launched.blocks();
    let (mut next, mut done) = (0, 0);
    loop {
        next = take_blocks(&mut residents, next, blocks);
        let one = |resident: &mut Resident| resident.round();
        let outcome: Vec<Result<u64, Stop>> = match launched.code.ordered {
            true => residents.iter_mut().map(one).collect(),
            false => residents.par_iter_mut().map(one).collect(),
        };
        chip.serve(residents.iter_mut().filter_map(|resident| Some(&mut resident.modelled.as_mut()?.multiprocessor)));
        let ended: u64 = outcome.iter().map(|outcome| *outcome.as_ref().unwrap_or(&0)).sum();
        if outcome.iter().any(Result::is_err) {
            break;
        }
        done += ended;
        if ended > 0 {
            launched.tell_progress(done);
        }
        if done == blocks {
            break;
        }
    }
    let mut counted = vec![InstructionCounters::default(); launched.code.places.len()];
    let mut total = *chip.counters();
    for mut resident in residents {
        let Some(modelled) = resident.modelled.take() else { continue };
        total.add(&modelled.multiprocessor.counters);
        let parts = resident.counters.iter_mut().zip(modelled.more_wavefronts);
        for (sum, (part, more)) in counted.iter_mut().zip(parts) {
            more.add_to(&mut part.shared);
            *sum += *part;
        }
        for slot in resident.slots {
            slot.worker.finish();
        }
    }
    (counted, total)
}

/// The multiprocessors, as many as the launch has blocks for, all empty.
fn residents<'l>(launched: &'l Launched<'l>, placement: &Placement) -> Vec<Resident<'l>> {
    let Placement { model, occupancy, caching } = *placement;
    let blocks = launched.blocks();
    let count = u64::from(model.multiprocessors).min(blocks);
    let slots = u64::from(occupancy.blocks()).min(blocks.div_ceil(count));
    let local: u64 = launched.code.functions.iter().map(|function| function.local.next_multiple_of(16)).sum();
    let resident = |index: u64| Resident {
        counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
        modelled: Some(Box::new(Modelled {
            multiprocessor: Multiprocessor::new(model, occupancy.carveout, caching),
            index: index as u32,
            local_of_a_warp: local * 32,
            first_warp: 0,
            more_wavefronts: vec![MoreWavefronts::default(); launched.code.places.len() + 1],
        })),
        slots: (0..slots)
            .map(|slot| {
                let mut worker = Worker::new(launched);
                worker.counters = Vec::new();
                let warps = worker.warps();
                let first_warp = (index * slots + slot) * warps.len() as u64;
                Slot { worker, warps, runs: false, first_warp }
            })
            .collect(),
    };
    (0..count).map(resident).collect()
}

/// Gives the next blocks to multiprocessors that have room, one each in turn. Returns the block after them.
fn take_blocks(residents: &mut [Resident], mut next: u64, blocks: u64) -> u64 {
    let slots = residents.first().map_or(0, |resident| resident.slots.len());
    for index in 0..slots {
        for resident in residents.iter_mut() {
            let slot = &mut resident.slots[index];
            if next < blocks && !slot.runs {
                slot.worker.begin(&mut slot.warps, next);
                slot.runs = true;
                next += 1;
            }
        }
    }
    next
}

impl Resident<'_> {
    /// Runs its blocks for a round. Returns how many have come to their end.
    fn round(&mut self) -> Result<u64, Stop> {
        let mut ended = 0;
        for slot in self.slots.iter_mut().filter(|slot| slot.runs) {
            let worker = &mut slot.worker;
            if let Some(modelled) = &mut self.modelled {
                modelled.first_warp = slot.first_warp;
            }
            std::mem::swap(&mut worker.counters, &mut self.counters);
            std::mem::swap(&mut worker.modelled, &mut self.modelled);
            let outcome = worker.turn(&mut slot.warps, INSTRUCTIONS);
            std::mem::swap(&mut worker.counters, &mut self.counters);
            std::mem::swap(&mut worker.modelled, &mut self.modelled);
            match outcome {
                Ok(false) => {}
                Ok(true) => {
                    slot.runs = false;
                    ended += 1;
                }
                Err(stop) => {
                    let cluster = worker.cluster;
                    return Err(worker.launched.keep_stop(cluster, stop));
                }
            }
        }
        Ok(ended)
    }
}
