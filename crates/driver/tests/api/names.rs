use std::collections::BTreeSet;
use std::ffi::{CString, c_void};
use std::ptr::null;

use super::support::{Driver, NOT_FOUND, NOT_SUPPORTED, in_child, null_pointer, pointed, text};

/// The names that the driver's sources declare.
fn declared() -> BTreeSet<String> {
    declared_in(|_| true)
}

/// The names that those of the sources declare whose file name is wanted.
fn declared_in(wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut names = BTreeSet::new();
    let files = std::fs::read_dir(folder).expect("the sources").flatten();
    for file in files.filter(|file| wanted(&file.file_name().to_string_lossy())) {
        let Ok(source) = std::fs::read_to_string(file.path()) else { continue };
        let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
        let unsupported = file.file_name() == "unsupported.rs";
        let mut before = "";
        for word in words.filter(|word| !word.is_empty()) {
            let is_name = word.starts_with("cu") && word[2..].starts_with(|c: char| c.is_ascii_uppercase());
            if is_name && (before == "fn" || unsupported) {
                names.insert(word.to_owned());
            }
            before = word;
        }
    }
    names
}

#[test]
fn every_function_of_the_api_is_exported_and_found_by_name() {
    let driver = Driver::bare();
    let names = declared();
    assert!(names.len() >= 514, "{}", names.len());
    for name in &names {
        assert!(driver.has(name), "{name}");
        let (mut found, mut pointer) = (9, null());
        let c_name = CString::new(name.as_str()).unwrap();
        assert_eq!(driver.cuGetProcAddress_v2(c_name.as_ptr(), &mut pointer, 12_080, 0, &mut found), 0, "{name}");
        assert!(found == 0 && !pointer.is_null(), "{name}");
    }
}

/// Null pointers, no handles and sizes of nothing are statuses: no function panics or ends the
/// process.
#[test]
fn every_function_survives_zeros() {
    let output = in_child("names::every_function_survives_zeros", &[], |driver| {
        let names = declared();
        for name in &names {
            let status = driver.call_with_zeros(name);
            assert!(status <= 999, "{name} {status}");
        }
        eprintln!("all {} survived", names.len());
    });
    if let Some(output) = output {
        let said = text(&output.stderr);
        assert!(said.contains("survived") && !said.contains("panicked"), "{said}");
    }
}

/// The function of a name, for a program whose default stream is the thread's own or that of all.
#[test]
fn a_flag_asks_for_the_functions_of_the_threads_own_stream() {
    let driver = Driver::bare();
    let find = |name: &str, flags: u64| {
        let (name, mut pointer) = (CString::new(name).unwrap(), null());
        assert_eq!(driver.cuGetProcAddress_v2(name.as_ptr(), &mut pointer, 12_080, flags, null_pointer()), 0);
        pointer
    };
    for (name, own) in [
        ("cuLaunchKernel", "cuLaunchKernel_ptsz"),
        ("cuMemcpyHtoD", "cuMemcpyHtoD_v2_ptds"),
        ("cuStreamBeginCapture", "cuStreamBeginCapture_v2_ptsz"),
    ] {
        assert!(driver.has(own));
        assert_eq!(find(name, 2), find(own, 0), "{name}");
        assert_ne!(find(name, 2), find(name, 1), "{name}");
        assert_eq!(find(name, 0), find(name, 1), "{name}");
    }
    assert_eq!(find("cuMemAlloc", 2), find("cuMemAlloc", 0));
}

#[test]
fn names_without_suffix_mean_the_version_of_the_program() {
    let driver = Driver::bare();
    let address = |name: &str, version| {
        let name = CString::new(name).unwrap();
        let (mut found, mut pointer): (u32, *const c_void) = (0, null());
        let status = driver.cuGetProcAddress_v2(name.as_ptr(), &mut pointer, version, 0, &mut found);
        (status, pointer)
    };
    assert_eq!(address("cuMemAlloc", 12_080), address("cuMemAlloc_v2", 12_080));
    assert_eq!(address("cuCtxCreate", 12_080), address("cuCtxCreate_v2", 12_080));
    assert_eq!(address("cuCtxCreate", 13_000), address("cuCtxCreate_v4", 13_000));
    assert_eq!(address("cuGraphInstantiate", 12_080), address("cuGraphInstantiateWithFlags", 12_080));
    assert_eq!(address("cuGraphGetEdges", 12_080), address("cuGraphGetEdges_v2", 12_080));
    assert_ne!(address("cuGraphGetEdges", 12_000), address("cuGraphGetEdges_v2", 12_080));
    assert_eq!(address("cuNoSuchFunction", 12_080), (NOT_FOUND, null()));
}

#[test]
fn errors_have_names_and_texts() {
    let driver = Driver::bare();
    let (mut name, mut message) = (null(), null());
    assert_eq!((driver.cuGetErrorName(700, &mut name), driver.cuGetErrorString(700, &mut message)), (0, 0));
    assert_eq!(pointed(name), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(pointed(message), "an illegal memory access was encountered");
    assert_eq!(driver.cuGetErrorName(123_456, &mut name), 1);
    assert!(name.is_null());
}

/// Each function that does nothing names itself in one line, once: among them those of external
/// memory and multicast.
#[test]
fn what_is_not_supported_says_so_once() {
    let names = declared_in(|file| file == "unsupported.rs");
    for name in ["cuImportExternalMemory", "cuMulticastCreate"] {
        assert!(names.contains(name), "{name}");
    }
    let output = in_child("names::what_is_not_supported_says_so_once", &[], |driver| {
        for name in names.iter().chain(&names) {
            assert_eq!(driver.call_with_zeros(name), NOT_SUPPORTED, "{name}");
        }
    });
    if let Some(output) = output {
        let said = text(&output.stderr);
        for name in &names {
            assert_eq!(said.matches(&format!("coalesce: {name} is not supported\n")).count(), 1, "{name}: {said}");
        }
    }
}

/// The keyed hash by which NVIDIA's runtime library asks whether a driver is NVIDIA's is not
/// answered.
#[test]
fn the_table_with_the_keyed_hash_is_not_found() {
    let driver = Driver::bare();
    let mut table = null();
    let id = [0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2];
    assert_eq!(driver.cuGetExportTable(&mut table, &id), NOT_FOUND);
    assert!(table.is_null());
}
