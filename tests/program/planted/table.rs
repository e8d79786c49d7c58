//! Which tools find which planted bugs: how many, in `docs/PLANTED.md`, and each, in
//! `measurements/planted.md`. Both combine the simulator's findings with those of compute-sanitizer
//! on a GPU (`cargo xtask compute-sanitizer`), and `COALESCE_BLESS=1 cargo test -p host --test
//! program planted` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use wording::paragraph;

use super::suite::{Case, FOLDER};
use super::{ON_ONE, ROOT, cases, complaints};

/// The page, whose table stands between two marks.
const PAGE: &str = "docs/PLANTED.md";
/// All bugs.
const BUGS: &str = "measurements/planted.md";
const BEGIN: &str = "<!-- The table of planted bugs begins. -->\n";
const END: &str = "<!-- The table of planted bugs ends. -->\n";

/// The tools of compute-sanitizer.
const TOOLS: [&str; 4] = ["memcheck", "initcheck", "racecheck", "synccheck"];

/// The headings of the kinds of bugs in the table.
const KINDS: [(&str, &str); 5] = [
    ("memory", "Invalid accesses"),
    ("init", "Uninitialised memory and registers"),
    ("race", "Races"),
    ("sync", "Barriers and warp operations"),
    ("undefined", "Undefined by the PTX manual"),
];

/// A tool's verdict on a kernel.
#[derive(Clone, Debug, PartialEq)]
struct Verdict {
    errors: u64,
    warnings: u64,
    /// The exit code, `hang`, or `skipped`.
    ended: String,
}

impl Verdict {
    fn found(&self) -> bool {
        self.errors + self.warnings > 0
    }

    /// As text for a cell of the table.
    fn cell(&self) -> String {
        match (self.errors, self.warnings, self.ended.as_str()) {
            (0, 0, "hang") => "hangs".to_owned(),
            (0, 0, "skipped" | "failed") => "?".to_owned(),
            (0, 0, _) => "-".to_owned(),
            (0, _, _) => "warns".to_owned(),
            _ => "yes".to_owned(),
        }
    }
}

/// The verdicts of all tools on all kernels, and the machine.
struct Results {
    heading: String,
    verdicts: BTreeMap<(String, String), Verdict>,
}

impl Results {
    /// Reads the file that `cargo xtask compute-sanitizer` writes.
    fn read(text: &str) -> Self {
        let heading = text.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a heading").to_owned();
        let mut verdicts = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split('\t').collect();
            let &[kernel, tool, errors, warnings, ended, _] = cells.as_slice() else { panic!("no result: {line}") };
            let number = |text: &str| text.parse().unwrap_or(0);
            let verdict = Verdict { errors: number(errors), warnings: number(warnings), ended: ended.to_owned() };
            verdicts.insert((kernel.to_owned(), tool.to_owned()), verdict);
        }
        Self { heading, verdicts }
    }

    /// A tool's verdict on a kernel; `skipped` for a kernel newer than the results.
    fn of(&self, kernel: &str, tool: &str) -> Verdict {
        let skipped = || Verdict { errors: 0, warnings: 0, ended: "skipped".to_owned() };
        self.verdicts.get(&(kernel.to_owned(), tool.to_owned())).cloned().unwrap_or_else(skipped)
    }

    /// Whether there is a result for a kernel at all.
    fn has(&self, kernel: &str) -> bool {
        self.verdicts.keys().any(|(ran, _)| ran == kernel)
    }

    fn any(&self, kernel: &str) -> bool {
        TOOLS.iter().any(|tool| self.of(kernel, tool).found())
    }

    /// The number of these kernels on which a tool, or any tool, reports something.
    fn counts(&self, cases: &[&Case]) -> Vec<usize> {
        let count = |found: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| found(case)).count();
        let each = TOOLS.iter().map(|tool| count(&|case| self.of(&case.kernel, tool).found()));
        each.chain([count(&|case| self.any(&case.kernel))]).collect()
    }
}

