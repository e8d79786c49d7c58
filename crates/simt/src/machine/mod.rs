//! The machine that runs decoded kernels.
//!
//! [`launched`] spreads the blocks of a grid over the host's threads; [`together`] runs them on one, in order or side by side;
//! [`block`] gives the warps of a block their turns;
//! [`warp`] keeps the paths of a warp's lanes; [`step`] executes instructions. Where the launch has a model, [`resident`] runs the
//! blocks side by side on its multiprocessors instead, and [`modelled`] passes each access to them; [`rehearsal`] is for the checks of
//! such a launch.

mod access;
mod across;
mod asynchronous;
mod atomic;
mod barrier;
mod block;
mod bulk;
mod cluster;
mod copies;
mod descriptor;
mod heap;
mod held;
mod inspect;
mod launched;
mod load;
mod local;
mod matrix;
mod mbarrier;
mod modelled;
mod multiply;
mod observe;
mod patience;
mod products;
mod rehearsal;
mod resident;
mod slot;
mod step;
mod store;
mod surface;
mod system;
mod telling;
mod tensor;
mod texture;
mod together;
mod transit;
mod waiting;
mod warp;
mod warpgroup;
mod written;

pub(crate) use atomic::has_atomic;
pub(crate) use launched::Launched;
pub(crate) use mbarrier::pending_count;
pub(crate) use rehearsal::checked_on_model;
pub(crate) use resident::Placement;
pub(crate) use together::{MOST_BLOCKS, MOST_SHARED, MOST_THREADS, most_blocks};
pub(crate) use warp::LOCAL_LIMIT;

use ptx::Space;

use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES};

/// Generic address of the first byte of a kernel's parameters.
pub(crate) const PARAMETER_WINDOW: u64 = 0x0300_0000_0000;

/// The state space that a generic address is in.
#[inline(always)]
pub(crate) fn space_of(address: u64) -> Space {
    let within = |window: u64| address.wrapping_sub(window) < WINDOW_BYTES;
    if within(SHARED_WINDOW) {
        Space::Shared
    } else if within(LOCAL_WINDOW) {
        Space::Local
    } else if within(PARAMETER_WINDOW) {
        Space::Parameter
    } else {
        Space::Global
    }
}
