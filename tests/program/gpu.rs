//! Tests of the GPU code on the driver that executes on the simulator, with results, and with each
//! function of the driver failing (`COALESCE_FAIL`). The clock comes from a fake management
//! library, `fake_libraries/libnvml.rs`.
//!
//! The host knows this driver by its device's name, and takes each predicted time once. Under
//! another name ([`on_measured_gpu`]) it takes samples, as on a GPU: each launch lasts as long as
//! its simulation.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use crate::{fails, host};

/// The management library's source.
const MANAGEMENT: &str = include_str!("fake_libraries/libnvml.rs");

const KERNEL: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
	ret;
}
";

/// A kernel whose parameter is a tensor map.
const MAPS: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) {
	ret;
}
";

/// A kernel that reads the grid's workspace, as `grid.sync()` does.
const GRID: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry k() {
	.reg .b32 %r<2>;
	mov.u32 %r1, %envreg1;
	trap;
}
";

/// A kernel that launches kernels.
const LAUNCHES: &str = "\
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f);
.visible .entry k() {
	.reg .b64 %rd<2>;
	call.uni (%rd1), cudaGetParameterBufferV2, (0);
	ret;
}
";

/// A kernel that waits by itself for the one before it.
const WAITS: &str = "\
.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .b64 %rd<2>;
	ld.param.b64 %rd1, [p];
	griddepcontrol.wait;
	st.global.b32 [%rd1], 1;
}
";

/// A folder with the driver, the management library and a file for each of the kernels above, made
/// once.
pub(super) fn folder() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("it.ptx"), KERNEL).expect("the file is written");
        for (name, text) in [("maps.ptx", MAPS), ("grid.ptx", GRID), ("launches.ptx", LAUNCHES), ("waits.ptx", WAITS)] {
            std::fs::write(folder.path().join(name), text).expect("the file is written");
        }
        let program = std::env::current_exe().expect("a path");
        let driver = coalesce_driver::installed::library(&program).expect("cargo has built the driver");
        std::os::unix::fs::symlink(driver, folder.path().join("libcuda.so.1")).expect("a link");
        compile(folder.path(), "libnvidia-ml.so.1", MANAGEMENT);
        folder
    });
    FOLDER.path()
}

