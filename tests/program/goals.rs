//! `--require` and `--goals` of `host run`: goals that launches must meet. Those of the program
//! `coalesce` are tested with it.

use serde_json::Value;

use crate::host;

/// Each thread stores 4 bytes, 32 bytes apart, or next to each other.
const PTX: &str = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry apart(.param .u64 out) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 32;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry together(.param .u64 out) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
";

/// A run of both kernels with these flags, and the folder of their file.
fn both(flags: &[&str]) -> (assert_cmd::Command, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = folder.path().join("stores.ptx");
    std::fs::write(&ptx, PTX).expect("the PTX is written");
    let mut command = host("run");
    command.arg(&ptx).args("apart --grid 1 --block 64 u32[512]".split(' '));
    command.args("--then together --grid 1 --block 64 arg:0.0 --device sim".split(' ')).args(flags);
    (command, folder)
}

/// The output, the messages and the exit code.
fn ran(flags: &[&str]) -> (String, String, i32) {
    let run = both(flags).0.output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(run.stdout), text(run.stderr), run.status.code().expect("it ends"))
}

#[test]
fn goals_that_are_met_are_listed() {
    let (report, said, code) =
        ran(&["--require", "stores.sectors of together == stores.bytes / 32", "--require", "launches == 2"]);
    assert_eq!((code, said.as_str()), (0, ""), "{report}");
    let goals =
        "\nGoals:\n   ok   stores.sectors of together == stores.bytes / 32: 8, bound 8\n   ok   launches == 2: 2\n";
    assert!(report.ends_with(goals), "{report}");
}

#[test]
fn a_goal_that_is_missed_has_its_line_and_picture() {
    let goal = "stores.sectors_per_request of * == 4";
    let (report, said, code) = ran(&["--require", goal]);
    assert_eq!((code, said.as_str()), (1, "error: 1 of 2 goals missed\n"), "{report}");
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" missed stores.sectors_per_request of * == 4 (apart): 32; "), "{report}");
    assert!(words.contains("/stores.ptx:12 has 32 A warp's store to global memory"), "{report}");
    assert!(report.contains("   ok   stores.sectors_per_request of * == 4 (together): 4\n"), "{report}");
    assert!(report.contains("(block 0, 0, 0, warp 0):\n"), "{report}");
    let (report, said, code) = ran(&["--require", goal, "--format", "json"]);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let line = &report["goals"][0]["line"];
    assert_eq!((&line["line"], &line["value"]), (&12.into(), &32.0.into()), "{report}");
    assert_eq!((code, said.lines().count()), (1, 1), "{said}");
    assert!(said.starts_with("error: missed: stores.sectors_per_request of * == 4 (apart): 32; "), "{said}");
}

#[test]
fn times_are_predicted_for_goals() {
    let (report, said, code) = ran(&["--require", "hopper: predicted.us of apart < 0.001"]);
    assert_eq!((code, said.as_str()), (1, "error: 1 of 1 goal missed\n"), "{report}");
    let (report, said, code) = ran(&["--require", "hopper: predicted.us of apart < 1000"]);
    assert_eq!((code, said.as_str()), (0, ""), "{report}");
}

