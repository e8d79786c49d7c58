//! `#[coalesce::test]`, as a crate that tests CUDA programs uses it. The tests with the attribute
//! pass, unless another test runs them with a fault planted.
#![cfg(target_os = "linux")]

mod launch;

use std::process::{Command, Output};

use coalesce_test as coalesce;
use launch::launch;

/// Each thread stores its number: each in its own place, 32 bytes apart, or all in the same.
const PTX: &std::ffi::CStr = c"\
.version 7.8
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 stride) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [stride];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, %r2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

/// Set where a fault is planted.
const PLANTED: &str = "COALESCE_ATTRIBUTE_TEST";

/// Launches 64 threads whose stores are 4 bytes apart, or `planted`. Returns the first status that
/// is not 0.
fn store(planted: u32) -> Result<(), u32> {
    let stride = if std::env::var_os(PLANTED).is_some() { planted } else { 4 };
    launch(PTX, c"store", [64, 1], &[2048], stride)
}

#[coalesce::test(require = "stores.sectors == 8")]
fn a_right_kernel() {
    assert_eq!(store(4), Ok(()));
}

#[coalesce::test]
fn a_race() {
    assert_eq!(store(0), Ok(()));
}

#[coalesce::test(require = "stores.sectors == 8", check = "none")]
fn a_missed_goal() -> Result<(), u32> {
    store(32)
}

mod inner {
    #[super::coalesce::test]
    fn an_error() -> Result<(), u32> {
        super::store(64)
    }
}

/// A test of this file, as `cargo test` runs it.
fn run(name: &str, program: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args([name, "--exact"]).env("COALESCE_PROGRAM", program).env(PLANTED, "1");
    command.output().expect("the test runs")
}

#[test]
fn tests_fail_on_faults_goals_and_errors_alone() {
    let program = env!("CARGO_BIN_EXE_coalesce");
    for (name, passes, says) in [
        ("a_right_kernel", true, "test result: ok. 1 passed"),
        ("a_race", false, "race in a block"),
        ("a_missed_goal", false, " missed stores.sectors == 8: 64"),
        ("inner::an_error", false, "the test returns no error: 7"),
    ] {
        let output = run(name, program);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() == passes && said.contains(says), "{name}: {said}");
    }
    let output = run("a_right_kernel", "no/such/coalesce");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("install `coalesce`, or name it in COALESCE_PROGRAM"), "{said}");
}
