//! A roofline as text: a letter for each kernel and memory, small for the first memory.

use super::{BAR, FAINT, Paint, STRONG};
use crate::Roofline;
use crate::plot::number;

/// The lines of the drawing area.
const HEIGHT: usize = 16;
/// The columns before it, for the numbers of its axis.
const INDENT: usize = 8;
/// How many columns a letter may stand beside its place if that is taken.
const ASIDE: usize = 3;
/// What the roofs of memories are drawn with.
const SLOPES: [char; 2] = ['.', ':'];

/// Draws a roofline in lines of at most `width` columns.
pub fn roofline(roofline: &Roofline, width: usize, paint: Paint) -> String {
    let width = width.max(40);
    let room = width - INDENT - 2;
    let (x, y) = roofline.axes();
    let column = |intensity: f64| (x.position(intensity) * (room - 1) as f64).round() as usize;
    let line = |height: f64| HEIGHT - 1 - (y.position(height) * (HEIGHT - 1) as f64).round() as usize;
    let mut cells = vec![vec![' '; room]; HEIGHT];
    let flat = line(roofline.arithmetic.rate);
    for (index, memory) in roofline.memories.iter().enumerate().rev() {
        let mark = SLOPES[index % 2];
        let [from, to] = roofline.slope(memory, &x, &y).map(|(intensity, _)| column(intensity));
        for (at, intensity) in (from..=to).map(|at| (at, x.value(at as f64 / (room - 1) as f64))) {
            cells[line(memory.rate * intensity)][at] = mark;
        }
        cells[flat][to..].fill('─');
    }
    for (index, kernel) in roofline.kernels.iter().enumerate() {
        let letter = Roofline::letter(index);
        for (memory, intensity, height) in roofline.points(kernel) {
            let shown = if memory == 0 { letter } else { letter.to_ascii_uppercase() };
            let places = column(intensity)..room.min(column(intensity) + ASIDE);
            let row = &mut cells[line(height)];
            if let Some(place) = places.into_iter().find(|&place| !row[place].is_alphabetic()) {
                row[place] = shown;
            }
        }
    }
    let mut numbers = vec![String::new(); HEIGHT];
    y.ticks().into_iter().for_each(|tick| numbers[line(tick)] = number(tick));
    let title = wording::wrapped(&roofline.title, width, "", "");
    let mut text: String = title.lines().map(|line| paint.with(STRONG, line) + "\n").collect();
    for (cells, number) in cells.iter().zip(&numbers) {
        let row: String = cells.iter().collect();
        let drawn = paint.with(BAR, row.trim_end());
        text += &format!("{number:>INDENT$}{}{drawn}\n", paint.with(FAINT, if number.is_empty() { "│" } else { "┤" }));
    }
    let ticks: Vec<_> = x.powers_of_two().into_iter().map(|tick| (column(tick), number(tick))).collect();
    text += &foot(&ticks, room, paint);
    let letters = match roofline.memories.as_slice() {
        [first, second] => {
            format!("operations a byte, of {} (small letters) and of {} (capitals)", first.name, second.name)
        }
        _ => "operations a byte".to_owned(),
    };
    let roofs = format!("{letters}; {}", roofline.roofs().join(", "));
    text += &(wording::wrapped(&roofs, width, "", "") + "\n");
    let longest = roofline.kernels.iter().map(|kernel| kernel.name.chars().count()).max().unwrap_or(0);
    for (index, kernel) in roofline.kernels.iter().enumerate() {
        let start = format!("{} {:longest$}  ", Roofline::letter(index), kernel.name);
        text += &(wording::wrapped(&roofline.said(kernel), width, &start, &" ".repeat(longest + 4)) + "\n");
    }
    text
}

/// The axis of intensities: its line, and its numbers as far as they have room.
fn foot(ticks: &[(usize, String)], room: usize, paint: Paint) -> String {
    let mut line = vec!['─'; room];
    let mut numbers = vec![' '; INDENT + 1 + room + 4];
    let mut free = 0;
    for (at, text) in ticks {
        line[*at] = '┴';
        let start = (INDENT + 1 + at).saturating_sub(text.chars().count() / 2);
        if start >= free && start + text.chars().count() <= INDENT + 1 + room {
            numbers[start..].iter_mut().zip(text.chars()).for_each(|(place, c)| *place = c);
            free = start + text.chars().count() + 1;
        }
    }
    let line = paint.with(FAINT, &format!("└{}", line.into_iter().collect::<String>()));
    format!("{:INDENT$}{line}\n{}\n", "", numbers.into_iter().collect::<String>().trim_end())
}
