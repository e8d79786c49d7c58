//! `--save-baseline` and `--baseline` of `host run`: twenty regressions that are planted in ten
//! kernels are all named, with the kernel, the counter and the line, and ten changes of the text
//! that change nothing pass. `coalesce compare` is tested with the program `coalesce`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::host;

/// Names and bodies of kernels of one block of 64 threads. `%rd1` is the address of the input,
/// `%rd2` that of the output, and `%r1` the thread. Loads that nothing uses are not counted: `ptxas`
/// drops them.
const KERNELS: [(&str, &str); 10] = [
    (
        "copy",
        "mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd1, %rd3;
        add.s64 %rd5, %rd2, %rd3;
        ld.global.u32 %r2, [%rd4];
        st.global.u32 [%rd5], %r2;",
    ),
    (
        "column",
        "mov.u32 %r2, tile;
        mad.lo.u32 %r3, %r1, 132, %r2;
        st.shared.u32 [%r3], %r1;
        bar.sync 0;
        ld.shared.u32 %r4, [%r3];
        mul.wide.u32 %rd6, %r1, 4;
        add.s64 %rd7, %rd2, %rd6;
        st.global.u32 [%rd7], %r4;",
    ),
    (
        "count",
        "mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd2, %rd3;
        red.global.add.u32 [%rd4], 1;",
    ),
    (
        "lookup",
        "and.b32 %r2, %r1, 0;
        mul.wide.u32 %rd3, %r2, 4;
        mov.u64 %rd4, table;
        add.s64 %rd5, %rd4, %rd3;
        ld.const.u32 %r3, [%rd5];
        mul.wide.u32 %rd6, %r1, 4;
        add.s64 %rd7, %rd2, %rd6;
        st.global.u32 [%rd7], %r3;",
    ),
    (
        "sum",
        "mov.u32 %r2, 0;
        mov.u32 %r3, 0;
        mov.u32 %r4, 8;
    again:
        add.u32 %r3, %r3, %r2;
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p1, %r2, %r4;
        @%p1 bra again;
        mul.wide.u32 %rd6, %r1, 4;
        add.s64 %rd7, %rd2, %rd6;
        st.global.u32 [%rd7], %r3;",
    ),
    (
        "halves",
        "mov.u32 %r2, 1;
        setp.lt.u32 %p1, %r1, 32;
        @%p1 bra low;
        mov.u32 %r2, 2;
    low:
        mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd2, %rd3;
        st.global.u32 [%rd4], %r2;",
    ),
    (
        "wide",
        "mul.wide.u32 %rd3, %r1, 16;
        add.s64 %rd4, %rd1, %rd3;
        add.s64 %rd5, %rd2, %rd3;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd4];
        st.global.v4.u32 [%rd5], {%r2, %r3, %r4, %r5};",
    ),
    (
        "square",
        "mul.lo.u32 %r2, %r1, %r1;
        mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd2, %rd3;
        st.global.u32 [%rd4], %r2;",
    ),
    (
        "turned",
        "mov.u32 %r2, tile;
        shl.b32 %r3, %r1, 2;
        add.u32 %r4, %r2, %r3;
        st.shared.u32 [%r4], %r1;
        bar.sync 0;
        xor.b32 %r5, %r3, 252;
        add.u32 %r6, %r2, %r5;
        ld.shared.u32 %r7, [%r6];
        mul.wide.u32 %rd6, %r1, 4;
        add.s64 %rd7, %rd2, %rd6;
        st.global.u32 [%rd7], %r7;",
    ),
    (
        "gather",
        "and.b32 %r2, %r1, 63;
        mul.wide.u32 %rd3, %r2, 4;
        add.s64 %rd4, %rd1, %rd3;
        ld.global.u32 %r3, [%rd4];
        mul.wide.u32 %rd6, %r1, 4;
        add.s64 %rd7, %rd2, %rd6;
        st.global.u32 [%rd7], %r3;",
    ),
];

