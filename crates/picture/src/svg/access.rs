//! An access as SVG: the lanes above, each over its own column, so that the good case is 32
//! vertical lines; curves to the words that they ask for; the pieces that move; the height of each
//! bank.

use std::fmt::Write as _;

use super::{Drawing, Number, TITLE_WIDTH, WIDTH};
use crate::Scene;
use crate::scene::Cell;

/// Where the first column begins.
const LEFT: f64 = 56.0;
/// A column.
const CELL: f64 = 18.0;
/// The space after each eight columns, where these are sectors.
const GROUP_GAP: f64 = 3.0;
/// Lanes.
const LANES: (f64, f64) = (34.0, 18.0);
/// The height between the lanes and the first row.
const WAYS: f64 = 66.0;
/// The height of a gap between rows that are far apart.
const GAP: f64 = 8.0;
/// More rows are left out before the last one.
const MOST_ROWS: usize = 36;

/// Draws a scene.
pub fn access(scene: &Scene) -> String {
    let layout = Layout::of(scene);
    let description = format!("{} {}", scene.sentence, scene.description);
    let mut drawing = Drawing::new("access", layout.height, &scene.title, &description);
    match short(&scene.title) {
        None => drawing.label("title", (12.0, 21.0), &scene.title),
        Some(short) => {
            drawing.label("title wide", (12.0, 21.0), &scene.title);
            drawing.label("title narrow", (12.0, 21.0), &short);
        }
    }
    empty(&mut drawing, scene, &layout);
    pieces(&mut drawing, scene, &layout);
    ways(&mut drawing, scene, &layout);
    scales(&mut drawing, scene, &layout);
    words(&mut drawing, scene, &layout);
    lanes(&mut drawing, scene, &layout);
    if !scene.heights.is_empty() {
        heights(&mut drawing, scene, &layout);
    }
    drawing.sentence(layout.foot, &scene.sentence);
    key(&mut drawing, scene, layout.foot + 46.0);
    drawing.finish()
}

/// A title that is too long for a small drawing, without the words that say least.
fn short(title: &str) -> Option<String> {
    if title.chars().count() <= TITLE_WIDTH {
        return None;
    }
    let access = title.strip_prefix("A warp's ").unwrap_or(title);
    let (first, rest) = access.split_at_checked(1)?;
    let access = first.to_uppercase() + rest;
    let without_width = access.split(',').next().unwrap_or_default();
    Some(if access.chars().count() <= TITLE_WIDTH { access } else { without_width.to_owned() })
}

/// Where everything is.
struct Layout {
    /// For each row of the scene, where it begins; `None` if it is left out.
    rows: Vec<Option<f64>>,
    row_height: f64,
    /// Where rows that are left out would be, and how many.
    elided: Option<(f64, usize)>,
    /// Below the last row.
    bottom: f64,
    /// The sentence's line.
    foot: f64,
    height: f64,
    /// The space after each group of columns.
    gap: f64,
    group: usize,
}

impl Layout {
    fn of(scene: &Scene) -> Self {
        let count = scene.rows.len();
        let row_height = match count {
            ..=4 => 19.0,
            5..=8 => 17.0,
            9..=16 => 14.0,
            _ => 11.0,
        };
        let elides = count > MOST_ROWS || scene.left_out > 0;
        let repeated = scene.pieces.iter().any(|piece| piece.times > 1);
        let mut y = LANES.0 + LANES.1 + WAYS;
        let (mut rows, mut elided) = (Vec::new(), None);
        for row in 0..count {
            if elides && row + 1 < count && row + 2 >= count.min(MOST_ROWS) {
                if elided.is_none() {
                    elided = Some((y + 12.0, count - row - 1 + scene.left_out));
                    y += 18.0;
                }
                rows.push(None);
                continue;
            }
            let far = !scene.follows(row) && count <= 16 && rows.last().is_some_and(Option::is_some);
            y += if far { GAP } else { 0.0 };
            rows.push(Some(y));
            y += row_height + if repeated { 13.0 } else { 2.0 };
        }
        let bottom = y;
        let foot = bottom + if scene.columns.banks { 38.0 } else { 22.0 };
        let (gap, group) = if scene.columns.group == 8 { (GROUP_GAP, 8) } else { (0.0, 32) };
        Self { rows, row_height, elided, bottom, foot, height: foot + 58.0, gap, group }
    }

