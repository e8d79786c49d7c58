//! How fast each model is: the numbers that [`crate::timing`] replays launches with, and where each
//! comes from. Only constants. A model without an entry has no predicted times.
//!
//! Rates of units are cycles for which a warp instruction occupies one scheduler's unit, from the
//! throughput table of the CUDA C++ programming guide ("Arithmetic Instructions"; 1.x: edition 4.2,
//! 2.x and 3.x: 6.5, later: 12.x). Clocks and memory bandwidths are those of data sheets. What else
//! a table is made of, its `source` says; an entry that is not `measured` has been compared with no
//! measurement. In an entry, "guide" is that guide, and "assumed" is a guess without a source.

use super::gpu::Model;
use super::rates::{Issue, Latency, LaunchCost, Throughput, Timing};

impl Model {
    /// How fast it is; `None` if nothing is known.
    pub fn timing(&self) -> Option<&'static Timing> {
        TIMINGS.iter().find(|(names, _)| names.contains(&self.name)).map(|(_, timing)| timing)
    }
}

/// Measured on an H200 at 1980 MHz (driver 580.159.04, CUDA 13.0, 2026-11-24), mostly by dependent
/// chains and by streams; `barrier` is 13 + 2 a warp, `block` the rate of empty blocks (1650 in a
/// microsecond), `empty_us` a cold empty launch between two events. `turnaround`, `dram` latency
/// and `dram_write` are fitted to the labs. `guard` is the distance that ptxas 13.5 keeps.
/// `texture`: `stencil --texture --points 25` fetches 3.8 texels a cycle of a multiprocessor, which
/// has four texture units; later and earlier ones have as many as NVIDIA's whitepapers say: 4, on
/// Maxwell 8, on Kepler 16, at the slower clock of the chip on Fermi and before.
/// `third_register` is an H100's: registers are in two banks, so that of three, two are in the same
/// one.
const HOPPER: Timing = Timing {
    source: "measured on an H200",
    measured: true,
    clock_mhz: 1980.0,
    launch: LaunchCost { empty_us: 2.66, next_us: 1.2, block: 1.2, warp: 7.0, turnaround: 350.0 },
    issue: Issue {
        schedulers: 4,
        any: 1,
        fp32: 1,
        third_register: 1,
        add: 1,
        integer: 2,
        multiply: 2,
        wide: 4,
        special: 8,
        texture: 32,
        convert: 4,
        double: 2,
        short_pointers: false,
    },
    latency: Latency {
        arithmetic: 4,
        double: 8,
        special: 23,
        convert: 12,
        shuffle: 24,
        guard: 13,
        branch: 8,
        barrier: 15.0,
        barrier_per_warp: 2.0,
        shared: 24.0,
        l1: 31.0,
        l2: 255.0,
        dram: 670.0,
        atomic: 320.0,
        texture: 450.0,
    },
    memory: Throughput {
        lsu: 1.0,
        port_in: 64.0,
        port_out: 32.0,
        l2_read: 7130.0,
        l2_write: 4200.0,
        l2_lines: 72.0,
        dram: 4610.0,
        dram_write: 1.17,
        partitions: 0,
    },
};

/// GH100's relatives: what an entry does not name is as on Hopper, for want of better.
const VOLTA: Timing = Timing {
    source: "public measurements of a V100 (RRZE-HPC/gpu-benches), data sheet",
    measured: true,
    clock_mhz: 1380.0,
    launch: LaunchCost { empty_us: 2.6, turnaround: 362.0, ..HOPPER.launch },
    issue: Issue { fp32: 2, third_register: 0, add: 2, convert: 8, double: 4, ..HOPPER.issue },
    // L1 28, L2 212, DRAM 425 to 434 cycles, less the address arithmetic; shared 23 (mt4g).
    latency: Latency { shared: 20.0, l1: 27.0, l2: 205.0, dram: 430.0, atomic: 270.0, ..HOPPER.latency },
    // Reads 867, init 897, scale 809 GB/s, so that writes cost no more; L2 2300.
    memory: Throughput {
        l2_read: 2300.0,
        l2_write: 1500.0,
        l2_lines: 48.0,
        dram: 867.0,
        dram_write: 1.0,
        ..HOPPER.memory
    },
};

