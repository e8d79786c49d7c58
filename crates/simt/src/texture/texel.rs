//! Converts texels: from bytes to components for fetches, and back for formatted stores.

use ptx::Type;

use super::types::{ChannelType, ReadMode, Sampling, TexelFormat};
use crate::lanes;

/// The bits of four components: f32, or 32-bit integers.
pub(crate) type Texel = [u32; 4];

/// Whether a fetch returns floats.
pub(crate) fn gives_floats(format: TexelFormat, sampling: &Sampling) -> bool {
    format.ty.is_float() || sampling.read_mode == ReadMode::NormalizedFloat
}

/// The components of a texel.
pub(crate) fn decode(bytes: &[u8], format: TexelFormat, sampling: &Sampling) -> Texel {
    let floats = gives_floats(format, sampling);
    // Components that the format lacks are zero.
    let mut texel = [0; 4];
    let size = format.ty.bytes() as usize;
    for (index, part) in bytes.chunks_exact(size).take(format.channels as usize).enumerate() {
        let raw = part.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        let normalize = |value: f32| value.to_bits();
        texel[index] = match (format.ty, floats) {
            (ChannelType::F32, _) => raw,
            (ChannelType::F16, _) => half(raw as u16).to_bits(),
            (ChannelType::U8, true) if sampling.srgb && index < 3 => linear(raw as f32 / 255.0).to_bits(),
            (ChannelType::U8, true) => normalize(raw as f32 / 255.0),
            (ChannelType::U16, true) => normalize(raw as f32 / 65535.0),
            (ChannelType::S8, true) => normalize((f32::from(raw as i8) / 127.0).max(-1.0)),
            (ChannelType::S16, true) => normalize((f32::from(raw as i16) / 32767.0).max(-1.0)),
            (ChannelType::S8, false) => i32::from(raw as i8) as u32,
            (ChannelType::S16, false) => i32::from(raw as i16) as u32,
            _ => raw,
        };
    }
    texel
}

/// The border colour as a fetch returns it, like a texel of the format. Normalised values are
/// rounded towards zero. For other integers, the driver takes the bits of the floats.
pub(crate) fn border(format: TexelFormat, sampling: &Sampling) -> Texel {
    let size = format.ty.bytes() as usize;
    let normalizes = sampling.read_mode == ReadMode::NormalizedFloat;
    let mut bytes = [0; 16];
    for (part, &value) in bytes.chunks_exact_mut(size).zip(&sampling.border[..format.channels as usize]) {
        let normalized = |low: f32, most: u32| (value.clamp(low, 1.0) * most as f32) as i32 as u32;
        let stored = match format.ty {
            ChannelType::F16 => lanes::float_immediate(f64::from(value).to_bits(), Type::F16) as u32,
            ChannelType::U8 if normalizes => normalized(0.0, 0xff),
            ChannelType::U16 if normalizes => normalized(0.0, 0xffff),
            ChannelType::S8 if normalizes => normalized(-1.0, 0x7f),
            ChannelType::S16 if normalizes => normalized(-1.0, 0x7fff),
            _ => value.to_bits(),
        };
        part.copy_from_slice(&stored.to_le_bytes()[..size]);
    }
    decode(&bytes[..format.bytes() as usize], format, sampling)
}

/// A sum of texels as a fetch returns it. An H200 rounds sums of f16 to f16 (a half away from
/// zero), and sums of integers to 16 bits, whatever their size.
pub(crate) fn rounded(sums: [f64; 4], format: TexelFormat, sampling: &Sampling) -> Texel {
    // The sum is a whole number of 256ths, apart from floating-point error.
    let whole = |sum: f64, most: f64| (((sum * most * 256.0).round() / 256.0 + 0.5).floor() / most) as f32;
    sums.map(|sum| {
        let value = match format.ty {
            ChannelType::F16 => round_to_half(sum),
            ChannelType::U8 | ChannelType::U16 if !sampling.srgb => whole(sum, 65535.0),
            ChannelType::S8 | ChannelType::S16 => whole(sum, 32767.0),
            _ => sum as f32,
        };
        value.to_bits()
    })
}

/// Rounds to f16, a half away from zero.
fn round_to_half(value: f64) -> f32 {
    // The spacing of f16 at this magnitude: 10 bits of fraction, and at least 2^-24.
    let exponent = if value == 0.0 { -14 } else { (value.abs().log2().floor() as i32).clamp(-14, 15) };
    let step = 2.0f64.powi(exponent - 10);
    let magnitude = (value.abs() / step + 0.5).floor() * step;
    magnitude.copysign(value) as f32
}

