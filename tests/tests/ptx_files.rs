//! The `.ptx` files of `crates/simt/tests/filetests` and the programs of `tests/wild`, launched
//! through the host on every device of this machine.
//!
//! The simulator's own tests run the same files directly, with counters and traps. Here they take a
//! user's path, and a GPU, if there is one, shows whether the simulator's semantics are the
//! hardware's.

#[path = "../../crates/simt/tests/support/accesses.rs"]
mod accesses;
#[path = "../../crates/simt/tests/support/expectations.rs"]
mod expectations;

use std::path::{Path, PathBuf};

use self::expectations::{Parameter, Test};
use common::random::Random;
use cuda_std::launch::Arguments;
use device::{Buffer, Device, DeviceChoice, LaunchConfig, OnDevice, Options, Report, TensorMap};
use simt::{Checks, Finding, LoadCaching, Model};

/// The alignment of a tensor map as a parameter.
const TENSOR_MAP_ALIGN: usize = 64;
/// Launches of each kernel with random numbers.
const ROUNDS: usize = 50;

/// Runs one test. Returns what is wrong, including the sanitizer's findings.
fn run(device: &Device, test: &Test, checks: Checks) -> Result<(), String> {
    let (outputs, report) = outputs(device, test, checks)?;
    for (index, (found, after)) in outputs.into_iter().enumerate() {
        expectations::compare(index, &found, after)?;
    }
    if checks == Checks::NONE {
        return Ok(());
    }
    let findings = report.map(|report| report.findings().to_vec()).unwrap_or_default();
    let is_expected = |finding: &&Finding| test.blamed.iter().any(|kind| kind == finding.kind.name());
    if let Some(finding) = findings.iter().find(|finding| !is_expected(finding)) {
        return Err(format!("is blamed: {finding}"));
    }
    match test.blamed.iter().find(|kind| !findings.iter().any(|finding| finding.kind.name() == kind.as_str())) {
        Some(kind) => Err(format!("is not blamed for {kind}")),
        None => Ok(()),
    }
}

/// The contents of an output, and what they should be.
type Output<'t> = (Vec<u8>, &'t [Option<u8>]);

/// Launches a test's kernel. Returns the contents of its outputs.
fn outputs<'t>(device: &Device, test: &'t Test, checks: Checks) -> Result<(Vec<Output<'t>>, Option<Report>), String> {
    let text = |error: device::Error| error.to_string();
    let mut arguments = Arguments::new();
    let mut outputs: Vec<(Buffer<u8>, &[Option<u8>])> = Vec::new();
    let mut inputs = Vec::new();
    for parameter in &test.parameters {
        match parameter {
            Parameter::Value(bytes) => arguments.push_bytes(bytes, bytes.len().next_power_of_two().min(8)),
            Parameter::Buffer { before, after } => {
                let mut buffer = device.buffer::<u8>(before.len()).map_err(text)?;
                buffer.write(before).map_err(text)?;
                arguments.push_pointer(buffer.address());
                match after {
                    Some(after) => outputs.push((buffer, after)),
                    None => inputs.push(buffer),
                }
            }
            Parameter::Tensor { map, by_address, before, after } => {
                let mut buffer = device.buffer::<u8>(before.len()).map_err(text)?;
                buffer.write(before).map_err(text)?;
                let map = TensorMap { address: buffer.address(), ..map.parse()? };
                let map = device.tensor_map(&map).map_err(text)?;
                if *by_address {
                    let mut at = device.buffer::<u8>(map.len()).map_err(text)?;
                    at.write(&map).map_err(text)?;
                    arguments.push_pointer(at.address());
                    inputs.push(at);
                } else {
                    arguments.push_bytes(&map, TENSOR_MAP_ALIGN);
                }
                match after {
                    Some(after) => outputs.push((buffer, after)),
                    None => inputs.push(buffer),
                }
            }
            Parameter::Bare { .. } | Parameter::Array { .. } => {
                return Err("only the simulator's own tests have these".into());
            }
        }
    }
    let (cluster, cooperative, dynamic_shared) = (test.cluster, test.cooperative, test.shared);
    let config =
        LaunchConfig { cluster, cooperative, dynamic_shared, checks, ..LaunchConfig::new(test.grid, test.block) };
    // SAFETY: these files are ours, and say themselves which memory their kernels use.
    let report = unsafe { device.launch_untyped(&test.kernel, &config, &arguments) }.map_err(text)?;
    device.synchronize().map_err(text)?;
    let read = outputs.into_iter().map(|(buffer, after)| Ok((buffer.read().map_err(text)?, after)));
    Ok((read.collect::<Result<_, String>>()?, report))
}

