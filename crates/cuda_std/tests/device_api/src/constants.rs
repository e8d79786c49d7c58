//! Constant memory: read whole, with one index for all lanes, and with an index per lane.

use cuda_std::{DisjointSlice, address_space, gpu_only, kernel};
#[gpu_only]
use cuda_std::{constant::ConstantCell, thread};

/// The coefficients of a polynomial, constant term first; the host may set others.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static DEVICE_API_COEFFICIENTS: ConstantCell<[f32; 4]> = ConstantCell::new([1.0, 0.5, 0.25, 0.125]);

/// A counter in global memory, which keeps its value from launch to launch.
#[address_space(global)]
#[unsafe(no_mangle)]
pub static DEVICE_API_COUNTER: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(5);

/// Evaluates the polynomial at each element.
///
/// # Safety
/// `data` has an element for each thread.
#[kernel]
pub unsafe fn constant_polynomial(data: *mut f32) {
    let i = thread::index_1d() as usize;
    let x = *data.add(i);
    let [a, b, c, d] = DEVICE_API_COEFFICIENTS.get(); // ptx: ld.const
    *data.add(i) = ((d * x + c) * x + b) * x + a;
}

/// Looks up a coefficient for each lane.
#[kernel(linear)]
pub fn constant_lookup(mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(output) = output.get_mut(i) {
        *output = DEVICE_API_COEFFICIENTS[i.get() % 4]; // ptx: ld.const
    }
}

/// Draws a ticket from a counter in the module's own memory.
///
/// # Safety
/// `output` has an element for each thread.
#[kernel]
pub unsafe fn global_static(output: *mut u32) {
    let ticket = DEVICE_API_COUNTER.fetch_add(1, core::sync::atomic::Ordering::Relaxed); // ptx: atom.global.add.u32
    *output.add(thread::index_1d() as usize) = ticket;
}
