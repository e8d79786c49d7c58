//! A page as text for a terminal of some width: tables use all of it, sentences at most 100
//! columns.

use crate::flag_values::each_once;
use comfy_table::{CellAlignment, ContentArrangement, presets};
use device::Properties;
use picture::{elements_text, engines_text, memory_text, plot_text, roofline_text, tiles_text};
use wording::WIDTH;

use super::elements;
use super::lab_report::LabReport;
use super::measure::{BAR, Cell, Section, Shown};
use super::memory;
use super::page::{self, Page};
use super::subject::Subject;
use super::table::{self, Column, Table};
use super::variant_report::VariantReport;
use crate::terminal;

/// The maximum length of a kernel's name in a table: a mangled name may have hundreds of
/// characters.
const LONGEST_NAME: usize = 24;

/// The report as text, in this many columns: the subject, the sentences with the result, the table,
/// and a line that names what else can be seen. With `--legend`, every column, and what all of it
/// means.
pub(super) fn render(report: &LabReport, width: usize) -> String {
    let page = if report.legend { Page::of(report, false) } else { Page::first(report) };
    let mut text = format!("{}\n{}\n", report.about, page.heading.join("\n"));
    let mut add = |part: &str| {
        if !part.trim().is_empty() {
            text += &format!("\n{part}");
        }
    };
    add(&paragraphs(&page.conclusions, width));
    if report.plot {
        report.plots().iter().for_each(|plot| add(&plot_text(plot, width, terminal::paint())));
        report.roofline().iter().for_each(|it| add(&roofline_text(it, width, terminal::paint())));
    }
    let mut tables = match &page.instead_of_table {
        Some(note) => vec![paragraphs(std::slice::from_ref(note), width)],
        None => parts(&page.table, width),
    };
    if let Some(last) = tables.last_mut() {
        page.wrong.iter().for_each(|line| *last += &format!("{line}\n"));
    }
    tables.iter().for_each(|part| add(part));
    if let Some(chart) = &page.engines {
        add(&engines_text(chart, width, terminal::paint()));
    }
    for grid in &page.grids {
        let title = paragraphs(grid.title.as_slice(), width);
        let mut columns = grid.columns.iter();
        let names: Vec<&Column> = columns.next().into_iter().collect();
        let fitting = fitting(&names, columns.map(|column| vec![column]), width, |_, _| false);
        add(&(title + &fitting.iter().map(|columns| lay_out(columns, true)).collect::<String>()));
    }
    for part in [&paragraphs(&page.kernels, width), &meanings(&page, width), &paragraphs(&page.legend, width)] {
        add(part);
    }
    for variant in &report.variants {
        if let Some(lines) = &variant.lines {
            add(&format!("{}, {}:\n{}", variant.name, lines.heading(), lines.text(width)));
        }
    }
    if let Some(lines) = report.variants.iter().find_map(|variant| variant.lines.as_ref()) {
        add(&lines.legend(width));
    }
    if let Some(chart) = memory::chart(&report.variants, report.charted).filter(|_| report.chart) {
        add(&memory_text(&chart, width, terminal::paint()));
    }
    if report.maps {
        match elements::maps(&report.variants, report.elements) {
            Some(maps) => add(&elements_text(&maps, width, terminal::paint())),
            None => add("Nothing is loaded from global memory.\n"),
        }
    }
    if let Some(orders) = elements::tile_orders(&report.variants).filter(|_| report.tiles) {
        add(&tiles_text(&orders, width, terminal::paint()));
    }
    if !report.legend {
        add(&paragraphs(&[more(report)], width));
    }
    text
}

