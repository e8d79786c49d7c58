//! `host litmus FILE`: what PTX's memory model allows a small program of several threads to do.
//! `cli` calls it. The answers are those of the crate `litmus`. With `--device` the program is run,
//! too ([`stress`]), and what was seen stands beside them.

mod stress;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use device::input_file::Kind;
use device::{DeviceChoice, Error, Result};
use litmus::{LIBRARY, Outcomes, Program, Question, Values, Witness, drawn, explained, named};
use maud::{PreEscaped, html};
use picture::graph_svg;
use serde_json::{Value, json};
use webpage::Place;

use crate::flag_values::whole_number;
use crate::progress::Progress;
use crate::report::{Format, Text, of_texts};
use crate::{listing, terminal};

/// Its subject, in a line.
const ABOUT: &str = "Ask what several threads may find in memory, by PTX's memory model";

/// The longest test that is read from a stream, which may never end.
const LONGEST: usize = 16 << 20;

const TEST: Kind = Kind {
    name: "a litmus test",
    refuses: |bytes, _| (bytes.len() > LONGEST).then_some("it is longer than 16 MiB"),
    other: |_| None,
};

/// Its arguments.
#[derive(Args, Clone, Debug)]
struct Flags {
    /// A file of threads and questions, or the name of a built-in test; without it, the tests are
    /// listed
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Run it, too, on a GPU (gpu, gpu:N), or on the simulator (sim) in drawn orders with late stores
    /// and stale reads, and count the outcomes
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
    /// How often, at least
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000, requires = "device", value_parser = whole_number(1, 1u64 << 40))]
    runs: u64,
    /// Also write this web page: the outcomes, and for each question the execution as a graph
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Flags::augment_args(Command::new("litmus")).about(ABOUT).long_about(None)
}

/// Runs it. Returns whether a GPU showed nothing that the model forbids.
pub(crate) fn main(matches: &ArgMatches, format: Format, out: &mut dyn Write) -> Result<bool> {
    let flags = Flags::from_arg_matches(matches).map_err(|error| Error::request("flags", error.to_string()))?;
    let Some(file) = flags.file else { return list(format, out).map(|()| true) };
    let name = file.display().to_string();
    let text = match named(&name) {
        Some(text) if !file.exists() => text.to_owned(),
        _ if !file.exists() => {
            return Err(Error::request(&name, "there is no such file; `host litmus` lists the built-in tests"));
        }
        _ => TEST.read(&file)?,
    };
    let program = litmus::read(&name, &text).map_err(|error| {
        let text = wording::readable(&error.to_string());
        let (place, problem) = text.split_once(": ").unwrap_or((&name, &text));
        Error::request(place, problem.lines().next().unwrap_or_default())
    })?;
    let progress = Progress::on_terminal();
    progress.begin(|| format!("{name}: all executions"));
    let outcomes = Outcomes::of(&program).map_err(|error| Error::request(&name, error.to_string()))?;
    let seen = flags.device.map(|choice| stress::seen(&outcomes, &program, choice, flags.runs)).transpose()?;
    drop(progress);
    let report = Report { program: &program, outcomes: &outcomes, seen };
    if let Some(path) = &flags.report {
        report.write_page(path)?;
    }
    match format {
        Format::Table => report.write(out)?,
        _ => {
            let columns = report.columns();
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            listing::write(format, &columns, report.rows(), report.json(), out)?;
        }
    }
    Ok(report.agrees())
}

