//! Course row 3: reads and writes that start in the middle of a sector. The kernels and what they show are in
//! `kernels::offset`.

use std::path::PathBuf;

use clap::{ArgMatches, Args};
use cuda_std::launch::{Kernel, PointerMut, Slice};
use kernels::offset as kernel;
use serde_json::{Map, Value, json};

use super::flow::{self, Description, Lab, Settings};
use super::{Entry, check};
use crate::device::{Buffer, Counters, Device, LaunchConfig, OnDevice, POISON};
use crate::error::{Error, Result};
use crate::flag_values::whole_number;
use crate::progress::Progress;
use crate::random::Random;
use crate::report::{Check, LabReport};
use crate::{memory, npy, output_file};

/// This lab in the list.
pub const ENTRY: Entry = Entry {
    name: NAME,
    about: ABOUT,
    kernels: &["offset_read", "offset_write"],
    command: || super::command::<Options>(NAME, ABOUT),
    run: |device, matches: &ArgMatches, progress: Progress| {
        let mut options: Options = super::options(matches)?;
        options.settings.progress = progress;
        run(device, &options)
    },
};

const NAME: &str = "offset";
const ABOUT: &str = "Add two vectors with reads or writes that start in the middle of a sector (course row 3)";

/// Elements of a vector where no flag says otherwise: on a GPU large against its level-2 cache, on the simulator quick.
const SIZE_ON_GPU: usize = 1 << 26;
const SIZE_ON_SIMULATOR: usize = 1 << 16;

/// The flags of `host offset`.
///
/// With neither `--read` nor `--write`, both run.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Shift the reads: `C[i] = A[i+k] + B[i+k]`
    #[arg(long, help_heading = "Variants (both if none is named)")]
    pub read: bool,
    /// Shift the writes: `C[i+k] = A[i] + B[i]`
    #[arg(long, help_heading = "Variants (both if none is named)")]
    pub write: bool,

    /// The offsets k in elements, with commas between [default: 0 to 32 and 128, as far as they are below the size]
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = whole_number(0, u64::MAX))]
    pub offset: Vec<u64>,
    /// Elements of each vector; 1000 is the lab sheet's size [default: 67108864 on a GPU, 65536 on the simulator]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::MAX))]
    pub size: Option<u64>,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub block: u32,
    /// Take the float32 vector in this NumPy file as A; B stays random
    #[arg(long, value_name = "A.npy", conflicts_with = "size")]
    pub input: Option<PathBuf>,
    /// Write the sums to this NumPy file, wrong ones too, with a note; for a single offset and one of --read and --write
    #[arg(long, value_name = "C.npy")]
    pub output: Option<PathBuf>,

    /// Flags that every lab has.
    #[command(flatten)]
    pub settings: Settings,
}

impl Default for Options {
    fn default() -> Self {
        super::defaults()
    }
}

/// The kernels' common parameters: a, b, c, offset.
type Parameters = (Slice<f32>, Slice<f32>, PointerMut<f32>, usize);

/// Which side is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Both loads.
    Read,
    /// The store.
    Write,
}

/// One launch: a side and its offset in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    side: Side,
    offset: usize,
}

impl Variant {
    /// The variants that the flags name, for vectors of `size` elements.
    fn chosen(options: &Options, size: usize) -> Result<Vec<Self>> {
        let offsets: Vec<usize> = if options.offset.is_empty() {
            (0..=32).chain([128]).filter(|&offset| offset < size).collect()
        } else {
            options
                .offset
                .iter()
                .map(|&offset| {
                    usize::try_from(offset).ok().filter(|&offset| offset < size).ok_or_else(|| {
                        Error::flag(
                            "--offset",
                            format!("{offset} leaves nothing of {size} elements; give one below the size"),
                        )
                    })
                })
                .collect::<Result<_>>()?
        };
        let both = options.read == options.write;
        let sides = [(Side::Read, options.read), (Side::Write, options.write)];
        Ok(sides
            .into_iter()
            .filter(|(_, named)| both || *named)
            .flat_map(|(side, _)| offsets.iter().map(move |&offset| Self { side, offset }))
            .collect())
    }

