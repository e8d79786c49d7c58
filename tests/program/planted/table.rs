//! The table in `docs/PLANTED.md`: each planted bug, and which tools find it. It combines the simulator's findings with those of
//! compute-sanitizer on a GPU (`cargo xtask compute-sanitizer`). `COALESCE_BLESS=1 cargo test -p host --test program planted`
//! updates it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::suite::{Case, FOLDER};
use super::{ROOT, cases, complaints, said_of};

const DOCUMENT: &str = "docs/PLANTED.md";
const BEGIN: &str =
    "<!-- The table of planted bugs begins. COALESCE_BLESS=1 cargo test -p host --test program planted -->\n";
const END: &str = "<!-- The table of planted bugs ends. -->\n";

/// The tools of compute-sanitizer.
const TOOLS: [&str; 4] = ["memcheck", "initcheck", "racecheck", "synccheck"];

/// The headings of the kinds of bugs in the table.
const KINDS: [(&str, &str); 5] = [
    ("memory", "Accesses that are not possible"),
    ("init", "Reads of memory, and uses of registers, that nothing wrote"),
    ("race", "Races"),
    ("sync", "Barriers and operations of the warp"),
    ("undefined", "What the PTX manual leaves open"),
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

/// The text between the marks of the document. `found` says whether the simulator finds what is marked.
fn table(cases: &[Case], results: &Results, found: impl Fn(&Case) -> bool) -> String {
    let (planted, clean): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.is_planted());
    let right: Vec<&Case> = cases.iter().filter(|case| found(case)).collect();
    let of_simulator =
        |cases: &[&Case]| cases.iter().filter(|case| right.iter().any(|right| right.kernel == case.kernel)).count();
    let row = |counts: Vec<usize>| counts.iter().map(|count| format!(" {count} |")).collect::<String>();

    let mut text = format!("{BEGIN}{}; Coalesce's simulator on the same PTX.\n\n", results.heading);
    text += "| | kernels | Coalesce | memcheck | initcheck | racecheck | synccheck | any of the four |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let (bugs, silent) = (planted.len(), clean.len());
    let _ = writeln!(text, "| bugs found | {bugs} | {} |{}", of_simulator(&planted), row(results.counts(&planted)));
    let false_alarms = silent - of_simulator(&clean);
    let _ = writeln!(text, "| clean kernels blamed | {silent} | {false_alarms} |{}", row(results.counts(&clean)));

    for (kind, title) in KINDS {
        if !planted.iter().any(|case| case.marks[0].kind == kind) {
            continue;
        }
        let _ = writeln!(text, "\n**{title}**\n");
        text += "| kernel | what is wrong | Coalesce | memcheck | initcheck | racecheck | synccheck | by itself |\n";
        text += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
        for case in planted.iter().filter(|case| case.marks[0].kind == kind) {
            let ours = if of_simulator(&[case]) == 1 { "yes" } else { "-" };
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
    let blamed: Vec<String> = clean
        .iter()
        .filter(|case| results.any(&case.kernel))
        .map(|case| {
            let tools = TOOLS.iter().filter(|tool| results.of(&case.kernel, tool).found());
            format!("`{}` ({})", case.kernel, tools.copied().collect::<Vec<_>>().join(", "))
        })
        .collect();
    if !blamed.is_empty() {
        let _ = writeln!(text, "\nClean kernels of which compute-sanitizer says something: {}.", blamed.join(", "));
    }
    let missing: Vec<String> =
        cases.iter().filter(|case| !results.has(&case.kernel)).map(|case| format!("`{}`", case.kernel)).collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "\nNot yet run on the GPU, and counted as not found there: {}.", missing.join(", "));
    }
    text + END
}

#[test]
fn the_table_in_the_documentation_is_that_of_these_results() {
    let path = Path::new(ROOT).join(DOCUMENT);
    let document = fs::read_to_string(&path).expect("the document is read");
    let start = document.find(BEGIN).expect("the table begins");
    let end = document.find(END).expect("the table ends") + END.len();
    let results = fs::read_to_string(Path::new(ROOT).join(FOLDER).join("h200.tsv")).expect("the results are read");
    let made = table(&cases(), &Results::read(&results), |case| complaints(case, &said_of(case, 1)).is_empty());
    if std::env::var_os("COALESCE_BLESS").is_some() {
        fs::write(&path, format!("{}{made}{}", &document[..start], &document[end..])).expect("the document is written");
    } else {
        assert_eq!(document[start..end], made, "update it: COALESCE_BLESS=1 cargo test -p host --test program planted");
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
    let made = table(&cases, &Results::read(&text), |case| case.kernel != "stuck");
    for line in [
        "H200; compute-sanitizer 1; today; Coalesce's simulator on the same PTX.",
        "| bugs found | 3 | 2 | 1 | 0 | 0 | 1 | 2 |",
        "| clean kernels blamed | 1 | 0 | 0 | 0 | 0 | 1 | 1 |",
        "| `beyond` | Title of beyond. | yes | yes | - | - | - | runs |",
        "| `stuck` | Title of stuck. | - | hangs | - | - | warns | runs |",
        "| `new` | Title of new. | yes | ? | ? | ? | ? | ? |",
        "Clean kernels of which compute-sanitizer says something: `beyond_fixed` (synccheck).",
        "Not yet run on the GPU, and counted as not found there: `new`.",
    ] {
        assert!(made.lines().any(|found| found == line), "{line}\n{made}");
    }
}
