//! PTX's memory model: which executions are allowed (PTX ISA, "Memory Consistency Model"; Lustig,
//! Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS
//! 2019).
//!
//! | relation | from | to |
//! | --- | --- | --- |
//! | observation | a store | a load that finds it, both morally strong, or through atomic operations |
//! | synchronises | the first of a release pattern | the last of an acquire pattern that observes it |
//! | base causality | an event | one behind it: by barriers, fences, synchronisation, and program order |
//! | causality | an event | one behind it by base causality, or by observation and then that |
//!
//! Stores are ordered where they are morally strong or where causality orders them. Others race: no
//! order is assumed.

use std::collections::VecDeque;

use crate::execution::{Event, Events, Execution, Kind, TooLarge};
use crate::relation::{Relation, Set, members};

/// An axiom. An execution is allowed if it breaks none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axiom {
    /// Stores are ordered as causality orders them.
    Coherence,
    /// The order of sequentially consistent fences does not contradict causality.
    FenceSc,
    /// Nothing is stored between an atomic operation's load and its store.
    Atomicity,
    /// Accesses of one variable that are morally strong are sequentially consistent.
    ScPerLocation,
    /// No load finds what is behind it, or what a store before it has replaced.
    Causality,
}

/// Why an event comes before another, or replaces what it has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// By causality.
    Causality,
    /// In the program, to the same variable.
    Program,
    /// The second finds what the first has stored.
    Found,
    /// The second replaces what the first has found.
    Replaced,
    /// Of two stores of a variable the first is earlier.
    Stored,
    /// Of two sequentially consistent fences the first is earlier.
    Fences,
    /// From the store of an atomic operation to its load: no other store may come between the two.
    Atomic,
}

/// The circle of events by which an execution breaks an axiom, a shortest one: from each event to
/// the next, and from the last to the first.
pub fn circle(events: &Events<'_>, execution: &Execution, axiom: Axiom) -> Vec<(usize, Link, usize)> {
    let links = Causes::of(events, execution).links(events, execution, axiom);
    let next = |from: usize| {
        links.iter().flat_map(move |(link, relation)| {
            (0..events.all.len()).filter(move |&to| relation.holds(from, to)).map(move |to| (from, *link, to))
        })
    };
    let shortest = |start: usize| {
        let mut before: Vec<Option<(usize, Link, usize)>> = vec![None; events.all.len()];
        let mut waiting = VecDeque::from([start]);
        while let Some(event) = waiting.pop_front() {
            for step in next(event) {
                if before[step.2].is_none() {
                    before[step.2] = Some(step);
                    waiting.push_back(step.2);
                }
            }
        }
        let mut path = vec![before[start]?];
        while path[path.len() - 1].0 != start {
            path.push(before[path[path.len() - 1].0]?);
        }
        path.reverse();
        Some(path)
    };
    (0..events.all.len()).filter_map(shortest).min_by_key(Vec::len).unwrap_or_default()
}

impl Axiom {
    /// Its name in the manual.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coherence => "Coherence",
            Self::FenceSc => "Fence-SC",
            Self::Atomicity => "Atomicity",
            Self::ScPerLocation => "SC-per-Location",
            Self::Causality => "Causality",
        }
    }
}

/// The relations of an execution that do not depend on the order of stores.
struct Causes {
    present: Set,
    strong: Relation,
    same_variable: Relation,
    /// Program order between accesses of one variable.
    in_thread: Relation,
    reads_from: Relation,
    atomics: Relation,
    synchronises: Relation,
    causality: Relation,
}

/// The patterns that synchronise: from the first event of a release pattern to the last of an
/// acquire pattern, where the store of the one is observed by the load of the other.
pub fn synchronises(events: &Events<'_>, execution: &Execution) -> Relation {
    Causes::of(events, execution).synchronises
}

/// Which store each load finds.
fn reads_from(events: &Events<'_>, execution: &Execution) -> Relation {
    let mut all = Relation::empty(events.all.len());
    for (read, source) in execution.sources.iter().enumerate() {
        if let Some(source) = source {
            all.insert(*source, read);
        }
    }
    all
}