    /// Where a column begins.
    fn x(&self, column: usize) -> f64 {
        LEFT + column as f64 * CELL + (column / self.group) as f64 * self.gap
    }

    /// Where the bytes of a word that are asked for begin and end.
    fn span(&self, cell: &Cell, column_bytes: u32) -> (f64, f64) {
        let byte = (CELL - 1.0) / f64::from(column_bytes);
        let (first, end) = (cell.bytes.trailing_zeros(), u8::BITS - cell.bytes.leading_zeros());
        let start = self.x(cell.column) + 0.5;
        (start + byte * f64::from(first), start + byte * f64::from(end))
    }

    fn middle(&self, column: usize) -> f64 {
        self.x(column) + CELL / 2.0
    }

    fn top(&self) -> f64 {
        LANES.0 + LANES.1 + WAYS
    }
}

/// The words that nobody asks for: groups of columns, cut into words.
fn empty(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    let (count, group) = (scene.columns.count, layout.group.min(scene.columns.count));
    let mut path = String::new();
    for y in layout.rows.iter().flatten() {
        for first in (0..count).step_by(group) {
            let width = Number(group as f64 * CELL);
            let _ = write!(
                path,
                "M{} {}h{width}v{}h-{width}z",
                Number(layout.x(first)),
                Number(*y),
                Number(layout.row_height)
            );
        }
    }
    drawing.path("empty", &path);
    let edges = (1..count)
        .map(|column| format!("M{} {}V{}", Number(layout.x(column)), Number(layout.top()), Number(layout.bottom)));
    drawing.path("edges", &edges.collect::<String>());
    if let Some((y, rows)) = layout.elided {
        drawing.label("key m", (WIDTH / 2.0, y), &format!("⋮ {rows} more rows"));
    }
}

/// What moves: an outline, filled and hatched where nobody asks for it.
fn pieces(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    for piece in &scene.pieces {
        let Some(y) = layout.rows[piece.row] else { continue };
        let last = piece.column + piece.columns - 1;
        let columns = piece.column..=last;
        let wasted: Vec<usize> = columns.filter(|&column| scene.cell(piece.row, column).is_none()).collect();
        let (left, right) = (layout.x(piece.column), layout.x(last) + CELL);
        let class = if wasted.is_empty() && piece.times == 1 { "piece full" } else { "piece" };
        drawing.rect(class, (left - 0.5, y - 1.5), (right - left + 1.0, layout.row_height + 3.0), 3.0);
        let mut hatch = String::new();
        for column in wasted {
            let (x, rise) = (layout.x(column), layout.row_height - 4.0);
            let _ = write!(
                hatch,
                "M{} {}l{} -{}",
                Number(x + 5.0),
                Number(y + layout.row_height - 2.0),
                Number(8.0),
                Number(rise)
            );
        }
        drawing.path("waste", &hatch);
        if piece.times > 1 {
            drawing.label("times e", (right, y + layout.row_height + 11.5), &format!("{} ×", piece.times));
        }
    }
}

/// Whether its passes can be shown one after the other: it is served by banks, in several.
fn plays(scene: &Scene) -> bool {
    scene.columns.banks && scene.cells.iter().any(|cell| cell.pass > 0)
}

/// The pass of a word, for pages that show one pass after the other.
fn pass(plays: bool, cell: &Cell) -> String {
    if plays { format!(" data-pass=\"{}\"", cell.pass) } else { String::new() }
}

