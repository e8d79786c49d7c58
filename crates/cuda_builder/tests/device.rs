//! Tests that compile crates of kernels. They need the device compiler, and are skipped without it unless
//! `COALESCE_REQUIRE_DEVICE_COMPILER` is 1, as in continuous integration.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CheckError, CudaBuilder, CudaBuilderError, DebugInfo, NvvmArch, SourceDigest, digest_of_crate};

/// The beginning of every crate: as much of a device library as these tests need.
const PRELUDE: &str = r#"
#![no_std]
#![feature(abi_ptx, link_llvm_intrinsics)]
#![allow(internal_features)]
use core::{cell::UnsafeCell, mem::MaybeUninit};

#[repr(transparent)]
pub struct Cell<T>(UnsafeCell<MaybeUninit<T>>);
unsafe impl<T> Sync for Cell<T> {}
impl<T> Cell<T> {
    const fn uninit() -> Self { Self(UnsafeCell::new(MaybeUninit::uninit())) }
    const fn get(&self) -> *mut T { self.0.get().cast() }
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"] safe fn tid_x() -> i32;
    #[link_name = "llvm.sqrt.f32"] safe fn square_root(x: f32) -> f32;
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"] safe fn sync(barrier: i32);
    static __coalesce_dynamic_shared: [u8; 0];
}
fn lane() -> usize { tid_x() as usize }

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
"#;

/// A tile in static and one in dynamic shared memory, a constant, launch bounds, and a function that is not inlined.
const SAMPLE: &str = r#"
#[unsafe(link_section = ".shared")]
static TILE: Cell<[[f32; 33]; 32]> = Cell::uninit();

#[unsafe(no_mangle)]
#[unsafe(link_section = ".constant")]
static COEFFICIENTS: Cell<[f32; 4]> = Cell(UnsafeCell::new(MaybeUninit::new([1.0, 2.0, 3.0, 4.0])));

