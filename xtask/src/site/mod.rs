//! `cargo xtask site`: builds the course as a static site into `target/site`: the pages, which the crate `site` writes, and the
//! program, which is the crate `web` compiled for WebAssembly. `--serve` serves it on this machine. `main` calls it; it writes
//! into `target` alone.

mod serve;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::program::{Failed, sibling, succeed};
use crate::workspace::{self, NotInWorkspace};

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// Serve the site on this machine, at 127.0.0.1, until the chore is ended
    #[arg(long)]
    serve: bool,
    /// The port to serve it at
    #[arg(long, value_name = "PORT", default_value_t = 8000, requires = "serve")]
    port: u16,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error(transparent)]
    Run(#[from] Failed),
    #[error("the Rust toolchain has no library for WebAssembly: run `rustup target add {TARGET}`")]
    NoTarget,
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: std::io::Error },
    #[error("cannot serve at 127.0.0.1:{port}: {problem}; give another --port")]
    Port { port: u16, problem: std::io::Error },
}

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the site, and serves it if asked to.
///
/// # Errors
///
/// What is missing, or what failed.
pub fn run(options: &Options) -> Result<(), Error> {
    let folder = build()?;
    println!("{}", folder.display());
    if options.serve {
        let (port, failed) = (options.port, |problem| Error::Port { port: options.port, problem });
        let served = serve::Served::new(&folder, port).map_err(failed)?;
        println!("serving it at http://127.0.0.1:{}/ until this is ended, with Ctrl-C", served.port());
        served.forever();
    }
    Ok(())
}

/// Builds the site; returns its folder.
///
/// # Errors
///
/// What is missing, or what failed.
pub fn build() -> Result<PathBuf, Error> {
    let root = workspace::root()?;
    let folder = root.join("target/site");
    let program = program(&root)?;
    let pages = sibling("site")?;
    match fs::remove_dir_all(&folder) {
        Err(problem) if problem.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::File { path: folder, problem });
        }
        _ => {}
    }
    succeed(Command::new(pages).arg(&folder))?;
    let target = folder.join("web.wasm");
    fs::copy(&program, &target).map_err(|problem| Error::File { path: target, problem })?;
    Ok(folder)
}

/// Compiles the program for WebAssembly; returns its file.
fn program(root: &Path) -> Result<PathBuf, Error> {
    let libraries =
        succeed(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).current_dir(root))?;
    if !Path::new(libraries.trim()).is_dir() {
        return Err(Error::NoTarget);
    }
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "-p", "web", "--lib", "--profile", "wasm", "--target", TARGET]);
    // All browsers of today have these instructions: Chromium since 91, Firefox since 89, Safari since 16.4.
    build.env("RUSTFLAGS", "-C target-feature=+simd128").current_dir(root);
    succeed(&mut build)?;
    Ok(root.join("target").join(TARGET).join("wasm/web.wasm"))
}
