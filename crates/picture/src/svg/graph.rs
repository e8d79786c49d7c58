//! Events of a few threads as SVG: time goes down in each column alone. Arrows connect columns,
//! behind the boxes; between two columns they have names.

use super::{Drawing, Number, WIDTH};
use crate::{Arrow, ArrowKind, Graph};

/// The margin at the left and the right.
const MARGIN: f64 = 12.0;
/// From an event to the next, and its box.
const ROW: f64 = 66.0;
const BOX: f64 = 42.0;
/// An arrow's head.
const HEAD: f64 = 6.0;

/// Draws a graph.
pub fn graph(graph: &Graph) -> String {
    let Graph { title, threads, arrows } = graph;
    let top = 40.0 + Drawing::room_for_title(title);
    let rows = threads.iter().map(|(_, events)| events.len()).max().unwrap_or(0);
    let below = top + 22.0 + ROW * rows as f64;
    let height = below + 16.0;
    let name = |(thread, event): (usize, usize)| threads[thread].1[event].name.as_str();
    let said = arrows.iter().map(|arrow| format!("{} {} {}.", name(arrow.from), arrow.what, name(arrow.to)));
    let events = threads.iter().flat_map(|(thread, events)| {
        events.iter().map(move |event| format!("{thread}: {} {} {}.", event.name, event.what, event.note))
    });
    let description = events.chain(said).collect::<Vec<_>>().join(" ");
    let mut drawing = Drawing::new("graph", height, title, &description);
    drawing.title(title);
    // Between columns are arrows.
    let (gap, code) = match threads.len() {
        0..=2 => (150.0, "code"),
        3 => (44.0, "axis"),
        _ => (30.0, "axis"),
    };
    let count = threads.len().max(1) as f64;
    let width = (WIDTH - 2.0 * MARGIN - gap * (count - 1.0)) / count;
    let left = |thread: usize| MARGIN + (width + gap) * thread as f64;
    let middle = |event: usize| top + 22.0 + ROW * event as f64 + BOX / 2.0;
    // Arrows between the same columns begin and end at different heights.
    let shifts = (0..arrows.len()).map(|number| 7.0 * (number % 5) as f64 - 14.0);
    let mut named = Vec::new();
    for (arrow, shift) in arrows.iter().zip(shifts) {
        named.push((draw(&mut drawing, arrow, width, shift, (&left, &middle)), arrow.what));
    }
    for (thread, (name, events)) in threads.iter().enumerate() {
        drawing.label("cell strong", (left(thread), top + 10.0), name);
        let x = Number(left(thread) + width / 2.0);
        for event in 1..events.len() {
            let (from, to) = (Number(middle(event - 1) + BOX / 2.0), Number(middle(event) - BOX / 2.0));
            drawing.path("frame", &format!("M{x} {from}V{to}"));
        }
        for (number, event) in events.iter().enumerate() {
            let y = middle(number) - BOX / 2.0;
            drawing.rect("thread", (left(thread), y), (width, BOX), 4.0);
            drawing.label(code, (left(thread) + 6.0, y + 16.0), &event.what);
            drawing.label("cell strong", (left(thread) + 6.0, y + 34.0), &event.name);
            drawing.label("cell faint", (left(thread) + 24.0, y + 34.0), &event.note);
        }
    }
    for (at, what) in named.into_iter().filter(|_| threads.len() == 2) {
        drawing.label("key m", at, what);
    }
    let kinds = [
        (ArrowKind::Happens, "blue: is found by"),
        (ArrowKind::Orders, "dashed: synchronises with"),
        (ArrowKind::Contradicts, "orange: contradict one another"),
    ];
    let has = |kind: ArrowKind| arrows.iter().any(|arrow| arrow.kind == kind);
    let legend: Vec<&str> = kinds.into_iter().filter(|(kind, _)| has(*kind)).map(|(_, words)| words).collect();
    drawing.label("cell faint", (MARGIN, below + 2.0), &legend.join("; "));
    drawing.finish()
}

/// Draws an arrow: between columns a line, within one a bow at its right. Returns where its name
/// stands: near its beginning, since arrows cross in the middle.
fn draw(
    drawing: &mut Drawing,
    arrow: &Arrow,
    width: f64,
    shift: f64,
    (left, middle): (&dyn Fn(usize) -> f64, &dyn Fn(usize) -> f64),
) -> (f64, f64) {
    let class = match arrow.kind {
        ArrowKind::Happens => "way",
        ArrowKind::Orders => "way unknown",
        ArrowKind::Contradicts => "way waits",
    };
    let (from, to) = (arrow.from, arrow.to);
    let to_right = from.0 < to.0;
    let x = |thread: usize, right: bool| left(thread) + if right { width } else { 0.0 };
    let (x1, y1) = (x(from.0, to_right || from.0 == to.0), middle(from.1) + shift);
    let (x2, y2) = (x(to.0, !to_right), middle(to.1) + shift);
    // How far it leaves the boxes sideways, and on which side of its end its head is.
    let (out, into) = match (from.0 == to.0, to_right) {
        (true, _) => (34.0, 34.0),
        (false, true) => (24.0, -24.0),
        (false, false) => (-24.0, 24.0),
    };
    let [x1n, y1n, x2n, y2n] = [x1, y1, x2, y2].map(Number);
    let (leaves, arrives, base) = (Number(x1 + out), Number(x2 + into), Number(x2 + f64::signum(into) * HEAD));
    let (up, down) = (Number(y2 - HEAD / 2.0), Number(y2 + HEAD / 2.0));
    let bow = format!("M{x1n} {y1n}C{leaves} {y1n} {arrives} {y2n} {x2n} {y2n}");
    drawing.path(class, &format!("{bow}M{base} {up}L{x2n} {y2n}L{base} {down}"));
    match from.0 == to.0 {
        true => (x1 + 26.0, (y1 + y2) / 2.0 + 3.0),
        false => (x1 + (x2 - x1) * 0.27, y1 + (y2 - y1) * 0.18 + 3.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphEvent;

    #[test]
    fn events_have_a_box_and_arrows_a_word() {
        let event = |name: &str, what: &str| GraphEvent { name: name.into(), what: what.into(), note: String::new() };
        let arrow = |from, to, what, kind| Arrow { from, to, what, kind };
        let drawn = graph(&Graph {
            title: "1:r0 = 1".into(),
            threads: vec![
                ("thread 0".into(), vec![event("a", "st [x], 1"), event("b", "st [y], 1")]),
                ("thread 1".into(), vec![event("c", "ld r0, [y]")]),
            ],
            arrows: vec![
                arrow((0, 1), (1, 0), "found by", ArrowKind::Happens),
                arrow((1, 0), (0, 0), "before", ArrowKind::Contradicts),
                arrow((0, 0), (0, 1), "before", ArrowKind::Orders),
            ],
        });
        for part in ["b found by c. c before a.", ">ld r0, [y]</text>", "class=\"way waits\"", ">found by</text>"] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
    }
}