/// What the tables are made of.
struct Tables<'a> {
    planted: Vec<&'a Case>,
    clean: Vec<&'a Case>,
    /// The kernels of which the simulator reports what is marked, and nothing else.
    right: Vec<&'a Case>,
    results: &'a Results,
}

impl<'a> Tables<'a> {
    fn new(cases: &'a [Case], results: &'a Results, found: impl Fn(&Case) -> bool) -> Self {
        let (planted, clean) = cases.iter().partition(|case| case.is_planted());
        Self { planted, clean, right: cases.iter().filter(|case| found(case)).collect(), results }
    }

    /// The planted bugs of a kind.
    fn of_kind(&self, kind: &str) -> Vec<&'a Case> {
        self.planted.iter().copied().filter(|case| case.marks[0].kind == kind).collect()
    }

    fn right(&self, cases: &[&Case]) -> usize {
        cases.iter().filter(|case| self.right.iter().any(|right| right.kernel == case.kernel)).count()
    }

    /// Where and when the tools ran.
    fn heading(&self) -> String {
        paragraph(&format!("{}; Coalesce's simulator on the same PTX.", self.results.heading))
    }

    /// The text between the marks of the page: how many bugs of each kind are found.
    fn summary(&self) -> String {
        let Self { planted, clean, results, .. } = self;
        let mut text = format!("{BEGIN}{}\n\n", self.heading());
        text += "| | kernels | Coalesce | memcheck | initcheck | racecheck | synccheck | any of the four |\n";
        text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
        let mut row = |title: &str, cases: &[&Case], ours: usize| {
            let theirs: String = results.counts(cases).iter().map(|count| format!(" {count} |")).collect();
            let _ = writeln!(text, "| {title} | {} | {ours} |{theirs}", cases.len());
        };
        for (kind, title) in KINDS {
            let cases = self.of_kind(kind);
            if !cases.is_empty() {
                row(title, &cases, self.right(&cases));
            }
        }
        row("**all bugs found**", planted, self.right(planted));
        row("**correct kernels blamed**", clean, clean.len() - self.right(clean));
        text + END
    }

    /// The document with all bugs.
    fn bugs(&self) -> String {
        let results = self.results;
        let mut text = format!(
            "# Planted bugs, one by one\n\n{}\n\n[PLANTED.md](../docs/PLANTED.md) says what the words mean.\n",
            self.heading()
        );
        for (kind, title) in KINDS {
            let cases = self.of_kind(kind);
            if cases.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n## {title}\n");
            text +=
                "| kernel | what is wrong | Coalesce | memcheck | initcheck | racecheck | synccheck | by itself |\n";
            text += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
            for case in cases {
                let ours = if self.right(&[case]) == 1 { "yes" } else { "-" };
                let theirs: String =
                    TOOLS.iter().map(|tool| format!(" {} |", results.of(&case.kernel, tool).cell())).collect();
                let alone = match results.of(&case.kernel, "none").ended.as_str() {
                    "0" => "runs",
                    "hang" => "hangs",
                    "1" => "fails",
                    _ => "?",
                };
                let _ = writeln!(text, "| `{}` | {} | {ours} |{theirs} {alone} |", case.kernel, case.title);
            }
        }
        let blamed: Vec<&&Case> = self.clean.iter().filter(|case| results.any(&case.kernel)).collect();
        if !blamed.is_empty() {
            text += "\n## Correct kernels that compute-sanitizer blames\n\n| kernel | tool |\n| --- | --- |\n";
        }
        for case in blamed {
            let tools = TOOLS.iter().filter(|tool| results.of(&case.kernel, tool).found());
            let _ = writeln!(text, "| `{}` | {} |", case.kernel, tools.copied().collect::<Vec<_>>().join(", "));
        }
        let all = self.planted.iter().chain(&self.clean);
        let missing: Vec<String> =
            all.filter(|case| !results.has(&case.kernel)).map(|case| format!("`{}`", case.kernel)).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let sentence = format!("Not yet run on the GPU, and counted as not found there: {missing}.");
            let _ = writeln!(text, "\n{}", paragraph(&sentence));
        }
        text
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_tables_in_the_documentation_are_those_of_these_results() {
    let page = Path::new(ROOT).join(PAGE);
    let document = fs::read_to_string(&page).expect("the page is read");
    let start = document.find(BEGIN).expect("the table begins");
    let end = document.find(END).expect("the table ends") + END.len();
    let results = fs::read_to_string(Path::new(ROOT).join(FOLDER).join("h200.tsv")).expect("the results are read");
    let (cases, results) = (cases(), Results::read(&results));
    let wrong: BTreeSet<&str> = cases
        .iter()
        .zip(ON_ONE.iter())
        .filter(|(case, said)| !complaints(case, said).is_empty())
        .map(|(case, _)| case.kernel.as_str())
        .collect();
    let tables = Tables::new(&cases, &results, |case| !wrong.contains(case.kernel.as_str()));
    let page_as_made = format!("{}{}{}", &document[..start], tables.summary(), &document[end..]);
    for (path, made) in [(page, page_as_made), (Path::new(ROOT).join(BUGS), tables.bugs())] {
        if std::env::var_os("COALESCE_BLESS").is_some() {
            fs::write(&path, made).expect("the document is written");
        } else {
            let written = fs::read_to_string(&path).expect("the document is read");
            assert_eq!(written, made, "update it as docs/PLANTED.md says");
        }
    }
}

