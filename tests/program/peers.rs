//! Tests of `--peer` on the driver that executes, with fakes of cuBLAS, of cuSPARSE and of the library
//! of `docs/compare/cub.cu` that compute on the CPU: the libraries' rows must be right, as the lab's
//! are.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::gpu::{compile, folder, on_gpu};
use crate::{fails, host, takes, variant};

/// The source of the fake cuBLAS, which lists its functions.
const CUBLAS_SOURCE: &str = include_str!("fake_libraries/libcublas.rs");

/// Likewise that of the fake cuSPARSE.
const CUSPARSE_SOURCE: &str = include_str!("fake_libraries/libcusparse.rs");

/// The device's memory, for all.
const MEMORY: &str = include_str!("fake_libraries/device_memory.rs");

/// The folder of the fake libraries, made once.
fn libraries() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        compile(folder.path(), "libcublas.so", &format!("{CUBLAS_SOURCE}{MEMORY}"));
        compile(folder.path(), "libcusparse.so", &format!("{CUSPARSE_SOURCE}{MEMORY}"));
        let cub = include_str!("fake_libraries/libcub.rs");
        compile(folder.path(), "libcub.so", &format!("{cub}{MEMORY}"));
        folder
    });
    FOLDER.path()
}

/// A lab with the fake cuBLAS and cuSPARSE. `failing` names a function of theirs or of the driver,
/// and its status.
fn beside_cublas(arguments: &str, failing: &str) -> assert_cmd::Command {
    let of = |library: &str| if failing.starts_with(library) { failing } else { "" };
    let of_driver = if ["cublas", "cusparse"].iter().any(|library| !of(library).is_empty()) { "" } else { failing };
    let mut command = on_gpu(&format!("{arguments} --device gpu --peer --time-limit 0.01"), of_driver);
    command.env("FAKE_CUBLAS_FAILS", of("cublas")).env("FAKE_CUSPARSE_FAILS", of("cusparse"));
    command.env("COALESCE_CUBLAS", libraries().join("libcublas.so"));
    command.env("COALESCE_CUSPARSE", libraries().join("libcusparse.so"));
    command
}

/// A lab with the fake libraries that it has rows for.
fn beside_libraries(arguments: &str, failing: &str) -> assert_cmd::Command {
    let mut command = beside_cublas(arguments, failing);
    if takes(arguments.split(' ').next().unwrap_or_default(), "peer-library") {
        command.arg("--peer-library").arg(libraries().join("libcub.so"));
    }
    command
}

/// The JSON of a lab with both libraries.
fn report(arguments: &str) -> Value {
    let mut command = beside_libraries(&format!("{arguments} --format json"), "");
    let run = command.assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments}: {error}\n{text}"))
}

