//! Orders of tiles: which run together.

use picture::{Paint, TileOrder, TileOrders, tiles_svg, tiles_text};

/// Eight tiles in two rows, four blocks at once: row by row, and column by column.
fn orders() -> TileOrders {
    let (mut rows, mut squares) = (TileOrder::new([2, 4], 4), TileOrder::new([2, 4], 4));
    (0..8).for_each(|turn| rows.take((turn / 4, turn % 4)));
    // A tile outside takes no turn.
    squares.take((2, 0));
    squares.take((0, 4));
    (0..8).for_each(|turn| squares.take((turn % 2, turn / 2)));
    TileOrders { orders: vec![("rows".into(), rows), ("squares".into(), squares)] }
}

#[test]
fn tiles_of_a_round_have_one_character() {
    let text = tiles_text(&orders(), 100, Paint::Plain);
    let sentence = "The tiles of the first 4 blocks: rows 1 row, 4 columns; squares 2 rows, 2 columns.";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(sentence), "{text}");
    assert!(text.contains("\nrows\n0000\n1111\n\nsquares\n0011\n0011\n"), "{text}");
    assert!(!text.contains("Drawn:"));
    let large = TileOrders { orders: vec![("rows".into(), TileOrder::new([40, 70], 9))] };
    assert!(tiles_text(&large, 100, Paint::Plain).contains("Drawn: 32 of 40 rows of tiles, 64 of 70 columns."));
}

#[test]
fn a_drawing_has_a_square_for_each_tile() {
    let svg = tiles_svg(&orders());
    assert_eq!((svg.matches("heat1\"").count(), svg.matches("heat10\"").count()), (8, 8));
    assert!(tiles_svg(&TileOrders { orders: Vec::new() }).ends_with("</svg>"));
}
