//! Textures and surfaces.

use std::ffi::c_uint;

use simt::textures::{AddressMode, Filter, ReadMode, Sampling, TextureSource};

use crate::arrays::{CUBE, failed, format_of};
use crate::boundary::{Done, In, Out, Status, driver, say};
use crate::objects::Array;
use crate::sampling::{ARRAY, LINEAR, MIPMAPPED, PITCHED, Resource, Texture};
use crate::state::{State, ready, working};

/// Whether what is read of such a format may be a number from 0 to 1: not floats, and not integers
/// of 32 bits.
fn can_be_normalized(format: c_uint) -> bool {
    matches!(format, 1 | 2 | 8 | 9)
}

/// The array of a resource: a plain one, or one with levels.
fn of_resource(state: &State, resource: &Resource) -> Done<Array> {
    let handle = resource.first as usize;
    let found = if resource.kind == ARRAY { state.arrays.get(&handle) } else { state.mipmapped.get(&handle) };
    let array = found.copied().ok_or(Status::INVALID_HANDLE)?;
    if array.flags & CUBE != 0 {
        say("arrays that are cubes can be copied, and not read as textures or surfaces");
        return Err(Status::NOT_SUPPORTED);
    }
    Ok(array)
}

fn source(state: &State, resource: &Resource) -> Done<TextureSource> {
    let texels = |extent: usize| u32::try_from(extent).map_err(|_| Status::INVALID_VALUE);
    Ok(match resource.kind {
        ARRAY => {
            let Array { handle, level, .. } = of_resource(state, resource)?;
            TextureSource::Level(handle, level)
        }
        MIPMAPPED => TextureSource::Array(of_resource(state, resource)?.handle),
        LINEAR => {
            let format = format_of(resource.format, resource.channels)?;
            let texels = texels(resource.width / format.bytes() as usize)?;
            TextureSource::Linear { address: resource.first, texels, format }
        }
        PITCHED => TextureSource::Pitched {
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

/// Makes a texture object.
pub fn make_texture(state: &mut State, resource: &Resource, texture: &Texture) -> Done<u64> {
    let source = source(state, resource)?;
    let mut sampling = sampling(texture);
    if resource.kind == LINEAR {
        // Linear memory has no neighbours: its filter and what is outside count for nothing.
        (sampling.filter, sampling.address_modes) = (Filter::Point, [AddressMode::Clamp; 3]);
    }
    let is_array = matches!(resource.kind, ARRAY | MIPMAPPED);
    let format = if is_array { of_resource(state, resource)?.format } else { resource.format };
    if !can_be_normalized(format) {
        sampling.read_mode = ReadMode::Element;
    }
    state.memory.create_texture(&source, &sampling).map_err(failed)
}

/// Makes a surface object.
pub fn make_surface(state: &mut State, resource: &Resource) -> Done<u64> {
    if resource.kind != ARRAY {
        return Err(Status::INVALID_VALUE);
    }
    let array = of_resource(state, resource)?;
    state.memory.create_level_surface(array.handle, array.level).map_err(failed)
}

driver! {
    fn cuTexObjectCreate(to: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: In<u8>) {
        to.check()?;
        if !view.is_null() {
            say("cuTexObjectCreate: a view of a part of a resource is not supported: give none");
            return Err(Status::NOT_SUPPORTED);
        }
        let (resource, texture) = (resource.get()?, texture.get()?);
        to.put(make_texture(&mut *working()?, &resource, &texture)?)
    }

    fn cuTexObjectDestroy(texture: u64) {
        ready()?.memory.destroy_texture(texture).map_err(failed)
    }

    fn cuSurfObjectCreate(to: Out<u64>, resource: In<Resource>) {
        to.check()?;
        let resource = resource.get()?;
        to.put(make_surface(&mut *working()?, &resource)?)
    }

    fn cuSurfObjectDestroy(surface: u64) {
        ready()?.memory.destroy_surface(surface).map_err(failed)
    }
}
