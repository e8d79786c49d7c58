//! Loads and stores with each cache operator and eviction priority, on each type.

use cuda_std::vector::{f32x2, f32x4, f64x2, i32x2, i32x4, i64x2, u32x2, u32x4, u64x2};
#[gpu_only]
use cuda_std::{
    address_space, bulk, dependent_launch, mem, pipeline, shared::SharedAddress, shared::SharedCell, thread,
};
use cuda_std::{gpu_only, kernel};

/// Adds up twelve loads of one float, each with another operator or priority, and stores the sum in
/// eight ways.
///
/// # Safety
/// `input` has an element for each thread, `output` eight.
#[kernel]
pub unsafe fn memory_operators(input: *const f32, output: *mut f32) {
    let i = thread::index_1d() as usize;
    let input = input.add(i);
    let output = output.add(8 * i);
    let sum = mem::load_ca(input) // ptx: ld.global.ca.f32
        + mem::load_cg(input) // ptx: ld.global.cg.f32
        + mem::load_cs(input) // ptx: ld.global.cs.f32
        + mem::load_lu(input) // ptx: ld.global.lu.f32
        + mem::load_cv(input) // ptx: ld.global.cv.f32
        + mem::load_nc(input) // ptx: ld.global.nc.f32
        + mem::load_nc_no_allocate(input) // ptx: ld.global.nc.L1::no_allocate.f32
        + mem::load_evict_first(input) // ptx: ld.global.L1::evict_first.f32
        + mem::load_evict_last(input) // ptx: ld.global.L1::evict_last.f32
        + mem::load_l2_evict_first(input) // ptx: ld.global.cg
        + mem::load_l2_evict_last(input) // ptx: ld.global.cg
        + mem::load_prefetch(input) // ptx: ld.global.L2::
        + mem::load_l2_evict_last_prefetch(input); // ptx: ld.global.L2::
    mem::store_wb(output, sum); // ptx: st.global.wb.f32
    mem::store_cg(output.add(1), sum); // ptx: st.global.cg.f32
    mem::store_cs(output.add(2), sum); // ptx: st.global.cs.f32
    mem::store_wt(output.add(3), sum); // ptx: st.global.wt.f32
    mem::store_no_allocate(output.add(4), sum); // ptx: st.global.L1::no_allocate.f32
    mem::store_evict_first(output.add(5), sum); // ptx: st.global.L1::evict_first.f32
    mem::store_evict_last(output.add(6), sum); // ptx: st.global.L1::evict_last.f32
    mem::store_l2_evict_last(output.add(7), sum); // ptx: st.global.
}

