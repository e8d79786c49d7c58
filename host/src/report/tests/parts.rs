//! The parts around a report's rows: legends, axes, grids, tolerances and conclusions.

use super::measures::{GBPS, SHARED_LOAD_WAVEFRONTS};
use super::*;

#[test]
fn the_table_explains_wavefronts_only_where_shared_memory_is_used() {
    let mut report = report(simulator());
    for variant in &mut report.variants {
        variant.counters.as_mut().unwrap().shared = Default::default();
    }
    let table = text(&report, Format::Table);
    assert!(table.contains("Sectors are") && !table.to_lowercase().contains("wavefronts"), "{table}");
}

#[test]
fn the_legend_explains_what_the_columns_and_conclusions_name_and_nothing_else() {
    let mut report = report(simulator());
    for subjects in [&[][..], &[Subject::GlobalLoads], &[Subject::SharedLoads], &[Subject::BankConflicts]] {
        report.subjects = subjects;
        for format in [Format::Table, Format::Markdown] {
            let text = text(&report, format);
            let sentences = ["Sectors are", "Wavefronts are", "Bank conflicts are"].map(|begin| text.contains(begin));
            let shown = [Subject::GlobalLoads, Subject::SharedLoads, Subject::BankConflicts].map(|it| subjects == [it]);
            assert_eq!(sentences, shown, "{text}");
        }
    }
    report.subjects = &[];
    report.conclude(&[Conclusion::new("A load takes {}.", &[Gap::Of(Row::Named("padded"), &SHARED_LOAD_WAVEFRONTS)])]);
    assert_eq!(report.conclusions, ["A load takes 32."]);
    assert!(text(&report, Format::Table).contains("Wavefronts are passes"));
}

#[test]
fn several_tolerances_are_one_sentence() {
    let mut report = report(simulator());
    for (variant, tolerance) in report.variants.iter_mut().zip([Tolerance::Ulps(1), Tolerance::Absolute(0.0098)]) {
        variant.comparison.as_mut().unwrap().tolerance = Some(Tolerated { tolerance, worst_part: 0.5 });
    }
    let table = text(&report, Format::Table);
    let sentence =
        "Allowed errors: the nearest float and 1 on either side of it are right; 9.8e-3 where neighbours are\nmixed.\n";
    assert!(table.contains(sentence) && table.matches("Allowed errors").count() == 1, "{table}");
}

#[test]
fn axes_are_columns_of_every_format() {
    let mut report = report(simulator());
    axis(&mut report, "load_width", [json!(4), json!(16)]);
    let table = text(&report, Format::Table);
    assert!(table.contains("\nload width right error"), "they name the rows: {table}");
    assert!(table.contains("\n16            NO  1e36"), "{table}");
    assert!(text(&report, Format::Markdown).contains("| load width | right |"));
    assert!(text(&report, Format::Csv).starts_with("lab,device,name,rows,cols,pitched,seed,block,load_width,correct,"));
    let value: Value = serde_json::from_str(&text(&report, Format::Json)).unwrap();
    assert_eq!(value["variants"][1]["parameters"]["load_width"], 16);
    // An axis that all rows share is in the heading; one that tells no variants apart stays beside
    // the names.
    axis(&mut report, "layout", [json!("linear"), json!("linear")]);
    let table = text(&report, Format::Table);
    assert!(table.contains("seed 1, layout linear\n") && table.contains("\nload width right error"), "{table}");
    report.variants.iter_mut().for_each(|variant| variant.facts.retain(|fact| fact.name != "load_width"));
    let table = text(&report, Format::Table);
    assert!(table.contains("\nvariant      layout right error") && !table.contains("seed 1, layout"), "{table}");
}

#[test]
fn a_sweep_of_two_axes_is_a_grid_with_the_best_marked() {
    let mut report = report(gpu());
    axis(&mut report, "block", [json!(128), json!(256)]);
    axis(&mut report, "load_width", [json!(4), json!(4)]);
    report.variants[0].facts.remove(0);
    report.variants[1].facts.remove(0);
    report.grids.push(Grid {
        title: "sweep".into(),
        rows: "block",
        columns: "load_width",
        group: String::new(),
        best: Best::OfAll,
        measures: &[&GBPS],
    });
    let table = text(&report, Format::Table);
    let grid = "\nsweep: GB/s; the highest is marked *:\nblock \\ load width     4\n128                  800\n256                3200*\n";
    assert!(table.contains(grid), "{table}");
    let markdown = text(&report, Format::Markdown);
    assert!(markdown.contains(
        "\nsweep: GB/s; the highest is marked *:\n\n| block \\ load width | 4 |\n| --- | ---: |\n| 128 | 800 |\n| 256 | 3200* |\n"
    ));
}

