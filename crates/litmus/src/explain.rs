//! An execution as text and as a graph: what each thread does and finds, what synchronises, and, if PTX does not
//! allow it, which events contradict one another.

use std::fmt::Write;

use picture::{Arrow, ArrowKind, Graph, GraphEvent};

use crate::execution::{Events, Execution, Kind};
use crate::model::{Link, circle, synchronises};
use crate::outcome::{Outcomes, Witness};
use crate::program::{Action, Place, Program, Step};

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

/// What comes of a step: what it finds, and what an atomic operation stores.
fn note(events: &Events<'_>, execution: &Execution, thread: usize, step: usize) -> String {
    let of_step = |kind| {
        let is_it = |event: &usize| {
            let event = &events.all[*event];
            (event.thread, event.step) == (thread, step) && event.kind == kind
        };
        (0..events.all.len()).find(is_it)
    };
    let skipped = of_step(Kind::Write).is_some_and(|write| execution.present >> write & 1 == 0);
    match (of_step(Kind::Read), &events.program.threads[thread].steps[step].action) {
        (Some(read), _) if skipped => format!("{}, and stores nothing", found(events, execution, read)),
        (Some(read), Action::Atomic { .. }) => {
            let stored = of_step(Kind::Write).map_or(0, |write| execution.values[write]);
            format!("{}, and stores {stored}", found(events, execution, read))
        }
        (Some(read), _) => found(events, execution, read),
        (None, Action::Store { .. }) if skipped => "is not done".to_owned(),
        _ => String::new(),
    }
}

/// The pairs of events of different threads that synchronise.
fn synchronising(events: &Events<'_>, execution: &Execution) -> Vec<(usize, usize)> {
    let apart = |&(a, b): &(usize, usize)| events.all[a].thread != events.all[b].thread;
    synchronises(events, execution).pairs().filter(apart).collect()
}

/// The execution of an outcome as text.
pub fn explained(outcomes: &Outcomes<'_>, witness: &Witness) -> String {
    let (events, execution) = (&outcomes.events, &witness.execution);
    let program = events.program;
    let width = program.threads.iter().flat_map(|thread| &thread.steps).map(|step| step.text.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let _ = writeln!(text, "thread {number}, in {}", place(thread.place));
        for (step, one) in thread.steps.iter().enumerate() {
            let note = note(events, execution, number, step);
            let line = format!("  {}  {:width$}  {note}", letter(program, number, step), one.text);
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    let pairs: Vec<String> = synchronising(events, execution)
        .into_iter()
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

/// The execution of an outcome as a graph: what each load finds, what synchronises, and, if PTX does
/// not allow it, the contradiction.
pub fn drawn(outcomes: &Outcomes<'_>, witness: &Witness, title: &str) -> Graph {
    let (events, execution) = (&outcomes.events, &witness.execution);
    let program = events.program;
    // An arrow says it.
    let is_source = |part: &&str| part.starts_with("from ") || part.starts_with("as it was ");
    let thread = |number: usize| {
        let thread = &program.threads[number];
        let event = |(step, one): (usize, &Step)| GraphEvent {
            name: letter(program, number, step),
            // All variables are global, and have 32 bits.
            what: [".global", ".u32", ".b32"].iter().fold(one.text.clone(), |text, part| text.replace(part, "")),
            note: note(events, execution, number, step)
                .split(", ")
                .filter(|part| !is_source(part))
                .collect::<Vec<_>>()
                .join(", "),
        };
        (format!("thread {number}, {}", place(thread.place)), thread.steps.iter().enumerate().map(event).collect())
    };
    let at = |event: usize| (events.all[event].thread, events.all[event].step);
    let arrow = |a: usize, b: usize, what, kind| Arrow { from: at(a), to: at(b), what, kind };
    let against = witness.broken.first().map(|&axiom| circle(events, execution, axiom)).unwrap_or_default();
    let contradicts = against.into_iter().filter_map(|(a, link, b)| {
        let what = match link {
            Link::Atomic => return None,
            Link::Causality | Link::Program | Link::Fences => "before",
            Link::Found => "found by",
            Link::Replaced => "replaced by",
            Link::Stored => "stored before",
        };
        Some(arrow(a, b, what, ArrowKind::Contradicts))
    });
    let found = (0..events.all.len()).filter_map(|read| {
        let source = execution.sources.get(read).copied().flatten()?;
        Some(arrow(source, read, "found by", ArrowKind::Happens))
    });
    let orders = synchronising(events, execution).into_iter();
    let orders = orders.map(|(a, b)| arrow(a, b, "synchronises", ArrowKind::Orders));
    let mut arrows: Vec<Arrow> = Vec::new();
    for arrow in contradicts.chain(found).chain(orders) {
        // An atomic operation is one box; a store that synchronises is often the one that is found.
        let is_known = |other: &Arrow| (other.from, other.to) == (arrow.from, arrow.to);
        if arrow.from != arrow.to && !arrows.iter().any(is_known) {
            arrows.push(arrow);
        }
    }
    Graph { title: title.to_owned(), threads: (0..program.threads.len()).map(thread).collect(), arrows }
}
