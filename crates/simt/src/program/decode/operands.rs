//! Decodes operands: from registers, immediates and symbols to rows. Adds constants to the kernel,
//! records uses of registers, and may emit helper steps.

use ptx::{Destination, Handle, Kind, Operand, Predicate, Register, Space, Special, Symbol, Type};

use super::function::{Decoded, FunctionDecoder, HELPER, Storage};
use crate::error::LoadErrorReason;
use crate::lanes::{self, ALWAYS, FIXED, NEGATED, NEVER, Operands, Registers, lanes};
use crate::program::code::{Action, Constant};
use crate::program::variables::function_address;

impl FunctionDecoder<'_, '_> {
    pub(super) fn type_of(&self, register: Handle<Register>) -> Type {
        self.function.registers[register].ty
    }

    fn misplaced_register<T>(&self, register: Handle<Register>) -> Decoded<T> {
        let Register { name, ty } = &self.function.registers[register];
        Err(LoadErrorReason::Misplaced { what: format!("register {name} of type .{}", ty.name()) })
    }

    /// The row of a register that is read, and its width in bits.
    fn read(&mut self, register: Handle<Register>) -> (u32, u32) {
        self.builder.read.insert((self.handle, register));
        self.uses.read(register);
        (self.rows[register.index()], self.type_of(register).bits())
    }

    /// The row of a value of up to 64 bits.
    pub(super) fn value(&mut self, operand: Operand, ty: Type) -> Decoded<u32> {
        match ty.bits() {
            1 => self.predicate(operand),
            8 | 16 | 32 => self.word(operand, ty),
            64 => self.wide(operand, ty),
            _ => Err(LoadErrorReason::Unsupported { what: format!("type .{} here", ty.name()) }),
        }
    }

    /// The row of a value of up to 32 bits; for a 64-bit register, its low half.
    pub(super) fn word(&mut self, operand: Operand, ty: Type) -> Decoded<u32> {
        match operand {
            Operand::Register(register) => match self.read(register) {
                (row, 8 | 16 | 32) => Ok(row),
                (row, 64) => {
                    let d = self.temporary_words(1);
                    let low = lanes!(|a: u64| -> u32 { a as u32 });
                    self.emit(HELPER, Action::Lanes(low, Operands { d, a: row, ..Operands::default() }));
                    Ok(d)
                }
                _ => self.misplaced_register(register),
            },
            Operand::Sum(register, addend) => {
                let (a, b) =
                    (self.word(Operand::Register(register), ty)?, self.word(Operand::Integer(addend as u64), ty)?);
                let d = self.temporary_words(1);
                let add = match self.type_of(register).bits() {
                    16 => lanes!(|a: u16, b: u16| -> u16 { a.wrapping_add(b) }),
                    _ => lanes!(|a: u32, b: u32| -> u32 { a.wrapping_add(b) }),
                };
                self.emit(HELPER, Action::Lanes(add, Operands { d, a, b, ..Operands::default() }));
                Ok(d)
            }
            Operand::Special(special) if !is_fixed(special) => {
                let d = self.temporary_words(1);
                self.emit(HELPER, Action::Special { which: special, d, wide: false });
                Ok(d)
            }
            Operand::Address(Symbol::Variable(variable), offset) if self.is_local(variable) => {
                let d = self.temporary_words(1);
                let offset = self.local_offset(variable).wrapping_add_signed(offset);
                self.emit(HELPER, Action::LocalAddress { d, wide: false, offset });
                Ok(d)
            }
            _ => {
                let constant = self.constant(operand, ty)?;
                Ok(self.builder.words.row(constant) | FIXED)
            }
        }
    }

