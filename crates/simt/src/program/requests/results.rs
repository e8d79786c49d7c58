//! What each instruction's result is, as a form.

use ptx::{
    Address, AddressBase, BinaryOp, ComputeOp, Handle, Kind, Op, Operand, Register, Space, Special, Symbol, TernaryOp,
};
use ptx::{Type, Variable};

use super::body::{Body, Place, is_integer};
use super::forms::{Form, Forms, Key, Value, Zeros};

/// The start of a window is a multiple of 2 to this.
const WINDOW_ZEROS: u32 = 24;

/// The values of a function's registers, at one of its instructions.
pub(super) struct Registers<'f> {
    body: &'f Body<'f>,
    /// The place in `state` of registers that are written several times.
    slots: Vec<Option<usize>>,
    pub forms: Forms,
    /// The values of registers that are written once.
    single: Vec<Option<Value>>,
    /// The values of the others, now.
    pub state: Vec<Value>,
    position: usize,
}

impl<'f> Registers<'f> {
    /// At a function's beginning.
    pub fn new(body: &'f Body<'f>) -> Self {
        let mut writes = vec![0u32; body.registers];
        body.writes.iter().flat_map(|all| all.iter()).for_each(|register| writes[register.index()] += 1);
        let mut slots = vec![None; body.registers];
        let mut many = 0;
        for (slot, _) in slots.iter_mut().zip(&writes).filter(|(_, writes)| **writes > 1) {
            *slot = Some(many);
            many += 1;
        }
        let single = vec![None; body.registers];
        Self { body, slots, forms: Forms::default(), single, state: vec![0; many], position: 0 }
    }

