//! Device memory: allocations that all blocks share, and the shared memory of one block.
//!
//! Addresses are those that a kernel sees. Global and constant memory have generic addresses from
//! [`GLOBAL_BASE`](crate::spaces::GLOBAL_BASE) on. Shared and local memory have windows in the
//! generic space, and addresses from 0 on in their own. Addresses of freed memory are reused only once
//! no others are left, and allocations are far apart, so that stray pointers are detected. The heap,
//! from which kernels allocate, is below all other allocations.
//!
//! `global`, `shared` and `heap` hold memory; `words` reads and writes it. `written`: which bytes
//! were written, for the sanitizer. `mbarrier`: the value of an mbarrier. `arrays`: the host's
//! calls on textures and surfaces. `snapshot`: a copy, for a launch that is undone.
//!
//! A kernel's accesses come a warp at a time, as a [`Shape`](crate::coalesce::Shape) and its lowest
//! address. An [`Access`](crate::address::Access) has the address of each lane instead. The host's
//! calls and the machine's instructions come here; nothing is counted here (see
//! [`crate::coalesce`]).

mod arrays;
mod global;
mod heap;
mod mbarrier;
mod shared;
mod snapshot;
mod words;
mod written;

pub use global::{Memory, Physical};
pub(crate) use heap::Caller;
pub use heap::{DEFAULT_HEAP_LIMIT, HeapAllocation};
pub use mbarrier::MbarrierFault;
pub(crate) use mbarrier::{Mbarrier, parity_of, pending_count};
pub(crate) use shared::{RESERVED_SHARED, SharedMemory, SharedParts};
pub use snapshot::Snapshot;
pub(crate) use written::Written;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryError;
    use crate::address::{Access, AccessFaultKind, AllocationSpan};
    use crate::coalesce::Shape;

    /// A shape, and the lowest address that it is at.
    fn shape(mask: u32, addresses: &[u64; 32], width: u32) -> (Shape, u64) {
        let mut shape = Shape::new();
        let lowest = shape.follow(mask, addresses, width);
        (shape, lowest)
    }

    #[test]
    fn host_copies_keep_every_byte_at_any_alignment() {
        let mut memory = Memory::new(1 << 20);
        let address = memory.allocate(103).unwrap();
        assert_eq!(address % 256, 0);
        let data: Vec<u8> = (1..=50).collect();
        for start in 0..8 {
            memory.fill(address, 103, 0xee).unwrap();
            memory.write(address + start, &data).unwrap();
            memory.fill(address + start + 3, 5, 0).unwrap();
            let mut all = [0u8; 103];
            memory.read(address, &mut all).unwrap();
            let mut expected = [0xee; 103];
            expected[start as usize..start as usize + 50].copy_from_slice(&data);
            expected[start as usize + 3..start as usize + 8].fill(0);
            assert_eq!(all, expected);
        }
        // Within a word, across two, and of several.
        for (start, length) in (0..8).flat_map(|start| (0..14).map(move |length| (start, length))) {
            let mut expected = [0xee; 103];
            let mut read = vec![0; length];
            memory.fill(address, 103, 0xee).unwrap();
            memory.write(address + start, &data[..length]).unwrap();
            memory.read(address + start, &mut read).unwrap();
            assert_eq!(read, data[..length], "{start} {length}");
            memory.fill(address + start + 20, length as u64, 7).unwrap();
            expected[start as usize..][..length].copy_from_slice(&data[..length]);
            expected[start as usize + 20..][..length].fill(7);
            let mut all = [0u8; 103];
            memory.read(address, &mut all).unwrap();
            assert_eq!(all, expected, "{start} {length}");
        }
    }

    #[test]
    fn what_is_not_allocated_is_refused() {
        let mut memory = Memory::new(1000);
        let address = memory.allocate(600).unwrap();
        assert_eq!(memory.allocate(401), Err(MemoryError::OutOfMemory { requested: 401, free: 400, limit: 1000 }));
        assert!(memory.write(address + 599, &[1, 2]).is_err());
        assert!(memory.fill(u64::MAX, 2, 0).is_err());
        assert!(memory.read(address - 1, &mut [0]).is_err());
        memory.free(address).unwrap();
        assert!(memory.free(address).is_err());
        assert!(memory.read(address, &mut [0]).is_err());
        assert_eq!((memory.used(), memory.check(address, 4, false).is_err()), (0, true));
        let again = memory.allocate(600).unwrap();
        assert_ne!(again, address);
        assert_eq!(
            memory.check(address, 4, false),
            Err(AccessFaultKind::Freed { allocation: AllocationSpan { address, bytes: 600 } })
        );
        // Just behind it, too; not further away, and not where a live one is nearer.
        assert_eq!(
            memory.check(address + 600, 4, false),
            Err(AccessFaultKind::Freed { allocation: AllocationSpan { address, bytes: 600 } })
        );
        let nearest = Some(AllocationSpan { address: again, bytes: 600 });
        assert_eq!(memory.check(again - 4, 4, false), Err(AccessFaultKind::OutOfBounds { nearest }));
        memory.free(again).unwrap();
        assert_eq!(memory.check(0, 4, false), Err(AccessFaultKind::OutOfBounds { nearest: None }));
    }

    #[test]
    fn a_warp_may_reach_several_allocations_at_once() {
        let mut memory = Memory::new(1 << 20);
        let (a, b) = (memory.allocate(128).unwrap(), memory.allocate(128).unwrap());
        let addresses = std::array::from_fn(|lane| if lane % 2 == 0 { a } else { b } + 4 * lane as u64);
        let rows = [std::array::from_fn(|lane| 100 + lane as u32); 4];
        let (mut all, lowest) = shape(u32::MAX, &addresses, 4);
        assert!(!memory.store(&mut all, lowest, &rows));
        memory.store_each(&Access::new(u32::MAX, &addresses, 4), &rows).unwrap();
        let mut back = [[0; 32]; 4];
        memory.load_each(&Access::new(0xffff, &addresses, 4), &mut back).unwrap();
        assert_eq!(back[0][..16], rows[0][..16]);
        assert_eq!(back[0][16..], [0; 16]);
        let (mut even, lowest) = shape(0x5555_5555, &addresses, 4);
        assert!(memory.load(&mut even, lowest, &mut back));
        assert_eq!(back[0][14..20], [114, 115, 116, 0, 118, 0]);
    }

    #[test]
    fn faults_name_the_first_lane_and_store_nothing() {
        let mut memory = Memory::new(1 << 20);
        let address = memory.allocate(100).unwrap();
        let constant = memory.allocate_constant(100).unwrap();
        let rows = [[1; 32]; 4];
        let lanes = |base: u64, stride: u64| -> [u64; 32] { std::array::from_fn(|lane| base + stride * lane as u64) };
        let fault = |memory: &Memory, addresses: &[u64; 32], width| {
            let (mut shape, lowest) = shape(u32::MAX, addresses, width);
            assert!(!memory.store(&mut shape, lowest, &rows));
            memory.store_each(&Access::new(u32::MAX, addresses, width), &rows).unwrap_err()
        };
        let found = fault(&memory, &lanes(address, 4), 4);
        assert_eq!((found.lane, found.address), (25, address + 100));
        let nearest = Some(AllocationSpan { address, bytes: 100 });
        assert_eq!(found.kind, AccessFaultKind::OutOfBounds { nearest });
        let found = fault(&memory, &lanes(address, 2), 4);
        assert_eq!((found.lane, found.kind), (1, AccessFaultKind::Misaligned { width: 4 }));
        let found = fault(&memory, &lanes(constant, 0), 4);
        assert!(matches!(found.kind, AccessFaultKind::ReadOnly { .. }));
        assert_eq!(fault(&memory, &lanes(0, 4), 4).lane, 0);
        let mut bytes = [9; 100];
        memory.read(address, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 100]);
    }

    #[test]
    fn narrow_and_wide_values_round_trip() {
        let mut memory = Memory::new(1 << 20);
        let address = memory.allocate(1024).unwrap();
        let shared = SharedMemory::new(SharedParts::new(1024, false), 0);
        for width in [1u32, 2, 4, 8, 16] {
            let addresses: [u64; 32] = std::array::from_fn(|lane| u64::from(width) * (lane as u64 ^ 3));
            let global = addresses.map(|offset| address + offset);
            let keep = if width < 4 { (1u32 << (8 * width)) - 1 } else { u32::MAX };
            let rows: [[u32; 32]; 4] = std::array::from_fn(|row| {
                std::array::from_fn(|lane| 0x9e37_79b9u32.wrapping_mul(1 + 37 * row as u32 + lane as u32))
            });
            let words = (width as usize).div_ceil(4);
            let mut expected = [[0; 32]; 4];
            for row in 0..words {
                expected[row] = rows[row].map(|value| value & keep);
            }
            let mut back = [[0; 32]; 4];
            let (mut there, lowest) = shape(u32::MAX, &global, width);
            assert!(memory.store(&mut there, lowest, &rows) && memory.load(&mut there, lowest, &mut back));
            assert_eq!(back, expected);
            let mut back = [[0; 32]; 4];
            let (there, lowest) = shape(u32::MAX, &addresses, width);
            assert!(shared.store(&there, lowest, &rows) && shared.load(&there, lowest, &mut back));
            assert_eq!(back, expected);
        }
    }

    #[test]
    fn atomics_replace_and_return_the_old_value() {
        let mut memory = Memory::new(1 << 20);
        let address = memory.allocate(16).unwrap();
        memory.write(address, &[1, 0, 2, 0, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]).unwrap();
        assert_eq!(memory.atomic16(address + 2, |old| old + 5), Ok(2));
        assert_eq!(memory.atomic32(address, |old| old + 1), Ok(0x7_0001));
        assert_eq!(memory.atomic64(address + 8, |old| old + 1), Ok(0xffff_ffff));
        assert_eq!(memory.atomic32(address + 12, |old| old), Ok(1));
        assert_eq!(memory.atomic32(address + 2, |old| old), Err(AccessFaultKind::Misaligned { width: 4 }));
    }
}
