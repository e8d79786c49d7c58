//! Shared memory: fast memory that the threads of one block share.
//!
//! A static in shared memory is an ordinary Rust type in a [`SharedCell`], in a module or in a
//! function. Each block has its own copy, whose initial value is undefined:
//!
//! ```
//! use cuda_std::{address_space, gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::{shared::SharedCell, thread};
//!
//! #[address_space(shared)]
//! static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
//!
//! /// Transposes a matrix of 32 x 32 floats.
//! ///
//! /// # Safety
//! /// One block of 32 x 32 threads; both matrices have 1024 elements.
//! #[kernel]
//! pub unsafe fn transpose(input: *const f32, output: *mut f32) {
//!     let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
//!     let tile = TILE.as_mut_ptr();
//!     (*tile)[y][x] = *input.add(32 * y + x);
//!     thread::sync_threads();
//!     *output.add(32 * y + x) = (*tile)[x][y];
//! }
//! ```
//!
//! Shared memory has 32 banks, each 4 bytes wide; word `i` is in bank `i % 32`. A warp reads 32
//! banks at once, or one word for all lanes. Lanes that access different words of one bank are
//! served one after another.
//!
//! Data that lanes exchange within a warp is ordered by the warp's barrier,
//! [`sync_warp`](crate::warp::sync_warp). [`load`] and [`store`] are accesses that the compiler
//! leaves as they are; alone they order nothing.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A value in shared memory: for statics with `#[address_space(shared)]`.
///
/// All threads of a block share the cell, so it returns a pointer and not a reference: barriers
/// decide which thread may access what, and when.
///
/// It is aligned to 16 bytes, so that neighbours in an array can be loaded four at a time.
#[repr(C, align(16))]
pub struct SharedCell<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: the cell returns only raw pointers; whoever dereferences them is responsible for the
// order of accesses.
unsafe impl<T> Sync for SharedCell<T> {}

impl<T> SharedCell<T> {
    /// A cell without a value: shared memory holds whatever the previous block left there.
    pub const fn uninit() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// The address of the value. Threads must write an element before any reads it.
    #[inline(always)]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.0.get().cast()
    }
}

/// The types that a shared static may have: those without an initial value, because shared memory
/// has none.
///
/// # Safety
///
/// Any bits are a valid value, and the threads of a block may share a reference to one.
#[diagnostic::on_unimplemented(
    message = "a shared static cannot be a `{Self}`: shared memory has no initial value",
    note = "write `static NAME: SharedCell<..> = SharedCell::uninit();`"
)]
pub unsafe trait SharedStatic {}

// SAFETY: these need no value, and give out raw pointers only.
unsafe impl<T> SharedStatic for SharedCell<T> {}
// SAFETY: the same.
unsafe impl<T> SharedStatic for MaybeUninit<T> {}

/// The dynamic shared memory of the block: as many bytes as the launch requested, aligned to 16.
///
/// Every call returns the same address.
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const {
        assert!(align_of::<T>() <= 16, "dynamic shared memory starts on a multiple of 16 bytes, no more");
    }
    dynamic().cast()
}

/// The dynamic shared memory of the block from byte `offset` on, for several arrays in it.
///
/// # Safety
/// `offset` is within the requested size, and a multiple of `T`'s alignment.
#[inline(always)]
pub unsafe fn dynamic_shared_mem_at<T>(offset: usize) -> *mut T {
    // SAFETY: `offset` is within the memory that the launch gave.
    unsafe { dynamic().add(offset).cast() }
}

#[inline(always)]
fn dynamic() -> *mut u8 {
    unsafe extern "C" {
        // The builder turns this name into the module's array of dynamic shared memory.
        #[link_name = "__coalesce_dynamic_shared"]
        static DYNAMIC: SharedCell<[u8; 0]>;
    }
    // SAFETY: only the address is taken.
    unsafe { DYNAMIC.as_mut_ptr().cast() }
}

/// The address of a `T` in the shared state space: a number of 32 bits (PTX manual, "State
/// Spaces"), which needs one register where a pointer needs two.
pub struct SharedAddress<T> {
    address: u32,
    of: PhantomData<*mut T>,
}

impl<T> Clone for SharedAddress<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedAddress<T> {}

impl<T> SharedAddress<T> {
    /// The address of `pointer`, which must point to shared memory (`cvta.to.shared`).
    #[inline(always)]
    #[allow(unreachable_code, unused_variables)]
    pub fn of(pointer: *const T) -> Self {
        let address: u32;
        // SAFETY: it computes a number from a number.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            core::arch::asm!(
                "{{",
                ".reg .b64 place;",
                "cvta.to.shared.u64 place, {pointer};",
                "cvt.u32.u64 {address}, place;",
                "}}",
                pointer = in(reg64) pointer,
                address = out(reg32) address,
                options(nostack, pure, nomem, preserves_flags)
            );
        }
        #[cfg(not(target_arch = "nvptx64"))]
        unreachable!();
        Self { address, of: PhantomData }
    }

    /// The address of the value `count` values further on.
    #[inline(always)]
    #[must_use]
    pub fn add(self, count: u32) -> Self {
        Self { address: self.address.wrapping_add(count.wrapping_mul(size_of::<T>() as u32)), of: PhantomData }
    }

    /// The same address, for another type.
    #[inline(always)]
    #[must_use]
    pub fn cast<U>(self) -> SharedAddress<U> {
        SharedAddress { address: self.address, of: PhantomData }
    }

    /// The address as a number: bytes from the start of the block's shared memory.
    #[inline(always)]
    pub(crate) fn as_u32(self) -> u32 {
        self.address
    }
}

impl<T, const COLS: usize, const ROWS: usize> SharedAddress<[[T; COLS]; ROWS]> {
    /// The address of an element of a tile. It has to be in the tile: the address is not checked.
    #[inline(always)]
    #[must_use]
    pub fn element(self, row: u32, col: u32) -> SharedAddress<T> {
        self.cast().add(row.wrapping_mul(COLS as u32).wrapping_add(col))
    }
}

/// The size of the block's dynamic shared memory in bytes (`%dynamic_smem_size`).
#[inline(always)]
pub fn dynamic_shared_size() -> u32 {
    crate::intrinsics::dynamic_smem_size()
}

/// Reads a value that another thread may have written meanwhile. The compiler neither removes,
/// repeats nor moves the access (`ld.volatile`).
///
/// # Safety
/// As for [`core::ptr::read_volatile`]; and there is a barrier of the block or warp between another
/// thread's write and this read.
#[inline(always)]
pub unsafe fn load<T: Copy>(address: *const T) -> T {
    // SAFETY: a value is there, and a barrier stands between its write and this read.
    unsafe { address.read_volatile() }
}

/// Writes a value that another thread will read. The compiler neither removes, repeats nor moves
/// the access (`st.volatile`).
///
/// # Safety
/// As for [`core::ptr::write_volatile`]; and there is a barrier of the block or warp between this
/// write and another thread's access.
#[inline(always)]
pub unsafe fn store<T: Copy>(address: *mut T, value: T) {
    // SAFETY: a value may be there, and a barrier stands between this write and other accesses.
    unsafe { address.write_volatile(value) }
}
