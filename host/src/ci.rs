//! What CI systems show of a run: `--sarif`, `--junit` and `--gitlab` of `host run`, of the program
//! `coalesce` and of `coalesce compare`. A [`Case`] is something that can fail: that a kernel has no
//! fault, a goal, a comparison with a baseline. Its [`Problem`]s are on lines of source.
//!
//! Files are named from the root of the repository, which CI systems say (`GITHUB_WORKSPACE`,
//! `CI_PROJECT_DIR`); elsewhere from the current folder. The formats:
//!
//! - SARIF 2.1.0 (OASIS), as far as GitHub's code scanning reads it. A problem without a line is a
//!   notification of the run: a result would need a place.
//! - JUnit XML, by the schema of Jenkins' xUnit plugin, with a case for each [`Case`].
//! - GitLab's code quality report: problems with a line, with fingerprints that stay when lines move.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use common::output_file;
use device::{Error, Result};
use serde_json::{Value, json};
use wording::xml::{attribute, escaped};
use xxhash_rust::xxh3::xxh3_128;

/// The flags.
#[derive(Args, Clone, Debug, Default)]
pub struct CiFlags {
    /// Write faults, missed goals and what is worse to this file as SARIF, for GitHub
    #[arg(long, value_name = "FILE.sarif")]
    pub sarif: Option<PathBuf>,
    /// Write kernels and goals to this file as test cases in JUnit's XML
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Write faults, missed goals and what is worse to this file as GitLab's code quality report
    #[arg(long, value_name = "FILE.json")]
    pub gitlab: Option<PathBuf>,
}

/// Something that can fail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The kernel, or what else it is about.
    pub about: String,
    /// What has to hold.
    pub name: String,
    /// Why it does not; empty if it does.
    pub problems: Vec<Problem>,
}

/// Why something does not hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// Its kind, as a word that programs can compare.
    pub rule: String,
    /// The kernel.
    pub kernel: String,
    /// The message for people.
    pub text: String,
    /// File and line.
    pub place: Option<(String, u32)>,
}

impl Case {
    /// That a kernel has no faults.
    pub fn of_faults(kernel: &str, problems: Vec<Problem>) -> Self {
        Self { about: kernel.to_owned(), name: "no faults".to_owned(), problems }
    }
}

impl CiFlags {
    /// The files, each with its flag.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [("--sarif", &self.sarif), ("--junit", &self.junit), ("--gitlab", &self.gitlab)];
        all.into_iter().filter_map(|(flag, file)| Some((flag, file.as_deref()?)))
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.files().next().is_some()
    }

    /// Fails, before anything runs, if one of these files or of the others that a run writes cannot
    /// be written, or is written twice.
    ///
    /// # Errors
    ///
    /// [`Error::File`] and [`Error::Request`].
    pub fn check<'f>(&'f self, others: impl Iterator<Item = (&'static str, &'f Path)>) -> Result<()> {
        let mut known: Vec<(PathBuf, &str)> = Vec::new();
        for (flag, file) in others.chain(self.files()) {
            let same = output_file::identity(file);
            if let Some((_, other)) = known.iter().find(|(known, _)| *known == same) {
                return Err(Error::request(flag, format!("{other} writes the same file; give another")));
            }
            known.push((same, flag));
            output_file::check(file)?;
        }
        Ok(())
    }

    /// Writes the files, each whole or not at all.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn write(&self, cases: &[Case]) -> Result<()> {
        let root = root();
        let of_json = |value: Value| format!("{value:#}\n");
        for (flag, file) in self.files() {
            let text = match flag {
                "--sarif" => of_json(sarif(cases, &root)),
                "--junit" => junit(cases),
                _ => of_json(gitlab(cases, &root)),
            };
            output_file::write_whole(file, |out| std::io::Write::write_all(out, text.as_bytes()))?;
        }
        Ok(())
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let said = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].into_iter().find_map(std::env::var_os);
    said.map(PathBuf::from).or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// A file's name from the root on, with slashes. Names that are not below it stay as they are.
