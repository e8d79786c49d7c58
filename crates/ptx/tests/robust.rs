//! No input makes the parser panic or take long: arbitrary bytes, and real files with tokens
//! deleted, doubled and swapped. What it accepts must be consistent.

use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Longer than anything takes here on the busiest machine, unless its time is quadratic in the
/// length.
const HANGS: Duration = Duration::from_secs(600);

/// A kernel of each family and a bit of everything else; small, so that many variants can be tried.
const TEXT: &str = include_str!("data/instructions.ptx");

/// Parses, and looks at whatever comes out.
fn survives(text: &str) {
    let start = Instant::now();
    match ptx::parse("mutated.ptx", text) {
        Ok(module) => {
            for (_, function) in module.functions.iter() {
                let length = function.body.as_ref().map_or(0, Vec::len) as u32;
                for instruction in function.body.iter().flatten() {
                    assert!(module.line_column(instruction.span.start).0 > 0);
                    assert!(text.get(instruction.span.start as usize..instruction.span.end as usize).is_some());
                    match &instruction.op {
                        ptx::Op::Control(ptx::ControlOp::Branch { target, .. }) => assert!(*target <= length),
                        ptx::Op::Control(ptx::ControlOp::BranchIndexed { targets, .. }) => {
                            assert!(targets.iter().all(|target| *target <= length))
                        }
                        _ => {}
                    }
                }
                assert!(module.parameter_bytes(function) < 1 << 16);
            }
        }
        Err(errors) => {
            assert!(errors.iter().count() <= ptx::Errors::LIMIT);
            assert!(
                errors.iter().all(|error| error.span.start <= error.span.end && error.span.end as usize <= text.len())
            );
            assert!(errors.to_string().lines().all(|line| line.len() < 1000));
        }
    }
    assert!(start.elapsed() < HANGS, "{} bytes took {:?}", text.len(), start.elapsed());
}

/// The text cut at spaces and punctuation.
fn tokens() -> Vec<&'static str> {
    TEXT.split_inclusive(|character: char| !character.is_ascii_alphanumeric() && character != '%').collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn arbitrary_punctuation(text in r#"[a-z.%0-9 \n{}()\[\];:,@!|<>="/*+~-]{0,400}"#) {
        survives(&format!(".version 7.0\n.target sm_75\n.visible .entry k() {{ .reg .b32 %r<4>;\n{text}"));
    }

    #[test]
    fn real_files_with_tokens_deleted_doubled_and_swapped(
        edits in prop::collection::vec((0u8..3, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12)
    ) {
        let mut tokens = tokens();
        for (edit, first, second) in edits {
            let (first, second) = (first.index(tokens.len()), second.index(tokens.len()));
            match edit {
                0 => {
                    tokens.remove(first);
                }
                1 => tokens.insert(second, tokens[first]),
                _ => tokens.swap(first, second),
            }
        }
        let text = tokens.concat();
        survives(&text);
        if ptx::parse("mutated.ptx", &text).is_ok() {
            super::print::check("mutated.ptx", &text);
        }
    }

    #[test]
    fn real_files_cut_short(at in any::<prop::sample::Index>()) {
        let at = at.index(TEXT.len());
        prop_assume!(TEXT.is_char_boundary(at));
        survives(&TEXT[..at]);
    }
}

/// Wraps statements into a kernel.
fn kernel(statements: &str) -> String {
    format!(
        ".version 7.0\n.target sm_75\n.visible .entry k(.param .u64 p) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>;\n{statements}\nret; }}\n"
    )
}

