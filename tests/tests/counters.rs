//! The simulator counts for the labs' kernels what an H200 counted for the same launches.
//!
//! `data/h200_labs.json` has the arguments of `host`, and for each launch the kernel and its
//! counters as measured by Nsight Compute, with the machine, the version and the date.
//! `cargo xtask count` measures them again, on a machine with a GPU and Nsight Compute.

use std::collections::{BTreeMap, BTreeSet};

use clap::FromArgMatches;
use device::{Device, PtxFile};
use host::labs::{self, Settings};
use host::report::LabReport;
use serde::Deserialize;
use simt::Counters;
use simt::counts::MetricValue;

#[derive(Deserialize)]
struct Counted {
    metrics: Vec<String>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    run: String,
    launches: Vec<Launch>,
}

#[derive(Deserialize)]
struct Launch {
    kernel: String,
    counts: Vec<f64>,
}

/// Runs the lab that the arguments name, without the times, which cost more.
fn run(device: &Device, run: &str) -> LabReport {
    let lab = labs::Entry::named(run.split(' ').next().unwrap_or_default()).unwrap_or_else(|| panic!("{run}: no lab"));
    let matches = (lab.command)()
        .try_get_matches_from(run.split(' ').chain(["--no-predict"]))
        .unwrap_or_else(|error| panic!("{run}: {error}"));
    let settings = Settings::from_arg_matches(&matches).expect("the flags of every lab");
    (lab.run)(device, &matches, settings).unwrap_or_else(|error| panic!("{run}: {error}"))
}

/// The unit's own counters of wavefronts and of bank conflicts. Both include what its arbiter adds.
const WITH_ARBITRATION: [[&str; 2]; 3] = [
    [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    ],
    [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    ],
    [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    ],
];

/// The constant cache's requests, one for each address, and the instructions that make them. Their
/// difference is compared: a kernel loads its parameters as constants, too, as often as the
/// assembler likes, but one address at a time.
const CONSTANT: [&str; 2] = ["idc__requests.sum", "smsp__inst_executed_op_ldc.sum"];
const CONSTANT_IN_PTX: [&str; 2] = ["ptx__addresses_op_ld_constant.sum", "ptx__inst_executed_op_ld_constant.sum"];

/// Metrics that depend on timing if the last block polls for the others' results: how often it
/// polls, and how many lanes find something at once and empty their slots together.
const POLLED: [&str; 8] = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
];

/// Whether a launch of this kernel polled: its blocks wait for what others leave.
fn polled(kernel: &str, counted: &BTreeMap<&str, f64>) -> bool {
    let looks_back = ["scan_single", "scan_window", "scan_compact_single"].contains(&kernel);
    if kernel == "matmul_best_small_split" || kernel.starts_with("consistency_") || looks_back {
        return true;
    }
    // These store a value for each block, and empty their slots.
    let waits = kernel.starts_with("reduce_best") || kernel == "dot_best" || kernel == "rows_column_means_best";
    let stores = counted["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"];
    waits && stores > 1.0 || kernel.starts_with("rows_") && kernel.ends_with("_blocks")
}

/// Kernels with a loop that `ptxas` unrolls again: lanes with different numbers of turns execute
/// different copies of a load there, which is up to 7 % more requests (docs/MODELS.md).
const UNROLLED_AGAIN: [&str; 3] = ["sparse_csr_threads", "sparse_csr_warps", "sparse_sliced"];

/// What the names of kernels begin with that no GPU has counted yet.
const UNCOUNTED: [&str; 1] = ["spill_bounded"];

/// Metrics of loads that the profiler collects from load instructions, which do not include
/// asynchronous copies. The simulator counts these as loads here, too.
const WITHOUT_COPIES: &str = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct";

/// The simulator's value of a metric. The profiler has wavefronts twice: counted in the unit
/// (`l1tex__`), and computed from the instructions' addresses (`smsp__sass_`), without other
/// traffic in the unit.
fn simulated_name(metric: &str) -> String {
    metric.replace("smsp__sass_l1tex_", "l1tex__")
}