/// A regression: in a kernel, a text becomes another, which raises a counter of a line with this
/// text.
type Plant = (&'static str, &'static str, &'static str, &'static str, &'static str);

const PLANTS: [Plant; 19] = [
    ("copy", "ld.global.u32 %r2, [%rd4]", "ld.global.u32 %r2, [%rd4+16]", "loads.sectors", "ld.global"),
    (
        "copy",
        "add.s64 %rd4, %rd1, %rd3;",
        "mul.wide.u32 %rd6, %r1, 32;\nadd.s64 %rd4, %rd1, %rd6;",
        "loads.sectors",
        "ld.global",
    ),
    (
        "copy",
        "add.s64 %rd5, %rd2, %rd3;",
        "mul.wide.u32 %rd6, %r1, 8;\nadd.s64 %rd5, %rd2, %rd6;",
        "stores.sectors",
        "st.global",
    ),
    ("column", "132", "128", "shared.bank_conflicts", "shared"),
    ("column", "bar.sync 0;", "bar.sync 0;\nbar.sync 0;", "barriers", "bar.sync"),
    (
        "column",
        "ld.shared.u32 %r4, [%r3];",
        "ld.shared.u32 %r4, [%r3];\nst.shared.u32 [%r3+4], %r1;",
        "shared.requests",
        "[%r3+4]",
    ),
    ("count", "%r1, 4;", "%r1, 32;", "atomics.sectors", "red.global"),
    ("count", "[%rd4], 1;", "[%rd4], 1;\nred.global.add.u32 [%rd4], 2;", "atomics", "[%rd4], 2"),
    ("lookup", "%r1, 0;", "%r1, 31;", "constants.addresses", "ld.const"),
    (
        "lookup",
        "[%rd5];",
        "[%rd5];\nld.const.u32 %r4, [%rd5+8];\nadd.u32 %r3, %r3, %r4;",
        "constants.requests",
        "[%rd5+8]",
    ),
    ("sum", "%r4, 8;", "%r4, 12;", "instructions", "%r3, %r3, %r2"),
    ("sum", "mov.u32 %r4, 8;", "and.b32 %r4, %r1, 7;", "divergent_branches", "bra again"),
    ("halves", "%r1, 32;", "%r1, 16;", "divergent_branches", "bra low"),
    (
        "wide",
        "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd4];",
        "ld.global.v2.u32 {%r2, %r3}, [%rd4];\nld.global.v2.u32 {%r4, %r5}, [%rd4+8];",
        "loads.requests",
        "ld.global",
    ),
    (
        "wide",
        "st.global.v4.u32 [%rd5], {%r2, %r3, %r4, %r5};",
        "st.global.v2.u32 [%rd5], {%r2, %r3};\nst.global.v2.u32 [%rd5+8], {%r4, %r5};",
        "stores.sectors",
        "st.global",
    ),
    ("square", "%r1, %r1;", "%r1, %r1;\nst.local.u32 [stack], %r2;", "local.requests", "st.local"),
    (
        "turned",
        "xor.b32 %r5, %r3, 252;",
        "and.b32 %r5, %r3, 4;\nshl.b32 %r5, %r5, 5;",
        "shared.bank_conflicts",
        "ld.shared",
    ),
    (
        "gather",
        "[%rd4];",
        "[%rd4];\nld.global.u32 %r4, [%rd4+4];\nadd.u32 %r3, %r3, %r4;",
        "loads.requests",
        "[%rd4+4]",
    ),
    ("gather", "%r2, 4;", "%r2, 32;", "loads.sectors", "ld.global"),
];

/// A file with these kernels.
fn ptx(kernels: &[(&str, String)]) -> String {
    let mut text = String::from(".version 7.8\n.target sm_75\n.address_size 64\n.const .b32 table[64];\n");
    for (name, body) in kernels {
        text += &format!(
            ".visible .entry {name}(.param .u64 in, .param .u64 out) {{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .b32 tile[2112];
    .local .b32 stack[2];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    {body}
    ret;
}}
"
        );
    }
    text
}

