//! Decodes loads, stores, atomic operations and fences, and accesses to the rows that hold `.param`
//! variables of functions.

use ptx::{
    Address, AddressBase, AtomicOp, CacheOperator, Destination, EvictionHint, EvictionPriority, FenceProxies, Kind,
    Mode, Operand, Ordering, Scope, Space, Type,
};

use super::function::{COUNTED, Decoded, FunctionDecoder, HELPER, Storage};
use crate::error::LoadErrorReason;
use crate::instruction::AccessKind;
use crate::lanes::{self, FIXED, Handler, Operands, Update, has_atomic, lanes};
use crate::model::CacheHint;
use crate::program::access::{AddressOperand, Atomic, Eviction, Fence, Load, MemoryOperation, Order, Store};
use crate::program::code::{Action, Constant, Rows};
use crate::program::inspection::Rule;

/// What an address refers to.
enum Target {
    Memory(AddressOperand),
    /// A byte of the kernel's parameters.
    Kernel(u64),
    /// A byte of some rows of the frame.
    Rows(Rows, u64),
}

impl FunctionDecoder<'_, '_> {
    pub(super) fn atomic_vector(
        &mut self,
        reach: AddressOperand,
        update: Update,
        dsts: &[Destination],
        srcs: &[Operand],
        order: Order,
    ) -> Decoded<()> {
        let ty = update.ty;
        let mut elements = Vec::with_capacity(srcs.len());
        for (index, &src) in srcs.iter().enumerate() {
            let d = match dsts.get(index) {
                Some(&Some(register)) => Some(self.destination(Some(register), ty)?),
                _ => None,
            };
            elements.push((d, self.value(src, ty)?));
        }
        let rest = elements.split_off(1.min(elements.len())).into();
        let Some(&(d, a)) = elements.first() else { return Ok(()) };
        let width = ty.bytes() * srcs.len() as u32;
        let plain = MemoryOperation::atomic(self.origin, width);
        let operation = MemoryOperation { element: ty.bytes(), order, ..plain };
        let atomic = Atomic { operation, reach, update, d, a, b: a, rest };
        self.emit(COUNTED, Action::Atomic(Box::new(atomic)));
        Ok(())
    }

    pub(super) fn fence(&mut self, scope: Scope, proxies: Option<FenceProxies>) -> Decoded<()> {
        let orders_async =
            |space| matches!(proxies, Some(FenceProxies::Async(named)) if named == Space::Generic || named == space);
        let fence = Fence {
            scope: scope.into(),
            shared_to_async: orders_async(Space::Shared) || orders_async(Space::ClusterShared),
            global_to_async: orders_async(Space::Global),
            releases_maps: proxies == Some(FenceProxies::ReleaseTensorMaps),
        };
        self.emit(COUNTED, Action::Fence(fence));
        Ok(())
    }

    /// An address in memory, not of a parameter in rows.
    pub(super) fn reach(&mut self, space: Space, address: Address) -> Decoded<AddressOperand> {
        match self.target(space, address)? {
            Target::Memory(reach) => Ok(reach),
            _ => Err(LoadErrorReason::Misplaced { what: "a parameter's address".into() }),
        }
    }

    fn target(&mut self, space: Space, address: Address) -> Decoded<Target> {
        let offset = address.offset as u64;
        let slot = self.builder.accesses;
        self.builder.accesses += 1;
        let fixed = |decoder: &mut Self, space, offset| {
            let address = decoder.builder.doubles.row(Constant::Bits(0)) | FIXED;
            Target::Memory(AddressOperand { space, address, wide: true, frame: false, offset, slot })
        };
        Ok(match address.base {
            AddressBase::Absolute => fixed(self, space, offset),
            AddressBase::Variable(variable) => match self.storage.get(&variable) {
                Some(&Storage::Kernel(start)) => Target::Kernel(start.wrapping_add(offset)),
                Some(&Storage::Rows(rows)) => Target::Rows(rows, offset),
                Some(&Storage::Local(start)) => {
                    let address = self.builder.doubles.row(Constant::Bits(0)) | FIXED;
                    let offset = start.wrapping_add(offset);
                    Target::Memory(AddressOperand {
                        space: Space::Local,
                        address,
                        wide: true,
                        frame: true,
                        offset,
                        slot,
                    })
                }
                None => {
                    let start = self.variable_address(variable)?;
                    let own = self.builder.module.variables[variable].space;
                    let offset = start.wrapping_add(offset);
                    if own == Space::Shared {
                        let address = self.builder.doubles.row(Constant::Shared(0)) | FIXED;
                        Target::Memory(AddressOperand { space: own, address, wide: true, frame: false, offset, slot })
                    } else {
                        fixed(self, if space == Space::Generic { own } else { space }, offset)
                    }
                }
            },
            AddressBase::Register(register) => {
                let wide = self.type_of(register).bits() == 64;
                let operand = Operand::Register(register);
                let address = if wide { self.wide(operand, Type::U64)? } else { self.word(operand, Type::U32)? };
                // If a function takes the address of a parameter, that is in local memory.
                let local = space == Space::Parameter && !self.function.is_kernel;
                let space = if local { Space::Local } else { space };
                Target::Memory(AddressOperand { space, address, wide, frame: false, offset, slot })
            }
        })
    }

