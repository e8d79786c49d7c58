//! The book: a chapter a lab, in the course's order, of what is written elsewhere: the kernels'
//! module documents, what the labs say and draw, what RESULTS says was measured, and the kernels.
//! Printed, it is a script for a lecture.
//!
//! ```text
//! findings    what was measured of a lab; `shown` has its sentences and pictures
//! ```

mod findings;

use std::fs;
use std::path::{Path, PathBuf};

use host::labs::{ALL, Entry};
use maud::{Markup, PreEscaped, html};

use crate::bundle::WORKSPACE;
use crate::frame::Page;
use crate::shown::Shown;
use findings::Findings;
use webpage::prose;

const ABOUT: &str = "The course as a book: what each lab shows, its kernels' notes, and what was measured.";

/// The page of all chapters.
const CONTENTS: &str = "book.html";

/// Every page of the book: its file, and its text. `shown` has what each lab shows.
///
/// # Errors
///
/// A source that cannot be read, a lab that does not run.
pub fn pages(shown: &[Shown]) -> Result<Vec<(String, String)>, String> {
    let findings = Findings::new(read("docs/RESULTS.md")?);
    let preface = prose::document(&read("kernels/src/lib.rs")?);
    let mut pages = Vec::new();
    let mut all = Vec::new();
    for ((index, entry), shown) in ALL.iter().enumerate().zip(shown) {
        let chapter = chapter((index, entry), shown, &findings)?;
        pages.push((file(entry.name), chapter_page(index, entry, &chapter)));
        all.push(chapter);
    }
    pages.push((CONTENTS.to_owned(), contents(&preface)));
    pages.push(("script.html".to_owned(), script(&preface, &all)));
    Ok(pages)
}

fn file(lab: &str) -> String {
    format!("book-{lab}.html")
}

fn number(index: usize) -> String {
    format!("{}", index + 1)
}

/// The links of notes: to chapters; all others are of files that the site does not have.
fn link(to: &str) -> Option<String> {
    let name = to.trim_start_matches("item:").trim_matches('`');
    ALL.iter().any(|lab| lab.name == name).then(|| file(name))
}

/// The list of chapters, after the preface.
fn contents(preface: &str) -> String {
    let main = html! {
        main.book {
            h1 { "The book" }
            p.about { (ABOUT) }
            p { a href="script.html" { "All chapters on one page" } ", to print: a script for a lecture." }
            ol.chapters {
                @for entry in ALL { li { a href=(file(entry.name)) { strong { (entry.name) } } " " span { (entry.about) } } }
            }
            section.notes { h2 { "Preface" } (prose::markup(preface, 2, &link)) }
        }
    };
    Page { file: CONTENTS, title: "The book", about: ABOUT, scripts: &["tables.js", "numbers.js"], main }.render()
}

fn chapter_page(index: usize, entry: &Entry, chapter: &Markup) -> String {
    let near = |at: Option<usize>| at.and_then(|at| ALL.get(at));
    let main = html! {
        main.book {
            (chapter)
            nav.turn aria-label="Chapters" {
                @if let Some(before) = near(index.checked_sub(1)) { a rel="prev" href=(file(before.name)) { "‹ " (before.name) } }
                a href=(CONTENTS) { "All chapters" }
                @if let Some(after) = near(index.checked_add(1)) { a rel="next" href=(file(after.name)) { (after.name) " ›" } }
            }
        }
    };
    Page { file: &file(entry.name), title: entry.name, about: entry.about, scripts: &["tables.js", "numbers.js"], main }
        .render()
}

/// All chapters on one page.
fn script(preface: &str, chapters: &[Markup]) -> String {
    let main = html! {
        main.book.script {
            section.notes { h1 { "GPU memory" } (prose::markup(preface, 1, &|_| None)) }
            @for chapter in chapters { (chapter) }
        }
    };
    Page { file: "script.html", title: "The script", about: ABOUT, scripts: &["tables.js", "numbers.js"], main }
        .render()
}

