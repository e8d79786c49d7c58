//! The command line of `cargo learn`: parses it and runs the subcommand. `main` calls it. The only
//! place that turns an error into an exit code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::arguments::{Named, NamedOrNext, RunArguments, RunOptions};
use crate::course::Course;
use crate::error::Result;
use crate::terminal::note;
use crate::{
    check, events, export, grade, isolation, leaderboard, new, programs, roster, serve, student, watch, worker,
};

/// Exercises on GPU memory: kernels in Rust, graded by their results and by their memory accesses.
///
/// Without a command, shows your progress and the next exercise.
#[derive(Debug, Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// The folder of the course [default: exercises, in the clone around the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    course: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compile, run and judge your kernel, by default the next exercise's
    Run(RunOptions),
    /// Run it again each time you save the file
    Watch(RunArguments),
    /// Serve the course as web pages, to this machine alone or to a class: texts, an editor, verdicts
    Serve(serve::Options),
    /// Show a hint; each further call shows one more
    Hint(NamedOrNext),
    /// Show all exercises and which of them you have solved
    List,
    /// Replace your file with the starter, and count the exercise as unsolved; yours is kept beside
    /// it
    Reset(Named),
    /// Show the solution of an exercise that you have solved
    Solution(Named),
    /// Show the best predicted times of open exercises: yours, or those in files of several students
    Leaderboard(leaderboard::Options),
    /// For authors: check that each exercise can be solved, but not by accident
    Check(check::Options),
    /// For teachers: mark a folder of submissions
    Grade(grade::Options),
    /// For teachers: the students of a class that `serve --class` serves, and their links
    Roster(roster::Options),
    /// For teachers: copy the course into a new folder, without solutions, for students
    Export(export::Options),
    /// For teachers: judge what waits in a class's database, on this machine
    Worker(worker::Options),
    /// For `grade` itself: judge one file, and print the verdict as JSON
    #[command(hide = true)]
    GradeOne(isolation::GradeOneOptions),
    /// For all that starts programs: become one that ends with its parent
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Start(crate::start::StartOptions),
    /// For authors: create an exercise from a skeleton
    New(Named),
}

/// Runs the program. The exit code is 0 for solved or done, 1 for not solved, and 2 for an error.
pub fn main() -> ExitCode {
    // Now, while it is sure to be this one.
    programs::own_program();
    common::signals::fail_beyond_the_file_limit();
    #[cfg(target_os = "linux")]
    if let Some(result) = crate::start::if_wrapper() {
        return exit_code(result);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            note!("error: {}", wording::usage_line(&error.render().to_string()));
            return ExitCode::from(2);
        }
        Err(help) => {
            // If it cannot be shown, there is nowhere left to report that.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    exit_code(run(arguments))
}

fn exit_code(result: Result<bool>) -> ExitCode {
    match result {
        Ok(good) => ExitCode::from(u8::from(!good)),
        Err(error) => {
            note!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the subcommand. Returns whether it succeeded.
fn run(arguments: Arguments) -> Result<bool> {
    let course = || Course::here(arguments.course.as_deref());
    match arguments.command {
        None => student::status(&course()?),
        Some(Command::Run(options)) if options.events => events::run(&course()?, &options),
        Some(Command::Run(RunOptions { run, .. })) => student::run(&course()?, &run),
        Some(Command::Serve(options)) => match &options.class {
            Some(file) => serve::serve_class(file, arguments.course.as_deref(), &options),
            None => serve::serve(&course()?, &options),
        },
        Some(Command::Roster(options)) => roster::roster(&options, arguments.course.as_deref()),
        Some(Command::Watch(run)) => watch::watch(&course()?, &run),
        Some(Command::Hint(NamedOrNext { name })) => student::hint(&course()?, name.as_deref()),
        Some(Command::List) => student::list(&course()?),
        Some(Command::Reset(Named { name })) => student::reset(&course()?, &name),
        Some(Command::Solution(Named { name })) => student::solution(&course()?, &name),
        Some(Command::Leaderboard(options)) => leaderboard::leaderboard(&course()?, &options),
        Some(Command::Check(options)) => check::check(&course()?, &options),
        Some(Command::Grade(options)) => grade::grade(&course()?, &options),
        Some(Command::Export(options)) => export::export(&course()?, &options),
        Some(Command::Worker(options)) => worker::work(&course()?, &options),
        Some(Command::GradeOne(options)) => isolation::grade_one(&course()?, &options),
        #[cfg(target_os = "linux")]
        Some(Command::Start(options)) => crate::start::become_program(&options),
        Some(Command::New(Named { name })) => new::new(&course()?, &name),
    }
}
