//! The lab `table`: sin(sqrt(x)) with accurate and with fast math. The kernels and what they show
//! are in `kernels::table`.

use crate::flag_values::{positive_number, whole_number};
use clap::Args;
use cuda_std::launch::{DisjointSlice, SafeKernel};
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::table as kernel;
use serde_json::{Value, json};

use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, MemoryNeeds};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::{Showcase, Steps};
use super::variants::{Chosen, VariantSpec, Variants, meanings, variant};
use crate::report::Gap::{AsFast, Of, Percent, Whole};
use crate::report::measures::{INSTRUCTIONS, INSTRUCTIONS_FIRST, MAX_ERROR};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Meaning, Measure, Row, Section, Subject,
    Target, Tolerance,
};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 27, on_simulator: 1024 };

/// The table on the device and on the host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "a table", on_device: 1, on_host: 1 };

/// The functions of a variant.
#[derive(Clone, Copy)]
enum Math {
    Accurate,
    Fast,
}

impl Variants for Math {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("accurate", "The accurate functions, in software", Self::Accurate),
        variant(
            "fast",
            "The hardware's approximate instructions; on the simulator, their exact results, rounded",
            Self::Fast,
        ),
    ];
}

/// The flags of `host table`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    variants: Chosen<Math>,
    /// Elements of the table; 1000 is the lab sheet's size
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::MAX))]
    size: Option<u64>,
    /// The step from one x to the next [default: makes the last x 10]
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    step: Option<f32>,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    block: u32,
}

/// The default last x: its root is near pi, up to which the fast sine is most accurate.
const LAST_X: f32 = 10.0;

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

const ACCURATE: Row = Row::Named("accurate");
const EXECUTED: &Measure = &INSTRUCTIONS[0];
const FAST: Row = Row::Named("fast");

/// The worst error with one more digit than in the table.
const WORST_ERROR: Measure =
    Measure::new(MAX_ERROR.section, MAX_ERROR.key, MAX_ERROR.title, MAX_ERROR.better, |variant| {
        let error = variant.comparison.as_ref()?.max_error;
        Some(Cell::new(error, format!("{error:.1e}")))
    });

/// The largest error; of fast math on the simulator, which computes it more exactly than a GPU, the
/// most that the PTX manual allows.
const ERROR: Measure =
    Measure::new(Section::Counter, MAX_ERROR.key, &["absolute", "error"], MAX_ERROR.better, |variant| {
        match variant.fact(BOUND) {
            Some(bound) => bound.as_f64().map(|bound| Cell::new(bound, format!("at most {bound:.1e}"))),
            None => WORST_ERROR.of(variant),
        }
    });

/// The instructions of a warp, whose lanes have an element each.
const INSTRUCTIONS_A_WARP: Measure =
    Measure::new(EXECUTED.section, "instructions_of_a_warp", &["instructions", "a warp"], Better::Lower, |variant| {
        let warps = (variant.useful_bytes / size_of::<f32>() as u64).div_ceil(32);
        Some(Cell::number(EXECUTED.of(variant)?.value? / warps as f64))
    });

/// Where the values of x end.
fn end_of_x(report: &LabReport) -> Option<Cell> {
    let of = |name: &str| report.parameters.get(name)?.as_f64();
    Some(Cell::number(of("size")? * of("step")?))
}

/// The fact of fast math's allowed error.
const BOUND: &str = "error_bound";

/// The largest error of the root's sine by `sqrt.approx` and `sin.approx`, for roots up to this
/// one; `None` where the manual gives none for that range (PTX ISA, floating-point instructions).
fn fast_bound(root: f64) -> Option<f64> {
    (root <= std::f64::consts::TAU).then(|| root * 2.0_f64.powi(-23) + 2.0_f64.powf(-20.5))
}

/// What a terminal shows first.
const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[INSTRUCTIONS_A_WARP, ERROR],
    words: &[("accurate", "in software"), ("fast", "approximate instructions")],
    removes: &[],
    left_out: &[],
};

