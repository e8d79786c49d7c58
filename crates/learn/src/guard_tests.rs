//! Tests of the guard: what it refuses, what it takes for no Rust, and what it lets pass.

use super::*;

#[track_caller]
fn refused(text: &str, expected: &str) {
    match check(text) {
        Err(Objection::Refused(why)) => assert!(why.starts_with(expected), "{text}\n{why}"),
        other => panic!("{text}\n{other:?}"),
    }
}

#[track_caller]
fn not_rust(text: &str, expected: &str) {
    match check(text) {
        Err(Objection::NotRust(why)) => assert!(why.contains(expected), "{text}\n{why}"),
        other => panic!("{text}\n{other:?}"),
    }
}

#[test]
fn what_reaches_the_machine_is_refused_with_its_line() {
    for (text, expected) in [
        (
            "use cuda_std::prelude::*;\nconst X: &str = include_str!(\"/etc/passwd\");",
            "line 2: `include_str`: a kernel may not read files",
        ),
        ("use core::include_bytes as x;", "line 1: `include_bytes`: a kernel may not read files"),
        ("use core::include as x;", "line 1: `include`: a kernel may not read files"),
        ("const X: u32 = include ! (\"x\");", "line 1: `include`: "),
        ("const X: &str = r#env!(\"HOME\");", "line 1: `env`: a kernel may not read the environment"),
        ("const X: &str = env /* */ !(\"HOME\");", "line 1: `env`: "),
        ("const X: Option<&str> = ::core::option_env!(\"HOME\");", "line 1: `option_env`: "),
        ("global_asm!(\".visible .func f {}\");", "line 1: `global_asm`: inline assembly is not needed"),
        ("fn f() { unsafe { core::arch::asm!(\"exit;\") } }", "line 1: `asm`: inline assembly"),
        ("mod other;", "line 1: `mod other;`: a kernel is one file"),
        ("mod r#other ;", "line 1: `mod r#other;`: a kernel is one file"),
        ("\n\n#[path = \"/etc/passwd\"]\nmod x {}", "line 3: `path`: a kernel is one file"),
        ("#[cfg_attr(all(), path = \"/etc/passwd\")] mod x {}", "line 1: `path`: a kernel is one file"),
        ("# /* */ [r#path = \"x\"] mod x {}", "line 1: `path`: "),
        ("extern crate alloc;", "line 1: `extern crate`: "),
        ("#![feature(abi_ptx)]", "line 1: `feature`: "),
        ("# ! [feature(abi_ptx)]", "line 1: `feature`: "),
        ("#![debugger_visualizer(gdb_script_file = \"/dev/zero\")]", "line 1: `debugger_visualizer`: "),
        ("#[link(name = \"c\")] unsafe extern \"C\" {}", "line 1: `link`: "),
        ("#[unsafe(no_mangle)] fn x() {}", "line 1: `no_mangle`: "),
        ("#[unsafe(link_section = \".shared\")] static X: u8 = 0;", "line 1: `link_section`: "),
        (
            "macro_rules! m { ($x:ident) => { $x!(\"/etc/passwd\") } }\nconst A: &str = m!(include_str);",
            "line 2: `include_str`: ",
        ),
        ("macro_rules! m { ($a:ident) => { ${concat($a, _str)}!(\"x\") } }", "line 1: `${`: "),
        ("#!/bin/sh", "line 1: `#!` without `[`"),
        ("\u{feff}#!/bin/sh", "line 1: `#!` without `[`"),
        ("#!x r####\"\n//\"####", "line 1: `#!` without `[`"),
        ("#!//! doc\n[allow(unused)]", "line 1: `#!` without `[`"),
        ("fn x() {}\n # !\n(x)", "line 2: `#!`: "),
    ] {
        refused(text, expected);
    }
}

