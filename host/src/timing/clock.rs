//! The clock of the multiprocessors while samples are taken, and what throttles it. The stopwatch starts it around the
//! samples; a backend reads the clock.

use serde::{Serialize, Serializer};

/// A reading of the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// The clock of the multiprocessors in MHz.
    pub mhz: f64,
    /// The highest clock of this GPU, in MHz.
    pub max_mhz: f64,
    /// What keeps the clock below the highest one.
    pub held_by: Throttle,
}

/// What throttles a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// The power limit or the power supply.
    pub power: bool,
    /// The temperature.
    pub thermal: bool,
    /// The hardware, for a reason that it does not report.
    pub hardware: bool,
    /// A setting of the clocks, such as `nvidia-smi --applications-clocks`.
    pub setting: bool,
}

impl Throttle {
    /// The reasons that apply, each as a word for the report and as text for people.
    fn words(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            (self.power, ("power", "the power limit")),
            (self.thermal, ("thermal", "the temperature")),
            (self.hardware, ("hardware", "the hardware")),
            (self.setting, ("setting", "a setting of the clocks")),
        ];
        all.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words)
    }

    /// Whether anything throttles the clock.
    pub fn any(self) -> bool {
        self.words().next().is_some()
    }

    /// Whether it may pass by itself. A setting does not.
    fn passes(self) -> bool {
        self.power || self.thermal || self.hardware
    }

    fn or(self, other: Self) -> Self {
        Self {
            power: self.power || other.power,
            thermal: self.thermal || other.thermal,
            hardware: self.hardware || other.hardware,
            setting: self.setting || other.setting,
        }
    }
}

/// For people: `the power limit and the temperature`.
impl std::fmt::Display for Throttle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words().map(|(_, words)| words).collect::<Vec<_>>().join(" and "))
    }
}

/// As one text: `power`, or `power+thermal`.
impl Serialize for Throttle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.words().map(|(word, _)| word).collect::<Vec<_>>().join("+"))
    }
}

/// Samples at a clock below this part of the highest one are dropped and taken again, as nvbench does.
const DROPPED_BELOW: f64 = 0.75;

/// If the clock is below this part of the highest one, the report says what throttled it.
const NOTED_BELOW: f64 = 0.95;

/// The readings of a series of samples.
#[derive(Debug, Default)]
pub(super) struct Readings(Vec<ClockReading>);

impl ClockReading {
    /// Whether samples taken at this clock should be taken again.
    pub(super) fn is_too_low(&self) -> bool {
        self.mhz < DROPPED_BELOW * self.max_mhz && self.held_by.passes()
    }

    /// Whether it is noticeably below the highest clock.
    fn is_low(&self) -> bool {
        self.mhz < NOTED_BELOW * self.max_mhz
    }
}

impl Readings {
    /// Takes a reading of samples that are kept.
    ///
    /// A low clock with no reported reason is that of a device that has just become idle. It is ignored.
    pub fn take(&mut self, reading: ClockReading) {
        if !reading.is_low() || reading.held_by.any() {
            self.0.push(reading);
        }
    }

    /// The median of the readings in MHz, and what throttled the clock if it is noticeably below the highest one.
    pub fn sum_up(&self) -> (Option<f64>, Option<Throttle>) {
        if self.0.is_empty() {
            return (None, None);
        }
        let clocks: Vec<f64> = self.0.iter().map(|reading| reading.mhz).collect();
        let [_, median, _] = super::statistics::quartiles(&clocks);
        let low: Vec<_> = self.0.iter().filter(|reading| reading.is_low()).collect();
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
        let too_low = readings.clone().map(|reading| reading.is_too_low()).collect();
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
