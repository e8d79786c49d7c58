//! A float where the kernel takes a count. `tests/compile_fail.rs` expects this message.

use device::{Buffer, Device, LaunchConfig};

//~ the kernel wants `usize` here

fn launch(device: &Device, a: &Buffer<f32>, b: &Buffer<f32>, c: &mut Buffer<f32>) {
    let config = LaunchConfig::linear(32, 32);
    let _ = device.launch(&kernels::offset::offset_read, &config, (a, b, c, 1.5));
}

fn main() {
    let _ = launch;
}
