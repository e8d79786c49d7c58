//! The file: JSON with a version, a kernel's counters one a line, and a source line's in one line,
//! so that a difference of two files reads well. Kernels and counters are in the order of their
//! names; a counter that is not there is 0.

use std::collections::BTreeMap;
use std::fmt::Write;

use goals::metric::{Metric, PREDICTED};
use goals::requirement::{Kernel as Counted, Shape, line_of};
use serde::Deserialize;
use serde_json::Value;

/// The version of the format.
const VERSION: u64 = 1;

/// The key of the version, by which a baseline is known.
const KEY: &str = "coalesce_baseline";

/// The name of the number of launches.
pub(crate) const LAUNCHES: &str = "launches";

/// What is counted besides launches and predicted times. Of these, more is worse.
const COUNTERS: [&str; 21] = [
    "atomics",
    "atomics.sectors",
    "barriers",
    "constants.addresses",
    "constants.requests",
    "divergent_branches",
    "dram_bytes",
    "instructions",
    "l2_to_l1_sectors",
    "loads.requests",
    "loads.sectors",
    "local.requests",
    "local.sectors",
    "shared.bank_conflicts",
    "shared.requests",
    "shared.wavefronts",
    "stores.requests",
    "stores.sectors",
    "textures.requests",
    "textures.sectors",
    "transactions",
];

/// What is better if it is more.
pub(crate) const MORE_IS_BETTER: [&str; 1] = ["occupancy"];

/// Counters by name.
pub type Counters = BTreeMap<String, f64>;

/// What a program's kernels counted.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    #[serde(rename = "coalesce_baseline")]
    version: u64,
    /// What counted: `sim`, or `sim:MODEL`.
    pub device: String,
    /// The kernels, by name.
    pub kernels: Vec<Kernel>,
}

/// What one kernel counted in all of its launches.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its name in the source.
    #[serde(rename = "kernel")]
    pub name: String,
    /// How it was launched, and how often.
    pub shapes: BTreeMap<String, u64>,
    /// Its counters; predicted times are called `MODEL: predicted.us`.
    pub counters: Counters,
    /// The counters of its lines, `FILE:LINE`.
    pub lines: Vec<(String, Counters)>,
}

/// The names that a file may have, for a message.
pub fn names() -> Vec<&'static str> {
    let mut all: Vec<_> = COUNTERS.into_iter().chain(MORE_IS_BETTER).chain([LAUNCHES, PREDICTED]).collect();
    all.sort_unstable();
    all
}

/// A counter's name without the model.
pub(crate) fn plain(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(_, name)| name)
}

impl Baseline {
    /// Of these kernels, which `device` counted, with times predicted for the model `predicts`.
    /// `shown` is a kernel's name in the source, by that in the PTX; `file` is how a file is called.
    pub fn of(
        kernels: &[Counted<'_>],
        (device, predicts): (&str, &str),
        shown: &dyn Fn(&str) -> String,
        file: &dyn Fn(&str) -> String,
    ) -> Self {
        let mut by_name: BTreeMap<String, Vec<&Counted<'_>>> = BTreeMap::new();
        for kernel in kernels {
            if let Some(launched) = kernel.launched {
                by_name.entry(shown(&launched.kernel)).or_default().push(kernel);
            }
        }
        let kernels = by_name.into_iter().map(|(name, kernels)| Kernel::of(name, &kernels, predicts, file)).collect();
        Self { version: VERSION, device: device.to_owned(), kernels }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// Why it is no baseline, in a line without the file's name.
    pub fn read(text: &str) -> Result<Self, String> {
        const WRITES: &str = "--save-baseline writes one";
        let value: Value = serde_json::from_str(text).map_err(|error| format!("is no baseline: {error}; {WRITES}"))?;
        match value.get(KEY).and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => return Err(format!("is a baseline of version {other}; this program reads {VERSION}")),
            None => return Err(format!("is no baseline: there is no {KEY}; {WRITES}")),
        }
        // Not of the value: the text has lines.
        let read: Self = serde_json::from_str(text).map_err(|error| format!("is no baseline: {error}"))?;
        let known = names();
        for (before, kernel) in read.kernels.iter().scan(None, |last, kernel| Some((last.replace(kernel), kernel))) {
            if before.is_some_and(|before: &Kernel| before.name >= kernel.name) {
                return Err(format!("is no baseline: '{}' is there twice, or out of order", kernel.name));
            }
            for (name, value) in kernel.lines.iter().map(|(_, counters)| counters).chain([&kernel.counters]).flatten() {
                if !known.contains(&plain(name)) || !value.is_finite() || *value < 0.0 {
                    return Err(format!("is no baseline: '{}' has {value} '{name}'", kernel.name));
                }
            }
        }
        Ok(read)
    }

    /// Whether it has predicted times.
    pub fn predicts(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.counters.keys().any(|name| plain(name) == PREDICTED))
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let kernels: Vec<String> = self.kernels.iter().map(Kernel::text).collect();
        let device = quoted(&self.device);
        let kernels = if kernels.is_empty() { String::new() } else { format!("\n{}\n  ", kernels.join(",\n")) };
        format!("{{\n  \"{KEY}\": {VERSION},\n  \"device\": {device},\n  \"kernels\": [{kernels}]\n}}\n")
    }
}

