//! A buffer of f64 where the kernel reads f32. `tests/compile_fail.rs` expects this message.

//~ the kernel wants `cuda_std::launch::kernel::Slice<f32>` here

use host::device::{Buffer, Device, LaunchConfig};

fn launch(device: &Device, input: &Buffer<f64>, output: &mut Buffer<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (input, output, 32, 32, 32, 32));
}

fn main() {
    let _ = launch;
}
