//! Which kernel is running, and its end before its time: a launch holds the state for as long as it
//! runs, for ever perhaps, and whoever destroys its context does not wait for that.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::boundary::{Done, Status};
use crate::objects::Handle;
use crate::state::{State, current};

/// What is destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destroyed {
    /// A context that is not primary.
    Context(Handle),
    /// The primary context of a device.
    Primary(c_int),
}

struct Running {
    /// Where the last launch is, or was.
    last: Option<Destroyed>,
    /// What is being destroyed now.
    destroyed: Vec<Destroyed>,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { last: None, destroyed: Vec::new() });

/// Ends the launch.
static CANCEL: AtomicBool = AtomicBool::new(false);

fn lock() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this is being destroyed.
pub fn destroys(place: Destroyed) -> bool {
    lock().destroyed.contains(&place)
}

/// A launch begins in the current context. Returns what ends it early.
pub fn begin(state: &State) -> Done<&'static AtomicBool> {
    let context = current()?;
    let device = state.device();
    let is_primary = state.primaries.iter().any(|primary| primary.context == Some(context));
    let place = if is_primary { Destroyed::Primary(device) } else { Destroyed::Context(context) };
    let mut running = lock();
    if running.destroyed.contains(&place) {
        return Err(Status::CONTEXT_IS_DESTROYED);
    }
    running.last = Some(place);
    CANCEL.store(false, Ordering::Relaxed);
    Ok(&CANCEL)
}

/// While this is held, no launch runs in what is destroyed. To be had before the state.
pub struct Destroying(Destroyed);

impl Destroying {
    /// Ends a launch that is running there.
    pub fn new(place: Destroyed) -> Self {
        let mut running = lock();
        running.destroyed.push(place);
        if running.last == Some(place) {
            CANCEL.store(true, Ordering::Relaxed);
        }
        Self(place)
    }
}

impl Drop for Destroying {
    fn drop(&mut self) {
        let mut running = lock();
        if let Some(at) = running.destroyed.iter().position(|place| *place == self.0) {
            running.destroyed.swap_remove(at);
        }
    }
}
