//! Elements of outputs that nothing has written: how they are shown, and the note about them.
//! [`super`] and the report use it. Pure.
//!
//! A buffer that is given as `uninit` has undefined elements until a kernel writes them. Only the
//! simulator knows which were written, and only with the check `init`. Whether an element should
//! have been written is the user's to say, so it is a note and no fault.

use std::path::Path;

/// What stands for an element that nothing has written.
pub(super) const MARK: &str = "?";

/// The most runs of elements that a note names.
const MOST_RUNS: usize = 5;

/// The first and last elements of each run of unwritten ones.
pub(super) fn runs(unwritten: &[bool]) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for (index, _) in unwritten.iter().enumerate().filter(|(_, unwritten)| **unwritten) {
        match runs.last_mut() {
            Some([_, last]) if *last + 1 == index => *last = index,
            _ => runs.push([index, index]),
        }
    }
    runs
}

/// The note about an output that has such elements: `what` names it, `file` is where it was saved.
pub(super) fn note(what: &str, unwritten: &[bool], file: Option<&Path>) -> Option<String> {
    let count = unwritten.iter().filter(|unwritten| **unwritten).count();
    if count == 0 {
        return None;
    }
    let runs = runs(unwritten);
    let mut named: Vec<String> = runs.iter().take(MOST_RUNS).map(run).collect();
    if let more @ 1.. = runs.len().saturating_sub(MOST_RUNS) {
        named.push(format!("{more} more {}", if more == 1 { "run" } else { "runs" }));
    }
    let (verb, all) = (if count == 1 { "was" } else { "were" }, unwritten.len());
    let place = match file {
        Some(file) => format!("; {} has there what memory held", file.display()),
        None => format!("; {MARK} stands for {}", if count == 1 { "it" } else { "them" }),
    };
    Some(format!("{what}: {count} of {all} elements {verb} never written: {}{place}", named.join(", ")))
}

fn run([first, last]: &[usize; 2]) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_and_counted() {
        let unwritten = |ones: &[usize]| (0..32).map(|index| ones.contains(&index)).collect::<Vec<_>>();
        assert_eq!(note("argument 0", &unwritten(&[]), None), None);
        assert_eq!(note("argument 0", &[], None), None);
        assert_eq!(
            note("argument 0", &unwritten(&[27, 28, 29, 30, 31]), None).as_deref(),
            Some("argument 0: 5 of 32 elements were never written: 27 to 31; ? stands for them")
        );
        assert_eq!(
            note("argument 1.2", &unwritten(&[3]), Some(Path::new("y.npy"))).as_deref(),
            Some("argument 1.2: 1 of 32 elements was never written: 3; y.npy has there what memory held")
        );
        let many = note("argument 0", &unwritten(&[0, 2, 4, 6, 8, 9, 11, 13]), None);
        assert!(many.is_some_and(|note| note.contains("never written: 0, 2, 4, 6, 8 to 9, 2 more runs;")));
    }
}
