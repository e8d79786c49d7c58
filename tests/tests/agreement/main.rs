//! Host and device take the parameters of a kernel for the same types, or a launch fails and says
//! where they differ.
//!
//! The test compiles `kernels.rs` for the device, as a crate with the name of this one: types have
//! their crate in their names. It needs the device compiler, and is skipped without it unless
//! `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

mod kernels;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, CudaBuilderError};
use cuda_std::launch::Arguments;
use device::{Buffer, Device, DeviceChoice, LaunchConfig, OnDevice, Options, PtxFile, Result, open};
use simt::Report;

fn has_compiler() -> bool {
    match DeviceCompiler::find() {
        Ok(_) => true,
        Err(error) => {
            let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
            assert!(!required, "the compiler for devices is required here: {error}");
            false
        }
    }
}

/// A builder of the crate `name` with this source.
fn builder(name: &str, source: &str) -> CudaBuilder {
    let folder = coalesce_tests::crate_of_kernels(env!("CARGO_TARGET_TMPDIR"), name, source);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("cuda-builder");
    CudaBuilder::new(&folder).target_dir(target).copy_to(folder.join("kernels.ptx"))
}

/// The PTX of `kernels.rs`, with a feature that the host does not have.
fn ptx() -> &'static Path {
    static PTX: OnceLock<PathBuf> = OnceLock::new();
    PTX.get_or_init(|| {
        let kernels = include_str!("kernels.rs").split_once("#![allow(unused, unexpected_cfgs, missing_docs)]\n").unwrap().1;
        let lib = format!(
            "#![no_std]\n#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]\n#![allow(unused)]\npub mod kernels {{\n\
             {kernels}}}\n"
        );
        builder("agreement", &lib).build_args(&["--features", "wide"]).build().unwrap()
    })
}

fn device_with(file: PtxFile) -> Device {
    open(DeviceChoice::Simulator, &Options { ptx: vec![file], ..Options::default() }).unwrap()
}

fn buffer<T: bytemuck::Pod>(device: &Device, values: &[T]) -> Buffer<T> {
    let mut buffer = device.buffer(values.len()).unwrap();
    buffer.write(values).unwrap();
    buffer
}

/// The message of a launch that is refused, without the name of the PTX and the advice.
#[track_caller]
fn refusal(result: Result<Option<Report>>, ptx: &Path) -> String {
    let Err(error) = result else { panic!("the launch is not refused") };
    assert_eq!(error.exit_code(), 2);
    let line = error.to_string().replace(&ptx.display().to_string(), "PTX");
    assert!(!line.contains('\n'), "{line}");
    let advice = "; build the PTX anew, from the same sources and with the same features; if it is new, a `cfg` or a cargo \
                  feature that only one side has tells the two apart";
    line.strip_suffix(advice).unwrap_or(&line).to_owned()
}

#[test]
fn types_that_differ_are_named_by_the_launch() {
    if !has_compiler() {
        return;
    }
    let device = device_with(ptx().to_owned().into());
    let mut floats = buffer(&device, &[1.0_f32; 64]);
    let mut numbers = buffer(&device, &[1_u32; 64]);
    let pairs = buffer(&device, &[kernels::Pair(1, 2); 64]);
    let matrix = device.matrix::<[f32; 2]>(4, 4, false).unwrap();
    let config = LaunchConfig::linear(64, 64);
    let refused = |result| refusal(result, ptx());

    // What agrees runs, on each launch anew.
    let x = buffer(&device, &[1.5_f32; 64]);
    for _ in 0..2 {
        device.launch(&kernels::doubled, &config, (2.0, 1, &x, &mut floats)).unwrap();
        assert_eq!(floats.read().unwrap(), [4.0; 64]);
    }

    assert_eq!(
        refused(device.launch(&kernels::element, &config, (&mut floats,))),
        "kernel element: parameter 0, `x`, is `DisjointSlice<f32>` (4 bytes each, aligned to 4) for the host, but \
         `DisjointSlice<f64>` (8 bytes each, aligned to 8) in PTX"
    );
    assert_eq!(
        refused(device.launch(&kernels::value, &config, (2.0, &mut floats))),
        "kernel value: parameter 0, `factor`, is `f32` (4 bytes, aligned to 4) for the host, but `f64` (8 bytes, aligned to \
         8) in PTX"
    );
    assert!(
        refused(device.launch(&kernels::matrix, &config, (&matrix,))).contains("`Matrix<[f64; 2]>` (16 bytes each")
    );
    assert!(refused(device.launch(&kernels::bits, &config, (&floats,))).contains("but `&[u32]` (4 bytes each"));
    assert_eq!(
        refused(device.launch(&kernels::pairs, &config, (&pairs,))),
        "kernel pairs: parameter 0, `x`, is `&[agreement::kernels::Pair]` (8 bytes each, aligned to 4) for the host, but \
         `&[agreement::kernels::Pair]` (8 bytes each, aligned to 8) in PTX"
    );
    assert!(refused(device.launch(&kernels::counts, &config, (&mut numbers,))).contains("but `DisjointSlice<u64>`"));
    // SAFETY: it is refused.
    let unchecked = unsafe { device.launch_unchecked(&kernels::pointer, &config, (&mut floats,)) };
    assert!(refused(unchecked).contains("is `*mut f32` (4 bytes each, aligned to 4) for the host, but `*mut f64`"));
    assert_eq!(numbers.read().unwrap(), [1; 64]);
}

