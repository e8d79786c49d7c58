//! The C boundary, the only part with `unsafe` code: statuses, the macro that declares functions of
//! the API, and the caller's pointers. It knows nothing of the driver's state.
//!
//! | file | contents |
//! | --- | --- |
//! | [`status`] | what functions return |
//! | [`call`] | the macro that declares a function, and what each call goes through |
//! | [`fail`] | calls that are to fail |
//! | [`pointers`] | results and structures of the caller's |
//! | [`host_memory`] | memory of the host that the device can reach, too |
//! | [`images`] | what a module is loaded from |
//! | [`callbacks`] | functions of the host |
//! | [`real_nvrtc`] | NVIDIA's compiler, which a stand-in is around |
//! | [`stand_ins`] | libraries that come with the driver |

pub mod call;
pub mod callbacks;
pub mod fail;
pub mod host_memory;
pub mod images;
pub mod pointers;
pub mod real_nvrtc;
pub mod stand_ins;
pub mod status;

pub use call::{Entry, enter, say, show, traces};
pub(crate) use call::{driver, functions, jit_linker};
pub use pointers::{In, Out, Text};
pub use status::{Done, STATUSES, Status};
