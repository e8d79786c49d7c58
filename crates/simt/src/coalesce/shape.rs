//! The shape of a warp's access: the distances between the addresses of its lanes.
//!
//! An instruction in a loop accesses different addresses each time, but mostly in the same shape:
//! all moved by the same distance. Everything that depends only on the shape (extent, alignment,
//! the number of sectors and wavefronts) is computed once and kept with the instruction. After
//! that, one pass over the addresses shows that the shape is unchanged, and one comparison with an
//! allocation's bounds covers all lanes.
//!
//! A shape never changes a count: tests here compare what it keeps with what `coalesce` counts for
//! the addresses. Accesses that do not fit a shape (several allocations or state spaces, faults)
//! are handled lane by lane.

use super::sectors::{self, SECTOR_BYTES, Sectors};
use super::wavefronts::Wavefronts;
use crate::address::{Access, Lanes, Runs};

/// A span of less than this leaves room for the bytes of a lane in offsets of 32 bits.
const SPAN_LIMIT: u64 = (1 << 32) - 16;

/// Layouts of lanes that have fast paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// All 32 lanes, consecutive.
    Consecutive,
    /// All 32 lanes at one address.
    Uniform,
    Scattered,
}

/// A shape of accesses. At least one lane is active.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Active lanes.
    mask: u32,
    /// Bytes a lane accesses: 1, 2, 4, 8 or 16.
    width: u32,
    /// The lowest active lane.
    first: u32,
    /// Each active lane's address, relative to the first's.
    relative: [u64; 32],
    /// The lowest address, relative to the first lane's.
    lowest: u64,
    /// The highest address, relative to the lowest.
    span: u64,
    /// Each active lane's address, relative to the lowest; valid if `span` is less than
    /// `SPAN_LIMIT`. 0 in other lanes.
    offsets: [u32; 32],
    layout: Layout,
    /// Whether all of `offsets` are valid, and multiples of the width.
    even: bool,
    /// The index of the last access's allocation.
    pub(crate) allocation: usize,
    sectors: Memo<Sectors>,
    wavefronts: Memo<Wavefronts>,
    /// The number of distinct addresses, computed on first use.
    addresses: Option<u32>,
    /// Computed on first use.
    runs: Option<Runs>,
}

/// Results by the low bits of the lowest address, which are all that matters of it.
#[derive(Debug)]
struct Memo<T> {
    known: u32,
    values: [T; SECTOR_BYTES as usize],
}

impl<T: Copy + Default> Memo<T> {
    fn new() -> Self {
        Self { known: 0, values: [T::default(); SECTOR_BYTES as usize] }
    }

    #[inline(always)]
    fn get(&mut self, low_bits: u32, compute: impl FnOnce() -> T) -> T {
        let index = (low_bits % SECTOR_BYTES) as usize;
        if self.known >> index & 1 == 0 {
            self.values[index] = compute();
            self.known |= 1 << index;
        }
        self.values[index]
    }
}

impl Shape {
    /// A shape that no access has.
    pub fn new() -> Self {
        Self {
            mask: 0,
            width: 1,
            first: 0,
            relative: [0; 32],
            lowest: 0,
            span: 0,
            offsets: [0; 32],
            layout: Layout::Scattered,
            even: true,
            allocation: 0,
            sectors: Memo::new(),
            wavefronts: Memo::new(),
            addresses: None,
            runs: None,
        }
    }

