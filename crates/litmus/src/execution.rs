//! Candidate executions of a program: which store each load finds, in which order stores and
//! fences come. [`crate::model`] says which of them PTX allows.

use crate::program::{Action, Place, Program, Scope, Thread, Update};
use crate::relation::{MOST_EVENTS, Relation, Set, members};

/// Executions that are looked at, at most.
const MOST_EXECUTIONS: u64 = 20_000_000;

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load, or that of an atomic operation.
    Read,
    /// A store, or that of an atomic operation.
    Write,
    /// `fence.acq_rel`.
    Fence,
    /// `fence.sc`.
    SequentialFence,
    /// The arrival at a barrier, of this number in the thread.
    Arrival(usize),
    /// The end of the wait there.
    Wait(usize),
}

/// An event of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its thread.
    pub thread: usize,
    /// Its step there.
    pub step: usize,
    /// What it is.
    pub kind: Kind,
    /// The variable that it accesses.
    pub variable: Option<usize>,
    /// The scope, if it is strong.
    pub scope: Option<Scope>,
    /// Whether it acquires.
    pub acquires: bool,
    /// Whether it releases.
    pub releases: bool,
    place: Place,
}

impl Event {
    /// Whether two events are morally strong: of one thread, or each in the other's scope.
    pub fn is_strong_with(&self, other: &Self) -> bool {
        let reaches = |from: &Self, to: &Self| from.scope.is_some_and(|scope| from.place.reaches(to.place, scope));
        self.thread == other.thread || reaches(self, other) && reaches(other, self)
    }
}

/// The events that a program can have.
pub struct Events<'a> {
    pub(crate) program: &'a Program,
    /// All of them, thread by thread, in program order.
    pub all: Vec<Event>,
    /// The event of each load of each thread.
    loads: Vec<Vec<usize>>,
}

/// An execution, before fences and stores are ordered.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The events that take place.
    pub present: Set,
    /// For each event that is a load, the store that it finds; none is the beginning.
    pub sources: Vec<Option<usize>>,
    /// What is loaded or stored.
    pub values: Vec<u32>,
    /// The order of sequentially consistent fences, of those that are morally strong.
    pub fences: Relation,
    /// The order of stores to a variable, closed: those that are morally strong or ordered by
    /// causality.
    pub stores: Relation,
}

/// A program that is too large to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// Too many events.
    #[error("it has {0} loads, stores, fences and barriers, and {MOST_EVENTS} are the most")]
    Events(usize),
    /// Too many executions.
    #[error("it has more than {MOST_EXECUTIONS} executions: take out an access, or a thread")]
    Executions,
}

fn events_of(thread: &Thread, number: usize, all: &mut Vec<Event>, loads: &mut Vec<usize>) {
    let mut barriers = 0;
    for (step, one) in thread.steps.iter().enumerate() {
        let event = Event {
            thread: number,
            step,
            kind: Kind::Read,
            variable: None,
            scope: None,
            acquires: false,
            releases: false,
            place: thread.place,
        };
        match &one.action {
            Action::Load { variable, access, .. } => {
                loads.push(all.len());
                all.push(Event { variable: Some(*variable), scope: access.scope, acquires: access.acquires, ..event });
            }
            Action::Store { variable, access, .. } => {
                let (variable, scope) = (Some(*variable), access.scope);
                all.push(Event { kind: Kind::Write, variable, scope, releases: access.releases, ..event });
            }
            Action::Atomic { variable, access, .. } => {
                let (variable, scope) = (Some(*variable), access.scope);
                loads.push(all.len());
                all.push(Event { variable, scope, acquires: access.acquires, ..event });
                all.push(Event { kind: Kind::Write, variable, scope, releases: access.releases, ..event });
            }
            Action::Fence { scope, sequential } => {
                let kind = if *sequential { Kind::SequentialFence } else { Kind::Fence };
                all.push(Event { kind, scope: Some(*scope), acquires: true, releases: true, ..event });
            }
            Action::Barrier => {
                let scope = Some(Scope::Block);
                all.push(Event { kind: Kind::Arrival(barriers), scope, ..event });
                all.push(Event { kind: Kind::Wait(barriers), scope, acquires: true, releases: true, ..event });
                barriers += 1;
            }
        }
    }
}

impl<'a> Events<'a> {
    /// Those of a program.
    ///
    /// # Errors
    ///
    /// [`TooLarge`].
    pub fn of(program: &'a Program) -> Result<Self, TooLarge> {
        let (mut all, mut loads) = (Vec::new(), Vec::new());
        for (number, thread) in program.threads.iter().enumerate() {
            let mut own = Vec::new();
            events_of(thread, number, &mut all, &mut own);
            loads.push(own);
        }
        if all.len() > MOST_EVENTS {
            return Err(TooLarge::Events(all.len()));
        }
        Ok(Self { program, all, loads })
    }

    /// The relation that holds between these events where `holds` says so.
    pub(crate) fn relation(&self, present: Set, holds: impl Fn(&Event, &Event) -> bool) -> Relation {
        let is_there = |event: usize| present >> event & 1 == 1;
        Relation::of(self.all.len(), |a, b| a != b && is_there(a) && is_there(b) && holds(&self.all[a], &self.all[b]))
    }