const ADA: Timing = Timing {
    source: "public measurements of an L40 and an RTX 4090 (RRZE-HPC/gpu-benches), data sheet",
    measured: true,
    clock_mhz: 2520.0,
    launch: LaunchCost { empty_us: 1.8, turnaround: 562.0, ..HOPPER.launch },
    issue: Issue { convert: 8, double: 64, ..HOPPER.issue },
    // L40: L1 34, L2 274, DRAM 625 cycles.
    latency: Latency { l1: 33.0, l2: 265.0, dram: 620.0, double: 40, ..HOPPER.latency },
    // 1008 GB/s in the data sheet; an L40 reads 845 and writes 847 of 864.
    memory: Throughput { l2_read: 5200.0, l2_write: 3000.0, dram: 985.0, dram_write: 1.0, ..HOPPER.memory },
};

/// The models' numbers, each with the names of those that have them.
static TIMINGS: [(&[&str], Timing); 15] = [
    (&["hopper"], HOPPER),
    (
        &["h100"],
        Timing {
            source: "an H200's, with the memory of an H100's data sheet; compared with an H100 in docs/TIME.md",
            measured: true,
            // 3352 GB/s in the data sheet. The H200 reads 4610 of 4814.
            memory: Throughput { dram: 3210.0, ..HOPPER.memory },
            ..HOPPER
        },
    ),
    (
        &["b200"],
        Timing {
            source: "data sheet; L2 by Chips and Cheese, the rest an H200's; not verified",
            measured: false,
            clock_mhz: 1965.0,
            // 150 ns to the near half of L2 (chipsandcheese.com, "Nvidia's B200"). DRAM is assumed
            // to be as far behind L2 as on an H200.
            latency: Latency { l2: 295.0, dram: 710.0, ..HOPPER.latency },
            // 7672 GB/s in the data sheet (7680 bits at 3996 MHz), read as an H200 reads its own.
            // L2's rates are an H200's for each multiprocessor: assumed.
            memory: Throughput { l2_read: 7930.0, l2_write: 4670.0, l2_lines: 80.0, dram: 7350.0, ..HOPPER.memory },
            ..HOPPER
        },
    ),
    (
        &["rtx5090"],
        Timing {
            source: "data sheet, the rest an RTX 4090's; not verified",
            measured: false,
            clock_mhz: 2407.0,
            // The whitepaper of RTX Blackwell: all lanes of a multiprocessor do integers, too.
            issue: Issue { integer: 1, ..ADA.issue },
            // 1792 GB/s in the data sheet. L2's rates are an RTX 4090's for each multiprocessor and
            // cycle: assumed.
            memory: Throughput { l2_read: 6600.0, l2_write: 3800.0, l2_lines: 96.0, dram: 1750.0, ..ADA.memory },
            ..ADA
        },
    ),
    (&["ada"], ADA),
    (
        &["rtx4060"],
        Timing {
            source: "data sheet, the rest an RTX 4090's; not verified",
            measured: false,
            clock_mhz: 2460.0,
            // 272 GB/s in the data sheet. L2's rates are an RTX 4090's for each multiprocessor and
            // cycle: assumed.
            memory: Throughput { l2_read: 950.0, l2_write: 550.0, l2_lines: 14.0, dram: 266.0, ..ADA.memory },
            ..ADA
        },
    ),
    (
        &["ampere"],
        Timing {
            source: "public measurements of an A100 (RRZE-HPC/gpu-benches), data sheet",
            measured: true,
            clock_mhz: 1410.0,
            launch: LaunchCost { empty_us: 2.56, turnaround: 368.0, ..HOPPER.launch },
            issue: Issue { fp32: 2, third_register: 0, add: 2, convert: 8, double: 4, ..HOPPER.issue },
            // L1 33, L2 206 (400 in the far partition), DRAM 552 cycles; shared 29.
            latency: Latency { l1: 32.0, l2: 230.0, dram: 552.0, atomic: 290.0, ..HOPPER.latency },
            // Writes 1894 of 2039 GB/s; reads 1776 at full occupancy, but still more with each
            // warp, so 95 % of the data sheet as on V100 and H200; L2 5400 up to 20 MB.
            memory: Throughput { l2_read: 5400.0, l2_write: 3200.0, dram: 1940.0, dram_write: 1.03, ..HOPPER.memory },
        },
    ),
    (
        &["turing"],
        Timing {
            source: "data sheet, latencies of another Turing (PPT-GPU); not verified",
            measured: false,
            clock_mhz: 1590.0,
            launch: LaunchCost { turnaround: 362.0, ..HOPPER.launch },
            issue: Issue { fp32: 2, third_register: 0, add: 2, convert: 8, double: 64, ..HOPPER.issue },
            latency: Latency { shared: 20.0, l1: 27.0, l2: 230.0, dram: 424.0, double: 40, ..HOPPER.latency },
            memory: Throughput {
                l2_read: 1270.0,
                l2_write: 800.0,
                l2_lines: 24.0,
                dram: 270.0,
                dram_write: 1.1,
                ..HOPPER.memory
            },
        },
    ),
    (&["volta"], VOLTA),
    (
        &["pascal"],
        Timing {
            source: "data sheet, latencies of PPT-GPU; not verified",
            measured: false,
            clock_mhz: 1480.0,
            launch: LaunchCost { empty_us: 4.0, next_us: 1.5, ..HOPPER.launch },
            // Two schedulers, each with 32 lanes of f32, 16 of f64 and 8 of special functions.
            issue: Issue {
                schedulers: 2,
                third_register: 0,
                integer: 1,
                multiply: 3,
                wide: 6,
                special: 4,
                texture: 16,
                convert: 4,
                ..HOPPER.issue
            },
            latency: Latency {
                arithmetic: 6,
                shared: 24.0,
                l1: 81.0,
                l2: 252.0,
                dram: 482.0,
                atomic: 300.0,
                ..HOPPER.latency
            },
            memory: Throughput {
                l2_read: 1700.0,
                l2_write: 1100.0,
                l2_lines: 32.0,
                dram: 560.0,
                dram_write: 1.1,
                ..HOPPER.memory
            },
        },
    ),
    (
        &["maxwell"],
        Timing {
            source: "data sheet, latencies of PPT-GPU; not verified",
            measured: false,
            clock_mhz: 1075.0,
            launch: LaunchCost { empty_us: 4.5, next_us: 1.5, ..HOPPER.launch },
            issue: Issue {
                third_register: 0,
                integer: 1,
                multiply: 3,
                wide: 6,
                special: 4,
                texture: 16,
                convert: 4,
                double: 32,
                ..HOPPER.issue
            },
            latency: Latency {
                arithmetic: 6,
                double: 48,
                shared: 24.0,
                l1: 82.0,
                l2: 225.0,
                dram: 379.0,
                atomic: 300.0,
                ..HOPPER.latency
            },
            memory: Throughput {
                l2_read: 800.0,
                l2_write: 500.0,
                l2_lines: 24.0,
                dram: 265.0,
                dram_write: 1.1,
                ..HOPPER.memory
            },
        },
    ),
    (
        &["kepler", "kepler8"],
        Timing {
            source: "data sheet, latencies of PPT-GPU; not verified",
            measured: false,
            clock_mhz: 745.0,
            launch: LaunchCost { empty_us: 5.0, next_us: 2.0, ..HOPPER.launch },
            // 192 lanes of f32 for four schedulers, each of which can use 48 of them only by
            // issuing two instructions at once, which is not modelled.
            issue: Issue {
                third_register: 0,
                integer: 1,
                multiply: 4,
                wide: 8,
                special: 4,
                texture: 8,
                convert: 4,
                ..HOPPER.issue
            },
            latency: Latency {
                arithmetic: 9,
                double: 10,
                shared: 26.0,
                l1: 32.0,
                l2: 188.0,
                dram: 331.0,
                atomic: 300.0,
                ..HOPPER.latency
            },
            memory: Throughput {
                l2_read: 560.0,
                l2_write: 360.0,
                l2_lines: 24.0,
                dram: 225.0,
                dram_write: 1.1,
                ..HOPPER.memory
            },
        },
    ),
    (
        &["fermi"],
        Timing {
            source: "data sheet, latencies of Accel-Sim's GTX 480; not verified",
            measured: false,
            clock_mhz: 1150.0,
            launch: LaunchCost { empty_us: 6.0, next_us: 3.0, block: 4.0, warp: 14.0, turnaround: 300.0 },
            // Two schedulers; cycles are those of the shader clock, at which 16 lanes take two.
            issue: Issue {
                schedulers: 2,
                any: 2,
                fp32: 2,
                third_register: 0,
                add: 2,
                integer: 2,
                multiply: 4,
                wide: 8,
                special: 16,
                texture: 32,
                convert: 4,
                double: 4,
                short_pointers: false,
            },
            latency: Latency {
                arithmetic: 18,
                double: 22,
                special: 40,
                convert: 20,
                shuffle: 26,
                guard: 18,
                branch: 16,
                barrier: 30.0,
                barrier_per_warp: 2.0,
                shared: 26.0,
                l1: 45.0,
                l2: 250.0,
                dram: 500.0,
                atomic: 500.0,
                texture: 400.0,
            },
            memory: Throughput {
                lsu: 2.0,
                port_in: 64.0,
                port_out: 32.0,
                l2_read: 230.0,
                l2_write: 150.0,
                l2_lines: 6.0,
                dram: 115.0,
                dram_write: 1.1,
                partitions: 0,
            },
        },
    ),
    (
        &["tesla"],
        Timing {
            source: "data sheet, latencies of Wong et al. 2010; compared with a published transpose in docs/TIME.md",
            measured: true,
            clock_mhz: 1296.0,
            launch: LaunchCost { empty_us: 8.0, next_us: 4.0, ..TESLA_LAUNCH },
            issue: TESLA_ISSUE,
            latency: TESLA_LATENCY,
            memory: Throughput { dram: 113.0, l2_write: 77.1, partitions: 8, ..TESLA_MEMORY },
        },
    ),
    (
        &["g80"],
        Timing {
            source: "data sheet, latencies of GT200; compared with a published reduction in docs/TIME.md",
            measured: true,
            clock_mhz: 1350.0,
            launch: TESLA_LAUNCH,
            issue: TESLA_ISSUE,
            latency: TESLA_LATENCY,
            memory: TESLA_MEMORY,
        },
    ),
];

