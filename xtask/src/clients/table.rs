//! The table of `measurements/clients.md`, between two marks. Pure, but for reading and writing the
//! document.

use std::fs;
use std::path::Path;

use super::error::Error;
use super::outcome::AllCounts;
use super::plan::Plan;
use crate::tables;

/// The document.
pub const DOCUMENT: &str = "measurements/clients.md";
const BEGIN: &str = "<!-- The table of clients begins. cargo xtask clients -->\n";
const END: &str = "<!-- The table of clients ends. -->";

/// Writes the table into the document.
pub fn write(root: &Path, plan: &Plan, counts: &AllCounts) -> Result<(), Error> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|problem| Error::file(&path, problem))?;
    let text = changed(&text, plan, counts).ok_or_else(|| Error::file(&path, "the marks of the table are missing"))?;
    Ok(cuda_builder::write_whole(&path, &text)?)
}

/// The document with this table; `None` without the marks.
pub fn changed(document: &str, plan: &Plan, counts: &AllCounts) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}\n{END}{after}", table(plan, counts)))
}

fn table(plan: &Plan, counts: &AllCounts) -> String {
    let mut text = "| client | what was run | passed | the rest |\n| --- | --- | --- | --- |\n".to_owned();
    for client in &plan.client {
        for program in &client.program {
            let Some(counts) = counts.get(&client.key(program)) else { continue };
            let mut rest: Vec<String> = Vec::new();
            rest.extend(program.rest.clone().filter(|_| counts.failed > 0 || counts.unfinished > 0));
            if counts.skipped > 0 {
                rest.push(format!("{} skipped", counts.skipped));
            }
            if counts.unfinished > 0 {
                rest.push(format!("{} did not end", counts.unfinished));
            }
            let cells = [
                format!("{} {}", client.name, client.version),
                program.name.clone(),
                format!("{} of {}", counts.passed, counts.passed + counts.failed),
                rest.join("; "),
            ];
            tables::line(&mut text, cells.into_iter());
        }
    }
    text
}
