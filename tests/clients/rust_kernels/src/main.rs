//! Ten programs after the examples of Rust-CUDA and cuda-oxide: each launches one kernel of
//! `kernels`, and compares its results with those of the host.

use std::error::Error;

use client_kernels::{TILE, hits, multiplied, point, sha256, steps};
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use cust::prelude::*;

const PTX: &str = include_str!(env!("KERNELS_PTX"));

type Outcome = Result<(), Box<dyn Error>>;
type Program = fn(&Gpu) -> Outcome;

/// The module, and a stream for launches.
struct Gpu {
    module: Module,
    stream: Stream,
}

/// Launches a kernel, and waits for its end.
macro_rules! run {
    ($gpu:ident, $kernel:literal, $grid:expr, $block:expr, $($argument:expr),*) => {{
        let kernel = $gpu.module.get_function($kernel)?;
        let stream = &$gpu.stream;
        // SAFETY: the arguments are those of the kernel, whose buffers live until its end.
        unsafe { launch!(kernel<<<$grid, $block, 0, stream>>>($($argument),*))? };
        stream.synchronize()?;
    }};
}

fn buffer<T: DeviceCopy>(values: &[T]) -> Result<DeviceBuffer<T>, Box<dyn Error>> {
    Ok(DeviceBuffer::from_slice(values)?)
}

/// A buffer of zeros.
fn zeros<T: DeviceCopy + Default + Clone>(count: usize) -> Result<DeviceBuffer<T>, Box<dyn Error>> {
    buffer(&vec![T::default(); count])
}

/// Fails unless a buffer has these values.
fn check<T: DeviceCopy + Default + Clone + PartialEq + std::fmt::Debug>(
    buffer: &DeviceBuffer<T>,
    expected: impl Fn(usize) -> T,
) -> Outcome {
    let mut found = vec![T::default(); buffer.len()];
    buffer.copy_to(&mut found)?;
    match found.iter().enumerate().find(|(index, value)| **value != expected(*index)) {
        Some((index, value)) => Err(format!("{value:?} at {index}, not {:?}", expected(index)).into()),
        None => Ok(()),
    }
}

fn vecadd(gpu: &Gpu) -> Outcome {
    let n = 1000;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (a, b, c) = (buffer(&values)?, buffer(&values)?, zeros::<f32>(n)?);
    run!(gpu, "vecadd", 8, 128, a.as_device_ptr(), n, b.as_device_ptr(), n, c.as_device_ptr(), n);
    check(&c, |i| 2.0 * i as f32)
}

/// Matrices of small integers, whose product has no rounding.
fn gemm(gpu: &Gpu, tiled: bool) -> Outcome {
    let n = 3 * TILE;
    let of = |i: usize, m: usize| (i * m % 7) as f32;
    let matrix = |m: usize| (0..n * n).map(|i| of(i, m)).collect::<Vec<_>>();
    let (a, b, c) = (buffer(&matrix(3))?, buffer(&matrix(5))?, zeros::<f32>(n * n)?);
    let (from, with, to, all) = (a.as_device_ptr(), b.as_device_ptr(), c.as_device_ptr(), n * n);
    if tiled {
        run!(gpu, "gemm_tiled", (3, 3), (TILE as u32, TILE as u32), from, all, with, all, n as u32, to, all);
    } else {
        run!(gpu, "gemm_naive", all.div_ceil(128) as u32, 128, from, all, with, all, n as u32, to, all);
    }
    check(&c, |i| (0..n).map(|k| of(i / n * n + k, 3) * of(k * n + i % n, 5)).sum())
}

fn hash(gpu: &Gpu) -> Outcome {
    let messages = [*b"abc", *b"sum", *b"xyz"];
    let (from, to) = (buffer(&messages)?, zeros::<u32>(3)?);
    run!(gpu, "hash", 1, 32, from.as_device_ptr(), 3usize, to.as_device_ptr(), 3usize);
    // The digest of "abc" is an example of the standard's.
    check(&to, |i| if i == 0 { 0xba78_16bf } else { sha256::digest(&messages[i])[0] })
}

