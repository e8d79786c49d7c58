//! Validates tensor maps, by the requirements of `cuTensorMapEncodeTiled` and
//! `cuTensorMapEncodeIm2col`.

use super::error::TensorMapError;
use super::map::{Fill, Interleave, MOST_DIMENSIONS, Swizzle, TensorMap, Traversal};

/// The most elements of a dimension.
const MOST_ELEMENTS: u64 = 1 << 31;
/// Strides are below this.
const STRIDE_LIMIT: u64 = 1 << 40;
/// The most elements of a box in one dimension, and the most channels of a pixel.
const MOST_BOX: u32 = 256;
/// The most pixels of a column.
const MOST_PIXELS: u32 = 1024;
/// The largest element stride.
const MOST_ELEMENT_STRIDE: u32 = 8;
/// A row of a box is a multiple of this many bytes.
const ROW_BYTES: u32 = 16;

type Checked = Result<(), TensorMapError>;

impl TensorMap {
    /// Checks that the map is valid.
    ///
    /// # Errors
    ///
    /// The first requirement that the map does not meet.
    pub fn check(&self) -> Checked {
        let rank = self.rank();
        if rank == 0 || rank > MOST_DIMENSIONS {
            return Err(TensorMapError::Rank(rank));
        }
        if self.interleave != Interleave::None && rank < 3 {
            return Err(TensorMapError::InterleavedRank(rank));
        }
        self.check_count("strides", rank - 1, self.strides.len())?;
        self.check_count("element strides", rank, self.element_strides.len())?;
        let align = if self.interleave == Interleave::Bytes32 { 32 } else { 16 };
        if !self.address.is_multiple_of(align) {
            return Err(TensorMapError::Address { address: self.address, align });
        }
        for (index, &extent) in self.dimensions.iter().enumerate() {
            if extent == 0 || extent > MOST_ELEMENTS {
                return Err(TensorMapError::Dimension { index, extent });
            }
        }
        for (index, &stride) in (1..).zip(&self.strides) {
            if !stride.is_multiple_of(align) || stride >= STRIDE_LIMIT {
                return Err(TensorMapError::Stride { index, stride, align });
            }
        }
        let row = match &self.traversal {
            Traversal::Tiled { box_dimensions } => self.check_tiles(box_dimensions)?,
            Traversal::ImageToColumn { lower, upper, channels, pixels } => {
                self.check_columns(lower, upper, *channels, *pixels)?
            }
        };
        self.check_row(row * self.element.bytes())?;
        self.check_element_strides()?;
        match self.fill {
            Fill::Nan if !self.element.is_float() => Err(TensorMapError::NanFill(self.element.name())),
            _ => Ok(()),
        }
    }

    fn check_count(&self, what: &'static str, expected: usize, given: usize) -> Checked {
        if expected == given {
            return Ok(());
        }
        Err(TensorMapError::Count { what, rank: self.rank(), expected, given })
    }

    /// Returns the elements of a row.
    fn check_tiles(&self, extents: &[u32]) -> Result<u32, TensorMapError> {
        self.check_count("box dimensions", self.rank(), extents.len())?;
        match extents.iter().enumerate().find(|&(_, &extent)| extent == 0 || extent > MOST_BOX) {
            Some((index, &extent)) => Err(TensorMapError::BoxDimension { index, extent }),
            None => Ok(extents[0]),
        }
    }

    /// Returns the elements of a row.
    fn check_columns(&self, lower: &[i32], upper: &[i32], channels: u32, pixels: u32) -> Result<u32, TensorMapError> {
        let rank = self.rank();
        if rank < 3 {
            return Err(TensorMapError::ImageRank(rank));
        }
        self.check_count("lower corners", rank - 2, lower.len())?;
        self.check_count("upper corners", rank - 2, upper.len())?;
        let bits = corner_bits(lower.len());
        // The dimensions of an image come after that of its channels, which an interleaved tensor
        // does not have.
        let image = &self.dimensions[usize::from(self.interleave == Interleave::None)..];
        let (low, high) = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
        for (index, (&lower, &upper)) in lower.iter().zip(upper).enumerate() {
            if let Some(&corner) = [lower, upper].iter().find(|corner| !(low..=high).contains(*corner)) {
                return Err(TensorMapError::Corner { index, corner, low, high });
            }
            if image[index] as i64 + i64::from(upper) <= i64::from(lower) {
                return Err(TensorMapError::EmptyBox { index });
            }
        }
        if channels == 0 || channels > MOST_BOX {
            return Err(TensorMapError::Channels(channels));
        }
        if pixels == 0 || pixels > MOST_PIXELS {
            return Err(TensorMapError::Pixels(pixels));
        }
        Ok(channels)
    }

    /// Checks a row of a box against interleave and swizzle.
    fn check_row(&self, bytes: u32) -> Checked {
        if self.interleave == Interleave::Bytes32 && self.swizzle != Swizzle::Bytes32 {
            return Err(TensorMapError::InterleavedSwizzle);
        }
        if !bytes.is_multiple_of(ROW_BYTES) {
            return Err(TensorMapError::BoxRow { bytes });
        }
        match self.swizzle.span() {
            Some(span) if self.interleave == Interleave::None && bytes > span => {
                Err(TensorMapError::BoxSwizzle { bytes, span })
            }
            _ => Ok(()),
        }
    }

