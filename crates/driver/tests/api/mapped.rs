//! Virtual memory management: reserved addresses, memory without an address, and mappings.

use super::support::{
    Device, Driver, Handle, ILLEGAL_ADDRESS, INVALID_VALUE, KERNELS, Location, MapAccess, NOT_SUPPORTED, OUT_OF_MEMORY,
    Properties, in_child, null_pointer, text,
};

const PART: usize = 2 << 20;
const FIRST: Location = Location { kind: 1, device: 0 };
const OF_FIRST: Properties = Properties { kind: 1, handles: 0, location: FIRST, rest: [0; 2] };

impl Driver {
    fn reserve(&self, bytes: usize) -> Device {
        let mut address = 0;
        assert_eq!(self.cuMemAddressReserve(&mut address, bytes, 0, 0, 0), 0);
        address
    }

    fn create(&self, bytes: usize) -> Handle {
        let mut memory = 0;
        assert_eq!(self.cuMemCreate(&mut memory, bytes, &OF_FIRST, 0), 0);
        memory
    }

    fn give(&self, address: Device, bytes: usize, flags: u32) -> u32 {
        self.cuMemSetAccess(address, bytes, &MapAccess { location: FIRST, flags }, 1)
    }

    fn used(&self) -> usize {
        let (mut free, mut total) = (0, 0);
        assert_eq!(self.cuMemGetInfo_v2(&mut free, &mut total), 0);
        total - free
    }
}

/// A list that grows in place: more memory behind what is there, in the same addresses.
#[test]
fn mappings_side_by_side_are_one_range() {
    let driver = Driver::new();
    let mut granularity = 0;
    assert_eq!((driver.cuMemGetAllocationGranularity(&mut granularity, &OF_FIRST, 0), granularity), (0, PART));
    let base = driver.reserve(4 * PART);
    assert_eq!((base as usize % PART, driver.used()), (0, 0));
    let parts: Vec<Handle> = (0..2).map(|_| driver.create(PART)).collect();
    assert_eq!(driver.used(), 2 * PART);
    for (index, &memory) in parts.iter().enumerate() {
        assert_eq!(driver.cuMemMap(base + (index * PART) as u64, PART, 0, memory, 0), 0);
        // It lives as long as it is mapped.
        assert_eq!(driver.cuMemRelease(memory), 0);
        assert_eq!(driver.cuMemRelease(memory), INVALID_VALUE);
    }
    assert_eq!(driver.give(base, 2 * PART, 3), 0);
    let count = 2 * PART / 4;
    let numbers: Vec<u32> = (0..count as u32).collect();
    assert_eq!(driver.cuMemcpyHtoD_v2(base, numbers.as_ptr(), 2 * PART), 0);
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    assert_eq!(driver.add(kernel, count as u32 / 1024, 1024, base, base, count as u32), 0);
    let doubled = driver.read(base, count);
    assert!(doubled.iter().zip(0..).all(|(&word, index)| word == 2 * index));
    // Copies and fills cross from one into the other.
    let middle = base + PART as u64 - 8;
    assert_eq!(driver.cuMemsetD32_v2(middle, 7, 4), 0);
    assert_eq!(driver.cuMemcpyDtoD_v2(middle + 32, middle, 16), 0);
    assert_eq!(driver.read(middle + 32, 4), [7; 4]);
    assert_eq!(driver.cuMemsetD32_v2(middle, 7, 4 + PART / 4), INVALID_VALUE);
    assert_eq!(driver.cuMemUnmap(base, 2 * PART), 0);
    // What is left is the module's variable.
    assert_eq!((driver.used(), driver.cuMemAddressFree(base, 4 * PART)), (4, 0));
}

