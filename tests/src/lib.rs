//! What the tests share: the devices that there are, and data.
//!
//! One text of tests runs on every device: on the simulator always, and on the first GPU where there is one. The tests are
//! in `tests/`; those of the program `host` are in `program/` and belong to the package `host`.

use host::device::{self, Device, DeviceChoice, Options};
use host::random::Random;

/// The devices of this machine: the simulator, and the first GPU if there is one.
///
/// `COALESCE_PTX` names PTX of the kernels to test instead of the built-in one.
///
/// # Panics
///
/// When the simulator cannot be opened, or a GPU is there that does not work.
pub fn devices() -> Vec<Device> {
    let options = Options::from_environment();
    let open = |choice| device::open(choice, &options).unwrap_or_else(|error| panic!("{choice}: {error}"));
    let mut devices = vec![open(DeviceChoice::Simulator)];
    if cust_raw::load().is_ok() {
        devices.push(open(DeviceChoice::Gpu(0)));
    }
    devices
}

/// Random data that is the same everywhere.
pub fn random(length: usize, seed: u64) -> Vec<f32> {
    Random::new(seed).vector(length)
}
