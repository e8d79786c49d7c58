//! `host::cli::call`, which a web page uses, does what the program does.

use std::ffi::OsString;

use crate::faults::racing;
use crate::host;

#[test]
fn a_call_writes_what_the_program_writes() {
    let (_folder, file) = racing();
    let findings = format!("transpose --padded --rows 64 --cols 40 --check race --device sim --ptx {}", file.display());
    for arguments in [
        "list",
        "list --help",
        "--version",
        "offset --device sim",
        "transpose --device sim:fermi --rows 70 --format json --memory-limit 64M",
        &findings,
        "transpose --rows 0",
        "",
    ] {
        let program = host(arguments).output().expect("the program runs");
        let mut out = Vec::new();
        let (code, messages) = host::cli::call(arguments.split_whitespace().map(OsString::from), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&program.stdout), "{arguments}");
        assert_eq!(messages, String::from_utf8_lossy(&program.stderr), "{arguments}");
        assert_eq!(Some(i32::from(code)), program.status.code(), "{arguments}");
    }
}
