//! A figure that no run has: a matrix, one block's tile of it, the tile in shared memory, and the
//! barrier between its writers and its readers. Pure.

use std::fmt::Write as _;

/// The length of a small square.
const CELL: usize = 20;

/// The drawing, in the style of the program's pictures.
pub fn drawing() -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" viewBox=\"0 0 820 330\" role=\"img\" aria-label=\"A \
         block copies a tile of the input into shared memory by rows, waits at the barrier, and writes its columns as \
         rows of the output.\">\
         <rect class=\"paper\" width=\"820\" height=\"330\"/>",
    );
    let mut label = |x: usize, y: usize, class: &str, text: &str| {
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"middle\">{text}</text>");
    };
    label(130, 30, "title", "input: the matrix");
    label(410, 30, "title", "shared memory: the tile");
    label(690, 30, "title", "output: its transpose");
    label(130, 222, "sentence", "a block has one tile");
    label(410, 200, "sentence", "barrier: wait for all warps");
    label(690, 222, "sentence", "the tile at (row, column)");
    label(690, 242, "sentence", "goes to (column, row)");
    label(270, 84, "sentence", "1. rows in");
    label(550, 84, "sentence", "3. columns out");
    label(410, 222, "sentence", "2. sync_threads()");
    label(410, 285, "sentence", "both sides of global memory see rows: 4 sectors for a warp's request, not 32");
    // 8 x 8 squares stand for a matrix; 2 x 2 tiles of 4 x 4 for its blocks.
    matrix(&mut svg, 50, [1, 0]);
    matrix(&mut svg, 610, [0, 1]);
    for row in 0..4 {
        for column in 0..4 {
            let fill = if row == 0 { SHADED[0] } else { SHADED[1] };
            square(&mut svg, 370 + CELL * column, 70 + CELL * row, fill);
        }
    }
    let _ = write!(
        svg,
        "<path d=\"M250 100h90m-8 -6l8 6l-8 6M480 100h90m-8 -6l8 6l-8 6\" fill=\"none\" stroke=\"#1a1f26\" \
         stroke-width=\"2\"/><path d=\"M350 175h120\" fill=\"none\" stroke=\"#b45309\" stroke-width=\"5\"/></svg>"
    );
    svg
}

/// The colours of a warp's row, of its tile, and of the rest.
const SHADED: [&str; 3] = ["#1d6fb8", "#a9cdec", "#ffffff"];

/// Draws a matrix at `left`, and in it the tile of this row and column, of which a warp's part is
/// dark.
fn matrix(svg: &mut String, left: usize, tile: [usize; 2]) {
    for row in 0..8 {
        for column in 0..8 {
            let is_of_tile = [row / 4, column / 4] == tile;
            let is_of_warp = is_of_tile && row % 4 == 0;
            let fill = SHADED[if is_of_warp { 0 } else { 2 - usize::from(is_of_tile) }];
            square(svg, left + CELL * column, 45 + CELL * row, fill);
        }
    }
    for tile in 0..4 {
        let (x, y) = (left + 4 * CELL * (tile % 2), 45 + 4 * CELL * (tile / 2));
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"80\" height=\"80\" fill=\"none\" stroke=\"#1a1f26\" stroke-width=\"2\"/>"
        );
    }
}

fn square(svg: &mut String, x: usize, y: usize, fill: &str) {
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" stroke=\"#8a94a0\" stroke-width=\"0.5\"/>"
    );
}
