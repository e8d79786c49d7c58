//! Types `alloca`, `stacksave` and `stackrestore`: local memory whose size is known only at run
//! time.

use super::context::Context;
use crate::StackOp;
use crate::Type::*;
use crate::errors::{OperandError, Parsed, fault};

/// The default alignment of `alloca`.
const ALIGN: u32 = 8;
/// The largest alignment.
const MOST: u64 = 4096;

/// `alloca.u64 d, size{, align};`
pub(super) fn allocate(c: &mut Context<'_, '_>) -> Parsed<StackOp> {
    let ty = c.ty_of(&[U32, U64])?;
    c.operands_between(2..=3)?;
    let (dst, size) = (c.dst(0, ty)?, c.src(1, ty)?);
    let mut align = ALIGN;
    if c.count() == 3 {
        let value = c.immediate(2, MOST)?;
        if !value.is_power_of_two() {
            let (expected, found) = ("a power of two", "another number");
            return fault(c.raw(2).span, OperandError::Kind { expected, found });
        }
        align = value as u32;
    }
    Ok(StackOp::Allocate { ty, dst, size, align })
}

/// `stacksave.u64 d;`
pub(super) fn save(c: &mut Context<'_, '_>) -> Parsed<StackOp> {
    let ty = c.ty_of(&[U32, U64])?;
    c.operands(1)?;
    Ok(StackOp::Save { ty, dst: c.dst(0, ty)? })
}

/// `stackrestore.u64 a;`
pub(super) fn restore(c: &mut Context<'_, '_>) -> Parsed<StackOp> {
    let ty = c.ty_of(&[U32, U64])?;
    c.operands(1)?;
    Ok(StackOp::Restore { ty, src: c.src(0, ty)? })
}
