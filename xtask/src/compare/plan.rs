//! What is compared: our best kernels with the libraries, at which sizes, and how fast they are to
//! be. `measure` runs it, `peers` and `page` make the tables. Plain data.

/// The document with all rows.
pub(super) const PEERS: &str = "measurements/peers.md";

/// Kernels of one task, each beside its peers.
pub(super) struct Goal {
    /// A heading of `measurements/peers.md`, and what `measurements/peers.toml` calls it.
    pub title: &'static str,
    /// What is compared, in a sentence or two.
    pub about: &'static str,
    /// The lab, and what is asked of it but the size.
    pub lab: &'static str,
    pub pairs: &'static [Pair],
    pub sizes: &'static [Size],
    /// The least geometric mean of the ratios over all sizes, where one is wanted.
    pub mean: Option<f64>,
}

/// A kernel of ours and those that do the same.
pub(super) struct Pair {
    /// What it is called, where a goal has several.
    pub what: &'static str,
    /// The row of ours.
    pub ours: &'static str,
    /// The rows of the libraries. The faster one counts.
    pub peers: &'static [&'static str],
}

/// A size of the data.
pub(super) struct Size {
    pub name: &'static str,
    pub flags: &'static str,
    /// What the peer's time over ours is to be at least.
    pub least: f64,
}

impl Goal {
    /// The arguments of the program for a size.
    pub fn arguments(&self, size: &Size) -> String {
        format!("{} {}", self.lab, size.flags)
    }

    /// The lab's name.
    pub fn lab_name(&self) -> &'static str {
        crate::program::lab(self.lab)
    }
}

const fn size(name: &'static str, flags: &'static str, least: f64) -> Size {
    Size { name, flags, least }
}

const fn pair(what: &'static str, ours: &'static str, peers: &'static [&'static str]) -> Pair {
    Pair { what, ours, peers }
}