/// Curves from each lane to its words: to the middle of those that are side by side.
fn ways(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    let plays = plays(scene);
    let (from_y, top) = (LANES.0 + LANES.1, layout.top() - 18.0);
    for lane in 0..32 {
        let mut runs: Vec<(&Cell, &Cell)> = Vec::new();
        for cell in scene.cells.iter().filter(|cell| cell.lanes >> lane & 1 == 1) {
            match runs.last_mut() {
                Some((first, last)) if first.row == cell.row && last.column + 1 == cell.column => *last = cell,
                _ => runs.push((cell, cell)),
            }
        }
        for (first, last) in runs {
            let Some(y) = layout.rows[first.row] else { continue };
            let bytes = scene.columns.bytes;
            let to = (layout.span(first, bytes).0 + layout.span(last, bytes).1) / 2.0;
            let from = layout.middle(lane);
            let bend = (top - from_y) * 0.62;
            let [from, to] = [from, to].map(Number);
            let class = if first.waits { "way waits" } else { "way" };
            drawing.add(format_args!(
                "<path class=\"{class}\" data-lane=\"{lane}\"{} d=\"M{from} {}C{from} {} {to} {} {to} {}V{}\"/>",
                pass(plays, first),
                Number(from_y),
                Number(from_y + bend),
                Number(top - bend),
                Number(top),
                Number(y)
            ));
        }
    }
}

/// The numbers of the columns, and the distances of the rows.
fn scales(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    let y = layout.top() - 6.0;
    drawing.label("axis e", (LEFT - 6.0, y), if scene.columns.banks { "bank" } else { "byte" });
    for column in 0..scene.columns.count {
        let marked = column.is_multiple_of(8);
        if scene.columns.banks {
            let class = if marked { "scale m" } else { "scale m wide" };
            drawing.label(class, (layout.middle(column), y), &column.to_string());
        } else if marked {
            drawing.label("scale", (layout.x(column) + 1.0, y), &(column * 4).to_string());
        }
    }
    let shown = layout.rows.iter().flatten().count();
    let step = if shown > 8 { shown.div_ceil(8) } else { 1 };
    for (index, row) in layout.rows.iter().enumerate() {
        let Some(y) = row else { continue };
        if index.is_multiple_of(step) || index + 1 == layout.rows.len() && index % step > step / 2 {
            let class = if index.is_multiple_of(step * 2) { "scale e" } else { "scale e wide" };
            let class = if layout.row_height < 14.0 { class } else { "scale e" };
            let text = distance(scene.rows[index].offset);
            drawing.label(class, (LEFT - 6.0, y + layout.row_height / 2.0 + 3.5), &text);
        }
    }
}

/// A distance in bytes, in seven characters at most.
fn distance(bytes: u64) -> String {
    match bytes {
        ..100_000 => format!("+{bytes}"),
        100_000..10_000_000 => format!("+{}K", bytes >> 10),
        10_000_000..10_000_000_000 => format!("+{}M", bytes >> 20),
        _ => format!("+{}G", bytes >> 30),
    }
}

/// The words that lanes ask for, each with its lane.
fn words(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    let plays = plays(scene);
    let small = if layout.row_height < 14.0 || scene.columns.bytes > 4 { " small" } else { "" };
    for cell in &scene.cells {
        let Some(y) = layout.rows[cell.row] else { continue };
        let waits = if cell.waits { " waits" } else { "" };
        let (left, right) = layout.span(cell, scene.columns.bytes);
        let lanes: Vec<String> =
            (0..32).filter(|lane| cell.lanes >> lane & 1 == 1).map(|lane| lane.to_string()).collect();
        let attributes = format!(" data-lanes=\"{}\"{}", lanes.join(" "), pass(plays, cell));
        drawing.saying(&attributes, &said(scene, cell, &lanes), |drawing| {
            drawing.rect(&format!("word{waits}"), (left, y), (right - left, layout.row_height), 2.0);
            let baseline = y + layout.row_height / 2.0 + if small.is_empty() { 3.4 } else { 2.9 };
            // A lane's byte has no room for its number.
            if right - left > 8.0 {
                let class = format!("lane word-lane{waits}{small} wide");
                drawing.label(&class, ((left + right) / 2.0, baseline), &name(cell, scene.mask));
            }
        });
    }
}