/// Compiles a fake library.
pub(super) fn compile(folder: &Path, name: &str, text: &str) {
    let source = folder.join(format!("{}.rs", name.split('.').next().unwrap_or(name)));
    std::fs::write(&source, text).expect("the source is written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-Copt-level=1", "-o"])
        .arg(folder.join(name))
        .arg(&source)
        .output()
        .expect("rustc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// `host` with these arguments on the driver that executes, whose function `failing` names fails
/// with a status.
pub(super) fn on_gpu(arguments: &str, failing: &str) -> assert_cmd::Command {
    let mut command = host(arguments);
    command.current_dir(folder()).env("LD_LIBRARY_PATH", folder()).env("COALESCE_FAIL", failing);
    command.env("COALESCE_PREDICT", "never");
    command.timeout(crate::HANGS);
    command
}

/// The name of a device that the host takes for a GPU.
pub(super) const MEASURED: &str = "Test GPU";

/// The same, with samples: on a device whose level-2 cache, of 4 MiB, is flushed soon.
pub(super) fn on_measured_gpu(arguments: &str, failing: &str) -> assert_cmd::Command {
    let mut command = on_gpu(arguments, failing);
    command.envs([("COALESCE_NAME", MEASURED), ("COALESCE_DEVICE", "turing")]);
    command
}

/// The driver's messages, from the calls that it shows.
fn traced(mut command: assert_cmd::Command) -> Vec<String> {
    let run = command.env("COALESCE_TRACE", "1").output().expect("the program runs");
    let text = String::from_utf8_lossy(&run.stderr);
    text.lines().filter_map(|line| Some(line.strip_prefix("coalesce: ")?.to_owned())).collect()
}

/// What was launched, in order: kernels and grids.
pub(super) fn launches(command: assert_cmd::Command) -> Vec<String> {
    let launch =
        |line: String| Some(line.split_once(", block ").filter(|(launch, _)| launch.contains(": grid "))?.0.to_owned());
    traced(command).into_iter().filter_map(launch).collect()
}

const RUN: &str = "run it.ptx k --device gpu --grid 1 --block 32 u32[16]=ramp --print 0 --counters";
const SURFACE: &str = "run it.ptx k --device gpu --grid 1 --block 32 surf2d:u16x2[8x4]=ramp --print 0";
const TEXTURE: &str = "run it.ptx k --device gpu --grid 1 --block 32 tex3d:f32[4x4x4],linear,norm=ramp";
const CLUSTERS: &str = "run it.ptx k --device gpu --grid 4 --cluster 2 --block 32 u32[16]";
const COOPERATIVE: &str = "run it.ptx k --device gpu --grid 4 --cooperative --block 32 u32[16]";
const TENSOR: &str = "run maps.ptx k --device gpu --grid 1 --block 32 \
                      tensor:f64[16x8],box:16x4,every:1x2,swizzle:128,l2:128,fill:nan=ramp --print 0";
const COLUMNS: &str = "run it.ptx k --device gpu --grid 1 --block 32 \
                       tensor_at:u16[8x5x4x2],lower:-1x0,upper:-1x-2,channels:8,pixels:6,interleave:16";
const LAB: &str = "transpose --padded --pitched --rows 64 --cols 64 --device gpu --time-limit 0.01";

fn printed(mut command: assert_cmd::Command, code: i32) -> String {
    let run = command.assert().code(code);
    String::from_utf8_lossy(&run.get_output().stdout).into_owned()
}

#[test]
fn data_goes_to_a_gpu_and_comes_back() {
    let text = printed(on_gpu(RUN, ""), 0);
    assert!(text.contains("on Coalesce simulator of H200") && text.contains("\n 8: 8 9 10 11 12 13 14 15\n"), "{text}");
    assert!(text.contains("ptx__inst_executed.sum"), "the counters are the simulator's: {text}");
    // The flag sets the heap's size.
    printed(on_gpu(&format!("{RUN} --heap-limit 64M"), ""), 0);
    fails(on_gpu(&format!("{RUN} --heap-limit 64M"), "cuCtxSetLimit:2"), 2, &["--heap-limit", "(2)"]);
    // Arrays are copied there and back, too.
    let text = printed(on_gpu(SURFACE, ""), 0);
    assert!(text.contains("Argument 0, u16[64]:") && text.contains("\n56: 56 57 58 59 60 61 62 63\n"), "{text}");
    printed(on_gpu(TEXTURE, ""), 0);
    let text = printed(on_gpu("devices", ""), 0);
    assert!(text.contains("gpu:0") && text.contains("Coalesce simulator") && text.contains("12.8"), "{text}");
    fails(on_gpu(&format!("{LAB} --check race"), ""), 2, &["--check", "only the simulator runs checks", "--counters"]);
    let text = printed(on_gpu(&format!("{LAB} --check race --counters"), ""), 0);
    assert!(text.contains("\npadded: 32 x 33  ") && text.contains("check race"), "{text}");
}

#[test]
fn a_wrong_result_of_a_gpu_is_reported() {
    // Without its kernel's work, the output is still poisoned.
    idle("transpose_padded");
    let text = printed(on_gpu(&format!("{LAB} --ptx transpose_padded.ptx"), ""), 1);
    assert!(text.contains("padded is wrong: 4096 of 4096 elements"), "{text}");
}

/// Writes a file with a kernel of the labs that does nothing.
fn idle(kernel: &str) {
    let text = kernels::PTX[0].text;
    let begin = text.find(&format!(".visible .entry {kernel}(")).expect("the kernel");
    let end = begin + text[begin..].find("\n)").expect("its parameters end");
    let head = KERNEL.split(".visible").next().expect("a head");
    let idle = format!("{head}{}\n) {{\n\tret;\n}}\n", &text[begin..end]);
    std::fs::write(folder().join(format!("{kernel}.ptx")), idle).expect("the file is written");
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn a_large_product_is_checked_by_a_sample() {
    // The kernel does nothing, and the poison exceeds every possible element.
    idle("matmul_naive");
    let run = "matmul --naive --rows 2048 --inner 16385 --device gpu --once --legend --ptx matmul_naive.ptx";
    let text = printed(on_gpu(run, ""), 1);
    assert!(text.contains("Compared with the reference: 16384 of 4194304 elements"), "{text}");
}

/// The JSON of the lab, measured, with these environment variables.
fn lab_with(environment: &[(&str, &str)]) -> serde_json::Value {
    let mut command = on_measured_gpu(&format!("{LAB} --format json"), "");
    command.envs(environment.iter().copied());
    serde_json::from_str(&printed(command, 0)).expect("JSON")
}

#[test]
fn times_are_cold_and_warm_where_the_data_fits_the_cache() {
    let timing = |which: &str| lab_with(&[])["variants"][0][which].clone();
    assert_eq!(timing("timing")["cache"], "flushed");
    assert_eq!(timing("warm_timing")["cache"], "warm");
    assert!(timing("time_ms").as_f64() > Some(0.0) && timing("warm_time_ms").as_f64() > Some(0.0));
    let table = printed(on_measured_gpu(&format!("{LAB} --legend"), ""), 0);
    assert!(
        table.contains("timed: cold (level-2 cache flushed before each launch) and warm (back to back)\n"),
        "{table}"
    );
    // Data far larger than the cache, of 4 MiB.
    let large = printed(exceeding(""), 0);
    assert!(large.contains("\ntimed: the data is far larger than the level-2 cache\n"), "{large}");
}

/// A run whose data is said to be four times as large as the level-2 cache.
fn exceeding(failing: &str) -> assert_cmd::Command {
    let run = "run it.ptx k --device gpu --grid 1 --block 32 u32[16] --time-limit 0.01 --bytes 16M";
    on_measured_gpu(run, failing)
}

#[test]
fn the_clock_is_known_where_there_is_a_management_library() {
    let timing = |clock: Option<&str>| {
        let environment: Vec<_> = clock.map(|clock| ("FAKE_NVML_CLOCK", clock)).into_iter().collect();
        lab_with(&environment)["variants"][0]["timing"].clone()
    };
    assert!(timing(None)["sm_clock_mhz"].is_null());
    // At the highest clock; idle; at a slightly lower clock; throttled by power, temperature and a
    // setting.
    for (clock, mhz, by) in [
        ("1980:0", Some(1980.0), None),
        ("345:1", None, None),
        ("1935:4", Some(1935.0), None),
        ("1600:4", Some(1600.0), Some("power")),
        ("1600:72", Some(1600.0), Some("thermal")),
        ("1200:2", Some(1200.0), Some("setting")),
    ] {
        let timing = timing(Some(clock));
        assert_eq!(timing["sm_clock_mhz"].as_f64(), mhz, "{clock}");
        assert_eq!(timing["throttled_by"].as_str(), by, "{clock}");
    }
    let mut command = on_measured_gpu(LAB, "");
    command.env("FAKE_NVML_CLOCK", "1100:4");
    let table = printed(command, 0);
    let note = "\nThe clock was throttled (at most 1590 MHz): padded at 1100 MHz by the power limit.\n";
    assert!(table.contains(note), "{table}");
}

#[test]
fn variables_and_several_launches_go_to_a_gpu() {
    std::fs::write(folder().join("variables.ptx"), crate::variables::VARIABLES).expect("the file is written");
    let set =
        "run variables.ptx k --device gpu --grid 1 --block 32 --set coefficients=f32[4]=ramp --print coefficients";
    let text = printed(on_gpu(set, ""), 0);
    assert!(
        text.contains("on Coalesce simulator") && text.ends_with("\nVariable coefficients, f32[4]:\n0: 0 1 2 3\n"),
        "{text}"
    );
    fails(on_gpu(set, "cuModuleGetGlobal_v2:500"), 2, &["variable coefficients: is not in variables.ptx"]);
    fails(on_gpu(set, "cuModuleGetGlobal_v2:1"), 2, &["coefficients", "(1)"]);

    let two = format!("{RUN} --then k --grid 2 --block 32 arg:0 --print 1.0");
    let text = printed(on_gpu(&two, ""), 0);
    assert!(
        text.starts_with("Launch 0:\nk of it.ptx: 1 x 1 x 1") && text.contains("\nLaunch 1:\nk of it.ptx: 2 x 1 x 1")
    );
    assert_eq!(text.matches("ptx__inst_executed.sum").count(), 2, "the counters are the simulator's: {text}");
    assert!(text.contains("\nArgument 0, u32[16]:") && text.contains("\nArgument 1.0, u32[16]:"), "{text}");
    let run = on_gpu(&two, "cuStreamSynchronize:700").assert().code(1);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.starts_with("error: launch 0: kernel k: ") && error.lines().count() == 1, "{error}");
}

#[test]
fn a_gpu_runs_clusters_if_it_has_them() {
    let text = printed(on_gpu(CLUSTERS, ""), 0);
    assert!(text.contains("4 x 1 x 1 blocks of 32 x 1 x 1 threads, in clusters of 2 x 1 x 1 blocks"), "{text}");
    fails(on_gpu(CLUSTERS, "cuLaunchKernelEx:912"), 2, &["launching kernel k", "(912)"]);
    // More than 8 blocks must be opted into.
    let many = CLUSTERS.replace("--grid 4 --cluster 2", "--grid 16 --cluster 16");
    fails(on_gpu(&many, "cuFuncSetAttribute:1"), 2, &["launching kernel k", "(1)"]);
    let mut old = on_gpu(CLUSTERS, "");
    old.env("COALESCE_DEVICE", "ampere");
    fails(old, 2, &["kernel k: clusters need a GPU of compute capability 9.0 or later, but", "(GA100) has 8.0"]);
}

#[test]
fn a_gpu_launches_cooperatively_what_it_holds_at_once() {
    let text = printed(on_gpu(COOPERATIVE, ""), 0);
    assert!(text.contains("4 x 1 x 1 blocks of 32 x 1 x 1 threads, all at once"), "{text}");
    fails(on_gpu(COOPERATIVE, "cuLaunchCooperativeKernel:720"), 2, &["launching kernel k", "(720)"]);
    // Each multiprocessor holds some such blocks.
    let many = COOPERATIVE.replace("--grid 4", "--grid 1000000");
    fails(on_gpu(&many, ""), 2, &["kernel k: a cooperative launch", "it has 1000000 blocks", "holds 4224 of them"]);
    // In clusters, too.
    let both = || on_gpu(&CLUSTERS.replace("--grid", "--cooperative --grid"), "");
    printed(both(), 0);
    assert!(attributes(both()).contains(&"attributes: 4: [2, 1, 1], 2: [1, 0, 0]".to_owned()));
    // A kernel that needs a cooperative launch traps without one; a GPU does not report why.
    let mut without = on_gpu("run grid.ptx k --device gpu --grid 4 --block 32", "");
    let run = without.assert().code(1);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.contains("(719)") && error.contains("give --cooperative"), "{error}");
}

