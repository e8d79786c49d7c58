//! Verdicts that are kept, so that a second run of the same text answers at once. They are kept
//! while the server runs, under a digest of all that they depend on.

use std::collections::VecDeque;
use std::fs;

use exercise::Exercise;

use crate::compile::Compiler;
use crate::course::Course;
use crate::digest;
use crate::error::Result;
use crate::programs;

/// The most that is kept, in bytes.
const MOST: usize = 32 << 20;

/// Lines with verdicts by their keys; the oldest come first.
#[derive(Debug, Default)]
pub struct Cache {
    kept: VecDeque<(String, String)>,
    bytes: usize,
}

impl Cache {
    /// The verdict under a key.
    pub fn get(&self, key: &str) -> Option<String> {
        self.kept.iter().find(|(known, _)| known == key).map(|(_, line)| line.clone())
    }

    /// Keeps a verdict, and forgets the oldest ones if there are too many.
    pub fn keep(&mut self, key: String, line: String) {
        self.kept.retain(|(known, _)| *known != key);
        self.kept.push_back((key, line));
        let size = |(key, line): &(String, String)| key.len() + line.len();
        self.bytes = self.kept.iter().map(size).sum();
        while self.bytes > MOST {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= size(&oldest);
        }
    }
}

/// The key of a run: the text, the exercise, the compiler, this program, and the arguments. `None`
/// if its verdict is not kept: that on predictions depends on how often they were wrong, and times
/// differ from run to run; or before the device library is compiled.
pub fn key(course: &Course, exercise: &Exercise, text: &str, arguments: &[String]) -> Result<Option<String>> {
    let compiler = Compiler::new(&course.root, 0, false)?;
    if exercise.is_predicted() || compiler.is_new() || arguments.iter().any(|argument| argument.starts_with("gpu")) {
        return Ok(None);
    }
    // This program's file takes long to read, and is replaced whole.
    let program = fs::metadata(programs::own_program()).ok();
    let program = program.map(|program| (program.len(), program.modified().ok()));
    let mut parts: Vec<Vec<u8>> = vec![text.into(), format!("{program:?}").into(), compiler.basis()?.into()];
    parts.extend(arguments.iter().map(|argument| argument.clone().into_bytes()));
    parts.extend(digest::contents(&exercise.deciding_files())?);
    parts.extend(digest::contents(&[exercise.reference_ptx_file(), exercise.solution_counts_file()])?);
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(Some(digest::of(&[exercise.name.as_bytes(), digest::of(&parts).as_bytes()])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_verdicts_are_forgotten() {
        let mut cache = Cache::default();
        let line = "x".repeat(MOST / 3);
        for key in ["a", "b", "b", "c"] {
            cache.keep(key.to_owned(), line.clone());
        }
        assert_eq!(["a", "b", "c"].map(|key| cache.get(key).is_some()), [false, true, true]);
        cache.keep("d".to_owned(), "short".to_owned());
        assert_eq!(cache.get("d").as_deref(), Some("short"));
        assert!(cache.bytes <= MOST);
    }
}