/// The flags that show more of this run.
fn more(report: &LabReport) -> String {
    let counted = report.variants.iter().any(|variant| variant.counters.is_some());
    let pictured = counted && report.variants.iter().all(|variant| variant.lines.is_none());
    let plotted = !report.plot && (report.roofline || !report.sweeps.is_empty());
    let timed = report.too_small_to_predict;
    let flags = [("--predict", timed), ("--lines", pictured), ("--picture", pictured), ("--plot", plotted)];
    let flags: Vec<_> = flags.into_iter().filter_map(|(flag, shows)| shows.then_some(flag)).collect();
    let others = if flags.is_empty() { String::new() } else { format!("; more: {}", flags.join(" ")) };
    format!("--legend shows every column and row, and their meaning{others}")
}

/// The times and counters of one launch, in the labs' columns for its accesses, with their
/// explanation.
pub(super) fn of_launch(launch: VariantReport, device: &Properties, width: usize) -> String {
    of_launches(vec![launch], device, width)
}

/// The same of several launches, in one table.
pub(super) fn of_launches(mut launches: Vec<VariantReport>, device: &Properties, width: usize) -> String {
    let counted = launches.iter().flat_map(|launch| &launch.counters);
    let subjects: Vec<Subject> = each_once(counted.flat_map(Subject::of).collect());
    for launch in &mut launches {
        launch.name = short(&launch.name);
    }
    let shown = Shown { variants: &launches, device };
    let mut table = table::of(shown, &subjects);
    if let Some(names) = table.columns.first_mut() {
        names.title = vec!["kernel".to_owned()];
    }
    let mut texts: Vec<String> = tables(&table, width).iter().map(|columns| lay_out(columns, true)).collect();
    texts.push(paragraphs(&page::legend(&table::measures(shown, &subjects), shown), width));
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}

/// A kernel's name that fits a table: of a path, the last parts, which tell kernels apart.
fn short(name: &str) -> String {
    let fits = |name: &str| name.chars().count() <= LONGEST_NAME;
    if fits(name) {
        return name.to_owned();
    }
    let mut depth = 0_i32;
    let starts = name.char_indices().filter(|&(at, c)| {
        depth += i32::from("<(".contains(c)) - i32::from(">)".contains(c));
        depth == 0 && at > 0 && name[..at].ends_with("::")
    });
    let parts: Vec<&str> = starts.map(|(at, _)| &name[at..]).collect();
    let (dots, part) = match parts.iter().find(|part| fits(part)).or(parts.last()) {
        Some(&part) => ("...", part),
        None => ("", name),
    };
    match part.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{dots}{}...", &part[..end]),
        None => format!("{dots}{part}"),
    }
}

/// What the names of rows mean, as a list.
fn meanings(page: &Page, width: usize) -> String {
    let longest = page.meanings.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, meaning): &(&str, &str)| {
        wording::wrapped(meaning, width.min(WIDTH), &format!("{name:longest$}  "), &" ".repeat(longest + 2)) + "\n"
    };
    page.meanings.iter().map(line).collect()
}

/// A table in parts that fit the width.
fn parts(table: &Table, width: usize) -> Vec<String> {
    tables(table, width).iter().enumerate().map(|(index, columns)| lay_out(columns, index == 0)).collect()
}

/// A table as tables that each fit the width and begin with what names the rows. Groups of columns
/// stay together if they fit, and a model's counters have tables of their own.
fn tables(table: &Table, width: usize) -> Vec<Vec<&Column>> {
    let (names, columns): (Vec<_>, Vec<_>) = table.columns.iter().partition(|column| column.section == Section::Name);
    let mut groups: Vec<Vec<&Column>> = Vec::new();
    for column in columns {
        let joins = |before: Section| match (before, column.section) {
            // Show once whether it was right, with the times if there are any.
            (Section::Axis, Section::Axis | Section::Comparison)
            | (Section::Comparison, Section::Comparison | Section::Time | Section::Predicted) => true,
            (before, section) => before == section,
        };
        match groups.last_mut().filter(|group| group.last().is_some_and(|last| joins(last.section))) {
            Some(group) => group.push(column),
            None => groups.push(vec![column]),
        }
    }
    let apart = |table: &[&Column], group: &[&Column]| {
        let is_all = |section| group.iter().all(|column| column.section == section);
        let timed = table.iter().any(|column| matches!(column.section, Section::Time | Section::Predicted));
        timed && is_all(Section::Counter) || is_all(Section::Model)
    };
    fitting(&names, groups.into_iter(), width, apart)
}

