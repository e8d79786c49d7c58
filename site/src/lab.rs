//! A lab's page: the controls, and the places for what the program says about them, in the order of
//! a lecture, with what it says of its first setting: the sentence, the picture of an access, the
//! sweep, the source beside its PTX, the table, the command.

use exercise::Exercise;
use host::labs::{ALL, Entry};
use maud::{Markup, PreEscaped, html};

use crate::controls;
use crate::frame::Page;
use crate::predict;
use crate::shown::{Pictured, Shown};

/// The page.
pub fn page(entry: &Entry, shown: &Shown, exercises: &[Exercise]) -> String {
    let showcase = entry.showcase;
    let main = html! {
        main.lab.slides[showcase.slides()].two[!showcase.beside.is_empty()] data-lab=(entry.name) data-row=(showcase.row) data-access=(showcase.access) data-beside=(showcase.beside)
            data-slider=[showcase.slider.map(|slider| slider.flag)] data-plots[entry.plots] {
            section.controls.card aria-labelledby="title" {
                h1 #title { (entry.name) }
                p.about { (entry.about) "." }
                // Above the form, which is longer than a screen.
                p.status role="status" #status {}
                button #cancel type="button" hidden { "Cancel" }
                (controls::of(entry))
            }
            div.results #results aria-busy="true" {
                section.says #says aria-label="What the numbers show" aria-live="polite" { (PreEscaped(&shown.says)) }
                @if !showcase.goals.is_empty() {
                    section.card #goals aria-label="To reach" aria-live="polite" { (PreEscaped(&shown.goals)) }
                }
                // What makes the point: a narrow screen has it before the goals.
                @let (tabled, charted) = (showcase.tabled, showcase.charted.is_some());
                @if tabled { (results(shown, true)) }
                @if charted { (memory(shown, !tabled)) }
                div.panes.point[!tabled && !charted] {
                    (pane(0, "What a warp's access does", shown.picture.as_ref()))
                    (pane(1, "Beside it", shown.other.as_ref().filter(|_| !showcase.beside.is_empty())))
                }
                @if !charted { (memory(shown, false)) }
                @let plotted = if entry.roofline { "Roofline" } else { "Sweep" };
                section.card #sweep aria-label=(plotted) hidden { h2 { (plotted) } div #plots {} }
                section.card #lines aria-label="The source, line by line" {
                    h2 { "The source, and its PTX" }
                    p.quiet {
                        "The warmer a line, the more sectors and wavefronts it takes. Point at a line of either, and see it in "
                        "the other."
                    }
                    div #source {}
                }
                @if !tabled { (results(shown, false)) }
                (own_exercises(entry, exercises))
                section.card aria-label="The same on your machine" {
                    h2 { "The same on your machine" }
                    p { code #command {} }
                    (share())
                    p.quiet { "On a machine with an NVIDIA GPU, leave out --device: the same kernels run there, and are timed." }
                }
            }
            (turn(entry))
            noscript { p.card { "Other settings run in your browser, by JavaScript and WebAssembly. Please allow both for this page." } }
        }
    };
    Page {
        file: &format!("{}.html", entry.name),
        title: entry.name,
        about: entry.about,
        scripts: &["embed.js", "lab.js", "tables.js", "numbers.js"],
        main,
    }
    .render()
}

/// The places for the memory chart and the maps of elements, which stand before the pictures of a
/// warp where they make the lab's point.
fn memory(shown: &Shown, point: bool) -> Markup {
    html! {
        section.card.point[point] #memory aria-label="What moves between the memories" hidden[shown.memory.is_empty()] {
            h2 { "What moves between the memories" }
            div.drawing #chart { (PreEscaped(&shown.memory)) }
        }
        section.card #elements aria-label="How often each element is accessed" hidden[shown.elements.is_empty()] {
            h2 { "How often each element is accessed" }
            div.drawing #maps { (PreEscaped(&shown.elements)) }
        }
    }
}

/// The table.
fn results(shown: &Shown, point: bool) -> Markup {
    html! { section.card.point[point] aria-label="Results" { h2 { "Results" } div #table { (PreEscaped(&shown.results)) } } }
}

/// The exercises that go with the lab: those to predict have pages, the others are for
/// `cargo learn`.
fn own_exercises(entry: &Entry, exercises: &[Exercise]) -> Markup {
    let own: Vec<&Exercise> = exercises.iter().filter(|it| it.goals.lab.as_deref() == Some(entry.name)).collect();
    html! {
        @if !own.is_empty() {
            section.card aria-label="Exercises" {
                h2 { "Exercises" }
                ul {
                    @for exercise in own {
                        li {
                            @if exercise.is_predicted() { a href=(predict::file(exercise)) { (exercise.goals.title) } }
                            @else { (exercise.goals.title) ": " code { "cargo learn run " (exercise.name) } }
                            ", " (exercise.goals.minutes) " minutes"
                        }
                    }
                }
            }
        }
    }
}

/// The links to the notes of the lab, and to its neighbours.
fn turn(entry: &Entry) -> Markup {
    let index = ALL.iter().position(|other| other.name == entry.name).unwrap_or(0);
    let near = |at: Option<usize>| at.and_then(|at| ALL.get(at));
    html! {
        nav.turn aria-label="Before and after this lab" {
            @if let Some(before) = near(index.checked_sub(1)) { a rel="prev" href={ (before.name) ".html" } { "‹ " (before.name) } }
            a href={ "book-" (entry.name) ".html" } { "The notes of this lab" }
            @if let Some(after) = near(index.checked_add(1)) { a rel="next" href={ (after.name) ".html" } { (after.name) " ›" } }
        }
    }
}

/// What takes the page with one: its link, to show it elsewhere, and its picture.
pub fn share() -> Markup {
    html! {
        div.share {
            button type="button" #copy { "Copy link" }
            button type="button" #copy-embedded title="The page without its frame, for slides and course pages" { "Copy link to embed" }
            button type="button" #save { "Save SVG" }
        }
    }
}

/// A picture with the choice of its row, its access and its request; `first` is there at first.
pub fn pane(index: usize, heading: &str, first: Option<&Pictured>) -> Markup {
    let id = |part: &str| format!("{part}{index}");
    html! {
        section.card.pane aria-label=(heading) hidden[index > 0 && first.is_none()] {
            h2 { (heading) }
            div.choices {
                label { span { "Variant" } select name=(id("row")) {} }
                label { span { "Access" } select name=(id("access")) {} }
                div.steps role="group" aria-label="Request" {
                    button type="button" data-step="-1" aria-label="Previous request" { "‹" }
                    output name=(id("request")) {}
                    button type="button" data-step="1" aria-label="Next request" { "›" }
                }
            }
            div.passes role="group" aria-label="Wavefronts, one after the other" hidden {
                button.play type="button" { "▶ Play" }
                button type="button" data-pass-step="-1" aria-label="Wavefront before" { "‹" }
                output {}
                button type="button" data-pass-step="1" aria-label="Next wavefront" { "›" }
            }
            div.drawing tabindex="0" role="group" aria-label="Picture: the arrow keys go from lane to lane" {
                @if let Some(first) = first { (PreEscaped(&first.svg)) }
            }
            p.predicted.quiet {}
        }
    }
}
