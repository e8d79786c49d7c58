//! Textures and surfaces.

use std::ffi::{c_float, c_uint};

use simt::textures::{AddressMode, Filter, ReadMode, Sampling, TextureSource};

use crate::arrays::{failed, format_of};
use crate::boundary::{Done, In, Out, Status, driver};
use crate::objects::Array;
use crate::state::{ready, working};

/// `CUDA_RESOURCE_DESC`: its kind, and a union of 128 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: c_uint,
    padding: c_uint,
    /// An array's handle, or the address of linear memory.
    first: u64,
    format: c_uint,
    channels: c_uint,
    /// Bytes of linear memory, or texels of a row.
    width: usize,
    height: usize,
    pitch: usize,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texture {
    address_modes: [c_uint; 3],
    filter: c_uint,
    flags: c_uint,
    anisotropy: c_uint,
    level_filter: c_uint,
    level_bias: c_float,
    least_level: c_float,
    greatest_level: c_float,
    border: [c_float; 4],
}

/// Formats from this number on are of floats, which are never normalised.
const FLOATS: c_uint = 0x10;

/// The array of a resource: a plain one, or one with levels.
fn of_resource(resource: &Resource) -> Done<Array> {
    let state = ready()?;
    let handle = resource.first as usize;
    let found = if resource.kind == 0 { state.arrays.get(&handle) } else { state.mipmapped.get(&handle) };
    found.copied().ok_or(Status::INVALID_HANDLE)
}

fn source(resource: &Resource) -> Done<TextureSource> {
    let texels = |extent: usize| u32::try_from(extent).map_err(|_| Status::INVALID_VALUE);
    Ok(match resource.kind {
        0 | 1 => TextureSource::Array(of_resource(resource)?.handle),
        2 => {
            let format = format_of(resource.format, resource.channels)?;
            let texels = texels(resource.width / format.bytes() as usize)?;
            TextureSource::Linear { address: resource.first, texels, format }
        }
        3 => TextureSource::Pitched {
            address: resource.first,
            width: texels(resource.width)?,
            height: texels(resource.height)?,
            pitch: resource.pitch as u64,
            format: format_of(resource.format, resource.channels)?,
        },
        _ => return Err(Status::NOT_SUPPORTED),
    })
}

fn sampling(texture: &Texture) -> Sampling {
    let mode = |mode: c_uint| match mode {
        0 => AddressMode::Wrap,
        2 => AddressMode::Mirror,
        3 => AddressMode::Border,
        _ => AddressMode::Clamp,
    };
    let filter = |filter: c_uint| if filter == 1 { Filter::Linear } else { Filter::Point };
    Sampling {
        address_modes: texture.address_modes.map(mode),
        filter: filter(texture.filter),
        level_filter: filter(texture.level_filter),
        normalized_coordinates: texture.flags & 2 != 0,
        read_mode: if texture.flags & 1 != 0 { ReadMode::Element } else { ReadMode::NormalizedFloat },
        srgb: texture.flags & 0x10 != 0,
        border: texture.border,
        level_bias: texture.level_bias,
        level_range: (texture.least_level, texture.greatest_level),
    }
}

driver! {
    fn cuTexObjectCreate(to: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: In<u8>) {
        to.check()?;
        let resource = resource.get()?;
        let source = source(&resource)?;
        let mut sampling = sampling(&texture.get()?);
        if resource.kind == 2 {
            // Linear memory has no neighbours: its filter and what is outside count for nothing.
            (sampling.filter, sampling.address_modes) = (Filter::Point, [AddressMode::Clamp; 3]);
        }
        let format = if resource.kind < 2 { of_resource(&resource)?.format } else { resource.format };
        if format >= FLOATS {
            sampling.read_mode = ReadMode::Element;
        }
        let made = working()?.memory.create_texture(&source, &sampling).map_err(failed)?;
        to.put(made)
    }

    fn cuTexObjectDestroy(texture: u64) {
        ready()?.memory.destroy_texture(texture).map_err(failed)
    }

    fn cuSurfObjectCreate(to: Out<u64>, resource: In<Resource>) {
        to.check()?;
        let resource = resource.get()?;
        if resource.kind != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let array = of_resource(&resource)?;
        let made = working()?.memory.create_surface(array.handle).map_err(failed)?;
        to.put(made)
    }

    fn cuSurfObjectDestroy(surface: u64) {
        ready()?.memory.destroy_surface(surface).map_err(failed)
    }
}
