//! A race as SVG: time goes down, each thread has a line, and each access a box on it with the
//! value, beside its source line. The accesses play as passes do.

use super::{Drawing, Number, WIDTH};
use crate::{Race, RaceStep};

/// Where the first thread's column begins, and where the source lines do.
const LEFT: f64 = 12.0;
const PLACES: f64 = WIDTH - 130.0;
/// A row, and the box in it.
const ROW: f64 = 32.0;
const BOX: f64 = 24.0;

/// Draws a race.
pub fn race(race: &Race) -> String {
    let top = 40.0 + Drawing::room_for_title(&race.title);
    let below = top + 24.0 + ROW * race.steps.len() as f64;
    let height = below + if race.note.is_some() { 34.0 } else { 12.0 };
    let said = |step: &RaceStep| {
        let thread = step.thread.map_or("another thread", |thread| &race.threads[thread]);
        format!("{thread} {}, at {}.", step.what, step.place)
    };
    let description = race.steps.iter().map(said).chain(race.note.clone()).collect::<Vec<_>>().join(" ");
    let mut drawing = Drawing::new("race", height, &race.title, &description);
    drawing.title(&race.title);
    // A thread that has no column is at the right of the others.
    let others = race.steps.iter().any(|step| step.thread.is_none());
    let width = (PLACES - LEFT - 12.0) / (race.threads.len() + usize::from(others)).max(1) as f64;
    let left = |column: usize| LEFT + width * column as f64;
    let names = race.threads.iter().map(String::as_str).chain(others.then_some("others"));
    for (column, name) in names.enumerate() {
        drawing.label("cell strong", (left(column), top + 10.0), name);
        let x = Number(left(column) + 14.0);
        drawing.path("frame", &format!("M{x} {}V{}", Number(top + 18.0), Number(below)));
    }
    drawing.label("axis", (PLACES, top + 10.0), "source line");
    for (index, step) in race.steps.iter().enumerate() {
        let (column, y) = (step.thread.unwrap_or(race.threads.len()), top + 24.0 + ROW * index as f64);
        drawing.saying(&format!(" data-pass=\"{index}\""), &said(step), |drawing| {
            drawing.rect("thread", (left(column), y), (width - 12.0, BOX), 4.0);
            drawing.label("cell", (left(column) + 8.0, y + 16.0), &step.what);
            drawing.label("code", (PLACES, y + 16.0), &step.place);
        });
    }
    if let Some(note) = &race.note {
        drawing.label("cell faint", (LEFT, below + 16.0), note);
    }
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_in_their_threads_columns_one_below_the_other() {
        let step = |thread, what: &str| RaceStep { thread, what: what.into(), place: "k.rs:3".into() };
        let drawn = race(&Race {
            title: "How it comes about, at count[0]".into(),
            threads: vec!["block 0, thread 1".into(), "block 2, thread 5".into()],
            steps: vec![step(Some(0), "reads 0"), step(Some(1), "reads 0"), step(Some(0), "writes 1, over 0")],
            note: Some("In the usual order 1 is read.".into()),
        });
        for part in [
            "block 2, thread 5 reads 0, at k.rs:3.",
            "<g data-pass=\"2\"><title>block 0, thread 1 writes 1, over 0, at k.rs:3.</title>",
            "In the usual order 1 is read.</text>",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(super::super::playing(&drawn).contains("@keyframes plays3-2"));
    }
}
