//! A report as one web page that needs nothing else: no network, no other file. Data in, HTML out;
//! no files.
//!
//! ```text
//! lib        the frame, and what stands in it: headings, sentences      page.css  page.js
//! glossary   the field's words, explained where they first stand
//! listing    source with the counts of each line, as a heat map         the look; sorting, steps
//! prose      Markdown as HTML, with the feature `prose`                 frame.css: of several pages
//! ```
//!
//! What must stay true: every text goes through `maud`, which escapes it; only our own style,
//! script and drawings do not. The page's policy forbids it to load anything. It says all that it
//! shows without the script.
#![forbid(unsafe_code)]

mod glossary;
mod listing;
#[cfg(feature = "prose")]
pub mod prose;

pub use glossary::explained;
pub use listing::{Counts, Entry, Line, Listing, Ptx};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use picture::{Plot, Scene};

/// The look of every page.
pub const STYLE: &str = include_str!("page.css");
/// What pages with a header, links and forms need besides.
pub const FRAME: &str = include_str!("frame.css");
/// Sorting, unfolding and steps of drawings: the script of every page.
pub const SCRIPT: &str = include_str!("page.js");

/// Nothing is loaded, from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'";

/// A page.
pub struct Page<'p> {
    /// What it is a report of.
    pub title: &'p str,
    /// That in a sentence.
    pub about: &'p str,
    /// Parameters, the device, and so on, a line each.
    pub details: &'p [String],
    /// The rest.
    pub main: Markup,
}

impl Page<'_> {
    /// The page's text.
    pub fn render(&self) -> String {
        let Self { title, about, details, main } = self;
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="color-scheme" content="light dark";
                    title { (title) " - Coalesce" }
                    style { (PreEscaped(STYLE)) (PreEscaped(picture::STYLE)) }
                }
                body {
                    header {
                        h1 { (title) }
                        @if !about.is_empty() { p.about { (about) } }
                        @for line in *details { p.quiet { (line) } }
                    }
                    main { (main) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        document.into_string()
    }
}

/// Where a part of a page stands, which decides the level of its headings, and its names.
#[derive(Clone, Debug)]
pub struct Place {
    /// The level of a heading here, from 2.
    pub level: u8,
    /// What the names of parts begin with, if there are several of a kind; otherwise empty.
    pub name: String,
}

impl Place {
    /// On a page that has each part once.
    pub fn alone() -> Self {
        Self { level: 2, name: String::new() }
    }

    /// Below a heading that says `name`, which no other heading on the page does.
    pub fn below(&self, name: &str) -> Self {
        Self { level: self.level + 1, name: name.to_owned() }
    }

    /// A heading.
    pub fn heading(&self, text: &str) -> Markup {
        let text = html! { (text) }.into_string();
        let level = self.level.min(6);
        PreEscaped(format!("<h{level}>{text}</h{level}>"))
    }

    /// A card with a heading, as a part of the page with a name.
    pub fn card(&self, heading: &str, content: &Markup) -> Markup {
        html! {
            section.card aria-label=(self.named(heading)) { (self.heading(heading)) (content) }
        }
    }

    /// The name of a part.
    pub fn named(&self, part: &str) -> String {
        match self.name.as_str() {
            "" => part.to_owned(),
            name => format!("{name}: {part}"),
        }
    }
}

/// The picture of an access, with its caption.
pub fn figure(scene: &Scene, caption: &Markup) -> Markup {
    html! {
        figure {
            (PreEscaped(picture::access_svg(scene)))
            figcaption { (caption) }
        }
    }
}

/// A drawing that plays by itself ([`picture::playing`]), with buttons that go through it step by step.
pub fn played(drawing: &str, caption: &str) -> Markup {
    html! {
        figure {
            (PreEscaped(drawing))
            div.playback role="group" aria-label="Step by step" {
                button type="button" value="-1" aria-label="One step back" { "‹" }
                button type="button" value="1" aria-label="One step on" { "›" }
                output {}
            }
            figcaption { (caption) }
        }
    }
}

/// Plots, side by side where there is room.
pub fn plots(plots: &[Plot]) -> Markup {
    html! { div.plots { @for plot in plots { (PreEscaped(picture::plot_svg(plot))) } } }
}

/// A sentence whose numbers stand out.
pub fn numbers(sentence: &str) -> Markup {
    html! {
        @for (index, word) in sentence.split(' ').enumerate() {
            @if index > 0 { " " }
            @match number(word) {
                Some(number) => (number),
                None => (word),
            }
        }
    }
}

/// A word that is a number, standing out between its brackets and points; `None` if it is none.
fn number(word: &str) -> Option<Markup> {
    let inside = word.trim_start_matches('(');
    let number = inside.trim_end_matches(['.', ',', ';', ':', '%', ')']);
    let is_number = !number.is_empty() && number.parse::<f64>().is_ok_and(f64::is_finite);
    is_number.then(|| html! { (&word[..word.len() - inside.len()]) b { (number) } (&inside[number.len()..]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_sentence_stand_out_and_it_is_escaped() {
        let said = numbers("A 32 x 32 tile of f32 <b> takes 32.0 wavefronts (32 ways), or 1.00.").into_string();
        let expected = "A <b>32</b> x <b>32</b> tile of f32 &lt;b&gt; takes <b>32.0</b> wavefronts (<b>32</b> ways), or <b>1.00</b>.";
        assert_eq!(said, expected);
    }

    #[test]
    fn every_text_of_a_page_is_escaped() {
        let hostile = "</style><script>alert(1)</script>";
        let place = Place::alone().below(hostile);
        let main = place.card(hostile, &html! { (hostile) });
        let text = Page { title: hostile, about: hostile, details: &[hostile.to_owned()], main }.render();
        assert_eq!(text.matches("<script>").count(), 1, "our own: {text}");
        assert_eq!(text.matches("&lt;/style&gt;&lt;script&gt;").count(), 8, "{text}");
    }
}
