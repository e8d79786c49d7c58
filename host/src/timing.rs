//! Timing of launches on a GPU: how often to launch, for how long, and which number to report.
//!
//! A launch is warmed up and then timed in samples until the median is steady or the time is up. The report gives the median,
//! which one slow sample does not move, and the quartiles as the spread.
//!
//! Two effects would distort the samples:
//!
//! - *The caches.* Data that fits the level-2 cache is faster the second time. A launch whose data is large against that cache
//!   evicts its own traces. Other launches are timed one by one, with the cache flushed before each. Only for launches too
//!   short for that (below) the cache stays warm, and the report says so ([`Cache`]).
//! - *The clock.* Events cost a few microseconds and tick in about half a one. Launches shorter than [`SHORT_MS`] are timed
//!   many at once, so that a sample is at least ten times as long. The cache is flushed before each launch that is timed alone in
//!   any case: meanwhile the host submits the launch, whose overhead would be counted otherwise.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::Result;

/// A launch shorter than this, in milliseconds, is timed together with others.
pub const SHORT_MS: f64 = 0.05;

/// How long such a sample of several launches lasts, in milliseconds.
const SAMPLE_MS: f64 = 0.5;

/// How long to launch before the first sample, for the clocks to rise; less if the time limit is short.
const WARM_UP: Duration = Duration::from_millis(50);

/// The fewest samples that a median is taken of.
const FEWEST_SAMPLES: usize = 11;

/// The most samples.
const MOST_SAMPLES: usize = 1001;

/// The most launches in a sample.
const MOST_LAUNCHES: u32 = 1000;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// The most time to spend on one variant, warm-up included.
    pub time_limit: Duration,
    /// The median is steady when its standard error is below this part of it.
    pub noise: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Self { time_limit: Duration::from_secs(2), noise: 0.002 }
    }
}

/// What was in the level-2 cache when a timed launch began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Evicted: the launch's data is at least four times as large as the cache.
    Exceeded,
    /// Cold: it was flushed before each launch.
    Flushed,
    /// What the launch before left there.
    Warm,
}

/// The times of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The median in milliseconds.
    #[serde(rename = "time_ms")]
    pub median_ms: f64,
    /// A quarter of the samples are faster than this, in milliseconds.
    #[serde(rename = "time_lower_quartile_ms")]
    pub lower_quartile_ms: f64,
    /// A quarter of the samples are slower than this, in milliseconds.
    #[serde(rename = "time_upper_quartile_ms")]
    pub upper_quartile_ms: f64,
    /// How many samples were taken.
    pub samples: usize,
    /// Launches in each sample.
    pub launches_per_sample: u32,
    /// The state of the level-2 cache.
    pub cache: Cache,
    /// Whether the median was steady before the time was up.
    pub steady: bool,
}

impl Timing {
    /// Half the distance between the quartiles, in percent of the median.
    pub fn spread_percent(&self) -> f64 {
        (self.upper_quartile_ms - self.lower_quartile_ms) / 2.0 / self.median_ms * 100.0
    }
}

/// What is timed.
pub trait Timed {
    /// Launches so many times and takes the time of all in milliseconds.
    fn sample(&mut self, launches: u32) -> Result<f64>;

    /// Flushes the level-2 cache; the device may do it while the host goes on.
    fn flush(&mut self) -> Result<()>;
}

/// Times `timed`, whose launch touches `footprint` bytes, on a device with `l2` bytes of level-2 cache.
///
/// # Errors
///
/// Those of the launches.
pub fn measure(timed: &mut impl Timed, footprint: u64, l2: Option<u64>, policy: &Policy) -> Result<Timing> {
    let begin = Instant::now();
    // The first launch loads the code, the next ones raise the clocks; the last says how long one takes.
    let mut estimate = timed.sample(1)?;
    let warm_up = (policy.time_limit / 4).min(WARM_UP);
    while begin.elapsed() < warm_up {
        estimate = timed.sample(1)?;
    }
    let batch = timed.sample(4)? / 4.0;
    estimate = estimate.min(batch);

    let exceeded = l2.is_some_and(|l2| footprint >= l2.saturating_mul(4));
    let (launches, cache) = if estimate < SHORT_MS {
        let launches = (SAMPLE_MS / estimate.max(1e-6)).ceil() as u32;
        let cache = if exceeded { Cache::Exceeded } else { Cache::Warm };
        (launches.clamp(1, MOST_LAUNCHES), cache)
    } else if exceeded {
        (1, Cache::Exceeded)
    } else {
        (1, Cache::Flushed)
    };

    let mut samples = Vec::new();
    let steady = loop {
        if launches == 1 {
            timed.flush()?;
        }
        samples.push(timed.sample(launches)? / f64::from(launches));
        let enough = samples.len() >= FEWEST_SAMPLES;
        if enough && relative_error_of_median(&samples) < policy.noise {
            break true;
        }
        if samples.len() >= MOST_SAMPLES || begin.elapsed() >= policy.time_limit {
            break false;
        }
    };
    samples.sort_by(f64::total_cmp);
    Ok(Timing {
        median_ms: quantile(&samples, 0.5),
        lower_quartile_ms: quantile(&samples, 0.25),
        upper_quartile_ms: quantile(&samples, 0.75),
        samples: samples.len(),
        launches_per_sample: launches,
        cache,
        steady,
    })
}

