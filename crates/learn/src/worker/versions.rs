//! Which version of the course there is: an exercise has the digest of the files that decide its
//! verdict. A worker whose exercises differ from the server's takes no jobs.

use std::collections::BTreeMap;

use exercise::Exercise;

use crate::course::Course;
use crate::digest;
use crate::error::Result;

/// How much of a digest says which version it is.
const LENGTH: usize = 16;

/// How many exercises a message names.
const NAMED: usize = 5;

/// The version of an exercise.
///
/// # Errors
///
/// A file that cannot be read.
pub fn version_of(exercise: &Exercise) -> Result<String> {
    let files = digest::contents(&exercise.deciding_files())?;
    Ok(version(&files.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// The version of what has these parts.
pub fn version(parts: &[&[u8]]) -> String {
    let mut digest = digest::of(parts);
    digest.truncate(LENGTH);
    digest
}

/// The versions of the server's exercises, for its workers.
///
/// # Errors
///
/// As [`version_of`].
pub fn versions<'e>(exercises: impl Iterator<Item = &'e Exercise>) -> Result<String> {
    let all = exercises.map(|exercise| Ok((exercise.name.clone(), version_of(exercise)?)));
    let all = all.collect::<Result<BTreeMap<_, _>>>()?;
    Ok(serde_json::Value::from_iter(all).to_string())
}

/// Refuses a course whose exercises differ from those versions.
///
/// # Errors
///
/// Which ones do, in a sentence.
pub fn same_course(course: &Course, servers: &str) -> std::result::Result<(), String> {
    let servers: BTreeMap<String, String> =
        serde_json::from_str(servers).map_err(|error| format!("the versions in the database: {error}"))?;
    let differs = |(name, version): &(&String, &String)| {
        course.exercise(name).and_then(|exercise| version_of(&exercise)).ok().as_ref() != Some(*version)
    };
    let differing: Vec<&str> = servers.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if differing.is_empty() {
        return Ok(());
    }
    let more = match differing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(format!(
        "the course in {} is not the server's: {}{more} differ: copy the server's course, and start the worker again",
        course.folder.display(),
        differing[..differing.len().min(NAMED)].join(", ")
    ))
}
