//! Tests of `--memory-limit`, `--heap-limit`, `--output-limit`, `--step-limit` and `--fault-limit`,
//! for `run` and for labs, and of outputs that cannot be written.

use std::fs;
use std::path::Path;

use crate::{fails, files_in, host, one_error, output};

/// A kernel that writes, one that never ends, and one that never ends and writes to wild addresses.
const KERNELS: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry one(.param .u64 p) {
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	st.global.u32 [%rd1], 1;
	ret;
}
.visible .entry endless(.param .u64 p) {
L:	bra L;
}
.visible .entry wild(.param .u64 p) {
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
L:	add.u64 %rd1, %rd1, 4096;
	st.global.u32 [%rd1], 1;
	bra L;
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("it.ptx"), KERNELS).expect("the file is written");
    folder
}

fn within(folder: &Path, arguments: &str) -> assert_cmd::Command {
    let mut command = host(arguments);
    command.current_dir(folder);
    command
}

/// Each thread allocates a KiB, and writes 1 if it succeeds.
const ALLOCATES: &str = "\
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 p);
.visible .entry a(.param .u64 p) {
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.param .b64 bytes;
	.param .b64 got;
	st.param.b64 [bytes], 1024;
	call (got), malloc, (bytes);
	ld.param.b64 %rd1, [got];
	setp.ne.u64 %p, %rd1, 0;
	selp.u32 %r1, 1, 0, %p;
	mov.u32 %r2, %tid.x;
	ld.param.u64 %rd2, [p];
	mad.wide.u32 %rd2, %r2, 4, %rd2;
	st.global.u32 [%rd2], %r1;
	ret;
}
";

