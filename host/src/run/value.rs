//! The number types that arguments can have, and lists of such numbers: parsed, generated, read
//! from files and written. `argument`, `variables` and the report use them.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use common::random::Random;
use device::Result;
use half::f16;
use serde::{Serialize, Serializer};

use crate::npy::{self, Element};

/// Declares each type once, and derives the names, the lists of values and the dispatch from that.
macro_rules! types {
    ($($variant:ident $type:ident),*) => {
        /// The type of a number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // the names are Rust's
        pub enum Type {
            $($variant),*
        }

        /// Numbers of one type.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Values {
            $($variant(Vec<$type>)),*
        }

        $(impl Number for $type {
            const TYPE: Type = Type::$variant;

            fn list(values: Vec<Self>) -> Values {
                Values::$variant(values)
            }
        })*

        impl Type {
            /// All types.
            pub const ALL: [Self; 11] = [$(Self::$variant),*];

            /// Its name, which is Rust's.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($type)),*
                }
            }

            /// Bytes of one number.
            pub fn bytes(self) -> usize {
                match self {
                    $(Self::$variant => size_of::<$type>()),*
                }
            }

            /// NumPy's code, without the byte order.
            fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => <$type as Element>::CODE),*
                }
            }

            /// The constructors of values of this type.
            fn constructors(self) -> Constructors {
                match self {
                    $(Self::$variant => Constructors::of::<$type>()),*
                }
            }
        }

        impl Values {
            /// Their type.
            pub fn ty(&self) -> Type {
                match self {
                    $(Self::$variant(_) => Type::$variant),*
                }
            }

            /// Their bytes, as on a device.
            pub fn bytes(&self) -> &[u8] {
                match self {
                    $(Self::$variant(values) => bytemuck::cast_slice(values)),*
                }
            }

            /// Their bytes, to be overwritten.
            pub fn bytes_mut(&mut self) -> &mut [u8] {
                match self {
                    $(Self::$variant(values) => bytemuck::cast_slice_mut(values)),*
                }
            }

            /// Each of them as text.
            pub fn texts(&self) -> Box<dyn Iterator<Item = String> + '_> {
                match self {
                    $(Self::$variant(values) => Box::new(values.iter().map(ToString::to_string))),*
                }
            }

            /// Serializes them; those that are marked are null.
            pub fn serialize_known<S: Serializer>(
                &self,
                unknown: &[bool],
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                let is_known = |index: usize| unknown.get(index) != Some(&true);
                match self {
                    $(Self::$variant(values) => serializer.collect_seq(
                        values.iter().enumerate().map(|(index, value)| is_known(index).then(|| value.in_json()))
                    )),*
                }
            }

            /// The first element at which others of the same type differ; if `tolerant`, floats as
            /// [`TOLERANCE`] says.
            pub fn first_difference(&self, others: &Self, tolerant: bool) -> Option<usize> {
                match (self, others) {
                    $((Self::$variant(values), Self::$variant(others)) => {
                        let same = |(one, other): (&$type, &$type)| {
                            bytemuck::bytes_of(one) == bytemuck::bytes_of(other) || tolerant && one.is_near(other)
                        };
                        values.iter().zip(others).position(|pair| !same(pair))
                    })*
                    _ => None,
                }
            }

            /// Writes them to a `.npy` file, whole or not at all.
            pub fn write(&self, path: &Path, shape: &[usize]) -> Result<()> {
                match self {
                    $(Self::$variant(values) => npy::write(path, shape, values)),*
                }
            }
        }
    };
}

types!(U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, F32 f32, F64 f64);

