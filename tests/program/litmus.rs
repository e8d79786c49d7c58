//! `host litmus`: the answers of PTX's memory model, what is wrong with a file, and runs on a GPU.

use crate::gpu::{folder, on_gpu};
use crate::{fails, host, output};

#[test]
fn a_test_is_answered_and_explained() {
    let text = output("litmus mp-release-acquire");
    let expected = "\
message passing by release and acquire
2 threads, 4 executions by PTX's memory model

forbidden: 1:r0 = 1, 1:r1 = 0 (Causality)
allowed: 1:r0 = 1, 1:r1 = 1

1:r0 1:r1
   0    0  allowed
   0    1  allowed
   1    0  forbidden: Causality
   1    1  allowed

1:r0 = 1, 1:r1 = 0 would have to come about so:

thread 0, in block 0
  a  st.weak.global.u32 [x], 1
  b  st.release.gpu.global.u32 [y], 1
thread 1, in block 1
  c  ld.acquire.gpu.global.u32 r0, [y]  finds 1, from b
";
    assert!(text.starts_with(expected), "{text}");
    let report: serde_json::Value = serde_json::from_str(&output("litmus sb-relaxed --format json")).expect("JSON");
    assert_eq!(report["questions"][0]["answer"], "allowed", "{report}");
    assert_eq!(report["outcomes"].as_array().map(Vec::len), Some(4));
    let list = output("litmus");
    assert!(list.contains("\niriw-fence-sc ") && list.lines().all(|line| line.len() <= 100), "{list}");
}

#[test]
fn a_page_draws_the_execution_of_each_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    output(&format!("litmus mp-release-acquire --report {}", page.display()));
    let text = std::fs::read_to_string(page).expect("the page");
    for part in [
        "forbidden: 1:r0 = 1, 1:r1 = 0 (Causality)",
        "allowed: 1:r0 = 1, 1:r1 = 1",
        "thread 1, block 1</text>",
        "ld.acquire.gpu r0, [y]</text>",
        "finds 0</text>",
        "a before d.",
        "d replaced by a.",
        "b found by c.",
        "2 threads, 4 executions by PTX",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it.litmus");
    let path = file.display().to_string();
    for (text, line, problem) in [
        ("x = 0\n", 1, "there is no thread"),
        ("x = 0\nthread in block 0\n", 2, "a thread's line ends with `:`"),
        ("thread in cluster 0:\n", 1, "a thread is `in block 0`"),
        ("x\n", 1, "`x` is no variable"),
        ("r1 = 0\n", 1, "cannot be a variable"),
        ("x = -1\n", 1, "is no number of 32 bits"),
        ("x = 0\nthread in block 0:\n    ld.relaxed.gpu.global.u32 r0, [y];\n", 3, "y"),
        ("x = 0\nthread in block 0:\n    st.weak.global.u32 [x], r1;\n", 3, "`r1` has no value yet"),
        ("x = 0\nthread in block 0:\n    st.weak.global.u8 [x], 1;\n", 3, "accesses are to 32 bits"),
        ("x = 0\nthread in block 0:\n    nonsense r0;\n", 3, "nonsense"),
        ("x = 0\nthread in block 0:\n    st.weak.global.u32 [x], 1;\nask: 1:r0 = 1\n", 4, "there is no thread 1"),
        ("x = 0\nthread in block 0:\n    st.weak.global.u32 [x], 1;\nask: 0:r0 = 1\n", 4, "loads nothing into `r0`"),
        ("x = 0\nthread in block 0:\n    st.weak.global.u32 [x], 1;\nask: z = 1\n", 4, "there is no variable `z`"),
        ("x = 0\nthread in block 0:\n    trap;\n", 3, "litmus tests have ld, st"),
    ] {
        std::fs::write(&file, text).expect("the file is written");
        fails(host(&format!("litmus {path}")), 2, &[&format!("it.litmus:{line}"), problem]);
    }
    fails(host("litmus no-such-test"), 2, &["no-such-test", "lists the built-in tests"]);
    fails(host("litmus ."), 2, &[".: is not a litmus test: it is a folder or a device"]);
    if cfg!(unix) {
        fails(host("litmus /dev/zero"), 2, &["/dev/zero: is not a litmus test: it is a folder or a device"]);
    }
    fails(host("litmus mp-between-gpus --device sim"), 2, &["--device", "several GPUs"]);
    let many = (0..9).map(|block| format!("thread in block {block}:\n st.weak.global.u32 [x], 1;\n"));
    std::fs::write(&file, "x = 0\n".to_owned() + &many.collect::<String>()).expect("the file is written");
    fails(host(&format!("litmus {path}")), 2, &["more than 8 threads"]);
}

#[test]
fn what_drawn_orders_show_stands_beside_what_is_allowed() {
    for (test, shown) in [("mp-release-relaxed", true), ("mp-release-acquire", false), ("mp-in-a-cluster", false)] {
        let text = output(&format!("litmus {test} --device sim --runs 5000 --format json"));
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let outcomes = report["outcomes"].as_array().expect("outcomes");
        let stale = outcomes.iter().find(|outcome| outcome["1:r0"] == 1 && outcome["1:r1"] == 0).expect("an outcome");
        assert_eq!(stale["seen"].as_u64().expect("a number") > 0, shown, "{test}: {text}");
    }
}

#[test]
fn what_a_gpu_showed_stands_beside_what_is_allowed() {
    for test in ["mp-relaxed", "mp-in-a-cluster", "mp-in-a-cluster-cta"] {
        let mut command = on_gpu(&format!("litmus {test} --device gpu --runs 10"), "");
        command.current_dir(folder());
        let run = command.output().expect("the program runs");
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(text.contains("times on Coalesce simulator of H200") && text.contains(" seen\n"), "{text}");
        assert!(run.status.success(), "{test}: {}", String::from_utf8_lossy(&run.stderr));
    }
    fails(on_gpu("litmus mp-relaxed --device gpu --runs 10", "cuLaunchCooperativeKernel:720"), 2, &["(720)"]);
}