    fn name(self) -> String {
        match self.side {
            Side::Read => format!("read+{}", self.offset),
            Side::Write => format!("write+{}", self.offset),
        }
    }

    fn kernel(self) -> &'static Kernel<Parameters> {
        match self.side {
            Side::Read => &kernel::offset_read,
            Side::Write => &kernel::offset_write,
        }
    }

    /// What element `index` of C should be afterwards: a sum, or the poison where the kernel writes nothing.
    fn expected(self, a: &[f32], b: &[f32], index: usize) -> f32 {
        let from = match self.side {
            Side::Read => index.checked_add(self.offset),
            Side::Write => index.checked_sub(self.offset),
        };
        match from.and_then(|from| a.get(from).zip(b.get(from))) {
            Some((a, b)) => a + b,
            None => f32::from_le_bytes([POISON; 4]),
        }
    }

    /// The elements of C that the kernel writes.
    fn written(self, size: usize) -> std::ops::Range<usize> {
        match self.side {
            Side::Read => 0..size - self.offset,
            Side::Write => self.offset..size,
        }
    }
}

/// The lab with its data on a device.
struct Offset<'a> {
    options: &'a Options,
    a: &'a [f32],
    b: &'a [f32],
    on_device: [Buffer<f32>; 2],
    output: Buffer<f32>,
    /// What the last variant wrote.
    result: Option<Vec<f32>>,
}

/// Runs the variants that the options name.
///
/// # Errors
///
/// [`Error::Flag`], [`Error::File`] and [`Error::OutOfMemory`] before anything runs; those of the device after.
pub fn run(device: &Device, options: &Options) -> Result<LabReport> {
    if let Some(path) = &options.output {
        output_file::check(path)?;
        if options.offset.len() != 1 || options.read == options.write {
            return Err(Error::flag(
                "--output",
                "several variants would write it; give one --offset, and --read or --write",
            ));
        }
    }
    let (a, b) = inputs(device, options)?;
    let size = a.len();
    if options.output.is_some() {
        device.limits().check_output("the vector of --output", (size * size_of::<f32>()) as u64)?;
    }
    let variants = Variant::chosen(options, size)?;

    let (report, lab) = flow::run(NAME, device, &options.settings, |device| {
        let mut lab = Offset {
            options,
            a: &a,
            b: &b,
            on_device: [device.buffer(size)?, device.buffer(size)?],
            output: device.buffer(size)?,
            result: None,
        };
        lab.on_device[0].write(&a)?;
        lab.on_device[1].write(&b)?;
        Ok((lab, variants.clone()))
    })?;
    let result = lab.result.as_deref();
    let shape = [result.map_or(0, <[f32]>::len)];
    flow::save(options.output.as_deref(), &shape, result, &report, &options.settings)?;
    Ok(report)
}

/// The vectors A and B.
fn inputs(device: &Device, options: &Options) -> Result<(Vec<f32>, Vec<f32>)> {
    // Three vectors on the device; A, B and one output at a time on the host.
    let room = |size: u64| {
        let bytes = size.saturating_mul(3 * size_of::<f32>() as u64);
        let what = format!("adding vectors of {size} elements");
        let simulated = if device.properties().is_gpu() { 0 } else { bytes };
        memory::check_host(&what, bytes.saturating_add(simulated))?;
        device.check_room(&what, bytes)
    };
    let mut random = Random::new(options.settings.seed);
    if let Some(path) = &options.input {
        let a = npy::read::<f32>(path, 1)?.data;
        room(a.len() as u64)?;
        let b = random.vector(a.len());
        return Ok((a, b));
    }
    let default = match device.properties().is_gpu() {
        true => SIZE_ON_GPU,
        false => SIZE_ON_SIMULATOR,
    };
    let size = options.size.unwrap_or(default as u64);
    room(size)?;
    let size = size as usize;
    Ok((random.vector(size), random.vector(size)))
}