#[test]
fn rows_of_different_tasks_have_a_best_each_unless_all_tie() {
    let mut report = report(gpu());
    axis(&mut report, "pattern", [json!("aligned"), json!("aligned")]);
    axis(&mut report, "operator", [json!("ca"), json!("cg")]);
    let mut others = report.variants.clone();
    for (variant, gbps) in others.iter_mut().zip([40.0, 30.0]) {
        variant.facts.retain(|fact| fact.name != "pattern");
        variant.facts.push(Fact { name: "pattern", value: json!("scattered"), axis: true });
        variant.gbps = Some(gbps);
    }
    report.variants.extend(others);
    report.grids.push(Grid {
        title: "sweep".into(),
        rows: "pattern",
        columns: "operator",
        group: String::new(),
        best: Best::OfRow,
        measures: &[&GBPS],
    });
    let grid = |report: &LabReport| text(report, Format::Table).split("\n\n").nth(2).unwrap().to_owned();
    let head = "sweep: GB/s; each row's highest is marked * where they differ:\npattern \\ operator    ca    cg\n";
    assert_eq!(grid(&report), format!("{head}aligned              800 3200*\nscattered          40.0*  30.0"));
    for variant in &mut report.variants[..2] {
        variant.gbps = Some(800.0);
    }
    assert!(
        grid(&report).ends_with("\naligned              800  800\nscattered          40.0* 30.0"),
        "{}",
        grid(&report)
    );
}

#[test]
fn the_grids_of_a_compact_report_stand_for_its_table_if_all_is_right() {
    let mut report = report(gpu());
    axis(&mut report, "pattern", [json!("aligned"), json!("scattered")]);
    axis(&mut report, "load_width", [json!(4), json!(4)]);
    report.compact = true;
    report.grids.push(Grid {
        title: "sweep".into(),
        rows: "pattern",
        columns: "load_width",
        group: String::new(),
        best: Best::Unmarked,
        measures: &[&GBPS],
    });
    let table = text(&report, Format::Table);
    assert!(table.contains("\nscattered    NO") && table.contains("\npadded is wrong"), "one is wrong: {table}");
    report.variants[1].comparison = Some(Comparison { elements: 1_000_000, ..Comparison::default() });
    let table = text(&report, Format::Table);
    let all = "\nAll 2 variants are right. --format csv lists each.\n";
    assert!(table.contains(all) && !table.contains("\npadded") && table.contains("\nscattered "), "{table}");
    assert!(text(&report, Format::Markdown).contains("| scattered | yes |"));
}

#[test]
fn tolerances_and_what_a_lab_computes_are_shown() {
    let mut report = report(gpu());
    report.variants.truncate(1);
    let variant = &mut report.variants[0];
    (variant.operations, variant.gflops) = (20_000_000, Some(2000.0));
    variant.comparison = Some(Comparison {
        elements: 4,
        max_error: 0.25,
        tolerance: Some(Tolerated { tolerance: Tolerance::Roundings(3), worst_part: 0.125 }),
        ..Comparison::default()
    });
    let table = text(&report, Format::Table);
    assert!(table.contains("with-strides   yes 0.250    12.5 10.0 us 5.00 us    1.0  800 20.0    2000"), "{table}");
    assert!(table.contains("\nAllowed errors: 3 roundings, each by at most 2^-24 of the value.\n"), "{table}");
    let value: Value = serde_json::from_str(&text(&report, Format::Json)).unwrap();
    assert_eq!(value["variants"][0]["tolerance"], json!({"tolerance": {"roundings": 3}, "worst_part": 0.125}));
    assert_eq!(
        (&value["variants"][0]["operations"], &value["variants"][0]["gflops"]),
        (&json!(20_000_000), &json!(2000.0))
    );
    assert!(text(&report, Format::Csv).contains(",speedup,operations,gflops,"));
}

#[test]
fn the_share_of_the_allowed_error_is_short_however_wrong_a_result_is() {
    let mut report = report(simulator());
    let mut shown = |worst_part: f64| {
        let tolerated = Tolerated { tolerance: Tolerance::Roundings(3), worst_part };
        report.variants[1].comparison.as_mut().unwrap().tolerance = Some(tolerated);
        let table = text(&report, Format::Table);
        let row = table.lines().find(|line| line.starts_with("padded ")).unwrap();
        row.split_whitespace().nth(3).unwrap().to_owned()
    };
    let parts = [0.0, 1e-7, 0.125, 999.99, 1.3e43, f64::INFINITY, f64::NAN];
    assert_eq!(parts.map(&mut shown), ["0", "<0.001", "12.5", "99999", "1e45", "inf", "NaN"]);
}

