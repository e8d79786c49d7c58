//! The program `coalesce`, as users run it. The program that it runs is this test itself, which
//! then calls the driver's functions by name, as any program does.
#![cfg(target_os = "linux")]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null;

use assert_cmd::Command;
use libloading::Library;
use libloading::os::unix::{Library as UnixLibrary, RTLD_NOW};

const PTX: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry strided(.param .u64 out, .param .u32 n) {
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r5, 32;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
done:
    ret;
}
.visible .entry race(.param .u64 out) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry _Z11lost_updatePj(.param .u64 out) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.relaxed.gpu.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.relaxed.gpu.global.u32 [%rd1], %r1;
    ret;
}
";

/// A kernel that stores past the end, in line 2 of a file.
const WITH_LINES: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry _Z4pastPj(.param .u64 out, .param .u32 n) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    .loc 1 2 5
    st.global.u32 [%rd1+4096], %r1;
    ret;
}
.file 1 \"SCRIPT\"
";

/// With this flag, `dlopen` finds only what is loaded.
const NO_LOAD: c_int = 4;

/// The name of this variable says what the test does as the program that is run.
const ROLE: &str = "COALESCE_PROGRAM_TEST";

/// `coalesce` with these arguments.
fn coalesce(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    command.args(arguments);
    command
}

