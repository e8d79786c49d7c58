//! The exercises that need no compiler: given kernels, and questions that a reader answers and the
//! simulator judges. They are those of `cargo learn`, from the same files.

use std::fs;
use std::path::Path;

use exercise::Exercise;
use exercise::files::chapters;
use exercise::goals_file::Question;
use exercise::obfuscation::obfuscate;
use maud::{Markup, PreEscaped, html};

use crate::bundle::WORKSPACE;
use crate::frame::Page;
use webpage::prose;

const ABOUT: &str = "Say what a warp's access costs before you count it: the simulator judges.";

/// The exercises, in the course's order. Those to explain have pages.
pub fn exercises() -> Result<Vec<Exercise>, String> {
    let folder = Path::new(WORKSPACE).join("exercises");
    let chapters = chapters(&folder.join("course.toml")).map_err(|error| error.to_string())?;
    let names = chapters.iter().flat_map(|chapter| &chapter.exercises);
    names.map(|name| Exercise::read(&folder.join(name)).map_err(|error| error.to_string())).collect()
}

/// An exercise's page.
pub fn file(exercise: &Exercise) -> String {
    format!("{}.html", exercise.name)
}

/// The page of all exercises.
pub fn list(exercises: &[Exercise]) -> String {
    let main = html! {
        main.index {
            h1 { "Predict" }
            p.about { (ABOUT) }
            ol.labs {
                @for exercise in exercises.iter().filter(|exercise| exercise.is_predicted()) {
                    li {
                        a.card href=(file(exercise)) {
                            strong { (exercise.goals.title) }
                            span { (exercise.goals.question.len()) " questions, about " (exercise.goals.minutes) " minutes" }
                        }
                    }
                }
            }
            p.quiet {
                "They are exercises of " code { "cargo learn" } ", which has " code { "cargo learn list" }
                " of all: the others are kernels to write."
            }
        }
    };
    Page { file: "predict.html", title: "Predict", about: ABOUT, scripts: &[], main }.render()
}

/// An exercise's page: the idea, each kernel with its questions, the hints.
pub fn page(exercise: &Exercise) -> Result<String, String> {
    let given = read(&exercise.given_file())?;
    let hints = exercise.hints().map_err(|error| error.to_string())?;
    let parts = items(&given);
    let document = prose::document(&given);
    // Its first line is the title.
    let (_, idea) = document.split_once("\n\n").unwrap_or_default();
    let no_link = |_: &str| None;
    let launches = &exercise.goals.launch;
    let is_launched = |name: &str| launches.iter().any(|launch| launch.kernel == name);
    let main = html! {
        main.predict data-exercise=(exercise.name) {
            section.card.idea {
                p.quiet {
                    "Predict, about " (exercise.goals.minutes) " minutes"
                    @if let Some(lab) = &exercise.goals.lab { ". Its lab: " a href={ (lab) ".html" } { (lab) } }
                }
                h1 { (exercise.goals.title) }
                (prose::markup(idea, 1, &no_link))
                @for item in parts.iter().filter(|item| !is_launched(&item.name)) {
                    (prose::markup(&item.about, 1, &no_link))
                    pre.scroll tabindex="0" { (item.code) }
                }
            }
            p { "Type each number below its kernel. " strong { "Check" } " asks the simulator, which then draws what the load costs." }
            p.status role="status" #status {}
            div #results aria-busy="true" { @for launch in launches {
                section.card.kernel aria-labelledby={ "kernel-" (launch.kernel) } {
                    h2 id={ "kernel-" (launch.kernel) } { code { (launch.kernel) } }
                    div.ask {
                        div.code {
                            @for item in parts.iter().filter(|item| item.name == launch.kernel) {
                                (prose::markup(&item.about, 1, &no_link))
                                pre.scroll tabindex="0" { (item.code) }
                            }
                        }
                        figure.drawing {}
                        div.questions {
                            @for question in &exercise.goals.question {
                                @if question.kernel() == Some(launch.kernel.as_str()) { (asked(question)) }
                            }
                        }
                    }
                }
            }
            }
            section.card aria-label="Hints" {
                h2 { "Hints" }
                @for (index, hint) in hints.iter().enumerate() {
                    details { summary { "Hint " (index + 1) } (prose::markup(hint, 0, &no_link)) }
                }
            }
            section.card aria-label="The same on your machine" {
                h2 { "The same on your machine" }
                p { code { "cargo learn run " (exercise.name) } }
                p.quiet { "There you write the numbers to exercises/" (exercise.name) "/predict.toml, which it makes." }
            }
            noscript { p.card { "The questions are judged in your browser, by JavaScript and WebAssembly. Please allow both." } }
        }
    };
    let title = &exercise.goals.title;
    Ok(Page { file: &file(exercise), title, about: ABOUT, scripts: &["predict.js", "numbers.js"], main }.render())
}

