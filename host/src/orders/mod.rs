//! Other orders of blocks and warps than the usual one: the flags that ask for them, how many run
//! at the same time, and what they show. `host run` and the labs say what runs in one order, and
//! how its results compare with the usual order's.
//!
//! *Invariant:* what is reported depends on the seed and the number of orders alone, not on the
//! number of cores: each order runs on one thread, with its own copy of the device's memory, and
//! the first order of those that differ is the one with the lowest number.

mod explore;

use clap::Args;
use device::{Device, Error, Options, Result, memory};
use rayon::prelude::*;
use serde::Serialize;
use simt::orders::{DrawnOrder, Strategy};
use timeline::Timeline;
use wording::{one_line, printable, wrapped};

use crate::flag_values::whole_number;

pub use explore::{ExploreFlags, ExploreReport};

/// The flags of labs and of `host run` about orders.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct OrderFlags {
    /// On the simulator: run again in this many other orders of blocks and warps, drawn from
    /// --seed, and compare the results; another result is a fault
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1_000_000u32))]
    pub schedules: Option<u32>,
    /// On the simulator: run in this order, which a run with --schedules named, and compare the
    /// results with the usual order's
    #[arg(long, value_name = "ORDER", conflicts_with = "schedules", value_parser = order)]
    pub schedule: Option<DrawnOrder>,
}

/// The value of `--schedule`.
fn order(text: &str) -> std::result::Result<DrawnOrder, String> {
    text.parse()
}

impl OrderFlags {
    /// The flag that is given.
    fn flag(&self) -> Option<&'static str> {
        match (self.schedules, self.schedule) {
            (Some(_), _) => Some("--schedules"),
            (_, Some(_)) => Some("--schedule"),
            _ => None,
        }
    }

    /// Whether other orders are asked for.
    pub fn any(&self) -> bool {
        self.flag().is_some()
    }

    /// Fails if a flag is given and no simulator runs: neither the device itself nor one beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_simulated(&self, simulated: bool) -> Result<()> {
        match self.flag() {
            Some(flag) if !simulated => {
                Err(Error::request(flag, "only the simulator runs other orders; give --device sim or --counters"))
            }
            _ => Ok(()),
        }
    }

    /// Fails if a flag is given and none of a lab's rows can run in another order.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_some(&self, any: bool) -> Result<()> {
        match self.flag() {
            Some(flag) if !any => {
                Err(Error::request(flag, "each row here runs on a model, and orders are for the simulator without one"))
            }
            _ => Ok(()),
        }
    }

    /// Fails if a flag is given with one of `others`, which leave out what it needs. Each comes
    /// with whether it is given.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_alone(&self, others: &[(&str, bool)]) -> Result<()> {
        match (self.flag(), others.iter().find(|(_, given)| *given)) {
            (Some(flag), Some((other, _))) => {
                Err(Error::request(flag, format!("results in other orders are not for {other}; leave one of them out")))
            }
            _ => Ok(()),
        }
    }
}

/// What a run in one order shows.
pub struct Ran {
    /// Accesses that other threads may see, at which warps may be interrupted.
    pub points: u64,
    /// How its results differ from those of the usual order.
    pub differs: Option<String>,
}

/// How another result comes about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    /// An order with few interruptions that gives another result, too, for `--schedule`.
    pub order: String,
    /// How often warps are interrupted in it.
    pub interruptions: u64,
    /// What the threads that matter do.
    pub timeline: Option<Timeline>,
}

/// What runs in other orders show.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OrdersReport {
    /// The number of orders that ran.
    pub tried: usize,
    /// How many of them give another result.
    pub different: usize,
    /// The first of these.
    pub first: Option<Different>,
    /// The relative difference up to which floats count as the same, if the kernels' atomics leave
    /// the order of sums open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Accesses in one of the orders, at which warps may be interrupted.
    pub points: u64,
    /// Orders with drawn priorities, for which probabilities are known.
    pub with_priorities: usize,
    /// All orders, if these are what ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored: Option<ExploreReport>,
}

