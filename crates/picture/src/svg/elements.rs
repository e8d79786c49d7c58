//! Heat maps of elements as SVG: a row of maps for each array.

use std::fmt::Write as _;

use super::{Drawing, Number};
use crate::elements::{Counted, ElementMap, ElementMaps, Grid};

const LEFT: f64 = 12.0;
/// A map's side, and the space between two.
const MAP: f64 = 196.0;
const GAP: f64 = 20.0;
/// What a map has above itself and below.
const HEAD: f64 = 38.0;
const FOOT: f64 = 24.0;
/// Maps of a row.
const BESIDE: usize = 3;
/// The shades of the scale.
const LEVELS: usize = 10;

/// Draws the maps.
pub fn elements(maps: &ElementMaps) -> String {
    let title = maps.sentence();
    let arrays = maps.arrays();
    let with = |array: &str| -> Vec<&ElementMap> {
        maps.variants.iter().filter(|variant| variant.words(array).is_some()).collect()
    };
    let top = 34.0 + Drawing::room_for_title(&title);
    // The height of an array's maps, which are as large in all variants.
    let high = |array: &str| {
        let of = |variant: &&ElementMap| Some(Grid::of(variant.words(array)?));
        let grids = with(array).iter().filter_map(of).map(|grid| cell(&grid) * grid.rows() as f64).collect::<Vec<_>>();
        HEAD + grids.into_iter().fold(0.0, f64::max) + FOOT
    };
    let rows = |array: &&str| with(array).len().div_ceil(BESIDE) as f64 * high(array);
    let height = top + arrays.iter().map(rows).sum::<f64>() + 44.0;
    let described = |variant: &ElementMap| {
        let of = |array: &&str| Some(format!("{array} {}", variant.loads(array)?));
        format!("{}: {}.", variant.name, arrays.iter().filter_map(of).collect::<Vec<_>>().join("; "))
    };
    let description = maps.variants.iter().map(described).collect::<Vec<_>>().join(" ");
    let mut drawing = Drawing::new("elements", height, &title, &description);
    drawing.title(&title);
    let most = maps.most();
    let mut y = top;
    for array in &arrays {
        for some in with(array).chunks(BESIDE) {
            for (index, variant) in some.iter().enumerate() {
                map(&mut drawing, maps.counted, variant, array, (LEFT + index as f64 * (MAP + GAP), y), most);
            }
            y += high(array);
        }
    }
    key(&mut drawing, maps.counted, y + 8.0, most);
    drawing.finish()
}

fn map(drawing: &mut Drawing, counted: Counted, variant: &ElementMap, array: &str, (x, y): (f64, f64), most: f64) {
    let Some(words) = variant.words(array) else { return };
    let loads = variant.loads(array).unwrap_or_default();
    let grid = Grid::of(words);
    let said = format!(
        "{}, {array}: each word of 4 bytes is {} {loads}; rows of {} words",
        variant.name,
        counted.done(),
        grid.width
    );
    drawing.saying("", &said, |drawing| {
        drawing.label("cell strong", (x, y + 14.0), &variant.name);
        drawing.label("cell", (x, y + 30.0), &format!("{array}: {loads}"));
        let (top, rows, cell) = (y + HEAD, grid.rows(), cell(&grid));
        drawing.rect("memory-box", (x, top), (cell * grid.columns as f64, cell * rows as f64), 0.0);
        // One path for each shade, in runs of equal cells.
        let mut paths = vec![String::new(); LEVELS + 1];
        let level = |mean: &f64| ((mean / most * LEVELS as f64).ceil() as usize).min(LEVELS);
        let levels: Vec<Vec<usize>> =
            grid.cells.chunks(grid.columns).map(|row| row.iter().map(level).collect()).collect();
        let mut row = 0;
        // Equal rows are one, so that there are no seams between them.
        for equal in levels.chunk_by(|a, b| a == b) {
            let (up, high) = (top + row as f64 * cell, Number(equal.len() as f64 * cell));
            row += equal.len();
            let mut begin = 0;
            for run in equal[0].chunk_by(|a, b| a == b) {
                let (left, wide, shade) = (x + begin as f64 * cell, Number(run.len() as f64 * cell), run[0]);
                begin += run.len();
                // Writing to a string cannot fail.
                let _ = write!(paths[shade], "M{} {}h{wide}v{high}h-{wide}z", Number(left), Number(up));
            }
        }
        for (shade, path) in paths.iter().enumerate().skip(1).filter(|(_, path)| !path.is_empty()) {
            drawing.path(&format!("heat{shade}"), path);
        }
        let below = top + cell * rows as f64 + 15.0;
        if counted == Counted::Loads {
            drawing.label("cell faint", (x, below), &format!("{} loads", variant.all(array)));
        }
    });
}

/// The side of a cell.
fn cell(grid: &Grid) -> f64 {
    MAP / grid.columns.max(grid.rows()) as f64
}

/// The scale.
fn key(drawing: &mut Drawing, counted: Counted, y: f64, most: f64) {
    for shade in 1..=LEVELS {
        let x = LEFT + 20.0 + (shade - 1) as f64 * 12.0;
        drawing.rect(&format!("heat{shade}"), (x, y), (12.0, 11.0), 0.0);
    }
    drawing.label("key", (LEFT + 6.0, y + 10.0), "0");
    let text = format!("{} {}; linear", wording::number(most), counted.scale());
    drawing.label("key", (LEFT + 20.0 + LEVELS as f64 * 12.0 + 6.0, y + 10.0), &text);
}
