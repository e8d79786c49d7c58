//! Guesses which exercise a misplaced file belongs to, such as `Guard/kernel.rs` or
//! `gaurd/kernel.rs`. [`crate::submission`] looks for the files. Pure.

use std::path::{Path, PathBuf};

use crate::course::distance;

/// The largest difference of a misspelt name, in letters.
const MISSPELT: usize = 2;

/// Names with fewer letters differ by one, or have two in each other's place.
const SHORT: usize = 6;

/// Files of a clone that are beside a student's.
const OURS: [&str; 4] = ["starter", "solution", "reference", "given"];

/// Folders of a clone with files that look like a student's.
const NOT_THEIRS: [&str; 3] = ["tests", "target", ".git"];

/// How a file's place differs from the right one, the likeliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meant {
    /// It is in another folder, or written in capitals.
    Elsewhere,
    /// Its folder's name is misspelt.
    Misspelt,
    /// It has another name, in the right folder.
    OtherName,
    /// It has the exercise's name.
    NameOfExercise,
}

/// A sentence on the likeliest of these files to be the exercise's, which belongs in
/// `EXERCISE/FILE`. `None` if none is likely to be.
pub fn found(files: &[PathBuf], exercise: &str, file: &str, exercises: &[&str]) -> Option<String> {
    let meant = |path: &PathBuf| meant(path, exercise, file, exercises).map(|meant| (meant, path.clone()));
    let (meant, path) = files.iter().filter_map(meant).min()?;
    let (path, place) = (path.display(), format!("{exercise}/{file}"));
    Some(match meant {
        Meant::Elsewhere => format!("there is {path}, which belongs in {place}"),
        _ => format!("there is {path}: if it is for {exercise}, it belongs in {place}"),
    })
}

fn meant(path: &Path, exercise: &str, file: &str, exercises: &[&str]) -> Option<Meant> {
    let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
    let named = |part: Option<&std::ffi::OsStr>| part.map(|name| plain(&name.to_string_lossy()));
    let name = named(path.file_name())?;
    let folder = named(path.parent().and_then(Path::file_name)).unwrap_or_default();
    let same_kind = Path::new(&name).extension() == Path::new(file).extension();
    let is_misspelt = |folder: &str| {
        let most = if exercise.len() < SHORT && !swapped(exercise, folder) { 1 } else { MISSPELT };
        // The name of another exercise is not misspelt.
        !exercises.contains(&folder) && distance(exercise, folder) <= most
    };
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    if parts.iter().any(|part| NOT_THEIRS.contains(&&**part)) {
        return None;
    }
    let stem = Path::new(&name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match () {
        () if name == file && folder == exercise => Some(Meant::Elsewhere),
        () if name == file && is_misspelt(&folder) => Some(Meant::Misspelt),
        () if same_kind && folder == exercise && !OURS.contains(&stem) => Some(Meant::OtherName),
        // Deeper down it may be a lab's, in a clone.
        () if same_kind && stem == exercise && parts.len() <= 2 => Some(Meant::NameOfExercise),
        () => None,
    }
}

/// Whether two names have the same letters, in another order.
fn swapped(one: &str, other: &str) -> bool {
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXERCISES: [&str; 6] = ["guard", "padding", "reduce_lanes", "reduce_banks", "dot", "morton"];

    fn said(files: &[&str], exercise: &str) -> Option<String> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        found(&files, exercise, "kernel.rs", &EXERCISES)
    }

    #[test]
    fn what_was_meant_is_said() {
        let elsewhere = |path: &str| Some(format!("there is {path}, which belongs in padding/kernel.rs"));
        let meant =
            |path: &str| Some(format!("there is {path}: if it is for padding, it belongs in padding/kernel.rs"));
        for path in ["Padding/kernel.rs", "coalesce/exercises/padding/Kernel.rs", "x/PADDING/kernel.rs"] {
            assert_eq!(said(&[path], "padding"), elsewhere(path));
        }
        for path in [
            "paddings/kernel.rs",
            "pading/kernel.rs",
            "exercises/paddign/kernel.rs",
            "padding/main.rs",
            "padding.rs",
            "src/Padding.rs",
        ] {
            assert_eq!(said(&[path], "padding"), meant(path), "{path}");
        }
        // The likeliest of several.
        assert_eq!(
            said(&["padding.rs", "padding/main.rs", "paddings/kernel.rs"], "padding"),
            meant("paddings/kernel.rs")
        );
        assert_eq!(said(&["paddings/kernel.rs", "a/padding/kernel.rs"], "padding"), elsewhere("a/padding/kernel.rs"));
        let blank = "there is reduce-lanes/kernel.rs, which belongs in reduce_lanes/kernel.rs";
        assert_eq!(said(&["reduce-lanes/kernel.rs"], "reduce_lanes").as_deref(), Some(blank));
        assert!(said(&["gaurd/kernel.rs"], "guard").is_some());
    }

    #[test]
    fn the_files_of_other_exercises_are_theirs() {
        for (path, exercise) in [
            ("reduce_banks/kernel.rs", "reduce_lanes"),
            ("guard/kernel.rs", "padding"),
            ("kernel.rs", "padding"),
            ("src/kernel.rs", "dot"),
            ("bot/kernels.rs", "dot"),
            ("padding/notes.txt", "padding"),
            ("exercises/padding/solution.rs", "padding"),
            ("host/src/labs/padding.rs", "padding"),
            ("crates/learn/tests/hostile/honest/guard/kernel.rs", "guard"),
        ] {
            assert_eq!(said(&[path], exercise), None, "{path}");
        }
    }
}