impl Lab for Table {
    const NAME: &'static str = "table";
    const ABOUT: &'static str = "Accurate and fast math: instructions and errors of sin(sqrt(x))";
    const SUBJECTS: &'static [Subject] = &[Subject::Instructions, Subject::LocalMemory];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = &[
        Conclusion::new("Fast math is {} as accurate math.", &[AsFast(FAST, ACCURATE)]),
        Conclusion::new(
            "The worst error is {} with accurate math and {} with fast math.",
            &[Of(ACCURATE, &WORST_ERROR), Of(FAST, &WORST_ERROR)],
        )
        .holds(&[Holds::If(|report| report.device.is_gpu())]),
        Conclusion::new(
            "For x below {}, fast math takes {} instructions per warp instead of {}; its absolute error is {} (by PTX's bounds), that of \
             accurate math {}.",
            &[
                Whole(end_of_x),
                Of(FAST, &INSTRUCTIONS_A_WARP),
                Of(ACCURATE, &INSTRUCTIONS_A_WARP),
                Of(FAST, &ERROR),
                Of(ACCURATE, &WORST_ERROR),
            ],
        )
        .holds(&[Holds::If(|report| !report.device.is_gpu() && FAST.find(report).is_some_and(|row| row.fact(BOUND).is_some()))]),
        // The simulator's approximate instructions return the nearest float.
        Conclusion::new(
            "The simulator rounds fast math from exact results, so its error there says nothing: on a GPU fast math is less accurate.",
            &[Of(FAST, EXECUTED)],
        )
        .holds(&[Holds::If(|report| !report.device.is_gpu() && FAST.find(report).is_some_and(|row| row.fact(BOUND).is_none()))]),
        Conclusion::new(
            "Fast math executes {} of the instructions of accurate math.",
            &[Percent(FAST, ACCURATE, EXECUTED)],
        )
        .holds(&[Holds::If(|report| FAST.find(report).is_some_and(|row| row.fact(BOUND).is_none()))]),
    ];
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = Showcase {
        start: &[("size", "2048")],
        row: "accurate",
        access: "global store",
        steps: Some(Steps { title: "functions", rows: &[("accurate", "accurate"), ("fast", "fast")] }),
        goals: &[Goal {
            ask: "Compute the table with half the instructions.",
            row: Row::Named(""),
            measure: &INSTRUCTIONS_FIRST,
            unit: " warp instructions",
            bound: Bound::AtMost(Target::Part(0.5, ACCURATE)),
            except: &[],
        }],
        tabled: true,
        ..Showcase::DEFAULTS
    };
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Math>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, _settings: &Settings) -> Result<Self> {
        let size = options.size.unwrap_or_else(|| SIZE.on(device));
        NEEDS.check::<f32>(device, &[size])?;
        let step = options.step.unwrap_or(LAST_X / size as f32);
        Ok(Self { options, size: size as usize, step })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.size, "step": as_written(self.step), "block": self.options.block})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = Data { table: device.buffer(self.size)? };
        let variants = self.options.variants.chosen();
        Ok(Plan::new(data, variants.into_iter().map(|spec| self.variant(spec, device)).collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.table.poison()
    }
}

impl Math {
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
    fn variant(&self, &VariantSpec { name, of: math, .. }: &VariantSpec<Math>, device: &Device) -> Variant<'_, Data> {
        let too_exact = matches!(math, Math::Fast) && !device.properties().is_gpu();
        let Self { size, step, .. } = *self;
        let launch = LaunchConfig::linear(size, self.options.block);
        let bytes = (size * size_of::<f32>()) as u64;
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| launcher.launch(math.kernel(), &launch, (&mut data.table, step)),
            move |data| {
                let (tolerance, _) = math.tolerance(0.0);
                let outcome = Outcome::near(Shape::Vector(size), data.table.read()?, tolerance, |_, i| {
                    // x as the kernel computes it; the rest in higher precision.
                    let root = f64::from(i as f32 * step).sqrt();
                    Reference { value: root.sin(), magnitude: math.tolerance(root).1 }
                });
                Ok(outcome.too_exact(too_exact))
            },
        )
        .fact("grid", json!(launch.grid))
        .bytes(bytes)
        .computes("the table", bytes);
        let root = f64::from((size - 1) as f32 * step).sqrt();
        match fast_bound(root).filter(|_| too_exact) {
            Some(bound) => variant.fact(BOUND, bound),
            None => variant,
        }
    }
}
