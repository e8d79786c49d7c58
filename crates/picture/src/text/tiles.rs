//! Orders of tiles as text: a character for each tile, the round in which it runs.

use super::{FAINT, Paint, STRONG};
use crate::tiles::TileOrders;

const ROUNDS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Draws the orders in lines of at most `width` columns, or of 64, if that is less.
pub fn tiles(orders: &TileOrders, width: usize, paint: Paint) -> String {
    let title = wording::wrapped(&orders.sentence(), width.max(40), "", "");
    let mut text: String = title.lines().map(|line| paint.with(STRONG, line) + "\n").collect();
    for (name, order) in &orders.orders {
        let ([rows, columns], _) = order.drawn();
        text += &format!("\n{name}\n");
        for row in order.rounds().take(rows) {
            let round = |round: &Option<u32>| match round.map(|round| ROUNDS.get(round as usize)) {
                Some(Some(&letter)) => char::from(letter),
                Some(None) => '+',
                None => ' ',
            };
            let line: String = row.iter().take(columns.min(width.max(40))).map(round).collect();
            text += &(line.trim_end().to_owned() + "\n");
        }
    }
    let key = "A character is a tile: 0 if its block is one of the first that run at once, 1 of those that follow.";
    let left_out = orders.left_out().map_or(String::new(), |left_out| format!(" {left_out}"));
    text += "\n";
    let key = wording::wrapped(&format!("{key}{left_out}"), width.max(40), "", "");
    key.lines().for_each(|line| text += &(paint.with(FAINT, line) + "\n"));
    text
}
