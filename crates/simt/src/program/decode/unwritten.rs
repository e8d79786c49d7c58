//! Finds registers that may be read before anything wrote them, so that the sanitizer has to look at these alone.
//!
//! A register that every path writes before it reads it needs no watching, and compilers make hardly any other. Of the rest
//! this follows where their values may go: a compiler computes with values that it drops later (`fma`, then `selp`), so what
//! matters is where a value decides, is an address, or leaves the thread. If none gets there, nothing is watched.

use std::sync::Arc;

use ptx::{
    Address, AddressBase, BinaryOp, Callee, FenceProxies, Function, Handle, Instruction, Op, Operand, Predicate, Space,
    TernaryOp, Type,
};

use super::super::blocks::Blocks;
use super::super::inspection::{Merge, Move, RegisterFlow, RegisterUse, Tracked};
use super::FunctionDecoder;
use super::uses::Uses;
use crate::lanes::{ALWAYS, NEGATED, NEVER};

/// Steps of the search, at most. Registers that are left are watched, whether there is a need or not.
const SEARCH_LIMIT: usize = 1 << 24;

/// Tells the sanitizer what to look at in a function. `ways` are the successors of each position of the body, `starts` the
/// steps that they begin at.
pub(super) fn track(decoder: &mut FunctionDecoder<'_, '_>, body: &[Instruction], ways: &[Vec<u32>], starts: &[u32]) {
    let flows = Flows { function: decoder.function, body, uses: &decoder.uses, rows: &decoder.rows };
    let exposed = flows.exposed(ways);
    if !exposed.contains(&true) {
        // A shuffle may read what another lane has not written; the frames of callees are not looked at here.
        let is_of_others = |instruction: &Instruction| matches!(instruction.op, Op::Shuffle { .. } | Op::Call { .. });
        decoder.frame.needs_no_zeros = !body.iter().any(is_of_others);
        return;
    }
    let numbers = flows.numbers(&exposed);
    if numbers.iter().all(Option::is_none) {
        return;
    }
    let end = decoder.builder.instructions.len() as u32;
    for (position, &start) in starts.iter().enumerate() {
        // An instruction of which nothing is left is no step.
        let is_step = start < starts.get(position + 1).copied().unwrap_or(end);
        let flow = flows.of(position, &numbers);
        if is_step && flow != RegisterFlow::default() {
            decoder.builder.inspections.entry(start).registers = Some(Box::new(flow));
        }
    }
    // The carry flag, behind the registers, has no name.
    let names = decoder.function.registers.iter().map(|(_, register)| Some(Arc::from(register.name.as_str())));
    let names = names.chain([None]).zip(&numbers).filter(|(_, number)| number.is_some());
    decoder.frame.tracked = names.map(|(name, _)| name).collect();
    let mut is_written = vec![false; numbers.len()];
    (0..body.len()).flat_map(|position| flows.writes(position)).for_each(|register| is_written[register] = true);
    let registers = decoder
        .function
        .registers
        .iter()
        .filter(|(register, _)| numbers[register.index()].is_some() && !is_written[register.index()]);
    decoder.frame.never_written = registers.map(|(_, register)| register.name.clone()).collect();
}

/// How the registers that an instruction writes are made of those that it reads.
enum Made {
    /// Of none, as far as anybody needs to know: they are written.
    Anew,
    /// Of all of these: arithmetic.
    Of(Vec<usize>),
    /// Of these parts, of which some may be padding.
    OfParts(Vec<usize>),
    /// `selp`.
    ByChoice { chooser: Predicate, yes: Option<usize>, no: Option<usize> },
    /// `and.pred` and `or.pred`.
    ByLogic { and: bool, operands: [Operand; 2] },
}

impl Made {
    /// The registers that they are made of.
    fn sources(&self) -> Vec<usize> {
        match self {
            Made::Anew => Vec::new(),
            Made::Of(sources) | Made::OfParts(sources) => sources.clone(),
            Made::ByChoice { chooser, yes, no } => {
                [Some(chooser.register.index()), *yes, *no].into_iter().flatten().collect()
            }
            Made::ByLogic { operands, .. } => operands.iter().filter_map(register).collect(),
        }
    }

    /// Whether they are put together of parts, one of which is always written, and so count as written themselves.
    fn is_of_written_part(&self, reached: &[bool]) -> bool {
        matches!(self, Made::OfParts(parts) if parts.iter().any(|&part| !reached[part]))
    }
}

