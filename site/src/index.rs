//! The first page: the transpose's picture with its slider, and what there is.

use std::fs;
use std::path::Path;

use host::labs::{ALL, Entry};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::bundle::WORKSPACE;
use crate::controls;
use crate::frame::Page;
use crate::shown::{Pictured, Shown};

const ABOUT: &str =
    "What a warp of a GPU does to memory: every kernel of the course, run and counted here, in your browser.";

/// The lab whose picture is the first to be seen.
const FIRST: &str = "transpose";

/// The page. `shown` has what each lab shows first, in the labs' order.
pub fn page(shown: &[Shown]) -> Result<String, String> {
    let times = measured()?;
    let first = ALL.iter().zip(shown).find(|(lab, _)| lab.name == FIRST);
    let main = html! {
        main.index {
            h1 { "See what a warp does to memory" }
            p.about { (ABOUT) }
            @if let Some((lab, shown)) = first { (live(lab, shown.picture.as_ref(), &times)) }
            p {
                a href="predict.html" { "Predict" } " what an access costs, before you count it; "
                a href="pattern.html" { "type an index" } " and watch it; or run "
                a href="own.html" { "your own PTX" } ". Every number is counted by a simulator of NVIDIA's GPUs, which runs "
                "the kernels' PTX. There is nothing to install, and nothing leaves your browser."
            }
            ol.labs {
                @for lab in ALL {
                    li { a.card href={ (lab.name) ".html" } { strong { (lab.name) } span { (lab.about) } } }
                }
            }
        }
    };
    Ok(Page { file: "index.html", title: "GPU memory", about: ABOUT, scripts: &["start.js", "numbers.js"], main }
        .render())
}

/// The picture of a lab with its slider; `times` is what the best setting gains on a GPU.
fn live(lab: &Entry, picture: Option<&Pictured>, times: &str) -> Markup {
    let showcase = lab.showcase;
    let line = crate::shown::arguments(lab, "{}").join(" ");
    html! {
        figure.card.first.start #start data-lab=(lab.name) data-line=(line) data-row=(showcase.row) data-access=(showcase.access) {
            p {
                "A matrix is transposed through a tile in shared memory. Move the slider from 32 to 33, and watch a funnel "
                "into one bank become a diagonal: " (times) " "
                a href={ (lab.name) ".html" } { "The whole lab" } "."
            }
            form #setting autocomplete="off" { @if let Some(slider) = showcase.slider { (controls::range(slider)) } }
            div.drawing #drawing tabindex="0" role="group" aria-label="Picture: the arrow keys go from lane to lane" {
                @if let Some(picture) = picture { (PreEscaped(&picture.svg)) }
            }
            p.status role="status" #status {}
            noscript { p { "The slider runs the simulator in your browser, by JavaScript and WebAssembly. Please allow both." } }
        }
    }
}

/// What the lab's two tiles took on a GPU, from the measurements.
fn measured() -> Result<String, String> {
    let file = Path::new(WORKSPACE).join("measurements/h200.json");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let all: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    said(&all).ok_or_else(|| format!("{}: there are no times of {FIRST}", file.display()))
}

fn said(all: &Value) -> Option<String> {
    let variants = all["runs"][FIRST]["variants"].as_array()?;
    let time = |name: &str| variants.iter().find(|variant| variant["name"] == name)?["time_ms"].as_f64();
    let (tiled, padded) = (time("tiled")?, time("padded")?);
    // Each float is loaded and stored.
    let bytes = variants.iter().find(|variant| variant["name"] == "tiled")?["gbps"].as_f64()? * 1e6 * tiled;
    let side = (bytes / 8.0).sqrt().round();
    let device = all["machine"]["device"].as_str()?.trim_start_matches("NVIDIA ");
    Some(format!("{tiled:.2} ms become {padded:.2} ms, measured on an {device} with {side} x {side} floats."))
}
