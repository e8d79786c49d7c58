//! Which addresses are the same but for a constant, and what they are multiples of.
//!
//! A value is a sum of roots with factors, and a constant. A root is what is not such a sum: a
//! special register, a loaded value, a product of two registers, and so on; the same operation on
//! the same values is the same root. Where paths meet with different values of a register, that is a
//! root, too.

use std::collections::HashMap;

use ptx::{Address, AddressBase, BinaryOp, Handle, Kind, Op, Operand, Register, Space, Special, Symbol, TernaryOp};
use ptx::{Type, Variable};

use super::body::{Body, Place, is_integer};
use super::flow::Flow;
use crate::program::blocks::BasicBlocks;

/// A value: `constant` and each of these roots, times a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Form {
    /// Roots and factors, in rising order of root.
    pub terms: Vec<(u32, i64)>,
    pub constant: i64,
    wide: bool,
}

/// The index of a form.
type Value = u32;

/// More terms become a root.
const MOST_TERMS: usize = 8;
/// Functions with more registers that are written several times, times blocks, are not followed
/// across blocks.
const MOST_STATES: usize = 1 << 20;
/// The number of low zero bits of zero.
const ALL_ZEROS: u32 = 64;
/// The start of a window is a multiple of 2 to this.
const WINDOW_ZEROS: u32 = 24;

/// What makes a root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Special(Special),
    Parameter(Handle<Variable>, i64),
    Variable(Handle<Variable>),
    /// Where the block's shared memory starts.
    SharedStart,
    /// The first generic address of a state space.
    Window(Space),
    Widened {
        is_signed: bool,
        from: Value,
    },
    Converted(Type, Type, Value),
    Product(Type, Value, Value),
    Binary(BinaryOp, Type, Value, Value),
    Ternary(TernaryOp, Type, [Value; 3]),
    Sum(Value),
    /// A register where blocks meet.
    Meeting(usize, usize),
    /// A register before it is written.
    Early(usize),
    /// Any result of the instruction at this position.
    Result(usize, usize),
}

/// How many low bits of a root are zero.
#[derive(Clone, Debug)]
enum Zeros {
    Known(u32),
    /// As many as all of these have.
    Least(Vec<Value>),
    /// As many as any of these has.
    Most(Vec<Value>),
    /// As many as these have together.
    Together(Value, Value),
}

struct Root {
    zeros: Zeros,
    is_uniform: bool,
    /// Low zero bits that it has whatever loops do.
    surely: u32,
}

/// The addresses of a function's accesses.
pub(super) struct Values {
    addresses: Vec<Option<Form>>,
    /// The low zero bits of each root.
    zeros: Vec<u32>,
    is_uniform: Vec<bool>,
}

impl Values {
    pub fn new(body: &Body<'_>, blocks: &BasicBlocks, flow: &Flow) -> Self {
        let mut writes = vec![0u32; body.registers];
        body.writes.iter().flat_map(|all| all.iter()).for_each(|register| writes[register.index()] += 1);
        let mut slots = vec![None; body.registers];
        let mut many = 0;
        for (slot, _) in slots.iter_mut().zip(&writes).filter(|(_, writes)| **writes > 1) {
            *slot = Some(many);
            many += 1;
        }
        let mut search = Search {
            body,
            slots,
            follows: many * blocks.count() <= MOST_STATES,
            forms: Vec::new(),
            by_form: HashMap::new(),
            roots: Vec::new(),
            by_key: HashMap::new(),
            single: vec![None; body.registers],
            state: vec![0; many],
            position: 0,
        };
        let addresses = search.run(many, blocks, flow);
        let zeros = search.all_zeros();
        let is_uniform = search.roots.iter().map(|root| root.is_uniform).collect();
        Self { addresses, zeros, is_uniform }
    }

    /// The address of the access at a position.
    pub fn address(&self, position: usize) -> Option<&Form> {
        self.addresses[position].as_ref()
    }

    /// How many low bits of these terms' sum are zero.
    pub fn zeros(&self, terms: &[(u32, i64)]) -> u32 {
        let all = terms.iter().map(|&(root, factor)| self.zeros[root as usize] + factor.trailing_zeros());
        all.min().unwrap_or(ALL_ZEROS)
    }

