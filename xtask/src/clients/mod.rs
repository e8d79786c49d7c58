//! `cargo xtask clients`: runs programs of others on the driver that executes on the simulator,
//! each bounded in time, and writes what passed into `tests/clients/counts.json` and the table of
//! `measurements/clients.md`. With `--quick` it runs a few, and fails if a count differs from the file's,
//! unless `COALESCE_BLESS` is set.
//!
//! ```text
//! clients.toml ──plan──▶ environment ──▶ coalesce run -- PROGRAM ──outcome──▶ counts ──table──▶ clients.md
//! ```
//!
//! `plan` reads the list, `environment` installs what a client needs into `target/clients`,
//! `outcome` counts what a program printed, `table` writes the table, and `error` says what can go
//! wrong.

mod environment;
mod error;
mod outcome;
mod plan;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::program::{Failed, sibling};
use crate::workspace;
use environment::Environment;
use error::Error;
use outcome::{AllCounts, Counts};
use plan::{Plan, Program};

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// Run a few programs alone, and compare with the counts that are checked in
    #[arg(long)]
    quick: bool,
    /// Run the programs of this client alone; may be repeated
    #[arg(long, value_name = "NAME")]
    client: Vec<String>,
}

/// Runs the programs.
///
/// # Errors
///
/// What is missing, what failed, or what differs.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let plan = Plan::read(&root)?;
    if let Some(name) = options.client.iter().find(|name| !plan.client.iter().any(|client| client.name == **name)) {
        let names = plan.client.iter().map(|client| client.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Error::NoClient { name: name.clone(), names });
    }
    let coalesce = sibling("coalesce")?;
    let cache = root.join("target/clients");
    fs::create_dir_all(&cache).map_err(|problem| Error::file(&cache, problem))?;
    let known = counts(&root)?;
    let mut all = known.clone();
    let mut different = Vec::new();
    for client in &plan.client {
        let programs = client.program.iter().filter(|program| program.quick || !options.quick);
        let programs: Vec<&Program> = programs.collect();
        if programs.is_empty() || !options.client.is_empty() && !options.client.contains(&client.name) {
            continue;
        }
        let environment = Environment::of(client, &root, &cache)?;
        for program in programs {
            let counts = run_program(program, &environment, &coalesce)?;
            let key = client.key(program);
            println!("{key}: {counts}");
            if options.quick && known.get(&key) != Some(&counts) {
                let expected = known.get(&key).map_or("nothing".to_owned(), Counts::to_string);
                println!("    expected: {expected}");
                different.push(key.clone());
            }
            all.insert(key, counts);
        }
    }
    if options.quick && std::env::var_os("COALESCE_BLESS").is_none() {
        return if different.is_empty() { Ok(()) } else { Err(Error::Differs(different.join("; "))) };
    }
    let path = counts_file(&root);
    let text = serde_json::to_string_pretty(&all).unwrap_or_default() + "\n";
    cuda_builder::write_whole(&path, &text)?;
    table::write(&root, &plan, &all)
}

fn counts_file(root: &Path) -> PathBuf {
    root.join("tests/clients/counts.json")
}

fn counts(root: &Path) -> Result<AllCounts, Error> {
    let path = counts_file(root);
    let text = fs::read_to_string(&path).map_err(|problem| Error::file(&path, problem))?;
    serde_json::from_str(&text).map_err(|problem| Error::file(&path, problem))
}

/// Runs a program once, or once for each of its files.
fn run_program(program: &Program, environment: &Environment, coalesce: &Path) -> Result<Counts, Error> {
    let mut total = Counts::default();
    for module in environment.modules(program)? {
        let limit = format!("{}", program.limit);
        let mut command = Command::new("timeout");
        command.args(["--kill-after", "5", &limit]).arg(coalesce).args(["run", "--fault"]);
        command.arg(program.fault.as_deref().unwrap_or("continue"));
        command.args(["--format", "json", "--output"]).arg(environment.report()).arg("--");
        command.args(program.command.iter().map(|part| environment.filled(part).replace("{module}", &module)));
        command.current_dir(environment.folder(program)?);
        command.envs(program.variables.iter().map(|(name, value)| (name, environment.filled(value))));
        if !program.libraries.is_empty() {
            let folders: Vec<String> = program.libraries.iter().map(|folder| environment.filled(folder)).collect();
            command.env("LD_LIBRARY_PATH", folders.join(":"));
        }
        let output = command.output().map_err(|problem| Failed::of(&command, problem))?;
        let text = String::from_utf8_lossy(&output.stdout) + "\n" + String::from_utf8_lossy(&output.stderr);
        // What `timeout` returns, and a shell for a program that was killed.
        let ended = !matches!(output.status.code(), Some(124 | 137) | None);
        let counts = outcome::of(program.reads, &text, ended);
        if !module.is_empty() {
            println!("    {module}: {counts}");
        }
        total += counts;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_counts() {
        let root = workspace::root().expect("the workspace");
        let (plan, counts) = (Plan::read(&root).expect("the list"), counts(&root).expect("the counts"));
        let document = fs::read_to_string(root.join(table::DOCUMENT)).expect("the document");
        assert_eq!(table::changed(&document, &plan, &counts).as_deref(), Some(document.as_str()));
        for client in &plan.client {
            for program in client.program.iter().filter(|program| program.quick) {
                assert!(counts.contains_key(&client.key(program)), "{}: {} was never run", client.name, program.name);
            }
        }
    }
}
