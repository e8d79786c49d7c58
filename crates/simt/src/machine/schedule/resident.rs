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
use crate::machine::schedule::sample::{self, Phase, Sample};
use crate::machine::schedule::slot::{Slot, TurnState};
use crate::machine::schedule::turns;
use crate::machine::state::{BlockLocation, Modelled, RunningLaunch, Stop};
use crate::model::{Chip, Model, ModelCounters, Multiprocessor, Neighbourhood, Occupancy, Traffic};
use crate::timing::{Ran, Recording, Timed, Tracer};

/// Instructions of each warp in a round.
const INSTRUCTIONS: u64 = 4;

/// The fewest warp instructions in a round that are worth spreading over the host's threads: for
/// fewer, waking the threads costs more than it saves.
const FEWEST_TO_SHARE: u64 = 1024;

/// How a launch runs on a model.
#[derive(Clone, Copy)]
pub(crate) struct Placement {
    pub model: &'static Model,
    pub occupancy: Occupancy,
    /// Records what a replay needs, if the launch asks for its time.
    pub timed: Option<Timed>,
}

/// A neighbourhood of multiprocessors with the clusters that are resident there.
struct Resident<'l> {
    /// What its clusters share: counters and caches.
    shared: TurnState<'l>,
    slots: Vec<Slot<'l>>,
}

