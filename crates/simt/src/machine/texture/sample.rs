//! Computes what a fetch returns (CUDA programming guide, "Texture Fetching").
//!
//! A coordinate is converted to texels with 8 bits of fraction. Without a filter, its integer part
//! is the index of the texel. With the linear filter, half a texel is subtracted first; the integer
//! part is then the index of the first of two texels in that dimension, and the fraction is the
//! weight of the second. The sum is computed without intermediate rounding, then rounded as the
//! format requires.

use super::image::{Image, TexelFault};
use crate::texture::{AddressMode, Filter, Sampling, Texel, border, rounded};

/// Which levels a fetch reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lod {
    /// The first level.
    Base,
    /// This level.
    At(f32),
    /// The level for these gradients of the coordinates, in x and in y.
    Gradient([f32; 3], [f32; 3]),
}

/// A coordinate of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Coordinates {
    /// Indices of texels.
    Whole([i32; 3]),
    /// Positions, in texels or normalised.
    Float([f32; 3]),
}

/// The fractions of a texel.
const FRACTION: i64 = 256;

/// The texels of one axis that a fetch reads, and the weight of the second in 256ths.
type Axis = ([Index; 2], i64);

/// Where a fetch reads on one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    Texel(u32),
    /// The border, and the texel next to it.
    Border(u32),
}

impl Index {
    /// The texel, or the one next to the border, whose sector an H200 looks up all the same.
    fn nearest(self) -> u32 {
        match self {
            Self::Texel(index) | Self::Border(index) => index,
        }
    }
}

/// Applies the address mode to an index.
fn resolve(index: i64, size: u32, mode: AddressMode) -> Index {
    let size = i64::from(size);
    let clamped = index.clamp(0, size - 1);
    let inside = match mode {
        AddressMode::Clamp => clamped,
        AddressMode::Wrap => index.rem_euclid(size),
        AddressMode::Mirror => {
            let index = index.rem_euclid(2 * size);
            if index < size { index } else { 2 * size - 1 - index }
        }
        AddressMode::Border if index != clamped => return Index::Border(clamped as u32),
        AddressMode::Border => index,
    };
    Index::Texel(inside as u32)
}

/// Positions are clamped to this: it is further out than any texture, even wrapped many times.
const FAR: f64 = (1u64 << 40) as f64;

/// Normalised coordinates are truncated to this fraction: an H200 keeps between 18 and 21 bits.
const NORMALIZED_FRACTION: f64 = (1u64 << 20) as f64;

/// A position in texels.
fn in_texels(coordinate: f32, size: u32, sampling: &Sampling) -> f64 {
    let coordinate = f64::from(coordinate);
    let position = match sampling.normalized_coordinates {
        true => (coordinate * NORMALIZED_FRACTION).floor() / NORMALIZED_FRACTION * f64::from(size),
        false => coordinate,
    };
    if position.is_nan() { 0.0 } else { position.clamp(-FAR, FAR) }
}

fn axis(position: f64, offset: i32, size: u32, mode: AddressMode, filter: Filter) -> Axis {
    match filter {
        Filter::Point => {
            let index = position.floor() as i64 + i64::from(offset);
            ([resolve(index, size, mode); 2], 0)
        }
        Filter::Linear => {
            let fixed = (position * FRACTION as f64 + 0.5).floor() as i64 - FRACTION / 2 + i64::from(offset) * FRACTION;
            let last = size - 1;
            match mode {
                // Nothing to mix at the edges.
                AddressMode::Clamp if fixed < 0 => return ([Index::Texel(0); 2], 0),
                AddressMode::Clamp if fixed > i64::from(last) * FRACTION => return ([Index::Texel(last); 2], 0),
                _ => {}
            }
            let index = fixed.div_euclid(FRACTION);
            ([resolve(index, size, mode), resolve(index + 1, size, mode)], fixed.rem_euclid(FRACTION))
        }
    }
}

/// The effective address modes: only normalised coordinates wrap or mirror.
fn modes(sampling: &Sampling) -> [AddressMode; 3] {
    sampling.address_modes.map(|mode| match mode {
        AddressMode::Wrap | AddressMode::Mirror if !sampling.normalized_coordinates => AddressMode::Clamp,
        mode => mode,
    })
}

