//! Bad input: one line on the standard error that says what, where and what to do, exit code 2, and nothing else.

use crate::{fails, host};

#[test]
fn flags_that_do_not_fit_are_one_line() {
    for (arguments, parts) in [
        ("", &["subcommand"][..]),
        ("transpoze", &["transpoze", "transpose"]),
        ("transpose --paded", &["--paded", "--padded"]),
        ("transpose --rows 0", &["--rows", "0"]),
        ("transpose --rows -3", &["--rows", "-3", "from 1 to 4294967295"]),
        ("transpose --rows many", &["--rows", "many", "whole number"]),
        ("transpose --rows 99999999999", &["--rows", "99999999999"]),
        ("transpose --block 0,8", &["--block", "0,8"]),
        ("transpose --block 64,32", &["--block", "1024"]),
        ("transpose --padded --block 16,16 --device sim", &["--block", "16,16", "32"]),
        // Without a GPU too: nothing is said about the simulator when nothing runs there.
        ("transpose --padded --block 16,16", &["--block", "16,16", "32"]),
        ("transpose --carveout 101", &["--carveout", "101"]),
        ("transpose --format xml", &["--format", "xml", "json"]),
        ("transpose --seed x", &["--seed"]),
        ("transpose --rows 5 --input a.npy", &["--input", "--rows"]),
        ("offset --size 0", &["--size"]),
        ("offset --offset 70000 --size 65536 --device sim", &["--offset", "70000", "65536"]),
        ("offset --offset 3,,5", &["--offset", "whole number"]),
        ("offset --block 1025", &["--block", "1025"]),
        ("offset --block 0", &["--block", "0"]),
        ("devices --device tpu", &["tpu", "sim"]),
        ("devices --memory-limit 999999999T", &["--memory-limit", "too large", "16777215T"]),
        ("devices --step-limit 0", &["--step-limit", "from 1 to"]),
        ("run a.ptx k --grid 99999999999 --block 1", &["--grid", "from 1 to 4294967295"]),
        ("run a.ptx k --grid 1 --block 1 --shared 5G", &["--shared", "too large"]),
        ("run a.ptx k --grid 1 --block 1 --shared many", &["--shared", "no number of bytes"]),
        ("run a.ptx k --grid 1 --block 1 --registers 256", &["--registers", "from 1 to 255"]),
        ("run a.ptx k --grid 1 --block 1 --print x", &["--print", "whole number"]),
        ("run a.ptx k --grid 1 --block 1 --lines --hot 0", &["--hot", "from 1 to"]),
    ] {
        fails(host(arguments), 2, parts);
    }
}

#[test]
fn sizes_beyond_memory_are_refused_before_anything_is_allocated() {
    for arguments in [
        "transpose --device sim --rows 4000000000 --cols 4000000000",
        "transpose --device sim --rows 1000000 --cols 1000000",
        "offset --device sim --size 18446744073709551615",
        "offset --device sim --size 900000000000",
    ] {
        fails(host(arguments), 2, &["memory"]);
    }
}

#[test]
fn a_gpu_that_is_not_there_is_named() {
    fails(host("transpose --padded --device gpu:97"), 2, &["GPU"]);
    fails(host("devices --device gpu:97"), 2, &["GPU"]);
}

#[test]
fn ptx_that_cannot_be_read_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("broken.ptx");
    std::fs::write(
        &file,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n frobnicate.u32;\n}\n",
    )
    .expect("the file is written");
    let with = |path: &std::path::Path| {
        let mut command = host("transpose --padded --device sim --ptx");
        command.arg(path);
        command
    };
    fails(with(&file), 2, &["broken.ptx", "5", "frobnicate"]);
    fails(with(&folder.path().join("missing.ptx")), 2, &["missing.ptx"]);
    std::fs::write(&file, ".version 7.0\n.target sm_75\n.address_size 64\n").expect("the file is written");
    fails(with(&file), 2, &["transpose_padded"]);
}