    /// Whether destinations have 64 bits; `_` has the type's width.
    fn has_wide(&self, registers: impl Iterator<Item = Destination>, ty: Type) -> bool {
        let register = registers.flatten().next();
        register.map_or(ty.bits(), |register| self.type_of(register).bits()) >= 64
    }

    /// `ld` and `ldu`, which `is_uniform`.
    pub(super) fn load(
        &mut self,
        (space, address): (Space, Address),
        ty: Type,
        dsts: &[Destination],
        (order, hint, eviction): (Order, CacheHint, Eviction),
        is_uniform: bool,
    ) -> Decoded<()> {
        let vector = || LoadErrorReason::Unsupported { what: format!("loads of {} times .{}", dsts.len(), ty.name()) };
        let wide = self.has_wide(dsts.iter().copied(), ty);
        let signed = ty.kind() == Kind::Signed;
        let target = self.target(space, address)?;
        let mut destinations = Vec::new();
        for &dst in dsts {
            match dst {
                Some(register) if ty.bits() == 128 => destinations.extend(self.pair_destination(register)?),
                None if ty.bits() == 128 => destinations.extend([self.temporary_double(), self.temporary_double()]),
                _ => destinations.push(self.destination(dst, if wide { Type::B64 } else { Type::B32 })?),
            }
        }
        let element = ty.bytes().min(8);
        let count = destinations.len() as u32;
        if !matches!(count, 1 | 2 | 4) || element * count > 16 {
            return Err(vector());
        }
        if !wide && element == 8 {
            return Err(LoadErrorReason::Misplaced { what: "a register narrower than the value".into() });
        }
        match target {
            Target::Memory(reach) => {
                let rows = std::array::from_fn(|index| destinations.get(index).copied().unwrap_or(0));
                // Elements of 128 bits are two of 64.
                let of_elements =
                    dsts.iter().flat_map(|&dst| [dst, dst].into_iter().take(destinations.len() / dsts.len()));
                self.uses.load(self.builder.instructions.len(), &of_elements.collect::<Vec<_>>());
                let plain = MemoryOperation::new(self.origin, AccessKind::Load, element * count);
                let operation = MemoryOperation { element, order, hint, eviction, ..plain };
                self.emit(COUNTED, Action::Load(Box::new(Load { operation, reach, count, rows, wide, signed })));
                if is_uniform {
                    self.inspect(Rule::UniformAddress { reach });
                }
            }
            Target::Kernel(start) => {
                for (index, d) in destinations.into_iter().enumerate() {
                    let offset = start + index as u64 * u64::from(element);
                    let constant = Constant::Parameter { offset, bytes: element, signed };
                    let pool = if wide { &mut self.builder.doubles } else { &mut self.builder.words };
                    let a = pool.row(constant) | FIXED;
                    let handler = lanes::copy(if wide { Type::B64 } else { Type::B32 });
                    let action = Action::Lanes(handler, Operands { d, a, ..Operands::default() });
                    self.emit(if index == 0 { COUNTED } else { HELPER }, action);
                }
            }
            Target::Rows(rows, start) => {
                for (index, d) in destinations.into_iter().enumerate() {
                    let counted = if index == 0 { COUNTED } else { HELPER };
                    let at = bit_position(rows, start + index as u64 * u64::from(element), element)?;
                    self.load_rows(counted, at, element, signed, d, wide)?;
                }
            }
        }
        Ok(())
    }

