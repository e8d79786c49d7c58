//! Tests that every device function compiles to the instruction that it promises.
//!
//! The kernels of the crate in `tests/device_api` use every device function, with comments
//! `// ptx: TEXT` for what the PTX must contain. Its PTX for sm_75 is checked in, so that most of
//! this needs no device compiler. To rebuild it:
//! `COALESCE_BLESS=1 cargo test -p coalesce-cuda-std --test device_api`.

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, NvvmArch, SourceDigest, digest_of_crate};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn crate_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_api")
}

/// The checked-in PTX, rebuilt first if the environment requests it.
fn checked_in() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let path = crate_folder().join("ptx/device_api.sm_75.ptx");
        if std::env::var_os("COALESCE_BLESS").is_some() {
            let command = "COALESCE_BLESS=1 cargo test -p coalesce-cuda-std --test device_api";
            let builder = CudaBuilder::new(crate_folder()).remade_with(command);
            builder.arch(NvvmArch::Compute75).copy_to(&path).build().unwrap();
        }
        fs::read_to_string(path).unwrap()
    });
    &TEXT
}

/// The Rust files of a folder, in order.
fn sources(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// What each kernel's PTX must contain, by kernel, from the comments in the source.
fn expectations() -> BTreeMap<String, Vec<String>> {
    let mut expectations = BTreeMap::<String, Vec<String>>::new();
    for source in sources(&crate_folder().join("src")) {
        let mut before = Vec::new();
        let mut kernel = None;
        for line in source.lines().filter(|line| !line.starts_with("//!")) {
            if let Some((_, rest)) = line.split_once("pub unsafe fn ").or_else(|| line.split_once("pub fn "))
                && let Some((name, _)) = rest.split_once('(')
                && !name.starts_with('$')
            {
                kernel = Some(name.to_owned());
                expectations.entry(name.to_owned()).or_default().append(&mut before);
            }
            if line == "}" {
                kernel = None;
            }
            if let Some((_, text)) = line.split_once("// ptx: ") {
                match &kernel {
                    Some(name) => expectations.get_mut(name).unwrap().push(text.to_owned()),
                    None => before.push(text.to_owned()),
                }
            }
        }
        assert!(before.is_empty(), "an expectation stands behind the last kernel: {before:?}");
    }
    expectations
}

/// The text of each entry point of a PTX module, from its name to its closing brace.
fn entries(ptx: &str) -> BTreeMap<&str, &str> {
    ptx.split(".entry ").skip(1).map(|entry| (entry.split('(').next().unwrap(), &entry[..end_of_body(entry)])).collect()
}

/// The end of the body that begins with the first brace in the text.
fn end_of_body(text: &str) -> usize {
    let mut depth = 0;
    for (place, brace) in text.match_indices(['{', '}']) {
        depth += if brace == "{" { 1 } else { -1 };
        if depth == 0 {
            return place;
        }
    }
    panic!("a body without an end: {text}")
}

fn check(ptx: &str, left_out: &[&str]) {
    let entries = entries(ptx);
    let mut missing = Vec::new();
    let mut count = 0;
    for (kernel, expected) in expectations() {
        if left_out.contains(&kernel.as_str()) {
            continue;
        }
        let Some(text) = entries.get(kernel.as_str()) else {
            missing.push(format!("kernel {kernel}"));
            continue;
        };
        for instruction in expected {
            count += 1;
            let (wanted, instruction) = match instruction.strip_prefix("not ") {
                Some(unwanted) => (false, unwanted.to_owned()),
                None => (true, instruction),
            };
            if text.contains(&instruction) != wanted {
                missing.push(format!("{kernel}: {instruction}"));
            }
        }
    }
    assert!(missing.is_empty(), "the PTX lacks:\n{}", missing.join("\n"));
    assert!(count > 100, "only {count} expectations were found: the comments are not read right");
}

#[test]
fn checked_in_ptx_has_the_promised_instructions() {
    check(checked_in(), &["warp_redux"]);
}

#[test]
fn checked_in_ptx_is_made_of_these_sources() {
    let made_of = SourceDigest::in_ptx(checked_in()).expect("the PTX bears a digest");
    assert_eq!(
        made_of,
        digest_of_crate(crate_folder()).unwrap(),
        "the PTX is stale; make it anew with `COALESCE_BLESS=1 cargo test -p coalesce-cuda-std --test device_api`"
    );
}

/// The kernels that use each operator on one type, and the type in PTX.
const GLOBAL_TYPES: [(&str, &str); 18] = [
    ("memory_u8", "u8"),
    ("memory_i8", "s8"),
    ("memory_u16", "u16"),
    ("memory_i16", "s16"),
    ("memory_u32", "u32"),
    ("memory_i32", "s32"),
    ("memory_u64", "u64"),
    ("memory_i64", "s64"),
    ("memory_f64", "f64"),
    ("memory_f32x2", "v2.f32"),
    ("memory_f32x4", "v4.f32"),
    ("memory_f64x2", "v2.f64"),
    ("memory_u32x2", "v2.u32"),
    ("memory_u32x4", "v4.u32"),
    ("memory_i32x2", "v2.s32"),
    ("memory_i32x4", "v4.s32"),
    ("memory_u64x2", "v2.u64"),
    ("memory_i64x2", "v2.s64"),
];

/// Macros generate the operators on each type, in the library and in its test; this checks the
/// result.
#[test]
fn cache_operators_exist_for_each_type() {
    let entries = entries(checked_in());
    for (kernel, kind) in GLOBAL_TYPES {
        let text = entries[kernel];
        let hints = ["nc.L1::no_allocate", "L1::evict_first", "L1::evict_last", "L2::128B"];
        for operator in ["ca", "cg", "cs", "lu", "cv", "nc"].into_iter().chain(hints) {
            let load = format!("ld.global.{operator}.{kind} ");
            assert!(text.contains(&load), "{kernel} lacks {load}");
        }
        for operator in ["wb", "cg", "cs", "wt", "L1::no_allocate", "L1::evict_first", "L1::evict_last"] {
            let store = format!("st.global.{operator}.{kind} ");
            assert!(text.contains(&store), "{kernel} lacks {store}");
        }
    }
}

/// Every access names its state space, except for `libm`'s arrays on the stack, which are reached
/// through pointers to pointers.
#[test]
fn accesses_name_their_memory() {
    for (kernel, text) in entries(checked_in()) {
        if kernel.starts_with("math_accurate") {
            continue;
        }
        let generic = |operation: &str| {
            text.lines().map(str::trim_start).any(|line| {
                line.starts_with(operation)
                    && !["param", "global", "shared", "const", "local"].iter().any(|space| line.contains(space))
            })
        };
        assert!(!generic("ld."), "{kernel} has a generic load");
        assert!(!generic("st."), "{kernel} has a generic store");
    }
}

#[test]
fn every_device_function_is_used() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let used = sources(&crate_folder().join("src")).concat();
    let is_used = |name: &str| {
        used.match_indices(name).any(|(start, _)| {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            !used[..start].ends_with(word) && !used[start + name.len()..].starts_with(word)
        })
    };
    let mut unused = Vec::new();
    let mut count = 0;
    for module in [
        "atomic/float.rs",
        "atomic/mod.rs",
        "bulk.rs",
        "constant.rs",
        "dependent_launch.rs",
        "fast.rs",
        "float/methods.rs",
        "mem.rs",
        "pipeline.rs",
        "shared.rs",
        "special.rs",
        "thread.rs",
        "vector.rs",
        "warp/mod.rs",
        "warp/reduce.rs",
        "warp/shuffle.rs",
        "warp/vote.rs",
    ] {
        let text = fs::read_to_string(library.join(module)).unwrap();
        let text = text.split("#[cfg(all(test").next().unwrap();
        for line in text.lines() {
            let Some(name) = declared(line, module == "float/methods.rs") else { continue };
            count += 1;
            if !is_used(name) {
                unused.push(format!("{module}: {name}"));
            }
        }
    }
    assert!(unused.is_empty(), "the test crate does not use:\n{}", unused.join("\n"));
    assert!(count > 150, "only {count} functions were found: the library is not read right");
}

