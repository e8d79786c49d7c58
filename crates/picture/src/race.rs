//! The accesses of few threads to the same bytes, in time: a column for each thread, a row for each
//! access. Plain data.

/// The accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// What is drawn, in a sentence.
    pub title: String,
    /// The threads.
    pub threads: Vec<String>,
    /// The accesses, the earliest first.
    pub steps: Vec<RaceStep>,
    /// What would be read otherwise, if that differs.
    pub note: Option<String>,
}

/// An access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceStep {
    /// The index of its thread; of those that have no column, none.
    pub thread: Option<usize>,
    /// What it does, with the value.
    pub what: String,
    /// The file and the line.
    pub place: String,
}