/// The standard error of the median as a part of it, estimated from the quartiles, which outliers do not move.
fn relative_error_of_median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = quantile(&sorted, 0.5);
    if median <= 0.0 {
        return 0.0;
    }
    // For normally distributed samples the quartiles are 1.349 standard deviations apart, and the standard error of the
    // median is sqrt(pi / 2) = 1.2533 times that of the mean.
    let deviation = (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / 1.349;
    1.2533 * deviation / (samples.len() as f64).sqrt() / median
}

/// The value below which a part of the sorted samples lies, interpolated between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A launch that takes `ms`, give or take `noise`, plus `overhead` for each sample; counts the flushes.
    struct Fake {
        ms: f64,
        noise: f64,
        overhead: f64,
        flushes: usize,
        random: Random,
    }

    impl Fake {
        fn new(ms: f64, noise: f64) -> Self {
            Self { ms, noise, overhead: 0.0, flushes: 0, random: Random::new(1) }
        }
    }

    impl Timed for Fake {
        fn sample(&mut self, launches: u32) -> Result<f64> {
            let noise = 1.0 + self.noise * f64::from(self.random.next_f32());
            Ok(self.ms * f64::from(launches) * noise + self.overhead)
        }

        fn flush(&mut self) -> Result<()> {
            self.flushes += 1;
            Ok(())
        }
    }

    /// The time is never up: how far these tests get must not depend on what else the machine does.
    fn policy() -> Policy {
        Policy { time_limit: Duration::from_secs(600), noise: 0.002 }
    }

    const L2: Option<u64> = Some(50 << 20);

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(quantile(&sorted, 0.5), 2.5);
        assert_eq!(quantile(&sorted, 0.25), 1.75);
        assert_eq!(quantile(&sorted, 1.0), 10.0);
        assert_eq!(quantile(&[7.0], 0.75), 7.0);
    }

    #[test]
    fn a_steady_launch_needs_few_samples() {
        let timing = measure(&mut Fake::new(1.0, 0.001), 1 << 30, L2, &policy()).unwrap();
        assert!(timing.steady);
        assert_eq!((timing.samples, timing.launches_per_sample), (FEWEST_SAMPLES, 1));
        assert_eq!(timing.cache, Cache::Exceeded);
        assert!((timing.median_ms - 1.0).abs() < 0.002);
        assert!(timing.lower_quartile_ms <= timing.median_ms);
        assert!(timing.median_ms <= timing.upper_quartile_ms);
    }

    #[test]
    fn a_noisy_launch_needs_more_samples() {
        let timing = measure(&mut Fake::new(1.0, 0.2), 1 << 30, L2, &policy()).unwrap();
        assert!(timing.samples > 100, "{}", timing.samples);
        assert!((timing.median_ms - 1.0).abs() < 0.05);
        assert!((timing.spread_percent() - 10.0).abs() < 3.0);
    }

    #[test]
    fn short_launches_are_timed_together() {
        let mut short = Fake::new(0.004, 0.0);
        short.overhead = 0.001;
        let timing = measure(&mut short, 1 << 20, L2, &policy()).unwrap();
        assert!(timing.launches_per_sample >= 100);
        assert_eq!(timing.cache, Cache::Warm);
        assert_eq!(short.flushes, 0);
        assert!((timing.median_ms / 0.004 - 1.0).abs() < 0.01);
    }

    #[test]
    fn small_data_is_flushed_from_the_cache() {
        let mut small = Fake::new(0.1, 0.0);
        let timing = measure(&mut small, 100 << 20, L2, &policy()).unwrap();
        assert_eq!(timing.cache, Cache::Flushed);
        assert_eq!(small.flushes, timing.samples);
    }
}
