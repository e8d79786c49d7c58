//! What instructions read and write: registers, constants, special registers, addresses.

use super::module::{Function, Register, Variable};
use super::special::Special;
use crate::Handle;

/// A predicate register, possibly negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// The register, of type [`Type::Pred`](super::Type::Pred).
    pub register: Handle<Register>,
    /// `!p`.
    pub negated: bool,
}

/// A value that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(Handle<Register>),
    /// A negated predicate register (`!p`), where PTX allows one.
    NotRegister(Handle<Register>),
    /// An integer register plus a constant (`%rd1+8`).
    Sum(Handle<Register>, i64),
    /// An integer constant, as 64 bits in two's complement.
    Integer(u64),
    /// The bits of an f32, for an operand of type f32 (or b32): `0fXXXXXXXX`, or a decimal rounded
    /// to f32.
    Single(u32),
    /// The bits of an f64, for an operand of type f64 (or b64): `0dXXXXXXXXXXXXXXXX` or a decimal.
    Double(u64),
    /// A special register.
    Special(Special),
    /// The address of a symbol plus an offset, in the symbol's own state space (`mov.u64 %rd1,
    /// tile+16;`).
    Address(Symbol, i64),
}

impl Operand {
    /// The register that it reads.
    pub fn register(&self) -> Option<Handle<Register>> {
        match *self {
            Operand::Register(register) | Operand::NotRegister(register) | Operand::Sum(register, _) => Some(register),
            _ => None,
        }
    }
}

/// A register to write, or `_`.
pub type Destination = Option<Handle<Register>>;

/// The operand in square brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    /// What the address starts from.
    pub base: AddressBase,
    /// Added to it, in bytes.
    pub offset: i64,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AddressBase {
    /// A register.
    Register(Handle<Register>),
    /// A variable.
    Variable(Handle<Variable>),
    /// Zero: the offset is the address.
    Absolute,
}

/// The callee of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function by name.
    Direct(Handle<Function>),
    /// A function whose address is in a register. The candidates come from the call's
    /// `.calltargets`; with a `.callprototype` instead, they are all functions of the module that
    /// match it.
    Indirect {
        /// The register.
        register: Handle<Register>,
        /// The functions that it may be.
        candidates: Vec<Handle<Function>>,
    },
}

/// An argument or a result of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallOperand {
    /// A `.param` variable of the caller.
    Variable(Handle<Variable>),
    /// A value passed directly.
    Value(Operand),
}

/// A variable or function, which has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Symbol {
    Variable(Handle<Variable>),
    Function(Handle<Function>),
}
