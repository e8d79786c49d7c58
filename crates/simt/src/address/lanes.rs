//! The lanes of an access to one allocation, for code that looks at each of them: the sanitizer.

/// Where in an allocation each lane of a warp accesses some bytes, and how the lanes' addresses
/// relate to their neighbours'.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    /// Active lanes, lane 0 in the lowest bit.
    pub mask: u32,
    /// The lowest lane's distance from the start of the allocation.
    pub start: u64,
    /// Each lane's distance from `start`; those of inactive lanes are meaningless.
    pub offsets: &'a [u32; 32],
    /// Bytes a lane accesses: 1, 2, 4, 8 or 16; freed heap memory may have any number.
    pub width: u32,
    pub runs: Runs,
}

impl Lanes<'_> {
    /// An access of one lane.
    pub fn one(lane: usize, start: u64, width: u32) -> Self {
        Self { mask: 1 << (lane & 31), start, offsets: &[0; 32], width, runs: Runs::default() }
    }

    /// A lane's distance from the start of the allocation.
    #[inline(always)]
    pub fn offset(&self, lane: usize) -> u64 {
        self.start.wrapping_add(self.offsets[lane].into())
    }

    /// Whether all 32 lanes are active and each accesses the bytes that follow its neighbour's.
    #[inline(always)]
    pub fn is_consecutive(&self) -> bool {
        self.runs.follows == !1
    }
}

/// How the addresses of active lanes relate to those of the active lanes before them: a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Those that access the bytes after the lane before them.
    pub follows: u32,
    /// Those that access the same bytes as the lane before them.
    pub repeats: u32,
}

impl Runs {
    #[inline(always)]
    pub fn new(mask: u32, offsets: &[u32; 32], width: u32) -> Self {
        let (mut follows, mut repeats) = (0, 0);
        for lane in 1..32 {
            let step = offsets[lane].wrapping_sub(offsets[lane - 1]);
            follows |= u32::from(step == width) << lane;
            repeats |= u32::from(step == 0) << lane;
        }
        let both = mask & mask << 1;
        Self { follows: follows & both, repeats: repeats & both }
    }

    /// How many lanes, from `lane` on, access consecutive bytes.
    #[inline(always)]
    pub fn in_a_row(self, lane: u32) -> u32 {
        1 + (self.follows >> (lane & 31) >> 1).trailing_ones()
    }

    /// How many lanes, from `lane` on, access the same bytes.
    #[inline(always)]
    pub fn alike(self, lane: u32) -> u32 {
        1 + (self.repeats >> (lane & 31) >> 1).trailing_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_lanes_are_missing() {
        let row: [u32; 32] = std::array::from_fn(|lane| 8 * lane as u32);
        assert_eq!(Runs::new(u32::MAX, &row, 8), Runs { follows: !1, repeats: 0 });
        assert_eq!(Runs::new(u32::MAX, &row, 4), Runs::default());
        let runs = Runs::new(0x00ff_0f0f, &row, 8);
        assert_eq!([0, 1, 3, 8, 16, 17, 23].map(|lane| runs.in_a_row(lane)), [4, 3, 1, 4, 8, 7, 1]);
        assert_eq!(runs.alike(0), 1);
        let halves: [u32; 32] = std::array::from_fn(|lane| 512 * (lane as u32 / 16));
        let runs = Runs::new(u32::MAX, &halves, 4);
        assert_eq!([0, 15, 16, 31].map(|lane| runs.alike(lane)), [16, 1, 16, 1]);
        assert_eq!(Runs::new(u32::MAX, &[7; 32], 4), Runs { follows: 0, repeats: !1 });
    }
}
