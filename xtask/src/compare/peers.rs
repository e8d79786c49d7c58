//! `measurements/peers.md`: every comparison, with the words of `peers.toml`. [`super`] calls it.
//! Pure: it returns the text.

use std::fmt::Write;

use wording::units::milliseconds;
use wording::{WIDTH, paragraph, wrapped};

use super::measurements::{Limit, Results, Words};
use super::plan::{self, Goal, Pair, Size};
use super::rows::{Compared, rounded, rows};
use crate::program::Machine;
use crate::tables::{geometric_mean, head, line};

/// The whole document; or what is wrong with the words.
pub(super) fn of(results: &Results, words: &Words) -> Result<String, String> {
    for Limit { of, rows: wanted, .. } in &words.limits {
        let goal = plan::GOALS.iter().find(|goal| goal.title == *of);
        let goal = goal.ok_or_else(|| format!("`{of}` is no title of {}", plan::PEERS))?;
        let rows = rows(goal, results);
        if let Some(unknown) = wanted.iter().find(|name| !rows.iter().any(|row| row.is_called(name))) {
            return Err(format!("`{of}` has no row `{unknown}`: give a first cell of its table, or a size"));
        }
    }
    let Machine { device, .. } = &results.machine;
    let mut text = format!(
        "# Beside the libraries\n\n{}\n",
        paragraph(&format!(
            "Every comparison on one {device}. [PEERS.md](../docs/PEERS.md) says what they show, and how they were made. \"Peer / ours\" is \
             the library's time over ours: above 1, ours is faster. \"Cold\" has nothing of use in the level-2 cache; \"warm\" is \
             launches back to back, where the data fits that cache. A row meets its target if each ratio that it has, rounded to two \
             digits, reaches it. \"Of the limit\" is what ours reaches of the memory bus's bandwidth or of the f32 units' rate at the \
             measured clock, whichever is closer."
        ))
    );
    for goal in plan::GOALS {
        section(&mut text, goal, results, words);
    }
    Ok(text)
}

fn section(text: &mut String, goal: &Goal, results: &Results, words: &Words) {
    let rows = rows(goal, results);
    let library =
        if ["vector", "reduce", "rows"].contains(&goal.lab_name()) { " --peer-library libcub.so" } else { "" };
    let example = goal.sizes.last().map(|size| goal.arguments(size)).unwrap_or_default();
    let _ = write!(text, "\n## {}\n\n{}\n\n", goal.title, paragraph(goal.about));
    let command = wrapped(&format!("host {example} --peer{library}"), WIDTH - 2, "", "    ").replace('\n', " \\\n");
    let _ = write!(text, "```text\n{command}\n```\n\n");
    if goal.pairs.len() > 1 {
        overview(text, goal, &rows);
    }
    table(text, &rows);
    limits(text, goal, &rows, words);
}

