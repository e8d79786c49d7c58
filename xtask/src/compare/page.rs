//! `docs/PEERS.md`: a page that says what the comparisons show. [`super`] calls it. Pure: it
//! returns the text.

use wording::paragraph;

use super::measurements::{Results, Words};
use super::plan::{self, Goal};
use super::rows::{Compared, rows};
use crate::program::Machine;
use crate::tables::{extremes, geometric_mean, head, line, listed};

/// The whole page.
pub(super) fn of(results: &Results, words: &Words) -> String {
    let Machine { device, driver, cuda, nvcc, date: _ } = &results.machine;
    let nvcc = if nvcc.is_empty() { String::new() } else { format!(", nvcc {nvcc}") };
    let mut libraries: Vec<&str> =
        results.runs.values().flat_map(|run| run.values()).filter_map(|row| row.library.as_deref()).collect();
    libraries.retain(|library| !library.starts_with("driver") && !library.starts_with("nvcc"));
    libraries.sort_unstable();
    libraries.dedup();
    let processes = match results.processes {
        0 | 1 => String::new(),
        processes => format!("; each lab ran in {processes} processes, and the middle time of each row counts"),
    };
    let link = plan::PEERS;
    let all: Vec<Compared<'_>> = plan::GOALS.iter().flat_map(|goal| rows(goal, results)).collect();
    let met = all.iter().filter(|row| row.met() == Some(true)).count();
    let slower: Vec<String> = plan::GOALS.iter().filter_map(|goal| slower(goal, results)).collect();
    let slower = match slower.as_slice() {
        [] => "No library is faster anywhere.".to_owned(),
        slower => {
            format!("A library is faster in {}; [{link}](../{link}) says what limits ours there.", listed(slower))
        }
    };
    let mut text = format!(
        "# Peers\n\n{}\n\n```text\ncargo build --release -p host && cargo xtask compare --measure\n```\n\n{}\n\n",
        paragraph(&format!(
            "For whoever asks how fast our best kernels are beside libraries: measured on one {device} (driver {driver}, CUDA {cuda}{nvcc}), with {}. \
             Measured on {}; the command:",
            if libraries.is_empty() { "no library".to_owned() } else { listed(&libraries) },
            results.measured()
        )),
        paragraph(&format!(
            "{met} of {} rows meet their target. {slower} The table gives the library's time over ours, for each row the smaller of cold \
             and warm: above 1, ours is faster.",
            all.len()
        )),
    );
    head(&mut text, &["ours and the library's", "rows", "geometric mean", "least", "greatest", "target met"]);
    for goal in plan::GOALS {
        line(&mut text, summary(goal, results).into_iter());
    }
    let since = words.since.as_ref().map(|since| format!("Since the measurement: {since}"));
    let method = format!(
        "The libraries are rows of the labs' own tables (`host LAB --peer`): called in the same process, on the same buffers, timed in \
         the same way. Times are medians{processes}. [{link}](../{link}) has every size and target, \
         [measurements/tried.md](../measurements/tried.md) what was tried without gain."
    );
    let fairness = "Two things favour our kernels ([TIMING.md](TIMING.md#cold-and-warm)): they may begin before the previous kernel \
         has ended, and copies and transposes load and store with `evict_last`.";
    for words in since.into_iter().chain([method, fairness.to_owned()]) {
        text += &format!("\n{}\n", paragraph(&words));
    }
    text
}

/// The cells of a goal: how many rows were measured, and what they show.
fn summary(goal: &Goal, results: &Results) -> Vec<String> {
    let rows = rows(goal, results);
    let ratios: Vec<f64> = rows.iter().filter_map(Compared::least).collect();
    let mut cells = vec![goal.title.to_owned(), ratios.len().to_string()];
    if ratios.is_empty() {
        cells.extend(["-"; 4].map(str::to_owned));
        return cells;
    }
    let [least, most] = extremes(&ratios);
    cells.extend([geometric_mean(&ratios), least, most].map(|ratio| format!("{ratio:.2}")));
    let met = rows.iter().filter(|row| row.met() == Some(true)).count();
    cells.push(if met == ratios.len() { "all".to_owned() } else { format!("{met} of {}", ratios.len()) });
    cells
}

/// The sizes of a goal at which the library is faster, if there are any.
fn slower(goal: &Goal, results: &Results) -> Option<String> {
    let names: Vec<String> = rows(goal, results).iter().filter(|row| row.is_slower()).map(Compared::name).collect();
    (!names.is_empty()).then(|| format!("\"{}\" at {}", goal.title, listed(&names)))
}
