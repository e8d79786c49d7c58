//! Copies between host and device, and streams in which they run beside kernels. The kernel, and
//! what copies cost, are in `kernels::transfer`.
//!
//! The simulator moves and compares the first bytes of a large copy, and predicts the time of all.

mod copies;
mod on_device;
mod shown;
mod table;

use common::random::Random;
use device::{Device, Error, Result};
use serde_json::{Value, json};
use simt::Model;

pub use on_device::Data;
use shown::{CONCLUSIONS, FIRST, SHOWCASE, SWEEPS};
pub use table::Options;
use table::{NEEDS, SIZE, Use, Way};

use super::inputs::{DefaultSize, check_room, named};
use super::lab::{Lab, Plan};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::meanings;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject, Sweep};

/// The lab: the elements that kernels work on, and the sizes of copies.
pub struct Transfer {
    options: Options,
    values: Vec<u32>,
    /// Bytes of each copy.
    sizes: Vec<u64>,
    /// The link to the host, if the device is the simulator.
    link: Option<&'static str>,
    seed: u32,
}

impl Lab for Transfer {
    const NAME: &'static str = "transfer";
    const ABOUT: &'static str = "Copies between host and device: latency, bandwidth, and overlap with kernels";
    const SUBJECTS: &'static [Subject] = &[Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Way>(), meanings::<Use>()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let values = options.values.vector(device, SIZE, NEEDS, &mut random)?;
        let link = device.predicted_model().and_then(Model::links).map(|links| links.host.name);
        let sizes = options.sizes(device);
        let most = if options.copies() { sizes.iter().map(|&bytes| table::moved(device, bytes)).sum() } else { 0 };
        // On the device and on its peer; twice on the host, pageable and pinned.
        check_room(device, "copies of these sizes", 3 * most, 4 * most)?;
        Ok(Self { options, values, sizes, link, seed: settings.seed as u32 })
    }

    fn parameters(&self) -> Value {
        let Options { values, chunks, rounds, .. } = &self.options;
        json!({
            "size": self.values.len(), "chunks": chunks, "rounds": rounds, "link": self.link,
            "input": named(values.input.as_ref()),
        })
    }

    fn chooses_rows(&self) -> bool {
        self.options.chooses_rows()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = Data::new(self, device)?;
        let mut variants = Vec::new();
        let has_peer = device.has_peer();
        for way in self.options.ways().into_iter().filter(|way| way.of != Way::Peer || has_peer) {
            variants.extend((0..self.sizes.len()).map(|size| self.copy(way, size, device)));
        }
        variants.extend(self.options.uses().into_iter().map(|task| self.task(task)));
        if variants.is_empty() {
            return Err(Error::request(
                "--to-peer",
                "there is no second GPU that this one reaches; choose other copies",
            ));
        }
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.poison()
    }
}