/// The built-in tests, each with the answer to its first question.
fn list(format: Format, out: &mut dyn Write) -> Result<()> {
    let mut rows = Vec::new();
    for (name, text) in LIBRARY {
        let program = litmus::read(name, text).map_err(|error| Error::request(*name, error.to_string()))?;
        let outcomes = Outcomes::of(&program).map_err(|error| Error::request(*name, error.to_string()))?;
        let question = &program.questions[0];
        let (answer, _) = answer(&outcomes, question);
        rows.push(vec![(*name).to_owned(), program.name.clone(), question.text.clone(), answer.to_owned()]);
    }
    if format == Format::Table {
        let (first, second) = (
            rows.iter().map(|row| row[0].len()).max().unwrap_or(0),
            rows.iter().map(|row| row[3].len()).max().unwrap_or(0),
        );
        for row in &rows {
            let begin = format!("{:first$}  {:second$}  ", row[0], row[3]);
            let others = " ".repeat(begin.len());
            writeln!(out, "{}", wording::wrapped(&row[1], terminal::width(), &begin, &others))?;
        }
        writeln!(out, "\n`host litmus NAME` shows what each asks, and why PTX answers so.")?;
        return Ok(());
    }
    let columns = ["test", "about", "outcome", "answer"];
    let object = |row: &Vec<String>| {
        columns
            .iter()
            .map(|name| (*name).to_owned())
            .zip(row.iter().cloned().map(Value::from))
            .collect::<serde_json::Map<_, _>>()
    };
    let json = json!({ "tests": rows.iter().map(object).collect::<Vec<_>>() });
    listing::write(format, &columns, rows, json, out)
}

/// The answer to a question, and the axioms that stand against it.
fn answer(outcomes: &Outcomes<'_>, question: &Question) -> (&'static str, Option<String>) {
    match outcomes.answers(question).first() {
        None => ("forbidden", Some("no execution has these values".to_owned())),
        Some((_, witness)) if witness.broken.is_empty() => ("allowed", None),
        Some((_, witness)) => ("forbidden", Some(axioms(witness))),
    }
}

fn axioms(witness: &Witness) -> String {
    witness.broken.iter().map(|axiom| axiom.name()).collect::<Vec<_>>().join(", ")
}

/// What is known of a test.
struct Report<'a> {
    program: &'a Program,
    outcomes: &'a Outcomes<'a>,
    /// The GPU, and how often it showed which outcome.
    seen: Option<(String, BTreeMap<Values, u64>)>,
}

