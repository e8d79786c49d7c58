//! A report's table as data: columns with title, unit, explanation and direction, each with its
//! cells. The formats for people write it; JSON has it as it is. An unknown value is a dash; a
//! column without any known value is left out. Pure.

use serde::Serialize;
use serde_json::Value;

use super::first::FirstScreen;
use super::grid::words;
use super::measure::{Better, Cell, Measure, Section, Shown};
use super::measures::{self, CHECKS, COLD_AND_WARM, MEASURED, MODEL, ONE_TIME, PREDICTED, RATES};
use super::subject::Subject;
use super::variant_report::{VariantReport, plain};

/// A table: the rows of a lab, or a sweep of two axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// What a sweep's cells mean; none above a lab's rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The columns, the first of which names the rows.
    pub columns: Vec<Column>,
}

/// A column, with its cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Its name in data.
    pub key: String,
    /// The group that it belongs to.
    pub section: Section,
    /// Its title, one text for each line of the table's head.
    pub title: Vec<String>,
    /// The unit of its numbers; empty for a number of things or a ratio.
    pub unit: &'static str,
    /// What it means, in sentences.
    pub explanation: Vec<String>,
    /// Which values are good.
    pub better: Better,
    /// Its cells, one for each row; none where the value is not known.
    pub cells: Vec<Option<Cell>>,
}

/// What stands for an unknown value.
const UNKNOWN: &str = "-";

impl Table {
    /// Whether a value is not known.
    pub(super) fn has_unknown(&self) -> bool {
        self.columns.iter().any(|column| column.cells.iter().any(Option::is_none))
    }

    /// What names a row.
    pub(super) fn row_name(&self, row: usize) -> String {
        let names = self.columns.iter().filter(|column| column.section == Section::Name);
        names.map(|column| column.text(row)).collect::<Vec<_>>().join(" ")
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }
}

impl Column {
    /// The cells of a measure for these rows.
    fn of(shown: Shown<'_>, measure: &Measure) -> Self {
        Self {
            key: measure.key.to_owned(),
            section: measure.section,
            title: measure.title.iter().map(|&line| line.to_owned()).collect(),
            unit: measure.unit,
            explanation: measure.explanations(shown).into_iter().map(|explanation| explanation.text).collect(),
            better: measure.better,
            cells: shown.variants.iter().map(|variant| measure.of(variant)).collect(),
        }
    }

    /// A column of names, without a measure.
    pub(super) fn names(key: &str, section: Section, cells: Vec<Option<Cell>>) -> Self {
        let title = title(key);
        let (unit, explanation) = ("", Vec::new());
        Self { key: key.to_owned(), section, title, unit, explanation, better: Better::Neither, cells }
    }

    /// The text of a row's cell.
    pub fn text(&self, row: usize) -> String {
        let mark = |cell: &Cell| if cell.best { "*" } else { "" };
        self.cells[row].as_ref().map_or(UNKNOWN.to_owned(), |cell| format!("{}{}", cell.text, mark(cell)))
    }

    /// Its title on one line.
    pub fn heading(&self) -> String {
        self.title.join(" ")
    }

    fn varies(&self) -> bool {
        self.cells.iter().any(|cell| *cell != self.cells[0])
    }
}

