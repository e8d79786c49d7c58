//! `cargo xtask browser`: writes the reports that the programs can write, and opens each in
//! Chromium: it must load with nothing on the console, sort, unfold, fit 1280 and 400 pixels, and
//! be accessible. `tests/browser/check.mjs` looks at them, by playwright-core and axe-core, which
//! npm installs there. Then the pages of `cargo learn serve`, for one student
//! ([`crate::course_pages`]) and for a class ([`crate::class_pages`]). `main` calls it; it writes into `tests/browser/node_modules`, and the folders that are named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::Value;

use crate::program::{Failed, list, sibling, succeed, text};
use crate::setup::in_path;
use crate::workspace::{self, NotInWorkspace};
use crate::{class_pages, course_pages};

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// The browser [default: chromium, chromium-browser or google-chrome in the PATH]
    #[arg(long, value_name = "FILE")]
    browser: Option<PathBuf>,
    /// Look at the pages of `cargo learn serve` alone
    #[arg(long, conflicts_with = "pages")]
    course: bool,
    /// Keep the pages in this folder
    #[arg(long, value_name = "FOLDER")]
    pages: Option<PathBuf>,
    /// Write screenshots of each page into this folder
    #[arg(long, value_name = "FOLDER")]
    screenshots: Option<PathBuf>,
}

/// Why the pages were not looked at, or what is wrong with them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error("there is no {what} in the PATH: install it, on Debian with `apt-get install {package}`")]
    Missing { what: &'static str, package: &'static str },
    #[error("{}: there is no such browser", .0.display())]
    NoBrowser(PathBuf),
    #[error(transparent)]
    Run(#[from] Failed),
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: std::io::Error },
    #[error("a page is wrong: see above")]
    Wrong,
}

/// The browsers to look for.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Writes the pages, and opens them.
///
/// # Errors
///
/// What is missing, what failed, or that a page is wrong.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let tools = tools(options.browser.as_deref())?;
    let scratch = tempfile::tempdir().map_err(file(Path::new("a temporary folder")))?;
    let pages = options.pages.clone().unwrap_or_else(|| scratch.path().join("pages"));
    for folder in [Some(&pages), options.screenshots.as_ref()].into_iter().flatten() {
        fs::create_dir_all(folder).map_err(file(folder))?;
    }
    let reports = options.course || {
        write(&root, &pages, scratch.path())?;
        let mut check = Command::new(&tools.node);
        check.arg(root.join("tests/browser/check.mjs")).arg(&tools.browser).arg(&pages).args(&options.screenshots);
        check.status().map_err(|problem| Failed::of(&check, problem))?.success()
    };
    let course = course_pages::check(&root, &tools, scratch.path(), options.screenshots.as_deref())?;
    let class = class_pages::check(&root, &tools, scratch.path(), options.screenshots.as_deref())?;
    match reports && course && class {
        true => Ok(()),
        false => Err(Error::Wrong),
    }
}

/// What opens pages.
pub struct Tools {
    /// Node.
    pub node: PathBuf,
    /// Chromium, or what was named instead.
    pub browser: PathBuf,
}

/// Finds what opens pages, and installs what the tests need of npm.
///
/// # Errors
///
/// What is missing.
pub fn tools(browser: Option<&Path>) -> Result<Tools, Error> {
    tools_for(&workspace::root()?.join("tests/browser"), browser)
}

/// The same, with the packages of npm that this folder's lock file names.
///
/// # Errors
///
/// What is missing.
pub fn tools_for(folder: &Path, browser: Option<&Path>) -> Result<Tools, Error> {
    let node = in_path("node").ok_or(Error::Missing { what: "node", package: "nodejs" })?;
    let browser = match browser {
        Some(browser) if browser.is_file() => browser.to_owned(),
        Some(browser) => return Err(Error::NoBrowser(browser.to_owned())),
        None => BROWSERS
            .iter()
            .find_map(|name| in_path(name))
            .ok_or(Error::Missing { what: "Chromium", package: "chromium" })?,
    };
    install(folder)?;
    Ok(Tools { node, browser })
}

