//! Hopper.

pub(crate) mod asynchronous;
pub(crate) mod bulk;
pub(crate) mod cluster;
pub(crate) mod copies;
pub(crate) mod copy;
pub(crate) mod descriptor;
pub(crate) mod held;
pub(crate) mod inspection;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod mbarrier_access;
pub(crate) mod multiply;
pub(crate) mod phases;
pub(crate) mod products;
pub(crate) mod telling;
pub(crate) mod tensor;
pub(crate) mod transit;
pub(crate) mod underway;
pub(crate) mod warpgroup;