    /// The row of a 64-bit value.
    pub(super) fn wide(&mut self, operand: Operand, ty: Type) -> Decoded<u32> {
        match operand {
            Operand::Register(register) => match self.read(register) {
                (row, 64) => Ok(row),
                _ => self.misplaced_register(register),
            },
            Operand::Sum(register, addend) => {
                let (a, b) =
                    (self.wide(Operand::Register(register), ty)?, self.wide(Operand::Integer(addend as u64), ty)?);
                let d = self.temporary_double();
                let add = lanes!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) });
                self.emit(HELPER, Action::Lanes(add, Operands { d, a, b, ..Operands::default() }));
                Ok(d)
            }
            Operand::Special(special) if !is_fixed(special) => {
                let d = self.temporary_double();
                self.emit(HELPER, Action::Special { which: special, d, wide: true });
                Ok(d)
            }
            Operand::Address(Symbol::Variable(variable), offset) if self.is_local(variable) => {
                let d = self.temporary_double();
                let offset = self.local_offset(variable).wrapping_add_signed(offset);
                self.emit(HELPER, Action::LocalAddress { d, wide: true, offset });
                Ok(d)
            }
            _ => {
                let constant = self.constant(operand, ty)?;
                Ok(self.builder.doubles.row(constant) | FIXED)
            }
        }
    }

    /// The two rows of a 128-bit register, low half first.
    pub(super) fn pair(&mut self, operand: Operand) -> Decoded<[u32; 2]> {
        match operand {
            Operand::Register(register) => match self.read(register) {
                (row, 128) => Ok([row, row + 1]),
                _ => self.misplaced_register(register),
            },
            _ => Err(LoadErrorReason::Misplaced { what: "an immediate of 128 bits".into() }),
        }
    }

    /// The two rows of a 128-bit register to write.
    pub(super) fn pair_destination(&mut self, register: Handle<Register>) -> Decoded<[u32; 2]> {
        self.uses.write(register);
        match self.type_of(register).bits() {
            128 => Ok([self.rows[register.index()], self.rows[register.index()] + 1]),
            _ => self.misplaced_register(register),
        }
    }

    /// A value known now, or when the kernel is launched.
    fn constant(&self, operand: Operand, ty: Type) -> Decoded<Constant> {
        let float = ty.kind() == Kind::Float;
        Ok(Constant::Bits(match operand {
            Operand::Integer(value) => value,
            Operand::Single(bits) if ty == Type::F64 => f64::from(f32::from_bits(bits)).to_bits(),
            Operand::Single(bits) if float && ty.bits() == 16 => {
                lanes::float_immediate(f64::from(f32::from_bits(bits)).to_bits(), ty)
            }
            Operand::Single(bits) => bits.into(),
            Operand::Double(bits) => lanes::float_immediate(bits, ty),
            Operand::Special(special) => return Ok(Constant::Special(special)),
            Operand::Address(Symbol::Function(function), offset) => {
                function_address(function).wrapping_add_signed(offset)
            }
            Operand::Address(Symbol::Variable(variable), offset) => {
                let address = self.variable_address(variable)?.wrapping_add_signed(offset);
                if self.builder.module.variables[variable].space == Space::Shared {
                    return Ok(Constant::Shared(address));
                }
                address
            }
            Operand::Register(register) | Operand::NotRegister(register) | Operand::Sum(register, _) => {
                return self.misplaced_register(register);
            }
        }))
    }

    /// The address of a variable in its own state space. A local variable's is not known yet.
    pub(super) fn variable_address(&self, handle: Handle<ptx::Variable>) -> Decoded<u64> {
        let variable = &self.builder.module.variables[handle];
        let found = match variable.space {
            Space::Shared => self.builder.shared.get(&handle).copied(),
            Space::Parameter => match self.storage.get(&handle) {
                Some(&Storage::Kernel(offset)) => Some(offset),
                _ => None,
            },
            _ => self.builder.addresses[handle.index()],
        };
        found.ok_or_else(|| match variable.space {
            Space::Parameter => LoadErrorReason::Misplaced { what: format!("parameter `{}`", variable.name) },
            _ => LoadErrorReason::ExternVariable { name: variable.name.clone() },
        })
    }

    pub(super) fn is_local(&self, variable: Handle<ptx::Variable>) -> bool {
        matches!(self.storage.get(&variable), Some(Storage::Local(_)))
    }

    pub(super) fn local_offset(&self, variable: Handle<ptx::Variable>) -> u64 {
        match self.storage.get(&variable) {
            Some(&Storage::Local(offset)) => offset,
            _ => 0,
        }
    }

    /// A predicate operand.
    pub(super) fn predicate(&mut self, operand: Operand) -> Decoded<u32> {
        match operand {
            Operand::Register(register) => self.predicate_register(Predicate { register, negated: false }),
            Operand::NotRegister(register) => self.predicate_register(Predicate { register, negated: true }),
            Operand::Special(Special::IsExplicitCluster) => {
                let a = self.word(operand, Type::U32)?;
                let d = self.temporary_predicate();
                self.emit(HELPER, Action::Lanes(is_set, Operands { d, a, ..Operands::default() }));
                Ok(d)
            }
            Operand::Integer(0) => Ok(NEVER),
            Operand::Integer(_) => Ok(ALWAYS),
            _ => Err(LoadErrorReason::Misplaced { what: "an operand that is not a predicate".into() }),
        }
    }

    pub(super) fn predicate_register(&mut self, predicate: Predicate) -> Decoded<u32> {
        match self.read(predicate.register) {
            (row, 1) => Ok(if predicate.negated { row | NEGATED } else { row }),
            _ => self.misplaced_register(predicate.register),
        }
    }

    /// The row to write a value of up to 64 bits to. `_` gets a row that nothing reads.
    pub(super) fn destination(&mut self, destination: Destination, ty: Type) -> Decoded<u32> {
        let Some(register) = destination else {
            return Ok(match ty.bits() {
                1 => self.temporary_predicate(),
                8 | 16 | 32 => self.temporary_words(1),
                64 => self.temporary_double(),
                _ => return Err(LoadErrorReason::Unsupported { what: format!("type .{} here", ty.name()) }),
            });
        };
        self.uses.write(register);
        let row = self.rows[register.index()];
        match (ty.bits(), self.type_of(register).bits()) {
            (1, 1) | (8 | 16 | 32, 8 | 16 | 32) | (64, 64) => Ok(row),
            _ => self.misplaced_register(register),
        }
    }
}

/// Whether a word is not zero.
fn is_set(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let result = registers.test2::<false, u32>(operands.a, operands.a, |word, _| word != 0);
    registers.set_predicate(operands.d, mask, result);
}

/// Whether a special register's row is the same in all warps of a block, and in all blocks with the
/// same rank in their clusters.
pub(super) fn is_fixed(special: Special) -> bool {
    !matches!(
        special,
        Special::ThreadIndex(_)
            | Special::BlockIndex(_)
            | Special::ClusterIndex(_)
            | Special::PerformanceCounter { .. }
            | Special::WarpId
            | Special::MultiprocessorId
            | Special::Clock
            | Special::ClockHigh
            | Special::Clock64
            | Special::GlobalTimer
            | Special::GlobalTimerLow
            | Special::GlobalTimerHigh
    )
}
