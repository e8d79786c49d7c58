//! The names and types of special registers. `names.rs` and `operands.rs` look them up.

use crate::{Axis, Special, Type};

/// What a name means as a special register.
pub(super) enum Named {
    Special(Special),
    /// It has parts, but the operand names none.
    NeedsPart,
    /// It does not have the part that the operand names.
    NoPart,
    /// It is not a special register.
    Nothing,
}

/// Looks up a special register by name and part.
pub(super) fn special(name: &str, part: Option<&str>) -> Named {
    let Some(name) = name.strip_prefix('%') else { return Named::Nothing };
    let vector: Option<fn(Axis) -> Special> = match name {
        "tid" => Some(Special::ThreadIndex),
        "ntid" => Some(Special::BlockSize),
        "ctaid" => Some(Special::BlockIndex),
        "nctaid" => Some(Special::GridSize),
        "clusterid" => Some(Special::ClusterIndex),
        "nclusterid" => Some(Special::ClusterCount),
        "cluster_ctaid" => Some(Special::BlockIndexInCluster),
        "cluster_nctaid" => Some(Special::ClusterSize),
        _ => None,
    };
    if let Some(vector) = vector {
        return match part {
            Some("x") => Named::Special(vector(Axis::X)),
            Some("y") => Named::Special(vector(Axis::Y)),
            Some("z") => Named::Special(vector(Axis::Z)),
            Some("w") => Named::Special(Special::Zero),
            Some(_) => Named::NoPart,
            None => Named::NeedsPart,
        };
    }
    match scalar(name) {
        Named::Special(_) if part.is_some() => Named::NoPart,
        named => named,
    }
}

/// Looks up a special register without parts.
fn scalar(name: &str) -> Named {
    Named::Special(match name {
        "laneid" => Special::LaneId,
        "warpid" => Special::WarpId,
        "nwarpid" => Special::WarpCount,
        "smid" => Special::MultiprocessorId,
        "nsmid" => Special::MultiprocessorCount,
        "gridid" => Special::GridId,
        "lanemask_eq" => Special::LaneMaskEqual,
        "lanemask_lt" => Special::LaneMaskLess,
        "lanemask_le" => Special::LaneMaskLessEqual,
        "lanemask_gt" => Special::LaneMaskGreater,
        "lanemask_ge" => Special::LaneMaskGreaterEqual,
        "clock" => Special::Clock,
        "clock_hi" => Special::ClockHigh,
        "clock64" => Special::Clock64,
        "globaltimer" => Special::GlobalTimer,
        "globaltimer_lo" => Special::GlobalTimerLow,
        "globaltimer_hi" => Special::GlobalTimerHigh,
        "total_smem_size" => Special::TotalSharedSize,
        "dynamic_smem_size" => Special::DynamicSharedSize,
        "cluster_ctarank" => Special::BlockRankInCluster,
        "cluster_nctarank" => Special::ClusterBlocks,
        "is_explicit_cluster" => Special::IsExplicitCluster,
        "aggr_smem_size" => Special::AggregateSharedSize,
        "current_graph_exec" => Special::CurrentGraph,
        "reserved_smem_offset_begin"
        | "reserved_smem_offset_end"
        | "reserved_smem_offset_cap"
        | "reserved_smem_offset_0"
        | "reserved_smem_offset_1" => Special::ReservedShared,
        _ => {
            let number = |prefix, name: &str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u8>().ok());
            let short = name.strip_suffix("_64");
            return match (number("envreg", name), number("pm", short.unwrap_or(name))) {
                (Some(index @ 0..32), _) => Named::Special(Special::Environment(index)),
                (_, Some(index @ 0..8)) => Named::Special(Special::PerformanceCounter { index, wide: short.is_some() }),
                _ => Named::Nothing,
            };
        }
    })
}

/// The type of a special register.
pub(super) fn special_type(special: Special) -> Type {
    match special {
        Special::IsExplicitCluster => Type::Pred,
        Special::Clock64 | Special::GlobalTimer | Special::GridId | Special::CurrentGraph => Type::U64,
        Special::PerformanceCounter { wide: true, .. } => Type::U64,
        Special::Environment(_) => Type::B32,
        _ => Type::U32,
    }
}

/// Whether it had 16 bits in old versions of PTX, and may still be read as such.
pub(super) fn was_16_bit(special: Special) -> bool {
    use Special::{BlockIndex, BlockSize, GridSize, ThreadIndex, Zero};
    matches!(special, ThreadIndex(_) | BlockSize(_) | BlockIndex(_) | GridSize(_) | Zero)
}
