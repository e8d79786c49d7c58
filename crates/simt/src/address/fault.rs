//! Why an address cannot be accessed or freed, with the message.

use std::fmt;

use ptx::Space;

use super::windows::rank_of;
use crate::site::AccessAction;

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
        /// The width, in bytes.
        width: u32,
    },
    /// In no allocation, or beyond the end of one.
    OutOfBounds {
        /// The allocation nearest to it.
        nearest: Option<AllocationSpan>,
    },
    /// In an allocation that was freed, or nearer to it than to any other.
    Freed {
        /// The allocation.
        allocation: AllocationSpan,
    },
    /// In memory that the host has mapped without access.
    NoAccess {
        /// The mapping.
        allocation: AllocationSpan,
    },
    /// In the shared memory of a block of the cluster that is not running.
    BlockNotRunning {
        /// Its rank.
        rank: u32,
        /// Whether it has exited; otherwise it has not begun.
        exited: bool,
    },
    /// In a state space that the instruction does not work on, by a generic address.
    WrongSpace {
        /// The spaces that it works on.
        needed: &'static str,
    },
    /// A write to memory that kernels may only read.
    ReadOnly {
        /// The allocation.
        allocation: AllocationSpan,
    },
}

impl AccessFaultKind {
    /// `atom` and `red` work on these alone.
    pub(crate) const NOT_ATOMIC: Self = Self::WrongSpace { needed: "global or shared" };

    /// Its name in machine-readable output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Misaligned { .. } => "misaligned",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::Freed { .. } => "use_after_free",
            Self::NoAccess { .. } => "no_access",
            Self::BlockNotRunning { .. } => "block_not_there",
            Self::WrongSpace { .. } => "wrong_space",
            Self::ReadOnly { .. } => "read_only",
        }
    }

    /// The allocation in question; the nearest one if the address is in none.
    pub fn allocation(&self) -> Option<AllocationSpan> {
        match *self {
            Self::Misaligned { .. } | Self::BlockNotRunning { .. } | Self::WrongSpace { .. } => None,
            Self::OutOfBounds { nearest } => nearest,
            Self::Freed { allocation } | Self::NoAccess { allocation } | Self::ReadOnly { allocation } => {
                Some(allocation)
            }
        }
    }
}

/// The address range of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationSpan {
    /// Address of its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

impl AllocationSpan {
    /// How far an address is from its first or last byte, if not inside.
    pub(crate) fn distance(&self, address: u64) -> u64 {
        let last = self.address + self.bytes.saturating_sub(1);
        if address < self.address { self.address - address } else { address.saturating_sub(last) }
    }
}

/// Where an address was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located {
    /// The number of the allocation; the whole heap counts as one.
    pub index: usize,
    /// The range that may be accessed: the allocation, or one of the heap's.
    pub span: AllocationSpan,
    /// Subtract this from addresses to get offsets in the allocation.
    pub base: u64,
}

/// Displays a refused access as a message.
pub(crate) struct RefusedAccess<'a> {
    pub action: AccessAction,
    /// The state space that the address was resolved to.
    pub space: Space,
    pub address: u64,
    /// Bytes that the thread accesses.
    pub width: u32,
    pub fault: &'a AccessFaultKind,
}

