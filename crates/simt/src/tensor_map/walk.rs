//! Finds the bytes of a tensor that a box covers, their order, and where they are in shared memory.
//!
//! A box is a list of rows of bytes in shared memory: the elements along the first dimension or, in
//! an interleaved tensor, a slice of a pixel. The part of a row inside the tensor is contiguous in
//! device memory, so a row has up to three pieces: outside, inside, outside.
//!
//! The box's address in shared memory must be a multiple of 128. Swizzles follow bits 7 to 9 of the
//! address, so a tile that does not start where its pattern starts has the pattern shifted, as in
//! the programming guide. Rows of a box that are shorter than the swizzle are as far apart as the
//! swizzle is wide. Stores at negative coordinates, stores of pixels outside the images, and
//! columns that begin outside their box are traps: the manual rules them out. What no manual
//! specifies was measured on an H200 (2026-11-21, `tests/tests/ptx_files.rs`) and is noted below.

use super::error::TensorFault;
use super::map::{Fill, Interleave, MOST_DIMENSIONS, TensorElement, TensorMap, Traversal};
use super::rules::corner_bits;

/// The most bytes that an `mbarrier` can count, which is more than any shared memory has.
const MOST_BYTES: u64 = (1 << 20) - 1;

/// The alignment of a box in shared memory.
const SHARED_ALIGN: u64 = 128;

/// Along the first dimension, a box begins on a multiple of this many bytes.
const PIECE_BYTES: i64 = 16;

/// Bytes of a line, within which swizzled pieces change places.
const LINE: u32 = 128;

/// Half of a word filled with NaN.
const NAN_BYTES: [u8; 2] = 0x7ff7_u16.to_le_bytes();

/// Where a box begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner<'c> {
    /// In each dimension.
    pub coordinates: &'c [i32],
    /// `.im2col`: the offset in each dimension of an image. `None` for `.tile`.
    pub offsets: Option<&'c [u32]>,
    /// The address in shared memory.
    pub shared: u64,
    /// Whether the copy is a store: from shared memory to the tensor.
    pub stores: bool,
}

/// How the rows of a box, a gapless list of bytes, are laid out in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLayout {
    /// Bytes of a row.
    row: u32,
    /// Bytes from one row to the next.
    pitch: u32,
    /// The bits of a line's number that swizzle the pieces in it.
    swizzle: u64,
}

impl RowLayout {
    /// Laid out as in the list: no gaps, no swizzle.
    pub const LINEAR: Self = Self { row: 1, pitch: 1, swizzle: 0 };

    /// The bytes of shared memory that the first `bytes` of the list span.
    pub fn extent(&self, bytes: u32) -> u32 {
        let extent = bytes.div_ceil(self.row) * self.pitch;
        if self.swizzle == 0 { extent } else { extent.next_multiple_of(LINE) }
    }

    /// The address of a byte of the list, laid out from `start` on. Pieces of 16 bytes stay
    /// together.
    pub fn address(&self, start: u64, offset: u32) -> u64 {
        let offset = offset / self.row * self.pitch + offset % self.row;
        let address = start.wrapping_add(offset.into());
        address ^ (address >> 7 & self.swizzle) << 4
    }
}

/// The first bytes of a list, laid out from `start` on.
#[derive(Clone, Copy)]
pub(crate) struct RowBytes {
    pub start: u64,
    pub bytes: u32,
    pub layout: RowLayout,
}

impl RowBytes {
    /// The address of a byte of the list.
    pub fn address(&self, offset: u32) -> u64 {
        self.layout.address(self.start, offset)
    }
}

/// Bytes that are contiguous in the tensor and, apart from the swizzle, in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where the piece begins in the list of the box's bytes.
    pub offset: u32,
    /// Its size.
    pub bytes: u32,
    /// Its address in device memory.
    pub address: u64,
}

impl Piece {
    /// Splits the piece into parts that one access can move.
    pub fn parts(&self) -> impl Iterator<Item = Piece> + use<> {
        let mut rest = *self;
        std::iter::from_fn(move || {
            let most = 16_u32.min(rest.bytes.checked_ilog2().map(|bits| 1 << bits)?);
            let width = most.min(1 << rest.address.trailing_zeros().min(4));
            let part = Piece { bytes: width, ..rest };
            rest = Piece {
                offset: rest.offset + width,
                bytes: rest.bytes - width,
                address: rest.address.wrapping_add(width.into()),
            };
            Some(part)
        })
    }
}