/// The axes of a fetch from one level.
fn axes(
    image: &Image,
    level: u32,
    at: Coordinates,
    offset: [i32; 3],
    sampling: &Sampling,
    filter: Filter,
) -> [Axis; 3] {
    let (extent, modes) = (image.extent(level), modes(sampling));
    std::array::from_fn(|index| {
        if index >= image.dimensions() {
            return ([Index::Texel(0); 2], 0);
        }
        let (size, mode, offset) = (extent[index], modes[index], offset[index]);
        match at {
            // Integer indices name texels: nothing to filter, and no border.
            Coordinates::Whole(whole) => {
                let index = i64::from(whole[index]) + i64::from(offset);
                ([resolve(index, size, AddressMode::Border); 2], 0)
            }
            Coordinates::Float(at) => {
                let mode = if image.is_linear_memory() { AddressMode::Border } else { mode };
                axis(in_texels(at[index], size, sampling), offset, size, mode, filter)
            }
        }
    })
}

/// Reads a texel, or the border.
fn texel_at(
    image: &mut Image<'_>,
    level: u32,
    request: &LevelFetch<'_>,
    index: [Index; 3],
) -> Result<Texel, TexelFault> {
    let &LevelFetch { layer, at, sampling, .. } = request;
    let layer = match at {
        Coordinates::Whole(_) => (layer < image.layers()).then_some(layer),
        Coordinates::Float(_) => Some(layer.min(image.layers() - 1)),
    };
    let is_inside = index.iter().all(|index| matches!(index, Index::Texel(_)));
    let nearest = index.map(Index::nearest);
    match layer {
        Some(layer) if is_inside => image.texel(level, layer, nearest, sampling),
        // Linear memory and integer indices read zeros outside.
        _ if image.is_linear_memory() || matches!(at, Coordinates::Whole(_)) => Ok([0; 4]),
        _ => {
            image.look_for(level, layer.unwrap_or(0), nearest);
            Ok(border(image.format(), sampling))
        }
    }
}

/// The weights of the texels that the linear filter mixes, in 256ths; their sum is `total`. x
/// varies fastest, then y, then z.
///
/// Each dimension splits the weight, z first, then x, then y. The second texel's share is rounded
/// to nearest, a half up, except down where y splits the weight of the first texel in x. This
/// matches an H200 to the bit.
fn weights([x, y, z]: [i64; 3], total: i64) -> [i64; 8] {
    const HALF: i64 = FRACTION / 2;
    let mut weights = [0; 8];
    let behind = (total * z + HALF) / FRACTION;
    for (slice, total) in [total - behind, behind].into_iter().enumerate() {
        let right = (total * x + HALF) / FRACTION;
        let left = total - right;
        let (below_left, below_right) = ((left * y + HALF - 1) / FRACTION, (right * y + HALF) / FRACTION);
        let four = [left - below_left, right - below_right, below_left, below_right];
        weights[4 * slice..][..4].copy_from_slice(&four);
    }
    weights
}

/// A fetch apart from its level: what it reads of each.
#[derive(Clone, Copy)]
struct LevelFetch<'a> {
    layer: u32,
    at: Coordinates,
    offset: [i32; 3],
    sampling: &'a Sampling,
}

/// The nearest texel of a level.
fn nearest(image: &mut Image<'_>, level: u32, request: &LevelFetch<'_>) -> Result<Texel, TexelFault> {
    let &LevelFetch { at, offset, sampling, .. } = request;
    let axes = axes(image, level, at, offset, sampling, Filter::Point);
    texel_at(image, level, request, axes.map(|(indices, _)| indices[0]))
}

/// Adds a level to the sums with a weight of `total` 256ths.
fn add_level(
    image: &mut Image<'_>,
    level: u32,
    total: i64,
    request: &LevelFetch<'_>,
    sums: &mut [f64; 4],
) -> Result<(), TexelFault> {
    let &LevelFetch { at, offset, sampling, .. } = request;
    let axes = axes(image, level, at, offset, sampling, sampling.filter);
    let weights = weights(axes.map(|(_, fraction)| fraction), total);
    let corners = if sampling.filter == Filter::Linear { 1 << image.dimensions() } else { 1 };
    for (corner, weight) in weights.into_iter().enumerate().take(corners) {
        let index = std::array::from_fn(|dimension| axes[dimension].0[corner >> dimension & 1]);
        image.set_weightless(weight == 0);
        let texel = texel_at(image, level, request, index)?;
        if weight != 0 {
            for (sum, component) in sums.iter_mut().zip(texel) {
                *sum += weight as f64 / FRACTION as f64 * f64::from(f32::from_bits(component));
            }
        }
    }
    image.set_weightless(false);
    Ok(())
}

