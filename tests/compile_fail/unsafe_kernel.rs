//! A kernel that is an `unsafe fn`, launched as if it were safe. `tests/compile_fail.rs` expects this message.

//~ expected `&SafeKernel<

use device::{Buffer, Device, LaunchConfig};
use kernels::access::{Pattern, access_store};

fn launch(device: &Device, output: &mut Buffer<u32>) {
    let config = LaunchConfig::linear(32, 32);
    let _ = device.launch(&access_store, &config, (output, 32_u32, 1_u32, Pattern::ALIGNED));
}

fn main() {
    let _ = launch;
}
