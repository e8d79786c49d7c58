//! Memory of two and three dimensions: pitched allocations, arrays, and copies of rows and boxes
//! between them and the host.

use std::ffi::{c_int, c_uint};

use crate::call::{get, put, runtime};
use crate::device::ready;
use crate::driver;
use crate::error::{Done, Error};
use crate::types::{Array2D, Array3D, Copy2D, Copy3D, Handle, Side2D, Side3D, Triple};

/// `cudaChannelFormatDesc`: bits of up to four channels, and what they are.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    bits: [c_int; 4],
    kind: c_uint,
}

impl Channels {
    /// The driver's format, and how many channels there are.
    pub fn format(&self) -> Done<(c_uint, c_uint)> {
        let count = self.bits.iter().take_while(|&&bits| bits > 0).count();
        let same = self.bits[..count].iter().all(|&bits| bits == self.bits[0]);
        // Signed, unsigned, floats.
        let format = match (self.bits[0], self.kind) {
            (8, 0) => 8,
            (16, 0) => 9,
            (32, 0) => 10,
            (8, 1) => 1,
            (16, 1) => 2,
            (32, 1) => 3,
            (16, 2) => 16,
            (32, 2) => 32,
            _ => return Err(Error(20)),
        };
        if same && matches!(count, 1 | 2 | 4) { Ok((format, count as c_uint)) } else { Err(Error(20)) }
    }

    /// Those of a format of the driver's.
    fn of(format: c_uint, count: c_uint) -> Self {
        let (bits, kind) = match format {
            1 => (8, 1),
            2 => (16, 1),
            3 => (32, 1),
            8 => (8, 0),
            9 => (16, 0),
            10 => (32, 0),
            16 => (16, 2),
            _ => (32, 2),
        };
        Self { bits: [0, 1, 2, 3].map(|channel| if channel < count { bits } else { 0 }), kind }
    }