fn from_root(file: &str, root: &Path) -> String {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.into());
    absolute.strip_prefix(root).map_or_else(|_| file.to_owned(), |inside| inside.display().to_string())
}

/// A name as part of a URI (RFC 3986).
fn uri(name: &str) -> String {
    let mut uri = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => write!(uri, "%{byte:02X}").expect("a text takes everything"),
        }
    }
    uri
}

/// A problem, as a repository knows it.
struct Named<'c> {
    problem: &'c Problem,
    /// File, from the root on, and line.
    place: Option<(String, u32)>,
    /// A name that stays when lines move.
    fingerprint: String,
}

/// Each problem with its name, from its rule, kernel and file, and which of these it is.
fn named<'c>(cases: &'c [Case], root: &Path) -> Vec<Named<'c>> {
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    let problems = cases.iter().flat_map(|case| case.problems.iter().map(move |problem| (case, problem)));
    let of = |(case, problem): (&Case, &'c Problem)| {
        let place = problem.place.as_ref().map(|(file, line)| (from_root(file, root), *line));
        let file = place.as_ref().map_or("", |(file, _)| file);
        let name = format!("{} {} {} {}", problem.rule, problem.kernel, case.name, file);
        let count = known.entry(name.clone()).or_insert(0);
        *count += 1;
        let fingerprint = format!("{:032x}", xxh3_128(format!("{name} {count}").as_bytes()));
        Named { problem, place, fingerprint }
    };
    problems.map(of).collect()
}

fn sarif(cases: &[Case], root: &Path) -> Value {
    let named = named(cases, root);
    let mut rules: Vec<&str> = named.iter().map(|it| it.problem.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rule = |rule: &&str| json!({"id": rule, "shortDescription": {"text": description(rule)}});
    let result = |Named { problem, place, fingerprint }: &Named<'_>| {
        let (file, line) = place.as_ref()?;
        Some(json!({
            "ruleId": problem.rule,
            "level": "error",
            "message": {"text": problem.text},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(file)},
                    "region": {"startLine": (*line).max(1)},
                },
            }],
            "partialFingerprints": {"coalesce/v1": fingerprint},
        }))
    };
    let notification = |Named { problem, place, .. }: &Named<'_>| {
        let text = json!({"level": "error", "message": {"text": problem.text}, "associatedRule": {"id": problem.rule}});
        place.is_none().then_some(text)
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "Coalesce",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.iter().map(rule).collect::<Vec<_>>(),
                },
            },
            "results": named.iter().filter_map(result).collect::<Vec<_>>(),
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": named.iter().filter_map(notification).collect::<Vec<_>>(),
            }],
        }],
    })
}

/// A rule in a few words.
fn description(rule: &str) -> String {
    match rule {
        "goal" => "A goal about what kernels count is missed".to_owned(),
        "baseline" => "A counter is worse than in the baseline".to_owned(),
        "other_order" => "Another order of blocks and warps gives another result".to_owned(),
        fault => format!("A kernel has a fault: {}", fault.replace('_', " ")),
    }
}

fn gitlab(cases: &[Case], root: &Path) -> Value {
    let issue = |Named { problem, place, fingerprint }: Named<'_>| {
        let (file, line) = place?;
        Some(json!({
            "description": problem.text,
            "check_name": problem.rule,
            "fingerprint": fingerprint,
            "severity": "major",
            "location": {"path": file, "lines": {"begin": line.max(1)}},
        }))
    };
    Value::Array(named(cases, root).into_iter().filter_map(issue).collect())
}

