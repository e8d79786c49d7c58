//! One buffer as input and output at the same time. `tests/compile_fail.rs` expects the compiler to reject it.

//~ E0505

use host::device::{Buffer, Device, LaunchConfig};

fn launch(device: &Device, matrix: &mut Buffer<f32>) {
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let _ = device.launch(&kernels::transpose::transpose_padded, &config, (&*matrix, matrix, 32, 32, 32, 32));
}

fn main() {
    let _ = launch;
}
