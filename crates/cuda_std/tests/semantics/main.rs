//! Every device function does what it says: the kernels of `tests/device_api` run on the simulator, and give what the
//! documentation promises.

mod harness;
mod math;
mod memory;
mod threads;
