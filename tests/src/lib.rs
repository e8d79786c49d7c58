//! Shared by the tests of this package: the devices of this machine, and random data.
//!
//! The same tests run on every device: always on the simulator, and on the first GPU if there is one. They are in
//! `tests/`. The tests of the program `host` are in `program/` and belong to the package `host`.

use device::random::Random;
use device::{Device, DeviceChoice, Options};

/// The devices of this machine: the simulator, and the first GPU if there is one.
///
/// `COALESCE_PTX` names PTX of the kernels to test instead of the built-in one.
///
/// # Panics
///
/// When the simulator cannot be opened, or there is a GPU that does not work.
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
