//! The table of the lab, which each pass reads beside its part of a stream.

use std::sync::OnceLock;

use common::random::Random;
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use cuda_std::vector::u32x4;
use device::{AccessWindow, Buffer, Device, LaunchConfig, OnDevice as _, Result};
use kernels::order_table::BLOCK;
use serde_json::json;

use super::Data;
use crate::labs::compare::Shape;
use crate::labs::lab::{Outcome, Variant};

/// A kernel that makes the passes.
pub(super) type Kernel = SafeKernel<(Slice<u32x4>, Slice<u32x4>, DisjointSlice<u32>)>;

/// Threads of a multiprocessor: as many as each GPU has room for. All run at once, so that a pass is
/// over before the next one begins.
const THREADS: u32 = 512;

/// A table, and as many times as much of a stream as there are passes.
pub(super) struct Passes {
    pub(super) table: Vec<u32>,
    stream: Vec<u32>,
    /// What each thread adds up: the same in all rows.
    expected: OnceLock<Vec<u32>>,
}

/// The data on a device.
pub(super) struct OnDevice {
    stream: Buffer<u32x4>,
    table: Buffer<u32x4>,
    /// One of each thread.
    pub(super) sums: Buffer<u32>,
}

/// Four numbers each.
fn quads(numbers: &[u32]) -> Vec<u32x4> {
    numbers.chunks_exact(4).map(|quad| u32x4::from([quad[0], quad[1], quad[2], quad[3]])).collect()
}

impl Passes {
    /// Random numbers.
    pub(super) fn random(size: usize, passes: usize, random: &mut Random) -> Self {
        let mut numbers = |count: usize| (0..count).map(|_| random.next_u64() as u32).collect();
        Self { table: numbers(size), stream: numbers(size * passes), expected: OnceLock::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.stream.len() / self.table.len().max(1)
    }

    pub(super) fn place(&self, device: &Device) -> Result<OnDevice> {
        let threads = (device.multiprocessors() * THREADS) as usize;
        let mut data = OnDevice {
            stream: device.buffer(self.stream.len() / 4)?,
            table: device.buffer(self.table.len() / 4)?,
            sums: device.buffer(threads)?,
        };
        data.stream.write(&quads(&self.stream))?;
        data.table.write(&quads(&self.table))?;
        Ok(data)
    }

    /// `keeps`: with an access policy window over the table.
    pub(super) fn variant(&self, name: &str, kernel: &'static Kernel, keeps: bool) -> Variant<'_, Data> {
        let table_bytes = size_of_val(self.table.as_slice()) as u64;
        let all_bytes = size_of_val(self.stream.as_slice()) as u64 + table_bytes;
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| {
                let OnDevice { stream, table, sums } = &mut data.passes;
                let window = keeps.then_some(AccessWindow { address: table.address(), bytes: table_bytes });
                let launch = LaunchConfig { window, ..LaunchConfig::linear(sums.len(), BLOCK) };
                launcher.launch(kernel, &launch, (&*stream, &*table, sums))
            },
            move |data| {
                let found = data.passes.sums.read()?;
                let expected = self.expected.get_or_init(|| self.sums(found.len()));
                // A device with another number of multiprocessors has other threads.
                let again = (expected.len() != found.len()).then(|| self.sums(found.len()));
                let expected = again.as_ref().unwrap_or(expected);
                Ok(Outcome::exact(Shape::Vector(found.len()), found, |_, thread| expected[thread]))
            },
        );
        variant
            .group("table")
            .fact("ideal_bytes", all_bytes)
            .fact("window", json!(keeps))
            .bytes(all_bytes + (self.count() as u64).saturating_sub(1) * table_bytes)
    }

    /// What each of so many threads adds up.
    fn sums(&self, threads: usize) -> Vec<u32> {
        let mut sums = vec![0_u32; threads];
        for pass in self.stream.chunks_exact(self.table.len().max(1)) {
            for (quad, (values, weights)) in pass.chunks_exact(4).zip(self.table.chunks_exact(4)).enumerate() {
                let sum = &mut sums[quad % threads];
                for (value, weight) in values.iter().zip(weights) {
                    *sum = sum.wrapping_add(value.wrapping_mul(*weight));
                }
            }
        }
        sums
    }
}
