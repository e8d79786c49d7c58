//! A `libcuda.so.1` whose driver API executes on the simulator: programs that use CUDA's driver API
//! run unmodified on a machine without a GPU, with the simulator's counters, checks and predicted
//! times.
//!
//! ```console
//! $ cargo build -p coalesce
//! $ target/debug/coalesce run -- some-cuda-program
//! ```
//!
//! # How it works
//!
//! One process has one [`simt::Memory`], which its devices share, and one lock over everything
//! (`state::State`). A launch runs to its end before the call returns, so streams are ordered by
//! themselves; each has a clock, by predicted times, which events note. Handles are numbers of a
//! table, never addresses: a stale one is an error, not a crash.
//!
//! Memory that host and device share (pinned, managed) is mapped at the simulator's own address, so
//! a pointer is the same for both, and lent to the simulator, so that nothing is copied. Registered
//! memory, and memory that processes share, is lent too.
//!
//! `boundary` is the C boundary, the only part with unsafe code. `state` holds what exists,
//! `objects` says what has a handle, `settings` what the environment sets. `image` finds PTX in
//! what modules are loaded from, `join` makes one text of several, and `places` says where an
//! address is. `nvrtc` and `jit_link` stand in for libraries. `module`, `link`, `jit_options`,
//! `launch`, `memory`, `pools`, `mapped`, `transfers`, `ipc`, `shared_event`, `device`, `context`,
//! `stream`, `stream_values`, `arrays`, `texture`, `texture_references` and `tensor_map` are the
//! API by subject; `requests` and `sampling` have what callers describe. `work` is what streams and
//! graphs do, which `queue` runs with `kernel`, `copies` and `allocations`; `graph`, `nodes`,
//! `graph_memory`, `executable`, `capture` and `user_objects` are the API of graphs. `entry` hands
//! out functions by name, `export` has tables that NVIDIA's libraries ask for, and `unsupported`
//! names functions that do nothing but say so. `report` shows faults, `orders` runs launches in
//! other orders, `record` keeps what `coalesce run` reports, `recording` what a process asks for
//! itself, and `host` what host code is judged by, with `noted`.
//!
//! # Environment
//!
//! | variable | meaning |
//! | --- | --- |
//! | `COALESCE_DEVICE` | the GPU whose properties are shown and whose times are predicted: `hopper` |
//! | `COALESCE_DEVICES` | how many devices there are, or a list of GPUs, one for each: `hopper,ampere` |
//! | `COALESCE_CUDA` | the version of CUDA that the driver says it is for: `12.8` |
//! | `COALESCE_NAME` | the name of each device, for programs that go by it |
//! | `COALESCE_MODEL` | `1`: launches run on that GPU's model, with its caches |
//! | `COALESCE_CHECK` | what the sanitizer looks for: `all`, `memory,race`, ... |
//! | `COALESCE_FAULT` | `stop`: the launch fails; `continue`: show accesses out of bounds and skip them; `defer`: the next synchronisation fails |
//! | `COALESCE_PREDICT` | `always`: predict each launch's time, not only once timing events exist; `never` |
//! | `COALESCE_CACHES` | `cold`: predict as if the level-2 cache were flushed before each launch; `warm`: as if it held the launch's data, if that fits |
//! | `COALESCE_ONLY_KERNEL` | the only kernel to check, predict, model and record, by its name in the source or in the PTX |
//! | `COALESCE_SCHEDULES`, `COALESCE_SEED` | run each launch in so many other orders, drawn from this seed, and compare the results |
//! | `COALESCE_SCHEDULE` | run each launch in this order, too, and compare |
//! | `COALESCE_SOURCES` | folders with the sources of other machines, separated by colons |
//! | `COALESCE_BESIDE` | folders whose sources are shown in messages, as those of the current folder |
//! | `COALESCE_STAND_INS` | a folder with the libraries that come with the driver (`boundary/stand_ins.rs`) |
//! | `COALESCE_RECORD` | a folder for the records that `coalesce run` reads |
//! | `COALESCE_GIVEN` | `1`: a recording that a process asks for also counts launches, copies and fills of streams |
//! | `COALESCE_HOST_RECORD` | a file for what the host code did (`host.rs`); copies then take predicted time |
//! | `COALESCE_REQUESTS` | `1`: records have the first requests of each instruction, for pictures |
//! | `COALESCE_MEMORY` | the memory of each device in bytes |
//! | `COALESCE_STEPS` | the most warp instructions of a launch |
//! | `COALESCE_FAIL` | `FUNCTION:STATUS`: calls of this function fail, `FUNCTION:STATUS:N`: the N-th alone (`boundary/fail.rs`) |
//! | `COALESCE_TRACE` | `1`: each call and its status, and what is launched, on the standard error |
//! | `COALESCE_DUMP` | a folder to which each module's PTX is written |
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]
// The API's names and lists of arguments.
#![allow(non_snake_case, clippy::too_many_arguments)]

mod allocations;
mod arrays;
#[allow(unsafe_code)]
mod boundary;
mod capture;
mod context;
mod copies;
mod device;
mod entry;
mod executable;
mod export;
mod graph;
mod graph_memory;
pub mod host;
pub mod image;
pub mod installed;
mod ipc;
mod jit_link;
mod jit_options;
mod join;
mod kernel;
mod launch;
mod link;
mod mapped;
mod memory;
mod module;
mod nodes;
mod noted;
mod nvrtc;
mod objects;
mod orders;
mod places;
mod pools;
mod queue;
pub mod record;
mod recording;
mod report;
mod requests;
mod running;
mod sampling;
mod settings;
mod shared_event;
mod state;
mod stream;
mod stream_values;
mod tensor_map;
mod texture;
mod texture_references;
mod transfers;
mod unsupported;
mod user_objects;
mod work;

pub use record::Shape;
pub use settings::{cuda_of, gpus_of};

pub use boundary::real_nvrtc::NAMES as COMPILER_NAMES;
pub use boundary::stand_ins::{COMPILERS, JIT_LINKERS};
