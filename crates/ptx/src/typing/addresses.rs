//! Methods of [`Context`] that read addresses: operands in square brackets. They look names up as
//! `names.rs` does and change nothing else.

use super::context::Context;
use super::names::Resolved;
use crate::errors::{OperandError, Parsed, fault};
use crate::syntax::operands::{Name, Raw};
use crate::{Address, AddressBase, Kind, Space, Symbol};

impl<'t> Context<'_, 't> {
    /// Operand `index`: an address in `space`, in brackets.
    pub fn address(&mut self, index: usize, space: Space) -> Parsed<Address> {
        let operand = self.raw(index);
        let (name, offset) = match &operand.raw {
            Raw::Memory(None, offset) if space == Space::Local => {
                return Ok(Address { base: AddressBase::Absolute, offset: *offset });
            }
            Raw::Memory(None, _) => return fault(operand.span, OperandError::AbsoluteAddress),
            Raw::Memory(Some(name), offset) => (name, *offset),
            Raw::Indexed(name, index) if matches!(self.opcode(), "ld" | "ldu" | "st") => {
                (name, self.element_offset(name, *index)?)
            }
            other => {
                let expected = "an address in brackets";
                return fault(operand.span, OperandError::Kind { expected, found: other.describe() });
            }
        };
        Ok(Address { base: self.address_base(name, space)?, offset })
    }

    /// The state space of operand `index`, an address: `space`, or if that is generic and the
    /// operand names a `.shared` or `.local` variable, the variable's.
    pub fn space_of_name(&mut self, index: usize, space: Space) -> Parsed<Space> {
        let (Raw::Memory(Some(name), _) | Raw::Indexed(name, _)) = &self.raw(index).raw else { return Ok(space) };
        if space != Space::Generic {
            return Ok(space);
        }
        Ok(match self.resolve(name)? {
            Resolved::Symbol(Symbol::Variable(variable)) => match self.environment.module.variables[variable].space {
                named @ (Space::Shared | Space::Local) => named,
                _ => space,
            },
            _ => space,
        })
    }

    /// What an address in `space` starts from.
    pub fn address_base(&mut self, name: &Name<'t>, space: Space) -> Parsed<AddressBase> {
        Ok(match self.resolve(name)? {
            Resolved::Register(register) => {
                let found = self.environment.function.registers[register].ty;
                let fits = matches!(found.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
                if !fits || !matches!(found.bits(), 32 | 64) {
                    return fault(name.span, OperandError::NotAnAddress { name: name.text.to_owned(), found });
                }
                AddressBase::Register(register)
            }
            Resolved::Symbol(Symbol::Variable(variable)) => {
                let found = self.environment.module.variables[variable].space;
                let same = found == space
                    || space == Space::Generic && matches!(found, Space::Global | Space::Constant)
                    || space == Space::Global && found == Space::Constant
                    || space == Space::ClusterShared && found == Space::Shared;
                if !same {
                    let expected = match space {
                        Space::Generic => "a generic address".to_owned(),
                        space => format!("`.{}`", space.name()),
                    };
                    let name_text = name.text.to_owned();
                    return fault(name.span, OperandError::Space { name: name_text, found: found.name(), expected });
                }
                AddressBase::Variable(variable)
            }
            _ => {
                let expected = "a register or a variable in brackets";
                return fault(name.span, OperandError::Kind { expected, found: "another name" });
            }
        })
    }

    /// The byte offset of an element of an array.
    pub fn element_offset(&mut self, name: &Name<'t>, index: i64) -> Parsed<i64> {
        match self.resolve(name)? {
            Resolved::Symbol(Symbol::Variable(variable)) => {
                let bytes = self.environment.module.variables[variable].ty.bytes();
                Ok(index.wrapping_mul(bytes.into()))
            }
            _ => fault(name.span, OperandError::Kind { expected: "an array before `[`", found: "another name" }),
        }
    }
}
