//! rustc's messages about a student's file, for the student. If one of them names another file,
//! none is shown: they may quote it, and the student may not see it. [`crate::compile`] calls it.
//! Pure.
//!
//! *Invariant:* no text of a file outside of the submission, `cuda_std` and `core` passes, and no
//! word on whether one exists.

use std::path::{Path, PathBuf};

use exercise::SOURCE;
use serde::Serialize;
use serde_json::Value;

/// Folders whose files may be named, as rustc calls them: see `cuda_builder`'s remapped paths.
const LIBRARIES: [&str; 4] = ["cuda_std/", "cuda_std_macros/", "rust/core/", "/rustc/"];

/// Errors about modules in other files: they say where rustc has looked, and what is there.
const OTHER_FILES: [&str; 2] = ["E0583", "E0761"];

/// What rustc says of a macro that prints, and what to say then.
const NO_CONSOLE: &str = "help: a kernel has no console: write the value to a buffer, and compare it there";

/// Instead of the messages that are not shown.
const DROPPED: &str = "error: this file reaches for another file, and the compiler's messages are not shown: a kernel is one \
                       file, with cuda_std and core";

/// The messages to show, from rustc's, a line of JSON each. `macros` are the folders of the
/// library's procedural macros, which are compiled for this machine and named in full.
pub fn shown(messages: &str, macros: &[PathBuf], colour: bool) -> String {
    let all: Vec<Value> = messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let about_sources = |message: &&Value| {
        let text = text_of(message);
        !text.starts_with("aborting due to") && !text.starts_with("could not compile")
    };
    let all: Vec<&Value> = all.iter().filter(about_sources).collect();
    // Neither what else is wrong: that depends on how far rustc got, and so on whether the other
    // file is there.
    if !all.iter().all(|message| is_own(message, macros)) {
        return DROPPED.to_owned();
    }
    let mut text = String::new();
    for message in all {
        let rendered = without_paths(message["rendered"].as_str().unwrap_or_default().trim_end(), macros);
        let rendered = cuda_builder::with_kernels_name(&rendered);
        match colour {
            true => text.push_str(&rendered),
            false => text.push_str(&anstream::adapter::strip_str(&rendered).to_string()),
        }
        if ["`println`", "`print`", "`eprintln`", "`dbg`"].iter().any(|name| is_unknown_macro(text_of(message), name)) {
            text.push_str(&format!("\n  {NO_CONSOLE}"));
        }
        text.push_str("\n\n");
    }
    text.trim_end().to_owned()
}

/// A place in the student's file, with what is said of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, if it is known.
    pub column: Option<u32>,
    /// What is said of it.
    pub message: String,
}

/// The places that shown messages are about: of each error the first one in the student's file, with
/// the label there.
pub fn places(shown: &str) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut heading = None;
    let mut unlabelled = false;
    for line in shown.lines() {
        if line.starts_with("error") {
            (heading, unlabelled) = (Some(line), false);
        }
        let marked = line.trim_start().strip_prefix('|').and_then(|code| code.rsplit_once('^'));
        if let (true, Some((_, label)), Some(place)) = (unlabelled, marked, places.last_mut()) {
            unlabelled = false;
            if !label.trim().is_empty() {
                place.message.push_str(&format!(": {}", label.trim()));
            }
        }
        let Some(at) = line.trim_start().strip_prefix("--> ").and_then(|at| at.strip_prefix(SOURCE)) else { continue };
        let mut numbers = at.split(':').skip(1).map(|number| number.trim().parse().ok());
        if let (Some(Some(line)), Some(message)) = (numbers.next(), heading.take()) {
            places.push(Place { line, column: numbers.next().flatten(), message: message.to_owned() });
            unlabelled = true;
        }
    }
    places
}

