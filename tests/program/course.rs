//! Tests of `host course`, which a lecturer runs on each machine before a class. `report` has one
//! where all is right.

use crate::host;

/// Changed PTX of the kernels: a transpose that only copies and a copy that transposes, and a lab
/// without its kernels.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn what_is_wrong_is_named_and_the_rest_runs() {
    let text = kernels::PTX[0].text.replace("transpose_padded", "elsewhere");
    let text = text.replace("transpose_copy", "transpose_padded").replace("elsewhere", "transpose_copy");
    let text = text.replace("vector_copy16", "vector_copy32");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.ptx");
    std::fs::write(&file, text).expect("the file is written");
    let best = "../kernels/best/ptx/best_kernels.sm_90.ptx";
    // A model omits variants whose blocks it does not support, and runs the rest.
    let command = format!("course --device sim:g80 --ptx {} --ptx {best}", file.display());
    let run = host(&command).assert().code(1);
    let table = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    let lines = table.lines().skip(1).take_while(|line| !line.is_empty());
    // Without those that go on with a long cell.
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("  ")).collect();
    let named = |line: &&str, lab: &str| line.split_whitespace().next() == Some(lab);
    let labs: Vec<&str> = std::iter::once("devices").chain(host::labs::ALL.iter().map(|lab| lab.name)).collect();
    assert!(lines.len() == labs.len() && lines.iter().zip(&labs).all(|(line, lab)| named(line, lab)), "{table}");
    for line in lines {
        let is_as_expected = match line.split_whitespace().next() {
            Some("transpose") => line.contains("WRONG: ") && line.contains("padded"),
            Some("vector") => line.contains("error: ") && line.contains("vector_copy16"),
            _ => line.split_whitespace().nth(2) == Some("right"),
        };
        assert!(is_as_expected, "{line}\n{table}");
    }
    assert!(table.contains("26 of 28 labs are right"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}
