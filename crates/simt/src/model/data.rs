//! The models, and where each number comes from. Only constants: `Model::all` lists them.
//!
//! - Limits of blocks and multiprocessors, register and shared-memory allocation, carveouts: CUDA
//!   C++ programming guide, table "Technical Specifications per Compute Capability" (1.x: edition
//!   4.2; 2.x to 3.x: 6.5; 5.x and later: 12.x), and the allocation units of the CUDA occupancy
//!   calculator.
//! - Multiprocessors, L2 sizes, sizes of L1: NVIDIA's whitepapers of each architecture (G80 and
//!   GT200: the technical briefs of the GeForce 8800 and GTX 200; Fermi, Kepler GK110, GTX 980,
//!   Tesla P100, V100, Turing, A100, Ada, H100) and tuning guides.
//! - Which loads L1 caches: the tuning guides of Kepler, Maxwell, Pascal and Volta.
//! - The H100: its data sheet (SXM, 80 GB of HBM3); all but its memory is the H200's.
//! - The B200, the RTX 5090 and the RTX 4060: data sheets, the Blackwell tuning guide, and what
//!   their drivers say of them (github.com/pytorch/ao/pull/4002, github.com/NVIDIA/nccl/issues/1637).
//!   How many multiprocessors each GPC has is assumed, and so is all that L2 does: as on an H200
//!   and on the RTX 4090. Nothing here was measured on one of them.
//! - The H200's own numbers: its driver's device attributes, and its counters (`docs/MODELS.md`).
//!   Its GPCs: `%smid` in the blocks of clusters of 1 to 16 blocks. Which multiprocessors a chip of
//!   this kind has, and where, differs from one to the next.
//!
//! NVIDIA publishes neither the associativity of its caches nor their replacement policy. The ways
//! here are assumptions: 4 for the L1 caches of Fermi and Kepler (as microbenchmarks of their time
//! found), many for later ones, 96 for Kepler's read-only cache (four sets, as Mei and Chu,
//! "Dissecting GPU Memory Hierarchy through Microbenchmarking", found for textures), 16 for L2. All
//! replace the least recently used line. What DRAM delivers for a missing sector is an assumption,
//! too, unless measured.

use super::gpu::{
    BankRule, L1, L1Size, L2, Limits, Model, ReadOnly, RegisterAllocation, Shared, StoreHit, TransactionRule,
};

const KIB: u32 = 1 << 10;

const LIMITS_1_0: Limits = Limits {
    threads_per_block: 512,
    threads: 768,
    blocks: 8,
    registers: 8 * KIB,
    registers_per_thread: 124,
    register_allocation: RegisterAllocation::Block { unit: 256 },
};

const LIMITS_1_3: Limits = Limits {
    threads: 1024,
    registers: 16 * KIB,
    register_allocation: RegisterAllocation::Block { unit: 512 },
    ..LIMITS_1_0
};

const LIMITS_2_0: Limits = Limits {
    threads_per_block: 1024,
    threads: 1536,
    blocks: 8,
    registers: 32 * KIB,
    registers_per_thread: 63,
    register_allocation: RegisterAllocation::Warp { unit: 64, warps: 2 },
};

const LIMITS_3_5: Limits = Limits {
    threads_per_block: 1024,
    threads: 2048,
    blocks: 16,
    registers: 64 * KIB,
    registers_per_thread: 255,
    register_allocation: RegisterAllocation::Warp { unit: 256, warps: 4 },
};

const LIMITS_5_2: Limits = Limits { blocks: 32, ..LIMITS_3_5 };

const SHARED_1_X: Shared = Shared {
    carveouts: &[16 * KIB],
    per_block: 16 * KIB,
    per_block_opt_in: 16 * KIB,
    reserved: 0,
    unit: 512,
    banks: BankRule::HalfWarps,
};

const SHARED_2_0: Shared = Shared {
    carveouts: &[16 * KIB, 48 * KIB],
    per_block: 48 * KIB,
    per_block_opt_in: 48 * KIB,
    reserved: 0,
    unit: 128,
    banks: BankRule::Fermi,
};

