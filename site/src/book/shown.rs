//! What a lab's page shows first, computed when the site is built: the sentences, the pictures and the sweep, as
//! [`Showcase`] chooses them.

use std::ffi::OsString;

use host::cli::{self, Exhibited};
use host::labs::{Entry, Showcase};
use host::report::{Exhibit, RowOverview};
use maud::{Markup, PreEscaped, html};

/// Requests of each access to choose the one to draw from.
const STEPS: u32 = 8;

/// The sentences of a lab, at the setting that its page begins with.
pub struct Shown {
    /// What the numbers show.
    pub says: Markup,
    /// The pictures and the sweep, each with its caption.
    pub figures: Markup,
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
    let run = exhibit(&arguments(entry, &start))?;
    let overview = run.overview();
    let mut figures = vec![picture(&run, &showcase.row.replace("{}", &start), showcase.access)];
    match other {
        Some(other) => {
            let row = showcase.row.replace("{}", &other);
            figures.push(picture(&exhibit(&arguments(entry, &other))?, &row, showcase.access));
        }
        None if !showcase.beside.is_empty() => figures.push(picture(&run, showcase.beside, showcase.access)),
        None => {}
    }
    let plots = match entry.plots && (showcase.slider.is_some() || !overview.plots.contains("<svg")) {
        // At the setting that the page begins with there may be nothing to sweep.
        true => exhibit(&swept(entry)).map_or(String::new(), |run| run.overview().plots),
        false => overview.plots,
    };
    let figures = html! {
        div.pictures { @for figure in figures.into_iter().flatten() { (figure) } }
        (PreEscaped(plots))
    };
    Ok(Shown { says: PreEscaped(overview.says), figures })
}

/// The lab's name and flags, with this value of its slider.
fn arguments(entry: &Entry, value: &str) -> Vec<String> {
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
    arguments.extend(["--plot", "--device", "sim"].map(str::to_owned));
    arguments
}

fn exhibit(arguments: &[String]) -> Result<Exhibit, String> {
    let Exhibited { exhibit, messages, .. } = cli::exhibit(arguments.iter().map(OsString::from), STEPS);
    exhibit.ok_or_else(|| format!("host {}: {}", arguments.join(" "), messages.trim()))
}

/// The picture of a row's access: of several of a kind the one that the lab's page begins with.
fn picture(run: &Exhibit, row: &str, access: &str) -> Option<Markup> {
    let rows = run.overview().rows;
    let offered = |row: &usize| !rows[*row].accesses.is_empty();
    let index = (0..rows.len()).filter(offered).find(|at| rows[*at].name == row).or((0..rows.len()).find(offered))?;
    let RowOverview { accesses, begin_with, .. } = &rows[index];
    let at = begin_with.get(access).copied().unwrap_or(0);
    let drawn = run.picture(index, at, accesses[at].first)?;
    let (name, what) = (&rows[index].name, &accesses[at].what);
    let line = accesses[at].line.map(|line| format!(", line {line}")).unwrap_or_default();
    Some(html! {
        figure { (PreEscaped(drawn.svg)) figcaption { b { (name) } ": " (what) (line) ", " (drawn.made_by) } }
    })
}
