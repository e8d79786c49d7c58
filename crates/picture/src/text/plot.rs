//! A sweep as text: a bar for each point, from left to right, so that any number of points fits any
//! width of 40 columns or more.

use super::{BAR, FAINT, Paint, STRONG, WASTED};
use crate::Plot;
use crate::plot::number;

/// Draws a plot in lines of at most `width` columns.
pub fn plot(plot: &Plot, width: usize, paint: Paint) -> String {
    let width = width.max(40);
    let axis = plot.y_axis();
    let labels = plot.labels();
    let named = plot.series.iter().any(|series| !series.name.is_empty());
    let longest = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let label_width = longest(&mut labels.iter().copied()).min(width / 3);
    let name_width =
        if named { longest(&mut plot.series.iter().map(|series| series.name.as_str())).min(width / 4) + 1 } else { 0 };
    let values: Vec<String> = plot.drawn().map(|(_, point)| number(point.y)).collect();
    let value_width = longest(&mut values.iter().map(String::as_str)) + 1;
    // The label, the name, a space, the axis, the bar, the value.
    let room = width.saturating_sub(label_width + name_width + 2 + value_width).max(8);
    let column = |value: f64| ((axis.position(value) * room as f64).round() as usize).min(room - 1);
    let indent = label_width + name_width + 1;
    let title = wording::wrapped(&plot.title, width, "", "");
    let mut text: String = title.lines().map(|line| paint.with(STRONG, line) + "\n").collect();
    for reference in &plot.reference_lines {
        let name = format!("{}: {}", reference.name, number(reference.value));
        let at = indent + 1 + column(reference.value);
        let length = name.chars().count() + 2;
        // Before the line that it names if there is room, otherwise after it.
        text += &match at >= length {
            true => format!("{:>at$}┆\n", format!("{name} ")),
            false => format!("{:at$}┆ {}\n", "", cut(&name, width - at - 2)),
        };
    }
    for label in labels {
        let mut first = true;
        for (index, series) in plot.series.iter().enumerate() {
            let found = plot.drawn().find(|(of, point)| *of == index && point.label == label);
            let Some((_, point)) = found else { continue };
            let shown = if std::mem::take(&mut first) { cut(label, label_width) } else { String::new() };
            let name = if named {
                format!(" {:<1$}", cut(&series.name, name_width - 1), name_width - 1)
            } else {
                String::new()
            };
            let (bar, length) = bar(axis.position(point.y), room);
            let bar = paint.with(if plot.is_price(point.y) { WASTED } else { BAR }, &bar);
            let value = number(point.y);
            let after = after(plot, (length, room), &value, column, paint);
            text += &format!("{shown:>label_width$}{name} {}{bar}{after}", paint.with(FAINT, "│"));
            text = text.trim_end().to_owned() + "\n";
        }
    }
    text + &foot(plot, (indent, room, width), paint)
}

/// A bar of eighths of a column, and the columns that it covers.
fn bar(share: f64, room: usize) -> (String, usize) {
    let eighths = (share * room as f64 * 8.0).round() as usize;
    let (whole, rest) = (eighths / 8, eighths % 8);
    let end = [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')][rest];
    let bar: String = std::iter::repeat_n('█', whole).chain(end).collect();
    let length = whole + usize::from(end.is_some());
    (bar, length)
}

/// What follows a bar: its value, and the reference lines beyond that.
fn after(
    plot: &Plot,
    (length, room): (usize, usize),
    value: &str,
    column: impl Fn(f64) -> usize,
    paint: Paint,
) -> String {
    let mut rest = vec![' '; (room + value.chars().count() + 1).saturating_sub(length)];
    for reference in &plot.reference_lines {
        if let Some(place) = column(reference.value).checked_sub(length).and_then(|at| rest.get_mut(at)) {
            *place = '┆';
        }
    }
    for (place, c) in rest.iter_mut().skip(1).zip(value.chars()) {
        *place = c;
    }
    let text: String = rest.into_iter().collect();
    match text.split_once(value) {
        Some((before, after)) => before.to_owned() + &paint.with(STRONG, value) + &paint.with(FAINT, after.trim_end()),
        None => text,
    }
}

/// The axis: its ends, and what it shows.
fn foot(plot: &Plot, (indent, room, width): (usize, usize, usize), paint: Paint) -> String {
    let axis = plot.y_axis();
    let mut line = vec!['─'; room];
    let mut numbers = vec![' '; indent + 1 + room + 8];
    let mut free = 0;
    for tick in axis.ticks() {
        let at = ((axis.position(tick) * room as f64).round() as usize).min(room - 1);
        let text = number(tick);
        let half = text.chars().count() / 2;
        let start = (indent + 1 + at).saturating_sub(if at == 0 { 0 } else { half });
        if at > 0 {
            line[at] = '┴';
        }
        if start >= free {
            for (place, c) in numbers[start..].iter_mut().zip(text.chars()) {
                *place = c;
            }
            free = start + text.chars().count() + 1;
        }
    }
    let line: String = line.into_iter().collect();
    let numbers: String = numbers.into_iter().collect();
    let what = format!("{} by {}", plot.y, plot.x);
    let line = paint.with(FAINT, &format!("└{line}"));
    // Below the axis, or further to the left where that has no room.
    let start = (indent + 1).min(width.saturating_sub(what.chars().count()));
    let what = wording::wrapped(&what, width - start, "", "");
    let what: String = what.lines().map(|line| format!("{:start$}{line}\n", "")).collect();
    format!("{:indent$}{line}\n{}\n{what}", "", numbers.trim_end())
}

fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
