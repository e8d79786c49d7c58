//! The tests over the whole house, as one program: each further one would be linked with the library
//! of `host` on its own, for seconds each. Names of modules choose among them:
//! `cargo test -p coalesce-tests --test all ptx_files`. `agreement` is a program of its own, since
//! the crate's name is a part of its types.

mod compile_fail;
mod counters;
mod device_library;
mod labs;
mod phases;
mod ptx_files;
mod safe_kernels;
mod warpgroup;