#[test]
fn the_libraries_rows_are_right_and_timed() {
    const CUBLAS: &str = "cuBLAS 13.1.0";
    for (arguments, own, peers) in [
        (
            "transpose --best --rows 33 --cols 70",
            "best",
            &[("cublas-sgeam", CUBLAS), ("driver-copy", "driver"), ("driver-copy-2d", "driver")][..],
        ),
        (
            "transpose --copy --rows 70 --cols 33 --pitched",
            "copy",
            &[("cublas-sgeam", CUBLAS), ("driver-copy", "driver"), ("driver-copy-2d", "driver")],
        ),
        ("matmul --best --rows 17 --cols 33 --inner 50", "best", &[("cublas-sgemm", CUBLAS)]),
        ("matmul --best --rows 50 --cols 17 --inner 33 --pitched", "best", &[("cublas-sgemm", CUBLAS)]),
        ("gram --best --rows 33 --cols 20", "best", &[("cublas-sgemm", CUBLAS), ("cublas-ssyrk-half", CUBLAS)]),
        (
            "gram --best --rows 20 --cols 33 --pitched",
            "best",
            &[("cublas-sgemm", CUBLAS), ("cublas-ssyrk-half", CUBLAS)],
        ),
        ("dot --best --size 1000", "best-linear", &[("cublas-sdot-linear", CUBLAS), ("cublas-sdot-aligned", CUBLAS)]),
        (
            "rows --sum --linear --pitched --rows 33 --cols 70",
            "sum-shared-linear",
            &[
                ("cublas-sgemv-linear", CUBLAS),
                ("cub-sum-linear", "CUB 3.0.1"),
                ("cublas-sgemv-pitched", CUBLAS),
                ("cub-sum-pitched", "CUB 3.0.1"),
            ],
        ),
        ("vector --copy16 --size 1001", "copy16", &[("driver-copy", "driver"), ("nvcc-copy", "nvcc 13.0")]),
        (
            "sparse --sliced --rows 100",
            "sliced-power-law",
            &[("cusparse-csr-uniform", "cuSPARSE 12.6.3"), ("cusparse-csr-power-law", "cuSPARSE 12.6.3")],
        ),
        (
            "scan --window --compact-single --size 1001",
            "window",
            &[("cub-sums", "CUB 3.0.1"), ("cub-compact", "CUB 3.0.1")],
        ),
        (
            "reduce --best --size 1001 --operation sum,product,min,max --type f32,i32",
            "best-max-i32",
            &[
                ("cub-sum-f32", "CUB 3.0.1"),
                ("cub-product-f32", "CUB 3.0.1"),
                ("cub-min-f32", "CUB 3.0.1"),
                ("cub-max-f32", "CUB 3.0.1"),
                ("cub-sum-i32", "CUB 3.0.1"),
                ("cub-product-i32", "CUB 3.0.1"),
                ("cub-min-i32", "CUB 3.0.1"),
                ("cub-max-i32", "CUB 3.0.1"),
            ],
        ),
    ] {
        let report = report(arguments);
        assert_eq!(variant(&report, own)["correct"], true, "{arguments}: {report}");
        for (name, library) in peers {
            let row = variant(&report, name);
            assert_eq!(row["correct"], true, "{arguments}: {row}");
            assert!(row["time_ms"].is_number(), "{arguments}: {row}");
            assert_eq!(row["kernels"], Value::Array(vec![]), "{arguments}: {row}");
            let found = row["parameters"]["library"].as_str().unwrap();
            assert!(found.starts_with(library), "{arguments}: {row}");
        }
        let all = report["variants"].as_array().unwrap();
        let first = all.iter().position(|row| row["parameters"]["library"].is_string()).unwrap();
        assert_eq!(all.len() - first, peers.len(), "{arguments}: the libraries stand below the lab's own");
    }
}

#[test]
fn only_the_lab_s_own_rows_are_counted() {
    let report = report("transpose --padded --rows 64 --counters");
    assert_eq!(report["counters_from"], "simulator");
    assert!(variant(&report, "padded")["counters"].is_object());
    for name in ["cublas-sgeam", "driver-copy", "driver-copy-2d"] {
        assert!(variant(&report, name)["counters"].is_null() && variant(&report, name)["correct"] == true);
    }
}

