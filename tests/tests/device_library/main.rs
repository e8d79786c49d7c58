//! Every device function does what it says: the kernels of `crates/cuda_std/tests/device_api` run on each device there is, and
//! give what the documentation promises.

mod harness;
mod math;
mod memory;
mod threads;