/// Runs all blocks of a launch, on several threads if `workers` is more than one. If a block faults
/// or the launch is cancelled, the rest do not run.
#[expect(clippy::too_many_lines, reason = "one step after another, without a part that has a name")]
pub(crate) fn run(
    launched: &RunningLaunch,
    placement: &Placement,
    workers: usize,
) -> (Vec<InstructionCounters>, ModelCounters, Option<Recording>) {
    let mut chip = Chip::new(placement.model);
    let mut residents = residents(launched, placement);
    let slots: u64 = residents.iter().map(|resident| resident.slots.len() as u64).sum();
    let mut sample = match placement.timed {
        // Blocks that wait for each other have to run at once.
        Some(_) if launched.launch.time_only && launched.launch.cooperative => Sample::together(launched.clusters()),
        Some(_) if launched.launch.time_only => {
            let columns = u64::from(launched.launch.grid[0] / launched.cluster[0]);
            Sample::some(launched.clusters(), slots, columns, placement.model.l2.is_some())
        }
        _ => Sample::whole(launched.clusters()),
    };
    let mut recording =
        placement.timed.map(|timed| begin(launched, placement, timed, &sample, &mut chip, &mut residents));
    let clusters = sample.count();
    let turn = u64::from(launched.threads.div_ceil(32) * launched.blocks_per_cluster) * INSTRUCTIONS;
    let (mut next, mut done) = (0, 0);
    loop {
        let running = match sample.phase() {
            Phase::All => {
                next = take_clusters(&mut residents, next, &sample);
                &mut residents[..]
            }
            Phase::Alone => &mut residents[..1],
            Phase::Over => break,
        };
        let slots = running.iter().flat_map(|resident| resident.slots.iter());
        let turns = slots.filter(|slot| slot.runs).count() as u64;
        if turns == 0 {
            break;
        }
        let one = |resident: &mut Resident| resident.round();
        let alone = launched.code.ordered || workers == 1 || turns * turn < FEWEST_TO_SHARE;
        let part = running.len().div_ceil(2 * workers);
        let outcome: Vec<Result<u64, Stop>> = match alone {
            true => running.iter_mut().map(one).collect(),
            false => running.par_iter_mut().with_min_len(part).map(one).collect(),
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
        let whole_chip = sample.phase() == Phase::All;
        let halfway = sample.is_halfway();
        if sample.executed(turns * turn, chip.counters().caches.work_of_l2())
            && whole_chip
            && let Some(recording) = &mut recording
        {
            // From here on, L2 serves one multiprocessor alone: what it finds is not typical.
            let reach = sample.reach(next);
            let blocks = next * u64::from(launched.blocks_per_cluster);
            recording.take_traffic(&chip, &residents_counters(&residents), blocks, reach);
        }
        if let (false, true, Some(traffic)) = (halfway, sample.is_halfway(), &mut chip.traffic) {
            traffic.sources.halfway();
        }
    }
    let ran = match sample.phase() {
        Phase::Over if sample.has_beginnings() && residents[0].end_one(sample::ONE) => Ran::One,
        Phase::Over => Ran::None,
        _ => Ran::All,
    };
    let mut counted = vec![InstructionCounters::default(); launched.code.places.len()];
    let mut total = *chip.counters();
    if let Some(recording) = recording.as_mut().filter(|_| sample.phase() == Phase::All) {
        let blocks = next * u64::from(launched.blocks_per_cluster);
        recording.take_traffic(&chip, &residents_counters(&residents), blocks, sample.reach(next));
    }
    for mut resident in residents {
        let Some(mut modelled) = resident.shared.modelled.take() else { continue };
        if let (Some(recording), Some(tracer)) = (&mut recording, modelled.tracer.take()) {
            (recording.blocks, recording.ran) = (tracer.blocks, ran);
        }
        modelled.multiprocessors.iter().for_each(|multiprocessor| total.add(&multiprocessor.counters));
        counted.iter_mut().zip(&resident.shared.counters).for_each(|(sum, part)| *sum += *part);
        for slot in resident.slots {
            slot.worker.finish();
        }
    }
    (counted, total, recording)
}

/// Begins to record.
fn begin(
    launched: &RunningLaunch,
    placement: &Placement,
    timed: Timed,
    sample: &Sample,
    chip: &mut Chip,
    residents: &mut [Resident],
) -> Recording {
    let Placement { model, occupancy, .. } = *placement;
    chip.traffic = Some(Box::new(Traffic::default()));
    let multiprocessors = u64::from(model.multiprocessors);
    for (index, resident) in residents.iter_mut().enumerate() {
        let Some(modelled) = &mut resident.shared.modelled else { continue };
        for (number, multiprocessor) in modelled.multiprocessors.iter_mut().enumerate() {
            multiprocessor.keep_notes(occupancy.carveout, index == 0 && number == 0);
        }
        if index == 0 {
            let blocks = sample.count() * u64::from(launched.blocks_per_cluster);
            let warps = launched.threads.div_ceil(32);
            let of_first = blocks.div_ceil(multiprocessors);
            modelled.tracer = Some(Box::new(Tracer::new(of_first, occupancy.blocks(), warps)));
        }
    }
    Recording::new(model, timed, launched.blocks(), launched.threads.div_ceil(32), launched.memory.used())
}

/// What the instructions have done so far.
fn residents_counters(residents: &[Resident]) -> Vec<InstructionCounters> {
    let mut all = Vec::new();
    for resident in residents {
        all.resize(resident.shared.counters.len(), InstructionCounters::default());
        all.iter_mut().zip(&resident.shared.counters).for_each(|(sum, part)| *sum += *part);
    }
    all
}

/// The multiprocessors that blocks will run on, by neighbourhood, all empty.
fn residents<'l>(launched: &'l RunningLaunch<'l>, placement: &Placement) -> Vec<Resident<'l>> {
    let Placement { model, occupancy, .. } = *placement;
    let blocks = launched.blocks_per_cluster;
    let neighbourhoods = model.neighbourhoods(occupancy.blocks(), blocks, launched.clusters());
    let blocks_per_multiprocessor =
        neighbourhoods.iter().map(Neighbourhood::blocks_per_multiprocessor).max().unwrap_or(0) as u64;
    let resident = |neighbourhood: &Neighbourhood| {
        let multiprocessors = &neighbourhood.multiprocessors;
        let multiprocessor = |&position| {
            let mut new = Multiprocessor::new(model, position, occupancy.carveout, launched.launch.load_caching);
            new.window = launched.launch.window;
            new
        };
        let slot = |cluster| {
            let mut slot = Slot::new(launched, None);
            slot.worker.observed = true;
            let warps_of_a_block = u64::from(launched.threads.div_ceil(32));
            slot.worker.set_locations(neighbourhood.slots(cluster).map(|slot| {
                let number =
                    u64::from(multiprocessors[slot.multiprocessor].number) * blocks_per_multiprocessor + slot.number;
                BlockLocation { multiprocessor: slot.multiprocessor, first_warp: number * warps_of_a_block }
            }));
            slot
        };
        let shared = TurnState {
            counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
            modelled: Some(Box::new(Modelled {
                multiprocessors: multiprocessors.iter().map(multiprocessor).collect(),
                local_bytes_per_warp: launched.code.local_bytes() * 32,
                banks: model.shared.banks,
                tracer: None,
            })),
            checker: None,
            draws: None,
        };
        Resident { shared, slots: (0..neighbourhood.clusters).map(slot).collect() }
    };
    neighbourhoods.iter().map(resident).collect()
}

/// Assigns the next clusters to neighbourhoods with room, one each in turn. Returns the cluster
/// after them.
fn take_clusters(residents: &mut [Resident], mut next: u64, sample: &Sample) -> u64 {
    let slots = residents.iter().map(|resident| resident.slots.len()).max().unwrap_or(0);
    for index in 0..slots {
        for Resident { shared, slots } in residents.iter_mut() {
            if let Some(slot) = slots.get_mut(index).filter(|slot| next < sample.count() && !slot.runs) {
                slot.begin(shared, sample.cluster(next));
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
            let done = slot.turn(&mut self.shared, INSTRUCTIONS)?;
            ended += u64::from(done);
            let tracer = self.shared.modelled.as_mut().and_then(|modelled| modelled.tracer.as_mut());
            if let (true, Some(tracer)) = (done, tracer) {
                let blocks = u64::from(slot.worker.launched.blocks_per_cluster);
                (0..blocks).for_each(|rank| tracer.ended(slot.worker.cluster * blocks + rank));
            }
        }
        Ok(ended)
    }

    /// Runs one of the recorded clusters to its end, off the model, with at most so many
    /// instructions; a sector of memory counts as two. Returns whether it ended.
    fn end_one(&mut self, most: u64) -> bool {
        let Some(mut modelled) = self.shared.modelled.take() else { return false };
        let ended = modelled.tracer.as_mut().is_some_and(|tracer| {
            let recorded = |slot: &&mut Slot| slot.runs && tracer.records(slot.worker.cluster);
            let Some(slot) = self.slots.iter_mut().find(recorded) else { return false };
            let work = |shared: &TurnState| {
                let of = |counters: &InstructionCounters| {
                    counters.executed
                        + 2 * (counters.global.sectors + counters.local.sectors + counters.texture.sectors)
                };
                shared.counters.iter().map(of).sum::<u64>()
            };
            let most = work(&self.shared) + most;
            while slot.runs && work(&self.shared) < most && slot.turn(&mut self.shared, turns::QUANTUM).is_ok() {}
            if !slot.runs {
                tracer.ended_after(slot.worker.cluster, slot.warps.iter().map(|warp| warp.executed));
            }
            !slot.runs
        });
        self.shared.modelled = Some(modelled);
        ended
    }
}
