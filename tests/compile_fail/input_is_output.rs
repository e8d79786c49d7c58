//! One buffer as input and output at the same time. `tests/compile_fail.rs` expects the compiler to reject it.

use device::{Device, LaunchConfig, Matrix};

//~ E0505

fn launch(device: &Device, matrix: &mut Matrix<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (&*matrix, matrix));
}

fn main() {
    let _ = launch;
}
