//! Prefix sums and stream compaction. The kernels and what they show are in `kernels::scan`,
//! `kernels::scan_tiles` and `kernels::scan_compact`; `table` has the rows, `on_device` the
//! launches, `peer` CUB's rows.

mod on_device;
mod peer;
mod table;

use std::rc::Rc;

use common::random::Random;
use device::peers::Peers;
use device::{Device, Error, Result};
use serde_json::{Value, json};

use on_device::Data;
pub use table::Options;
use table::{CONCLUSIONS, FIRST, Makes, Method, NEEDS, SHOWCASE, SIZE};

use super::compare::Shape;
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::peers::Peer;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// The lab: the values, their prefix sums modulo 2^32, and those of them that are not 0.
pub struct Scan {
    options: Options,
    values: Vec<u32>,
    sums: Vec<u32>,
    kept: Vec<u32>,
}

impl Lab for Scan {
    const NAME: &'static str = "scan";
    const ABOUT: &'static str = "Prefix sums: steps and trees in a block, one pass over the values; compaction";
    const SUBJECTS: &'static [Subject] =
        &[Subject::MovedOfNeeded, Subject::BankConflicts, Subject::Instructions, Subject::GlobalRequests];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Library];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Method>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut values: Vec<u32> = options.values.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        if u32::try_from(values.len()).is_err() {
            let problem = format!("{} values are more than a 32-bit index can count", values.len());
            return Err(Error::request("--size", problem));
        }
        if options.values.input.is_none() {
            let keep = options.keep.unwrap_or(50);
            values.iter_mut().filter(|value| **value % 100 >= keep).for_each(|value| *value = 0);
        }
        let add = |sum: &mut u32, value: &u32| {
            *sum = sum.wrapping_add(*value);
            Some(*sum)
        };
        let sums = values.iter().scan(0, add).collect();
        let kept = values.iter().copied().filter(|value| *value != 0).collect();
        Ok(Self { options, values, sums, kept })
    }

    fn parameters(&self) -> Value {
        let Options { values, log_banks, .. } = &self.options;
        let (size, kept) = (self.values.len(), self.kept.len());
        json!({"size": size, "kept": kept, "log_banks": log_banks, "input": named(values.input.as_ref())})
    }

    fn chooses_rows(&self) -> bool {
        self.options.methods.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = Data::new(device, &self.values)?;
        let variants = self.options.methods.chosen().into_iter().map(|method| self.variant(method));
        Ok(Plan::new(data, variants.collect()))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        self.rows_of(peers)
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.reset()
    }
}

impl Scan {
    fn variant(&self, method: &VariantSpec<Method>) -> Variant<'_, Data> {
        let (of, log_banks) = (method.of, self.options.log_banks);
        let variant = Variant::new(
            method.name,
            move |data: &mut Data, launcher| data.launch(launcher, of, log_banks),
            move |data| self.outcome(of.makes(), data),
        );
        self.described(of.makes(), variant)
    }

    /// A row of what this makes.
    fn described<'a>(&self, makes: Makes, row: Variant<'a, Data>) -> Variant<'a, Data> {
        let bytes = |values: &[u32]| size_of_val(values) as u64;
        let result = match makes {
            Makes::Sums => bytes(&self.sums),
            Makes::Kept => bytes(&self.kept),
        };
        row.group(makes.name())
            .axis("makes", makes.name())
            .bytes(bytes(&self.values) + result)
            .computes(format!("the {}", makes.name()), result)
    }

    /// Whether the result is right; behind the values that are kept there is 0 still.
    fn outcome(&self, makes: Makes, data: &mut Data) -> Result<Outcome> {
        let size = self.values.len();
        let mut found = data.result(makes).read()?;
        found.truncate(size);
        Ok(match makes {
            Makes::Sums => Outcome::exact(Shape::Vector(size), found, |_, i| self.sums[i]),
            Makes::Kept => {
                let expected = |_, i| self.kept.get(i).copied().unwrap_or(0);
                Outcome::exact_part(found, 0..self.kept.len(), expected)
            }
        })
    }
}
