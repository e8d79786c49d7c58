//! The workspace's chores, run as `cargo xtask <chore>`:
//!
//! - `build-ptx` compiles the crate `kernels` to the PTX that is checked in, or checks that it is
//!   not stale; `--crate` takes any other crate of kernels;
//! - `new-kernels` makes a crate of kernels outside this repository, with a program that launches
//!   them;
//! - `packages` packs the crates that other projects can depend on, for a test of such a project;
//! - `gradescope` makes the archive of an autograder for Gradescope;
//! - `setup` finds or installs the compiler that `build-ptx` needs;
//! - `pictures` draws the pictures of the documents into `docs/pictures`, or checks them;
//! - `site` builds the course as a static site, in which the labs run in a browser, and serves it;
//! - `lectures` makes slides of the lectures;
//! - `browser` opens the reports and the pages of `cargo learn serve` in Chromium, and checks that they work there;
//! - `results` times the labs on a GPU, beside the same kernels compiled by nvcc, and writes
//!   `docs/RESULTS.md` and its data;
//! - `compare` times the best kernels beside cuBLAS and CUB, and writes `docs/PEERS.md` and its
//!   data;
//! - `time` predicts the labs' times on the simulator, compares them with those on a GPU, and
//!   writes `docs/TIME.md`;
//! - `clients` runs programs of others on the driver that executes on the simulator, and writes the
//!   table of `measurements/clients.md`;
//! - `load` has a class save, run and read pages on this machine, and says how long it waits;
//! - `count` counts the labs' kernels on a GPU with NVIDIA's Nsight Compute, as the reference for
//!   the simulator's counters;
//! - `instructions` counts the processor's instructions for runs of the simulator, and compares
//!   them with those recorded;
//! - `compute-sanitizer` runs the suite of planted bugs on a GPU under NVIDIA's tool.
//!
//! The exit code is 0 for success, 1 if the chore failed or the PTX is stale, and 2 for wrong
//! arguments. Each error is a message on stderr that says what to do.

mod browser;
mod build_ptx;
mod class_pages;
mod clients;
mod compare;
mod compute_sanitizer;
mod count;
mod course_pages;
mod documents;
mod exit_code;
mod gradescope;
mod instructions;
mod lectures;
mod load;
mod new_kernels;
mod package;
mod packages;
mod pictures;
mod program;
mod records;
mod results;
mod setup;
mod shell;
mod site;
#[allow(dead_code)] // The tests of the program use the rest.
#[path = "../../tests/planted/suite.rs"]
mod suite;
mod tables;
mod time;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit_code::{FAILED, WRONG_ARGUMENTS};

/// Chores of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Compile the kernels, or those of another crate, to PTX files.
    BuildPtx(build_ptx::Options),
    /// Make a crate of kernels outside this repository, with a program that launches them.
    NewKernels(new_kernels::Options),
    /// Pack the crates that other projects can depend on, into a folder that stands for the
    /// registry.
    Packages(packages::Options),
    /// Make the archive of an autograder for Gradescope, which marks an assignment's submissions.
    Gradescope(gradescope::Options),
    /// Find the compiler for GPU kernels, or install it.
    Setup(setup::Options),
    /// Draw the pictures of the documents into docs/pictures.
    Pictures(pictures::Options),
    /// Build the course as a static site into target/site, where the labs run in a browser.
    Site(site::Options),
    /// Make slides of the lectures in docs/lectures, as web pages and PDF in target/lectures.
    Lectures(lectures::Options),
    /// Open the reports and the pages of `cargo learn serve` in Chromium, and check that they work.
    Browser(browser::Options),
    /// Time the labs on a GPU, beside the same kernels compiled by nvcc, and write docs/RESULTS.md.
    Results(results::Options),
    /// Time the labs' best kernels beside cuBLAS and CUB on a GPU, and write docs/PEERS.md.
    Compare(compare::Options),
    /// Compare the simulator's predicted times with those on a GPU, and write docs/TIME.md.
    Time(time::Options),
    /// Run programs of others on the driver that executes on the simulator, and write
    /// measurements/clients.md.
    Clients(clients::Options),
    /// Have a class of students save, run and read pages on this machine, and measure their waits.
    Load(load::Options),
    /// Count the labs' kernels on a GPU with Nsight Compute, as the reference for the simulator.
    Count(count::Options),
    /// Count the processor's instructions for runs of the simulator under Valgrind, beside those
    /// recorded.
    Instructions(instructions::Options),
    /// Run the suite of planted bugs on a GPU, under each tool of NVIDIA's compute-sanitizer.
    ComputeSanitizer(compute_sanitizer::Options),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            eprintln!("error: {}", wording::usage_line(&error.render().to_string()));
            return ExitCode::from(WRONG_ARGUMENTS);
        }
        Err(help) => {
            // A reader that closes the pipe early is not a failure.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    let result: Result<(), (u8, String)> = match arguments.chore {
        Chore::BuildPtx(options) => build_ptx::run(&options).map_err(|error| (error.exit_code(), error.to_string())),
        Chore::NewKernels(options) => {
            new_kernels::run(&options).map_err(|error| (error.exit_code(), error.to_string()))
        }
        Chore::Packages(options) => packages::run(&options).map_err(|error| (error.exit_code(), error.to_string())),
        Chore::Gradescope(options) => gradescope::run(&options).map_err(|error| (error.exit_code(), error.to_string())),
        Chore::Setup(options) => setup::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Pictures(options) => pictures::run(&options).map_err(|message| (FAILED, message)),
        Chore::Site(options) => site::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Lectures(options) => lectures::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Browser(options) => browser::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Results(options) => results::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Compare(options) => compare::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Time(options) => time::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Clients(options) => clients::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Load(options) => load::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Count(options) => count::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::Instructions(options) => instructions::run(&options).map_err(|error| (FAILED, error.to_string())),
        Chore::ComputeSanitizer(options) => {
            compute_sanitizer::run(&options).map_err(|error| (FAILED, error.to_string()))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, message)) => {
            eprintln!("error: {message}");
            ExitCode::from(code)
        }
    }
}