/// Installs what the folder's lock file names, unless it is there in the versions of the lock file.
///
/// # Errors
///
/// That npm is missing, or what it cannot do.
pub fn install(folder: &Path) -> Result<(), Error> {
    let lock = |path: PathBuf| -> Option<Value> { serde_json::from_str(&fs::read_to_string(path).ok()?).ok() };
    let versions = |lock: Option<Value>| {
        let packages = lock?["packages"].as_object().cloned()?;
        let installed = packages.into_iter().filter(|(name, _)| !name.is_empty());
        Some(installed.map(|(name, package)| (name, text(&package["version"]))).collect::<Vec<_>>())
    };
    let installed = versions(lock(folder.join("node_modules/.package-lock.json")));
    if installed.is_some() && installed == versions(lock(folder.join("package-lock.json"))) {
        return Ok(());
    }
    let npm = in_path("npm").ok_or(Error::Missing { what: "npm", package: "npm" })?;
    succeed(Command::new(npm).arg("ci").current_dir(folder))?;
    Ok(())
}

/// Writes a page of each kind into `pages`: of each lab, with its sweep, of kernels, the course, of an
/// order that differs, a comparison, and of exercises.
fn write(root: &Path, pages: &Path, scratch: &Path) -> Result<(), Error> {
    let (host, learn) = (sibling("host")?, sibling("learn")?);
    // The exit code may say that what ran was wrong: a page shows that.
    let page = |mut command: Command, name: &str| {
        let path = pages.join(format!("{name}.html"));
        let output = command.current_dir(root).arg("--report").arg(&path).output();
        let output = output.map_err(|problem| Failed::of(&command, problem))?;
        match path.is_file() {
            true => Ok(()),
            false => Err(Failed::of(&command, String::from_utf8_lossy(&output.stderr).trim())),
        }
    };
    let host = |arguments: &str| {
        let mut command = Command::new(&host);
        command.args(arguments.split_whitespace());
        command
    };
    let labs: Value = serde_json::from_str(&succeed(&mut host("list --format json"))?).unwrap_or_default();
    let labs = list(&labs).iter().map(|lab| text(&lab["lab"])).filter(|lab| lab != "devices");
    for lab in labs {
        let plots = succeed(&mut host(&format!("{lab} --help")))?.contains("--plot");
        page(host(&format!("{lab} --device sim {}", if plots { "--plot" } else { "" })), &lab)?;
    }
    page(host("transpose --device sim:g80 --rows 64 --cols 64"), "g80")?;
    page(host("course --device sim"), "course")?;
    let race = "run tests/browser/race.ptx race u32[64] --grid 2 --block 32 --then race arg:0 --grid 1 --block 64 --device sim";
    page(host(race), "run")?;
    let lost =
        "run crates/simt/tests/data/orders.ptx lost_update --grid 8 --block 128 u32[4] --schedules 8 --device sim";
    page(host(lost), "orders")?;
    page(host("compare tests/program/compare/before.json tests/program/compare/after.json"), "compare")?;
    let course = scratch.join("course");
    for exercise in ["padding", "predict_offset"] {
        copy(&root.join("exercises").join(exercise), &course.join(exercise))?;
    }
    let chapters = "[[chapter]]\ntitle = \"Two\"\nexercises = [\"padding\", \"predict_offset\"]\n";
    fs::write(course.join("course.toml"), chapters).map_err(file(&course))?;
    for exercise in ["padding", "predict_offset"] {
        let mut command = Command::new(&learn);
        command.arg("--course").arg(&course).args(["run", exercise, "--seed", "1"]);
        page(command, exercise)?;
    }
    Ok(())
}

/// Copies a folder of an exercise, without what a student made.
pub fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(file(to))?;
    for entry in fs::read_dir(from).map_err(file(from))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let of_student = ["kernel.rs", "predict.toml", "host.rs"].iter().any(|file| name == *file);
        if path.is_file() && !of_student {
            fs::copy(&path, to.join(&name)).map_err(file(&path))?;
        }
    }
    Ok(())
}

/// For `map_err`: the error of a file.
pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |problem| Error::File { path, problem }
}
