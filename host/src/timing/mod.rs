//! Timing of launches on a GPU: how often to launch, for how long, and which number to report.
//! `stopwatch` calls [`measure`]; what is timed is behind [`Timed`], so no device is named here.
//!
//! A launch is warmed up, then timed in samples until the median is steady or the time is up. The
//! report gives the median, which one slow sample does not move, and the quartiles as the spread.
//! Four things distort samples:
//!
//! - *The caches.* Data that fits the level-2 cache is faster the second time. So there are two
//!   series, as in nvbench: one *cold*, with the cache flushed before each launch, which is timed
//!   alone, and one *warm*, launch after launch. A launch whose data is much larger than the cache
//!   evicts its own data, so one series is enough ([`Cache`]).
//! - *The host.* If the device waits for the host to submit a launch, the wait would be timed. So
//!   the device is kept busy meanwhile, with the flush or with work that is not timed
//!   ([`Timed::lead`]).
//! - *The events.* Their resolution is 32 ns on an H200 and half a microsecond on older GPUs, so
//!   medians are interpolated between equal samples (`statistics.rs`). The time between two events
//!   includes what the device needs to begin and end a launch: a few microseconds in each cold
//!   sample. Nothing is subtracted. Warm samples share it: short launches are timed many at once,
//!   so that a sample lasts half a millisecond.
//! - *The clock.* It is read from time to time while the device works, and at the end. Samples at a
//!   clock that is throttled far below the highest are dropped and taken again (`clock.rs`).
//!
//! None of this applies where times are predicted (`coalesce run`): there, one sample is taken.

mod clock;
mod statistics;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use device::{ClockReading, Result, Throttle};
use serde::Serialize;

pub use statistics::relative_error_of_median;

use clock::Readings;

/// How long a sample of several launches lasts, in milliseconds.
const SAMPLE_MS: f64 = 0.5;

/// A launch longer than this, in milliseconds, needs no lead: the time to submit it is negligible.
const LONG_MS: f64 = 5.0;

/// How long to launch before the first sample, so that the clocks rise; less if the time limit is
/// short.
const WARM_UP: Duration = Duration::from_millis(50);

/// The minimum number of samples for a median.
const FEWEST_SAMPLES: usize = 11;

/// The maximum number of samples.
const MOST_SAMPLES: usize = 1001;

/// The maximum number of launches in a sample.
const MOST_LAUNCHES: u32 = 1000;

/// How long the device works while the clock is read, in milliseconds.
const READING_MS: f64 = 2.0;

/// The minimum number of clock readings.
const READING_EVERY: Duration = Duration::from_millis(50);

/// How long to wait after samples at a low clock.
const RECOVERY: Duration = Duration::from_millis(50);

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// The time limit for one variant, warm-up included.
    pub time_limit: Duration,
    /// The median is steady when its standard error is below this part of it.
    pub noise: f64,
    /// The minimum time to spend on samples, unless there are many: more samples of short launches
    /// cost little.
    pub least: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self { time_limit: Duration::from_secs(2), noise: 0.005, least: Duration::from_millis(20) }
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
    /// Warm: it holds what the previous launch left.
    Warm,
    /// Whatever was there: the host's clock timed all from the first call until the work had ended.
    Any,
}

/// A series of samples of a launch.
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
    /// Whether the median became steady before the time was up.
    pub steady: bool,
    /// The clock of the multiprocessors in MHz, the median of some readings; `None` where it cannot
    /// be read.
    pub sm_clock_mhz: Option<f64>,
    /// What throttled the clock, if it was noticeably below the highest one.
    pub throttled_by: Option<Throttle>,
    /// Samples that were dropped because the clock was far too low.
    pub dropped_samples: usize,
}

impl Timing {
    /// Half the distance between the quartiles, in percent of the median.
    pub fn spread_percent(&self) -> f64 {
        (self.upper_quartile_ms - self.lower_quartile_ms) / 2.0 / self.median_ms * 100.0
    }
}

/// The times of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// With nothing useful in the level-2 cache; rates follow from this.
    pub cold: Timing,
    /// With the data that the previous launch left in the cache; `None` if that is not useful
    /// either.
    pub warm: Option<Timing>,
}

/// Something to time: a launch on a device.
pub trait Timed {
    /// Launches `launches` times; returns the total time in milliseconds.
    fn sample(&mut self, launches: u32) -> Result<f64>;

    /// Starts a flush of the level-2 cache.
    fn flush(&mut self) -> Result<()>;

    /// Starts work that is not timed, to keep the device busy while the host submits this many
    /// launches. It ends with a launch, which leaves the cache as the first timed launch should
    /// find it.
    fn lead(&mut self, launches: u32) -> Result<()>;

    /// Whether its times are predicted: then the first sample is as good as all.
    fn is_predicted(&self) -> bool {
        false
    }

    /// Reads the clock while the device works on this many launches. `None` if it cannot be read.
    fn clock(&mut self, launches: u32) -> Result<Option<ClockReading>>;
}

