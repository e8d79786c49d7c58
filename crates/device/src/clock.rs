//! The clock of a GPU's multiprocessors, and what throttles it. The backend reads it while a
//! program takes its times.

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
    pub fn passes(self) -> bool {
        self.power || self.thermal || self.hardware
    }

    /// What throttles one clock or the other.
    pub fn or(self, other: Self) -> Self {
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
