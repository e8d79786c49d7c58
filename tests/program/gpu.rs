//! Tests of the GPU code on a fake driver: `fake_driver/libcuda.rs`, compiled to `libcuda.so.1`.
//! Its kernels do nothing, so a lab's results are wrong; everything else must work as on a GPU,
//! whichever function of the driver fails. The clock comes from a fake management library,
//! `fake_driver/libnvml.rs`.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use crate::{fails, host};

/// The driver's source, which lists its functions.
const DRIVER: &str = include_str!("fake_driver/libcuda.rs");

/// The management library's source.
const MANAGEMENT: &str = include_str!("fake_driver/libnvml.rs");

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

/// A folder with the driver, the management library and a file for each of the kernels above, made once.
pub(super) fn folder() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("it.ptx"), KERNEL).expect("the file is written");
        for (name, text) in [("maps.ptx", MAPS), ("grid.ptx", GRID), ("launches.ptx", LAUNCHES), ("waits.ptx", WAITS)] {
            std::fs::write(folder.path().join(name), text).expect("the file is written");
        }
        compile(folder.path(), "libcuda.so.1", DRIVER);
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

/// The attributes that a launch with these arguments has if it has any; of a lab, a kernel that
/// waits by itself. An attribute is its number, padding and the first words of its value.
fn attributes(arguments: &str) -> String {
    let is_cooperative = arguments.contains("--cooperative");
    let waits = arguments.contains("waits.ptx") || !arguments.starts_with("run ");
    let all = [
        (arguments.contains("--cluster 2"), "[4, 0, 2, 1, 1]"),
        (is_cooperative, "[2, 0, 1, 0, 0]"),
        (waits && !is_cooperative, "[6, 0, 1, 0, 0]"),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, attribute)| attribute).collect::<Vec<_>>().join(" ")
}

/// `host` with these arguments on the fake driver, whose function `failing` names fails with a status.
pub(super) fn on_fake_gpu(arguments: &str, failing: &str) -> assert_cmd::Command {
    let mut command = host(arguments);
    command.current_dir(folder()).env("LD_LIBRARY_PATH", folder()).env("FAKE_CUDA_FAILS", failing);
    command.env("FAKE_CUDA_ATTRIBUTES", attributes(arguments));
    command.timeout(crate::HANGS);
    command
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
    let text = printed(on_fake_gpu(RUN, ""), 0);
    assert!(text.contains("on Fake GPU") && text.contains("\n 8: 8 9 10 11 12 13 14 15\n"), "{text}");
    assert!(text.contains("ptx__inst_executed.sum"), "the counters are the simulator's: {text}");
    // The flag sets the heap's size.
    printed(on_fake_gpu(&format!("{RUN} --heap-limit 64M"), ""), 0);
    fails(on_fake_gpu(&format!("{RUN} --heap-limit 64M"), "cuCtxSetLimit:2"), 2, &["--heap-limit", "(2)"]);
    // Arrays are copied there and back, too.
    let text = printed(on_fake_gpu(SURFACE, ""), 0);
    assert!(text.contains("Argument 0, u16[64]:") && text.contains("\n56: 56 57 58 59 60 61 62 63\n"), "{text}");
    printed(on_fake_gpu(TEXTURE, ""), 0);
    let text = printed(on_fake_gpu("devices", ""), 0);
    assert!(text.contains("gpu:0") && text.contains("Fake GPU") && text.contains("13.0"), "{text}");
    fails(
        on_fake_gpu(&format!("{LAB} --check race"), ""),
        2,
        &["--check", "only the simulator runs checks", "--counters"],
    );
    let text = printed(on_fake_gpu(&format!("{LAB} --check race --counters"), ""), 1);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("variant right error faults ") && words.contains("padded: 32 x 33 NO"), "{text}");
    // The kernel does nothing, so the output is still poisoned.
    let text = printed(on_fake_gpu(LAB, ""), 1);
    assert!(text.contains("padded is wrong: 4096 of 4096 elements") && text.contains("750 us"), "{text}");
}

/// The JSON of the lab, whose results are wrong, with these environment variables.
fn lab_with(environment: &[(&str, &str)]) -> serde_json::Value {
    let mut command = on_fake_gpu(&format!("{LAB} --format json"), "");
    command.envs(environment.iter().copied());
    serde_json::from_str(&printed(command, 1)).expect("JSON")
}