/// The level of detail that a fetch requests, clamped to those that exist.
fn level_of(image: &Image, lod: Lod, sampling: &Sampling) -> f64 {
    let asked = match lod {
        Lod::Base => 0.0,
        Lod::At(level) => f64::from(level),
        Lod::Gradient(in_x, in_y) => {
            let extent = image.extent(0);
            let length = |change: [f32; 3]| {
                let squares = change.iter().zip(extent).map(|(&part, size)| in_texels(part, size, sampling).powi(2));
                squares.take(image.dimensions()).sum::<f64>().sqrt()
            };
            length(in_x).max(length(in_y)).max(f64::MIN_POSITIVE).log2()
        }
    };
    let (least, most) = sampling.level_range;
    let biased = (asked + f64::from(sampling.level_bias)).max(least.into()).min(f64::from(most.max(least)));
    if biased.is_nan() { 0.0 } else { biased.clamp(0.0, f64::from(image.levels() - 1)) }
}

/// `tex`: the four components of the filtered value.
pub(crate) fn sample(
    image: &mut Image<'_>,
    layer: u32,
    at: Coordinates,
    lod: Lod,
    offset: [i32; 3],
    sampling: &Sampling,
) -> Result<Texel, TexelFault> {
    let request = LevelFetch { layer, at, offset, sampling };
    // Integer indices name texels: nothing to filter.
    let mixes = sampling.filter == Filter::Linear && matches!(at, Coordinates::Float(_)) && !image.is_linear_memory();
    let level = level_of(image, lod, sampling);
    if !mixes && sampling.level_filter == Filter::Point || !image.gives_floats(sampling) {
        return nearest(image, (level + 0.5).floor() as u32, &request);
    }
    let (first, fraction) = match sampling.level_filter {
        Filter::Point => ((level + 0.5).floor() as u32, 0),
        Filter::Linear => {
            let fixed = (level * FRACTION as f64 + 0.5).floor() as i64;
            ((fixed / FRACTION) as u32, fixed % FRACTION)
        }
    };
    if !mixes && fraction == 0 {
        return nearest(image, first, &request);
    }
    let mut sums = [0.0; 4];
    add_level(image, first, FRACTION - fraction, &request, &mut sums)?;
    if fraction != 0 {
        add_level(image, first + 1, fraction, &request, &mut sums)?;
    }
    Ok(rounded(sums, image.format(), sampling))
}

/// `tld4`: one component of the four texels that the linear filter would mix, counter-clockwise
/// from the lower left (y points down).
pub(crate) fn gather(
    image: &mut Image<'_>,
    layer: u32,
    at: [f32; 3],
    component: usize,
    offset: [i32; 3],
    sampling: &Sampling,
) -> Result<Texel, TexelFault> {
    let request = LevelFetch { layer, at: Coordinates::Float(at), offset, sampling };
    let axes = axes(image, 0, request.at, offset, sampling, Filter::Linear);
    let mut result = [0; 4];
    for (value, (x, y)) in result.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
        let index = [axes[0].0[x], axes[1].0[y], Index::Texel(0)];
        *value = texel_at(image, 0, &request, index)?[component & 3];
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_outside_are_brought_inside() {
        use AddressMode::*;
        let inside = |index| if let Index::Texel(index) = index { i64::from(index) } else { -1 };
        let all = |mode| (-5..9).map(|index| inside(resolve(index, 4, mode))).collect::<Vec<_>>();
        assert_eq!(all(Clamp), [0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(all(Wrap), [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(all(Mirror), [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert_eq!(all(Border), [-1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, -1]);
    }

    #[test]
    fn weights_sum_up_and_are_rounded_as_the_hardware_does() {
        assert_eq!(weights([64, 128, 0], 256)[..4], [96, 32, 96, 32]);
        // 36 x 128 / 256 is whole; 35 x 129 / 256 is 17.6.
        assert_eq!(weights([35, 129, 0], 256)[..4], [110, 17, 111, 18]);
        for fractions in [[1, 1, 1], [255, 120, 112], [128, 128, 128], [0, 255, 3]] {
            assert_eq!(weights(fractions, 256).iter().sum::<i64>(), 256, "{fractions:?}");
        }
    }

    #[test]
    fn weights_have_eight_bits_of_fraction() {
        let at = |position| {
            let (indices, weight) = axis(position, 0, 8, AddressMode::Clamp, Filter::Linear);
            (indices.map(Index::nearest), weight)
        };
        assert_eq!(at(2.5), ([2, 3], 0));
        assert_eq!(at(3.0), ([2, 3], 128));
        assert_eq!(at(2.5 + 1.0 / 256.0), ([2, 3], 1));
        assert_eq!(at(2.5 + 0.4 / 256.0), ([2, 3], 0));
        assert_eq!(at(2.5 + 0.6 / 256.0), ([2, 3], 1));
        assert_eq!(at(0.25), ([0, 0], 0));
        assert_eq!(at(100.0), ([7, 7], 0));
    }
}