#[test]
fn the_text_is_split_as_rustc_splits_it() {
    // A lifetime and a cooked string, in which another lexer sees a raw string.
    refused("z!{ 'r\"\\\" r####\" } const X: &str = include_str!(\"x\"); z!{ //\"####; \n}", "line 1: `include_str`");
    refused("z!{ 'r\"\\\" r####\" }\r\nconst X: &str = env!(\"x\");", "line 2: `env`");
    // A carriage return alone ends no comment.
    assert_eq!(check("// x\rinclude_str!(\"x\")"), Ok(()));
    // A comment in a comment, and a string in none.
    refused("/* /* \" */ */ include_str!(\"x\");", "line 1: `include_str`");
    refused("/*! \" */ env!(\"x\");", "line 1: `env`");
}

#[test]
fn what_does_not_lex_is_not_rust() {
    for (text, expected) in [
        ("const A: &str = \"\\q\";\n#[path=\"/etc/passwd\"] mod x;", "InvalidEscape\n --> src/kernel.rs:1:17"),
        ("const A: char = '';", "ZeroChars"),
        ("const A: &str = \"\u{1F980}\\u{110000}\";", "OutOfRangeUnicodeEscape"),
        ("const A: &[u8] = b\"é\";", "NonAsciiCharInByte"),
        ("const A: &CStr = c\"\\0\";", "NulInCStr"),
        ("const A: u8 = b'ab';", "MoreThanOneChar"),
        ("const A: &[u8] = br#\"é\"#;", "NonAsciiCharInByte"),
        ("---\nx\n---\nfn x() {}", "a kernel has no frontmatter\n --> src/kernel.rs:1:1"),
        ("\n\n--- cargo\n---\nfn x() {}", "a kernel has no frontmatter"),
        ("fn x() { /* env!", "this comment has no end\n --> src/kernel.rs:1:10"),
        ("fn x() {}\nconst X: &str = \"env!", "this literal has no end\n --> src/kernel.rs:2:17"),
        ("const X: &str = r##\"env!\"#", "this literal has no end"),
        ("const X: &str = z\"x\";", "prefix `z` is unknown"),
        ("fn x<'z#a>() {}", "prefix `'z` is unknown"),
        ("const X: &str = #\"x\"#;", "`#\"` is reserved"),
        ("fn x() { let a = 1 \u{2116} 2; }", "unknown start of token"),
        ("fn x() { \u{1F980}(); }", "is no name"),
        ("fn k#x() {}", "`k#x` is reserved"),
        ("fn x() { 0x }", "this number has no digits"),
        ("fn x() { 1e }", "this exponent has no digits"),
        ("fn x() {", "unclosed delimiter: nothing closes this `{`\n --> src/kernel.rs:1:8"),
        ("fn x() }", "unexpected closing delimiter: `}`"),
        ("fn x() { (] }", "`]` closes the `(` of line 1"),
        ("const A: &str = \"\u{0}\"; '' const X: &str = include_str!(\"x\");", "ZeroChars"),
    ] {
        not_rust(text, expected);
    }
}

