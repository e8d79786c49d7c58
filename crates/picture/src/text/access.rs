//! An access as text: the lanes, the rows, and the cost of each column. A line has the width of the
//! drawing, 100 columns at most; narrower terminals get narrower words.

use std::fmt::Write as _;

use super::{FAINT, Paint, STRONG, USED, WAITS, WASTED};
use crate::Scene;

/// More rows are left out before the last one.
const MOST_ROWS: usize = 10;

/// With more rows, gaps between them are not drawn: there the rows' numbers have to do.
const MOST_ROWS_WITH_GAPS: usize = 4;

/// Columns of a row's number.
const LABEL: usize = 3;

/// Draws a scene in lines of at most `width` columns, 40 at least.
pub fn access(scene: &Scene, width: usize, paint: Paint) -> String {
    let word = [3, 2].into_iter().find(|&word| Grid { scene, word, paint }.width() <= width).unwrap_or(1);
    Grid { scene, word, paint }.draw(width)
}

/// A scene, the columns of a word, and how it is painted.
struct Grid<'s> {
    scene: &'s Scene,
    word: usize,
    paint: Paint,
}

impl Grid<'_> {
    fn groups(&self) -> usize {
        self.scene.columns.count / self.scene.columns.group
    }

    /// The columns between two frames. Of three columns of a word, the third is a space, for which
    /// the frame takes its place.
    fn group_width(&self) -> usize {
        self.scene.columns.group * self.word - usize::from(self.word == 3)
    }

    fn width(&self) -> usize {
        // There are always 32 lanes, also above 16 banks.
        let lanes = LABEL + 1 + 32 * self.word + if self.word == 3 { 0 } else { self.groups() };
        lanes.max(LABEL + 1 + self.groups() * (self.group_width() + 1))
    }

    fn draw(&self, width: usize) -> String {
        let scene = self.scene;
        let mut lines = vec![self.lanes()];
        if scene.columns.banks {
            lines.push(self.labelled("bank", |bank| self.number(bank as u32), FAINT));
        }
        lines.push(self.rule('┌', '─', '┬', '┐'));
        let count = scene.rows.len();
        let elided = count > MOST_ROWS || scene.left_out > 0;
        for row in 0..count {
            if elided && row == count.min(MOST_ROWS - 1) - 1 && row + 1 < count {
                lines.push(self.elided(count - row - 1 + scene.left_out));
            }
            if elided && row + 1 < count && row + 1 >= count.min(MOST_ROWS - 1) {
                continue;
            }
            if count <= MOST_ROWS_WITH_GAPS && !scene.follows(row) {
                lines.push(self.rule('├', '┈', '┼', '┤'));
            }
            lines.push(self.row(row));
        }
        lines.push(self.rule('└', '─', '┴', '┘'));
        if !scene.heights.is_empty() {
            lines.push(self.labelled("sum", |bank| self.number_or_dot(scene.heights[bank]), STRONG));
        } else if !scene.pieces.is_empty() {
            lines.push(self.moved());
        }
        lines.push(wording::wrapped(&scene.sentence, width.max(self.width()), "", ""));
        lines.iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
    }

    /// A number in the columns of a word.
    fn number(&self, number: u32) -> String {
        match self.word {
            1 => (number % 10).to_string(),
            _ => format!("{number:>2}"),
        }
    }

    fn number_or_dot(&self, number: u32) -> String {
        match (self.word, number) {
            (1, 0) => "·".into(),
            (_, 0) => " ·".into(),
            (1, 10..) => "+".into(),
            _ => self.number(number),
        }
    }

    /// A line of words that belong to the columns.
    fn labelled(&self, label: &str, of: impl Fn(usize) -> String, style: anstyle::Style) -> String {
        let columns = self.scene.columns;
        let words: String = (0..columns.count).map(|column| of(column) + self.gap(column)).collect();
        format!("{label:<4}{}", self.paint.with(style, words.trim_end()))
    }

    /// What follows a word where there is no frame.
    fn gap(&self, column: usize) -> &'static str {
        let columns = self.scene.columns;
        let ends_group = (column + 1).is_multiple_of(columns.group) && column + 1 < columns.count;
        if self.word == 3 || ends_group { " " } else { "" }
    }

    fn lanes(&self) -> String {
        let mask = self.scene.mask;
        let number = |lane: usize| match mask >> lane & 1 {
            1 => self.number(lane as u32),
            _ => self.number_or_dot(0),
        };
        // Above 16 banks, too.
        let gap = |lane: usize| {
            if self.scene.columns.count == 32 {
                self.gap(lane)
            } else if self.word == 3 {
                " "
            } else {
                ""
            }
        };
        let numbers: String = (0..32).map(|lane| number(lane) + gap(lane)).collect();
        format!("lane{}", self.paint.with(STRONG, numbers.trim_end()))
    }

    fn rule(&self, left: char, line: char, middle: char, right: char) -> String {
        let group: String = std::iter::repeat_n(line, self.group_width()).collect();
        let groups = vec![group; self.groups()].join(&middle.to_string());
        format!("{:LABEL$}{}", "", self.paint.with(FAINT, &format!("{left}{groups}{right}")))
    }

    fn elided(&self, rows: usize) -> String {
        let inside = self.groups() * (self.group_width() + 1) - 1;
        let text = match inside {
            ..24 => format!("{rows} more"),
            _ => format!("{rows} more rows"),
        };
        format!("{:>LABEL$}{}", "⋮", self.paint.with(FAINT, &format!("│{text:^inside$}│")))
    }

    fn row(&self, row: usize) -> String {
        let columns = self.scene.columns;
        let mut line = format!("{:>LABEL$}", short(self.scene.rows[row].number));
        for column in 0..columns.count {
            if column.is_multiple_of(columns.group) {
                line += &self.paint.with(FAINT, "│");
            }
            line += &self.cell(row, column);
        }
        line + &self.paint.with(FAINT, "│")
    }

    /// A word, and the space after it.
    fn cell(&self, row: usize, column: usize) -> String {
        let columns = self.scene.columns;
        let has_space = self.word == 3 && !(column + 1).is_multiple_of(columns.group);
        let mut text = String::new();
        match self.scene.cell(row, column) {
            Some(cell) => {
                let name = self.name(cell.lanes, cell.waits, has_space);
                let space = has_space && name.chars().count() < 3;
                let next_is_wasted = self.scene.moves(row, column + 1) && self.scene.cell(row, column + 1).is_none();
                text += &self.paint.with(if cell.waits { WAITS } else { USED }, &name);
                if space {
                    text += &if next_is_wasted { self.paint.with(WASTED, "░") } else { " ".into() };
                }
            }
            None if self.scene.moves(row, column) => {
                let shade = "░".repeat(self.word.min(2) + usize::from(has_space));
                text += &self.paint.with(WASTED, &shade);
            }
            None => {
                let _ = write!(text, "{}", self.paint.with(FAINT, &self.number_or_dot(0)));
                text += if has_space { " " } else { "" };
            }
        }
        text
    }

    /// Which lanes ask for a word, in the columns that it has.
    fn name(&self, lanes: u32, waits: bool, has_space: bool) -> String {
        match (self.word, lanes.count_ones()) {
            // One column has no room for a number.
            (1, _) => if waits { "▒" } else { "█" }.into(),
            (_, 1) => self.number(lanes.trailing_zeros()),
            (_, _) if has_space && lanes == self.scene.mask => "all".into(),
            (_, count @ ..10) => format!("×{count}"),
            (_, count) if has_space => format!("×{count}"),
            _ => "××".into(),
        }
    }

    /// How many pieces move in each group of columns, or in as many groups as each piece has.
    fn moved(&self) -> String {
        let (columns, pieces) = (self.scene.columns, &self.scene.pieces);
        let size = pieces.iter().map(|piece| piece.columns).max().unwrap_or(columns.group);
        let uniform = size >= columns.group && pieces.iter().all(|piece| piece.columns == size);
        let together = if uniform { size } else { columns.group };
        let width = (self.group_width() + 1) * (together / columns.group);
        let mut line = format!("{:<4}", "sum");
        for first in (0..columns.count).step_by(together) {
            let group = first..first + together;
            let begin_here = pieces.iter().filter(|piece| group.contains(&piece.column));
            let is_moved =
                pieces.iter().any(|piece| piece.column < group.end && group.start < piece.column + piece.columns);
            let text = match begin_here.map(|piece| piece.times).sum() {
                0u32 if is_moved => String::new(),
                0 => "·".into(),
                count => format!("{count} ×"),
            };
            let _ = write!(line, "{text:^width$}");
        }
        line
    }
}

/// A number in three columns.
fn short(number: u64) -> String {
    match number {
        ..1000 => number.to_string(),
        1000..100_000 => format!("{}k", number / 1000),
        100_000..1_000_000 => format!(".{}M", number / 100_000),
        1_000_000..100_000_000 => format!("{}M", number / 1_000_000),
        _ => "far".into(),
    }
}
