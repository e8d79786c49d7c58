//! The command line of `cargo learn`: parses it and runs the subcommand.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::course::Course;
use crate::error::{Error, Result};
use crate::{check, grade, new, student, watch};

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
    Run(RunArguments),
    /// Do the same each time you save the file
    Watch(RunArguments),
    /// Show a hint; each further call shows one more
    Hint(Named),
    /// Show all exercises and which of them you have solved
    List,
    /// Replace your file by the starter; yours is kept beside it
    Reset(Named),
    /// Show the solution of an exercise that you have solved
    Solution(Named),
    /// For authors: check that each exercise can be solved, but not by accident
    Check(check::Options),
    /// For teachers: mark a folder of submissions
    Grade(grade::Options),
    /// For `grade` itself: judge one file, and print the verdict as JSON
    #[command(hide = true)]
    GradeOne(grade::OneOptions),
    /// For authors: create an exercise from a skeleton
    New(Named),
}

/// An exercise by its name.
#[derive(Args, Debug)]
pub struct Named {
    /// The exercise [default: the next]
    pub name: Option<String>,
}

/// The arguments of `run` and `watch`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The exercise [default: the next]
    pub name: Option<String>,
    /// Where the kernels run: sim, or gpu to also run and time them on a GPU
    #[arg(long, value_name = "DEVICE", default_value = "sim", value_parser = device)]
    pub device: Where,
    /// Draw sizes and values from this number, to repeat a run [default: another each time]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
}

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On the simulator.
    Simulator,
    /// On the simulator, and on this GPU.
    Gpu(u32),
}

impl Where {
    /// The GPU's number, if kernels run on one.
    pub fn gpu(self) -> Option<u32> {
        match self {
            Self::Simulator => None,
            Self::Gpu(number) => Some(number),
        }
    }
}

/// Parses the value of `--device`.
pub fn device(text: &str) -> std::result::Result<Where, String> {
    match (text, text.strip_prefix("gpu:").map(str::parse)) {
        ("sim", _) => Ok(Where::Simulator),
        ("gpu", _) => Ok(Where::Gpu(0)),
        (_, Some(Ok(number))) => Ok(Where::Gpu(number)),
        _ => Err("give sim, gpu or gpu:N".to_owned()),
    }
}

/// Runs the program. The exit code is 0 for solved or done, 1 for not solved, and 2 for an error.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If the message cannot be shown, there is nowhere left to report that.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match run(arguments) {
        Ok(good) => ExitCode::from(u8::from(!good)),
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the subcommand. Returns whether it succeeded.
fn run(arguments: Arguments) -> Result<bool> {
    let here = std::env::current_dir().map_err(Error::reading("."))?;
    let course = Course::find(&here, arguments.course.as_deref())?;
    match arguments.command {
        None => student::status(&course),
        Some(Command::Run(run)) => student::run(&course, &run),
        Some(Command::Watch(run)) => watch::watch(&course, &run),
        Some(Command::Hint(Named { name })) => student::hint(&course, name.as_deref()),
        Some(Command::List) => student::list(&course),
        Some(Command::Reset(Named { name })) => student::reset(&course, name.as_deref()),
        Some(Command::Solution(Named { name })) => student::solution(&course, name.as_deref()),
        Some(Command::Check(options)) => check::check(&course, &options),
        Some(Command::Grade(options)) => grade::grade(&course, &options),
        Some(Command::GradeOne(options)) => grade::one(&course, &options),
        Some(Command::New(Named { name })) => new::new(&course, name.as_deref()),
    }
}
