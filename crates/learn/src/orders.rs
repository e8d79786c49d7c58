//! Compares a student's results under other orders of blocks and warps, after those of the usual
//! order were right: a GPU promises no order. [`crate::judge`] calls it.
//!
//! At each size, the last block runs first in one order, each warp runs as far as it can in
//! another, and the others are drawn from the seed ([`DrawnOrder::nth`]). At sizes that are not
//! costly, and the cheapest of those that are, the stores of some instructions are late in a few
//! more, and reads stale, as without a release or an acquire. At one size, blocks are also resident
//! together as on models of GPUs. A costly size has fewer orders, so that judging takes little
//! longer. A kernel that takes long on purpose, or does something else at a large size, must not
//! avoid the comparison: each size has at least [`FEWEST`] orders, and the largest ones have one or
//! two.

use std::path::Path;

use exercise::data::{self, Buffers, Sizes};
use exercise::fault::Problem;
use exercise::run::{BufferPlace, Kernels, LaunchLimits, Module, Outcome};
use goals::metric::Launched;
use indexmap::IndexMap;
use simt::orders::{DrawnOrder, Start, Strategy};
use simt::{Checks, Model};
use timeline::{Differing, Names};

use crate::comparison::compare;
use crate::runs::{Judge, Judged, Setting, Stop};
use crate::schedule::Schedule;
use crate::verdict::{Failure, OtherOrders, Position, Story, Wrong};

/// Orders at a size that is cheap: the last block first, each warp as far as it can, and a
/// portfolio.
const MOST: u64 = 10;

/// Orders at any size but the largest: the first two, and one in which each access may hand over to
/// another warp.
const FEWEST: u64 = 3;

/// At most so many more have late stores: with these, any two of 8 store instructions are apart.
const MOST_LATE: u32 = 6;

/// Warp instructions that all orders of a size may take together, as counted in the usual run: some
/// hundredths of a second.
const BUDGET: u64 = 1 << 17;

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

/// Where orders are tried: the sizes, the values, the right results, and the warp instructions of
/// the usual run.
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
    DrawnOrder { start: Some(Start::Down), ..DrawnOrder::new(seed, strategy) }
}