/// Everything that is compared. Goals with the same arguments share a run.
pub(super) const GOALS: &[Goal] = &[
    Goal {
        title: "Vector copy",
        about: "The faster of the driver's copy and nvcc's, which has a word of 16 bytes a thread in a loop.",
        lab: "vector --best",
        pairs: &[pair("", "best", &["driver-copy", "nvcc-copy"])],
        sizes: &[
            size("2^20", "--size 1048576", 1.0),
            size("2^21", "--size 2097152", 1.0),
            size("2^22", "--size 4194304", 1.0),
            size("2^23", "--size 8388608", 1.0),
            size("2^24", "--size 16777216", 1.0),
            size("2^25", "--size 33554432", 1.0),
            size("2^26", "--size 67108864", 1.0),
            size("2^27", "--size 134217728", 1.0),
            size("2^28", "--size 268435456", 1.0),
        ],
        mean: None,
    },
    Goal {
        title: "Transpose and the driver's copy",
        about: "The driver only copies the matrix: it does not turn it. The faster of its copies of bytes and of rows.",
        lab: "transpose --best",
        pairs: &[pair("", "best", &["driver-copy", "driver-copy-2d"])],
        sizes: &[
            size("16384 x 16384", "--rows 16384", 0.99),
            size("8192 x 8192", "--rows 8192", 0.99),
            size("1000 x 1000", "--rows 1000", 1.0),
            size("1024 x 1000", "--rows 1024 --cols 1000", 1.0),
            size("1000 x 777", "--rows 1000 --cols 777", 1.0),
        ],
        mean: None,
    },
    Goal {
        title: "Transpose and cuBLAS",
        about: "`cublasSgeam`, which adds two matrices, transposed or not, of which the second has the factor 0 here.",
        lab: "transpose --best",
        pairs: &[pair("", "best", &["cublas-sgeam"])],
        sizes: &[
            size("16384 x 16384", "--rows 16384", 1.05),
            size("8192 x 8192", "--rows 8192", 1.05),
            size("1000 x 1000", "--rows 1000", 1.05),
            size("1024 x 1000", "--rows 1024 --cols 1000", 1.05),
            size("1000 x 777", "--rows 1000 --cols 777", 1.05),
        ],
        mean: None,
    },
    Goal {
        title: "Matrix product",
        about: "`cublasSgemm` in f32, without TF32.",
        lab: "matmul --best",
        pairs: &[pair("", "best", &["cublas-sgemm"])],
        sizes: &[
            size("1000", "--rows 1000", 1.0),
            size("1024", "--rows 1024", 1.0),
            size("2048", "--rows 2048", 1.0),
            size("4096", "--rows 4096", 1.0),
            size("8192", "--rows 8192", 1.0),
            size("4001 x 3999 x 4003", "--rows 4001 --cols 3999 --inner 4003", 1.0),
        ],
        mean: None,
    },
    Goal {
        title: "Gram matrix and half of it by cuBLAS",
        about: "A matrix times its transpose. `cublasSsyrk` writes one half of the product; ours writes both, and first makes a transposed \
                copy of the matrix, which its times include. The limit counts the whole product, of which both compute half: so they \
                pass 100 %.",
        lab: "gram --best",
        pairs: &[pair("", "best", &["cublas-ssyrk-half"])],
        sizes: &[size("4096", "--rows 4096", 1.25), size("8192", "--rows 8192", 1.0)],
        mean: None,
    },
    Goal {
        title: "Gram matrix and the product by cuBLAS",
        about: "`cublasSgemm` writes both halves, and computes both. Ours computes one, so it passes 100 % of the limit, which counts both.",
        lab: "gram --best",
        pairs: &[pair("", "best", &["cublas-sgemm"])],
        sizes: &[size("4096", "--rows 4096", 1.9), size("8192", "--rows 8192", 1.9)],
        mean: None,
    },
    Goal {
        title: "Reduction",
        about: "`cub::DeviceReduce`. Products are those of factors near 1, or modulo 2^32.",
        lab: "reduce --best --operation sum,product,min,max --type f32,i32",
        pairs: &[
            pair("sum f32", "best-sum-f32", &["cub-sum-f32"]),
            pair("product f32", "best-product-f32", &["cub-product-f32"]),
            pair("min f32", "best-min-f32", &["cub-min-f32"]),
            pair("max f32", "best-max-f32", &["cub-max-f32"]),
            pair("sum i32", "best-sum-i32", &["cub-sum-i32"]),
            pair("product i32", "best-product-i32", &["cub-product-i32"]),
            pair("min i32", "best-min-i32", &["cub-min-i32"]),
            pair("max i32", "best-max-i32", &["cub-max-i32"]),
        ],
        sizes: &[
            size("2^10", "--size 1024", 1.0),
            size("2^11", "--size 2048", 1.0),
            size("2^12", "--size 4096", 1.0),
            size("2^13", "--size 8192", 1.0),
            size("2^14", "--size 16384", 1.0),
            size("2^15", "--size 32768", 1.0),
            size("2^16", "--size 65536", 1.0),
            size("2^17", "--size 131072", 1.0),
            size("2^18", "--size 262144", 1.0),
            size("2^19", "--size 524288", 1.0),
            size("2^20", "--size 1048576", 1.0),
            size("2^21", "--size 2097152", 1.0),
            size("2^22", "--size 4194304", 1.0),
            size("2^23", "--size 8388608", 1.0),
            size("2^24", "--size 16777216", 1.0),
            size("2^25", "--size 33554432", 1.0),
            size("2^26", "--size 67108864", 1.0),
            size("2^27", "--size 134217728", 1.0),
            size("2^28", "--size 268435456", 1.0),
        ],
        mean: Some(1.05),
    },
    Goal {
        title: "Dot product",
        about: "`cublasSdot`, which leaves its result on the device.",
        lab: "dot --best --linear",
        pairs: &[pair("", "best-linear", &["cublas-sdot-linear"])],
        sizes: &[
            size("1000", "--size 1000", 1.0),
            size("2^20", "--size 1048576", 1.0),
            size("2^28", "--size 268435456", 1.0),
        ],
        mean: None,
    },
    Goal {
        title: "Row sums",
        about: "The faster of `cublasSgemv` with a vector of ones and `cub::DeviceSegmentedReduce`.",
        lab: "rows --sum --best --linear",
        pairs: &[pair("", "sum-best-linear", &["cublas-sgemv-linear", "cub-sum-linear"])],
        sizes: &[
            size("1000 x 1000", "--rows 1000", 1.0),
            size("16384 x 16384", "--rows 16384", 1.0),
            size("10^6 x 32", "--rows 1000000 --cols 32", 1.0),
            size("32 x 10^6", "--rows 32 --cols 1000000", 1.0),
        ],
        mean: None,
    },
    Goal {
        title: "Sparse product, rows of one length",
        about: "`cusparseSpMV` of the matrix in CSR, beside ELL. This kernel and the next are those of a textbook: there is no best one. \
                Measured on 2026-11-29, in one process.",
        lab: "sparse",
        pairs: &[pair("", "ell-uniform", &["cusparse-csr-uniform"])],
        sizes: &[size("2^20 rows of 16", "--rows 1048576", 1.0)],
        mean: None,
    },
    Goal {
        title: "Sparse product, rows by a power law",
        about: "The same, beside COO whose segments a warp adds up.",
        lab: "sparse",
        pairs: &[pair("", "segments-power-law", &["cusparse-csr-power-law"])],
        sizes: &[size("2^20 rows, 12.5 on average", "--rows 1048576", 1.0)],
        mean: None,
    },
];
