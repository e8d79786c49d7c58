//! How registers are passed to functions and returned from them: through `.param` variables, like
//! all values. A vector is passed part by part, a predicate as a word.
//!
//! That is so for `.reg` parameters and results, and for the arguments of calls. This adds
//! variables and registers to the environment and returns the loads and stores; the caller places
//! them.

use crate::environment::Environment;
use crate::{
    Address, AddressBase, CacheOperator, Comparison, ComputeOp, EvictionHint, Handle, Initializer, Linkage, Op,
    Operand, Ordering, Register, Scope, Space, Span, Type, Variable,
};

/// The most bytes, and elements, of one access to a `.param` variable.
const ACCESS: (usize, usize) = (16, 4);

impl Environment<'_> {
    /// A new `.param` variable of the function being read, for a register of these parts.
    pub fn variable_for(&mut self, name: &str, registers: &[Handle<Register>], span: Span) -> Handle<Variable> {
        let found = registers.first().map_or(Type::B32, |&register| self.function.registers[register].ty);
        let (ty, vector) = (if found == Type::Pred { Type::B32 } else { found }, registers.len() as u32);
        let handle = self.module.variables.append(Variable {
            name: name.to_owned(),
            space: Space::Parameter,
            ty,
            vector,
            align: ty.bytes() * vector,
            points_to: None,
            size: Some(u64::from(ty.bytes() * vector)),
            initializer: Initializer::default(),
            linkage: Linkage::Internal,
            span,
        });
        self.function.variables.push(handle);
        handle
    }

    /// The operations that load a variable's value into registers.
    pub fn loads_of(&mut self, variable: Handle<Variable>, registers: &[Handle<Register>]) -> Vec<Op> {
        let ty = self.module.variables[variable].ty;
        let words = self.words_for(registers);
        let mut ops: Vec<Op> = chunks(ty, &words)
            .map(|(address, words)| Op::Load {
                space: Space::Parameter,
                ordering: Ordering::Weak,
                scope: Scope::default(),
                cache: CacheOperator::Default,
                eviction: EvictionHint::default(),
                non_coherent: false,
                uniform: false,
                ty,
                dsts: words.iter().map(|&word| Some(word)).collect(),
                address: Address { base: AddressBase::Variable(variable), offset: address },
            })
            .collect();
        let predicates = registers.iter().zip(&words).filter(|(register, word)| register != word);
        let tests = predicates.map(|(&predicate, &word)| ComputeOp::SetPredicate {
            comparison: Comparison::NotEqual,
            ty: Type::B32,
            flush_subnormals: false,
            combine: None,
            dst: Some(predicate),
            dst_not: None,
            a: Operand::Register(word),
            b: Operand::Integer(0),
        });
        ops.extend(tests.map(Op::Compute));
        ops
    }

    /// The operations that store the values of registers in a variable.
    pub fn stores_to(&mut self, variable: Handle<Variable>, registers: &[Handle<Register>]) -> Vec<Op> {
        let ty = self.module.variables[variable].ty;
        let words = self.words_for(registers);
        let predicates = registers.iter().zip(&words).filter(|(register, word)| register != word);
        let words_of_predicates = predicates.map(|(&register, &word)| ComputeOp::Select {
            ty: Type::B32,
            dst: Some(word),
            a: Operand::Integer(1),
            b: Operand::Integer(0),
            predicate: Operand::Register(register),
        });
        let mut ops: Vec<Op> = words_of_predicates.map(Op::Compute).collect();
        ops.extend(chunks(ty, &words).map(|(address, words)| Op::Store {
            space: Space::Parameter,
            ordering: Ordering::Weak,
            scope: Scope::default(),
            cache: CacheOperator::Default,
            eviction: EvictionHint::default(),
            ty,
            srcs: words.iter().map(|&word| Operand::Register(word)).collect(),
            address: Address { base: AddressBase::Variable(variable), offset: address },
        }));
        ops
    }

    /// The registers themselves, with a new word for each predicate.
    fn words_for(&mut self, registers: &[Handle<Register>]) -> Vec<Handle<Register>> {
        let all = &mut self.function.registers;
        let word = |&register: &Handle<Register>| match &all[register] {
            Register { name, ty: Type::Pred } => {
                let name = name.clone();
                all.append(Register { name, ty: Type::B32 })
            }
            _ => register,
        };
        registers.iter().map(word).collect()
    }
}

/// The accesses that move `words`: the byte offset of each in the variable, and its registers.
fn chunks(ty: Type, words: &[Handle<Register>]) -> impl Iterator<Item = (i64, &[Handle<Register>])> {
    let bytes = ty.bytes() as usize;
    let count = (ACCESS.0 / bytes).clamp(1, ACCESS.1);
    words.chunks(count).enumerate().map(move |(index, words)| ((index * count * bytes) as i64, words))
}