#[test]
fn memory_keeps_what_it_holds_at_another_address() {
    let driver = Driver::new();
    let (memory, base) = (driver.create(PART), driver.reserve(2 * PART));
    assert_eq!((driver.cuMemMap(base, PART, 0, memory, 0), driver.give(base, PART, 3)), (0, 0));
    assert_eq!(driver.cuMemsetD32_v2(base, 9, 2), 0);
    assert_eq!(driver.cuMemUnmap(base, PART), 0);
    let other = base + PART as u64;
    assert_eq!((driver.cuMemMap(other, PART, 0, memory, 0), driver.give(other, PART, 1)), (0, 0));
    assert_eq!(driver.read(other, 3), [9, 9, 0]);
    let (mut found, mut flags, mut properties) = (0, 0, Properties { kind: 9, ..OF_FIRST });
    assert_eq!((driver.cuMemRetainAllocationHandle(&mut found, other + 5), found), (0, memory));
    assert_eq!((driver.cuMemGetAccess(&mut flags, &FIRST, other), flags), (0, 1));
    assert_eq!((driver.cuMemGetAllocationPropertiesFromHandle(&mut properties, memory), properties), (0, OF_FIRST));
    // To be read alone.
    let (kernel, one) = (driver.kernel(driver.module(KERNELS), "add"), driver.words(&[1]));
    assert_eq!(driver.add(kernel, 1, 1, one, other, 1), 0);
    assert_eq!(driver.read(one, 1), [10]);
    assert_eq!(driver.add(kernel, 1, 1, other, one, 1), ILLEGAL_ADDRESS);
    // The device's memory is gone with its context, also the module's variable.
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    driver.use_primary();
    assert_eq!((driver.used(), driver.cuMemRelease(memory)), (0, INVALID_VALUE));
}

/// Parts of one allocation at addresses of their own, and later all of it at one.
#[test]
fn memory_is_mapped_in_parts() {
    let driver = Driver::new();
    let (memory, base) = (driver.create(4 * PART), driver.reserve(8 * PART));
    let at = |part: usize| base + (part * PART) as u64;
    // The last two parts, the first; later the second, behind the first.
    let map = |to: usize, parts: usize, from: usize| {
        assert_eq!(driver.cuMemMap(at(to), parts * PART, from * PART, memory, 0), 0);
        assert_eq!(driver.give(at(to), parts * PART, 3), 0);
    };
    map(0, 2, 2);
    map(4, 1, 0);
    assert_eq!(driver.cuMemsetD32_v2(at(0), 3, 2 * PART / 4), 0);
    assert_eq!(driver.cuMemsetD32_v2(at(4), 1, PART / 4), 0);
    map(5, 1, 1);
    assert_eq!(driver.cuMemsetD32_v2(at(5), 2, PART / 4), 0);
    assert_eq!(driver.used(), 4 * PART);
    for (to, parts) in [(4, 2), (0, 2)] {
        assert_eq!(driver.cuMemUnmap(at(to), parts * PART), 0);
    }
    map(2, 4, 0);
    let held = |driver: &Driver, part: usize| driver.read(at(part), PART / 4);
    for (part, value) in [(2, 1), (3, 2), (4, 3), (5, 3)] {
        assert!(held(&driver, part).iter().all(|&word| word == value), "{part}");
    }
    // The middle alone, which keeps the memory alive.
    assert_eq!((driver.cuMemUnmap(at(2), 4 * PART), driver.cuMemMap(at(7), PART, PART, memory, 0)), (0, 0));
    assert_eq!((driver.cuMemRelease(memory), driver.give(at(7), PART, 1)), (0, 0));
    assert!(held(&driver, 7).iter().all(|&word| word == 2));
    assert_eq!((driver.cuMemUnmap(at(7), PART), driver.used()), (0, 0));
    assert_eq!(driver.cuMemAddressFree(base, 8 * PART), 0);
}

/// A ring: its bytes are there twice, so that what crosses its end is one range.
#[test]
fn memory_is_mapped_at_two_addresses() {
    let driver = Driver::new();
    let (memory, base) = (driver.create(2 * PART), driver.reserve(8 * PART));
    let at = |part: usize| base + (part * PART) as u64;
    for start in [0, 2] {
        assert_eq!(driver.cuMemMap(at(start), 2 * PART, 0, memory, 0), 0);
    }
    // The second part once more, to be read alone.
    assert_eq!(driver.cuMemMap(at(6), PART, PART, memory, 0), 0);
    assert_eq!((driver.give(base, 4 * PART, 3), driver.give(at(6), PART, 1), driver.used()), (0, 0, 2 * PART));
    let numbers: Vec<u32> = (0..64).collect();
    assert_eq!(driver.cuMemcpyHtoD_v2(at(2) - 128, numbers.as_ptr(), 256), 0);
    assert_eq!((driver.read(base, 32), driver.read(at(7) - 128, 32)), (numbers[32..].to_vec(), numbers[..32].to_vec()));
    let (kernel, ones) = (driver.kernel(driver.module(KERNELS), "add"), driver.words(&[1; 64]));
    assert_eq!(driver.add(kernel, 2, 32, at(4) - 128, ones, 32), 0);
    assert_eq!(driver.add(kernel, 2, 32, base, at(2), 32), 0);
    assert_eq!(driver.read(at(2) - 4, 3), [32, 64, 66]);
    assert_eq!(driver.add(kernel, 1, 1, at(6), ones, 1), ILLEGAL_ADDRESS);
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    driver.use_primary();
    assert_eq!((driver.used(), driver.cuMemRelease(memory)), (0, INVALID_VALUE));
}

