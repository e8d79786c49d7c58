//! The lab `table`: sin(sqrt(x)) with accurate and with fast math. The kernels and what they show are in `kernels::table`.
//! Listed in [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use clap::Args;
use cuda_std::launch::{DisjointSlice, SafeKernel};
use device::flag_values::{positive_number, whole_number};
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::table as kernel;
use serde_json::{Value, json};

use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, Room};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::settings::Settings;
use crate::report::{LabReport, Subject, Tolerance};
use crate::units::{as_fast, percent};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 27, on_simulator: 1024 };

/// The table on the device and on the host.
const ROOM: Room = Room { what: "a table", on_device: 1, on_host: 1 };

/// The flags of `host table`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The accurate functions, in software
    #[arg(long, help_heading = "Variants (default: both)")]
    pub accurate: bool,
    /// The hardware's approximate instructions
    #[arg(long, help_heading = "Variants (default: both)")]
    pub fast: bool,

    /// Elements of the table; 1000 is the lab sheet's size [default: 134217728 on a GPU, 1000 on the simulator]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::MAX))]
    pub size: Option<u64>,
    /// The step from one x to the next [default: makes the last x 10]
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    pub step: Option<f32>,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub block: u32,
}

/// The default last x: its root is near pi, up to which the fast sine is most accurate.
const LAST_X: f32 = 10.0;

#[derive(Clone, Copy)]
enum Math {
    Accurate,
    Fast,
}

/// The lab: how many values, and how far apart.
pub struct Table {
    options: Options,
    size: usize,
    step: f32,
}

/// The data on a device.
pub struct Data {
    table: Buffer<f32>,
}

impl Lab for Table {
    const NAME: &'static str = "table";
    const ABOUT: &'static str = "Accurate and fast math: instructions and errors of sin(sqrt(x))";
    const SUBJECTS: &'static [Subject] =
        &[Subject::Instructions, Subject::ActiveLanes, Subject::GlobalStores, Subject::LocalMemory];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, _settings: &Settings) -> Result<Self> {
        let size = options.size.unwrap_or_else(|| SIZE.on(device));
        ROOM.check::<f32>(device, &[size])?;
        let step = options.step.unwrap_or(LAST_X / size as f32);
        Ok(Self { options, size: size as usize, step })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.size, "step": as_written(self.step), "block": self.options.block})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = Data { table: device.buffer(self.size)? };
        let math = chosen(&[(Math::Accurate, self.options.accurate), (Math::Fast, self.options.fast)]);
        Ok(Plan::new(data, math.into_iter().map(|math| self.variant(math)).collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.table.poison()
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let error = |name| Some(report.variant(name)?.comparison.as_ref()?.max_error);
        let errors = || {
            Some(format!(
                "The worst error is {:.1e} with accurate math and {:.1e} with fast math.",
                error("accurate")?,
                error("fast")?
            ))
        };
        // The simulator's approximate instructions return the nearest float.
        let simulated = || {
            let simulated = !report.device.is_gpu() && report.variant("fast").is_some();
            simulated.then(|| "The simulator's fast math is more exact than a GPU's.".to_owned())
        };
        let instructions = || {
            let of = |name| Some(report.counters(name)?.instructions_executed as f64);
            let share = of("fast")? / of("accurate")? * 100.0;
            Some(format!("Fast math executes {} of the instructions of accurate math.", percent(share)))
        };
        let time = || {
            let times = report.speedup("fast", "accurate")?;
            Some(format!("Fast math is {} as accurate math.", as_fast(times)))
        };
        [time(), errors(), simulated(), instructions()].into_iter().flatten().collect()
    }
}

impl Math {
    fn name(self) -> &'static str {
        match self {
            Self::Accurate => "accurate",
            Self::Fast => "fast",
        }
    }

    fn kernel(self) -> &'static SafeKernel<(DisjointSlice<f32>, f32)> {
        match self {
            Self::Accurate => &kernel::table_accurate,
            Self::Fast => &kernel::table_fast,
        }
    }

    /// The allowed error of sin(sqrt(x)), and what it is proportional to. `root` is the root of x.
    fn tolerance(self, root: f64) -> (Tolerance, f64) {
        match self {
            // The root is rounded before its sine is taken, and so is the sine.
            Self::Accurate => (Tolerance::Roundings(2), 1.0 + root),
            // 2^-20.5 up to pi, and proportional to the argument beyond.
            Self::Fast => (Tolerance::Roundings(4), 4.0 + root),
        }
    }
}

/// The value of a float's shortest decimal form: 0.01 and not 0.009999999776.
fn as_written(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

impl Table {
    fn variant(&self, math: Math) -> Variant<'_, Data> {
        let Self { size, step, .. } = *self;
        let launch = LaunchConfig::linear(size, self.options.block);
        let bytes = (size * size_of::<f32>()) as u64;
        Variant::new(
            math.name(),
            move |data: &mut Data, launcher| launcher.launch(math.kernel(), &launch, (&mut data.table, step)),
            move |data| {
                let (tolerance, _) = math.tolerance(0.0);
                Ok(Outcome::near(Shape::Vector(size), data.table.read()?, tolerance, |_, i| {
                    // x as the kernel computes it; the rest in higher precision.
                    let root = f64::from(i as f32 * step).sqrt();
                    Reference { value: root.sin(), magnitude: math.tolerance(root).1 }
                }))
            },
        )
        .fact("grid", json!(launch.grid))
        .bytes(bytes)
        .computes("the table", bytes)
    }
}
