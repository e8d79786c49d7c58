//! Which sectors the elements of textures and surfaces are in.

use super::types::ArrayShape;

/// An element of a texture or surface that a lane has accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touched {
    /// The number of the group of lanes that look up sectors together.
    pub group: u32,
    /// Its sector.
    pub sector: u64,
    /// Its address; `None` where only its sector is looked up.
    pub address: Option<u64>,
    /// The lane.
    pub lane: u32,
    /// Its first byte in the sector.
    pub within: u32,
}

impl Touched {
    /// The address of its first byte in the hardware's layout, in which each sector is contiguous.
    /// Those of arrays have addresses that only differ as they should.
    pub fn layout_address(&self) -> u64 {
        self.sector % ARRAY_SECTORS * 32 + u64::from(self.within)
    }
}

/// The sectors that elements in rising order are looked up in: each once for each group of lanes.
pub(crate) fn lookups(touched: &[Touched]) -> impl Iterator<Item = &Touched> {
    touched.chunk_by(|one, other| (one.group, one.sector) == (other.group, other.sector)).map(|same| &same[0])
}

/// The number of distinct sectors of these elements, whichever lanes look them up.
pub(crate) fn distinct_sectors(touched: &[Touched]) -> u64 {
    let mut sectors: Vec<u64> = touched.iter().map(|element| element.sector).collect();
    sectors.sort_unstable();
    sectors.dedup();
    sectors.len() as u64
}

/// In an array, a sector of 32 bytes holds 16 bytes of each of two rows: arrays are tiled, so that
/// neighbours in y are neighbours in memory too. This holds even where there is only one row.
const SECTOR_COLUMNS: u64 = 16;

/// The first sector of arrays. Sectors of linear memory are addresses over 32, which are smaller.
const ARRAY_SECTORS: u64 = 1 << 59;

/// The first byte of an element: its address, its sector, and where in the sector it is.
#[derive(Clone, Copy)]
pub(crate) struct ElementPlace {
    pub address: u64,
    pub sector: u64,
    pub within: u32,
}

/// Where an element of an array's level is that starts at `base`: at byte `x_bytes` of a row, which
/// is counted through layers and slices. No other memory has its sector.
pub(crate) fn place_in_array(shape: &ArrayShape, level: u32, base: u64, x_bytes: u64, row: u64) -> ElementPlace {
    let address = base + row * shape.pitch(level) + x_bytes;
    let rows_before = u64::from(shape.height.max(1).next_multiple_of(2));
    let height = u64::from(shape.height.max(1));
    // Rows share sectors only within a slice or layer.
    let row = row / height * rows_before + row % height;
    // A number for each 16 bytes of the level, which is twice as many as sectors: enough even if
    // each row is padded to two.
    let sectors_of_row = shape.pitch(level) / SECTOR_COLUMNS;
    let sector = ARRAY_SECTORS + base / SECTOR_COLUMNS + (row / 2) * sectors_of_row + x_bytes / SECTOR_COLUMNS;
    ElementPlace { address, sector, within: (row % 2 * SECTOR_COLUMNS + x_bytes % SECTOR_COLUMNS) as u32 }
}
