//! What a program's output says of its tests. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::plan::Reads;

/// How many tests passed, failed and were left out, and how many runs did not end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Runs that were stopped, or ended without a summary. Their tests until then are counted.
    pub unfinished: u64,
}

/// The counts of each program, by client and program.
pub type AllCounts = BTreeMap<String, Counts>;

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.unfinished += other.unfinished;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { passed, failed, skipped, unfinished } = self;
        write!(f, "{passed} of {} passed, {skipped} skipped", passed + failed)?;
        if *unfinished > 0 { write!(f, ", {unfinished} not finished") } else { Ok(()) }
    }
}

/// Counts a program's output. `ended`: whether it was not stopped.
pub fn of(reads: Reads, text: &str, ended: bool) -> Counts {
    let (mut counts, has_summary) = match reads {
        Reads::Lines => (lines(text), true),
        Reads::Unittest => unittest(text),
        Reads::Cargo => cargo(text),
    };
    counts.unfinished = u64::from(!ended || !has_summary);
    counts
}

fn lines(text: &str) -> Counts {
    let count = |word: &str| text.lines().filter(|line| line.split_whitespace().next() == Some(word)).count() as u64;
    Counts { passed: count("ok"), failed: count("FAIL"), ..Counts::default() }
}

/// The number after a word, as in `errors=2`.
fn after(text: &str, word: &str) -> u64 {
    let number = text.split_once(word).map_or("", |(_, rest)| rest);
    number.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn unittest(text: &str) -> (Counts, bool) {
    let mut rest = text.lines().skip_while(|line| !(line.starts_with("Ran ") && line.contains(" test")));
    if let Some(ran) = rest.next() {
        let verdict = rest.find(|line| line.starts_with("OK") || line.starts_with("FAILED")).unwrap_or_default();
        let failed = after(verdict, "failures=")
            - after(verdict, "expected failures=").min(after(verdict, "failures="))
            + after(verdict, "errors=");
        let skipped = after(verdict, "skipped=");
        let passed = after(ran, "Ran ").saturating_sub(failed + skipped);
        return (Counts { passed, failed, skipped, unfinished: 0 }, true);
    }
    // It was stopped: each test's line ends with its verdict, or a line is one if the test printed.
    let verdict = |line: &str, word: &str| line.trim_end() == word || line.trim_end().ends_with(&format!("... {word}"));
    let count = |word: &str| text.lines().filter(|line| verdict(line, word)).count() as u64;
    let skipped = text.lines().filter(|line| line.contains("... skipped")).count() as u64;
    (Counts { passed: count("ok"), failed: count("FAIL") + count("ERROR"), skipped, unfinished: 0 }, false)
}

fn cargo(text: &str) -> (Counts, bool) {
    let summaries: Vec<&str> = text.lines().filter(|line| line.starts_with("test result:")).collect();
    if summaries.is_empty() {
        let count = |word: &str| text.lines().filter(|line| line.starts_with("test ") && line.ends_with(word)).count();
        let (passed, failed) = (count("... ok") as u64, count("... FAILED") as u64);
        return (Counts { passed, failed, ..Counts::default() }, false);
    }
    let mut counts = Counts::default();
    for summary in summaries {
        let before = |word: &str| {
            let words: Vec<&str> = summary.split_whitespace().collect();
            let place = words.iter().position(|other| other.trim_end_matches(';') == word);
            place.and_then(|place| words.get(place.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
        };
        let (passed, failed, skipped) = (before("passed"), before("failed"), before("ignored"));
        counts += Counts { passed, failed, skipped, unfinished: 0 };
    }
    (counts, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64, unfinished: u64) -> Counts {
        Counts { passed, failed, skipped, unfinished }
    }

    #[test]
    fn outputs_are_counted() {
        assert_eq!(of(Reads::Lines, "ok   add\nFAIL sort: wrong\nokay\n2 of 3\n", true), counts(1, 1, 0, 0));
        let unittest = "test_a (x) ... ok\n\nRan 8 tests in 2.1s\n\nFAILED (failures=1, errors=2, skipped=3)\n";
        assert_eq!(of(Reads::Unittest, unittest, true), counts(2, 3, 3, 0));
        assert_eq!(of(Reads::Unittest, "Ran 1 test in 2s\n\nOK\n", true), counts(1, 0, 0, 0));
        let expected = "Ran 4 tests in 2s\n\nOK (skipped=1, expected failures=2)\n";
        assert_eq!(of(Reads::Unittest, expected, true), counts(3, 0, 1, 0));
        let stopped = "test_a (x) ... ok\ntest_b (x) ... printed\nok\ntest_c (x) ... ERROR\ntest_d (x) ... ";
        assert_eq!(of(Reads::Unittest, stopped, false), counts(2, 1, 0, 1));
        let cargo = "test a ... ok\ntest result: FAILED. 50 passed; 3 failed; 5 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(of(Reads::Cargo, cargo, true), counts(50, 3, 5, 0));
        assert_eq!(of(Reads::Cargo, "test a ... ok\ntest b ... FAILED\ntest c ...", false), counts(1, 1, 0, 1));
        assert_eq!(of(Reads::Unittest, "Traceback", true), counts(0, 0, 0, 1));
    }
}