/// The bytes of a texel that a formatted store writes: floats are converted, integers are clamped
/// to the format's range.
pub(crate) fn encode(values: &[u32], format: TexelFormat) -> [u8; 16] {
    let mut bytes = [0; 16];
    let size = format.ty.bytes() as usize;
    for (index, &value) in values.iter().take(format.channels as usize).enumerate() {
        let signed = |low: i32, high: i32| (value as i32).clamp(low, high) as u32;
        let stored = match format.ty {
            ChannelType::U8 => value.min(0xff),
            ChannelType::U16 => value.min(0xffff),
            ChannelType::S8 => signed(-128, 127),
            ChannelType::S16 => signed(-32768, 32767),
            ChannelType::F16 => {
                let wide = f64::from(f32::from_bits(value)).to_bits();
                lanes::float_immediate(wide, Type::F16) as u32
            }
            ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => value,
        };
        bytes[index * size..][..size].copy_from_slice(&stored.to_le_bytes()[..size]);
    }
    bytes
}

/// The code of a texture's type for `txq` (PTX ISA, "Channel Data Type and Channel Order Fields").
pub(crate) fn data_type_code(format: TexelFormat, sampling: &Sampling) -> u32 {
    match (format.ty, sampling.read_mode) {
        (ChannelType::S8, ReadMode::NormalizedFloat) => 0x10D0,
        (ChannelType::S16, ReadMode::NormalizedFloat) => 0x10D1,
        (ChannelType::U8, ReadMode::NormalizedFloat) => 0x10D2,
        (ChannelType::U16, ReadMode::NormalizedFloat) => 0x10D3,
        (ChannelType::S8, _) => 0x10D7,
        (ChannelType::S16, _) => 0x10D8,
        (ChannelType::S32, _) => 0x10D9,
        (ChannelType::U8, _) => 0x10DA,
        (ChannelType::U16, _) => 0x10DB,
        (ChannelType::U32, _) => 0x10DC,
        (ChannelType::F16, _) => 0x10DD,
        (ChannelType::F32, _) => 0x10DE,
    }
}

/// The value of an f16.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    match exponent {
        0 => sign * mantissa * 2.0f32.powi(-24),
        31 if mantissa == 0.0 => sign * f32::INFINITY,
        31 => f32::from_bits(0x7fff_ffff),
        _ => sign * (1024.0 + mantissa) * 2.0f32.powi(exponent - 25),
    }
}

/// From sRGB to linear (IEC 61966-2-1).
fn linear(value: f32) -> f32 {
    let value = f64::from(value);
    let result = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
    result as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(bytes: &[u8], channels: u32, ty: ChannelType) -> [f32; 4] {
        let sampling = Sampling { read_mode: ReadMode::NormalizedFloat, ..Sampling::default() };
        decode(bytes, TexelFormat { channels, ty }, &sampling).map(f32::from_bits)
    }

    #[test]
    fn integers_become_floats() {
        assert_eq!(floats(&[0, 255], 2, ChannelType::U8), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(floats(&[0x80, 0x81, 0x7f, 0], 4, ChannelType::S8), [-1.0, -1.0, 1.0, 0.0]);
        assert_eq!(floats(&[0xff, 0xff], 1, ChannelType::U16)[0], 1.0);
        assert_eq!(floats(&[0x00, 0x80, 0x01, 0x80], 2, ChannelType::S16)[..2], [-1.0, -1.0]);
        assert_eq!(floats(&[51], 1, ChannelType::U8)[0], 0.2);
    }

    #[test]
    fn elements_keep_their_bits_and_signs() {
        let of = |bytes: &[u8], channels, ty| decode(bytes, TexelFormat { channels, ty }, &Sampling::default());
        assert_eq!(of(&[0xfe, 3], 2, ChannelType::S8), [-2i32 as u32, 3, 0, 0]);
        assert_eq!(of(&[0xfe, 0xff], 1, ChannelType::U16), [0xfffe, 0, 0, 0]);
        assert_eq!(of(&[0x00, 0x3c, 0x00, 0xc0], 2, ChannelType::F16)[..2], [1.0f32, -2.0].map(f32::to_bits));
        assert_eq!(of(&[0x01, 0x00], 1, ChannelType::F16)[0], 5.960_464_5e-8f32.to_bits());
    }

    #[test]
    fn stores_convert_and_clamp() {
        let of = |values: &[u32], channels, ty| encode(values, TexelFormat { channels, ty });
        assert_eq!(of(&[300, 7], 2, ChannelType::U8)[..2], [255, 7]);
        assert_eq!(of(&[-300i32 as u32], 1, ChannelType::S8)[0], 0x80);
        assert_eq!(of(&[1.5f32.to_bits()], 1, ChannelType::F16)[..2], [0x00, 0x3e]);
    }

    #[test]
    fn srgb_is_made_linear_but_for_alpha() {
        let sampling = Sampling { read_mode: ReadMode::NormalizedFloat, srgb: true, ..Sampling::default() };
        let texel = decode(&[255, 128, 5, 128], TexelFormat { channels: 4, ty: ChannelType::U8 }, &sampling);
        let [red, green, blue, alpha] = texel.map(f32::from_bits);
        assert_eq!(red, 1.0);
        assert!((green - 0.215_86).abs() < 1e-5 && (blue - 0.001_517_6).abs() < 1e-6, "{green} {blue}");
        assert_eq!(alpha, 128.0 / 255.0);
    }
}
