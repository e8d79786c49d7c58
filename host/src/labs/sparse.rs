//! A sparse matrix times a vector. The kernels and what they show are in `kernels::sparse`; `table`
//! has the rows, `input` the matrices, `matrix` their formats, `market` the files, `on_device` the
//! launches, `peer` cuSPARSE.

mod input;
mod market;
mod matrix;
mod on_device;
mod peer;
mod table;

use std::rc::Rc;

use common::random::Random;
use device::peers::Peers;
use device::{Device, Result};
use serde_json::{Value, json};

use input::Input;
use on_device::{Data, bytes_on_device};
pub use table::Options;
use table::{CONCLUSIONS, FIRST, Format, Kind, ROWS, SHOWCASE};

use super::compare::Shape;
use super::inputs::{DefaultSize, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::peers::Peer;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject, Tolerance};

/// The lab: matrices of the same shape, and the vector.
pub struct Sparse {
    options: Options,
    inputs: Vec<Input>,
    x: Vec<f32>,
}

impl Lab for Sparse {
    const NAME: &'static str = "sparse";
    const ABOUT: &'static str = "A sparse matrix times a vector: COO, CSR, ELL and sliced ELL";
    const SUBJECTS: &'static [Subject] = &[
        Subject::TouchedOfNeeded,
        Subject::GlobalLoads,
        Subject::Instructions,
        Subject::ActiveLanes,
        Subject::Padding,
        Subject::Atomics,
    ];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", ROWS)];
    const PEERS: &'static [Peer] = &[Peer::Cusparse];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Format>(), meanings::<Kind>()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let (inputs, x) = input::read(device, &options, &mut Random::new(settings.seed))?;
        let bytes = inputs.iter().map(|input| bytes_on_device(&input.matrix, &input.formats, options.log_slice)).sum();
        // The tables of a format are on the host while they are written.
        check_room(device, "a sparse matrix in several formats", bytes, bytes)?;
        Ok(Self { options, inputs, x })
    }

    fn parameters(&self) -> Value {
        let Options { each, spread, log_slice, ref matrix, ref input, .. } = self.options;
        let [each, spread] = [each, spread].map(|number| matrix.is_none().then_some(number));
        let left_out = self.inputs.iter().find(|input| self.leaves_ell_out(input)).map(|input| {
            let entries = input.matrix.len() as f64;
            let places = input.matrix.places(input.matrix.rows) as f64;
            format!("ell, with {:.0} places for each entry; --ell runs it", places / entries)
        });
        let rows = self.inputs.first().map(|input| input.matrix.rows);
        json!({
            "rows": rows, "cols": self.x.len(), "each": each, "spread": spread, "log_slice": log_slice,
            "matrix": named(matrix.as_ref()), "input": named(input.as_ref()), "left_out": left_out,
        })
    }

    fn chooses_rows(&self) -> bool {
        self.options.formats.any() || self.options.kinds.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = Data::new(device, &self.inputs, &self.x, self.options.log_slice)?;
        let of_input = |index: usize| self.inputs[index].formats.iter().map(move |format| self.variant(format, index));
        Ok(Plan::new(data, (0..self.inputs.len()).flat_map(of_input).collect()))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        self.rows_of(peers, data)
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.y.poison()
    }
}

impl Sparse {
    fn variant(&self, format: &VariantSpec<Format>, index: usize) -> Variant<'_, Data> {
        let (of, log_slice) = (format.of, self.options.log_slice);
        let matrix = &self.inputs[index].matrix;
        let places = match of {
            Format::Ell => matrix.places(matrix.rows),
            Format::Sliced => matrix.places(1 << log_slice),
            _ => matrix.len() as u64,
        };
        let name = format!("{}-{}", format.name, self.inputs[index].name);
        let row = Variant::new(
            name,
            move |data: &mut Data, launcher| data.launch(launcher, index, of, log_slice),
            move |data| self.outcome(index, data),
        );
        let padding = 100.0 * (places - matrix.len() as u64) as f64 / places as f64;
        self.described(index, row.axis("format", format.name)).fact("padding", padding)
    }

    /// A row of this input.
    fn described<'a>(&self, index: usize, row: Variant<'a, Data>) -> Variant<'a, Data> {
        let Input { name, ref matrix, .. } = self.inputs[index];
        let (entries, result) = (matrix.len() as u64, 4 * matrix.rows as u64);
        row.group(name)
            .axis("row_lengths", name)
            .fact("entries", entries)
            .fact("longest_row", matrix.longest() as u64)
            // A column and a value for each entry, x and y.
            .bytes(8 * entries + 4 * matrix.columns as u64 + result)
            .operations(2 * entries)
            .computes(format!("y of the {name} matrix"), result)
    }

    /// A row of n entries has n products and n - 1 sums, in any order: an error of at most n
    /// roundings of its terms' magnitudes. The tolerance is that of the longest row; shorter ones
    /// have their part of it.
    fn outcome(&self, index: usize, data: &mut Data) -> Result<Outcome> {
        let Input { matrix, product, .. } = &self.inputs[index];
        let tolerance = Tolerance::Roundings(matrix.longest() as u64);
        Ok(Outcome::near(Shape::Vector(matrix.rows), data.y.read()?, tolerance, |_, row| product[row]))
    }

    fn leaves_ell_out(&self, input: &Input) -> bool {
        !self.options.formats.any() && input.formats.iter().all(|format| format.of != Format::Ell)
    }
}