/// Compares a launch with what was counted. Returns the number of metrics compared.
fn compare(launch: &str, kernel: &str, counted: &BTreeMap<&str, f64>, simulated: &Counters) -> usize {
    let differences = differences(kernel, counted, simulated);
    assert!(differences.is_empty(), "{launch}: {}", differences.join("; "));
    counted.len()
}

/// What an H200 counted, or an H100, and the simulator does not.
fn differences(kernel: &str, counted: &BTreeMap<&str, f64>, simulated: &Counters) -> Vec<String> {
    let mut differences = Vec::new();
    let depends = polled(kernel, counted) || UNROLLED_AGAIN.contains(&kernel);
    let metrics = simulated.metrics();
    let found = |name: &str| {
        let metric = metrics.iter().find(|metric| metric.name == name);
        match metric.unwrap_or_else(|| panic!("the simulator does not count {name}")).value {
            MetricValue::Count(count) => count as f64,
            // The profiler shows 0 where nothing was counted.
            MetricValue::Ratio(ratio) => ratio.unwrap_or(0.0),
        }
    };
    for names in WITH_ARBITRATION {
        let [wavefronts, conflicts] = names.map(|name| counted[name] - found(name));
        if wavefronts != conflicts || wavefronts < 0.0 {
            differences.push(format!("{names:?}: the GPU counts {wavefronts} and {conflicts} beyond the simulator"));
        }
    }
    let of_constants = CONSTANT_IN_PTX.map(found);
    if of_constants[0] > 0.0 {
        let beyond = |[requests, instructions]: [f64; 2]| requests - instructions;
        let (found, expected) = (beyond(of_constants), beyond(CONSTANT.map(|name| counted[name])));
        if found != expected {
            differences.push(format!("{CONSTANT:?}: {found}, and {expected} on the GPU"));
        }
    }
    for (name, &expected) in counted {
        let is_compared_above = WITH_ARBITRATION.as_flattened().contains(name) || CONSTANT.contains(name);
        let differs = depends && POLLED.contains(name) || *name == WITHOUT_COPIES && simulated.shared.copy.requests > 0;
        if is_compared_above || differs {
            continue;
        }
        let found = found(&simulated_name(name));
        // The profiler rounds ratios to two digits.
        let tolerance = if name.ends_with(".sum") { 0.0 } else { 0.005 + 1e-9 };
        if (found - expected).abs() > tolerance {
            differences.push(format!("{name}: {found}, and {expected} on the GPU"));
        }
    }
    differences
}

/// What the H200 counted.
fn counted() -> Counted {
    serde_json::from_str(include_str!("data/h200_labs.json")).unwrap()
}