/// Observation, by the loads that find a store that they are morally strong with.
fn observation(found: Relation, atomics: &Relation) -> Relation {
    let mut all = found;
    loop {
        let more = all.union(&all.then(atomics).then(&all));
        if more == all {
            return all;
        }
        all = more;
    }
}

/// From the load of each atomic operation to its store, if it stores.
fn atomics(events: &Events<'_>, execution: &Execution) -> Relation {
    let mut all = Relation::empty(events.all.len());
    for read in members(execution.present) {
        if let Some(write) = events.store_of(read).filter(|&write| execution.present >> write & 1 == 1) {
            all.insert(read, write);
        }
    }
    all
}

impl Causes {
    fn of(events: &Events<'_>, execution: &Execution) -> Self {
        let present = execution.present;
        let set = |is: fn(&Event) -> bool| events.set(present, is);
        let strong = events.relation(present, Event::is_strong_with);
        let same_thread = events.relation(present, |a, b| a.thread == b.thread);
        let order = Relation::of(events.all.len(), |a, b| a < b && same_thread.holds(a, b));
        let same_variable = events.relation(present, |a, b| a.variable.is_some() && a.variable == b.variable);
        let in_thread = order.intersection(&same_variable);
        let (reads_from, atomics) = (reads_from(events, execution), atomics(events, execution));
        let observation = observation(reads_from.intersection(&strong), &atomics);

        let (writes, reads) = (set(|event| event.kind == Kind::Write), set(|event| event.kind == Kind::Read));
        let releasing_fences = set(|event| event.variable.is_none() && event.releases);
        let acquiring_fences = set(|event| event.variable.is_none() && event.acquires);
        let releases = set(|event| event.kind == Kind::Write && event.releases);
        let acquires = set(|event| event.kind == Kind::Read && event.acquires);
        let at_once = in_thread.clone().or_same();
        let release = at_once.between(releases, writes).union(&order.between(releasing_fences, writes));
        let acquire = at_once.between(reads, acquires).union(&order.between(reads, acquiring_fences));
        let synchronises = release.then(&observation).then(&acquire).intersection(&strong);

        let barriers = events.relation(present, |a, b| match (a.kind, b.kind) {
            (Kind::Arrival(a_number), Kind::Wait(b_number)) => {
                a_number == b_number && (a.thread == b.thread || a.is_strong_with(b))
            }
            _ => false,
        });
        let around = order.or_same();
        let direct = barriers.union(&execution.fences).union(&synchronises);
        let base = around.then(&direct).then(&around).closure();
        let observed = observation.then(&in_thread.union(&base));
        let causality = base.union(&observed);
        Self { present, strong, same_variable, in_thread, reads_from, atomics, synchronises, causality }
    }

    /// From each load to the stores behind the one that it finds.
    fn replaced(&self, events: &Events<'_>, execution: &Execution) -> Relation {
        let is_write = |event: &Event| event.kind == Kind::Write;
        let stores = events.set(self.present, is_write);
        let starts = members(events.set(self.present, |event| event.kind == Kind::Read))
            .filter(|&read| execution.sources[read].is_none())
            .fold(0, |set, read| set | 1 << read);
        let later = self.reads_from.inverse().then(&execution.stores);
        later.union(&self.same_variable.between(starts, stores))
    }

