//! Every lab in every output format.

use host::report::{self, Format};
use serde_json::Value;

use crate::labs::table::rows;
use crate::labs::{run_on, simulator};

#[test]
fn tables_fit_100_columns_and_the_other_formats_have_every_variant() {
    for device in ["sim", "sim:g80", "sim:hopper"] {
        let device = simulator(device);
        for row in rows() {
            let report = run_on(&device, row.lab, row.all);
            let text = |format| {
                let mut out = Vec::new();
                report::write(&report, format, &mut out).expect("into memory");
                String::from_utf8(out).expect("text")
            };
            let table = text(Format::Table);
            for line in table.lines() {
                assert!(line.chars().count() <= 100, "{}: {} columns: {line}", row.lab, line.chars().count());
            }
            let count = report.variants.len();
            let json: Value = serde_json::from_str(&text(Format::Json)).expect("JSON");
            assert_eq!(json["variants"].as_array().map(Vec::len), Some(count), "{}", row.lab);
            let csv = text(Format::Csv);
            assert_eq!(csv.lines().count(), 1 + count, "{}", row.lab);
            let markdown = text(Format::Markdown);
            let rows = markdown.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
            assert_eq!(rows.take_while(|line| line.starts_with("| ")).count(), count, "{}: {markdown}", row.lab);
        }
    }
}

#[test]
fn names_of_variants_are_different() {
    let device = simulator("sim");
    for row in rows() {
        let report = run_on(&device, row.lab, row.all);
        let mut names: Vec<_> = report.variants.iter().map(|variant| &variant.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), report.variants.len(), "{}", row.lab);
    }
}