/// Groups of columns as tables that fit the width and begin with these columns. `apart`: a group
/// that does not go into a table with these columns.
fn fitting<'t>(
    names: &[&'t Column],
    groups: impl Iterator<Item = Vec<&'t Column>>,
    width: usize,
    apart: impl Fn(&[&Column], &[&Column]) -> bool,
) -> Vec<Vec<&'t Column>> {
    let width_of =
        |columns: &[&Column]| columns.iter().map(|column| width_of_one(column) + 1).sum::<usize>().saturating_sub(1);
    let mut tables = vec![names.to_vec()];
    for group in groups {
        let begins_anew = |table: &[&Column]| {
            table.len() > names.len() && (apart(table, &group) || width_of(table) + 1 + width_of(&group) > width)
        };
        if tables.last().is_some_and(|table| begins_anew(table)) {
            tables.push(names.to_vec());
        }
        for column in group {
            let full = |table: &Vec<_>| table.len() > names.len() && width_of(table) + 1 + width_of_one(column) > width;
            if tables.last().is_some_and(full) {
                tables.push(names.to_vec());
            }
            if let Some(table) = tables.last_mut() {
                table.push(column);
            }
        }
    }
    tables
}

/// The widest line of a column.
fn width_of_one(column: &Column) -> usize {
    let cells = (0..column.cells.len()).map(|row| column.text(row));
    column.title.iter().cloned().chain(cells).map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Columns as a table, names aligned to the left, numbers to the right, with titles aligned to the
/// bottom of the head. Rows without any value are left out, unless `all` is set.
fn lay_out(columns: &[&Column], all: bool) -> String {
    let height = columns.iter().map(|column| column.title.len()).max().unwrap_or(0);
    let title = |column: &&Column| "\n".repeat(height - column.title.len()) + &column.title.join("\n");
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let values = || columns.iter().filter(|column| column.section != Section::Name);
    let known = |row: &usize| all || values().any(|column| column.cells[*row].is_some());
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(title));
    let is_name = |column: &Column| {
        column.section == Section::Name && column.cells.iter().flatten().any(|cell| cell.value.is_none())
    };
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index > 0 && !is_name(columns[index]) && !is_drawn(columns[index]) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in (0..rows).filter(known) {
        table.add_row(columns.iter().map(|column| column.text(row)));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Whether a column has bars instead of numbers.
fn is_drawn(column: &Column) -> bool {
    let bars = |cell: &Cell| cell.value.is_none() && cell.text.chars().all(|c| c == BAR);
    column.cells.iter().flatten().all(bars) && column.cells.iter().any(Option::is_some)
}

/// Each sentence as a paragraph. Longer lines than documents have are hard to read.
fn paragraphs(sentences: &[String], width: usize) -> String {
    let paragraph = |sentence: &String| wording::wrapped(sentence, width.min(WIDTH), "", "") + "\n";
    sentences.iter().map(paragraph).collect()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn of_long_names_the_last_parts_are_shown() {
        for (name, expected) in [
            ("add", "add"),
            ("__main__::histogram", "__main__::histogram"),
            ("numba::cuda::kernels::sum::<locals>::reduce_strided", "...reduce_strided"),
            ("a_long_module::with_one::row_sum", "...with_one::row_sum"),
            ("transform<int, std::plus<int>>::of_each_element", "...of_each_element"),
            ("a_kernel_whose_name_has_no_end", "a_kernel_whose_name_has_..."),
            ("a::b_kernel_whose_name_has_no_end", "...b_kernel_whose_name_has_..."),
            ("é::éééééééééééééééééééééééééé::é", "...é"),
        ] {
            assert_eq!(short(name), expected);
        }
    }
}
