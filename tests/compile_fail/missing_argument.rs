//! One argument too few. `tests/compile_fail.rs` expects this message.

use device::{Device, LaunchConfig, Matrix};

//~ these arguments do not fit the kernel

fn launch(device: &Device, input: &Matrix<f32>, _: &mut Matrix<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (input,));
}

fn main() {
    let _ = launch;
}
