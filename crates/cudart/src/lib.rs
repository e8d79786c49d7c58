//! CUDA's runtime library (cudart) over the driver API: documented functions, and those that the
//! code of nvcc calls to register kernels and variables. Programs that were compiled with
//! `nvcc -cudart shared` run with it on the simulator's driver; `coalesce run` puts it in the place
//! of NVIDIA's.
//!
//! It knows no GPU and no simulator: all work is done by the `libcuda.so.1` that the process finds.
//! Errors of the two libraries have the same numbers, and so do attributes of devices and
//! functions.
//!
//! | file | contents |
//! | --- | --- |
//! | `call` | the macro that declares functions, and what each call goes through |
//! | `driver` | the driver's functions |
//! | `error` | errors, their names, and the last one of each thread |
//! | `device` | devices and their contexts; `properties` has the list of a device's properties |
//! | `registration` | what nvcc's code registers: fat binaries, kernels, variables |
//! | `launch` | launches, and functions' attributes |
//! | `memory` | allocations and copies; `planes` has copies of rows, boxes and arrays |
//! | `stream` | streams, events, captures |
//! | `texture` | texture and surface objects |
//! | `types` | structures of the driver's API |
#![cfg(target_os = "linux")]
// The API's names and lists of arguments.
#![allow(non_snake_case, clippy::too_many_arguments)]

mod call;
mod device;
mod driver;
mod error;
mod launch;
mod memory;
mod planes;
mod properties;
mod registration;
mod stream;
mod texture;
mod types;