/// The measures of these rows' table, in order, without the axes: those with a known value. Of a
/// model that only stands in for the simulator, caches and occupancy are left out, unless they are
/// the lab's subject.
pub(super) fn measures(Shown { variants, device }: Shown<'_>, subjects: &[Subject]) -> Vec<&'static Measure> {
    let counters = subjects.iter().flat_map(|&subject| subject.measures());
    // A single series of times needs no name.
    let both = variants.iter().any(|variant| variant.warm_timing.is_some());
    let times = if both { COLD_AND_WARM } else { ONE_TIME };
    let named = |measure: &&Measure| subjects.iter().flat_map(|it| it.measures()).any(|it| it.key == measure.key);
    let model = MODEL.iter().filter(|measure| device.simulates.is_some() && !named(measure));
    let all = CHECKS.iter().chain(times).chain(RATES).chain(PREDICTED).chain(counters).chain(model);
    all.filter(|measure| variants.iter().any(|variant| measure.of(variant).is_some())).collect()
}

/// The table of these rows.
pub(super) fn of(shown: Shown<'_>, subjects: &[Subject]) -> Table {
    let variants = shown.variants;
    let mut columns = axes(variants);
    if axes_name_the_rows(variants, &columns) {
        columns.retain(Column::varies);
        // The others only say more of each row.
        let names = (1..columns.len()).find(|&names| tell_rows_apart(variants.len(), &columns[..names]));
        let names = names.unwrap_or(columns.len());
        columns[..names].iter_mut().for_each(|column| column.section = Section::Name);
    } else {
        columns.insert(0, Column::of(shown, &measures::NAME));
    }
    columns.extend(measures(shown, subjects).into_iter().map(|measure| Column::of(shown, measure)));
    Table { title: None, columns }
}

/// The table that a terminal shows first: the names, a few axes and counters, and the times;
/// `checked` also shows what is wrong.
pub(super) fn first(shown: Shown<'_>, subjects: &[Subject], first: FirstScreen, checked: bool) -> Table {
    let mut table = of(shown, subjects);
    let known = |measure: &&Measure| shown.variants.iter().any(|variant| measure.of(variant).is_some());
    let counted: Vec<_> = first.columns.iter().filter(known).collect();
    let times = times(shown.variants, !counted.is_empty());
    // Without counters and times, as of one launch on a GPU, there is only this to say.
    let checked = checked || counted.is_empty() && times.is_empty();
    table.columns.retain(|column| match column.section {
        Section::Name => true,
        Section::Axis => first.axes.contains(&column.key.as_str()),
        Section::Comparison => checked,
        _ => false,
    });
    for column in table.columns.iter_mut().filter(|column| column.section == Section::Name) {
        for cell in column.cells.iter_mut().flatten().filter(|cell| cell.value.is_none()) {
            cell.text = first.named(&cell.text);
        }
    }
    for column in &mut table.columns {
        column.title = first.words(&column.key).map_or_else(|| column.title.clone(), |words| vec![words.to_owned()]);
    }
    table.columns.extend(removed(shown.variants, first));
    table.columns.extend(counted.into_iter().chain(times).map(|measure| Column::of(shown, measure)));
    table
}

/// What each step removes of the one before it: the name, how much there was, and how much is left.
fn removed(variants: &[VariantReport], first: FirstScreen) -> Vec<Column> {
    let step = |variant: &VariantReport| {
        let named = |name: &str| first.removes.iter().position(|it| it.step == name);
        let places = variant.facts.iter().filter(|fact| fact.axis).filter_map(|fact| fact.value.as_str());
        places.chain([variant.name.as_str()]).find_map(named)
    };
    let mut cells: [Vec<Option<Cell>>; 3] = Default::default();
    for (row, variant) in variants.iter().enumerate() {
        let before = row.checked_sub(1).map(|before| &variants[before]).filter(|before| before.group == variant.group);
        // The step that comes before it in order, or there is nothing to compare with.
        let removes = step(variant).filter(|&at| at > 0 && before.and_then(step) == Some(at - 1));
        let removes = removes.map(|at| &first.removes[at]).zip(before);
        cells[0].push(removes.map(|(it, _)| Cell::text(it.what)));
        cells[1].push(removes.and_then(|(it, before)| it.measure.of(before)));
        cells[2].push(removes.and_then(|(it, _)| it.measure.of(variant)));
    }
    if cells[0].iter().all(Option::is_none) {
        return Vec::new();
    }
    // Without counters, as on a GPU, only what follows from the launch is known, which is little.
    let counted = variants.iter().any(|variant| variant.counters.is_some());
    let sections = [("removes", Section::Name), ("from", Section::Counter), ("to", Section::Counter)];
    let sections = &sections[..if counted { 3 } else { 1 }];
    sections.iter().zip(cells).map(|(&(key, section), cells)| Column::names(key, section, cells)).collect()
}

/// The greatest over the least of predicted times that do not say which is shorter.
const ALIKE: f64 = 1.05;

/// The least and the greatest predicted time of several rows, in milliseconds, if these are about
/// the same.
pub(super) fn alike(variants: &[VariantReport]) -> Option<[f64; 2]> {
    let times = || variants.iter().filter_map(VariantReport::predicted_time).map(|time| time.time_ms);
    let (least, most) = (times().reduce(f64::min)?, times().reduce(f64::max)?);
    (times().count() > 1 && most < ALIKE * least).then_some([least, most])
}

/// The times of the first table: all that is known of them, or, beside `counted` columns, the time
/// alone.
fn times(variants: &[VariantReport], counted: bool) -> Vec<&'static Measure> {
    let known = |measure: &&Measure| variants.iter().any(|variant| measure.of(variant).is_some());
    let measured: &[Measure] = if variants.iter().any(|variant| variant.timing.is_some()) { MEASURED } else { &[] };
    let predicted = match counted && measured.is_empty() {
        true if alike(variants).is_some() => &[],
        true => &PREDICTED[1..2],
        // The measured times stand here already.
        false => &PREDICTED[1..],
    };
    measured.iter().chain(predicted).filter(known).collect()
}