const SHARED_3_5: Shared =
    Shared { carveouts: &[16 * KIB, 32 * KIB, 48 * KIB], unit: 256, banks: BankRule::Kepler4, ..SHARED_2_0 };

const SHARED_5_2: Shared = Shared { carveouts: &[96 * KIB], banks: BankRule::Words, ..SHARED_3_5 };

const CARVEOUTS_9_0: &[u32] =
    &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, 228 * KIB];

const L1_FERMI: L1 = L1 {
    size: L1Size::Unified(64 * KIB),
    line: 128,
    sector: 128,
    ways: 4,
    caches_global_loads: true,
    can_cache_global_loads: true,
    store_hit: StoreHit::Evicts,
    local_write_back: true,
};

const READ_ONLY_KEPLER: ReadOnly = ReadOnly { schedulers: 4, bytes_of_scheduler: 12 * KIB, ways: 96 };

const L1_MAXWELL: L1 = L1 {
    size: L1Size::Own(24 * KIB),
    line: 128,
    sector: 32,
    ways: 8,
    caches_global_loads: false,
    can_cache_global_loads: true,
    store_hit: StoreHit::Evicts,
    local_write_back: false,
};

const L1_VOLTA: L1 = L1 {
    size: L1Size::Unified(128 * KIB),
    line: 128,
    sector: 32,
    ways: 4,
    caches_global_loads: true,
    can_cache_global_loads: true,
    store_hit: StoreHit::Allocates,
    local_write_back: false,
};

const fn l2(kib: u64) -> L2 {
    let bytes = kib << 10;
    L2 { bytes, line: 128, ways: 16, fetch: 32, partitions: 1, dirty_bytes: bytes, merges_reads_of: 1 }
}

const L2_H200: L2 = L2 { fetch: 64, partitions: 2, dirty_bytes: 27_000_000, merges_reads_of: 4, ..l2(60 << 10) };

const HOPPER: Model = Model {
    name: "hopper",
    chip: "H200 (GH100)",
    compute_capability: (9, 0),
    multiprocessors: 132,
    gpcs: &[8, 16, 16, 16, 16, 16, 18, 18],
    limits: LIMITS_5_2,
    shared: Shared { carveouts: CARVEOUTS_9_0, per_block_opt_in: 227 * KIB, reserved: KIB, unit: 128, ..SHARED_5_2 },
    global: TransactionRule::Sectors,
    l1: Some(L1 { size: L1Size::Unified(256 * KIB), ..L1_VOLTA }),
    read_only: None,
    l2: Some(L2_H200),
    pitch_alignment: 512,
    texture_alignment: 512,
};

/// What Ada and Blackwell's GeForce have in common.
const SHARED_8_9: Shared = Shared {
    carveouts: &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB],
    per_block_opt_in: 99 * KIB,
    reserved: KIB,
    unit: 128,
    ..SHARED_5_2
};

const ADA: Model = Model {
    name: "ada",
    chip: "GeForce RTX 4090 (AD102)",
    compute_capability: (8, 9),
    multiprocessors: 128,
    gpcs: &[],
    limits: Limits { threads: 1536, blocks: 24, ..LIMITS_5_2 },
    shared: SHARED_8_9,
    global: TransactionRule::Sectors,
    l1: Some(L1_VOLTA),
    read_only: None,
    l2: Some(l2(72 << 10)),
    pitch_alignment: 512,
    texture_alignment: 512,
};

