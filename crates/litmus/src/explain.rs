//! An execution as text: what each thread does and finds, what synchronises, and, if PTX does not
//! allow it, which events contradict one another.

use std::fmt::Write;

use crate::execution::{Events, Execution, Kind};
use crate::model::{Link, circle, synchronises};
use crate::outcome::{Outcomes, Witness};
use crate::program::{Action, Place, Program};

/// The letter of a step.
fn letter(program: &Program, thread: usize, step: usize) -> String {
    let number = program.threads[..thread].iter().map(|thread| thread.steps.len()).sum::<usize>() + step;
    let letter = char::from(b'a' + (number % 26) as u8);
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
}

fn name(events: &Events<'_>, event: usize) -> String {
    let event = &events.all[event];
    letter(events.program, event.thread, event.step)
}

/// Where a thread runs, in words.
fn place(place: Place) -> String {
    let cluster = if place.has_own_cluster() { String::new() } else { format!(" of cluster {}", place.cluster) };
    let gpu = if place.gpu == 0 { String::new() } else { format!(" on GPU {}", place.gpu) };
    format!("block {}{cluster}{gpu}", place.block)
}

/// What a load finds.
fn found(events: &Events<'_>, execution: &Execution, read: usize) -> String {
    match execution.sources[read] {
        None => format!("finds {}, as it was at the beginning", execution.values[read]),
        Some(source) => format!("finds {}, from {}", execution.values[read], name(events, source)),
    }
}

/// The execution of an outcome.
pub fn explained(outcomes: &Outcomes<'_>, witness: &Witness) -> String {
    let (events, execution) = (&outcomes.events, &witness.execution);
    let program = events.program;
    let width = program.threads.iter().flat_map(|thread| &thread.steps).map(|step| step.text.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let _ = writeln!(text, "thread {number}, in {}", place(thread.place));
        for (step, one) in thread.steps.iter().enumerate() {
            let of_step = |kind| {
                let is_it = |event: &usize| {
                    let event = &events.all[*event];
                    (event.thread, event.step) == (number, step) && event.kind == kind
                };
                (0..events.all.len()).find(is_it)
            };
            let skipped = of_step(Kind::Write).is_some_and(|write| execution.present >> write & 1 == 0);
            let note = match (of_step(Kind::Read), &one.action) {
                (Some(read), _) if skipped => format!("{}, and stores nothing", found(events, execution, read)),
                (Some(read), Action::Atomic { .. }) => {
                    let stored = of_step(Kind::Write).map_or(0, |write| execution.values[write]);
                    format!("{}, and stores {stored}", found(events, execution, read))
                }
                (Some(read), _) => found(events, execution, read),
                (None, Action::Store { .. }) if skipped => "is not done".to_owned(),
                _ => String::new(),
            };
            let line = format!("  {}  {:width$}  {note}", letter(program, number, step), one.text);
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    let pairs: Vec<String> = synchronises(events, execution)
        .pairs()
        .filter(|&(a, b)| events.all[a].thread != events.all[b].thread)
        .map(|(a, b)| format!("{} with {}", name(events, a), name(events, b)))
        .collect();
    if !pairs.is_empty() {
        let _ = writeln!(text, "Synchronises: {}.", pairs.join(", "));
    }
    for &axiom in &witness.broken {
        let links: Vec<String> = circle(events, execution, axiom)
            .into_iter()
            .filter(|(_, link, _)| *link != Link::Atomic)
            .map(|(a, link, b)| {
                let (a, b) = (name(events, a), name(events, b));
                match link {
                    Link::Causality => format!("{a} comes before {b} by causality"),
                    Link::Program => format!("{a} comes before {b} in its thread"),
                    Link::Found => format!("{b} finds what {a} has stored"),
                    Link::Replaced => format!("{b} replaces what {a} has found"),
                    Link::Stored => format!("{a} stores before {b}"),
                    Link::Fences => format!("the fence {a} comes before {b}"),
                    Link::Atomic => String::new(),
                }
            })
            .collect();
        let _ = writeln!(text, "Against {}: {}.", axiom.name(), links.join("; "));
    }
    text
}