/// The axes that all variants share the position on, as titles and values: the heading has them,
/// where the table names its rows by the others.
pub(super) fn common_axes(variants: &[VariantReport]) -> Vec<(String, String)> {
    let columns = axes(variants);
    if !axes_name_the_rows(variants, &columns) {
        return Vec::new();
    }
    columns.iter().filter(|column| !column.varies()).map(|column| (column.heading(), column.text(0))).collect()
}

/// Whether the axes tell the variants apart, so that their names would only repeat them.
fn axes_name_the_rows(variants: &[VariantReport], axes: &[Column]) -> bool {
    let placed = |row: usize| axes.iter().any(|axis| axis.cells[row].is_some());
    variants.len() > 1 && (0..variants.len()).all(placed) && tell_rows_apart(variants.len(), axes)
}

/// Whether no two of so many rows are at the same place on these axes.
fn tell_rows_apart(rows: usize, axes: &[Column]) -> bool {
    let row = |row: usize| axes.iter().map(|axis| axis.text(row)).collect();
    let mut places: Vec<Vec<String>> = (0..rows).map(row).collect();
    places.sort_unstable();
    places.dedup();
    places.len() == rows
}

/// The axes of the lab's sweeps.
fn axes(variants: &[VariantReport]) -> Vec<Column> {
    let mut names: Vec<&'static str> = Vec::new();
    for fact in variants.iter().flat_map(|variant| &variant.facts).filter(|fact| fact.axis) {
        if !names.contains(&fact.name) && !fact.value.is_null() {
            names.push(fact.name);
        }
    }
    let cell = |variant: &VariantReport, name| {
        let value = variant.fact(name).filter(|value| !value.is_null())?;
        Some(position(value))
    };
    let column =
        |name| Column::names(name, Section::Axis, variants.iter().map(|variant| cell(variant, name)).collect());
    names.into_iter().map(column).collect()
}

/// A position on an axis.
pub(super) fn position(value: &Value) -> Cell {
    Cell { value: value.as_f64(), ..Cell::text(plain(value)) }
}

/// A name as a title of lines that are short, or as long as the longest word.
fn title(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let name = words(name);
    let longest = name.split(' ').map(str::len).max().unwrap_or(0).max(10);
    for word in name.split(' ') {
        match lines.last_mut().filter(|line| line.len() + word.len() < longest) {
            Some(line) => *line += &format!(" {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
