//! What the sanitizer knows of operations that run beside the threads: copies and products under
//! way (`cp.async`, bulk copies, `wgmma`), what the async proxy sees, and tensor maps.

pub(super) mod copies;
mod maps;
pub(super) mod proxies;
pub(super) mod underway;
