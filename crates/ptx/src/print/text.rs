//! The text of an instruction as it grows: an opcode, modifiers, then operands. Methods take the
//! text and return it, so that an instruction is written as it reads.

use std::fmt::{Arguments, Display};

use crate::{
    Address, AddressBase, Arena, CallOperand, Combine, Comparison, Destination, Function, Handle, Mode, ModeFlag,
    Module, Opaque, Operand, Ordering, Predicate, Register, Scope, Symbol, TexelPosition, Type,
};

/// Where the names of handles are.
#[derive(Clone, Copy)]
pub(super) struct Names<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
}

/// The text so far.
pub(super) struct Text<'m> {
    out: String,
    /// `None`: handles are written as numbers.
    names: Option<Names<'m>>,
    has_operands: bool,
}

/// What can be an operand, or a part of one.
pub(super) trait Part {
    /// Writes it at the end of the text.
    fn put(&self, text: &mut Text<'_>);
}

impl<'m> Text<'m> {
    pub fn new(names: Option<Names<'m>>) -> Self {
        Self { out: String::new(), names, has_operands: false }
    }

    pub fn finish(self) -> String {
        self.out
    }

    /// `@!p `, before the opcode.
    pub fn guard(mut self, guard: Option<Predicate>) -> Self {
        if let Some(Predicate { register, negated }) = guard {
            self.put_all(&[&if negated { "@!" } else { "@" }, &register, &" "]);
        }
        self
    }

    /// The opcode, perhaps with modifiers.
    pub fn op(mut self, name: &str) -> Self {
        self.put(name);
        self
    }

    /// A modifier, unless it is empty.
    pub fn dot(mut self, word: &str) -> Self {
        if !word.is_empty() {
            self.put_all(&[&".", &word]);
        }
        self
    }

    pub fn when(self, holds: bool, word: &str) -> Self {
        if holds { self.dot(word) } else { self }
    }

    pub fn ty(self, ty: Type) -> Self {
        self.dot(ty.name())
    }

    /// `.v4`, unless there is one element.
    pub fn lanes(self, count: usize) -> Self {
        if count > 1 { self.dot(&format!("v{count}")) } else { self }
    }

    pub fn mode(self, mut mode: Mode) -> Self {
        let text = self.dot(mode.rounding.name()).dot(mode.precision.name());
        ModeFlag::ALL.iter().fold(text, |text, &flag| match *mode.flag(flag) {
            true => text.dot(flag.name()).when(flag == ModeFlag::XorSignAbs, "abs"),
            false => text,
        })
    }

    /// `.lt.and.ftz`
    pub fn comparison(self, comparison: Comparison, combine: &Option<Combine>, flush_subnormals: bool) -> Self {
        let boolean = combine.map_or("", |combine| combine.op.name());
        self.dot(comparison.name()).dot(boolean).when(flush_subnormals, "ftz")
    }

    /// The ordering and the scope of a load or store.
    pub fn ordering(self, ordering: Ordering, scope: Scope) -> Self {
        match ordering {
            Ordering::Weak => self,
            Ordering::Volatile => self.dot("volatile"),
            Ordering::MemoryMapped => self.dot("mmio.relaxed").dot(scope.name()),
            _ => self.dot(ordering.name()).dot(scope.name()),
        }
    }

    /// An operand of several parts, which `write` writes.
    pub fn operand(mut self, write: impl FnOnce(&mut Self)) -> Self {
        self.put(if self.has_operands { ", " } else { " " });
        self.has_operands = true;
        write(&mut self);
        self
    }

    pub fn arg(self, part: impl Part) -> Self {
        self.operand(|text| text.put(part))
    }

    pub fn number(self, number: impl Display) -> Self {
        self.arg(format_args!("{number}"))
    }

    /// The truth table of `lop3`.
    pub fn truth_table(self, table: u8) -> Self {
        self.number(format_args!("{table:#04x}"))
    }

    /// An operand for each part: none or one of an `Option`.
    pub fn each<P: Part>(self, parts: impl IntoIterator<Item = P>) -> Self {
        parts.into_iter().fold(self, Text::arg)
    }

    /// The parts in braces, even if there is one.
    pub fn vector<P: Part>(self, parts: impl IntoIterator<Item = P>) -> Self {
        self.operand(|text| text.put_list("{", parts, "}"))
    }

    /// The only part, or a vector.
    pub fn args(self, parts: &[impl Part]) -> Self {
        match parts {
            [part] => self.arg(part),
            _ => self.vector(parts),
        }
    }

    /// `d|p`, or `d`.
    pub fn pair(self, first: Destination, second: Destination) -> Self {
        self.arg(first).beside(second)
    }

    /// `|p` after an operand, if there is one.
    pub fn beside(mut self, predicate: Destination) -> Self {
        if predicate.is_some() {
            self.put_all(&[&"|", &predicate]);
        }
        self
    }

    /// The predicate that a comparison is combined with.
    pub fn combined(self, combine: &Option<Combine>) -> Self {
        self.each(combine.as_ref().map(|combine| &combine.predicate))
    }

    /// `[objects, {coordinates}]`
    pub fn element<P: Part>(self, objects: impl IntoIterator<Item = P>, coordinates: &[Operand]) -> Self {
        self.operand(|text| {
            text.put_list("[", objects, ", ");
            text.put_list("{", coordinates, "}]");
        })
    }

