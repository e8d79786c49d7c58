//! The data on a device, and the launches of each row.

use cuda_std::vector::u32x4;
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::scan::{self as kernel, BLOCK, TREE_BLOCK};
use kernels::scan_compact as compact;
use kernels::scan_tiles::{self as tiles, TILE};

use super::table::{Makes, Method};
use crate::labs::Launcher;

/// Values, sums, what is kept, and what the kernels need beside them.
pub struct Data {
    size: usize,
    /// Whole words of four values: the last ones are 0.
    pub(super) values: Buffer<u32>,
    /// As many.
    pub(super) sums: Buffer<u32>,
    /// As many, 0 before a launch.
    pub(super) kept: Buffer<u32>,
    /// The totals of blocks of [`BLOCK`] values, and those of tiles.
    of_blocks: Totals,
    of_tiles: Totals,
    /// The next tile to take: 0 between launches.
    ticket: Buffer<u32>,
    /// A status and a sum for each tile. No launch resets them: each has another number.
    table: Buffer<u64>,
    number: u32,
    /// How many values CUB keeps.
    pub(super) count: Buffer<u32>,
}

/// Totals to scan, level by level: those of blocks, of blocks of those, and so on.
struct Totals(Vec<Level>);

/// Totals, and their prefix sums.
struct Level {
    totals: Buffer<u32>,
    sums: Buffer<u32>,
}

impl Data {
    pub(super) fn new(device: &Device, values: &[u32]) -> Result<Self> {
        let (size, padded) = (values.len(), values.len().next_multiple_of(4));
        let tile_count = size.div_ceil(TILE as usize);
        let mut data = Self {
            size,
            values: device.buffer(padded)?,
            sums: device.buffer(padded)?,
            kept: device.buffer(padded)?,
            of_blocks: Totals::new(device, size.div_ceil(BLOCK as usize))?,
            of_tiles: Totals::new(device, tile_count)?,
            ticket: device.buffer(1)?,
            table: device.buffer(tile_count)?,
            number: 0,
            count: device.buffer(1)?,
        };
        data.values.fill_bytes(0)?;
        data.values.write_from(0, values)?;
        Ok(data)
    }

    pub(super) fn reset(&mut self) -> Result<()> {
        self.number = 0;
        self.ticket.fill_bytes(0)?;
        self.table.fill_bytes(0)?;
        self.sums.poison()?;
        self.kept.fill_bytes(0)?;
        self.of_blocks.poison()?;
        self.of_tiles.poison()
    }

    pub(super) fn result(&mut self, makes: Makes) -> &mut Buffer<u32> {
        match makes {
            Makes::Sums => &mut self.sums,
            Makes::Kept => &mut self.kept,
        }
    }

    pub(super) fn launch(&mut self, launcher: &mut Launcher<'_>, method: Method, log_banks: u32) -> Result<()> {
        match method {
            Method::HillisSteele | Method::Blelloch | Method::Padded | Method::Shuffle => {
                self.in_blocks(launcher, method, log_banks)
            }
            Method::TwoReads | Method::CompactTwoReads => self.in_two_reads(launcher, method),
            Method::Single | Method::Window | Method::CompactSingle => self.in_one_pass(launcher, method),
        }
    }

    /// Each block scans its values; then the totals of the blocks before are added.
    fn in_blocks(&mut self, launcher: &mut Launcher<'_>, method: Method, log_banks: u32) -> Result<()> {
        let blocks = LaunchConfig::linear(self.size, BLOCK);
        let trees = LaunchConfig { block: [TREE_BLOCK, 1, 1], ..blocks };
        let (values, sums, totals) = (&self.values, &mut self.sums, &mut self.of_blocks.0[0].totals);
        match method {
            // SAFETY: there is a total for each block.
            Method::Blelloch => unsafe {
                launcher.launch_unchecked(&kernel::scan_blelloch, &trees, (values, sums, totals))
            },
            // SAFETY: as above, and the flag is below 32.
            Method::Padded => unsafe {
                launcher.launch_unchecked(&kernel::scan_padded, &trees, (values, sums, totals, log_banks))
            },
            Method::HillisSteele => launcher.launch(&kernel::scan_hillis_steele, &blocks, (values, sums, totals)),
            _ => launcher.launch(&kernel::scan_shuffle, &blocks, (values, sums, totals)),
        }?;
        self.of_blocks.scan(launcher)?;
        launcher.launch(&kernel::scan_add, &blocks, (&self.of_blocks.0[0].sums, &mut self.sums))
    }

