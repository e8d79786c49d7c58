//! The names of special registers.

use crate::{Axis, Special, Type};

/// The special register of that name and part; `Err` if there is one that is not supported.
pub(super) fn special(name: &str, part: Option<&str>) -> Result<Option<Special>, ()> {
    let axis = || {
        Some(match part? {
            "x" => Axis::X,
            "y" => Axis::Y,
            "z" => Axis::Z,
            _ => return None,
        })
    };
    let Some(name) = name.strip_prefix('%') else { return Ok(None) };
    let vector = match name {
        "tid" => axis().map(Special::ThreadIndex),
        "ntid" => axis().map(Special::BlockSize),
        "ctaid" => axis().map(Special::BlockIndex),
        "nctaid" => axis().map(Special::GridSize),
        _ => None,
    };
    if vector.is_some() || part.is_some() {
        return Ok(vector);
    }
    Ok(Some(match name {
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
        | "current_graph_exec" => return Err(()),
        _ => {
            if let Some(number) = name.strip_prefix("envreg").and_then(|number| number.parse::<u8>().ok()) {
                return if number < 32 { Ok(Some(Special::Environment(number))) } else { Ok(None) };
            }
            let counter = name.strip_prefix("pm").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if counter || name.starts_with("reserved_smem_offset") {
                return Err(());
            }
            return Ok(None);
        }
    }))
}

/// The type of a special register.
pub(super) fn special_type(special: Special) -> Type {
    match special {
        Special::Clock64 | Special::GlobalTimer | Special::GridId => Type::U64,
        Special::Environment(_) => Type::B32,
        _ => Type::U32,
    }
}