/// The launches of a report, each with its kernel.
fn launches(report: &LabReport) -> Vec<(&str, &Counters)> {
    let launches = report.variants.iter().flat_map(|variant| &variant.launches);
    launches.map(|(kernel, counters)| (*kernel, counters)).collect()
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_labs_kernels_count_what_an_h200_counts() {
    let counted = counted();
    // As the model of that GPU, the simulator runs the variants that run on a GPU.
    let device = device::open("sim:hopper".parse().unwrap(), &host::built_in::options()).unwrap();
    let (mut launches, mut compared) = (0, 0);
    for run in &counted.runs {
        let report = self::run(&device, &run.run);
        let simulated = self::launches(&report);
        let names: Vec<&str> = simulated.iter().map(|(kernel, _)| *kernel).collect();
        let expected: Vec<&str> = run.launches.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(names, expected, "{}: the launches", run.run);
        for (index, (launch, (kernel, counters))) in run.launches.iter().zip(simulated).enumerate() {
            let counts = counted.metrics.iter().map(String::as_str).zip(launch.counts.iter().copied()).collect();
            compared += compare(&format!("{}, launch {index}, {kernel}", run.run), kernel, &counts, counters);
            launches += 1;
        }
    }
    assert!(launches > 450 && compared > 13_000, "{launches} launches, {compared} counts");
    let kernels: BTreeSet<&str> =
        counted.runs.iter().flat_map(|run| &run.launches).map(|launch| launch.kernel.as_str()).collect();
    for kernel in [kernels::PTX, best_kernels::PTX].into_iter().flat_map(|ptx| ptx[0].entry_points()) {
        let is_new = UNCOUNTED.iter().any(|lab| kernel.starts_with(lab));
        assert!(
            is_new || kernels.contains(kernel),
            "{kernel} is not counted: add a run to the file, and `cargo xtask count --new`"
        );
    }
}

/// Launches of nvcc's twins that count otherwise on a GPU, and why.
const TWINS_THAT_DIFFER: [(&str, &str); 1] =
    [("transpose_best_unaligned", "ptxas moves four loads behind the branch around their uses")];

/// The kernels' twins in CUDA C++ (`docs/compare`), as nvcc compiles them, count on the simulator
/// what an H100 counts for the machine code that its driver makes of this PTX. `data/nvcc` has the
/// PTX of the kernels that were counted, by `host LAB --once --ptx LAB.ptx`.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_twins_by_nvcc_count_what_an_h100_counts() {
    let counted: Counted = serde_json::from_str(include_str!("data/h100_nvcc_labs.json")).unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/nvcc");
    let (mut launches, mut differ) = (0, BTreeSet::new());
    for run in &counted.runs {
        let name = run.run.split(' ').next().unwrap_or_default();
        let ptx = PtxFile::from(folder.join(name).with_extension("ptx"));
        // SAFETY: the twins take what the lab's kernels do.
        let options = device::Options { ptx: vec![unsafe { ptx.trusted() }], ..host::built_in::options() };
        let device = device::open("sim:hopper".parse().unwrap(), &options).unwrap();
        let report = self::run(&device, &run.run);
        let simulated = self::launches(&report);
        let names: Vec<&str> = simulated.iter().map(|(kernel, _)| *kernel).collect();
        let expected: Vec<&str> = run.launches.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(names, expected, "{}: the launches", run.run);
        for (launch, (kernel, counters)) in run.launches.iter().zip(simulated) {
            let counts = counted.metrics.iter().map(String::as_str).zip(launch.counts.iter().copied()).collect();
            let found = differences(kernel, &counts, counters);
            match TWINS_THAT_DIFFER.iter().find(|(other, _)| *other == kernel) {
                Some((kernel, _)) if !found.is_empty() => _ = differ.insert(*kernel),
                _ => assert!(found.is_empty(), "{}: {kernel}: {}", run.run, found.join("; ")),
            }
            launches += 1;
        }
    }
    assert!(launches > 350, "{launches} launches");
    assert_eq!(differ.len(), TWINS_THAT_DIFFER.len(), "equal now: delete it here");
}

/// The best reductions are launched in as many blocks as suit the multiprocessors, so their counts
/// are an H200's only in its shape.
#[test]
fn the_best_reductions_count_what_an_h200_counts_if_they_are_shaped_for_one() {
    let counted = counted();
    let device = device::open("sim".parse().unwrap(), &host::built_in::options()).unwrap();
    let is_best = |launch: &&Launch| launch.kernel.starts_with("reduce_best");
    let (mut compared, mut differ) = (0, 0);
    for run in counted.runs.iter().filter(|run| run.launches.iter().any(|launch| is_best(&launch))) {
        let shaped = |multiprocessors: u32| {
            self::run(&device, &format!("{} --best --multiprocessors {multiprocessors}", without_best(&run.run)))
        };
        let (as_h200, as_another) = (shaped(132), shaped(16));
        let expected: Vec<_> = run.launches.iter().filter(is_best).collect();
        let (as_h200, as_another) = (launches(&as_h200), launches(&as_another));
        assert_eq!((as_h200.len(), as_another.len()), (expected.len(), expected.len()), "{}", run.run);
        for ((launch, (kernel, counters)), (_, other)) in expected.iter().zip(as_h200).zip(as_another) {
            assert_eq!(launch.kernel, kernel);
            let counts = counted.metrics.iter().map(String::as_str).zip(launch.counts.iter().copied()).collect();
            compare(&format!("{}: {kernel}", run.run), kernel, &counts, counters);
            compared += 1;
            differ += usize::from(counters.metrics() != other.metrics());
        }
    }
    assert!(compared >= 8 && differ == compared, "{compared} launches, {differ} that another shape changes");
}

/// The arguments of a run, without the flag for the best kernel.
fn without_best(run: &str) -> String {
    run.replace(" --best", "")
}
