//! A lab's results as data. The labs make a [`LabReport`], and the formats write it. Plain data.

use device::{Error, Properties};
use maud::{Markup, PreEscaped, html};
use picture::{Plot, Roofline, plot_svg, roofline_svg};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use simt::Model;

use super::conclusion::Conclusion;
use super::elements::Elements;
use super::first::{FirstScreen, Meaning};
use super::grid::Grid;
use super::measure::Measure;
use super::memory::Charted;
use super::roofline;
use super::subject::Subject;
use super::sweep::Sweep;
use super::variant_report::{Small, VariantReport};
use crate::faults::Findings;
use crate::orders::OrdersReport;
use crate::timing::Timing;

/// A lab's run on one device.
#[derive(Debug, Serialize)]
pub struct LabReport {
    /// The lab's name.
    pub lab: &'static str,
    /// Its subject, in one line.
    #[serde(skip)]
    pub about: &'static str,
    /// What names and positions of rows mean, in the order in which people read them.
    #[serde(skip)]
    pub meanings: Vec<Meaning>,
    /// The counters that the table for people shows.
    #[serde(skip)]
    pub subjects: &'static [Subject],
    /// What a terminal shows first.
    #[serde(skip)]
    pub first: FirstScreen,
    /// Whether a terminal shows every row first: flags chose them, or times were taken.
    #[serde(skip)]
    pub every_row: bool,
    /// Whether a terminal shows every column, and what rows and columns mean.
    #[serde(skip)]
    pub legend: bool,
    /// Whether the sentences explain a row, as `--why` asks.
    #[serde(skip)]
    pub why: bool,
    /// The device.
    pub device: Properties,
    /// The parameters that all variants share: sizes, seed, and so on.
    pub parameters: Map<String, Value>,
    /// The bandwidth of the device's own copy; `None` on the simulator.
    pub device_copy: Option<DeviceCopy>,
    /// Where the counters come from; `None` if there are none.
    pub counters_from: Option<CounterSource>,
    /// The variants in the order in which they ran.
    pub variants: Vec<VariantReport>,
    /// Whether the data is too small for predicted times to say what the kernels take.
    #[serde(skip)]
    pub too_small_to_predict: bool,
    /// A sweep of two axes that every format for people shows instead of the table.
    #[serde(skip)]
    pub instead_of_table: Option<Grid>,
    /// Sweeps of two axes to show as grids.
    #[serde(skip)]
    pub grids: Vec<Grid>,
    /// Whether only the grids are shown unless something is wrong.
    #[serde(skip)]
    pub compact: bool,
    /// What can be plotted.
    #[serde(skip)]
    pub sweeps: &'static [Sweep],
    /// Whether the rows are plotted below the roofs of the GPU.
    #[serde(skip)]
    pub roofline: bool,
    /// Whether a terminal shows the plots.
    #[serde(skip)]
    pub plot: bool,
    /// Whether a page's pictures play their wavefronts.
    #[serde(skip)]
    pub plays: bool,
    /// The two rows that a memory chart compares where more ran.
    #[serde(skip)]
    pub charted: Charted,
    /// Whether a terminal shows that chart.
    #[serde(skip)]
    pub chart: bool,
    /// Whose loads of each element are drawn.
    #[serde(skip)]
    pub elements: Option<Elements>,
    /// Whether a terminal shows these maps.
    #[serde(skip)]
    pub maps: bool,
    /// Whether a terminal shows which tiles run together.
    #[serde(skip)]
    pub tiles: bool,
    /// What the numbers show, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conclusions: Vec<String>,
    /// The measures in those sentences, which the legend explains.
    #[serde(skip)]
    pub concluded: Vec<&'static Measure>,
    /// For each variant, what other orders of blocks and warps give, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_variant")]
    pub orders: Vec<(String, OrdersReport)>,
    /// The fault that stopped the last variant, and the run.
    #[serde(skip)]
    pub stopped: Option<Error>,
}

/// As a list of objects, each with its variant's name.
fn by_variant<S: Serializer>(orders: &[(String, OrdersReport)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct OfVariant<'a> {
        variant: &'a str,
        #[serde(flatten)]
        orders: &'a OrdersReport,
    }
    serializer.collect_seq(orders.iter().map(|(variant, orders)| OfVariant { variant, orders }))
}

