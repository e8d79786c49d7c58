//! How an image is sampled beyond its edges and between its texels, and what the samples should be.

use device::{AddressMode, Filter, ReadMode, Sampling};
use half::f16;

/// How an image is sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub name: &'static str,
    pub mode: AddressMode,
    pub filter: Filter,
    pub texels: Texels,
}

/// How a texel is stored. A read makes a float of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texels {
    Floats,
    /// 16-bit floats.
    Halves,
    /// Bytes, read as `k / 255`.
    Bytes,
}

pub(super) const SAMPLED: [Sampled; 10] = [
    Sampled { name: "clamp-nearest", mode: AddressMode::Clamp, filter: Filter::Point, texels: Texels::Floats },
    Sampled { name: "wrap-nearest", mode: AddressMode::Wrap, filter: Filter::Point, texels: Texels::Floats },
    Sampled { name: "mirror-nearest", mode: AddressMode::Mirror, filter: Filter::Point, texels: Texels::Floats },
    Sampled { name: "border-nearest", mode: AddressMode::Border, filter: Filter::Point, texels: Texels::Floats },
    Sampled { name: "clamp-linear", mode: AddressMode::Clamp, filter: Filter::Linear, texels: Texels::Floats },
    Sampled { name: "wrap-linear", mode: AddressMode::Wrap, filter: Filter::Linear, texels: Texels::Floats },
    Sampled { name: "mirror-linear", mode: AddressMode::Mirror, filter: Filter::Linear, texels: Texels::Floats },
    Sampled { name: "border-linear", mode: AddressMode::Border, filter: Filter::Linear, texels: Texels::Floats },
    Sampled { name: "halves-nearest", mode: AddressMode::Clamp, filter: Filter::Point, texels: Texels::Halves },
    Sampled { name: "bytes-nearest", mode: AddressMode::Clamp, filter: Filter::Point, texels: Texels::Bytes },
];

impl Sampled {
    /// The texture's settings.
    pub fn sampling(self) -> Sampling {
        Sampling {
            address_modes: [self.mode; 3],
            filter: self.filter,
            read_mode: if self.texels == Texels::Bytes { ReadMode::NormalizedFloat } else { ReadMode::Element },
            normalized_coordinates: true,
            ..Sampling::default()
        }
    }
}

/// A square image, in each kind of texel.
pub(super) struct Image {
    pub side: usize,
    pub floats: Vec<f32>,
    pub halves: Vec<f16>,
    pub bytes: Vec<u8>,
}

impl Image {
    /// The expected sample at a position in texels.
    pub(super) fn sampled(&self, sampled: Sampled, x: f64, y: f64) -> f64 {
        let texel = |x: f64, y: f64| {
            let (Some(x), Some(y)) = (self.index(sampled.mode, x), self.index(sampled.mode, y)) else { return 0.0 };
            let i = y * self.side + x;
            match sampled.texels {
                Texels::Floats => f64::from(self.floats[i]),
                Texels::Halves => f64::from(self.halves[i]),
                Texels::Bytes => f64::from(self.bytes[i]) / 255.0,
            }
        };
        if sampled.filter == Filter::Point {
            return texel(x.floor(), y.floor());
        }
        let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
        let (right_part, bottom_part) = (x - 0.5 - left, y - 0.5 - top);
        let row = |y: f64| texel(left, y) * (1.0 - right_part) + texel(left + 1.0, y) * right_part;
        row(top) * (1.0 - bottom_part) + row(top + 1.0) * bottom_part
    }

    /// The texel that is read for a position beyond the edge; `None` for the border colour.
    fn index(&self, mode: AddressMode, place: f64) -> Option<usize> {
        let side = self.side as f64;
        let inside = match mode {
            AddressMode::Clamp => place.clamp(0.0, side - 1.0),
            AddressMode::Wrap => place.rem_euclid(side),
            AddressMode::Mirror => {
                let place = place.rem_euclid(2.0 * side);
                if place < side { place } else { 2.0 * side - 1.0 - place }
            }
            AddressMode::Border => place,
        };
        (0.0..side).contains(&inside).then_some(inside as usize)
    }
}
