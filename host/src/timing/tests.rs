//! Tests of the measurement, on launches with invented times. No device is involved.

use common::random::Random;

use super::*;

/// A launch that takes `ms`, give or take `noise`, and `cold_ms` more after a flush, plus
/// `overhead` for each sample.
struct Fake {
    ms: f64,
    cold_ms: f64,
    noise: f64,
    overhead: f64,
    flushes: usize,
    leads: usize,
    is_cold: bool,
    samples: usize,
    is_predicted: bool,
    /// The clock's readings, one after another; the last one repeats.
    clocks: Vec<ClockReading>,
    random: Random,
}

impl Fake {
    fn new(ms: f64, noise: f64) -> Self {
        Self {
            ms,
            cold_ms: 0.0,
            noise,
            overhead: 0.0,
            flushes: 0,
            leads: 0,
            is_cold: false,
            samples: 0,
            is_predicted: false,
            clocks: vec![],
            random: Random::new(1),
        }
    }
}

impl Timed for Fake {
    fn sample(&mut self, launches: u32) -> Result<f64> {
        self.samples += 1;
        let noise = 1.0 + self.noise * f64::from(self.random.next_f32());
        let cold = if std::mem::take(&mut self.is_cold) { self.cold_ms } else { 0.0 };
        Ok(self.ms * f64::from(launches) * noise + self.overhead + cold)
    }

    fn flush(&mut self) -> Result<()> {
        self.flushes += 1;
        self.is_cold = true;
        Ok(())
    }

    fn lead(&mut self, _launches: u32) -> Result<()> {
        self.leads += 1;
        Ok(())
    }

    fn is_predicted(&self) -> bool {
        self.is_predicted
    }

    fn clock(&mut self, _launches: u32) -> Result<Option<ClockReading>> {
        Ok(if self.clocks.len() > 1 { Some(self.clocks.remove(0)) } else { self.clocks.first().copied() })
    }
}

/// No time limit and no minimum time: the result must not depend on the machine's load.
fn policy() -> Policy {
    Policy { time_limit: Duration::from_secs(600), least: Duration::ZERO, ..Policy::default() }
}

const L2: Option<u64> = Some(50 << 20);

fn reading(mhz: f64, power: bool) -> ClockReading {
    ClockReading { mhz, max_mhz: 2000.0, held_by: Throttle { power, ..Throttle::default() } }
}

#[test]
fn large_data_is_timed_once_and_never_flushed() {
    let mut large = Fake::new(1.0, 0.001);
    let Times { cold, warm } = measure(&mut large, 1 << 30, L2, &policy()).unwrap();
    assert!(cold.steady && warm.is_none());
    assert_eq!((cold.samples, cold.launches_per_sample), (FEWEST_SAMPLES, 1));
    assert_eq!(cold.cache, Cache::Exceeded);
    assert!((cold.median_ms - 1.0).abs() < 0.002);
    assert!(cold.lower_quartile_ms <= cold.median_ms && cold.median_ms <= cold.upper_quartile_ms);
    assert_eq!((large.flushes, large.leads), (0, FEWEST_SAMPLES));
    assert_eq!((cold.sm_clock_mhz, cold.throttled_by, cold.dropped_samples), (None, None, 0));
}

#[test]
fn small_data_is_timed_cold_and_warm() {
    let mut short = Fake::new(0.004, 0.0);
    (short.cold_ms, short.overhead) = (0.006, 0.001);
    let Times { cold, warm } = measure(&mut short, 1 << 20, L2, &policy()).unwrap();
    assert_eq!((cold.cache, cold.launches_per_sample), (Cache::Flushed, 1));
    assert_eq!(short.flushes, cold.samples);
    // Nothing is subtracted.
    assert!((cold.median_ms - 0.011).abs() < 1e-9);
    let warm = warm.unwrap();
    assert_eq!(warm.cache, Cache::Warm);
    assert!(warm.launches_per_sample >= 100 && short.leads == warm.samples);
    assert!((warm.median_ms / 0.004 - 1.0).abs() < 0.01);
}

#[test]
fn a_cache_of_unknown_size_is_not_called_cold() {
    let mut fake = Fake::new(1.0, 0.0);
    let Times { cold, warm } = measure(&mut fake, 1 << 30, None, &policy()).unwrap();
    assert_eq!((cold.cache, warm, fake.flushes), (Cache::Warm, None, 0));
}

#[test]
fn a_noisy_launch_needs_more_samples() {
    let Times { cold, .. } = measure(&mut Fake::new(1.0, 0.1), 1 << 30, L2, &policy()).unwrap();
    assert!(cold.samples > 100 && cold.steady, "{}", cold.samples);
    assert!((cold.median_ms - 1.0).abs() < 0.05);
    assert!((cold.spread_percent() - 5.0).abs() < 1.5);
}

#[test]
fn a_launch_that_is_never_steady_is_said_to_be_so() {
    let no_time = Policy { time_limit: Duration::ZERO, ..Policy::default() };
    let Times { cold, warm } = measure(&mut Fake::new(1.0, 0.5), 1 << 20, L2, &no_time).unwrap();
    assert!(!cold.steady && !warm.unwrap().steady);
    assert_eq!(cold.samples, 1);
}

#[test]
fn of_short_launches_there_are_more_samples_than_needed() {
    let long = Policy { least: Duration::from_secs(600), ..policy() };
    let Times { cold, .. } = measure(&mut Fake::new(1.0, 0.0), 1 << 30, L2, &long).unwrap();
    assert_eq!((cold.samples, cold.steady), (MOST_SAMPLES, true));
}

#[test]
fn a_long_launch_needs_no_lead() {
    let mut long = Fake::new(20.0, 0.0);
    measure(&mut long, 1 << 30, L2, &policy()).unwrap();
    assert_eq!(long.leads, 0);
}

#[test]
fn samples_at_a_throttled_clock_are_taken_again() {
    let mut hot = Fake::new(1.0, 0.0);
    hot.clocks = vec![reading(1000.0, true), reading(1000.0, true), reading(1990.0, false)];
    let Times { cold, .. } = measure(&mut hot, 1 << 30, L2, &policy()).unwrap();
    // After the pause the clock is read at once, with the first sample.
    assert_eq!((cold.samples, cold.dropped_samples), (FEWEST_SAMPLES, FEWEST_SAMPLES + 1));
    assert_eq!((cold.sm_clock_mhz, cold.throttled_by), (Some(1990.0), None));

    // When the time is up, they are kept, and what throttled the clock is reported.
    let no_time = Policy { time_limit: Duration::ZERO, ..Policy::default() };
    let mut hot = Fake::new(1.0, 0.0);
    hot.clocks = vec![reading(1000.0, true)];
    let Times { cold, .. } = measure(&mut hot, 1 << 30, L2, &no_time).unwrap();
    assert_eq!((cold.samples, cold.dropped_samples, cold.sm_clock_mhz), (1, 0, Some(1000.0)));
    assert_eq!(cold.throttled_by.unwrap().to_string(), "the power limit");
}

#[test]
fn a_predicted_time_is_one_sample() {
    let mut launch = Fake { is_predicted: true, ..Fake::new(0.01, 0.0) };
    let Times { cold, warm } = measure(&mut launch, 1000, Some(1 << 20), &Policy::default()).unwrap();
    assert_eq!((launch.samples, launch.flushes, launch.leads), (1, 0, 0));
    assert_eq!((cold.samples, cold.steady, cold.median_ms, warm), (1, true, 0.01, None));
}
