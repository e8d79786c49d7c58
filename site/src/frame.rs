//! What all pages share: the head, the links to all pages, and the frame around a page's own part.

use host::labs::ALL;
use maud::{DOCTYPE, Markup, html};

/// What a page may load: its own site, and the program's WebAssembly. Nothing is sent anywhere.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'wasm-unsafe-eval'; \
                      connect-src 'self'; worker-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/// The icon: a warp's lanes above a word.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 2h3v3H2zM11 \
                    2h3v3h-3z' fill='%230072b2'/%3E%3Cpath d='M4 5l3 6M12 5L9 11' stroke='%230072b2'/%3E%3Cpath d='M6 11h4v3H6z' \
                    fill='%23e69f00'/%3E%3C/svg%3E";

/// The pages beside the labs: file, and title in the list of pages.
const OTHERS: [(&str, &str); 1] = [("own.html", "your own PTX")];

/// A page.
pub struct Page<'p> {
    /// Its file.
    pub file: &'p str,
    /// Its title.
    pub title: &'p str,
    /// What it is, in a sentence.
    pub about: &'p str,
    /// Its scripts.
    pub scripts: &'p [&'p str],
    /// Its own part.
    pub main: Markup,
}

impl Page<'_> {
    /// The page's text.
    pub fn render(&self) -> String {
        let Self { file, title, about, scripts, main } = self;
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="color-scheme" content="light dark";
                    meta name="description" content=(about);
                    title { (title) " - Coalesce" }
                    link rel="icon" href=(ICON);
                    link rel="stylesheet" href="site.css";
                    @for script in *scripts { script type="module" src=(script) {} }
                }
                body.site {
                    header.top {
                        a.brand href="index.html" aria-current=[(*file == "index.html").then_some("page")] { "Coalesce" }
                        nav aria-label="Pages" { (links(file)) }
                    }
                    (main)
                }
            }
        };
        document.into_string()
    }
}

/// The links to all other pages.
fn links(file: &str) -> Markup {
    let labs = ALL.iter().map(|lab| (format!("{}.html", lab.name), lab.name));
    let others = OTHERS.into_iter().map(|(file, title)| (file.to_owned(), title));
    html! {
        ul {
            @for (other, title) in labs.chain(others) {
                li { a href=(other) aria-current=[(other == file).then_some("page")] { (title) } }
            }
        }
    }
}
