//! The first page: what there is.

use host::labs::ALL;
use maud::html;

use crate::frame::Page;

const ABOUT: &str =
    "What a warp of a GPU does to memory: every kernel of the course, run and counted here, in your browser.";

/// The page.
pub fn page() -> String {
    let picture = picture::shapes().into_iter().find(|shape| shape.name == "shared-column-32");
    let main = html! {
        main.index {
            h1 { "See what a warp does to memory" }
            p.about { (ABOUT) }
            p {
                a href="transpose.html" { "Change the row of a tile from 32 floats to 33" }
                ", and watch a funnel into one bank become a diagonal. Every number is counted "
                "by a simulator of NVIDIA's GPUs, which runs the kernels' PTX. There is nothing to install, and nothing "
                "leaves your browser."
            }
            @if let Some(shape) = picture {
                figure.card.first {
                    (maud::PreEscaped(picture::access_svg(&shape.scene())))
                }
            }
            p {
                "Then " a href="predict.html" { "predict" } " what an access costs, before you count it; "
                a href="pattern.html" { "type an index" } " and watch it; or run "
                a href="own.html" { "your own PTX" } "."
            }
            ol.labs {
                @for lab in ALL {
                    li { a.card href={ (lab.name) ".html" } { strong { (lab.name) } span { (lab.about) } } }
                }
            }
        }
    };
    Page { file: "index.html", title: "GPU memory", about: ABOUT, scripts: &[], main }.render()
}
