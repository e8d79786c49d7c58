//! Faults and counts of code that is inlined, from the toolkit's headers or the user's own: which
//! line is named, and which faults are one.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{host, one_error};

/// PTX of nvcc, with its source beside it.
const TWO_ATOMICS: &str = "run ../tests/program/nvcc/two_atomics.ptx";

/// What the checks say of a run, which they find fault with.
fn reported(arguments: &str) -> String {
    let run = host(&format!("{arguments} --device sim")).assert().code(1);
    String::from_utf8_lossy(&run.get_output().stderr).into_owned()
}

/// `atomicAdd` is a function of a header: both faults had its line, and were one.
#[test]
fn faults_in_headers_of_the_toolkit_have_the_line_of_the_call() {
    let run = format!("{TWO_ATOMICS} two_atomics --grid 1 --block 32 i32[32]=ramp i32[8] i32:8");
    let text = reported(&run);
    for (place, code, comment) in [
        ("4:3", "4 | atomicAdd(&hist[in[i]], 1);", "// line 4: no check against bins"),
        ("6:5", "6 | atomicAdd(&hist[in[i] + bins], 1);", "// line 6: another bug, never mentioned"),
    ] {
        let header = "= which inlines /usr/local/cuda/include/device_atomic_functions.hpp:107:3";
        let expected = format!("--> two_atomics.cu:{place} {code} {comment} {header}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&expected), "{expected}\n{text}");
    }
    assert!(
        text.ends_with("\nerror: kernel two_atomics(int const*, int*, int): the checks found 2 faults\n"),
        "{text}"
    );
    let json = host(&format!("{run} --device sim --format json")).assert().code(1);
    let report: Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    let places = report["faults"].as_array().expect("a list").iter().map(|fault| {
        let frames = fault["frames"].as_array().expect("frames").iter().map(|frame| frame["line"].clone());
        (fault["file"].clone(), fault["line"].clone(), frames.collect::<Vec<_>>())
    });
    let file = json!("two_atomics.cu");
    let expected =
        vec![(file.clone(), json!(4), vec![json!(107), json!(4)]), (file, json!(6), vec![json!(107), json!(6)])];
    assert_eq!(places.collect::<Vec<_>>(), expected);
    let text = reported(&format!("{TWO_ATOMICS} count --grid 1 --block 32 i32[1]"));
    assert!(text.contains("fault[init]: ") && text.contains("\n  --> two_atomics.cu:10:3\n  10 | "), "{text}");
}

/// Without checks the fault is a trap.
#[test]
fn a_trap_has_the_line_of_the_call_and_its_source() {
    let run = format!("{TWO_ATOMICS} two_atomics --grid 1 --block 32 i32[32]=ramp i32[8] i32:8 --check none");
    let text = reported(&run);
    assert!(one_error(&text).contains("out of bounds atomic operation of 4 bytes"), "{text}");
    assert!(text.contains("\n  --> two_atomics.cu:4:3\n   4 | atomicAdd(&hist[in[i]], 1);"), "{text}");
    assert!(text.contains("\n   = thread (8, 0, 0) of block (0, 0, 0): `atom.global.add.u32"), "{text}");
    let narrow = host(&format!("{run} --device sim")).env("COLUMNS", "60").assert().code(1);
    let narrow = String::from_utf8_lossy(&narrow.get_output().stderr).into_owned();
    let words = |line: &str| line.split_whitespace().count();
    assert!(narrow.lines().all(|line| line.chars().count() <= 60 || words(line) <= 3), "{narrow}");
}

/// The sectors of all atomics stood at the header's line.
#[test]
fn counts_stand_at_the_line_of_the_call() {
    let run =
        format!("{TWO_ATOMICS} two_atomics --grid 1 --block 32 i32[32]=ramp i32[64] i32:32 --format json --lines");
    let run = host(&format!("{run} --device sim")).assert().success();
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let lines = report["lines"].as_array().expect("lines");
    assert!(lines.iter().all(|line| line["file"] == "two_atomics.cu"), "{report}");
    for number in [4, 6] {
        let line = lines.iter().find(|line| line["line"] == number).expect("the line");
        let kinds: Vec<_> =
            line["accesses"].as_array().expect("accesses").iter().map(|it| it["kind"].clone()).collect();
        assert!(kinds.contains(&json!("load")) && kinds.len() == 2, "{line}");
        assert!(line["source"].as_str().is_some_and(|text| text.contains("atomicAdd")), "{line}");
    }
}

/// PTX of a kernel whose header is its own project's, and which traps; without lines, too.
const OWN_HEADER: &str = "\
.version 8.0
.target sm_75
.address_size 64
.file 1 \"/home/me/lab/src/k.cu\"
.file 2 \"/home/me/lab/include/tile.cuh\"
.file 3 \"/usr/local/cuda/include/crt/device_functions.hpp\"
.visible .entry divides(.param .u64 p, .param .u32 by) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .loc 1 12 3
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [by];
    .loc 2 7 5, function_name $tile, inlined_at 1 12 3
    .loc 3 99 1, function_name $inner, inlined_at 2 7 5
    div.u32 %r2, 5, %r1;
    .loc 1 13 3
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry gives_up() {
    .loc 1 20 3
    trap;
}
";

fn own_header(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.ptx");
    std::fs::write(&file, text).expect("the file is written");
    (folder, file)
}

#[test]
fn a_header_of_the_kernels_own_project_is_the_users() {
    let (_folder, file) = own_header(OWN_HEADER);
    let text = reported(&format!("run {} divides --grid 1 --block 1 u32[1] u32:0", file.display()));
    let expected = "  --> /home/me/lab/include/tile.cuh:7:5
   = which inlines /usr/local/cuda/include/crt/device_functions.hpp:99:1
   = inlined at /home/me/lab/src/k.cu:12:3
   = thread (0, 0, 0) of block (0, 0, 0) executes: `div.u32 %r2, 5, %r1;`
";
    assert!(text.contains(expected), "{text}");
    let text = reported(&format!("run {} gives_up --grid 1 --block 1", file.display()));
    assert!(text.starts_with("error: kernel `gives_up`: trap instruction (`__trap()`, usually)\n"), "{text}");
    assert!(!text.contains("panic"), "{text}");
}

/// Where there are no lines, it says which flag of the compiler makes them.
#[test]
fn missing_lines_are_explained() {
    let without: String = OWN_HEADER
        .lines()
        .filter(|line| !line.contains(".loc") && !line.contains(".file"))
        .map(|line| format!("{line}\n"))
        .collect();
    let (_folder, file) = own_header(&without);
    let hint = "nvcc writes them with -lineinfo";
    let divides = format!("run {} divides --grid 1 --block 1 u32[1]", file.display());
    assert!(reported(&format!("{divides} u32:0")).contains(hint));
    let trap = reported(&format!("run {} gives_up --grid 1 --block 1", file.display()));
    assert!(
        one_error(&trap).contains(hint) && trap.starts_with("error: kernel `gives_up`: trap instruction\n"),
        "{trap}"
    );
    let lines = crate::output(&format!("{divides} u32:1 --lines --device sim"));
    assert!(lines.contains(hint), "{lines}");
    let (_folder, file) = own_header(OWN_HEADER);
    let lines =
        crate::output(&format!("run {} divides --grid 1 --block 1 u32[1] u32:1 --lines --device sim", file.display()));
    assert!(!lines.contains(hint), "{lines}");
}