#[test]
fn times_are_cold_and_warm_where_the_data_fits_the_cache() {
    let timing = |report: &serde_json::Value, which: &str| report["variants"][0][which].clone();
    // The data is 32 KiB, far more than this GPU's small cache.
    let large = lab_with(&[]);
    assert_eq!(timing(&large, "timing")["cache"], "exceeded");
    assert!(timing(&large, "warm_timing").is_null() && timing(&large, "warm_time_ms").is_null(), "{large}");
    let small = lab_with(&[("FAKE_CUDA_L2", "65536")]);
    assert_eq!(timing(&small, "timing")["cache"], "flushed");
    assert_eq!(timing(&small, "warm_timing")["cache"], "warm");
    assert_eq!((timing(&small, "time_ms"), timing(&small, "warm_time_ms")), (1.5.into(), 0.75.into()));
    let mut command = on_fake_gpu(&format!("{LAB} --legend"), "");
    command.env("FAKE_CUDA_L2", "65536");
    let table = printed(command, 1);
    assert!(
        table.contains("timed: cold (level-2 cache flushed before each launch) and warm (back to back)\n"),
        "{table}"
    );
    assert!(
        table.contains(" 1.50 ms 750 us ") && table.contains("\nThe limit is the memory bus, 4814 GB/s.\n"),
        "{table}"
    );
}

#[test]
fn the_clock_is_known_where_there_is_a_management_library() {
    let timing = |clock: Option<&str>| {
        let environment: Vec<_> = clock.map(|clock| ("FAKE_NVML_CLOCK", clock)).into_iter().collect();
        lab_with(&environment)["variants"][0]["timing"].clone()
    };
    assert!(timing(None)["sm_clock_mhz"].is_null());
    // At the highest clock; idle; at a slightly lower clock; throttled by power, temperature and a setting.
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
    let mut command = on_fake_gpu(LAB, "");
    command.env("FAKE_NVML_CLOCK", "1100:4");
    let table = printed(command, 1);
    let note = "\nThe clock was throttled (at most 1980 MHz): padded at 1100 MHz by the power limit.\n";
    assert!(table.contains(note), "{table}");
}

#[test]
fn variables_and_several_launches_go_to_a_gpu() {
    std::fs::write(folder().join("variables.ptx"), crate::variables::VARIABLES).expect("the file is written");
    let set =
        "run variables.ptx k --device gpu --grid 1 --block 32 --set coefficients=f32[4]=ramp --print coefficients";
    let text = printed(on_fake_gpu(set, ""), 0);
    assert!(text.contains("on Fake GPU") && text.ends_with("\nVariable coefficients, f32[4]:\n0: 0 1 2 3\n"), "{text}");
    fails(on_fake_gpu(set, "cuModuleGetGlobal_v2:500"), 2, &["variable coefficients: is not in variables.ptx"]);
    fails(on_fake_gpu(set, "cuModuleGetGlobal_v2:1"), 2, &["coefficients", "(1)"]);

    let two = format!("{RUN} --then k --grid 2 --block 32 arg:0 --print 1.0");
    let text = printed(on_fake_gpu(&two, ""), 0);
    assert!(
        text.starts_with("Launch 0:\nk of it.ptx: 1 x 1 x 1") && text.contains("\nLaunch 1:\nk of it.ptx: 2 x 1 x 1")
    );
    assert_eq!(text.matches("ptx__inst_executed.sum").count(), 2, "the counters are the simulator's: {text}");
    assert!(text.contains("\nArgument 0, u32[16]:") && text.contains("\nArgument 1.0, u32[16]:"), "{text}");
    let run = on_fake_gpu(&two, "cuStreamSynchronize:700").assert().code(1);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.starts_with("error: launch 0: kernel k: ") && error.lines().count() == 1, "{error}");
}

#[test]
fn a_gpu_runs_clusters_if_it_has_them() {
    let text = printed(on_fake_gpu(CLUSTERS, ""), 0);
    assert!(text.contains("4 x 1 x 1 blocks of 32 x 1 x 1 threads, in clusters of 2 x 1 x 1 blocks"), "{text}");
    fails(on_fake_gpu(CLUSTERS, "cuLaunchKernelEx:912"), 2, &["launching kernel k", "(912)"]);
    // More than 8 blocks must be opted into.
    let many = CLUSTERS.replace("--grid 4 --cluster 2", "--grid 16 --cluster 16");
    fails(on_fake_gpu(&many, "cuFuncSetAttribute:1"), 2, &["launching kernel k", "(1)"]);
    let mut old = on_fake_gpu(CLUSTERS, "");
    old.env("FAKE_CUDA_MAJOR", "8");
    fails(old, 2, &["kernel k: clusters need a GPU of compute capability 9.0 or later, but Fake GPU has 8.0"]);
}

