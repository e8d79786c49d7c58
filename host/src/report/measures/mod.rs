//! The measures that labs share: the columns of every table, in order, and those that sentences and
//! grids name. What a measure means stands in `explanations`.

mod checks;
mod counted;
mod model;
mod times;

pub use checks::{CHECKS, MAX_ERROR, NAME};
pub use counted::{
    A_LOAD, A_LOAD_IN_UNITS, A_STORE, A_STORE_IN_UNITS, ACTIVE_LANES, ALL_REQUESTS, ATOMICS, BANK_CONFLICTS,
    CONSTANT_ADDRESSES, CONSTANT_REQUESTS, CONSTANTS, INSTRUCTIONS, LOAD_REQUESTS, LOAD_TOTALS, LOADED_BYTES_USED,
    LOADS, LOCAL_MEMORY, REQUESTS, SHARED_LOAD_CONFLICTS, SHARED_LOAD_WAVEFRONTS, SHARED_LOADS, SHARED_STORES, STORES,
    TEXTURES,
};
pub use model::{BEYOND_L1, L1_HITS, MODEL, OCCUPANCY, READ_ONLY_HITS};
pub use times::{
    COLD_AND_WARM, GBPS, GFLOPS, ONE_TIME, PERCENT_OF_COPY, PREDICTED, PREDICTED_GBPS, RATES, SPEEDUP,
    SPEEDUP_ON_MODEL, TIME,
};
