//! What a fetch gives (CUDA programming guide, "Texture Fetching").
//!
//! A coordinate becomes a number of texels with 8 bits of fraction. Without filter, its whole part names the texel; with the
//! linear filter, half a texel is taken off, the whole part names the first of two texels in that dimension, and the fraction
//! is the weight of the second. The sum is made without intermediate rounding.

use super::objects::{Image, TexelFault};
use super::texel::{self, Texel};
use super::{AddressMode, Filter, Sampling};

/// Which levels a fetch reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lod {
    /// The first.
    Base,
    /// That one.
    At(f32),
    /// The one for these changes of the coordinates from lane to lane, in x and in y.
    Gradient([f32; 3], [f32; 3]),
}

/// A coordinate of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Coordinates {
    /// Indices of texels.
    Whole([i32; 3]),
    /// Positions: between 0 and the number of texels, or 1.
    Float([f32; 3]),
}

/// Fractions of a texel.
const FRACTION: i64 = 256;

/// The texels of one axis that a fetch reads, and the weight of the second in 256ths. `None` is the border.
type Axis = ([Option<u32>; 2], i64);

/// What is outside becomes.
fn resolve(index: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let size = i64::from(size);
    let inside = match mode {
        AddressMode::Clamp => index.clamp(0, size - 1),
        AddressMode::Wrap => index.rem_euclid(size),
        AddressMode::Mirror => {
            let index = index.rem_euclid(2 * size);
            if index < size { index } else { 2 * size - 1 - index }
        }
        AddressMode::Border => index,
    };
    u32::try_from(inside).ok().filter(|&inside| i64::from(inside) < size)
}

/// Positions beyond this are as good as this: further out than any texture, even wrapped many times.
const FAR: f64 = (1u64 << 40) as f64;

/// A position in texels.
fn in_texels(coordinate: f32, size: u32, sampling: &Sampling) -> f64 {
    let scale = if sampling.normalized_coordinates { f64::from(size) } else { 1.0 };
    let position = f64::from(coordinate) * scale;
    if position.is_nan() { 0.0 } else { position.clamp(-FAR, FAR) }
}

fn axis(position: f64, offset: i32, size: u32, mode: AddressMode, filter: Filter) -> Axis {
    match filter {
        Filter::Point => {
            let index = position.floor() as i64 + i64::from(offset);
            ([resolve(index, size, mode), None], 0)
        }
        Filter::Linear => {
            let fixed = (position * FRACTION as f64).round_ties_even() as i64 - FRACTION / 2;
            let index = fixed.div_euclid(FRACTION) + i64::from(offset);
            ([resolve(index, size, mode), resolve(index + 1, size, mode)], fixed.rem_euclid(FRACTION))
        }
    }
}

/// The address modes in force: coordinates that are not normalised neither wrap nor mirror.
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
            return ([Some(0), None], 0);
        }
        let (size, mode, offset) = (extent[index], modes[index], offset[index]);
        match at {
            // Whole indices name texels: nothing to filter.
            Coordinates::Whole(whole) => {
                let mode = if image.is_linear_memory() { AddressMode::Border } else { mode };
                ([resolve(i64::from(whole[index]) + i64::from(offset), size, mode), None], 0)
            }
            Coordinates::Float(at) => {
                let mode = if image.is_linear_memory() { AddressMode::Border } else { mode };
                axis(in_texels(at[index], size, sampling), offset, size, mode, filter)
            }
        }
    })
}

/// Reads a texel, or the border where an index is `None`.
fn texel_at(
    image: &mut Image<'_>,
    level: u32,
    layer: u32,
    index: [Option<u32>; 3],
    sampling: &Sampling,
) -> Result<Texel, TexelFault> {
    match index {
        [Some(x), Some(y), Some(z)] => image.texel(level, layer, [x, y, z], sampling),
        // Beyond linear memory there are zeros.
        _ if image.is_linear_memory() => Ok([0; 4]),
        _ => Ok(texel::border(image.format(), sampling)),
    }
}