fn kernels() -> Vec<(&'static str, String)> {
    KERNELS.map(|(name, body)| (name, body.to_owned())).to_vec()
}

/// Launches these kernels of a file, in this order: what is compared, and the exit code.
fn ran(folder: &Path, text: &str, launches: &[&str], flags: &[&str]) -> (Value, i32) {
    fs::write(folder.join("k.ptx"), text).expect("the PTX is written");
    let mut command = host("run");
    command.current_dir(folder).arg("k.ptx");
    for (index, kernel) in launches.iter().enumerate() {
        let buffers = if index == 0 { "u32[2048]=1 u32[2048]=1" } else { "arg:0.0 arg:0.1" };
        command.args((index > 0).then_some("--then")).arg(kernel);
        command.args("--grid 1 --block 64".split(' ')).args(buffers.split(' '));
    }
    let run = command.args(["--device", "sim", "--format", "json"]).args(flags).output().expect("the program runs");
    let said = String::from_utf8_lossy(&run.stderr);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (report["baseline"].clone(), run.status.code().expect("it ends"))
}

/// A folder with the baseline of all kernels.
fn with_baseline() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let launches = KERNELS.map(|(name, _)| name);
    let (_, code) = ran(folder.path(), &ptx(&kernels()), &launches, &["--save-baseline", "b.json"]);
    assert_eq!(code, 0);
    folder
}

const AGAINST: [&str; 2] = ["--baseline", "b.json"];

#[test]
fn planted_regressions_are_named_with_their_line() {
    let folder = with_baseline();
    let launches = KERNELS.map(|(name, _)| name);
    for (kernel, old, new, counter, on) in PLANTS {
        let mut changed = kernels();
        let body = &mut changed.iter_mut().find(|(name, _)| *name == kernel).expect("a kernel").1;
        assert_eq!(body.matches(old).count(), 1, "{kernel}: {old}");
        *body = body.replace(old, new);
        let text = ptx(&changed);
        let (compared, code) = ran(folder.path(), &text, &launches, &AGAINST);
        let changes = compared["changes"].as_array().expect("changes");
        assert_eq!(code, 1, "{kernel}: {new}: {compared}");
        assert!(changes.iter().all(|change| change["kernel"] == kernel), "{compared}");
        let change = changes.iter().find(|change| change["counter"] == counter && change["verdict"] == "worse");
        let change = change.unwrap_or_else(|| panic!("{kernel}: no {counter}: {compared}"));
        let at = change["lines"][0]["at"].as_str().and_then(|at| at.strip_prefix("k.ptx:")?.parse::<usize>().ok());
        let line = text.lines().nth(at.expect("a line") - 1).expect("a line of the file");
        assert!(line.contains(on), "{kernel}: {counter} at {line}: {compared}");
    }
    // The twentieth: a kernel is launched twice.
    let twice: Vec<&str> = launches.into_iter().chain(["gather"]).collect();
    let (compared, code) = ran(folder.path(), &ptx(&kernels()), &twice, &AGAINST);
    let first = &compared["changes"][0];
    assert_eq!((code, &first["counter"], &first["kernel"]), (1, &"launches".into(), &"gather".into()), "{compared}");
    assert_eq!(compared["reshaped"], serde_json::json!(["gather"]));
}

