//! Special registers, each declared once with its name in PTX (PTX ISA, "Special Registers").

use std::fmt;

use super::names::names;

names! {
    /// A dimension of the grid or the block.
    #[allow(missing_docs)]
    pub enum Axis {
        X = "x",
        Y = "y",
        Z = "z",
    }
}

/// Declares the registers with parts `.x`, `.y` and `.z`, and those without parts, each with its
/// name after the `%`.
macro_rules! registers {
    (
        vectors { $($(#[$about:meta])* $vector:ident = $vector_name:literal,)+ }
        scalars { $($(#[$what:meta])* $scalar:ident = $name:literal,)+ }
    ) => {
        /// Special registers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // each is named after PTX's own
        pub enum Special {
            $($(#[$about])* $vector(Axis),)+
            $($(#[$what])* $scalar,)+
            Environment(u8),
            /// `%pm0` to `%pm7`, and their 64-bit forms (`_64`).
            PerformanceCounter {
                /// Which.
                index: u8,
                /// Whether it has 64 bits.
                wide: bool,
            },
            /// The `.w` of `%tid` and the like, which is always zero.
            Zero,
        }

        impl Special {
            /// The parts of the register with parts that has this name.
            pub(crate) fn vector(name: &str) -> Option<fn(Axis) -> Special> {
                Some(match name {
                    $($vector_name => Special::$vector,)+
                    _ => return None,
                })
            }

            /// The register without parts that has this name.
            pub(crate) fn scalar(name: &str) -> Option<Special> {
                Some(match name {
                    $($name => Special::$scalar,)+
                    _ => return Special::numbered(name),
                })
            }
        }

        /// The name in PTX text.
        impl fmt::Display for Special {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Special::$vector(axis) => write!(formatter, concat!("%", $vector_name, ".{}"), axis.name()),)+
                    $(Special::$scalar => formatter.write_str(concat!("%", $name)),)+
                    Special::Environment(index) => write!(formatter, "%envreg{index}"),
                    Special::PerformanceCounter { index, wide: false } => write!(formatter, "%pm{index}"),
                    Special::PerformanceCounter { index, wide: true } => write!(formatter, "%pm{index}_64"),
                    Special::Zero => formatter.write_str("%tid.w"),
                }
            }
        }
    };
}

registers! {
    vectors {
        ThreadIndex = "tid",
        BlockSize = "ntid",
        BlockIndex = "ctaid",
        GridSize = "nctaid",
        ClusterIndex = "clusterid",
        ClusterCount = "nclusterid",
        BlockIndexInCluster = "cluster_ctaid",
        ClusterSize = "cluster_nctaid",
    }
    scalars {
        LaneId = "laneid",
        WarpId = "warpid",
        WarpCount = "nwarpid",
        MultiprocessorId = "smid",
        MultiprocessorCount = "nsmid",
        GridId = "gridid",
        LaneMaskEqual = "lanemask_eq",
        LaneMaskLess = "lanemask_lt",
        LaneMaskLessEqual = "lanemask_le",
        LaneMaskGreater = "lanemask_gt",
        LaneMaskGreaterEqual = "lanemask_ge",
        Clock = "clock",
        ClockHigh = "clock_hi",
        Clock64 = "clock64",
        GlobalTimer = "globaltimer",
        GlobalTimerLow = "globaltimer_lo",
        GlobalTimerHigh = "globaltimer_hi",
        TotalSharedSize = "total_smem_size",
        DynamicSharedSize = "dynamic_smem_size",
        BlockRankInCluster = "cluster_ctarank",
        ClusterBlocks = "cluster_nctarank",
        /// A predicate.
        IsExplicitCluster = "is_explicit_cluster",
        AggregateSharedSize = "aggr_smem_size",
        /// Where the shared memory begins that the system reserves.
        ReservedSharedBegin = "reserved_smem_offset_begin",
        ReservedSharedEnd = "reserved_smem_offset_end",
        ReservedSharedSize = "reserved_smem_offset_cap",
        /// Two addresses in that memory.
        ReservedShared0 = "reserved_smem_offset_0",
        ReservedShared1 = "reserved_smem_offset_1",
        CurrentGraph = "current_graph_exec",
    }
}

impl Special {
    /// `envreg3`, `pm0`, `pm0_64`.
    fn numbered(name: &str) -> Option<Special> {
        let number = |prefix, name: &str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u8>().ok());
        if let Some(index @ 0..32) = number("envreg", name) {
            return Some(Special::Environment(index));
        }
        let short = name.strip_suffix("_64");
        match number("pm", short.unwrap_or(name)) {
            Some(index @ 0..8) => Some(Special::PerformanceCounter { index, wide: short.is_some() }),
            _ => None,
        }
    }
}
