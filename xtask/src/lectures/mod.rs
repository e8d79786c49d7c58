//! `cargo xtask lectures`: makes slides of the Markdown in `docs/lectures`, as web pages and as
//! PDF, in `target/lectures`. The figures are `host`'s own drawings, made by the commands in
//! `figures.toml` there, and one that [`tile`] draws. Marp, which npm installs into
//! `docs/lectures/node_modules`, makes the slides, with Chromium. `main` calls it.

mod tile;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;

use crate::browser::{self, Tools};
use crate::program::{Failed, sibling, succeed};
use crate::workspace;

/// The folder of the lectures.
const FOLDER: &str = "docs/lectures";

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// The browser [default: chromium, chromium-browser or google-chrome in the PATH]
    #[arg(long, value_name = "FILE")]
    browser: Option<PathBuf>,
    /// The folder to write [default: target/lectures]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Also write each slide as a PNG
    #[arg(long)]
    png: bool,
}

/// Why there are no slides.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Browser(#[from] browser::Error),
    #[error(transparent)]
    Run(#[from] Failed),
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
}

/// A figure of `figures.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    /// The arguments of `host`.
    run: String,
    /// The number of the picture in the run's report, from 1. A pattern has one, in a file.
    picture: Option<usize>,
}

/// Makes the slides.
///
/// # Errors
///
/// What is missing, or what failed.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root().map_err(browser::Error::from)?;
    let folder = root.join(FOLDER);
    let Tools { browser, .. } = browser::tools_for(&folder, options.browser.as_deref())?;
    let out = options.out.clone().unwrap_or_else(|| root.join("target/lectures"));
    let figures = out.join("figures");
    fs::create_dir_all(&figures).map_err(file(&figures))?;
    draw(&root, &figures)?;
    let mut formats = vec![("html", "--html=false"), ("pdf", "--pdf")];
    formats.extend(options.png.then_some(("png", "--images=png")));
    let marp = folder.join("node_modules/@marp-team/marp-cli/marp-cli.js");
    for deck in decks(&folder)? {
        // Beside its figures, which pages name relative to themselves.
        let text = out.join(&deck);
        fs::copy(folder.join(&deck), &text).map_err(file(&text))?;
        for (extension, flag) in &formats {
            let mut command = Command::new("node");
            command.arg(&marp).arg(&deck).args([flag, "--pdf-notes", "--allow-local-files", "--no-stdin", "--quiet"]);
            command.arg("--browser=chrome").arg("--browser-path").arg(&browser);
            command.arg("-o").arg(Path::new(&deck).with_extension(extension)).current_dir(&out);
            // Chromium's own sandbox needs what containers lack; all pages are ours.
            succeed(command.env("CHROME_NO_SANDBOX", "1"))?;
        }
        fs::remove_file(&text).map_err(file(&text))?;
        println!("{}", out.join(Path::new(&deck).with_extension("pdf")).display());
    }
    Ok(())
}

/// The decks: the files whose name begins with a number.
fn decks(folder: &Path) -> Result<Vec<OsString>, Error> {
    let is_deck = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with(|c: char| c.is_ascii_digit()) && name.ends_with(".md")
    };
    let entries = fs::read_dir(folder).map_err(file(folder))?;
    let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).filter(is_deck).collect();
    names.sort();
    Ok(names)
}

/// Draws all figures into a folder.
fn draw(root: &Path, to: &Path) -> Result<(), Error> {
    let list = root.join(FOLDER).join("figures.toml");
    let text = fs::read_to_string(&list).map_err(file(&list))?;
    let figures: BTreeMap<String, Figure> = toml::from_str(&text).map_err(file(&list))?;
    let host = sibling("host")?;
    let scratch = tempfile::tempdir().map_err(file(to))?;
    for (name, figure) in figures {
        let path = to.join(&name).with_extension("svg");
        let mut command = Command::new(&host);
        command.args(words(&figure.run));
        if !figure.run.contains("--device") {
            command.args(["--device", "sim"]);
        }
        let Some(number) = figure.picture else {
            succeed(command.arg("--svg").arg(&path))?;
            continue;
        };
        let page = scratch.path().join("report.html");
        succeed(command.arg("--report").arg(&page))?;
        let text = fs::read_to_string(&page).map_err(file(&page))?;
        let picture = text.split("<svg ").filter(|part| part.contains("class=\"picture")).nth(number.saturating_sub(1));
        let drawing = picture.and_then(|part| part.split_once("</svg>")).map(|(drawing, _)| drawing);
        let drawing = drawing.ok_or_else(|| file(&list)(format!("{name}: the report has no picture {number}")))?;
        fs::write(&path, picture::file(&format!("<svg {drawing}</svg>"))).map_err(file(&path))?;
    }
    let drawn = [("tile_blocks.svg", picture::file(&tile::drawing()))];
    let pictures = ["sweep-offset.svg", "sweep-banks.svg"].map(|name| (name, root.join("docs/pictures").join(name)));
    for (name, text) in drawn {
        fs::write(to.join(name), text).map_err(file(to))?;
    }
    for (name, from) in pictures {
        fs::copy(&from, to.join(name)).map_err(file(&from))?;
    }
    Ok(())
}