#[test]
fn a_gpu_launches_cooperatively_what_it_holds_at_once() {
    let text = printed(on_fake_gpu(COOPERATIVE, ""), 0);
    assert!(text.contains("4 x 1 x 1 blocks of 32 x 1 x 1 threads, all at once"), "{text}");
    fails(on_fake_gpu(COOPERATIVE, "cuLaunchCooperativeKernel:720"), 2, &["launching kernel k", "(720)"]);
    // Each multiprocessor holds 64 such blocks.
    let many = COOPERATIVE.replace("--grid 4", "--grid 1000000");
    fails(on_fake_gpu(&many, ""), 2, &["kernel k: a cooperative launch", "it has 1000000 blocks", "Fake GPU holds"]);
    // In clusters, too: the fake driver checks the attributes.
    printed(on_fake_gpu(&CLUSTERS.replace("--grid", "--cooperative --grid"), ""), 0);
    // A kernel that needs a cooperative launch traps without one; a GPU does not report why.
    let mut without = on_fake_gpu("run grid.ptx k --device gpu --grid 4 --block 32", "cuStreamSynchronize:719");
    let run = without.assert().code(1);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.contains("(719)") && error.contains("give --cooperative"), "{error}");
}

#[test]
fn a_kernel_that_waits_by_itself_may_begin_early() {
    let run = "run waits.ptx k --device gpu --grid 4 --block 32 u32[16]";
    // The fake driver checks the attribute.
    printed(on_fake_gpu(run, ""), 0);
    fails(on_fake_gpu(run, "cuLaunchKernelEx:1"), 2, &["launching kernel k", "(1)"]);
    // One that accesses memory before it waits, or does not wait, is launched as ever.
    let early = WAITS.replace("\tgriddepcontrol.wait;\n", "").replace("1;\n}", "1;\n\tgriddepcontrol.wait;\n}");
    std::fs::write(folder().join("early.ptx"), early).expect("the file is written");
    for file in ["early.ptx", "it.ptx"] {
        printed(on_fake_gpu(&run.replace("waits.ptx", file), "cuLaunchKernelEx:1"), 0);
    }
    // All blocks at once and before the end of others: the driver knows no such launch.
    printed(on_fake_gpu(&format!("{run} --cooperative"), "cuLaunchKernelEx:1"), 0);
    printed(on_fake_gpu(&format!("{run} --cluster 2"), ""), 0);
}

#[test]
fn a_driver_does_not_link_launches_by_kernels() {
    let run = "run launches.ptx k --device gpu --grid 1 --block 32";
    let parts = ["launches.ptx", "`cudaGetParameterBufferV2`", "dynamic parallelism", "from the host"];
    fails(on_fake_gpu(run, "cuModuleLoadDataEx:218"), 2, &parts);
}

#[test]
fn the_driver_makes_tensor_maps() {
    // The fake driver checks each argument.
    let text = printed(on_fake_gpu(TENSOR, ""), 0);
    assert!(text.contains("Argument 0, f64[128]:") && text.contains("\n120: 120 121 122 123"), "{text}");
    printed(on_fake_gpu(COLUMNS, ""), 0);
    fails(on_fake_gpu(TENSOR, "cuTensorMapEncodeTiled:801"), 2, &["encoding a tensor map", "(801)"]);
    fails(on_fake_gpu(COLUMNS, "cuTensorMapEncodeIm2col:1"), 2, &["encoding a tensor map", "(1)"]);
}

#[test]
fn a_driver_without_a_gpu_is_reported() {
    let mut command = on_fake_gpu(RUN, "");
    command.env("FAKE_CUDA_DEVICES", "0");
    fails(command, 2, &["no GPU", "the NVIDIA driver sees no GPU", "--device sim"]);
    fails(on_fake_gpu(RUN, "cuInit:803"), 2, &["no GPU", "does not start", "803"]);
    fails(on_fake_gpu("transpose --padded --device gpu:7", ""), 2, &["no GPU 7", "number 0"]);
    // With `--device auto` the simulator runs, and a note says why.
    let mut command = on_fake_gpu("run it.ptx k --grid 1 --block 32 u32[16]", "cuDevicePrimaryCtxRetain:2");
    let run = command.assert().success();
    let note = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(note.starts_with("note: running on the simulator: ") && note.lines().count() == 1, "{note}");
}