/// The same byte at two addresses has one name: accesses at the one race with those at the other.
#[test]
fn races_are_found_through_two_addresses() {
    let test = "mapped::races_are_found_through_two_addresses";
    let output = in_child(test, &[("COALESCE_CHECK", "race,init"), ("COALESCE_FAULT", "continue")], |driver| {
        let (memory, base) = (driver.create(PART), driver.reserve(2 * PART));
        let other = base + PART as u64;
        for address in [base, other] {
            assert_eq!(driver.cuMemMap(address, PART, 0, memory, 0), 0);
        }
        assert_eq!((driver.give(base, 2 * PART, 3), driver.cuMemsetD32_v2(other, 1, 256)), (0, 0));
        let kernel = driver.kernel(driver.module(KERNELS), "add");
        // What the host has written at the one address is read at the other. Each thread its own.
        assert_eq!(driver.add(kernel, 2, 64, base, other + 512, 128), 0);
        // The word of the next thread.
        assert_eq!(driver.add(kernel, 2, 64, base, other + 4, 128), 0);
    });
    let Some(output) = output else { return };
    let said: String = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("fault[race]: race between blocks") && !said.contains("uninit"), "{said}");
    assert_eq!(said.matches("fault[").count(), said.matches("fault[race]").count(), "{said}");
}

/// As a memory pool maps them. This ends soon if each part takes no longer than the one before.
#[test]
fn many_parts_are_mapped() {
    const PARTS: usize = 20_000;
    let driver = Driver::new();
    let (memory, base) = (driver.create(64 * PART), driver.reserve(PARTS * PART));
    for part in 0..PARTS {
        let (address, offset) = (base + (part * PART) as u64, part % 64 * PART);
        assert_eq!((driver.cuMemMap(address, PART, offset, memory, 0), driver.give(address, PART, 3)), (0, 0));
    }
    let at = |part: usize| base + (part * PART) as u64;
    assert_eq!(driver.cuMemsetD32_v2(at(65) - 4, 5, 2), 0);
    assert_eq!(driver.read(at(64 * 300 + 1) - 4, 2), [5, 5]);
    assert_eq!((driver.cuMemRelease(memory), driver.used()), (0, 64 * PART));
    assert_eq!((driver.cuMemUnmap(base, PARTS * PART), driver.used()), (0, 0));
    assert_eq!(driver.cuMemAddressFree(base, PARTS * PART), 0);
}

