//! Encodes a tensor map as 128 bytes, decodes them, and changes fields in place. Hosts encode,
//! kernels replace fields.
//!
//! How a GPU encodes a map is undocumented, so no program may depend on it. This encoding is
//! little-endian:
//!
//! | byte | what |
//! | --- | --- |
//! | 0 | a magic number |
//! | 4 | element type, rank less one, interleave, swizzle, L2 promotion, fill, whether boxes are im2col columns: a byte each |
//! | 12 | channels of a pixel, pixels of a column: two bytes each |
//! | 16 | the address |
//! | 24 | elements in each of five dimensions: four bytes each |
//! | 44 | elements of the box in each: two bytes each |
//! | 54 | element strides: a byte each |
//! | 60 | lower and upper corners, three each: two bytes each |
//! | 72 | five strides, the last of which is unused: eight bytes each |
//!
//! All zeros are not a map, but `tensormap.replace` may build one from them, field by field, as
//! Triton's kernels do. A value too large for its field is stored as the field's maximum, which no
//! valid map has.

use ptx::TensorField;

use super::error::{TensorFault, TensorMapError};
use super::map::{
    Fill, Interleave, L2Promotion, MOST_DIMENSIONS, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap, Traversal,
};

/// Marks the bytes as a map.
const MARK: u32 = 0x70a3_e501;

const ELEMENT: usize = 4;
const RANK: usize = 5;
const INTERLEAVE: usize = 6;
const SWIZZLE: usize = 7;
const PROMOTION: usize = 8;
const FILL: usize = 9;
const IN_COLUMNS: usize = 10;
const CHANNELS: usize = 12;
const PIXELS: usize = 14;
const ADDRESS: usize = 16;
const DIMENSIONS: usize = 24;
const BOX: usize = 44;
const ELEMENT_STRIDES: usize = 54;
const CORNERS: usize = 60;
const STRIDES: usize = 72;

/// The most corners of each kind that fit.
const MOST_CORNERS: usize = 3;

type Bytes = [u8; TENSOR_MAP_BYTES];

