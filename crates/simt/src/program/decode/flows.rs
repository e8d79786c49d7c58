//! What a function's instructions do with values that may be uninitialised: which registers they
//! read and write, what results are computed from, and where a value matters.
//!
//! Words of `.param` variables, which pass values to functions and back, are treated like
//! registers. Values are numbered: first the registers, then the carry flag, then these words.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::{
    Address, AddressBase, BinaryOp, CallOperand, Callee, ComputeOp, ControlOp, Function, Handle, Instruction, Module,
    Op, Operand, Space, TernaryOp, Type, Variable, WarpOp,
};

use super::function::{FunctionDecoder, Storage};
use super::uses::Uses;
use crate::program::inspection::RegisterUse;
use crate::program::system;

/// How a result depends on an instruction's operands.
#[derive(Clone)]
pub(super) enum Provenance {
    /// On nothing: the result counts as written.
    Fresh,
    /// On all of these: arithmetic.
    Of(Vec<usize>),
    /// On these parts, some of which may be padding.
    OfParts(Vec<usize>),
    /// `selp`.
    ByChoice { chooser: Operand, yes: Option<usize>, no: Option<usize> },
    /// `and.pred` and `or.pred`.
    ByLogic { and: bool, operands: [Operand; 2] },
    /// On this value, if it is a register's, in other lanes: `shfl`.
    OtherLanes(Option<usize>),
}

impl Provenance {
    /// The values it is computed from.
    pub fn sources(&self) -> Vec<usize> {
        match self {
            Provenance::Fresh => Vec::new(),
            Provenance::Of(sources) | Provenance::OfParts(sources) => sources.clone(),
            Provenance::ByChoice { chooser, yes, no } => [register(chooser), *yes, *no].into_iter().flatten().collect(),
            Provenance::ByLogic { operands, .. } => operands.iter().filter_map(register).collect(),
            Provenance::OtherLanes(source) => source.iter().copied().collect(),
        }
    }

    /// Whether it consists of parts, one of which is always written, so that it counts as written.
    pub fn is_of_written_part(&self, reached: &[bool]) -> bool {
        matches!(self, Provenance::OfParts(parts) if parts.iter().any(|&part| !reached[part]))
    }
}

/// What an instruction does with values.
pub(super) struct Flow {
    pub uses: Vec<(usize, RegisterUse)>,
    /// What a store stores, if all of it may be unwritten.
    pub stored: Vec<usize>,
    /// What it writes, and what that depends on.
    pub makes: Vec<(usize, Provenance)>,
}

/// A call: the words of each argument and each result.
#[derive(Default)]
pub(super) struct Passed {
    /// The possible callees; none for system functions.
    pub callees: Vec<Handle<Function>>,
    pub arguments: Vec<Vec<Option<usize>>>,
    pub results: Vec<Vec<Option<usize>>>,
}

/// The words of a function's `.param` variables, numbered after the registers and the carry flag.
#[derive(Default)]
pub(super) struct Words {
    /// The first word of each variable, and how many it has.
    of: HashMap<Handle<Variable>, (usize, usize)>,
    /// The name of each word's variable.
    pub names: Vec<Arc<str>>,
}

impl Words {
    pub fn new(decoder: &FunctionDecoder<'_, '_>) -> Self {
        let (function, mut words) = (decoder.function, Self::default());
        let mut next = function.registers.len() + 1;
        for &variable in function.parameters.iter().chain(&function.results).chain(&function.variables) {
            let Some(&Storage::Rows(rows)) = decoder.storage.get(&variable) else { continue };
            let count = rows.count as usize;
            words.of.insert(variable, (next, count));
            let name: Arc<str> = format!("the parameter {}", decoder.builder.module.variables[variable].name).into();
            words.names.extend(std::iter::repeat_n(name, count));
            next += count;
        }
        words
    }

    /// The words of a variable.
    pub fn of(&self, variable: Handle<Variable>) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = self.of.get(&variable).copied().unwrap_or_default();
        first..first + count
    }
}