pub(super) static MODELS: [Model; 16] = [
    Model {
        name: "g80",
        chip: "GeForce 8800 GTX (G80)",
        compute_capability: (1, 0),
        multiprocessors: 16,
        gpcs: &[],
        limits: LIMITS_1_0,
        shared: SHARED_1_X,
        global: TransactionRule::Strict,
        l1: None,
        read_only: None,
        l2: None,
        pitch_alignment: 256,
        texture_alignment: 256,
    },
    Model {
        name: "tesla",
        chip: "GeForce GTX 280 (GT200)",
        compute_capability: (1, 3),
        multiprocessors: 30,
        gpcs: &[],
        limits: LIMITS_1_3,
        shared: SHARED_1_X,
        global: TransactionRule::Segments,
        l1: None,
        read_only: None,
        l2: None,
        pitch_alignment: 256,
        texture_alignment: 256,
    },
    Model {
        name: "fermi",
        chip: "Tesla C2050 (GF100)",
        compute_capability: (2, 0),
        multiprocessors: 14,
        gpcs: &[],
        limits: LIMITS_2_0,
        shared: SHARED_2_0,
        global: TransactionRule::LinesAndSectors,
        l1: Some(L1_FERMI),
        read_only: None,
        l2: Some(l2(768)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "kepler",
        chip: "Tesla K40 (GK110B)",
        compute_capability: (3, 5),
        multiprocessors: 15,
        gpcs: &[],
        limits: LIMITS_3_5,
        shared: SHARED_3_5,
        global: TransactionRule::LinesAndSectors,
        // Global loads go through L1 only if the program opts in (GK110B and GK210).
        l1: Some(L1 { caches_global_loads: false, ..L1_FERMI }),
        read_only: Some(READ_ONLY_KEPLER),
        l2: Some(l2(1536)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "kepler8",
        chip: "Tesla K40, 8-byte banks (GK110B)",
        compute_capability: (3, 5),
        multiprocessors: 15,
        gpcs: &[],
        limits: LIMITS_3_5,
        shared: Shared { banks: BankRule::Kepler8, ..SHARED_3_5 },
        global: TransactionRule::LinesAndSectors,
        l1: Some(L1 { caches_global_loads: false, ..L1_FERMI }),
        read_only: Some(READ_ONLY_KEPLER),
        l2: Some(l2(1536)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "maxwell",
        chip: "GeForce GTX Titan X (GM200)",
        compute_capability: (5, 2),
        multiprocessors: 24,
        gpcs: &[],
        limits: LIMITS_5_2,
        shared: SHARED_5_2,
        global: TransactionRule::Sectors,
        l1: Some(L1_MAXWELL),
        read_only: None,
        l2: Some(l2(3 << 10)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "pascal",
        chip: "Tesla P100 (GP100)",
        compute_capability: (6, 0),
        multiprocessors: 56,
        gpcs: &[],
        limits: Limits { register_allocation: RegisterAllocation::Warp { unit: 256, warps: 2 }, ..LIMITS_5_2 },
        shared: Shared { carveouts: &[64 * KIB], ..SHARED_5_2 },
        global: TransactionRule::Sectors,
        l1: Some(L1 { caches_global_loads: true, ..L1_MAXWELL }),
        read_only: None,
        l2: Some(l2(4 << 10)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "volta",
        chip: "Tesla V100 (GV100)",
        compute_capability: (7, 0),
        multiprocessors: 80,
        gpcs: &[],
        limits: LIMITS_5_2,
        shared: Shared {
            carveouts: &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB],
            per_block_opt_in: 96 * KIB,
            ..SHARED_5_2
        },
        global: TransactionRule::Sectors,
        l1: Some(L1_VOLTA),
        read_only: None,
        l2: Some(l2(6 << 10)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "turing",
        chip: "T4 (TU104)",
        compute_capability: (7, 5),
        multiprocessors: 40,
        gpcs: &[],
        limits: Limits { threads: 1024, blocks: 16, ..LIMITS_5_2 },
        shared: Shared { carveouts: &[32 * KIB, 64 * KIB], per_block_opt_in: 64 * KIB, ..SHARED_5_2 },
        global: TransactionRule::Sectors,
        l1: Some(L1 { size: L1Size::Unified(96 * KIB), ..L1_VOLTA }),
        read_only: None,
        l2: Some(l2(4 << 10)),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    Model {
        name: "ampere",
        chip: "A100 (GA100)",
        compute_capability: (8, 0),
        multiprocessors: 108,
        gpcs: &[],
        limits: LIMITS_5_2,
        shared: Shared {
            carveouts: &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB],
            per_block_opt_in: 163 * KIB,
            reserved: KIB,
            unit: 128,
            ..SHARED_5_2
        },
        global: TransactionRule::Sectors,
        l1: Some(L1 { size: L1Size::Unified(192 * KIB), ..L1_VOLTA }),
        read_only: None,
        l2: Some(L2 { fetch: 64, partitions: 2, ..l2(40 << 10) }),
        pitch_alignment: 512,
        texture_alignment: 512,
    },
    ADA,
    Model { name: "rtx4060", chip: "GeForce RTX 4060 (AD107)", multiprocessors: 24, l2: Some(l2(24 << 10)), ..ADA },
    HOPPER,
    // Only its memory differs: 50 MB of L2 by its data sheet. The part of L2 that can be dirty is
    // assumed to be the H200's.
    Model {
        name: "h100",
        chip: "H100 (GH100)",
        l2: Some(L2 { dirty_bytes: 22_500_000, bytes: 50 << 20, ..L2_H200 }),
        ..HOPPER
    },
    // Two dies, each with a half of L2, 126.5 MiB in all.
    Model {
        name: "b200",
        chip: "B200 (GB100)",
        compute_capability: (10, 0),
        multiprocessors: 148,
        gpcs: &[18, 18, 18, 18, 18, 18, 20, 20],
        l2: Some(L2 { dirty_bytes: 56_900_000, bytes: 253 << 19, ..L2_H200 }),
        ..HOPPER
    },
    // 24 blocks a multiprocessor, as on Ada, by CUDA's occupancy calculator (cuda_occupancy.h of CUDA
    // 13); the Blackwell tuning guide says 32.
    Model {
        name: "rtx5090",
        chip: "GeForce RTX 5090 (GB202)",
        compute_capability: (12, 0),
        multiprocessors: 170,
        gpcs: &[14, 14, 14, 16, 16, 16, 16, 16, 16, 16, 16],
        l2: Some(l2(96 << 10)),
        ..ADA
    },
];

/// The possible sizes of a multiprocessor's shared memory, by compute capability.
pub(super) fn shared_sizes(capability: (u32, u32)) -> &'static [u32] {
    match capability {
        (1, _) => &[16 * KIB],
        (2, _) => &[16 * KIB, 48 * KIB],
        (3, 7) => &[80 * KIB, 96 * KIB, 112 * KIB],
        (3, _) => &[16 * KIB, 32 * KIB, 48 * KIB],
        (5, 2) | (6, 1) => &[96 * KIB],
        (5 | 6, _) => &[64 * KIB],
        (7, 5) => &[32 * KIB, 64 * KIB],
        (7, _) => &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB],
        (8, 0 | 7) => &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB],
        (8 | 12, _) => &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB],
        (9..=11, _) => CARVEOUTS_9_0,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_numbers_fit_together() {
        for (index, model) in MODELS.iter().enumerate() {
            assert_eq!(Model::named(model.name), Some(model));
            assert_eq!(shared_sizes(model.compute_capability), model.shared.carveouts);
            assert!(MODELS[..index].iter().all(|other| other.compute_capability <= model.compute_capability));
            let shared = &model.shared;
            assert!(shared.carveouts.is_sorted() && shared.per_block <= shared.per_block_opt_in);
            let most = shared.carveouts[shared.carveouts.len() - 1];
            assert!(shared.per_block_opt_in + shared.reserved <= most, "{}", model.name);
            if let Some(L1 { size: L1Size::Unified(bytes), .. }) = model.l1 {
                assert!(most < bytes, "{}: some L1 is always left", model.name);
            }
            if let Some(l1) = model.l1 {
                let bytes = model.l1_bytes(most);
                assert!(bytes.is_multiple_of(l1.line) && bytes / l1.line >= l1.ways, "{}", model.name);
                assert!(model.l2.is_some());
            }
            assert_eq!(model.limits.threads % 32, 0);
            assert!(model.gpcs.iter().sum::<u32>() <= model.multiprocessors);
            let has_clusters = model.compute_capability >= (9, 0);
            assert_eq!(model.gpcs.iter().any(|&multiprocessors| multiprocessors >= 16), has_clusters, "{}", model.name);
        }
        assert_eq!(Model::named("Hopper"), None);
    }
}