    fn check_element_strides(&self) -> Checked {
        let interleaved = self.interleave != Interleave::None;
        let counted = self.element_strides.iter().enumerate().skip(usize::from(!interleaved));
        for (index, &stride) in counted {
            if stride == 0 || stride > MOST_ELEMENT_STRIDE {
                return Err(TensorMapError::ElementStride { index, stride });
            }
        }
        Ok(())
    }
}

/// The bits of each corner and of each offset.
pub(super) fn corner_bits(image_dimensions: usize) -> u32 {
    match image_dimensions {
        1 => 16,
        2 => 8,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::map::TensorElement;

    fn map() -> TensorMap {
        TensorMap::tiled(TensorElement::F32, 0x1000, &[64, 32, 4], &[32, 8, 1])
    }

    fn images() -> TensorMap {
        let traversal = Traversal::ImageToColumn { lower: vec![-1, -1], upper: vec![-1, -1], channels: 8, pixels: 64 };
        TensorMap::packed(TensorElement::F16, 0x1000, &[64, 9, 14, 2], traversal)
    }

    fn said(change: impl FnOnce(&mut TensorMap), mut map: TensorMap) -> String {
        assert_eq!(map.check(), Ok(()));
        change(&mut map);
        map.check().unwrap_err().to_string()
    }

    #[test]
    fn each_invalid_map_has_its_message() {
        let tiled = |change: fn(&mut TensorMap)| said(change, map());
        let extents = |map: &mut TensorMap, extents: &[u32]| {
            map.traversal = Traversal::Tiled { box_dimensions: extents.to_vec() };
        };
        assert_eq!(tiled(|map| map.dimensions.clear()), "a tensor has 1 to 5 dimensions, not 0");
        assert_eq!(tiled(|map| map.dimensions = vec![1; 6]), "a tensor has 1 to 5 dimensions, not 6");
        assert_eq!(tiled(|map| map.strides = vec![256]), "a tensor of 3 dimensions needs 2 strides, not 1");
        assert_eq!(tiled(|map| map.address += 8), "the tensor's address 0x1008 is not a multiple of 16");
        assert_eq!(
            tiled(|map| map.dimensions[1] = 0),
            "dimension 1 of the tensor has 0 elements: 1 to 2147483648 are allowed"
        );
        assert_eq!(
            tiled(|map| map.strides[0] = 264),
            "the stride of dimension 1 is 264 bytes: multiples of 16 below 2^40 are allowed"
        );
        assert_eq!(
            tiled(|map| map.strides[1] = 1 << 40),
            "the stride of dimension 2 is 1099511627776 bytes: multiples of 16 below 2^40 are allowed"
        );
        assert_eq!(
            said(|map| extents(map, &[32, 257, 1]), map()),
            "dimension 1 of the box has 257 elements: 1 to 256 are allowed"
        );
        assert_eq!(
            said(|map| extents(map, &[3, 8, 1]), map()),
            "a row of the box has 12 bytes: multiples of 16 are allowed"
        );
        assert_eq!(
            tiled(|map| map.swizzle = Swizzle::Bytes64),
            "a row of the box has 128 bytes, too long for a swizzle of 64 bytes"
        );
        assert_eq!(
            tiled(|map| map.element_strides[2] = 9),
            "the element stride of dimension 2 is 9: 1 to 8 are allowed"
        );
        assert_eq!(
            tiled(|map| map.interleave = Interleave::Bytes32),
            "an interleave of 32 bytes needs a swizzle of 32 bytes"
        );
        assert_eq!(
            tiled(|map| (map.element, map.fill) = (TensorElement::S32, Fill::Nan)),
            "elements of type s32 are not floats and cannot be filled with NaN"
        );
        let flat = TensorMap::tiled(TensorElement::U8, 0, &[64, 32], &[16, 8]);
        assert_eq!(
            said(|map| map.interleave = Interleave::Bytes16, flat),
            "an interleaved tensor has 3 to 5 dimensions, not 2"
        );
        let slices = TensorMap { interleave: Interleave::Bytes16, ..map() };
        assert_eq!(
            said(|map| map.element_strides[0] = 9, slices),
            "the element stride of dimension 0 is 9: 1 to 8 are allowed"
        );
    }

    #[test]
    fn each_invalid_image_map_has_its_message() {
        let columns = |change: fn(&mut Vec<i32>, &mut Vec<i32>, &mut u32, &mut u32)| {
            let change = |map: &mut TensorMap| {
                if let Traversal::ImageToColumn { lower, upper, channels, pixels } = &mut map.traversal {
                    change(lower, upper, channels, pixels);
                }
            };
            said(change, images())
        };
        assert_eq!(
            columns(|lower, _, _, _| lower[1] = -129),
            "a corner of the box at -129 in dimension 1 of the image: -128 to 127 are allowed"
        );
        assert_eq!(
            columns(|_, upper, _, _| upper[0] = -10),
            "from its lower to its upper corner the box has no pixel in dimension 0 of the image"
        );
        assert_eq!(columns(|_, _, channels, _| *channels = 0), "0 channels per pixel: 1 to 256 are allowed");
        assert_eq!(columns(|_, _, _, pixels| *pixels = 1025), "1025 pixels per column: 1 to 1024 are allowed");
        assert_eq!(columns(|lower, _, _, _| lower.clear()), "a tensor of 4 dimensions needs 2 lower corners, not 0");
        assert_eq!(
            said(
                |map| (map.dimensions, map.strides, map.element_strides) = (vec![8, 8], vec![16], vec![1; 2]),
                images()
            ),
            "a tensor of images has 3 to 5 dimensions, not 2"
        );
    }
}
