//! Compares a student's results under other orders of blocks and warps, after they were right in the
//! usual one: a GPU promises no order. [`crate::judge`] calls it.
//!
//! At each size, the last block runs first in one order, each warp runs as far as it can in
//! another, and the others are drawn from the seed ([`DrawnOrder::nth`]). At one size, blocks are
//! also resident together as on models of GPUs. A costly size has fewer orders, so that judging
//! takes little longer. A kernel that takes long on purpose, or does something else at a large size,
//! must not go without: so each size has at least [`FEWEST`], and the largest ones have one or two.

use std::path::Path;

use exercise::data::{Buffers, Sizes};
use exercise::fault::Problem;
use exercise::metric::Launched;
use exercise::run::{Kernels, LaunchLimits, Module, Outcome};
use simt::orders::{DrawnOrder, Start, Strategy};
use simt::{Checks, Model};

use crate::comparison::compare;
use crate::runs::{Judge, Judged, Setting, Stop};
use crate::verdict::{Failure, OtherOrders};
use crate::way::Way;

/// Orders at a size that is cheap: the last block first, each warp as far as it can, and a portfolio.
const MOST: u64 = 10;

/// Orders at any size but the largest: the first two, and one in which each access may hand over to another warp.
const FEWEST: u64 = 3;

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
    pub sizes: Sizes,
    pub values: Buffers,
    /// What the reference computes.
    pub right: Outcome,
    /// The student's launches.
    pub launches: Vec<Launched>,
}

impl RightRun {
    fn place(&self) -> Place<'_> {
        let Self { sizes, values, right, launches } = self;
        Place { sizes, values, right, steps: steps(launches) }
    }
}

/// Where orders are tried: the sizes, the values, the right results, and the warp instructions of the
/// usual run.
#[derive(Clone, Copy)]
struct Place<'a> {
    sizes: &'a Sizes,
    values: &'a Buffers,
    right: &'a Outcome,
    steps: u64,
}

/// Warp instructions of launches.
fn steps(launches: &[Launched]) -> u64 {
    launches.iter().map(|launched| launched.counters.instructions_executed).sum()
}

/// The order of this number among those of a size.
fn order(seed: u64, index: u64, points: u64) -> DrawnOrder {
    match index {
        0 => DrawnOrder::nth(seed, 0, points),
        1 => far_apart(seed),
        _ => DrawnOrder::nth(seed, index - 1, points),
    }
}

/// An order in which each warp goes on until it waits for another, whatever time that takes: what
/// stands for a barrier must be one.
fn far_apart(seed: u64) -> DrawnOrder {
    let strategy = Strategy::Priorities { depth: 1, points: 0 };
    DrawnOrder { seed, strategy, resident: None, start: Some(Start::Down), lanes: 0, weak: 0 }
}

impl Judge<'_> {
    /// Fails if a result is wrong in another order, at one of these sizes, or at one that is costly.
    pub fn in_other_orders(&self, ptx: &Path, runs: &[RightRun], costly: &[&RightRun]) -> Judged {
        let all = || runs.iter().chain(costly.iter().copied()).map(RightRun::place);
        let module = self.ordered(ptx, None, all())?;
        // Where most blocks run, of the sizes that are cheap on a model.
        let places = || runs.iter().map(RightRun::place);
        let cheap = places().filter(|place| place.steps * MOST <= BUDGET);
        let on_models = cheap.max_by_key(|place| place.steps).map(|place| place.sizes);
        for place in places() {
            let mut tried = Tried::default();
            self.drawn(&module, place, FEWEST, &mut tried)?;
            if on_models == Some(place.sizes) {
                for model in MODELS.into_iter().filter_map(Model::named) {
                    self.on_model(&self.ordered(ptx, Some(model), all())?, model, place, &mut tried)?;
                }
            }
            tried.judge(place.sizes)?;
        }
        for place in costly.iter().map(|run| run.place()) {
            let mut tried = Tried::default();
            self.drawn(&module, place, 2, &mut tried)?;
            tried.judge(place.sizes)?;
        }
        Ok(())
    }

    /// The same at the size at which times are predicted, which is costlier than all others: in one
    /// order.
    pub fn in_one_other_order(&self, ptx: &Path, setting: &Setting, launches: &[Launched]) -> Judged {
        let Setting { sizes, values, right, .. } = setting;
        let place = Place { sizes, values, right, steps: steps(launches) };
        let module = self.ordered(ptx, None, std::iter::once(place))?;
        let mut tried = Tried::default();
        let order = far_apart(self.judging.seed);
        let ran = module.run_in_order(self.exercise, sizes, values, order);
        self.compared(ran, Way::Order(order), place, &mut tried)?;
        tried.judge(sizes)
    }

    /// The kernels, for launches that may take longer than those of these runs, but not for ever.
    fn ordered<'p>(
        &self,
        ptx: &Path,
        model: Option<&'static Model>,
        runs: impl Iterator<Item = Place<'p>>,
    ) -> Judged<Module> {
        let costliest = runs.max_by_key(|place| place.steps).expect("there is a run");
        let limit = costliest.steps.saturating_mul(TIMES_STEPS).saturating_add(MORE_STEPS);
        let limits = LaunchLimits { steps: limit.min(self.judging.limits.steps), ..self.judging.limits };
        let opened = Module::simulated(ptx, model, limits);
        opened.map_err(|error| self.stopped_by(Problem::Device(error), costliest.sizes))
    }

    /// Runs as many orders as are asked for, else as a size of this cost has, and at least `fewest`.
    fn drawn(&self, module: &Module, place: Place<'_>, fewest: u64, tried: &mut Tried) -> Judged {
        let mut points = 0;
        let affordable = (BUDGET / place.steps.max(1)).clamp(fewest, MOST);
        for index in 0..self.judging.schedules.map_or(affordable, u64::from) {
            let order = order(self.judging.seed, index, points);
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
        let Place { sizes, values, right, .. } = place;
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