/// What limits the rows that are slower than the library, as far as there are words for them, and
/// all that miss their target. Those that the same words are about stand together.
fn limits(text: &mut String, goal: &Goal, rows: &[Compared<'_>], words: &Words) {
    let mut left: Vec<&Compared<'_>> = rows.iter().filter(|row| row.is_slower() || row.met() == Some(false)).collect();
    let mut items = String::new();
    let mut item = |rows: &[&Compared<'_>], words: &str| {
        if !rows.is_empty() {
            let names: Vec<_> = rows.iter().map(|row| row.name()).collect();
            let _ = writeln!(items, "{}", wrapped(&format!("{}: {words}", names.join("; ")), WIDTH, "- ", "  "));
        }
    };
    for Limit { rows: named, words, .. } in words.limits.iter().filter(|limit| limit.of == goal.title) {
        let (of_words, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|row| named.iter().any(|name| row.is_called(name)));
        item(&of_words, words);
        left = others;
    }
    left.retain(|row| row.met() == Some(false));
    item(&left, "not known yet.");
    if !items.is_empty() {
        let _ =
            write!(text, "\nWhat limits the rows that are slower than the library, or miss their target:\n\n{items}");
    }
}

/// The ratios of several pairs side by side, those that miss their target in bold, with their
/// means.
fn overview(text: &mut String, goal: &Goal, rows: &[Compared<'_>]) {
    let titles: Vec<&str> = goal.pairs.iter().map(|pair| pair.what).collect();
    text.push_str("Peer / ours, the smaller of cold and warm:\n\n");
    head(text, &std::iter::once("").chain(titles.iter().copied()).collect::<Vec<_>>());
    let of_size = |size: &Size| rows.iter().filter(|row| row.size.name == size.name).collect::<Vec<_>>();
    for size in goal.sizes {
        let cells = of_size(size).into_iter().map(|row| match (row.least(), row.met()) {
            (None, _) => "-".to_owned(),
            (Some(ratio), Some(false)) => format!("**{ratio:.2}**"),
            (Some(ratio), _) => format!("{ratio:.2}"),
        });
        line(text, std::iter::once(size.name.to_owned()).chain(cells));
    }
    let mean =
        |ratios: Vec<f64>| if ratios.is_empty() { "-".to_owned() } else { format!("{:.2}", geometric_mean(&ratios)) };
    let of_pair =
        |pair: &Pair| rows.iter().filter(|row| row.pair.what == pair.what).filter_map(|row| row.least()).collect();
    let means = goal.pairs.iter().map(|pair| mean(of_pair(pair)));
    line(text, std::iter::once("geometric mean".to_owned()).chain(means));
    let all: Vec<f64> = rows.iter().filter_map(|row| row.least()).collect();
    if let (Some(target), false) = (goal.mean, all.is_empty()) {
        let found = geometric_mean(&all);
        let met = if rounded(found) >= target { "reaches" } else { "misses" };
        let _ = write!(text, "\nThe geometric mean of all is {found:.2}, which {met} its target of {target:.2}.\n");
    }
    text.push('\n');
}

fn table(text: &mut String, rows: &[Compared<'_>]) {
    let warm = rows.iter().any(|row| row.times.is_some_and(|times| times.warm.is_some()));
    let mut titles = vec!["size", "ours", "peer", "peer / ours"];
    if warm {
        titles.extend(["ours, warm", "peer, warm", "peer / ours, warm"]);
    }
    titles.extend(["target", "met", "of the limit"]);
    head(text, &titles);
    for row in rows {
        let pair = |times: Option<[f64; 2]>| match times {
            Some([ours, peer]) => [milliseconds(ours), milliseconds(peer), format!("{:.2}", peer / ours)],
            None => ["-"; 3].map(str::to_owned),
        };
        let met = match row.met() {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "-",
        };
        let mut cells = vec![row.name()];
        cells.extend(pair(row.times.map(|times| times.cold)));
        if warm {
            cells.extend(pair(row.times.and_then(|times| times.warm)));
        }
        let limit = row.times.and_then(|times| times.percent_of_limit);
        let limit = limit.map_or("-".to_owned(), |percent| format!("{percent:.1} %"));
        cells.extend([format!("{:.2}", row.size.least), met.to_owned(), limit]);
        line(text, cells.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::measure::{middle, run_of};
    use super::super::page;
    use super::*;

    /// A row of a report.
    fn variant(name: &str, library: Option<&str>, time: f64, warm: Option<f64>) -> serde_json::Value {
        json!({
            "name": name, "parameters": {"library": library}, "correct": true, "time_ms": time, "warm_time_ms": warm,
            "timing": {"time_lower_quartile_ms": time * 0.99, "time_upper_quartile_ms": time * 1.01},
            "percent_of_limit": 88.25, "limit": "memory",
        })
    }

    /// A made-up measurement: gram at both sizes, and a reduction.
    fn results() -> Results {
        let cublas = Some("cuBLAS 13.1.0");
        let gram = |ours: f64, half: f64, whole: f64| {
            json!({"variants": [
                variant("best", None, ours, None), variant("cublas-sgemm", cublas, whole, None),
                variant("cublas-ssyrk-half", cublas, half, None),
            ]})
        };
        let reduce = json!({"variants": [
            variant("best-sum-f32", None, 0.004, Some(0.002)),
            variant("cub-sum-f32", Some("CUB 3.0.1"), 0.006, Some(0.0019)),
        ]});
        let runs = [
            ("gram --best --rows 4096", gram(1.0, 1.5, 1.8951)),
            ("gram --best --rows 8192", gram(8.0, 7.9, 16.0)),
            ("reduce --best --operation sum,product,min,max --type f32,i32 --size 1024", reduce),
        ];
        let runs = runs.map(|(arguments, report)| (arguments.to_owned(), run_of(&report).unwrap()));
        let machine = Machine {
            device: "NVIDIA H200".to_owned(),
            driver: "580.1".to_owned(),
            cuda: "13.0".to_owned(),
            nvcc: "13.0".to_owned(),
            date: "2026-11-22".to_owned(),
        };
        Results { machine, dates: BTreeMap::new(), processes: 1, runs: BTreeMap::from(runs) }
    }

    fn words(of: &str, row: &str) -> Words {
        let words = "the clock falls under the power limit. ".repeat(5);
        Words {
            since: Some("SINCE".to_owned()),
            limits: vec![Limit { of: of.to_owned(), rows: vec![row.to_owned()], words }],
        }
    }

    #[test]
    fn rows_meet_their_targets_or_say_why_not() {
        let text = of(&results(), &words("Gram matrix and half of it by cuBLAS", "8192")).unwrap();
        for line in [
            "| 4096 | 1.00 ms | 1.50 ms | 1.50 | 1.25 | yes | 88.2 % |",
            "| 8192 | 8.00 ms | 7.90 ms | 0.99 | 1.00 | **no** | 88.2 % |",
            // 1.8951 is 1.90 in two digits.
            "| 4096 | 1.00 ms | 1.90 ms | 1.90 | 1.90 | yes | 88.2 % |",
            "- 8192: the clock falls under the power limit. the clock falls under the power limit. the clock",
            "  falls under the power limit. the clock falls under the power limit. the clock falls under the",
            // Warm it is slower.
            "| sum f32, 2^10 | 4.00 us | 6.00 us | 1.50 | 2.00 us | 1.90 us | 0.95 | 1.00 | **no** | 88.2 % |",
            "| 2^10 | **0.95** | - | - | - | - | - | - | - |",
            "- sum f32, 2^10: not known yet.",
            "The geometric mean of all is 0.95, which misses its target of 1.05.",
            "| 1000 | - | - | - | 1.00 | - | - |",
        ] {
            assert!(text.lines().any(|found| found == line), "no `{line}` in\n{text}");
        }
        let page = page::of(&results(), &words("Reduction", "2^10"));
        let first = "(driver 580.1, CUDA 13.0, nvcc 13.0), with CUB 3.0.1 and cuBLAS 13.1.0. Measured on 2026-11-22; the command:";
        assert!(page.replace('\n', " ").contains(first), "{page}");
        let count: usize = plan::GOALS.iter().map(|goal| goal.pairs.len() * goal.sizes.len()).sum();
        assert!(page.contains(&format!("\n3 of {count} rows meet their target.")), "{page}");
        for line in [
            "Since the measurement: SINCE",
            "| Gram matrix and half of it by cuBLAS | 2 | 1.22 | 0.99 | 1.50 | 1 of 2 |",
            "| Matrix product | 0 | - | - | - | - |",
        ] {
            assert!(page.lines().any(|found| found == line), "no `{line}` in\n{page}");
        }
        let dates = [("gram", "2026-11-22"), ("reduce", "2026-11-22"), ("sparse", "2026-11-29")];
        let dates = dates.map(|(lab, date)| (lab.to_owned(), date.to_owned())).into();
        let page = page::of(&Results { dates, ..results() }, &Words::default()).replace('\n', " ");
        assert!(page.contains(" Measured on 2026-11-22, sparse on 2026-11-29; the command:"), "{page}");
        let long = text.lines().find(|line| line.chars().count() > WIDTH && !line.starts_with('|'));
        assert_eq!(long, None);
    }

    #[test]
    fn words_are_about_rows_that_there_are() {
        let error = |title: &str, row: &str| of(&results(), &words(title, row)).unwrap_err();
        assert_eq!(error("Gram", "8192"), "`Gram` is no title of measurements/peers.md");
        let message = "`Reduction` has no row `17`: give a first cell of its table, or a size";
        assert_eq!(error("Reduction", "17"), message);
        // A size stands for all of its rows; words about a row that meets its target are not shown.
        let text = of(&results(), &words("Reduction", "2^10")).unwrap();
        assert!(
            text.contains("\n- sum f32, 2^10: the clock falls") && !text.contains("sum f32, 2^10: not known"),
            "{text}"
        );
        let of_gram =
            |results: &Results, row| of(results, &words("Gram matrix and half of it by cuBLAS", row)).unwrap();
        let text = of_gram(&results(), "4096");
        assert!(!text.contains("the clock falls") && text.contains("\n- 8192: not known yet.\n"), "{text}");
        // 0.996 meets the target, but is slower: that may be explained, but need not.
        let mut results = results();
        let row = results.runs.get_mut("gram --best --rows 8192").unwrap().get_mut("cublas-ssyrk-half").unwrap();
        row.time_ms = 7.97;
        assert!(of_gram(&results, "8192").contains("\n- 8192: the clock falls"));
        let text = of_gram(&results, "4096");
        assert!(!text.contains("the clock falls") && !text.contains("- 8192:"), "{text}");
    }

    #[test]
    fn a_wrong_row_is_not_kept() {
        let mut report = json!({"variants": [variant("best", None, 1.0, None)]});
        assert!(run_of(&report).is_ok());
        report["variants"][0]["correct"] = false.into();
        assert_eq!(run_of(&report).unwrap_err(), "best is wrong");
        let untimed = json!({"variants": [{"name": "best", "correct": true}]});
        assert_eq!(run_of(&untimed).unwrap_err(), "best has no time");
    }

    #[test]
    fn the_middle_of_several_processes_counts() {
        let run = |cold: f64, warm: f64| {
            let variants =
                [variant("best", None, cold, Some(warm)), variant("cublas", Some("cuBLAS"), 2.0 * cold, None)];
            run_of(&json!({"variants": variants})).unwrap()
        };
        let middle = middle(&[run(3.0, 0.1), run(1.0, 0.3), run(2.0, 0.2)]);
        assert_eq!((middle["best"].time_ms, middle["best"].warm_time_ms), (2.0, Some(0.2)));
        assert_eq!((middle["cublas"].time_ms, middle["cublas"].warm_time_ms), (4.0, None));
        assert_eq!(middle["cublas"].library.as_deref(), Some("cuBLAS"));
        let results = Results { processes: 3, ..results() };
        let text = page::of(&results, &Words::default()).replace('\n', " ");
        assert!(text.contains("Times are medians; each lab ran in 3 processes, and the middle time"), "{text}");
    }

    #[test]
    fn names_of_rows_are_told_apart() {
        let of_goal = |goal: &'static Goal| {
            let rows = rows(goal, &Results::default());
            rows.into_iter().map(move |row| format!("{}: {}", goal.title, row.name()))
        };
        let mut names: Vec<String> = plan::GOALS.iter().flat_map(of_goal).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
