//! What takes a promise, without `unsafe`. `tests/compile_fail.rs` expects these messages.

//~ call to unsafe function `Device::launch_unchecked` is unsafe
//~ call to unsafe function `Device::launch_untyped` is unsafe
//~ variable_bytes` is unsafe
//~ Symbol::<T>::new` is unsafe
//~ the trait bound `Forged: device::on_device::Owned` is not satisfied

use cuda_std::launch::{Arguments, Symbol};
use device::{Buffer, Device, LaunchConfig, OnDevice};
use kernels::access::{Pattern, access_store};

fn launch(device: &Device, output: &mut Buffer<u32>) {
    let config = LaunchConfig::linear(32, 32);
    let _ = device.launch_unchecked(&access_store, &config, (output, 32_u32, 1_u32, Pattern::ALIGNED));
    let _ = device.launch_untyped("access_store", &config, &Arguments::new());
}

/// The kernels' statics by their names.
fn set(device: &Device) {
    let _ = device.variable_bytes("kernels__LOCK", 4);
    let _ = device.variable(&Symbol::<u32>::new("kernels__LOCK"));
}

/// Memory at an address.
struct Forged(u64);

impl OnDevice for Forged {
    fn address(&self) -> u64 {
        self.0
    }

    fn bytes(&self) -> u64 {
        u64::MAX
    }
}

fn main() {
    let _ = (launch, set);
}
