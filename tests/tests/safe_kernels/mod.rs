//! Kernels made of random safe Rust have no fault that the sanitizer knows, if they compile.
//!
//! ```text
//! writer: random safe kernels  ──▶  cuda_builder, which refuses some  ──▶  the simulator, under all checks
//! ```
//!
//! `tests/phases` also compares what kernels compute; here they may be of any form, shape and size.
//! Each tile is written before it is read, since shared memory has no value at first, and a read of
//! that is no fault of safe code.
//!
//! It needs the device compiler, and is skipped without it unless
//! `COALESCE_REQUIRE_DEVICE_COMPILER` is 1. `COALESCE_SAFE_KERNELS` sets the seeds: `500` (the
//! first so many), or `500..600`.

mod writer;

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use common::random::Random;
use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, CudaBuilderError};
use cuda_std::launch::Arguments;
use cuda_std::vector::u32x4;
use device::limits::Limits;
use device::{Buffer, Device, DeviceChoice, LaunchConfig, OnDevice, Options};
use simt::Checks;

use writer::{Kernel, PRELUDE, Shape};

/// Kernels of one crate.
const IN_A_CRATE: usize = 40;

/// More warp instructions than any of these launches has, unless it does not end.
const STEPS: u64 = 20_000_000;

/// The seeds that are tried, or those that `COALESCE_SAFE_KERNELS` names.
fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("COALESCE_SAFE_KERNELS") else { return 0..IN_A_CRATE as u64 };
    let number = |text: &str| text.parse::<u64>().expect("COALESCE_SAFE_KERNELS is a number, or two: 500..600");
    match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&text),
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn random_safe_kernels_have_no_faults() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let (mut tried, mut run) = (0, 0);
    for first in seeds().step_by(IN_A_CRATE) {
        let seeds = first..seeds().end.min(first + IN_A_CRATE as u64);
        let mut kernels: Vec<(u64, Kernel)> =
            seeds.map(|seed| (seed, Kernel::random(&format!("k{seed}"), seed))).collect();
        tried += kernels.len();
        let ptx = compiled(&mut kernels);
        run += kernels.len();
        let limits = Limits { step_limit: Some(STEPS), ..Limits::default() };
        let device =
            device::open(DeviceChoice::Simulator, &Options { ptx: vec![ptx.into()], limits, ..Options::default() });
        let device = device.unwrap();
        for (seed, kernel) in &kernels {
            launches(*seed, kernel.shape).iter().for_each(|config| launch(&device, *seed, kernel, config));
        }
    }
    assert!(3 * run >= tried, "the builder refuses all but {run} of {tried} kernels");
}