/// Assumed, but for `turnaround`: 260 ns, as on V100, A100 and A40 (RRZE-HPC/gpu-benches).
const TESLA_LAUNCH: LaunchCost = LaunchCost { empty_us: 10.0, next_us: 5.0, block: 8.0, warp: 16.0, turnaround: 345.0 };

/// One scheduler and eight lanes: four cycles of the shader clock for a warp. Products of 32 bits
/// are several instructions. Global memory is below 4 GB, so that `ptxas` made pointers of 64 bits
/// short ("Tuning CUDA Applications for Fermi").
const TESLA_ISSUE: Issue = Issue {
    schedulers: 1,
    any: 4,
    fp32: 4,
    third_register: 0,
    add: 4,
    integer: 4,
    multiply: 16,
    wide: 16,
    special: 16,
    texture: 32,
    convert: 4,
    double: 32,
    short_pointers: true,
};

const TESLA_LATENCY: Latency = Latency {
    arithmetic: 24,
    double: 48,
    special: 28,
    convert: 24,
    shuffle: 40,
    guard: 24,
    branch: 24,
    barrier: 20.0,
    barrier_per_warp: 4.0,
    shared: 38.0,
    l1: 0.0,
    l2: 0.0,
    dram: 440.0,
    atomic: 700.0,
    texture: 400.0,
};