    /// Calls `each` with every active lane's part of an access: its shape, and its address.
    pub fn for_each_lane(access: &Access, mut each: impl FnMut(&mut Shape, u64)) {
        let mut shape = Self::new();
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
            let address = shape.follow(1 << lane, access.addresses, access.width);
            each(&mut shape, address);
        }
    }

    /// The lanes of `mask` whose addresses are so near the lowest that the shape of their access has
    /// offsets.
    pub fn near(mask: u32, row: &[u64; 32]) -> u32 {
        let lanes = || (0..32).filter(|lane| mask >> lane & 1 == 1);
        let lowest = lanes().map(|lane| row[lane]).min().unwrap_or(0);
        lanes().filter(|&lane| row[lane] - lowest < SPAN_LIMIT).fold(0, |near, lane| near | 1 << lane)
    }

    /// Takes the shape of an access by the lanes of `mask` to the addresses in `row`, plus an
    /// offset that is the same for all. Returns the lowest of `row`.
    #[inline(always)]
    pub fn follow<T: Copy + Into<u64>>(&mut self, mask: u32, row: &[T; 32], width: u32) -> u64 {
        if mask != self.mask || width != self.width || !self.has(row) {
            self.learn(mask, row, width);
        }
        row[(self.first & 31) as usize].into().wrapping_add(self.lowest)
    }

    /// Whether the addresses in `row` have this shape.
    #[inline(always)]
    fn has<T: Copy + Into<u64>>(&self, row: &[T; 32]) -> bool {
        let first: u64 = row[(self.first & 31) as usize].into();
        let mut difference = 0;
        if self.mask == u32::MAX {
            for (&address, &relative) in row.iter().zip(&self.relative) {
                difference |= address.into().wrapping_sub(first) ^ relative;
            }
        } else {
            for (lane, (&address, &relative)) in row.iter().zip(&self.relative).enumerate() {
                let active = 0u64.wrapping_sub(u64::from(self.mask >> lane & 1));
                difference |= (address.into().wrapping_sub(first) ^ relative) & active;
            }
        }
        difference == 0
    }

    // Inlined into the caller, to be compiled for its instruction set.
    #[inline(always)]
    fn learn<T: Copy + Into<u64>>(&mut self, mask: u32, row: &[T; 32], width: u32) {
        (self.mask, self.width, self.first) = (mask, width, mask.trailing_zeros() & 31);
        (self.sectors.known, self.wavefronts.known, self.runs) = (0, 0, None);
        self.addresses = None;
        let first = row[(self.first & 31) as usize].into();
        let (mut low, mut high) = (0i64, 0i64);
        for (lane, (relative, &address)) in self.relative.iter_mut().zip(row).enumerate() {
            let active = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
            *relative = address.into().wrapping_sub(first) & active;
            low = low.min(*relative as i64);
            high = high.max(*relative as i64);
        }
        self.lowest = low as u64;
        self.span = high.wrapping_sub(low) as u64;
        let (mut low_bits, mut steps, mut same) = (0, 0, 0);
        for lane in 0..32 {
            let active = 0u32.wrapping_sub(mask >> lane & 1);
            let offset = (self.relative[lane].wrapping_sub(self.lowest) as u32) & active;
            self.offsets[lane] = offset;
            low_bits |= offset;
            steps |= offset ^ (lane as u32 * width);
            same |= offset;
        }
        self.even = low_bits & (width - 1) == 0 && self.span < SPAN_LIMIT;
        self.layout = match (mask, steps, same) {
            (u32::MAX, 0, _) => Layout::Consecutive,
            (u32::MAX, _, 0) => Layout::Uniform,
            _ => Layout::Scattered,
        };
    }

    /// Active lanes.
    #[inline]
    pub fn mask(&self) -> u32 {
        self.mask
    }

    /// Bytes a lane accesses.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The highest address, relative to the lowest.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Each active lane's address, relative to the lowest; 0 in other lanes.
    #[inline]
    pub(crate) fn offsets(&self) -> &[u32; 32] {
        &self.offsets
    }

    #[inline]
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Where an access with this shape starts in an allocation of `bytes` at `base`, if all lanes
    /// are aligned and within it, and not far apart. `base` is aligned for every width, and `lowest`
    /// is the lowest address.
    #[inline(always)]
    pub fn start_within(&self, lowest: u64, base: u64, bytes: u64) -> Option<u64> {
        let start = lowest.checked_sub(base)?;
        let end = start.checked_add(self.span)?.checked_add(u64::from(self.width))?;
        (end <= bytes && self.even && start as u32 & (self.width - 1) == 0).then_some(start)
    }

    /// The lanes, from `start` on, from [`Shape::start_within`].
    #[inline(always)]
    pub fn lanes(&mut self, start: u64) -> Lanes<'_> {
        let Self { mask, width, ref offsets, ref mut runs, .. } = *self;
        let runs = match *runs {
            Some(runs) => runs,
            None => *runs.insert(Runs::new(mask, offsets, width)),
        };
        Lanes { mask, start, offsets, width, runs }
    }

    /// The sectors that the access touches.
    #[inline(always)]
    pub fn sectors(&mut self, lowest: u64) -> Sectors {
        // Lanes in several allocations may be far apart.
        let Self { mask, width, relative, lowest: origin, sectors, .. } = self;
        sectors.get(lowest as u32, || {
            let addresses = relative
                .map(|relative| (lowest % u64::from(SECTOR_BYTES)).wrapping_add(relative.wrapping_sub(*origin)));
            sectors::sectors(&Access::new(*mask, &addresses, *width))
        })
    }

    /// What an access with this shape gives for anything that depends on all of its addresses.
    pub fn with_access<T>(&self, lowest: u64, compute: impl FnOnce(&Access) -> T) -> T {
        let addresses = self.offsets.map(|offset| lowest + u64::from(offset));
        compute(&Access::new(self.mask, &addresses, self.width))
    }

    /// The number of distinct addresses.
    #[inline(always)]
    pub fn addresses(&mut self) -> u32 {
        let Self { mask, width, offsets, addresses, .. } = self;
        *addresses.get_or_insert_with(|| sectors::addresses(&Access::new(*mask, &offsets.map(u64::from), *width)))
    }

    /// The wavefronts that a load or a store needs, by one of the functions of [`coalesce`].
    #[inline(always)]
    pub fn wavefronts(&mut self, lowest: u64, count: impl FnOnce(&Access) -> Wavefronts) -> Wavefronts {
        // The bank of the first word does not matter: the others move with it.
        let low_bits = lowest % 4;
        let Self { mask, width, offsets, wavefronts, .. } = self;
        wavefronts.get(low_bits as u32, || {
            let addresses = offsets.map(|offset| low_bits + u64::from(offset));
            count(&Access::new(*mask, &addresses, *width))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coalesce::wavefronts;

    /// Pseudo-random numbers, the same each time.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 20
    }

    #[test]
    fn what_is_kept_of_a_shape_is_what_its_addresses_give() {
        let (mut state, mut shape) = (7, Shape::new());
        for round in 0..4000 {
            let width = 1 << (round / 50 % 5);
            let mask = [u32::MAX, 0xffff, 0x8000_0001, 0x7fff_fffe][round / 10 % 4];
            // The same shape a few times, moved; then another.
            let mut pattern = (round / 5) as u64;
            let stride = [1, 0, 3, 32, 33][round / 5 % 5];
            let scatter = round % 100 > 80;
            let relative: [u64; 32] = std::array::from_fn(|lane| match scatter {
                true => random(&mut pattern) % 512,
                false => stride * lane as u64,
            });
            let start = 1024 + random(&mut state) % 4096;
            let addresses = relative.map(|element| (start + element) * u64::from(width));
            let lowest = shape.follow(mask, &addresses, width);
            let active = || (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| addresses[lane]);
            assert_eq!(Some(lowest), active().min());
            assert_eq!(Some(lowest + shape.span()), active().max());
            for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
                assert_eq!(lowest + u64::from(shape.offsets()[lane]), addresses[lane]);
            }
            let access = Access::new(mask, &addresses, width);
            assert_eq!(shape.sectors(lowest), sectors::sectors(&access));
            assert_eq!(shape.addresses(), sectors::addresses(&access));
            assert_eq!(shape.wavefronts(lowest, wavefronts::load_wavefronts), wavefronts::load_wavefronts(&access));
        }
    }

    #[test]
    fn bounds_and_alignment_hold_for_every_lane() {
        let mut shape = Shape::new();
        let lanes = |start: u64, stride: u64| -> [u64; 32] {
            std::array::from_fn(|lane| start.wrapping_add(stride * lane as u64))
        };
        let mut start = |addresses: &[u64; 32], width| {
            let lowest = shape.follow(u32::MAX, addresses, width);
            shape.start_within(lowest, 256, 128)
        };
        assert_eq!(start(&lanes(256, 4), 4), Some(0));
        assert_eq!(start(&lanes(380, 0), 4), Some(124));
        assert_eq!(start(&lanes(260, 4), 4), None);
        assert_eq!(start(&lanes(252, 4), 4), None);
        assert_eq!(start(&lanes(256, 2), 4), None);
        assert_eq!(start(&lanes(258, 0), 4), None);
        assert_eq!(start(&lanes(u64::MAX - 3, 4), 4), None);
        assert_eq!(start(&std::array::from_fn(|lane| 256 + ((lane as u64) << 59)), 4), None);
    }

    #[test]
    fn lanes_of_a_large_allocation_may_be_far_from_its_start_and_not_from_each_other() {
        let mut shape = Shape::new();
        let mut start = |start: u64, last: u64| {
            let addresses = std::array::from_fn(|lane| start + if lane == 31 { last } else { 0 });
            let lowest = shape.follow(u32::MAX, &addresses, 4);
            shape.start_within(lowest, 256, 1 << 40)
        };
        assert_eq!(start(256 + (1 << 39), 0), Some(1 << 39));
        assert_eq!(start(256, (1 << 32) - 20), Some(0));
        assert_eq!(start(256, (1 << 32) - 16), None);
        assert_eq!(start(256, 1 << 32), None);
    }
}
