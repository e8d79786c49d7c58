//! The predicted time of launches that are queued one behind the other. Pure.

use super::prediction::{Bound, Predicted, Prediction, fills_half};
use crate::model::Model;

/// The part of a time that is most of it.
const MOSTLY: f64 = 0.5;

/// The predicted time of launches that are queued one behind the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// The model.
    pub model: &'static Model,
    /// Microseconds with nothing useful in L2.
    pub cold_us: f64,
    /// Microseconds with the data that was left in L2, if that fits.
    pub warm_us: Option<f64>,
    /// What limits the longest launch.
    pub bound: Bound,
    /// Whether the time says little about the kernels: no launch fills half of the GPU, or most of
    /// the time is what empty launches take as well.
    pub is_of_too_little: bool,
}

impl Queue {
    /// The time of these launches, or what is not predicted. `None` without any.
    pub fn of<'p>(launches: impl IntoIterator<Item = &'p Predicted>) -> Option<Result<Self, &'static str>> {
        let time = |launch: &'p Predicted| match launch {
            Predicted::Time(time) => Ok(&**time),
            Predicted::Not(what) => Err(*what),
        };
        match launches.into_iter().map(time).collect::<Result<Vec<_>, _>>() {
            Ok(times) => Self::of_times(&times).map(Ok),
            Err(what) => Some(Err(what)),
        }
    }

    fn of_times(times: &[&Prediction]) -> Option<Self> {
        let longest = times.iter().max_by(|one, other| one.cold_us.total_cmp(&other.cold_us))?;
        let Prediction { model, empty_us, next_us, .. } = *times[0];
        let empty = empty_us + next_us * (times.len() - 1) as f64;
        let sum = |of: fn(&Prediction) -> Option<f64>| -> Option<f64> {
            let more = times.iter().map(|time| of(time).map(|time| time - empty_us)).sum::<Option<f64>>();
            more.map(|more| empty + more)
        };
        let cold_us = sum(|time| Some(time.cold_us))?;
        let fills = |time: &&Prediction| fills_half(model, time.blocks, time.resident);
        Some(Self {
            model,
            cold_us,
            warm_us: sum(|time| time.warm_us),
            bound: longest.bound,
            is_of_too_little: !times.iter().any(fills) || empty > MOSTLY * cold_us,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(cold_us: f64, blocks: u64, bound: Bound) -> Predicted {
        Predicted::Time(Box::new(Prediction {
            model: Model::named("hopper").expect("it is there"),
            cold_us,
            warm_us: (cold_us < 20.0).then_some(cold_us - 1.0),
            empty_us: 3.0,
            next_us: 1.0,
            bound,
            warm_bound: None,
            uses: Vec::new(),
            waits: Vec::new(),
            waits_by_instruction: Vec::new(),
            registers: 32,
            resident: 8,
            warps: (64, 64),
            blocks,
            unsampled: 1.0,
        }))
    }

    #[test]
    fn a_queue_starts_once_and_is_limited_by_its_longest_launch() {
        let queue = |launches: &[Predicted]| Queue::of(launches).expect("there are launches").expect("there is a time");
        let [short, long] = [launch(5.0, 9, Bound::Launch), launch(10.0, 1000, Bound::Dram)];
        let both = queue(&[short.clone(), long.clone()]);
        assert_eq!((both.cold_us, both.warm_us, both.bound), (13.0, Some(11.0), Bound::Dram));
        assert!(!both.is_of_too_little && queue(&[short]).is_of_too_little);
        assert!(queue(&[launch(4.0, 1000, Bound::Launch)]).is_of_too_little);
        assert_eq!(queue(&[long.clone(), launch(30.0, 1000, Bound::Issue)]).warm_us, None);
        assert_eq!(Queue::of(&[long, Predicted::Not("surfaces")]), Some(Err("surfaces")));
        assert_eq!(Queue::of(&[]), None);
    }
}