    /// `[object, sampler, {layer, coordinates}]`
    pub fn texel(self, object: Opaque, sampler: Option<Opaque>, position: &TexelPosition) -> Self {
        let coordinates: Vec<Operand> = position.layer.iter().chain(&position.coordinates).copied().collect();
        self.element([Some(object), sampler].into_iter().flatten(), &padded(&coordinates))
    }

    /// A part of an operand, or punctuation.
    pub fn put(&mut self, part: impl Part) {
        part.put(self);
    }

    /// Parts one after the other.
    pub fn put_all(&mut self, parts: &[&dyn Part]) {
        parts.iter().for_each(|part| part.put(self));
    }

    /// Parts with commas between them.
    pub fn put_list<P: Part>(&mut self, open: &str, parts: impl IntoIterator<Item = P>, close: &str) {
        self.put(open);
        for (index, part) in parts.into_iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            self.put(part);
        }
        self.put(close);
    }

    /// The name of an item, or its number after `kind`.
    fn put_name<T>(&mut self, items: Option<&Arena<T>>, handle: Handle<T>, name: fn(&T) -> &String, kind: &str) {
        match items.and_then(|items| items.get(handle)) {
            Some(item) => self.put(name(item).as_str()),
            None => self.put(format_args!("{kind}{}", handle.index())),
        }
    }
}

/// The coordinates or offsets of a texel as a vector of 1, 2 or 4: PTX ignores the last of four
/// where there are three.
pub(super) fn padded(values: &[Operand]) -> Vec<Operand> {
    let mut padded = values.to_vec();
    if let [.., last] = values {
        padded.resize(values.len().next_power_of_two(), *last);
    }
    padded
}

impl<P: Part> Part for &P {
    fn put(&self, text: &mut Text<'_>) {
        (**self).put(text);
    }
}

impl Part for &str {
    fn put(&self, text: &mut Text<'_>) {
        text.out.push_str(self);
    }
}

/// What the standard library writes, such as a number.
impl Part for Arguments<'_> {
    fn put(&self, text: &mut Text<'_>) {
        text.out.push_str(&self.to_string());
    }
}

impl Part for Handle<Register> {
    fn put(&self, text: &mut Text<'_>) {
        let registers = text.names.map(|names| &names.function.registers);
        text.put_name(registers, *self, |register| &register.name, "%");
    }
}

impl Part for Handle<Function> {
    fn put(&self, text: &mut Text<'_>) {
        let functions = text.names.map(|names| &names.module.functions);
        text.put_name(functions, *self, |function| &function.name, "function");
    }
}

impl Part for Symbol {
    fn put(&self, text: &mut Text<'_>) {
        match *self {
            Symbol::Variable(handle) => {
                let variables = text.names.map(|names| &names.module.variables);
                text.put_name(variables, handle, |variable| &variable.name, "variable");
            }
            Symbol::Function(handle) => text.put(handle),
        }
    }
}

impl Part for Destination {
    fn put(&self, text: &mut Text<'_>) {
        match self {
            Some(register) => text.put(register),
            None => text.put("_"),
        }
    }
}

/// A constant after something, if it is not zero.
struct Offset(i64);

impl Part for Offset {
    fn put(&self, text: &mut Text<'_>) {
        if self.0 != 0 {
            text.put(format_args!("+{}", self.0));
        }
    }
}

impl Part for Operand {
    fn put(&self, text: &mut Text<'_>) {
        match *self {
            Operand::Register(register) => text.put(register),
            Operand::NotRegister(register) => text.put_all(&[&"!", &register]),
            Operand::Sum(register, offset) => text.put_all(&[&register, &Offset(offset)]),
            Operand::Integer(value) => text.put(format_args!("{}", value as i64)),
            Operand::Single(bits) => text.put(format_args!("0f{bits:08X}")),
            Operand::Double(bits) => text.put(format_args!("0d{bits:016X}")),
            Operand::Special(special) => text.put(format_args!("{special}")),
            Operand::Address(symbol, offset) => text.put_all(&[&symbol, &Offset(offset)]),
        }
    }
}

impl Part for AddressBase {
    fn put(&self, text: &mut Text<'_>) {
        match *self {
            AddressBase::Register(register) => text.put(register),
            AddressBase::Variable(variable) => text.put(Symbol::Variable(variable)),
            AddressBase::Absolute => {}
        }
    }
}

/// In brackets.
impl Part for Address {
    fn put(&self, text: &mut Text<'_>) {
        match self.base {
            AddressBase::Absolute => text.put(format_args!("[{}]", self.offset)),
            base => text.put_all(&[&"[", &base, &Offset(self.offset), &"]"]),
        }
    }
}

impl Part for Opaque {
    fn put(&self, text: &mut Text<'_>) {
        match *self {
            Opaque::Variable(variable) => text.put(Symbol::Variable(variable)),
            Opaque::Register(register) => text.put(register),
        }
    }
}

impl Part for CallOperand {
    fn put(&self, text: &mut Text<'_>) {
        match self {
            CallOperand::Variable(variable) => text.put(Symbol::Variable(*variable)),
            CallOperand::Value(value) => text.put(value),
        }
    }
}