#[test]
fn deep_nesting_and_huge_numbers_are_errors_or_cheap() {
    survives(&kernel(&"{".repeat(100_000)));
    survives(&kernel(&format!("{}{}", "{".repeat(100_000), "}".repeat(100_000))));
    survives(&kernel(&format!("mov.u32 %r1, {};", "(".repeat(100_000))));
    survives(&kernel(&format!("mov.u32 %r1, {}1;", "-".repeat(100_000))));
    survives(&kernel(&format!("mov.b64 {}", "{%r1, ".repeat(100_000))));
    survives(&kernel(".reg .b32 %x<4294967295>, %y<99999999999999999999999>;"));
    survives(&kernel(".reg .b32 %x<16777216>; mov.u32 %x16777215, 1;"));
    survives(&kernel(&format!("ld.global.b32 %r1, [%rd1+{}];", "9".repeat(100_000))));
    survives(&kernel("ld.global.b32 %r1, [%rd1+-9223372036854775808]; ld.global.b32 %r1, [-1];"));
    survives(".version 7.0\n.target sm_75\n.global .b64 a[4294967296][4294967296][4294967296][2];\n");
    survives(".version 7.0\n.target sm_75\n.global .b8 a[140737488355328] = {1}, b[100000000000][4] = {{1}, {2}};\n");
    survives(".version 7.0\n.target sm_75\n.global .b32 a[0][0] = {{}, {}}, c[][4] = {{1}, {2}}, d[][0] = {{}};\n");
    survives(&format!(".version 7.0\n.target sm_75\n.global .b8 a[] = {}", "{".repeat(100_000)));
    survives(&format!(".version 7.0\n.target sm_75\n.global .b8 a{};", "[1]".repeat(100_000)));
    survives(".version 7.0\n.target sm_75\n.global .b8 a[0][4294967296][4294967296][4294967296] = {1};\n");
    survives(".version 7.0\n.target sm_75\n.global .b8 a[1000][536870912] = {{1}, {1}, {1}, {1}};\n");
    let parameter = ".param .b8 a[140737488355328],";
    survives(&format!(
        ".version 7.0\n.target sm_75\n.entry k({} .param .b8 b)",
        parameter.replace('a', "_").repeat(140_000)
    ));
    survives(&"/*".repeat(100_000));
    survives(&"\"".repeat(100_001));
    survives("\0\0.version\0 7.0");
    survives(&".version 99999999999.9\n".repeat(1000));
}

#[test]
fn many_scopes_labels_and_ranges_take_no_long() {
    let scopes: String = (0..20_000).map(|index| format!("{{ L{index}: .reg .b32 a; bra L{index}; }}\n")).collect();
    assert!(ptx::parse("scopes.ptx", &kernel(&scopes)).is_ok());
    let ranges: String =
        (0..2_000).map(|index| format!(".reg .b32 %q{index}_<2>; mov.b32 %q{index}_1, 0;\n")).collect();
    assert!(ptx::parse("ranges.ptx", &kernel(&ranges)).is_ok());
    survives(&kernel(&scopes));
    survives(&kernel(&ranges));
}

#[test]
fn short_texts_do_not_make_long_modules() {
    let labels: String = (0..10_000).map(|index| format!(", L{index}")).collect();
    let places: String = (0..10_000).map(|index| format!("L{index}: ret;\n")).collect();
    let branches = "brx.idx %r1, T;\n".repeat(10_000);
    let text = kernel(&format!("T: .branchtargets L0{labels};\n{branches}{places}"));
    let errors = ptx::parse("branches.ptx", &text).expect_err("the branches have 10^8 targets");
    assert_eq!(errors.first().problem, ptx::DeclarationError::TooManyCopies.into());

    let functions: String = (0..10_000).map(|index| format!(".func f{index}() {{ ret; }}\n")).collect();
    let calls = "call %rd1, P;\n".repeat(10_000);
    let caller = format!(".func caller() {{ .reg .b64 %rd1;\nP: .callprototype _ ();\n{calls}ret; }}\n");
    let text = format!(".version 7.0\n.target sm_75\n{functions}{caller}");
    let errors = ptx::parse("calls.ptx", &text).expect_err("the calls have 10^8 candidates");
    assert_eq!(errors.first().problem, ptx::DeclarationError::TooManyCopies.into());

    let aliases: String = (0..10_000).map(|index| format!(".func a{index}();\n.alias a{index}, caller;\n")).collect();
    let calls = "call f0;\n".repeat(10_000);
    let text = format!(".version 7.0\n.target sm_75\n{functions}.func caller() {{ {calls}ret; }}\n{aliases}");
    let errors = ptx::parse("aliases.ptx", &text).expect_err("the aliases have 10^8 instructions");
    assert_eq!(errors.first().problem, ptx::DeclarationError::TooManyCopies.into());
}

#[test]
fn megabytes_are_read_in_seconds() {
    let (header, kernels) = TEXT.split_at(TEXT.find(".visible .entry integers").expect("the kernel is there"));
    let (integers, _) = kernels.split_at(kernels.find(".visible .entry reals").expect("the kernel is there"));
    let mut text = header.to_owned();
    for index in 0..2_000 {
        text.push_str(&integers.replace("integers", &format!("integers{index}")));
    }
    assert!(text.len() > 3_000_000);
    let start = Instant::now();
    let module = ptx::parse("large.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let elapsed = start.elapsed();
    assert_eq!(module.kernels().count(), 2_000);
    // Without optimisation it takes 3; time that is quadratic in the length would be hours.
    assert!(elapsed < HANGS, "{} bytes took {elapsed:?}", text.len());
}