/// The attributes of launches, as the driver shows them.
fn attributes(command: assert_cmd::Command) -> Vec<String> {
    traced(command).into_iter().filter(|line| line.starts_with("attributes: ")).collect()
}

#[test]
fn a_kernel_that_waits_by_itself_may_begin_early() {
    let run = "run waits.ptx k --device gpu --grid 4 --block 32 u32[16]";
    printed(on_gpu(run, ""), 0);
    assert!(attributes(on_gpu(run, "")).contains(&"attributes: 6: [1, 0, 0]".to_owned()));
    fails(on_gpu(run, "cuLaunchKernelEx:1"), 2, &["launching kernel k", "(1)"]);
    // One that accesses memory before it waits, or does not wait, is launched as ever.
    let early = WAITS.replace("\tgriddepcontrol.wait;\n", "").replace("1;\n}", "1;\n\tgriddepcontrol.wait;\n}");
    std::fs::write(folder().join("early.ptx"), early).expect("the file is written");
    for file in ["early.ptx", "it.ptx"] {
        printed(on_gpu(&run.replace("waits.ptx", file), "cuLaunchKernelEx:1"), 0);
    }
    // All blocks at once and before the end of others: the driver knows no such launch.
    printed(on_gpu(&format!("{run} --cooperative"), "cuLaunchKernelEx:1"), 0);
    printed(on_gpu(&format!("{run} --cluster 2"), ""), 0);
}

