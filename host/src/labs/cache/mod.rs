//! The lab `cache`: cache operators of loads, cache configuration, carveout, and how the kernels
//! are compiled. The kernels are in `kernels::cache`, with what to look for; `table` has the
//! variants. Its preferences apply to its own launches only.

mod parts;
mod table;

use crate::flag_values::each_once;
use common::random::Random;
use cuda_std::launch::SafeKernel;
use device::{Buffer, Device, LaunchConfig, Result};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, FOUND_IN_L1, MEANINGS, OPERATORS, Operator, Parameters, Part, Reads, SHOWN, SWEEPS};

use super::compare::Shape;
use super::inputs::{DefaultSize, bytes_of, check_room};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::launcher::Preferences;
use super::models::{is_plain, stand_in};
use super::settings::Settings;
use super::showcase::{Showcase, Steps};
use crate::report::{self, Best, Bound, Conclusion, FirstScreen, Goal, Grid, Meaning, Row, Subject, Sweep};

const THREADS: DefaultSize = DefaultSize { on_gpu: 1 << 23, on_simulator: 1 << 13 };

/// Threads of a block.
const BLOCK: u32 = 256;

/// The lab: the data to read.
pub struct Cache {
    options: Options,
    threads: u32,
    elements: Vec<f32>,
}

/// The data on each device: on the report's, or on a model of an old GPU and one of a new GPU.
pub struct Data(Vec<(Buffer<f32>, Buffer<f32>)>);

/// A device that variants run on: its index in [`Data`], its name as a fact, and the device, if it
/// is not the lab's.
#[derive(Clone)]
struct Target {
    index: usize,
    model: Value,
    device: Option<Device>,
}

/// The operators of loads that go different ways.
const SETTINGS: [Operator; 2] = [OPERATORS[1], OPERATORS[2]];

/// The fact of the rows that show which reads gain from L1: the model, and how loads use it.
const SETTING: &str = "setting";

impl Target {
    /// The setting of a row, if it is one of those that differ: on the old GPU the four of the
    /// lecture, on the new one the two ways that its operators go.
    fn setting(&self, loads: &str, l1: &str) -> Value {
        let model = self.model.as_str();
        match (model, loads, l1) {
            (Some("fermi"), "ca", "small") => "fermi: ca, 16 KiB".into(),
            (Some("fermi"), "ca", "large") => "fermi: ca, 48 KiB".into(),
            // Past L1, its size is nothing to the loads.
            (Some("fermi"), "cg", "large") => "fermi: cg".into(),
            (Some("hopper"), "ca", "") => "hopper: ca".into(),
            (Some("hopper"), "cg", "") => "hopper: cg".into(),
            _ => Value::Null,
        }
    }
}

