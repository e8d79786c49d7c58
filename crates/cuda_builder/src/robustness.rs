//! Tests that no text makes the rewrite, the tidying or the check panic.

use proptest::prelude::*;

use crate::ir::{Space, Variable, rewrite};
use crate::ptx::{check, tidy};

/// Lines of fragments that the parsers look for, in any order.
fn soup(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => ".{0,4}"];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.join(" "))
}

const IR: &[&str] = &[
    "\n",
    "@a",
    "@\"b c\"",
    "=",
    "internal",
    "external",
    "global",
    "constant",
    "[4 x i8]",
    "<{ ptr }>",
    "undef",
    ",",
    "section",
    "\".shared\"",
    "\".constant\"",
    "\".launch_bounds\"",
    "\"",
    "c\"x",
    "align",
    "4",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "define ptx_kernel void @k(",
    "@llvm.used = appending global",
    "@__coalesce_dynamic_shared",
    "@__coalesce_launch_bounds__1_1_1_0__k",
    "@__coalesce_launch_bounds__",
    "@__coalesce_block__32_8_1_0__k",
    "@__coalesce_block__",
    "!DIFile(filename: \"",
    "\", directory: \"",
    ";",
];

const PTX: &[&str] = &[
    "\n",
    ".visible .entry k(",
    ".func (",
    ")",
    "{",
    "}",
    ";",
    "//",
    "@[",
    "a.rs:1:2",
    ":",
    ".loc",
    ".file",
    "1",
    "\"a.rs\"",
    "@%p1",
    "%rd1",
    "TILE",
    ",",
    "[",
    "]",
    "mov.b64",
    "cvta.shared.u64",
    "cvta.to.shared.u64",
    "ld.b32",
    "st.param.b64",
    "$L__tmp0:",
    "=",
    ".address_size 64",
    ".extern .func",
    ".global .b8 x[1]",
    ".section",
    "é",
];

proptest! {
    #[test]
    fn any_ir_is_rewritten_or_refused(text in soup(IR)) {
        let _ = rewrite(&text);
    }

    #[test]
    fn any_ptx_is_tidied_and_checked(text in soup(PTX)) {
        let variable = Variable { symbol: "TILE".to_owned(), rust_name: "k::TILE".to_owned(), space: Space::Shared };
        let tidied = tidy(&text, "kernels/");
        let _ = check(&text, std::slice::from_ref(&variable));
        let _ = check(&tidied, &[variable]);
    }

    #[test]
    fn ir_without_moving_variables_stays_as_it_is(lines in prop::collection::vec("[a-z %@,()0-9]{0,30}", 0..10)) {
        let text: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        prop_assert_eq!(rewrite(&text).unwrap().ir, text);
    }
}