    /// Those among `present` of which `is` holds.
    pub(crate) fn set(&self, present: Set, is: impl Fn(&Event) -> bool) -> Set {
        members(present).filter(|&event| is(&self.all[event])).fold(0, |set, event| set | 1 << event)
    }

    /// The store of an atomic operation, by its load.
    pub(crate) fn store_of(&self, load: usize) -> Option<usize> {
        let (a, b) = (&self.all[load], self.all.get(load + 1)?);
        (a.kind == Kind::Read && b.kind == Kind::Write && (a.thread, a.step) == (b.thread, b.step)).then_some(load + 1)
    }

    /// Calls `see` with each way in which loads find stores, without one in which a value depends
    /// on itself ("no thin air").
    ///
    /// # Errors
    ///
    /// [`TooLarge`].
    pub fn each_reading(&self, mut see: impl FnMut(Execution) -> Result<(), TooLarge>) -> Result<(), TooLarge> {
        let reads: Vec<usize> = (0..self.all.len()).filter(|&event| self.all[event].kind == Kind::Read).collect();
        let choices: Vec<Vec<Option<usize>>> = reads
            .iter()
            .map(|&read| {
                let found = (0..self.all.len()).filter(|&write| {
                    self.all[write].kind == Kind::Write
                        && self.all[write].variable == self.all[read].variable
                        && self.store_of(read) != Some(write)
                });
                std::iter::once(None).chain(found.map(Some)).collect()
            })
            .collect();
        let all = choices.iter().try_fold(1_u64, |all, choices| all.checked_mul(choices.len() as u64));
        if all.is_none_or(|all| all > MOST_EXECUTIONS) {
            return Err(TooLarge::Executions);
        }
        let mut chosen = vec![0; reads.len()];
        loop {
            let mut sources = vec![None; self.all.len()];
            for ((&read, choices), &chosen) in reads.iter().zip(&choices).zip(&chosen) {
                sources[read] = choices[chosen];
            }
            if let Some(execution) = self.evaluated(sources) {
                see(execution)?;
            }
            let Some(at) = (0..chosen.len()).find(|&at| chosen[at] + 1 < choices[at].len()) else { return Ok(()) };
            chosen[at] += 1;
            chosen[..at].fill(0);
        }
    }

    /// The values of an execution; `None` if one depends on itself, or a load finds a store that is
    /// not made.
    fn evaluated(&self, sources: Vec<Option<usize>>) -> Option<Execution> {
        // A value, or that the event does not take place.
        let mut values: Vec<Option<Option<u32>>> = vec![None; self.all.len()];
        loop {
            let mut changed = false;
            for (number, event) in self.all.iter().enumerate().filter(|(_, event)| event.variable.is_some()) {
                if values[number].is_some() {
                    continue;
                }
                values[number] = match event.kind {
                    Kind::Read => match sources[number] {
                        None => event.variable.map(|variable| Some(self.program.variables[variable].1)),
                        Some(source) => values[source],
                    },
                    _ => self.stored(event, &values),
                };
                changed |= values[number].is_some();
            }
            if !changed {
                break;
            }
        }
        let (mut present, mut all) = (0, vec![0; self.all.len()]);
        for (number, event) in self.all.iter().enumerate() {
            match (event.variable, values[number]) {
                (None, _) => present |= 1 << number,
                (Some(_), Some(Some(value))) => {
                    present |= 1 << number;
                    all[number] = value;
                }
                // A store that is not made. No load can find it.
                (Some(_), Some(None)) if event.kind == Kind::Write => {}
                (Some(_), _) => return None,
            }
        }
        let none = Relation::empty(self.all.len());
        Some(Execution { present, sources, values: all, fences: none.clone(), stores: none })
    }

    /// What a store writes, once that is known: a value, or nothing.
    fn stored(&self, event: &Event, values: &[Option<Option<u32>>]) -> Option<Option<u32>> {
        let loaded = |load: usize| values[*self.loads[event.thread].get(load)?].flatten();
        let step = &self.program.threads[event.thread].steps[event.step];
        if let Some((condition, is_zero)) = &step.condition
            && (condition.known(&loaded)? == 0) != *is_zero
        {
            return Some(None);
        }
        match &step.action {
            Action::Store { value, .. } => Some(Some(value.known(&loaded)?)),
            Action::Atomic { result, update: Update::Operation(operation, value), .. } => {
                Some(Some(operation.of(loaded(*result)?, value.known(&loaded)?)))
            }
            Action::Atomic { result, update: Update::Swap(expected, new), .. } => {
                let is_there = loaded(*result)? == expected.known(&loaded)?;
                let new = new.known(&loaded)?;
                Some(is_there.then_some(new))
            }
            _ => None,
        }
    }

    /// The value of a load of a thread.
    pub fn loaded(&self, execution: &Execution, thread: usize, load: usize) -> Option<u32> {
        self.loads[thread].get(load).map(|&event| execution.values[event])
    }
}
