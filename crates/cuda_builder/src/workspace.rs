//! Asks cargo about the workspace of a crate of kernels.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CudaBuilderError;

/// A crate of kernels and its workspace.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Workspace {
    /// The root folder of the workspace.
    pub root: PathBuf,
    /// The folder that cargo builds in.
    pub target: PathBuf,
    /// The name of the crate's package.
    pub package: String,
    /// The name of its library.
    pub library: String,
    /// The edition of Rust that it is written in.
    pub edition: String,
    /// The names by which it calls its dependencies.
    pub dependencies: Vec<String>,
    /// The crate's folder.
    pub folder: PathBuf,
    /// The folders of the crate and of all its path dependencies.
    pub source_folders: Vec<PathBuf>,
}

impl Workspace {
    /// Asks `cargo` (or the environment's) about the crate at `path`. Needs no network and no lock
    /// file.
    pub fn of_crate(path: &Path, cargo: Option<&Path>) -> Result<Self, CudaBuilderError> {
        let manifest = path.join("Cargo.toml");
        let missing = || CudaBuilderError::CratePathDoesntExist { path: path.to_owned() };
        let manifest = std::fs::canonicalize(manifest).map_err(|_| missing())?;

        let cargo: OsString =
            cargo.map_or_else(|| std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), |cargo| cargo.into());
        let mut metadata = metadata_of(&cargo, &manifest)?;
        // Cargo lists only the packages of one workspace, so dependencies in other workspaces need
        // further calls.
        let mut asked = BTreeSet::new();
        while let Some(outside) = unlisted(&metadata, &manifest).into_iter().find(|folder| asked.insert(folder.clone()))
        {
            let mut further = metadata_of(&cargo, &outside.join("Cargo.toml"))?;
            let further = further["packages"].as_array_mut().map(std::mem::take).unwrap_or_default();
            if let Some(packages) = metadata["packages"].as_array_mut() {
                packages.extend(further);
            }
        }
        Self::read(&metadata, &manifest).ok_or_else(|| unreadable("the crate has no library"))
    }

    fn read(metadata: &Value, manifest: &Path) -> Option<Self> {
        let package = package_of(metadata, manifest)?;
        let is_library = |target: &&Value| {
            let kinds = target["kind"].as_array();
            kinds.is_some_and(|kinds| kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "cdylib"))))
        };
        let library = package["targets"].as_array()?.iter().find(is_library)?["name"].as_str()?;

        Some(Workspace {
            root: PathBuf::from(metadata["workspace_root"].as_str()?),
            target: PathBuf::from(metadata["target_directory"].as_str()?),
            package: package["name"].as_str()?.to_owned(),
            library: library.to_owned(),
            edition: package["edition"].as_str().unwrap_or("2024").to_owned(),
            dependencies: package["dependencies"].as_array()?.iter().filter_map(name_of).collect(),
            folder: manifest.parent()?.to_owned(),
            source_folders: reached(metadata, manifest).0.into_iter().collect(),
        })
    }
}

/// Cargo's metadata of a manifest's workspace.
fn metadata_of(cargo: &OsStr, manifest: &Path) -> Result<Value, CudaBuilderError> {
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(CudaBuilderError::io("run", cargo))?;
    if !output.status.success() {
        return Err(unreadable(&String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| unreadable(&error.to_string()))
}

fn unreadable(message: &str) -> CudaBuilderError {
    CudaBuilderError::Tool {
        tool: "cargo metadata".to_owned(),
        message: message.trim().to_owned(),
        advice: "correct the manifest that it names",
    }
}

/// The package of a manifest.
fn package_of<'a>(metadata: &'a Value, manifest: &Path) -> Option<&'a Value> {
    let is_it = |package: &&Value| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest);
    metadata["packages"].as_array()?.iter().find(is_it)
}

/// The name by which a crate calls this dependency, unless only its tests or its build script do.
fn name_of(dependency: &Value) -> Option<String> {
    let name = dependency["rename"].as_str().or(dependency["name"].as_str())?;
    dependency["kind"].is_null().then(|| name.replace('-', "_"))
}

/// The folders of the crate and of all its path dependencies (except dev-dependencies): those that
/// are listed, and the others.
fn reached(metadata: &Value, manifest: &Path) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let (mut listed, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<PathBuf> = manifest.parent().map(Path::to_owned).into_iter().collect();
    while let Some(folder) = open.pop() {
        let Some(package) = package_of(metadata, &folder.join("Cargo.toml")) else {
            others.insert(folder);
            continue;
        };
        if !listed.insert(folder) {
            continue;
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let is_normal = dependency["kind"].as_str() != Some("dev");
            open.extend(dependency["path"].as_str().filter(|_| is_normal).map(PathBuf::from));
        }
    }
    (listed, others)
}

/// The folders of path dependencies that are not listed.
fn unlisted(metadata: &Value, manifest: &Path) -> BTreeSet<PathBuf> {
    reached(metadata, manifest).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_dependencies_are_followed_and_test_dependencies_are_not() {
        let package = |name: &str, dependencies: Value| {
            serde_json::json!({
                "name": name,
                "manifest_path": format!("/w/{name}/Cargo.toml"),
                "targets": [{ "kind": ["lib"], "name": name.replace('-', "_") }],
                "dependencies": dependencies,
            })
        };
        let path = |name: &str, kind: Value| serde_json::json!({ "kind": kind, "path": format!("/w/{name}") });
        let metadata = serde_json::json!({
            "workspace_root": "/w",
            "target_directory": "/w/target",
            "packages": [
                package("my-kernels", serde_json::json!([path("std", Value::Null), path("check", "dev".into()), { "kind": null, "name": "libm" }])),
                package("std", serde_json::json!([path("macros", Value::Null)])),
                package("macros", serde_json::json!([path("std", Value::Null), path("outside", Value::Null)])),
                package("check", serde_json::json!([])),
            ],
        });
        let workspace = Workspace::read(&metadata, Path::new("/w/my-kernels/Cargo.toml")).unwrap();
        assert_eq!((workspace.package.as_str(), workspace.library.as_str()), ("my-kernels", "my_kernels"));
        assert_eq!(workspace.source_folders, ["/w/macros", "/w/my-kernels", "/w/std"].map(PathBuf::from));
    }

    #[test]
    fn crates_of_other_workspaces_are_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        for (name, dependency) in [("mine", Some("../library")), ("library", Some("../macros")), ("macros", None)] {
            let krate = root.join(name);
            std::fs::create_dir_all(krate.join("src")).unwrap();
            std::fs::write(krate.join("src/lib.rs"), "").unwrap();
            let dependencies = dependency
                .map(|path| format!("[dependencies]\n{} = {{ path = \"{path}\" }}", &path[3..]))
                .unwrap_or_default();
            let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n{dependencies}\n");
            std::fs::write(krate.join("Cargo.toml"), manifest).unwrap();
        }
        let workspace = Workspace::of_crate(&root.join("mine"), None).unwrap();
        assert_eq!(workspace.source_folders, ["library", "macros", "mine"].map(|name| root.join(name)));
        assert_eq!(workspace.root, root.join("mine"));
    }

    #[test]
    fn a_folder_without_a_crate_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Workspace::of_crate(folder.path(), None).unwrap_err().to_string();
        assert!(
            error.ends_with("there is no crate here (no Cargo.toml): name the folder of a crate of kernels"),
            "{error}"
        );
    }
}