#[test]
fn the_heap_ends_where_the_flag_says() {
    let folder = folder();
    fs::write(folder.path().join("heap.ptx"), ALLOCATES).expect("the file is written");
    let run = |more: &str| {
        within(
            folder.path(),
            &format!("run heap.ptx a --device sim --grid 1 --block 4 u32[4] --print 0 --check none {more}"),
        )
    };
    let printed = |more: &str| {
        let run = run(more).assert().success();
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    assert!(printed("").contains("0: 1 1 1 1"));
    assert!(printed("--heap-limit 3K").contains("0: 1 1 1 0"));
    assert!(printed("--heap-limit 0").contains("0: 0 0 0 0"));
    // The heap is part of the device's memory.
    fails(
        run("--memory-limit 1M"),
        2,
        &["heap.ptx:4:", "cannot allocate the heap", "8388608", "`malloc", " (--memory-limit allows 1.00 MiB)\n"],
    );
    assert!(printed("--memory-limit 1M --heap-limit 512K").contains("0: 1 1 1 1"));
    fails(run("--heap-limit 8X"), 2, &["--heap-limit"]);
}

#[test]
fn memory_ends_where_the_flag_says() {
    let folder = folder();
    let run = |limit: &str, argument: &str| {
        within(
            folder.path(),
            &format!("run it.ptx one --device sim --grid 1 --block 1 --memory-limit {limit} {argument}"),
        )
    };
    run("4K", "u32[1024]").assert().success();
    fails(run("4K", "u32[1025]"), 2, &["argument u32[1025]", "4.00 KiB", " (--memory-limit allows 4.00 KiB)\n"]);
    fails(run("4095", "u32[1024]=rand:1"), 2, &["argument u32[1024]=rand:1", "memory"]);
    fails(run("0", "u32[1]"), 2, &["--memory-limit", "give at least 1 byte"]);
    // The host has less memory than that. This is checked before random numbers are made.
    fails(run("8191G", "u32[2000000000000]=rand:1"), 2, &["argument u32[2000000000000]=rand:1", "7.28 TiB", "memory"]);
    for wrong in ["4Q", "-1", "1.5G", "17179869184G"] {
        fails(run(wrong, "u32[1]"), 2, &["--memory-limit"]);
    }
    fails(
        host("transpose --padded --device sim --rows 512 --cols 512 --memory-limit 2047K"),
        2,
        &["2.00 MiB", "memory", " (--memory-limit allows 2.00 MiB)\n"],
    );
    fails(
        host("transpose --padded --device sim --memory-limit 1K"),
        2,
        &["cannot allocate the module's variables", " (--memory-limit allows 1.00 KiB)\n"],
    );
    output("transpose --padded --device sim --rows 512 --cols 512 --memory-limit 3M");
    let devices = output("devices --device sim --memory-limit 512M");
    assert!(devices.contains("512 MiB"), "{devices}");
}

#[test]
fn what_needs_too_much_memory_is_in_the_singular() {
    for (lab, what) in [
        ("access", "reading and writing with these patterns needs "),
        ("pitch", "copying a matrix of 512 x 120 needs "),
        ("texture", "reading textures of 128 x 128 texels needs "),
    ] {
        fails(host(&format!("{lab} --device sim --memory-limit 64K")), 2, &[what, " (--memory-limit allows 64.0 KiB)"]);
    }
}

#[test]
fn output_ends_where_the_flag_says() {
    let folder = folder();
    let run = |limit: &str, more: &str| {
        let arguments = "run it.ptx one --device sim --grid 1 --block 1 u32[1024] --save 0=out.npy --print 0";
        within(folder.path(), &format!("{arguments} --output-limit {limit} {more}"))
    };
    fails(run("8191", ""), 2, &["--output-limit", "saved and printed", "8.00 KiB"]);
    assert_eq!(files_in(folder.path()).len(), 1, "nothing is saved");
    run("8K", "").assert().success();
    assert_eq!(files_in(folder.path()).len(), 2);
    let lab = |limit: &str| {
        let lab = "transpose --padded --device sim --rows 64 --cols 64 --output t.npy --output-limit";
        within(folder.path(), &format!("{lab} {limit}"))
    };
    fails(lab("16383"), 2, &["--output-limit", "16.0 KiB"]);
    lab("16K").assert().success();
}

#[test]
fn steps_end_where_the_flag_says() {
    let folder = folder();
    let run = |steps: &str| {
        let arguments = "run it.ptx endless --device sim --grid 1 --block 1 u32[1] --step-limit";
        within(folder.path(), &format!("{arguments} {steps}"))
    };
    fails(run("1000"), 1, &["1000 warp instructions", "; unless the kernel is endless, give a larger --step-limit"]);
    fails(run("0"), 2, &["--step-limit"]);
    fails(host("transpose --padded --device sim --rows 64 --cols 64 --step-limit 100"), 1, &["100 warp instructions"]);
}

#[test]
fn faults_end_where_the_flag_says() {
    let folder = folder();
    let run = |more: &str| within(folder.path(), &format!("run it.ptx {more}"));
    let wild = "wild --grid 1 --block 32 u32[1] --device sim";
    let stops = |more: &str, limit: &str| {
        let run = run(&format!("{wild}{more}")).assert().code(1);
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(text.contains("fault[memory]: out of bounds write of 4 bytes"), "{text}");
        let error = one_error(&text[text.find("error: ").expect("an error")..]);
        assert!(error.contains(&format!("had more than {limit} faults; ")), "{text}");
        assert!(error.contains("; for the results in spite of them, give a larger --fault-limit"), "{text}");
    };
    stops(" --fault-limit 1000", "1000");
    // On a model the checks come first, and any check counts.
    stops(":hopper --check memory --fault-limit 1000", "1000");
    // By default, too, the loop ends in seconds, and not at the step limit.
    stops("", "16777216");
    fails(run("one --grid 1 --block 1 u32[1] --fault-limit x"), 2, &["--fault-limit"]);
    run("one --grid 1 --block 1 u32[1] --device sim --fault-limit 0").assert().success();
    let report = run(&format!("{wild} --fault-limit 1000 --format json")).assert().code(1);
    let report: serde_json::Value = serde_json::from_slice(&report.get_output().stdout).expect("JSON");
    let kinds: Vec<_> = report["faults"].as_array().expect("faults").iter().map(|fault| &fault["kind"]).collect();
    assert_eq!(kinds, ["out_of_bounds", "fault_limit"]);
}

#[test]
fn what_opens_no_device_says_so() {
    let folder = folder();
    fails(host("list --device gpu:3"), 2, &["unexpected argument '--device'"]);
    fails(within(folder.path(), "check it.ptx --device sim"), 2, &["unexpected argument '--device'"]);
}

#[test]
fn a_file_is_not_written_over_what_it_is_made_of() {
    let folder = folder();
    let run =
        |saves: &str| within(folder.path(), &format!("run it.ptx one --device sim --grid 1 --block 1 u32[4] {saves}"));
    fails(run("--save 0=./it.ptx"), 2, &["--save", "is the PTX file"]);
    assert_eq!(fs::read_to_string(folder.path().join("it.ptx")).expect("it is there"), KERNELS);
    fails(run("--save 0=out.npy --save 0=./out.npy"), 2, &["--save", "named twice"]);
    assert_eq!(files_in(folder.path()).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let folder = folder();
    let arguments = "run it.ptx one --device sim --grid 1 --block 1 u32[4096]";
    fails(within(folder.path(), &format!("{arguments} --save 0=/dev/full")), 2, &["/dev/full", "No space left"]);
    fails(
        host("transpose --padded --device sim --rows 64 --cols 64 --output /dev/full"),
        2,
        &["/dev/full", "No space left"],
    );
    for arguments in [
        &format!("{arguments} --print 0"),
        &format!("{arguments} --print 0 --format json"),
        &format!("{arguments} --print 0 --format csv"),
        "check it.ptx",
        "list",
        "devices --device sim",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_host"));
        command.args(arguments.split_whitespace()).current_dir(folder.path()).stdout(full);
        let run = command.output().expect("the program runs");
        let error = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{arguments}: {error}");
        assert!(error.starts_with("error: standard output: No space left") && error.lines().count() == 1, "{error}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_or_refused() {
    let folder = folder();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
    link("real.npy", "good.npy");
    link("missing/t.npy", "lost.npy");
    link("circle.npy", "circle.npy");
    fs::write(folder.path().join("real.npy"), "old").expect("the file is written");
    let run = |name: &str| {
        within(folder.path(), &format!("run it.ptx one --device sim --grid 1 --block 1 u32[4] --save 0={name}"))
    };
    run("good.npy").assert().success();
    assert!(fs::read(folder.path().join("real.npy")).expect("it is there").starts_with(b"\x93NUMPY"));
    for name in ["lost.npy", "circle.npy"] {
        fails(run(name), 2, &[name, "symbolic link to nothing"]);
    }
    assert_eq!(files_in(folder.path()).len(), 5);
}

/// The program, run by a shell with a limit.
#[cfg(target_os = "linux")]
fn under(folder: &Path, limit: &str, arguments: &str) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new("sh");
    let script = format!("ulimit {limit}; exec \"$0\" {arguments}");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_host")]).current_dir(folder).env_remove("COALESCE_PTX");
    command
}

#[cfg(target_os = "linux")]
#[test]
fn without_threads_one_thread_does_it() {
    let folder = folder();
    // No address space for the stacks of rayon's threads.
    for device in ["sim", "sim:hopper"] {
        let arguments = format!("transpose --padded --rows 200 --cols 200 --device {device}");
        let plain = host(&arguments).output().expect("the program runs");
        let mut command = under(folder.path(), "-v 400000", &arguments);
        command.env("RUST_MIN_STACK", "1000000000");
        let run = command.output().expect("the program runs");
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.stdout, plain.stdout);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_address_space_is_one_line() {
    let folder = folder();
    let arguments = "transpose --device sim --rows 2000 --cols 2000";
    fails(under(folder.path(), "-v 340000", arguments), 2, &["2000 x 2000", "of memory"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_beyond_the_limit_is_not_written() {
    let folder = folder();
    let before = files_in(folder.path());
    let arguments = "transpose --padded --rows 200 --cols 200 --device sim --output t.npy";
    fails(under(folder.path(), "-f 1", arguments), 2, &["t.npy: cannot be written: File too large"]);
    assert_eq!(files_in(folder.path()), before);
}
