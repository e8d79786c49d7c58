//! Texture and surface objects: the same requests in the driver's structures.

use std::ffi::{c_float, c_int, c_uint, c_void};

use crate::call::{get, runtime};
use crate::device::ready;
use crate::driver;
use crate::error::{Done, Error};
use crate::planes::Channels;
use crate::types::{DriverResource, DriverTexture};

/// `cudaResourceDesc`: what a texture reads. The rest depends on the kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: c_uint,
    /// An array's handle, or the address of memory.
    first: u64,
    /// Of memory: its format, and then its size, or width, height and pitch.
    channels: Channels,
    sizes: [usize; 3],
}

/// `cudaTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texture {
    modes: [c_uint; 3],
    filter: c_uint,
    read: c_uint,
    srgb: c_int,
    border: [c_float; 4],
    normalized: c_int,
    anisotropy: c_uint,
    mipmap_filter: c_uint,
    mipmap: [c_float; 3],
    no_trilinear: c_int,
    seamless: c_int,
}

const ARRAY: c_uint = 0;
const MIPMAPPED: c_uint = 1;

impl Resource {
    /// The same for the driver.
    fn for_driver(from: *const Self) -> Done<DriverResource> {
        // Of an array only the first fields count.
        let (kind, first) = get(from.cast::<(c_uint, u64)>())?;
        let plain = DriverResource { kind, first, format: 0, channels: 0, sizes: [0; 3], reserved: [0; 11], flags: 0 };
        if matches!(kind, ARRAY | MIPMAPPED) {
            return Ok(plain);
        }
        let Self { channels, sizes, .. } = get(from)?;
        let (format, channels) = channels.format()?;
        Ok(DriverResource { format, channels, sizes, ..plain })
    }
}

impl Texture {
    /// The same for the driver.
    fn for_driver(&self) -> DriverTexture {
        // Integers stay what they are; coordinates from 0 to 1; sRGB; no trilinear optimisation;
        // seamless cubes.
        let flags = [self.read == 0, self.normalized != 0].into_iter().zip([1, 2]);
        let more = [self.srgb != 0, self.no_trilinear != 0, self.seamless != 0].into_iter().zip([0x10, 0x20, 0x40]);
        DriverTexture {
            modes: self.modes,
            filter: self.filter,
            flags: flags.chain(more).filter(|(set, _)| *set).map(|(_, flag)| flag).sum(),
            anisotropy: self.anisotropy,
            mipmap_filter: self.mipmap_filter,
            mipmap: self.mipmap,
            border: self.border,
            reserved: [0; 12],
        }
    }
}

runtime! {
    fn cudaCreateTextureObject(
        to: *mut u64, resource: *const Resource, texture: *const Texture, view: *const c_void,
    ) {
        ready()?;
        let (resource, texture) = (Resource::for_driver(resource)?, get(texture)?.for_driver());
        // A view of the same resource in another format.
        if !view.is_null() {
            return Err(Error(801));
        }
        driver::cuTexObjectCreate(to, &resource, &texture, view)
    }

    fn cudaDestroyTextureObject(texture: u64) {
        ready()?;
        if texture == 0 { Ok(()) } else { driver::cuTexObjectDestroy(texture) }
    }

    fn cudaCreateSurfaceObject(to: *mut u64, resource: *const Resource) {
        ready()?;
        driver::cuSurfObjectCreate(to, &Resource::for_driver(resource)?)
    }

    fn cudaDestroySurfaceObject(surface: u64) {
        ready()?;
        if surface == 0 { Ok(()) } else { driver::cuSurfObjectDestroy(surface) }
    }
}
