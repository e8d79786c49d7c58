//! The page of an exercise: its text, the student's file in an editor, hints, and what the last run
//! found. It works by forms alone; scripts save and run without loading the page again. Each server
//! says what it knows of the student's work ([`View`]).

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
use crate::rating;

/// What a page says besides, after a form was sent.
#[derive(Debug, Default)]
pub struct Said {
    /// A sentence about what was done.
    pub status: Option<String>,
    /// The text that the student has sent, if the file has another one now.
    pub conflict: Option<String>,
    /// A text for the editor in place of the one that is kept.
    pub instead: Option<String>,
    /// The verdict, as HTML of our own.
    pub verdict: Option<String>,
}

/// The address of an exercise's page.
pub fn address(name: &str) -> String {
    format!("/exercises/{name}")
}

/// A student's work on an exercise.
pub struct View<'a> {
    pub exercise: &'a Exercise,
    /// The title of the exercise's chapter.
    pub chapter: Option<&'a str>,
    pub state: State,
    pub work: &'a Work,
    pub said: &'a Said,
    /// What [`hints`] makes.
    pub hints: Markup,
    pub has_editor: bool,
    pub kept: Kept,
}

/// Where a student's text is kept.
pub enum Kept {
    /// On the student's disk.
    AtHome,
    /// By the server of a class.
    #[cfg_attr(not(feature = "class"), expect(dead_code, reason = "there is no class"))]
    InClass {
        /// What counts: points, the deadline, the student's best.
        about: Markup,
        /// Events of a run that goes on.
        events: Option<String>,
    },
}

impl Kept {
    /// Where else the text may be changed.
    fn elsewhere(&self) -> &'static str {
        match self {
            Self::AtHome => "on the disk",
            Self::InClass { .. } => "in another window",
        }
    }

    /// What Reset does with the text.
    fn reset(&self) -> &'static str {
        match self {
            Self::AtHome => "Yours is kept beside it",
            Self::InClass { .. } => "Yours stays saved until you save the starter",
        }
    }

    fn events(&self) -> Option<&str> {
        match self {
            Self::AtHome => None,
            Self::InClass { events, .. } => events.as_deref(),
        }
    }

    /// How often a script looks for such a change, in milliseconds.
    fn interval(&self) -> u32 {
        match self {
            Self::AtHome => 2000,
            Self::InClass { .. } => 30_000,
        }
    }
}

/// The page for one student at home.
pub fn page(course: &Course, exercise: &Exercise, said: &Said, has_editor: bool) -> Result<Page> {
    let progress = Progress::read(course)?;
    let work = Work::read(exercise)?;
    let name = &exercise.name;
    let chapter = course.chapters.iter().find(|chapter| chapter.exercises.contains(name));
    let view = View {
        exercise,
        chapter: chapter.map(|chapter| chapter.title.as_str()),
        state: State::of(exercise, &progress),
        work: &work,
        said,
        hints: hints_of(exercise, &progress)?,
        has_editor,
        kept: Kept::AtHome,
    };
    let names: Vec<&str> = course.names().collect();
    Ok(Page {
        title: exercise.goals.title.clone(),
        script: Some("exercise.js"),
        links: links(&names, name),
        main: view.main()?,
        ..Page::default()
    })
}

/// Links to the course and to the exercises before and after this one.
pub fn links(names: &[&str], name: &str) -> Vec<(String, &'static str)> {
    let at = names.iter().position(|known| *known == name);
    let beside = |step: isize| Some(address(names.get(at?.checked_add_signed(step)?)?));
    let links = [(Some("/".to_owned()), "Course"), (beside(-1), "Previous"), (beside(1), "Next")];
    links.into_iter().filter_map(|(address, text)| Some((address?, text))).collect()
}

