//! `host completions SHELL` and `host man [COMMAND]`: what a shell completes, and the manual pages,
//! both made of the command line's own definition. `cli` calls it.

use std::io::Write;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use device::{Error, Result};

/// The subcommands.
pub(crate) fn commands() -> [Command; 2] {
    let shell = Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell));
    let command = Arg::new("command").value_name("COMMAND").help("The command or lab [default: the program]");
    [
        Command::new("completions")
            .about("Print what a shell completes")
            .arg(shell.help("The shell"))
            .after_help("For bash: host completions bash > ~/.local/share/bash-completion/completions/host"),
        Command::new("man")
            .about("Print a manual page")
            .arg(command)
            .after_help("To read one: host man transpose | man -l -"),
    ]
}

/// Writes the completions or the page. `program` is the whole command line.
///
/// # Errors
///
/// [`Error::Request`] for a command that is not there; [`Error::Output`].
pub(crate) fn main(name: &str, matches: &ArgMatches, mut program: Command, out: &mut dyn Write) -> Result<()> {
    let mut text = Vec::new();
    match (name, matches.try_get_one::<Shell>("shell")) {
        ("completions", Ok(Some(&shell))) => clap_complete::generate(shell, &mut program, "host", &mut text),
        _ => page(program, matches.get_one::<String>("command"), &mut text)?,
    }
    out.write_all(&text)?;
    out.flush()?;
    Ok(())
}

/// The manual page of the program, or of a command.
fn page(mut program: Command, name: Option<&String>, text: &mut Vec<u8>) -> Result<()> {
    // Fills in the flags that all commands share.
    program.build();
    let command = match name {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            let unknown =
                || Error::request("COMMAND", format!("there is no command '{name}'; `host --help` lists them"));
            let command = found.ok_or_else(unknown)?;
            let title = format!("host-{name}");
            command.display_name(title.clone()).bin_name(format!("host {name}"))
        }
    };
    Ok(clap_mangen::Man::new(command).render(text)?)
}
