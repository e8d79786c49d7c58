//! Every device function does what its documentation says: the kernels of
//! `crates/cuda_std/tests/device_api` run on every device of this machine.

mod disjoint;
mod harness;
mod hygiene;
mod math;
mod memory;
mod phases;
mod threads;
