//! Why some launches outside the labs are far off: what their machine code (ptxas 13.0) and their
//! profiles by Nsight Compute (`measurements/kernels/*_ncu.csv`) say.

/// Launches and causes.
const CAUSES: [(&str, &str); 7] = [
    ("bitonic_step 2^20, distance 1", "the model's L2 is too slow for stores of every second word"),
    ("mandelbrot 640 x 480, 2000", "some multiprocessors have much more to do"),
    ("matmul_tile64 512", "one pair of loads of four is in flight; the model moves all ahead"),
    ("random_walk 2^17 x 500", "40 instructions for four steps, with moves of constants"),
    ("scatter 2^25", "random sectors cost DRAM less than gaps in the labs"),
    ("sort_local 2^18", "stalls in front of L1 (lg throttle) on local memory"),
    ("transpose_bytes 4096 x 4096", "190 instructions a warp, not 160"),
];

/// Why a launch is far off, if anybody has looked.
pub(super) fn of(launch: &str) -> &'static str {
    let known = |&&(name, _): &&(&str, &str)| name == launch;
    CAUSES.iter().find(known).map_or("not looked at", |&(_, cause)| cause)
}
