//! Tests of students' own data: NumPy files in and out.

use std::fs;
use std::path::Path;

use crate::{fails, files_in, host};

/// The first 128 bytes of the files in which NumPy saves a matrix of this type and shape.
fn header(code: &str, rows: usize, columns: usize) -> Vec<u8> {
    let text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    [b"\x93NUMPY\x01\x00\x76\x00", format!("{text:<117}\n").as_bytes()].concat()
}

/// Writes a matrix of f32 as NumPy would.
fn write_matrix(path: &Path, rows: usize, columns: usize, values: &[f32]) {
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(path, [header("<f4", rows, columns), values].concat()).expect("the file is written");
}

/// Reads a matrix of f32, whose file must be as NumPy would write it.
fn read_matrix(path: &Path, rows: usize, columns: usize) -> Vec<f32> {
    let bytes = fs::read(path).expect("the file is read");
    let (start, values) = bytes.split_at(128);
    assert_eq!(String::from_utf8_lossy(start), String::from_utf8_lossy(&header("<f4", rows, columns)));
    assert_eq!(values.len(), rows * columns * 4);
    values.chunks_exact(4).map(|value| f32::from_le_bytes(value.try_into().unwrap())).collect()
}

#[test]
fn a_matrix_goes_in_and_its_transpose_comes_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, result) = (folder.path().join("m.npy"), folder.path().join("t.npy"));
    let values: Vec<f32> = (0..35 * 70).map(|i| i as f32 * 0.5 - 3.0).collect();
    write_matrix(&input, 35, 70, &values);
    host("transpose --padded --pitched --device sim --input")
        .arg(&input)
        .arg("--output")
        .arg(&result)
        .assert()
        .success();
    let found = read_matrix(&result, 70, 35);
    for row in 0..70 {
        for column in 0..35 {
            assert_eq!(found[row * 35 + column], values[column * 70 + row]);
        }
    }
    assert_eq!(files_in(folder.path()).len(), 2, "nothing else is left");
}

#[test]
fn nothing_is_written_when_the_run_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("t.npy");
    let mut command = host("transpose --padded --device sim --input missing.npy --output");
    command.arg(&result);
    fails(command, 2, &["missing.npy"]);
    assert!(files_in(folder.path()).is_empty());
}

#[test]
fn what_is_no_matrix_of_f32_is_refused_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("the file is written");
        path
    };
    let matrix = folder.path().join("good.npy");
    write_matrix(&matrix, 3, 4, &[1.0; 12]);
    let good = fs::read(&matrix).expect("the file is read");
    let cases = [
        (write("empty.npy", b""), vec!["empty.npy"]),
        (write("text.npy", b"1 2 3\n4 5 6\n"), vec!["text.npy"]),
        (write("cut.npy", &good[..good.len() - 5]), vec!["cut.npy", "damaged"]),
        (write("long.npy", &[&good[..], &[0; 8]].concat()), vec!["long.npy", "damaged"]),
        (write("header.npy", &good[..20]), vec!["header.npy"]),
        (folder.path().to_owned(), vec!["folder"]),
    ];
    for (path, parts) in cases {
        let mut command = host("transpose --padded --device sim --input");
        command.arg(path);
        fails(command, 2, &parts);
    }
    let doubles = folder.path().join("doubles.npy");
    fs::write(&doubles, [header("<f8", 2, 2), vec![0; 32]].concat()).expect("the file is written");
    let mut command = host("transpose --padded --device sim --input");
    command.arg(&doubles);
    fails(command, 2, &["doubles.npy", "float32"]);
    let mut command = host("offset --read --offset 1 --device sim --input");
    command.arg(&matrix);
    fails(command, 2, &["good.npy", "dimension"]);
}

#[cfg(unix)]
#[test]
fn a_device_without_end_is_no_input() {
    for device in ["/dev/zero", "/dev/null"] {
        fails(host(&format!("transpose --padded --device sim --input {device}")), 2, &[device, "a device"]);
        fails(host(&format!("transpose --padded --device sim --ptx {device}")), 2, &[device, "a device"]);
        fails(host(&format!("compare {device} {device}")), 2, &[device, "is not JSON", "a device"]);
    }
}

#[cfg(unix)]
#[test]
fn a_name_with_a_line_break_is_reported_on_one_line() {
    let mut command = host("transpose --padded --device sim --input");
    command.arg("two\nlines.npy");
    fails(command, 2, &["two\\nlines.npy"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_into_a_pipe_arrives_there() {
    // Not tested on a device file: a program that replaced it would damage the machine.
    let run =
        host("offset --read --offset 0 --size 10 --device sim --format csv --output /dev/stdout").assert().success();
    let bytes = &run.get_output().stdout;
    assert!(bytes.starts_with(b"\x93NUMPY"), "{bytes:?}");
}

/// Waits until a process has handlers for signals.
#[cfg(target_os = "linux")]
fn until_handled(child: &std::process::Child) {
    const INT: u64 = 1 << 1;
    let handled = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("the process is there");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask").trim();
        u64::from_str_radix(mask, 16).expect("a number") & INT != 0
    };
    while !handled() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ending_the_program_leaves_no_unfinished_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_host"))
            .args(["transpose", "--padded", "--device", "sim", "--rows", "6000", "--cols", "6000", "--output"])
            .arg(folder.path().join("t.npy"))
            .spawn()
            .expect("the program starts");
        until_handled(&child);
        let kill = std::process::Command::new("sh").arg("-c").arg(format!("kill -{signal} {}", child.id())).status();
        assert!(kill.expect("a shell").success());
        assert_eq!(child.wait().expect("the program ends").code(), Some(code), "SIG{signal}");
        assert!(files_in(folder.path()).is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ending_a_run_leaves_no_unfinished_file() {
    // At various moments: while the arguments are made, while the kernel runs, while the file is
    // written.
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n";
    fs::write(folder.path().join("it.ptx"), ptx).expect("the file is written");
    let signals = [("INT", 130, 40), ("TERM", 143, 160), ("HUP", 129, 320), ("INT", 130, 640), ("TERM", 143, 1280)];
    for (signal, code, wait) in signals {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_host"))
            .args(
                "run it.ptx k --device sim --grid 1000000 --block 1024 u32[30000000]=ramp --save 0=out.npy".split(' '),
            )
            .current_dir(folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let kill = std::process::Command::new("sh").arg("-c").arg(format!("kill -{signal} {}", child.id())).status();
        assert!(kill.expect("a shell").success());
        let status = child.wait().expect("the program ends");
        // Before the handler is installed, the signal itself ends the program.
        assert!(status.code().is_none_or(|ended| ended == code), "SIG{signal} after {wait} ms: {status}");
        assert_eq!(files_in(folder.path()).len(), 1, "SIG{signal} after {wait} ms");
    }
}