impl Report<'_> {
    /// Whether everything that was seen is allowed.
    fn agrees(&self) -> bool {
        let is_allowed =
            |values: &Values| self.outcomes.all.get(values).is_some_and(|witness| witness.broken.is_empty());
        self.seen.as_ref().is_none_or(|(_, seen)| seen.keys().all(is_allowed))
    }

    /// The names of the values, and what stands beside them.
    fn columns(&self) -> Vec<String> {
        let values = self.outcomes.all.keys().next();
        let registers = values.iter().flat_map(|values| values.registers.keys());
        let registers = registers.map(|(thread, register)| format!("{thread}:{register}"));
        let variables = values.iter().flat_map(|values| values.variables.keys());
        let variables = variables.map(|&variable| self.program.variables[variable].0.clone());
        let seen = self.seen.iter().map(|_| "seen".to_owned());
        registers.chain(variables).chain(seen).chain(["PTX".to_owned()]).collect()
    }

    /// All outcomes: those of the model, and what else was seen.
    fn rows(&self) -> Vec<Vec<String>> {
        let verdict = |witness: Option<&Witness>| match witness {
            Some(witness) if witness.broken.is_empty() => "allowed".to_owned(),
            Some(witness) => format!("forbidden: {}", axioms(witness)),
            None => "forbidden: no execution has these values".to_owned(),
        };
        let seen = self.seen.iter().flat_map(|(_, seen)| seen.keys());
        let all: BTreeSet<&Values> = self.outcomes.all.keys().chain(seen).collect();
        let row = |values: &Values| {
            let numbers = values.registers.values().chain(values.variables.values()).map(u32::to_string);
            let seen = self.seen.iter().map(|(_, seen)| seen.get(values).copied().unwrap_or(0).to_string());
            numbers.chain(seen).chain([verdict(self.outcomes.all.get(values))]).collect()
        };
        all.into_iter().map(row).collect()
    }

    fn json(&self) -> Value {
        let columns = self.columns();
        let outcome = |row: &Vec<String>| {
            let value = |cell: &String| cell.parse::<u64>().map_or_else(|_| Value::from(cell.clone()), Value::from);
            columns.iter().cloned().zip(row.iter().map(value)).collect::<serde_json::Map<_, _>>()
        };
        let questions = self.program.questions.iter().map(|question| {
            let (answer, why) = answer(self.outcomes, question);
            json!({ "outcome": question.text, "answer": answer, "why": why })
        });
        json!({
            "test": self.program.name,
            "executions": self.outcomes.executions,
            "device": self.seen.as_ref().map(|(device, _)| device),
            "questions": questions.collect::<Vec<_>>(),
            "outcomes": self.rows().iter().map(outcome).collect::<Vec<_>>(),
        })
    }

    /// How much was looked at, and run.
    fn extent(&self) -> Vec<String> {
        let threads = wording::several(self.program.threads.len(), "thread");
        let executions = wording::units::counted(self.outcomes.executions, "execution");
        let model = format!("{threads}, {executions} by PTX's memory model");
        let run = |(device, seen): &(String, BTreeMap<Values, u64>)| {
            format!("run {} times on {device}", seen.values().sum::<u64>())
        };
        [model].into_iter().chain(self.seen.as_ref().map(run)).collect()
    }

    /// The answer to a question, and why.
    fn verdict(&self, question: &Question) -> String {
        let (answer, why) = answer(self.outcomes, question);
        format!("{answer}: {}{}", question.text, why.map(|why| format!(" ({why})")).unwrap_or_default())
    }

    /// Writes the page, whole or not at all.
    fn write_page(&self, path: &Path) -> Result<()> {
        let place = Place::alone();
        let columns = self.columns();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let cell = |text: String| Text { value: None, class: "", text };
        let rows: Vec<Vec<Text>> = self.rows().into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
        let witnesses = self.program.questions.iter().filter_map(|question| {
            let (_, witness) = self.outcomes.answers(question).into_iter().next()?;
            let how = if witness.broken.is_empty() { "It comes about so" } else { "It would have to come about so" };
            Some((question, graph_svg(&drawn(self.outcomes, witness, how)), explained(self.outcomes, witness)))
        });
        let main = html! {
            @for (question, svg, text) in witnesses {
                (place.card(&self.verdict(question), &html! {
                    figure { (PreEscaped(svg)) }
                    details { summary { "In words" } pre.scroll tabindex="0" { (text) } }
                }))
            }
            (place.card("Outcomes", &of_texts(&columns, &rows, "Outcomes")))
        };
        let (title, details) = (&self.program.name, &self.extent());
        crate::report::write_text(&webpage::Page { title, about: ABOUT, details, main }, path)
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let (program, outcomes, width) = (self.program, self.outcomes, terminal::width());
        writeln!(out, "{}", wording::wrapped(&wording::printable(&program.name), width, "", "  "))?;
        for line in self.extent() {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        for question in &program.questions {
            writeln!(out, "{}", wording::wrapped(&self.verdict(question), width, "", "  "))?;
        }
        if !program.questions.is_empty() {
            writeln!(out)?;
        }
        let (columns, rows) = (self.columns(), self.rows());
        let width_of = |column: usize| {
            rows.iter().map(|row| row[column].len()).chain([columns[column].len(), 4]).max().unwrap_or(0)
        };
        let last = columns.len() - 1;
        let line = |cells: &[String]| {
            (0..last).map(|at| format!("{:>1$}", cells[at], width_of(at))).collect::<Vec<_>>().join(" ")
        };
        writeln!(out, "{}", line(&columns))?;
        for row in &rows {
            writeln!(out, "{}  {}", line(row), row[last])?;
        }
        for question in &program.questions {
            let Some((_, witness)) = outcomes.answers(question).into_iter().next() else { continue };
            let how = if witness.broken.is_empty() { "comes about so" } else { "would have to come about so" };
            writeln!(out, "\n{} {how}:\n", question.text)?;
            write!(out, "{}", explained(outcomes, witness))?;
        }
        out.flush()?;
        Ok(())
    }
}
