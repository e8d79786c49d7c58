//! Runs a launch: spreads its clusters, usually single blocks, over the host's threads, and creates
//! the report.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use crate::counters::InstructionCounters;
use crate::machine::schedule::resident::Placement;
use crate::machine::schedule::{drawn, one_thread, resident, stepped, turns};
use crate::machine::state::{RunningLaunch, Stop, Worker};
use crate::memory::Caller;
use crate::order::Strategy;
use crate::request::Recorder;
use crate::sanitizer::Party;
use crate::{LaunchError, Report, timing};

/// Runs all blocks.
pub(crate) fn run(launched: RunningLaunch, placement: Option<Placement>) -> Result<Report, LaunchError> {
    let threads = launched.launch.threads;
    // On a model, only the dry run has checks, so the order of blocks does not matter to them.
    let ordered = launched.code.ordered || launched.launch.checks.any() && placement.is_none();
    let wanted = if ordered { 1 } else { threads.unwrap_or_else(rayon::current_num_threads) };
    let workers = wanted.clamp(1, usize::try_from(launched.clusters()).unwrap_or(usize::MAX));
    let (mut modelled, mut prediction, mut was_drawn, mut touches) = (None, None, None, Vec::new());
    let counted = match (placement, &launched.launch.order) {
        (None, Some(order)) => {
            let (counted, drawn, touched) = match order.strategy {
                Strategy::Switches(switches) => stepped::follow(&launched, &switches.iter().collect::<Vec<_>>()),
                _ => drawn::run(&launched, order),
            };
            (was_drawn, touches) = (Some(drawn), touched);
            counted
        }
        (None, None) if ordered || launched.launch.cooperative => one_thread::run(&launched),
        (None, None) => run_in_parallel(&launched, workers),
        (Some(placement), _) => {
            let on_model = |workers| resident::run(&launched, &placement, workers);
            let (counted, counters, recording) = match threads {
                Some(_) if workers > 1 => match rayon::ThreadPoolBuilder::new().num_threads(workers).build() {
                    Ok(pool) => pool.install(|| on_model(workers)),
                    // The host cannot create threads: the result is the same.
                    Err(_) => on_model(1),
                },
                _ => on_model(workers),
            };
            modelled = Some((placement.occupancy, counters));
            let failed = launched.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some();
            prediction = recording
                .filter(|_| !failed)
                .map(|recording| timing::predict(&recording, launched.code, launched.module));
            counted
        }
    };
    let trap = launched.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    let mut calls = HashMap::new();
    launched.memory.settle_heap(&launched.module.name, launched.launch.kernel, |Caller { place, block, thread }| {
        let call = calls
            .entry(place)
            .or_insert_with(|| Arc::new(launched.site(Party { place, block: 0, thread: 0, action: None })));
        (call.clone(), launched.block_position(block), launched.thread_position(thread))
    });
    let found = std::mem::take(&mut *launched.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let (findings, findings_beyond) = launched.described(found);
    let evenness = launched.evenness();
    if let Some(output) = launched.launch.output {
        let blocks = u64::from(launched.blocks_per_cluster);
        launched
            .printed
            .finish(trap.as_ref().map_or(u64::MAX, |&(cluster, _)| cluster * blocks + (blocks - 1)), output);
    }
    if let Some((_, mut trap)) = trap {
        trap.findings = findings;
        return Err(LaunchError::Trap(trap));
    }
    let requests = launched.recorder.as_ref().map(Recorder::finish).unwrap_or_default();
    let arrays = launched.recorder.as_ref().map(|it| it.arrays(launched.memory.allocations())).unwrap_or_default();
    let instructions = launched.code.places.clone();
    Ok(Report {
        instructions,
        counted,
        evenness,
        findings,
        findings_beyond,
        modelled,
        requests,
        arrays,
        caching: launched.launch.load_caching,
        prediction,
        drawn: was_drawn,
        touches,
    })
}

/// Runs all blocks in parallel, in any order.
fn run_in_parallel(launched: &RunningLaunch, workers: usize) -> Vec<InstructionCounters> {
    let total = Mutex::new(vec![InstructionCounters::default(); launched.code.places.len()]);
    let work = || {
        let counted = work(launched, workers as u64);
        let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (sum, part) in total.iter_mut().zip(counted) {
            *sum += part;
        }
    };
    let in_parallel = || rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
    match launched.launch.threads {
        _ if workers == 1 => work(),
        None => in_parallel(),
        Some(_) => match rayon::ThreadPoolBuilder::new().num_threads(workers).build() {
            Ok(pool) => pool.install(in_parallel),
            // The host cannot create threads: the result is the same.
            Err(_) => work(),
        },
    }
    total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The work of one worker: takes clusters, usually single blocks, until there are none.
fn work(launched: &RunningLaunch, workers: u64) -> Vec<InstructionCounters> {
    let mut worker = Worker::new(launched, None);
    let mut warps = worker.warps();
    let clusters = launched.clusters();
    let share = (clusters / (workers * 64)).clamp(1, 64);
    'clusters: loop {
        let first = launched.next.fetch_add(share, Relaxed);
        if first >= clusters {
            break;
        }
        let end = clusters.min(first + share);
        for cluster in first..end {
            if launched.is_beyond_fault(cluster) {
                break 'clusters;
            }
            match turns::run(&mut worker, &mut warps, cluster) {
                Ok(()) => {}
                Err(Stop::Trap(trap)) => {
                    launched.keep(cluster, trap);
                    break 'clusters;
                }
                Err(Stop::Abandoned) => break 'clusters,
            }
        }
        if let Some(progress) = launched.launch.progress {
            let ended = (end - first) * u64::from(launched.blocks_per_cluster);
            progress(launched.done.fetch_add(ended, Relaxed) + ended, launched.blocks());
        }
    }
    worker.finish()
}
