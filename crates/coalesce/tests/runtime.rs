//! The runtime library (cudart), as a program of nvcc meets it under `coalesce run`. The program is
//! this test itself, which finds the library by its name and calls it as nvcc's code does.
#![cfg(target_os = "linux")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null;

use assert_cmd::Command;
use libloading::os::unix::Library;

/// Each thread stores its number, scaled, and counts.
const PTX: &str = "\
.version 7.8
.target sm_75
.address_size 64
.const .align 4 .b8 by[8];
.global .align 4 .u32 count;
.visible .global .attribute(.managed) .align 4 .u32 both = 7;
.visible .entry _Z5scalePii(.param .u64 out, .param .u32 n) {
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    ld.const.u32 %r6, [by+4];
    mul.lo.u32 %r7, %r5, %r6;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    red.global.add.u32 [count], 1;
    red.global.add.u32 [both], 1;
done:
    ret;
}
";

/// The wrapper of a fat binary in nvcc's code.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    image: *const u8,
    rest: *const u8,
}

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Dim3(c_uint, c_uint, c_uint);

/// `cudaIpcMemHandle_t` and `cudaIpcEventHandle_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Ipc([u64; 8]);

/// The host's function and variables that stand for the device's.
extern "C" fn scale() {}
static BY: u64 = 0;
static COUNT: u32 = 0;

const ROLE: &str = "COALESCE_RUNTIME_TEST";

/// How many threads store.
const THREADS: &str = "COALESCE_RUNTIME_THREADS";

/// Output, messages and exit code of this test under `coalesce run`, with this library's name. The
/// memory is for 100 threads.
fn ran(library: &str, flags: &[&str], threads: u32) -> (String, String, i32) {
    let test = std::env::current_exe().expect("a path");
    let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    command.arg("run").args(flags).arg("--").arg(test).args(["the_program_that_is_run", "--exact", "--nocapture"]);
    let output = command.env(ROLE, library).env(THREADS, threads.to_string()).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code().expect("a code"))
}

#[test]
fn programs_of_nvcc_run() {
    for library in ["libcudart.so.12", "libcudart.so.13"] {
        let (report, messages, code) = ran(library, &[], 100);
        assert_eq!((code, messages.as_str()), (0, ""), "{report}{messages}");
        assert!(report.contains("the runtime library works"), "{report}");
        assert!(report.contains("scale: 4 x 1 x 1 blocks of 32 x 1 x 1 threads (once)"), "{report}");
    }
}

#[test]
fn a_fault_has_the_status_of_a_gpu() {
    // At once, or when the host waits.
    for (fault, statuses) in [("stop", "700 700"), ("defer", "0 700")] {
        let (report, messages, code) = ran("libcudart.so.13", &["--fault", fault], 101);
        assert!(code != 0 && messages.contains("kernel `scale(int*, int)`: "), "{report}{messages}");
        assert!(report.contains(&format!("statuses: {statuses}")), "{fault}: {report}{messages}");
    }
}

/// A program that a linker made asks for functions of a version, which its loader wants to see.
/// NVIDIA's library is only linked against; here a library of its name and version.
#[test]
fn the_loader_finds_the_version_that_programs_ask_for() {
    const PROGRAM: &str = "extern int cudaGetDeviceCount(int *);\nint main(void) {\n    int count = 0;\n    \
                           return cudaGetDeviceCount(&count) == 0 && count == 1 ? 0 : 1;\n}\n";
    for name in ["libcudart.so.12", "libcudart.so.13"] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("the file is written");
            path
        };
        let versions = file("versions", &format!("{name} {{ global: cudaGetDeviceCount; local: *; }};\n"));
        let stub = file("stub.c", "int cudaGetDeviceCount(int *count) { return 1; }\n");
        let (library, program) = (folder.path().join(name), folder.path().join("program"));
        let compiled = |command: &mut Command| {
            let output = command.output().expect("the C compiler runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let script = format!("-Wl,--version-script={}", versions.display());
        let soname = format!("-Wl,-soname,{name}");
        compiled(Command::new("cc").args(["-shared", "-fPIC", &script, &soname, "-o"]).arg(&library).arg(&stub));
        compiled(Command::new("cc").arg(file("program.c", PROGRAM)).arg(&library).arg("-o").arg(&program));
        let output = Command::new(env!("CARGO_BIN_EXE_coalesce")).args(["run", "--"]).arg(&program).output();
        let output = output.expect("the program runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{messages}");
        assert!(!messages.contains("no version information"), "{messages}");
    }
}

