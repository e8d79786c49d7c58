//! Where an element of a matrix in global memory lies.

/// Where (row, column) lies in a matrix: 64 bits, since from 32768 x 32768 floats on 32 do not hold
/// the offset in bytes.
#[inline(always)]
pub(crate) fn at(row: u32, column: u32, pitch: u32) -> usize {
    row as usize * pitch as usize + column as usize
}