impl View<'_> {
    /// The page's content.
    pub fn main(&self) -> Result<Markup> {
        let Self { exercise, chapter, state, said, hints, kept, .. } = self;
        Ok(html! {
            main.exercise data-exercise=(exercise.name) {
                section.idea aria-label="The exercise" {
                    p.quiet {
                        @if let Some(chapter) = chapter { (chapter) ". " }
                        (exercise.name) ": " (task(exercise)) ", about " (exercise.goals.minutes) " minutes."
                    }
                    h1 { (exercise.goals.title) " " span #state class={ "state " (state.word()) } { (state.word()) } }
                    @if let Kept::InClass { about, .. } = kept { (about) }
                    (idea(exercise)?)
                    // The form's first button is what Enter in a field presses: not the one for a hint.
                    button form="work" hidden {}
                    section #hints aria-label="Hints" { (hints) }
                }
                div.work {
                    @if exercise.is_predicted() { (given(exercise)?) }
                    (self.editor())
                    (steps(matches!(kept, Kept::InClass { .. })))
                    div #results {
                        @if let Some(verdict) = &said.verdict { (PreEscaped(verdict)) }
                    }
                    @if !exercise.is_predicted() { (given(exercise)?) }
                }
            }
        })
    }

    /// The form with the student's file. Each button sends it: whatever it does, the text is saved first.
    fn editor(&self) -> Markup {
        let Self { exercise, work, said, has_editor, kept, .. } = self;
        let (name, file, elsewhere) = (&exercise.name, exercise.file_name(), kept.elsewhere());
        let to = |action: &str| format!("{}/{action}", address(name));
        let text = said.conflict.as_ref().or(said.instead.as_ref()).unwrap_or(&work.text);
        let area = html! {
            // A line feed that begins the text would not count.
            textarea #text name="text" rows="24" maxlength=(LONGEST) wrap="off" spellcheck="false" autocapitalize="off"
                autocomplete="off" autocorrect="off" aria-label=(file) { "\n" (text) }
        };
        html! {
            form #work method="post" action=(to("run")) autocomplete="off" data-name=(file)
                data-where=(elsewhere) data-interval=(kept.interval()) data-events=[kept.events()]
                data-editor=(if *has_editor { "editor.js" } else { "text.js" }) {
                input type="hidden" name="base" value=(work.digest);
                div.tools {
                    button.go #run type="submit" title="Ctrl+Enter" { @if exercise.is_predicted() { "Check" } @else { "Run" } }
                    button #stop type="button" hidden { "Stop" }
                    button #save formaction=(to("save")) title="Ctrl+S" { "Save" }
                    @if let Kept::InClass { .. } = kept {
                        button #submit formaction=(to("submit")) title="This run counts" { "Submit" }
                    }
                    button #reset formaction=(to("reset")) title=(kept.reset()) { "Reset" }
                    span.quiet { (name) "/" (file) }
                }
                p.status #status role="status" { @if let Some(status) = &said.status { (status) } }
                div.conflict #conflict role="alert" hidden[said.conflict.is_none()] {
                    p { (file) " was changed " (elsewhere) ", too. Which text is to stay?" }
                    div.tools {
                        button #mine formaction=(to("save")) { "This one" }
                        button #theirs type="button" hidden { "The one " (elsewhere) }
                    }
                    details { summary { "The text " (elsewhere) } pre #disk { (work.text) } }
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
                @if let Kept::AtHome = kept { (options(exercise)) }
            }
        }
    }
}

/// The text of the exercise, which its file begins with.
fn idea(exercise: &Exercise) -> Result<Markup> {
    let file = if exercise.is_predicted() { exercise.given_file() } else { exercise.starter_file() };
    let document = prose::document(&read(&file)?);
    // Its first line is the title.
    let (_, idea) = document.split_once("\n\n").unwrap_or_default();
    Ok(prose::markup(idea, 1, &|_| None))
}

/// The hints that a student at home has read, and the way to the solution.
pub fn hints_of(exercise: &Exercise, progress: &Progress) -> Result<Markup> {
    let name = &exercise.name;
    let hints = hints(exercise, progress.hints(name))?;
    Ok(html! {
        (hints)
        @if progress.is_solved(name) && !exercise.is_for_students() {
            p { a href={ (address(name)) "/solution" } { "The solution" } }
        }
    })
}

/// The first hints, and a button for one more.
pub fn hints(exercise: &Exercise, read: usize) -> Result<Markup> {
    let hints = exercise.hints()?;
    let read = read.min(hints.len());
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
    })
}

/// How a run is to be made.
fn options(exercise: &Exercise) -> Markup {
    html! {
        details.options {
            summary { "Options" }
            div {
                label.field { span { "Seed of sizes and values" } input type="text" name="seed" inputmode="numeric" size="12" placeholder="another each time"; }
                @if !exercise.is_predicted() && !exercise.is_host() {
                    label.field { span { "Other orders of blocks and warps" } input type="text" name="schedules" inputmode="numeric" size="6" placeholder="up to 10"; }
                    label.field { span { "Device" } select name="device" {
                        option value="sim" { "simulator" }
                        @if exercise.is_open() {
                            @for model in rating::models() { option value={ "sim:" (model.name) } { "times of " (model.name) " (" (rating::gpu(model)) ")" } }
                        }
                        option value="gpu" { "simulator and GPU" }
                    } }
                }
            }
        }
    }
}

/// What a run does, one after the other. A script shows how far it is.
fn steps(queue: bool) -> Markup {
    html! {
        ol #steps aria-label="The run" hidden {
            @if queue { li data-step="waiting" { "Wait " span {} } }
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
pub fn code(text: &str) -> Markup {
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
