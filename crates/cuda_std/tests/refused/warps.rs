//! Operations of a warp with any mask.

use cuda_std::warp::{WarpMatchValue, WarpReduceValue, WarpReductionOp, warp_shuffle_xor};

pub fn matches(mask: u32) {
    5_u32.match_any(mask); //~ E0133
    5_u64.match_all(mask); //~ E0133
}

pub fn reduces(mask: u32) {
    5_u32.reduce(mask, WarpReductionOp::Add); //~ E0133
    5_i32.reduce(mask, WarpReductionOp::Min); //~ E0133
}

pub fn shuffles() {
    warp_shuffle_xor(!0, 1_u32, 1, 32); //~ E0133
}
