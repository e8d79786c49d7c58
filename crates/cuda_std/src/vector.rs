//! Vectors of 8 and 16 bytes, which are loaded and stored in one access (`ld.global.v4.f32`,
//! `st.shared.v2.b64`, ...).
//!
//! A warp that moves 16 bytes per lane makes one request of 512 bytes instead of four of 128. The
//! address must be a multiple of the vector's size, which the types' alignment ensures; a
//! `*const f32` with that alignment may be cast to `*const f32x4`.
//!
//! On the device they are the compiler's own vector type, whose loads and stores are never split;
//! on the host they are arrays of the same layout. They are plain data (`bytemuck::Pod`), so they
//! can be elements of buffers.

#![allow(non_camel_case_types)]

use bytemuck::{Pod, Zeroable};
use core::fmt;
use core::ops::{Add, Div, Mul, Sub};

macro_rules! vectors {
    ($($(#[$documentation:meta])* $name:ident = [$element:ty; $lanes:literal], align $align:literal, $($component:ident $index:literal)*;)*) => {$(
        $(#[$documentation])*
        #[cfg(target_arch = "nvptx64")]
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name(core::simd::Simd<$element, $lanes>);

        $(#[$documentation])*
        #[cfg(not(target_arch = "nvptx64"))]
        #[derive(Clone, Copy)]
        #[repr(C, align($align))]
        pub struct $name([$element; $lanes]);

        // The layout is the same on both sides, so the kernel reads what the host writes.
        const _: () = assert!(size_of::<$name>() == $align && align_of::<$name>() == $align);

        // SAFETY: the elements fill the vector without padding, and zero is a value of each.
        unsafe impl Zeroable for $name {}
        // SAFETY: the elements fill the vector without padding, and any bits are a value of each.
        unsafe impl Pod for $name {}

        impl $name {
            /// A vector of these elements.
            #[inline(always)]
            pub const fn new($($component: $element),*) -> Self {
                Self::from_array([$($component),*])
            }

            /// A vector whose elements are all `value`.
            #[inline(always)]
            pub const fn splat(value: $element) -> Self {
                Self::from_array([value; $lanes])
            }

            /// A vector of an array's elements.
            #[inline(always)]
            #[cfg(target_arch = "nvptx64")]
            pub const fn from_array(elements: [$element; $lanes]) -> Self {
                Self(core::simd::Simd::from_array(elements))
            }

            /// A vector of an array's elements.
            #[inline(always)]
            #[cfg(not(target_arch = "nvptx64"))]
            pub const fn from_array(elements: [$element; $lanes]) -> Self {
                Self(elements)
            }

            /// The elements.
            #[inline(always)]
            #[cfg(target_arch = "nvptx64")]
            pub const fn to_array(self) -> [$element; $lanes] {
                self.0.to_array()
            }

            /// The elements.
            #[inline(always)]
            #[cfg(not(target_arch = "nvptx64"))]
            pub const fn to_array(self) -> [$element; $lanes] {
                self.0
            }

            $(
                #[doc = concat!("Element ", stringify!($index), ".")]
                #[inline(always)]
                pub const fn $component(self) -> $element {
                    self.to_array()[$index]
                }
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::splat(<$element>::default())
            }
        }

        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_array() == other.to_array()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut tuple = formatter.debug_tuple(stringify!($name));
                for element in self.to_array() {
                    tuple.field(&element);
                }
                tuple.finish()
            }
        }

        impl From<[$element; $lanes]> for $name {
            #[inline(always)]
            fn from(elements: [$element; $lanes]) -> Self {
                Self::from_array(elements)
            }
        }

        impl From<$name> for [$element; $lanes] {
            #[inline(always)]
            fn from(vector: $name) -> Self {
                vector.to_array()
            }
        }
    )*};
}

/// Element by element; integers wrap, as the device's do.
macro_rules! operators {
    ($($name:ident: $($trait:ident $method:ident $with:expr),*;)*) => {$($(
        impl $trait for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let (left, right) = (self.to_array(), other.to_array());
                Self::from_array(core::array::from_fn(|i| $with(left[i], right[i])))
            }
        }
    )*)*};
}

vectors! {
    /// Two `f32`, 8 bytes.
    f32x2 = [f32; 2], align 8, x 0 y 1;
    /// Four `f32`, 16 bytes.
    f32x4 = [f32; 4], align 16, x 0 y 1 z 2 w 3;
    /// Two `f64`, 16 bytes.
    f64x2 = [f64; 2], align 16, x 0 y 1;
    /// Two `u32`, 8 bytes.
    u32x2 = [u32; 2], align 8, x 0 y 1;
    /// Four `u32`, 16 bytes.
    u32x4 = [u32; 4], align 16, x 0 y 1 z 2 w 3;
    /// Two `i32`, 8 bytes.
    i32x2 = [i32; 2], align 8, x 0 y 1;
    /// Four `i32`, 16 bytes.
    i32x4 = [i32; 4], align 16, x 0 y 1 z 2 w 3;
    /// Two `u64`, 16 bytes.
    u64x2 = [u64; 2], align 16, x 0 y 1;
    /// Two `i64`, 16 bytes.
    i64x2 = [i64; 2], align 16, x 0 y 1;
}

operators! {
    f32x2: Add add f32::add, Sub sub f32::sub, Mul mul f32::mul, Div div f32::div;
    f32x4: Add add f32::add, Sub sub f32::sub, Mul mul f32::mul, Div div f32::div;
    f64x2: Add add f64::add, Sub sub f64::sub, Mul mul f64::mul, Div div f64::div;
    u32x2: Add add u32::wrapping_add, Sub sub u32::wrapping_sub, Mul mul u32::wrapping_mul;
    u32x4: Add add u32::wrapping_add, Sub sub u32::wrapping_sub, Mul mul u32::wrapping_mul;
    i32x2: Add add i32::wrapping_add, Sub sub i32::wrapping_sub, Mul mul i32::wrapping_mul;
    i32x4: Add add i32::wrapping_add, Sub sub i32::wrapping_sub, Mul mul i32::wrapping_mul;
    u64x2: Add add u64::wrapping_add, Sub sub u64::wrapping_sub, Mul mul u64::wrapping_mul;
    i64x2: Add add i64::wrapping_add, Sub sub i64::wrapping_sub, Mul mul i64::wrapping_mul;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_in_memory_in_order() {
        let vector = f32x4::new(1.0, 2.0, 3.0, 4.0);
        assert_eq!(bytemuck::bytes_of(&vector), bytemuck::bytes_of(&[1.0_f32, 2.0, 3.0, 4.0]));
        assert_eq!([vector.x(), vector.y(), vector.z(), vector.w()], vector.to_array());
    }

    #[test]
    fn operators_work_element_by_element() {
        assert_eq!(f64x2::new(1.0, 2.0) + f64x2::splat(0.5), f64x2::new(1.5, 2.5));
        assert_eq!(f32x2::new(1.0, 3.0) / f32x2::splat(2.0), f32x2::new(0.5, 1.5));
        assert_eq!(u32x2::new(u32::MAX, 5) + u32x2::splat(1), u32x2::new(0, 6));
        assert_eq!(i64x2::new(i64::MIN, 5) - i64x2::splat(1), i64x2::new(i64::MAX, 4));
    }
}