impl Judge<'_> {
    /// Fails if a result is wrong in another order, at one of these sizes, or at one that is
    /// costly.
    pub fn in_other_orders(&self, ptx: &Path, runs: &[RightRun], costly: &[&RightRun]) -> Judged {
        let all = || runs.iter().chain(costly.iter().copied()).map(RightRun::place);
        let module = self.ordered(ptx, None, all())?;
        // Where most blocks run, of the sizes that are cheap on a model.
        let places = || runs.iter().map(RightRun::place);
        let cheap = places().filter(|place| place.steps * MOST <= BUDGET);
        let on_models = cheap.max_by_key(|place| place.steps).map(|place| place.sizes);
        // Threads that wait for a lock make any size costly.
        let late_at = places().filter(|place| place.steps > BUDGET).min_by_key(|place| place.steps);
        for place in places() {
            let mut tried = Tried::default();
            self.drawn(&module, place, FEWEST, &mut tried)?;
            let is_open = self.judging.schedules.is_none() && self.judging.schedule.is_none();
            if is_open && (place.steps <= BUDGET || late_at.is_some_and(|late_at| late_at.sizes == place.sizes)) {
                self.with_late_stores(&module, place, &mut tried)?;
            }
            if on_models == Some(place.sizes) && self.judging.schedule.is_none() {
                for model in MODELS.into_iter().filter_map(Model::named) {
                    self.on_model(&self.ordered(ptx, Some(model), all())?, model, place, &mut tried)?;
                }
            }
            self.judged(tried, ptx, place)?;
        }
        for place in costly.iter().map(|run| run.place()) {
            let mut tried = Tried::default();
            self.drawn(&module, place, 2, &mut tried)?;
            self.judged(tried, ptx, place)?;
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
        let order = self.judging.schedule.unwrap_or_else(|| far_apart(self.judging.seed));
        let ran = module.run_in_order(self.exercise, sizes, values, order, None);
        self.compared(ran, Schedule::Order(order), place, &mut tried)?;
        self.judged(tried, ptx, place)
    }

    /// The kernels, for launches that may take longer than those of these runs, but not for ever.
    fn ordered<'p>(
        &self,
        ptx: &Path,
        model: Option<&'static Model>,
        runs: impl Iterator<Item = Place<'p>>,
    ) -> Judged<Module> {
        let costliest = runs.max_by_key(|place| place.steps).expect("there is a run");
        let limit = DrawnOrder::step_limit(costliest.steps);
        let limits = LaunchLimits { steps: limit.min(self.judging.limits.steps), ..self.judging.limits };
        let opened = Module::simulated(ptx, model, limits);
        opened.map_err(|error| self.stopped_by(Problem::Device(error), costliest.sizes))
    }

    /// Runs the order that is asked for, or as many as are, else as a size of this cost has, and at least
    /// `fewest`.
    fn drawn(&self, module: &Module, place: Place<'_>, fewest: u64, tried: &mut Tried) -> Judged {
        if let Some(order) = self.judging.schedule {
            let ran = module.run_in_order(self.exercise, place.sizes, place.values, order, None);
            return self.compared(ran, Schedule::Order(order), place, tried);
        }
        let mut points = 0;
        let affordable = (BUDGET / place.steps.max(1)).clamp(fewest, MOST);
        for index in 0..self.judging.schedules.map_or(affordable, u64::from) {
            let order = order(self.judging.seed, index, points);
            let ran = module.run_in_order(self.exercise, place.sizes, place.values, order, None);
            if let Ok(outcome) = &ran {
                let drawn = outcome.launches.iter().filter_map(|launched| launched.report.drawn());
                points = drawn.map(|drawn| drawn.points).max().unwrap_or(0);
            }
            self.compared(ran, Schedule::Order(order), place, tried)?;
        }
        Ok(())
    }

    /// Runs a few orders in which the stores of some instructions are late, if a thread may notice.
    fn with_late_stores(&self, module: &Module, place: Place<'_>, tried: &mut Tried) -> Judged {
        let (mut late, mut most) = (1, 1);
        while late <= most {
            let order = DrawnOrder::of_late_stores(self.judging.seed, late);
            let ran = module.run_in_order(self.exercise, place.sizes, place.values, order, None);
            let drawn = ran.iter().flat_map(|outcome| &outcome.launches).filter_map(|it| it.report.drawn());
            most = drawn.map(|drawn| drawn.late).max().unwrap_or(most).min(MOST_LATE);
            if most == 0 {
                // The same as without.
                return Ok(());
            }
            self.compared(ran, Schedule::Order(order), place, tried)?;
            late += 1;
        }
        Ok(())
    }

    /// Runs with as many blocks at once as a model has room for. A launch for which it has none
    /// says nothing.
    fn on_model(&self, module: &Module, model: &'static Model, place: Place<'_>, tried: &mut Tried) -> Judged {
        let ran = module.run(self.exercise, place.sizes, place.values, Kernels::Student, Checks::NONE);
        match ran {
            // Launches that a student chooses may be too large for it.
            Err(Problem::Device(_) | Problem::Signature(_)) => Ok(()),
            ran => self.compared(ran, Schedule::Model(model), place, tried),
        }
    }

    fn compared(
        &self,
        ran: Result<Outcome, Problem>,
        schedule: Schedule,
        place: Place<'_>,
        tried: &mut Tried,
    ) -> Judged {
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
            tried.first.get_or_insert((schedule, failure));
        }
        Ok(())
    }

    /// Fails if a result was wrong in one of these orders.
    fn judged(&self, tried: Tried, ptx: &Path, place: Place<'_>) -> Judged {
        let Tried { count: of, wrong, first } = tried;
        let Some((first, failure)) = first else { return Ok(()) };
        let story = match (&first, &failure) {
            (Schedule::Order(order), Failure::Wrong(_, wrong)) => self.story(ptx, place, *order, wrong),
            _ => None,
        };
        let (sizes, failure) = (place.sizes.clone(), Box::new(failure));
        Err(Failure::OtherOrders(Box::new(OtherOrders { sizes, wrong, of, first, failure, story })).into())
    }

    /// How the wrong element of this order comes about, or one of the same buffer in a simpler
    /// order, if there is one launch, and its accesses show it.
    fn story(&self, ptx: &Path, place: Place<'_>, order: DrawnOrder, wrong: &Wrong) -> Option<Story> {
        let Place { sizes, values, right, steps } = place;
        let module = self.ordered(ptx, None, std::iter::once(place)).ok()?.at_fixed_addresses();
        let run = |order, follows| module.run_in_order(self.exercise, sizes, values, order, follows);
        let differing = |order| {
            let outcome = run(order, None)?;
            let failure = compare(self.exercise, &outcome, right, values, sizes.clone()).err();
            // Of several launches, the accesses would mix.
            let drawn = match &*outcome.launches {
                [launched] => launched.report.drawn(),
                _ => None,
            };
            Ok(match (failure, drawn) {
                (Some(Failure::Wrong(_, found)), Some(drawn)) if found.first.buffer == wrong.first.buffer => {
                    Some((found.first, drawn, outcome.places))
                }
                _ => None,
            })
        };
        let (position, drawn, places) = differing(order).ok()??;
        // At a large size, the order that was found is explained.
        let is_given = self.judging.schedule.is_some();
        let points = if steps <= BUDGET && !is_given { drawn.points } else { 0 };
        let found = Differing { order, place: position, interruptions: drawn.interruptions };
        let simpler = timeline::simplest(found, (self.judging.seed, points), &mut |order| {
            Ok::<_, Problem>(differing(order)?.map(|(position, drawn, _)| (position, drawn.interruptions)))
        });
        let Differing { order, place: position, interruptions } = simpler.ok()?;

        let follow = |order, followed| {
            let mut outcome = run(order, Some(followed))?;
            Ok::<_, Problem>(
                outcome.launches.pop().map(|launched| launched.report.touches().to_vec()).unwrap_or_default(),
            )
        };
        let element = self.exercise.goals.data[&position.buffer].element;
        let width = element.bytes() as u32;
        let value = |value: u128, bytes: u32| match &value.to_le_bytes()[..bytes.min(16) as usize] {
            unwritten if unwritten.iter().all(|&byte| byte == device::POISON) => "unwritten bytes".to_owned(),
            element_bytes if bytes == width => data::text(element, element_bytes),
            _ => value.to_string(),
        };
        let global = |address: u64| self.named(&places, address);
        let BufferPlace { address, pitch, .. } = places[&position.buffer];
        let address = address + position.row.unwrap_or(0) as u64 * pitch + position.column as u64 * u64::from(width);
        let names = Names { module: "kernel.ptx", value: &value, global: &global };
        let timeline = timeline::explain(&follow, order, (address, width), &names).ok()?;
        Some(Story { order, interruptions, timeline })
    }

    /// The element at an address of global memory.
    fn named(&self, places: &IndexMap<String, BufferPlace>, address: u64) -> String {
        let inside = |(name, place): (&String, &BufferPlace)| {
            let offset = address.checked_sub(place.address).filter(|&offset| offset < place.bytes)?;
            let plan = self.exercise.goals.data.get(name)?;
            let bytes = plan.element.bytes() as u64;
            let position = match plan.rows {
                Some(_) => Position {
                    buffer: name.clone(),
                    row: Some((offset / place.pitch) as usize),
                    column: (offset % place.pitch / bytes) as usize,
                },
                None => Position { buffer: name.clone(), row: None, column: (offset / bytes) as usize },
            };
            Some(position.to_string())
        };
        places.iter().find_map(inside).unwrap_or_else(|| format!("global address {address:#x}"))
    }
}

/// What the orders of one size have shown.
#[derive(Default)]
struct Tried {
    count: usize,
    wrong: usize,
    first: Option<(Schedule, Failure)>,
}
