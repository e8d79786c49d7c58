//! The driver through its C boundary: the shared library, loaded as a program would load it.
//!
//! Each test has an instance of its own, with its own device: the library is copied before it is
//! loaded. What depends on the environment runs in a process of its own, see `support::in_child`.
#![cfg(target_os = "linux")]
// The names and arguments of the API, and its numbers in the place of pointers.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::manual_dangling_ptr)]

mod captures;
mod contexts;
mod copies;
mod devices;
mod faults;
mod forks;
mod graph_memory;
mod graphs;
mod host_records;
mod ipc;
mod launches;
mod mapped;
mod memory;
mod modules;
mod names;
mod pools;
mod records;
mod stream_values;
mod streams;
mod support;
mod texture_references;
mod textures;
mod threads;
