//! Compares a student's results under other orders of blocks and warps, after they were right in the
//! usual one: a GPU promises no order. [`crate::judge`] calls it.
//!
//! At each size, the last block runs first in one order, and the others are drawn from the seed
//! ([`DrawnOrder::nth`]). At one size, blocks are also resident together as on models of GPUs. A
//! costly size has fewer orders, so that judging takes little longer; what a file may not do is go
//! without any, so each size has at least [`FEWEST`].

use std::path::Path;

use exercise::data::{Buffers, Sizes};
use exercise::fault::Problem;
use exercise::metric::Launched;
use exercise::run::{Kernels, LaunchLimits, Module, Outcome};
use simt::{Checks, DrawnOrder, Model};

use crate::comparison::compare;
use crate::runs::{Judge, Judged, Stop};
use crate::verdict::{Failure, OtherOrders};
use crate::way::Way;

/// Orders at a size that is cheap: the last block first, and a portfolio.
const MOST: u64 = 9;

/// Orders at any size.
const FEWEST: u64 = 2;

/// Warp instructions that all orders of a size may take together, as counted in the usual run: some
/// hundredths of a second.
const BUDGET: u64 = 1 << 17;

/// A launch in a drawn order may take this many times as many warp instructions as the usual run of
/// its size, since warps that wait for others poll more often, and this many more.
const TIMES_STEPS: u64 = 16;
const MORE_STEPS: u64 = 1 << 20;

/// The models as which blocks are resident: few blocks at once, and many.
const MODELS: [&str; 2] = ["fermi", "hopper"];

/// A run in the usual order that was right.
pub struct RightRun {
    sizes: Sizes,
    values: Buffers,
    right: Outcome,
    /// Warp instructions that it took.
    steps: u64,
}

impl RightRun {
    pub fn new(sizes: Sizes, values: Buffers, right: Outcome, launches: &[Launched]) -> Self {
        Self { sizes, values, right, steps: steps(launches) }
    }
}

/// Warp instructions of launches.
pub fn steps(launches: &[Launched]) -> u64 {
    launches.iter().map(|launched| launched.counters.instructions_executed).sum()
}

impl Judge<'_> {
    /// Fails if a result is wrong in another order, at one of these sizes. `measured` is the run at
    /// which goals are counted, with its warp instructions: costly, so it may have a single order.
    pub fn in_other_orders(
        &self,
        ptx: &Path,
        runs: &[RightRun],
        (sizes, values, right): (&Sizes, &Buffers, &Outcome),
        measured: u64,
    ) -> Judged {
        let costliest = runs.iter().map(|run| run.steps).fold(measured, u64::max);
        let limit = costliest.saturating_mul(TIMES_STEPS).saturating_add(MORE_STEPS);
        let limits = LaunchLimits { steps: limit.min(self.judging.limits.steps), ..self.judging.limits };
        let open = |model| {
            Module::simulated(ptx, model, limits).map_err(|error| self.stopped_by(Problem::Device(error), sizes))
        };
        let module = open(None)?;
        // Where most blocks run, of the sizes that are cheap on a model.
        let cheap = runs.iter().filter(|run| run.steps * MOST <= BUDGET);
        let on_models = cheap.max_by_key(|run| run.steps).map(|run| &run.sizes);
        for run in runs {
            let place = Place { sizes: &run.sizes, values: &run.values, right: &run.right };
            let mut tried = Tried::default();
            let count = (BUDGET / run.steps.max(1)).clamp(FEWEST, MOST);
            self.drawn(&module, place, count, &mut tried)?;
            if on_models.is_some_and(|chosen| *chosen == run.sizes) {
                for model in MODELS.into_iter().filter_map(Model::named) {
                    self.on_model(&open(Some(model))?, model, place, &mut tried)?;
                }
            }
            tried.judge(&run.sizes)?;
        }
        let mut tried = Tried::default();
        let count = (BUDGET / measured.max(1)).clamp(1, MOST);
        self.drawn(&module, Place { sizes, values, right }, count, &mut tried)?;
        tried.judge(sizes)
    }

    /// Runs the first `count` drawn orders.
    fn drawn(&self, module: &Module, place: Place<'_>, count: u64, tried: &mut Tried) -> Judged {
        let mut points = 0;
        for index in 0..count {
            let order = DrawnOrder::nth(self.judging.seed, index, points);
            let ran = module.run_in_order(self.exercise, place.sizes, place.values, order);
            if let Ok(outcome) = &ran {
                let drawn = outcome.launches.iter().filter_map(|launched| launched.report.drawn());
                points = drawn.map(|drawn| drawn.points).max().unwrap_or(0);
            }
            self.compared(ran, Way::Order(order), place, tried)?;
        }
        Ok(())
    }

    /// Runs with as many blocks at once as a model has room for. A launch for which it has none says
    /// nothing.
    fn on_model(&self, module: &Module, model: &'static Model, place: Place<'_>, tried: &mut Tried) -> Judged {
        let ran = module.run(self.exercise, place.sizes, place.values, Kernels::Student, Checks::NONE);
        match ran {
            Err(Problem::Device(_)) => Ok(()),
            ran => self.compared(ran, Way::Model(model), place, tried),
        }
    }

    fn compared(&self, ran: Result<Outcome, Problem>, way: Way, place: Place<'_>, tried: &mut Tried) -> Judged {
        let Place { sizes, values, right } = place;
        tried.count += 1;
        let failure = match ran {
            Ok(outcome) => compare(self.exercise, &outcome, right, values, sizes.clone()).err(),
            Err(problem) => match self.stopped_by(problem, sizes) {
                Stop::Failure(failure @ Failure::Faults(..)) => Some(failure),
                // The time is up, or memory is.
                stop => return Err(stop),
            },
        };
        if let Some(failure) = failure {
            tried.wrong += 1;
            tried.first.get_or_insert((way, failure));
        }
        Ok(())
    }
}

/// Where an order is tried: the sizes, the values, and the right results.
#[derive(Clone, Copy)]
struct Place<'a> {
    sizes: &'a Sizes,
    values: &'a Buffers,
    right: &'a Outcome,
}

/// What the orders of one size have shown.
#[derive(Default)]
struct Tried {
    count: usize,
    wrong: usize,
    first: Option<(Way, Failure)>,
}

impl Tried {
    fn judge(self, sizes: &Sizes) -> Judged {
        let Self { count, wrong, first } = self;
        match first {
            None => Ok(()),
            Some((first, failure)) => {
                let failure = Box::new(failure);
                let others = OtherOrders { sizes: sizes.clone(), wrong, of: count, first, failure };
                Err(Failure::OtherOrders(Box::new(others)).into())
            }
        }
    }
}
