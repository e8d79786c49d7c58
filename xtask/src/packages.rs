//! `cargo xtask packages`: packs the crates that other projects can depend on, as `cargo publish`
//! would, and lays them out with all that they need in a folder that stands for the registry. A
//! project that is built from it sees the packages alone: `.ci/run own` builds one.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_builder::CudaBuilderError;
use cuda_builder::toolchain::DeviceCompiler;
use serde_json::Value;

use crate::exit_code::{FAILED, WRONG_ARGUMENTS};
use crate::setup;
use crate::workspace::{self, NotInWorkspace};

/// Options of `packages`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The folder to make. It must be new.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Why `packages` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Workspace(#[from] NotInWorkspace),
    #[error("{}: is there already; name a new folder", .0.display())]
    There(PathBuf),
    #[error("{}", setup::with_advice(.0))]
    Compiler(#[from] CudaBuilderError),
    #[error("`{command}` failed: {problem}")]
    Command { command: String, problem: String },
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Error {
    /// The program's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::There(_) => WRONG_ARGUMENTS,
            _ => FAILED,
        }
    }
}

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    if fs::symlink_metadata(&options.folder).is_ok() {
        return Err(Error::There(options.folder.clone()));
    }
    let compiler = DeviceCompiler::find()?;
    let packed = pack(&root)?;
    let folder = std::path::absolute(&options.folder).map_err(write_failed(&options.folder))?;
    fs::create_dir_all(&folder).map_err(write_failed(&folder))?;
    vendor(&root, &compiler, &packed, &folder)?;
    for package in &packed {
        unpack(package, &folder)?;
        println!("{}-{}", package.name, package.version);
    }
    let config = folder.join("config.toml");
    let text = format!(
        "# For `cargo --config`, or as a project's .cargo/config.toml: the packages of this folder alone.\n\
         [source.crates-io]\nreplace-with = \"packages\"\n\n[source.packages]\ndirectory = {}\n",
        toml::Value::from(folder.display().to_string())
    );
    fs::write(&config, text).map_err(write_failed(&config))
}

/// The package with the feature `gpu`.
const DEVICE: &str = "coalesce-device";

/// A package that others can depend on.
struct Package {
    name: String,
    version: String,
    /// The folder of its crate.
    folder: PathBuf,
    /// The file that `cargo package` makes.
    file: PathBuf,
}

/// Packs every crate of the workspace that may be published. What does not compile shows later.
fn pack(root: &Path) -> Result<Vec<Package>, Error> {
    let mut cargo = cargo(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata = output(cargo.current_dir(root))?;
    let metadata: Value = serde_json::from_str(&metadata).unwrap_or_default();
    let target = PathBuf::from(metadata["target_directory"].as_str().unwrap_or("target")).join("package");
    let published = |package: &&Value| package["publish"].is_null();
    let package = |package: &Value| {
        let [name, version, manifest] = ["name", "version", "manifest_path"].map(|key| package[key].as_str());
        let (name, version, manifest) = (name?.to_owned(), version?.to_owned(), Path::new(manifest?));
        let file = target.join(format!("{name}-{version}.crate"));
        Some(Package { name, version, folder: manifest.parent()?.to_owned(), file })
    };
    let packages: Vec<Package> =
        metadata["packages"].as_array().into_iter().flatten().filter(published).filter_map(package).collect();
    let mut cargo = self::cargo(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    packages.iter().for_each(|package| _ = cargo.args(["--package", &package.name]));
    output(cargo.current_dir(root))?;
    Ok(packages)
}

/// Puts into the folder what the packages need of others, in the workspace's versions, and what
/// `core` needs to be compiled for the device.
fn vendor(root: &Path, compiler: &DeviceCompiler, packages: &[Package], folder: &Path) -> Result<(), Error> {
    let project = tempfile::tempdir().map_err(write_failed(folder))?;
    let dependencies: String = packages
        .iter()
        .map(|package| {
            let path = toml::Value::from(package.folder.display().to_string());
            // A project has this feature, so its lock names what the feature needs, used or not.
            let features = if package.name == DEVICE { ", features = [\"gpu\"]" } else { "" };
            format!("{} = {{ path = {path}{features} }}\n", package.name)
        })
        .collect();
    let manifest = format!(
        "[package]\nname = \"packages\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         clap = {{ version = \"4\", features = [\"derive\"] }}\n{dependencies}"
    );
    let write = |name: &str, text: &str| {
        let path = project.path().join(name);
        fs::write(&path, text).map_err(write_failed(&path))
    };
    fs::create_dir(project.path().join("src")).map_err(write_failed(project.path()))?;
    write("src/lib.rs", "")?;
    write("Cargo.toml", &manifest)?;
    let lock = root.join("Cargo.lock");
    fs::copy(&lock, project.path().join("Cargo.lock")).map_err(write_failed(&lock))?;
    let mut cargo = cargo(["vendor", "--quiet", "--versioned-dirs", "--sync"]);
    cargo.arg(compiler.sources.join("sysroot/Cargo.toml")).arg(folder).current_dir(project.path());
    // The manifest of `core` has features that only unstable compilers accept.
    output(cargo.env("RUSTC_BOOTSTRAP", "1")).map(drop)
}

/// Unpacks a package into the folder.
fn unpack(package: &Package, folder: &Path) -> Result<(), Error> {
    output(Command::new("tar").arg("-xzf").arg(&package.file).arg("-C").arg(folder))?;
    let sums = folder.join(format!("{}-{}", package.name, package.version)).join(".cargo-checksum.json");
    fs::write(&sums, "{\"files\":{}}").map_err(write_failed(&sums))
}

/// The cargo that runs this program.
fn cargo(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments);
    cargo
}

/// The standard output of a program that succeeds.
fn output(command: &mut Command) -> Result<String, Error> {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let failed = |problem: String| Error::Command { command: words.join(" "), problem };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(failed(wording::one_line(&String::from_utf8_lossy(&output.stderr)))),
    }
}

/// For `map_err`.
fn write_failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Write { path, source }
}
