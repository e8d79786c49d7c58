//! What a name means as a special register, and the types of special registers. `names.rs` and
//! `operands.rs` look them up.

use crate::{Axis, FromName as _, Special, Type};

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
    if let Some(vector) = Special::vector(name) {
        return match part {
            Some("w") => Named::Special(Special::Zero),
            Some(part) => Axis::from_name(part).map_or(Named::NoPart, |axis| Named::Special(vector(axis))),
            None => Named::NeedsPart,
        };
    }
    match Special::scalar(name) {
        Some(_) if part.is_some() => Named::NoPart,
        Some(special) => Named::Special(special),
        None => Named::Nothing,
    }
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