/// Other names of these types: C's and CUDA's, and PTX's.
const OTHER_NAMES: [(&str, Type); 22] = [
    ("char", Type::I8),
    ("signed char", Type::I8),
    ("unsigned char", Type::U8),
    ("uchar", Type::U8),
    ("bool", Type::U8),
    ("short", Type::I16),
    ("unsigned short", Type::U16),
    ("ushort", Type::U16),
    ("int", Type::I32),
    ("unsigned int", Type::U32),
    ("unsigned", Type::U32),
    ("uint", Type::U32),
    ("long long", Type::I64),
    ("unsigned long long", Type::U64),
    ("size_t", Type::U64),
    ("half", Type::F16),
    ("float", Type::F32),
    ("double", Type::F64),
    ("s8", Type::I8),
    ("s16", Type::I16),
    ("s32", Type::I32),
    ("s64", Type::I64),
];

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.serialize_known(&[], serializer)
    }
}

/// A type of number, as Rust has it.
trait Number: Element + FromStr + Display + Draw {
    const TYPE: Type;

    fn list(values: Vec<Self>) -> Values;
}

/// The relative difference up to which floats of two runs count as the same where the order of sums
/// is open; of f16, `TOLERANCE_F16`.
pub const TOLERANCE: f64 = 1e-5;
const TOLERANCE_F16: f64 = 1e-2;

/// Random and consecutive numbers, and what a number is in JSON.
trait Draw: Sized {
    /// The number in JSON.
    type InJson: Serialize;
    fn in_json(&self) -> Self::InJson;
    /// The range of this type, as text.
    fn range() -> String;
    /// Whether it is a float that differs from another no more than the order of a sum may change
    /// it.
    fn is_near(&self, other: &Self) -> bool;
    /// The next random number.
    fn draw(random: &mut Random) -> Self;
    /// The number at this index of 0, 1, 2, ...
    fn step(index: usize) -> Self;
}

macro_rules! draw_whole {
    ($($type:ident),*) => {
        $(impl Draw for $type {
            type InJson = Self;

            fn in_json(&self) -> Self {
                *self
            }

            fn range() -> String {
                format!("a whole number from {} to {}", Self::MIN, Self::MAX)
            }

            fn is_near(&self, _: &Self) -> bool {
                false
            }

            fn draw(random: &mut Random) -> Self {
                // The highest bits; all values are equally likely.
                (random.next_u64() >> (64 - Self::BITS)) as Self
            }

            fn step(index: usize) -> Self {
                index as Self
            }
        })*
    };
}

draw_whole!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Draw for f32 {
    type InJson = Self;

    fn in_json(&self) -> Self {
        *self
    }

    fn range() -> String {
        "a number".to_owned()
    }

    fn is_near(&self, other: &Self) -> bool {
        are_near((*self).into(), (*other).into(), TOLERANCE)
    }

    fn draw(random: &mut Random) -> Self {
        random.next_f32()
    }

    fn step(index: usize) -> Self {
        index as Self
    }
}

impl Draw for f16 {
    type InJson = f32;

    fn in_json(&self) -> f32 {
        self.to_f32()
    }

    fn range() -> String {
        "a number".to_owned()
    }

    fn is_near(&self, other: &Self) -> bool {
        are_near(self.to_f64(), other.to_f64(), TOLERANCE_F16)
    }

    fn draw(random: &mut Random) -> Self {
        Self::from_f32(random.next_f32())
    }

    fn step(index: usize) -> Self {
        Self::from_f32(index as f32)
    }
}

impl Draw for f64 {
    type InJson = Self;

    fn in_json(&self) -> Self {
        *self
    }

    fn range() -> String {
        "a number".to_owned()
    }

    fn is_near(&self, other: &Self) -> bool {
        are_near(*self, *other, TOLERANCE)
    }

    fn draw(random: &mut Random) -> Self {
        (random.next_u64() >> 11) as Self / (1_u64 << 52) as Self - 1.0
    }

    fn step(index: usize) -> Self {
        index as Self
    }
}

/// Whether two floats differ by at most this part of the larger, or are no numbers.
fn are_near(one: f64, other: f64, tolerance: f64) -> bool {
    one.is_nan() && other.is_nan() || (one - other).abs() <= tolerance * one.abs().max(other.abs())
}

/// Numbers and their shape.
type Array = (Values, Vec<usize>);

