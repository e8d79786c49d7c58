//! The lab `offset`: reads and writes that start in the middle of a sector. The kernels and what they show are in
//! `kernels::offset`. Listed in [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use std::path::PathBuf;

use clap::Args;
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use device::flag_values::{each_once, whole_number};
use device::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, POISON, Result};
use kernels::offset as kernel;
use serde_json::{Value, json};

use super::inputs::{DefaultSize, Room, VectorFlags, named, second_vector};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::settings::Settings;
use crate::report::{Cost, LabReport, Subject};
use crate::units::{percent, three_digits};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 16 };

/// Three vectors on the device; A, B and one output at a time on the host.
const ROOM: Room = Room { what: "adding vectors", on_device: 3, on_host: 3 };

/// The flags of `host offset`.
///
/// With neither `--read` nor `--write`, both run.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Shift the reads: `C[i] = A[i+k] + B[i+k]`
    #[arg(long, help_heading = "Variants (default: both)")]
    pub read: bool,
    /// Shift the writes: `C[i+k] = A[i] + B[i]`
    #[arg(long, help_heading = "Variants (default: both)")]
    pub write: bool,

    /// The offsets k in elements, separated by commas [default: 0, 1 and 8, where below the size]
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = whole_number(0, u64::MAX))]
    pub offset: Vec<u64>,
    /// All offsets from 0 to 32, and 128
    #[arg(long, conflicts_with = "offset")]
    pub all: bool,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub block: u32,
    /// The vector A.
    #[command(flatten)]
    pub a: VectorFlags,
    /// Take the float32 vector in this NumPy file as B instead of a random one
    #[arg(long, value_name = "B.npy", requires = "input")]
    pub input_b: Option<PathBuf>,
}

/// The kernels' parameters: A, B, C, offset.
type Parameters = (Slice<f32>, Slice<f32>, DisjointSlice<f32>, usize);

/// Which side is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Both loads.
    Read,
    /// The store.
    Write,
}

/// The lab: two vectors, their sum, and the offsets.
pub struct Offset {
    options: Options,
    a: Vec<f32>,
    b: Vec<f32>,
    offsets: Vec<usize>,
}

/// The data on a device.
pub struct Data {
    a: Buffer<f32>,
    b: Buffer<f32>,
    sums: Buffer<f32>,
}

