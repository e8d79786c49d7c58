//! Plausible wrong solutions, in the folder `wrong/` of an exercise.
//!
//! The first line of each says what its report must contain: `// fails: WORDS`, or `# fails:
//! WORDS`. A file `NAME.rs` (or `NAME.toml`, in an exercise to explain) is a whole solution. A file
//! `NAME.diff` says what is different in `solution.rs`, so that one sees the mistake and nothing
//! else. After its comments (`#`), paragraphs of lines begin with `-` (removed), `+` (added) or a
//! space (kept). The removed and kept lines of a paragraph must be in the solution, together, once.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::Exercise;

/// A wrong solution.
#[derive(Clone, Debug)]
pub struct WrongSolution {
    /// Its file, relative to the folder of the exercise.
    pub file: String,
    /// What its report must contain; empty if the file does not say it.
    pub fails: String,
    /// The whole solution.
    pub text: String,
}

impl Exercise {
    /// The wrong solutions, sorted by file.
    ///
    /// # Errors
    ///
    /// [`Error`] if a file cannot be read, or changes lines that the solution lacks.
    pub fn wrong_solutions(&self) -> Result<Vec<WrongSolution>> {
        let folder = self.folder.join("wrong");
        let entries = fs::read_dir(&folder).map_err(Error::reading(&folder))?;
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names.into_iter().map(|name| self.wrong_solution(&folder.join(name))).collect()
    }

    fn wrong_solution(&self, file: &Path) -> Result<WrongSolution> {
        let own = fs::read_to_string(file).map_err(Error::reading(file))?;
        let first = own.lines().next().unwrap_or_default().trim_start_matches(['/', '#', ' ']);
        let fails = first.strip_prefix("fails:").unwrap_or_default().trim().to_owned();
        let text = match file.extension().is_some_and(|extension| extension == "diff") {
            true => {
                let solution = self.solution_file();
                let solution = fs::read_to_string(&solution).map_err(Error::reading(&solution))?;
                changed(&solution, &own).map_err(|problem| Error::wrong(file, problem))?
            }
            false => own,
        };
        let file = format!("wrong/{}", file.file_name().unwrap_or_default().to_string_lossy());
        Ok(WrongSolution { file, fails, text })
    }
}

/// `text` with the changes of `diff`, or what is wrong with the latter.
fn changed(text: &str, diff: &str) -> std::result::Result<String, String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let all: Vec<&str> = diff.lines().collect();
    let mut at = 0;
    for paragraph in all.split(|line| line.is_empty()) {
        let number = at + 1;
        at += paragraph.len() + 1;
        if paragraph.iter().all(|line| line.starts_with('#')) {
            continue;
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (line, number) in paragraph.iter().zip(number..) {
            let sign = line.chars().next();
            let rest = line.get(1..).unwrap_or_default();
            match sign {
                Some('-') => before.push(rest),
                Some('+') => after.push(rest),
                Some(' ') => {
                    before.push(rest);
                    after.push(rest);
                }
                _ => return Err(format!("line {number} begins with none of `-`, `+` and a space")),
            }
        }
        if before.is_empty() {
            return Err(format!("line {number}: nothing says where to add these lines"));
        }
        let places: Vec<usize> =
            lines.windows(before.len()).enumerate().filter(|(_, window)| *window == before).map(|(at, _)| at).collect();
        let [place] = places[..] else {
            let found = if places.is_empty() { "not in the solution" } else { "more than once in the solution" };
            return Err(format!("line {number}: what is to change is {found}"));
        };
        lines.splice(place..place + before.len(), after);
    }
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::changed;

    const SOLUTION: &str = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    one();\n}\n";

    #[test]
    fn lines_are_removed_added_and_kept() {
        let diff = "# fails: WORDS\n# Why.\n\n-    two();\n+    three();\n+    four();\n\n fn b() {\n-    one();\n";
        assert_eq!(
            changed(SOLUTION, diff).unwrap(),
            "fn a() {\n    one();\n    three();\n    four();\n}\n\nfn b() {\n}\n"
        );
        assert_eq!(changed(SOLUTION, "# fails: WORDS\n").unwrap(), SOLUTION);
    }

    #[test]
    fn what_cannot_be_changed_is_said() {
        for (diff, problem) in [
            ("# fails: x\n\n-    three();\n", "line 3: what is to change is not in the solution"),
            ("-    one();\n", "line 1: what is to change is more than once in the solution"),
            ("-    two();\n\n+    three();\n", "line 3: nothing says where to add these lines"),
            ("-    two();\nthree();\n", "line 2 begins with none of `-`, `+` and a space"),
            ("-    two();\n-    one();\n", "line 1: what is to change is not in the solution"),
        ] {
            assert_eq!(changed(SOLUTION, diff).unwrap_err(), problem, "{diff}");
        }
    }
}
