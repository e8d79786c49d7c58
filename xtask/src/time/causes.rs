//! Why some launches outside the labs are far off: what their machine code (ptxas 13.0) and their
//! profiles by Nsight Compute (`docs/time/*_ncu.csv`) say.

/// Launches and causes.
const CAUSES: [(&str, &str); 16] = [
    ("bitonic_step 2^20, distance 1", "stores of every second word are dear in the model's L2"),
    ("gather 2^23 of 32 MiB", "L2 holds less of the table than in the sample: DRAM reads 160 MB, not 100"),
    ("gemv_columns 2048 x 4096", "two waits for memory in an iteration: 32 registers hold no more loads"),
    ("histogram_global 2^22, 2^16 bins", "not known: the H100 takes longer than the H200"),
    ("histogram_global 2^22, 2^22 bins", "not known: the H100 takes longer than the H200"),
    ("mandelbrot 1920 x 1080, 500", "the recorded multiprocessor has more to do than the average one"),
    ("mandelbrot 640 x 480, 2000", "some multiprocessors have much more to do; see below"),
    ("matmul_double 768", "pairs of 64-bit loads become 128-bit ones: 53 wavefronts a tile and warp, not 68"),
    ("matmul_tile64 512", "one pair of loads is under way at a time, of four; the model moves all ahead"),
    ("monte_carlo 2^18 x 256", "half of the shifts run as products; a 16-bit half costs a conversion nothing"),
    ("nbody 32768", "two warps a scheduler, 1.2 cycles of fixed latency an instruction"),
    ("nbody 8192", "two warps a scheduler, 1.2 cycles of fixed latency an instruction"),
    ("random_walk 2^17 x 500", "40 instructions for four steps, with moves of the addends' constants"),
    ("scatter 2^25", "random sectors written and filled cost DRAM less than gaps in the labs do"),
    ("sort_local 2^18", "stalls in front of L1 (lg throttle) on local memory; not known why"),
    ("transpose_bytes 4096 x 4096", "190 instructions a warp, not 160: the issue slots are 80 % used"),
];

/// Why a launch is far off, if anybody has looked.
pub(super) fn of(launch: &str) -> &'static str {
    let known = |&&(name, _): &&(&str, &str)| name == launch;
    CAUSES.iter().find(known).map_or("not looked at", |&(_, cause)| cause)
}