/// A kernel that copies an element of its type with every pair of operators, one after the other.
macro_rules! copies {
    ($($(#[$documentation:meta])* $name:ident: $ty:ty;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        /// `input` has an element for each thread, `output` twelve.
        #[kernel]
        pub unsafe fn $name(input: *const $ty, output: *mut $ty) {
            let i = thread::index_1d() as usize;
            let input = input.add(i);
            let output = output.add(12 * i);
            mem::store_wb(output, mem::load_ca(input));
            mem::store_cg(output.add(1), mem::load_cg(input));
            mem::store_cs(output.add(2), mem::load_cs(input));
            mem::store_wt(output.add(3), mem::load_lu(input));
            mem::store_wb(output.add(4), mem::load_cv(input));
            mem::store_wb(output.add(5), mem::load_nc(input));
            mem::store_no_allocate(output.add(6), mem::load_nc_no_allocate(input));
            mem::store_evict_first(output.add(7), mem::load_evict_first(input));
            mem::store_evict_last(output.add(8), mem::load_evict_last(input));
            mem::store_wb(output.add(9), mem::load_prefetch(input));
            mem::store_l2_evict_last(output.add(10), mem::load_l2_evict_last(input));
            mem::store_l2_evict_last(output.add(11), mem::load_l2_evict_last_prefetch(input));
        }
    )*};
}

copies! {
    /// Bytes.
    memory_u8: u8;
    /// Signed bytes.
    memory_i8: i8;
    /// Half words.
    memory_u16: u16;
    /// Signed half words.
    memory_i16: i16;
    /// Words.
    memory_u32: u32;
    /// Signed words.
    memory_i32: i32;
    /// Double words.
    memory_u64: u64;
    /// Signed double words.
    memory_i64: i64;
    /// Doubles.
    memory_f64: f64;
    /// Two floats.
    memory_f32x2: f32x2;
    /// Four floats.
    memory_f32x4: f32x4;
    /// Two doubles.
    memory_f64x2: f64x2;
    /// Two words.
    memory_u32x2: u32x2;
    /// Four words.
    memory_u32x4: u32x4;
    /// Two signed words.
    memory_i32x2: i32x2;
    /// Four signed words.
    memory_i32x4: i32x4;
    /// Two double words.
    memory_u64x2: u64x2;
    /// Two signed double words.
    memory_i64x2: i64x2;
}

/// Copies to shared memory of each size, unconditional and conditional.
///
/// # Safety
/// One block of 32 threads. `input` has 32 words of 16 bytes, `output` 128; `inside` is at most 32.
#[kernel(launch_bounds(32))]
pub unsafe fn memory_pipeline(input: *const f32x4, output: *mut f32x4, inside: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32x4; 128]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32x4>();
    let t = thread::thread_idx_x();
    let (from, to) = (input.add(t as usize), SharedAddress::of(stage).add(t));
    let floats = to.cast::<f32>();
    pipeline::copy(floats, from.cast::<f32>());
    pipeline::copy_or_zero(floats.add(1), from.cast::<f32>().add(1), t < inside);
    pipeline::copy(to.cast::<f32x2>().add(1), from.cast::<f32x2>().add(1));
    pipeline::commit();
    let pairs = to.add(32).cast::<f32x2>();
    pipeline::copy_or_zero(pairs, from.cast::<f32x2>(), t < inside);
    pipeline::copy_or_zero(pairs.add(1), from.cast::<f32x2>().add(1), t >= inside);
    pipeline::copy(to.add(64), from);
    pipeline::fetch(to.add(96), (t < inside).then(|| &*from));
    pipeline::commit();
    pipeline::wait_prior::<1>();
    thread::sync_threads();
    *output.add(31 - t as usize) = *stage.add(31 - t as usize);
    pipeline::wait_prior::<0>();
    thread::sync_threads();
    for part in 1..4 {
        let place = 32 * part + 31 - t as usize;
        *output.add(place) = *stage.add(place);
    }
}

/// Reverses words that the copy engine brings; on a GPU without one it stops the launch.
///
/// # Safety
/// One block of 32 threads. `input` and `output` have 32 words of 16 bytes.
#[kernel(launch_bounds(32))]
pub unsafe fn memory_bulk(input: *const f32x4, output: *mut f32x4) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32x4; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static ARRIVED: SharedCell<bulk::Barrier> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32x4>();
    let (t, arrived) = (thread::thread_idx_x(), SharedAddress::of(ARRIVED.as_mut_ptr()));
    if t == 0 {
        bulk::init(arrived, 1);
        bulk::show_writes();
    }
    thread::sync_threads();
    if t == 0 {
        bulk::arrive_and_expect(arrived, 512);
        bulk::copy(SharedAddress::of(stage), input, 32, arrived);
    }
    while !bulk::is_complete(arrived, 0) {}
    *output.add(t as usize) = *stage.add(31 - t as usize);
}

/// Replaces each number by three times itself and one more: launches that follow one another only
/// agree with this if each waits for the one before.
///
/// # Safety
/// `data` has a number for each thread, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn memory_dependent_launch(data: *mut u32) {
    let i = thread::wide_index_1d();
    let number = data.add(i);
    let from = if i.is_multiple_of(2) {
        dependent_launch::wait();
        number.cast_const()
    } else {
        dependent_launch::wait_with(number)
    };
    dependent_launch::launch_dependents();
    *number = mem::load_cg(from).wrapping_mul(3).wrapping_add(1);
}
