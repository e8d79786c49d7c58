//! Global loads and stores with a cache operator (PTX manual, "Cache Operators"), an eviction
//! priority or a prefetch (`ld` and `st` there).
//!
//! For an ordinary `*p`, the compiler chooses the load: `ld.global`, which caches in L1 and L2, or
//! `ld.global.nc` if it knows that nothing writes there during the launch. The functions here
//! choose explicitly. The operators are hints on where to keep the data: the loaded value is the
//! same.
//!
//! | load | CUDA | hint to the hardware |
//! | --- | --- | --- |
//! | [`load`] | | what the option `-dlcm` of `ptxas` says |
//! | [`load_ca`] | `__ldca` | cache at all levels, L1 and L2 |
//! | [`load_cg`] | `__ldcg` | cache in L2, bypass L1 |
//! | [`load_cs`] | `__ldcs` | expect to read it once: evict it first |
//! | [`load_lu`] | `__ldlu` | expect not to read it again: last use |
//! | [`load_cv`] | `__ldcv` | fetch it anew: it may have changed |
//! | [`load_nc`] | `__ldg` | take the read-only (texture) path |
//! | [`load_nc_no_allocate`] | | take that path, keep nothing in L1 |
//! | [`load_evict_first`] | | evict it from L1 before all else |
//! | [`load_evict_last`] | | keep it in L1 longer than all else |
//! | [`load_l2_evict_first`] | | bypass L1, and evict it from L2 before all else |
//! | [`load_l2_evict_last`] | | bypass L1, and keep it in L2 longer than all else |
//! | [`load_prefetch`] | | have L2 fetch what is around it, too |
//! | [`load_l2_evict_last_prefetch`] | | keep it in L2, and fetch what is around it, too |
//!
//! | store | CUDA | hint to the hardware |
//! | --- | --- | --- |
//! | [`store_wb`] | `__stwb` | write back at all levels: the default |
//! | [`store_cg`] | `__stcg` | cache in L2 |
//! | [`store_cs`] | `__stcs` | expect no read soon: evict it first |
//! | [`store_wt`] | `__stwt` | write through to memory |
//! | [`store_no_allocate`] | | keep nothing in L1 |
//! | [`store_evict_first`] | | evict it from L1 before all else |
//! | [`store_evict_last`] | | keep it in L1 longer than all else |
//! | [`store_l2_evict_last`] | | keep it in L2 longer than all else |
//!
//! All but the operators need PTX 7.4: priorities in L1 with Volta, prefetches with Turing,
//! priorities in L2 with Ampere (before it they are ordinary accesses). `no_allocate` leaves L1 to
//! data that is read again. But on an H200 such lines also leave L2 early, and the next launch has
//! to fetch them again: a reduction of 2^23 values, launched again and again, took 9.7 us instead
//! of 6.3 (2026-11-22). Measure before you use it.
//!
//! Lines that L2 is to keep can outlive the launch, and even a fill of twice the cache
//! (`cuCtxResetPersistingL2Cache` makes them ordinary). They take room from the next kernels: on an
//! H200, the first four copies of 12 MB after a transpose that kept its lines took up to 6 % longer
//! (2026-11-24).
//!
//! They work on numbers of 8 to 64 bits and the vectors of [`vector`](crate::vector), each as one
//! access.

use crate::vector::{f32x2, f32x4, f64x2, i32x2, i32x4, i64x2, u32x2, u32x4, u64x2};

