//! Stencils of 5 and 25 points in a matrix, and of 7 in a volume. The kernels and what they show are
//! in `kernels::stencil`, `stencil_registers`, `stencil_volume` and `stencil_walk`; `table` has the
//! rows, `screen` what is shown first, `on_device` the launches, `reference` what is right.

mod on_device;
mod reference;
mod screen;
mod table;

use common::random::Random;
use device::{Device, Error, Result};
use kernels::stencil_volume::BLOCK;
use serde_json::{Value, json};

use on_device::Data;
use reference::Volume;
use screen::{CONCLUSIONS, FIRST, SHOWCASE};
pub use table::Options;
use table::{MEANINGS, SIDE, Step, VOLUME};

use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named};
use super::lab::{Lab, Plan};
use super::models::stand_in;
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::VariantSpec;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// The lab: a matrix and a volume, of which those that no row needs are empty.
pub struct Stencil {
    options: Options,
    matrix: HostMatrix,
    volume: Volume,
}

/// The model that replaces the plain simulator, which has no caches.
const MODEL: &str = "hopper";

impl Lab for Stencil {
    const NAME: &'static str = "stencil";
    const ABOUT: &'static str =
        "Stencils: what caches do, and shared memory, registers, textures, wide words; the roofline";
    const SUBJECTS: &'static [Subject] =
        &[Subject::Stencil, Subject::GlobalLoadTotals, Subject::SharedTotals, Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", SIDE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    const ROOFLINE: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let rows = options.rows();
        if rows.is_empty() {
            return Err(Error::request("--points", "no chosen variant has this many points"));
        }
        let has = |volume: bool| rows.iter().any(|row| row.of.is_of_volume() == volume);
        for (flag, file, used) in
            [("--input", &options.matrix.input, has(false)), ("--input-volume", &options.input_volume, has(true))]
        {
            if file.is_some() && !used {
                return Err(Error::request(flag, "no chosen variant reads this file; see --points"));
            }
        }
        let mut random = Random::new(settings.seed);
        let nothing = || HostMatrix { rows: 0, columns: 0, elements: Vec::new() };
        let matrix = if has(false) { matrix(device, &options, &mut random)? } else { nothing() };
        let volume = match has(true) {
            true => volume(device, &options, &mut random)?,
            false => Volume { planes: 0, height: 0, rows: nothing() },
        };
        Ok(Self { options, matrix, volume })
    }

    fn parameters(&self) -> Value {
        let some = |number: usize| (number > 0).then_some(number);
        let HostMatrix { rows, columns, .. } = self.matrix;
        let Volume { planes, height, rows: HostMatrix { columns: width, .. } } = self.volume;
        let Options { matrix, input_volume, pitched, .. } = &self.options;
        json!({
            "rows": some(rows),
            "cols": some(columns),
            "volume": some(planes).map(|planes| format!("{planes},{height},{width}")),
            "pitched": pitched,
            "input": named(matrix.input.as_ref()),
            "input_volume": named(input_volume.as_ref()),
        })
    }

    fn chooses_rows(&self) -> bool {
        self.options.ways.any() || !self.options.points.is_empty()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let stand_in = stand_in(device, MODEL)?;
        let on = stand_in.as_ref().unwrap_or(device);
        let fits = |row: &&VariantSpec<Step>| self.options.ways.any() || !row.of.is_texture() || self.has_texture();
        let rows: Vec<_> = self.options.rows().into_iter().filter(fits).collect();
        let data = Data::new(on, self, rows.iter().any(|row| row.of.is_texture()))?;
        let variants = rows.into_iter().map(|row| {
            let variant = self.variant(row.name, row.of, &data);
            match &stand_in {
                Some(model) => variant.fact("model", MODEL).on(model.clone()),
                None => variant,
            }
        });
        let variants = variants.collect();
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.poison()
    }
}

/// The matrix that the flags request.
fn matrix(device: &Device, options: &Options, random: &mut Random) -> Result<HostMatrix> {
    // On the device the matrix, its texture and the sums; on the host the matrix and the sums.
    let room = |rows: u64, columns: u64| {
        let each = bytes_of::<f32>(&[rows, columns]);
        let what = format!("stencils of a matrix of {rows} x {columns}");
        check_room(device, &what, each.saturating_mul(3), each.saturating_mul(2))
    };
    if let Some(path) = &options.matrix.input {
        let matrix = HostMatrix::read(path)?;
        room(matrix.rows as u64, matrix.columns as u64)?;
        return Ok(matrix);
    }
    let rows = options.matrix.rows.or(options.matrix.cols).map_or_else(|| SIDE.on(device), u64::from);
    let columns = options.matrix.cols.map_or(rows, u64::from);
    room(rows, columns)?;
    Ok(HostMatrix::random(rows, columns, random))
}

/// The volume that the flags request.
fn volume(device: &Device, options: &Options, random: &mut Random) -> Result<Volume> {
    let room = |[planes, height, width]: [u64; 3]| {
        let each = bytes_of::<f32>(&[planes, height, width]);
        let what = format!("a stencil of a volume of {planes} x {height} x {width}");
        check_room(device, &what, each.saturating_mul(2), each.saturating_mul(2))
    };
    if let Some(path) = &options.input_volume {
        let volume = Volume::read(path)?;
        let extents = [volume.planes, volume.height, volume.rows.columns].map(|extent| extent as u64);
        check_grid(extents).map_err(|problem| Error::file(path, problem))?;
        room(extents)?;
        return Ok(volume);
    }
    let extents = options.volume.map_or_else(|| VOLUME.on(device), |volume| volume.map(u64::from));
    check_grid(extents).map_err(|problem| Error::request("--volume", problem))?;
    room(extents)?;
    let [planes, height, width] = extents;
    let rows = HostMatrix::random(planes * height, width, random);
    Ok(Volume { planes: planes as usize, height: height as usize, rows })
}

/// Fails unless a grid covers a volume, and a 32-bit index counts its rows.
fn check_grid([planes, height, _]: [u64; 3]) -> std::result::Result<(), String> {
    let most = u64::from(u16::MAX);
    if planes > most || height.div_ceil(BLOCK[1].into()) > most {
        return Err(format!(
            "{planes} planes of {height} rows are too many: a grid has at most {most} blocks in y and z"
        ));
    }
    match planes * height > u64::from(u32::MAX) {
        true => Err(format!("{planes} planes of {height} rows are more rows than a 32-bit index can count")),
        false => Ok(()),
    }
}
