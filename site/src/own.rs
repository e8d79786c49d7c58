//! The page of one's own PTX: what `host run` does, in the browser.

use maud::html;

use crate::controls::models;
use crate::frame::Page;
use crate::lab::pane;

const ABOUT: &str =
    "Run PTX of any compiler (nvcc, clang, rustc, Triton) here: faults, counts, and pictures of its accesses.";

/// The kernel that stands there at first: a race, and what the checks say of it.
const EXAMPLE: &str = include_str!("../../tests/browser/race.ptx");

/// The page.
pub fn page() -> String {
    let main = html! {
        main.lab.own {
            section.controls.card aria-labelledby="title" {
                h1 #title { "Your own PTX" }
                p.about { (ABOUT) }
                p.quiet { "Nothing leaves your browser: the page's policy forbids it." }
                // Above the form, which is longer than a screen.
                p.status role="status" #status { "" }
                button #cancel type="button" hidden { "Cancel" }
                form #setting autocomplete="off" {
                    label.field {
                        span { "GPU" }
                        select name="device" data-flag="device" {
                            option value="sim" { "Volta to Hopper" }
                            (models(""))
                        }
                    }
                    label.field.all {
                        span { "A PTX file, and sources that it names, or drop them here" }
                        input type="file" name="file" multiple;
                    }
                    label.field.all { span { "or its text" } textarea name="ptx" rows="9" spellcheck="false" { (EXAMPLE) } }
                    label.field { span { "Kernel" } select name="kernel" {} }
                    label.field { span { "Arguments, in the order of the parameters" }
                        input type="text" name="values" value="u32[64]" spellcheck="false"; }
                    label.field { span { "Blocks" } input type="text" name="grid" data-flag="grid" value="2"; }
                    label.field { span { "Threads of a block" } input type="text" name="block" data-flag="block" value="32"; }
                    label.field { span { "Shared memory, dynamic" }
                        input type="text" name="shared" data-flag="shared" placeholder="0, as in 48K"; }
                    label.field { span { "Faults to look for" }
                        input type="text" name="check" data-flag="check" placeholder="all"; }
                    details.all {
                        summary { "Kinds of arguments" }
                        ul.quiet {
                            li { code { "u32:5 f32:0.5" } " numbers" }
                            li { code { "f32[1024]" } " a buffer of zeros" }
                            li { code { "f32[1024]=ramp" } " of 0, 1, 2, ..." }
                            li { code { "f32[1024]=rand:7" } " of random numbers" }
                            li { code { "arg:0" } " the buffer of argument 0 again" }
                            li { code { "host run --help" } " lists all" }
                        }
                    }
                    button.all type="submit" { "Run" }
                }
            }
            div.results #results aria-busy="false" {
                section.says #says aria-label="What the run shows" aria-live="polite" {
                    noscript { p { "PTX runs in your browser, by JavaScript and WebAssembly. Please allow both for this page." } }
                }
                div #shown hidden {
                    div.panes { (pane(0, "What a warp's access does", None)) }
                    section.card #lines aria-label="The source, line by line" {
                        h2 { "The source, and its PTX" }
                        div #source {}
                    }
                    section.card aria-label="Results" { h2 { "Results" } div #table {} }
                }
                section.card aria-label="The same on your machine" { h2 { "The same on your machine" } p { code #command {} } }
            }
        }
    };
    let scripts = &["own.js", "tables.js", "numbers.js"];
    Page { file: "own.html", title: "Your own PTX", about: ABOUT, scripts, main }.render()
}
