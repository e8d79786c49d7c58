//! Types branches, calls and the ends of threads. Targets that are not known yet (labels, functions
//! behind registers) are recorded in the environment, and filled in when the function or the module
//! ends.

use super::context::Context;
use super::names::{Resolved, Width};
use crate::environment::{Entity, Pending, Signature};
use crate::errors::{NameError, NameKind, OperandError, Parsed, fault};
use crate::syntax::cursor::Word;
use crate::syntax::operands::{Name, Raw, RawOperand};
use crate::{CallOperand, Callee, ControlOp, Function, Handle, Kind, Operand, Space, Symbol, Type};

/// Operand `index`: a name.
fn name_of<'t>(c: &Context<'_, 't>, index: usize, expected: &'static str) -> Parsed<Word<'t>> {
    let operand = c.raw(index);
    match operand.raw {
        Raw::Name(Name { text, part: None, negated: false, offset: None, span }) => Ok(Word { text, span }),
        ref other => fault(operand.span, OperandError::Kind { expected, found: other.describe() }),
    }
}

/// `bra{.uni} label;`
pub(super) fn branch(c: &mut Context<'_, '_>) -> Parsed<ControlOp> {
    let uniform = c.accept("uni");
    c.operands(1)?;
    let label = name_of(c, 0, "a label")?;
    let (at, scope) = (c.environment.function.body.len(), c.environment.scope_id());
    c.environment.function.pending.push(Pending::Branch { at, label, scope });
    Ok(ControlOp::Branch { target: 0, uniform })
}

/// `brx.idx{.uni} index, targets;`
pub(super) fn branch_indexed(c: &mut Context<'_, '_>) -> Parsed<ControlOp> {
    c.require(&[("idx", ())], "`.idx`")?;
    let uniform = c.accept("uni");
    c.operands(2)?;
    let index = c.src(0, Type::U32)?;
    let name = name_of(c, 1, "a list of branch targets")?;
    let targets = match c.environment.lookup(name.text, name.span)? {
        Entity::BranchTargets(targets) => targets,
        other => {
            let (expected, found) = (NameKind::BranchTargets, other.kind());
            return fault(name.span, NameError::WrongKind { name: name.text.into(), expected, found });
        }
    };
    let at = c.environment.function.body.len();
    c.environment.function.pending.push(Pending::Indexed { at, targets });
    Ok(ControlOp::BranchIndexed { index, targets: Vec::new(), uniform })
}

/// `ret`, `exit`, `trap`, `brkpt`
pub(super) fn ending(c: &mut Context<'_, '_>, op: ControlOp) -> Parsed<ControlOp> {
    if op == ControlOp::Return {
        c.accept("uni");
    }
    c.operands(0)?;
    Ok(op)
}

/// `call{.uni} (results), callee, (arguments){, table};`
pub(super) fn call(c: &mut Context<'_, '_>) -> Parsed<ControlOp> {
    let uniform = c.accept("uni");
    c.finish_modifiers()?;
    let Some(call) = &c.statement.call else {
        return fault(
            c.statement.span,
            OperandError::Count { opcode: c.name(), expected: "a function".into(), found: 0 },
        );
    };
    let name = call.callee;
    let whole = Name { text: name.text, part: None, negated: false, offset: None, span: name.span };
    let mut by_signature = false;
    let (callee, signature) = match c.resolve(&whole)? {
        Resolved::Symbol(Symbol::Function(function)) => {
            let target = &c.environment.module.functions[function];
            if target.is_kernel {
                return fault(name.span, OperandError::CallOfKernel(name.text.to_owned()));
            }
            let signature = c.environment.module.signature(target);
            (Callee::Direct(function), signature)
        }
        Resolved::Register(register) => {
            let found = c.environment.function.registers[register].ty;
            if found.bits() != 64 || found.kind() == Kind::Float {
                return fault(name.span, OperandError::NotAnAddress { name: name.text.to_owned(), found });
            }
            let Some(table) = call.table else { return fault(name.span, OperandError::NoPrototype) };
            let (candidates, signature) = match c.environment.lookup(table.text, table.span)? {
                Entity::CallTargets(index) => {
                    let length = c.environment.function.call_targets[index].len() as u64;
                    c.environment.spend(length, table.span)?;
                    let candidates = c.environment.function.call_targets[index].clone();
                    let signature = c.common_signature(&candidates, table)?;
                    (candidates, signature)
                }
                Entity::CallPrototype(index) => {
                    let signature = c.environment.function.prototypes[index].clone();
                    by_signature = true;
                    (Vec::new(), signature)
                }
                other => {
                    let (expected, found) = (NameKind::CallPrototype, other.kind());
                    return fault(table.span, NameError::WrongKind { name: table.text.into(), expected, found });
                }
            };
            (Callee::Indirect { register, candidates }, signature)
        }
        _ => {
            let (expected, found) = (NameKind::Function, NameKind::Variable);
            return fault(name.span, NameError::WrongKind { name: name.text.into(), expected, found });
        }
    };
    let results = c.call_operands(name, "result", &call.results, &signature.results)?;
    let arguments = c.call_operands(name, "argument", &call.arguments, &signature.parameters)?;
    if by_signature {
        let at = c.environment.function.body.len() + c.environment.function.before.len();
        c.environment.function.indirect_calls.push((at, signature));
    }
    Ok(ControlOp::Call { callee, results, arguments, uniform })
}