impl Lab for Offset {
    const NAME: &'static str = "offset";
    const ABOUT: &'static str = "Misaligned vectors: a warp takes five sectors, not four";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads, Subject::GlobalStores, Subject::ActiveLanes];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let a: Vec<f32> = options.a.vector(device, SIZE, ROOM, &mut random)?;
        let b =
            second_vector(options.input_b.as_deref(), a.len(), "A and B are added element by element", &mut random)?;
        let offsets = offsets(&options.offset, options.all, a.len())?;
        Ok(Self { options, a, b, offsets })
    }

    fn parameters(&self) -> Value {
        let Options { block, a, input_b, .. } = &self.options;
        json!({"size": self.a.len(), "block": block, "input": named(a.input.as_ref()), "input_b": named(input_b.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.a.len();
        let mut data = Data { a: device.buffer(size)?, b: device.buffer(size)?, sums: device.buffer(size)? };
        data.a.write(&self.a)?;
        data.b.write(&self.b)?;
        let sides = chosen(&[(Side::Read, self.options.read), (Side::Write, self.options.write)]);
        let variants = sides.into_iter().flat_map(|side| self.offsets.iter().map(move |&k| self.variant(side, k)));
        Ok(Plan::new(data, variants.collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.sums.poison()
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let of = |k: usize| Cost::of_loads(report.counters(&format!("read+{k}"))?);
        let worst = report.variants.iter().filter(|variant| variant.group == "read").filter_map(|variant| {
            let k = variant.fact("offset")?.as_u64()? as usize;
            Some((k, of(k)?))
        });
        let worst = worst.max_by(|a, b| a.1.per_request.total_cmp(&b.1.per_request).then(b.0.cmp(&a.0)));
        let counted = || {
            let (aligned, (k, misaligned)) = (of(0)?, worst?);
            if k == 0 {
                // No offset is worse.
                return None;
            }
            Some(format!(
                "A warp's load takes {aligned} at offset 0 and {} at offset {k}: {} and {} of their bytes are used.",
                three_digits(misaligned.per_request),
                percent(aligned.percent_used),
                percent(misaligned.percent_used)
            ))
        };
        let time = || {
            let slowest = report.variants.iter().filter_map(|variant| Some((variant, variant.speedup?)));
            let (variant, speedup) = slowest.min_by(|a, b| a.1.total_cmp(&b.1))?;
            // Speed-ups are over the first offset.
            if self.offsets.first() != Some(&0) || variant.fact("offset") == Some(&0.into()) {
                return None;
            }
            Some(format!(
                "The slowest offset, {}, takes {} times as long as offset 0: neighbouring warps share it in the cache.",
                variant.name,
                three_digits(1.0 / speedup)
            ))
        };
        [time(), counted()].into_iter().flatten().collect()
    }
}

impl Offset {
    fn variant(&self, side: Side, offset: usize) -> Variant<'_, Data> {
        let size = self.a.len();
        let launch = LaunchConfig::linear(size, self.options.block);
        let (name, written): (_, std::ops::Range<usize>) = match side {
            Side::Read => ("read", 0..size - offset),
            Side::Write => ("write", offset..size),
        };
        let bytes = (written.len() * size_of::<f32>()) as u64;
        Variant::new(
            format!("{name}+{offset}"),
            move |data: &mut Data, launcher| {
                launcher.launch(side.kernel(), &launch, (&data.a, &data.b, &mut data.sums, offset))
            },
            move |data| {
                let found = data.sums.read()?;
                Ok(Outcome::exact_part(found, written.clone(), |_, i| self.expected(side, offset, i)))
            },
        )
        .group(name)
        .axis("shifted", name)
        .axis("offset", offset)
        .fact("grid", json!(launch.grid))
        .bytes(3 * bytes)
        .computes(format!("the sums of {name}+{offset}"), bytes)
    }

    /// The expected element `index` of C: a sum, or poison where the kernel writes nothing.
    fn expected(&self, side: Side, offset: usize, index: usize) -> f32 {
        let from = match side {
            Side::Read => index.checked_add(offset),
            Side::Write => index.checked_sub(offset),
        };
        match from.and_then(|from| self.a.get(from).zip(self.b.get(from))) {
            Some((a, b)) => a + b,
            None => f32::from_le_bytes([POISON; 4]),
        }
    }
}

impl Side {
    fn kernel(self) -> &'static SafeKernel<Parameters> {
        match self {
            Self::Read => &kernel::offset_read,
            Self::Write => &kernel::offset_write,
        }
    }
}

/// The offsets of the flag, all, or the default ones, for vectors of `size` elements.
fn offsets(named: &[u64], all: bool, size: usize) -> Result<Vec<usize>> {
    if all {
        return Ok((0..=32).chain([128]).filter(|&offset| offset < size).collect());
    }
    if named.is_empty() {
        return Ok([0, 1, 8].into_iter().filter(|&offset| offset < size).collect());
    }
    let check = |&offset: &u64| {
        usize::try_from(offset).ok().filter(|&offset| offset < size).ok_or_else(|| {
            Error::flag("--offset", format!("{offset} is not below the size of {size} elements; give a smaller offset"))
        })
    };
    named.iter().map(check).collect::<Result<_>>().map(each_once)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_below_the_size() {
        let all = offsets(&[], true, 1000).unwrap();
        assert_eq!((all.len(), all[0], all[33]), (34, 0, 128));
        assert_eq!(offsets(&[], false, 1000).unwrap(), [0, 1, 8]);
        assert_eq!(offsets(&[], false, 1).unwrap(), [0]);
        assert_eq!(offsets(&[0, 11, 128], false, 1000).unwrap(), [0, 11, 128]);
        assert_eq!(offsets(&[1, 0, 1], false, 1000).unwrap(), [1, 0]);
        assert_eq!(
            offsets(&[128], false, 100).unwrap_err().to_string(),
            "--offset: 128 is not below the size of 100 elements; give a smaller offset"
        );
    }

    #[test]
    fn the_reference_shifts_the_right_side() {
        let lab = Offset {
            options: device::flag_values::defaults(),
            a: vec![1.0, 2.0, 3.0],
            b: vec![10.0, 20.0, 30.0],
            offsets: vec![1],
        };
        let poison = f32::from_le_bytes([POISON; 4]);
        let of = |side| [0, 1, 2].map(|index| lab.expected(side, 1, index));
        assert_eq!(of(Side::Read), [22.0, 33.0, poison]);
        assert_eq!(of(Side::Write), [poison, 11.0, 22.0]);
    }
}