impl fmt::Display for RefusedAccess<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { action, space, address, width, fault } = self;
        let what = format_args!("{action} of {} at {} address {address:#x}", Bytes(width.into()), space_name(space));
        let location = |allocation| Location { address, width: width.into(), allocation };
        match *fault {
            AccessFaultKind::Misaligned { width } => write!(formatter, "misaligned {what}: not a multiple of {width}"),
            AccessFaultKind::OutOfBounds { nearest } => {
                write!(formatter, "out of bounds {what}")?;
                // An allocation further away is unrelated.
                const NEAR: u64 = 1 << 30;
                let near = nearest.filter(|near| address.abs_diff(near.address) < NEAR.max(2 * near.bytes));
                match (space, near) {
                    (Space::Shared, Some(near)) if rank_of(address) != rank_of(near.address) => {
                        write!(
                            formatter,
                            ", which belongs to block {} of the cluster, not to the thread's",
                            rank_of(address)
                        )
                    }
                    (Space::ClusterShared, near)
                        if near.is_none_or(|near| rank_of(address) != rank_of(near.address)) =>
                    {
                        write!(formatter, ": the cluster has no block {}", rank_of(address))
                    }
                    (_, None) => write!(formatter, ", where nothing is allocated"),
                    (Space::Shared | Space::ClusterShared, Some(AllocationSpan { bytes: 0, .. })) => {
                        write!(formatter, ": the block has no shared memory")
                    }
                    (Space::Shared | Space::ClusterShared, Some(near)) => {
                        write!(formatter, ": {} the block's {} of shared memory", location(near), Bytes(near.bytes))
                    }
                    (Space::Local, Some(near)) => {
                        write!(formatter, ": {} the thread's {} of local memory", location(near), Bytes(near.bytes))
                    }
                    (_, Some(near)) => write!(formatter, ": {} the {near}", location(near)),
                }
            }
            AccessFaultKind::Freed { allocation } => {
                write!(formatter, "use after free: {what}, {} an {allocation} that was freed", location(allocation))
            }
            AccessFaultKind::NoAccess { allocation } => {
                write!(formatter, "{what}, {} an {allocation} that is mapped without access", location(allocation))
            }
            AccessFaultKind::BlockNotRunning { rank, exited } => {
                let why = if exited { "has exited" } else { "has not begun" };
                write!(formatter, "{what}, of block {rank} of the cluster, which {why}")
            }
            AccessFaultKind::WrongSpace { needed } => {
                write!(formatter, "{what}: the instruction works on {needed} memory alone")
            }
            AccessFaultKind::ReadOnly { allocation } => {
                write!(
                    formatter,
                    "{what}, in read-only memory ({} at {:#x})",
                    Bytes(allocation.bytes),
                    allocation.address
                )
            }
        }
    }
}

/// Displays a refused `free` as a message.
pub(crate) struct RefusedFree<'a> {
    pub address: u64,
    pub fault: &'a FreeFault,
}

impl fmt::Display for RefusedFree<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { address, fault } = self;
        match fault {
            FreeFault::NotAllocated => write!(formatter, "free of {address:#x}, which did not come from malloc"),
            FreeFault::Freed { allocation } => {
                write!(formatter, "double free: the {} at {address:#x} were already freed", Bytes(allocation.bytes))
            }
            FreeFault::Inside { allocation } => write!(
                formatter,
                "free of {address:#x}, which is {} past the start of an {allocation}",
                Bytes(address - allocation.address)
            ),
            FreeFault::NotOfHeap { allocation } => write!(
                formatter,
                "free of {address:#x}, which did not come from malloc: it is in an {allocation}, made by the host or the module"
            ),
        }
    }
}

/// Displays a number of bytes.
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.0, if self.0 == 1 { "byte" } else { "bytes" })
    }
}

impl fmt::Display for AllocationSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "allocation of {} at {:#x}", Bytes(self.bytes), self.address)
    }
}

/// Where an access is relative to an allocation; printed before the allocation.
struct Location {
    address: u64,
    width: u64,
    allocation: AllocationSpan,
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { address, width, allocation } = self;
        let end = allocation.address.saturating_add(allocation.bytes);
        let beyond = address.saturating_add(width).saturating_sub(end);
        if address < allocation.address {
            write!(formatter, "{} before the start of", Bytes(allocation.address - address))
        } else if address == end {
            write!(formatter, "just past the end of")
        } else if address > end {
            write!(formatter, "{} past the end of", Bytes(address - end))
        } else if beyond > 0 {
            let (verb, bytes) = if beyond == 1 { ("is", "byte".into()) } else { ("are", format!("{beyond} bytes")) };
            write!(formatter, "its last {bytes} {verb} past the end of")
        } else {
            write!(formatter, "in")
        }
    }
}

/// The name of a state space in messages.
pub(crate) fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Shared => "shared",
        Space::ClusterShared => "distributed shared",
        Space::Local => "local",
        Space::Constant => "constant",
        Space::Parameter => "parameter",
    }
}

/// Why memory cannot be freed with `free`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FreeFault {
    /// No allocation is at this address.
    NotAllocated,
    /// It was freed before.
    Freed {
        /// The freed allocation.
        allocation: AllocationSpan,
    },
    /// Not the start of an allocation.
    Inside {
        /// The allocation.
        allocation: AllocationSpan,
    },
    /// Memory that the host allocated, or a variable of the module.
    NotOfHeap {
        /// The allocation.
        allocation: AllocationSpan,
    },
}

