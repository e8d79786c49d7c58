//! The names of special registers.

use crate::{Axis, Special, Type};

/// What a name is among the special registers.
pub(super) enum Named {
    Special(Special),
    /// PTX has it, this crate does not.
    Unsupported,
    /// It has parts, and none is named.
    NeedsPart,
    /// It has no such part.
    NoPart,
    /// It is no special register.
    Nothing,
}

/// The special register of that name and part.
pub(super) fn special(name: &str, part: Option<&str>) -> Named {
    let Some(name) = name.strip_prefix('%') else { return Named::Nothing };
    let vector: Option<fn(Axis) -> Special> = match name {
        "tid" => Some(Special::ThreadIndex),
        "ntid" => Some(Special::BlockSize),
        "ctaid" => Some(Special::BlockIndex),
        "nctaid" => Some(Special::GridSize),
        _ => None,
    };
    if let Some(vector) = vector {
        return match part {
            Some("x") => Named::Special(vector(Axis::X)),
            Some("y") => Named::Special(vector(Axis::Y)),
            Some("z") => Named::Special(vector(Axis::Z)),
            Some(_) => Named::NoPart,
            None => Named::NeedsPart,
        };
    }
    match scalar(name) {
        Named::Special(_) if part.is_some() => Named::NoPart,
        named => named,
    }
}

/// The special register of that name, which has no parts.
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
        "clusterid"
        | "nclusterid"
        | "cluster_ctaid"
        | "cluster_nctaid"
        | "cluster_ctarank"
        | "cluster_nctarank"
        | "is_explicit_cluster"
        | "aggr_smem_size"
        | "current_graph_exec" => return Named::Unsupported,
        _ => {
            let number = |prefix| name.strip_prefix(prefix).and_then(|rest: &str| rest.parse::<u8>().ok());
            let counter = name.trim_end_matches("_64");
            let counter =
                counter.strip_prefix("pm").is_some_and(|rest| rest.parse::<u8>().is_ok_and(|index| index < 8));
            return match number("envreg") {
                Some(index @ 0..32) => Named::Special(Special::Environment(index)),
                _ if counter || name.starts_with("reserved_smem_offset") => Named::Unsupported,
                _ => Named::Nothing,
            };
        }
    })
}

/// The type of a special register.
pub(super) fn special_type(special: Special) -> Type {
    match special {
        Special::Clock64 | Special::GlobalTimer | Special::GridId => Type::U64,
        Special::Environment(_) => Type::B32,
        _ => Type::U32,
    }
}
