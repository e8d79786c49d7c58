//! Arrays, plain and with levels (mipmaps).

use std::ffi::c_uint;

use simt::textures::{ArrayShape, ChannelType, TexelFormat, TextureError};

use crate::boundary::{Done, In, Out, Status, driver, say};
use crate::objects::{Array, Handle};
use crate::state::{ready, working};

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Descriptor {
    width: usize,
    height: usize,
    format: c_uint,
    channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Descriptor3D {
    width: usize,
    height: usize,
    depth: usize,
    format: c_uint,
    channels: c_uint,
    flags: c_uint,
}

/// The format of texels with so many channels.
pub fn format_of(format: c_uint, channels: c_uint) -> Done<TexelFormat> {
    let ty = match format {
        0x01 => ChannelType::U8,
        0x02 => ChannelType::U16,
        0x03 => ChannelType::U32,
        0x08 => ChannelType::S8,
        0x09 => ChannelType::S16,
        0x0a => ChannelType::S32,
        0x10 => ChannelType::F16,
        0x20 => ChannelType::F32,
        _ => return Err(Status::NOT_SUPPORTED),
    };
    Ok(TexelFormat { channels, ty })
}

/// Shows why an array, texture or surface cannot be made.
pub fn failed(error: TextureError) -> Status {
    say(&format!("{error}"));
    Status::INVALID_VALUE
}

/// A flag of arrays: their depth is a number of layers.
const LAYERED: c_uint = 1;

/// A flag of arrays: their layers are the six faces of cubes.
pub const CUBE: c_uint = 4;

/// Flags that change what an array is, and are not supported: memory that is mapped later.
const UNSUPPORTED: [(c_uint, &str); 2] = [(0x40, "sparse"), (0x80, "mapped later")];

fn create(request: &Descriptor3D, levels: u32) -> Done<Array> {
    if let Some((_, what)) = UNSUPPORTED.iter().find(|(flag, _)| request.flags & flag != 0) {
        say(&format!("arrays that are {what} are not supported"));
        return Err(Status::NOT_SUPPORTED);
    }
    let mut state = working()?;
    let texels = |extent: usize| u32::try_from(extent).map_err(|_| Status::INVALID_VALUE);
    let (layered, cube) = (request.flags & LAYERED != 0, request.flags & CUBE != 0);
    let faces = if layered { request.depth.is_multiple_of(6) && request.depth > 0 } else { request.depth == 6 };
    if cube && (request.width != request.height || !faces) {
        return Err(Status::INVALID_VALUE);
    }
    let layered = layered || cube;
    let depth = texels(request.depth)?;
    let shape = ArrayShape {
        width: texels(request.width)?,
        height: texels(request.height)?,
        depth: if layered { 0 } else { depth },
        layers: if layered { depth } else { 0 },
        levels,
        format: format_of(request.format, request.channels)?,
    };
    let handle = state.memory.allocate_array(&shape).map_err(failed)?;
    Ok(Array { handle, shape, level: 0, format: request.format, flags: request.flags })
}

fn create_plain(to: Out<Handle>, request: &Descriptor3D) -> Done {
    to.check()?;
    let array = create(request, 1)?;
    let mut state = working()?;
    let handle = state.handle();
    state.arrays.insert(handle, array);
    to.put(handle)
}

fn described(array: Handle) -> Done<Descriptor3D> {
    let state = ready()?;
    let array = state.arrays.get(&array).ok_or(Status::INVALID_HANDLE)?;
    let [width, height, depth] = array.extents();
    let Array { shape, format, flags, .. } = *array;
    Ok(Descriptor3D { width, height, depth, format, channels: shape.format.channels, flags })
}

driver! {
    fn cuArrayCreate_v2(to: Out<Handle>, request: In<Descriptor>) {
        let Descriptor { width, height, format, channels } = request.get()?;
        create_plain(to, &Descriptor3D { width, height, depth: 0, format, channels, flags: 0 })
    }

    fn cuArray3DCreate_v2(to: Out<Handle>, request: In<Descriptor3D>) {
        create_plain(to, &request.get()?)
    }

    fn cuArrayDestroy(array: Handle) {
        let mut state = ready()?;
        let found = *state.arrays.get(&array).ok_or(Status::INVALID_HANDLE)?;
        if state.mipmapped.values().any(|all| all.handle == found.handle) {
            // A level, which goes with the others.
            return Err(Status::INVALID_HANDLE);
        }
        state.arrays.remove(&array);
        state.memory.free_array(found.handle).map_err(failed)
    }

    fn cuArrayGetDescriptor_v2(to: Out<Descriptor>, array: Handle) {
        let Descriptor3D { width, height, format, channels, .. } = described(array)?;
        to.put(Descriptor { width, height, format, channels })
    }

    fn cuArray3DGetDescriptor_v2(to: Out<Descriptor3D>, array: Handle) {
        to.put(described(array)?)
    }

    fn cuMipmappedArrayCreate(to: Out<Handle>, request: In<Descriptor3D>, levels: c_uint) {
        to.check()?;
        let request = request.get()?;
        let Descriptor3D { width, height, depth, .. } = request;
        // As the API says. Layers have no levels of their own.
        let largest = width.max(height).max(if request.flags & (LAYERED | CUBE) != 0 { 0 } else { depth });
        let array = create(&request, levels.clamp(1, 1 + largest.max(1).ilog2()))?;
        let mut state = working()?;
        let handle = state.handle();
        state.mipmapped.insert(handle, array);
        to.put(handle)
    }

    fn cuMipmappedArrayGetLevel(to: Out<Handle>, array: Handle, level: c_uint) {
        to.check()?;
        let mut state = ready()?;
        let found = *state.mipmapped.get(&array).ok_or(Status::INVALID_HANDLE)?;
        if level >= found.shape.levels {
            return Err(Status::INVALID_VALUE);
        }
        let known = state.arrays.iter().find(|(_, it)| it.handle == found.handle && it.level == level);
        let handle = match known {
            Some((&handle, _)) => handle,
            None => {
                let handle = state.handle();
                state.arrays.insert(handle, Array { level, ..found });
                handle
            }
        };
        to.put(handle)
    }

    fn cuMipmappedArrayDestroy(array: Handle) {
        let mut state = ready()?;
        let found = state.mipmapped.remove(&array).ok_or(Status::INVALID_HANDLE)?;
        state.arrays.retain(|_, level| level.handle != found.handle);
        state.memory.free_array(found.handle).map_err(failed)
    }
}
