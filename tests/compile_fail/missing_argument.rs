//! One argument too few. `tests/compile_fail.rs` expects this message.

//~ these arguments do not fit the kernel

use host::device::{Buffer, Device, LaunchConfig};

fn launch(device: &Device, input: &Buffer<f32>, output: &mut Buffer<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (input, output, 32, 32, 32));
}

fn main() {
    let _ = launch;
}
