//! Runs a launch on a model: blocks are resident side by side on the model's multiprocessors.
//!
//! The launch proceeds in rounds. In each, every resident block gives each of its warps a few
//! instructions; then L2 serves what the multiprocessors requested, one request of each in turn. If
//! there is room, the next cluster of the grid, usually one block, starts at the beginning of a
//! round. So the order of all requests depends only on the launch and the model. The host's threads
//! run the neighbourhoods of a round (multiprocessors, or GPCs if clusters have several blocks) in
//! any order, because these share nothing within a round except device memory.

use rayon::prelude::*;

use crate::counters::InstructionCounters;
use crate::machine::schedule::slot::{Slot, TurnState};
use crate::machine::state::{Modelled, Residence, RunningLaunch, Stop, WavefrontDelta};
use crate::model::{Chip, LoadCaching, Model, ModelCounters, Multiprocessor, Neighbourhood, Occupancy};

/// Instructions of each warp in a round.
const INSTRUCTIONS: u64 = 4;

/// How a launch runs on a model.
#[derive(Clone, Copy)]
pub(crate) struct Placement {
    pub model: &'static Model,
    pub occupancy: Occupancy,
    pub caching: LoadCaching,
}

/// A neighbourhood of multiprocessors with the clusters that are resident there.
struct Resident<'l> {
    /// What its clusters share: counters and caches.
    shared: TurnState<'l>,
    slots: Vec<Slot<'l>>,
}

/// Runs all blocks of a launch, on several threads if `workers` is more than one. If a block faults
/// or the launch is cancelled, the rest do not run.
pub(crate) fn run(
    launched: &RunningLaunch,
    placement: &Placement,
    workers: usize,
) -> (Vec<InstructionCounters>, ModelCounters) {
    let mut chip = Chip::new(placement.model);
    let mut residents = residents(launched, placement);
    let clusters = launched.clusters();
    let (mut next, mut done) = (0, 0);
    loop {
        next = take_clusters(&mut residents, next, clusters);
        let one = |resident: &mut Resident| resident.round();
        let outcome: Vec<Result<u64, Stop>> = match launched.code.ordered || workers == 1 {
            true => residents.iter_mut().map(one).collect(),
            false => residents.par_iter_mut().map(one).collect(),
        };
        chip.serve(
            residents
                .iter_mut()
                .filter_map(|resident| resident.shared.modelled.as_mut())
                .flat_map(|modelled| modelled.multiprocessors.iter_mut()),
        );
        let ended: u64 = outcome.iter().map(|outcome| *outcome.as_ref().unwrap_or(&0)).sum();
        if outcome.iter().any(Result::is_err) {
            break;
        }
        done += ended;
        if ended > 0 {
            launched.report_progress(done * u64::from(launched.blocks_per_cluster));
        }
        if done == clusters {
            break;
        }
    }
    let mut counted = vec![InstructionCounters::default(); launched.code.places.len()];
    let mut total = *chip.counters();
    for mut resident in residents {
        let Some(modelled) = resident.shared.modelled.take() else { continue };
        modelled.multiprocessors.iter().for_each(|multiprocessor| total.add(&multiprocessor.counters));
        let parts = resident.shared.counters.iter_mut().zip(modelled.wavefront_deltas);
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

/// The multiprocessors that blocks will run on, by neighbourhood, all empty.
fn residents<'l>(launched: &'l RunningLaunch<'l>, placement: &Placement) -> Vec<Resident<'l>> {
    let Placement { model, occupancy, caching } = *placement;
    let blocks = launched.blocks_per_cluster;
    let neighbourhoods = model.neighbourhoods(occupancy.blocks(), blocks, launched.clusters());
    let layers = neighbourhoods.iter().map(Neighbourhood::layers).max().unwrap_or(0) as u64;
    let local: u64 = launched.code.functions.iter().map(|function| function.local.next_multiple_of(16)).sum();
    let resident = |neighbourhood: &Neighbourhood| {
        let multiprocessors = &neighbourhood.multiprocessors;
        let multiprocessor = |&position| Multiprocessor::new(model, position, occupancy.carveout, caching);
        let slot = |cluster| {
            let mut slot = Slot::new(launched, None);
            let warps_of_a_block = u64::from(launched.threads.div_ceil(32));
            slot.worker.take_residences(neighbourhood.seats(cluster).map(|seat| {
                let number = u64::from(multiprocessors[seat.multiprocessor].number) * layers + seat.layer;
                Residence { multiprocessor: seat.multiprocessor, first_warp: number * warps_of_a_block }
            }));
            slot
        };
        let shared = TurnState {
            counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
            modelled: Some(Box::new(Modelled {
                multiprocessors: multiprocessors.iter().map(multiprocessor).collect(),
                local_bytes_per_warp: local * 32,
                wavefront_deltas: vec![WavefrontDelta::default(); launched.code.places.len() + 1],
            })),
            checker: None,
        };
        Resident { shared, slots: (0..neighbourhood.clusters).map(slot).collect() }
    };
    neighbourhoods.iter().map(resident).collect()
}

/// Assigns the next clusters to neighbourhoods with room, one each in turn. Returns the cluster
/// after them.
fn take_clusters(residents: &mut [Resident], mut next: u64, clusters: u64) -> u64 {
    let slots = residents.iter().map(|resident| resident.slots.len()).max().unwrap_or(0);
    for index in 0..slots {
        for Resident { shared, slots } in residents.iter_mut() {
            if let Some(slot) = slots.get_mut(index).filter(|slot| next < clusters && !slot.runs) {
                slot.begin(shared, next);
                next += 1;
            }
        }
    }
    next
}

impl Resident<'_> {
    /// Runs its clusters for a round. Returns how many have ended.
    fn round(&mut self) -> Result<u64, Stop> {
        let mut ended = 0;
        for slot in self.slots.iter_mut().filter(|slot| slot.runs) {
            ended += u64::from(slot.turn(&mut self.shared, INSTRUCTIONS)?);
        }
        Ok(ended)
    }
}
