//! A copy with words of 4, 8 and 16 bytes, and the best one. The kernels and what they show are in
//! `kernels::vector`.

mod table;

use std::rc::Rc;

use best_kernels::vector as best;
use common::random::Random;
use device::peers::Peers;
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::vector as kernel;
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, Copies, FIRST, NEEDS, SHOWCASE, SIZE};

use super::best::gpu;
use super::compare::Shape;
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::launcher::config_of;
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::peers::{self, Peer};
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

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
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoadTotals, Subject::GlobalRequests, Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Driver, Peer::Library];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Copies>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let elements = options.vector.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        Ok(Self { options, elements })
    }

    fn parameters(&self) -> Value {
        let Options { block, vector, .. } = &self.options;
        json!({"size": self.elements.len(), "block": block, "input": named(vector.input.as_ref())})
    }

    fn chooses_rows(&self) -> bool {
        self.options.variants.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.elements.len();
        let mut data = Data { input: device.buffer(size)?, copy: device.buffer(size)? };
        data.input.write(&self.elements)?;
        let variants = self.options.variants.chosen().into_iter().map(|copies| self.variant(copies, device));
        Ok(Plan::new(data, variants.collect()))
    }

    fn peers<'a>(&'a self, device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let bytes = self.bytes();
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
}

impl Vector {
    fn variant(&self, spec: &VariantSpec<Copies>, device: &Device) -> Variant<'_, Data> {
        let (size, copies) = (self.elements.len(), spec.of);
        let (best, words, best_launch) = best::best(gpu(device), size);
        let (word, words, launch) = match copies {
            Copies::Words4 => (4, 1, self.launch(4)),
            Copies::Words8 => (8, 1, self.launch(8)),
            Copies::Words16 => (16, 1, self.launch(16)),
            Copies::Best => (16, words, config_of(best_launch)),
        };
        let variant = Variant::new(
            spec.name,
            move |Data { input, copy }: &mut Data, launcher| match copies {
                Copies::Words4 => launcher.launch(&kernel::vector_copy4, &launch, (&*input, copy)),
                Copies::Words8 => {
                    let ((from, from_rest), (to, to_rest)) = (input.words(), copy.words_mut());
                    launcher.launch(&kernel::vector_copy8, &launch, (from, from_rest, to, to_rest))
                }
                Copies::Words16 => {
                    let ((from, from_rest), (to, to_rest)) = (input.words(), copy.words_mut());
                    launcher.launch(&kernel::vector_copy16, &launch, (from, from_rest, to, to_rest))
                }
                // SAFETY: the two buffers are as long as the input.
                Copies::Best => unsafe { launcher.launch_unchecked(best, &launch, (&*input, copy, size)) },
            },
            |data| self.outcome(data),
        );
        let variant = variant
            .fact("word_bytes", word)
            .fact("words_of_a_thread", json!(words))
            .fact("block", json!(launch.block))
            .fact("grid", json!(launch.grid))
            .bytes(2 * self.bytes())
            .computes("the copy", self.bytes());
        if matches!(copies, Copies::Best) { variant.one_of_several_kernels() } else { variant }
    }

    /// A thread for each word of this many bytes. The first threads also copy what does not fill a
    /// word, less than four elements.
    fn launch(&self, word: u64) -> LaunchConfig {
        let words = (self.bytes() / word) as usize;
        LaunchConfig::linear(words.max(self.elements.len().min(3)), self.options.block)
    }

    /// The bytes of the vector.
    fn bytes(&self) -> u64 {
        size_of_val(self.elements.as_slice()) as u64
    }

    /// Whether the copy is right.
    fn outcome(&self, data: &mut Data) -> Result<Outcome> {
        let found = data.copy.read()?;
        Ok(Outcome::exact(Shape::Vector(self.elements.len()), found, |_, i| self.elements[i]))
    }
}