/// A box of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorBox {
    /// The type of the elements.
    pub element: TensorElement,
    /// The pieces inside the tensor.
    pub pieces: Vec<Piece>,
    /// The size of the box, with what is outside the tensor.
    pub bytes: u32,
    /// The layout in shared memory.
    pub layout: RowLayout,
    fill: Fill,
}

impl TensorBox {
    /// The box of a tensor that begins at `corner`.
    pub fn new(map: &TensorMap, corner: &Corner) -> Result<Self, TensorFault> {
        let Corner { coordinates, offsets, shared, stores } = *corner;
        let rank = map.rank();
        if coordinates.len() != rank {
            return Err(TensorFault::OtherRank { instruction: coordinates.len(), map: rank });
        }
        let in_columns = matches!(map.traversal, Traversal::ImageToColumn { .. });
        if offsets.is_some() != in_columns {
            let instruction = if in_columns { ".tile" } else { ".im2col" };
            return Err(TensorFault::OtherMode { instruction, map: map.traversal.name() });
        }
        if !shared.is_multiple_of(SHARED_ALIGN) {
            return Err(TensorFault::SharedAlignment { address: shared });
        }
        if let Some(index) = coordinates.iter().position(|&coordinate| stores && coordinate < 0) {
            return Err(TensorFault::NegativeCoordinate { index, coordinate: coordinates[index] });
        }
        let interleaved = map.interleave != Interleave::None;
        let map = &*map.by_elements();
        let coordinates: &[i32] = &[&[0][..usize::from(interleaved)], coordinates].concat();
        let element = map.element.bytes();
        // Undocumented: an H200 reports an illegal instruction (2026-11-21).
        if (i64::from(coordinates[0]) * i64::from(element)) % PIECE_BYTES != 0 {
            return Err(TensorFault::BetweenPieces { coordinate: coordinates[0], bytes: element });
        }
        let row = map.row_elements() * element;
        let span = map.swizzle.span();
        let pitch = if interleaved { row } else { span.unwrap_or(row) };
        let swizzle = span.map_or(0, |span| u64::from(span / 16 - 1));
        let mut walk = Walk {
            map,
            first: coordinates[0].into(),
            row,
            // Undocumented: a store writes a whole piece of 16 bytes if its first element is inside
            // (an H200, 2026-11-21).
            step: if stores { (PIECE_BYTES as u32 / element).into() } else { 1 },
            made: Self {
                element: map.element,
                pieces: Vec::new(),
                bytes: 0,
                layout: RowLayout { row, pitch, swizzle },
                fill: map.fill,
            },
        };
        match &map.traversal {
            Traversal::Tiled { box_dimensions } => walk.tiles(coordinates, box_dimensions)?,
            Traversal::ImageToColumn { lower, upper, pixels, .. } => {
                if stores && (lower.iter().any(|&corner| corner < 0) || upper.iter().any(|&corner| corner > 0)) {
                    return Err(TensorFault::StoreCorners);
                }
                walk.columns(coordinates, offsets.unwrap_or_default(), (lower, upper), *pixels)?;
            }
        }
        Ok(walk.made)
    }

    /// The box filled with what elements outside the tensor hold.
    pub fn filled(&self) -> Vec<u8> {
        match self.fill {
            Fill::Zero => vec![0; self.bytes as usize],
            Fill::Nan => NAN_BYTES.iter().copied().cycle().take(self.bytes as usize).collect(),
        }
    }

    /// Converts loaded elements to what shared memory gets: f32 is rounded to tf32 where the map
    /// says so.
    pub fn loaded(&self, bytes: &mut [u8]) {
        if !matches!(self.element, TensorElement::Tf32 | TensorElement::Tf32Ftz) {
            return;
        }
        for word in bytes.chunks_exact_mut(4) {
            let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word.copy_from_slice(&rounded_to_tf32(bits).to_le_bytes());
        }
    }
}

/// Rounds an f32 to ten bits of fraction, to nearest even, as an H200 does (2026-11-21).
fn rounded_to_tf32(bits: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    match bits & 0x7fff_ffff {
        magnitude if magnitude > INFINITY => 0x7fff_e000,
        INFINITY => bits,
        _ => bits.wrapping_add(0xfff + (bits >> 13 & 1)) & 0xffff_e000,
    }
}

impl TensorMap {
    /// Elements of the box along the first dimension.
    fn row_elements(&self) -> u32 {
        match &self.traversal {
            Traversal::Tiled { box_dimensions } => box_dimensions.first().copied().unwrap_or(0),
            Traversal::ImageToColumn { channels, .. } => *channels,
        }
    }
}

