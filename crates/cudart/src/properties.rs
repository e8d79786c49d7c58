//! `cudaDeviceProp`, whose fields CUDA 12 and 13 have in two layouts: one list describes both.

use std::ffi::c_int;

use crate::call::runtime;
use crate::device::initialized;
use crate::driver;
use crate::error::{Done, Error};

/// A field, with the number of the device's attribute.
enum Field {
    /// An `int`.
    Int(u32),
    /// An `int` that CUDA 13 does not have.
    Old(u32),
    /// A `size_t`.
    Size(u32),
    /// A `size_t`: the memory of the device.
    Memory,
}
use Field::{Int, Memory, Old, Size};

/// Bytes of the name, the UUID, and what comes before the memory: the LUID and its mask.
const NAME: usize = 256;
const UUID: usize = 16;
const BEFORE: usize = NAME + UUID + 8 + 4;

/// The fields behind these, in order.
#[rustfmt::skip]
const FIELDS: &[Field] = &[
    Memory, Size(8), Int(12), Int(10), Size(11), Int(1), Int(2), Int(3), Int(4), Int(5), Int(6), Int(7),
    Old(13), Size(9), Int(75), Int(76), Size(14), Size(51), Old(15), Int(16), Old(17), Int(18), Int(19), Old(20),
    // Textures.
    Int(21), Int(77), Old(69), Int(22), Int(23), Int(73), Int(74), Int(70), Int(71), Int(72), Int(45), Int(46),
    Int(24), Int(25), Int(26), Int(47), Int(48), Int(49), Int(52), Int(42), Int(43), Int(27), Int(28), Int(29),
    Int(53), Int(54),
    // Surfaces.
    Int(55), Int(56), Int(57), Int(58), Int(59), Int(60), Int(61), Int(62), Int(63), Int(64), Int(65), Int(66),
    Int(67), Int(68), Size(30),
    Int(31), Int(32), Int(33), Int(34), Int(50), Int(35), Int(40), Int(41), Old(36), Int(37), Int(38), Int(108),
    Int(39), Int(78), Int(79), Int(80), Size(81), Int(82), Int(83), Int(84), Int(85), Int(86), Old(87), Int(88),
    Int(89), Int(90), Int(91), Int(95), Old(96), Size(97), Int(100), Int(101), Int(106), Int(109), Size(111),
    Int(99), Int(112), Int(113), Int(114), Int(115), Int(116), Int(117), Int(118), Int(119), Int(121), Int(125), Int(120),
    Int(129),
];

/// The whole structure of CUDA 13. That of CUDA 12 is longer, with reserved bytes at its end.
const LENGTH: usize = 1008;

/// The structure's bytes.
fn bytes(device: c_int, old: bool) -> Done<[u8; LENGTH]> {
    initialized()?;
    let mut all = [0; LENGTH];
    driver::cuDeviceGetName(all.as_mut_ptr(), NAME as c_int, device)?;
    let mut uuid = [0; UUID];
    driver::cuDeviceGetUuid_v2(&mut uuid, device)?;
    all[NAME..NAME + UUID].copy_from_slice(&uuid);
    let mut end = BEFORE;
    for field in FIELDS {
        let attribute = |number: u32| -> Done<c_int> {
            let mut value = 0;
            driver::cuDeviceGetAttribute(&mut value, number, device)?;
            Ok(value)
        };
        let (value, length) = match *field {
            Old(_) if !old => continue,
            Int(number) | Old(number) => (attribute(number)? as u64, 4),
            Size(number) => (attribute(number)? as u64, 8),
            Memory => {
                let mut memory = 0;
                driver::cuDeviceTotalMem_v2(&mut memory, device)?;
                (memory as u64, 8)
            }
        };
        end = end.next_multiple_of(length);
        all[end..end + length].copy_from_slice(&value.to_le_bytes()[..length]);
        end += length;
    }
    Ok(all)
}

fn give(to: *mut [u8; LENGTH], device: c_int, old: bool) -> Done {
    if to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    crate::call::put(to, bytes(device, old).map_err(|error| if error.0 == 1 { Error::INVALID_DEVICE } else { error })?)
}

runtime! {
    // As a program of CUDA 13 calls it.
    fn cudaGetDeviceProperties(to: *mut [u8; LENGTH], device: c_int) {
        give(to, device, false)
    }

    // As a program of CUDA 12 calls it.
    fn cudaGetDeviceProperties_v2(to: *mut [u8; LENGTH], device: c_int) {
        give(to, device, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the structures of CUDA's headers have some fields, and how long both are up to their
    /// last listed field.
    #[test]
    fn fields_are_where_the_headers_have_them() {
        let offset = |old: bool, wanted: usize| {
            let mut end = BEFORE;
            for (index, field) in FIELDS.iter().enumerate() {
                let length = match field {
                    Old(_) if !old => continue,
                    Int(_) | Old(_) => 4,
                    Size(_) | Memory => 8,
                };
                end = end.next_multiple_of(length);
                if index == wanted {
                    return end;
                }
                end += length;
            }
            end
        };
        let of = |wanted: u32| {
            let index = FIELDS.iter().position(|field| matches!(field, Int(it) | Old(it) | Size(it) if *it == wanted));
            let index = index.expect("a field");
            (offset(false, index), offset(true, index))
        };
        assert_eq!((offset(false, 0), offset(true, 0)), (288, 288));
        // Multiprocessors, the size of L2, the most shared memory, clusters.
        assert_eq!([of(16), of(38), of(97), of(120)], [(384, 388), (596, 616), (672, 696), (748, 772)]);
        assert!(offset(true, FIELDS.len()) <= LENGTH);
    }
}
