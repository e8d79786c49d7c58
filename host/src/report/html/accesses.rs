//! Pictures of a lab's accesses: each shape once, with the lines that have it. First comes the
//! costliest access of each variant, then the next one, until the page is as large as it may be.
//! Pure.

use std::cmp::Reverse;

use maud::{Markup, PreEscaped, html};
use picture::{Scene, playing};
use webpage::Place;

use crate::lines::{Listed, ListedLine};
use crate::report::VariantReport;

/// A caption names at most this many lines.
const MOST_PLACES: usize = 6;

/// An access, and who makes it.
struct Shape<'r> {
    scene: &'r Scene,
    /// Variants and lines.
    places: Vec<String>,
    /// The text of the first of them.
    source: String,
}

/// The section, with pictures of at most this many bytes, which may play their wavefronts; nothing
/// if there is no access.
pub(super) fn section(variants: &[VariantReport], place: &Place, plays: bool, most: usize) -> Markup {
    let (shapes, by_variant) = shapes(variants);
    if shapes.is_empty() {
        return Markup::default();
    }
    let drawings = draw(&shapes, &by_variant, plays, most);
    let left_out = drawings.iter().filter(|drawing| drawing.is_none()).count();
    let content = html! {
        p.quiet {
            "Lanes stand above memory. Blue is asked for and served at once; orange is waste: bytes that nobody "
            "asked for, words that wait for another pass. Of each access the costliest request is drawn, and each shape once."
        }
        div.pictures { @for drawing in drawings.iter().flatten() { (PreEscaped(drawing)) } }
        @if left_out > 0 {
            p.quiet {
                "Not drawn, to keep the page small: " (left_out) " further "
                @if left_out == 1 { "shape" } @else { "shapes" } ". Choose fewer variants, or give --picture."
            }
        }
    };
    place.card("What a warp's accesses do", &content)
}

/// Who makes an access.
fn caption(shape: &Shape<'_>) -> Markup {
    let Shape { places, source, .. } = shape;
    html! {
        (places.iter().take(MOST_PLACES).cloned().collect::<Vec<_>>().join("; "))
        @if places.len() > MOST_PLACES { "; and " (places.len() - MOST_PLACES) " more" }
        @if !source.is_empty() { br; code { (source) } }
    }
}

/// The shapes in order, and for each variant the indices of its shapes.
fn shapes(variants: &[VariantReport]) -> (Vec<Shape<'_>>, Vec<Vec<usize>>) {
    let mut shapes: Vec<Shape<'_>> = Vec::new();
    let mut by_variant = Vec::new();
    for variant in variants {
        let mut own = Vec::new();
        let listing = variant.on_page.iter().flat_map(|lines| lines.listing());
        for listed in listing {
            let Listed::Line(ListedLine { place, source, counted: Some(counted) }) = listed else { continue };
            for scene in counted.scenes() {
                let line = place.as_ref().map(|place| format!(" ({}:{})", file_name(&place.file), place.line));
                let name = format!("{}{}", variant.name, line.unwrap_or_default());
                let index = shapes.iter().position(|shape| shape.scene == scene).unwrap_or_else(|| {
                    let source = if place.is_some() { source.trim().to_owned() } else { String::new() };
                    shapes.push(Shape { scene, places: Vec::new(), source });
                    shapes.len() - 1
                });
                if !shapes[index].places.contains(&name) {
                    shapes[index].places.push(name);
                }
                if !own.contains(&index) {
                    own.push(index);
                }
            }
        }
        by_variant.push(own);
    }
    for own in &mut by_variant {
        // Of those that cost the same, the one that few others have tells more.
        own.sort_by_key(|&index| (Reverse(price(shapes[index].scene)), shapes[index].places.len()));
    }
    (shapes, by_variant)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What an access costs over the least, in percent; of two that cost the same, the one in shared
/// memory teaches more.
fn price(scene: &Scene) -> (u64, bool) {
    let asked: u64 = scene.cells.iter().map(|cell| u64::from(cell.bytes.count_ones())).sum();
    let columns = |piece: &picture::Piece| piece.columns as u64 * u64::from(piece.times);
    let moved = scene.pieces.iter().map(columns).sum::<u64>() * u64::from(scene.columns.bytes);
    let passes = u64::from(scene.heights.iter().copied().max().unwrap_or(0));
    (passes * 100 + (moved * 100).checked_div(asked).unwrap_or(0), scene.columns.banks)
}

/// The drawings of as many shapes as fit.
fn draw(shapes: &[Shape<'_>], by_variant: &[Vec<usize>], plays: bool, most: usize) -> Vec<Option<String>> {
    let mut drawings = vec![None; shapes.len()];
    let mut room = most;
    let rounds = by_variant.iter().map(Vec::len).max().unwrap_or(0);
    for index in (0..rounds).flat_map(|round| by_variant.iter().filter_map(move |own| own.get(round))) {
        if drawings[*index].is_some() {
            continue;
        }
        let drawing = webpage::figure(shapes[*index].scene, &caption(&shapes[*index])).into_string();
        let drawing = if plays { playing(&drawing) } else { drawing };
        let Some(rest) = room.checked_sub(drawing.len()) else { break };
        room = rest;
        drawings[*index] = Some(drawing);
    }
    drawings
}
