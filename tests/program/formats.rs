//! Tests of the output formats, and of an output that its reader closes early.

use std::process::{Command, Output, Stdio};

use crate::{json, output, takes};

#[test]
fn json_has_what_readers_rely_on() {
    let report = json("transpose --tiled --rows 96 --cols 64");
    assert_eq!(report["lab"], "transpose");
    assert_eq!(report["device"]["name"], "simulator");
    let variant = report["variants"][0].as_object().expect("an object");
    for key in ["name", "correct", "max_error", "time_ms", "gbps", "counters"] {
        assert!(variant.contains_key(key), "no {key} in {variant:?}");
    }
}

#[test]
fn csv_has_one_line_for_each_variant() {
    let text = output("transpose --device sim --rows 40 --cols 40 --format csv");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 8, "{text}");
    let columns = lines[0].split(',').count();
    assert!(columns > 10 && lines[0].contains("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), "{text}");
}

#[test]
fn markdown_is_a_table() {
    let text = output("offset --device sim --size 1000 --offset 0,1 --format markdown");
    let rows = text.lines().filter(|line| line.starts_with('|')).count();
    assert!(rows >= 2 + 4, "{text}");
}

#[test]
fn every_table_fits_100_columns() {
    for arguments in [
        "list",
        "devices --device sim",
        "transpose --rows 64 --cols 64 --device sim",
        "offset --size 100000 --device sim",
        "--help",
        "transpose --help",
    ] {
        let text = output(arguments);
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{arguments}: {} columns: {line}", line.chars().count());
        }
    }
}

#[test]
fn a_legend_explains_only_terms_that_stand_in_the_output() {
    // Small, since the size does not decide which terms there are.
    let sizes = [
        ("rows", " --rows 64"),
        ("cols", " --cols 64"),
        ("m", " --m 64"),
        ("size", " --size 256"),
        ("volume", " --volume 8,16,32"),
        ("lists", " --lists 256"),
        ("entries", " --entries 4096"),
    ];
    let size = |lab| sizes.iter().filter(|(flag, _)| takes(lab, flag)).map(|(_, small)| *small).collect::<String>();
    // Nor do predicted times.
    let labs = host::labs::ALL.iter().map(|lab| format!("{} --no-predict --device sim{}", lab.name, size(lab.name)));
    let models = ["g80", "fermi"].map(|model| format!("transpose --rows 64 --device sim:{model}"));
    for arguments in labs.chain(models) {
        let text = output(&format!("{arguments} --legend")).replace('\n', " ");
        for (explanation, terms) in [
            ("Sectors are 32 bytes", ["sectors"].as_slice()),
            ("Wavefronts are passes", &["wavefronts"]),
            ("Transactions are as", &["transactions"]),
            ("All caches are", &["hits", "from L2"]),
        ] {
            let shown = terms.iter().any(|term| text.contains(term));
            assert!(!text.contains(explanation) || shown, "{arguments} shows none of {terms:?}: {text}");
        }
        assert!(text.matches("Allowed errors:").count() <= 1, "{arguments}: {text}");
    }
    let banks = output("banks --device sim --legend");
    assert!(banks.contains("\nWith 32 banks, wavefronts are") && banks.contains("\nOn g80, wavefronts are"), "{banks}");
}

/// Runs the program with its output closed.
fn unread(arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_host"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("the program ends")
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let ended = unread(&["offset", "--device", "sim", "--format", "json", "--size", "5000"]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn an_error_is_one_whoever_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.ptx");
    std::fs::write(&path, ".version 7.0\n.target sm_75\nnonsense\n").expect("a file");
    let ended = unread(&["check", path.to_str().expect("a path of plain text")]);
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
}
