//! Random kernels of fixed seeds: the simulator against the second machine, and a GPU against both
//! if there is one. `COALESCE_FUZZ_KERNELS` sets the seeds.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use coalesce_fuzz::kernel::{COMMON_BYTES, HEADER, Kernel, Kind, RECORD_BYTES};
use coalesce_fuzz::machine::{self, COMMON_BYTE, OUTPUT_BYTE};
use coalesce_fuzz::scalar::{self, Outcome};
use cuda_std::launch::Arguments;
use device::{Device, DeviceChoice, LaunchConfig, OnDevice, Options};

/// The seeds that are tried, or those that `COALESCE_FUZZ_KERNELS` names: `5000` (the first so
/// many), or `5000..6000`.
fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("COALESCE_FUZZ_KERNELS") else { return 0..300 };
    let number = |text: &str| text.parse::<u64>().expect("COALESCE_FUZZ_KERNELS is a number, or two: 5000..6000");
    match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&text),
    }
}

/// Kernels in one module: a driver takes long for each module.
const IN_A_MODULE: u64 = 20;

#[test]
fn the_simulator_and_the_second_machine_agree() {
    seeds().for_each(|seed| machine::check(&machine::seeded(seed, Kind::Exact)));
}

#[test]
fn loose_kernels_give_the_same_each_time() {
    seeds().for_each(|seed| machine::check_loose(&machine::seeded(seed, Kind::Loose)));
}

#[test]
fn wild_kernels_end_the_same_way_each_time() {
    seeds().for_each(|seed| machine::check_wild(&machine::seeded(seed, Kind::Wild)));
}

/// A device with these kernels, each named after its seed.
fn open(choice: DeviceChoice, folder: &Path, kernels: &[(u64, Kernel)]) -> Device {
    let mut text = HEADER.to_owned();
    for (seed, kernel) in kernels {
        let _ = writeln!(text, "{}", kernel.text(&format!("k{seed}")));
    }
    let file = folder.join("kernels.ptx");
    std::fs::write(&file, text).expect("the file is written");
    device::open(choice, &Options { ptx: vec![file.into()], ..Options::default() })
        .unwrap_or_else(|error| panic!("{choice}: {error}"))
}

/// Runs the kernel as a user's would run.
fn launch(device: &Device, name: &str, kernel: &Kernel) -> device::Result<Outcome> {
    let mut arguments = Arguments::new();
    let contents = [
        machine::input(kernel),
        vec![OUTPUT_BYTE; (kernel.threads() * RECORD_BYTES) as usize],
        vec![COMMON_BYTE; COMMON_BYTES as usize],
    ];
    let mut buffers = Vec::new();
    for contents in contents {
        let mut buffer = device.buffer::<u8>(contents.len())?;
        buffer.write(&contents)?;
        arguments.push_pointer(buffer.address());
        buffers.push(buffer);
    }
    let config = LaunchConfig::new(kernel.grid, kernel.block);
    // SAFETY: the kernel is generated to stay within these buffers.
    unsafe { device.launch_untyped(name, &config, &arguments)? };
    device.synchronize()?;
    Ok(Outcome { output: buffers[1].read()?, common: buffers[2].read()? })
}

/// Where the device and the second machine differ on this kernel.
fn difference(choice: DeviceChoice, device: &Device, seed: u64, kernel: &Kernel) -> Option<String> {
    let found = launch(device, &format!("k{seed}"), kernel)
        .unwrap_or_else(|error| panic!("{choice}, seed {seed}: {error}\n{kernel:?}"));
    let expected = scalar::run(kernel, &machine::input(kernel), OUTPUT_BYTE, COMMON_BYTE);
    machine::difference(&found, &expected)
}

/// The second machine stands for the simulator: the test above holds them together.
#[test]
fn devices_agree_with_the_second_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let gpu = cust_raw::load().is_ok().then_some(DeviceChoice::Gpu(0));
    for choice in [Some(DeviceChoice::Simulator), gpu].into_iter().flatten() {
        let mut failures = Vec::new();
        for first in seeds().step_by(IN_A_MODULE as usize) {
            let part = first..(first + IN_A_MODULE).min(seeds().end);
            let kernels: Vec<_> = part.map(|seed| (seed, machine::seeded(seed, Kind::Exact))).collect();
            let device = open(choice, folder.path(), &kernels);
            for (seed, kernel) in kernels {
                if let Some(difference) = difference(choice, &device, seed, &kernel) {
                    failures.push((seed, kernel, difference));
                }
            }
        }
        let Some((seed, first, _)) = failures.first() else { continue };
        let smallest = first.reduced(|part| {
            let device = open(choice, folder.path(), &[(*seed, part.clone())]);
            difference(choice, &device, *seed, part).is_some()
        });
        let lines: Vec<_> = failures.iter().map(|(seed, _, difference)| format!("seed {seed}: {difference}")).collect();
        panic!(
            "{choice} and one thread after another differ in {} of {} kernels:\n{}\nseed {seed}, cut down:\n{smallest:?}",
            failures.len(),
            seeds().count(),
            lines.join("\n")
        );
    }
}

/// What is cut off a kernel leaves a valid one; what is looked for stays, and little else.
#[test]
fn kernels_are_cut_down_to_what_is_looked_for() {
    for seed in 0..40 {
        let kernel = machine::seeded(seed, Kind::Exact);
        let calls = |kernel: &Kernel| kernel.text("k").contains("call (from)");
        if !calls(&kernel) {
            continue;
        }
        let mut tried = 0;
        let smallest = kernel.reduced(|part| {
            tried += 1;
            // Checking all of them would take minutes.
            if tried % 16 == 0 {
                machine::check(part);
            }
            calls(part)
        });
        assert!(calls(&smallest) && smallest.statements() == 1, "seed {seed}:\n{smallest:?}");
    }
}