fn modular(gpu: &Gpu) -> Outcome {
    let (n, m) = (100, (1 << 61) - 1);
    let values: Vec<u64> = (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let (a, out) = (buffer(&values)?, zeros::<u64>(n)?);
    run!(gpu, "modular", 1, 128, a.as_device_ptr(), n, a.as_device_ptr(), n, m, out.as_device_ptr(), n);
    check(&out, |i| multiplied(values[i], values[i], m))
}

fn picture(gpu: &Gpu) -> Outcome {
    let (width, height) = (64, 32);
    let out = zeros::<u32>(width * height)?;
    run!(gpu, "picture", 16, 128, width as u32, out.as_device_ptr(), out.len());
    let expected = |i: usize| {
        let (x, y) = point(i, width);
        steps(x, y)
    };
    check(&out, expected)
}

fn draw(gpu: &Gpu) -> Outcome {
    let (threads, draws) = (256, 100);
    let out = zeros::<u32>(threads)?;
    run!(gpu, "draw", 2, 128, draws, out.as_device_ptr(), threads);
    check(&out, |i| hits(i as u64 + 1, draws))?;
    let all: u32 = out.as_host_vec()?.iter().sum();
    let pi = 4.0 * f64::from(all) / (threads as f64 * f64::from(draws));
    if (pi - std::f64::consts::PI).abs() < 0.1 { Ok(()) } else { Err(format!("pi is {pi}").into()) }
}

fn warp_sums(gpu: &Gpu) -> Outcome {
    let values: Vec<u32> = (0..250).map(|i| i * i).collect();
    let (from, sums) = (buffer(&values)?, zeros::<u32>(8)?);
    run!(gpu, "warp_sums", 2, 128, from.as_device_ptr(), from.len(), sums.as_device_ptr(), sums.len());
    check(&sums, |i| values[32 * i..(32 * i + 32).min(250)].iter().sum())
}

fn mapped(gpu: &Gpu) -> Outcome {
    let values: Vec<i32> = (-50..50).collect();
    let (from, to, n) = (buffer(&values)?, zeros::<i32>(100)?, 100usize);
    run!(gpu, "mapped", 1, 128, from.as_device_ptr(), n, 3i32, to.as_device_ptr(), n);
    check(&to, |i| values[i] * 3 + 1)?;
    run!(gpu, "mapped", 1, 128, from.as_device_ptr(), n, 0i32, to.as_device_ptr(), n);
    check(&to, |i| {
        if values[i] == 0 {
            7
        } else if values[i] < 0 {
            -values[i]
        } else {
            values[i] % 10
        }
    })
}

fn histogram(gpu: &Gpu) -> Outcome {
    let values: Vec<u8> = (0..5000u32).map(|i| (i * i % 251) as u8).collect();
    let (from, counts) = (buffer(&values)?, zeros::<u32>(256)?);
    run!(gpu, "histogram", 4, 128, from.as_device_ptr(), from.len(), counts.as_device_ptr(), counts.len());
    check(&counts, |bin| values.iter().filter(|&&value| usize::from(value) == bin).count() as u32)
}

fn main() -> Outcome {
    cust_raw::load().map_err(|error| format!("{error}"))?;
    let _context = cust::quick_init()?;
    let gpu = Gpu { module: Module::from_ptx(PTX, &[])?, stream: Stream::new(StreamFlags::NON_BLOCKING, None)? };
    let programs: [(&str, Program); 10] = [
        ("vecadd", vecadd),
        ("gemm, naive", |gpu| gemm(gpu, false)),
        ("gemm, tiled", |gpu| gemm(gpu, true)),
        ("SHA-256", hash),
        ("128-bit integers", modular),
        ("a picture", picture),
        ("random numbers", draw),
        ("warp shuffles", warp_sums),
        ("closures", mapped),
        ("atomics", histogram),
    ];
    for (name, program) in programs {
        match program(&gpu) {
            Ok(()) => println!("ok   {name}"),
            Err(error) => println!("FAIL {name}: {error}"),
        }
    }
    Ok(())
}