/// A command's words, of which those with spaces are in single quotes.
fn words(run: &str) -> Vec<String> {
    let quoted = run.split('\'').enumerate();
    quoted
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

fn file<E: ToString>(path: &Path) -> impl FnOnce(E) -> Error {
    let path = path.to_owned();
    move |problem| Error::File { path, problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_index_is_one_word() {
        assert_eq!(words("pattern 'a[i + 1]' --store"), ["pattern", "a[i + 1]", "--store"]);
    }

    #[test]
    fn each_figure_of_a_deck_is_drawn_and_each_drawn_one_used() {
        let root = workspace::root().unwrap();
        let list = fs::read_to_string(root.join(FOLDER).join("figures.toml")).unwrap();
        let mut drawn: Vec<String> = toml::from_str::<BTreeMap<String, Figure>>(&list).unwrap().into_keys().collect();
        drawn.extend(["tile_blocks", "sweep-offset", "sweep-banks"].map(str::to_owned));
        let mut used = Vec::new();
        let decks = decks(&root.join(FOLDER)).unwrap();
        assert_eq!(decks.len(), 4);
        for deck in decks {
            let text = fs::read_to_string(root.join(FOLDER).join(deck)).unwrap();
            let figures = text.split("](figures/").skip(1).filter_map(|rest| rest.split_once(".svg)"));
            used.extend(figures.map(|(name, _)| name.to_owned()));
        }
        drawn.sort();
        used.sort();
        assert_eq!(drawn, used);
    }

    #[test]
    fn each_deck_has_its_questions_demo_homework_and_notes() {
        let root = workspace::root().unwrap();
        let course = fs::read_to_string(root.join("exercises/course.toml")).unwrap();
        for deck in decks(&root.join(FOLDER)).unwrap() {
            let text = fs::read_to_string(root.join(FOLDER).join(&deck)).unwrap();
            let slides: Vec<&str> = text.split("\n---\n").skip(2).collect();
            assert!(slides.iter().all(|slide| slide.contains("<!--")), "{deck:?}: a slide has no notes");
            assert_eq!(slides.iter().filter(|slide| slide.contains("## Predict")).count(), 2, "{deck:?}");
            assert!(text.contains("\n    host "), "{deck:?}: no demo");
            let homework = text.split("## Homework").nth(1).and_then(|rest| rest.split("<!--").next()).unwrap();
            let names: Vec<&str> = homework.split('`').skip(1).step_by(2).collect();
            assert!(names.len() >= 5, "{deck:?}: {names:?}");
            names.iter().for_each(|name| assert!(course.contains(&format!("\"{name}\"")), "{deck:?}: {name}"));
        }
    }

    #[test]
    fn each_exercise_has_one_lab_and_each_lab_a_row() {
        let root = workspace::root().unwrap();
        let page = fs::read_to_string(root.join(FOLDER).join("README.md")).unwrap();
        let table = page.split("## Labs and exercises").nth(1).unwrap();
        let rows: Vec<Vec<&str>> =
            table.lines().filter(|line| line.starts_with('|')).map(|line| line.split('|').collect()).collect();
        let named = |cell: &'_ str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let mut exercises: Vec<String> = rows.iter().flat_map(|row| named(row[3])).collect();
        let mut labs: Vec<String> = rows.iter().flat_map(|row| named(row[1])).collect();
        let course = fs::read_to_string(root.join("exercises/course.toml")).unwrap();
        let course: toml::Table = course.parse().unwrap();
        let chapters = course["chapter"].as_array().unwrap().iter();
        let all = chapters.flat_map(|chapter| chapter["exercises"].as_array().unwrap());
        let mut all: Vec<String> = all.map(|name| name.as_str().unwrap().to_owned()).collect();
        let mut known: Vec<String> = fs::read_dir(root.join("host/src/labs"))
            .unwrap()
            .flatten()
            .map(|entry| entry.path().file_stem().unwrap().to_string_lossy().into_owned())
            .filter(|name| labs.contains(name))
            .collect();
        // A subcommand that runs no kernels, so no file there.
        known.push("devices".to_owned());
        [&mut exercises, &mut all, &mut labs, &mut known].into_iter().for_each(|names| names.sort());
        // A lab's file and its folder.
        known.dedup();
        assert_eq!(exercises, all);
        assert_eq!(labs, known);
        assert_eq!(labs.len(), 28);
    }
}