/// `coalesce run` of this test in a role, with these flags.
fn run(flags: &[&str], role: &str) -> Command {
    let test = std::env::current_exe().expect("a path");
    let mut command = coalesce(&["run"]);
    command.args(flags).arg("--").arg(test).args(["the_program_that_is_run", "--exact", "--nocapture"]);
    command.env(ROLE, role);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Output, messages and exit code.
fn ran(mut command: Command) -> (String, String, i32) {
    let output = command.output().expect("the program runs");
    (text(&output.stdout), text(&output.stderr), output.status.code().expect("a code"))
}

/// What NVRTC makes of a program for `sm_90`: the library is the stand-in, which is loaded with the
/// driver.
fn machine_code() -> Vec<u8> {
    // SAFETY: the signatures are NVRTC's; pointers are to what it says.
    unsafe {
        let library = UnixLibrary::open(Some("libnvrtc.so.12"), NO_LOAD | RTLD_NOW).expect("it is loaded");
        macro_rules! call {
            ($name:literal($($value:expr => $type:ty),*)) => {{
                let function = library.get::<unsafe extern "C" fn($($type),*) -> c_uint>($name.as_bytes());
                assert_eq!(function.expect("the stand-in has the function")($($value),*), 0, $name);
            }};
        }
        let (mut program, mut size, none) = (0usize, 0usize, null::<c_char>());
        call!("nvrtcCreateProgram"(
            &mut program => &mut usize, c"".as_ptr() => *const c_char, none => *const c_char, 0 => c_int,
            none => *const c_char, none => *const c_char
        ));
        let options = [c"-arch=sm_90".as_ptr()];
        call!("nvrtcCompileProgram"(program => usize, 1 => c_int, options.as_ptr() => *const *const c_char));
        call!("nvrtcGetCUBINSize"(program => usize, &mut size => &mut usize));
        let mut code = vec![0u8; size];
        call!("nvrtcGetCUBIN"(program => usize, code.as_mut_ptr() => *mut u8));
        assert!(text(&code).contains("// -arch=compute_90\n"), "{}", text(&code));
        code
    }
}

/// Not a test, unless a test of this file runs it.
#[test]
fn the_program_that_is_run() {
    let Ok(role) = std::env::var(ROLE) else { return };
    if role == "none" {
        return;
    }
    // SAFETY: the signatures are the driver's; pointers are to what it says.
    unsafe {
        let library = Library::new("libcuda.so.1").expect("the driver is found by its name");
        macro_rules! call {
            ($name:literal($($value:expr => $type:ty),*)) => {{
                let function = library.get::<unsafe extern "C" fn($($type),*) -> c_uint>($name.as_bytes());
                function.expect("the driver has the function")($($value),*)
            }};
        }
        let (mut context, mut module, mut function, mut memory): (usize, usize, usize, u64) = (0, 0, 0, 0);
        assert_eq!(call!("cuInit"(0 => c_uint)), 0);
        assert_eq!(call!("cuDevicePrimaryCtxRetain"(&mut context => &mut usize, 0 => c_int)), 0);
        assert_eq!(call!("cuCtxSetCurrent"(context => usize)), 0);
        let image = match std::env::var("COALESCE_PROGRAM_TEST_SCRIPT") {
            Ok(script) => WITH_LINES.replace("SCRIPT", &script).into_bytes(),
            Err(_) if role == "compiler" => machine_code(),
            Err(_) => PTX.as_bytes().to_vec(),
        };
        let image = [image, vec![0]].concat();
        assert_eq!(call!("cuModuleLoadData"(&mut module => &mut usize, image.as_ptr() => *const u8)), 0);
        assert_eq!(call!("cuMemAlloc_v2"(&mut memory => &mut u64, 64 * 32 => usize)), 0);
        let mut launch = |name: &str, blocks: u32, count: u32| {
            let name = CString::new(name).expect("a name");
            let got = call!("cuModuleGetFunction"(&mut function => &mut usize, module => usize, name.as_ptr() => *const c_char));
            assert_eq!(got, 0);
            let arguments: [*const c_void; 2] = [(&raw const memory).cast(), (&raw const count).cast()];
            call!("cuLaunchKernel"(
                function => usize, blocks => c_uint, 1 => c_uint, 1 => c_uint, 32 => c_uint, 1 => c_uint, 1 => c_uint,
                0 => c_uint, 0 => usize, arguments.as_ptr() => *const *const c_void, null() => *const c_void
            ))
        };
        if role == "lines" {
            println!("status: {}", launch("_Z4pastPj", 1, 0));
            return;
        }
        if role == "stand-ins" {
            for name in ["libnvJitLink.so.12", "libnvJitLink.so.13"] {
                let loaded = UnixLibrary::open(Some(name), NO_LOAD | RTLD_NOW).expect("it is loaded");
                assert!(loaded.get::<*const ()>(b"__nvJitLinkCreate_12_9").is_ok(), "{name}");
            }
            println!("both are loaded");
            return;
        }
        if role == "compiler" {
            println!("status: {}", launch("made", 1, 0));
            return;
        }
        if role == "devices" {
            let mut count = 0;
            assert_eq!(call!("cuDeviceGetCount"(&mut count => &mut c_int)), 0);
            println!("devices: {count}");
            return;
        }
        if role == "orders" {
            println!("status: {}", launch("_Z11lost_updatePj", 8, 0));
            let mut held = 0u32;
            assert_eq!(call!("cuMemcpyDtoH_v2"(&mut held => &mut u32, memory => u64, 4 => usize)), 0);
            println!("held: {held}");
            return;
        }
        let past_the_end = if role == "fault" { 96 } else { 64 };
        let status = (launch("strided", 3, past_the_end), launch("strided", 3, 64), launch("race", 1, 0));
        println!("statuses: {status:?}");
        if role == "exits with 3" {
            std::process::exit(3);
        }
    }
}

#[test]
fn accesses_are_drawn() {
    let (drawn, messages, code) = ran(run(&["--picture"], "launches"));
    assert_eq!(code, 0, "{drawn}{messages}");
    // The store of `strided`: 32 bytes from lane to lane, a sector each.
    for part in ["st.global.u32 [%rd3], %r5;", "(block 0, 0, 0, warp 0)", "32 sectors"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let (one, ..) = ran(run(&["--picture", "18"], "launches"));
    assert!(one.contains("32 sectors") && !one.contains("st.global.u32 [%rd1], %r1;"), "{one}");
    let (_, messages, code) = ran(run(&["--picture", "3"], "launches"));
    assert_eq!(code, 2, "{messages}");
    assert!(messages.contains("line 3 makes no access to memory"), "{messages}");
    let (_, messages, code) = ran(run(&["--picture", "--format", "json"], "launches"));
    assert_eq!((code, messages.lines().count()), (2, 1), "{messages}");
}

#[test]
fn each_kernel_is_reported_with_its_counters() {
    let (report, messages, code) = ran(run(&[], "launches"));
    assert_eq!(code, 0, "{report}{messages}");
    for part in [
        "statuses: (0, 0, 0)",
        "3 launches of 2 kernels by ",
        "on the simulator: counts, no times",
        "strided: 3 x 1 x 1 blocks of 32 x 1 x 1 threads (2 times)",
        "race: 1 x 1 x 1 blocks of 32 x 1 x 1 threads (once)",
    ] {
        assert!(report.contains(part), "no '{part}' in: {report}");
    }
    // A sector a thread: 32 sectors a request.
    let row = report.lines().find(|line| line.starts_with("strided ")).expect("a row");
    assert!(row.split_whitespace().any(|cell| cell == "32.0"), "{report}");
}

/// Records that cannot be written are an error, not a report of a part.
#[test]
fn records_on_a_full_disk_are_an_error() {
    let test = std::env::current_exe().expect("a path");
    // The program may write no file, and is not ended for trying.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" the_program_that_is_run --exact --nocapture";
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let mut command = coalesce(&["run", "--report"]);
    command.arg(&page).args(["--", "sh", "-c", script]).arg(test).env(ROLE, "launches");
    let (out, messages, code) = ran(command);
    assert!(out.contains("statuses: (0, 0, 0)") && !out.contains("strided:"), "{out}");
    assert_eq!(code, 2, "{out}{messages}");
    let said: Vec<&str> = messages.lines().collect();
    let [line] = said[..] else { panic!("{messages}") };
    assert!(line.starts_with("error: ") && line.ends_with("name another folder in TMPDIR"), "{line}");
    assert!(line.contains("the records of kernels cannot be written: File too large"), "{line}");
    assert!(!page.exists());
}

/// A wrong command line is one line, with what is similar.
#[test]
fn wrong_command_lines_are_one_line() {
    let (_, messages, code) = ran(coalesce(&["run", "--shedules", "3", "true"]));
    assert_eq!((code, messages.lines().count()), (2, 1), "{messages}");
    assert!(messages.starts_with("error: unexpected argument '--shedules' found; tip: "), "{messages}");
}

#[test]
fn the_report_is_data_for_other_programs() {
    let (out, messages, code) =
        ran(run(&["--format", "json", "--lines", "--predict", "--output", "/dev/stderr"], "launches"));
    assert_eq!(code, 0, "{out}{messages}");
    let json: serde_json::Value = serde_json::from_str(&messages).expect("JSON");
    let kernel = &json["kernels"][0];
    assert_eq!((&kernel["kernel"], &kernel["launches"]), (&"strided".into(), &2.into()));
    assert_eq!(kernel["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], 128);
    assert_eq!(kernel["shapes"][0]["block"], serde_json::json!([32, 1, 1]));
    assert!(kernel["predicted"]["time_ms"].as_f64().is_some_and(|time| (0.001..1.0).contains(&time)), "{kernel}");
    let warm = ["--format", "json", "--predict", "--caches", "warm", "--output", "/dev/stderr"];
    let (_, warm, _) = ran(run(&warm, "launches"));
    let warm: serde_json::Value = serde_json::from_str(&warm).expect("JSON");
    let time = |kernel: &serde_json::Value| kernel["predicted"]["time_ms"].as_f64();
    assert!(time(&warm["kernels"][0]) < time(kernel), "{warm}");
    for (caches, text) in [("cold", ", each cold; nothing"), ("warm", " level-2 cache, if it fits; nothing")] {
        let (table, _, _) = ran(run(&["--predict", "--caches", caches], "launches"));
        let table = table.replace('\n', " ");
        assert!(table.contains("what all launches would take, added up,") && table.contains(text), "{table}");
    }
    let store = kernel["lines"].as_array().and_then(|lines| lines.iter().find(|line| line["requests"] == 4));
    assert!(
        store.is_some_and(|line| line["source"].as_str().is_some_and(|text| text.contains("st.global"))),
        "{kernel}"
    );
    let (csv, _, _) = ran(run(&["--format", "csv", "--only", "race"], "launches"));
    assert!(csv.contains("\nrace,launches,1\n") && !csv.contains("strided,"), "{csv}");
}

#[test]
fn lines_and_a_page_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let (report, messages, code) =
        ran(run(&["--lines", "--hot", "3", "--report", page.to_str().expect("a path")], "launches"));
    assert_eq!(code, 0, "{messages}");
    assert!(report.contains("st.global.u32 [%rd3], %r5;"), "{report}");
    let html = std::fs::read_to_string(page).expect("the page");
    assert!(html.contains("strided") && html.contains("<table") && html.contains("st.global"), "{html}");
}

#[test]
fn a_planted_race_is_found_with_its_line() {
    let (report, messages, code) = ran(run(&["--check", "all"], "launches"));
    assert_eq!(code, 1, "{report}{messages}");
    assert!(messages.contains("race") && messages.contains("st.global.u32 [%rd1], %r1;"), "{messages}");
    assert!(report.contains("The checks found 1 fault in race: see above."), "{report}");
}

#[test]
fn a_fault_stops_is_skipped_or_waits() {
    let (report, messages, code) = ran(run(&[], "fault"));
    assert!(code == 1 && report.contains("statuses: (700, 700, 700)"), "{report}{messages}");
    assert!(report.contains("; stopped: out of bounds") && messages.contains("out of bounds"), "{report}{messages}");
    let (report, messages, code) = ran(run(&["--fault", "continue"], "fault"));
    assert!(code == 1 && report.contains("statuses: (0, 0, 0)"), "{report}{messages}");
    assert!(messages.contains("out of bounds"), "{messages}");
    let (report, _, code) = ran(run(&["--fault", "defer"], "fault"));
    assert!(code == 1 && report.contains("statuses: (0, 0, 0)"), "{report}");
}

#[test]
fn there_are_as_many_devices_as_asked_for() {
    for (list, count) in [("3", 3), ("hopper,ampere", 2)] {
        let (report, messages, code) = ran(run(&["--devices", list], "devices"));
        assert!(code == 0 && report.contains(&format!("devices: {count}\n")), "{report}{messages}");
    }
}

/// Of eight blocks of a warp, each adds 1 in the usual order; the order is said to be of no effect
/// on what the program reads.
#[test]
fn another_result_in_another_order_is_a_fault() {
    let (report, messages, code) = ran(run(&["--schedules", "8", "--seed", "3"], "orders"));
    assert_eq!(code, 1, "{report}{messages}");
    assert!(report.contains("status: 0") && report.contains("held: 8"), "{report}");
    assert!(messages.starts_with("error: kernel `lost_update(unsigned int*)`: "), "{messages}");
    let words = messages.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" of 8 other orders give another result: the word at byte 0 of 2048 bytes"), "{messages}");
    assert!(words.contains(" How it comes about, at byte 0 of 2048 bytes at 0x"), "{messages}");
    assert!(words.contains(" reads ") && words.contains(" over "), "{messages}");
    let order = messages.split("--schedule ").nth(1).and_then(|rest| rest.lines().next()).expect("an order");
    let (report, again, code) = ran(run(&["--schedule", order], "orders"));
    assert!(code == 1 && report.contains("held: 8"), "{report}{again}");
    assert!(again.contains("1 of 1 other order gives another result"), "{again}");
    let (report, messages, code) = ran(run(&["--schedules", "4", "--only", "strided"], "launches"));
    assert_eq!(code, 0, "{report}{messages}");
    assert!(
        report.contains("strided: 8 launches in other orders of blocks and warps gave the same results."),
        "{report}"
    );
}

/// The message of a fault is wrapped, names the kernel as its source does, and quotes the line of a
/// script that the command names.
#[test]
fn a_fault_shows_the_line_of_the_script() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().canonicalize().expect("a path").join("script.py");
    std::fs::write(&script, "def past(out):\n    out[1024] = 1  # too far\n").expect("the script is written");
    for (fault, words) in [("stop", "error: kernel `past(unsigned int*)`: "), ("continue", "fault[memory]: ")] {
        let mut command = run(&["--fault", fault, "--lines"], "lines");
        command.arg(&script).env("COALESCE_PROGRAM_TEST_SCRIPT", &script).env("COLUMNS", "80");
        let (report, messages, code) = ran(command);
        assert_eq!(code, 1, "{report}{messages}");
        assert!(messages.contains(words) && messages.contains("   2 | out[1024] = 1  # too far\n"), "{messages}");
        assert!(messages.lines().all(|line| line.len() <= 80 || line.starts_with("  --> ")), "{messages}");
        assert!(fault == "stop" || report.contains("    out[1024] = 1  # too far"), "{report}");
    }
}

