//! The page of an exercise: its text, the student's file in an editor, hints, and what the last run
//! found. It works by forms alone; scripts save and run without loading the page again.

use std::fs;
use std::path::Path;

use exercise::Exercise;
use maud::{Markup, PreEscaped, html};
use webpage::prose;

use super::frame::Page;
use super::map::{State, task};
use super::work::Work;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::guard::LONGEST;
use crate::progress::Progress;

/// What a page says besides, after a form was sent.
#[derive(Debug, Default)]
pub struct Said {
    /// A sentence about what was done.
    pub status: Option<String>,
    /// The text that the student has sent, if the file has another one now.
    pub conflict: Option<String>,
    /// The verdict, as HTML of our own.
    pub verdict: Option<String>,
}

/// The address of an exercise's page.
pub fn address(name: &str) -> String {
    format!("/exercises/{name}")
}

/// The page.
pub fn page(course: &Course, exercise: &Exercise, said: &Said, has_editor: bool) -> Result<Page> {
    let progress = Progress::read(course)?;
    let work = Work::read(exercise)?;
    let name = &exercise.name;
    let chapter = course.chapters.iter().find(|chapter| chapter.exercises.contains(name));
    let state = State::of(exercise, &progress);
    let main = html! {
        main.exercise data-exercise=(name) {
            section.idea aria-label="The exercise" {
                p.quiet {
                    @if let Some(chapter) = chapter { (chapter.title) ". " }
                    (name) ": " (task(exercise)) ", about " (exercise.goals.minutes) " minutes."
                }
                h1 { (exercise.goals.title) " " span #state class={ "state " (state.word()) } { (state.word()) } }
                (idea(exercise)?)
                // The form's first button is what Enter in a field presses: not the one for a hint.
                button form="work" hidden {}
                section #hints aria-label="Hints" { (hints(exercise, &progress)?) }
            }
            div.work {
                @if exercise.is_predicted() { (given(exercise)?) }
                (editor(exercise, &work, said, has_editor)?)
                (steps())
                div #results {
                    @if let Some(verdict) = &said.verdict { (PreEscaped(verdict)) }
                }
                @if !exercise.is_predicted() { (given(exercise)?) }
            }
        }
    };
    let names: Vec<&str> = course.names().collect();
    let at = names.iter().position(|known| known == name);
    let beside = |step: isize| Some(address(names.get(at?.checked_add_signed(step)?)?));
    let links = [(Some("/".to_owned()), "Course"), (beside(-1), "Previous"), (beside(1), "Next")];
    let links = links.into_iter().filter_map(|(address, text)| Some((address?, text))).collect();
    Ok(Page { title: exercise.goals.title.clone(), script: Some("exercise.js"), links, main })
}

/// The text of the exercise, which its file begins with.
fn idea(exercise: &Exercise) -> Result<Markup> {
    let file = if exercise.is_predicted() { exercise.given_file() } else { exercise.starter_file() };
    let document = prose::document(&read(&file)?);
    // Its first line is the title.
    let (_, idea) = document.split_once("\n\n").unwrap_or_default();
    Ok(prose::markup(idea, 1, &|_| None))
}

/// The hints that were read, and a button for one more.
pub fn hints(exercise: &Exercise, progress: &Progress) -> Result<Markup> {
    let hints = exercise.hints()?;
    let read = progress.hints(&exercise.name).min(hints.len());
    let rest = hints.len() - read;
    Ok(html! {
        @for (index, hint) in hints.iter().take(read).enumerate() {
            div.hint { h3 { "Hint " (index + 1) " of " (hints.len()) } (prose::markup(hint, 1, &|_| None)) }
        }
        @if rest > 0 {
            button #hint form="work" formaction={ (address(&exercise.name)) "/hint" } {
                @if read == 0 { "Show a hint" } @else { "One more hint" }
            }
        }
        @if progress.is_solved(&exercise.name) && !exercise.is_for_students() {
            p { a href={ (address(&exercise.name)) "/solution" } { "The solution" } }
        }
    })
}

