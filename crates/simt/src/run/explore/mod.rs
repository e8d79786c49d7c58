//! All orders of blocks and warps of a small launch that may differ, by running it again and again
//! ([`Program::explore`]).
//!
//! - `search`: which orders run. Steps of two splits that access different bytes, or only read, can
//!   be exchanged; of the orders that such exchanges turn into each other, one is enough.
//! - `clocks`: which steps of an order must come before which.
//! - `minimise`: fewer switches for an order whose result differs.

mod clocks;
mod minimise;
mod search;
#[cfg(test)]
mod tests;

use crate::machine::{RunningLaunch, Stepped, follow_on};
use crate::memory::Snapshot;
use crate::order::DrawnOrder;
use crate::switches::{Switch, Switches};
use crate::{InvalidLaunch, Launch, LaunchError, Memory, Program, Trap};

use search::{Ended, Reduction, Search};

/// Up to where orders are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How often warps may be interrupted that could go on; `None`: as often as may be.
    pub preemptions: Option<u32>,
    /// How many orders run.
    pub orders: u64,
}

/// What exploring orders shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// How many orders ran.
    pub orders: u64,
    /// Whether these stand for all within the bound of preemptions.
    pub complete: bool,
    /// Accesses of an order that other threads may see.
    pub points: u64,
    /// The switches of an order that differs: as few as leaving some out could find. Exploring ends
    /// with it.
    pub different: Option<Vec<Switch>>,
}

impl Explored {
    /// The order that differs, if its switches are few enough to be named.
    pub fn order(&self) -> Option<DrawnOrder> {
        Switches::new(self.different.as_ref()?).map(DrawnOrder::of_switches)
    }
}

/// The most warps of a launch whose orders are explored.
const MOST_WARPS: u64 = 1 << 12;

/// What is said of a launch with more accesses than [`search`] follows.
const TOO_LONG: &str = "an order has more than 8192 accesses; make the problem smaller";

/// Runs for each order that counts: others turn out to be like an earlier one before they end.
const RUNS: u64 = 8;

/// Calls with the trap of each order, if it has one, while memory is as the order left it. Returns
/// whether the result is another one than in the usual order.
pub type Differs<'a> = dyn FnMut(Option<&Trap>) -> bool + 'a;

impl Program {
    /// Runs a kernel in all orders of blocks and warps that may differ, within bounds, until one
    /// gives another result: `differs` is called after each. All blocks are resident. Lanes of a
    /// warp stay together but for branches, and stores are seen at once. Memory is left as it was.
    ///
    /// # Errors
    ///
    /// [`InvalidLaunch::NotExplored`] for launches that are too large, or have what is not
    /// explored.
    pub fn explore(
        &self,
        memory: &Memory,
        launch: &Launch,
        bounds: &Bounds,
        differs: &mut Differs<'_>,
    ) -> Result<Explored, LaunchError> {
        let reduction = match bounds.preemptions {
            None => Reduction::SourceSets,
            Some(most) => Reduction::Preemptions(most),
        };
        self.on_steps(memory, launch, |launched, before| {
            let mut search = Search::new(launched, reduction);
            let explored = searched(&mut search, before, bounds.orders, differs);
            memory.restore(before);
            explored
        })
    }

    /// Calls `explore` with a launch that has not begun, and what memory holds.
    fn on_steps<R>(
        &self,
        memory: &Memory,
        launch: &Launch,
        explore: impl FnOnce(&RunningLaunch<'_>, &Snapshot) -> Result<R, &'static str>,
    ) -> Result<R, LaunchError> {
        let no_switches = Switches::new(&[]).map(DrawnOrder::of_switches);
        let launch = &Launch { order: no_switches, output: None, progress: None, ..launch.clone() };
        let not = |why| InvalidLaunch::NotExplored { kernel: launch.kernel.into(), why };
        self.begin(memory, launch, |launched| {
            let warps = launched.blocks() * u64::from(launched.threads.div_ceil(32));
            if launched.code.has_asynchronous() {
                return Err(not("it has tensor cores, asynchronous copies or barriers of clusters").into());
            }
            if warps > MOST_WARPS || !launched.launch.cooperative && launched.clusters() > launched.cluster_capacity() {
                return Err(not("it has too many warps; make the grid smaller").into());
            }
            let before = memory.snapshot().ok_or_else(|| not("the host has no room for a copy of its memory"))?;
            explore(&launched, &before).map_err(|why| not(why).into())
        })
    }
}

/// Runs orders until one differs or none is left.
fn searched(
    search: &mut Search<'_>,
    before: &Snapshot,
    most: u64,
    differs: &mut Differs<'_>,
) -> Result<Explored, &'static str> {
    let launched = search.launched;
    let mut explored = Explored { orders: 0, complete: false, points: 0, different: None };
    let mut runs: u64 = 0;
    loop {
        launched.memory.rewind(before);
        let ended = search.run();
        runs += 1;
        explored.points = explored.points.max(search.steps());
        match ended {
            Ended::Redundant => {}
            Ended::TooLong => return Err(TOO_LONG),
            Ended::Whole => {
                explored.orders += 1;
                let trap = trap_of(launched);
                if launched.is_cancelled() {
                    return Err("it was cancelled");
                }
                if differs(trap.as_deref()) {
                    let found = search.switches();
                    let mut differing = |switches: &[Switch]| replayed(search.stepped(), before, switches, differs);
                    explored.different = Some(minimise::fewest(found, &mut differing));
                    return Ok(explored);
                }
            }
        }
        if !search.backtrack() {
            return Ok(Explored { complete: true, ..explored });
        }
        if explored.orders >= most || runs >= most.saturating_mul(RUNS) {
            return Ok(explored);
        }
    }
}

/// Runs in the order that switches describe. Returns those that happened, if the result differs.
fn replayed(
    stepped: &mut Stepped<'_>,
    before: &Snapshot,
    switches: &[Switch],
    differs: &mut Differs<'_>,
) -> Option<Vec<Switch>> {
    let launched = stepped.launched();
    launched.memory.rewind(before);
    let mut happened = Vec::new();
    // The launch has the reason if it stopped.
    let _ = follow_on(stepped, switches, &mut |switch| happened.extend(switch));
    let trap = trap_of(launched);
    differs(trap.as_deref()).then_some(happened)
}

/// The trap that stopped a launch.
fn trap_of(launched: &RunningLaunch<'_>) -> Option<Box<Trap>> {
    launched.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take().map(|(_, trap)| trap)
}
