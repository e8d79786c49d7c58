//! A buffer borrowed for reading where the kernel writes. `tests/compile_fail.rs` expects these messages.

use device::{Device, LaunchConfig, Matrix};

//~ the kernel wants `cuda_std::launch::kernel::DisjointMatrix<f32>` here
//~ buffers are passed by reference: `&buffer` to read, `&mut buffer` to write

fn launch(device: &Device, input: &Matrix<f32>, output: &Matrix<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (input, output));
}

fn main() {
    let _ = launch;
}
