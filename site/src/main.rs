//! Writes the pages of the site and what they load, but for the program itself, into a folder:
//! `site FOLDER`. `cargo xtask site` calls it, and puts the program, compiled for WebAssembly,
//! beside the pages.
//!
//! ```text
//! book        the labs' notes, pictures and findings, a chapter a lab
//! bundle      what a page gives to the program: the PTX of its lab, and the sources that it names
//! controls    a lab's flags as a form
//! frame       what all pages share            index, lab, own, pattern, predict     the pages
//! shown       what a lab shows first, computed now
//! assets/     the look, and the scripts of the pages, a subject each
//! ```
//!
//! *Invariant:* pages say nothing about memory that the program has not computed. *Invariant:* they
//! load nothing from elsewhere, and their policy forbids it.

mod book;
mod bundle;
mod controls;
mod frame;
mod index;
mod lab;
mod own;
mod pattern;
mod predict;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use host::labs::ALL;

/// The scripts: each is a module with one subject.
const SCRIPTS: [(&str, &str); 16] = [
    ("pattern.js", include_str!("../assets/pattern.js")),
    ("numbers.js", include_str!("../assets/numbers.js")),
    ("predict.js", include_str!("../assets/predict.js")),
    ("own.js", include_str!("../assets/own.js")),
    ("lab.js", include_str!("../assets/lab.js")),
    ("command.js", include_str!("../assets/command.js")),
    ("form.js", include_str!("../assets/form.js")),
    ("pane.js", include_str!("../assets/pane.js")),
    ("passes.js", include_str!("../assets/passes.js")),
    ("lines.js", include_str!("../assets/lines.js")),
    ("simulator.js", include_str!("../assets/simulator.js")),
    ("share.js", include_str!("../assets/share.js")),
    ("embed.js", include_str!("../assets/embed.js")),
    ("start.js", include_str!("../assets/start.js")),
    ("worker.js", include_str!("../assets/worker.js")),
    ("tables.js", webpage::SCRIPT),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        eprintln!("error: give the folder to write the site into: site FOLDER");
        return ExitCode::from(2);
    };
    match write(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> Result<(), String> {
    let side_by_side = narrow(picture::STYLE).ok_or("the pictures have no rules for narrow screens")?;
    let style = [webpage::STYLE, picture::STYLE, webpage::FRAME, include_str!("../assets/site.css"), &side_by_side];
    put(folder, "site.css", &style.concat())?;
    for (name, script) in SCRIPTS {
        put(folder, name, script)?;
    }
    put(folder, "own.html", &own::page())?;
    put(folder, "pattern.html", &pattern::page()?)?;
    let shown = ALL.iter().map(shown::of).collect::<Result<Vec<_>, _>>()?;
    put(folder, "index.html", &index::page(&shown)?)?;
    for (name, page) in book::pages(&shown)? {
        put(folder, &name, &page)?;
    }
    let exercises = predict::exercises()?;
    put(folder, "predict.html", &predict::list(&exercises))?;
    for exercise in exercises.iter().filter(|exercise| exercise.is_predicted()) {
        put(folder, &predict::file(exercise), &predict::page(exercise)?)?;
        put(folder, &format!("exercises/{}.json", exercise.name), &predict::bundle(exercise)?)?;
    }
    for (entry, shown) in ALL.iter().zip(&shown) {
        put(folder, &format!("{}.html", entry.name), &lab::page(entry, shown, &exercises))?;
        put(folder, &format!("labs/{}.json", entry.name), &bundle::of(entry)?)?;
    }
    Ok(())
}

/// The pictures' rules for narrow screens, for a picture that has little room on a wide one: beside
/// another.
fn narrow(style: &str) -> Option<String> {
    let (_, rest) = style.split_once("@media (max-width:520px)")?;
    let (rules, _) = rest.split_once("\n}\n")?;
    Some(format!("@container (max-width:520px){rules}\n}}\n"))
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
    fs::write(&path, text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_beside_another_is_drawn_as_on_a_narrow_screen() {
        let rules = narrow(picture::STYLE).unwrap();
        assert!(rules.starts_with("@container") && rules.contains(".picture .wide{display:none}"), "{rules}");
        assert_eq!(rules.matches('{').count(), rules.matches('}').count());
        assert!(!rules.contains("dark"));
    }
}