impl<'t> Context<'_, 't> {
    /// The signature shared by all functions of a `.calltargets` list.
    fn common_signature(&self, candidates: &[Handle<Function>], table: Word<'t>) -> Parsed<Signature> {
        let module = &self.environment.module;
        let mut signatures = candidates.iter().map(|&candidate| module.signature(&module.functions[candidate]));
        let first = signatures.next().unwrap_or_default();
        if signatures.all(|signature| signature == first) {
            Ok(first)
        } else {
            fault(table.span, OperandError::DifferentTargets(table.text.to_owned()))
        }
    }

    /// The arguments or results of a call, checked against the callee's.
    fn call_operands(
        &mut self,
        callee: Word<'t>,
        what: &'static str,
        operands: &[RawOperand<'t>],
        sizes: &[Option<u64>],
    ) -> Parsed<Vec<CallOperand>> {
        // A last parameter of any size, `.param .align 8 .b8 rest[]`, may be left out.
        let fewest = if sizes.last() == Some(&None) { sizes.len() - 1 } else { sizes.len() };
        if !(fewest..=sizes.len()).contains(&operands.len()) {
            let (name, expected, found) = (callee.text.to_owned(), sizes.len(), operands.len());
            return fault(self.statement.span, OperandError::CallCount { name, what, expected, found });
        }
        let mut typed = Vec::with_capacity(operands.len());
        for (index, (operand, &size)) in operands.iter().zip(sizes).enumerate() {
            let (value, found) = self.call_operand(operand, what, size)?;
            if let (Some(expected), Some(found)) = (size, found)
                && expected != found
            {
                let (name, index) = (callee.text.to_owned(), index + 1);
                return fault(operand.span, OperandError::CallSize { name, what, index, expected, found });
            }
            typed.push(value);
        }
        Ok(typed)
    }

    /// An argument or result that is a vector register or a predicate: a variable, stored before
    /// the call or loaded after it.
    fn passed_apart(
        &mut self,
        operand: &RawOperand<'t>,
        what: &'static str,
    ) -> Parsed<Option<(Handle<crate::Variable>, Option<u64>)>> {
        let Raw::Name(name @ Name { part: None, negated: false, offset: None, .. }) = &operand.raw else {
            return Ok(None);
        };
        let Ok(Some(entity)) = self.environment.find(name.text) else { return Ok(None) };
        let registers = entity.registers();
        let is_predicate =
            matches!(registers[..], [register] if self.environment.function.registers[register].ty == Type::Pred);
        if registers.len() < 2 && !is_predicate {
            return Ok(None);
        }
        let variable = self.environment.variable_for(name.text, &registers, operand.span);
        if what == "result" {
            let loads = self.environment.loads_of(variable, &registers);
            self.environment.function.after.extend(loads);
        } else {
            let stores = self.environment.stores_to(variable, &registers);
            self.environment.function.before.extend(stores);
        }
        Ok(Some((variable, self.environment.module.variables[variable].size)))
    }

    /// One argument or result, and its size if known.
    fn call_operand(
        &mut self,
        operand: &RawOperand<'t>,
        what: &'static str,
        size: Option<u64>,
    ) -> Parsed<(CallOperand, Option<u64>)> {
        if let Raw::Name(name) = &operand.raw
            && let Resolved::Symbol(Symbol::Variable(variable)) = self.resolve(name)?
        {
            let found = &self.environment.module.variables[variable];
            if found.space != Space::Parameter {
                let (name, found, expected) = (name.text.to_owned(), found.space.name(), "`.param`".to_owned());
                return fault(operand.span, OperandError::Space { name, found, expected });
            }
            return Ok((CallOperand::Variable(variable), found.size));
        }
        if let Some((variable, size)) = self.passed_apart(operand, what)? {
            return Ok((CallOperand::Variable(variable), size));
        }
        let ty = match (self.register_type(operand)?, size) {
            (Some(ty), _) => ty,
            (None, Some(1)) => Type::B8,
            (None, Some(2)) => Type::B16,
            (None, Some(8)) => Type::B64,
            (None, _) => Type::B32,
        };
        if what == "result" {
            return match self.destination(operand, ty, Width::Exact)? {
                Some(register) => Ok((CallOperand::Value(Operand::Register(register)), Some(u64::from(ty.bytes())))),
                None => fault(operand.span, OperandError::Kind { expected: "a register or variable", found: "`_`" }),
            };
        }
        let value = self.source(operand, ty, Width::Exact)?;
        let found = matches!(value, Operand::Register(_)).then(|| u64::from(ty.bytes()));
        Ok((CallOperand::Value(value), found))
    }
}