/// Not a test, unless a test of this file runs it.
#[test]
#[expect(clippy::too_many_lines, reason = "one table, or one story")]
fn the_program_that_is_run() {
    let Ok(name) = std::env::var(ROLE) else { return };
    // SAFETY: the signatures are the runtime library's; pointers are to what it says.
    unsafe {
        let library = Library::new(&name).expect("the runtime library is found by its name");
        macro_rules! call {
            ($name:literal($($value:expr => $type:ty),*)) => { call!($name($($value => $type),*) -> c_uint) };
            ($name:literal($($value:expr => $type:ty),*) -> $result:ty) => {{
                let function = library.get::<unsafe extern "C" fn($($type),*) -> $result>($name.as_bytes());
                function.expect("the library has the function")($($value),*)
            }};
        }
        // What nvcc's code does before `main`.
        let image = coalesce_driver::image::wrap(PTX);
        let wrapper = Wrapper { magic: 0x4662_43b1, version: 1, image: image.as_ptr(), rest: null() };
        let mut both: *mut u32 = std::ptr::null_mut();
        let host = scale as *const c_void;
        let handle = call!("__cudaRegisterFatBinary"(&wrapper => &Wrapper) -> usize);
        call!("__cudaRegisterFunction"(
            handle => usize, host => *const c_void, null() => *const c_char, c"_Z5scalePii".as_ptr() => *const c_char
        ) -> ());
        for (variable, name) in [((&raw const BY).cast(), c"by"), ((&raw const COUNT).cast(), c"count")] {
            call!("__cudaRegisterVar"(
                handle => usize, variable => *const c_void, null() => *const c_char, name.as_ptr() => *const c_char
            ) -> ());
        }
        call!("__cudaRegisterManagedVar"(
            handle => usize, &mut both => &mut *mut u32, null() => *const c_char, c"both".as_ptr() => *const c_char
        ) -> ());
        call!("__cudaRegisterFatBinaryEnd"(handle => usize) -> ());
        assert_eq!(call!("__cudaInitModule"(handle => usize) -> c_char), 1);
        assert_eq!(*both, 7);
        *both = 100;

        // The program: a launch, and what it leaves.
        const N: usize = 100;
        let mut memory = 0u64;
        assert_eq!(call!("cudaMalloc"(&mut memory => &mut u64, 4 * N => usize)), 0);
        let symbol = (&raw const BY).cast::<c_void>();
        let by = 3u32;
        let copied = call!("cudaMemcpyToSymbol"(
            symbol => *const c_void, &by => &u32, 4 => usize, 4 => usize, 1 => c_int
        ));
        assert_eq!(copied, 0);
        let past =
            call!("cudaMemcpyToSymbol"(symbol => *const c_void, &by => &u32, 4 => usize, 8 => usize, 1 => c_int));
        assert_eq!((past, call!("cudaGetLastError"()), call!("cudaGetLastError"())), (1, 1, 0));
        let (grid, block) = (Dim3(4, 1, 1), Dim3(32, 1, 1));
        let pushed = call!("__cudaPushCallConfiguration"(grid => Dim3, block => Dim3, 0 => usize, 0 => usize));
        assert_eq!(pushed, 0);
        let (mut got, mut of, mut shared, mut stream) = (Dim3(0, 0, 0), Dim3(0, 0, 0), 9usize, 9usize);
        macro_rules! pop {
            () => {
                call!("__cudaPopCallConfiguration"(
                    &mut got => &mut Dim3, &mut of => &mut Dim3, &mut shared => &mut usize, &mut stream => &mut usize
                ))
            };
        }
        assert_eq!((pop!(), got.0, of.0, shared, stream), (0, 4, 32, 0, 0));
        assert_eq!((pop!(), call!("cudaGetLastError"())), (52, 52));
        let n: u32 = std::env::var(THREADS).expect("a number").parse().expect("a number");
        let arguments: [*const c_void; 2] = [(&raw const memory).cast(), (&raw const n).cast()];
        let mut kernel = null();
        assert_eq!(call!("__cudaGetKernel"(&mut kernel => &mut *const c_void, host => *const c_void)), 0);
        let launched = call!("__cudaLaunchKernel"(
            kernel => *const c_void, got => Dim3, of => Dim3, arguments.as_ptr() => *const *const c_void, 0 => usize,
            0 => usize
        ));
        let waited = call!("cudaDeviceSynchronize"());
        if n as usize > N {
            println!("statuses: {launched} {waited}");
            assert_eq!(call!("cudaGetLastError"()), 700);
            let error = CStr::from_ptr(call!("cudaGetErrorName"(waited => c_uint) -> *const c_char));
            assert_eq!(error, c"cudaErrorIllegalAddress");
            std::process::exit(3);
        }
        assert_eq!((launched, waited), (0, 0));
        let mut left = [0u32; N];
        assert_eq!(call!("cudaMemcpy"(&mut left => &mut [u32; N], memory => u64, 4 * N => usize, 2 => c_int)), 0);
        assert!(left.iter().enumerate().all(|(index, &value)| value == 3 * index as u32));
        let (mut count, symbol) = (0u32, (&raw const COUNT).cast::<c_void>());
        let copied = call!("cudaMemcpyFromSymbol"(
            &mut count => &mut u32, symbol => *const c_void, 4 => usize, 0 => usize, 2 => c_int
        ));
        assert_eq!((copied, count, *both), (0, N as u32, 100 + N as u32));

        // Programs whose default stream is the thread's own call other names: it can be captured.
        let mut graph = 0usize;
        assert_eq!(call!("cudaStreamBeginCapture"(0 => usize, 0 => c_uint)), 900);
        assert_eq!(call!("cudaStreamBeginCapture_ptsz"(0 => usize, 0 => c_uint)), 0);
        let filled = call!("cudaMemsetAsync_ptsz"(memory => u64, 1 => c_int, 4 => usize, 0 => usize));
        assert_eq!((filled, call!("cudaStreamEndCapture_ptsz"(0 => usize, &mut graph => &mut usize))), (0, 0));
        let copied = call!("cudaMemcpy_ptds"(&mut left => &mut [u32; N], memory => u64, 4 => usize, 2 => c_int));
        assert_eq!((copied, left[0], call!("cudaGetLastError"())), (0, 0, 900));

        // What other processes can open: memory only they, events this one, too.
        let (mut event, mut opened, mut shared) = (0usize, 0usize, Ipc([0; 8]));
        assert_eq!(call!("cudaIpcGetMemHandle"(&mut shared => &mut Ipc, memory => u64)), 0);
        assert_eq!(call!("cudaIpcOpenMemHandle"(&mut 0 => &mut u64, shared => Ipc, 1 => c_uint)), 1);
        assert_eq!(call!("cudaIpcCloseMemHandle"(memory => u64)), 1);
        assert_eq!(call!("cudaEventCreateWithFlags"(&mut event => &mut usize, 6 => c_uint)), 0);
        assert_eq!(call!("cudaIpcGetEventHandle"(&mut shared => &mut Ipc, event => usize)), 0);
        assert_eq!(call!("cudaIpcOpenEventHandle"(&mut opened => &mut usize, shared => Ipc)), 0);
        assert_eq!(
            (call!("cudaEventRecord"(event => usize, 0 => usize)), call!("cudaEventQuery"(opened => usize))),
            (0, 0)
        );

        // What is wrong has its number, and a name.
        let nobody = call!("cudaLaunchKernel"(
            symbol => *const c_void, grid => Dim3, block => Dim3, null() => *const *const c_void, 0 => usize, 0 => usize
        ));
        assert_eq!((nobody, call!("cudaPeekAtLastError"())), (98, 98));
        let error = CStr::from_ptr(call!("cudaGetErrorName"(nobody => c_uint) -> *const c_char));
        assert_eq!(error, c"cudaErrorInvalidDeviceFunction");
        let error = CStr::from_ptr(call!("cudaGetErrorString"(12345 => c_uint) -> *const c_char));
        assert_eq!(error, c"unrecognized error code");
        let mut properties = [0u8; 1032];
        for (function, at) in [("cudaGetDeviceProperties", 384), ("cudaGetDeviceProperties_v2", 388)] {
            let function = library
                .get::<unsafe extern "C" fn(*mut u8, c_int) -> c_uint>(function.as_bytes())
                .expect("the library has the function");
            assert_eq!((function(properties.as_mut_ptr(), 0), function(properties.as_mut_ptr(), 7)), (0, 101));
            assert!(properties.starts_with(b"Coalesce simulator of H200"));
            assert_eq!(properties[at..at + 4], 132u32.to_le_bytes());
        }
        assert_eq!((call!("cudaFree"(memory => u64)), call!("cudaFree"(memory => u64))), (0, 1));
        call!("__cudaUnregisterFatBinary"(handle => usize) -> ());
        println!("the runtime library works");
    }
}
