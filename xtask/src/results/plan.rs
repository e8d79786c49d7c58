//! The commands to measure: for the lab sheet's tables, and for each lab. `measure` runs them;
//! `labs` and `page` make the tables. Plain data.

/// The document with all times.
pub(super) const TIMES: &str = "measurements/labs.md";

/// A row of a table of the lab sheet: what the sheet measured, and the variant that does the same.
pub(super) struct SheetRow {
    pub what: &'static str,
    pub sheet_ms: f64,
    pub variant: &'static str,
}

/// A table of the lab sheet, and the commands that reproduce it, each with the name of its size.
pub(super) struct Sheet {
    pub title: &'static str,
    pub about: &'static str,
    pub commands: &'static [(&'static str, &'static str)],
    pub rows: &'static [SheetRow],
}

const fn row(what: &'static str, sheet_ms: f64, variant: &'static str) -> SheetRow {
    SheetRow { what, sheet_ms, variant }
}

/// The tables of the lab sheet.
pub(super) const SHEETS: &[Sheet] = &[
    Sheet {
        title: "Table 3.1: the product of two matrices",
        about: "Tiles of 16 x 16 in shared memory against global memory alone.",
        commands: &[
            ("1000 x 1000", "matmul --naive --tiled16 --rows 1000"),
            ("4096 x 4096", "matmul --naive --tiled16 --rows 4096"),
        ],
        rows: &[row("without shared memory", 2484.06, "naive"), row("with shared memory", 133.47, "tiled16")],
    },
    Sheet {
        title: "Table 3.2: a matrix times its transpose",
        about: "The second tile is read by columns: with bank conflicts, and with a column of padding. The sheet's GPU had 16 banks \
                and half warps, where a tile of 16 x 16 conflicts 16 ways; on 32 banks it conflicts 8 ways.",
        commands: &[
            ("1000 x 1000", "gram --tiled16 --padded16 --rows 1000"),
            ("4096 x 4096", "gram --tiled16 --padded16 --rows 4096"),
        ],
        rows: &[row("with bank conflicts", 551.73, "tiled16"), row("without", 120.59, "padded16")],
    },
    Sheet {
        title: "Table 3.3: the sum of a vector",
        about: "Five steps of a reduction. The sheet does not say how long its vector was.",
        commands: &[
            ("1000", "reduce --reduce1 --reduce2 --reduce3 --reduce4 --reduce5 --size 1000"),
            ("10^6", "reduce --reduce1 --reduce2 --reduce3 --reduce4 --reduce5 --size 1000000"),
            ("2^28", "reduce --reduce1 --reduce2 --reduce3 --reduce4 --reduce5 --size 268435456"),
        ],
        rows: &[
            row("reduce1: every other thread", 19.09, "reduce1-sum-f32"),
            row("reduce2: the first threads, with bank conflicts", 11.91, "reduce2-sum-f32"),
            row("reduce3: without bank conflicts", 10.62, "reduce3-sum-f32"),
            row("reduce4: add while loading", 9.10, "reduce4-sum-f32"),
            row("reduce5: the last warp unrolled", 8.67, "reduce5-sum-f32"),
        ],
    },
];

/// The command of each lab's table. Each runs at the lab's default size for a GPU, which exceeds
/// the caches.
pub(super) const LABS: &[&str] = &[
    "launch",
    "offset --offset 0,1,8,11,31,32,128",
    "access --all",
    "layout",
    "vector",
    "cache --all",
    "pitch",
    "constant",
    "table",
    "transpose",
    "matmul",
    "gram",
    "reduce",
    "dot",
    "rows --all",
    "banks --all",
    "shared --all",
    "texture --all",
    "atomics",
    "consistency",
    "spill",
    "scan",
    "transfer",
    "sparse",
    "stencil",
    "pipeline",
    "order",
];

/// The commands whose kernels are timed beside nvcc's: one for each lab, and more if the size
/// decides which kernel runs. The best kernels of the products have no counterparts: they are
/// compared with cuBLAS.
pub(super) const TWINS: &[&str] = &[
    "launch --block 256",
    "offset --offset 0,1",
    "access --all",
    "layout",
    "vector",
    "cache --operators --compiled",
    "pitch",
    "constant",
    "table",
    "transpose",
    "matmul --naive --tiled16 --tiled32 --registers --wide --async2 --async3",
    "gram --tiled16 --padded16 --tiled32 --padded32 --mirrored --registers",
    "reduce --operation sum,product,min,max --type f32,i32",
    "reduce --best --operation sum,product,min,max --type f32,i32 --size 8192",
    "dot",
    "rows --all",
    "rows --best --rows 1000 --all",
    "rows --best --rows 1000000 --cols 32 --all",
    "banks --all",
    "shared --all",
    "texture --all",
    "atomics",
    "consistency",
    "spill",
    "scan",
    "transfer --mapped",
    "sparse",
    "stencil",
    "pipeline",
    // Smaller: most of the time is that of the reference on the CPU.
    "order --m 2048 --n 2048 --entries 2097152 --passes 8",
];