    fn bytes(&self) -> usize {
        self.bits.iter().map(|&bits| bits.max(0) as usize).sum::<usize>() / 8
    }
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Pitched {
    address: u64,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Box3D {
    from_array: Handle,
    from_at: Triple,
    from: Pitched,
    to_array: Handle,
    to_at: Triple,
    to: Pitched,
    extent: Triple,
    kind: c_uint,
}

/// The driver's kinds of memory: of the host, the device, arrays, and either of the first two.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const ARRAY: c_uint = 3;
const EITHER: c_uint = 4;

/// From which kind of memory a copy is to which.
fn sides(kind: c_uint) -> Done<(c_uint, c_uint)> {
    Ok(match kind {
        0 => (HOST, HOST),
        1 => (HOST, DEVICE),
        2 => (DEVICE, HOST),
        3 => (DEVICE, DEVICE),
        4 => (EITHER, EITHER),
        _ => return Err(Error::INVALID_DIRECTION),
    })
}

impl Side2D {
    fn linear(memory: c_uint, address: u64, pitch: usize) -> Self {
        let (host, device) = if memory == HOST { (address, 0) } else { (0, address) };
        Self { memory, host, device, pitch, ..Self::default() }
    }

    fn array(array: Handle, x: usize, y: usize) -> Self {
        Self { memory: ARRAY, array, x, y, ..Self::default() }
    }
}

impl Side3D {
    fn of(array: Handle, at: Triple, pitched: Pitched, memory: c_uint) -> Done<Self> {
        let Pitched { address, pitch, height, .. } = pitched;
        if array != 0 {
            // Positions in an array count texels.
            let at = Triple { x: at.x * texel_bytes(array)?, ..at };
            return Ok(Self { at, memory: ARRAY, array, ..Self::default() });
        }
        let (host, device) = if memory == HOST { (address, 0) } else { (0, address) };
        Ok(Self { at, memory, host, device, pitch, height, ..Self::default() })
    }
}

/// A copy of rows, in a stream if one is given. Without rows nothing is copied.
fn copy_2d(from: Side2D, to: Side2D, width: usize, height: usize, stream: Option<Handle>) -> Done {
    ready()?;
    let pitches_fit = |side: &Side2D| side.memory == ARRAY || height <= 1 || side.pitch >= width;
    if !pitches_fit(&from) || !pitches_fit(&to) {
        return Err(Error(12));
    }
    let copy = Copy2D { from, to, width, height };
    match stream {
        _ if width == 0 || height == 0 => Ok(()),
        Some(stream) => driver::cuMemcpy2DAsync_v2(&copy, stream),
        None => driver::cuMemcpy2DUnaligned_v2(&copy),
    }
}

fn copy_3d(request: *const Box3D, stream: Option<Handle>) -> Done {
    ready()?;
    let Box3D { from_array, from_at, from, to_array, to_at, to, mut extent, kind } = get(request)?;
    let (from_memory, to_memory) = sides(kind)?;
    // With an array on a side, the width counts its texels.
    if let Some(array) = [from_array, to_array].into_iter().find(|&array| array != 0) {
        extent.x *= texel_bytes(array)?;
    }
    let copy = Copy3D {
        from: Side3D::of(from_array, from_at, from, from_memory)?,
        to: Side3D::of(to_array, to_at, to, to_memory)?,
        extent,
    };
    match stream {
        _ if extent.x == 0 || extent.y == 0 || extent.z == 0 => Ok(()),
        Some(stream) => driver::cuMemcpy3DAsync_v2(&copy, stream),
        None => driver::cuMemcpy3D_v2(&copy),
    }
}

fn descriptor(array: Handle) -> Done<Array3D> {
    let mut found = Array3D::default();
    driver::cuArray3DGetDescriptor_v2(&mut found, array)?;
    Ok(found)
}

fn texel_bytes(array: Handle) -> Done<usize> {
    let found = descriptor(array)?;
    Ok(Channels::of(found.format, found.channels).bytes())
}

/// Allocates rows at a pitch.
fn allocate(to: *mut u64, pitch: *mut usize, width: usize, height: usize) -> Done {
    ready()?;
    if width == 0 || height == 0 {
        put(to, 0)?;
        return put(pitch, 0);
    }
    driver::cuMemAllocPitch_v2(to, pitch, width, height, 4)
}

runtime! {
    fn cudaMallocPitch(to: *mut u64, pitch: *mut usize, width: usize, height: usize) {
        allocate(to, pitch, width, height)
    }

    fn cudaMalloc3D(to: *mut Pitched, extent: Triple) {
        let (mut address, mut pitch) = (0, 0);
        let rows = extent.y.checked_mul(extent.z).ok_or(Error::INVALID_VALUE)?;
        allocate(&mut address, &mut pitch, extent.x, rows)?;
        put(to, Pitched { address, pitch, width: extent.x, height: extent.y })
    }

    fn cudaMemcpy2D [cudaMemcpy2D_ptds] (
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: c_uint,
    ) {
        let (source, target) = sides(kind)?;
        let from = Side2D::linear(source, from, from_pitch);
        copy_2d(from, Side2D::linear(target, to, to_pitch), width, height, None)
    }

    fn cudaMemcpy2DAsync [cudaMemcpy2DAsync_ptsz] (
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: c_uint,
        stream: Handle,
    ) {
        let (source, target) = sides(kind)?;
        let from = Side2D::linear(source, from, from_pitch);
        copy_2d(from, Side2D::linear(target, to, to_pitch), width, height, Some(stream))
    }

    fn cudaMemset2D [cudaMemset2D_ptds] (to: u64, pitch: usize, value: c_int, width: usize, height: usize) {
        ready()?;
        driver::cuMemsetD2D8_v2(to, pitch, value as u8, width, height)
    }

    fn cudaMemset2DAsync [cudaMemset2DAsync_ptsz] (to: u64, pitch: usize, value: c_int, width: usize, height: usize, stream: Handle) {
        ready()?;
        driver::cuMemsetD2D8Async(to, pitch, value as u8, width, height, stream)
    }

    fn cudaMemset3D [cudaMemset3D_ptds] (to: Pitched, value: c_int, extent: Triple) {
        ready()?;
        let slice = (to.pitch * to.height) as u64;
        (0..extent.z as u64).try_for_each(|z| {
            driver::cuMemsetD2D8_v2(to.address + z * slice, to.pitch, value as u8, extent.x, extent.y)
        })
    }

    fn cudaMemcpy3D [cudaMemcpy3D_ptds] (request: *const Box3D) {
        copy_3d(request, None)
    }

    fn cudaMemcpy3DAsync [cudaMemcpy3DAsync_ptsz] (request: *const Box3D, stream: Handle) {
        copy_3d(request, Some(stream))
    }

    fn cudaMallocArray(to: *mut Handle, channels: *const Channels, width: usize, height: usize, flags: c_uint) {
        ready()?;
        let (format, channels) = get(channels)?.format()?;
        match flags {
            0 => driver::cuArrayCreate_v2(to, &Array2D { width, height, format, channels }),
            _ => driver::cuArray3DCreate_v2(to, &Array3D { width, height, depth: 0, format, channels, flags }),
        }
    }

    fn cudaMalloc3DArray(to: *mut Handle, channels: *const Channels, extent: Triple, flags: c_uint) {
        ready()?;
        let (format, channels) = get(channels)?.format()?;
        let Triple { x: width, y: height, z: depth } = extent;
        driver::cuArray3DCreate_v2(to, &Array3D { width, height, depth, format, channels, flags })
    }

    fn cudaFreeArray(array: Handle) {
        ready()?;
        if array == 0 { Ok(()) } else { driver::cuArrayDestroy(array) }
    }

    fn cudaArrayGetInfo(channels: *mut Channels, extent: *mut Triple, flags: *mut c_uint, array: Handle) {
        ready()?;
        let found = descriptor(array)?;
        if !channels.is_null() {
            put(channels, Channels::of(found.format, found.channels))?;
        }
        if !extent.is_null() {
            put(extent, Triple { x: found.width, y: found.height, z: found.depth })?;
        }
        if flags.is_null() { Ok(()) } else { put(flags, found.flags) }
    }

    fn cudaGetChannelDesc(to: *mut Channels, array: Handle) {
        ready()?;
        let found = descriptor(array)?;
        put(to, Channels::of(found.format, found.channels))
    }

    fn cudaMemcpy2DToArray [cudaMemcpy2DToArray_ptds] (
        to: Handle, x: usize, y: usize, from: u64, pitch: usize, width: usize, height: usize, kind: c_uint,
    ) {
        copy_2d(Side2D::linear(sides(kind)?.0, from, pitch), Side2D::array(to, x, y), width, height, None)
    }

    fn cudaMemcpy2DToArrayAsync [cudaMemcpy2DToArrayAsync_ptsz] (
        to: Handle, x: usize, y: usize, from: u64, pitch: usize, width: usize, height: usize, kind: c_uint,
        stream: Handle,
    ) {
        copy_2d(Side2D::linear(sides(kind)?.0, from, pitch), Side2D::array(to, x, y), width, height, Some(stream))
    }

    fn cudaMemcpy2DFromArray [cudaMemcpy2DFromArray_ptds] (
        to: u64, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize, kind: c_uint,
    ) {
        copy_2d(Side2D::array(from, x, y), Side2D::linear(sides(kind)?.1, to, pitch), width, height, None)
    }

    fn cudaMemcpy2DFromArrayAsync [cudaMemcpy2DFromArrayAsync_ptsz] (
        to: u64, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize, kind: c_uint,
        stream: Handle,
    ) {
        copy_2d(Side2D::array(from, x, y), Side2D::linear(sides(kind)?.1, to, pitch), width, height, Some(stream))
    }

    // Of one row.
    fn cudaMemcpyToArray [cudaMemcpyToArray_ptds] (to: Handle, x: usize, y: usize, from: u64, bytes: usize, kind: c_uint) {
        copy_2d(Side2D::linear(sides(kind)?.0, from, bytes), Side2D::array(to, x, y), bytes, 1, None)
    }

    fn cudaMemcpyFromArray [cudaMemcpyFromArray_ptds] (to: u64, from: Handle, x: usize, y: usize, bytes: usize, kind: c_uint) {
        copy_2d(Side2D::array(from, x, y), Side2D::linear(sides(kind)?.1, to, bytes), bytes, 1, None)
    }
}

/// A format of channels.
#[unsafe(no_mangle)] // SAFETY: a name of the runtime's API, of which a process loads one library.
pub extern "C" fn cudaCreateChannelDesc(x: c_int, y: c_int, z: c_int, w: c_int, kind: c_uint) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_both_libraries_are_the_same() {
        for kind in 0..3 {
            for bits in [8, 16, 32] {
                for count in [1, 2, 4] {
                    let channels = Channels { bits: [0, 1, 2, 3].map(|it| if it < count { bits } else { 0 }), kind };
                    match channels.format() {
                        Ok((format, channels_of)) => assert_eq!(Channels::of(format, channels_of), channels),
                        Err(error) => assert!((kind, bits) == (2, 8) && error == Error(20)),
                    }
                }
            }
        }
        assert_eq!(Channels { bits: [8, 8, 8, 0], kind: 1 }.format(), Err(Error(20)));
        assert_eq!(Channels { bits: [8, 16, 0, 0], kind: 1 }.format(), Err(Error(20)));
    }
}
