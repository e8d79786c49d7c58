//! The lab `layout`: arrays of structures against structures of arrays. The kernels and what they
//! show are in `kernels::layout`.

mod parts;
mod table;

use bytemuck::Pod;
use common::random::Random;
use device::{Buffer, Device, Matrix, OnDevice, Result};
use kernels::layout::{Particle, Point, ROW};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, MEANINGS, SHOWCASE, Subjects};

use super::inputs::{DefaultSize, bytes_of, check_room};
use super::lab::{Lab, Plan};
use super::settings::Settings;
use super::showcase::Showcase;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 23, on_simulator: 1 << 12 };

/// Elements of a row of the matrix that is copied: not a multiple of a line, so that a pitch makes
/// a difference.
const COLUMNS: usize = 1000;

/// Threads of a block, as the staged kernel declares them.
const BLOCK: u32 = 128;

/// The lab: its inputs.
pub struct Layout {
    options: Options,
    subjects: Vec<Subjects>,
    size: usize,
    points: Vec<Point>,
    particles: Vec<Particle>,
    /// 32 numbers for each sum, as `[32][size]`.
    columns: Vec<f32>,
    /// The matrix, which has at most as many rows as a grid has blocks in y.
    matrix: Vec<f32>,
}

/// The data on a device; buffers that are not needed are empty.
pub struct Data {
    points: Buffer<Point>,
    coordinates: [Buffer<f32>; 3],
    particles: Buffer<Particle>,
    fields: [Buffer<f64>; 4],
    rows: Buffer<[f32; ROW]>,
    columns: Matrix<f32>,
    /// Separately allocated rows, whose addresses are in `pointers`.
    _table: Vec<Buffer<f32>>,
    pointers: Buffer<u64>,
    matrix: Matrix<f32>,
    copy: Matrix<f32>,
    output: Buffer<f32>,
    positions: Buffer<f64>,
}

impl Lab for Layout {
    const NAME: &'static str = "layout";
    const ABOUT: &'static str = "Structures of arrays against arrays of structures, and pointers to rows";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalLoadsOverIdeal, Subject::GlobalLoadTotals, Subject::GlobalLoadRequests, Subject::SharedLoads];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let size = options.size.unwrap_or_else(|| SIZE.on(device));
        let subjects: Vec<_> = options.variants.chosen().into_iter().map(|variant| variant.of).collect();
        // Each task's numbers in both layouts on the device; once on the host.
        let words = |subject: &Subjects| match subject {
            Subjects::Points => 3,
            Subjects::Particles => 8,
            Subjects::Sums => ROW as u64,
            Subjects::Matrix => 1,
        };
        let bytes = bytes_of::<f32>(&[subjects.iter().map(words).sum::<u64>() + 3, size]);
        check_room(device, &format!("the lab with {size} elements"), bytes.saturating_mul(2), bytes)?;
        let size = size as usize;
        let mut random = Random::new(settings.seed);
        let has = |subject| subjects.contains(&subject);
        let count = |subject, count: usize| if has(subject) { count } else { 0 };
        let points = (0..count(Subjects::Points, size)).map(|_| Point {
            x: random.next_f32(),
            y: random.next_f32(),
            z: random.next_f32(),
        });
        let points = points.collect();
        let particles = (0..count(Subjects::Particles, size)).map(|_| {
            let mut field = || f64::from(random.next_f32());
            Particle { position: field(), speed: field(), acceleration: field(), time: field() }
        });
        let particles = particles.collect();
        let columns = random.vector(count(Subjects::Sums, size * ROW));
        let rows = size.div_ceil(COLUMNS).min(65_535);
        let matrix = random.vector(count(Subjects::Matrix, rows * COLUMNS));
        Ok(Self { options, subjects, size, points, particles, columns, matrix })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.options.size.unwrap_or(self.size as u64), "block": BLOCK})
    }

    fn chooses_rows(&self) -> bool {
        self.options.variants.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = self.data(device)?;
        let mut variants = Vec::new();
        for subject in &self.subjects {
            match subject {
                Subjects::Points => variants.extend(self.points()),
                Subjects::Particles => variants.extend(self.particles()),
                Subjects::Sums => variants.extend(self.sums()),
                Subjects::Matrix => variants.extend(self.matrices()),
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.copy.poison()?;
        data.output.poison()?;
        data.positions.poison()
    }
}

/// A buffer of these elements.
fn filled<T: Pod>(device: &Device, elements: impl Iterator<Item = T>) -> Result<Buffer<T>> {
    let elements: Vec<T> = elements.collect();
    let mut buffer = device.buffer(elements.len())?;
    buffer.write(&elements)?;
    Ok(buffer)
}

impl Layout {
    /// Everything in both layouts.
    fn data(&self, device: &Device) -> Result<Data> {
        let coordinate = |of: fn(&Point) -> f32| filled(device, self.points.iter().map(of));
        let field = |of: fn(&Particle) -> f64| filled(device, self.particles.iter().map(of));
        let sums = self.columns.len() / ROW;
        let by_rows = (0..sums).map(|i| std::array::from_fn(|k| self.columns[k * sums + i]));
        let rows = self.matrix.len() / COLUMNS;
        let row = |elements: &[f32]| filled(device, elements.iter().copied());
        let table = self.matrix.chunks(COLUMNS).map(row).collect::<Result<Vec<_>>>()?;
        let mut data = Data {
            points: filled(device, self.points.iter().copied())?,
            coordinates: [coordinate(|point| point.x)?, coordinate(|point| point.y)?, coordinate(|point| point.z)?],
            particles: filled(device, self.particles.iter().copied())?,
            fields: [
                field(|it| it.position)?,
                field(|it| it.speed)?,
                field(|it| it.acceleration)?,
                field(|it| it.time)?,
            ],
            rows: filled(device, by_rows)?,
            columns: device.matrix(ROW, sums, false)?,
            pointers: filled(device, table.iter().map(OnDevice::address))?,
            _table: table,
            matrix: device.matrix(rows, COLUMNS, true)?,
            copy: device.matrix(rows, COLUMNS, false)?,
            output: device.buffer(self.size)?,
            positions: device.buffer(self.particles.len())?,
        };
        data.columns.write(&self.columns)?;
        data.matrix.poison()?;
        data.matrix.write(&self.matrix)?;
        Ok(data)
    }
}
