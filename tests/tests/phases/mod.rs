//! Kernels made of random phases compile, are right, and have no fault that the sanitizer knows.
//!
//! ```text
//! program: a random kernel  ──▶  source: as Rust    ──▶  cuda_builder  ──▶  the simulator, under all checks ┐
//!                           ──▶  interpreter: what it computes, block by block  ──────────────────────────▶ equal?
//! ```
//!
//! It needs the device compiler, and is skipped without it unless
//! `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

mod interpreter;
mod program;
mod source;

use std::path::Path;

use common::random::Random;
use cuda_builder::CudaBuilder;
use cuda_builder::toolchain::DeviceCompiler;
use cuda_std::launch::Arguments;
use device::{DeviceChoice, LaunchConfig, OnDevice, Options};
use simt::Checks;

use program::{BLOCKS, Program, THREADS};

/// How many kernels one run makes.
const KERNELS: u64 = 48;

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn random_kernels_in_phases_are_right_and_have_no_faults() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let programs: Vec<Program> = (0..KERNELS).map(|seed| Program::random(&mut Random::new(seed))).collect();
    let kernels: Vec<String> =
        programs.iter().enumerate().map(|(i, program)| source::kernel(&format!("kernel{i}"), program)).collect();
    let ptx = compiled(&format!("{}{}", source::PRELUDE, kernels.concat()));

    let options = Options { ptx: vec![ptx.into()], ..Options::default() };
    let device = device::open(DeviceChoice::Simulator, &options).unwrap();
    let input: Vec<u32> = (0..BLOCKS * THREADS).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut on_device = device.buffer(input.len()).unwrap();
    on_device.write(&input).unwrap();
    for (i, program) in programs.iter().enumerate() {
        let output = device.buffer::<u32>(input.len()).unwrap();
        let mut arguments = Arguments::new();
        arguments.push_pointer(on_device.address());
        arguments.push_bytes(&(input.len() as u64).to_ne_bytes(), 8);
        arguments.push_pointer(output.address());
        for extent in [THREADS / 32, 32 * BLOCKS, 32 * BLOCKS] {
            arguments.push_bytes(&extent.to_ne_bytes(), 4);
        }
        let blocks = LaunchConfig::new([BLOCKS, 1, 1], [32, THREADS / 32, 1]);
        let config = LaunchConfig { checks: Checks::ALL, ..blocks };
        // SAFETY: each kernel takes these two buffers.
        let report = unsafe { device.launch_untyped(&format!("kernel{i}"), &config, &arguments) };
        let report = report.unwrap_or_else(|error| panic!("{error}\n{}", kernels[i]));
        let findings = report.map(|report| format!("{:?}", report.findings())).unwrap_or_default();
        assert_eq!(findings, "[]", "{}", kernels[i]);
        assert_eq!(output.read().unwrap(), interpreter::output(program, &input), "{}", kernels[i]);
    }
}

/// The path of the PTX of a crate with these kernels.
fn compiled(source: &str) -> std::path::PathBuf {
    let temporary = env!("CARGO_TARGET_TMPDIR");
    let folder = coalesce_tests::crate_of_kernels(temporary, "random_phases", source);
    let builder = CudaBuilder::new(&folder).target_dir(Path::new(temporary).with_file_name("cuda-builder"));
    builder.copy_to(folder.join("kernels.ptx")).build().unwrap()
}
