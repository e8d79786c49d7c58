//! `coalesce env`: the variables that make programs load the simulator's driver, for places where
//! `coalesce run` cannot stand before them.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::library;

/// Print the variables that make programs load the simulator's driver
#[derive(Args, Debug)]
pub struct Options {
    /// For which file the variables are
    #[arg(long = "for", value_enum, value_name = "WHAT", default_value = "shell")]
    syntax: Syntax,
    /// The folder into which the driver is linked [default: ~/.cache/coalesce]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Syntax {
    /// A shell: `eval "$(coalesce env)"`
    Shell,
    /// A Dockerfile
    Docker,
    /// GitHub Actions: `coalesce env --for github >> "$GITHUB_ENV"`
    Github,
}

/// Links the driver, and prints the variables.
pub fn main(options: &Options) -> Result<u8, String> {
    let library = library::find()?;
    let folder = match &options.folder {
        Some(folder) => folder.clone(),
        None => cache().ok_or("there is no home folder; give --folder")?,
    };
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    library.link_into(&folder)?;
    let mut text = String::new();
    for (name, value) in library.variables(&folder) {
        let value = value.to_str().ok_or_else(|| format!("{}: the path is not UTF-8", Path::new(&value).display()))?;
        let is_list = library::is_list(name);
        text += &match options.syntax {
            Syntax::Shell => {
                let quoted = value.replace('\'', "'\\''");
                let rest = if is_list { format!("${{{name}:+:${name}}}") } else { String::new() };
                format!("export {name}='{quoted}'{rest}\n")
            }
            Syntax::Docker if is_list => format!("ENV {name}=\"{value}${{{name}:+:${name}}}\"\n"),
            Syntax::Docker => format!("ENV {name}=\"{value}\"\n"),
            Syntax::Github if is_list => {
                let all = library::before(value.as_ref(), std::env::var_os(name));
                format!("{name}={}\n", all.to_string_lossy())
            }
            Syntax::Github => format!("{name}={value}\n"),
        };
    }
    crate::run::print(&text)?;
    if std::io::stdout().is_terminal() {
        let use_it = match options.syntax {
            Syntax::Shell => "`eval \"$(coalesce env)\"` sets these variables in this shell",
            Syntax::Docker => "for a Dockerfile; the image needs the files that these variables name",
            Syntax::Github => "`coalesce env --for github >> \"$GITHUB_ENV\"` sets these variables for later steps",
        };
        eprintln!("note: {use_it}");
    }
    Ok(0)
}

fn cache() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?.join("coalesce"))
}