    /// Whether all threads of a warp that make the access have the same address.
    pub fn is_uniform(&self, position: usize) -> bool {
        let form = self.address(position);
        form.is_some_and(|form| form.terms.iter().all(|&(root, _)| self.is_uniform[root as usize]))
    }
}

struct Search<'f> {
    body: &'f Body<'f>,
    /// The place in `state` of registers that are written several times.
    slots: Vec<Option<usize>>,
    /// Whether such registers are followed from block to block.
    follows: bool,
    forms: Vec<Form>,
    by_form: HashMap<Form, Value>,
    roots: Vec<Root>,
    by_key: HashMap<Key, u32>,
    /// The values of registers that are written once.
    single: Vec<Option<Value>>,
    /// The values of the others, now.
    state: Vec<Value>,
    position: usize,
}

impl Search<'_> {
    fn run(&mut self, many: usize, blocks: &BasicBlocks, flow: &Flow) -> Vec<Option<Form>> {
        let body = self.body;
        let mut addresses = vec![None; body.instructions.len()];
        let mut ends: Vec<Option<Vec<Value>>> = vec![None; blocks.count()];
        let registers: Vec<usize> = (0..body.registers).filter(|&register| self.slots[register].is_some()).collect();
        let mut meetings = Vec::new();
        for &block in &flow.order {
            let before: Vec<usize> =
                blocks.before[block].iter().copied().filter(|&from| flow.number[from] != usize::MAX).collect();
            match before[..] {
                [only] if self.follows && ends[only].is_some() && block != 0 => {
                    self.state.clone_from(ends[only].as_ref().unwrap_or(&self.state.clone()));
                }
                _ => {
                    for slot in 0..many {
                        let mut all = before.iter().map(|&from| ends[from].as_ref().map(|end| end[slot]));
                        let same = match all.next().flatten() {
                            Some(first) if block != 0 && all.all(|other| other == Some(first)) => Some(first),
                            _ => None,
                        };
                        self.state[slot] = match same {
                            Some(same) if self.follows => same,
                            _ => {
                                let wide = body.writes_wide(registers[slot]);
                                let root = self.root(Key::Meeting(block, slot), Zeros::Known(0), false);
                                meetings.push((root, block, slot));
                                self.alone(root, wide)
                            }
                        };
                    }
                }
            }
            for position in blocks.positions(block) {
                self.position = position;
                addresses[position] = self.access(&body.instructions[position].op);
                self.execute();
            }
            if self.follows {
                ends[block] = Some(self.state.clone());
            }
        }
        if self.follows {
            for (root, block, slot) in meetings {
                let all = blocks.before[block].iter().filter_map(|&from| Some(ends[from].as_ref()?[slot]));
                let all: Vec<Value> = all.collect();
                if block != 0 && !all.is_empty() {
                    self.roots[root as usize].zeros = Zeros::Least(all);
                }
            }
        }
        addresses
    }

    /// The low zero bits of each root, with loops: as many as hold all around.
    fn all_zeros(&self) -> Vec<u32> {
        let mut all = vec![ALL_ZEROS; self.roots.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, root) in self.roots.iter().enumerate() {
                let found = self.zeros_by(&root.zeros, &|root| all[root as usize]);
                if found < all[index] {
                    all[index] = found;
                    changed = true;
                }
            }
        }
        all
    }

    fn zeros_by(&self, zeros: &Zeros, of: &dyn Fn(u32) -> u32) -> u32 {
        let value = |value: &Value| {
            let form = &self.forms[*value as usize];
            let terms = form.terms.iter().map(|&(root, factor)| of(root) + factor.trailing_zeros());
            terms.chain([form.constant.trailing_zeros()]).min().unwrap_or(0).min(ALL_ZEROS)
        };
        match zeros {
            Zeros::Known(zeros) => *zeros,
            Zeros::Least(all) => all.iter().map(value).min().unwrap_or(0),
            Zeros::Most(all) => all.iter().map(value).max().unwrap_or(0),
            Zeros::Together(one, other) => (value(one) + value(other)).min(ALL_ZEROS),
        }
    }

    /// Low zero bits of a value that do not depend on loops.
    fn surely(&self, value: Value) -> u32 {
        self.zeros_by(&Zeros::Least(vec![value]), &|root| self.roots[root as usize].surely)
    }

    fn root(&mut self, key: Key, zeros: Zeros, is_uniform: bool) -> u32 {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let surely = self.zeros_by(&zeros, &|root| self.roots[root as usize].surely);
        let index = self.roots.len() as u32;
        self.roots.push(Root { zeros, is_uniform, surely });
        self.by_key.insert(key, index);
        index
    }

    fn intern(&mut self, form: Form) -> Value {
        if let Some(&known) = self.by_form.get(&form) {
            return known;
        }
        let index = self.forms.len() as Value;
        self.by_form.insert(form.clone(), index);
        self.forms.push(form);
        index
    }

    /// A root, as a value.
    fn alone(&mut self, root: u32, wide: bool) -> Value {
        self.intern(Form { terms: vec![(root, 1)], constant: 0, wide })
    }

    fn constant(&mut self, constant: i64, wide: bool) -> Value {
        let constant = narrowed(constant, wide);
        self.intern(Form { terms: Vec::new(), constant, wide })
    }

    /// The root of an operation on these values.
    fn computed(&mut self, key: Key, of: &[Value], zeros: Zeros, wide: bool) -> Value {
        let is_uniform = of.iter().all(|&value| self.is_uniform(value));
        let root = self.root(key, zeros, is_uniform);
        self.alone(root, wide)
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.forms[value as usize].terms.iter().all(|&(root, _)| self.roots[root as usize].is_uniform)
    }

    /// `a * by + b`.
    fn add(&mut self, a: Value, by: i64, b: Value) -> Value {
        let (a, b) = (&self.forms[a as usize], &self.forms[b as usize]);
        let wide = b.wide;
        let constant = narrowed(a.constant.wrapping_mul(by).wrapping_add(b.constant), wide);
        let mut terms = b.terms.clone();
        for &(root, factor) in &a.terms {
            match terms.binary_search_by_key(&root, |&(root, _)| root) {
                Ok(at) => terms[at].1 = terms[at].1.wrapping_add(factor.wrapping_mul(by)),
                Err(at) => terms.insert(at, (root, factor.wrapping_mul(by))),
            }
        }
        terms.iter_mut().for_each(|(_, factor)| *factor = narrowed(*factor, wide));
        terms.retain(|&(_, factor)| factor != 0);
        let many = terms.len() > MOST_TERMS;
        let value = self.intern(Form { terms, constant, wide });
        if many { self.computed(Key::Sum(value), &[value], Zeros::Least(vec![value]), wide) } else { value }
    }

    fn scaled(&mut self, value: Value, by: i64) -> Value {
        let wide = self.forms[value as usize].wide;
        let zero = self.constant(0, wide);
        self.add(value, by, zero)
    }

    /// The value, if it is a constant.
    fn known(&self, value: Value) -> Option<i64> {
        let form = &self.forms[value as usize];
        form.terms.is_empty().then_some(form.constant)
    }

    fn register(&mut self, register: Handle<Register>) -> Value {
        let index = register.index();
        let found = match self.slots[index] {
            Some(slot) => Some(self.state[slot]),
            None => self.single[index],
        };
        found.unwrap_or_else(|| {
            let root = self.root(Key::Early(index), Zeros::Known(0), false);
            let wide = self.body.writes_wide(index);
            self.alone(root, wide)
        })
    }

    fn variable(&mut self, variable: Handle<Variable>, offset: i64, wide: bool) -> Value {
        match (self.body.place)(variable) {
            Place::At(address) => self.constant((address as i64).wrapping_add(offset), wide),
            Place::Shared(address) => {
                let root = self.root(Key::SharedStart, Zeros::Known(WINDOW_ZEROS), true);
                let start = self.alone(root, wide);
                let offset = self.constant((address as i64).wrapping_add(offset), wide);
                self.add(start, 1, offset)
            }
            Place::MultipleOf(multiple) => {
                let zeros = Zeros::Known(multiple.trailing_zeros());
                let root = self.root(Key::Variable(variable), zeros, true);
                let start = self.alone(root, wide);
                let offset = self.constant(offset, wide);
                self.add(start, 1, offset)
            }
        }
    }

    fn operand(&mut self, operand: Operand, ty: Type) -> Value {
        let wide = ty.bits() == 64;
        match operand {
            Operand::Register(register) => {
                let value = self.register(register);
                match self.forms[value as usize].wide == wide {
                    true => value,
                    false => self.computed(Key::Converted(ty, ty, value), &[value], Zeros::Known(0), wide),
                }
            }
            Operand::Sum(register, offset) => {
                let (value, offset) = (self.register(register), self.constant(offset, wide));
                self.add(value, 1, offset)
            }
            Operand::Integer(bits) => self.constant(bits as i64, wide),
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
                let root = self.root(key, Zeros::Known(0), is_uniform == Some(true));
                self.alone(root, wide)
            }
            _ => {
                let root = self.root(Key::Result(self.position, usize::MAX), Zeros::Known(0), false);
                self.alone(root, wide)
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
        Some(self.forms[value as usize].clone())
    }

    fn address(&mut self, address: &Address) -> Value {
        match address.base {
            AddressBase::Register(register) => {
                let base = self.register(register);
                let wide = self.forms[base as usize].wide;
                let offset = self.constant(address.offset, wide);
                self.add(base, 1, offset)
            }
            // As wide as any: it is a constant.
            AddressBase::Variable(variable) => self.variable(variable, address.offset, false),
            AddressBase::Absolute => self.constant(address.offset, true),
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
                Some(value) if self.forms[value as usize].wide == wide => value,
                _ => {
                    let root = self.root(Key::Result(position, index), Zeros::Known(0), loads_uniform(&instruction.op));
                    self.alone(root, wide)
                }
            };
            if instruction.guard.is_some() {
                let old = self.register(register);
                let root = self.root(Key::Result(position, index), Zeros::Least(vec![old, value]), false);
                value = self.alone(root, wide);
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
            Op::Move { ty, src, .. } if matches!(ty.bits(), 32 | 64) => self.operand(*src, *ty),
            Op::Load { space: Space::Parameter, address, dsts, ty, .. } if dsts.len() == 1 => {
                let AddressBase::Variable(variable) = address.base else { return None };
                let root = self.root(Key::Parameter(variable, address.offset), Zeros::Known(0), true);
                self.alone(root, ty.bits() == 64)
            }
            Op::ConvertAddress { space, to_generic, ty, src, .. } => {
                let value = self.operand(*src, *ty);
                if ty.bits() == 32 || !matches!(space, Space::Shared | Space::Local | Space::ClusterShared) {
                    return Some(value);
                }
                let root = self.root(Key::Window(*space), Zeros::Known(WINDOW_ZEROS), true);
                let window = self.alone(root, true);
                self.add(window, if *to_generic { 1 } else { -1 }, value)
            }
            Op::Convert { to, from, src, .. } => self.convert(*to, *from, *src)?,
            Op::Binary { op, ty, a, b, .. } if is_integer(*ty) => self.binary(*op, *ty, *a, *b),
            Op::Ternary { op, ty, a, b, c, .. } if is_integer(*ty) => self.ternary(*op, *ty, [*a, *b, *c]),
            Op::Select { ty, a, b, .. } if is_integer(*ty) => {
                let (a, b) = (self.operand(*a, *ty), self.operand(*b, *ty));
                let key = Key::Result(self.position, 0);
                let root = self.root(key, Zeros::Least(vec![a, b]), false);
                self.alone(root, ty.bits() == 64)
            }
            Op::BitFieldInsert { ty, a, b, position, .. } => {
                let (a, b) = (self.operand(*a, *ty), self.operand(*b, *ty));
                let position = self.operand(*position, Type::U32);
                let zeros = match self.known(position) {
                    Some(position @ 0..64) => {
                        let a = self.scaled(a, 1 << position);
                        Zeros::Least(vec![a, b])
                    }
                    _ => Zeros::Known(0),
                };
                let root = self.root(Key::Result(self.position, 0), zeros, false);
                self.alone(root, ty.bits() == 64)
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
            let root = self.root(Key::Result(self.position, 0), Zeros::Known(0), false);
            return Some(self.alone(root, wide));
        }
        let value = self.operand(src, from);
        Some(match (from.bits(), to.bits()) {
            (32, 64) => self.widened(value, from.kind() == Kind::Signed),
            (64, 32) => self.computed(Key::Converted(to, from, value), &[value], Zeros::Least(vec![value]), wide),
            _ => value,
        })
    }

    fn widened(&mut self, from: Value, is_signed: bool) -> Value {
        if let Some(constant) = self.known(from) {
            return self.constant(if is_signed { constant } else { i64::from(constant as u32) }, true);
        }
        self.computed(Key::Widened { is_signed, from }, &[from], Zeros::Least(vec![from]), true)
    }

    fn product(&mut self, ty: Type, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            (_, Some(by)) => self.scaled(a, by),
            (Some(by), _) => self.scaled(b, by),
            _ => {
                let (a, b) = (a.min(b), a.max(b));
                self.computed(Key::Product(ty, a, b), &[a, b], Zeros::Together(a, b), ty.bits() == 64)
            }
        }
    }

    /// The product of two values of 32 bits, as 64.
    fn wide_product(&mut self, ty: Type, a: Value, b: Value) -> Option<Value> {
        if ty.bits() != 32 {
            return None;
        }
        let is_signed = ty.kind() == Kind::Signed;
        let (a, b) = (self.widened(a, is_signed), self.widened(b, is_signed));
        Some(self.product(Type::S64, a, b))
    }

    fn binary(&mut self, op: BinaryOp, ty: Type, a: Operand, b: Operand) -> Value {
        let wide = ty.bits() == 64;
        let is_shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let (a, b) = (self.operand(a, ty), self.operand(b, if is_shift { Type::U32 } else { ty }));
        let zeros = match op {
            BinaryOp::Add => return self.add(a, 1, b),
            BinaryOp::Subtract => return self.add(b, -1, a),
            BinaryOp::Multiply => return self.product(ty, a, b),
            BinaryOp::MultiplyWide => {
                if let Some(product) = self.wide_product(ty, a, b) {
                    return product;
                }
                Zeros::Known(0)
            }
            BinaryOp::ShiftLeft => match self.known(b) {
                Some(by) if (0..i64::from(ty.bits())).contains(&by) => return self.scaled(a, 1 << by),
                _ => Zeros::Least(vec![a]),
            },
            BinaryOp::Multiply24Low => Zeros::Together(a, b),
            BinaryOp::And => Zeros::Most(vec![a, b]),
            BinaryOp::Or => {
                let fits = |search: &Self, constant: Option<i64>, other: Value| {
                    constant.is_some_and(|bits| bits >= 0 && 64 - bits.leading_zeros() <= search.surely(other))
                };
                if fits(self, self.known(b), a) || fits(self, self.known(a), b) {
                    return self.add(a, 1, b);
                }
                Zeros::Least(vec![a, b])
            }
            BinaryOp::Xor => Zeros::Least(vec![a, b]),
            _ => Zeros::Known(0),
        };
        self.computed(Key::Binary(op, ty, a, b), &[a, b], zeros, wide)
    }

    fn ternary(&mut self, op: TernaryOp, ty: Type, [a, b, c]: [Operand; 3]) -> Value {
        let wide = ty.bits() == 64;
        if op == TernaryOp::MultiplyAddWide {
            let (a, b, c) = (self.operand(a, ty), self.operand(b, ty), self.operand(c, Type::S64));
            return match self.wide_product(ty, a, b) {
                Some(product) => self.add(product, 1, c),
                None => self.computed(Key::Ternary(op, ty, [a, b, c]), &[a, b, c], Zeros::Known(0), true),
            };
        }
        let all = [a, b, c].map(|operand| self.operand(operand, ty));
        let [a, b, c] = all;
        let zeros = match op {
            TernaryOp::MultiplyAdd => {
                let product = self.product(ty, a, b);
                return self.add(product, 1, c);
            }
            TernaryOp::Logic(table) if table & 1 == 0 => Zeros::Least(all.to_vec()),
            _ => Zeros::Known(0),
        };
        self.computed(Key::Ternary(op, ty, all), &all, zeros, wide)
    }
}

/// Whether an instruction loads the same value in all threads.
fn loads_uniform(op: &Op) -> bool {
    matches!(op, Op::Load { space: Space::Parameter, address: Address { base: AddressBase::Variable(_), .. }, .. })
}

/// A constant of 32 bits, sign-extended, or of 64.
fn narrowed(constant: i64, wide: bool) -> i64 {
    if wide { constant } else { i64::from(constant as i32) }
}
