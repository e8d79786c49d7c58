//! `cargo xtask site`: builds the course as a static site into `site` in cargo's target folder: the
//! pages, which the crate `site` writes, and the program, which is the crate `web` compiled for
//! WebAssembly. `--serve` serves it on this machine, `--check` opens it in a browser. `main` calls
//! it; it writes into the target folder alone.

mod serve;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::browser;
use crate::program::{self, Failed, sibling, succeed};
use crate::workspace::{self, NotInWorkspace};

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// Serve the site on this machine, at 127.0.0.1, until the chore is ended
    #[arg(long)]
    serve: bool,
    /// Compare the program with the native one in Node, and open each page in Chromium
    #[arg(long, conflicts_with = "serve")]
    check: bool,
    /// With --check: the browser [default: chromium, chromium-browser or google-chrome in the PATH]
    #[arg(long, value_name = "FILE", requires = "check")]
    browser: Option<PathBuf>,
    /// With --check: write screenshots of each page into this folder
    #[arg(long, value_name = "FOLDER", requires = "check")]
    screenshots: Option<PathBuf>,
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
    #[error(transparent)]
    Browser(#[from] browser::Error),
    #[error("the site is wrong: see above")]
    Wrong,
}

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the site, and serves it if asked to.
///
/// # Errors
///
/// What is missing, or what failed.
pub fn run(options: &Options) -> Result<(), Error> {
    // What a check lacks is said before the long part.
    let tools = options.check.then(|| browser::tools(options.browser.as_deref())).transpose()?;
    let folder = build()?;
    if let Some(tools) = tools {
        return check(&folder, &tools, options.screenshots.as_deref());
    }
    println!("{}", folder.display());
    if options.serve {
        let (port, failed) = (options.port, |problem| Error::Port { port: options.port, problem });
        let served = serve::Served::new(&folder, port).map_err(failed)?;
        println!("serving it at http://127.0.0.1:{}/ until this is ended, with Ctrl-C", served.port());
        served.forever();
    }
    Ok(())
}

/// Compares the program with the native one, and opens each page.
fn check(folder: &Path, tools: &browser::Tools, screenshots: Option<&Path>) -> Result<(), Error> {
    let root = workspace::root()?;
    let host = sibling("host")?;
    if let Some(folder) = screenshots {
        fs::create_dir_all(folder).map_err(|problem| Error::File { path: folder.to_owned(), problem })?;
    }
    let passed = |command: &mut Command| match command.status() {
        Ok(status) => Ok(status.success()),
        Err(problem) => Err(Failed::of(command, problem)),
    };
    let mut same = Command::new(&tools.node);
    let same = passed(same.arg(root.join("tests/web/check.mjs")).arg(folder).arg(host))?;
    let served = serve::Served::new(folder, 0).map_err(|problem| Error::Port { port: 0, problem })?;
    let address = format!("http://127.0.0.1:{}/", served.port());
    std::thread::spawn(|| served.forever());
    let mut pages = Command::new(&tools.node);
    pages.arg(root.join("tests/browser/site.mjs")).arg(&tools.browser).arg(address).args(screenshots);
    let pages = passed(&mut pages)?;
    if same && pages { Ok(()) } else { Err(Error::Wrong) }
}

/// Builds the site; returns its folder.
///
/// # Errors
///
/// What is missing, or what failed.
pub fn build() -> Result<PathBuf, Error> {
    let root = workspace::root()?;
    let target = program::target(&root)?;
    let folder = target.join("site");
    let program = compiled(&root, &target)?;
    let pages = sibling("site")?;
    match fs::remove_dir_all(&folder) {
        Err(problem) if problem.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::File { path: folder, problem });
        }
        _ => {}
    }
    succeed(Command::new(pages).arg(&folder))?;
    let copy = folder.join("web.wasm");
    fs::copy(&program, &copy).map_err(|problem| Error::File { path: copy, problem })?;
    Ok(folder)
}

/// Compiles the program for WebAssembly; returns its file.
fn compiled(root: &Path, target: &Path) -> Result<PathBuf, Error> {
    let libraries =
        succeed(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).current_dir(root))?;
    if !Path::new(libraries.trim()).is_dir() {
        return Err(Error::NoTarget);
    }
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Without a library for Rust, its dependencies are compiled once, when all is linked.
    build.args(["rustc", "--quiet", "-p", "web", "--lib", "--crate-type", "cdylib"]);
    build.args(["--profile", "wasm", "--target", TARGET]);
    // All browsers of today have these instructions: Chromium since 91, Firefox since 89, Safari
    // since 16.4.
    build.env("RUSTFLAGS", "-C target-feature=+simd128").current_dir(root);
    succeed(&mut build)?;
    Ok(target.join(TARGET).join("wasm/web.wasm"))
}
