//! What cargo knows of the workspace that a crate of kernels is in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::CudaBuilderError;

/// A crate of kernels and the workspace around it.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The root folder of the workspace.
    pub root: PathBuf,
    /// The folder that cargo builds in.
    pub target: PathBuf,
    /// The name of the crate's package.
    pub package: String,
    /// The name of its library.
    pub library: String,
    /// The crate's folder.
    pub folder: PathBuf,
    /// The folders of the crate and of all that it depends on by path, within the workspace.
    pub source_folders: Vec<PathBuf>,
}

impl Workspace {
    /// Asks `cargo` (or that of the environment) about the crate at `path`. Needs no network and no lock file.
    pub fn of_crate(path: &Path, cargo: Option<&Path>) -> Result<Self, CudaBuilderError> {
        let manifest = path.join("Cargo.toml");
        let missing = || CudaBuilderError::CratePathDoesntExist { path: path.to_owned() };
        let manifest = std::fs::canonicalize(manifest).map_err(|_| missing())?;

        let cargo =
            cargo.map_or_else(|| std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), |cargo| cargo.into());
        let output = Command::new(&cargo)
            .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .output()
            .map_err(CudaBuilderError::io("run", &cargo))?;
        let unreadable = |message: &str| CudaBuilderError::Tool {
            tool: "cargo metadata".to_owned(),
            message: message.trim().to_owned(),
            advice: "correct the manifest that it names",
        };
        if !output.status.success() {
            return Err(unreadable(&String::from_utf8_lossy(&output.stderr)));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| unreadable(&error.to_string()))?;
        Self::read(&metadata, &manifest).ok_or_else(|| unreadable("the crate has no library"))
    }

    fn read(metadata: &Value, manifest: &Path) -> Option<Self> {
        let packages = metadata["packages"].as_array()?;
        let of_manifest = |manifest: &Path| {
            packages
                .iter()
                .find(|package| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest))
        };
        let package = of_manifest(manifest)?;
        let is_library = |target: &&Value| {
            let kinds = target["kind"].as_array();
            kinds.is_some_and(|kinds| kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "cdylib"))))
        };
        let library = package["targets"].as_array()?.iter().find(is_library)?["name"].as_str()?;

        let mut folders = BTreeSet::new();
        let mut open = vec![manifest.parent()?.to_owned()];
        while let Some(folder) = open.pop() {
            let Some(package) = of_manifest(&folder.join("Cargo.toml")) else { continue };
            if !folders.insert(folder) {
                continue;
            }
            for dependency in package["dependencies"].as_array().into_iter().flatten() {
                let is_normal = dependency["kind"].as_str() != Some("dev");
                open.extend(dependency["path"].as_str().filter(|_| is_normal).map(PathBuf::from));
            }
        }
        Some(Workspace {
            root: PathBuf::from(metadata["workspace_root"].as_str()?),
            target: PathBuf::from(metadata["target_directory"].as_str()?),
            package: package["name"].as_str()?.to_owned(),
            library: library.to_owned(),
            folder: manifest.parent()?.to_owned(),
            source_folders: folders.into_iter().collect(),
        })
    }
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
    fn a_folder_without_a_crate_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Workspace::of_crate(folder.path(), None).unwrap_err().to_string();
        assert!(
            error.ends_with("there is no crate here (no Cargo.toml): name the folder of a crate of kernels"),
            "{error}"
        );
    }
}
