//! The program `host`. All of it is in the library: see `host::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::cli::main(std::env::args_os())
}
