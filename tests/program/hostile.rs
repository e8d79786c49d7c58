//! Tests of hostile input: PTX and arguments that are too large, too deep or too long. Each gives
//! one line, in bounded time and memory.

use std::fmt::Write;

use assert_cmd::Command;

use crate::{HANGS, fails, host};

const HEADER: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// A kernel `k` that takes a pointer, with these statements.
fn kernel(statements: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 p)\n{{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n{statements}\n\tret;\n}}\n"
    )
}

/// A folder with the file `it.ptx` in it.
fn folder_with(text: impl AsRef<[u8]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("it.ptx"), text).expect("the file is written");
    folder
}

/// `host` with these arguments in a folder.
fn within(folder: &tempfile::TempDir, arguments: &str) -> Command {
    let mut command = host(arguments);
    command.current_dir(folder.path()).timeout(HANGS);
    command
}

/// Checks that the text is rejected, by `check` and by `run`, with these parts.
fn refused(text: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = folder_with(text);
    let check = within(&folder, "check it.ptx").assert().code(2);
    assert!(check.get_output().stdout.len() < 100_000, "more than anybody reads");
    fails(within(&folder, "run it.ptx k --device sim --grid 1 --block 1 u32[4]"), 2, parts);
}

#[test]
fn texts_that_are_not_ptx_are_rejected() {
    refused("", &["no .version"]);
    refused(kernel("").replace('k', "\0"), &["zero byte"]);
    refused([b"\xef\xbb\xbf", kernel("").as_bytes()].concat(), &["byte order mark"]);
    refused(kernel("").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), &["zero byte"]);
    refused(b"\xff\xfe.\0v\0", &["not a text file"]);
    refused([b"// caf\xe9\n", kernel("").as_bytes()].concat(), &["not a text file"]);
}

#[test]
fn lines_end_as_they_do_elsewhere() {
    let folder = folder_with(kernel("\tmov.u32 %r1, 1;").replace('\n', "\r\n"));
    within(&folder, "run it.ptx k --device sim --grid 1 --block 1 u32[4]").assert().success();
}

#[test]
fn deep_nesting_is_one_line() {
    refused(kernel(&"{".repeat(1_000_000)), &["nested more than"]);
    refused(kernel(&format!("{}{}", "{".repeat(1_000_000), "}".repeat(1_000_000))), &["nested more than"]);
    refused(
        kernel(&format!("mov.u32 %r1, {}1{};", "(".repeat(1_000_000), ")".repeat(1_000_000))),
        &["nested more than"],
    );
}

#[test]
fn long_names_do_not_make_long_messages() {
    refused(kernel(&format!("bogus{} %r1;", "x".repeat(3_000_000))), &["unknown instruction `bogusxxx", "..."]);
    refused(kernel(&format!("mov.u32 %r1, %{};", "y".repeat(3_000_000))), &["yyy..."]);
    let folder = folder_with(kernel(""));
    let long = "z".repeat(100_000);
    fails(within(&folder, &format!("run it.ptx {long} --device sim --grid 1 --block 1")), 2, &["zzz"]);
}

#[test]
fn long_arguments_are_not_printed_whole() {
    let folder = folder_with(kernel(""));
    for (argument, parts) in
        [("bytes:", ["has 8 bytes, but argument 0, bytes:0000", "has 40000"]), ("zz", ["zz000", "give a number"])]
    {
        let arguments = format!("run it.ptx k --device sim --grid 1 --block 1 {argument}{}", "00".repeat(40_000));
        let failed = within(&folder, &arguments).assert().code(2);
        let message = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(parts.iter().all(|part| message.contains(part)) && message.len() < 2000, "{message}");
    }
}

#[test]
fn long_chains_of_branches_and_nested_loops_are_analysed_in_time() {
    let chain: String = (0..100_000).map(|index| format!("\tbra L{index};\nL{index}:\n")).collect();
    let loops = (0..20_000).map(|index| format!("L{index}: add.u32 %r1, %r1, 1;\n"));
    let ends = (0..20_000).rev().map(|index| format!("\tsetp.lt.u32 %p1, %r1, 0;\n\t@%p1 bra L{index};\n"));
    let nested: String = std::iter::once("\t.reg .pred %p<2>;\n".to_owned()).chain(loops).chain(ends).collect();
    for statements in [chain, nested] {
        let folder = folder_with(kernel(&statements));
        within(&folder, "run it.ptx k --device sim:hopper --predict --grid 1 --block 32 u32[4]").assert().success();
    }
}

#[test]
fn local_memory_of_terabytes_is_refused() {
    let folder = folder_with(kernel("\t.local .align 4 .b8 t[524288];\n\tst.local.u32 [t], %r1;"));
    let cooperative = "run it.ptx k --device sim --check none --cooperative --grid 1024 --block 1024 u32[4]";
    fails(within(&folder, cooperative), 2, &["1024 blocks", "of local memory"]);
    let on_model = "run it.ptx k --device sim:hopper --grid 1024 --block 1024 u32[4]";
    fails(within(&folder, on_model), 2, &["524288 bytes of local memory for each of the 270336 threads", "`hopper`"]);
}

