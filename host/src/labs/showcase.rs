//! What a lab's page in a browser begins with, and what a reader is to reach there, as data in the
//! lab's own file: [`Lab::SHOWCASE`](super::Lab::SHOWCASE). The controls are the lab's flags, so a
//! lab without a showcase has a page, too. Plain data.

use crate::report::{Elements, Goal};

/// What a lab's page begins with.
#[derive(Clone, Copy, Debug)]
pub struct Showcase {
    /// The flags that are set at first, with their values: sizes that run at once. A switch has no
    /// value.
    pub start: &'static [(&'static str, &'static str)],
    /// The row whose access is drawn; `{}` stands for the slider's value. Empty: the first row that
    /// has an access.
    pub row: &'static str,
    /// Another row to draw beside it at first; empty if none.
    pub beside: &'static str,
    /// The access of interest, such as `shared load`. Empty: the first.
    pub access: &'static str,
    /// The two rows that a memory chart compares where more ran: what moves between the memories
    /// makes the lab's point. The page then begins with the chart.
    pub charted: Option<(&'static str, &'static str)>,
    /// Whose loads of each element are drawn as heat maps: rows, and the names of the arrays that
    /// are loaded, by their addresses.
    pub elements: Option<Elements>,
    /// Whether its table makes the point, rather than an access: the page then begins with the
    /// table.
    pub tabled: bool,
    /// The flag that a slider moves.
    pub slider: Option<Slider>,
    /// Where no flag is a number: the rows that a slider moves through, which draws each. The goals
    /// are then judged for the row that is drawn, whatever row they name: [`Self::row`] at first.
    pub steps: Option<Steps>,
    /// What to reach with the controls.
    pub goals: &'static [Goal],
}

/// A flag that a slider moves through whole numbers.
#[derive(Clone, Copy, Debug)]
pub struct Slider {
    /// The flag, without its hyphens.
    pub flag: &'static str,
    /// What it is, with its unit.
    pub title: &'static str,
    /// The first value, the last, and the one that the page begins with.
    pub range: (u32, u32, u32),
    /// Another value worth a picture beside the first.
    pub other: u32,
    /// What is always given with the value, so that there is something to compare it with: `0,`.
    pub with: &'static str,
}

/// Rows that a slider moves through, from one way to do the work to the next.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// What differs between them.
    pub title: &'static str,
    /// The rows, each with what stands beside the slider.
    pub rows: &'static [(&'static str, &'static str)],
}

impl Showcase {
    /// The lab at its defaults.
    pub const DEFAULTS: Self = Self {
        start: &[],
        row: "",
        beside: "",
        access: "",
        charted: None,
        elements: None,
        tabled: false,
        slider: None,
        steps: None,
        goals: &[],
    };

    /// Whether its page has a slider.
    pub fn slides(&self) -> bool {
        self.slider.is_some() || self.steps.is_some()
    }

    /// The rows of its steps.
    pub fn stepped(&self) -> impl Iterator<Item = &'static str> {
        self.steps.into_iter().flat_map(|steps| steps.rows).map(|(row, _)| *row)
    }
}
