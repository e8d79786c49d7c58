//! (under construction)
pub fn include_cuda() {}
