//! The modifiers of arithmetic: which there are, and which of them an operation allows.

use super::Context;
use crate::errors::{InstructionError, Parsed, fault};
use crate::{Mode, Precision, Rounding, Type};

/// A set of modifiers of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes(u32);

impl Modes {
    pub const NONE: Modes = Modes(0);
    pub const RN: Modes = Modes(1);
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
    /// A rounding or a precision must be named.
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

/// The modifiers that an instruction has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GivenModes {
    pub mode: Mode,
    bits: u32,
    /// Index of the first among the instruction's modifiers.
    first: usize,
}

impl GivenModes {
    /// Those that say how to round.
    pub fn rounds(self) -> Modes {
        Modes(self.bits & (Modes::ROUND.0 | Modes::INTEGER_ROUND.0 | Modes::NEAREST_AWAY.0))
    }
}

impl Context<'_, '_> {
    /// Takes the modifiers of arithmetic that come next.
    pub fn modes(&mut self) -> Parsed<GivenModes> {
        let mut given = GivenModes { first: self.next, ..GivenModes::default() };
        while let Some(name) = self.modifier() {
            let mode = &mut given.mode;
            let mut round = |rounding, bit| {
                mode.rounding = rounding;
                bit
            };
            let bit = match name {
                "rn" => round(Rounding::Nearest, 1),
                "rz" => round(Rounding::Zero, 1 << 1),
                "rm" => round(Rounding::Down, 1 << 2),
                "rp" => round(Rounding::Up, 1 << 3),
                "rni" => round(Rounding::IntegerNearest, 1 << 4),
                "rzi" => round(Rounding::IntegerZero, 1 << 5),
                "rmi" => round(Rounding::IntegerDown, 1 << 6),
                "rpi" => round(Rounding::IntegerUp, 1 << 7),
                "rna" => round(Rounding::NearestAway, Modes::NEAREST_AWAY.0),
                "approx" => {
                    mode.precision = Precision::Approximate;
                    Modes::APPROXIMATE.0
                }
                "full" => {
                    mode.precision = Precision::Full;
                    Modes::FULL.0
                }
                "ftz" => {
                    mode.flush_subnormals = true;
                    Modes::FTZ.0
                }
                "sat" => {
                    mode.saturate = true;
                    Modes::SAT.0
                }
                "NaN" => {
                    mode.propagate_nan = true;
                    Modes::NAN.0
                }
                "relu" => {
                    mode.relu = true;
                    Modes::RELU.0
                }
                "xorsign" => {
                    mode.xor_sign_abs = true;
                    Modes::XOR_SIGN.0
                }
                _ => break,
            };
            let how = Modes::ROUND.0 | Modes::INTEGER_ROUND.0 | Modes::NEAREST_AWAY.0 | 0b11 << 8;
            if given.bits & bit != 0 || (bit & how != 0 && given.bits & how != 0) {
                return self.unknown_modifier();
            }
            given.bits |= bit;
            self.next += 1;
            if bit == Modes::XOR_SIGN.0 && !self.accept("abs") {
                return self.missing("`.xorsign.abs`");
            }
        }
        Ok(given)
    }

    /// The mode, if the operation on `ty` allows all of its modifiers.
    pub fn allow(&self, given: GivenModes, allowed: Modes, ty: Type) -> Parsed<Mode> {
        let opcode = || self.opcode().to_owned();
        let both = Modes::SAT.0 | Modes::RELU.0;
        let extra = if given.bits & both == both { Modes::RELU.0 } else { given.bits & !allowed.0 };
        if extra != 0 {
            let name = modifier_name(extra & extra.wrapping_neg());
            let found = self.statement.modifiers.iter().skip(given.first).position(|word| word.text == name);
            let span = self.modifier_span(given.first + found.unwrap_or(0));
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

fn modifier_name(bit: u32) -> &'static str {
    const NAMES: [&str; 16] = [
        "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "approx", "full", "ftz", "sat", "NaN", "xorsign", "relu",
        "rna",
    ];
    NAMES[bit.trailing_zeros() as usize % NAMES.len()]
}
