//! Tests of demangled names of kernels and variables, and of unusual file names.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::{fails, host};

/// Kernels of C++ and Rust, two of them with the same name. Each writes a different number to the
/// first element.
const MANGLED: [(&str, u32); 5] = [
    ("_Z5saxpyfPKfPf", 1),
    ("_Z3addIfEvPT_", 2),
    ("_Z3addIiEvPT_", 3),
    ("_ZN4tiny3sum17h0123456789abcdefE", 4),
    ("plain", 5),
];

fn ptx() -> String {
    let kernel = |(name, number): (&str, u32)| {
        let others = if name.contains("saxpy") { ".param .f32 a, .param .u64 x, " } else { "" };
        format!(
            ".visible .entry {name}({others}.param .u64 out) {{\n\
             .reg .b64 %rd<2>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, {number};\n\
             st.global.u32 [%rd1], %r1;\nret;\n}}\n"
        )
    };
    let kernels: String = MANGLED.into_iter().map(kernel).collect();
    format!(".version 7.8\n.target sm_75\n.address_size 64\n{kernels}")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("it.ptx"), ptx()).expect("the file is written");
    folder
}

fn run(folder: &Path, kernel: &str, arguments: &str) -> Command {
    let mut command = host("run it.ptx");
    command.arg(kernel).args(arguments.split_whitespace());
    command.args("--grid 1 --block 1 --device sim".split_whitespace()).current_dir(folder);
    command
}

#[test]
fn a_kernel_is_run_by_any_name_that_is_its_own() {
    let folder = folder();
    for (name, arguments, symbol, number) in [
        ("saxpy", "f32:1 f32[1] u32[1] --print 2", MANGLED[0].0, 1),
        ("saxpy(float,float const*, float*)", "f32:1 f32[1] u32[1] --print 2", MANGLED[0].0, 1),
        ("_Z5saxpyfPKfPf", "f32:1 f32[1] u32[1] --print 2", MANGLED[0].0, 1),
        ("add<float>", "u32[1] --print 0", MANGLED[1].0, 2),
        ("void add<int>(int*)", "u32[1] --print 0", MANGLED[2].0, 3),
        ("tiny::sum", "u32[1] --print 0", MANGLED[3].0, 4),
        ("sum", "u32[1] --print 0", MANGLED[3].0, 4),
        ("plain", "u32[1] --print 0", MANGLED[4].0, 5),
    ] {
        let run = run(folder.path(), name, &format!("{arguments} --format json")).assert().success();
        let found: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
        assert_eq!(found["kernel"], symbol, "{name}");
        let print = arguments.split_whitespace().last().expect("a number");
        assert_eq!(found["buffers"][print], json!([number]), "{name}");
    }
    fails(
        run(folder.path(), "add", "u32[1]"),
        2,
        &[
            "kernel add: is ambiguous: _Z3addIfEvPT_ (void add<float>(float*)), _Z3addIiEvPT_ (void add<int>(int*)); give one",
        ],
    );
    let all = "saxpy(float, float const*, float*), void add<float>(float*), void add<int>(int*), tiny::sum, plain";
    fails(run(folder.path(), "sub", ""), 2, &["kernel sub: is not in it.ptx, which has ", all]);
}

#[test]
fn names_are_shown_as_they_were_written() {
    let folder = folder();
    let printed = |mut command: Command, code: i32| {
        let run = command.current_dir(folder.path()).assert().code(code);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&run.get_output().stdout), text(&run.get_output().stderr))
    };
    let (text, _) = printed(host("check it.ptx"), 0);
    assert!(
        text.contains("\nsaxpy(float, float const*, float*): 4 instructions\n  _Z5saxpyfPKfPf\n  0: f32"),
        "{text}"
    );
    assert!(text.contains("\nplain: 4 instructions\n  0: u64"), "{text}");
    let (text, _) = printed(host("check it.ptx --format json"), 0);
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["kernels"][1]["name"], "_Z3addIfEvPT_");
    assert_eq!(found["kernels"][1]["demangled"], "void add<float>(float*)");
    assert_eq!(found["kernels"][4]["demangled"], Value::Null);

    let (text, _) = printed(run(folder.path(), "add<int>", "u32[1]"), 0);
    assert!(text.starts_with("void add<int>(int*) of it.ptx: 1 x 1 x 1 blocks"), "{text}");
    let (_, reported) = printed(run(folder.path(), "add<int>", "u32[0]"), 1);
    assert!(reported.contains("   = in kernel `void add<int>(int*)`, once\n"), "{reported}");
    assert!(reported.ends_with("\nerror: kernel void add<int>(int*): the checks found 1 fault\n"), "{reported}");
    fails(
        run(folder.path(), "add<int>", "u64:0 --check none"),
        1,
        &["kernel `void add<int>(int*)`: ", "thread (0, 0, 0)"],
    );
}

#[cfg(unix)]
#[test]
fn files_may_have_names_that_are_no_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let (input, result) = (OsStr::from_bytes(b"in\xff.npy"), OsStr::from_bytes(b"out\xff@=.npy"));
    // Some file systems reject such a name.
    if std::fs::write(folder.path().join(input), b"").is_err() {
        return;
    }
    host::npy::write(&folder.path().join(input), &[2], &[7_u32, 8]).expect("the file is written");
    let joined = |start: &str, name: &OsStr| [OsStr::new(start), name].into_iter().collect::<std::ffi::OsString>();
    let arguments = [joined("@", input), joined("u32[2]+4=@", input)];
    for (argument, expected) in arguments.into_iter().zip([[5, 8], [7, 5]]) {
        let mut save = host("run it.ptx plain --grid 1 --block 1 --device sim --save");
        save.arg(joined("0=", result)).arg(argument).current_dir(folder.path()).assert().success();
        let written = host::npy::read::<u32>(&folder.path().join(result), 1).expect("the result");
        assert_eq!(written.data, expected);
    }
    let mut command = host("run it.ptx plain --grid 1 --block 1 --device sim");
    command.arg(joined("@no-such", input)).current_dir(folder.path());
    fails(command, 2, &["no-such", "cannot be opened"]);
}
