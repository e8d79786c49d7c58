//! Marks as JUnit XML, which CI systems show: a suite for each student, a case for each exercise; by
//! the schema of Jenkins's xUnit plugin:
//! <https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd>.
//! Every text is well formed: markup is escaped, colours and characters that XML 1.0 does not allow
//! are left out.

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
        "    <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" errors=\"{}\" failures=\"{}\">",
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
            points: 0.0,
            max_points: 0.0,
            score: None,
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
            of(&Marks { seed: 3, shard: None, students: vec![anna, ben] }),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"coalesce\" tests=\"4\" failures=\"1\" errors=\"1\">
    <testsuite name=\"an&quot;n&lt;a&gt;&#10;&#9;&amp;\" tests=\"4\" skipped=\"1\" errors=\"1\" failures=\"1\">
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
    <testsuite name=\"ben\" tests=\"0\" skipped=\"0\" errors=\"0\" failures=\"0\">
    </testsuite>
</testsuites>
"
        );
    }

    /// The elements of the schema: what each may be in, and its attributes, with `!` if required.
    const SCHEMA: [(&str, &str, &[&str]); 6] = [
        ("testsuites", "", &["name", "time", "tests", "failures", "errors"]),
        ("testsuite", "testsuites", &["name!", "tests!", "failures!", "errors!", "time", "skipped", "id", "package"]),
        ("testcase", "testsuite", &["name!", "time", "classname", "group"]),
        ("failure", "testcase", &["type", "message"]),
        ("error", "testcase", &["type", "message"]),
        ("skipped", "testcase", &["type", "message"]),
    ];

    /// Checks elements and attributes. The texts of this module have no `<` and `>` but for tags.
    fn check(text: &str) -> Result<usize, String> {
        let mut open = vec![""];
        let tags: Vec<&str> =
            text.split('<').skip(2).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag).collect();
        for tag in &tags {
            if let Some(name) = tag.strip_prefix('/') {
                if open.pop() != Some(name) {
                    return Err(format!("{name} was not open"));
                }
                continue;
            }
            let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
            let (_, parent, allowed) =
                SCHEMA.iter().find(|(element, ..)| *element == name).ok_or_else(|| format!("there is no {name}"))?;
            if open.last() != Some(parent) {
                return Err(format!("{name} is in {:?}", open.last()));
            }
            // A value has no quotes, which are escaped.
            let there: Vec<&str> =
                attributes.split('"').step_by(2).map(|name| name.trim().trim_end_matches('=')).collect();
            let there = &there[..there.len() - 1];
            if let Some(more) = there.iter().find(|name| !allowed.iter().any(|one| one.trim_end_matches('!') == **name))
            {
                return Err(format!("{name} has no {more}"));
            }
            let required = allowed.iter().filter_map(|one| one.strip_suffix('!'));
            if let Some(missing) = required.into_iter().find(|name| !there.contains(name)) {
                return Err(format!("{name} lacks {missing}"));
            }
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        if open.len() == 1 { Ok(tags.len()) } else { Err(format!("{open:?} stay open")) }
    }

    #[test]
    fn elements_and_attributes_are_those_of_the_schema() {
        let text = of(&crate::formats::samples::class());
        assert_eq!(check(&text).map(|tags| tags > 30), Ok(true), "{text}");
        for (from, to, problem) in [
            ("skipped=\"1\"", "disabled=\"1\"", "testsuite has no disabled"),
            (" failures=\"2\"", "", "testsuite lacks failures"),
            ("<testcase", "<test", "there is no test"),
            ("</testcase>", "", "testcase is in Some(\"testcase\")"),
        ] {
            assert!(text.contains(from), "{text}");
            assert_eq!(check(&text.replace(from, to)), Err(problem.to_owned()));
        }
    }
}