#[test]
fn what_is_missing_is_a_note() {
    let lab = |arguments: &str, why: &str| {
        let mut command = on_gpu(&format!("{arguments} --device gpu --peer --time-limit 0.01"), "");
        let run = command.env("COALESCE_CUBLAS", "").assert().success();
        let note = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(note.starts_with("note: ") && note.lines().count() == 1 && note.contains(why), "{arguments}: {note}");
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    let text = lab("transpose --best --rows 64", "cuBLAS is left out: COALESCE_CUBLAS is empty");
    assert!(text.contains("\ndriver-copy ") && !text.contains("cublas"), "{text}");
    let text = lab("vector --copy16 --size 1000", "--peer-library");
    assert!(text.contains("\ndriver-copy") && !text.contains("nvcc-copy"), "{text}");
}

#[test]
fn what_cannot_be_is_one_line() {
    let on_simulator = host("matmul --best --rows 16 --device sim --peer");
    fails(on_simulator, 2, &["--peer: the libraries run on a GPU only; give --device gpu"]);
    fails(host("offset --peer --device sim"), 2, &["unexpected argument '--peer'"]);
    fails(host("reduce --peer-library x.so --device sim"), 2, &["--peer"]);
    fails(beside_cublas("rows --max --rows 16", ""), 2, &["--peer", "add --sum"]);

    let with_library = |lab: &str, library: &Path| {
        let mut command = beside_cublas(lab, "");
        command.arg("--peer-library").arg(library);
        command
    };
    let good = libraries().join("libcub.so");
    fails(with_library("matmul --best --rows 16", &good), 2, &["--peer-library", "reduce, rows, scan and vector"]);
    fails(with_library("reduce --best --size 16", Path::new("no.so")), 2, &["no.so", "No such file"]);
    fails(with_library("reduce --best --size 16", &folder().join("it.ptx")), 2, &["it.ptx", "does not load"]);
    let other = folder().join("libcuda.so.1");
    fails(
        with_library("reduce --best --size 16", &other),
        2,
        &["lacks the function coalesce_peer_interface", "cub.cu"],
    );
    let mut stale = with_library("reduce --best --size 16", &good);
    stale.env("FAKE_INTERFACE", "7");
    fails(stale, 2, &["version 7", "compile"]);

    let mut other = beside_cublas("matmul --best --rows 16", "");
    other.env("COALESCE_CUBLAS", folder().join("libcuda.so.1"));
    fails(other, 2, &["not a supported cuBLAS", "cublasCreate_v2"]);
    let mut missing = beside_cublas("matmul --best --rows 16", "");
    missing.env("COALESCE_CUBLAS", "/no/such/library");
    fails(missing, 2, &["/no/such/library", "COALESCE_CUBLAS names this file"]);
    for (failing, doing) in [("cublasCreate_v2:1", "starting cuBLAS"), ("cublasSgemm_v2:13", "cublasSgemm")] {
        let (_, status) = failing.split_once(':').unwrap();
        fails(beside_cublas("matmul --best --rows 16", failing), 2, &[doing, "CUBLAS_STATUS", &format!("({status})")]);
    }
    fails(beside_cublas("dot --best --size 16", "cublasSetPointerMode_v2:7"), 2, &["cublasSdot", "(7)"]);
    for (failing, doing) in [("cusparseCreate:1", "starting cuSPARSE"), ("cusparseSpMV:10", "cusparseSpMV failed")] {
        fails(beside_cublas("sparse --ell --rows 16", failing), 2, &[doing, "CUSPARSE_STATUS_NOT_"]);
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn whatever_fails_is_one_line_and_no_panic() {
    let names = [(CUBLAS_SOURCE, "cublas"), (CUSPARSE_SOURCE, "cusparse")].into_iter().flat_map(|(source, prefix)| {
        let declared = source.lines().filter_map(|line| line.trim_start().split_once('('));
        declared.map(|(name, _)| name).filter(move |name| name.starts_with(prefix))
    });
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.len() > 20, "{names:?}");
    let labs: Vec<String> = host::labs::ALL
        .iter()
        .filter(|lab| takes(lab.name, "peer"))
        .map(|lab| {
            let row = ["best", "window", "ell"].into_iter().find(|row| takes(lab.name, row)).expect("a row");
            format!("{} --{row} --{} 16", lab.name, if takes(lab.name, "rows") { "rows" } else { "size" })
        })
        .collect();
    assert!(labs.len() >= 7, "{labs:?}");
    for name in names.iter().map(String::as_str).chain(["cuMemcpy2DAsync_v2", "cuMemcpyDtoDAsync_v2"]) {
        for lab in &labs {
            let run = beside_libraries(lab, &format!("{name}:4242")).output().expect("the program runs");
            let error = String::from_utf8_lossy(&run.stderr);
            // A note says what is missing.
            let lines: Vec<&str> = error.lines().filter(|line| !line.starts_with("note: ")).collect();
            let one_line = lines.len() == 1 && lines[0].starts_with("error: ");
            let refused = run.status.code() == Some(2) && one_line;
            let fine = run.status.code() == Some(0) && lines.is_empty();
            assert!(refused || fine, "{name}, {lab}: exit {:?}: {error}", run.status.code());
        }
    }
    let copy = beside_cublas("transpose --best --rows 16", "cuMemcpy2DAsync_v2:1");
    fails(copy, 2, &["copying rows on the device", "(1)"]);
}