#[test]
fn a_model_counts_its_caches() {
    let (report, messages, code) = ran(run(&["--device", "sim:ampere"], "launches"));
    assert_eq!(code, 0, "{messages}");
    assert!(report.contains("A100"), "{report}");
}

#[test]
fn goals_are_met_or_named_with_their_line() {
    let met =
        ["stores.sectors of strided == 128", "launches == 3", "hopper: predicted.us of race < 1000", "findings == 0"];
    let flags: Vec<&str> = met.iter().flat_map(|goal| ["--require", goal]).collect();
    let (report, messages, code) = ran(run(&flags, "launches"));
    assert_eq!((code, messages.as_str()), (0, ""), "{report}");
    assert!(report.contains("\nGoals:\n   ok   stores.sectors of strided == 128: 128\n"), "{report}");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("goals.toml");
    let goals = "[[goal]]\nthat = \"stores.sectors_per_request of * <= 4\"\nwhy = \"Store neighbours together.\"\n\n\
                 [[goal]]\nthat = \"stores.sectors == stores.bytes / 32\"\n";
    std::fs::write(&file, goals).expect("the goals are written");
    let file = file.to_str().expect("a path");
    let (report, messages, code) = ran(run(&["--goals", file], "launches"));
    assert_eq!((code, messages.as_str()), (1, "error: 2 of 3 goals missed\n"), "{report}");
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("ok stores.sectors_per_request of * <= 4 (race): 1"), "{report}");
    assert!(words.contains("missed stores.sectors_per_request of * <= 4 (strided): 32; "), "{report}");
    assert!(words.contains(":18 has 32. Store neighbours together. "), "{report}");
    assert!(words.contains("missed stores.sectors == stores.bytes / 32: 129, bound 16.12"), "{report}");
    // The access, drawn.
    assert!(words.contains("(block 0, 0, 0, warp 0): ") && words.contains("32 sectors"), "{report}");

    let (report, messages, code) =
        ran(run(&["--goals", file, "--format", "json", "--output", "/dev/null"], "launches"));
    assert_eq!((code, messages.lines().count()), (1, 2), "{report}{messages}");
    assert!(messages.starts_with("error: missed: stores.sectors_per_request of * <= 4 (strided): 32; "), "{messages}");
    let flags = ["--check", "all", "--require", "findings of race == 0", "--format", "json", "--output", "/dev/stderr"];
    let (report, messages, code) = ran(run(&flags, "launches"));
    let json = messages.find("\n{").map(|at| &messages[at..]).unwrap_or_default();
    let mut json = serde_json::Deserializer::from_str(json).into_iter::<serde_json::Value>();
    let json = json.next().and_then(Result::ok).unwrap_or_else(|| panic!("no JSON: {report}{messages}"));
    let goal = serde_json::json!({
        "goal": "findings of race == 0", "kernel": null, "met": false, "value": 1.0, "bound": 0.0, "line": null, "why": null
    });
    assert_eq!((code, &json["goals"][0]), (1, &goal), "{messages}");
    let (csv, _, _) = ran(run(&["--require", "launches of race == 2", "--format", "csv"], "launches"));
    assert!(csv.contains("\n,launches of race == 2,missed\n"), "{csv}");
}