/// A message without paths of this machine: notes on a type whose name is so long that rustc has
/// written it to a file, and on the libraries that it has loaded; and the folders of the macros.
fn without_paths(rendered: &str, macros: &[PathBuf]) -> String {
    let notes = ["has been written to '", "consider using `--verbose`", " loaded from ", ".rlib", ".rmeta"];
    let of_file = |line: &&str| notes.iter().any(|note| line.contains(note));
    let kept: Vec<&str> = rendered.lines().filter(|line| !of_file(line)).collect();
    let folders = macros.iter().filter_map(|folder| folder.to_str());
    // The last two parts say which library it is.
    folders.fold(kept.join("\n"), |text, folder| {
        let mut last = folder.rsplit(['/', '\\']).take(2);
        let (name, above) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
        text.replace(folder, &format!("{above}/{name}"))
    })
}

fn text_of(message: &Value) -> &str {
    message["message"].as_str().unwrap_or_default()
}

fn is_unknown_macro(text: &str, name: &str) -> bool {
    text.starts_with("cannot find macro") && text.contains(name)
}

/// Whether a message, all notes of it included, is about the submission and the libraries alone.
fn is_own(message: &Value, macros: &[PathBuf]) -> bool {
    let code = message["code"]["code"].as_str().unwrap_or_default();
    // The system's answer to opening a file.
    let of_system = text_of(message).contains("(os error ") || text_of(message).starts_with("couldn't read");
    !OTHER_FILES.contains(&code)
        && !of_system
        && list(&message["spans"]).all(|span| is_own_span(span, macros))
        && list(&message["children"]).all(|child| is_own(child, macros))
}

/// Whether a span is in a file that may be named, and all macros that it came from.
fn is_own_span(span: &Value, macros: &[PathBuf]) -> bool {
    let expansion = &span["expansion"];
    let own_label = !span["label"].as_str().unwrap_or_default().contains("(os error ");
    own_label
        && span["file_name"].as_str().is_some_and(|name| is_own_file(name, macros))
        && (expansion.is_null()
            || is_own_span(&expansion["span"], macros) && is_own_span(&expansion["def_site_span"], macros))
}

