//! The PTX of an exercise's given kernels, `given.ptx`, which is checked in: so an exercise to
//! explain needs no device compiler, and the site can ask the same questions. Its first line has
//! the digest of the `given.rs` from which it was compiled. [`crate::judge`] runs the PTX, and
//! [`crate::check`] writes it with `--write-ptx`.

use std::fs;
use std::path::PathBuf;

use exercise::Exercise;

use crate::digest;
use crate::error::{Error, Result};

/// The file, if it is of the `given.rs` that is there.
///
/// # Errors
///
/// [`Error::File`] if `given.rs` cannot be read.
pub fn ptx(exercise: &Exercise) -> Result<Option<PathBuf>> {
    let file = exercise.given_ptx_file();
    let first = first_line(exercise)?;
    let is_current = fs::read_to_string(&file).is_ok_and(|text| text.starts_with(&first));
    Ok(is_current.then_some(file))
}

/// Writes the file: this PTX, of the `given.rs` that is there.
///
/// # Errors
///
/// [`Error::Compiler`] if it cannot be written.
pub fn write(exercise: &Exercise, ptx: &str) -> Result<()> {
    let file = exercise.given_ptx_file();
    let text = first_line(exercise)? + ptx;
    Ok(cuda_builder::write_whole(&file, &text)?)
}

fn first_line(exercise: &Exercise) -> Result<String> {
    let given = exercise.given_file();
    let source = fs::read(&given).map_err(Error::reading(&given))?;
    Ok(format!("// coalesce: given.rs {}\n", digest::of(&[&source])))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::course::Course;

    #[test]
    fn the_ptx_of_given_kernels_is_of_their_sources() {
        let course = Course::find(Path::new(env!("CARGO_MANIFEST_DIR")), None).unwrap();
        let exercises = course.names().map(|name| course.exercise(name).unwrap());
        let given: Vec<Exercise> = exercises.filter(Exercise::is_given).collect();
        assert!(given.len() >= 6);
        for exercise in given {
            assert!(ptx(&exercise).unwrap().is_some(), "{}: run `cargo learn check --write-ptx`", exercise.name);
        }
    }
}
