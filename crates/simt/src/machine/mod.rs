//! The machine that runs decoded kernels.
//!
//! `state::launched` spreads the blocks of a grid over the host's threads; `schedule::together` runs them on one, in order or side by side;
//! `schedule::turns` gives the warps of a block their turns;
//! `state::warp` keeps the paths of a warp's lanes; `step` executes instructions. Where the launch has a model, `schedule::resident` runs the
//! blocks side by side on its multiprocessors instead, and `modelled` passes each access to them; `schedule::rehearsal` is for the checks of
//! such a launch.

mod access;
mod across;
mod atomic;
mod barriers;
mod calls;
mod heap;
mod hopper;
mod inspect;
mod load;
mod meeting;
mod modelled;
mod observe;
mod schedule;
mod state;
mod step;
mod store;
mod surface;
mod system;
mod texture;
mod written;

pub(crate) use atomic::has_atomic;
pub(crate) use hopper::mbarrier::pending_count;
pub(crate) use schedule::rehearsal::checked_on_model;
pub(crate) use schedule::resident::Placement;
pub(crate) use state::LOCAL_LIMIT;
pub(crate) use state::Launched;
pub(crate) use state::{MOST_BLOCKS, MOST_SHARED, MOST_THREADS, most_blocks};
