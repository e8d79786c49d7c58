//! The data of the lab on a device, and the launch of each row. [`super`] plans with it.

use std::rc::Rc;

use device::{
    AddressMode, ArrayShape, ChannelType, Device, Error, LaunchConfig, Matrix, OwnedTexture, Result, Sampling,
    TexelFormat,
};
use kernels::stencil_volume::{self, Shape as VolumeShape};
use kernels::{stencil, transpose};
use serde_json::json;

use super::Stencil;
use super::reference::{neighbours, sum};
use super::table::{Run, Step};
use crate::labs::Launcher;
use crate::labs::compare::Shape;
use crate::labs::inputs::HostMatrix;
use crate::labs::lab::{Outcome, Variant};
use crate::report::Tolerance;

/// The matrix and the volume, each with its sums.
pub struct Data {
    plane: Option<Pair>,
    volume: Option<Pair>,
    texture: Option<OwnedTexture>,
}

/// An input and its sums.
struct Pair {
    input: Matrix<f32>,
    sums: Matrix<f32>,
}

impl Pair {
    /// `None` if no row needs it.
    fn new(device: &Device, input: &HostMatrix, pitched: bool) -> Result<Option<Self>> {
        if input.elements.is_empty() {
            return Ok(None);
        }
        let matrix = || device.matrix(input.rows, input.columns, pitched);
        let mut pair = Self { input: matrix()?, sums: matrix()? };
        u32::try_from(pair.input.pitch())
            .map_err(|_| Error::request("--pitched", "rows of this length are beyond a kernel's 32-bit pitch"))?;
        // The padding of a pitched input is never right to read.
        pair.input.poison()?;
        pair.input.write(&input.elements)?;
        Ok(Some(pair))
    }
}

/// Sides that a texture has on every GPU.
const MOST_TEXTURE: [usize; 2] = [32768, 65536];

/// Threads of a block in x and in y, also of the kernels that take any.
const BLOCK: [u32; 2] = [32, 8];

impl Data {
    pub(super) fn new(device: &Device, lab: &Stencil, textured: bool) -> Result<Self> {
        let pitched = lab.options.pitched;
        let plane = Pair::new(device, &lab.matrix, pitched)?;
        let volume = Pair::new(device, &lab.volume.rows, pitched)?;
        let texture = textured.then(|| texture(device, &lab.matrix)).transpose()?;
        Ok(Self { plane, volume, texture })
    }

    /// The input and the sums of a row.
    fn pair(&self, row: Step) -> Option<&Pair> {
        if row.is_of_volume() { self.volume.as_ref() } else { self.plane.as_ref() }
    }

    pub(super) fn poison(&mut self) -> Result<()> {
        [&mut self.plane, &mut self.volume].into_iter().flatten().try_for_each(|pair| pair.sums.poison())
    }
}

/// The matrix as a texture whose border is 0.
fn texture(device: &Device, matrix: &HostMatrix) -> Result<OwnedTexture> {
    let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
    let (width, height) = (matrix.columns as u32, matrix.rows as u32);
    let mut array = device.array(&ArrayShape { width, height, ..ArrayShape::of(format) })?;
    array.write(0, &matrix.elements)?;
    let sampling = Sampling { address_modes: [AddressMode::Border; 3], ..Sampling::default() };
    device.array_texture(Rc::new(array), &sampling)
}

impl Stencil {
    /// Whether every GPU has textures as large as the matrix.
    pub(super) fn has_texture(&self) -> bool {
        self.matrix.rows <= MOST_TEXTURE[0] && self.matrix.columns <= MOST_TEXTURE[1]
    }

    /// A row.
    pub(super) fn variant(&self, name: &str, row: Step, data: &Data) -> Variant<'_, Data> {
        let launch = self.launch(row);
        let input = if row.is_of_volume() { &self.volume.rows } else { &self.matrix };
        let pitch = data.pair(row).map_or(0, |pair| pair.input.pitch());
        let bytes = size_of_val(input.elements.as_slice()) as u64;
        let shape = VolumeShape { planes: self.volume.planes as u32, height: self.volume.height as u32 };
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher: &mut Launcher<'_>| {
                let Data { plane, volume, texture } = data;
                let pair = if row.is_of_volume() { volume } else { plane };
                let Some(Pair { input, sums }) = pair else { return Ok(()) };
                match (row.run, texture) {
                    (Run::Plane(kernel), _) => launcher.launch(kernel, &launch, (&*input, sums)),
                    (Run::Volume(kernel), _) => launcher.launch(kernel, &launch, (&*input, sums, shape)),
                    (Run::Texture, None) => Ok(()),
                    (Run::Texture, Some(texture)) => {
                        let kernel =
                            if row.points == 5 { &stencil::stencil_texture_5 } else { &stencil::stencil_texture_25 };
                        // SAFETY: the texture is alive, of two dimensions, and as large as the matrix.
                        unsafe { launcher.launch_unchecked(kernel, &launch, (texture.argument(), sums)) }
                    }
                }
            },
            move |data| self.outcome(row, data),
        );
        variant
            .group(format!("{} points", row.points))
            .fact("points", row.points)
            .fact("block", json!(launch.block[..2]))
            .fact("grid", json!(launch.grid))
            .fact("pitch_bytes", pitch * size_of::<f32>())
            .bytes(2 * bytes)
            .operations(2 * u64::from(row.points) * input.elements.len() as u64)
            .computes(format!("the sums of {} points", row.points), bytes)
    }

    fn launch(&self, row: Step) -> LaunchConfig {
        let block = [BLOCK[0], BLOCK[1], 1];
        if !row.is_of_volume() {
            let (rows, columns) = (self.matrix.rows as u32, self.matrix.columns as u32);
            return LaunchConfig::new(transpose::grid(rows, columns, row.results), block);
        }
        let planes = (self.volume.planes as u32).div_ceil(row.planes);
        let (height, width) = (self.volume.height as u32, self.volume.rows.columns as u32);
        LaunchConfig::new([width.div_ceil(row.results[0]), height.div_ceil(row.results[1]), planes], block)
    }

    /// Rounds once for each point, in any order.
    fn outcome(&self, row: Step, data: &Data) -> Result<Outcome> {
        let found = data.pair(row).map_or_else(|| Ok(Vec::new()), |pair| pair.sums.read())?;
        let (values, height) = match row.is_of_volume() {
            true => (&self.volume.rows, self.volume.height),
            false => (&self.matrix, self.matrix.rows),
        };
        let columns = values.columns;
        let shape = match row.is_of_volume() {
            true => Shape::Volume { planes: self.volume.planes, rows: height, columns },
            false => Shape::Matrix { rows: height, columns },
        };
        let neighbours = neighbours(row.points);
        let tolerance = Tolerance::Roundings(row.points.into());
        Ok(Outcome::near(shape, found, tolerance, |row, column| sum(values, height, [row, column], &neighbours)))
    }
}

const _: () = assert!(stencil_volume::BLOCK[0] == BLOCK[0] && stencil_volume::BLOCK[1] == BLOCK[1]);
