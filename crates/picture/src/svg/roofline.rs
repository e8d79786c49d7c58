//! A roofline as SVG: roofs as lines, and for each kernel a mark over its operations a byte of the
//! first memory, and a hollow one over those of the second.

use super::plot::mark;
use super::{Drawing, Number, WIDTH};
use crate::Roofline;
use crate::plot::{Axis, number};

/// The corners of the drawing area.
const LEFT: f64 = 58.0;
const RIGHT: f64 = WIDTH - 36.0;
const HEIGHT: f64 = 300.0;
/// The lines of the key, and the kernels of each.
const KEY_LINE: f64 = 19.0;
const KEY_COLUMNS: usize = 4;

/// Draws a roofline.
pub fn roofline(roofline: &Roofline) -> String {
    let title = Drawing::room_for_title(&roofline.title);
    let top = 48.0 + title;
    let (x, y) = roofline.axes();
    let frame = Frame { x, y, top, bottom: top + HEIGHT };
    let key_top = frame.bottom + 64.0;
    let key = KEY_LINE * roofline.kernels.len().div_ceil(KEY_COLUMNS) as f64;
    let mut drawing = Drawing::new("roofline", key_top + key, &roofline.title, &described(roofline));
    drawing.title(&roofline.title);
    frame.axes(&mut drawing);
    frame.roofs(roofline, &mut drawing);
    frame.kernels(roofline, &mut drawing);
    let memories: Vec<_> = roofline.memories.iter().map(|memory| memory.name.as_str()).collect();
    let below = match memories.as_slice() {
        [first, second] => format!("operations a byte, of {first} (filled) and of {second} (hollow)"),
        _ => "operations a byte".to_owned(),
    };
    drawing.label("key m", ((LEFT + RIGHT) / 2.0, frame.bottom + 40.0), &below);
    for (index, kernel) in roofline.kernels.iter().enumerate() {
        let column = (RIGHT - LEFT + 40.0) / KEY_COLUMNS as f64;
        let at = 20.0 + column * (index % KEY_COLUMNS) as f64;
        let line = key_top + KEY_LINE * (index / KEY_COLUMNS) as f64;
        mark(&mut drawing, kernel.group % 4, (at, line - 4.0));
        drawing.label("key", (at + 9.0, line), &format!("{} {}", Roofline::letter(index), kernel.name));
    }
    drawing.finish()
}

/// All numbers, for those who cannot see the drawing.
fn described(roofline: &Roofline) -> String {
    let kernels = roofline.kernels.iter().map(|kernel| format!("{}: {}.", kernel.name, roofline.said(kernel)));
    format!("{}. {}", roofline.roofs().join(", "), kernels.collect::<Vec<_>>().join(" "))
}

struct Frame {
    x: Axis,
    y: Axis,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn place(&self, (intensity, height): (f64, f64)) -> (f64, f64) {
        let x = LEFT + self.x.position(intensity) * (RIGHT - LEFT);
        (x, self.bottom - self.y.position(height) * (self.bottom - self.top))
    }

    fn axes(&self, drawing: &mut Drawing) {
        for tick in self.y.ticks() {
            let (_, y) = self.place((self.x.low, tick));
            drawing.path("grid", &format!("M{} {}H{}", Number(LEFT), Number(y), Number(RIGHT)));
            drawing.label("scale e", (LEFT - 6.0, y + 3.4), &number(tick));
        }
        for tick in self.x.powers_of_two() {
            let (x, _) = self.place((tick, self.y.low));
            drawing.path("grid", &format!("M{} {}V{}", Number(x), Number(self.top), Number(self.bottom)));
            drawing.label("scale m", (x, self.bottom + 16.0), &number(tick));
        }
        drawing.label("key", (12.0, self.top - 10.0), "TFLOP/s");
        drawing.path("frame", &format!("M{} {}H{}", Number(LEFT), Number(self.bottom), Number(RIGHT)));
    }

    fn roofs(&self, roofline: &Roofline, drawing: &mut Drawing) {
        let mut ridge = f64::INFINITY;
        for (index, memory) in roofline.memories.iter().enumerate() {
            let [from, to] = roofline.slope(memory, &self.x, &self.y).map(|end| self.place(end));
            ridge = ridge.min(to.0);
            let path = format!("M{} {}L{} {}", Number(from.0), Number(from.1), Number(to.0), Number(to.1));
            drawing.path(&format!("line{}", index % 4), &path);
            // The roof of the slowest memory is the lowest: its name stands below it, the others' above.
            let share = 0.25 + 0.12 * index as f64;
            let at = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            let text = format!("{}: {} TB/s", memory.name, number(memory.rate));
            match index {
                0 => drawing.label("key", (at.0 + 8.0, at.1 + 10.0), &text),
                _ => drawing.label("key e", (at.0 - 6.0, at.1 - 4.0), &text),
            }
        }
        let (_, y) = self.place((self.x.low, roofline.arithmetic.rate));
        let from = if ridge.is_finite() { ridge } else { LEFT };
        drawing.path("line0", &format!("M{} {}H{}", Number(from), Number(y), Number(RIGHT)));
        let text = format!("{}: {} TFLOP/s", roofline.arithmetic.name, number(roofline.arithmetic.rate));
        drawing.label("key e", (RIGHT, y - 6.0), &text);
    }

    fn kernels(&self, roofline: &Roofline, drawing: &mut Drawing) {
        for (index, kernel) in roofline.kernels.iter().enumerate() {
            let said = format!("{}: {}", kernel.name, roofline.said(kernel));
            for (memory, intensity, height) in roofline.points(kernel) {
                let (x, y) = self.place((intensity, height));
                // The marks of the second memory are hollow.
                let shape = kernel.group % 4 + if memory == 0 { 0 } else { 4 };
                drawing.saying("", &said, |drawing| {
                    mark(drawing, shape, (x, y));
                    if memory == 0 {
                        // On four sides in turn: neighbours are often near each other.
                        let (class, across, down) = [
                            ("scale m", 0.0, -7.0),
                            ("scale m", 0.0, 14.0),
                            ("scale e", -7.0, 3.5),
                            ("scale", 7.0, 3.5),
                        ][index % 4];
                        let letter = Roofline::letter(index).to_string();
                        drawing.label(class, (x + across, y + down), &letter);
                    }
                });
            }
        }
    }
}