/// 80 % of an 8800 GTX's 86.4 GB/s. There is no L2: `l2_write` is what the partitions take, as the
/// technical briefs of the GeForce 8800 and GTX 200 say of pixels, 4 of 4 bytes a cycle of the core
/// clock each: 6 at 575 MHz, 8 at 602. That stores of kernels go that way is assumed.
const TESLA_MEMORY: Throughput = Throughput {
    // A pass of a half warp over the banks takes two cycles (guide, "Shared Memory" of 1.x).
    lsu: 2.0,
    port_in: 64.0,
    port_out: 32.0,
    l2_read: 1e6,
    l2_write: 55.2,
    l2_lines: 1e6,
    dram: 69.0,
    dram_write: 1.1,
    partitions: 6,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_plausible_numbers() {
        for model in Model::all() {
            let timing = model.timing().unwrap_or_else(|| panic!("{}", model.name));
            assert!(timing.measured != timing.source.contains("not verified"), "{}", model.name);
            let Timing { clock_mhz, launch, issue, latency, memory, .. } = timing;
            assert!((500.0..3000.0).contains(clock_mhz) && launch.empty_us > launch.next_us);
            assert!(issue.schedulers > 0 && issue.any > 0 && issue.special >= issue.fp32);
            assert!(latency.l1 <= latency.l2 && latency.l2 < latency.dram, "{}", model.name);
            assert!(memory.dram < memory.l2_read && memory.partitions <= 8 && memory.dram_write >= 1.0);
        }
        let known: usize = TIMINGS.iter().map(|(names, _)| names.len()).sum();
        assert_eq!(known, Model::all().len());
    }
}
