//! What a program can do: its outcomes, each with an execution, and the answers to its questions.

use std::collections::BTreeMap;

use crate::execution::{Events, Execution, TooLarge};
use crate::model::{Axiom, each_order};
use crate::program::{Part, Program, Question};
use crate::relation::members;

/// The values that an outcome consists of: of each register that a thread loads, and of each
/// variable that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Values {
    /// The registers, by thread and name.
    pub registers: BTreeMap<(usize, String), u32>,
    /// The variables that are asked for, by number.
    pub variables: BTreeMap<usize, u32>,
}

/// The best execution that gives an outcome.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The execution.
    pub execution: Execution,
    /// The axioms that it breaks; none if the outcome is allowed.
    pub broken: Vec<Axiom>,
}

/// What a program can do.
pub struct Outcomes<'a> {
    /// Its events.
    pub events: Events<'a>,
    /// Each outcome with an execution that breaks the fewest axioms.
    pub all: BTreeMap<Values, Witness>,
    /// How many executions were looked at.
    pub executions: u64,
}

impl Values {
    /// Whether a question is about this outcome.
    pub fn answer(&self, question: &Question) -> bool {
        question.parts.iter().all(|part| match part {
            Part::Register { thread, register, value } => {
                self.registers.get(&(*thread, register.clone())) == Some(value)
            }
            Part::Variable { variable, value } => self.variables.get(variable) == Some(value),
        })
    }
}

impl<'a> Outcomes<'a> {
    /// Those of a program.
    ///
    /// # Errors
    ///
    /// [`TooLarge`].
    pub fn of(program: &'a Program) -> Result<Self, TooLarge> {
        let events = Events::of(program)?;
        let asked: Vec<usize> = program
            .questions
            .iter()
            .flat_map(|question| &question.parts)
            .filter_map(|part| match part {
                Part::Variable { variable, .. } => Some(*variable),
                Part::Register { .. } => None,
            })
            .collect();
        let (mut all, mut executions) = (BTreeMap::new(), 0);
        events.each_reading(|reading| {
            each_order(&events, &reading, |execution, broken| {
                executions += 1;
                for values in outcomes(&events, execution, &asked) {
                    let better = |known: &Witness| broken.len() < known.broken.len();
                    if all.get(&values).is_none_or(better) {
                        all.insert(values, Witness { execution: execution.clone(), broken: broken.to_vec() });
                    }
                }
                Ok(())
            })
        })?;
        Ok(Self { events, all, executions })
    }

    /// The outcomes that a question is about, with their executions: the allowed ones first.
    pub fn answers(&self, question: &Question) -> Vec<(&Values, &Witness)> {
        let mut found: Vec<_> = self.all.iter().filter(|(values, _)| values.answer(question)).collect();
        found.sort_by_key(|(_, witness)| witness.broken.len());
        found
    }

    /// Whether a question's outcome is allowed.
    pub fn allows(&self, question: &Question) -> bool {
        self.answers(question).first().is_some_and(|(_, witness)| witness.broken.is_empty())
    }
}

/// The outcomes of an execution: several where stores that race are the last of a variable.
fn outcomes(events: &Events<'_>, execution: &Execution, asked: &[usize]) -> Vec<Values> {
    let mut registers = BTreeMap::new();
    for (number, thread) in events.program.threads.iter().enumerate() {
        for (name, value) in &thread.registers {
            if let Some(value) = value.known(&|load| events.loaded(execution, number, load)) {
                registers.insert((number, name.clone()), value);
            }
        }
    }
    let mut all = vec![Values { registers, variables: BTreeMap::new() }];
    for &variable in asked {
        let writes: Vec<usize> = members(execution.present)
            .filter(|&event| {
                events.all[event].kind == crate::execution::Kind::Write && events.all[event].variable == Some(variable)
            })
            .collect();
        let is_last = |write: usize| writes.iter().all(|&other| !execution.stores.holds(write, other));
        let mut last: Vec<u32> =
            writes.iter().filter(|&&write| is_last(write)).map(|&write| execution.values[write]).collect();
        if writes.is_empty() {
            last.push(events.program.variables[variable].1);
        }
        all = all
            .into_iter()
            .flat_map(|values| {
                last.iter().map(move |&value| {
                    let mut values = values.clone();
                    values.variables.insert(variable, value);
                    values
                })
            })
            .collect();
    }
    all
}
