//! The list of clients and their programs, `tests/clients/clients.toml`, which explains itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::error::Error;

/// All clients.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub client: Vec<Client>,
}

/// A library that others use, and programs of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    pub name: String,
    pub version: String,
    /// What pip installs.
    #[serde(default)]
    pub packages: Vec<String>,
    /// The package whose source is unpacked.
    pub source: Option<String>,
    pub program: Vec<Program>,
}

/// A program of a client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub name: String,
    pub command: Vec<String>,
    /// Where it runs, unless that is the source of `crate`.
    pub folder: Option<String>,
    /// The crate whose source it runs in.
    #[serde(rename = "crate")]
    pub package: Option<String>,
    /// What is added to the crate's manifest.
    #[serde(default)]
    pub manifest: String,
    /// Files that are copied to where it runs.
    #[serde(default)]
    pub copies: Vec<String>,
    /// A folder of test files, for each of which it runs.
    pub files: Option<String>,
    /// The names of some of them.
    #[serde(default)]
    pub only: Vec<String>,
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Folders of libraries.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// What a fault does, unless it is shown and skipped.
    pub fault: Option<String>,
    pub reads: Reads,
    /// Whether it is one of `--quick`.
    #[serde(default)]
    pub quick: bool,
    /// Seconds for each run.
    pub limit: u32,
    /// Why some fail.
    pub rest: Option<String>,
}

/// How a program's output is counted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// Lines that begin with ok or FAIL.
    Lines,
    /// Python's unittest.
    Unittest,
    /// The harness of Rust's tests.
    Cargo,
}

impl Client {
    /// What a program of it is known by.
    pub fn key(&self, program: &Program) -> String {
        format!("{}: {}", self.name, program.name)
    }
}

impl Plan {
    /// Reads the list.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join("tests/clients/clients.toml");
        let text = fs::read_to_string(&path).map_err(|problem| Error::file(&path, problem))?;
        toml::from_str(&text).map_err(|problem| Error::file(&path, problem))
    }
}