/// What an instruction does with registers. They are their indices here.
struct Flow {
    uses: Vec<(usize, RegisterUse)>,
    /// What a store stores, if it may be that nothing wrote any of it.
    stored: Vec<usize>,
    made: Made,
}

/// A function whose registers are followed. The carry flag counts as one more, behind them.
struct Flows<'f> {
    function: &'f Function,
    body: &'f [Instruction],
    uses: &'f Uses,
    rows: &'f [u32],
}

impl Flows<'_> {
    fn carry(&self) -> usize {
        self.function.registers.len()
    }

    /// The registers that an instruction reads, its guard among them.
    fn reads(&self, position: usize) -> impl Iterator<Item = usize> {
        let guard = self.body[position].guard.map(|guard| guard.register);
        guard.into_iter().chain(self.uses.reads(position).iter().copied()).map(Handle::index)
    }

    fn writes(&self, position: usize) -> impl Iterator<Item = usize> {
        self.uses.writes(position).iter().map(|register| register.index())
    }

    /// The registers that some path reads before anything wrote them.
    fn exposed(&self, ways: &[Vec<u32>]) -> Vec<bool> {
        let mut exposed = vec![false; self.carry() + 1];
        let blocks = Blocks::new(self.body.len(), ways);
        exposed[self.carry()] = self.carry_is_exposed(&blocks);
        // For each register, the blocks that read it before they write it, and those that write it.
        let mut readers = vec![Vec::new(); self.carry()];
        let mut writers = vec![Vec::new(); self.carry()];
        for block in 0..blocks.count() {
            for position in blocks.positions(block) {
                for register in self.reads(position) {
                    if writers[register].last() != Some(&block) && readers[register].last() != Some(&block) {
                        readers[register].push(block);
                    }
                }
                if self.body[position].guard.is_none() {
                    for register in self.writes(position) {
                        let writers = &mut writers[register];
                        if writers.last() != Some(&block) {
                            writers.push(block);
                        }
                    }
                }
            }
        }
        let mut steps = 0;
        let mut seen = vec![usize::MAX; blocks.count()];
        for (register, readers) in readers.iter_mut().enumerate() {
            // Backwards from each reader, to the entry.
            while let Some(block) = readers.pop() {
                if block == 0 || steps > SEARCH_LIMIT {
                    exposed[register] = true;
                    break;
                }
                for &before in &blocks.before[block] {
                    steps += 1;
                    if seen[before] != register {
                        seen[before] = register;
                        if writers[register].binary_search(&before).is_err() {
                            readers.push(before);
                        }
                    }
                }
            }
        }
        exposed
    }

    /// Whether the carry flag may be read before it is set, or after a call, which loses it. It is meant for straight lines of
    /// code: in others it is watched.
    fn carry_is_exposed(&self, blocks: &Blocks) -> bool {
        (0..blocks.count()).any(|block| {
            let mut is_set = false;
            blocks.positions(block).any(|position| {
                let instruction = &self.body[position];
                match instruction.op {
                    Op::Carry { carry_in: true, .. } if !is_set => return true,
                    Op::Carry { carry_out: true, .. } if instruction.guard.is_none() => is_set = true,
                    Op::Call { .. } => is_set = false,
                    _ => {}
                }
                false
            })
        })
    }

    /// For each register whose value may not have been written and may matter somewhere, a number.
    fn numbers(&self, exposed: &[bool]) -> Vec<Option<Tracked>> {
        let carry = self.carry();
        let mut readers = vec![Vec::new(); carry];
        let mut makers = vec![Vec::new(); carry];
        for position in 0..self.body.len() {
            let sources = self.flow(position).made.sources();
            if !sources.is_empty() {
                self.writes(position).for_each(|register| makers[register].push(position));
            }
            sources.into_iter().for_each(|source| readers[source].push(position));
        }
        // Forwards: where such values may go.
        let mut reached = exposed.to_vec();
        let mut next: Vec<usize> = (0..carry).filter(|&register| reached[register]).collect();
        while let Some(register) = next.pop() {
            for &position in &readers[register] {
                if self.flow(position).made.is_of_written_part(&reached) {
                    continue;
                }
                for to in self.writes(position) {
                    if !std::mem::replace(&mut reached[to], true) {
                        next.push(to);
                    }
                }
            }
        }
        // Backwards: from where they matter.
        let mut matters = vec![false; carry + 1];
        matters[carry] = exposed[carry];
        for (position, instruction) in self.body.iter().enumerate() {
            let Flow { uses, stored, .. } = self.flow(position);
            let guard = instruction.guard.map(|guard| guard.register.index());
            let stored = stored.iter().copied().filter(|_| stored.iter().all(|&element| reached[element]));
            for register in guard.into_iter().chain(uses.iter().map(|&(register, _)| register)).chain(stored) {
                matters[register] = true;
            }
        }
        let mut next: Vec<usize> = (0..carry).filter(|&register| matters[register]).collect();
        while let Some(register) = next.pop() {
            for &position in &makers[register] {
                let made = self.flow(position).made;
                for source in made.sources().into_iter().filter(|_| !made.is_of_written_part(&reached)) {
                    if !std::mem::replace(&mut matters[source], true) {
                        next.push(source);
                    }
                }
            }
        }
        let mut count = 0;
        let mut number = || {
            count += 1;
            count - 1
        };
        (0..=carry).map(|register| (reached[register] && matters[register]).then(&mut number)).collect()
    }

    /// What the sanitizer has to know of an instruction.
    fn of(&self, position: usize, numbers: &[Option<Tracked>]) -> RegisterFlow {
        let Instruction { guard, op, .. } = &self.body[position];
        let Flow { uses, stored, made } = self.flow(position);
        let number = |register: usize| numbers[register];
        let operand = |predicate: &Operand| match *predicate {
            Operand::Register(register) => (self.rows[register.index()], number(register.index())),
            Operand::NotRegister(register) => (self.rows[register.index()] | NEGATED, number(register.index())),
            Operand::Integer(0) => (NEVER, None),
            _ => (ALWAYS, None),
        };
        let all = |registers: &[usize]| registers.iter().map(|&register| number(register)).collect::<Option<Vec<_>>>();
        let mut flow = RegisterFlow {
            guard: guard.and_then(|guard| number(guard.register.index())),
            uses: uses.into_iter().filter_map(|(register, to)| Some((number(register)?, to))).collect(),
            // One that is always written is enough.
            stored: all(&stored).unwrap_or_default(),
            ..RegisterFlow::default()
        };
        for to in self.writes(position).filter_map(number) {
            let merge = match &made {
                Made::Anew => None,
                Made::Of(sources) => {
                    let sources: Vec<Tracked> = sources.iter().copied().filter_map(number).collect();
                    (!sources.is_empty()).then_some(Merge::All(sources))
                }
                Made::OfParts(parts) => all(parts).map(Merge::Any),
                Made::ByChoice { chooser, yes, no } => {
                    let row = self.rows[chooser.register.index()];
                    Some(Merge::Choice {
                        predicate: if chooser.negated { row | NEGATED } else { row },
                        chooser: number(chooser.register.index()),
                        yes: yes.and_then(number),
                        no: no.and_then(number),
                    })
                }
                Made::ByLogic { and, operands: [a, b] } => {
                    Some(Merge::Logic { and: *and, operands: [operand(a), operand(b)] })
                }
            };
            match merge {
                Some(merge) => flow.moves.push(Move { to, merge }),
                None => flow.writes.push(to),
            }
        }
        match op {
            Op::Carry { carry_in, carry_out, .. } => {
                let flag = number(self.carry());
                flow.uses.extend(flag.filter(|_| *carry_in).map(|flag| (flag, RegisterUse::Operand)));
                flow.writes.extend(flag.filter(|_| *carry_out));
            }
            Op::Call { .. } => flow.forgets = number(self.carry()),
            _ => {}
        }
        flow
    }

    /// What an instruction does with the registers that it reads, its guard left out.
    fn flow(&self, position: usize) -> Flow {
        let reads = || self.uses.reads(position).iter().map(|register| register.index());
        let used = |to| reads().map(|register| (register, to)).collect::<Vec<_>>();
        let made = |made| Flow { uses: Vec::new(), stored: Vec::new(), made };
        let parts = |operands: &[Operand]| made(of_parts(operands));
        match &self.body[position].op {
            Op::Pack { parts: operands, .. } | Op::MoveVector { srcs: operands, .. } => parts(operands),
            Op::ConvertPair { a, b, .. } | Op::BitFieldInsert { a, b, .. } => parts(&[*a, *b]),
            Op::Ternary { op: TernaryOp::Permute(_), a, b, .. } => parts(&[*a, *b]),
            Op::Ternary { op: TernaryOp::Logic(_), a, b, c, .. } => parts(&[*a, *b, *c]),
            Op::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), ty: Type::Pred, a, b, .. } => {
                made(Made::ByLogic { and: *op == BinaryOp::And, operands: [*a, *b] })
            }
            Op::Binary { op: BinaryOp::And | BinaryOp::Or, a, b, .. } => parts(&[*a, *b]),
            // The same value twice: that gives zero, whatever it is.
            Op::Binary {
                op: BinaryOp::Xor | BinaryOp::Subtract,
                a: Operand::Register(a),
                b: Operand::Register(b),
                ..
            } if a == b => made(Made::Anew),
            Op::Select { a, b, predicate, .. } => {
                made(Made::ByChoice { chooser: *predicate, yes: register(a), no: register(b) })
            }
            Op::Move { .. }
            | Op::Unpack { .. }
            | Op::Convert { .. }
            | Op::ConvertPack { .. }
            | Op::ConvertAddress { .. }
            | Op::IsSpace { .. }
            | Op::IsType { .. }
            | Op::LogicAndTest { .. }
            | Op::MapToBlock { .. }
            | Op::RankOfAddress { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Ternary { .. }
            | Op::Carry { .. }
            | Op::ScalarVideo(_)
            | Op::SimdVideo(_)
            | Op::SetPredicate { .. }
            | Op::Set { .. }
            | Op::SelectBySign { .. }
            | Op::TestProperty { .. } => made(Made::Of(reads().collect())),
            // What is passed on may be padding, and what lanes exchange may be dropped.
            Op::Store { space: Space::Parameter, .. } | Op::Prefetch { .. } | Op::NanoSleep { .. } => made(Made::Anew),
            Op::Call { callee, .. } => {
                let uses = match callee {
                    Callee::Direct(_) => Vec::new(),
                    Callee::Indirect { register, .. } => vec![(register.index(), RegisterUse::Address)],
                };
                Flow { uses, ..made(Made::Anew) }
            }
            Op::Shuffle { lane, clamp, members, .. } => {
                let operands = [Some(lane), Some(clamp), members.as_ref()].into_iter().flatten();
                let uses = operands.filter_map(register).map(|register| (register, RegisterUse::Operand));
                Flow { uses: uses.collect(), ..made(Made::Anew) }
            }
            Op::Store { srcs, address, .. } => {
                let stored = srcs.iter().map(register).collect::<Option<Vec<usize>>>().unwrap_or_default();
                let base = base(address).map(|register| (register, RegisterUse::Address));
                Flow { uses: base.into_iter().collect(), stored, made: Made::Anew }
            }
            Op::Load { .. } => Flow { uses: used(RegisterUse::Address), ..made(Made::Anew) },
            Op::BranchIndexed { .. } => Flow { uses: used(RegisterUse::Condition), ..made(Made::Anew) },
            op => {
                let bases = addresses(op);
                let to = |register| match bases.contains(&Some(register)) {
                    true => RegisterUse::Address,
                    false => RegisterUse::Operand,
                };
                Flow { uses: reads().map(|register| (register, to(register))).collect(), ..made(Made::Anew) }
            }
        }
    }
}

