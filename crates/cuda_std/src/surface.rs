//! Surfaces: writes to an array that later launches read through a texture (PTX manual, "Surface
//! Instructions").
//!
//! A kernel takes a [`Surface`] by value: the handle of a surface object that the host made of an
//! array. A texture of the same array shows what was written from the next launch on, not before.
//!
//! ```
//! use cuda_std::surface::Surface;
//! use cuda_std::{gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::thread;
//!
//! /// Writes 1 to each texel of an image.
//! ///
//! /// # Safety
//! /// `image` is a surface of two dimensions with one float a texel.
//! #[kernel]
//! pub unsafe fn whiten(image: Surface, width: u32, height: u32) {
//!     let place = thread::index_2d();
//!     if place.x < width && place.y < height {
//!         image.write_2d(place.x, place.y, 1.0);
//!     }
//! }
//! ```

use bytemuck::{Pod, Zeroable};

/// The handle of a surface object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Surface(u64);

// SAFETY: a handle is a number, and zero is one.
unsafe impl Zeroable for Surface {}
// SAFETY: a handle is a number without padding.
unsafe impl Pod for Surface {}

impl Surface {
    /// The surface with this handle, which the host has made.
    pub const fn from_handle(handle: u64) -> Self {
        Self(handle)
    }

    /// The handle.
    pub const fn handle(self) -> u64 {
        self.0
    }
}

#[cfg(any(target_arch = "nvptx64", doc))]
impl Surface {
    /// Writes the texel (`x`, `y`); beyond the array the launch stops (`sust.b.2d.b32.trap`).
    ///
    /// # Safety
    /// The surface exists, has two dimensions and one float a texel, and no other thread of the
    /// launch writes this texel. No texture of the array is read in this launch.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), allow(unused_variables, unreachable_code))]
    pub unsafe fn write_2d(self, x: u32, y: u32, texel: f32) {
        #[cfg(not(target_arch = "nvptx64"))]
        return unreachable!();
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the caller promises a valid surface. The instruction counts x in bytes.
        unsafe {
            core::arch::asm!(
                "sust.b.2d.b32.trap [{surface}, {{{x}, {y}}}], {texel};",
                surface = in(reg64) self.0,
                x = in(reg32) x * 4,
                y = in(reg32) y,
                texel = in(reg32) texel,
                options(nostack, preserves_flags)
            );
        }
    }
}
