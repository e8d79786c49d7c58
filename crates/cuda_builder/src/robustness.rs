//! Tests that no text makes the rewrite, the tidying or the checks panic.

use proptest::prelude::*;

use crate::ir::{Space, Variable, rewrite, without_phases};
use crate::ptx::{check, tidy};
use crate::uniform;

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
    "@__coalesce_divergent__warn__k",
    "!DIFile(filename: \"",
    "\", directory: \"",
    ";",
];

const FUNCTIONS: &[&str] = &[
    "\n",
    "\n}\n",
    "\n  ",
    "\ndefine ptx_kernel void @k(i32 %p) {\n",
    "\ndefine internal void @f(ptr readonly noalias %q) #0 {\n",
    "declare void @__coalesce_phase(ptr)\n",
    "\na:\n",
    "\n\"b c\":\n",
    "\"",
    "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !1\n",
    "%v = phi i32 [ %t, %a ], [ 1, %\"b c\" ]\n",
    "%w = load i32, ptr",
    "%w = select i1 %v, ptr %q, ptr",
    "getelementptr",
    "ptr addrspace(3) %q",
    "phi { i32, ptr } [",
    "]",
    ", %a ]",
    "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 %v)\n",
    "call void @__coalesce_phase(ptr %q)\n",
    "call void @f()\n",
    "call void %q()\n",
    "call void asm \"exit;\", \"\"()\n",
    "switch i32 %v, label %a [\n",
    "i32 1, label %\"b c\"\n  ]\n",
    "br i1 %v, label %a, label %\"b c\"\n",
    "br label %a\n",
    "ret void\n",
    "unreachable\n",
    "\n!1 = !DILocation(line: 1, scope: !2, inlinedAt: !1)\n",
    "\n!2 = distinct !DISubprogram(name: \"k\", file: !3)\n",
    "\n!3 = !DIFile(filename: \"a.rs\", directory: \"\")\n",
    "attributes #0 = { noinline }\n",
    "@g = constant",
    "(",
    ")",
    ",",
    "=",
    "!dbg !1",
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
    fn any_functions_are_checked(text in soup(FUNCTIONS)) {
        let _ = without_phases(&text);
        let _ = uniform::part(&text, uniform::Kernels::Phased);
        let _ = uniform::part(&text, uniform::Kernels::Named(&["k".to_owned()]));
        let _ = uniform::check(&text, "kernels/");
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
