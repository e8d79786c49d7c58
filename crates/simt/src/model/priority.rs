//! Which lines L2 keeps: the priorities of PTX's hints (PTX ISA, "Cache Eviction Priority Hints"),
//! and the driver's access policy window.
//!
//! A set evicts a line that is to go first before ordinary ones, and these before one that is to go
//! last; among equals the least recently used. `evict_last` without a window changes nothing: it
//! asks for the part of L2 that is set aside for lines that persist (CUDA programming guide, "L2
//! Cache Control"), and here only a launch with a window has one.
//!
//! An H200 does the same (Nsight Compute, 2026-11-29, `host order`: 16 passes over a table, each
//! beside as much of a stream that is read once). MB that DRAM delivers:
//!
//! | table | least | no hint | `evict_last` | `ld.cs` | `evict_first` | window |
//! | --- | ---: | ---: | ---: | ---: | ---: | ---: |
//! | 20 MiB | 357 | 429 | 421 | 357 | 356 | 357 |
//! | 28 MiB | 499 | 931 | 931 | 500 | 500 | 499 |
//! | 36 MiB | 642 | 1208 | 1208 | 662 | 662 | 642 |
//! | 48 MiB | 856 | 1611 | 1611 | 1516 | 1515 | 1305 |
//!
//! Not modelled: that the part set aside is limited, as the last row shows; and that a program can set
//! it aside without a window (`CU_LIMIT_PERSISTING_L2_CACHE_SIZE`): then `evict_last` keeps the table
//! of 28 MiB on the H200, too (499 MB, 2026-11-30). Unknown: whether an access without a hint makes a
//! kept line ordinary (here it does not), and what other GPUs do.

use ptx::EvictionPriority;

/// The values that this simulator gives to policies of `createpolicy`, which PTX calls opaque. They are
/// those that NVIDIA's CUTLASS passes as constants, so that a kernel with such constants is
/// understood, too.
const POLICIES: [(EvictionPriority, u64); 3] = [
    (EvictionPriority::Normal, 0x1000_0000_0000_0000),
    (EvictionPriority::First, 0x12f0_0000_0000_0000),
    (EvictionPriority::Last, 0x14f0_0000_0000_0000),
];

/// The policy with this priority; 0 if it changes none.
pub(crate) fn policy_of(priority: EvictionPriority) -> u64 {
    POLICIES.iter().find(|(of, _)| *of == priority).map_or(0, |(_, policy)| *policy)
}

/// The priority of a policy. Values that are none of a `createpolicy` change no priority.
pub(crate) fn priority_of(policy: u64) -> EvictionPriority {
    POLICIES.iter().find(|(_, of)| *of == policy).map_or(EvictionPriority::Unchanged, |(priority, _)| *priority)
}

/// A part of global memory whose lines L2 evicts last: the driver's access policy window
/// (`CUaccessPolicyWindow`) with the hit ratio 1 and persisting hits. Hints of accesses come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessWindow {
    /// Its address.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

impl AccessWindow {
    /// Whether a line, given its number and size, is in it, at least in part.
    fn has(&self, line: u64, bytes: u64) -> bool {
        let first = line * bytes;
        first < self.address.saturating_add(self.bytes) && first + bytes > self.address
    }
}

/// What an access with this hint makes of a line's priority, given the line's number and size.
pub(super) fn of_line(hint: EvictionPriority, window: Option<AccessWindow>, line: u64, bytes: u64) -> EvictionPriority {
    match (hint, window) {
        (EvictionPriority::Unchanged, Some(window)) if window.has(line, bytes) => EvictionPriority::Last,
        (EvictionPriority::Last, None) => EvictionPriority::Unchanged,
        _ => hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_has_its_priority() {
        for priority in EvictionPriority::ALL {
            assert_eq!(priority_of(policy_of(*priority)), *priority);
        }
        assert_eq!(priority_of(7), EvictionPriority::Unchanged);
    }

    #[test]
    fn a_window_has_the_lines_that_it_touches() {
        let window = AccessWindow { address: 256, bytes: 130 };
        let has: Vec<u64> = (0..8).filter(|&line| window.has(line, 128)).collect();
        assert_eq!(has, [2, 3]);
        assert!(AccessWindow { address: u64::MAX - 300, bytes: u64::MAX }.has(u64::MAX / 128 - 1, 128));
    }
}
