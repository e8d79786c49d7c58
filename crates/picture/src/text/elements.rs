//! Heat maps of elements as text: a character for each cell, the maps of an array side by side
//! where there is room.

use super::{FAINT, Paint, STRONG, WASTED};
use crate::elements::{Counted, ElementMaps, Grid, SIDE};

/// From 0 to the most.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// Rows of a map: two rows of cells share one, for characters are twice as high as wide.
const ROWS: usize = SIDE / 2;
/// Between two maps.
const GAP: usize = 2;

/// Draws the maps in lines of at most `width` columns.
pub fn elements(maps: &ElementMaps, width: usize, paint: Paint) -> String {
    let width = width.max(40);
    let title = wording::wrapped(&maps.sentence(), width, "", "");
    let mut text: String = title.lines().map(|line| paint.with(STRONG, line) + "\n").collect();
    let most = maps.most();
    let beside = ((width + GAP) / (SIDE + GAP)).max(1);
    for array in maps.arrays() {
        let with: Vec<_> = maps.variants.iter().filter(|variant| variant.words(array).is_some()).collect();
        for some in with.chunks(beside) {
            text += "\n";
            let line = |of: &dyn Fn(usize) -> String| {
                let cells: Vec<String> = (0..some.len()).map(|index| format!("{:<SIDE$}", cut(&of(index)))).collect();
                cells.join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
            };
            text += &line(&|index| some[index].name.clone());
            text += &line(&|index| format!("{array}: {}", some[index].loads(array).unwrap_or_default()));
            let drawn: Vec<Vec<String>> =
                some.iter().map(|it| rows(&Grid::of(it.words(array).unwrap_or_default()), most)).collect();
            let height = drawn.iter().map(Vec::len).max().unwrap_or(0);
            for row in 0..height {
                let part = |map: &Vec<String>| format!("{:<SIDE$}", map.get(row).map_or("", String::as_str));
                let cells: Vec<String> = drawn.iter().map(part).collect();
                text += &(paint.with(WASTED, cells.join(&" ".repeat(GAP)).trim_end()) + "\n");
            }
        }
    }
    let shades: String = SHADES.iter().collect();
    let (unit, what) = match maps.counted {
        Counted::Loads => {
            ("loads of a word", "A word has 4 bytes; loads of lanes count, of which a warp's request serves up to 32.")
        }
        Counted::Moves => (
            "requests",
            "Requests count that move the word's sector of 32 bytes, whether they ask for the word or not.",
        ),
        Counted::Atomics => (
            "operations on a word",
            "A word has 4 bytes; atomic operations of lanes count, which L2 does one after the other.",
        ),
    };
    let key = format!("{shades} from 0 {unit} to {}: linear, the same in all maps. {what}", wording::number(most));
    text += "\n";
    wording::wrapped(&key, width, "", "").lines().for_each(|line| text += &(paint.with(FAINT, line) + "\n"));
    text
}

fn cut(text: &str) -> String {
    match text.chars().count() > SIDE {
        true => text.chars().take(SIDE - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The rows of a map.
fn rows(grid: &Grid, most: f64) -> Vec<String> {
    let cells: Vec<&[f64]> = grid.cells.chunks(grid.columns).collect();
    let together = if cells.len() > ROWS { 2 } else { 1 };
    let row = |rows: &[&[f64]]| {
        let shade = |column: usize| {
            let mean = rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64;
            let level = (mean / most * (SHADES.len() - 1) as f64).ceil() as usize;
            SHADES[level.min(SHADES.len() - 1)]
        };
        (0..grid.columns).map(shade).collect()
    };
    cells.chunks(together).map(row).collect()
}