/// The functions that make values of one type.
struct Constructors {
    parse: fn(&[&str]) -> std::result::Result<Values, String>,
    repeat: fn(&Values, usize) -> Values,
    random: fn(u64, usize) -> Values,
    ramp: fn(usize) -> Values,
    read: fn(&Path, usize) -> Result<Array>,
}

impl Constructors {
    fn of<T: Number>() -> Self {
        Self {
            parse: |texts| {
                let parse = |text: &&str| {
                    text.parse().map_err(|_| {
                        format!("'{text}' is not a number of type {}; give {}", T::TYPE.name(), T::range())
                    })
                };
                texts.iter().map(parse).collect::<std::result::Result<_, _>>().map(T::list)
            },
            repeat: |one, length| T::list(vec![bytemuck::pod_read_unaligned(&one.bytes()[..size_of::<T>()]); length]),
            random: |seed, length| {
                let mut random = Random::new(seed);
                T::list((0..length).map(|_| T::draw(&mut random)).collect())
            },
            ramp: |length| T::list((0..length).map(T::step).collect()),
            read: |path, dimensions| npy::read::<T>(path, dimensions).map(|array| (T::list(array.data), array.shape)),
        }
    }
}

impl Type {
    /// The type of that name: Rust's, C's or PTX's.
    pub fn of_name(name: &str) -> Option<Self> {
        let others = || OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|&(_, ty)| ty);
        Self::ALL.into_iter().find(|ty| ty.name() == name).or_else(others)
    }

    /// Whether its numbers are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// The float or the unsigned integer of this many bytes.
    pub fn of_kind(is_float: bool, bytes: usize) -> Option<Self> {
        let unsigned = |ty: &Self| matches!(ty, Self::U8 | Self::U16 | Self::U32 | Self::U64);
        Self::ALL.into_iter().find(|ty| ty.bytes() == bytes && if is_float { ty.is_float() } else { unsigned(ty) })
    }

    /// The integer of this many bytes.
    pub fn of_whole(is_signed: bool, bytes: usize) -> Option<Self> {
        let signed = |ty: &Self| matches!(ty, Self::I8 | Self::I16 | Self::I32 | Self::I64);
        Self::ALL.into_iter().find(|ty| ty.bytes() == bytes && !ty.is_float() && signed(ty) == is_signed)
    }

    /// The type of this NumPy code, byte order included.
    fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| code.strip_prefix(['<', '>', '|']) == Some(ty.code()))
    }

    /// Parses numbers.
    ///
    /// # Errors
    ///
    /// A message with the wrong text and what is accepted.
    pub fn parse(self, texts: &[&str]) -> std::result::Result<Values, String> {
        (self.constructors().parse)(texts)
    }

    /// This many zeros.
    pub fn zeros(self, length: usize) -> Values {
        self.ramp(1).repeat(length)
    }

    /// 0, 1, 2, ...; a type of whole numbers that is too small wraps around.
    pub fn ramp(self, length: usize) -> Values {
        (self.constructors().ramp)(length)
    }

    /// Random numbers: integers from the type's whole range, floats from -1 up to, but not
    /// including, 1.
    pub fn random(self, seed: u64, length: usize) -> Values {
        (self.constructors().random)(seed, length)
    }

    /// The vector or matrix of a `.npy` file and its shape; the type is the file's if none is
    /// given.
    ///
    /// # Errors
    ///
    /// [`device::Error::File`] if it cannot be read, or has another type or more dimensions.
    pub fn read(wanted: Option<Self>, path: &Path) -> Result<Array> {
        let npy::Contents { code, dimensions } = npy::contents(path)?;
        let found = wanted.or(Self::of_code(&code)).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            device::Error::file(path, format!("holds elements of type '{code}', but one of {names} is needed"))
        })?;
        (found.constructors().read)(path, if dimensions == 2 { 2 } else { 1 })
    }
}

