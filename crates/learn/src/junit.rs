//! Marks as JUnit XML, which CI systems show: a suite for each student, a case for each exercise.
//! `grade` writes it. Every text is well formed: markup is escaped, colours and characters that XML
//! 1.0 does not allow are left out.

use std::fmt::Write as _;

use wording::xml::{self, attribute};

use crate::marks::{Mark, Marks, Status, Student};

/// The file.
pub fn of(marks: &Marks) -> String {
    let count = |status| marks.count(status);
    let tests: usize = marks.students.iter().map(|student| student.marks.len()).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"coalesce\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\">\n",
        total(FAILURES, count),
        total(ERRORS, count)
    );
    marks.students.iter().for_each(|student| suite(&mut text, student));
    text += "</testsuites>\n";
    text
}

const ERRORS: &[Status] = &[Status::TimedOut, Status::Failed];

const FAILURES: &[Status] =
    &[Status::GoalsMissed, Status::Wrong, Status::DoesNotCompile, Status::Unreadable, Status::Refused];

fn total(of: &[Status], count: impl Fn(Status) -> usize) -> usize {
    of.iter().map(|&status| count(status)).sum()
}

fn suite(text: &mut String, student: &Student) {
    let count = |status| student.count(status);
    let _ = writeln!(
        text,
        "    <testsuite name=\"{}\" tests=\"{}\" disabled=\"{}\" errors=\"{}\" failures=\"{}\">",
        attribute(&student.name),
        student.marks.len(),
        count(Status::Missing),
        total(ERRORS, count),
        total(FAILURES, count)
    );
    student.marks.iter().for_each(|mark| case(text, mark));
    *text += "    </testsuite>\n";
}

fn case(text: &mut String, mark: &Mark) {
    let _ =
        write!(text, "        <testcase name=\"{}\" time=\"{:.3}\"", attribute(&mark.exercise), mark.seconds.max(0.0));
    let words = mark.status.words();
    let result = match mark.status {
        Status::Solved => {
            *text += "/>\n";
            return;
        }
        Status::Missing => format!("<skipped message=\"{words}\"/>"),
        status => {
            let element = if ERRORS.contains(&status) { "error" } else { "failure" };
            format!("<{element} message=\"{words}\">{}</{element}>", escaped(&mark.report))
        }
    };
    let _ = write!(text, ">\n            {result}\n        </testcase>\n");
}

/// Text between tags, without colours.
fn escaped(text: &str) -> String {
    xml::escaped(&anstream::adapter::strip_str(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_report_says_is_well_formed() {
        let mark = |status, report: &str, seconds| Mark {
            exercise: "copy".to_owned(),
            status,
            report: report.to_owned(),
            seconds,
            digest: None,
        };
        let hostile = "a <b> & \"c'\n\u{1b}[31mred\u{1b}[0m\u{1}\u{b}\u{fffe}\tend\r\n]]> \u{e9}";
        let anna = Student {
            name: "an\"n<a>\n\t\u{2}&".to_owned(),
            marks: vec![
                mark(Status::Solved, hostile, 0.0),
                mark(Status::Wrong, hostile, 1.2345),
                mark(Status::TimedOut, "", -1.0),
                mark(Status::Missing, hostile, 0.0),
            ],
        };
        let ben = Student { name: "ben".to_owned(), marks: vec![] };
        assert_eq!(
            of(&Marks { seed: 3, students: vec![anna, ben] }),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"coalesce\" tests=\"4\" failures=\"1\" errors=\"1\">
    <testsuite name=\"an&quot;n&lt;a&gt;&#10;&#9;&amp;\" tests=\"4\" disabled=\"1\" errors=\"1\" failures=\"1\">
        <testcase name=\"copy\" time=\"0.000\"/>
        <testcase name=\"copy\" time=\"1.234\">
            <failure message=\"wrong\">a &lt;b&gt; &amp; &quot;c'
red\tend&#13;
]]&gt; \u{e9}</failure>
        </testcase>
        <testcase name=\"copy\" time=\"0.000\">
            <error message=\"timed out\"></error>
        </testcase>
        <testcase name=\"copy\" time=\"0.000\">
            <skipped message=\"missing\"/>
        </testcase>
    </testsuite>
    <testsuite name=\"ben\" tests=\"0\" disabled=\"0\" errors=\"0\" failures=\"0\">
    </testsuite>
</testsuites>
"
        );
    }
}
