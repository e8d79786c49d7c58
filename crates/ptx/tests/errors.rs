//! The text of every message: the wrong programs in `tests/errors`, each with the expected messages
//! beneath the line.
//!
//! A file holds programs, each after a line `// program: name`, or `// kernel: name` for a program
//! to which [`PRELUDE`] adds the header and registers. An expectation is a line `//~ column:
//! message` beneath the offending one. To rewrite the expectations after a change, run the test
//! with `COALESCE_BLESS=1` in the environment, and review the difference.

use std::fmt::Write as _;
use std::path::Path;

/// What stands before the lines of a `// kernel:` program.
const PRELUDE: &str = ".version 8.3
.target sm_90a
.address_size 64
.global .align 4 .b8 bytes[64];
.shared .align 16 .b8 tile[128];
.func (.param .b32 result) twice (.param .b32 value);
.func (.param .b32 result) sum (.param .b32 a, .param .b32 b);
.visible .entry wrong(.param .u64 pointer) {
.reg .pred %p<4>; .reg .b16 %rs<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<8>; .reg .v2 .f32 %v;
";

/// The lines of a program with the expectations that it should have, and how many they are.
fn blessed(kind: &str, program: &str) -> (String, usize) {
    let (before, after) = if kind == "kernel" { (PRELUDE, "}\n") } else { ("", "") };
    let text = format!("{before}{program}{after}");
    let errors = match ptx::parse("wrong.ptx", &text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().cloned().collect(),
    };
    let first = before.lines().count() as u32 + 1;
    let mut written = String::new();
    let expect = |line: Option<u32>, written: &mut String| {
        for error in errors.iter().filter(|error| line.is_none_or(|line| error.line == line)) {
            writeln!(written, "//~ {}: {}", error.column, error.problem).expect("a string takes all");
        }
    };
    for (index, line) in program.lines().enumerate() {
        if !line.starts_with("//~") {
            writeln!(written, "{line}").expect("a string takes all");
        }
        expect(Some(first + index as u32), &mut written);
    }
    let after = first + program.lines().count() as u32;
    for line in (1..first).chain([after, after + 1]) {
        expect(Some(line), &mut written);
    }
    (written, errors.len())
}

#[test]
fn every_message_is_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut files: Vec<_> =
        folder.read_dir().expect("the folder is there").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut programs = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a test file is text");
        let mut result = String::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (header, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let headers = ["\n// program: ", "\n// kernel: "];
            let next = headers.iter().filter_map(|start| rest[header.len()..].find(start)).min();
            let end = next.unwrap_or(after.len());
            let kind =
                header.strip_prefix("// ").and_then(|header| header.split_once(':')).map_or("", |(kind, _)| kind);
            assert!(matches!(kind, "program" | "kernel"), "{}: {header}", path.display());
            let (written, errors) = blessed(kind, &after[..end]);
            assert!(errors > 0, "{}: {header}: nothing is wrong with it", path.display());
            write!(result, "{header}\n{written}").expect("a string takes all");
            programs += 1;
            rest = &after[end..];
        }
        if std::env::var_os("COALESCE_BLESS").is_some() {
            std::fs::write(&path, &result).expect("the folder can be written");
        } else {
            assert_eq!(result, text, "{}", path.display());
        }
    }
    assert!(programs >= 40, "only {programs} programs");
}

#[test]
fn a_message_names_file_line_column_and_statement() {
    let text = ".version 7.0\n.target sm_75\n.visible .entry k()\n{\n\t.reg .b32 %r<3>;\n\tadd.s32\t%r1, %r2, // a comment\n\t\t%q;\n\tret 1;\n}\n";
    let errors = ptx::parse("folder/k.ptx", text).expect_err("two statements are wrong");
    assert_eq!(
        errors.to_string(),
        "folder/k.ptx:7:3: `%q` is not declared, in \"add.s32 %r1, %r2, %q;\"\n\
         folder/k.ptx:8:2: `ret` takes 0 operands here, not 1, in \"ret 1;\""
    );
    let first = errors.first();
    assert_eq!(&text[first.span.start as usize..first.span.end as usize], "%q");
    assert_eq!(first.problem.help().as_deref(), Some("declare it before its use, for example `.reg .b32 %q;`"));
    assert!(errors.is_complete());
    assert_eq!((errors.name(), errors.text()), ("folder/k.ptx", text));
}

#[test]
fn a_hundred_errors_are_enough() {
    let wrong = "add.s32 %r1, %r2;\n".repeat(1000);
    let text = format!(".version 7.0\n.target sm_75\n.entry k() {{ .reg .b32 %r<3>;\n{wrong}}}");
    let errors = ptx::parse("k.ptx", &text).expect_err("every instruction is wrong");
    assert_eq!(errors.iter().count(), ptx::Errors::LIMIT);
    assert!(!errors.is_complete());
    assert!(errors.to_string().ends_with("\nk.ptx: reading stopped after 100 errors"));
}