/// What is put together of these: if one is a constant, or a special register, it counts only with others of that kind.
fn of_parts(operands: &[Operand]) -> Made {
    let registers: Vec<usize> = operands.iter().filter_map(register).collect();
    if registers.is_empty() { Made::Anew } else { Made::OfParts(registers) }
}

fn register(operand: &Operand) -> Option<usize> {
    match operand {
        Operand::Register(register) | Operand::NotRegister(register) => Some(register.index()),
        _ => None,
    }
}

fn base(address: &Address) -> Option<usize> {
    match address.base {
        AddressBase::Register(register) => Some(register.index()),
        AddressBase::Variable(_) | AddressBase::Absolute => None,
    }
}

/// The registers that an instruction's addresses start from.
fn addresses(op: &Op) -> [Option<usize>; 2] {
    match op {
        Op::Atomic { address, .. }
        | Op::AtomicVector { address, .. }
        | Op::ArriveAfterCopies { address, .. }
        | Op::Mbarrier { address, .. }
        | Op::LoadMatrix { address, .. }
        | Op::StoreMatrix { address, .. } => [base(address), None],
        Op::LoadFragment { tile, .. } | Op::StoreFragment { tile, .. } => [base(&tile.address), None],
        Op::CopyAsync(copy) => [base(&copy.dst), base(&copy.src)],
        Op::TensorCopy(copy) => [base(&copy.map), None],
        Op::ReplaceTensorField { address, .. } => [base(address), None],
        Op::CopyTensorMap { dst, src, .. } => [base(dst), base(src)],
        Op::Fence { proxies: Some(FenceProxies::AcquireTensorMap(map)), .. } => [base(map), None],
        _ => [None, None],
    }
}
