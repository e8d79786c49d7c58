//! The devices: one, unless the environment asks for more, each with the properties of a GPU that
//! the simulator has a model of.

use std::ffi::{c_int, c_uint};

use simt::Model;

use crate::boundary::{Done, Out, Status, Text, driver};
use crate::settings::SETTINGS;
use crate::state::ready;

/// The GPU of a device; fails for a device that there is not.
pub fn gpu_of(device: c_int) -> Done<&'static Model> {
    let found = usize::try_from(device).ok().and_then(|index| SETTINGS.gpus.get(index));
    found.copied().ok_or(Status::INVALID_DEVICE)
}

/// Fails for a device that there is not.
pub fn check(device: c_int) -> Done {
    gpu_of(device).map(|_| ())
}

/// A device attribute; `None` if no driver has it. The numbers are the API's.
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
fn attribute(gpu: &Model, number: c_uint) -> Option<i64> {
    let (major, minor) = gpu.compute_capability;
    let limits = &gpu.limits;
    let since = |capability: u32| i64::from(major >= capability);
    let most_shared = gpu.shared.carveouts.last().copied().unwrap_or(gpu.shared.per_block);
    Some(match number {
        1 => limits.threads_per_block.into(),
        2 | 3 => limits.threads_per_block.into(),
        4 => 64,
        5 => 2_147_483_647,
        6 | 7 => 65_535,
        8 => gpu.shared.per_block.into(),
        9 => 65_536,
        10 => 32,
        11 => 2_147_483_647,
        12 | 82 => limits.registers.into(),
        13 => gpu.timing().map_or(1_500_000, |timing| (timing.clock_mhz * 1000.0) as i64),
        14 => gpu.texture_alignment.into(),
        15 => 1,
        16 => gpu.multiprocessors.into(),
        17 | 18 => 0,
        19 => 1,
        20 => 0,
        // Textures: 1D, 2D, 3D, layered.
        21 => 131_072,
        22 | 23 => 131_072,
        24..=26 => 16_384,
        27 | 28 => 32_768,
        29 => 2048,
        30 => 512,
        31 => 1,
        32 => 0,
        33 => 1,
        34 | 50 | 35 => 0,
        // Clock and width of the memory bus, of the GPU for which they are known here.
        36 if gpu.name == "hopper" => 2_619_000,
        37 if gpu.name == "hopper" => 6144,
        36 | 37 => 0,
        38 => gpu.l2.map_or(0, |l2| l2.bytes as i64),
        39 => limits.threads.into(),
        40 => 1,
        41 => 1,
        42 => 32_768,
        43 => 2048,
        51 => 32,
        52 | 53 | 55 | 56 | 59 | 60 => 16_384,
        57 | 58 => 16_384,
        69 => 268_435_456,
        70 | 71 => 131_072,
        72 => 2_097_120,
        73 | 74 => 32_768,
        75 => major.into(),
        76 => minor.into(),
        77 => 32_768,
        78..=80 => 1,
        81 => most_shared.into(),
        83 => 1,
        84 | 85 => 0,
        86 => 0,
        87 => 2,
        88 => 0,
        // While a launch runs, its call has not returned.
        89 => 1,
        90 => 1,
        91 => 0,
        92..=94 | 122 => 0,
        95 => since(6),
        96 => 0,
        97 => gpu.shared.per_block_opt_in.into(),
        98 => 0,
        99 => 1,
        100 | 101 => 0,
        // Virtual memory management, and its handles for other processes.
        102 => 1,
        103..=105 => 0,
        106 => limits.blocks.into(),
        107..=110 => 0,
        111 => gpu.shared.reserved.into(),
        112..=114 => 0,
        115 => 1,
        116..=119 => 0,
        120 => since(9),
        121 | 123 | 124 => 0,
        125 => 0,
        126 | 127 => since(9),
        128 => 0,
        // Textures of other kinds.
        44..=49 | 54 | 61..=68 => 16_384,
        // Newer ones, which say what a device can do more.
        129..=200 => 0,
        _ => return None,
    })
}

/// The device's name: programs may look for a part of it.
fn name(gpu: &Model) -> String {
    SETTINGS.name.clone().unwrap_or_else(|| format!("Coalesce simulator of {}", gpu.chip))
}