#[test]
fn honest_rust_passes() {
    for text in [
        "//! Do not include the tail; the path is long, and asm! is not.\nconst ENV: &str = \"env!\"; mod inner { } // mod x;",
        "fn f(path: u32, link: u32, env: u32) -> u32 { let (feature, include) = (path, link); path + env + feature * include }",
        "fn f(mut path: u32) { path = 3; if path != 2 { } let link = [path]; }",
        "fn f(env: u32, include: u32) -> bool { env != 3 && include!=4 }",
        "#[inline] fn f(path: [u32; 2]) {}\n#![allow(unused)]",
        "macro_rules! m { ($cond:expr, $body:block) => { if $cond { $body } } }",
        "const A: (&str, &str, &[u8], char) = (r#\"\\q\"#, \"\\n\\u{41}\\\n   x\", br\"\\\", '\\'');",
        "fn f<'a>(x: &'a u32) -> f32 { let y = 1_000u32 as f32 + 1e-3f32 + 0x1Fu8 as f32; y }",
        "\u{feff}use cuda_std::prelude::*;\r\nfn f() {}\r\n",
        "",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}

#[test]
fn brackets_are_counted_where_they_are_tokens() {
    let nested = |open: &str, close: &str| format!("const X: u32 = {}1{};", open.repeat(1000), close.repeat(1000));
    for text in [nested("(", ")"), nested("{/*}*/", "/*{*/}"), nested("(r\")\";", "r\"(\")")] {
        refused(&text, "brackets are nested more than 200 deep");
    }
    assert_eq!(check(&format!("// {}", "(".repeat(1000))), Ok(()));
}

#[test]
fn any_text_gets_an_answer() {
    for text in [
        "", "\"", "'", "((((", "))))", "é\u{0}", "r#\"", "/*", "#[", "#", "#!", "mod", "extern", "path =", "$", "b'",
        "cr##",
    ] {
        let _ = check(text);
        for other in ["'", "\"#", "\\", "\r", "r#", "é"] {
            let _ = check(&format!("{text}{other}"));
            let _ = check(&format!("{other}{text}"));
        }
    }
    refused(&"(".repeat(100_000), "brackets are nested");
    refused(&" ".repeat(LONGEST + 1), "the file has");
}

#[test]
fn what_is_unsafe_outside_of_other_kernels_is_found() {
    let text = "use cuda_std::prelude::*; // unsafe\n#[kernel(block(32))]\npub unsafe fn plain(a: &[f32]) {\n    unsafe { f() }\n}\n\
                #[kernel(block(32))]\npub fn phased(a: &[f32]) {\n    let x = \"unsafe\";\n}\n";
    assert_eq!(unsafe_lines(text, None), [3, 4]);
    assert_eq!(unsafe_lines(text, Some("phased")), [0; 0]);
    assert_eq!(unsafe_lines(text, Some("plain")), [3, 4]);
    let used = text.replace("let x = \"unsafe\";", "unsafe { g() }");
    assert_eq!(unsafe_lines(&used, Some("phased")), [8]);
    // What a kernel could use from outside.
    for outside in [
        "unsafe fn helper() {}",
        "macro_rules! m { ($e:expr) => { unsafe { $e } } }",
        "impl T for S { fn f() { unsafe { g() } } }",
        "#[inline] unsafe fn kernel() {}",
    ] {
        assert_eq!(unsafe_lines(&format!("{outside}\n{text}"), Some("phased")), [1], "{outside}");
    }
    // A kernel that has such items keeps nothing to itself.
    for item in
        ["impl T for S { fn f() { unsafe { g() } } }", "#[macro_export] macro_rules! m { () => { unsafe { g() } } }"]
    {
        let text = text.replace("unsafe { f() }", item);
        assert_eq!(unsafe_lines(&text, Some("phased")), [3, 4], "{item}");
    }
    // A macro could make an item of what it is given.
    for (given, is_kept) in [("m!(unsafe);", false), ("m! { [(unsafe)] }", false), ("if !(unsafe { f() }) {}", true)] {
        let lines = unsafe_lines(&text.replace("unsafe { f() }", given), Some("phased"));
        assert_eq!(lines.is_empty(), is_kept, "{given}");
    }
    // An attribute of that name need not be the one that makes kernels.
    let helper = "use cuda_std::gpu_only as kernel;\n#[kernel] fn helper() { unsafe { g() } }\n";
    assert_eq!(unsafe_lines(&format!("{helper}{text}"), Some("phased")), [0; 0]);
    let called = text.replace("let x = \"unsafe\";", "helper();");
    assert_eq!(unsafe_lines(&format!("{helper}{called}"), Some("phased")), [2]);
    let derived = "use core::prelude::v1::derive as kernel;\n#[kernel(Clone)] struct S;\n\
                   macro_rules! m { ($e:expr) => { unsafe { $e } } }\n";
    let named = text.replacen("#[kernel", "#[cuda_std::kernel", 1);
    assert!(unsafe_lines(&format!("{derived}{named}"), Some("phased")).contains(&3));
}
