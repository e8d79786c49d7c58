//! Tests of blocks that wait for each other: `--cooperative`, blocks that wait for later ones
//! without it, and launches by kernels.

use std::fs;

use crate::{HANGS, fails, host, one_error, output};

/// `tests/wild/grids.cu`, compiled by `nvcc`.
const GRIDS: &str = "../tests/wild/ptx/grids.sm_90.ptx";

fn grids(arguments: &str) -> String {
    format!("run {GRIDS} {arguments}")
}

/// Each block waits until all have arrived, and writes how many it saw; `gone` of them exit before.
const WAITS: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry all(.param .u64 count, .param .u64 seen, .param .u32 gone) {
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	mov.u32 %r1, %ctaid.x;
	ld.param.u32 %r2, [gone];
	setp.lt.u32 %p, %r1, %r2;
	@%p ret;
	ld.param.u64 %rd1, [count];
	ld.param.u64 %rd2, [seen];
	mov.u32 %r3, %nctaid.x;
	atom.global.add.u32 %r4, [%rd1], 1;
wait:
	ld.volatile.global.u32 %r5, [%rd1];
	setp.lt.u32 %p, %r5, %r3;
	@%p bra wait;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd3, %rd2, %rd3;
	st.global.u32 [%rd3], %r5;
	ret;
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("it.ptx"), WAITS).expect("the file is written");
    folder
}

#[test]
fn cooperative_launches_meet() {
    let run = grids("halves i32[128] i32[128] --grid 4 --block 32 --print 1 --cooperative");
    for device in ["sim", "sim:hopper", "sim:turing"] {
        let text = output(&format!("{run} --device {device}"));
        assert!(text.contains("4 x 1 x 1 blocks of 32 x 1 x 1 threads, all at once\n"), "{text}");
        assert!(text.contains("\n  0: 16130 15878 15628 15380 15134 14890 14648 14401\n"), "{device}: {text}");
        assert_eq!(text, output(&format!("{run} --device {device}")), "{device}");
    }
}

#[test]
fn a_grid_that_is_not_launched_cooperatively_names_the_flag() {
    for device in ["sim", "sim:hopper"] {
        let run = grids(&format!("halves i32[128] i32[128] --grid 4 --block 32 --device {device} --check none"));
        let failed = host(&run).assert().code(1);
        let error = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        let line = one_error(&error);
        assert!(line.contains("grid.sync()") && line.contains("give --cooperative"), "{error}");
    }
}

#[test]
fn cooperative_launches_that_do_not_fit_are_refused() {
    let run = |more: &str| host(&grids(&format!("halves i32[128] i32[128] --cooperative {more}")));
    fails(
        run("--grid 2113 --block 128 --device sim:hopper --check none"),
        2,
        &["kernel `halves`", "it has 2113 blocks", "`hopper` holds 2112 of them"],
    );
    fails(
        run("--grid 1025 --block 1024 --device sim --check none"),
        2,
        &["it has 1025 blocks", "the simulator holds 1024 of them"],
    );
    fails(
        run("--grid 17 --block 1024 --device sim"),
        2,
        &["the check `race` follows at most 16384 threads", "this cooperative launch has 17408"],
    );
}

#[test]
fn races_between_blocks_of_a_cooperative_launch_are_found() {
    // The second sum reads what the first kernel's other blocks write, without synchronisation in
    // between.
    let kernel = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
	.reg .b32 %r<4>;
	.reg .b64 %rd<5>;
	mov.u32 %r1, %envreg1;
	ld.param.u64 %rd1, [p];
	ld.param.u64 %rd2, [q];
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	st.global.u32 [%rd4], %r1;
	xor.b32 %r2, %r1, 1;
	mul.wide.u32 %rd4, %r2, 4;
	add.s64 %rd4, %rd1, %rd4;
	ld.global.u32 %r3, [%rd4];
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], %r3;
	ret;
}
";
    let folder = folder();
    fs::write(folder.path().join("race.ptx"), kernel).expect("the file is written");
    let mut command = host("run race.ptx k u32[2] u32[2] --grid 2 --block 1 --device sim --cooperative --check race");
    let failed = command.current_dir(folder.path()).assert().code(1);
    let error = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(error.contains("race between blocks"), "{error}");
}

#[test]
fn a_block_that_waits_for_a_later_one_has_it_run_beside_it() {
    let folder = folder();
    let run = |more: &str| {
        let mut command =
            host(&format!("run it.ptx all u32[1] u32[40] --grid 40 --block 1 --print 1 --device sim {more}"));
        command.current_dir(folder.path()).timeout(HANGS);
        command
    };
    for flags in ["u32:0 --check none", "u32:0 --cooperative"] {
        let text = String::from_utf8_lossy(&run(flags).assert().success().get_output().stdout).into_owned();
        assert!(text.contains("\n32: 40 40 40 40 40 40 40 40\n"), "{flags}: {text}");
    }
    // Under checks blocks run one after the other: an early message says so, and what to do.
    let failed = run("u32:0 --step-limit 1000000000").assert().code(1);
    let error = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    let parts = [
        "1 block waits for memory that nothing writes",
        "39 blocks have not begun",
        "block (0, 0, 0)",
        "ld.volatile.global.u32",
        "--cooperative",
        "--check none",
    ];
    let line = one_error(&error);
    assert!(parts.iter().all(|part| line.contains(part)), "{error}");
    // A block that never arrives.
    for flags in ["u32:1 --cooperative", "u32:1 --check none"] {
        let failed = run(&format!("{flags} --step-limit 1000000000")).assert().code(1);
        let error = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        let error = one_error(&error);
        assert!(error.contains("39 blocks wait for memory that nothing writes"), "{flags}: {error}");
        assert!(error.contains("block (1, 0, 0)") && !error.contains("not begun"), "{flags}: {error}");
    }
}

#[test]
fn launches_by_kernels_are_refused_by_name() {
    let kernel = "\
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.visible .entry child() { ret; }
.visible .entry parent() {
	.reg .b64 %rd<3>;
	mov.u64 %rd1, child;
	.param .b64 f;
	.param .align 4 .b8 g[12];
	.param .align 4 .b8 b[12];
	.param .b32 s;
	.param .b64 r;
	st.param.b64 [f], %rd1;
	call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
	ret;
}
";
    let folder = folder();
    fs::write(folder.path().join("launches.ptx"), kernel).expect("the file is written");
    let run = |kernel: &str| {
        let mut command = host(&format!("run launches.ptx {kernel} --grid 1 --block 1 --device sim"));
        command.current_dir(folder.path());
        command
    };
    fails(
        run("parent"),
        2,
        &["launches.ptx:16", "`__cudaCDP2GetParameterBufferV2`", "dynamic parallelism", "from the host"],
    );
    run("child").assert().success();
}
