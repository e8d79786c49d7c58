//! What a course on memory does not need: copies under way (`cp.async`, bulk copies, `wgmma`), what the async proxy sees,
//! and tensor maps.

pub(super) mod acquisitions;
pub(super) mod copies;
pub(super) mod maps;
pub(super) mod proxies;
pub(super) mod underway;
