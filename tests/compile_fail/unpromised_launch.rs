//! Launches that take a promise, without `unsafe`. `tests/compile_fail.rs` expects these messages.

//~ call to unsafe function `Device::launch_unchecked` is unsafe
//~ call to unsafe function `Device::launch_untyped` is unsafe

use cuda_std::launch::Arguments;
use device::{Buffer, Device, LaunchConfig};
use kernels::access::{Pattern, access_store};

fn launch(device: &Device, output: &mut Buffer<u32>) {
    let config = LaunchConfig::linear(32, 32);
    let _ = device.launch_unchecked(&access_store, &config, (output, 32_u32, 1_u32, Pattern::ALIGNED));
    let _ = device.launch_untyped("access_store", &config, &Arguments::new());
}

fn main() {
    let _ = launch;
}