/// Lines that a kernel asked level 2 to keep would survive the flush, so they are made ordinary
/// before each variant and each flush.
#[test]
fn cold_launches_find_nothing_that_level_2_was_to_keep() {
    let refused = |lab: &str, failing: &str, l2: &str| {
        let mut command = on_fake_gpu(lab, failing);
        let run = command.env("FAKE_CUDA_L2", l2).output().expect("the program runs");
        String::from_utf8_lossy(&run.stderr).contains("resetting priorities in the level-2 cache")
    };
    // A cache that is smaller than the data is not flushed: once for the device's copy, once for the variant.
    assert!(refused(LAB, "cuCtxResetPersistingL2Cache:999:2", "64"));
    assert!(!refused(LAB, "cuCtxResetPersistingL2Cache:999:3", "64"));
    // One that holds the data is, before each of at least 11 samples of each, however long these take.
    assert!(refused(
        &LAB.replace("--time-limit 0.01", "--time-limit 600"),
        "cuCtxResetPersistingL2Cache:999:22",
        "65536"
    ));
}

#[test]
fn a_gpu_without_priorities_in_level_2_has_nothing_to_reset() {
    let not_supported = on_fake_gpu(LAB, "cuCtxResetPersistingL2Cache:801");
    // The lab's results are always wrong.
    assert!(printed(not_supported, 1).contains("padded is wrong"));
}

#[test]
fn errors_of_the_driver_say_what_failed() {
    for (failing, code, parts) in [
        ("cuModuleLoadDataEx:218", 2, &["it.ptx", "the driver rejects it", "218"][..]),
        ("cuMemAlloc_v2:2", 2, &["memory", "Fake GPU", "512 MiB"]),
        ("cuModuleGetFunction:500", 2, &["kernel k", "not in it.ptx"]),
        ("cuMemcpyHtoD_v2:1", 2, &["(1)"]),
        ("cuLaunchKernel:701", 2, &["(701)"]),
        // The next call reports a kernel's fault.
        ("cuStreamSynchronize:700", 1, &["kernel k", "(700)", "--device sim names the line"]),
        ("cuMemcpyDtoH_v2:719", 1, &["kernel k", "(719)"]),
    ] {
        let mut command = on_fake_gpu(RUN, failing);
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
    let functions =
        DRIVER.lines().filter_map(|line| line.strip_prefix("    cu")?.split_once('(')).map(|(name, _)| name);
    let functions: Vec<String> = functions.map(|name| format!("cu{name}")).collect();
    assert!(functions.len() > 30, "{functions:?}");
    for arguments in [RUN, SURFACE, TEXTURE, CLUSTERS, TENSOR, COLUMNS, LAB] {
        let arguments = if arguments == LAB { arguments.to_owned() } else { format!("{arguments} --time-limit 0.001") };
        // How often a function is called decides which of its calls can fail.
        let file = folder().join("calls");
        on_fake_gpu(&arguments, "").env("FAKE_CUDA_CALLS", &file).output().expect("the program runs");
        let calls = std::fs::read_to_string(&file).expect("the driver was loaded");
        std::fs::remove_file(file).expect("the file is removed");
        let called = |function: &str| calls.lines().filter(|call| *call == function).count();
        assert!(functions.iter().filter(|function| called(function) > 0).count() > 10, "{arguments}: {calls}");
        // Out of memory; an illegal address; an unlisted status; and failures of later calls.
        for function in &functions {
            let statuses = [("2", 1), ("700", 1), ("4242", 1), ("999:2", 2), ("999:3", 3)];
            for (status, _) in statuses.into_iter().filter(|&(_, least)| called(function) >= least) {
                let failing = format!("{function}:{status}");
                let run = on_fake_gpu(&arguments, &failing).output().expect("the program runs");
                let error = String::from_utf8_lossy(&run.stderr);
                let code = run.status.code().unwrap_or(-1);
                // The lab's results are always wrong, and a failed free is ignored.
                let is_wrong = String::from_utf8_lossy(&run.stdout).contains("padded is wrong");
                let fine = code == 0 || code == 1 && is_wrong;
                let refused = (1..=2).contains(&code) && error.starts_with("error: ") && error.lines().count() == 1;
                assert!(fine || refused, "{failing}, {arguments}: exit {code}: {error}");
            }
        }
    }
}