/// Where counters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CounterSource {
    /// The simulator, which is the device or runs alongside a GPU.
    Simulator,
}

/// The device's own copy (the driver's, from device to device), as the reference for bandwidth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceCopy {
    /// Bytes copied; each is read once and written once.
    pub bytes: u64,
    /// Bytes read and written, in GB/s (10^9 bytes).
    pub gbps: f64,
    /// The times.
    #[serde(flatten)]
    pub timing: Timing,
}

impl LabReport {
    /// Whether no variant was stopped and every compared element was right, in all orders of blocks
    /// and warps that ran.
    pub fn correct(&self) -> bool {
        self.variants.iter().all(|variant| variant.stopped.is_none() && variant.correct() != Some(false))
            && self.orders.iter().all(|(_, orders)| orders.right())
    }

    /// What is said of other orders if all give right results: a sentence.
    pub fn right_in_orders(&self) -> Option<String> {
        let (_, first) = self.orders.first()?;
        let right = self.orders.iter().all(|(_, orders)| orders.right());
        right.then(|| match first.tried {
            1 => "Another order of blocks and warps gives right results, too.".to_owned(),
            tried => format!("{tried} other orders of blocks and warps give right results, too."),
        })
    }

    /// The errors of variants whose results are wrong in another order, in lines of this width.
    pub fn wrong_in_orders(&self, width: usize) -> Vec<String> {
        self.orders.iter().filter_map(|(variant, orders)| orders.error_of(Some(variant), width)).collect()
    }

    /// The variant of this name, if it ran.
    pub fn variant(&self, name: &str) -> Option<&VariantReport> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Says what the numbers show: those sentences that hold of them.
    pub fn conclude(&mut self, conclusions: &[Conclusion]) {
        let said = conclusions.iter().filter_map(|it| Some((it.sentence(self)?, it.measures())));
        let (sentences, measures): (Vec<_>, Vec<_>) = said.unzip();
        self.conclusions = sentences;
        self.concluded = measures.into_iter().flatten().collect();
    }

    /// Whether the data is large enough for the time of some row on this model to say what its
    /// kernels take; `None` if no time is known.
    pub(crate) fn is_large_enough(&self, model: &Model) -> Option<bool> {
        let of = |variant: &VariantReport| match (variant.small, variant.predicted_time()) {
            (Some(small), _) => Some(small == Small::Some),
            (None, time) => time.filter(|time| time.model.name == model.name).map(|time| !time.is_of_too_little),
        };
        self.variants.iter().filter_map(of).reduce(|one, other| one || other)
    }

    /// Leaves the predicted times out if the data is too small for any on this model to say what
    /// the kernels take.
    pub(crate) fn leave_out_launches(&mut self, model: &Model) {
        if self.is_large_enough(model) == Some(false) {
            self.variants.iter_mut().for_each(|variant| variant.predicted = None);
            self.too_small_to_predict = true;
        }
    }

    /// The plots of its sweeps.
    pub fn plots(&self) -> Vec<Plot> {
        let copy = self.device_copy.as_ref().map(|copy| copy.gbps);
        let of = |sweep: &Sweep| sweep.plots(&self.variants, self.counters_from.is_some(), copy);
        self.sweeps.iter().flat_map(of).collect()
    }

    /// Its rows below the roofs of the GPU, if the lab plots them and they were counted on a model.
    pub fn roofline(&self) -> Option<Roofline> {
        if self.roofline { roofline::of(&self.variants) } else { None }
    }

    /// What its plots are.
    pub(super) fn plotted(&self) -> &'static str {
        if self.roofline { "Roofline" } else { "Sweep" }
    }

    /// Its plots and its roofline for a page, side by side where there is room.
    pub(super) fn plots_on_page(&self) -> Markup {
        let (plots, roofline) = (self.plots(), self.roofline());
        let drawings = plots.iter().map(plot_svg).chain(roofline.iter().map(roofline_svg));
        html! { div.plots { @for drawing in drawings { (PreEscaped(drawing)) } } }
    }

    /// The sanitizer's findings in all variants.
    pub fn findings(&self) -> Findings {
        Findings::of_all(self.variants.iter().filter_map(|variant| variant.findings.as_ref()))
    }
}
