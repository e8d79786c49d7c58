//! One warp's access: lanes, addresses and width.

use super::fault::{AccessFault, AccessFaultKind};

/// The addresses that the active lanes of a warp access with one instruction.
pub(crate) struct Access<'a> {
    /// Active lanes, lane 0 in the lowest bit.
    pub mask: u32,
    /// An address for each lane; those of inactive lanes are meaningless.
    pub addresses: &'a [u64; 32],
    /// Bytes a lane accesses: 1, 2, 4, 8 or 16.
    pub width: u32,
    consecutive: bool,
}

impl<'a> Access<'a> {
    /// An access of `width` bytes a lane.
    #[inline(always)]
    pub fn new(mask: u32, addresses: &'a [u64; 32], width: u32) -> Self {
        let mut consecutive = mask == u32::MAX;
        if consecutive {
            // A shift, since 64-bit multiplications of lanes are slow. Neighbours are not compared,
            // since loads that straddle recent stores are even slower.
            let (mut difference, shift) = (0, width.trailing_zeros());
            for (lane, &address) in addresses.iter().enumerate() {
                difference |= address ^ addresses[0].wrapping_add((lane as u64) << (shift & 63));
            }
            consecutive = difference == 0;
        }
        Self { mask, addresses, width, consecutive }
    }

    /// Whether all 32 lanes are active and each accesses the bytes that follow its neighbour's.
    #[inline(always)]
    pub fn is_consecutive(&self) -> bool {
        self.consecutive
    }

    /// The fault of the first active lane that fails `check`.
    pub fn check(&self, check: impl Fn(u64) -> Result<(), AccessFaultKind>) -> Result<(), AccessFault> {
        for lane in (0..32u32).filter(|lane| self.mask >> lane & 1 == 1) {
            let address = self.addresses[lane as usize];
            check(address).map_err(|kind| AccessFault { lane, address, kind })?;
        }
        Ok(())
    }

    /// In local memory: the offset of each lane's `word`th accessed word in the hardware's layout,
    /// which interleaves the words of a warp's lanes.
    pub fn backing_addresses(&self, word: u64) -> [u64; 32] {
        std::array::from_fn(|lane| {
            let address = self.addresses[lane];
            // Inactive lanes may have any address.
            (address / 4 + word).wrapping_mul(128).wrapping_add(lane as u64 * 4 + address % 4)
        })
    }

    /// The addresses, with each inactive lane's replaced by an active one's. At least one lane must
    /// be active.
    #[inline(always)]
    pub fn filled(&self) -> [u64; 32] {
        let mut filled = *self.addresses;
        if self.mask != u32::MAX {
            // An inactive lane repeats the active one before it, so rising addresses stay rising.
            let mut last = self.addresses[(self.mask.trailing_zeros() & 31) as usize];
            for (lane, address) in filled.iter_mut().enumerate() {
                last = if self.mask >> lane & 1 == 1 { *address } else { last };
                *address = last;
            }
        }
        filled
    }
}