#[test]
fn a_driver_does_not_link_launches_by_kernels() {
    let run = "run launches.ptx k --device gpu --grid 1 --block 32";
    let parts = ["launches.ptx", "`cudaGetParameterBufferV2`", "dynamic parallelism", "from the host"];
    fails(on_gpu(run, "cuModuleLoadDataEx:218"), 2, &parts);
}

#[test]
fn the_driver_makes_tensor_maps() {
    let text = printed(on_gpu(TENSOR, ""), 0);
    assert!(text.contains("Argument 0, f64[128]:") && text.contains("\n120: 120 121 122 123"), "{text}");
    printed(on_gpu(COLUMNS, ""), 0);
    // A kernel loads a box of each, as on the simulator.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/simt/tests/filetests/tensors.ptx");
    for tensor in
        ["tensor:f32[8x4],box:4x2=ramp", "tensor:f32[3x4],stride:32,box:4x2=5", "tensor:f32[8x4],box:4x4,every:1x2"]
    {
        let load = format!(
            "run {file} load_2d {tensor} i32:0 i32:-1 u32:32 u32:0 u32:8 f32[8] --grid 1 --block 32 --print 6 --once"
        );
        let text = printed(on_gpu(&format!("{load} --device gpu"), ""), 0);
        let results = |text: &str| text.split_once("\nArgument 6").expect("results").1.to_owned();
        assert_eq!(results(&text), results(&crate::output(&format!("{load} --device sim --no-predict"))), "{tensor}");
    }
    fails(on_gpu(TENSOR, "cuTensorMapEncodeTiled:801"), 2, &["encoding a tensor map", "(801)"]);
    fails(on_gpu(COLUMNS, "cuTensorMapEncodeIm2col:1"), 2, &["encoding a tensor map", "(1)"]);
}