impl Lab for Offset<'_> {
    type Variant = Variant;

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("size".into(), self.a.len().into());
        parameters.insert("block".into(), self.options.block.into());
        if let Some(path) = &self.options.input {
            parameters.insert("input".into(), path.display().to_string().into());
        }
        parameters.insert("seed".into(), self.options.settings.seed.into());
        parameters
    }

    fn describe(&self, variant: &Variant) -> Description {
        let mut parameters = Map::new();
        parameters.insert("offset".into(), variant.offset.into());
        parameters.insert("grid".into(), json!(self.launch_config().grid));
        Description {
            name: variant.name(),
            kernels: vec![variant.kernel().name()],
            parameters,
            useful_bytes: 3 * (variant.written(self.a.len()).len() * size_of::<f32>()) as u64,
        }
    }

    fn poison(&mut self) -> Result<()> {
        self.output.poison()
    }

    fn launch(&mut self, device: &Device, variant: &Variant) -> Result<Option<Counters>> {
        let launch = self.launch_config();
        let [a, b] = &self.on_device;
        device.launch(variant.kernel(), &launch, (a, b, &mut self.output, variant.offset))
    }

    fn check(&mut self, variant: &Variant) -> Result<Check> {
        let found = self.output.read()?;
        let size = found.len();
        let mut check = check::exact(1, size, &found, |_, index| variant.expected(self.a, self.b, index));
        if let Some(first) = &mut check.first {
            // A vector has one index.
            first.index.remove(0);
        }
        if self.options.output.is_some() {
            self.result = Some(found[variant.written(size)].to_vec());
        }
        Ok(check)
    }

    fn copy(&mut self, device: &Device) -> Result<u64> {
        let bytes = self.output.bytes();
        device.copy(&self.on_device[0], &mut self.output, bytes)?;
        Ok(bytes)
    }
}

impl Offset<'_> {
    fn launch_config(&self) -> LaunchConfig {
        let linear = LaunchConfig::linear(self.a.len(), self.options.block);
        self.options.settings.launch(linear.grid, linear.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &Options, size: usize) -> Vec<String> {
        let variants = Variant::chosen(options, size).unwrap();
        variants.into_iter().map(Variant::name).collect()
    }

    #[test]
    fn the_default_is_the_sweep_of_both_sides() {
        let all = names(&Options::default(), 1000);
        assert_eq!(all.len(), 2 * 34);
        assert_eq!((all[0].as_str(), all[33].as_str()), ("read+0", "read+128"));
        assert_eq!((all[34].as_str(), all[67].as_str()), ("write+0", "write+128"));
        assert_eq!(names(&Options::default(), 1), ["read+0", "write+0"]);
    }

    #[test]
    fn flags_choose_sides_and_offsets() {
        let options = Options { read: true, offset: vec![0, 11, 128], ..Options::default() };
        assert_eq!(names(&options, 1000), ["read+0", "read+11", "read+128"]);
        assert_eq!(
            Variant::chosen(&options, 100).unwrap_err().to_string(),
            "--offset: 128 leaves nothing of 100 elements; give one below the size"
        );
    }

    #[test]
    fn the_reference_shifts_the_right_side() {
        let (a, b) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
        let poison = f32::from_le_bytes([POISON; 4]);
        let of = |side| {
            let variant = Variant { side, offset: 1 };
            [0, 1, 2].map(|index| variant.expected(&a, &b, index))
        };
        assert_eq!(of(Side::Read), [22.0, 33.0, poison]);
        assert_eq!(of(Side::Write), [poison, 11.0, 22.0]);
    }

    #[test]
    fn the_list_names_every_kernel() {
        let kernels = [Side::Read, Side::Write].map(|side| Variant { side, offset: 0 }.kernel().name());
        assert_eq!(kernels, ENTRY.kernels);
    }
}
