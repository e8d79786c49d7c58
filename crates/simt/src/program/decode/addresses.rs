//! Decodes instructions on addresses as values: conversions between state spaces and between the
//! blocks of a cluster, and tests which space an address is in.

use std::ops::Range;

use ptx::{BinaryOp, BooleanOp, Comparison, Destination, Operand, Space, Type};

use super::function::found;
use super::function::{Decoded, FunctionDecoder, HELPER};
use crate::address::{BLOCK_WINDOW_BYTES, WINDOW_BYTES, rank_of};
use crate::error::LoadErrorReason;
use crate::lanes::{self, ALWAYS, FIXED, Handler, NEVER, Operands, Registers, lanes};
use crate::program::code::{Action, Constant};
use crate::program::variables::{constants, window};

impl FunctionDecoder<'_, '_> {
    pub(super) fn convert_address(
        &mut self,
        space: Space,
        to_generic: bool,
        ty: Type,
        dst: Destination,
        src: Operand,
    ) -> Decoded<()> {
        let (a, d) = (self.value(src, ty)?, self.destination(dst, ty)?);
        // If a function takes the address of a parameter, that is in local memory.
        let space = if space == Space::Parameter && !self.function.is_kernel { Space::Local } else { space };
        let base = window(space);
        if base == 0 || ty.bits() != 64 {
            // Generic, global and constant addresses are the same numbers; 32-bit addresses have no
            // windows.
            self.lanes(lanes::copy(ty), Operands { d, a, ..Operands::default() });
            return Ok(());
        }
        let b = self.wide(Operand::Integer(base), Type::U64)?;
        let handler: Handler = if to_generic {
            lanes!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) })
        } else {
            lanes!(|a: u64, b: u64| -> u64 { a.wrapping_sub(b) })
        };
        self.lanes(handler, Operands { d, a, b, ..Operands::default() });
        Ok(())
    }

    /// `mapa`: the same place in another block's memory. An invalid rank gives an address that is
    /// in no block.
    pub(super) fn map_to_block(&mut self, ty: Type, dst: Destination, src: Operand, rank: Operand) -> Decoded<()> {
        let (a, b) = (self.value(src, ty)?, self.word(rank, Type::U32)?);
        let d = self.destination(dst, ty)?;
        let handler: Handler = match ty.bits() {
            32 => lanes!(cold |a: u32, rank: u32| -> u32 { map_address(a.into(), rank) as u32 }),
            _ => lanes!(cold |a: u64, rank: u32| -> u64 { map_address(a, rank) }),
        };
        self.lanes(handler, Operands { d, a, b, ..Operands::default() });
        Ok(())
    }

    /// `getctarank`.
    pub(super) fn rank_of_address(&mut self, ty: Type, dst: Destination, src: Operand) -> Decoded<()> {
        let (a, d) = (self.value(src, ty)?, self.destination(dst, Type::U32)?);
        let handler: Handler = match ty.bits() {
            32 => lanes!(cold |a: u32| -> u32 { rank_of(u64::from(a) & (WINDOW_BYTES - 1)) as u32 }),
            _ => lanes!(cold |a: u64| -> u32 { rank_of(a & (WINDOW_BYTES - 1)) as u32 }),
        };
        self.lanes(handler, Operands { d, a, ..Operands::default() });
        Ok(())
    }

    pub(super) fn is_space(&mut self, space: Space, dst: Destination, src: Operand) -> Decoded<()> {
        let d = self.destination(dst, Type::Pred)?;
        let wide = src.register().is_none_or(|register| self.type_of(register).bits() == 64);
        if !wide {
            return Err(LoadErrorReason::Unsupported { what: "isspacep of a 32-bit address".into() });
        }
        let a = self.wide(src, Type::U64)?;
        if space == Space::Shared {
            // The block's own part of the cluster's shared memory.
            let b = self.builder.doubles.row(Constant::Shared(window(space))) | FIXED;
            self.lanes(in_block, Operands { d, a, b, ..Operands::default() });
            return Ok(());
        }
        let handler: Handler = match space {
            Space::ClusterShared => |registers, operands, mask| in_window(registers, operands, mask, Space::Shared),
            Space::Local => |registers, operands, mask| in_window(registers, operands, mask, Space::Local),
            Space::Parameter => |registers, operands, mask| in_window(registers, operands, mask, Space::Parameter),
            Space::Global => |registers, operands, mask| {
                let constant = among_constants(registers, operands);
                let global = registers.test2::<false, u64>(operands.a, operands.a, is_global);
                registers.set_predicate(operands.d, mask, global & !constant);
            },
            Space::Constant => |registers, operands, mask| {
                let constant = among_constants(registers, operands);
                registers.set_predicate(operands.d, mask, constant);
            },
            Space::Generic | Space::Shared => {
                return Err(LoadErrorReason::Unsupported { what: format!("isspacep.{}", space.name()) });
            }
        };
        let [b, c] = match space {
            Space::Global | Space::Constant => {
                let Range { start, end } = constants(self.builder.module, self.builder.addresses);
                [self.wide(Operand::Integer(start), Type::U64)?, self.wide(Operand::Integer(end), Type::U64)?]
            }
            _ => [a, a],
        };
        self.lanes(handler, Operands { d, a, b, c, ..Operands::default() });
        Ok(())
    }

    /// `istypep`: compares an address with that of each such variable.
    pub(super) fn is_type(&mut self, ty: Type, dst: Destination, src: Operand) -> Decoded<()> {
        let a = self.wide(src, Type::U64)?;
        let d = self.destination(dst, Type::Pred)?;
        let copy = found(lanes::predicate_logic(BinaryOp::And), || "istypep".into())?;
        self.lanes(copy, Operands { d, a: NEVER, b: ALWAYS, ..Operands::default() });
        let equal = found(lanes::compare(Comparison::Equal, Type::U64, false), || "istypep".into())?;
        let variables = self.builder.module.variables.iter().filter(|(_, variable)| variable.ty == ty);
        let addresses: Vec<u64> = variables.filter_map(|(handle, _)| self.builder.addresses[handle.index()]).collect();
        for address in addresses {
            let b = self.wide(Operand::Integer(address), Type::U64)?;
            let e = lanes::combination(Some(BooleanOp::Or), self.temporary_predicate());
            self.emit(HELPER, Action::Lanes(equal, Operands { d, a, b, c: d, e }));
        }
        Ok(())
    }
}