/// The value of one level.
fn sample_level(
    image: &mut Image<'_>,
    level: u32,
    layer: u32,
    at: Coordinates,
    offset: [i32; 3],
    sampling: &Sampling,
) -> Result<Texel, TexelFault> {
    let linear = sampling.filter == Filter::Linear && matches!(at, Coordinates::Float(_)) && !image.is_linear_memory();
    let filter = if linear { Filter::Linear } else { Filter::Point };
    let axes = axes(image, level, at, offset, sampling, filter);
    if !linear {
        return texel_at(image, level, layer, axes.map(|(indices, _)| indices[0]), sampling);
    }
    let mut sums = [0.0f64; 4];
    let corners = 1 << image.dimensions();
    for corner in 0..corners {
        let mut weight = 1.0f64;
        let mut index = [Some(0); 3];
        for (dimension, (indices, fraction)) in axes.iter().enumerate().take(image.dimensions()) {
            let second = corner >> dimension & 1;
            index[dimension] = indices[second];
            weight *= if second == 1 { *fraction } else { FRACTION - fraction } as f64 / FRACTION as f64;
        }
        let texel = texel_at(image, level, layer, index, sampling)?;
        if weight != 0.0 {
            for (sum, component) in sums.iter_mut().zip(texel) {
                *sum += weight * f64::from(f32::from_bits(component));
            }
        }
    }
    Ok(sums.map(|sum| (sum as f32).to_bits()))
}

/// The level of detail that a fetch asks for, within those that there are.
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

/// `tex`: the filtered value, four components.
pub(crate) fn sample(
    image: &mut Image<'_>,
    layer: u32,
    at: Coordinates,
    lod: Lod,
    offset: [i32; 3],
    sampling: &Sampling,
) -> Result<Texel, TexelFault> {
    if image.levels() == 1 || lod == Lod::Base && sampling.level_bias == 0.0 && sampling.level_range.0 <= 0.0 {
        return sample_level(image, 0, layer, at, offset, sampling);
    }
    let level = level_of(image, lod, sampling);
    if sampling.level_filter == Filter::Point {
        return sample_level(image, (level + 0.5).floor() as u32, layer, at, offset, sampling);
    }
    let fixed = (level * FRACTION as f64).round_ties_even() as i64;
    let (first, fraction) = ((fixed / FRACTION) as u32, (fixed % FRACTION) as f64 / FRACTION as f64);
    let low = sample_level(image, first, layer, at, offset, sampling)?;
    if fraction == 0.0 {
        return Ok(low);
    }
    let high = sample_level(image, first + 1, layer, at, offset, sampling)?;
    Ok(std::array::from_fn(|index| {
        let [low, high] = [low[index], high[index]].map(|bits| f64::from(f32::from_bits(bits)));
        ((low * (1.0 - fraction) + high * fraction) as f32).to_bits()
    }))
}

/// `tld4`: one component of the four texels that the linear filter would mix, counter-clockwise from the lower left: y
/// runs downwards.
pub(crate) fn gather(
    image: &mut Image<'_>,
    layer: u32,
    at: [f32; 3],
    component: usize,
    offset: [i32; 3],
    sampling: &Sampling,
) -> Result<Texel, TexelFault> {
    let axes = axes(image, 0, Coordinates::Float(at), offset, sampling, Filter::Linear);
    let mut result = [0; 4];
    for (value, (x, y)) in result.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
        let index = [axes[0].0[x], axes[1].0[y], Some(0)];
        *value = texel_at(image, 0, layer, index, sampling)?[component & 3];
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_outside_are_brought_inside() {
        use AddressMode::*;
        let all = |mode| (-5..9).map(|index| resolve(index, 4, mode).map_or(-1, i64::from)).collect::<Vec<_>>();
        assert_eq!(all(Clamp), [0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(all(Wrap), [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(all(Mirror), [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert_eq!(all(Border), [-1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, -1]);
    }

    #[test]
    fn weights_have_eight_bits_of_fraction() {
        let at = |position| axis(position, 0, 8, AddressMode::Clamp, Filter::Linear);
        assert_eq!(at(2.5), ([Some(2), Some(3)], 0));
        assert_eq!(at(3.0), ([Some(2), Some(3)], 128));
        assert_eq!(at(2.5 + 1.0 / 256.0), ([Some(2), Some(3)], 1));
        assert_eq!(at(2.5 + 0.4 / 256.0), ([Some(2), Some(3)], 0));
        assert_eq!(at(2.5 + 0.6 / 256.0), ([Some(2), Some(3)], 1));
        assert_eq!(at(0.25), ([Some(0), Some(0)], 192));
        assert_eq!(at(100.0), ([Some(7), Some(7)], 128));
    }
}