/// A stand-in for `ptxas` says what the real one says.
#[test]
fn registers_are_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let ptxas = place(&folder, "ptxas");
    let script = "#!/bin/sh\ngrep -q strided \"$4\" || exit 1\n\
        echo \"ptxas info    : Compiling entry function 'strided' for 'sm_90'\" >&2\n\
        echo 'ptxas info    : Used 10 registers, used 0 barriers' >&2\n";
    std::fs::write(&ptxas, script).expect("the script is written");
    std::fs::set_permissions(&ptxas, std::fs::Permissions::from_mode(0o755)).expect("it may be run");
    let mut command = run(&["--require", "registers of strided == 10"], "launches");
    command.env("COALESCE_PTXAS", &ptxas);
    let (report, messages, code) = ran(command);
    assert_eq!((code, messages.as_str()), (0, ""), "{report}");
    let mut command = run(&["--require", "registers of race == 10"], "launches");
    command.env("COALESCE_PTXAS", &ptxas);
    let (report, _, code) = ran(command);
    assert!(code == 1 && report.contains("ptxas compiles no such kernel"), "{report}");
}

/// The path of a file in a folder.
fn place(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a path").to_owned()
}

#[test]
fn a_baseline_is_saved_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other, worse] = ["one.json", "other.json", "worse.json"].map(|name| place(&folder, name));
    for file in [&one, &other] {
        let (report, messages, code) = ran(run(&["--save-baseline", file], "launches"));
        assert_eq!((code, messages.as_str()), (0, ""), "{report}");
    }
    let text = std::fs::read_to_string(&one).expect("a baseline");
    // Whatever the process.
    assert_eq!(text, std::fs::read_to_string(&other).expect("a baseline"));
    assert!(
        text.contains("[\"PTX:18\", {\"instructions\": 4, \"stores.requests\": 4, \"stores.sectors\": 128}]"),
        "{text}"
    );
    let (report, messages, code) = ran(run(&["--baseline", &one, "--predict"], "launches"));
    assert_eq!((code, messages.as_str()), (0, ""), "{report}");
    assert!(report.contains("\nBaseline:\n2 kernels compared with "), "{report}");
    // As if the stores had been next to each other.
    std::fs::write(&other, text.replace("\"stores.sectors\": 128", "\"stores.sectors\": 16")).expect("a baseline");
    let (report, messages, code) = ran(run(&["--baseline", &other, "--save-baseline", &worse], "launches"));
    assert_eq!((code, messages), (1, format!("error: 1 counter is worse than in {other}\n")), "{report}");
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("strided stores.sectors 16 128 +700% PTX:18 +112 worse"), "{report}");

    let [page, markdown] = ["page.html", "table.md"].map(|name| place(&folder, name));
    let (table, messages, code) = ran(coalesce(&["compare", &other, &worse, "--markdown", &markdown, "--html", &page]));
    assert_eq!((code, messages), (1, format!("error: 1 counter is worse than in {other}\n")), "{table}");
    assert!(
        table.split_whitespace().collect::<Vec<_>>().join(" ").contains("16 128 +700% PTX:18 +112 worse"),
        "{table}"
    );
    let markdown = std::fs::read_to_string(markdown).expect("the table");
    let row = "| `strided` | stores.sectors | 16 | 128 | +700% | `PTX:18 +112` | worse |\n";
    assert!(markdown.contains(row), "{markdown}");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains("PTX:18 +112") && page.contains("slower"), "{page}");
    let (csv, _, code) = ran(coalesce(&["compare", &worse, &other, "--format", "csv"]));
    assert_eq!((code, csv.lines().nth(1)), (0, Some("strided,stores.sectors,128,16,-88%,PTX:18 -112,better")), "{csv}");
    assert_eq!(ran(coalesce(&["compare", &other, &worse, "--allow", "700%"])).2, 0);

    let (_, messages, code) = ran(coalesce(&["compare", &one, env!("CARGO_BIN_EXE_coalesce")]));
    assert!(code == 2 && messages.lines().count() == 1, "{messages}");
    std::fs::write(&other, text.replace("\"sim\"", "\"sim:fermi\"")).expect("a baseline");
    let (_, messages, code) = ran(coalesce(&["compare", &one, &other]));
    assert_eq!((code, messages.lines().count()), (2, 1), "{messages}");
    assert!(messages.contains("one is of sim, the other of sim:fermi"), "{messages}");
}