#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".launch_bounds")]
static __coalesce_launch_bounds__32_8_1_2__turn: u8 = 0;

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn turn(input: *const f32, output: *mut f32) {
    let (x, y) = (lane() % 32, lane() / 32);
    unsafe {
        (*TILE.get())[y][x] = *input.add(lane());
        sync(0);
        *output.add(lane()) = (*TILE.get())[x][y] * (*COEFFICIENTS.get())[x % 4];
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn reverse(data: *mut f32, count: usize) {
    #[unsafe(link_section = ".shared")]
    static BUFFER: Cell<[f32; 64]> = Cell::uninit();
    let dynamic = (&raw const __coalesce_dynamic_shared) as *mut f32;
    unsafe {
        (*BUFFER.get())[lane()] = *data.add(lane());
        *dynamic.add(lane()) = slow(*data.add(lane()), count);
        sync(0);
        *data.add(lane()) = (*BUFFER.get())[63 - lane()] + *dynamic.add(lane() ^ 1);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn arithmetic(data: *mut f32, count: i32) {
    unsafe {
        *data = square_root(*data / *data.add(1));
        *data.add(2) = (count + 1) as f32;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn between(data: *mut f32, count: usize) {
    unsafe {
        if lane() < count { *data.add(lane()) = 1.0; }
        wait();
        if lane() < count { *data.add(lane()) += *data.add(count - lane()); }
    }
}

fn wait() { sync(0); }

#[inline(never)]
fn slow(x: f32, count: usize) -> f32 {
    let mut sum = x;
    for i in 0..count { sum = sum * x + i as f32; }
    sum
}
"#;

/// A pointer that sometimes points to shared memory and sometimes to global memory.
const MIXED: &str = r#"
#[unsafe(link_section = ".shared")]
static TILE: Cell<[f32; 64]> = Cell::uninit();

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn store(global: *mut f32, which: bool) {
    let target = if which { TILE.get().cast() } else { global };
    unsafe { *target.add(lane()) = 3.0 };
}
"#;

/// A function that takes such pointers and is not inlined.
const ESCAPING: &str = r#"
#[unsafe(link_section = ".shared")]
static TILE: Cell<[f32; 64]> = Cell::uninit();

#[inline(never)]
unsafe fn add(to: *mut f32, from: *mut f32) {
    for i in 0..lane() {
        unsafe { *to.add(i) += *from.add(i) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn outer(global: *mut f32) {
    unsafe {
        add(TILE.get().cast(), global);
        add(global, TILE.get().cast());
    }
}
"#;

/// A shared variable with a value.
const INITIALISED: &str = r#"
#[unsafe(link_section = ".shared")]
static COUNT: Cell<u32> = Cell(UnsafeCell::new(MaybeUninit::new(7)));

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn count(out: *mut u32) {
    unsafe { *out = *COUNT.get() };
}
"#;

/// Shared memory that a kernel reads and nothing writes, beside some that is only declared or only written.
const UNWRITTEN: &str = r#"
#[unsafe(link_section = ".shared")]
static TILE: Cell<[f32; 64]> = Cell::uninit();
#[unsafe(link_section = ".shared")]
static DECLARED: Cell<[f32; 64]> = Cell::uninit();

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn neighbours(output: *mut f32) {
    unsafe {
        sync(0);
        let sum = (*TILE.get())[lane()] + (*TILE.get())[lane() ^ 1];
        if sum > 1.0 { *output.add(lane()) = sum; }
    }
}
"#;

/// Shared memory that is declared and not used, or only written, or used where no thread comes.
const HARMLESS: &str = r#"
#[unsafe(link_section = ".shared")]
static DECLARED: Cell<[f32; 64]> = Cell::uninit();

fn stage<const USED: bool>(data: *mut f32) {
    #[unsafe(link_section = ".shared")]
    static STAGE: Cell<[f32; 64]> = Cell::uninit();
    #[unsafe(link_section = ".shared")]
    static WRITTEN: Cell<[f32; 64]> = Cell::uninit();
    unsafe {
        (*WRITTEN.get())[lane()] = *data;
        let _address = DECLARED.get();
        if USED { *data = (*STAGE.get())[lane()]; }
        *data += 1.0;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn harmless(data: *mut f32) { stage::<false>(data) }

/// Every thread writes the same value, which LLVM may know.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn flag(data: *mut f32) {
    #[unsafe(link_section = ".shared")]
    static FLAG: Cell<u32> = Cell::uninit();
    unsafe {
        *FLAG.get() = 1;
        sync(0);
        if *FLAG.get() == 1 { *data = 1.0; }
    }
}
"#;

/// In edition 2021: a static that speaks of another kernel as `#[kernel(allow(divergent_barrier))]` does, without
/// `unsafe`.
const FORGED: &str = r#"
#[unsafe(no_mangle)]
pub extern "ptx-kernel" fn halves() {
    if lane() < 5 { sync(0); }
}

#[used]
#[no_mangle]
#[link_section = ".launch_bounds"]
static __coalesce_divergent__allow__halves: u8 = 0;
"#;

static COMPILER: LazyLock<Option<DeviceCompiler>> = LazyLock::new(|| match DeviceCompiler::find() {
    Ok(compiler) => Some(compiler),
    Err(error) if std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1") => {
        panic!("the compiler for devices is required here: {error}")
    }
    Err(_) => None,
});

/// The folder in which all crates of kernels are built, so that `core` is compiled once.
fn target_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("cuda-builder")
}

/// A kernel with the name of the function by which rustc compares bytes, and its signature as `#[kernel]` writes it.
const CALLED: &str = r#"
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".signature")]
#[allow(non_upper_case_globals)]
static __coalesce_signature__memcmp: [u8; 4] = *b"safe";

#[unsafe(no_mangle)]
pub extern "ptx-kernel" fn memcmp(a: &[u8; 0], length: usize) {}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn compare(a: *const u8, b: *const u8, n: usize, out: *mut bool) {
    unsafe { *out = core::slice::from_raw_parts(a, n) == core::slice::from_raw_parts(b, n) }
}
"#;

/// The crates of these tests, each with a name and the source of its kernels. Those of edition 2021 say so.
const CRATES: &[(&str, &str)] = &[
    ("sample", SAMPLE),
    ("mixed", MIXED),
    ("escaping", ESCAPING),
    ("wrong", "#[unsafe(no_mangle)]\npub extern \"ptx-kernel\" fn wrong() { let x: u32 = \"text\"; }\n"),
    ("initialised", INITIALISED),
    ("empty", ""),
    ("unwritten", UNWRITTEN),
    ("harmless", HARMLESS),
    ("forged_2021", FORGED),
    ("called", CALLED),
];

/// The workspace that the tests share.
static SHARED: LazyLock<Workspace> =
    LazyLock::new(|| Workspace::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates")));

/// A workspace of these crates.
struct Workspace {
    root: PathBuf,
}

impl Workspace {
    fn new(root: PathBuf) -> Self {
        let members: Vec<_> = CRATES.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let manifest = format!("[workspace]\nmembers = [{}]\nresolver = \"3\"\n", members.join(", "));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("Cargo.toml"), manifest).unwrap();
        for (name, source) in CRATES {
            let folder = root.join(name);
            fs::create_dir_all(folder.join("src")).unwrap();
            let edition = if name.ends_with("_2021") { "2021" } else { "2024" };
            let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n");
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            fs::write(folder.join("src/lib.rs"), format!("{PRELUDE}{source}")).unwrap();
        }
        Workspace { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn builder(&self, name: &str) -> CudaBuilder {
        CudaBuilder::new(self.path(name)).target_dir(target_dir())
    }

    /// The error of building a crate, which must write nothing.
    fn refusal(&self, name: &str) -> CudaBuilderError {
        let out = tempfile::tempdir().unwrap();
        let ptx = out.path().join("k.ptx");
        let error = self.builder(name).copy_to(&ptx).build().unwrap_err();
        assert!(!ptx.exists(), "{name}");
        error
    }

    /// The number of the first line of a crate's source with `text`.
    fn line_of(&self, name: &str, text: &str) -> usize {
        let source = fs::read_to_string(self.path(name).join("src/lib.rs")).unwrap();
        1 + source.lines().position(|line| line.contains(text)).unwrap()
    }
}

/// The text of one kernel.
fn body_of<'a>(kernel: &str, ptx: &'a str) -> &'a str {
    let (_, rest) = ptx.split_once(&format!(".entry {kernel}(")).unwrap();
    rest.split("\n}\n").next().unwrap()
}

#[test]
fn kernels_become_ptx() {
    let Some(compiler) = COMPILER.as_ref() else { return };
    let workspace = &*SHARED;
    let ptx = fs::read_to_string(workspace.builder("sample").build().unwrap()).unwrap();

    let digest = digest_of_crate(workspace.path("sample")).unwrap();
    let mut lines = ptx.lines();
    assert_eq!(lines.next().unwrap(), format!("// coalesce: sources xxh3 {digest}"));
    assert_eq!(lines.next().unwrap(), format!("// coalesce: made by {compiler} for sm_75"));
    assert_eq!(SourceDigest::in_ptx(&ptx), Some(digest));

    let line = workspace.line_of("sample", "(*TILE.get())[y][x] =");
    for expected in [
        ".target sm_75",
        ".shared .align 4 .b8 sample__TILE[4224];",
        ".shared .align 4 .b8 sample__reverse__BUFFER[256];",
        ".extern .shared .align 16 .b8 __coalesce_dynamic_shared[];",
        ".visible .const .align 4 .b8 COEFFICIENTS[16] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64};",
        ".maxntid 32, 8, 1\n.minnctapersm 2\n{",
        ".visible .entry turn(",
        "st.shared.b32",
        "ld.shared.b32",
        "ld.const.b32",
        "bar.sync \t0;",
        ".file\t1 \"sample/src/lib.rs\"",
        &format!(".loc\t1 {line} "),
    ] {
        assert!(ptx.contains(expected), "{expected:?} is not in:\n{ptx}");
    }
    for of_machine in [workspace.root.as_path(), &target_dir(), &compiler.sources] {
        assert!(!ptx.contains(&of_machine.display().to_string()), "{} is in:\n{ptx}", of_machine.display());
    }
    // Arithmetic is Rust's: each operation rounds once, and overflow wraps in release builds.
    for absent in ["cvta.shared", "fma.", ".ftz", "approx"] {
        assert!(!ptx.contains(absent), "{absent:?} is in:\n{ptx}");
    }
    assert!(!body_of("arithmetic", &ptx).contains("trap;"), "{ptx}");
    // One barrier in the source is one in the PTX, outside the branches.
    assert_eq!(body_of("between", &ptx).matches("bar.sync").count(), 1, "{ptx}");
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn kernels_are_compiled_for_other_architectures_with_other_options_and_elsewhere() {
    if COMPILER.is_none() {
        return;
    }
    let workspace = &*SHARED;
    let scratch = tempfile::tempdir().unwrap();
    let ptx = fs::read_to_string(workspace.builder("sample").build().unwrap()).unwrap();
    // Another architecture in the same folder, and other options.
    let hopper = workspace
        .builder("sample")
        .arch(NvvmArch::Compute90)
        .debug(DebugInfo::None)
        .release(false)
        .ftz(true)
        .fast_div(true)
        .fast_sqrt(true)
        .fma_contraction(true)
        .emit_llvm_to(scratch.path())
        .final_module_path(scratch.path().join("final.ll"))
        .build()
        .unwrap();
    let hopper = fs::read_to_string(hopper).unwrap();
    for expected in [".target sm_90", "fma.rn.ftz.f32", "div.approx.ftz.f32", "sqrt.approx.ftz.f32"] {
        assert!(hopper.contains(expected), "{expected:?} is not in:\n{hopper}");
    }
    assert!(body_of("arithmetic", &hopper).contains("trap;"), "{hopper}");
    assert!(!hopper.contains(".loc\t"), "{hopper}");
    for step in ["1-rustc", "2-rewritten", "3-optimised"] {
        assert!(scratch.path().join(format!("sample.sm_90.{step}.ll")).is_file(), "{step}");
    }
    assert!(fs::read_to_string(scratch.path().join("final.ll")).unwrap().contains("@sample__TILE"));

    // The same sources in another folder make the same bytes.
    let elsewhere = Workspace::new(scratch.path().join("else/where"));
    let copy = scratch.path().join("out/copy.ptx");
    let again = elsewhere.builder("sample").copy_to(&copy).build().unwrap();
    assert_eq!(again, copy);
    assert_eq!(fs::read_to_string(again).unwrap(), ptx);
}

#[test]
fn what_cannot_become_ptx_is_refused() {
    if COMPILER.is_none() {
        return;
    }
    let workspace = &*SHARED;

    let error = workspace.refusal("mixed");
    assert!(matches!(error, CudaBuilderError::Check(CheckError::GenericAccess { .. })), "{error}");
    let line = workspace.line_of("mixed", "= 3.0");
    let expected =
        format!("mixed/src/lib.rs:{line}: kernel `store` reaches shared variable `mixed::TILE` through a generic");
    assert!(error.to_string().starts_with(&expected), "{error}");

    let error = workspace.refusal("escaping");
    assert!(matches!(error, CudaBuilderError::Check(CheckError::AddressEscapes { .. })), "{error}");

    let error = workspace.refusal("wrong").to_string();
    assert!(
        error.starts_with("the kernels of `wrong` do not compile for sm_75; correct this:\nerror[E0308]"),
        "{error}"
    );
    assert!(error.contains("expected `u32`, found `&str`"), "{error}");

    let error = workspace.builder("sample").build_args(&["--features", "none"]).build().unwrap_err().to_string();
    assert!(
        error.starts_with("cargo failed: error: the package 'sample' does not contain this feature: none"),
        "{error}"
    );

    let error = workspace.refusal("initialised").to_string();
    assert!(error.starts_with("shared variable `initialised::COUNT` has an initial value"), "{error}");

    let error = workspace.refusal("unwritten");
    assert!(matches!(error, CudaBuilderError::Check(CheckError::NeverWritten { .. })), "{error}");
    let line = workspace.line_of("unwritten", "let sum =");
    let expected = format!(
        "unwritten/src/lib.rs:{line}: kernel `neighbours` reads shared variable `unwritten::TILE`, which no kernel writes"
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
    let ptx = fs::read_to_string(workspace.builder("harmless").build().unwrap()).unwrap();
    assert!(body_of("harmless", &ptx).contains("st.global"), "{ptx}");
    assert!(!ptx.contains("DECLARED") && body_of("flag", &ptx).contains("bar.sync"), "{ptx}");

    let error = workspace.refusal("forged_2021").to_string();
    for attribute in ["no_mangle", "link_section"] {
        let line = workspace.line_of("forged_2021", &format!("#[{attribute}"));
        assert!(error.contains(&format!("forged_2021/src/lib.rs:{line}:")), "{error}");
    }
    assert_eq!(error.matches("unsafe attribute used without unsafe").count(), 2, "{error}");

    let error = workspace.refusal("called").to_string();
    assert!(
        error.ends_with("` calls the function `memcmp`, whose name a kernel has taken: give the kernel another name"),
        "{error}"
    );

    let error = workspace.refusal("empty").to_string();
    assert_eq!(error, "`empty` has no kernel: mark at least one function with `#[kernel]`");
}
