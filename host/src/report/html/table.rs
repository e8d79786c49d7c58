//! Tables whose rows a click or a key on a heading sorts. Pure.

use maud::{Markup, html};

use crate::report::measure::{BAR, Section};
use crate::report::table::{Column, Table};

/// A table with more rows scrolls by itself, so that it does not hide what comes after it.
const TALL: usize = 24;

/// A row's name of more letters may take several lines where a screen is narrow.
const LONG: usize = 15;

/// A cell that is no number: its text, and a class that says what it means.
pub(crate) struct Text {
    pub text: String,
    /// What sorts it, if that is not its text.
    pub value: Option<f64>,
    /// The class of what it means; empty if it means nothing more.
    pub class: &'static str,
}

/// A report's table, called `name`.
pub(crate) fn table(table: &Table, name: &str) -> Markup {
    let rows: Vec<Vec<Text>> =
        (0..table.rows()).map(|row| table.columns.iter().map(|it| text(it, row)).collect()).collect();
    let heads: Vec<_> = table.columns.iter().map(|column| (heading(column), explanation(column))).collect();
    let names = table.columns.iter().take_while(|column| column.section == Section::Name).count();
    sortable(&heads, &rows, names, name, table.title.is_some())
}

/// A table of texts, called `name`, whose rows the first column names.
pub(crate) fn of_texts(titles: &[&str], rows: &[Vec<Text>], name: &str) -> Markup {
    let heads: Vec<_> = titles.iter().map(|title| ((*title).to_owned(), None)).collect();
    sortable(&heads, rows, 1, name, false)
}

/// The first `names` columns name the rows.
fn sortable(heads: &[(String, Option<String>)], rows: &[Vec<Text>], names: usize, name: &str, caption: bool) -> Markup {
    html! {
        div.scroll.tall[rows.len() > TALL] tabindex="0" role="region" aria-label=(name) {
            table.sortable {
                @if caption { caption { (name) } }
                thead {
                    tr {
                        @for (column, (heading, explanation)) in heads.iter().enumerate() {
                            @let bars = rows.iter().any(|row| row[column].class == "bar");
                            th.name[column < names].bars[bars] scope="col" aria-sort="none" {
                                button type="button" title=[explanation] { (heading) }
                            }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (column, Text { text, value, class }) in row.iter().enumerate() {
                                @let class = Some(class).filter(|class| !class.is_empty());
                                @if column < names {
                                    th.long[text.chars().count() > LONG] scope="row" data-value=[value] { (text) }
                                } @else {
                                    td class=[class] data-value=[value] { (text) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn text(column: &Column, row: usize) -> Text {
    let cell = column.cells[row].as_ref();
    let class = match cell {
        Some(cell) if cell.best => "best",
        Some(cell) if cell.text.chars().all(|letter| letter == BAR) => "bar",
        _ => "",
    };
    Text { text: column.text(row), value: cell.and_then(|cell| cell.value), class }
}

/// A column's title with its unit, unless that is in the title already, or in each of its cells:
/// `37.9 us`.
fn heading(column: &Column) -> String {
    let title = column.heading();
    match column.unit {
        "" => title,
        unit if title.split_whitespace().any(|word| word == unit) => title,
        _ if column.cells.iter().flatten().any(|cell| cell.text.contains(' ')) => title,
        unit => format!("{title} ({unit})"),
    }
}

fn explanation(column: &Column) -> Option<String> {
    (!column.explanation.is_empty()).then(|| column.explanation.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::measure::{Better, Cell};

    const HOSTILE: &str = "</style><script>alert(\"1 & 2\")</script>";
    const ESCAPED: &str = "&lt;/style&gt;&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;";

    #[test]
    fn every_text_of_a_table_is_escaped() {
        let names = vec![Some(Cell::text(HOSTILE)), None];
        let column = Column {
            title: vec![HOSTILE.into()],
            explanation: vec![HOSTILE.into()],
            ..Column::names("name", Section::Name, names)
        };
        let text = table(&Table { title: Some(HOSTILE.into()), columns: vec![column] }, HOSTILE).into_string();
        assert!(!text.contains("<script") && !text.contains("</style"), "{text}");
        // The region's name and caption, the heading and its explanation, and the cell.
        assert_eq!(text.matches(ESCAPED).count(), 5, "{text}");
    }

    #[test]
    fn a_heading_has_its_unit_once() {
        let column = |title: &str, unit| Column {
            title: vec![title.into()],
            unit,
            better: Better::Higher,
            ..Column::names("key", Section::Time, Vec::new())
        };
        assert_eq!(heading(&column("cold", "us")), "cold (us)");
        assert_eq!(heading(&column("GB/s", "GB/s")), "GB/s");
        assert_eq!(heading(&column("loads", "")), "loads");
        let times = vec![Some(Cell::new(0.0379, "37.9 us"))];
        let time = Column { cells: times, ..column("predicted time", "ms") };
        assert_eq!(heading(&time), "predicted time");
    }
}