#[test]
fn a_driver_without_a_gpu_is_reported() {
    fails(on_gpu(RUN, "cuInit:100"), 2, &["no GPU", "the NVIDIA driver sees no GPU", "--device sim"]);
    fails(on_gpu(RUN, "cuInit:803"), 2, &["no GPU", "does not start", "803"]);
    fails(on_gpu("transpose --padded --device gpu:7", ""), 2, &["no GPU 7", "number 0"]);
    // With `--device auto` the simulator runs, and a note says why.
    let mut command = on_gpu("run it.ptx k --grid 1 --block 32 u32[16]", "cuDevicePrimaryCtxRetain:2");
    let run = command.assert().success();
    let note = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(note.starts_with("note: running on the simulator: ") && note.lines().count() == 1, "{note}");
}

/// Lines that a kernel asked level 2 to keep would survive the flush, so they are made ordinary
/// before each variant and each flush.
#[test]
fn cold_launches_find_nothing_that_level_2_was_to_keep() {
    let refused = |mut command: assert_cmd::Command| {
        let run = command.output().expect("the program runs");
        String::from_utf8_lossy(&run.stderr).contains("resetting priorities in the level-2 cache")
    };
    // A cache that is smaller than the data is not flushed: once for the launches.
    assert!(refused(exceeding("cuCtxResetPersistingL2Cache:999:1")));
    assert!(!refused(exceeding("cuCtxResetPersistingL2Cache:999:2")));
    // One that holds the data is, before each of at least 11 samples of the device's copy and of
    // the variant, however long these take.
    let long = LAB.replace("--time-limit 0.01", "--time-limit 600");
    assert!(refused(on_measured_gpu(&long, "cuCtxResetPersistingL2Cache:999:22")));
}

