//! What a few threads do, and what connects it: a column for each thread, a box for each event, and
//! arrows between them. Plain data.

/// The events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// What is drawn, in a sentence.
    pub title: String,
    /// For each thread its name, and its events in the order of the program.
    pub threads: Vec<(String, Vec<GraphEvent>)>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEvent {
    /// The letter by which sentences name it.
    pub name: String,
    /// What it does.
    pub what: String,
    /// What comes of it; empty if nothing does.
    pub note: String,
}

/// An arrow from an event to another, each by its thread and its number there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Where it begins.
    pub from: (usize, usize),
    /// Where it ends.
    pub to: (usize, usize),
    /// What it says.
    pub what: &'static str,
    /// What it is.
    pub kind: ArrowKind,
}

/// What an arrow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowKind {
    /// Something that happens.
    Happens,
    /// What orders events of different threads.
    Orders,
    /// A part of a contradiction.
    Contradicts,
}
