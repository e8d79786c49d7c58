//! Textures: reads through the texture units, which handle edges, filters and formats (PTX manual,
//! "Texture Instructions").
//!
//! A kernel takes a [`Texture`] by value: the handle of a texture object that the host made, with
//! its address modes, filter and read mode. A read returns four floats, of which a texture with one
//! channel fills the first.
//!
//! ```
//! use cuda_std::texture::Texture;
//! use cuda_std::{gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::thread;
//!
//! /// Reads an image at half its size, filtered.
//! ///
//! /// # Safety
//! /// `image` is a texture of two dimensions whose values are read as floats; `output` has an
//! /// element for each thread.
//! #[kernel]
//! pub unsafe fn shrink(image: Texture, output: *mut f32, width: u32) {
//!     let place = thread::index_2d();
//!     let [value, ..] = image.sample_2d(2.0 * place.x as f32 + 1.0, 2.0 * place.y as f32 + 1.0);
//!     *output.add((place.y * width + place.x) as usize) = value;
//! }
//! ```

use bytemuck::{Pod, Zeroable};

/// The handle of a texture object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Texture(u64);

// SAFETY: a handle is a number, and zero is one.
unsafe impl Zeroable for Texture {}
// SAFETY: a handle is a number without padding.
unsafe impl Pod for Texture {}

impl Texture {
    /// The texture with this handle, which the host has made.
    pub const fn from_handle(handle: u64) -> Self {
        Self(handle)
    }

    /// The handle.
    pub const fn handle(self) -> u64 {
        self.0
    }
}

#[cfg(any(target_arch = "nvptx64", doc))]
impl Texture {
    /// The texel at `x` of a texture in linear memory, which has no filter and no edges
    /// (`tex.1d.v4.f32.s32`).
    ///
    /// # Safety
    /// The texture exists, has one dimension, and its texels are read as floats.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), allow(unused_variables, unreachable_code))]
    pub unsafe fn fetch_1d(self, x: i32) -> [f32; 4] {
        let (r, g, b, a): (f32, f32, f32, f32);
        #[cfg(not(target_arch = "nvptx64"))]
        return unreachable!();
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the caller promises a valid texture.
        unsafe {
            core::arch::asm!(
                "tex.1d.v4.f32.s32 {{{r}, {g}, {b}, {a}}}, [{texture}, {{{x}}}];",
                r = out(reg32) r,
                g = out(reg32) g,
                b = out(reg32) b,
                a = out(reg32) a,
                texture = in(reg64) self.0,
                x = in(reg32) x,
                options(nostack, readonly, preserves_flags)
            );
        }
        [r, g, b, a]
    }

    /// The value at (`x`, `y`), according to the texture's address modes and filter
    /// (`tex.2d.v4.f32.f32`). The centre of the first texel is at (0.5, 0.5), or half a texel if
    /// coordinates are normalised.
    ///
    /// # Safety
    /// The texture exists, has two dimensions, and its texels are read as floats.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), allow(unused_variables, unreachable_code))]
    pub unsafe fn sample_2d(self, x: f32, y: f32) -> [f32; 4] {
        let (r, g, b, a): (f32, f32, f32, f32);
        #[cfg(not(target_arch = "nvptx64"))]
        return unreachable!();
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the caller promises a valid texture.
        unsafe {
            core::arch::asm!(
                "tex.2d.v4.f32.f32 {{{r}, {g}, {b}, {a}}}, [{texture}, {{{x}, {y}}}];",
                r = out(reg32) r,
                g = out(reg32) g,
                b = out(reg32) b,
                a = out(reg32) a,
                texture = in(reg64) self.0,
                x = in(reg32) x,
                y = in(reg32) y,
                options(nostack, readonly, preserves_flags)
            );
        }
        [r, g, b, a]
    }
}