/// An order that gives another result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Different {
    /// The order's text, for `--schedule`; empty if it is too long.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub order: String,
    /// The order in words; empty if it has no text.
    #[serde(skip)]
    pub words: String,
    /// What differs.
    pub result: String,
    /// How it comes about, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
}

/// The options of a simulator for launches in other orders, of which the usual one executed so many
/// warp instructions.
pub fn options_of(device: &Device, steps: u64) -> Options {
    let mut options = Options { predict_only: false, ..device.options().clone() };
    let limit = DrawnOrder::step_limit(steps);
    options.limits.step_limit = Some(options.limits.step_limit.map_or(limit, |most| most.min(limit)));
    options
}

/// How many orders may run at the same time, if each needs so many bytes: as many as there are
/// cores, and room.
fn at_once(bytes: u64) -> usize {
    let room = memory::available_on_host().map_or(u64::MAX, |available| available / 2 / bytes.max(1));
    rayon::current_num_threads().min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
}

/// Runs in `count` orders of a seed. `run` runs in one, and needs so many bytes of memory.
///
/// # Errors
///
/// That of the first order that has one.
pub fn try_drawn(
    seed: u64,
    count: u32,
    bytes: u64,
    run: &(dyn Fn(DrawnOrder) -> Result<Ran> + Sync),
) -> Result<OrdersReport> {
    let mut report = OrdersReport::default();
    // Alone: the others need to know how many points there are.
    report.add(DrawnOrder::nth(seed, 0, 0), run(DrawnOrder::nth(seed, 0, 0))?);
    let orders: Vec<DrawnOrder> = (1..count.into()).map(|index| DrawnOrder::nth(seed, index, report.points)).collect();
    for orders in orders.chunks(at_once(bytes)) {
        let ran: Vec<Result<Ran>> = orders.par_iter().map(|&order| run(order)).collect();
        for (&order, ran) in orders.iter().zip(ran) {
            report.add(order, ran?);
        }
    }
    Ok(report)
}

/// Runs in this order.
///
/// # Errors
///
/// Those of the run.
pub fn try_one(order: DrawnOrder, run: &(dyn Fn(DrawnOrder) -> Result<Ran> + Sync)) -> Result<OrdersReport> {
    let mut report = OrdersReport::default();
    report.add(order, run(order)?);
    Ok(report)
}

impl OrdersReport {
    fn add(&mut self, order: DrawnOrder, ran: Ran) {
        self.tried += 1;
        self.points = self.points.max(ran.points);
        self.with_priorities += usize::from(matches!(order.strategy, Strategy::Priorities { .. }));
        if let Some(result) = ran.differs {
            self.different += 1;
            self.first.get_or_insert(Different {
                order: order.to_string(),
                words: order.described(),
                result,
                story: None,
            });
        }
    }

    /// Whether all orders give the same result.
    pub fn right(&self) -> bool {
        self.different == 0
    }

    /// The report of all orders, of which the last may differ: its result, and the order, if it has
    /// a text.
    pub fn of_all(explored: ExploreReport, points: u64, different: Option<(String, Option<DrawnOrder>)>) -> Self {
        let tried = usize::try_from(explored.orders).unwrap_or(usize::MAX);
        let first = different.map(|(result, order)| Different {
            order: order.map(|order| order.to_string()).unwrap_or_default(),
            words: order.map(|order| order.described()).unwrap_or_default(),
            result,
            story: None,
        });
        let different = usize::from(first.is_some());
        Self { tried, different, first, tolerance: None, points, with_priorities: 0, explored: Some(explored) }
    }

    /// What is said if all orders give the same result: a sentence or more.
    pub fn sentences(&self) -> String {
        if let Some(explored) = &self.explored {
            return explored.sentences(&self.tolerated());
        }
        let Self { tried, points, with_priorities, .. } = self;
        let mut text = match tried {
            1 => "Another order of blocks and warps gives the same result".to_owned(),
            _ => format!("{tried} other orders of blocks and warps give the same result"),
        };
        text += &self.tolerated();
        text.push('.');
        if *with_priorities > 0 {
            text += &format!(
                " In {with_priorities} of them warps have drawn priorities, which change at d - 1 of k = {points} accesses: \
                 with n warps, each shows a bug of depth d with a probability of at least 1 / (n k^(d-1))."
            );
        }
        text
    }

