//! What a terminal shows first of a lab: one table with the few columns that make its point, below
//! the sentence with the result. The other formats, and `--legend`, have every column. Plain data.

use super::measure::Measure;
use super::variant_report::Fact;

/// A name or a position of rows, and what it means.
pub type Meaning = (&'static str, &'static str);

/// The most lines of sentences above the first table; the first sentence may be longer.
pub(super) const SENTENCE_LINES: usize = 2;

/// A lab's first screen.
#[derive(Clone, Copy, Debug)]
pub struct FirstScreen {
    /// The axes beside the rows' names that are shown: what the point depends on.
    pub axes: &'static [&'static str],
    /// The counters, the cause first. Of those in two units, the unit of the GPU is known. Times
    /// follow where there are any.
    pub columns: &'static [Measure],
    /// A few words for names that do not say what they are. Those of a column replace its name.
    pub words: &'static [Meaning],
    /// What each step removes of the step before it, in order.
    pub removes: &'static [Removes],
    /// Names and positions of rows that are left out unless flags choose rows, or times are taken.
    pub left_out: &'static [&'static str],
}

/// What a step removes.
#[derive(Clone, Copy, Debug)]
pub struct Removes {
    /// The name of its row.
    pub step: &'static str,
    /// What it removes.
    pub what: &'static str,
    /// How much of it there was, and is.
    pub measure: Measure,
}

impl FirstScreen {
    /// Whether a row of this name and these facts is left out.
    pub(crate) fn leaves_out(&self, name: &str, facts: &[Fact]) -> bool {
        self.left_out.iter().any(|known| names(known, name, facts))
    }

    /// A name with the words for it, if it has any.
    pub(super) fn named(&self, name: &str) -> String {
        match self.words(name) {
            Some(words) => format!("{name}: {words}"),
            None => name.to_owned(),
        }
    }

    /// The words for a name.
    pub(super) fn words(&self, name: &str) -> Option<&'static str> {
        self.words.iter().find(|(known, _)| stands_for(known, name)).map(|(_, words)| *words)
    }
}

/// Whether this name, or position, is that of a row of this name and these facts.
pub(super) fn names(known: &str, name: &str, facts: &[Fact]) -> bool {
    let positions = facts.iter().filter(|fact| fact.axis).filter_map(|fact| fact.value.as_str());
    positions.chain([name]).any(|shown| stands_for(known, shown))
}

/// Whether a name, whose last letter may be an `N` that stands for a number, is this one.
fn stands_for(name: &str, shown: &str) -> bool {
    let word = |(name, shown): (&str, &str)| {
        let number = name.strip_suffix(['N', 'S']).and_then(|start| shown.strip_prefix(start));
        name == shown || number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let words = |text: &str| text.split(' ').count();
    words(name) == words(shown) && name.split(' ').zip(shown.split(' ')).all(word)
}