/// Who asks for a word, and where it is.
fn said(scene: &Scene, cell: &Cell, lanes: &[String]) -> String {
    let who = match lanes {
        [lane] => format!("lane {lane}"),
        _ if cell.lanes == scene.mask => "all lanes".to_owned(),
        _ => format!("lanes {}", lanes.join(", ")),
    };
    let within = cell.column as u64 * u64::from(scene.columns.bytes) + u64::from(cell.bytes.trailing_zeros());
    let at = scene.rows[cell.row].offset + within;
    let bank = if scene.columns.banks { format!(", bank {}", cell.column) } else { String::new() };
    let waits = if cell.waits { ", waits for its turn" } else { "" };
    format!("{who}: byte +{at}{bank}{waits}")
}

/// Which lanes ask for a word.
fn name(cell: &Cell, mask: u32) -> String {
    match cell.lanes.count_ones() {
        1 => cell.lanes.trailing_zeros().to_string(),
        _ if cell.lanes == mask => "all".into(),
        count => format!("×{count}"),
    }
}

fn lanes(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    let (y, height) = LANES;
    drawing.label("axis e", (LEFT - 6.0, y + 12.4), "lane");
    for lane in 0..32 {
        let takes_part = scene.mask >> lane & 1 == 1;
        let (rect, number) = if takes_part { ("thread", "lane") } else { ("thread off", "lane idle") };
        let narrow = if lane % 8 == 0 { "" } else { " wide" };
        drawing.add(format_args!("<g data-lane=\"{lane}\">"));
        drawing.rect(rect, (layout.x(lane) + 1.0, y), (CELL - 2.0, height), 4.0);
        drawing.label(&format!("{number}{narrow}"), (layout.middle(lane), y + 12.4), &lane.to_string());
        drawing.add(format_args!("</g>"));
    }
}

/// How many passes each bank is busy in.
fn heights(drawing: &mut Drawing, scene: &Scene, layout: &Layout) {
    let tallest = scene.heights.iter().copied().max().unwrap_or(0);
    let y = layout.bottom + 11.0;
    drawing.label("axis e", (LEFT - 6.0, y), "passes");
    for (bank, &height) in scene.heights.iter().enumerate() {
        let class = match height {
            0 => " none wide",
            _ if height == tallest && scene.cells.iter().any(|cell| cell.waits) => " most",
            _ => "",
        };
        // Two digits have no room where the drawing is small.
        let crowded = if bank.is_multiple_of(2) || height < 10 { "" } else { " wide" };
        let text = if height == 0 { "·".into() } else { height.to_string() };
        drawing.label(&format!("height{class}{crowded}"), (layout.middle(bank), y), &text);
    }
}

/// What the colours mean.
fn key(drawing: &mut Drawing, scene: &Scene, y: f64) {
    let waits = scene.cells.iter().any(|cell| cell.waits);
    let moves = scene.pieces.iter().any(|piece| {
        (piece.column..piece.column + piece.columns).any(|column| scene.cell(piece.row, column).is_none())
    });
    let mut x = 12.0;
    let mut entry = |class: &str, hatch: bool, text: &str| {
        drawing.rect(class, (x, y - 9.0), (11.0, 11.0), 2.0);
        if hatch {
            drawing.path("waste", &format!("M{} {}l7 -7", Number(x + 2.0), Number(y)));
        }
        drawing.label("key", (x + 17.0, y + 0.8), text);
        x += 44.0 + 9.0 * text.chars().count() as f64;
    };
    entry("word", false, "asked for");
    if waits {
        entry("word waits", false, "waits");
    }
    if moves {
        entry("piece", true, "moves unused");
    }
    entry("empty", false, "untouched");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_shorter_in_small_drawings() {
        let all = [
            ("A warp's load from global memory, 4 bytes a lane", None),
            (
                "A warp's atomic operation on global memory, 4 bytes a lane",
                Some("Atomic operation on global memory, 4 bytes a lane"),
            ),
            (
                "A warp's atomic operation on another block's shared memory, 4 bytes a lane",
                Some("Atomic operation on another block's shared memory"),
            ),
        ];
        for (title, expected) in all {
            assert_eq!(short(title).as_deref(), expected);
        }
    }
}
