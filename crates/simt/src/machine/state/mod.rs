//! What a launch, a block and a warp are made of. Nothing here executes an instruction.

pub(crate) mod barrier;
pub(crate) mod launched;
pub(crate) mod local;
pub(crate) mod warp;