/// The lanes whose address `a` is in the range of the module's constants: from `b` to less than
/// `c`.
fn among_constants(registers: &Registers<'_>, operands: &Operands) -> u32 {
    registers.test2::<false, u64>(operands.a, operands.b, |address, start| address >= start)
        & registers.test2::<false, u64>(operands.a, operands.c, |address, end| address < end)
}

fn is_global(address: u64, _: u64) -> bool {
    crate::address::space_of(address) == Space::Global
}

/// Maps an address to the same place in the block `rank` of the cluster.
#[inline(always)]
fn map_address(address: u64, rank: u32) -> u64 {
    const RANKS: u64 = WINDOW_BYTES - BLOCK_WINDOW_BYTES;
    let start = (u64::from(rank) * BLOCK_WINDOW_BYTES).min(RANKS);
    address & !RANKS | start
}

/// Whether an address is in the shared memory of the block that starts at the other operand.
fn in_block(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let within = |address: u64, start: u64| address.wrapping_sub(start) < BLOCK_WINDOW_BYTES;
    let result = registers.test2::<false, u64>(operands.a, operands.b, within);
    registers.set_predicate(operands.d, mask, result);
}

fn in_window(registers: &mut Registers<'_>, operands: &Operands, mask: u32, space: Space) {
    let result =
        registers.test2::<false, u64>(operands.a, operands.a, |address, _| crate::address::space_of(address) == space);
    registers.set_predicate(operands.d, mask, result);
}