impl Kernel {
    fn of(name: String, kernels: &[&Counted<'_>], predicts: &str, file: &dyn Fn(&str) -> String) -> Self {
        let launched: Vec<_> = kernels.iter().filter_map(|kernel| kernel.launched).collect();
        let mut counters = Counters::new();
        let mut lines: BTreeMap<(String, u32), Counters> = BTreeMap::new();
        let mut add = |name: &str, value: f64| {
            if value > 0.0 {
                counters.insert(name.to_owned(), value);
            }
        };
        add(LAUNCHES, kernels.iter().map(|kernel| kernel.launches).sum::<u64>() as f64);
        for name in COUNTERS.into_iter().chain(MORE_IS_BETTER) {
            let Some(metric) = Metric::named(name) else { continue };
            add(name, thousandths(metric.value(&launched).unwrap_or(0.0)));
            for kernel in kernels {
                let Some(launched) = kernel.launched else { continue };
                for ((at, line), value) in metric.by_line(&[launched], |info| line_of(info, &kernel.module)) {
                    *lines.entry((file(at), line)).or_default().entry(name.to_owned()).or_default() += value;
                }
            }
        }
        if let Some(time) = kernels.iter().map(|kernel| kernel.predicted_us).sum::<Option<f64>>() {
            add(&format!("{predicts}: {PREDICTED}"), thousandths(time));
        }
        let mut shapes = BTreeMap::new();
        for Shape { grid: [x, y, z], block: [i, j, k], launches } in kernels.iter().flat_map(|kernel| &kernel.shapes) {
            let name = format!("{x} x {y} x {z} blocks of {i} x {j} x {k} threads");
            *shapes.entry(name).or_default() += launches;
        }
        let lines = lines.into_iter().map(|((file, line), counters)| (format!("{file}:{line}"), counters)).collect();
        Self { name, shapes, counters, lines }
    }

    fn text(&self) -> String {
        let Self { name, shapes, counters, lines } = self;
        let shapes: Vec<_> = shapes.iter().map(|(shape, count)| format!("{}: {count}", quoted(shape))).collect();
        let mut text = format!("    {{\n      \"kernel\": {},\n      \"shapes\": {{", quoted(name));
        write!(text, "{}}},\n      \"counters\": {{", shapes.join(", ")).expect("a text takes everything");
        let indent = "\n        ";
        let rows: Vec<_> = pairs(counters).map(|pair| format!("{indent}{pair}")).collect();
        write!(text, "{}\n      }},\n      \"lines\": [", rows.join(",")).expect("a text takes everything");
        let row = |(at, counters): &(String, Counters)| {
            format!("{indent}[{}, {{{}}}]", quoted(at), pairs(counters).collect::<Vec<_>>().join(", "))
        };
        let rows: Vec<_> = lines.iter().map(row).collect();
        let end = if rows.is_empty() { "" } else { "\n      " };
        text + &rows.join(",") + end + "]\n    }"
    }
}

/// Names and values, as JSON.
fn pairs(counters: &Counters) -> impl Iterator<Item = String> {
    counters.iter().map(|(name, value)| format!("{}: {value}", quoted(name)))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Rounded, so that the last digits of a sum do not depend on its order.
fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn counters(all: &[(&str, f64)]) -> Counters {
        all.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    /// A kernel with these lines, whose counters are their sums.
    pub(crate) fn kernel(name: &str, lines: &[(&str, &[(&str, f64)])]) -> Kernel {
        let mut sums = counters(&[("launches", 1.0)]);
        for (name, value) in lines.iter().flat_map(|(_, counters)| *counters) {
            *sums.entry((*name).to_owned()).or_default() += value;
        }
        Kernel {
            name: name.to_owned(),
            shapes: BTreeMap::from([("1 x 1 x 1 blocks of 32 x 1 x 1 threads".to_owned(), 1)]),
            counters: sums,
            lines: lines.iter().map(|(at, all)| ((*at).to_owned(), counters(all))).collect(),
        }
    }

    pub(crate) fn baseline(kernels: &[Kernel]) -> Baseline {
        Baseline { version: VERSION, device: "sim".to_owned(), kernels: kernels.to_vec() }
    }

    #[test]
    fn a_file_is_small_and_read_back() {
        let copy = kernel(
            "copy<\"x\">",
            &[("a.cu:7", &[("instructions", 4.0), ("loads.sectors", 8.0)]), ("a.cu:12", &[("instructions", 2.0)])],
        );
        let mut all = baseline(&[copy, kernel("empty", &[])]);
        all.kernels[1].counters.insert("hopper: predicted.us".to_owned(), 2.125);
        let text = all.text();
        assert_eq!(
            text,
            r#"{
  "coalesce_baseline": 1,
  "device": "sim",
  "kernels": [
    {
      "kernel": "copy<\"x\">",
      "shapes": {"1 x 1 x 1 blocks of 32 x 1 x 1 threads": 1},
      "counters": {
        "instructions": 6,
        "launches": 1,
        "loads.sectors": 8
      },
      "lines": [
        ["a.cu:7", {"instructions": 4, "loads.sectors": 8}],
        ["a.cu:12", {"instructions": 2}]
      ]
    },
    {
      "kernel": "empty",
      "shapes": {"1 x 1 x 1 blocks of 32 x 1 x 1 threads": 1},
      "counters": {
        "hopper: predicted.us": 2.125,
        "launches": 1
      },
      "lines": []
    }
  ]
}
"#
        );
        assert_eq!(Baseline::read(&text), Ok(all.clone()));
        assert!(all.predicts() && !baseline(&[]).predicts());
        assert_eq!(Baseline::read(&baseline(&[]).text()), Ok(baseline(&[])));
    }

    #[test]
    fn what_is_no_baseline_is_refused_in_a_line() {
        let good = baseline(&[kernel("a", &[("a.cu:1", &[("instructions", 4.0)])]), kernel("b", &[])]).text();
        for (text, wrong) in [
            ("", "is no baseline: EOF while parsing"),
            ("[]", "is no baseline: there is no coalesce_baseline; --save-baseline writes one"),
            ("{\"coalesce_baseline\": 2}", "is a baseline of version 2; this program reads 1"),
            ("{\"coalesce_baseline\": 1}", "is no baseline: missing field `device`"),
            (&good.replace("\"b\"", "\"a\""), "is no baseline: 'a' is there twice, or out of order"),
            (&good.replace("instructions\": 4}", "elephants\": 4}"), "is no baseline: 'a' has 4 'elephants'"),
            (&good.replace("instructions\": 4,", "instructions\": -4,"), "is no baseline: 'a' has -4 'instructions'"),
            (&good.replace("\"shapes\"", "\"sizes\""), "is no baseline: unknown field `sizes`"),
            (&good.replace(", {\"instructions\": 4}", ""), "is no baseline: invalid length 1"),
            (&good.replacen("  },", "", 1), "is no baseline: expected"),
        ] {
            let error = Baseline::read(text).expect_err(text);
            assert!(error.starts_with(wrong) && error.lines().count() == 1, "{error}");
        }
    }

    #[test]
    fn each_counter_is_a_metric() {
        for name in names() {
            assert!(Metric::named(name).is_some(), "{name}");
        }
    }
}
