//! The modifiers of arithmetic, and which of them each operation allows. `arithmetic.rs` and
//! `convert.rs` take all of an instruction's arithmetic modifiers with [`Context::modes`], then
//! check them with [`Context::allow`].

use super::context::Context;
use crate::errors::{InstructionError, Parsed, fault};
use crate::{Mode, Precision, Rounding, Type};

/// A set of modifiers of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes(u32);

impl Modes {
    pub const NONE: Modes = Modes(0);
    pub const RN: Modes = Modes(1);
    pub const RZ: Modes = Modes(1 << 1);
    pub const ROUND: Modes = Modes(0b1111);
    pub const INTEGER_ROUND: Modes = Modes(0b1111_0000);
    pub const APPROXIMATE: Modes = Modes(1 << 8);
    pub const FULL: Modes = Modes(1 << 9);
    pub const FTZ: Modes = Modes(1 << 10);
    pub const SAT: Modes = Modes(1 << 11);
    pub const NAN: Modes = Modes(1 << 12);
    pub const XOR_SIGN: Modes = Modes(1 << 13);
    pub const RELU: Modes = Modes(1 << 14);
    pub const NEAREST_AWAY: Modes = Modes(1 << 15);
    pub const SAT_FINITE: Modes = Modes(1 << 16);
    pub const OUT_OF_BOUNDS: Modes = Modes(1 << 17);
    /// A rounding or a precision is required.
    pub const NEEDED: Modes = Modes(1 << 31);

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

/// The modifiers of arithmetic that an instruction has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GivenModes {
    pub mode: Mode,
    bits: u32,
}

impl GivenModes {
    /// Whether any of these are among them.
    pub fn has_any(self, modes: Modes) -> bool {
        Modes(self.bits).overlaps(modes)
    }

    /// The rounding modifiers among them.
    pub fn rounds(self) -> Modes {
        Modes(self.bits & (Modes::ROUND.0 | Modes::INTEGER_ROUND.0 | Modes::NEAREST_AWAY.0))
    }
}

impl Context<'_, '_> {
    /// Takes the modifiers of arithmetic.
    pub fn modes(&mut self) -> Parsed<GivenModes> {
        let mut given = GivenModes::default();
        while let Some(place) = self.take_first(|name| NAMES.iter().position(|&known| known == name)) {
            let bit = 1 << place;
            let mode = &mut given.mode;
            match NAMES[place] {
                "rn" => mode.rounding = Rounding::Nearest,
                "rz" => mode.rounding = Rounding::Zero,
                "rm" => mode.rounding = Rounding::Down,
                "rp" => mode.rounding = Rounding::Up,
                "rni" => mode.rounding = Rounding::IntegerNearest,
                "rzi" => mode.rounding = Rounding::IntegerZero,
                "rmi" => mode.rounding = Rounding::IntegerDown,
                "rpi" => mode.rounding = Rounding::IntegerUp,
                "rna" => mode.rounding = Rounding::NearestAway,
                "approx" => mode.precision = Precision::Approximate,
                "full" => mode.precision = Precision::Full,
                "ftz" => mode.flush_subnormals = true,
                "sat" => mode.saturate = true,
                "satfinite" => mode.saturate_finite = true,
                "NaN" => mode.propagate_nan = true,
                "relu" => mode.relu = true,
                "oob" => mode.out_of_bounds_zero = true,
                _ => mode.xor_sign_abs = true,
            }
            let how = Modes::ROUND.0 | Modes::INTEGER_ROUND.0 | Modes::NEAREST_AWAY.0 | 0b11 << 8;
            if given.bits & bit != 0 || (bit & how != 0 && given.bits & how != 0) {
                return self.misplaced_modifier();
            }
            given.bits |= bit;
            if bit == Modes::XOR_SIGN.0 && !self.accept("abs") {
                return self.missing("`.xorsign.abs`");
            }
        }
        Ok(given)
    }

    /// The mode, if the operation allows all given modifiers for `ty`.
    pub fn allow(&self, given: GivenModes, allowed: Modes, ty: Type) -> Parsed<Mode> {
        let opcode = || self.opcode().to_owned();
        let both = Modes::SAT.0 | Modes::RELU.0;
        let extra = if given.bits & both == both { Modes::RELU.0 } else { given.bits & !allowed.0 };
        if extra != 0 {
            let name = modifier_name(extra & extra.wrapping_neg());
            let found = self.statement.modifiers.iter().position(|word| word.text == name);
            let span = self.modifier_span(found.unwrap_or(0));
            let (ty, modifier) = (ty.name().to_owned(), name.to_owned());
            return fault(span, InstructionError::ModifierOfType { opcode: opcode(), ty, modifier });
        }
        let how = Modes::ROUND.0 | Modes::INTEGER_ROUND.0 | Modes::NEAREST_AWAY.0 | 0b11 << 8;
        if allowed.has(Modes::NEEDED) && given.bits & how == 0 {
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

/// The modifiers, each at the index of its bit in [`Modes`].
const NAMES: [&str; 18] = [
    "rn",
    "rz",
    "rm",
    "rp",
    "rni",
    "rzi",
    "rmi",
    "rpi",
    "approx",
    "full",
    "ftz",
    "sat",
    "NaN",
    "xorsign",
    "relu",
    "rna",
    "satfinite",
    "oob",
];

fn modifier_name(bit: u32) -> &'static str {
    NAMES[bit.trailing_zeros() as usize % NAMES.len()]
}
