//! The parts of the lab: the variants of each, but for the image that a kernel makes.

use device::{Filter, LaunchConfig};
use kernels::texture as kernel;

use super::sampling::SAMPLED;
use super::walks::{Layout, Way, covering};
use super::{Data, MOST_LINEAR, Texture};
use crate::labs::Launcher;
use crate::labs::compare::{Reference, Shape};
use crate::labs::lab::{Outcome, Variant};
use crate::report::Tolerance;

impl Texture {
    pub(super) fn linear(&self) -> Vec<Variant<'_, Data>> {
        let length = self.image.floats.len();
        let launch = LaunchConfig::linear(length, 256);
        let variant = |name, texture: bool| {
            Variant::new(
                name,
                move |data: &mut Data, launcher: &mut Launcher<'_>| match (&data.linear, texture) {
                    (Some(linear), true) => {
                        let arguments = (linear.argument(), &mut data.output);
                        // SAFETY: the texture is alive, and made of as many texels in one
                        // dimension.
                        unsafe { launcher.launch_unchecked(&kernel::texture_linear, &launch, arguments) }
                    }
                    _ => launcher.launch(&kernel::texture_global, &launch, (&*data.image, &mut data.output)),
                },
                move |data| {
                    let found = data.output.read()?;
                    Ok(Outcome::exact(Shape::Vector(length), found, |_, i| 2.0 * self.image.floats[i]))
                },
            )
            .group("linear memory")
            .bytes(self.useful())
            .computes("the doubled image", self.useful() / 2)
        };
        let mut variants = vec![variant("linear-global", false)];
        if length <= MOST_LINEAR {
            variants.push(variant("linear-texture", true));
        }
        variants
    }

    /// Samples the image, and a quarter of its side beyond each edge.
    pub(super) fn sample(&self, index: usize) -> Variant<'_, Data> {
        let sampled = SAMPLED[index];
        let side = self.image.side as u32;
        let launch = covering(side, [32, 8]);
        // In normalised coordinates. The shift of 0.3 texels avoids positions on the boundary of
        // two texels.
        let scale = 1.5 / side as f32;
        let shift = -0.25 + 0.3 / side as f32;
        let scale = if sampled.filter == Filter::Point { 1.0 / side as f32 } else { scale };
        Variant::new(
            sampled.name,
            move |data: &mut Data, launcher| {
                let texture = data.sampled[index].argument();
                let arguments = (texture, &mut data.output, scale, shift);
                // SAFETY: the texture is alive, and made of an array of two dimensions.
                unsafe { launcher.launch_unchecked(&kernel::texture_sample, &launch, arguments) }
            },
            move |data| {
                let found = data.output.read()?;
                let shape = Shape::Matrix { rows: self.image.side, columns: self.image.side };
                let place = |i: usize| f64::from(i as f32 * scale + shift) * f64::from(side);
                // Normalised coordinates keep at least 18 bits, and a weight is rounded to 8 bits,
                // in each direction; neighbours differ by at most 2. A byte is exact but for
                // rounding.
                let tolerance = match sampled.filter {
                    Filter::Linear => {
                        Tolerance::Absolute(4.0 * (2.0_f64.powi(-9) + f64::from(side) * 2.0_f64.powi(-18)))
                    }
                    Filter::Point => Tolerance::Ulps(1),
                };
                Ok(Outcome::near(shape, found, tolerance, |row, column| {
                    Reference::from(self.image.sampled(sampled, place(column), place(row)))
                }))
            },
        )
        .group("sampling")
        .bytes(self.useful())
        .computes(format!("the image as {}", sampled.name), self.useful() / 2)
    }

    pub(super) fn walk(&self, way: Way, place: Layout) -> Variant<'_, Data> {
        let name = way.name;
        let (launch, walk) = way.over(self.image.side as u32);
        Variant::new(
            format!("{name}-{}", place.name()),
            move |data: &mut Data, launcher| match (place, &data.walked) {
                (Layout::Texture, Some(walked)) => {
                    let arguments = (walked.argument(), &mut data.output, walk);
                    // SAFETY: the texture is alive, made of an array of two dimensions and of this
                    // side.
                    unsafe { launcher.launch_unchecked(&kernel::texture_walk, &launch, arguments) }
                }
                (Layout::Morton, _) => {
                    launcher.launch(&kernel::texture_morton, &launch, (&data.morton, &mut data.output, walk))
                }
                _ => launcher.launch(&kernel::texture_rows, &launch, (&*data.image, &mut data.output, walk)),
            },
            move |data| {
                let found = data.output.read()?;
                let shape = Shape::Matrix { rows: self.image.side, columns: self.image.side };
                Ok(Outcome::exact(shape, found, |row, column| {
                    let [u, v] = walk.texel(column as u32, row as u32);
                    self.image.floats[v as usize * self.image.side + u as usize]
                }))
            },
        )
        .group(name)
        .axis("walk", name)
        .axis("image", place.name())
        .bytes(self.useful())
        .computes(format!("the walk along {name}"), self.useful() / 2)
    }
}