fn is_own_file(name: &str, macros: &[PathBuf]) -> bool {
    let plain = || !name.split(['/', '\\']).any(|part| part == "..");
    let of_library = || LIBRARIES.iter().any(|library| name.starts_with(library));
    let of_macros = || macros.iter().any(|folder| Path::new(name).starts_with(folder));
    name == SOURCE || (of_library() || of_macros()) && plain()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn span(file: &str) -> Value {
        json!({ "file_name": file, "expansion": null, "label": null })
    }

    fn message(text: &str, spans: Value, children: Value) -> String {
        let rendered = format!("error: {text}\n --> shown\n");
        json!({ "level": "error", "message": text, "code": null, "spans": spans, "children": children, "rendered": rendered })
            .to_string()
    }

    #[test]
    fn what_names_another_file_is_dropped() {
        let own = message("mismatched types", json!([span(SOURCE), span("cuda_std/src/lib.rs")]), json!([]));
        assert_eq!(shown(&own, &[], false), "error: mismatched types\n --> shown");
        let note = |file: &str| json!([{ "message": "here", "code": null, "spans": [span(file)], "children": [] }]);
        let expanded = json!([{
            "file_name": SOURCE, "label": null,
            "expansion": { "span": span(SOURCE), "def_site_span": span("/home/x.rs") },
        }]);
        for secret in [
            message("SECRET", json!([span("/etc/passwd")]), json!([])),
            message("SECRET", json!([span("src/../../other/kernel.rs")]), json!([])),
            message("SECRET", json!([span("cuda_std/../secret.rs")]), json!([])),
            message("SECRET", json!([span(SOURCE)]), note("src/other.rs")),
            message("SECRET", expanded, json!([])),
            message(
                "couldn't read `/SECRET`: No such file or directory (os error 2)",
                json!([span(SOURCE)]),
                json!([]),
            ),
            message("couldn't read `/SECRET`: Permission denied (os error 13)", json!([span(SOURCE)]), json!([])),
        ] {
            assert_eq!(shown(&secret, &[], false), DROPPED);
            assert_eq!(shown(&format!("{own}\n{secret}\n{own}"), &[], false), DROPPED);
        }
    }

    #[test]
    fn whether_a_module_is_there_is_not_said() {
        let mut missing: Value =
            serde_json::from_str(&message("file not found for module", json!([span(SOURCE)]), json!([]))).unwrap();
        for code in ["E0583", "E0761"] {
            missing["code"] = json!({ "code": code });
            assert_eq!(shown(&missing.to_string(), &[], false), DROPPED);
        }
        // Of a comment, for instance.
        missing["code"] = json!({ "code": "E0585" });
        assert!(shown(&missing.to_string(), &[], false).starts_with("error: file"));
    }

    #[test]
    fn which_codes_the_dropped_errors_have_is_not_said() {
        let secret = message("SECRET", json!([span("/etc/passwd")]), json!([]));
        let mut note: Value = serde_json::from_str(&message("explain E0583", json!([]), json!([]))).unwrap();
        note["level"] = json!("failure-note");
        assert_eq!(shown(&format!("{secret}\n{note}"), &[], false), DROPPED);
        let own = message("mismatched types", json!([span(SOURCE)]), json!([]));
        assert!(shown(&format!("{own}\n{note}"), &[], false).contains("E0583"));
    }

    #[test]
    fn what_a_macro_of_the_library_made_is_shown() {
        let made = json!([{
            "file_name": SOURCE, "label": null,
            "expansion": { "span": span(SOURCE), "def_site_span": span("/clone/macros/src/lib.rs") },
        }]);
        let text = message("symbol `copy` is already defined", made, json!([]));
        assert!(shown(&text, &[PathBuf::from("/clone/macros/src")], false).starts_with("error: symbol"));
        for other in ["/clone/macros", "/clone/macros/src/../..", "/clone/macros/sr"] {
            let other = text.replace("/clone/macros/src", other);
            assert_eq!(shown(&other, &[PathBuf::from("/clone/macros/src")], false), DROPPED);
        }
    }

    #[test]
    fn no_path_of_the_machine_is_shown() {
        let text = "error: expected `S<S<...>>`\n  |\n  = note: the full name for the type has been written to '/home/x/a.long-type-1.txt'\n\
                    \x20 = note: consider using `--verbose` to print the full type name to the console\n\
                    \x20 = note: first definition in `cuda_std` loaded from /home/x/libcuda_std-1.rlib\n\
                    \x20::: /clone/macros/src/lib.rs:7:1\n";
        let shown = without_paths(text, &[PathBuf::from("/clone/macros/src")]);
        assert_eq!(shown, "error: expected `S<S<...>>`\n  |\n ::: macros/src/lib.rs:7:1");
    }

    #[test]
    fn each_error_has_its_first_place_in_the_file() {
        let text = "error[E0308]: mismatched types\n  --> src/kernel.rs:12:5\n   |\n12 | x ^ y\n   | --- ^^ expected `u32`\n   | ^^ no\n  ::: src/kernel.rs:9:1\n\n\
                    error: in a library\n --> cuda_std/src/lib.rs:3:1\n  |\n --> src/kernel.rs:4:2\n\n\
                    error: nowhere\n\nerror: whole line\n --> src/kernel.rs:7\n --> src/kernel.rs:8:1\n";
        let place = |line, column, message: &str| Place { line, column, message: message.to_owned() };
        assert_eq!(
            places(text),
            [
                place(12, Some(5), "error[E0308]: mismatched types: expected `u32`"),
                place(4, Some(2), "error: in a library"),
                place(7, None, "error: whole line"),
            ]
        );
        assert_eq!(places("error: x\n --> src/kernel.rs:99999999999:1\n"), []);
    }

    #[test]
    fn a_macro_that_prints_gets_a_hint() {
        let unknown = message("cannot find macro `println` in this scope", json!([span(SOURCE)]), json!([]));
        assert!(shown(&unknown, &[], false).ends_with(NO_CONSOLE));
    }
}
