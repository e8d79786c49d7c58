//! The modifiers of arithmetic, and which of them each operation allows. `arithmetic.rs` and
//! `convert.rs` take all of an instruction's arithmetic modifiers with [`Context::modes`], then
//! check them with [`Context::allow`].

use super::context::Context;
use crate::errors::{InstructionError, Parsed, fault};
use crate::{FromName as _, Mode, ModeFlag, Precision, Rounding, Type};

/// A set of modifiers of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes(u32);

impl Modes {
    pub const NONE: Modes = Modes(0);
    pub const RN: Modes = Modes::round(Rounding::Nearest);
    pub const RZ: Modes = Modes::round(Rounding::Zero);
    pub const ROUND: Modes = Modes::RN.and(Modes::RZ).and(Modes::round(Rounding::Down)).and(Modes::round(Rounding::Up));
    pub const NEAREST_AWAY: Modes = Modes::round(Rounding::NearestAway);
    pub const INTEGER_ROUND: Modes = Modes::round(Rounding::IntegerNearest)
        .and(Modes::round(Rounding::IntegerZero))
        .and(Modes::round(Rounding::IntegerDown))
        .and(Modes::round(Rounding::IntegerUp));
    pub const APPROXIMATE: Modes = Modes::precision(Precision::Approximate);
    pub const FULL: Modes = Modes::precision(Precision::Full);
    pub const FTZ: Modes = Modes::flag(ModeFlag::FlushSubnormals);
    pub const SAT: Modes = Modes::flag(ModeFlag::Saturate);
    pub const NAN: Modes = Modes::flag(ModeFlag::PropagateNan);
    pub const XOR_SIGN: Modes = Modes::flag(ModeFlag::XorSignAbs);
    pub const RELU: Modes = Modes::flag(ModeFlag::Relu);
    pub const SAT_FINITE: Modes = Modes::flag(ModeFlag::SaturateFinite);
    pub const OUT_OF_BOUNDS: Modes = Modes::flag(ModeFlag::OutOfBoundsZero);
    /// A rounding or a precision is required.
    pub const NEEDED: Modes = Modes(1 << 31);
    /// All roundings and precisions: an instruction has at most one.
    const HOW: Modes =
        Modes::ROUND.and(Modes::NEAREST_AWAY).and(Modes::INTEGER_ROUND).and(Modes::APPROXIMATE).and(Modes::FULL);

    const fn round(rounding: Rounding) -> Modes {
        Modes(1 << rounding as u32)
    }

    const fn precision(precision: Precision) -> Modes {
        Modes(1 << (10 + precision as u32))
    }

    const fn flag(flag: ModeFlag) -> Modes {
        Modes(1 << (16 + flag as u32))
    }

    pub const fn and(self, other: Modes) -> Modes {
        Modes(self.0 | other.0)
    }

    pub const fn has(self, other: Modes) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn overlaps(self, other: Modes) -> bool {
        self.0 & other.0 != 0
    }
}

/// A modifier of arithmetic.
#[derive(Clone, Copy)]
enum Modifier {
    Rounding(Rounding),
    Precision(Precision),
    Flag(ModeFlag),
}

impl Modifier {
    /// The modifier of that name.
    fn of(name: &str) -> Option<Modifier> {
        let rounding = Rounding::from_name(name).map(Modifier::Rounding);
        let flag = || ModeFlag::from_name(name).map(Modifier::Flag);
        rounding.or_else(flag).or_else(|| Precision::from_name(name).map(Modifier::Precision))
    }

    /// The set of this modifier alone.
    fn modes(self) -> Modes {
        match self {
            Modifier::Rounding(rounding) => Modes::round(rounding),
            Modifier::Precision(precision) => Modes::precision(precision),
            Modifier::Flag(flag) => Modes::flag(flag),
        }
    }
}

/// The modifiers of arithmetic that an instruction has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenModes {
    pub mode: Mode,
    modes: Modes,
}

impl GivenModes {
    /// Whether any of these are among them.
    pub fn has_any(self, modes: Modes) -> bool {
        self.modes.overlaps(modes)
    }

    /// Whether it has a rounding.
    pub fn rounds(self) -> bool {
        self.has_any(Modes::ROUND.and(Modes::INTEGER_ROUND).and(Modes::NEAREST_AWAY))
    }
}

impl Context<'_, '_> {
    /// Takes the modifiers of arithmetic.
    pub fn modes(&mut self) -> Parsed<GivenModes> {
        let mut given = GivenModes { mode: Mode::default(), modes: Modes::NONE };
        while let Some(modifier) = self.take_first(Modifier::of) {
            let modes = modifier.modes();
            if given.has_any(modes) || Modes::HOW.has(modes) && given.has_any(Modes::HOW) {
                return self.misplaced_modifier();
            }
            given.modes = given.modes.and(modes);
            match modifier {
                Modifier::Rounding(rounding) => given.mode.rounding = rounding,
                Modifier::Precision(precision) => given.mode.precision = precision,
                Modifier::Flag(flag) => *given.mode.flag(flag) = true,
            }
            if modes == Modes::XOR_SIGN && !self.accept("abs") {
                return self.missing("`.xorsign.abs`");
            }
        }
        Ok(given)
    }

    /// The mode, if the operation allows all given modifiers for `ty`.
    pub fn allow(&self, given: GivenModes, allowed: Modes, ty: Type) -> Parsed<Mode> {
        let opcode = || self.opcode().to_owned();
        // Nothing allows both.
        let clamps_twice = given.modes.has(Modes::SAT.and(Modes::RELU));
        if clamps_twice || !allowed.has(given.modes) {
            let is_extra = |name: &str| {
                let modes = Modifier::of(name).map_or(Modes::NONE, Modifier::modes);
                !allowed.has(modes) || clamps_twice && modes == Modes::RELU
            };
            let found = self.statement.modifiers.iter().position(|word| is_extra(word.text)).unwrap_or(0);
            let modifier = self.statement.modifiers.get(found).map_or("", |word| word.text).to_owned();
            let error = InstructionError::ModifierOfType { opcode: opcode(), ty: ty.name().to_owned(), modifier };
            return fault(self.modifier_span(found), error);
        }
        if allowed.has(Modes::NEEDED) && !given.has_any(Modes::HOW) {
            let what = match (allowed.overlaps(Modes::ROUND), allowed.has(Modes::APPROXIMATE)) {
                (true, true) => "a rounding such as `.rn`, or `.approx`",
                (true, false) => "a rounding such as `.rn`",
                _ => "`.approx`",
            };
            return fault(self.name_span(), InstructionError::MissingModifier { opcode: opcode(), what });
        }
        Ok(given.mode)
    }
}
