//! The `.ptx` files of `crates/simt/tests/filetests`, through the host, on every device there is.
//!
//! The simulator alone runs them in its own tests, with its counters and traps. Here the same text goes the way that a
//! user's launch goes; where there is a GPU, it says whether the simulator's semantics are the hardware's.

#[path = "../../crates/simt/tests/support/filetest.rs"]
mod filetest;

use std::path::{Path, PathBuf};

use cuda_std::launch::Arguments;
use filetest::{Parameter, Test};
use host::device::{self, Buffer, Device, DeviceChoice, LaunchConfig, OnDevice, Options};

/// Runs one test. Returns what is wrong.
fn run(device: &Device, test: &Test) -> Result<(), String> {
    let text = |error: host::Error| error.to_string();
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
        }
    }
    let config = LaunchConfig { dynamic_shared: test.shared, ..LaunchConfig::new(test.grid, test.block) };
    device.launch_untyped(&test.kernel, &config, &arguments).map_err(text)?;
    device.synchronize().map_err(text)?;
    for (index, (buffer, after)) in outputs.into_iter().enumerate() {
        let found = buffer.read().map_err(text)?;
        filetest::compare(index, &found, after)?;
    }
    Ok(())
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/simt/tests/filetests");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder is read").path()).collect();
    files.sort();
    files
}

#[test]
fn every_file_gives_on_each_device_what_its_comments_say() {
    let gpu = cust_raw::load().is_ok().then_some(DeviceChoice::Gpu(0));
    for choice in [Some(DeviceChoice::Simulator), gpu].into_iter().flatten() {
        let (mut count, mut failures) = (0, Vec::new());
        for path in files() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let tests = filetest::parse(&std::fs::read_to_string(&path).expect("the file is read"))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            // What ends in a trap or a refusal is worded by the simulator alone.
            let tests: Vec<_> = tests.iter().filter(|test| test.trap.is_none() && test.error.is_none()).collect();
            if tests.is_empty() {
                continue;
            }
            let device = match device::open(choice, &Options { ptx: Some(path) }) {
                Ok(device) => device,
                Err(error) => {
                    failures.push(format!("{name}: {error}"));
                    continue;
                }
            };
            for test in tests {
                count += 1;
                if let Err(what) = run(&device, test) {
                    failures.push(format!("{name}:{}: {}: {what}", test.line, test.kernel));
                }
            }
        }
        assert!(failures.is_empty(), "on {choice}, {} of {count} failed:\n{}", failures.len(), failures.join("\n"));
        assert!(count > 0, "no tests on {choice}");
    }
}