#[test]
fn harmless_changes_pass() {
    let folder = with_baseline();
    let usual = KERNELS.map(|(name, _)| name).to_vec();
    let text = ptx(&kernels());
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let renamed =
        |old: &str, new: &'static str| usual.iter().map(|name| if *name == old { new } else { name }).collect();
    let changes: [(&str, String, Vec<&str>); 10] = [
        ("comments", with("mov.u32 %r1", "// The thread.\n\n    mov.u32 %r1"), usual.clone()),
        ("registers", with("%rd", "%long").replace("%r", "%word"), usual.clone()),
        ("order of kernels", ptx(&kernels().into_iter().rev().collect::<Vec<_>>()), usual.clone()),
        ("order of launches", text.clone(), usual.iter().rev().copied().collect()),
        ("a name", with("entry wide(", "entry by_fours("), renamed("wide", "by_fours")),
        ("a module", with("entry gather(", "entry _ZN6inputs6gatherEv("), renamed("gather", "_ZN6inputs6gatherEv")),
        ("parameters", with("in]", "source]").replace(".u64 in,", ".u64 source,"), usual.clone()),
        ("labels", with("again", "further"), usual.clone()),
        ("an unused kernel", text.clone() + ".visible .entry unused() {\n    ret;\n}\n", usual.clone()),
        (
            "independent instructions",
            with(
                "add.s64 %rd5, %rd2, %rd3;\n        ld.global.u32 %r2, [%rd4];",
                "ld.global.u32 %r2, [%rd4];\n        add.s64 %rd5, %rd2, %rd3;",
            ),
            usual.clone(),
        ),
    ];
    for (what, text, launches) in changes {
        let (compared, code) = ran(folder.path(), &text, &launches, &AGAINST);
        assert_eq!((code, &compared["compared"]), (0, &10.into()), "{what}: {compared}");
        let changes = compared["changes"].as_array().expect("changes");
        assert!(changes.iter().all(|change| change["counter"] == "hopper: predicted.us"), "{what}: {compared}");
        let renamed = compared["renamed"].as_array().expect("names").len();
        assert_eq!(renamed, usize::from(matches!(what, "a name" | "a module")), "{what}: {compared}");
        assert!(
            compared["new"] == Value::Array(vec![]) && compared["removed"] == compared["new"],
            "{what}: {compared}"
        );
    }
}

#[test]
fn bounds_are_allowed_and_a_file_is_refused() {
    let folder = with_baseline();
    let text = ptx(&kernels()).replace("%r4, 8;", "%r4, 12;");
    let launches = KERNELS.map(|(name, _)| name);
    for (allow, code) in [("60%", 0), ("instructions=60%", 0), ("1%", 1), ("loads.sectors=60%", 1)] {
        let (compared, is) = ran(folder.path(), &text, &launches, &["--baseline", "b.json", "--allow", allow]);
        assert_eq!(is, code, "{allow}: {compared}");
    }
    fs::write(folder.path().join("other.json"), "{\"coalesce_baseline\": 7}").expect("the file is written");
    for (flags, message) in [
        (
            &["--baseline", "k.ptx"][..],
            "k.ptx: is no baseline: expected value at line 1 column 1; --save-baseline writes one",
        ),
        (&["--baseline", "other.json"], "other.json: is a baseline of version 7; this program reads 1"),
        (&["--baseline", "none.json"], "none.json: cannot be read: "),
        (
            &["--baseline", "b.json", "--device", "sim:fermi"],
            "--baseline: b.json is of --device sim, and this run of sim:fermi",
        ),
        (&["--baseline", "b.json", "--allow", "much"], "'much' is no percentage, such as 1%"),
        (&["--baseline", "b.json", "--allow", "speed=1%"], "there is no counter 'speed'; there are atomics, "),
        (&["--allow", "1%"], "--baseline"),
        (&["--save-baseline", "no/such/folder/b.json"], "there is no folder no/such/folder"),
        (&["--baseline", "b.json", "--predict"], "--predict runs a part of the blocks"),
    ] {
        let mut command = host("run");
        command.current_dir(folder.path()).args(["k.ptx", "sum", "--grid", "1", "--block", "64"]);
        let run = command.args(["u32[4]", "u32[4]"]).args(flags).output().expect("the program runs");
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!((run.status.code(), said.lines().count()), (Some(2), 1), "{flags:?}: {said}");
        assert!(said.contains(message), "{flags:?}: {said}");
    }
}