/// Compiles the kernels, without those that the builder refuses.
fn compiled(kernels: &mut Vec<(u64, Kernel)>) -> PathBuf {
    match build(kernels) {
        Ok(ptx) => ptx,
        Err(CudaBuilderError::Uniformity { findings }) => {
            let messages: Vec<String> = findings.iter().map(ToString::to_string).collect();
            let name =
                |message: &'_ str| Some(message.split_once("kernel `k")?.1.split_once('`')?.0.parse::<u64>().unwrap());
            let refused: HashSet<u64> = messages.iter().filter_map(|message| name(message)).collect();
            assert!(!refused.is_empty(), "{messages:?}");
            kernels.retain(|(seed, _)| !refused.contains(seed));
            build(kernels).unwrap_or_else(|error| panic!("{error}"))
        }
        Err(error) => panic!("{error}"),
    }
}

fn build(kernels: &[(u64, Kernel)]) -> Result<PathBuf, CudaBuilderError> {
    let source: String = kernels.iter().map(|(_, kernel)| kernel.source.as_str()).collect();
    let temporary = env!("CARGO_TARGET_TMPDIR");
    let folder = coalesce_tests::crate_of_kernels(temporary, "random_safe", &format!("{PRELUDE}{source}"));
    let target = Path::new(temporary).with_file_name("cuda-builder");
    CudaBuilder::new(&folder).target_dir(target).copy_to(folder.join("kernels.ptx")).build()
}

/// Two launches that the kernel allows.
fn launches(seed: u64, shape: Shape) -> [LaunchConfig; 2] {
    let mut random = Random::new(seed ^ 0x5eed);
    [0, 1].map(|_| {
        let mut one = |of: &[[u32; 3]]| of[(random.next_u64() % of.len() as u64) as usize];
        let lines = [[1, 1, 1], [2, 1, 1], [5, 1, 1]];
        let grids = [[1, 1, 1], [3, 1, 1], [2, 2, 1], [1, 3, 2], [2, 1, 2]];
        let (grid, block) = match shape {
            Shape::Linear => (one(&lines), one(&[[1, 1, 1], [32, 1, 1], [77, 1, 1], [256, 1, 1]])),
            Shape::Free => (one(&grids), one(&[[64, 1, 1], [8, 4, 2], [5, 5, 5], [1, 40, 1], [32, 3, 1]])),
            Shape::Block(block) => (one(&grids), block),
            Shape::LinearBlock(x) => (one(&lines), [x, 1, 1]),
        };
        LaunchConfig { checks: Checks::ALL, ..LaunchConfig::new(grid, block) }
    })
}

/// Elements of this number, from a few to more than there are threads.
fn filled<T: Pod>(device: &Device, random: &mut Random, of: &[usize], element: impl Fn(u64) -> T) -> Buffer<T> {
    let length = of[(random.next_u64() % of.len() as u64) as usize];
    let values: Vec<T> = (0..length).map(|_| element(random.next_u64())).collect();
    let mut buffer = device.buffer(length).unwrap();
    buffer.write(&values).unwrap();
    buffer
}

fn launch(device: &Device, seed: u64, kernel: &Kernel, config: &LaunchConfig) {
    let random = &mut Random::new(seed);
    let number = |bits: u64| bits as u32;
    let [input, out] = [0; 2].map(|_| filled(device, random, &[0, 1, 100, 1000], number));
    let bytes = filled(device, random, &[0, 7, 300], |bits| bits as u8);
    let words = filled(device, random, &[0, 33, 400], |bits| u32x4::splat(bits as u32));
    let sums = filled(device, random, &[1, 4], number);
    // 7 x 37, 24 x 130 and 64 x 64, in rows that are 40, 130 and 66 elements apart.
    let extents = [[7, 37, 40], [24, 130, 130], [64, 64, 66_u32]];
    let matrices = [0; 3].map(|_| {
        let [rows, cols, pitch] = extents[(random.next_u64() % 3) as usize];
        (filled(device, random, &[(rows * pitch) as usize], number), [rows, cols, pitch])
    });
    let mut arguments = Arguments::new();
    let matrix = |arguments: &mut Arguments, index: usize| {
        let (buffer, [rows, cols, pitch]): &(Buffer<u32>, _) = &matrices[index];
        arguments.push_matrix(buffer.address(), *rows, *cols, *pitch);
    };
    arguments.push_bytes(&(random.next_u64() as u32 % 100).to_le_bytes(), 4);
    arguments.push_slice(input.address(), input.len());
    arguments.push_slice(bytes.address(), bytes.len());
    matrix(&mut arguments, 0);
    arguments.push_slice(out.address(), out.len());
    arguments.push_slice(words.address(), words.len());
    if kernel.has_plane {
        matrix(&mut arguments, 1);
    }
    if kernel.phased {
        arguments.push_slice(sums.address(), sums.len());
        matrix(&mut arguments, 2);
    }
    // SAFETY: each kernel takes these buffers, in launches of this shape.
    let report = unsafe { device.launch_untyped(&format!("k{seed}"), config, &arguments) };
    let shown = || format!("{:?} {:?} of\n{}", config.grid, config.block, kernel.source);
    let report = report.unwrap_or_else(|error| panic!("{error}\n{}", shown())).unwrap();
    let findings: Vec<String> = report.findings().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}\n{}", findings.join("\n"), shown());
}
