//! Orders of tiles as SVG: a square for each tile, the darker the later it runs, with the number of
//! the round where there is room.

use super::{Drawing, WIDTH};
use crate::tiles::TileOrders;

const LEFT: f64 = 12.0;
/// What an order has above itself and below.
const HEAD: f64 = 22.0;
const FOOT: f64 = 14.0;
/// The largest side of a tile, and the smallest with a number in it.
const LARGEST: f64 = 22.0;
const NUMBERED: f64 = 13.0;
/// The shades.
const LEVELS: u32 = 10;

/// Draws the orders, one below the other.
pub fn tiles(orders: &TileOrders) -> String {
    let title = orders.sentence();
    let most = orders.orders.iter().map(|(_, order)| order.drawn().0[1]).max().unwrap_or(1).max(1);
    let side = ((WIDTH - 2.0 * LEFT) / most as f64).min(LARGEST);
    let high = |rows: usize| HEAD + rows as f64 * side + FOOT;
    let top = 34.0 + Drawing::room_for_title(&title);
    let height = top + orders.orders.iter().map(|(_, order)| high(order.drawn().0[0])).sum::<f64>() + 30.0;
    let left_out = orders.left_out().unwrap_or_default();
    let mut drawing = Drawing::new("tiles", height, &title, &left_out);
    drawing.title(&title);
    let mut y = top;
    for (name, order) in &orders.orders {
        let ([rows, columns], _) = order.drawn();
        let last = order.last_round();
        drawing.label("cell strong", (LEFT, y + 12.0), name);
        for (row, rounds) in order.rounds().take(rows).enumerate() {
            for (column, round) in rounds.iter().take(columns).enumerate() {
                let Some(round) = round else { continue };
                let at = (LEFT + column as f64 * side, y + HEAD + row as f64 * side);
                let shade = 1 + round * (LEVELS - 1) / last.max(1);
                drawing.rect(&format!("heat{shade}"), at, (side - 1.0, side - 1.0), 0.0);
                if side >= NUMBERED {
                    drawing.label("cell", (at.0 + 2.0, at.1 + side - 4.0), &round.to_string());
                }
            }
        }
        y += high(rows);
    }
    drawing.label("key", (LEFT, y + 10.0), "A square is a tile; the lighter, the earlier.");
    drawing.label("key", (LEFT, y + 24.0), &left_out);
    drawing.finish()
}