/// What a program that failed has counted is no baseline.
#[test]
fn a_failure_leaves_the_baseline() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = place(&folder, "b.json");
    for (role, exit) in [("exits with 3", 3), ("fault", 1)] {
        let (report, messages, code) = ran(run(&["--save-baseline", &file], role));
        assert_eq!(code, exit, "{report}{messages}");
        assert!(
            messages.ends_with(" failed: the baseline is not written\n") && !Path::new(&file).exists(),
            "{messages}"
        );
    }
}

#[test]
fn the_exit_code_is_the_programs() {
    assert_eq!(ran(run(&[], "exits with 3")).2, 3);
    let (report, messages, code) = ran(run(&[], "none"));
    assert!(code == 0 && messages.contains("note: no kernel was launched"), "{report}{messages}");
}

#[test]
fn what_cannot_be_done_is_one_line() {
    let missing = env!("CARGO_TARGET_TMPDIR").to_owned() + "/no/such/folder/page.html";
    for (arguments, part) in [
        (&["run", "--", "no-such-program"][..], "no-such-program cannot be run"),
        (&["run", "--device", "gpu", "--", "true"], "the driver runs on the simulator"),
        (&["run", "--device", "sim:abacus", "--", "true"], "abacus"),
        (&["run", "--require", "sectors < 1", "--", "true"], "unknown metric 'sectors'"),
        (
            &["run", "--require", "occupancy > 1", "--", "true"],
            "--require: occupancy > 1: occupancy is counted on a GPU's",
        ),
        (
            &["run", "--save-baseline", "/dev/null", "--output", "/dev/null", "--", "true"],
            "--save-baseline: --output writes the same file",
        ),
        (&["run", "--baseline", "/dev/zero", "--", "true"], "/dev/zero: "),
        (&["run", "--goals", "no-such.toml", "--", "true"], "no-such.toml: cannot be read: "),
        (&["run", "--goals", ".", "--", "true"], ".: is not a file with goals"),
        (&["run", "--check", "everything", "--", "true"], "everything"),
        (&["run", "--lines", "--format", "csv", "--", "true"], "--format table or json"),
        (&["run", "--schedules", "0", "--", "true"], "--schedules"),
        (&["run", "--cuda", "9.2", "--", "true"], "--cuda: '9.2' is no version of CUDA"),
        (&["run", "--devices", "0", "--", "true"], "--devices: give 1 to 16 devices"),
        (&["run", "--devices", "hopper,abacus", "--", "true"], "there is no GPU 'abacus'"),
        (&["run", "--schedule", "sideways", "--", "true"], "sideways"),
        (&["run", "--schedules", "2", "--schedule", "usual:1", "--", "true"], "--schedule"),
        (&["run", "--report", &missing, "--", "true"], "no/such/folder"),
        (&["run"], "PROGRAM"),
        (&["doctor", "no-such-program"], "no such file"),
    ] {
        let (out, error, code) = ran(coalesce(arguments));
        assert_eq!((code, error.lines().count(), out.as_str()), (2, 1, ""), "{arguments:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains(part), "{arguments:?}: {error}");
    }
    let (_, error, code) = ran({
        let mut command = run(&[], "none");
        command.env("COALESCE_LIBRARY", "/no/such/library");
        command
    });
    assert!(code == 2 && error.contains("libcoalesce_driver.so"), "{error}");
}

/// Whoever looks for nvJitLink finds the stand-in, loaded with the driver.
#[test]
fn libraries_that_stand_in_are_loaded_with_the_driver() {
    let (said, error, code) = ran(run(&[], "stand-ins"));
    assert!(code == 0 && said.contains("both are loaded"), "{said}{error}");
}

/// A program that has machine code made gets PTX.
#[test]
fn machine_code_of_nvrtc_is_ptx() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (folder.path().join("nvrtc.rs"), folder.path().join("libnvrtc.so.12"));
    std::fs::write(&source, include_str!("program/fake_nvrtc.rs")).expect("the source is written");
    let mut compiler = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler.args(["--edition", "2024", "--crate-type", "cdylib", "-C", "link-arg=-Wl,-soname,libnvrtc.so.12", "-o"]);
    compiler.arg(&library).arg(&source).assert().success();
    let (out, messages, code) = ran({
        let mut command = run(&[], "compiler");
        command.env("LD_LIBRARY_PATH", folder.path());
        command
    });
    assert_eq!(code, 0, "{out}{messages}");
    assert!(out.contains("status: 0") && out.contains("made: 1 x 1 x 1 blocks"), "{out}{messages}");
}

