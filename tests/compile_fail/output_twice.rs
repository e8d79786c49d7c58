//! One output for two parameters. `tests/compile_fail.rs` expects the compiler to reject it.

//~ E0499

use cuda_std::launch::{DisjointSlice, Kernel, LaunchShape, SafeKernel};
use cuda_std::signature::Signature;
use device::{Buffer, Device, LaunchConfig};

// SAFETY: no device has such a kernel, so it is never launched.
static SWAP: SafeKernel<(DisjointSlice<f32>, DisjointSlice<f32>)> = unsafe {
    const NONE: &Signature = &Signature::new("", &[]);
    SafeKernel::new(Kernel::new("swap", LaunchShape { block: None, linear: true, bounds: None }, NONE))
};

fn launch(device: &Device, output: &mut Buffer<f32>) {
    let _ = device.launch(&SWAP, &LaunchConfig::linear(64, 64), (&mut *output, &mut *output));
}

fn main() {
    let _ = launch;
}
