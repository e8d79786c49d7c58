//! The sanitizer's part for Hopper, which the memory course does not need: copies and products under way (`cp.async`, bulk
//! copies, `wgmma`), what the async proxy sees, and tensor maps. The checker and the race detector call it.

pub(super) mod acquisitions;
pub(super) mod copies;
pub(super) mod maps;
pub(super) mod proxies;
pub(super) mod underway;