#[test]
fn the_variables_suit_a_shell_and_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().canonicalize().expect("a path");
    let place = place.to_str().expect("a path");
    let (shell, _, code) = ran(coalesce(&["env", "--folder", place]));
    assert!(code == 0 && shell.starts_with(&format!("export LD_LIBRARY_PATH='{place}'${{")), "{shell}");
    // Linkers look there, too.
    let linked = format!("export LIBRARY_PATH='{place}'${{LIBRARY_PATH:+:$LIBRARY_PATH}}\n");
    assert!(shell.contains(&linked), "{shell}");
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = std::fs::read_link(Path::new(place).join(name)).expect("a link");
        assert!(link.is_file(), "{link:?}");
    }
    let (docker, ..) = ran(coalesce(&["env", "--folder", place, "--for", "docker"]));
    assert!(
        docker.starts_with(&format!("ENV LD_LIBRARY_PATH=\"{place}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n")),
        "{docker}"
    );
    let (github, ..) = ran(coalesce(&["env", "--folder", place, "--for", "github"]));
    assert!(github.starts_with(&format!("LD_LIBRARY_PATH={place}")), "{github}");
}

#[test]
fn a_doctor_says_what_is_in_the_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file is written");
        path.to_str().expect("a path").to_owned()
    };
    let (said, _, code) = ran(coalesce(&["doctor", &file("a.py", "from numba import cuda\n")]));
    assert!(code == 0 && said.contains("/a.py: numba-cuda runs"), "{said}");
    assert!(said.contains("\nRun it: coalesce run -- python ") && said.ends_with("/a.py\n"), "{said}");
    let (said, _, code) = ran(coalesce(&["doctor", &file("b.py", "import torch\n")]));
    assert!(code == 1 && said.contains("/b.py: torch has NVIDIA's"), "{said}");
    // A command, and one of cargo in a package.
    let (said, _, code) = ran(coalesce(&["doctor", "true", &file("c.py", "import triton\n"), "--size", "3"]));
    assert!(code == 0 && said.contains("/c.py: Triton runs") && !said.contains("true: "), "{said}");
    assert!(said.contains("\nRun it: coalesce run -- true ") && said.ends_with("/c.py --size 3\n"), "{said}");
    let manifest = file("Cargo.toml", "[dependencies]\ncust = \"0.3.2\"\n");
    let mut cargo = coalesce(&["doctor", "cargo", "run", "--release"]);
    cargo.current_dir(folder.path());
    for command in [cargo, coalesce(&["doctor", &manifest])] {
        let (said, _, code) = ran(command);
        assert!(code == 1 && said.contains("Cargo.toml: cust asks for the CUDA toolkit"), "{said}");
    }
    // A package of a workspace, whose manifest is above.
    let member = folder.path().join("member");
    std::fs::create_dir(&member).expect("the folder is made");
    file("Cargo.toml", "[workspace]\nmembers = [\"member\"]\n[workspace.dependencies]\nrustacuda = \"0.1\"\n");
    let manifest = file("member/Cargo.toml", "[package]\n[dependencies]\nrustacuda.workspace = true\n");
    let (said, _, code) = ran(coalesce(&["doctor", &manifest]));
    assert!(code == 0 && said.contains("member/Cargo.toml: rustacuda runs"), "{said}");
    assert!(said.contains("\nRun it: coalesce run -- cargo run --manifest-path "), "{said}");
    let (said, _, code) = ran(coalesce(&["doctor", "true"]));
    assert!(code == 0 && said.contains("names no part of CUDA"), "{said}");
}

/// The stand-in for `ptxas` writes what the driver loads, and says what is wrong with PTX.
#[test]
fn the_stand_in_for_ptxas_checks_and_wraps() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("k.ptx"), folder.path().join("k.o"));
    let ptxas = |text: &str| {
        std::fs::write(&input, text).expect("the file is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-ptxas"));
        command.args(["-lineinfo", "-v", "--gpu-name", "sm_90a"]).arg(&input).arg("-o").arg(&output);
        ran(command)
    };
    assert_eq!(ptxas(PTX).2, 0);
    let made = std::fs::read(&output).expect("the output");
    assert_eq!(coalesce_driver::image::ptx_of(&made).ok().as_deref(), Some(PTX));
    let (_, error, code) = ptxas(&PTX.replace("mov.u32", "mav.u32"));
    assert!(code == 1 && error.starts_with("ptxas fatal   : ") && error.contains("mav.u32"), "{error}");
}