/// The walk over a box, and the pieces found so far.
struct Walk<'m> {
    /// The map, with elements as its first dimension.
    map: &'m TensorMap,
    /// The first dimension's coordinate.
    first: i64,
    /// Bytes of a row.
    row: u32,
    /// Elements along the first dimension that are inside or outside together.
    step: i64,
    made: TensorBox,
}

/// A row's coordinates in all dimensions but the first. Slices add one dimension.
type Position = [i64; MOST_DIMENSIONS + 1];

impl Walk<'_> {
    /// Sets the number of rows. Rejects a box that is too large.
    fn check_size(&self, rows: u64) -> Result<(), TensorFault> {
        match rows.saturating_mul(self.row.into()) {
            bytes if bytes > MOST_BYTES => Err(TensorFault::BoxSize { bytes }),
            _ => Ok(()),
        }
    }

    fn tiles(&mut self, coordinates: &[i32], extents: &[u32]) -> Result<(), TensorFault> {
        let strides = &self.map.element_strides;
        let counts: Vec<u32> = (1..coordinates.len()).map(|index| extents[index].div_ceil(strides[index])).collect();
        let rows = counts.iter().fold(1u64, |rows, &count| rows.saturating_mul(count.into()));
        self.check_size(rows)?;
        for row in 0..rows {
            let (mut rest, mut position) = (row, Position::default());
            for (dimension, &count) in (1..).zip(&counts) {
                let index = rest % u64::from(count);
                rest /= u64::from(count);
                position[dimension] = i64::from(coordinates[dimension]) + index as i64 * i64::from(strides[dimension]);
            }
            self.add(&position);
        }
        Ok(())
    }

    fn columns(
        &mut self,
        coordinates: &[i32],
        offsets: &[u32],
        (lower, upper): (&[i32], &[i32]),
        pixels: u32,
    ) -> Result<(), TensorFault> {
        // The dimensions of an image. Slices, if any, and images come after them.
        let (image, last_dimension) = (1..=lower.len(), coordinates.len() - 1);
        let high = u32::MAX >> (32 - corner_bits(lower.len()));
        if let Some((index, &offset)) = offsets.iter().enumerate().find(|&(_, &offset)| offset > high) {
            return Err(TensorFault::Offset { index, offset, high });
        }
        let last = |index: usize| self.map.dimensions[index] as i64 - 1 + i64::from(upper[index - 1]);
        for index in image.clone() {
            let coordinate = i64::from(coordinates[index]);
            if !(i64::from(lower[index - 1])..=last(index)).contains(&coordinate) {
                return Err(TensorFault::OutsideBox { index: index - 1, coordinate: coordinates[index] });
            }
        }
        self.check_size(pixels.into())?;
        let mut base: Position = std::array::from_fn(|index| coordinates.get(index).copied().unwrap_or(0).into());
        for _ in 0..pixels {
            let mut position = base;
            for (place, &offset) in position[1..].iter_mut().zip(offsets) {
                *place += i64::from(offset);
            }
            self.add(&position);
            // The next pixel: in the line, in the next line, ..., in the next image.
            let next = image.clone().find(|&index| {
                base[index] += i64::from(self.map.element_strides[index]);
                let inside = base[index] <= last(index);
                if !inside {
                    base[index] = lower[index - 1].into();
                }
                inside
            });
            base[last_dimension] += i64::from(next.is_none());
        }
        Ok(())
    }

    /// Adds a row.
    fn add(&mut self, position: &Position) {
        let map = self.map;
        let element = u64::from(map.element.bytes());
        let start = self.made.bytes;
        self.made.bytes += self.row;
        let mut address = map.address;
        for (index, &stride) in (1..).zip(&map.strides) {
            let Ok(place) = u64::try_from(position[index]) else { return };
            if place >= map.dimensions[index] {
                return;
            }
            address = address.wrapping_add(place.wrapping_mul(stride));
        }
        let tensor_end = (map.dimensions[0] as i64 + self.step - 1) / self.step * self.step;
        let end = (self.first + i64::from(self.row) / element as i64).min(tensor_end);
        let inside = self.first.max(0);
        if inside >= end {
            return;
        }
        let skipped = (inside - self.first) as u32 * element as u32;
        let bytes = (end - inside) as u32 * element as u32;
        let address = address.wrapping_add(inside as u64 * element);
        self.made.pieces.push(Piece { offset: start + skipped, bytes, address });
    }
}

#[cfg(test)]
mod tests;