#[test]
fn results_become_a_table() {
    let case = |kernel: &str, kind: Option<&str>| Case {
        kernel: kernel.to_owned(),
        title: format!("Title of {kernel}."),
        file: "k.rs".to_owned(),
        ptx: "k.ptx".to_owned(),
        arguments: Vec::new(),
        marks: kind
            .map(|kind| super::suite::Mark { line: 1, kind: kind.to_owned(), words: String::new() })
            .into_iter()
            .collect(),
    };
    let cases = [
        case("beyond", Some("memory")),
        case("stuck", Some("sync")),
        case("beyond_fixed", None),
        case("new", Some("race")),
    ];
    let mut text =
        "# H200; compute-sanitizer 1; today\n# kernel\ttool\terrors\twarnings\tended\tfirst message\n".to_owned();
    for (kernel, memcheck, synccheck) in
        [("beyond", "3\t0\t1", "0\t0\t0"), ("stuck", "-\t0\thang", "0\t2\t0"), ("beyond_fixed", "0\t0\t0", "1\t0\t0")]
    {
        let _ = write!(
            text,
            "{kernel}\tnone\t-\t0\t0\t\n{kernel}\tmemcheck\t{memcheck}\t\n{kernel}\tinitcheck\t0\t0\t0\t\n\
             {kernel}\tracecheck\t0\t0\t0\t\n{kernel}\tsynccheck\t{synccheck}\tBarrier error\n"
        );
    }
    let results = Results::read(&text);
    let tables = Tables::new(&cases, &results, |case| case.kernel != "stuck");
    let made = tables.summary() + &tables.bugs();
    for line in [
        "H200; compute-sanitizer 1; today; Coalesce's simulator on the same PTX.",
        "| Races | 1 | 1 | 0 | 0 | 0 | 0 | 0 |",
        "| **all bugs found** | 3 | 2 | 1 | 0 | 0 | 1 | 2 |",
        "| **correct kernels blamed** | 1 | 0 | 0 | 0 | 0 | 1 | 1 |",
        "| `beyond` | Title of beyond. | yes | yes | - | - | - | runs |",
        "| `stuck` | Title of stuck. | - | hangs | - | - | warns | runs |",
        "| `new` | Title of new. | yes | ? | ? | ? | ? | ? |",
        "| `beyond_fixed` | synccheck |",
        "Not yet run on the GPU, and counted as not found there: `new`.",
    ] {
        assert!(made.lines().any(|found| found == line), "{line}\n{made}");
    }
}