#[test]
fn a_static_s_value_is_compared_too() {
    if !has_compiler() {
        return;
    }
    let device = device_with(ptx().to_owned().into());
    device.variable(&kernels::TABLE).unwrap().write(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    let error = device.variable(&kernels::LIMIT).err().unwrap().to_string();
    let expected = "variable LIMIT: is `f32` (4 bytes, aligned to 4) for the host, but `u32` (4 bytes, \
                    aligned to 4) in ";
    assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
}

#[test]
fn kernels_of_one_name_on_both_sides_are_compared() {
    if !has_compiler() {
        return;
    }
    use kernels::of_host::{block, count, form, missing, safety, shape};
    let device = device_with(ptx().to_owned().into());
    let mut x = buffer(&device, &[1_u32; 64]);
    let config = LaunchConfig::linear(64, 64);
    let refused = |result| refusal(result, ptx());
    assert_eq!(
        refused(device.launch(&shape, &config, (&mut x,))),
        "kernel shape: is `safe linear` for the host, but `safe` in PTX"
    );
    assert_eq!(
        refused(device.launch(&block, &config, (&mut x,))),
        "kernel block: is `safe` for the host, but `safe block(32, 8, 1)` in PTX"
    );
    assert_eq!(
        refused(device.launch(&safety, &config, (&x,))),
        "kernel safety: is `safe` for the host, but `unsafe` in PTX"
    );
    assert!(refused(device.launch(&form, &config, (&mut x,))).contains("is `DisjointSlice<u32>`"));
    assert_eq!(
        refused(device.launch(&count, &config, (&x,))),
        "kernel count: has 1 parameter for the host, but 2 parameters in PTX"
    );
    assert!(refused(device.launch(&missing, &config, (&x,))).starts_with("kernel missing: is not in PTX, which has "));
    // A kernel of the course, which has other types there.
    let floats = buffer(&device, &[1.0_f32; 64]);
    let mut sums = buffer(&device, &[0.0_f32; 64]);
    let course = device.launch(&::kernels::offset::offset_read, &config, (&floats, &floats, &mut sums, 0));
    assert!(
        refused(course)
            .contains("parameter 0, `a`, is `&[f32]` (4 bytes each, aligned to 4) for the host, but `&[f64]`")
    );
}

#[test]
fn ptx_without_signatures_is_launched_by_unsafe_code_alone() {
    if !has_compiler() {
        return;
    }
    // As another compiler would write it.
    let text = fs::read_to_string(ptx()).unwrap();
    let plain: String =
        text.lines().map(|line| line.split("\t// coalesce: ").next().unwrap().to_owned() + "\n").collect();
    let file = ptx().with_file_name("foreign.ptx");
    fs::write(&file, plain).unwrap();
    let config = LaunchConfig::linear(64, 64);
    let device = device_with(file.clone().into());
    let x = buffer(&device, &[1.5_f32; 64]);
    let mut y = buffer(&device, &[0.0_f32; 64]);
    assert_eq!(
        refusal(device.launch(&kernels::doubled, &config, (2.0, 1, &x, &mut y)), &file),
        "kernel doubled: has no signature in PTX, so a safe launch cannot know what it takes: compile it by \
         `cuda_builder`, launch it by an `unsafe` function, or promise by `PtxFile::trusted` that it takes what the host \
         passes"
    );
    // SAFETY: the kernel is that of the handle.
    unsafe { device.launch_unchecked(&kernels::doubled, &config, (2.0, 1, &x, &mut y)) }.unwrap();
    assert_eq!(y.read().unwrap(), [4.0; 64]);
    let mut arguments = Arguments::new();
    arguments.push_bytes(&3.0_f32.to_le_bytes(), 4);
    arguments.push_bytes(&2_u64.to_le_bytes(), 8);
    arguments.push_slice(x.address(), 64);
    arguments.push_slice(y.address(), 64);
    // SAFETY: as before.
    unsafe { device.launch_untyped("doubled", &config, &arguments) }.unwrap();
    assert_eq!(y.read().unwrap(), [6.5; 64]);

    // SAFETY: the kernels that are launched are those of the handles, or refused.
    let device = device_with(unsafe { PtxFile::from(file.clone()).trusted() });
    let x = buffer(&device, &[1.5_f32; 64]);
    let mut y = buffer(&device, &[0.0_f32; 64]);
    device.launch(&kernels::doubled, &config, (2.0, 1, &x, &mut y)).unwrap();
    assert_eq!(y.read().unwrap(), [4.0; 64]);
    // Sizes are compared still.
    assert_eq!(
        refusal(device.launch(&kernels::value, &config, (2.0, &mut y)), &file),
        "kernel value: has 8 bytes in parameter 0, but the argument has 4; PTX was compiled from different kernels"
    );
}

#[test]
fn two_kernels_of_one_name_are_refused_with_both_lines() {
    if !has_compiler() {
        return;
    }
    let source = "#![no_std]
#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]
use cuda_std::kernel;
#[kernel]
pub fn twice(x: &[u32]) {}
pub mod inner {
    use cuda_std::kernel;
    #[kernel(block(32))]
    pub fn twice(x: &[u64]) {}
}
";
    let error = builder("two_kernels", source).build().unwrap_err();
    let CudaBuilderError::BuildFailed { messages, .. } = &error else { panic!("{error}") };
    for part in ["the name `twice` is defined multiple times", "5 | pub fn twice(", "9 |     pub fn twice("] {
        assert!(messages.contains(part), "{messages}\nlacks {part}");
    }
    assert!(!messages.contains("__coalesce"), "{messages}");
}