impl Values {
    /// The first value, repeated.
    pub fn repeat(&self, length: usize) -> Self {
        (self.ty().constructors().repeat)(self, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_made() {
        assert_eq!(Type::F32.zeros(2), Values::F32(vec![0.0; 2]));
        assert_eq!(Type::U8.ramp(258), Values::U8((0..258).map(|i| i as u8).collect()));
        assert_eq!(Type::F64.ramp(3), Values::F64(vec![0.0, 1.0, 2.0]));
        assert_eq!(Type::F32.random(7, 5), Values::F32(Random::new(7).vector(5)));
        assert_eq!(Type::I16.random(7, 5), Type::I16.random(7, 5));
        assert_ne!(Type::I16.random(7, 5), Type::I16.random(8, 5));
        let Values::F64(drawn) = Type::F64.random(1, 1000) else { panic!("another type") };
        assert!(drawn.iter().all(|x| (-1.0..1.0).contains(x)) && drawn.iter().any(|&x| x < -0.9));
        let Values::I8(drawn) = Type::I8.random(1, 5000) else { panic!("another type") };
        assert!(drawn.contains(&i8::MIN) && drawn.contains(&i8::MAX));
    }

    #[test]
    fn types_have_rusts_names_and_numpys_codes() {
        for ty in Type::ALL {
            assert_eq!(Type::of_name(ty.name()), Some(ty));
            assert_eq!(Type::of_code(&format!("<{}", ty.code())), Some(ty));
            assert_eq!(ty.zeros(3).bytes().len(), 3 * ty.bytes());
        }
        assert_eq!(Type::of_code("|u1"), Some(Type::U8));
        assert_eq!(Type::of_code("<c8"), None);
        assert_eq!((Type::of_name("int"), Type::of_name("float")), (Some(Type::I32), Some(Type::F32)));
        assert_eq!((Type::of_name("s32"), Type::of_name("b32")), (Some(Type::I32), None));
    }

    #[test]
    fn floats_are_near_each_other_only_where_sums_are_open() {
        let pairs = [
            (Values::F32(vec![1.0, 100.0]), Values::F32(vec![1.0, 100.0005]), Values::F32(vec![1.0, 100.01])),
            (Values::F64(vec![1.0, -100.0]), Values::F64(vec![1.0, -100.0005]), Values::F64(vec![1.0, 100.0])),
            (
                Values::F16(vec![f16::ONE, f16::from_f32(64.0)]),
                Values::F16(vec![f16::ONE, f16::from_f32(64.5)]),
                Values::F16(vec![f16::ONE, f16::from_f32(66.0)]),
            ),
        ];
        for (one, near, far) in pairs {
            assert_eq!((one.first_difference(&near, true), one.first_difference(&near, false)), (None, Some(1)));
            assert_eq!((one.first_difference(&far, true), one.first_difference(&one, false)), (Some(1), None));
        }
        let (nan, other) = (Values::F32(vec![f32::NAN]), Values::F32(vec![-f32::NAN]));
        assert_eq!((nan.first_difference(&other, true), nan.first_difference(&other, false)), (None, Some(0)));
        let (one, other) = (Values::I32(vec![1, 2_000_000]), Values::I32(vec![1, 2_000_001]));
        assert_eq!(one.first_difference(&other, true), Some(1));
    }

    #[test]
    fn files_of_every_type_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.npy");
        for ty in Type::ALL {
            let values = ty.random(3, 6);
            values.write(&path, &[2, 3]).unwrap();
            assert_eq!(Type::read(None, &path).unwrap(), (values, vec![2, 3]));
        }
        Type::U16.ramp(3).write(&path, &[3]).unwrap();
        let error = Type::read(Some(Type::F32), &path).unwrap_err().to_string();
        assert!(error.contains("holds elements of type '<u2', but float32 is needed"), "{error}");
        Type::U16.ramp(8).write(&path, &[2, 2, 2]).unwrap();
        let error = Type::read(None, &path).unwrap_err().to_string();
        assert!(error.contains("[2, 2, 2]"), "{error}");
    }
}