/// Mapped memory is not accessible yet, nor any more: the message says so, with the thread.
#[test]
fn an_access_without_access_is_a_fault() {
    let test = "mapped::an_access_without_access_is_a_fault";
    let output = in_child(test, &[("COALESCE_FAULT", "continue")], |driver| {
        let (kernel, one) = (driver.kernel(driver.module(KERNELS), "add"), driver.words(&[1]));
        let (memory, base) = (driver.create(PART), driver.reserve(PART));
        let launch = || driver.add(kernel, 1, 1, base, one, 1);
        assert_eq!((launch(), driver.cuMemMap(base, PART, 0, memory, 0), launch()), (0, 0, 0));
        // The host's copies are refused, also those that may be from its own memory.
        let mut word = 0;
        assert_eq!(driver.cuMemcpyDtoH_v2(&mut word, base, 4), INVALID_VALUE);
        assert_eq!(driver.cuMemcpy(&raw mut word as u64, base, 4), INVALID_VALUE);
        assert_eq!((driver.give(base, PART, 3), launch(), driver.read(base, 1)[0]), (0, 0, 1));
        assert_eq!((driver.give(base, PART, 0), launch(), driver.cuMemUnmap(base, PART), launch()), (0, 0, 0, 0));
    });
    let Some(output) = output else { return };
    let said: String = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("that is mapped without access").count(), 2 * 2, "{said}");
    assert!(said.contains("thread (0, 0, 0) of block (0, 0, 0)") && said.contains("use after free"), "{said}");
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let driver = Driver::new();
    let (mut address, mut memory) = (0, 0);
    for (bytes, alignment) in [(0, 0), (PART - 1, 0), (PART, 3)] {
        assert_eq!(driver.cuMemAddressReserve(&mut address, bytes, alignment, 0, 0), INVALID_VALUE);
    }
    assert_eq!(driver.cuMemAddressReserve(&mut address, usize::MAX - PART + 1, 0, 0, 0), OUT_OF_MEMORY);
    assert_eq!(driver.cuMemAddressReserve(null_pointer(), PART, 0, 0, 0), INVALID_VALUE);
    let of_host = Properties { location: Location { kind: 2, device: 0 }, ..OF_FIRST };
    let exported = Properties { handles: 1, ..OF_FIRST };
    let missing = Properties { location: Location { kind: 1, device: 7 }, ..OF_FIRST };
    for (properties, status) in [(of_host, NOT_SUPPORTED), (exported, NOT_SUPPORTED), (missing, 101)] {
        assert_eq!(driver.cuMemCreate(&mut memory, PART, &properties, 0), status);
    }
    assert_eq!(driver.cuMemCreate(&mut memory, PART + 4, &OF_FIRST, 0), INVALID_VALUE);
    assert_eq!(driver.cuMemCreate(&mut memory, 1 << 50, &OF_FIRST, 0), OUT_OF_MEMORY);
    let (two, base) = (driver.create(2 * PART), driver.reserve(2 * PART));
    let part = PART as u64;
    // Beyond the reserved range, beyond the memory, at an odd offset, of nothing, of no memory.
    assert_eq!(driver.cuMemMap(base + part, 2 * PART, 0, two, 0), INVALID_VALUE);
    for offset in [2 * PART, 4, usize::MAX - PART + 1] {
        assert_eq!(driver.cuMemMap(base, PART, offset, two, 0), INVALID_VALUE);
    }
    assert_eq!(driver.cuMemMap(base, 0, 0, two, 0), INVALID_VALUE);
    assert_eq!(driver.cuMemMap(base, PART, 0, 77, 0), INVALID_VALUE);
    assert_eq!(driver.cuMemMap(base, 2 * PART, 0, two, 0), 0);
    assert_eq!(driver.cuMemMap(base, PART, 0, driver.create(PART), 0), INVALID_VALUE);
    for (address, bytes) in [(base, PART), (base + part, PART), (base, 4 * PART), (base + 4, 2 * PART)] {
        assert_eq!(driver.cuMemUnmap(address, bytes), INVALID_VALUE);
        assert_eq!(driver.give(address, bytes, 3), INVALID_VALUE);
    }
    assert_eq!(driver.give(base, 2 * PART, 2), INVALID_VALUE);
    assert_eq!(driver.cuMemSetAccess(base, 2 * PART, std::ptr::null(), 1), INVALID_VALUE);
    // Addresses are freed as they were reserved, and not while something is there.
    assert_eq!(driver.cuMemAddressFree(base, 2 * PART), INVALID_VALUE);
    assert_eq!(driver.cuMemUnmap(base, 2 * PART), 0);
    assert_eq!(driver.cuMemAddressFree(base, PART), INVALID_VALUE);
    assert_eq!((driver.cuMemAddressFree(base, 2 * PART), driver.cuMemAddressFree(base, 2 * PART)), (0, INVALID_VALUE));
    assert_eq!(driver.cuMemMap(base, 2 * PART, 0, two, 0), INVALID_VALUE);
    assert_eq!(driver.cuMemGetAccess(&mut 0, &FIRST, base), INVALID_VALUE);
    assert_eq!(driver.cuMemRetainAllocationHandle(&mut memory, base), INVALID_VALUE);
}