impl FreeFault {
    /// Its name in machine-readable output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Freed { .. } => "double_free",
            Self::NotAllocated | Self::Inside { .. } | Self::NotOfHeap { .. } => "invalid_free",
        }
    }

    /// The allocation in question.
    pub fn allocation(&self) -> Option<AllocationSpan> {
        match *self {
            Self::NotAllocated => None,
            Self::Freed { allocation } | Self::Inside { allocation } | Self::NotOfHeap { allocation } => {
                Some(allocation)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(space: Space, address: u64, width: u32, fault: AccessFaultKind) -> String {
        RefusedAccess { action: AccessAction::Read, space, address, width, fault: &fault }.to_string()
    }

    #[test]
    fn out_of_bounds_is_reported_from_the_nearer_end() {
        let near = AllocationSpan { address: 0x1000, bytes: 24 };
        let beyond =
            |address, width| text(Space::Global, address, width, AccessFaultKind::OutOfBounds { nearest: Some(near) });
        let at_allocation = "the allocation of 24 bytes at 0x1000";
        assert_eq!(
            beyond(0x1018, 4),
            format!("out of bounds read of 4 bytes at global address 0x1018: just past the end of {at_allocation}")
        );
        for (address, width, place) in [
            (0x1019, 1, "1 byte past the end of"),
            (0x1020, 16, "8 bytes past the end of"),
            (0x1010, 16, "its last 8 bytes are past the end of"),
            (0x1016, 3, "its last byte is past the end of"),
            (0xfff, 1, "1 byte before the start of"),
            (0xff0, 16, "16 bytes before the start of"),
            (0xffc, 8, "4 bytes before the start of"),
        ] {
            assert!(
                beyond(address, width).ends_with(&format!(": {place} {at_allocation}")),
                "{}",
                beyond(address, width)
            );
        }
        assert_eq!(
            beyond(u64::MAX, 1),
            "out of bounds read of 1 byte at global address 0xffffffffffffffff, where nothing is allocated"
        );
    }

    #[test]
    fn spaces_without_allocations_have_names() {
        let beyond = |space, bytes| {
            let nearest = Some(AllocationSpan { address: 0, bytes });
            text(space, 72, 8, AccessFaultKind::OutOfBounds { nearest })
        };
        for (space, bytes, end) in [
            (Space::Shared, 64, "shared address 0x48: 8 bytes past the end of the block's 64 bytes of shared memory"),
            (Space::Shared, 0, "shared address 0x48: the block has no shared memory"),
            (Space::Local, 72, "local address 0x48: just past the end of the thread's 72 bytes of local memory"),
        ] {
            assert_eq!(beyond(space, bytes), format!("out of bounds read of 8 bytes at {end}"));
        }
    }

    #[test]
    fn freed_and_read_only_memory_are_reported() {
        let allocation = AllocationSpan { address: 0x1000, bytes: 24 };
        let freed = |address| text(Space::Global, address, 4, AccessFaultKind::Freed { allocation });
        let of = "an allocation of 24 bytes at 0x1000 that was freed";
        assert_eq!(freed(0x1004), format!("use after free: read of 4 bytes at global address 0x1004, in {of}"));
        assert_eq!(
            freed(0x101c),
            format!("use after free: read of 4 bytes at global address 0x101c, 4 bytes past the end of {of}")
        );
        assert_eq!(
            text(Space::Global, 0x1000, 4, AccessFaultKind::NoAccess { allocation }),
            "read of 4 bytes at global address 0x1000, in an allocation of 24 bytes at 0x1000 that is mapped without access"
        );
        assert_eq!(
            text(Space::Constant, 0x1000, 1, AccessFaultKind::ReadOnly { allocation }),
            "read of 1 byte at constant address 0x1000, in read-only memory (24 bytes at 0x1000)"
        );
        assert_eq!(
            text(Space::Global, 0x1002, 4, AccessFaultKind::Misaligned { width: 4 }),
            "misaligned read of 4 bytes at global address 0x1002: not a multiple of 4"
        );
        assert_eq!(
            text(Space::Local, 16, 4, AccessFaultKind::NOT_ATOMIC),
            "read of 4 bytes at local address 0x10: the instruction works on global or shared memory alone"
        );
    }
}
