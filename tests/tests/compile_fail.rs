//! A launch whose arguments do not fit its kernel does not compile, and what the attributes refuse is refused in words.

#[test]
fn wrong_launches_and_wrong_kernels_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
    cases.pass("tests/compile_pass/*.rs");
}