/// A function whose values are tracked.
pub(super) struct Flows<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    pub body: &'m [Instruction],
    pub uses: Uses,
    /// The row of each register.
    pub rows: Vec<u32>,
    pub words: Words,
    /// Whether loads from local memory are tracked: the kernel uses local memory.
    pub follows_local: bool,
    /// Whether shuffles from lanes that do not take part are tracked.
    pub follows_shuffles: bool,
}

impl Flows<'_> {
    /// Whether an access may be to tracked local memory.
    pub fn may_be_local(&self, space: Space) -> bool {
        self.follows_local && matches!(space, Space::Local | Space::Generic)
    }

    /// The destination registers of a load from possibly unwritten memory.
    pub fn loaded(&self, position: usize) -> &[ptx::Destination] {
        match &self.body[position].op {
            Op::Load { space, dsts, .. } if self.may_be_local(*space) => dsts,
            _ => &[],
        }
    }

    /// The destination of a shuffle, which is undefined if the source lane does not take part.
    pub fn shuffled(&self, position: usize) -> Option<usize> {
        match &self.body[position].op {
            Op::Warp(WarpOp::Shuffle { dst, .. }) if self.follows_shuffles => Some(dst.as_ref()?.index()),
            _ => None,
        }
    }

    /// What a store may leave in local memory.
    pub fn kept(&self, position: usize) -> Vec<Option<usize>> {
        match &self.body[position].op {
            Op::Store { space, srcs, .. } if self.may_be_local(*space) => srcs.iter().map(register).collect(),
            _ => Vec::new(),
        }
    }

    /// The number of the carry flag.
    pub fn carry(&self) -> usize {
        self.function.registers.len()
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.carry() + 1 + self.words.names.len()
    }

    /// What an instruction reads, its guard included.
    pub fn reads(&self, position: usize) -> Vec<usize> {
        let Instruction { guard, op, .. } = &self.body[position];
        let guard = guard.map(|guard| guard.register);
        let registers = guard.into_iter().chain(self.uses.reads(position).iter().copied()).map(Handle::index);
        let mut reads: Vec<usize> = registers.collect();
        match op {
            Op::Load { space: Space::Parameter, ty, dsts, address, .. } => {
                let elements = dsts.iter().enumerate();
                reads.extend(elements.flat_map(|(index, _)| self.words_at(address, index, ty.bytes())));
            }
            Op::Control(ControlOp::Call { .. }) => {
                let passed = self.passed(op).into_iter().flat_map(|passed| passed.arguments);
                reads.extend(passed.flatten().flatten().filter(|&word| word > self.carry()));
            }
            Op::Control(ControlOp::Return) => reads.extend(self.results()),
            _ => {}
        }
        reads
    }

    /// Does something for each value that an instruction writes, the carry flag left out.
    pub fn each_written(&self, position: usize, mut each: impl FnMut(usize)) {
        self.uses.writes(position).iter().for_each(|register| each(register.index()));
        if let Op::Store { space: Space::Parameter, .. } | Op::Control(ControlOp::Call { .. }) = self.body[position].op
        {
            self.flow(position).makes.into_iter().for_each(|(to, _)| each(to));
        }
    }

    /// The words of what the function returns.
    pub fn results(&self) -> impl Iterator<Item = usize> {
        self.function.results.iter().flat_map(|&result| self.words.of(result))
    }

    /// The words that an element of a load or store of a `.param` variable lies in; none if it is
    /// not one of the frame.
    fn words_at(&self, address: &Address, index: usize, bytes: u32) -> Vec<usize> {
        let AddressBase::Variable(variable) = address.base else { return Vec::new() };
        let start = (address.offset as u64).wrapping_add(index as u64 * u64::from(bytes));
        let words = start / 4..start.saturating_add(bytes.into()).div_ceil(4);
        self.words
            .of(variable)
            .enumerate()
            .filter(|(at, _)| words.contains(&(*at as u64)))
            .map(|(_, word)| word)
            .collect()
    }

    /// What a call passes, and gets.
    pub fn passed(&self, op: &Op) -> Option<Passed> {
        let Op::Control(ControlOp::Call { callee, results, arguments, .. }) = op else { return None };
        let callees = match callee {
            Callee::Direct(callee) if system::of(self.module, &self.module.functions[*callee]).is_some() => Vec::new(),
            Callee::Direct(callee) => vec![*callee],
            Callee::Indirect { candidates, .. } => candidates.clone(),
        };
        let words = |operand: &CallOperand| match operand {
            CallOperand::Variable(variable) => self.words.of(*variable).map(Some).collect(),
            CallOperand::Value(operand) => {
                // The number of words of the widest register.
                register(operand).map_or_else(Vec::new, |register| vec![Some(register); 4])
            }
        };
        let (arguments, results) = (arguments.iter().map(words).collect(), results.iter().map(words).collect());
        Some(Passed { callees, arguments, results })
    }

    /// The values that a compare-and-swap of this function expects in memory.
    pub fn expected(&self) -> Vec<bool> {
        let mut expected = vec![false; self.count()];
        self.uses.expected().0.for_each(|register| expected[register] = true);
        expected
    }

    /// Spreads this backwards, to the values that expected ones are moved from.
    pub fn spread_expected(&self, expected: &mut [bool]) {
        if !expected.contains(&true) {
            return;
        }
        let of_words = (0..self.body.len()).filter(|&position| {
            matches!(
                self.body[position].op,
                Op::Store { space: Space::Parameter, .. } | Op::Load { space: Space::Parameter, .. }
            )
        });
        let through_words = of_words.flat_map(|position| self.flow(position).makes);
        let mut moves: Vec<(usize, usize)> = self.uses.expected().1.collect();
        for (to, made) in through_words {
            moves.extend(made.sources().into_iter().map(|from| (from, to)));
        }
        loop {
            let mut is_news = false;
            for &(from, to) in &moves {
                is_news |= expected[to] && !std::mem::replace(&mut expected[from], true);
            }
            if !is_news {
                break;
            }
        }
    }

    /// What an instruction does with values, apart from its guard and the carry flag.
    pub fn flow(&self, position: usize) -> Flow {
        let op = &self.body[position].op;
        let reads = || self.uses.reads(position).iter().map(|register| register.index());
        let writes = || self.uses.writes(position).iter().map(|register| register.index());
        let with = |uses, made: Provenance| Flow {
            uses,
            stored: Vec::new(),
            makes: writes().map(|register| (register, made.clone())).collect(),
        };
        let used = |to| with(reads().map(|register| (register, to)).collect(), Provenance::Fresh);
        let made = |made| with(Vec::new(), made);
        match op {
            Op::Compute(op) => made(computed(op).unwrap_or_else(|| Provenance::Of(reads().collect()))),
            Op::Prefetch { .. } | Op::NanoSleep { .. } => made(Provenance::Fresh),
            Op::Store { space: Space::Parameter, ty, srcs, address, .. } => {
                let elements = srcs.iter().enumerate();
                let makes = elements.flat_map(|(index, src)| {
                    let made = |word| match register(src) {
                        None => Provenance::Fresh,
                        // Writing a part of a word keeps the others.
                        Some(register) if ty.bytes() < 4 => Provenance::OfParts(vec![word, register]),
                        Some(register) => Provenance::Of(vec![register]),
                    };
                    self.words_at(address, index, ty.bytes()).into_iter().map(move |word| (word, made(word)))
                });
                Flow { uses: Vec::new(), stored: Vec::new(), makes: makes.collect() }
            }
            Op::Load { space: Space::Parameter, ty, dsts, address, .. } if self.is_of_frame(address) => {
                let elements = dsts.iter().enumerate();
                let makes = elements.filter_map(|(index, dst)| {
                    let words = self.words_at(address, index, ty.bytes());
                    Some((
                        dst.as_ref()?.index(),
                        if words.is_empty() { Provenance::Fresh } else { Provenance::OfParts(words) },
                    ))
                });
                Flow { uses: Vec::new(), stored: Vec::new(), makes: makes.collect() }
            }
            Op::Control(ControlOp::Call { callee, .. }) => {
                let Passed { callees, arguments, results } = self.passed(op).unwrap_or_default();
                let words = |lists: Vec<Vec<Option<usize>>>| {
                    lists.into_iter().flatten().flatten().filter(|&word| word > self.carry()).collect::<Vec<_>>()
                };
                let uses = match callee {
                    Callee::Indirect { register, .. } => vec![(register.index(), RegisterUse::Address)],
                    Callee::Direct(_) if !callees.is_empty() => Vec::new(),
                    Callee::Direct(_) => {
                        words(arguments).into_iter().map(|word| (word, RegisterUse::Operand)).collect()
                    }
                };
                let mut flow = with(uses, Provenance::Fresh);
                flow.makes.extend(words(results).into_iter().map(|word| (word, Provenance::Fresh)));
                flow
            }
            Op::Warp(WarpOp::Shuffle { src, dst, lane, clamp, members, .. }) => {
                let operands = [Some(lane), Some(clamp), members.as_ref()].into_iter().flatten();
                let uses = operands.filter_map(register).map(|register| (register, RegisterUse::Operand));
                let mut flow = with(uses.collect(), Provenance::Fresh);
                if let Some(to) = dst {
                    let made = flow.makes.iter_mut().filter(|(written, _)| *written == to.index());
                    made.for_each(|(_, made)| *made = Provenance::OtherLanes(register(src)));
                }
                flow
            }
            Op::Store { srcs, address, .. } => {
                let stored = srcs.iter().map(register).collect::<Option<Vec<usize>>>().unwrap_or_default();
                let base = base(address).map(|register| (register, RegisterUse::Address));
                Flow { stored, ..with(base.into_iter().collect(), Provenance::Fresh) }
            }
            Op::Load { .. } => used(RegisterUse::Address),
            Op::Control(ControlOp::BranchIndexed { .. }) => used(RegisterUse::Condition),
            _ => {
                let bases: Vec<usize> = op.sources().addresses.into_iter().filter_map(base).collect();
                let to = |register| match bases.contains(&register) {
                    true => RegisterUse::Address,
                    false => RegisterUse::Operand,
                };
                with(reads().map(|register| (register, to(register))).collect(), Provenance::Fresh)
            }
        }
    }

    fn is_of_frame(&self, address: &Address) -> bool {
        matches!(address.base, AddressBase::Variable(variable) if self.words.of.contains_key(&variable))
    }
}

