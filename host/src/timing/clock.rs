//! The clock of the multiprocessors while samples are taken, and what throttles it. The stopwatch
//! starts it around the samples; the device reads the clock.

use device::{ClockReading, Throttle};

/// Samples at a clock below this part of the highest one are dropped and taken again, as nvbench
/// does.
const DROPPED_BELOW: f64 = 0.75;

/// If the clock is below this part of the highest one, the report says what throttled it.
const NOTED_BELOW: f64 = 0.95;

/// The readings of a series of samples.
#[derive(Debug, Default)]
pub(super) struct Readings(Vec<ClockReading>);

/// Whether samples taken at this clock should be taken again.
pub(super) fn is_too_low(clock: &ClockReading) -> bool {
    clock.mhz < DROPPED_BELOW * clock.max_mhz && clock.held_by.passes()
}

/// Whether it is noticeably below the highest clock.
fn is_low(clock: &ClockReading) -> bool {
    clock.mhz < NOTED_BELOW * clock.max_mhz
}

impl Readings {
    /// Takes a reading of samples that are kept.
    ///
    /// A low clock with no reported reason is that of a device that has just become idle. It is
    /// ignored.
    pub fn take(&mut self, reading: ClockReading) {
        if !is_low(&reading) || reading.held_by.any() {
            self.0.push(reading);
        }
    }

    /// The median of the readings in MHz, and what throttled the clock if it is noticeably below
    /// the highest one.
    pub fn sum_up(&self) -> (Option<f64>, Option<Throttle>) {
        if self.0.is_empty() {
            return (None, None);
        }
        let clocks: Vec<f64> = self.0.iter().map(|reading| reading.mhz).collect();
        let [_, median, _] = super::statistics::quartiles(&clocks);
        let low: Vec<_> = self.0.iter().filter(|reading| is_low(reading)).collect();
        let held_by = low.iter().fold(Throttle::default(), |all, reading| all.or(reading.held_by));
        let most_are_low = 2 * low.len() > self.0.len();
        (Some(median), (most_are_low && held_by.any()).then_some(held_by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POWER: Throttle = Throttle { power: true, thermal: false, hardware: false, setting: false };

    fn sum_up(readings: &[(f64, Throttle)]) -> (Vec<bool>, Option<f64>, Option<Throttle>) {
        let mut all = Readings::default();
        let readings = readings.iter().map(|&(mhz, held_by)| ClockReading { mhz, max_mhz: 1980.0, held_by });
        let too_low = readings.clone().map(|reading| is_too_low(&reading)).collect();
        readings.for_each(|reading| all.take(reading));
        let (clock, throttle) = all.sum_up();
        (too_low, clock, throttle)
    }

    #[test]
    fn a_clock_near_the_highest_is_not_noted() {
        let none = Throttle::default();
        assert_eq!(sum_up(&[]), (vec![], None, None));
        assert_eq!(sum_up(&[(1980.0, none)]), (vec![false], Some(1980.0), None));
        // In a long matrix product the power limit is always active, but the clock is hardly lower.
        assert_eq!(sum_up(&[(1905.0, POWER)]), (vec![false], Some(1905.0), None));
        // One low reading of three does not count.
        assert_eq!(sum_up(&[(1980.0, none), (1500.0, POWER), (1980.0, none)]).2, None);
    }

    #[test]
    fn an_idle_clock_is_no_reading() {
        assert_eq!(sum_up(&[(345.0, Throttle::default())]), (vec![false], None, None));
    }

    #[test]
    fn a_low_clock_is_noted_and_a_very_low_one_drops_samples() {
        assert_eq!(sum_up(&[(1755.0, POWER)]), (vec![false], Some(1755.0), Some(POWER)));
        assert_eq!(sum_up(&[(1200.0, POWER)]), (vec![true], Some(1200.0), Some(POWER)));
        let hot = Throttle { thermal: true, ..POWER };
        assert_eq!(sum_up(&[(1200.0, POWER), (1100.0, hot)]).2, Some(hot));
        assert_eq!(hot.to_string(), "the power limit and the temperature");
        assert_eq!(serde_json::to_value(hot).unwrap(), "power+thermal");
        // Waiting does not change a setting.
        let setting = Throttle { setting: true, ..Throttle::default() };
        assert_eq!(sum_up(&[(1200.0, setting)]), (vec![false], Some(1200.0), Some(setting)));
    }
}
