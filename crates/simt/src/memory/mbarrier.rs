//! The value of an mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions:
//! mbarrier"): encoding, arrivals and phases.
//!
//! A barrier is 64 bits of shared memory in an implementation-defined layout. Here, from the lowest
//! bit: arrivals that the phase still waits for (20), arrivals that each phase waits for (20),
//! bytes that it still waits for (21, signed), unused (1), the parity of the phase (1), and a bit
//! that is always set, so that all zeros are not a barrier.

use std::fmt;

/// The most arrivals that a phase waits for.
const COUNT_LIMIT: u32 = (1 << 20) - 1;
/// The most bytes that a phase waits for.
const BYTES_LIMIT: i32 = (1 << 20) - 1;

/// A barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mbarrier {
    /// Arrivals that the phase still waits for.
    pub pending: u32,
    /// Arrivals that the next phase will wait for.
    expected: u32,
    /// Bytes that the phase still waits for.
    pub bytes: i32,
    /// 0 in the first phase.
    pub parity: u32,
}

type Attempt<T> = Result<T, MbarrierFault>;

impl Mbarrier {
    /// A barrier that waits for `count` arrivals in each phase.
    pub fn new(count: u32) -> Attempt<Self> {
        if count == 0 || count > COUNT_LIMIT {
            return Err(MbarrierFault::Count { count });
        }
        Ok(Self { pending: count, expected: count, bytes: 0, parity: 0 })
    }

    /// Decodes a barrier.
    pub fn from_bits(bits: u64) -> Attempt<Self> {
        if bits >> 63 == 0 {
            return Err(MbarrierFault::NotInitialized);
        }
        Ok(Self {
            pending: bits as u32 & COUNT_LIMIT,
            expected: (bits >> 20) as u32 & COUNT_LIMIT,
            bytes: ((bits << 3) as i64 >> 43) as i32,
            parity: (bits >> 62) as u32 & 1,
        })
    }

    /// Encodes the barrier.
    pub fn to_bits(self) -> u64 {
        let bytes = u64::from(self.bytes as u32 & 0x1f_ffff);
        1 << 63 | u64::from(self.parity) << 62 | bytes << 40 | u64::from(self.expected) << 20 | u64::from(self.pending)
    }

    /// Counts arrivals. If they `drop`, later phases wait for that many fewer.
    pub fn arrive(&mut self, count: u32, drops: bool) -> Attempt<()> {
        if count == 0 || count > self.pending {
            return Err(MbarrierFault::Arrivals { arrivals: count, pending: self.pending });
        }
        self.pending -= count;
        if drops {
            self.expected = self.expected.saturating_sub(count);
        }
        self.complete_phase();
        Ok(())
    }

    /// The phase waits for one more arrival.
    pub fn expect_arrival(&mut self) -> Attempt<()> {
        if self.pending == COUNT_LIMIT {
            return Err(MbarrierFault::Count { count: self.pending + 1 });
        }
        self.pending += 1;
        Ok(())
    }

    /// The phase waits for this many more bytes (fewer if negative).
    pub fn expect(&mut self, bytes: i64) -> Attempt<()> {
        let sum = i64::from(self.bytes) + bytes;
        if sum.abs() > i64::from(BYTES_LIMIT) {
            return Err(MbarrierFault::Bytes { bytes: sum });
        }
        self.bytes = sum as i32;
        Ok(())
    }

    /// This many bytes have arrived.
    pub fn complete(&mut self, bytes: u32) -> Attempt<()> {
        self.expect(-i64::from(bytes))?;
        self.complete_phase();
        Ok(())
    }

    /// Starts the next phase if nothing is left to wait for.
    fn complete_phase(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.parity ^= 1;
            self.pending = self.expected;
        }
    }
}

/// `mbarrier.pending_count`.
pub(crate) fn pending_count(state: u64) -> u32 {
    state as u32 & COUNT_LIMIT
}

/// The parity of the phase in which a state was taken.
pub(crate) fn parity_of(state: u64) -> u32 {
    (state >> 62) as u32 & 1
}

/// Why an `mbarrier` operation is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MbarrierFault {
    /// No barrier was initialised there.
    NotInitialized,
    /// A barrier cannot wait for this many arrivals.
    Count {
        /// The requested number.
        count: u32,
    },
    /// More arrivals than the phase waits for, or none.
    Arrivals {
        /// The arrivals.
        arrivals: u32,
        /// The arrivals that it waits for.
        pending: u32,
    },
    /// A barrier cannot wait for this many bytes.
    Bytes {
        /// The bytes.
        bytes: i64,
    },
    /// A `.noComplete` arrival completes the phase.
    Completes,
    /// The barrier is in another block's memory than the bytes that it counts.
    OtherBlock,
}

impl fmt::Display for MbarrierFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInitialized => write!(formatter, "there is none: `mbarrier.init` creates one"),
            Self::Count { count } => {
                write!(formatter, "it cannot wait for {count} arrivals: 1 to 1048575 are allowed")
            }
            Self::Arrivals { arrivals: 0, .. } => write!(formatter, "an arrival with a count of 0"),
            Self::Arrivals { arrivals, pending } => {
                write!(formatter, "{arrivals} arrivals, but the phase waits for only {pending} more")
            }
            Self::Bytes { bytes } => {
                write!(formatter, "it cannot wait for {bytes} bytes: -1048575 to 1048575 are allowed")
            }
            Self::OtherBlock => write!(formatter, "the bytes that it is to count arrive in another block"),
            Self::Completes => write!(formatter, "an arrival with `.noComplete` completes the phase"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_keep_the_barrier() {
        for bytes in [0, 1, -1, BYTES_LIMIT, -BYTES_LIMIT] {
            for parity in [0, 1] {
                let barrier = Mbarrier { pending: 3, expected: COUNT_LIMIT, bytes, parity };
                assert_eq!(Mbarrier::from_bits(barrier.to_bits()), Ok(barrier));
                assert_eq!((pending_count(barrier.to_bits()), parity_of(barrier.to_bits())), (3, parity));
            }
        }
        assert_eq!(Mbarrier::from_bits(0), Err(MbarrierFault::NotInitialized));
    }

    #[test]
    fn a_phase_waits_for_arrivals_and_bytes() {
        let mut barrier = Mbarrier::new(2).unwrap();
        barrier.expect(64).unwrap();
        barrier.arrive(1, true).unwrap();
        barrier.arrive(1, false).unwrap();
        assert_eq!((barrier.parity, barrier.pending, barrier.bytes), (0, 0, 64));
        assert_eq!(barrier.arrive(1, false), Err(MbarrierFault::Arrivals { arrivals: 1, pending: 0 }));
        barrier.complete(64).unwrap();
        assert_eq!((barrier.parity, barrier.pending, barrier.bytes), (1, 1, 0));
        barrier.arrive(1, false).unwrap();
        assert_eq!(barrier.parity, 0);
        assert_eq!(Mbarrier::new(0), Err(MbarrierFault::Count { count: 0 }));
        assert_eq!(barrier.expect(1 << 20), Err(MbarrierFault::Bytes { bytes: 1 << 20 }));
    }
}