/// How a result depends on a lane's operands, if not on all of them alike.
fn computed(op: &ComputeOp) -> Option<Provenance> {
    Some(match op {
        ComputeOp::Pack { parts: operands, .. } | ComputeOp::MoveVector { srcs: operands, .. } => of_parts(operands),
        ComputeOp::ConvertPair { a, b, .. } | ComputeOp::BitFieldInsert { a, b, .. } => of_parts(&[*a, *b]),
        ComputeOp::Ternary { op: TernaryOp::Permute(_), a, b, .. } => of_parts(&[*a, *b]),
        ComputeOp::Ternary { op: TernaryOp::Logic(_), a, b, c, .. } => of_parts(&[*a, *b, *c]),
        ComputeOp::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), ty: Type::Pred, a, b, .. } => {
            Provenance::ByLogic { and: *op == BinaryOp::And, operands: [*a, *b] }
        }
        ComputeOp::Binary { op: BinaryOp::And | BinaryOp::Or, a, b, .. } => of_parts(&[*a, *b]),
        // The same value twice: the result is zero in any case.
        ComputeOp::Binary {
            op: BinaryOp::Xor | BinaryOp::Subtract,
            a: Operand::Register(a),
            b: Operand::Register(b),
            ..
        } if a == b => Provenance::Fresh,
        ComputeOp::Select { a, b, predicate, .. } => {
            Provenance::ByChoice { chooser: *predicate, yes: register(a), no: register(b) }
        }
        _ => return None,
    })
}

/// A value with these parts. Constants and special registers count only if all parts are such.
fn of_parts(operands: &[Operand]) -> Provenance {
    let registers: Vec<usize> = operands.iter().filter_map(register).collect();
    if registers.is_empty() { Provenance::Fresh } else { Provenance::OfParts(registers) }
}

fn register(operand: &Operand) -> Option<usize> {
    Some(operand.register()?.index())
}

fn base(address: &Address) -> Option<usize> {
    match address.base {
        AddressBase::Register(register) => Some(register.index()),
        AddressBase::Variable(_) | AddressBase::Absolute => None,
    }
}
