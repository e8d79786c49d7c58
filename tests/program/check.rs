//! Tests of `host check`: the contents and the errors of a PTX file.

use serde_json::Value;

use crate::{fails, host, output};

#[test]
fn the_kernels_of_any_compiler_are_listed() {
    let text = output("check ../crates/ptx/tests/data/nvcc.ptx");
    assert!(text.starts_with("../crates/ptx/tests/data/nvcc.ptx: valid PTX 9.5 for sm_90, 4 kernels\n"), "{text}");
    assert!(text.contains("\ntranspose_padded: 121 instructions, 4224 bytes of shared memory\n"), "{text}");
    let text = output("check ../tests/wild/ptx/cutlass.sm_90a.ptx");
    assert!(text.contains("cutlass.sm_90a.ptx: valid PTX 9.0 for sm_90a, 2 kernels\n"), "{text}");
    let text = output("check ../kernels/ptx/kernels.sm_75.ptx --format json");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["valid"], &json["target"]), (&Value::Bool(true), &Value::from("sm_75")));
    let names: Vec<&str> =
        json["kernels"].as_array().expect("kernels").iter().filter_map(|kernel| kernel["name"].as_str()).collect();
    assert!(names.contains(&"offset_read") && names.contains(&"transpose_padded"), "{names:?}");
}

#[test]
fn decoded_kernels_are_listed_step_by_step() {
    let file = "../tests/wild/ptx/clang_plain.sm_75.ptx";
    let text = output(&format!("check {file} --decoded saxpy"));
    assert!(text.starts_with("function 0: saxpy\n    ld.param"), "{text}");
    assert!(text.contains("load w") && text.contains("<- u32 global [d"), "{text}");
    let json: Value =
        serde_json::from_str(&output(&format!("check {file} --decoded saxpy --format json"))).expect("JSON");
    let lines: Vec<&str> = json["decoded"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert_eq!((&json["kernel"], lines), (&Value::from("saxpy"), text.lines().collect()));
    let mut wrong = host("check");
    wrong.args([file, "--decoded", "nosuch"]);
    fails(wrong, 2, &["--decoded", &format!("`nosuch` is not in {file}, which has saxpy, collatz, reverse, mixed")]);
}

#[test]
fn slices_are_distinguished_from_pointers() {
    let text = output("check ../kernels/ptx/kernels.sm_75.ptx");
    let of = |kernel: &str| {
        let kernel = text.split_once(&format!("\n{kernel}: ")).expect("the kernel").1;
        kernel.split("\n\n").next().unwrap_or_default().to_owned()
    };
    // `a: &[f32], b: &[f32], c: *mut f32, offset: usize`
    let offset = of("offset_read");
    let hints: Vec<_> = offset.lines().skip(1).map(|line| line.find('(').map_or("", |at| &line[at..])).collect();
    assert_eq!(hints[..2], ["(perhaps a slice's address, with its length in 1)", "(its length)"], "{offset}");
    assert!(text.ends_with("`&[f32]` of 1024 elements is the two arguments f32[1024] u64:1024.\n"), "{text}");
    let other = output("check ../crates/ptx/tests/data/nvcc.ptx");
    assert!(!other.contains("slice"), "{other}");
    assert!(output("run --help").contains("A Rust slice is two parameters"));
}

#[test]
fn each_error_is_shown_with_its_line_and_the_exit_code_is_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("broken.ptx");
    let text =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n frob.u32;\n grob.u32;\n ret;\n}\n";
    std::fs::write(&file, text).expect("the file is written");
    let run = host("check").arg(&file).assert().code(2);
    let found = String::from_utf8_lossy(&run.get_output().stdout);
    assert!(found.contains("broken.ptx:5:2: ") && found.contains("5 | frob.u32;\n  | ^^^^"), "{found}");
    assert!(found.contains("broken.ptx:6:2: ") && found.contains("6 | grob.u32;\n"), "{found}");
    let complaint = String::from_utf8_lossy(&run.get_output().stderr);
    assert!(complaint.ends_with("broken.ptx: is not valid PTX: 2 errors\n"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1);
}

#[test]
fn the_zero_byte_at_the_end_of_a_c_string_ends_the_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved.ptx");
    let text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
    for end in ["\0", "\0\n"] {
        std::fs::write(&file, format!("{text}{end}")).expect("the file is written");
        host("check").arg(&file).assert().success();
        host("run").arg(&file).args(["k", "--grid", "1", "--block", "1", "--device", "sim"]).assert().success();
        host("check -").write_stdin(format!("{text}{end}")).assert().success();
    }
    std::fs::write(&file, format!("{text}\0{text}")).expect("the file is written");
    let run = host(&format!("run {} k --grid 1 --block 1 --device sim", file.display()));
    fails(run, 2, &["saved.ptx", "it contains a zero byte"]);
}