/// Times `timed`, whose launch touches `footprint` bytes, on a device with `l2` bytes of level-2
/// cache.
///
/// # Errors
///
/// Those of the launches.
pub fn measure(timed: &mut impl Timed, footprint: u64, l2: Option<u64>, policy: &Policy) -> Result<Times> {
    if timed.is_predicted() {
        return predicted(timed, if l2.is_some() { Cache::Flushed } else { Cache::Warm });
    }
    let begin = Instant::now();
    let estimate_ms = warm_up(timed, policy.time_limit / 4)?;
    let until = |limit| begin + limit;
    let mut series = |cache, end| Series { cache, estimate_ms, end, policy }.run(timed);
    let whole = until(policy.time_limit);
    let (cold, warm) = match l2 {
        // The size to flush is unknown.
        None => (series(Cache::Warm, whole)?, None),
        Some(l2) if footprint >= l2.saturating_mul(4) => (series(Cache::Exceeded, whole)?, None),
        Some(_) => {
            let cold = series(Cache::Flushed, until(policy.time_limit / 2))?;
            (cold, Some(series(Cache::Warm, whole)?))
        }
    };
    Ok(Times { cold, warm })
}

/// Times `timed` by the host's clock, piece by piece.
///
/// # Errors
///
/// Those of the work.
pub fn measure_by_host(timed: &mut impl Timed, policy: &Policy) -> Result<Times> {
    if timed.is_predicted() {
        return predicted(timed, Cache::Any);
    }
    let end = Instant::now() + policy.time_limit;
    let estimate_ms = warm_up(timed, policy.time_limit / 4)?;
    let cold = Series { cache: Cache::Any, estimate_ms, end, policy }.run(timed)?;
    Ok(Times { cold, warm: None })
}

/// The predicted time of a launch, which is that with cold caches.
fn predicted(timed: &mut impl Timed, cache: Cache) -> Result<Times> {
    let time_ms = timed.sample(1)?;
    let cold = Timing {
        median_ms: time_ms,
        lower_quartile_ms: time_ms,
        upper_quartile_ms: time_ms,
        samples: 1,
        launches_per_sample: 1,
        cache,
        steady: true,
        sm_clock_mhz: None,
        throttled_by: None,
        dropped_samples: 0,
    };
    Ok(Times { cold, warm: None })
}

/// Launches until the clocks are up. Returns how long a launch takes, in milliseconds.
fn warm_up(timed: &mut impl Timed, limit: Duration) -> Result<f64> {
    let begin = Instant::now();
    // The first launch loads the code, the next ones raise the clocks; the last one is measured.
    let mut estimate = timed.sample(1)?;
    while begin.elapsed() < limit.min(WARM_UP) {
        estimate = timed.sample(1)?;
    }
    let batch = timed.sample(4)? / 4.0;
    Ok(estimate.min(batch))
}

/// A series of samples to be taken.
struct Series<'a> {
    cache: Cache,
    /// The approximate time of a launch.
    estimate_ms: f64,
    /// When to stop.
    end: Instant,
    policy: &'a Policy,
}

impl Series<'_> {
    /// How many launches last about this long.
    fn launches_of(&self, milliseconds: f64) -> u32 {
        ((milliseconds / self.estimate_ms.max(1e-6)).ceil() as u32).clamp(1, MOST_LAUNCHES)
    }

    /// Takes samples until the median is steady or the time is up.
    fn run(&self, timed: &mut impl Timed) -> Result<Timing> {
        let launches = if matches!(self.cache, Cache::Flushed | Cache::Any) { 1 } else { self.launches_of(SAMPLE_MS) };
        let mut readings = Readings::default();
        let (mut samples, mut dropped) = (Vec::new(), 0);
        let begin = Instant::now();
        // The samples before this one were taken at an acceptable clock.
        let mut kept = 0;
        let mut last_reading = Instant::now();
        let steady = loop {
            if self.cache == Cache::Flushed {
                timed.flush()?;
            } else if self.estimate_ms < LONG_MS {
                timed.lead(launches)?;
            }
            samples.push(timed.sample(launches)? / f64::from(launches));
            let [lower, median, upper] = statistics::quartiles(&samples);
            let error = relative_error_of_median(lower, median, upper, samples.len());
            let up = samples.len() >= MOST_SAMPLES || Instant::now() >= self.end;
            let enough = samples.len() >= FEWEST_SAMPLES && (up || begin.elapsed() >= self.policy.least);
            let steady = enough && error < self.policy.noise;
            if !steady && !up && last_reading.elapsed() < READING_EVERY {
                continue;
            }
            let reading = timed.clock(self.launches_of(READING_MS))?;
            last_reading = Instant::now();
            // When the time is up, slow samples are better than none; the report says that the
            // clock was throttled.
            if reading.as_ref().is_some_and(clock::is_too_low) && !up {
                dropped += samples.len() - kept;
                samples.truncate(kept);
                std::thread::sleep(RECOVERY);
                continue;
            }
            reading.into_iter().for_each(|reading| readings.take(reading));
            kept = samples.len();
            if steady || up {
                break steady;
            }
        };
        let [lower_quartile_ms, median_ms, upper_quartile_ms] = statistics::quartiles(&samples);
        let (sm_clock_mhz, throttled_by) = readings.sum_up();
        Ok(Timing {
            median_ms,
            lower_quartile_ms,
            upper_quartile_ms,
            samples: samples.len(),
            launches_per_sample: launches,
            cache: self.cache,
            steady,
            sm_clock_mhz,
            throttled_by,
            dropped_samples: dropped,
        })
    }
}