fn asked(question: &Question) -> Markup {
    let id = format!("question-{}", question.name);
    html! {
        form.question data-question=(question.name) autocomplete="off" {
            label for=(id) { (code(&question.ask)) }
            div.answer {
                input type="text" inputmode="decimal" id=(id) size="6";
                button type="submit" { "Check" }
                button.tell type="button" hidden { "Show the answer" }
            }
            p.said role="status" {}
        }
    }
}

/// A sentence with its code between backticks.
fn code(text: &str) -> Markup {
    let part = |(index, part): (usize, &str)| html! { @if index % 2 == 1 { code { (part) } } @else { (part) } };
    PreEscaped(text.split('`').enumerate().map(|each| part(each).into_string()).collect())
}

/// The data of a page for the program: the PTX, and the questions, obfuscated since they contain
/// their answers.
pub fn bundle(exercise: &Exercise) -> Result<String, String> {
    let goals = read(&exercise.folder.join("goals.toml"))?;
    let ptx = read(&exercise.given_ptx_file())?;
    // JSON, which the program in the browser reads anyway.
    let goals: serde_json::Value = toml::from_str(&goals).map_err(|error| error.to_string())?;
    Ok(serde_json::json!({"goals": obfuscate(&goals.to_string()), "given.ptx": ptx}).to_string())
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))
}

/// A function of a file of kernels, with the constants above it.
#[derive(Debug, PartialEq)]
struct Item {
    name: String,
    /// What is said of it, without the section on safety.
    about: String,
    code: String,
}

fn items(source: &str) -> Vec<Item> {
    let body = source.lines().skip_while(|line| line.starts_with("//!") || line.is_empty() || line.starts_with("use "));
    let lines: Vec<&str> = body.collect();
    let mut items = Vec::new();
    for lines in lines.split_inclusive(|line| *line == "}") {
        let name = lines.iter().find_map(|line| line.split_once("fn ")).and_then(|(_, rest)| rest.split('(').next());
        let Some(name) = name else { continue };
        let skipped = lines.iter().take_while(|line| line.is_empty()).count();
        let (about, code) = match lines[skipped..].iter().position(|line| !line.starts_with("///")) {
            // A constant comes first: its words stay with it.
            Some(at) if lines[skipped + at].starts_with("const") => lines[skipped..].split_at(0),
            at => lines[skipped..].split_at(at.unwrap_or(0)),
        };
        let about: Vec<&str> = about.iter().map(|line| line.trim_start_matches("///").trim()).collect();
        let about = about.join("\n");
        let about = about.split("# Safety").next().unwrap_or_default().to_owned();
        items.push(Item { name: name.to_owned(), about, code: code.join("\n") });
    }
    items
}

#[cfg(test)]
mod tests {
    use exercise::obfuscation::reveal;

    use super::*;

    #[test]
    fn each_question_has_its_place_and_no_answer() {
        let all: Vec<Exercise> = exercises().unwrap().into_iter().filter(Exercise::is_predicted).collect();
        assert!(all.len() >= 6, "{}", all.len());
        for exercise in &all {
            let page = page(exercise).unwrap();
            let bundle = bundle(exercise).unwrap();
            for question in &exercise.goals.question {
                let form = format!("data-question=\"{}\"", question.name);
                assert_eq!(page.matches(&form).count(), 1, "{}: {}", exercise.name, question.name);
                let why = question.why.lines().next().unwrap();
                assert!(!page.contains(why) && !bundle.contains(why), "{}: {}", exercise.name, question.name);
            }
        }
    }

    #[test]
    fn a_file_is_divided_into_functions() {
        let source = "//! T\n\nuse x;\n\n/// One.\n///\n/// # Safety\n/// No.\n#[kernel]\npub unsafe fn one(a: u32) {\n    if b {\n    \
                      }\n}\n\n/// C.\nconst C: u32 = 1;\nfn two() {\n}\n";
        let item =
            |name: &str, about: &str, code: &str| Item { name: name.into(), about: about.into(), code: code.into() };
        assert_eq!(
            items(source),
            [
                item("one", "One.\n\n", "#[kernel]\npub unsafe fn one(a: u32) {\n    if b {\n    }\n}"),
                item("two", "", "/// C.\nconst C: u32 = 1;\nfn two() {\n}"),
            ]
        );
    }

    #[test]
    fn the_program_reads_what_a_page_gives() {
        for exercise in exercises().unwrap().into_iter().filter(Exercise::is_predicted) {
            let texts: serde_json::Value = serde_json::from_str(&bundle(&exercise).unwrap()).unwrap();
            let goals = reveal(texts["goals"].as_str().unwrap()).unwrap();
            let goals: exercise::goals_file::Goals = serde_json::from_str(&goals).unwrap();
            assert_eq!(goals.question.len(), exercise.goals.question.len());
        }
    }
}