#[test]
fn a_kernel_that_the_simulator_does_not_run_is_no_error_until_it_is_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("extern.ptx");
    let text = ".version 7.0\n.target sm_75\n.address_size 64\n.extern .func f;\n.visible .entry good() { ret; }\n\
                .visible .entry bad() {\n call f;\n ret;\n}\n";
    std::fs::write(&file, text).expect("the file is written");
    let run = host("check --format json").arg(&file).assert().success();
    let json: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert_eq!((&json["kernels"][0]["name"], &json["kernels"][0]["simulator"]), (&"good".into(), &Value::Null));
    assert!(json["kernels"][1]["simulator"].as_str().expect("a reason").contains("no body"), "{json}");
    let with = |kernel: &str| {
        let mut command = host("run --grid 1 --block 1 --device sim");
        command.arg(&file).arg(kernel);
        command
    };
    with("good").assert().success();
    fails(with("bad"), 2, &["extern.ptx:4", "no body"]);
}

#[cfg(unix)]
#[test]
fn ptx_comes_from_pipes_too() {
    let text = std::fs::read_to_string("../crates/ptx/tests/data/nvcc.ptx").expect("the file is read");
    let piped = |arguments: &str, text: &str| {
        let mut command = host(arguments);
        command.write_stdin(text);
        command
    };
    let printed = |arguments: &str| {
        let run = piped(arguments, &text).assert().success();
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    let found = printed("check -");
    assert!(found.starts_with("standard input: valid PTX 9.5 for sm_90, 4 kernels\n"), "{found}");
    assert!(printed("check /dev/stdin").starts_with("/dev/stdin: valid PTX 9.5 for sm_90, 4 kernels\n"));

    // Also if the text is needed several times: for the signatures, and for the device.
    let kernels = std::fs::read_to_string("../kernels/ptx/kernels.sm_75.ptx").expect("the file is read");
    let run = "offset_read --grid 1 --block 64 f32[64] u64:64 f32[64] u64:64 f32[64] u64:64 u64:0 --device sim --lines";
    piped(&format!("run - {run}"), &kernels).assert().success();
    piped("transpose --padded --rows 64 --cols 64 --device sim --ptx -", &kernels).assert().success();
    piped("access --models fermi,volta --stride 2 --size 1024 --device sim --ptx -", &kernels).assert().success();
    fails(piped("check -", "\0"), 2, &["standard input", "zero byte"]);
    fails(piped("transpose --padded --ptx - --device sim", ""), 2, &["standard input", "is not PTX"]);
    fails(
        piped(&format!("run - {}", run.replacen("f32[64]", "@-", 1)), &kernels),
        2,
        &["-: ", "only PTX", "standard input"],
    );
    fails(
        piped("transpose --padded --ptx - --input - --device sim", &kernels),
        2,
        &["-: ", "only PTX", "standard input"],
    );

    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("fifo.ptx");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::write(fifo, kernels).expect("the pipe is written")
    });
    let mut command = host("run");
    command.arg(&fifo).args(run.split_whitespace()).assert().success();
    writer.join().expect("the writer ends");
}

#[test]
fn what_is_no_file_of_text_is_one_line() {
    fails(host("check"), 2, &["FILE.ptx"]);
    fails(host("check no-such.ptx"), 2, &["no-such.ptx", "cannot be read"]);
    fails(host("check ."), 2, &["folder"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("noise.ptx");
    std::fs::write(&file, [0xff, 0xfe, 0x00]).expect("the file is written");
    let mut command = host("check");
    command.arg(&file);
    fails(command, 2, &["noise.ptx", "not a text file"]);
}

#[test]
fn a_lab_runs_kernels_without_signatures() {
    // Sizes are compared with those of nvcc's, too.
    let nvcc = "transpose --padded --rows 64 --cols 64 --device sim --ptx ../crates/ptx/tests/data/nvcc.ptx";
    fails(host(nvcc), 2, &["transpose_padded: takes 4 parameters in", "8 arguments were given"]);
    // The course's, as another compiler would print them.
    let kernels = std::fs::read_to_string("../kernels/ptx/kernels.sm_75.ptx").expect("the file is read");
    let (mark, mut plain) = ("\t// coalesce: ", String::new());
    for line in kernels.lines() {
        plain += line.split(mark).next().unwrap_or_default();
        plain.push('\n');
    }
    assert!(kernels.contains(mark) && !plain.contains(mark));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plain.ptx");
    std::fs::write(&file, plain).expect("the file is written");
    for lab in ["constant --size 64", "transpose --padded --rows 64 --cols 64"] {
        host(&format!("{lab} --device sim --ptx")).arg(&file).assert().success();
    }
}