macro_rules! loads {
    ($($(#[$documentation:meta])* $name:ident;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        /// `address` points to a value in global memory, aligned to its size.
        #[inline(always)]
        pub unsafe fn $name<T: GlobalValue>(address: *const T) -> T {
            // SAFETY: the caller promises a valid address.
            unsafe { T::$name(address) }
        }
    )*};
}

loads! {
    /// Loads by the default of `ptxas`: through L1 and L2, or, with `-dlcm=cg`, through L2 only
    /// (`ld.global`). An ordinary read of a `&[T]` takes the read-only path instead.
    load;
    /// Loads through L1 and L2 (`ld.global.ca`).
    load_ca;
    /// Loads through L2 only (`ld.global.cg`).
    load_cg;
    /// Loads data that is read only once: it is evicted first (`ld.global.cs`).
    load_cs;
    /// Loads data that is not read again (`ld.global.lu`).
    load_lu;
    /// Loads data that may have changed: cached lines are fetched again (`ld.global.cv`).
    load_cv;
    /// Loads by the read-only path (`ld.global.nc`). Nothing may write there during the launch.
    load_nc;
    /// Loads by the read-only path data that is read only once: L1 does not keep it
    /// (`ld.global.nc.L1::no_allocate`). Nothing may write there during the launch.
    load_nc_no_allocate;
    /// Loads data that L1 should evict first (`ld.global.L1::evict_first`).
    load_evict_first;
    /// Loads data that L1 should evict last, because it is read again soon
    /// (`ld.global.L1::evict_last`).
    load_evict_last;
    /// Loads through L2 only, and asks it to evict the data first (`ld.global.cg.L2::cache_hint`).
    /// Before `sm_80` as [`load_cg`].
    load_l2_evict_first;
    /// Loads through L2 only, and asks it to evict the data last (`ld.global.cg.L2::cache_hint`).
    /// Before `sm_80` as [`load_cg`].
    load_l2_evict_last;
    /// Loads through L1 and L2, and asks L2 to fetch the 256 bytes around the address
    /// (`ld.global.L2::256B`; before `sm_80` 128 bytes, `.L2::128B`). For data that other threads
    /// or blocks read soon.
    load_prefetch;
    /// Loads as [`load_prefetch`], and asks L2 to evict the data last
    /// (`ld.global.L2::cache_hint.L2::256B`; before `sm_80` only `.L2::128B`).
    load_l2_evict_last_prefetch;
}

macro_rules! stores {
    ($($(#[$documentation:meta])* $name:ident;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        /// `address` points to a value in global memory, aligned to its size, which no other thread
        /// uses meanwhile.
        #[inline(always)]
        pub unsafe fn $name<T: GlobalValue>(address: *mut T, value: T) {
            // SAFETY: the caller promises a valid address.
            unsafe { T::$name(address, value) }
        }
    )*};
}

stores! {
    /// Stores with write-back at all levels (`st.global.wb`).
    store_wb;
    /// Stores to L2 (`st.global.cg`).
    store_cg;
    /// Stores data that is not read soon: it is evicted first (`st.global.cs`).
    store_cs;
    /// Stores through L2 to memory (`st.global.wt`).
    store_wt;
    /// Stores data that L1 does not keep (`st.global.L1::no_allocate`).
    store_no_allocate;
    /// Stores data that L1 should evict first (`st.global.L1::evict_first`).
    store_evict_first;
    /// Stores data that L1 should evict last, because it is read again soon
    /// (`st.global.L1::evict_last`).
    store_evict_last;
    /// Stores data, and asks L2 to evict it last (`st.global.L2::cache_hint`). Before `sm_80` as
    /// [`store_wb`].
    store_l2_evict_last;
}

/// A value that one global access can load or store: numbers of 8 to 64 bits, and vectors.
#[allow(clippy::missing_safety_doc)]
pub unsafe trait GlobalValue: Copy {
    /// [`load`] of this type.
    unsafe fn load(address: *const Self) -> Self;
    /// [`load_ca`] of this type.
    unsafe fn load_ca(address: *const Self) -> Self;
    /// [`load_cg`] of this type.
    unsafe fn load_cg(address: *const Self) -> Self;
    /// [`load_cs`] of this type.
    unsafe fn load_cs(address: *const Self) -> Self;
    /// [`load_lu`] of this type.
    unsafe fn load_lu(address: *const Self) -> Self;
    /// [`load_cv`] of this type.
    unsafe fn load_cv(address: *const Self) -> Self;
    /// [`load_nc`] of this type.
    unsafe fn load_nc(address: *const Self) -> Self;
    /// [`load_nc_no_allocate`] of this type.
    unsafe fn load_nc_no_allocate(address: *const Self) -> Self;
    /// [`load_evict_first`] of this type.
    unsafe fn load_evict_first(address: *const Self) -> Self;
    /// [`load_evict_last`] of this type.
    unsafe fn load_evict_last(address: *const Self) -> Self;
    /// [`load_l2_evict_first`] of this type.
    unsafe fn load_l2_evict_first(address: *const Self) -> Self;
    /// [`load_l2_evict_last`] of this type.
    unsafe fn load_l2_evict_last(address: *const Self) -> Self;
    /// [`load_prefetch`] of this type.
    unsafe fn load_prefetch(address: *const Self) -> Self;
    /// [`load_l2_evict_last_prefetch`] of this type.
    unsafe fn load_l2_evict_last_prefetch(address: *const Self) -> Self;
    /// [`store_wb`] of this type.
    unsafe fn store_wb(address: *mut Self, value: Self);
    /// [`store_cg`] of this type.
    unsafe fn store_cg(address: *mut Self, value: Self);
    /// [`store_cs`] of this type.
    unsafe fn store_cs(address: *mut Self, value: Self);
    /// [`store_wt`] of this type.
    unsafe fn store_wt(address: *mut Self, value: Self);
    /// [`store_no_allocate`] of this type.
    unsafe fn store_no_allocate(address: *mut Self, value: Self);
    /// [`store_evict_first`] of this type.
    unsafe fn store_evict_first(address: *mut Self, value: Self);
    /// [`store_evict_last`] of this type.
    unsafe fn store_evict_last(address: *mut Self, value: Self);
    /// [`store_l2_evict_last`] of this type.
    unsafe fn store_l2_evict_last(address: *mut Self, value: Self);
}

/// One instruction, with the conversion of the address from the generic to the global space that
/// `ld.global` needs. Rustdoc has no assembler for it, and does not need the bodies.
#[cfg(target_arch = "nvptx64")]
macro_rules! global_access {
    ($instruction:expr, $address:ident, $($operand:tt)*) => {
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.global.u64 place, {address};",
            $instruction,
            "}}",
            address = in(reg64) $address,
            $($operand)*
        )
    };
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! global_access {
    ($($tokens:tt)*) => {
        unreachable!()
    };
}

/// The instructions for an access by a cache policy, which is a register. Without one: the access.
macro_rules! with_policy {
    (L2 $priority:ident: $($access:expr),*) => {
        concat!(
            ".reg .b64 policy;\n",
            "createpolicy.fractional.L2::",
            stringify!($priority),
            ".b64 policy;\n",
            $($access,)*
            ", policy;"
        )
    };
    ($($access:expr),*) => {
        concat!($($access,)* ";")
    };
}

macro_rules! scalar_load {
    ($name:ident, $operator:literal $(by $policy:ident $priority:ident)?, $kind:literal, $class:ident, $register:ty, $from:expr) => {
        #[inline(always)]
        #[allow(unused_variables, unused_mut, unreachable_code)]
        unsafe fn $name(address: *const Self) -> Self {
            let value: $register;
            // SAFETY: the caller promises a valid address.
            unsafe {
                global_access!(
                    with_policy!($($policy $priority:)? "ld.global", $operator, ".", $kind, " {value}, [place]"),
                    address,
                    value = out($class) value,
                    options(nostack, readonly, preserves_flags)
                );
            }
            $from(value)
        }
    };
}

macro_rules! scalar_store {
    ($name:ident, $operator:literal $(by $policy:ident $priority:ident)?, $kind:literal, $class:ident, $into:expr) => {
        #[inline(always)]
        #[allow(unused_variables)]
        unsafe fn $name(address: *mut Self, value: Self) {
            let bits = $into(value);
            // SAFETY: the caller promises a valid address.
            unsafe {
                global_access!(
                    with_policy!($($policy $priority:)? "st.global", $operator, ".", $kind, " [place], {value}"),
                    address,
                    value = in($class) bits,
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

macro_rules! scalars {
    ($($ty:ty: $kind:literal $class:ident $register:ty, $from:expr, $into:expr;)*) => {$(
        // SAFETY: the instruction's type has the size of the value.
        unsafe impl GlobalValue for $ty {
            scalar_load!(load, "", $kind, $class, $register, $from);
            scalar_load!(load_ca, ".ca", $kind, $class, $register, $from);
            scalar_load!(load_cg, ".cg", $kind, $class, $register, $from);
            scalar_load!(load_cs, ".cs", $kind, $class, $register, $from);
            scalar_load!(load_lu, ".lu", $kind, $class, $register, $from);
            scalar_load!(load_cv, ".cv", $kind, $class, $register, $from);
            scalar_load!(load_nc, ".nc", $kind, $class, $register, $from);
            scalar_load!(load_nc_no_allocate, ".nc.L1::no_allocate", $kind, $class, $register, $from);
            scalar_load!(load_evict_first, ".L1::evict_first", $kind, $class, $register, $from);
            scalar_load!(load_evict_last, ".L1::evict_last", $kind, $class, $register, $from);
            #[cfg(target_feature = "sm_80")]
            scalar_load!(load_l2_evict_first, ".cg.L2::cache_hint" by L2 evict_first, $kind, $class, $register, $from);
            #[cfg(not(target_feature = "sm_80"))]
            scalar_load!(load_l2_evict_first, ".cg", $kind, $class, $register, $from);
            #[cfg(target_feature = "sm_80")]
            scalar_load!(load_l2_evict_last, ".cg.L2::cache_hint" by L2 evict_last, $kind, $class, $register, $from);
            #[cfg(not(target_feature = "sm_80"))]
            scalar_load!(load_l2_evict_last, ".cg", $kind, $class, $register, $from);
            #[cfg(target_feature = "sm_80")]
            scalar_load!(load_prefetch, ".L2::256B", $kind, $class, $register, $from);
            #[cfg(not(target_feature = "sm_80"))]
            scalar_load!(load_prefetch, ".L2::128B", $kind, $class, $register, $from);
            #[cfg(target_feature = "sm_80")]
            scalar_load!(load_l2_evict_last_prefetch, ".L2::cache_hint.L2::256B" by L2 evict_last, $kind, $class, $register, $from);
            #[cfg(not(target_feature = "sm_80"))]
            scalar_load!(load_l2_evict_last_prefetch, ".L2::128B", $kind, $class, $register, $from);
            scalar_store!(store_wb, ".wb", $kind, $class, $into);
            scalar_store!(store_cg, ".cg", $kind, $class, $into);
            scalar_store!(store_cs, ".cs", $kind, $class, $into);
            scalar_store!(store_wt, ".wt", $kind, $class, $into);
            scalar_store!(store_no_allocate, ".L1::no_allocate", $kind, $class, $into);
            scalar_store!(store_evict_first, ".L1::evict_first", $kind, $class, $into);
            scalar_store!(store_evict_last, ".L1::evict_last", $kind, $class, $into);
            #[cfg(target_feature = "sm_80")]
            scalar_store!(store_l2_evict_last, ".L2::cache_hint" by L2 evict_last, $kind, $class, $into);
            #[cfg(not(target_feature = "sm_80"))]
            scalar_store!(store_l2_evict_last, ".wb", $kind, $class, $into);
        }
    )*};
}

scalars! {
    u8: "u8" reg32 u32, |bits| bits as u8, u32::from;
    i8: "s8" reg32 i32, |bits| bits as i8, i32::from;
    u16: "u16" reg16 u16, u16::from, u16::from;
    i16: "s16" reg16 i16, i16::from, i16::from;
    u32: "u32" reg32 u32, u32::from, u32::from;
    i32: "s32" reg32 i32, i32::from, i32::from;
    u64: "u64" reg64 u64, u64::from, u64::from;
    i64: "s64" reg64 i64, i64::from, i64::from;
    f32: "f32" reg32 f32, f32::from, f32::from;
    f64: "f64" reg64 f64, f64::from, f64::from;
}

macro_rules! vector_load {
    ($name:ident, $operator:literal $(by $policy:ident $priority:ident)?, pair $kind:literal $class:ident $element:ty) => {
        #[inline(always)]
        #[allow(unreachable_code)]
        unsafe fn $name(address: *const Self) -> Self {
            let (x, y): ($element, $element);
            // SAFETY: the caller promises a valid address.
            unsafe {
                global_access!(
                    with_policy!($($policy $priority:)? "ld.global", $operator, ".v2.", $kind, " {{{x}, {y}}}, [place]"),
                    address,
                    x = out($class) x,
                    y = out($class) y,
                    options(nostack, readonly, preserves_flags)
                );
            }
            Self::new(x, y)
        }
    };
    ($name:ident, $operator:literal $(by $policy:ident $priority:ident)?, quad $kind:literal $class:ident $element:ty) => {
        #[inline(always)]
        #[allow(unreachable_code)]
        unsafe fn $name(address: *const Self) -> Self {
            let (x, y, z, w): ($element, $element, $element, $element);
            // SAFETY: the caller promises a valid address.
            unsafe {
                global_access!(
                    with_policy!($($policy $priority:)? "ld.global", $operator, ".v4.", $kind, " {{{x}, {y}, {z}, {w}}}, [place]"),
                    address,
                    x = out($class) x,
                    y = out($class) y,
                    z = out($class) z,
                    w = out($class) w,
                    options(nostack, readonly, preserves_flags)
                );
            }
            Self::new(x, y, z, w)
        }
    };
}

macro_rules! vector_store {
    ($name:ident, $operator:literal $(by $policy:ident $priority:ident)?, pair $kind:literal $class:ident $element:ty) => {
        #[inline(always)]
        #[allow(unused_variables)]
        unsafe fn $name(address: *mut Self, value: Self) {
            // SAFETY: the caller promises a valid address.
            unsafe {
                global_access!(
                    with_policy!($($policy $priority:)? "st.global", $operator, ".v2.", $kind, " [place], {{{x}, {y}}}"),
                    address,
                    x = in($class) value.x(),
                    y = in($class) value.y(),
                    options(nostack, preserves_flags)
                );
            }
        }
    };
    ($name:ident, $operator:literal $(by $policy:ident $priority:ident)?, quad $kind:literal $class:ident $element:ty) => {
        #[inline(always)]
        #[allow(unused_variables)]
        unsafe fn $name(address: *mut Self, value: Self) {
            // SAFETY: the caller promises a valid address.
            unsafe {
                global_access!(
                    with_policy!($($policy $priority:)? "st.global", $operator, ".v4.", $kind, " [place], {{{x}, {y}, {z}, {w}}}"),
                    address,
                    x = in($class) value.x(),
                    y = in($class) value.y(),
                    z = in($class) value.z(),
                    w = in($class) value.w(),
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

macro_rules! vectors {
    ($($ty:ty: $lanes:tt $kind:literal $class:ident $element:ty;)*) => {$(
        // SAFETY: the instruction's type has the size of the value.
        unsafe impl GlobalValue for $ty {
            vector_load!(load, "", $lanes $kind $class $element);
            vector_load!(load_ca, ".ca", $lanes $kind $class $element);
            vector_load!(load_cg, ".cg", $lanes $kind $class $element);
            vector_load!(load_cs, ".cs", $lanes $kind $class $element);
            vector_load!(load_lu, ".lu", $lanes $kind $class $element);
            vector_load!(load_cv, ".cv", $lanes $kind $class $element);
            vector_load!(load_nc, ".nc", $lanes $kind $class $element);
            vector_load!(load_nc_no_allocate, ".nc.L1::no_allocate", $lanes $kind $class $element);
            vector_load!(load_evict_first, ".L1::evict_first", $lanes $kind $class $element);
            vector_load!(load_evict_last, ".L1::evict_last", $lanes $kind $class $element);
            #[cfg(target_feature = "sm_80")]
            vector_load!(load_l2_evict_first, ".cg.L2::cache_hint" by L2 evict_first, $lanes $kind $class $element);
            #[cfg(not(target_feature = "sm_80"))]
            vector_load!(load_l2_evict_first, ".cg", $lanes $kind $class $element);
            #[cfg(target_feature = "sm_80")]
            vector_load!(load_l2_evict_last, ".cg.L2::cache_hint" by L2 evict_last, $lanes $kind $class $element);
            #[cfg(not(target_feature = "sm_80"))]
            vector_load!(load_l2_evict_last, ".cg", $lanes $kind $class $element);
            #[cfg(target_feature = "sm_80")]
            vector_load!(load_prefetch, ".L2::256B", $lanes $kind $class $element);
            #[cfg(not(target_feature = "sm_80"))]
            vector_load!(load_prefetch, ".L2::128B", $lanes $kind $class $element);
            #[cfg(target_feature = "sm_80")]
            vector_load!(load_l2_evict_last_prefetch, ".L2::cache_hint.L2::256B" by L2 evict_last, $lanes $kind $class $element);
            #[cfg(not(target_feature = "sm_80"))]
            vector_load!(load_l2_evict_last_prefetch, ".L2::128B", $lanes $kind $class $element);
            vector_store!(store_wb, ".wb", $lanes $kind $class $element);
            vector_store!(store_cg, ".cg", $lanes $kind $class $element);
            vector_store!(store_cs, ".cs", $lanes $kind $class $element);
            vector_store!(store_wt, ".wt", $lanes $kind $class $element);
            vector_store!(store_no_allocate, ".L1::no_allocate", $lanes $kind $class $element);
            vector_store!(store_evict_first, ".L1::evict_first", $lanes $kind $class $element);
            vector_store!(store_evict_last, ".L1::evict_last", $lanes $kind $class $element);
            #[cfg(target_feature = "sm_80")]
            vector_store!(store_l2_evict_last, ".L2::cache_hint" by L2 evict_last, $lanes $kind $class $element);
            #[cfg(not(target_feature = "sm_80"))]
            vector_store!(store_l2_evict_last, ".wb", $lanes $kind $class $element);
        }
    )*};
}

vectors! {
    f32x2: pair "f32" reg32 f32;
    f32x4: quad "f32" reg32 f32;
    f64x2: pair "f64" reg64 f64;
    u32x2: pair "u32" reg32 u32;
    u32x4: quad "u32" reg32 u32;
    i32x2: pair "s32" reg32 i32;
    i32x4: quad "s32" reg32 i32;
    u64x2: pair "u64" reg64 u64;
    i64x2: pair "s64" reg64 i64;
}
