//! Schedule.

pub(crate) mod patience;
pub(crate) mod rehearsal;
pub(crate) mod resident;
pub(crate) mod run;
pub(crate) mod slot;
pub(crate) mod together;
pub(crate) mod turns;
pub(crate) mod waiting;
