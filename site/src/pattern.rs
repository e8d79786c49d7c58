//! The page of an index that one types: what `host pattern` does, in the browser. What it shows of
//! the first index is in the page.

use std::ffi::OsString;

use host::cli;
use maud::{PreEscaped, html};

use crate::controls::models;
use crate::frame::Page;
use crate::lab::share;

const ABOUT: &str = "Type the index of an array, and see what a warp's access with it costs. No kernel is needed.";

/// The index that stands there at first.
const FIRST: &str = "tile[x*32 + y]";

/// Indices to begin with: the index, the memory, the type.
const EXAMPLES: [(&str, &str, &str); 9] = [
    ("tile[x*32 + y]", "shared", "f32"),
    ("tile[x*33 + y]", "shared", "f32"),
    ("tile[y*32 + (x ^ y)]", "shared", "f32"),
    ("tile[2*lane]", "shared", "f32"),
    ("a[i]", "global", "f32"),
    ("a[i + 1]", "global", "f32"),
    ("a[3*i]", "global", "f32"),
    ("a[x*1024 + y]", "global", "f32"),
    ("a[i]", "global", "f32x4"),
];

/// The types that the page offers, and their bytes.
const TYPES: [(&str, u32); 5] = [("u8", 1), ("u16", 2), ("f32", 4), ("f64", 8), ("f32x4", 16)];

/// The page.
#[expect(clippy::too_many_lines, reason = "one page")]
pub fn page() -> Result<String, String> {
    let arguments = [FIRST, "--memory", "shared"].map(OsString::from);
    let first = cli::pattern(arguments)?;
    let main = html! {
        main.pattern {
            section.card aria-labelledby="title" {
                h1 #title { "An index" }
                p.about { (ABOUT) }
                form #setting autocomplete="off" {
                    label.field.typed {
                        span { "Index, of x, y, z, lane, warp, block and i" }
                        input type="text" name="index" value=(FIRST) spellcheck="false" autocapitalize="off"
                            aria-describedby="says";
                    }
                    div.field #turn {
                        label for="slide" { "The last number in it" }
                        output for="slide" #value { "32" }
                        div.slide {
                            button type="button" data-slide="-1" aria-label="One less" { "−" }
                            input #slide type="range" min="0" max="64" value="32";
                            button type="button" data-slide="1" aria-label="One more" { "+" }
                        }
                    }
                    div.choice {
                        label.field { span { "Memory" } select name="memory" {
                            option selected { "shared" } option { "global" }
                        } }
                        label.field { span { "An element" } select name="type" {
                            @for (name, bytes) in TYPES {
                                option value=(name) selected[name == "f32"] {
                                    (name) ", " (bytes) @if bytes == 1 { " byte" } @else { " bytes" }
                                }
                            }
                        } }
                        label.field { span { "Access" } select name="access" {
                            option selected { "load" } option { "store" }
                        } }
                        label.field { span { "Block, x,y" } input type="text" name="block" value="32" spellcheck="false"; }
                        label.field { span { "Warp" } input type="text" name="warp" value="0" inputmode="numeric"; }
                        label.field { span { "GPU" } select name="device" {
                            option value="sim" selected { "Volta to Hopper" }
                            (models(""))
                        } }
                    }
                }
                div.examples.scroll role="group" aria-label="Examples" {
                    @for (index, memory, element) in EXAMPLES {
                        button type="button" data-index=(index) data-memory=(memory) data-type=(element) {
                            (index) @if element != "f32" { ", " (element) }
                        }
                    }
                }
                p.status role="status" #status { "" }
            }
            div.results #results aria-busy="true" {
                section.says #says aria-label="What it costs" aria-live="polite" { (PreEscaped(first.says())) }
                section.card aria-label="The access" {
                    div.drawing #drawing tabindex="0" role="group" aria-label="Picture: the arrow keys go from lane to lane" {
                        (PreEscaped(first.svg()))
                    }
                    dl.costs #costs { @for (name, count) in first.costs() { div { dt { (name) } dd { (count) } } } }
                }
                details.card {
                    summary { "Lane by lane" }
                    div.scroll tabindex="0" role="region" aria-label="Lanes" {
                        table {
                            thead { tr #columns { @for column in first.columns() { th scope="col" { (column) } } } }
                            tbody #lanes { @for row in first.lanes() { tr { @for number in row { td { (number) } } } } }
                        }
                    }
                }
                section.card aria-label="The same on your machine" {
                    h2 { "The same on your machine" }
                    p { code #command {} }
                    (share())
                }
            }
            noscript { p.card { "What one types is counted in your browser, by JavaScript and WebAssembly. Please allow both." } }
        }
    };
    let scripts = &["embed.js", "pattern.js", "numbers.js"];
    Ok(Page { file: "pattern.html", title: "An index", about: ABOUT, scripts, main }.render())
}