/// The simulator, and the first GPU if there is one.
fn choices() -> Vec<DeviceChoice> {
    let gpu = cust_raw::load().is_ok().then_some(DeviceChoice::Gpu(0));
    [Some(DeviceChoice::Simulator), gpu].into_iter().flatten().collect()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/simt/tests/filetests");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("the folder is read").path());
    // The files in subfolders test only the sanitizer.
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The programs of `tests/wild` with the PTX that compilers made from them: comments, then PTX
/// files.
fn wild() -> Vec<(PathBuf, Vec<PathBuf>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wild");
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder is read").path()).collect();
        files.sort();
        files
    };
    let stem = |path: &Path| path.file_name().and_then(|name| name.to_str()?.split('.').next().map(str::to_owned));
    let compiled = list(&folder.join("ptx"));
    let is_source =
        |path: &PathBuf| [".cu", ".c", ".triton.py"].iter().any(|kind| path.to_string_lossy().ends_with(kind));
    let sources = list(&folder).into_iter().filter(is_source);
    sources
        .map(|source| {
            let made = compiled.iter().filter(|path| stem(path) == stem(&source)).cloned().collect();
            (source, made)
        })
        .collect()
}

/// The tests of such a program. Long lists of values are in a separate file.
fn tests_of(source: &Path) -> Vec<Test> {
    let stem = source.file_name().and_then(|name| name.to_str()?.split('.').next()).expect("a name");
    let lists = source.with_file_name("values").join(format!("{stem}.txt"));
    let lists = if lists.exists() { std::fs::read_to_string(lists).expect("the file is read") } else { String::new() };
    let text = std::fs::read_to_string(source).expect("the file is read");
    expectations::parse(&text, &lists).unwrap_or_else(|error| panic!("{}: {error}", source.display()))
}

