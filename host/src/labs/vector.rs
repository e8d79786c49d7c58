//! A copy with words of 4, 8 and 16 bytes, and the best one. The kernels and what they show are in `kernels::vector`. Listed in
//! [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use std::rc::Rc;

use best_kernels::vector as best;
use clap::Args;
use cuda_std::launch::{Kernel, Pointer, PointerMut};
use device::flag_values::whole_number;
use device::peers::Peers;
use device::random::Random;
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::vector as kernel;
use serde_json::{Value, json};

use super::best::gpu;
use super::compare::Shape;
use super::inputs::{DefaultSize, Room, VectorFlags, named};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::launcher::Launcher;
use super::settings::Settings;
use crate::peers::{self, Peer};
use crate::report::{LabReport, Subject};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 28, on_simulator: 1 << 18 };

/// The input and the copy on the device; the input and the copy on the host.
const ROOM: Room = Room { what: "the copy of a vector", on_device: 2, on_host: 2 };

/// The flags of `host vector`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Words of 4 bytes: f32
    #[arg(long, help_heading = "Variants (default: all)")]
    pub copy4: bool,
    /// Words of 8 bytes: f32x2
    #[arg(long, help_heading = "Variants (default: all)")]
    pub copy8: bool,
    /// Words of 16 bytes: f32x4
    #[arg(long, help_heading = "Variants (default: all)")]
    pub copy16: bool,
    /// Words of 16 bytes, past L1, as many a thread as suits the GPU
    #[arg(long, help_heading = "Variants (default: all)")]
    pub best: bool,

    /// The vector.
    #[command(flatten)]
    pub vector: VectorFlags,
    /// Threads of a block; --best has 256
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub block: u32,
}

/// A variant.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// The bytes of a word.
    bytes: usize,
    /// The words that a thread copies.
    words: usize,
    copy: Copying,
    launch: LaunchConfig,
}

/// The kernel of a variant, by what it takes.
#[derive(Clone, Copy)]
enum Copying {
    Words4,
    Words8,
    Words16,
    Best(&'static Kernel<(Pointer<f32>, PointerMut<f32>, usize)>),
}

/// The bytes of a word of the best kernel.
const BEST_WORD: usize = 16;

/// The lab: a vector to copy.
pub struct Vector {
    options: Options,
    elements: Vec<f32>,
}

/// What lies on a device.
pub struct Data {
    input: Buffer<f32>,
    copy: Buffer<f32>,
}

impl Lab for Vector {
    const NAME: &'static str = "vector";
    const ABOUT: &'static str = "Words of 16 bytes: a quarter of the requests for the same sectors";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalRequests, Subject::GlobalLoads, Subject::Instructions];
    const PEERS: &'static [Peer] = &[Peer::Driver, Peer::Library];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let elements = options.vector.vector(device, SIZE, ROOM, &mut Random::new(settings.seed))?;
        Ok(Self { options, elements })
    }

    fn parameters(&self) -> Value {
        let Options { block, vector, .. } = &self.options;
        json!({"size": self.elements.len(), "block": block, "input": named(vector.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.elements.len();
        let mut data = Data { input: device.buffer(size)?, copy: device.buffer(size)? };
        data.input.write(&self.elements)?;
        let plain = |name, bytes: usize, copy| {
            // The first threads also copy what does not fill a word, less than four elements.
            let words = size_of_val(self.elements.as_slice()) / bytes;
            let launch = LaunchConfig::linear(words.max(size.min(3)), self.options.block);
            Way { name, bytes, words: 1, copy, launch }
        };
        let (kernel, words, launch) = best::best(gpu(device), size);
        let best = Way { name: "best", bytes: BEST_WORD, words, copy: Copying::Best(kernel), launch: launch.into() };
        let ways = [
            (plain("copy4", 4, Copying::Words4), self.options.copy4),
            (plain("copy8", 8, Copying::Words8), self.options.copy8),
            (plain("copy16", 16, Copying::Words16), self.options.copy16),
            (best, self.options.best),
        ];
        Ok(Plan::new(data, chosen(&ways).into_iter().map(|way| self.variant(way)).collect()))
    }

    fn peers<'a>(&'a self, device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let bytes = size_of_val(self.elements.as_slice()) as u64;
        let copy = device.clone();
        let launch = move |data: &mut Data| copy.copy(&data.input, &mut data.copy, bytes);
        let mut rows = vec![peers::row("driver-copy", &peers::driver(device), launch, |data| self.outcome(data))];
        if let Some(nvcc) = peers.nvcc() {
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| peers.copy(&data.input, &mut data.copy);
            rows.push(peers::row("nvcc-copy", nvcc, launch, |data| self.outcome(data)));
        }
        Ok(rows.into_iter().map(|row| row.bytes(2 * bytes)).collect())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.copy.poison()
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let requests = |name: &str| report.counters(name).map(|counters| counters.global.load.requests);
        let counted = || {
            let (narrow, wide) = (requests("copy4")?, requests("copy16")?);
            Some(format!(
                "Words of 4 bytes take {narrow} load requests, of 16 bytes {wide}: {:.2} to 1 for the same sectors.",
                narrow as f64 / wide as f64
            ))
        };
        let time = || {
            let narrow = report.variant("copy4")?.percent_of_copy?;
            let wide = report.variant("copy16")?.percent_of_copy?;
            let best = report.variant("best")?.percent_of_copy?;
            Some(format!(
                "Words of 4 bytes reach {narrow:.1} % of the device's own copy, of 16 bytes {wide:.1} %, and the best kernel {best:.1} %."
            ))
        };
        [time(), counted()].into_iter().flatten().collect()
    }
}

impl Copying {
    fn launch(self, launcher: &mut Launcher, launch: &LaunchConfig, data: &mut Data) -> Result<()> {
        let Data { input, copy } = data;
        match self {
            Self::Words4 => launcher.launch(&kernel::vector_copy4, launch, (&*input, copy)),
            Self::Words8 => {
                let ((from, from_rest), (to, to_rest)) = (input.words(), copy.words_mut());
                launcher.launch(&kernel::vector_copy8, launch, (from, from_rest, to, to_rest))
            }
            Self::Words16 => {
                let ((from, from_rest), (to, to_rest)) = (input.words(), copy.words_mut());
                launcher.launch(&kernel::vector_copy16, launch, (from, from_rest, to, to_rest))
            }
            // SAFETY: the two buffers are as long as the input.
            Self::Best(kernel) => unsafe {
                launcher.launch_unchecked(kernel, launch, (&*input, &mut *copy, input.len()))
            },
        }
    }
}

impl Vector {
    fn variant(&self, Way { name, bytes, words, copy, launch }: Way) -> Variant<'_, Data> {
        Variant::new(
            name,
            move |data: &mut Data, launcher| copy.launch(launcher, &launch, data),
            |data| self.outcome(data),
        )
        .fact("word_bytes", bytes)
        .fact("words_of_a_thread", json!(words))
        .fact("block", json!(launch.block))
        .fact("grid", json!(launch.grid))
        .bytes(2 * size_of_val(self.elements.as_slice()) as u64)
        .computes("the copy", size_of_val(self.elements.as_slice()) as u64)
    }

    /// Whether the copy is right.
    fn outcome(&self, data: &mut Data) -> Result<Outcome> {
        let found = data.copy.read()?;
        Ok(Outcome::exact(Shape::Vector(self.elements.len()), found, |_, i| self.elements[i]))
    }
}
