//! What a lab's page shows first, computed when the site is built: the sentences, the goals, the
//! pictures, the tables and the sweep, as [`Showcase`] chooses them. They stand in the lab's page,
//! where the simulator takes over when it is there, and in the book.

use std::ffi::OsString;

use host::cli::{self, Viewed};
use host::labs::{Entry, Showcase};
use host::report::{RowOverview, RunView};
use maud::{Markup, PreEscaped, html};

/// Requests of each access to choose the one to draw from, as the page in the browser does.
const STEPS: u32 = 32;

/// A lab at the setting that its page begins with. All of it is HTML.
pub struct Shown {
    /// What the numbers show.
    pub says: String,
    /// What to reach, and that it is not reached yet.
    pub goals: String,
    /// What moves between the memories; empty if there is no chart.
    pub memory: String,
    /// How often each element is accessed; empty if there are no maps.
    pub elements: String,
    /// The access of interest.
    pub picture: Option<Pictured>,
    /// The one beside it: another row's, or that of another value of the slider.
    pub other: Option<Pictured>,
    /// The tables.
    pub results: String,
    /// The sweep.
    pub plots: String,
}

/// An access, drawn.
pub struct Pictured {
    /// The drawing.
    pub svg: String,
    /// What it costs.
    pub says: String,
    /// Whose it is.
    caption: Markup,
}

impl Pictured {
    /// With its caption.
    fn figure(&self) -> Markup {
        html! { figure { (PreEscaped(&self.svg)) figcaption { (self.caption) } } }
    }
}

impl Shown {
    /// The drawings and the sweep, each with its caption.
    pub fn figures(&self) -> Markup {
        html! {
            @for drawing in [&self.memory, &self.elements].into_iter().filter(|drawing| !drawing.is_empty()) {
                figure { (PreEscaped(drawing)) }
            }
            div.pictures { @for pictured in self.picture.iter().chain(&self.other) { (pictured.figure()) } }
            (PreEscaped(&self.plots))
        }
    }
}

/// Runs a lab.
///
/// # Errors
///
/// What the program says.
pub fn of(entry: &Entry) -> Result<Shown, String> {
    let showcase = entry.showcase;
    let (start, other) = match showcase.slider {
        Some(slider) => (slider.range.2.to_string(), Some(slider.other.to_string())),
        None => (String::new(), None),
    };
    let run = view(&arguments(entry, &start))?;
    let overview = run.overview();
    let first = picture(&run, &showcase.row.replace("{}", &start), showcase.access);
    let other = match other {
        _ if !showcase.beside.is_empty() => picture(&run, showcase.beside, showcase.access),
        Some(other) => {
            let row = showcase.row.replace("{}", &other);
            picture(&view(&arguments(entry, &other))?, &row, showcase.access)
        }
        None => None,
    };
    let plots = match entry.plots && (showcase.slider.is_some() || !overview.plots.contains("<svg")) {
        // At the setting that the page begins with there may be nothing to sweep.
        true => view(&swept(entry)).map_or(String::new(), |run| run.overview().plots),
        false => overview.plots,
    };
    // A lab without a sentence says what its picture does.
    let says = match overview.says.is_empty() {
        true => first.as_ref().map_or(String::new(), |it| it.says.clone()),
        false => overview.says,
    };
    let step = showcase.stepped().position(|row| row == showcase.row);
    let goals = step.and_then(|step| overview.goals_of_steps.get(step).cloned()).unwrap_or(overview.goals);
    let (memory, elements, results) = (overview.memory, overview.elements, overview.results);
    Ok(Shown { says, goals, memory, elements, picture: first, other, results, plots })
}

/// The lab's name and flags, with this value of its slider.
pub fn arguments(entry: &Entry, value: &str) -> Vec<String> {
    let Showcase { slider, .. } = entry.showcase;
    let mut arguments = swept(entry);
    arguments.retain(|word| word != "--plot");
    if let Some(slider) = slider {
        arguments.extend([format!("--{}", slider.flag), format!("{}{value}", slider.with)]);
    }
    arguments
}

/// The lab's name and flags for its sweep, whose values it chooses.
fn swept(entry: &Entry) -> Vec<String> {
    let mut arguments = vec![entry.name.to_owned()];
    for (flag, value) in entry.showcase.start {
        arguments.push(format!("--{flag}"));
        if !value.is_empty() {
            arguments.push((*value).to_owned());
        }
    }
    arguments.push("--plot".to_owned());
    if entry.showcase.start.iter().all(|(flag, _)| *flag != "device") {
        arguments.extend(["--device", "sim"].map(str::to_owned));
    }
    arguments
}

fn view(arguments: &[String]) -> Result<RunView, String> {
    let Viewed { view, messages, .. } = cli::view(arguments.iter().map(OsString::from), STEPS);
    view.ok_or_else(|| format!("host {}: {}", arguments.join(" "), messages.trim()))
}

/// The picture of a row's access: of several of a kind the one that the lab's page begins with.
fn picture(run: &RunView, row: &str, access: &str) -> Option<Pictured> {
    let rows = run.overview().rows;
    let offered = |row: &usize| !rows[*row].accesses.is_empty();
    let index = (0..rows.len()).filter(offered).find(|at| rows[*at].name == row).or((0..rows.len()).find(offered))?;
    let RowOverview { accesses, begin_with, .. } = &rows[index];
    let at = begin_with.get(access).copied().unwrap_or(0);
    let drawn = run.picture(index, at, accesses[at].first)?;
    let (name, what) = (&rows[index].name, &accesses[at].what);
    let line = accesses[at].line.map(|line| format!(", line {line}")).unwrap_or_default();
    let caption = html! { b { (name) } ": " (what) (line) ", " (drawn.made_by) };
    Some(Pictured { svg: drawn.svg, says: drawn.says, caption })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is judged where a slider moves through rows: a goal is open at first, and reached at
    /// another step.
    #[test]
    fn every_lab_with_a_page_slides_to_its_goals() {
        for entry in host::labs::ALL {
            let showcase = entry.showcase;
            assert!(showcase.slides() && !showcase.goals.is_empty(), "{}: no slider, or no goal", entry.name);
            let Some(at_first) = showcase.stepped().position(|row| row == showcase.row) else {
                assert!(showcase.steps.is_none(), "{}: the first row is no step", entry.name);
                continue;
            };
            let steps = view(&arguments(entry, "")).unwrap().overview().goals_of_steps;
            let met = |step: &String| !step.contains("data-met=\"false\"");
            assert!(!met(&steps[at_first]), "{}: {}", entry.name, steps[at_first]);
            assert!(steps.iter().any(met), "{}: {steps:?}", entry.name);
            let judged = |step: &String| !step.contains("no number to judge");
            assert!(steps.iter().all(judged), "{}: {steps:?}", entry.name);
        }
    }
}