#[test]
fn conclusions_stand_above_the_table_and_the_legend_below() {
    let mut report = report(simulator());
    report.conclusions = vec!["It is so. ".repeat(15), "And so.".into()];
    let table = text(&report, Format::Table);
    assert!(
        table.contains("It is so. It is so.\nIt is so. It is so. It is so. It is so. It is so.\nAnd so.\n\n "),
        "{table}"
    );
    let at = |part: &str| table.find(part).expect("it is there");
    assert!(at("And so.") < at("with-strides") && at("with-strides") < at("A request is"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(text(&report, Format::Markdown).contains("It is so.  And so.\n\nA request is"));
}

#[test]
fn what_the_names_of_its_rows_mean_stands_above_the_table() {
    let mut report = report(simulator());
    axis(&mut report, "tile", [json!("tile-33"), json!("tiled")]);
    report.meanings = vec![
        ("padded", "The name of a row"),
        ("tile-N", "A position with a number"),
        ("tile", "Nothing here"),
        ("with-N", "Nothing either: no number follows"),
    ];
    let table = text(&report, Format::Table);
    assert!(table.contains("\n\npadded  The name of a row\ntile-N  A position with a number\n\n"), "{table}");
}

#[test]
fn the_words_of_the_legend_hold_for_the_model() {
    let models = |names: [&str; 2]| {
        let mut report = report(simulator());
        for (variant, name) in report.variants.iter_mut().zip(names) {
            let transactions = simt::counts::TransactionCounters { transactions: 1, bytes_moved: 32, bytes_asked: 32 };
            variant.counters.as_mut().unwrap().model = Some(simt::counts::ModelCounters {
                model: simt::Model::named(name).unwrap(),
                global_load: transactions,
                read_only_load: Default::default(),
                global_store: transactions,
                caches: Default::default(),
            });
        }
        text(&report, Format::Table)
    };
    let model = |name| models([name, name]);
    let hopper = model("hopper");
    assert!(hopper.contains("32.0 is 32 lanes in one bank") && hopper.contains("Sectors are"), "{hopper}");
    let tesla = model("tesla");
    assert!(tesla.contains("16 banks") && tesla.contains("16.0 is a half warp in one bank"), "{tesla}");
    assert!(tesla.contains("A transaction moves a segment") && !tesla.to_lowercase().contains("sector"), "{tesla}");
    let both = models(["hopper", "g80"]);
    assert!(both.contains("\nWith 32 banks, wavefronts are passes"), "{both}");
    assert!(both.contains("\nOn g80, wavefronts are passes over the 16 banks"), "{both}");
    assert!(both.contains("Sectors are") && both.contains("A transaction moves a segment"), "{both}");
}

#[test]
fn of_one_launch_on_a_gpu_the_first_table_says_that_it_is_right() {
    let mut report = LabReport { legend: false, ..report(gpu()) };
    report.variants.pop();
    assert!(!text(&report, Format::Table).contains("right"), "a table with times names only what is wrong");
    report.variants[0].timing = None;
    report.variants[0].warm_timing = None;
    let once = text(&report, Format::Table);
    let row = once.lines().find(|line| line.starts_with("with-strides")).unwrap();
    assert!(once.contains(" right ") && row.contains("yes"), "{once}");
}

#[test]
fn what_a_step_removes_has_numbers_only_where_it_is_counted() {
    const STEPS: &[Removes] = &[
        Removes { step: "with-strides", what: "", measure: measures::BANK_CONFLICTS_FIRST },
        Removes { step: "padded", what: "bank conflicts", measure: measures::BANK_CONFLICTS_FIRST },
    ];
    let first = |device| LabReport {
        first: FirstScreen { removes: STEPS, ..report(gpu()).first },
        legend: false,
        ..report(device)
    };
    let head = |report: &LabReport| {
        let text = text(report, Format::Table);
        assert!(text.contains("bank conflicts"), "{text}");
        text.lines().find(|line| line.starts_with("variant ")).unwrap().to_owned()
    };
    assert!(!head(&first(gpu())).contains("from"));
    assert!(head(&first(simulator())).contains(" from "));
}

#[test]
fn one_wrong_variant_makes_the_report_wrong() {
    let mut report = report(simulator());
    assert!(!report.correct());
    report.variants.remove(1);
    assert!(report.correct());
}

#[test]
fn a_goal_says_how_near_a_run_is() {
    let report = report(simulator());
    let padded = Target::Row(Row::Named("padded"));
    let number = Target::Number;
    for (bound, met, says) in [
        (Bound::AtMost(number(32.0)), true, "Done: 32.0 wavefronts."),
        (Bound::AtMost(number(31.0)), false, "Not yet: 32.0 wavefronts, 1 too many."),
        (Bound::AtMost(number(0.0)), false, "Not yet: 32.0 wavefronts."),
        (Bound::AtLeast(number(34.5)), false, "Not yet: 32.0 wavefronts, 2.5 too few."),
        // What is missing fits the number that is shown.
        (Bound::AtMost(number(31.004)), false, "Not yet: 32.0 wavefronts, 1 too many."),
        (Bound::AtMost(number(31.999)), false, "Not yet: 32.0 wavefronts, 0.001 too many."),
        (Bound::AtLeast(number(64.0)), false, "Not yet: 32.0 wavefronts, 32 too few."),
        (Bound::AtLeast(padded), true, "Done: 32.0 wavefronts."),
        (Bound::AtMost(Target::Of(|_| None)), false, "Not yet: this setting has no number to judge."),
    ] {
        let goal = Goal {
            ask: "Do it.",
            row: Row::Named("padded"),
            measure: &SHARED_LOAD_WAVEFRONTS,
            unit: " wavefronts",
            bound,
            except: &[],
        };
        assert_eq!(goal.judge(&report), Judged { ask: "Do it.", met, says: says.to_owned() });
        let other = Goal { except: &[("block", "32 x 8")], ..goal };
        assert_eq!(other.judge(&report).says, "Not yet: block 32 x 8 does not count.");
    }
}