/// A number that identifies a device, the same in every process.
fn uuid(device: c_int) -> Done<[u8; 16]> {
    check(device)?;
    let mut uuid = *b"coalesce-device0";
    uuid[15] += device as u8;
    Ok(uuid)
}

/// The place of a device on the bus.
fn bus_id(device: c_int) -> String {
    format!("0000:{:02x}:00.0", device + 1)
}

/// Whether a device reaches the other's memory.
fn reaches(device: c_int, peer: c_int) -> Done<bool> {
    check(device)?;
    check(peer)?;
    Ok(device != peer)
}

driver! {
    fn cuDriverGetVersion(version: Out<c_int>) {
        version.put(SETTINGS.cuda)
    }

    fn cuDeviceGetCount(count: Out<c_int>) {
        let _ready = ready()?;
        count.put(SETTINGS.gpus.len() as c_int)
    }

    fn cuDeviceGet(device: Out<c_int>, ordinal: c_int) {
        let _ready = ready()?;
        check(ordinal)?;
        device.put(ordinal)
    }

    fn cuDeviceGetName(to: Out<u8>, length: c_int, device: c_int) {
        to.put_text(&name(gpu_of(device)?), usize::try_from(length).map_err(|_| Status::INVALID_VALUE)?)
    }

    fn cuDeviceGetUuid(to: Out<[u8; 16]>, device: c_int) {
        to.put(uuid(device)?)
    }

    fn cuDeviceGetUuid_v2(to: Out<[u8; 16]>, device: c_int) {
        to.put(uuid(device)?)
    }

    fn cuDeviceGetLuid(luid: Out<u8>, mask: Out<c_uint>, device: c_int) {
        Err(Status::NOT_SUPPORTED)
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: c_int) {
        check(device)?;
        bytes.put(SETTINGS.memory as usize)
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, number: c_uint, device: c_int) {
        let _ready = ready()?;
        let found = match number {
            33 => Some((device + 1).into()),
            _ => attribute(gpu_of(device)?, number),
        };
        let found = found.ok_or(Status::INVALID_VALUE)?;
        value.put(found.min(c_int::MAX.into()) as c_int)
    }

    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: c_int) {
        let (of, and) = gpu_of(device)?.compute_capability;
        major.put(of as c_int)?;
        minor.put(and as c_int)
    }

    fn cuDeviceGetPCIBusId(to: Out<u8>, length: c_int, device: c_int) {
        check(device)?;
        let id = bus_id(device);
        let room = usize::try_from(length).ok().filter(|&room| room > id.len());
        to.put_text(&id, room.ok_or(Status::INVALID_VALUE)?)
    }

    fn cuDeviceGetByPCIBusId(device: Out<c_int>, id: Text) {
        // Domain, bus, device and function; the domain may be left out.
        let id = id.get()?;
        let parts: Vec<&str> = id.split([':', '.']).collect();
        let [.., bus, 0, 0] = parts.iter().map(|part| i32::from_str_radix(part, 16).unwrap_or(-1)).collect::<Vec<_>>()[..]
        else {
            return Err(Status::INVALID_DEVICE);
        };
        check(bus - 1)?;
        device.put(bus - 1)
    }

    fn cuDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) {
        can.put(reaches(device, peer)?.into())
    }

    fn cuDeviceGetP2PAttribute(value: Out<c_int>, number: c_uint, device: c_int, peer: c_int) {
        // How fast the way is, accesses, atomic operations, accesses to arrays.
        let reaches = reaches(device, peer)?;
        value.put(if number == 1 { 0 } else { reaches.into() })
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(width: Out<usize>, format: c_uint, channels: c_uint, device: c_int) {
        width.put(1 << 28)
    }

    fn cuDeviceGetExecAffinitySupport(value: Out<c_int>, kind: c_uint, device: c_int) {
        value.put(0)
    }

    fn cuDeviceGetProperties(to: Out<[c_int; 10]>, device: c_int) {
        let gpu = gpu_of(device)?;
        let of = |number: c_uint| attribute(gpu, number).unwrap_or(0) as c_int;
        // Threads of a block, of x, y, z; blocks of x, y, z; shared and constant memory; the warp;
        // the longest pitch.
        to.give([of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9), of(10)]);
        Ok(())
    }
}
