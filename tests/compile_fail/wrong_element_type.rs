//! A buffer of f64 where the kernel reads f32. `tests/compile_fail.rs` expects this message.

use device::{Device, LaunchConfig, Matrix};

//~ the kernel wants `cuda_std::launch::kernel::Matrix<f32>` here

fn launch(device: &Device, input: &Matrix<f64>, output: &mut Matrix<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (input, output));
}

fn main() {
    let _ = launch;
}