#[test]
fn a_gpu_without_priorities_in_level_2_has_nothing_to_reset() {
    let not_supported = on_measured_gpu(LAB, "cuCtxResetPersistingL2Cache:801");
    assert!(printed(not_supported, 0).contains("padded"));
}

#[test]
fn errors_of_the_driver_say_what_failed() {
    for (failing, code, parts) in [
        ("cuModuleLoadDataEx:218", 2, &["it.ptx", "the driver rejects it", "218"][..]),
        ("cuMemAlloc_v2:2", 2, &["memory", "Coalesce simulator of H200", "16.0 GiB"]),
        ("cuModuleGetFunction:500", 2, &["kernel k", "not in it.ptx"]),
        ("cuMemcpyHtoD_v2:1", 2, &["(1)"]),
        ("cuLaunchKernel:701", 2, &["(701)"]),
        // The next call reports a kernel's fault.
        ("cuStreamSynchronize:700", 1, &["kernel k", "(700)", "--device sim names the line"]),
        ("cuMemcpyDtoH_v2:719", 1, &["kernel k", "(719)"]),
    ] {
        let mut command = on_gpu(RUN, failing);
        let run = command.assert().code(code);
        let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(error.starts_with("error: ") && error.lines().count() == 1, "{failing}: {error}");
        for part in parts {
            assert!(error.contains(part), "{failing} does not say '{part}': {error}");
        }
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn whatever_fails_is_one_line_and_no_panic() {
    let mut failed = std::collections::BTreeSet::new();
    for arguments in [RUN, SURFACE, TEXTURE, CLUSTERS, TENSOR, COLUMNS, LAB] {
        let arguments = if arguments == LAB { arguments.to_owned() } else { format!("{arguments} --time-limit 0.001") };
        // A lab's samples flush caches, too.
        let on = if arguments == LAB { on_measured_gpu } else { on_gpu };
        // How often a function is called decides which of its calls can fail.
        let calls = traced(on(&arguments, ""));
        let names = calls.iter().filter_map(|line| line.split_once(" -> ")).map(|(name, _)| name);
        let functions: std::collections::BTreeSet<&str> = names.clone().collect();
        let called = |function: &str| names.clone().filter(|name| *name == function).count();
        assert!(functions.len() > 10, "{arguments}: {calls:?}");
        failed.extend(functions.iter().map(|name| (*name).to_owned()));
        // Out of memory; an illegal address; an unlisted status; and failures of later calls.
        for function in functions {
            let statuses = [("2", 1), ("700", 1), ("4242", 1), ("999:2", 2), ("999:3", 3)];
            for (status, _) in statuses.into_iter().filter(|&(_, least)| called(function) >= least) {
                let failing = format!("{function}:{status}");
                let run = on(&arguments, &failing).output().expect("the program runs");
                let error = String::from_utf8_lossy(&run.stderr);
                let code = run.status.code().unwrap_or(-1);
                // A failed free is ignored.
                let fine = code == 0;
                let refused = (1..=2).contains(&code) && error.starts_with("error: ") && error.lines().count() == 1;
                assert!(fine || refused, "{failing}, {arguments}: exit {code}: {error}");
            }
        }
    }
    assert!(failed.len() > 30, "{failed:?}");
}