/// A stand-in for `ptxas` says what the real one says of these kernels.
#[cfg(unix)]
#[test]
fn registers_are_those_of_ptxas() {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    let folder = tempfile::tempdir().expect("a folder");
    let ptxas = folder.path().join("ptxas");
    let script = "#!/bin/sh\n[ \"$1 $2 $3\" = '-v -arch sm_90' ] && grep -q together \"$4\" || exit 1\n\
        for kernel in together:8 apart:12; do\n\
        echo \"ptxas info    : Compiling entry function '${kernel%:*}' for 'sm_90'\" >&2\n\
        echo \"ptxas info    : Used ${kernel#*:} registers, used 0 barriers\" >&2\ndone\n";
    std::fs::write(&ptxas, script).expect("the script is written");
    std::fs::set_permissions(&ptxas, std::fs::Permissions::from_mode(0o755)).expect("it may be run");
    let with = |ptxas: &Path, goal: &str| {
        let mut command = both(&["--require", goal]);
        let run = command.0.env("COALESCE_PTXAS", ptxas).output().expect("the program runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (text(run.stdout), text(run.stderr), run.status.code().expect("it ends"))
    };
    let (report, said, code) = with(&ptxas, "registers of together <= 8");
    assert_eq!((code, said.as_str()), (0, ""), "{report}");
    let (report, _, code) = with(&ptxas, "hopper: registers <= 8");
    assert_eq!(code, 1, "{report}");
    assert!(report.contains(" missed hopper: registers <= 8: 12\n"), "{report}");
    let none = "ptxas allocates registers, and is not installed: name it in COALESCE_PTXAS\n";
    let (report, said, code) = with(Path::new("/no/such/ptxas"), "registers <= 8");
    assert_eq!((code, report, said), (2, String::new(), format!("error: --require: registers <= 8: {none}")));
    std::fs::write(&ptxas, "#!/bin/sh\necho 'ptxas fatal   : out of luck' >&2\nexit 255\n").expect("it is written");
    let (_, said, code) = with(&ptxas, "registers <= 8");
    assert_eq!((code, &*said), (2, "error: registers: ptxas for sm_90: ptxas fatal : out of luck\n"));
}

#[test]
fn goals_that_cannot_be_judged_are_refused() {
    for (flags, message) in [
        (&["--goals", "no-such.toml"][..], "no-such.toml: cannot be read: "),
        (&["--goals", "."], ".: is not a file with goals: it is a folder or a device"),
        (&["--require", "loads"], "a goal needs <=, <, ==, >= or >"),
        (&["--require", "occupancy > 1"], "give --device sim:MODEL"),
        (&["--require", "launches == 1", "--predict"], "--predict runs a part of the blocks"),
    ] {
        let (report, said, code) = ran(flags);
        assert_eq!((code, report.as_str(), said.lines().count()), (2, "", 1), "{said}");
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn files_for_ci_systems_have_faults_and_missed_goals_on_their_lines() {
    let (mut command, folder) = both(&["--check", "all", "--require", "stores.sectors of apart == 16"]);
    command.current_dir(&folder).env_remove("GITHUB_WORKSPACE").env_remove("CI_PROJECT_DIR");
    command.args("--sarif s.sarif --junit j.xml --gitlab g.json".split(' ')).assert().code(1);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it is written");
    let json = |name: &str| serde_json::from_str::<Value>(&read(name)).expect("JSON");
    let result = &json("s.sarif")["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        (result["ruleId"].as_str(), place["artifactLocation"]["uri"].as_str()),
        (Some("goal"), Some("stores.ptx"))
    );
    assert_eq!(place["region"]["startLine"], 12);
    let issue = &json("g.json")[0];
    assert_eq!(
        (issue["location"]["path"].as_str(), issue["location"]["lines"]["begin"].as_u64()),
        (Some("stores.ptx"), Some(12))
    );
    let cases = read("j.xml");
    assert!(cases.contains("tests=\"3\" failures=\"1\""), "{cases}");
    // A fault that stops a kernel is written, too.
    let mut fault = host("run");
    fault
        .current_dir(&folder)
        .args("stores.ptx apart --grid 1 --block 64 u32[8] --device sim --junit j.xml".split(' '));
    fault.assert().code(1);
    assert!(read("j.xml").contains("<failure type=\"out_of_bounds\""), "{}", read("j.xml"));
}

#[test]
fn files_for_ci_systems_that_cannot_be_written_are_one_line() {
    for (flags, says) in [
        (["--sarif", "no/folder/s.sarif", "--gitlab", "g.json"], "no/folder"),
        (["--sarif", "same", "--junit", "same"], "error: --junit: --sarif writes the same file; give another"),
        (["--report", "same", "--junit", "same"], "error: --junit: --report writes the same file; give another"),
    ] {
        let (mut command, folder) = both(&flags);
        let run = command.current_dir(&folder).output().expect("the program runs");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(2) && said.contains(says) && said.lines().count() == 1, "{said}");
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
    }
}