    /// The relations in which a circle breaks an axiom. For `Atomicity` it is a path, from an
    /// atomic operation's load to its store.
    fn links(&self, events: &Events<'_>, execution: &Execution, axiom: Axiom) -> Vec<(Link, Relation)> {
        let replaced = self.replaced(events, execution);
        let strong = |relation: &Relation| relation.intersection(&self.strong);
        match axiom {
            Axiom::Coherence => vec![
                (Link::Causality, self.causality.intersection(&self.same_variable)),
                (Link::Stored, execution.stores.clone()),
            ],
            Axiom::FenceSc => {
                vec![(Link::Fences, execution.fences.clone()), (Link::Causality, self.causality.clone())]
            }
            Axiom::Atomicity => vec![
                // Its own store replaces what it has found, too.
                (Link::Replaced, strong(&replaced).without(&self.atomics)),
                (Link::Stored, strong(&execution.stores)),
                (Link::Atomic, self.atomics.inverse()),
            ],
            Axiom::ScPerLocation => vec![
                (Link::Found, strong(&self.reads_from)),
                (Link::Stored, strong(&execution.stores)),
                (Link::Replaced, strong(&replaced)),
                (Link::Program, self.in_thread.clone()),
            ],
            Axiom::Causality => vec![
                (Link::Causality, self.causality.clone()),
                (Link::Found, self.reads_from.clone()),
                (Link::Replaced, replaced),
            ],
        }
    }

    /// The axioms that an execution breaks.
    fn broken(&self, events: &Events<'_>, execution: &Execution) -> Vec<Axiom> {
        let replaced = self.replaced(events, execution);
        let communication = self.reads_from.union(&execution.stores).union(&replaced);
        let stores = events.set(self.present, |event| event.kind == Kind::Write);
        let caused = self.causality.between(stores, stores).intersection(&self.same_variable);
        let between = replaced.intersection(&self.strong).then(&execution.stores.intersection(&self.strong));
        let reads = self.reads_from.union(&replaced);
        let holds = [
            (
                Axiom::Coherence,
                caused.union(&execution.stores) == execution.stores && execution.stores.is_irreflexive(),
            ),
            (Axiom::FenceSc, execution.fences.then(&self.causality).is_irreflexive()),
            (Axiom::Atomicity, between.intersection(&self.atomics).is_empty()),
            (Axiom::ScPerLocation, communication.intersection(&self.strong).union(&self.in_thread).is_acyclic()),
            (Axiom::Causality, self.causality.is_irreflexive() && reads.then(&self.causality).is_irreflexive()),
        ];
        holds.into_iter().filter(|(_, holds)| !holds).map(|(axiom, _)| axiom).collect()
    }
}

/// Calls `see` with each execution of a reading in which fences and stores are ordered, and the
/// axioms that it breaks.
///
/// # Errors
///
/// What `see` returns.
pub fn each_order(
    events: &Events<'_>,
    reading: &Execution,
    mut see: impl FnMut(&Execution, &[Axiom]) -> Result<(), TooLarge>,
) -> Result<(), TooLarge> {
    let fences = |event: &Event| event.kind == Kind::SequentialFence;
    let strong_fences = events.relation(reading.present, |a, b| fences(a) && fences(b) && a.is_strong_with(b));
    for fences in orders(&strong_fences, &Relation::empty(events.all.len())) {
        let mut execution = Execution { fences, ..reading.clone() };
        let causes = Causes::of(events, &execution);
        let is_write = |event: &Event| event.kind == Kind::Write;
        let writes = events.relation(reading.present, |a, b| is_write(a) && is_write(b) && a.variable == b.variable);
        let caused = causes.causality.intersection(&writes);
        for stores in orders(&writes.intersection(&causes.strong), &caused) {
            execution.stores = stores.closure();
            see(&execution, &causes.broken(events, &execution))?;
        }
    }
    Ok(())
}

/// The ways to order what is related in both directions; `given` is ordered already, and in all.
fn orders(either: &Relation, given: &Relation) -> Vec<Relation> {
    let open: Vec<(usize, usize)> =
        either.pairs().filter(|&(a, b)| a < b && !given.holds(a, b) && !given.holds(b, a)).collect();
    let given_is_a_circle = !given.is_acyclic();
    let mut all = vec![given.clone()];
    for (a, b) in open {
        all = all
            .into_iter()
            .flat_map(|order| {
                [(a, b), (b, a)].map(|(from, to)| {
                    let mut order = order.clone();
                    order.insert(from, to);
                    order
                })
            })
            .filter(|order| given_is_a_circle || order.is_acyclic())
            .collect();
    }
    all
}