/// The form with the student's file. Each button sends it: whatever it does, the text is saved first.
fn editor(exercise: &Exercise, work: &Work, said: &Said, has_editor: bool) -> Result<Markup> {
    let (name, file) = (&exercise.name, exercise.file_name());
    let to = |action: &str| format!("{}/{action}", address(name));
    let text = said.conflict.as_ref().unwrap_or(&work.text);
    let area = html! {
        // A line feed that begins the text would not count.
        textarea #text name="text" rows="24" maxlength=(LONGEST) wrap="off" spellcheck="false" autocapitalize="off"
            autocomplete="off" autocorrect="off" aria-label=(file) { "\n" (text) }
    };
    Ok(html! {
        form #work method="post" action=(to("run")) autocomplete="off" data-name=(file)
            data-editor=(if has_editor { "editor.js" } else { "text.js" }) {
            input type="hidden" name="base" value=(work.digest);
            div.tools {
                button.go #run type="submit" title="Ctrl+Enter" { @if exercise.is_predicted() { "Check" } @else { "Run" } }
                button #stop type="button" hidden { "Stop" }
                button #save formaction=(to("save")) title="Ctrl+S" { "Save" }
                button #reset formaction=(to("reset")) title="Yours is kept beside it" { "Reset" }
                span.quiet { (name) "/" (file) }
            }
            p.status #status role="status" { @if let Some(status) = &said.status { (status) } }
            div.conflict #conflict role="alert" hidden[said.conflict.is_none()] {
                p { (file) " was changed on the disk, too. Which text is to stay?" }
                div.tools {
                    button #mine formaction=(to("save")) { "This one" }
                    button #theirs type="button" hidden { "The one on the disk" }
                }
                details { summary { "The text on the disk" } pre #disk { (work.text) } }
            }
            @if exercise.is_predicted() {
                div.questions #questions hidden {
                    @for question in &exercise.goals.question {
                        label.question {
                            span { (code(&question.ask)) }
                            input type="text" inputmode="decimal" size="7" data-question=(question.name);
                        }
                    }
                }
                details #whole open { summary { "The file " (file) } (area) }
            } @else {
                (area)
            }
            ul #problems aria-label="Lines to look at" hidden {}
            details.options {
                summary { "Options" }
                div {
                    label.field { span { "Seed of sizes and values" } input type="text" name="seed" inputmode="numeric" size="12" placeholder="another each time"; }
                    @if !exercise.is_predicted() && !exercise.is_host() {
                        label.field { span { "Other orders of blocks and warps" } input type="text" name="schedules" inputmode="numeric" size="6" placeholder="up to 10"; }
                        label.field { span { "Device" } select name="device" { option value="sim" { "simulator" } option value="gpu" { "simulator and GPU" } } }
                    }
                }
            }
        }
    })
}

/// What a run does, one after the other. A script shows how far it is.
fn steps() -> Markup {
    html! {
        ol #steps aria-label="The run" hidden {
            @for (step, text) in [("compiling", "Compile"), ("running", "Run at several sizes"), ("orders", "Other orders"), ("goals", "Compare")] {
                li data-step=(step) { (text) " " span {} }
            }
        }
    }
}

/// The files that are given beside the student's.
fn given(exercise: &Exercise) -> Result<Markup> {
    let files = [(exercise.is_given(), exercise.given_file()), (exercise.is_host(), exercise.main_file())];
    let files: Vec<_> = files.into_iter().filter(|(is_given, _)| *is_given).map(|(_, file)| file).collect();
    let texts = files.iter().map(|file| Ok((file.file_name().unwrap_or_default().to_string_lossy(), read(file)?)));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    Ok(html! {
        @for (name, text) in &texts {
            details.card.given open[exercise.is_predicted()] {
                summary { "Given: " (name) }
                pre.scroll tabindex="0" { (without_document(text)) }
            }
        }
    })
}

/// A file without the text at its top, which the page shows already.
fn without_document(text: &str) -> String {
    let rest = text.lines().skip_while(|line| line.starts_with("//!") || line.is_empty());
    rest.map(|line| format!("{line}\n")).collect()
}

/// A sentence with its code between backticks.
fn code(text: &str) -> Markup {
    let parts = text.split('`').enumerate();
    html! { @for (index, part) in parts { @if index % 2 == 1 { code { (part) } } @else { (part) } } }
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(Error::reading(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_its_code_and_no_html() {
        assert_eq!(code("How many `a<b>` & c?").into_string(), "How many <code>a&lt;b&gt;</code> &amp; c?");
    }

    #[test]
    fn a_given_file_begins_with_its_code() {
        assert_eq!(without_document("//! A\n//! b\n\nuse x;\n//! c\n"), "use x;\n//! c\n");
    }
}