/// The function that a line of the library declares: directly, as a trait method where those count,
/// or in a macro's list such as `lane_id = laneid;`.
fn declared(line: &str, with_methods: bool) -> Option<&str> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let line = line.trim_start();
    for start in ["pub fn ", "pub unsafe fn ", "pub const fn ", "fn "] {
        if let Some(rest) = line.strip_prefix(start) {
            let name = rest.split(['(', '<']).next()?;
            let counts = start != "fn " || with_methods && line.ends_with("-> Self;");
            return (counts && is_name(name)).then_some(name);
        }
    }
    let mut names = line.strip_suffix(';')?.split(" = ");
    let name = names.next()?;
    (is_name(name) && names.all(is_name)).then_some(name)
}

/// With a device compiler: the same for a current GPU, which has more functions.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn fresh_ptx_for_hopper_has_the_promised_instructions() {
    if let Err(error) = DeviceCompiler::find() {
        eprintln!("skipped: {error}");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = CudaBuilder::new(crate_folder())
        .arch(NvvmArch::Compute90)
        .target_dir(folder.with_file_name("cuda-builder"))
        .copy_to(folder.join("device_api.sm_90.ptx"))
        .build()
        .unwrap();
    let ptx = fs::read_to_string(path).unwrap();
    check(&ptx, &[]);
    // Copies to shared memory are asynchronous from sm_80 on.
    let copies = entries(&ptx)["memory_pipeline"];
    for instruction in [
        "cp.async.ca.shared.global [%r",
        "cp.async.cg.shared.global [%r",
        "], [place], 4;",
        "], [place], 4, %r",
        "], [place], 8;",
        "], [place], 8, %r",
        "], [place], 16;",
        "], [place], 16, %r",
        "cp.async.commit_group;",
        "cp.async.wait_group 0;",
        "cp.async.wait_group 1;",
    ] {
        assert!(copies.contains(instruction), "memory_pipeline lacks {instruction}");
    }
    // The copy engine, from sm_90 on.
    let copies = entries(&ptx)["memory_bulk"];
    for instruction in [
        "mbarrier.init.shared.b64 [%r",
        "fence.proxy.async.shared::cta;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r",
        "mbarrier.try_wait.parity.shared::cta.b64 complete, [%r",
    ] {
        assert!(copies.contains(instruction), "memory_bulk lacks {instruction}");
    }
    // L2 has priorities from sm_80 on, and fetches 256 bytes at once.
    for (kernel, kind) in GLOBAL_TYPES {
        for access in [
            "ld.global.cg.L2::cache_hint",
            "st.global.L2::cache_hint",
            "ld.global.L2::256B",
            "ld.global.L2::cache_hint.L2::256B",
        ] {
            assert!(entries(&ptx)[kernel].contains(&format!("{access}.{kind} ")), "{kernel} lacks {access}");
        }
    }
    // Launches may overlap from sm_90 on.
    let overlapping = entries(&ptx)["memory_dependent_launch"];
    let [wait, trigger] =
        ["griddepcontrol.wait;", "griddepcontrol.launch_dependents;"].map(|text| overlapping.find(text));
    assert!(wait.is_some() && wait < trigger && trigger < overlapping.find("ld.global"), "{overlapping}");
}