    /// The totals of the tiles first, for which all values are read.
    fn in_two_reads(&mut self, launcher: &mut Launcher<'_>, method: Method) -> Result<()> {
        let launch = self.tiles();
        let Self { values, sums, kept, of_tiles, .. } = self;
        let (words, _) = values.words::<u32x4>();
        let totals = &mut of_tiles.0[0].totals;
        match method {
            Method::TwoReads => launcher.launch(&tiles::scan_totals, &launch, (words, totals)),
            _ => launcher.launch(&compact::scan_compact_count, &launch, (&*values, totals)),
        }?;
        of_tiles.scan(launcher)?;
        let before = &of_tiles.0[0].sums;
        match method {
            Method::TwoReads => launcher.launch(&tiles::scan_from, &launch, (words, before, sums.words_mut().0)),
            _ => launcher.launch(&compact::scan_compact_scatter, &launch, (&*values, before, kept)),
        }
    }

    fn in_one_pass(&mut self, launcher: &mut Launcher<'_>, method: Method) -> Result<()> {
        let launch = self.tiles();
        self.number = self.number.wrapping_add(1);
        let Self { values, sums, kept, ticket, table, number, .. } = self;
        let (words, sums) = (values.words::<u32x4>().0, sums.words_mut::<u32x4>().0);
        // SAFETY: each launch has a block and an entry for each tile, and another number since the
        // reset, and leaves the ticket 0.
        unsafe {
            match method {
                Method::Single => {
                    launcher.launch_unchecked(&tiles::scan_single, &launch, (words, sums, ticket, table, *number))
                }
                Method::Window => {
                    launcher.launch_unchecked(&tiles::scan_window, &launch, (words, sums, ticket, table, *number))
                }
                _ => {
                    let arguments = (&*values, kept, ticket, table, *number);
                    launcher.launch_unchecked(&compact::scan_compact_single, &launch, arguments)
                }
            }
        }
    }

    /// A block for each tile.
    fn tiles(&self) -> LaunchConfig {
        LaunchConfig::new([self.size.div_ceil(TILE as usize) as u32, 1, 1], [BLOCK, 1, 1])
    }
}

impl Totals {
    /// Of so many blocks.
    fn new(device: &Device, count: usize) -> Result<Self> {
        // One block scans the last level, and its total is the next one's only element.
        let counts = std::iter::successors(Some(count), |&count| (count > 1).then(|| count.div_ceil(BLOCK as usize)));
        let level = |count| Ok(Level { totals: device.buffer(count)?, sums: device.buffer(count)? });
        Ok(Self(counts.map(level).collect::<Result<_>>()?))
    }

    fn poison(&mut self) -> Result<()> {
        self.0.iter_mut().try_for_each(|Level { totals, sums }| {
            totals.poison()?;
            sums.poison()
        })
    }

    /// Scans the totals of the first level: each level's blocks leave the totals of the next.
    fn scan(&mut self, launcher: &mut Launcher<'_>) -> Result<()> {
        let levels = &mut self.0;
        for level in 1..levels.len() {
            let (below, above) = levels.split_at_mut(level);
            let Level { totals, sums } = &mut below[level - 1];
            let launch = LaunchConfig::linear(totals.len(), BLOCK);
            launcher.launch(&kernel::scan_shuffle, &launch, (&*totals, sums, &mut above[0].totals))?;
        }
        // The last level that was scanned is one block, whose sums are whole.
        for level in (2..levels.len()).rev() {
            let (below, above) = levels.split_at_mut(level - 1);
            let launch = LaunchConfig::linear(below[level - 2].sums.len(), BLOCK);
            launcher.launch(&kernel::scan_add, &launch, (&above[0].sums, &mut below[level - 2].sums))?;
        }
        Ok(())
    }
}