#[test]
fn declarations_of_terabytes_take_no_memory() {
    let refused = |statements: &str, parts: &[&str]| refused_to_run(&kernel(statements), parts);
    refused("\t.shared .align 4 .b8 t[1099511627776];\n\tst.shared.u32 [t], %r1;", &["1099511627776", "shared memory"]);
    refused("\t.local .align 4 .b8 t[1099511627776];\n\tst.local.u32 [t], %r1;", &["1099511627776", "local memory"]);
    let global = |bytes: &str| {
        kernel("\tst.global.u32 [t], %r1;").replace(".visible", &format!(".global .b8 t[{bytes}];\n.visible"))
    };
    refused_to_run(&global("1099511627776"), &["it.ptx:4:13: ", "memory", "1099511627776"]);
    refused_to_run(&global("9223372036854775808"), &["larger than any memory"]);
    refused_to_run(&format!("{HEADER}.visible .entry k(.param .b8 p[4000000000]) {{ ret; }}"), &["parameters"]);
    refused_to_run(&kernel("\t.reg .b32 %q<4000000000>;"), &["4000000000 registers"]);
}

/// Checks that the kernel is rejected by `run`, with these parts.
fn refused_to_run(text: &str, parts: &[&str]) {
    fails(within(&folder_with(text), "run it.ptx k --device sim --grid 1 --block 1 u32[4]"), 2, parts);
}

#[test]
fn variables_that_nobody_touches_take_no_memory() {
    let mut text = kernel("");
    for index in 0..3 {
        text = text.replace(".visible", &format!(".global .align 4 .b8 t{index}[1073741824];\n.visible"));
    }
    let folder = folder_with(text);
    within(&folder, "check it.ptx").assert().success();
    // With less memory than one of them.
    #[cfg(target_os = "linux")]
    {
        let check = format!("ulimit -v 1000000 && exec '{}' check it.ptx", env!("CARGO_BIN_EXE_host"));
        Command::new("sh").args(["-c", &check]).current_dir(folder.path()).assert().success();
    }
}

#[test]
fn many_kernels_are_listed_in_time() {
    let text = (0..30_000).fold(HEADER.to_owned(), |mut text, index| {
        let _ = writeln!(text, ".visible .entry k{index}(.param .u64 p) {{ ret; }}");
        text
    });
    let folder = folder_with(text);
    within(&folder, "check it.ptx --format csv").assert().success();
    fails(within(&folder, "run it.ptx k --device sim --grid 1 --block 1"), 2, &["k0, k1", "29992 more"]);
}

#[test]
fn recursion_and_endless_loops_end() {
    let function = ".func f();\n.func f() {\n\tcall f;\n\tret;\n}\n.visible";
    let recursive = folder_with(kernel("\tcall f;").replace(".visible", function));
    fails(within(&recursive, "run it.ptx k --device sim --grid 1 --block 1 u32[4]"), 1, &["calls nested"]);
    let endless = folder_with(kernel("L: bra L;"));
    for grid in ["1", "2147483647,65535,65535"] {
        let arguments = format!("run it.ptx k --device sim --step-limit 100000 --block 1024 u32[4] --grid {grid}");
        fails(within(&endless, &arguments), 1, &["100000 warp instructions"]);
    }
}

#[test]
fn numbers_that_overflow_are_refused() {
    let folder = folder_with(kernel(""));
    for (arguments, parts) in [
        // Once their product was computed before they were checked.
        ("--grid 1 --block 4294967295,4294967295,4294967295 u32[4]", &["block", "4294967295", "limit"][..]),
        ("--grid 4294967295,4294967295,4294967295 --block 1 u32[4]", &["grid", "4294967295", "limit"]),
        ("--grid 1 --block 1 --shared 4294967295 u32[4]", &["4294967295", "shared memory"]),
        ("--grid 1 --block 1 --shared 4294967296 u32[4]", &["--shared"]),
        ("--grid 1 --block 1 u32[18446744073709551615]", &["18446744073709551615", "length"]),
        ("--grid 1 --block 1 u32[4]+17", &["+17", "0 to 16"]),
        ("--grid 1 --block 1 u32[4]+18446744073709551616", &["+18446744073709551616"]),
        ("--grid 1 --block 1 u64:18446744073709551616", &["18446744073709551616", "u64"]),
        ("--grid 1 --block 1 u32[4] --print 18446744073709551615", &["--print"]),
        ("--grid 1 --block 1 u32[4] --step-limit 18446744073709551616", &["--step-limit"]),
    ] {
        fails(within(&folder, &format!("run it.ptx k --device sim {arguments}")), 2, parts);
    }
}
