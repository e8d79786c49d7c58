//! The program `coalesce`: runs any CUDA program on the simulator, and reports what its kernels
//! did.
//!
//! | file | contents |
//! | --- | --- |
//! | `run` | runs a program with the simulator's driver, and reports |
//! | `records` | what the driver left: records of kernels, for the report of the crate `host` |
//! | `recording` | reports what a process recorded itself, for the Python package |
//! | `judge` | judges a candidate by a reference |
//! | `mcp` | serves these to programs that write kernels |
//! | `library` | finds the driver and the runtime library, and the variables that make a program load them |
//! | `shim` | writes libraries that name the runtime library as programs ask for it |
//! | `environment` | those variables for a shell, a Dockerfile, a CI file |
//! | `doctor` | what a program will meet, and the remedy |
//!
//! Errors are one line, with exit code 2. Otherwise the exit code of `run` is the program's, or 1
//! if a kernel had a fault, missed a goal, or is worse than its baseline.

#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod library;
#[cfg(target_os = "linux")]
mod mcp;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod shim;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: the driver that runs on the simulator is for Linux");
    ExitCode::from(2)
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use clap::Parser;
    use clap::error::ErrorKind;

    /// Runs any CUDA program on a simulated GPU, and reports what its kernels did.
    #[derive(Debug, Parser)]
    #[command(name = "coalesce", version, disable_help_subcommand = true, max_term_width = wording::WIDTH)]
    enum Command {
        Run(Box<run::Options>),
        Compare(host::baselines::CompareFlags),
        Judge(Box<judge::Options>),
        Mcp(mcp::Options),
        Env(environment::Options),
        Doctor(doctor::Options),
        #[command(hide = true)]
        Confined(judge::ConfinedOptions),
        #[command(hide = true)]
        Recording(recording::Options),
    }

    common::signals::fail_beyond_the_file_limit();
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A reader that closes the pipe early is not a failure.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {}", wording::usage_line(&error.render().to_string()));
            return ExitCode::from(2);
        }
    };
    let result = match command {
        Command::Run(options) => run::main(&options),
        Command::Compare(options) => run::compare(&options),
        Command::Judge(options) => judge::main(&options),
        Command::Mcp(options) => mcp::main(&options),
        Command::Confined(options) => judge::become_confined(&options),
        Command::Env(options) => environment::main(&options),
        Command::Doctor(options) => doctor::main(&options),
        Command::Recording(options) => recording::main(&options),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("error: {}", wording::printable(&wording::one_line(&message)));
            ExitCode::from(2)
        }
    }
}
