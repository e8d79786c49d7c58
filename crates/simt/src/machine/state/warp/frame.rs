//! A frame: a function that a warp executes, and where its registers and local memory are.

use super::split::Split;
use crate::lanes::Base;

/// A function being executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub function: u32,
    pub base: Base,
    /// Where its local memory starts.
    pub local: u64,
    /// Where its variables end and `alloca` starts.
    pub(super) local_end: u64,
    /// Where free local memory started before this frame was created.
    pub(super) local_before: u64,
    /// Where its tracked registers start.
    pub tracked: usize,
    /// The calling split, at the call; `None` for the kernel.
    pub(super) caller: Option<Split>,
    pub(super) live: bool,
}