    /// The error if an order gives another result, in lines of this width.
    pub fn error(&self, width: usize) -> Option<String> {
        self.error_of(None, width)
    }

    /// Likewise, of a lab's variant.
    pub fn error_of(&self, variant: Option<&str>, width: usize) -> Option<String> {
        let Different { order, story, .. } = self.first.as_ref()?;
        let variant = variant.map(|name| format!("{name}: ")).unwrap_or_default();
        let mut text = printable(&one_line(&format!("error: {variant}{}", self.what_differs()?))) + "\n";
        if !order.is_empty() {
            text += &wrapped(&self.which_order()?, width, "  ", "  ");
            text += &format!("\n  Run it again: --schedule {order}\n");
        }
        if let Some((likewise, simple)) = self.likewise() {
            text += &format!("  {likewise}: --schedule {simple}\n");
        }
        if let Some(timeline) = story.as_ref().and_then(|story| story.timeline.as_ref()) {
            text += &format!("\n{}", timeline.text("  ", width));
        }
        Some(text)
    }

    /// How many orders give another result, and the first of these results.
    pub fn what_differs(&self) -> Option<String> {
        let result = &self.first.as_ref()?.result;
        let verb = if self.different == 1 { "gives" } else { "give" };
        let orders = if self.tried == 1 { "order" } else { "orders" };
        let which = match self.explored {
            Some(_) if self.tried == 1 => "the first order that was explored gives".to_owned(),
            Some(_) => format!("the last of {} explored orders gives", self.tried),
            None => format!("{} of {} other {orders} {verb}", self.different, self.tried),
        };
        Some(format!("{which} another result{}: {result}", self.tolerated()))
    }

    /// The first of the orders that give another result, in words.
    pub fn which_order(&self) -> Option<String> {
        let which = if self.different == 1 { "In that order" } else { "In the first of these orders" };
        Some(format!("{which}, {}.", self.first.as_ref()?.words))
    }

    /// The simpler order in which a result differs, too: what is said of it, and its text.
    pub fn likewise(&self) -> Option<(String, &str)> {
        let Different { order, story, .. } = self.first.as_ref()?;
        let Story { order: simple, interruptions, .. } = story.as_ref().filter(|story| story.order != *order)?;
        Some((timeline::likewise(*interruptions), simple))
    }

    fn tolerated(&self) -> String {
        match self.tolerance {
            Some(tolerance) => format!(
                " (floats within 1 part in {:.0} count as the same, since atomics leave the order of sums open)",
                1.0 / tolerance
            ),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_order_is_named_and_the_points_of_the_first_are_those_of_all() {
        let run = |order: DrawnOrder| {
            let points = match order.strategy {
                Strategy::Priorities { points, .. } => points,
                _ => 7,
            };
            assert_eq!(points, 7);
            let differs = (order.seed % 5 == 4).then(|| format!("seed {}", order.seed));
            Ok(Ran { points: 7, differs })
        };
        let report = try_drawn(1, 20, 1, &run).unwrap();
        assert_eq!((report.tried, report.different, report.points), (20, 4, 7));
        assert_eq!(report.first.as_ref().unwrap().result, "seed 1004");
        assert!(!report.right());
        let text = report.error(100).unwrap();
        assert!(text.starts_with("error: 4 of 20 other orders give another result: seed 1004\n"));
        assert!(text.contains("Run it again: --schedule random:1:1004,lanes=8"), "{text}");
    }

    #[test]
    fn the_first_error_ends_the_run() {
        let run = |order: DrawnOrder| match order.seed {
            1003 | 1005 => Err(Error::request("order", order.seed.to_string())),
            _ => Ok(Ran { points: 1, differs: None }),
        };
        assert_eq!(try_drawn(1, 9, 1, &run).unwrap_err().to_string(), "order: 1003");
        assert_eq!(
            try_drawn(1, 3, u64::MAX, &run).unwrap().sentences(),
            "3 other orders of blocks and warps give the same result."
        );
    }
}
