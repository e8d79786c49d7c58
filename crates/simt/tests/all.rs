//! The tests of the simulator from outside, as one program: each further one would be linked on its
//! own, for seconds each. Names of modules choose among them:
//! `cargo test -p coalesce-simt --test all filetest`.

mod caches;
mod decoded;
mod divergent;
mod dry_run;
mod explore;
mod filetest;
mod hardware;
mod launch;
mod mutations;
mod nvcc;
mod orders;
mod priorities;
mod product;
mod requests;
mod tensor;
mod tensor_maps;
mod textures;
mod textures_h200;
mod timing;
mod timing_atomics;
mod timing_compiler;
mod timing_copies;
mod timing_laws;
mod timing_sample;
