//! How often each element of an array is loaded or updated, as a heat map: one for each array, of
//! several variants side by side at one scale, which begins at 0. Data, and the arithmetic of its
//! cells.

use wording::units::three_digits;

/// The most cells of a side.
pub(crate) const SIDE: usize = 32;

/// What is counted of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The loads of lanes.
    Loads,
    /// The requests that move its sector, be it asked for or not.
    Moves,
    /// The atomic operations of lanes.
    Atomics,
}

impl Counted {
    /// What a word is: `loaded`.
    pub(crate) fn done(self) -> &'static str {
        match self {
            Self::Loads => "loaded",
            Self::Moves => "moved",
            Self::Atomics => "updated",
        }
    }

    /// What the scale counts.
    pub(crate) fn scale(self) -> &'static str {
        match self {
            Self::Loads => "loads of a word of 4 bytes by lanes",
            Self::Moves => "requests that move a word's sector",
            Self::Atomics => "atomic operations on a word",
        }
    }
}

/// The maps of some variants.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementMaps {
    /// What they count.
    pub counted: Counted,
    /// The variants, the one to compare with first.
    pub variants: Vec<ElementMap>,
}

/// What a variant loads.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementMap {
    /// Its name.
    pub name: String,
    /// For each array, by its name, how often lanes load each word of 4 bytes.
    pub arrays: Vec<(String, Vec<u32>)>,
}

/// An array as a grid.
pub(crate) struct Grid {
    /// Words of a row.
    pub width: usize,
    /// Cells of a row.
    pub columns: usize,
    /// The mean loads of a word, cell by cell, row by row.
    pub cells: Vec<f64>,
}

impl Grid {
    /// That of these words: nearly a square, whose rows are whole lines of 128 bytes, so that a
    /// square matrix has its own rows.
    pub fn of(words: &[u32]) -> Self {
        let mut width = 32;
        while width * width < words.len() {
            width *= 2;
        }
        let height = words.len().div_ceil(width).max(1);
        let (per_column, per_row) = (width.div_ceil(SIDE), height.div_ceil(SIDE));
        let (columns, rows) = (width / per_column, height.div_ceil(per_row));
        let mut sums = vec![(0_u64, 0_u64); columns * rows];
        for (index, count) in words.iter().enumerate() {
            let (row, column) = (index / width / per_row, index % width / per_column);
            let (sum, words) = &mut sums[row * columns + column];
            *sum += u64::from(*count);
            *words += 1;
        }
        // A cell of the last row may have no word.
        let mean = |(sum, words): (u64, u64)| if words == 0 { 0.0 } else { sum as f64 / words as f64 };
        Self { width, columns, cells: sums.into_iter().map(mean).collect() }
    }

    /// Rows of cells.
    pub fn rows(&self) -> usize {
        self.cells.len() / self.columns
    }
}

impl ElementMaps {
    /// The names of the arrays, each once.
    pub(crate) fn arrays(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.variants.iter().flat_map(|variant| &variant.arrays) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The end of the scale: the most loads that a cell of any map has.
    pub(crate) fn most(&self) -> f64 {
        let arrays = self.variants.iter().flat_map(|variant| &variant.arrays);
        arrays.flat_map(|(_, words)| Grid::of(words).cells).fold(1.0, f64::max)
    }

    /// The array whose loads differ most between the variants, in a sentence.
    pub fn sentence(&self) -> String {
        let with = |array: &str| {
            // Where rows differ in their arrays, an array of other rows alone says nothing of a
            // row.
            let all = self.counted == Counted::Loads;
            self.variants.iter().filter(|variant| all || variant.words(array).is_some()).collect::<Vec<_>>()
        };
        let factor = |array: &str| {
            let with = with(array);
            let loads = || with.iter().map(|variant| variant.all(array).max(1));
            loads().max().unwrap_or(1) as f64 / loads().min().unwrap_or(1) as f64
        };
        let mut arrays = self.arrays().into_iter();
        let Some(first) = arrays.next() else { return "Nothing is loaded from global memory.".into() };
        // The first of those that differ as much.
        let array = arrays.fold(first, |most, array| if factor(array) > factor(most) { array } else { most });
        let all = with(array).into_iter().map(|variant| format!("{} {}", variant.name, variant.mean(array)));
        let all: Vec<String> = all.collect();
        match self.counted {
            Counted::Loads => format!("Loads by lanes of each word of {array}: {}.", all.join(", ")),
            Counted::Moves => format!("Requests that move each sector of {array}: {}.", all.join(", ")),
            Counted::Atomics => format!("Atomic operations on each word of {array}, on average: {}.", all.join(", ")),
        }
    }
}

impl ElementMap {
    /// The words of an array.
    pub(crate) fn words(&self, array: &str) -> Option<&[u32]> {
        self.arrays.iter().find(|(name, _)| name == array).map(|(_, words)| words.as_slice())
    }

    /// How often each word of an array is loaded: `64 times`, `3.20 times on average`.
    pub(crate) fn loads(&self, array: &str) -> Option<String> {
        let words = self.words(array)?;
        let (least, most) = (words.iter().min()?, words.iter().max()?);
        let sum: u64 = words.iter().map(|count| u64::from(*count)).sum();
        Some(match (least == most, most) {
            (true, 1) => "once".into(),
            (true, most) => format!("{most} times"),
            _ => format!("{} times on average", three_digits(sum as f64 / words.len() as f64)),
        })
    }

    /// The mean loads of a word of an array.
    fn mean(&self, array: &str) -> String {
        let words = self.words(array).map_or(1, <[u32]>::len).max(1) as f64;
        match self.all(array) as f64 / words {
            whole if whole.fract() == 0.0 => format!("{whole}"),
            mean => three_digits(mean),
        }
    }

    /// The loads of all words of an array.
    pub(crate) fn all(&self, array: &str) -> u64 {
        self.words(array).into_iter().flatten().map(|count| u64::from(*count)).sum()
    }
}
