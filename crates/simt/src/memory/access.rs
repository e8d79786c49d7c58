//! One warp's access: which lanes, which addresses, how wide.

/// The addresses that the active lanes of a warp access with one instruction.
pub(crate) struct Access<'a> {
    /// Active lanes, lane 0 in the lowest bit.
    pub mask: u32,
    /// An address for each lane; those of inactive lanes mean nothing.
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
            // A shift, since 64-bit multiplications of lanes are slow; and no neighbours are compared, since loads that
            // straddle what was just stored are slower still.
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

    /// The fault of the first active lane that `check` finds one for.
    pub fn check(&self, check: impl Fn(u64) -> Result<(), AccessFaultKind>) -> Result<(), AccessFault> {
        for lane in (0..32u32).filter(|lane| self.mask >> lane & 1 == 1) {
            let address = self.addresses[lane as usize];
            check(address).map_err(|kind| AccessFault { lane, address, kind })?;
        }
        Ok(())
    }

    /// The addresses, with each inactive lane's replaced by an active one's. At least one lane must be active.
    #[inline(always)]
    pub fn filled(&self) -> [u64; 32] {
        let mut filled = *self.addresses;
        if self.mask != u32::MAX {
            // An inactive lane repeats the active one before it: what rises goes on rising.
            let mut last = self.addresses[(self.mask.trailing_zeros() & 31) as usize];
            for (lane, address) in filled.iter_mut().enumerate() {
                last = if self.mask >> lane & 1 == 1 { *address } else { last };
                *address = last;
            }
        }
        filled
    }
}

/// Why an access cannot be made, and by which lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessFault {
    /// The lowest lane at fault.
    pub lane: u32,
    /// Its address.
    pub address: u64,
    /// What is wrong with it.
    pub kind: AccessFaultKind,
}

/// Why an address cannot be accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessFaultKind {
    /// Not a multiple of the access's width.
    Misaligned {
        /// That width, in bytes.
        width: u32,
    },
    /// In no allocation, or beyond the end of one.
    OutOfBounds {
        /// The allocation nearest to it.
        nearest: Option<AllocationSpan>,
    },
    /// In an allocation that was freed.
    Freed {
        /// That allocation.
        allocation: AllocationSpan,
    },
    /// A write to memory that kernels may only read.
    ReadOnly {
        /// That allocation.
        allocation: AllocationSpan,
    },
}

impl AccessFaultKind {
    /// A word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Misaligned { .. } => "misaligned",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::Freed { .. } => "use_after_free",
            Self::ReadOnly { .. } => "read_only",
        }
    }

    /// The allocation that it is about: the nearest one, where the address is in none.
    pub fn allocation(&self) -> Option<AllocationSpan> {
        match *self {
            Self::Misaligned { .. } => None,
            Self::OutOfBounds { nearest } => nearest,
            Self::Freed { allocation } | Self::ReadOnly { allocation } => Some(allocation),
        }
    }
}

/// Where an allocation lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationSpan {
    /// Address of its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
}