/// Writes the low `width` bytes of a number.
fn put(bytes: &mut Bytes, at: usize, width: usize, value: u64) {
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Writes a number, clamped to what `width` bytes can hold.
fn put_clamped(bytes: &mut Bytes, at: usize, width: usize, value: u64) {
    put(bytes, at, width, value.min(u64::MAX >> (64 - 8 * width)));
}

fn get(bytes: &Bytes, at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The item with this number.
fn pick<T: Copy>(all: &[T], number: u8) -> Result<T, TensorFault> {
    all.get(usize::from(number)).copied().ok_or(TensorFault::NoMap)
}

/// The number of an item.
fn number<T: PartialEq>(all: &[T], one: &T) -> u64 {
    all.iter().position(|other| other == one).unwrap_or(0) as u64
}

const INTERLEAVES: [Interleave; 3] = [Interleave::None, Interleave::Bytes16, Interleave::Bytes32];
const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128];
const PROMOTIONS: [L2Promotion; 4] =
    [L2Promotion::None, L2Promotion::Bytes64, L2Promotion::Bytes128, L2Promotion::Bytes256];
const FILLS: [Fill; 2] = [Fill::Zero, Fill::Nan];

impl TensorMap {
    /// Encodes the map as the bytes that a kernel takes.
    ///
    /// # Errors
    ///
    /// The map is invalid.
    pub fn encode(&self) -> Result<[u8; TENSOR_MAP_BYTES], TensorMapError> {
        self.check()?;
        let mut bytes = [0; TENSOR_MAP_BYTES];
        put(&mut bytes, 0, 4, MARK.into());
        put(&mut bytes, ELEMENT, 1, number(&TensorElement::ALL, &self.element));
        put(&mut bytes, RANK, 1, self.rank() as u64 - 1);
        put(&mut bytes, INTERLEAVE, 1, number(&INTERLEAVES, &self.interleave));
        put(&mut bytes, SWIZZLE, 1, number(&SWIZZLES, &self.swizzle));
        put(&mut bytes, PROMOTION, 1, number(&PROMOTIONS, &self.promotion));
        put(&mut bytes, FILL, 1, number(&FILLS, &self.fill));
        put(&mut bytes, ADDRESS, 8, self.address);
        for (index, &extent) in self.dimensions.iter().enumerate() {
            put(&mut bytes, DIMENSIONS + 4 * index, 4, extent);
        }
        for (index, &stride) in self.strides.iter().enumerate() {
            put(&mut bytes, STRIDES + 8 * index, 8, stride);
        }
        for (index, &stride) in self.element_strides.iter().enumerate() {
            put_clamped(&mut bytes, ELEMENT_STRIDES + index, 1, stride.into());
        }
        match &self.traversal {
            Traversal::Tiled { box_dimensions } => {
                for (index, &extent) in box_dimensions.iter().enumerate() {
                    put(&mut bytes, BOX + 2 * index, 2, extent.into());
                }
            }
            Traversal::ImageToColumn { lower, upper, channels, pixels } => {
                put(&mut bytes, IN_COLUMNS, 1, 1);
                put(&mut bytes, CHANNELS, 2, (*channels).into());
                put(&mut bytes, PIXELS, 2, (*pixels).into());
                for (list, corners) in [lower, upper].into_iter().enumerate() {
                    for (index, &corner) in corners.iter().enumerate() {
                        put(&mut bytes, CORNERS + 2 * (MOST_CORNERS * list + index), 2, corner as u64);
                    }
                }
            }
        }
        Ok(bytes)
    }

    /// Decodes a map.
    ///
    /// # Errors
    ///
    /// The bytes are not a map, or the map is invalid.
    pub fn decode(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<Self, TensorFault> {
        if get(bytes, 0, 4) != u64::from(MARK) {
            return Err(TensorFault::NoMap);
        }
        let rank = usize::from(bytes[RANK]) + 1;
        if rank > MOST_DIMENSIONS {
            return Err(TensorFault::Invalid(TensorMapError::Rank(rank)));
        }
        let list = |at: usize, width: usize, length: usize| (0..length).map(move |i| get(bytes, at + width * i, width));
        let corners = |at: usize| list(at, 2, rank.saturating_sub(2)).map(|corner| i32::from(corner as i16)).collect();
        let traversal = match bytes[IN_COLUMNS] {
            0 => Traversal::Tiled { box_dimensions: list(BOX, 2, rank).map(|extent| extent as u32).collect() },
            _ => Traversal::ImageToColumn {
                lower: corners(CORNERS),
                upper: corners(CORNERS + 2 * MOST_CORNERS),
                channels: get(bytes, CHANNELS, 2) as u32,
                pixels: get(bytes, PIXELS, 2) as u32,
            },
        };
        let map = Self {
            element: pick(&TensorElement::ALL, bytes[ELEMENT])?,
            address: get(bytes, ADDRESS, 8),
            dimensions: list(DIMENSIONS, 4, rank).collect(),
            strides: list(STRIDES, 8, rank - 1).collect(),
            traversal,
            element_strides: list(ELEMENT_STRIDES, 1, rank).map(|stride| stride as u32).collect(),
            interleave: pick(&INTERLEAVES, bytes[INTERLEAVE])?,
            swizzle: pick(&SWIZZLES, bytes[SWIZZLE])?,
            promotion: pick(&PROMOTIONS, bytes[PROMOTION])?,
            fill: pick(&FILLS, bytes[FILL])?,
        };
        map.check().map_err(TensorFault::Invalid)?;
        Ok(map)
    }
}

/// Whether the bytes are an `.im2col` map.
pub(crate) fn is_of_columns(bytes: &[u8; TENSOR_MAP_BYTES]) -> bool {
    get(bytes, 0, 4) == u64::from(MARK) && bytes[IN_COLUMNS] != 0
}

/// `tensormap.replace`: changes a field of a map. All zeros become a map first.
pub(crate) fn replace(bytes: &mut Bytes, field: TensorField, value: u64) -> Result<(), TensorFault> {
    if get(bytes, 0, 4) != u64::from(MARK) && bytes.iter().any(|&byte| byte != 0) {
        return Err(TensorFault::NoMap);
    }
    put(bytes, 0, 4, MARK.into());
    match field {
        TensorField::GlobalAddress => put(bytes, ADDRESS, 8, value),
        TensorField::Rank => put_clamped(bytes, RANK, 1, value),
        TensorField::BoxDimension(index) => put_clamped(bytes, BOX + 2 * usize::from(index), 2, value),
        TensorField::GlobalDimension(index) => put(bytes, DIMENSIONS + 4 * usize::from(index), 4, value),
        TensorField::GlobalStride(index) => put(bytes, STRIDES + 8 * usize::from(index), 8, value),
        TensorField::ElementStride(index) => put_clamped(bytes, ELEMENT_STRIDES + usize::from(index), 1, value),
        TensorField::ElementType => put(bytes, ELEMENT, 1, value),
        TensorField::InterleaveLayout => put(bytes, INTERLEAVE, 1, value),
        TensorField::SwizzleMode => put(bytes, SWIZZLE, 1, value),
        TensorField::FillMode => put(bytes, FILL, 1, value),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_every_field() {
        let map = TensorMap {
            strides: vec![0x1230, 0x12_3450, 0x1_2345_6780, 0xff_ffff_fff0],
            element_strides: vec![1, 2, 3, 4, 8],
            swizzle: Swizzle::Bytes64,
            promotion: L2Promotion::Bytes256,
            fill: Fill::Nan,
            ..TensorMap::tiled(
                TensorElement::Tf32Ftz,
                0xfedc_ba98_7654_3210,
                &[1, 2, 1 << 31, 4, 5],
                &[16, 256, 1, 2, 3],
            )
        };
        assert_eq!(TensorMap::decode(&map.encode().unwrap()), Ok(map));
        let traversal =
            Traversal::ImageToColumn { lower: vec![-16, 15, 0], upper: vec![15, -16, -1], channels: 256, pixels: 1024 };
        let map = TensorMap {
            interleave: Interleave::Bytes32,
            swizzle: Swizzle::Bytes32,
            ..TensorMap::packed(TensorElement::U8, 32, &[64, 32, 64, 16, 7], traversal)
        };
        assert_eq!(TensorMap::decode(&map.encode().unwrap()), Ok(map));
    }

    #[test]
    fn other_bytes_are_no_map() {
        assert_eq!(TensorMap::decode(&[0; 128]), Err(TensorFault::NoMap));
        assert_eq!(replace(&mut [7; 128], TensorField::Rank, 0), Err(TensorFault::NoMap));
        let mut bytes = TensorMap::tiled(TensorElement::U8, 0, &[64], &[16]).encode().unwrap();
        bytes[ELEMENT] = 13;
        assert_eq!(TensorMap::decode(&bytes), Err(TensorFault::NoMap));
        replace(&mut bytes, TensorField::ElementType, 2).unwrap();
        replace(&mut bytes, TensorField::Rank, 1 << 20).unwrap();
        assert_eq!(TensorMap::decode(&bytes), Err(TensorFault::Invalid(TensorMapError::Rank(256))));
    }

    #[test]
    fn zeros_become_a_map_field_by_field() {
        let mut bytes = [0; 128];
        let fields = [
            (TensorField::GlobalAddress, 0x1000),
            (TensorField::Rank, 1),
            (TensorField::BoxDimension(0), 64),
            (TensorField::BoxDimension(1), 8),
            (TensorField::GlobalDimension(0), 100),
            (TensorField::GlobalDimension(1), 50),
            (TensorField::GlobalStride(0), 208),
            (TensorField::ElementStride(0), 1),
            (TensorField::ElementStride(1), 1),
            (TensorField::ElementType, 6),
            (TensorField::InterleaveLayout, 0),
            (TensorField::SwizzleMode, 3),
            (TensorField::FillMode, 1),
        ];
        assert_eq!(TensorMap::decode(&bytes), Err(TensorFault::NoMap));
        for (field, value) in fields {
            replace(&mut bytes, field, value).unwrap();
        }
        let map = TensorMap {
            strides: vec![208],
            swizzle: Swizzle::Bytes128,
            fill: Fill::Nan,
            ..TensorMap::tiled(TensorElement::F16, 0x1000, &[100, 50], &[64, 8])
        };
        assert_eq!(TensorMap::decode(&bytes), Ok(map));
        replace(&mut bytes, TensorField::BoxDimension(1), 1 << 20).unwrap();
        let error = TensorMapError::BoxDimension { index: 1, extent: 0xffff };
        assert_eq!(TensorMap::decode(&bytes), Err(TensorFault::Invalid(error)));
    }
}