    /// The registers in `state`.
    pub fn of_state(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|&register| self.slots[register].is_some()).collect()
    }

    /// Executes the instruction at a position. Returns the address of its access, if it may be
    /// counted with others, or combined.
    pub fn step(&mut self, position: usize) -> Option<Form> {
        self.position = position;
        let address = self.access(&self.body.instructions[position].op);
        self.execute();
        address
    }

    fn register(&mut self, register: Handle<Register>) -> Value {
        let index = register.index();
        let found = match self.slots[index] {
            Some(slot) => Some(self.state[slot]),
            None => self.single[index],
        };
        found.unwrap_or_else(|| {
            let root = self.forms.root(Key::Early(index), Zeros::Known(0), false);
            let wide = self.body.writes_wide(index);
            self.forms.alone(root, wide)
        })
    }

    fn variable(&mut self, variable: Handle<Variable>, offset: i64, wide: bool) -> Value {
        match (self.body.place)(variable) {
            Place::At(address) => self.forms.constant((address as i64).wrapping_add(offset), wide),
            Place::Shared(address) => {
                let root = self.forms.root(Key::SharedStart, Zeros::Known(WINDOW_ZEROS), true);
                let start = self.forms.alone(root, wide);
                let offset = self.forms.constant((address as i64).wrapping_add(offset), wide);
                self.forms.add(start, 1, offset)
            }
            Place::MultipleOf(multiple) => {
                let zeros = Zeros::Known(multiple.trailing_zeros());
                let root = self.forms.root(Key::Variable(variable), zeros, true);
                let start = self.forms.alone(root, wide);
                let offset = self.forms.constant(offset, wide);
                self.forms.add(start, 1, offset)
            }
        }
    }

    fn operand(&mut self, operand: Operand, ty: Type) -> Value {
        let wide = ty.bits() == 64;
        match operand {
            Operand::Register(register) => {
                let value = self.register(register);
                match self.forms.is_wide(value) == wide {
                    true => value,
                    false => self.forms.computed(Key::Converted(ty, ty, value), &[value], Zeros::Known(0), wide),
                }
            }
            Operand::Sum(register, offset) => {
                let (value, offset) = (self.register(register), self.forms.constant(offset, wide));
                self.forms.add(value, 1, offset)
            }
            Operand::Integer(bits) => self.forms.constant(bits as i64, wide),
            Operand::Address(Symbol::Variable(variable), offset) => self.variable(variable, offset, wide),
            Operand::Special(special) => {
                let is_uniform = match special {
                    Special::BlockIndex(_) | Special::GridSize(_) | Special::BlockSize(_) => Some(true),
                    Special::ThreadIndex(_) | Special::LaneId => Some(false),
                    _ => None,
                };
                let key = match is_uniform {
                    Some(_) => Key::Special(special),
                    None => Key::Result(self.position, usize::MAX),
                };
                let root = self.forms.root(key, Zeros::Known(0), is_uniform == Some(true));
                self.forms.alone(root, wide)
            }
            _ => {
                let root = self.forms.root(Key::Result(self.position, usize::MAX), Zeros::Known(0), false);
                self.forms.alone(root, wide)
            }
        }
    }

    /// The address of an access that may be counted with others, or combined.
    fn access(&mut self, op: &Op) -> Option<Form> {
        let (Op::Load { address, space, .. } | Op::Store { address, space, .. } | Op::Atomic { address, space, .. }) =
            op
        else {
            return None;
        };
        if *space == Space::Parameter {
            return None;
        }
        let value = self.address(address);
        Some(self.forms.form(value).clone())
    }

    fn address(&mut self, address: &Address) -> Value {
        match address.base {
            AddressBase::Register(register) => {
                let base = self.register(register);
                let wide = self.forms.is_wide(base);
                let offset = self.forms.constant(address.offset, wide);
                self.forms.add(base, 1, offset)
            }
            // As wide as any: it is a constant.
            AddressBase::Variable(variable) => self.variable(variable, address.offset, false),
            AddressBase::Absolute => self.forms.constant(address.offset, true),
        }
    }

    /// Sets what the instruction at the position writes.
    fn execute(&mut self) {
        let position = self.position;
        let instruction = &self.body.instructions[position];
        let computed = self.result(&instruction.op);
        for (index, &register) in self.body.writes[position].iter().enumerate() {
            let wide = self.body.writes_wide(register.index());
            let mut value = match computed {
                Some(value) if self.forms.is_wide(value) == wide => value,
                _ => {
                    let root =
                        self.forms.root(Key::Result(position, index), Zeros::Known(0), loads_uniform(&instruction.op));
                    self.forms.alone(root, wide)
                }
            };
            if instruction.guard.is_some() {
                let old = self.register(register);
                let root = self.forms.root(Key::Result(position, index), Zeros::Least(vec![old, value]), false);
                value = self.forms.alone(root, wide);
            }
            match self.slots[register.index()] {
                Some(slot) => self.state[slot] = value,
                None => self.single[register.index()] = Some(value),
            }
        }
    }

    /// The result of an instruction with one, if it is an integer of a register's width.
    fn result(&mut self, op: &Op) -> Option<Value> {
        Some(match op {
            Op::Compute(ComputeOp::Move { ty, src, .. }) if matches!(ty.bits(), 32 | 64) => self.operand(*src, *ty),
            Op::Load { space: Space::Parameter, address, dsts, ty, .. } if dsts.len() == 1 => {
                let AddressBase::Variable(variable) = address.base else { return None };
                let root = self.forms.root(Key::Parameter(variable, address.offset), Zeros::Known(0), true);
                self.forms.alone(root, ty.bits() == 64)
            }
            Op::Compute(ComputeOp::ConvertAddress { space, to_generic, ty, src, .. }) => {
                let value = self.operand(*src, *ty);
                if ty.bits() == 32 || !matches!(space, Space::Shared | Space::Local | Space::ClusterShared) {
                    return Some(value);
                }
                let root = self.forms.root(Key::Window(*space), Zeros::Known(WINDOW_ZEROS), true);
                let window = self.forms.alone(root, true);
                self.forms.add(window, if *to_generic { 1 } else { -1 }, value)
            }
            Op::Compute(ComputeOp::Convert { to, from, src, .. }) => self.convert(*to, *from, *src)?,
            Op::Compute(ComputeOp::Binary { op, ty, a, b, .. }) if is_integer(*ty) => self.binary(*op, *ty, *a, *b),
            Op::Compute(ComputeOp::Ternary { op, ty, a, b, c, .. }) if is_integer(*ty) => {
                self.ternary(*op, *ty, [*a, *b, *c])
            }
            Op::Compute(ComputeOp::Select { ty, a, b, .. }) if is_integer(*ty) => {
                let (a, b) = (self.operand(*a, *ty), self.operand(*b, *ty));
                let key = Key::Result(self.position, 0);
                let root = self.forms.root(key, Zeros::Least(vec![a, b]), false);
                self.forms.alone(root, ty.bits() == 64)
            }
            Op::Compute(ComputeOp::BitFieldInsert { ty, a, b, position, .. }) => {
                let (a, b) = (self.operand(*a, *ty), self.operand(*b, *ty));
                let position = self.operand(*position, Type::U32);
                let zeros = match self.forms.known(position) {
                    Some(position @ 0..64) => {
                        let a = self.forms.scaled(a, 1 << position);
                        Zeros::Least(vec![a, b])
                    }
                    _ => Zeros::Known(0),
                };
                let root = self.forms.root(Key::Result(self.position, 0), zeros, false);
                self.forms.alone(root, ty.bits() == 64)
            }
            _ => return None,
        })
    }

    fn convert(&mut self, to: Type, from: Type, src: Operand) -> Option<Value> {
        if !is_integer(to) || matches!(from.kind(), Kind::Float | Kind::Predicate) {
            return None;
        }
        let wide = to.bits() == 64;
        if !is_integer(from) {
            let root = self.forms.root(Key::Result(self.position, 0), Zeros::Known(0), false);
            return Some(self.forms.alone(root, wide));
        }
        let value = self.operand(src, from);
        Some(match (from.bits(), to.bits()) {
            (32, 64) => self.forms.widened(value, from.kind() == Kind::Signed),
            (64, 32) => self.forms.computed(Key::Converted(to, from, value), &[value], Zeros::Least(vec![value]), wide),
            _ => value,
        })
    }

    fn binary(&mut self, op: BinaryOp, ty: Type, a: Operand, b: Operand) -> Value {
        let wide = ty.bits() == 64;
        let is_shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let (a, b) = (self.operand(a, ty), self.operand(b, if is_shift { Type::U32 } else { ty }));
        let zeros = match op {
            BinaryOp::Add => return self.forms.add(a, 1, b),
            BinaryOp::Subtract => return self.forms.add(b, -1, a),
            BinaryOp::Multiply => return self.forms.product(ty, a, b),
            BinaryOp::MultiplyWide => {
                if let Some(product) = self.forms.wide_product(ty, a, b) {
                    return product;
                }
                Zeros::Known(0)
            }
            BinaryOp::ShiftLeft => match self.forms.known(b) {
                Some(by) if (0..i64::from(ty.bits())).contains(&by) => return self.forms.scaled(a, 1 << by),
                _ => Zeros::Least(vec![a]),
            },
            BinaryOp::Multiply24Low => Zeros::Together(a, b),
            BinaryOp::And => Zeros::Most(vec![a, b]),
            BinaryOp::Or => {
                let fits = |search: &Self, constant: Option<i64>, other: Value| {
                    constant.is_some_and(|bits| bits >= 0 && 64 - bits.leading_zeros() <= search.forms.surely(other))
                };
                if fits(self, self.forms.known(b), a) || fits(self, self.forms.known(a), b) {
                    return self.forms.add(a, 1, b);
                }
                Zeros::Least(vec![a, b])
            }
            BinaryOp::Xor => Zeros::Least(vec![a, b]),
            _ => Zeros::Known(0),
        };
        self.forms.computed(Key::Binary(op, ty, a, b), &[a, b], zeros, wide)
    }

    fn ternary(&mut self, op: TernaryOp, ty: Type, [a, b, c]: [Operand; 3]) -> Value {
        let wide = ty.bits() == 64;
        if op == TernaryOp::MultiplyAddWide {
            let (a, b, c) = (self.operand(a, ty), self.operand(b, ty), self.operand(c, Type::S64));
            return match self.forms.wide_product(ty, a, b) {
                Some(product) => self.forms.add(product, 1, c),
                None => self.forms.computed(Key::Ternary(op, ty, [a, b, c]), &[a, b, c], Zeros::Known(0), true),
            };
        }
        let all = [a, b, c].map(|operand| self.operand(operand, ty));
        let [a, b, c] = all;
        let zeros = match op {
            TernaryOp::MultiplyAdd => {
                let product = self.forms.product(ty, a, b);
                return self.forms.add(product, 1, c);
            }
            TernaryOp::Logic(table) if table & 1 == 0 => Zeros::Least(all.to_vec()),
            _ => Zeros::Known(0),
        };
        self.forms.computed(Key::Ternary(op, ty, all), &all, zeros, wide)
    }
}

/// Whether an instruction loads the same value in all threads.
fn loads_uniform(op: &Op) -> bool {
    matches!(op, Op::Load { space: Space::Parameter, address: Address { base: AddressBase::Variable(_), .. }, .. })
}
