//! An image that one launch makes and the next reads down the columns: written to an array through
//! a surface, written to linear memory and copied into the array, or left in linear memory.

use std::rc::Rc;

use device::{ArrayShape, Buffer, Device, LaunchConfig, OwnedSurface, OwnedTexture, Result, Sampling};
use kernels::texture as kernel;

use super::walks::COLUMNS;
use super::{Data, F32, Texture};
use crate::labs::Launcher;
use crate::labs::compare::Shape;
use crate::labs::lab::{Outcome, Variant};

/// Where the image that is made goes.
pub(super) struct Made {
    linear: Buffer<f32>,
    surface: OwnedSurface,
    texture: OwnedTexture,
}

impl Made {
    pub fn new(device: &Device, side: usize) -> Result<Self> {
        let array = device.array(&ArrayShape { width: side as u32, height: side as u32, ..ArrayShape::of(F32) })?;
        let array = Rc::new(array);
        Ok(Self {
            linear: device.buffer(side * side)?,
            surface: device.array_surface(Rc::clone(&array))?,
            texture: device.array_texture(array, &Sampling::default())?,
        })
    }
}

/// How the image gets to where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Surface,
    Copy,
    Linear,
}

impl Texture {
    pub(super) fn made(&self) -> Vec<Variant<'_, Data>> {
        [("made-surface", By::Surface), ("made-copied", By::Copy), ("made-linear", By::Linear)]
            .map(|(name, by)| self.made_by(name, by))
            .into()
    }

    fn made_by(&self, name: &'static str, by: By) -> Variant<'_, Data> {
        let side = self.image.side as u32;
        let line = LaunchConfig::linear(self.image.floats.len(), 256);
        let (square, walk) = COLUMNS.over(side);
        Variant::new(
            name,
            move |data: &mut Data, launcher: &mut Launcher<'_>| {
                let Data { image, output, made: Some(Made { linear, surface, texture }), .. } = data else {
                    return Ok(());
                };
                if by != By::Surface {
                    launcher.launch(&kernel::texture_global, &line, (&**image, &mut *linear))?;
                }
                let written = match by {
                    By::Surface => Some((&**image, 2.0_f32)),
                    By::Copy => Some((&*linear, 1.0)),
                    By::Linear => None,
                };
                if let Some((from, factor)) = written {
                    // SAFETY: the surface is alive, and its array has the image's shape; textures
                    // are read in other launches.
                    unsafe {
                        launcher.launch_unchecked(
                            &kernel::texture_write,
                            &square,
                            (from, surface.argument(), side, factor),
                        )?;
                    }
                    // SAFETY: the texture is alive, made of an array of two dimensions and of this
                    // side.
                    return unsafe {
                        launcher.launch_unchecked(&kernel::texture_walk, &square, (texture.argument(), output, walk))
                    };
                }
                launcher.launch(&kernel::texture_rows, &square, (&*linear, output, walk))
            },
            move |data| {
                let found = data.output.read()?;
                let shape = Shape::Matrix { rows: self.image.side, columns: self.image.side };
                Ok(Outcome::exact(shape, found, |row, column| 2.0 * self.image.floats[column * self.image.side + row]))
            },
        )
        .group("made by a kernel")
        .bytes(self.useful())
        .computes("the doubled image, transposed", self.useful() / 2)
    }
}
