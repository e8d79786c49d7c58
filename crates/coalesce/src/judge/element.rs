//! The types of numbers that are judged: drawn from a seed, and compared.

use common::random::Random;
use half::{bf16, f16};
use host::run::value::Type;

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A whole number of so many bytes, without a sign or with one.
    Whole(usize),
    Signed(usize),
    F16,
    Bf16,
    F32,
    F64,
}

/// Where results differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The first element that differs.
    pub index: usize,
    /// What it is and should be, as text.
    pub is: String,
    pub should_be: String,
    /// How many differ.
    pub count: usize,
}

impl Element {
    pub const NAMES: [&str; 12] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];

    /// The type of this name: Rust's, C's or PTX's.
    pub fn named(name: &str) -> Option<Self> {
        if name == "bf16" {
            return Some(Self::Bf16);
        }
        Type::of_name(name).map(Self::of)
    }

    /// The type of this code of NumPy.
    pub fn of_numpy(code: &str) -> Option<Self> {
        let bytes = code.get(2..)?.parse().ok().filter(|bytes| [1, 2, 4, 8].contains(bytes))?;
        match (code.get(1..2)?, bytes) {
            ("b" | "u", _) => Some(Self::Whole(bytes)),
            ("i", _) => Some(Self::Signed(bytes)),
            ("f", 2) => Some(Self::F16),
            ("f", 4) => Some(Self::F32),
            ("f", 8) => Some(Self::F64),
            _ => None,
        }
    }

    fn of(ty: Type) -> Self {
        match ty {
            Type::F16 => Self::F16,
            Type::F32 => Self::F32,
            Type::F64 => Self::F64,
            Type::I8 | Type::I16 | Type::I32 | Type::I64 => Self::Signed(ty.bytes()),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => Self::Whole(ty.bytes()),
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::Whole(bytes) | Self::Signed(bytes) => bytes,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Whether its numbers are floats.
    pub fn is_float(self) -> bool {
        !matches!(self, Self::Whole(_) | Self::Signed(_))
    }

    /// How far results of this type may differ, relatively: floats by the order of a long sum.
    pub fn tolerance(self) -> f64 {
        match self {
            Self::Whole(_) | Self::Signed(_) => 0.0,
            Self::Bf16 => 2e-2,
            Self::F16 => 4e-3,
            Self::F32 => 2e-5,
            Self::F64 => 1e-10,
        }
    }

    /// So many drawn numbers: whole ones below a bound, or any; floats from -scale to scale.
    pub fn draw(self, random: &mut Random, count: usize, below: Option<u64>, scale: f64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count * self.bytes());
        for _ in 0..count {
            let bits = random.next_u64();
            let unit = ((bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * scale;
            match self {
                Self::Whole(width) | Self::Signed(width) => {
                    let number = below.map_or(bits, |below| bits % below.max(1));
                    bytes.extend_from_slice(&number.to_le_bytes()[..width]);
                }
                Self::F16 => bytes.extend_from_slice(&f16::from_f64(unit).to_le_bytes()),
                Self::Bf16 => bytes.extend_from_slice(&bf16::from_f64(unit).to_le_bytes()),
                Self::F32 => bytes.extend_from_slice(&(unit as f32).to_le_bytes()),
                Self::F64 => bytes.extend_from_slice(&unit.to_le_bytes()),
            }
        }
        bytes
    }

    /// A number by its value.
    pub fn number(self, value: f64) -> Vec<u8> {
        match self {
            Self::Whole(width) | Self::Signed(width) => (value as i128).to_le_bytes()[..width].to_vec(),
            Self::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
            Self::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
            Self::F32 => (value as f32).to_le_bytes().to_vec(),
            Self::F64 => value.to_le_bytes().to_vec(),
        }
    }

    /// The float of these bytes.
    fn float(self, bytes: &[u8]) -> f64 {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(eight);
        match self {
            Self::F16 => f16::from_bits(bits as u16).to_f64(),
            Self::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Self::F32 => f32::from_bits(bits as u32).into(),
            Self::F64 => f64::from_bits(bits),
            Self::Whole(_) => bits as f64,
            Self::Signed(width) => (bits << (64 - 8 * width)).cast_signed() as f64 / 2f64.powi(64 - 8 * width as i32),
        }
    }

    fn shown(self, bytes: &[u8]) -> String {
        match (self, self.float(bytes)) {
            (Self::F16 | Self::Bf16 | Self::F32, float) => (float as f32).to_string(),
            (_, number) => number.to_string(),
        }
    }

    /// How results differ from what they should be. A float may differ by the tolerance, relative
    /// to itself or to the mean of all: a sum of numbers of both signs may be near zero.
    pub fn difference(self, is: &[u8], should_be: &[u8], tolerance: f64) -> Option<Difference> {
        if is == should_be {
            return None;
        }
        let each = || is.chunks_exact(self.bytes()).zip(should_be.chunks_exact(self.bytes()));
        let finite = || each().map(|(_, should_be)| self.float(should_be).abs()).filter(|value| value.is_finite());
        let mean = if self.is_float() { finite().sum::<f64>() / finite().count().max(1) as f64 } else { 0.0 };
        let differs = |(is, should_be): &(&[u8], &[u8])| {
            if is == should_be || !self.is_float() {
                return is != should_be;
            }
            let (is, should_be) = (self.float(is), self.float(should_be));
            let close = (is - should_be).abs() <= tolerance * should_be.abs().max(mean);
            !(is == should_be || is.is_nan() && should_be.is_nan() || close && should_be.is_finite())
        };
        let mut all = each().enumerate().filter(|(_, pair)| differs(pair));
        let (index, (is, should_be)) = all.next()?;
        Some(Difference { index, is: self.shown(is), should_be: self.shown(should_be), count: 1 + all.count() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn floats_may_differ_by_the_tolerance() {
        let difference = |is: &[f32], should_be: &[f32]| {
            Element::F32.difference(&floats(is), &floats(should_be), Element::F32.tolerance())
        };
        assert_eq!(difference(&[1.000_01, f32::NAN, f32::INFINITY], &[1.0, f32::NAN, f32::INFINITY]), None);
        // Near zero by cancellation.
        assert_eq!(difference(&[1e-6, 1.0, -1.0], &[0.0, 1.0, -1.0]), None);
        let found = difference(&[1.0, 1.1, f32::NAN], &[1.0, 1.0, 1.0]).unwrap();
        assert_eq!((found.index, found.count, &*found.should_be), (1, 2, "1"));
        assert!(difference(&[1.0], &[f32::INFINITY]).is_some());
        let whole = Element::Whole(4).difference(&1u32.to_le_bytes(), &2u32.to_le_bytes(), 0.5).unwrap();
        assert_eq!((&*whole.is, &*whole.should_be), ("1", "2"));
        assert_eq!(Element::Signed(2).shown(&(-7i16).to_le_bytes()), "-7");
    }

    #[test]
    fn numbers_are_drawn_as_asked() {
        let bytes = Element::Whole(2).draw(&mut Random::new(1), 100, Some(7), 1.0);
        assert!(bytes.chunks(2).all(|number| u16::from_le_bytes([number[0], number[1]]) < 7));
        assert_eq!(
            ["<f4", "|b1", "<i8", ">", "<f1", "<c8"].map(Element::of_numpy),
            [Some(Element::F32), Some(Element::Whole(1)), Some(Element::Signed(8)), None, None, None]
        );
        for name in Element::NAMES {
            let element = Element::named(name).unwrap();
            assert_eq!(element.draw(&mut Random::new(1), 3, None, 2.0).len(), 3 * element.bytes(), "{name}");
            assert_eq!(element.number(3.0).len(), element.bytes());
        }
    }
}
