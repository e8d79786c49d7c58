//! Pictures as SVG. Elements have classes only: [`STYLE`] gives them their colours, light and dark
//! from one drawing, and makes the drawing legible at 400 pixels, where it leaves out the numbers
//! of lanes and enlarges the rest. [`file()`] puts the style into the drawing, to stand alone.
//!
//! Each drawing has a title and a description as its text alternative.

mod access;
mod elements;
mod engines;
mod graph;
mod horizontal;
mod lanes;
mod memory;
mod occupancy;
mod overview;
mod play;
mod plot;
mod race;
mod roofline;
mod tiles;

pub use access::access;
pub use elements::elements;
pub use engines::engines;
pub use graph::graph;
pub use lanes::lanes;
pub use memory::memory;
pub use occupancy::occupancy;
pub use overview::{Overview, OverviewLine, overview};
pub use play::playing;
pub use plot::plot;
pub use race::race;
pub use roofline::roofline;
pub use tiles::tiles;

use std::fmt::Write as _;

/// The width of every drawing, in its own units.
const WIDTH: f64 = 652.0;

/// Between the lines of a title.
const TITLE_LINE: f64 = 22.0;
/// The characters of such a line.
const TITLE_WIDTH: usize = 56;

/// The most characters of a title that are sure to fit one line of a drawing at its full size.
const WIDE_TITLE: usize = 74;

/// The style of all drawings. A page includes it once; [`file()`] puts it into a drawing.
pub const STYLE: &str = include_str!("style.css");

/// A drawing that stands alone: with the style in it.
pub fn file(drawing: &str) -> String {
    let style: String = STYLE.lines().map(str::trim_start).filter(|line| !line.starts_with("/*")).collect();
    match drawing.split_once('>') {
        Some((svg, rest)) => format!("{svg}><style>{style}</style>{rest}\n"),
        None => drawing.to_owned(),
    }
}

/// A drawing in the making.
struct Drawing {
    text: String,
}

impl Drawing {
    /// How much higher a drawing is with this title.
    fn room_for_title(title: &str) -> f64 {
        TITLE_LINE * wording::wrapped(title, TITLE_WIDTH, "", "").lines().count().saturating_sub(1) as f64
    }

    /// A drawing of this height, with its text alternative.
    fn new(class: &str, height: f64, title: &str, description: &str) -> Self {
        let mut drawing = Self { text: String::new() };
        let label = escaped(&format!("{title}. {description}"));
        drawing.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture {class}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{label}\">",
            Number(WIDTH), Number(height)
        ));
        drawing.add(format_args!("<title>{}</title><desc>{}</desc>", escaped(title), escaped(description)));
        drawing.add(format_args!(
            "<rect class=\"paper\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
            Number(WIDTH),
            Number(height)
        ));
        drawing
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(element);
    }

    /// Draws something that says what it is where one points at it.
    fn saying(&mut self, attributes: &str, text: &str, draw: impl FnOnce(&mut Self)) {
        self.add(format_args!("<g{attributes}><title>{}</title>", escaped(text)));
        draw(self);
        self.text += "</g>";
    }

    fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), radius: f64) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            Number(x),
            Number(y),
            Number(width),
            Number(height),
            Number(radius)
        ));
    }

    fn label(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            Number(x),
            Number(y),
            escaped(text)
        ));
    }

    fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            self.add(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
        }
    }

    /// The title, on several lines where the drawing is small and it is long.
    fn title(&mut self, text: &str) {
        let lines = wording::wrapped(text, TITLE_WIDTH, "", "");
        match lines.lines().count() {
            0 | 1 => self.label("title", (12.0, 21.0), text),
            _ => {
                let fits = text.chars().count() <= WIDE_TITLE;
                if fits {
                    self.label("title wide", (12.0, 21.0), text);
                }
                for (index, line) in lines.lines().enumerate() {
                    let class = if fits { "title narrow" } else { "title" };
                    self.label(class, (12.0, 21.0 + TITLE_LINE * index as f64), line);
                }
            }
        }
    }

    /// A sentence of at most two lines, and again for small drawings, larger.
    fn sentence(&mut self, y: f64, text: &str) {
        for (index, line) in wording::wrapped(text, 90, "", "").lines().enumerate() {
            self.label("sentence wide", (12.0, y + 6.0 + 17.0 * index as f64), line);
        }
        // A percentage stays together.
        let text = text.replace(" %", "\u{e000}%");
        for (index, line) in wording::wrapped(&text, 62, "", "").lines().enumerate() {
            self.label("sentence narrow", (12.0, y + 23.0 * index as f64), &line.replace('\u{e000}', " "));
        }
    }

    fn finish(mut self) -> String {
        self.text += "</svg>";
        self.text
    }
}

/// A coordinate: one digit after the point at most.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.1}", self.0);
        let text = text.strip_suffix(".0").unwrap_or(&text);
        formatter.write_str(if text == "-0" { "0" } else { text })
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_text_is_escaped() {
        assert_eq!([0.0, 1.25, -0.01, 20.0].map(|value| Number(value).to_string()), ["0", "1.2", "0", "20"]);
        assert_eq!(escaped("a < \"b\" & c"), "a &lt; &quot;b&quot; &amp; c");
    }

    #[test]
    fn a_file_has_its_style() {
        let text = file("<svg class=\"picture\"><title>a</title></svg>");
        assert!(text.starts_with("<svg class=\"picture\"><style>") && text.ends_with("</svg>\n"), "{text}");
        assert!(text.contains("prefers-color-scheme") && !text.contains("/*"), "{text}");
    }
}
