//! Handlers: the code of one instruction, for all lanes, and the macro that makes them. A handler
//! reads and writes the warp's registers and nothing else.

use ptx::{CarryOp, Mode, Precision, Rounding};

use super::registers::Registers;
use super::rows::Operands;

/// The code of one instruction: registers, operands, active lanes.
pub(crate) type Handler = fn(&mut Registers<'_>, &Operands, u32);

/// A [`Handler`] that computes one expression of one, two or three values in each lane. With `mode`
/// before it, the expression may use the modifiers in operand `e`. With `mode` or `cold`, it is
/// compiled for one instruction set only: it is slow or rare.
macro_rules! lanes {
    (@$hot:literal $mode:ident |$a:ident: $A:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::registers::Registers<'_>, operands: &$crate::lanes::rows::Operands, mask: u32) {
            let $mode = $crate::lanes::handler::unpack(operands.e);
            registers.map1::<$hot, $A, $R>(operands, mask, |$a| $body);
        }
        run as $crate::lanes::handler::Handler
    }};
    (@$hot:literal $mode:ident |$a:ident: $A:ty, $b:ident: $B:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::registers::Registers<'_>, operands: &$crate::lanes::rows::Operands, mask: u32) {
            let $mode = $crate::lanes::handler::unpack(operands.e);
            registers.map2::<$hot, $A, $B, $R>(operands, mask, |$a, $b| $body);
        }
        run as $crate::lanes::handler::Handler
    }};
    (@$hot:literal $mode:ident |$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::registers::Registers<'_>, operands: &$crate::lanes::rows::Operands, mask: u32) {
            let $mode = $crate::lanes::handler::unpack(operands.e);
            registers.map3::<$hot, $A, $B, $C, $R>(operands, mask, |$a, $b, $c| $body);
        }
        run as $crate::lanes::handler::Handler
    }};
    ($mode:ident => |$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::handler::lanes!(@false $mode |$($name: $Type),+| -> $R $body)
    };
    (cold |$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::handler::lanes!(@false _mode |$($name: $Type),+| -> $R $body)
    };
    (|$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::handler::lanes!(@true _mode |$($name: $Type),+| -> $R $body)
    };
}
pub(crate) use lanes;

/// The modifiers of arithmetic as operand `e`.
pub(crate) fn pack(mode: Mode) -> u32 {
    let rounding = match mode.rounding {
        Rounding::Default => 0,
        Rounding::Nearest => 1,
        Rounding::Zero => 2,
        Rounding::Down => 3,
        Rounding::Up => 4,
        Rounding::NearestAway => 5,
        Rounding::IntegerNearest => 6,
        Rounding::IntegerZero => 7,
        Rounding::IntegerDown => 8,
        Rounding::IntegerUp => 9,
    };
    let precision = match mode.precision {
        Precision::Exact => 0,
        Precision::Approximate => 1,
        Precision::Full => 2,
    };
    let flags = [
        mode.flush_subnormals,
        mode.saturate,
        mode.propagate_nan,
        mode.xor_sign_abs,
        mode.relu,
        mode.saturate_finite || mode.out_of_bounds_zero,
    ];
    let flags = flags.iter().enumerate().fold(0, |bits, (bit, &flag)| bits | u32::from(flag) << bit);
    rounding | precision << 4 | flags << 6
}

/// The reverse of [`pack`].
#[inline]
pub(crate) fn unpack(e: u32) -> Mode {
    const ROUNDINGS: [Rounding; 10] = [
        Rounding::Default,
        Rounding::Nearest,
        Rounding::Zero,
        Rounding::Down,
        Rounding::Up,
        Rounding::NearestAway,
        Rounding::IntegerNearest,
        Rounding::IntegerZero,
        Rounding::IntegerDown,
        Rounding::IntegerUp,
    ];
    const PRECISIONS: [Precision; 3] = [Precision::Exact, Precision::Approximate, Precision::Full];
    let flag = |bit: u32| e >> bit & 1 == 1;
    Mode {
        rounding: ROUNDINGS.get((e & 15) as usize).copied().unwrap_or_default(),
        precision: PRECISIONS.get((e >> 4 & 3) as usize).copied().unwrap_or_default(),
        flush_subnormals: flag(6),
        saturate: flag(7),
        propagate_nan: flag(8),
        xor_sign_abs: flag(9),
        relu: flag(10),
        // No instruction has both.
        saturate_finite: flag(11),
        out_of_bounds_zero: flag(11),
    }
}

/// Which operation with carry: addition, subtraction or the like, and whether it reads and writes
/// the carry flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    pub op: CarryOp,
    pub carry_in: bool,
    pub carry_out: bool,
}