/// A lab's chapter: the idea, what the simulator says and draws, the notes, what was measured, the
/// kernels.
fn chapter((index, entry): (usize, &Entry), shown: &Shown, findings: &Findings) -> Result<Markup, String> {
    let sources = sources(entry)?;
    let first = sources.first().map(|(_, text)| prose::document(text)).unwrap_or_default();
    let (title, rest) = first.split_once("\n\n").unwrap_or((&first, ""));
    let measured = findings.of(entry.name);
    Ok(html! {
        article id=(entry.name) {
            p.quiet { "Chapter " (number(index)) }
            h1 { (entry.name) }
            div.about { (prose::markup(title, 1, &link)) }
            div.says { (PreEscaped(&shown.says)) }
            (shown.figures())
            p.run { a href={ (entry.name) ".html" } { "Try it" } ": the lab in your browser, on any GPU model." }
            section.notes {
                (prose::markup(rest, 1, &link))
                @for (path, text) in sources.iter().skip(1) {
                    h2 { "More: " code { (path) } }
                    (prose::markup(&prose::document(text), 2, &link))
                }
            }
            @if !measured.is_empty() {
                section.notes {
                    h2 { "Measured" }
                    (prose::markup(&measured, 0, &link))
                    div.quiet { (prose::markup(&findings.measured(), 0, &link)) }
                }
            }
            section {
                h2 { "The kernels" }
                @for (path, text) in &sources {
                    details { summary { code { (path) } } pre tabindex="0" { (code(text)) } }
                }
            }
        }
    })
}

/// The files of a lab's kernels: its module, and those that begin with its name.
fn sources(entry: &Entry) -> Result<Vec<(String, String)>, String> {
    let folder = Path::new(WORKSPACE).join("kernels/src");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: cannot be read: {error}", folder.display()))?;
    let mut names: Vec<String> = entries.flatten().filter_map(|file| file.file_name().into_string().ok()).collect();
    names.sort();
    let own = |name: &String| {
        let stem = name.strip_suffix(".rs").unwrap_or_default();
        stem == entry.name || stem.strip_prefix(entry.name).is_some_and(|rest| rest.starts_with('_'))
    };
    let paths = names.into_iter().filter(own).map(|name| format!("kernels/src/{name}"));
    paths.map(|path| read(&path).map(|text| (path, text))).collect()
}

/// A file's code: without its document, and without its tests.
fn code(source: &str) -> Markup {
    let body: Vec<&str> = source.lines().skip_while(|line| line.starts_with("//!")).collect();
    let body = body.join("\n");
    let body =
        body.split("\n#[cfg(all(test").next().unwrap_or_default().split("\n#[cfg(test)]").next().unwrap_or_default();
    html! { (body.trim()) }
}

fn read(path: &str) -> Result<String, String> {
    let path: PathBuf = Path::new(WORKSPACE).join(path);
    fs::read_to_string(&path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lab_has_notes_and_findings() {
        let findings = Findings::new(read("docs/RESULTS.md").unwrap());
        let runs = read("measurements/h200.json").unwrap();
        for entry in ALL {
            let sources = sources(entry).unwrap();
            assert!(sources[0].1.starts_with("//! "), "{}", entry.name);
            let is_measured = runs.contains(&format!("\"{}", entry.name));
            assert_eq!(!findings.of(entry.name).is_empty(), is_measured, "{}", entry.name);
        }
        assert!(findings.measured().starts_with("Measured on one "), "{}", findings.measured());
        assert!(findings.of("matmul").contains("Table 3.1") && !findings.of("offset").contains("Table"));
    }

    #[test]
    fn a_chapter_has_what_the_simulator_says_and_draws() {
        let findings = Findings::new(String::new());
        let entry = Entry::named("banks").unwrap();
        let shown = crate::shown::of(entry).unwrap();
        let text = chapter((0, entry), &shown, &findings).unwrap().into_string();
        for part in ["32 wavefronts", "<b>stride-33</b>: shared load", "What to look for", "pub fn banks_"] {
            assert!(text.contains(part), "{part}");
        }
    }
}