impl Lab for Cache {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "What L1 keeps: which reads gain from it, and which lose";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", THREADS)];
    const SHOWCASE: Showcase = Showcase {
        start: &[("size", "512"), ("pattern", "stencil,strided")],
        row: "cg-stencil",
        beside: "ca-stencil",
        access: "global load",
        charted: Some(("cg-stencil", "ca-stencil")),
        steps: Some(Steps {
            title: "loads",
            rows: &[
                ("cg-stencil", "stencil, cg: past L1"),
                ("ca-stencil", "stencil, ca: through L1"),
                ("cg-strided", "strided, cg"),
                ("ca-strided", "strided, ca"),
            ],
        }),
        goals: &[Goal {
            ask: "Find loads of which L1 answers at least 80 %.",
            row: Row::Named(""),
            measure: &FOUND_IN_L1,
            unit: " of the sectors hit L1",
            bound: Bound::AtLeast(report::Target::Number(80.0)),
            except: &[],
        }],
        ..Showcase::DEFAULTS
    };
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let options = Options { pattern: each_once(options.pattern), ..options };
        let threads = options.size.unwrap_or_else(|| THREADS.on(device)) as u32;
        let reach = options.pattern.iter().map(|pattern| pattern.reach(threads)).max().unwrap_or(1);
        let bytes = bytes_of::<f32>(&[reach + u64::from(threads)]);
        check_room(device, "reading through the caches", bytes.saturating_mul(2), bytes)?;
        let elements = Random::new(settings.seed).samples(reach as usize);
        Ok(Self { options, threads, elements })
    }

    fn parameters(&self) -> Value {
        json!({"threads": self.threads, "block": BLOCK})
    }

    fn chooses_rows(&self) -> bool {
        self.options.parts.any() || self.options.all || self.options.pattern.len() < 6
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let places = places(device)?;
        let mut data = Data(Vec::new());
        for place in &places {
            let device = place.device.as_ref().unwrap_or(device);
            data.0.push((device.buffer(self.elements.len())?, device.buffer(self.threads as usize)?));
            data.0[place.index].0.write(&self.elements)?;
        }
        let (old, new) = (&places[0], &places[places.len() - 1]);
        // Which reads gain is another answer on each GPU, and the simulator without a model has
        // both.
        let both = is_plain(device) && !self.options.parts.any();
        let chosen = self.options.parts.chosen_or(self.options.all).into_iter().map(|part| part.of);
        let beside = (both && !self.options.all).then_some(Part::Compiled);
        let variants = chosen.chain(beside).flat_map(|part| match part {
            Part::Operators if both && !self.options.all => self.operators(new, &SETTINGS),
            Part::Operators => self.operators(new, &OPERATORS),
            Part::Configurations => self.configurations(new),
            Part::Carveouts => self.carveouts(new),
            Part::Compiled => self.compiled(old),
        });
        let variants = variants.collect();
        // The simulator without a model has no caches: name the model that replaces it.
        let on = |place: &Target| place.model.as_str().map_or(String::new(), |model| format!(" on the {model} model"));
        let mut grids = vec![
            (format!("operators{}", on(new)), "pattern", "operator", "operators".to_owned()),
            (
                format!("preference of the context or of the kernel{}", on(new)),
                "scope",
                "prefers",
                "configurations".into(),
            ),
            (format!("carveout in percent{}", on(new)), "pattern", "carveout", "carveouts".into()),
        ];
        // Small tables for each pattern, as in the lectures.
        grids.extend(self.options.pattern.iter().map(|pattern| {
            let group = format!("compiled, {}", pattern.name());
            (format!("{group}{}", on(old)), "compiled", "l1", group)
        }));
        let mut plan = Plan::new(data, variants);
        if both {
            plan = plan.grid(Grid {
                title: String::new(),
                rows: "pattern",
                columns: SETTING,
                group: String::new(),
                best: Best::OfRowAndModel,
                measures: SHOWN[1],
            });
        }
        for (title, rows, columns, group) in grids {
            for measures in SHOWN {
                let best = if rows == "pattern" { Best::OfRow } else { Best::OfAll };
                plan = plan.grid(Grid { title: title.clone(), rows, columns, group: group.clone(), best, measures });
            }
        }
        Ok(plan.compact())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.0.iter_mut().try_for_each(|(_, output)| output.poison())
    }
}

/// The devices that the lab runs on. The simulator without a model has no caches, so two models
/// replace it: an old GPU, where the compiler chose the cache, and a new one.
fn places(device: &Device) -> Result<Vec<Target>> {
    if !is_plain(device) {
        return Ok(vec![Target { index: 0, model: Value::Null, device: None }]);
    }
    let place =
        |(index, name): (usize, &str)| Ok(Target { index, model: name.into(), device: stand_in(device, name)? });
    ["fermi", "hopper"].into_iter().enumerate().map(place).collect()
}

impl Cache {
    /// A variant that reads with one of the patterns.
    fn variant(
        &self,
        place: &Target,
        name: String,
        kernel: &'static SafeKernel<Parameters>,
        reads: Reads,
        preferences: Preferences,
    ) -> Variant<'_, Data> {
        let (threads, index) = (self.threads, place.index);
        let (pattern, taps) = (reads.pattern(threads), reads.taps());
        let launch = LaunchConfig::linear(threads as usize, BLOCK);
        let bytes = u64::from(threads) * size_of::<f32>() as u64;
        let variant = Variant::new(
            name.clone(),
            move |data: &mut Data, launcher| {
                let (input, output) = &mut data.0[index];
                launcher.launch(kernel, &launch, (&*input, output, taps, pattern))
            },
            move |data| {
                let expected = |i: usize| {
                    let first = pattern.element(i as u32) as usize;
                    self.elements[first..first + taps as usize].iter().fold(0.0, |sum, element| sum + element)
                };
                Ok(Outcome::exact(Shape::Vector(threads as usize), data.0[index].1.read()?, |_, i| expected(i)))
            },
        )
        .axis("model", place.model.clone())
        .axis("pattern", reads.name())
        .bytes(bytes * u64::from(taps + 1))
        .computes(format!("the sums of {}", reads.name()), bytes)
        .preferences(preferences);
        match &place.device {
            Some(device) => variant.on(device.clone()),
            None => variant,
        }
    }
}