    /// Emits a read of a value from rows of the frame.
    fn load_rows(
        &mut self,
        counted: u32,
        at: BitPosition,
        element: u32,
        signed: bool,
        d: u32,
        wide: bool,
    ) -> Decoded<()> {
        if element == 8 {
            let handler = lanes!(|a: u32, b: u32| -> u64 { u64::from(b) << 32 | u64::from(a) });
            self.emit(counted, Action::Lanes(handler, Operands { d, a: at.row, b: at.row + 1, ..Operands::default() }));
            return Ok(());
        }
        let b = self.word(Operand::Integer(at.shift.into()), Type::U32)?;
        let (handler, ty): (Handler, Type) = match (element, signed) {
            (1, false) => (lanes!(|a: u32, shift: u32| -> u8 { (a >> (shift & 31)) as u8 }), Type::U32),
            (1, true) => (lanes!(|a: u32, shift: u32| -> i32 { i32::from((a >> (shift & 31)) as i8) }), Type::S32),
            (2, false) => (lanes!(|a: u32, shift: u32| -> u16 { (a >> (shift & 31)) as u16 }), Type::U32),
            (2, true) => (lanes!(|a: u32, shift: u32| -> i32 { i32::from((a >> (shift & 31)) as i16) }), Type::S32),
            (_, false) => (lanes::copy(Type::B32), Type::U32),
            (_, true) => (lanes::copy(Type::B32), Type::S32),
        };
        let narrow = if wide { self.temporary_words(1) } else { d };
        self.emit(counted, Action::Lanes(handler, Operands { d: narrow, a: at.row, b, ..Operands::default() }));
        if wide && let Some((handler, e)) = lanes::convert(twice(ty), ty, Mode::default(), true, false) {
            self.emit(HELPER, Action::Lanes(handler, Operands { d, a: narrow, e, ..Operands::default() }));
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        (space, address): (Space, Address),
        ty: Type,
        srcs: &[Operand],
        (order, eviction): (Order, Eviction),
    ) -> Decoded<()> {
        let target = self.target(space, address)?;
        let mut sources = Vec::new();
        self.uses.moving = true;
        for &src in srcs {
            match ty.bits() {
                128 => sources.extend(self.pair(src)?),
                _ => sources.push(self.value(src, ty)?),
            }
        }
        self.uses.moving = false;
        let element = ty.bytes().min(8);
        let count = sources.len() as u32;
        if !matches!(count, 1 | 2 | 4) || element * count > 16 {
            let what = format!("stores of {} times .{}", srcs.len(), ty.name());
            return Err(LoadErrorReason::Unsupported { what });
        }
        match target {
            Target::Memory(reach) => {
                let rows = std::array::from_fn(|index| sources.get(index).copied().unwrap_or(0));
                let plain = MemoryOperation::new(self.origin, AccessKind::Store, element * count);
                let operation = MemoryOperation { element, order, eviction, ..plain };
                self.emit(COUNTED, Action::Store(Box::new(Store { operation, reach, count, rows })));
            }
            Target::Kernel(_) => {
                return Err(LoadErrorReason::Misplaced { what: "a store to a kernel's parameter".into() });
            }
            Target::Rows(rows, start) => {
                for (index, a) in sources.into_iter().enumerate() {
                    let counted = if index == 0 { COUNTED } else { HELPER };
                    let at = bit_position(rows, start + index as u64 * u64::from(element), element)?;
                    self.store_rows(counted, at, element, a)?;
                }
            }
        }
        Ok(())
    }

    /// Emits a write of a value to rows of the frame.
    fn store_rows(&mut self, counted: u32, at: BitPosition, element: u32, a: u32) -> Decoded<()> {
        let d = at.row;
        if element == 8 {
            let low = lanes!(|a: u64| -> u32 { a as u32 });
            let high = lanes!(|a: u64| -> u32 { (a >> 32) as u32 });
            self.emit(counted, Action::Lanes(low, Operands { d, a, ..Operands::default() }));
            self.emit(HELPER, Action::Lanes(high, Operands { d: d + 1, a, ..Operands::default() }));
            return Ok(());
        }
        let c = self.word(Operand::Integer(at.shift.into()), Type::U32)?;
        let handler: Handler = match element {
            1 => lanes!(|old: u32, new: u8, shift: u32| -> u32 {
                old & !(0xff << (shift & 31)) | u32::from(new) << (shift & 31)
            }),
            2 => lanes!(|old: u32, new: u16, shift: u32| -> u32 {
                old & !(0xffff << (shift & 31)) | u32::from(new) << (shift & 31)
            }),
            _ => lanes!(|_old: u32, new: u32, _shift: u32| -> u32 { new }),
        };
        self.emit(counted, Action::Lanes(handler, Operands { d, a: d, b: a, c, ..Operands::default() }));
        Ok(())
    }

    /// What a load or store asks of L2. Streaming data is evicted first (PTX ISA, "Cache Operators").
    pub(super) fn eviction(&mut self, cache: CacheOperator, hint: EvictionHint) -> Decoded<Eviction> {
        Ok(match hint {
            EvictionHint::Policy(policy) => Eviction::Policy(self.value(policy, Type::B64)?),
            EvictionHint::Priority(EvictionPriority::Unchanged) if cache == CacheOperator::Streaming => {
                Eviction::Priority(EvictionPriority::First)
            }
            EvictionHint::Priority(priority) => Eviction::Priority(priority),
        })
    }

    /// What an atomic operation changes.
    pub(super) fn atomic_target(&mut self, space: Space, address: Address) -> Decoded<AddressOperand> {
        match self.target(space, address)? {
            Target::Memory(reach) => Ok(reach),
            _ => Err(LoadErrorReason::Misplaced { what: "an atomic operation on a parameter".into() }),
        }
    }

    pub(super) fn atomic(
        &mut self,
        reach: AddressOperand,
        update: Update,
        dst: Destination,
        a: Operand,
        b: Option<Operand>,
        order: Order,
    ) -> Decoded<()> {
        let Update { op, ty, .. } = update;
        let what = || format!("atom.{}.{}", op.name(), ty.name());
        if !has_atomic(op, ty) {
            return Err(LoadErrorReason::Unsupported { what: what() });
        }
        let mut value = |operand| match ty.bits() {
            // The rows of the two halves are adjacent.
            128 => self.pair(operand).map(|[low, _]| low),
            _ => self.value(operand, ty),
        };
        let a = value(a)?;
        let b = match b {
            Some(b) => value(b)?,
            None => a,
        };
        let d = match dst {
            Some(register) if ty.bits() == 128 => Some(self.pair_destination(register)?[0]),
            Some(_) => Some(self.destination(dst, ty)?),
            None => None,
        };
        let overwrites = op == AtomicOp::Exchange && d.is_none();
        let plain = MemoryOperation::atomic(self.origin, ty.bytes());
        let operation = MemoryOperation { order, overwrites, ..plain };
        let atomic = Atomic { operation, reach, update, d, a, b, rest: Box::default() };
        self.emit(COUNTED, Action::Atomic(Box::new(atomic)));
        Ok(())
    }

    /// Emits helpers that copy a value to rows of words: an argument.
    pub(super) fn spread(&mut self, operand: Operand, ty: Type) -> Decoded<Rows> {
        let a = self.value(operand, ty)?;
        let count = ty.bits().div_ceil(32);
        let rows = Rows { first: self.temporary_words(count), count };
        self.store_rows(HELPER, BitPosition { row: rows.first, shift: 0 }, ty.bytes().max(4), a)?;
        Ok(rows)
    }

    /// Emits helpers that copy a result from rows of words to a register.
    pub(super) fn gather(&mut self, rows: Rows, register: ptx::Handle<ptx::Register>) -> Decoded<()> {
        let ty = self.type_of(register);
        let d = self.destination(Some(register), ty)?;
        self.load_rows(HELPER, BitPosition { row: rows.first, shift: 0 }, ty.bytes().max(4), false, d, ty.bits() == 64)
    }
}

/// A value's place in rows of words: the first row, and its bit offset there.
#[derive(Clone, Copy)]
struct BitPosition {
    row: u32,
    shift: u32,
}

fn bit_position(rows: Rows, offset: u64, bytes: u32) -> Decoded<BitPosition> {
    let inside = offset.checked_add(bytes.into()).is_some_and(|end| end <= u64::from(rows.count) * 4);
    if !inside || !offset.is_multiple_of(bytes.into()) {
        let what = format!("a parameter's byte {offset}, for {bytes} bytes,");
        return Err(LoadErrorReason::Misplaced { what });
    }
    Ok(BitPosition { row: rows.first + (offset / 4) as u32, shift: (offset % 4) as u32 * 8 })
}

/// Which caches a load asks for.
pub(super) fn hint(ordering: Ordering, cache: CacheOperator, non_coherent: bool) -> CacheHint {
    match cache {
        _ if ordering != Ordering::Weak => CacheHint::Bypass,
        _ if non_coherent => CacheHint::ReadOnly,
        CacheOperator::AllLevels | CacheOperator::Streaming => CacheHint::Cached,
        CacheOperator::GlobalLevel | CacheOperator::LastUse | CacheOperator::Volatile => CacheHint::Bypass,
        CacheOperator::Default | CacheOperator::WriteBack | CacheOperator::WriteThrough => CacheHint::None,
    }
}

fn twice(ty: Type) -> Type {
    if ty == Type::S32 { Type::S64 } else { Type::U64 }
}