fn junit(cases: &[Case]) -> String {
    let failed = cases.iter().filter(|case| !case.problems.is_empty()).count();
    let counts = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\"", cases.len());
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"coalesce\" {counts}>\n    <testsuite name=\"coalesce\" {counts}>\n"
    );
    for Case { about, name, problems } in cases {
        let names = format!("classname=\"{}\" name=\"{}\"", attribute(about), attribute(name));
        text += &match problems.as_slice() {
            [] => format!("        <testcase {names} time=\"0\"/>\n"),
            [first, ..] => {
                let all: Vec<String> = problems.iter().map(|problem| escaped(&problem.text)).collect();
                format!(
                    "        <testcase {names} time=\"0\">\n            <failure type=\"{}\" message=\"{}\">{}</failure>\n        </testcase>\n",
                    attribute(&first.rule),
                    attribute(&first.text),
                    all.join("\n")
                )
            }
        };
    }
    text + "    </testsuite>\n</testsuites>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<Case> {
        let problem = |rule: &str, text: &str, place: Option<(&str, u32)>| Problem {
            rule: rule.to_owned(),
            kernel: "k<int>".to_owned(),
            text: text.to_owned(),
            place: place.map(|(file, line)| (file.to_owned(), line)),
        };
        let case = |name: &str, problems| Case { about: "k<int>".to_owned(), name: name.to_owned(), problems };
        vec![
            case(
                "no faults",
                vec![
                    problem("race", "race & <more>", Some(("/repository/a b/k.cu", 7))),
                    problem("race", "another", Some(("/repository/a b/k.cu", 9))),
                ],
            ),
            case("a < 1", vec![problem("goal", "missed\u{1}", None)]),
            case("b", Vec::new()),
        ]
    }

    #[test]
    fn sarif_has_results_with_places_and_notifications_without() {
        let value = sarif(&cases(), Path::new("/repository"));
        let run = &value["runs"][0];
        let ids: Vec<&str> = run["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["id"].as_str().unwrap())
            .collect();
        assert_eq!((value["version"].as_str(), ids), (Some("2.1.0"), vec!["goal", "race"]));
        let results = run["results"].as_array().unwrap();
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!((results.len(), &results[0]["message"]["text"]), (2, &json!("race & <more>")));
        assert_eq!(place, &json!({"artifactLocation": {"uri": "a%20b/k.cu"}, "region": {"startLine": 7}}));
        assert_ne!(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);
        let notifications = &run["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(notifications[0]["associatedRule"]["id"], "goal");
        assert_eq!(notifications.as_array().unwrap().len(), 1);
    }

    #[test]
    fn fingerprints_stay_when_lines_move() {
        let mut moved = cases();
        moved[0].problems.iter_mut().flat_map(|problem| &mut problem.place).for_each(|(_, line)| *line += 100);
        let of = |cases: &[Case]| {
            let all = gitlab(cases, Path::new("/repository"));
            let issues = all.as_array().unwrap().clone();
            issues
                .into_iter()
                .map(|issue| (issue["fingerprint"].clone(), issue["location"].clone()))
                .collect::<Vec<_>>()
        };
        let (before, after) = (of(&cases()), of(&moved));
        assert_eq!((before.len(), &before[0].1), (2, &json!({"path": "a b/k.cu", "lines": {"begin": 7}})));
        assert!(before.iter().zip(&after).all(|(one, other)| one.0 == other.0 && one.1 != other.1));
    }

    #[test]
    fn junit_has_a_case_for_each() {
        assert_eq!(
            junit(&cases()),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"coalesce\" tests=\"3\" failures=\"2\" errors=\"0\">
    <testsuite name=\"coalesce\" tests=\"3\" failures=\"2\" errors=\"0\">
        <testcase classname=\"k&lt;int&gt;\" name=\"no faults\" time=\"0\">
            <failure type=\"race\" message=\"race &amp; &lt;more&gt;\">race &amp; &lt;more&gt;
another</failure>
        </testcase>
        <testcase classname=\"k&lt;int&gt;\" name=\"a &lt; 1\" time=\"0\">
            <failure type=\"goal\" message=\"missed\">missed</failure>
        </testcase>
        <testcase classname=\"k&lt;int&gt;\" name=\"b\" time=\"0\"/>
    </testsuite>
</testsuites>
"
        );
    }
}