/// Bytes to compute with: random ones, and runs that are zeros, extremes, infinities and the like
/// in some type.
fn numbers(random: &mut Random, length: usize) -> Vec<u8> {
    const SPECIAL: [u64; 10] = [
        0,
        u64::MAX,
        1,
        0x8000_0000_8000_0000,
        0x7fff_ffff_7fff_ffff,
        0x7f80_0000_ff80_0000,
        0x7ff0_0000_0000_0000,
        0x3f80_0000_bf00_0000,
        0x3ff0_0000_0000_0000,
        0x0000_0001_0000_0002,
    ];
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        let number = random.next_u64();
        let word = match number % 4 {
            0 => SPECIAL[(number >> 8) as usize % SPECIAL.len()],
            1 => number >> (number >> 8 & 63),
            _ => random.next_u64(),
        };
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Kernels that cannot run on random numbers: those for which PTX allows a tolerance; `fns`, whose
/// base is undefined beyond 31; 64-bit `bfe`, whose position an H200 does not take modulo 256 as
/// the PTX manual says; and conversions to tf32, for which it keeps other bits of a NaN.
fn left_out(test: &Test) -> bool {
    test.trap.is_some()
        || test.simulator_only
        || ["approx", "full", "fns", "bfe_u64", "bfe_s64", "tensor_floats"]
            .iter()
            .any(|part| test.kernel.contains(part))
}

#[test]
fn devices_agree_on_random_numbers() {
    let arithmetic =
        ["bits.ptx", "compare.ptx", "convert.ptx", "float.ptx", "integer.ptx", "packed.ptx", "simd_video.ptx"];
    let mut random = Random::new(20_261_120);
    let mut failures = Vec::new();
    for path in files().into_iter().filter(|path| arithmetic.iter().any(|name| path.ends_with(name))) {
        let tests = expectations::parse(&std::fs::read_to_string(&path).expect("the file is read"), "")
            .expect("it has been run");
        let devices: Vec<_> = choices()
            .into_iter()
            .map(|choice| {
                device::open(choice, &Options { ptx: vec![path.clone().into()], ..Options::default() })
                    .expect("it has been run")
            })
            .collect();
        for mut test in tests.into_iter().filter(|test| !left_out(test)) {
            for _ in 0..ROUNDS {
                for parameter in &mut test.parameters {
                    if let Parameter::Buffer { before, after: None } = parameter {
                        *before = numbers(&mut random, before.len());
                    }
                }
                let found: Vec<_> = devices.iter().map(|device| outputs(device, &test, Checks::NONE)).collect();
                assert!(found[0].is_ok(), "{}: {:?}", test.kernel, found[0]);
                if found.iter().any(|other| *other != found[0]) {
                    failures.push(format!("{}: {:02x?}: {found:02x?}", test.kernel, test.parameters));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} kernels differ:\n{}", failures.len(), failures.join("\n"));
}

/// After a fault a GPU runs nothing more for the same process. `COALESCE_ONLY=tensors.ptx:132` runs
/// only the test of that line.
fn is_asked_for(file: &str, test: &Test) -> bool {
    std::env::var("COALESCE_ONLY").map_or(true, |only| only == format!("{file}:{}", test.line))
}

#[test]
fn every_file_gives_on_each_device_what_its_comments_say() {
    for choice in choices() {
        let (mut count, mut failures) = (0, Vec::new());
        for path in files() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let tests = expectations::parse(&std::fs::read_to_string(&path).expect("the file is read"), "")
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            // The messages of traps and refusals are those of the simulator.
            let ends_well = |test: &&Test| test.trap.is_none() && test.error.is_none();
            let is_for_it = |test: &&Test| choice == DeviceChoice::Simulator || !test.simulator_only;
            let is_asked_for = |test: &&Test| is_asked_for(&name, test);
            let tests: Vec<_> = tests.iter().filter(ends_well).filter(is_for_it).filter(is_asked_for).collect();
            if tests.is_empty() {
                continue;
            }
            let device = match device::open(choice, &Options { ptx: vec![path.into()], ..Options::default() }) {
                Ok(device) => device,
                Err(error) => {
                    failures.push(format!("{name}: {error}"));
                    continue;
                }
            };
            for test in tests {
                count += 1;
                if let Err(what) = run(&device, test, Checks::NONE) {
                    failures.push(format!("{name}:{}: {}: {what}", test.line, test.kernel));
                }
            }
        }
        assert!(failures.is_empty(), "on {choice}, {} of {count} failed:\n{}", failures.len(), failures.join("\n"));
        assert!(count > 0, "no tests on {choice}");
    }
}

/// On the simulator with all checks: these programs are correct, and were not known when the checks
/// were written.
#[test]
fn programs_of_other_compilers_do_what_their_comments_say_and_are_not_blamed() {
    for choice in choices() {
        let checks = if choice == DeviceChoice::Simulator { Checks::ALL } else { Checks::NONE };
        let mut failures = Vec::new();
        for (source, compiled) in wild() {
            let name = source.file_name().expect("a name").to_string_lossy().into_owned();
            let tests = tests_of(&source);
            assert!(!tests.is_empty() && !compiled.is_empty(), "{name} has no tests, or no PTX");
            let mut ran = vec![false; tests.len()];
            for path in compiled {
                let variant = path.file_name().expect("a name").to_string_lossy().into_owned();
                let text = std::fs::read_to_string(&path).expect("the file is read");
                let device = match device::open(choice, &Options { ptx: vec![path.into()], ..Options::default() }) {
                    Ok(device) => device,
                    Err(error) => {
                        failures.push(format!("{variant}: {error}"));
                        continue;
                    }
                };
                // Some kernels exist only for newer targets.
                for (test, ran) in tests.iter().zip(&mut ran) {
                    if !text.contains(&format!(".entry {}(", test.kernel)) {
                        continue;
                    }
                    *ran = true;
                    if test.simulator_only && choice != DeviceChoice::Simulator || !is_asked_for(&name, test) {
                        continue;
                    }
                    let mut test = test.clone();
                    test.blamed = blamed_in(&test, &variant);
                    if let Err(what) = run(&device, &test, checks) {
                        failures.push(format!("{variant}, {name}:{}: {}: {what}", test.line, test.kernel));
                    }
                }
            }
            for (test, _) in tests.iter().zip(&ran).filter(|(_, ran)| !**ran) {
                failures.push(format!("{name}:{}: no PTX has the kernel {}", test.line, test.kernel));
            }
        }
        assert!(failures.is_empty(), "on {choice}, {} failed:\n{}", failures.len(), failures.join("\n"));
    }
}

/// The expected findings for a test's kernel in this PTX file. A variant after the kind names the
/// files to which it applies.
fn blamed_in(test: &Test, file: &str) -> Vec<String> {
    let kinds = test.blamed.iter().filter_map(|line| match line.split_once(' ') {
        Some((kind, variant)) => file.ends_with(&format!(".{variant}.ptx")).then(|| kind.to_owned()),
        None => Some(line.clone()),
    });
    kinds.collect()
}

/// The simulator's own tests check this for the `.ptx` files.
#[test]
fn what_programs_of_other_compilers_do_and_cost_depends_on_neither_checks_nor_threads() {
    let mut failures = Vec::new();
    for (source, compiled) in wild() {
        let tests = tests_of(&source);
        for path in compiled {
            let text = std::fs::read_to_string(&path).expect("the file is read");
            let is_there = |test: &&Test| text.contains(&format!(".entry {}(", test.kernel));
            for test in tests.iter().filter(is_there) {
                let launch = |threads: usize, checks: Checks| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                    pool.install(|| {
                        let options = Options { ptx: vec![path.clone().into()], ..Options::default() };
                        let device =
                            device::open(DeviceChoice::Simulator, &options).map_err(|error| error.to_string())?;
                        let (outputs, report) = outputs(&device, test, checks)?;
                        let outputs = outputs.into_iter().map(|(found, _)| found).collect();
                        let report = report.ok_or("nothing is counted")?;
                        let counted: Vec<_> = report.instructions().map(|row| *row.counters).collect();
                        Ok::<(Vec<Vec<u8>>, Vec<_>), String>((outputs, counted))
                    })
                };
                let first = launch(1, Checks::NONE);
                for (threads, checks) in [(3, Checks::NONE), (1, Checks::ALL), (3, Checks::ALL)] {
                    if launch(threads, checks) != first {
                        failures.push(format!("{}: {}: checks {checks}, {threads}", path.display(), test.kernel));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} launches differ:\n{}", failures.len(), failures.join("\n"));
}

/// A model runs the blocks of a cluster side by side, each on its own multiprocessor. The
/// simulator's own tests check this for the `.ptx` files.
#[test]
fn clusters_of_other_compilers_do_and_cost_on_a_model_what_they_do_without_one() {
    let hopper = Model::named("hopper").expect("there is one");
    let (mut count, mut failures) = (0, Vec::new());
    for (source, compiled) in wild() {
        let tests = tests_of(&source);
        for path in compiled {
            let text = std::fs::read_to_string(&path).expect("the file is read");
            if !text.contains("cluster") {
                continue;
            }
            let [plain, modelled] =
                [DeviceChoice::Simulator, DeviceChoice::Model(hopper, LoadCaching::Default)].map(|choice| {
                    let options = Options { ptx: vec![path.clone().into()], ..Options::default() };
                    device::open(choice, &options).expect("the simulator reads the file")
                });
            for test in tests.iter().filter(|test| text.contains(&format!(".entry {}(", test.kernel))) {
                count += 1;
                let both = [&plain, &modelled].map(|device| outputs(device, test, Checks::ALL));
                let [Ok((one, Some(report))), Ok((other, Some(on_model)))] = &both else {
                    let [one, other] = both.each_ref().map(|outcome| outcome.as_ref().err());
                    failures.push(format!("{}: {one:?}, {other:?}", test.kernel));
                    continue;
                };
                if one != other || report.findings() != on_model.findings() {
                    failures.push(format!("{}: other results", test.kernel));
                }
                if let Some(line) = accesses::differing(report, on_model) {
                    failures.push(format!("{}: other accesses in line {line}", test.kernel));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} launches differ:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 5, "{count} launches");
}
