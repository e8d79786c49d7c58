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
const OTHERS: [(&str, &str); 5] = [
    ("index.html", "Labs"),
    ("book.html", "Book"),
    ("predict.html", "Predict"),
    ("pattern.html", "An index"),
    ("own.html", "Your PTX"),
];

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
                    a.skip href="#content" { "Skip to the page" }
                    header.top {
                        a.brand href="index.html" { "Coalesce" }
                        nav aria-label="Pages" { (links(file, OTHERS.into_iter())) }
                        nav.all-labs aria-label="Labs" { (links(file, ALL.iter().map(|lab| (lab.name, lab.name)))) }
                    }
                    div #content tabindex="-1" { (main) }
                }
            }
        };
        document.into_string()
    }
}

/// Links to pages: files, or names of labs, with their titles.
fn links<'t>(file: &str, pages: impl Iterator<Item = (&'t str, &'t str)>) -> Markup {
    html! {
        ul {
            @for (page, title) in pages {
                @let other = if page.ends_with(".html") { page.to_owned() } else { format!("{page}.html") };
                li { a href=(other) aria-current=[(other == file).then_some("page")] { (title) } }
            }
        }
    }
}
