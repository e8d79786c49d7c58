//! The inspections of a function that has values which may be unwritten and may matter: at each
//! instruction, what the sanitizer is to follow or report.

use std::sync::Arc;

use ptx::{ComputeOp, ControlOp, Handle, Instruction, Op, Operand};

use super::flows::{Flow, Flows, Passed, Provenance};
use super::function::Builder;
use crate::lanes::{ALWAYS, NEGATED, NEVER};
use crate::program::code::Action;
use crate::program::inspection::{CallFlow, Merge, Move, RegisterFlow, RegisterUse, Tracked};

/// What is known of the values of a function.
pub(super) struct Found<'f> {
    pub exposed: &'f [bool],
    /// Values that may be computed from unwritten registers.
    pub always: &'f [bool],
    /// Values that may be computed from these, from unwritten memory, or from lanes that do not
    /// take part in a shuffle.
    pub reached: &'f [bool],
}

impl Flows<'_> {
    /// Numbers the values that may be unwritten and may matter somewhere. What is passed to other
    /// functions or returned may matter there.
    fn numbers(&self, &Found { exposed, reached, .. }: &Found) -> Vec<Option<Tracked>> {
        let carry = self.carry();
        let mut makers = vec![Vec::new(); self.count()];
        let mut matters = vec![false; self.count()];
        matters[carry] = exposed[carry];
        for (position, instruction) in self.body.iter().enumerate() {
            let Flow { uses, stored, makes } = self.flow(position);
            for (to, made) in makes {
                if !made.sources().is_empty() {
                    makers[to].push(made);
                }
            }
            let guard = instruction.guard.map(|guard| guard.register.index());
            let stored = stored.iter().copied().filter(|_| stored.iter().all(|&element| reached[element]));
            let kept = self.kept(position).into_iter().flatten();
            for value in guard.into_iter().chain(uses.iter().map(|&(value, _)| value)).chain(stored).chain(kept) {
                matters[value] = true;
            }
            if let Some(Passed { arguments, .. }) = self.passed(&instruction.op) {
                arguments.into_iter().flatten().flatten().for_each(|value| matters[value] = true);
            }
        }
        self.results().for_each(|word| matters[word] = true);
        // Backwards, from where values matter.
        let mut next: Vec<usize> = (0..self.count()).filter(|&value| matters[value] && value != carry).collect();
        while let Some(value) = next.pop() {
            for made in &makers[value] {
                for source in made.sources().into_iter().filter(|_| !made.is_of_written_part(reached)) {
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
        (0..self.count()).map(|value| (reached[value] && matters[value]).then(&mut number)).collect()
    }

    /// Adds the inspections of a function: `function` is its index, `starts` the steps of its
    /// instructions.
    pub(super) fn inspect(&self, builder: &mut Builder<'_>, function: usize, starts: &[u32], found: &Found) {
        let numbers = self.numbers(found);
        self.follow_loads(builder, starts, &numbers);
        if numbers.iter().all(Option::is_none) {
            return;
        }
        for (position, steps) in starts.windows(2).enumerate() {
            let &[start, end] = steps else { continue };
            let mut flow = self.of(position, &numbers, found.always);
            let kept: Vec<Option<Tracked>> =
                self.kept(position).into_iter().map(|value| value.and_then(|value| numbers[value])).collect();
            let mut steps = start..end;
            let store = steps.find(|&step| matches!(action(builder, step), Some(Action::Store(_))));
            flow.kept = store.filter(|_| kept.iter().any(Option::is_some)).map(|store| (store, kept));
            // An instruction that emitted nothing has no step.
            if start < end && !flow.is_empty() {
                builder.inspections.entry(start).registers = Some(Box::new(flow));
            }
            let call = (start..end).find(|&step| matches!(action(builder, step), Some(Action::Call(_))));
            if let (Some(step), Some(passed)) = (call, self.passed(&self.body[position].op)) {
                let numbered = |lists: Vec<Vec<Option<usize>>>| -> Vec<Vec<Option<Tracked>>> {
                    let list = |words: Vec<Option<usize>>| words.into_iter().map(|word| numbers[word?]).collect();
                    lists.into_iter().map(list).collect()
                };
                let flow = CallFlow { arguments: numbered(passed.arguments), results: numbered(passed.results) };
                builder.inspections.entry(step).call = Some(Box::new(flow));
            }
        }
        let frame = &mut builder.functions[function];
        // The carry flag, after the registers, has no name.
        let registers = || self.function.registers.iter();
        let names = registers().map(|(_, register)| Some(Arc::from(register.name.as_str()))).chain([None]);
        let names = names.chain(self.words.names.iter().cloned().map(Some));
        frame.tracked = names.zip(&numbers).filter(|(_, number)| number.is_some()).map(|(name, _)| name).collect();
        let tracked = numbers.iter().zip(found.always).filter(|(number, _)| number.is_some());
        frame.tracked_of_loaded = tracked.map(|(_, always)| !always).collect();
        let words = |variables: &[Handle<ptx::Variable>]| -> Vec<Vec<Option<Tracked>>> {
            variables.iter().map(|&variable| self.words.of(variable).map(|word| numbers[word]).collect()).collect()
        };
        frame.tracked_parameters = words(&self.function.parameters);
        frame.tracked_results = words(&self.function.results);
        let mut is_written = vec![false; self.count()];
        (0..self.body.len()).for_each(|position| self.each_written(position, |value| is_written[value] = true));
        let never =
            registers().filter(|(register, _)| numbers[register.index()].is_some() && !is_written[register.index()]);
        frame.never_written = never.map(|(_, register)| register.name.clone()).collect();
    }

    /// Marks loads from local memory with the tracked registers that they load.
    fn follow_loads(&self, builder: &mut Builder<'_>, starts: &[u32], numbers: &[Option<Tracked>]) {
        for (position, steps) in starts.windows(2).enumerate() {
            let (loaded, &[start, end]) = (self.loaded(position), steps) else { continue };
            if loaded.is_empty() {
                continue;
            }
            let mut steps = start..end;
            let Some(step) = steps.find(|&step| matches!(action(builder, step), Some(Action::Load(_)))) else {
                continue;
            };
            if let Some(Action::Load(load)) = builder.instructions.get_mut(step as usize).map(|step| &mut step.action) {
                load.operation.copied.follow();
            }
            let loaded: Vec<Option<Tracked>> = loaded.iter().map(|dst| numbers[dst.as_ref()?.index()]).collect();
            if loaded.iter().any(Option::is_some) {
                builder.inspections.entry(step).loaded = Some(loaded.into());
            }
        }
    }

    /// What the sanitizer needs to know of an instruction.
    fn of(&self, position: usize, numbers: &[Option<Tracked>], always: &[bool]) -> RegisterFlow {
        let Instruction { guard, op, .. } = &self.body[position];
        let Flow { uses, stored, makes } = self.flow(position);
        let number = |value: usize| numbers[value];
        let operand = |predicate: &Operand| match *predicate {
            Operand::Register(register) => (self.rows[register.index()], number(register.index())),
            Operand::NotRegister(register) => (self.rows[register.index()] | NEGATED, number(register.index())),
            Operand::Integer(0) => (NEVER, None),
            _ => (ALWAYS, None),
        };
        let all = |values: &[usize]| values.iter().map(|&value| number(value)).collect::<Option<Vec<_>>>();
        let mut flow = RegisterFlow {
            guard: guard.and_then(|guard| number(guard.register.index())),
            uses: uses.iter().filter_map(|&(value, to)| Some((number(value)?, to))).collect(),
            // One element that is always written is enough.
            stored: all(&stored).unwrap_or_default(),
            ..RegisterFlow::default()
        };
        let guard = guard.map(|guard| guard.register.index());
        let made = makes.iter().flat_map(|(to, made)| made.sources().into_iter().chain([*to]));
        let carry = matches!(op, Op::Compute(ComputeOp::Carry { .. }) | Op::Control(ControlOp::Call { .. }))
            .then_some(self.carry());
        let used = uses.iter().map(|&(value, _)| value).chain(stored).chain(guard).chain(carry);
        flow.of_loaded = used.chain(made).all(|value| number(value).is_none() || !always[value]);
        for (to, made) in makes {
            let Some(to) = number(to) else { continue };
            let merge = match made {
                Provenance::Fresh => None,
                Provenance::Of(sources) => {
                    let sources: Vec<Tracked> = sources.into_iter().filter_map(number).collect();
                    (!sources.is_empty()).then_some(Merge::All(sources))
                }
                Provenance::OfParts(parts) => all(&parts).map(Merge::Any),
                Provenance::ByChoice { chooser, yes, no } => {
                    let (predicate, chooser) = operand(&chooser);
                    Some(Merge::Choice { predicate, chooser, yes: yes.and_then(number), no: no.and_then(number) })
                }
                Provenance::ByLogic { and, operands: [a, b] } => {
                    Some(Merge::Logic { and, operands: [operand(&a), operand(&b)] })
                }
                Provenance::OtherLanes(source) => {
                    flow.exchanges = Some((to, source.and_then(number)));
                    continue;
                }
            };
            match merge {
                Some(merge) => flow.moves.push(Move { to, merge }),
                None => flow.writes.push(to),
            }
        }
        match op {
            Op::Compute(ComputeOp::Carry { carry_in, carry_out, .. }) => {
                let flag = number(self.carry());
                flow.uses.extend(flag.filter(|_| *carry_in).map(|flag| (flag, RegisterUse::Operand)));
                flow.writes.extend(flag.filter(|_| *carry_out));
            }
            Op::Control(ControlOp::Call { .. }) => flow.forgets = number(self.carry()),
            _ => {}
        }
        flow
    }
}

/// What a step does.
fn action<'b>(builder: &'b Builder<'_>, step: u32) -> Option<&'b Action> {
    builder.instructions.get(step as usize).map(|step| &step.action)
}
