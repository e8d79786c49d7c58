//! Messages between blocks, with flags of different orders and scopes, and a look-back. The kernels
//! and what they show are in `kernels::consistency` and `kernels::look_back`; the crate `litmus` says
//! what is allowed.

mod table;

use device::{Buffer, Device, Error, LaunchConfig, Result};
use kernels::consistency::{self as kernel, LETTER};
use kernels::look_back::{self, ENTRY};
use litmus::Outcomes;
use serde_json::{Value, json};

pub use table::Options;
use table::{BLOCKS, CONCLUSIONS, FIRST, LAUNCHES, SHOWCASE, STALE, Use, Way};

use super::compare::Shape;
use super::inputs::DefaultSize;
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// The lab: its rows, each with whether PTX allows an old message.
pub struct Consistency {
    options: Options,
    blocks: u32,
    launches: u32,
    rows: Vec<(&'static VariantSpec<Way>, bool)>,
}

/// The data on a device. No launch resets it: each has another number.
pub struct Data {
    /// The letters of each pair of blocks, or the entries of each block.
    words: Buffer<u32>,
    /// What each pair received, or each block summed.
    results: Buffer<u32>,
    /// The number of the last launch.
    number: u32,
}

impl Lab for Consistency {
    const NAME: &'static str = "consistency";
    const ABOUT: &'static str = "Memory consistency: a message, its flag, and what another block sees";
    const SUBJECTS: &'static [Subject] = &[Subject::Consistency, Subject::GlobalRequests];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("blocks", BLOCKS), ("launches", LAUNCHES)];
    const SHOWCASE: Showcase = SHOWCASE;
    const RACES: bool = true;
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Way>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, _settings: &Settings) -> Result<Self> {
        let blocks = options.blocks.unwrap_or_else(|| BLOCKS.on(device) as u32);
        let launches = options.launches.unwrap_or_else(|| LAUNCHES.on(device) as u32);
        let rows = options.ways.chosen().into_iter().map(|way| Ok((way, allows_stale(way.of)?)));
        let rows = rows.collect::<Result<_>>()?;
        Ok(Self { options, blocks, launches, rows })
    }

    fn parameters(&self) -> Value {
        json!({"blocks": self.blocks, "launches": self.launches})
    }

    fn chooses_rows(&self) -> bool {
        self.options.ways.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let (words, blocks) =
            ((self.blocks as usize / 2 * LETTER).max(self.blocks as usize * ENTRY), self.blocks as usize);
        let data = Data { words: device.buffer(words)?, results: device.buffer(blocks)?, number: 0 };
        Ok(Plan::new(data, self.rows.iter().map(|&(way, allowed)| self.variant(way, allowed)).collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.number = 0;
        data.words.fill_bytes(0)?;
        data.results.fill_bytes(0)
    }
}

impl Consistency {
    fn variant(&self, way: &'static VariantSpec<Way>, allowed: bool) -> Variant<'_, Data> {
        let of = way.of;
        let (blocks, results, computes) = match of.used_in() {
            Use::Message => (self.blocks / 2 * 2, self.blocks as usize / 2, "the messages"),
            Use::LookBack => (self.blocks, self.blocks as usize, "the running sums"),
        };
        // All blocks are resident: they wait for each other.
        let launch = LaunchConfig { cooperative: true, ..LaunchConfig::new([blocks, 1, 1], [1, 1, 1]) };
        let variant = Variant::new(
            way.name,
            move |data: &mut Data, launcher| {
                data.number = data.number.wrapping_add(1);
                let kernel = match of {
                    Way::Volatile => &kernel::consistency_volatile,
                    Way::Relaxed => &kernel::consistency_relaxed,
                    Way::BlockFence => &kernel::consistency_block_fence,
                    Way::DeviceFence => &kernel::consistency_device_fence,
                    Way::Release => &kernel::consistency_release,
                    Way::Packed => &kernel::consistency_packed,
                    Way::LookBackRelaxed => &look_back::consistency_lookback_relaxed,
                    Way::LookBackRelease => &look_back::consistency_lookback_release,
                    Way::LookBackPacked => &look_back::consistency_lookback_packed,
                };
                // SAFETY: the buffers have room for each pair and block, at most 64 blocks of a
                // thread are resident, and each launch since the reset has another number.
                unsafe { launcher.launch_unchecked(kernel, &launch, (&mut data.words, &mut data.results, data.number)) }
            },
            move |data| {
                let (found, number) = (data.results.read()?[..results].to_vec(), data.number);
                let expected = move |_, at: usize| match of.used_in() {
                    Use::Message => number,
                    Use::LookBack => (1..=at as u32 + 1).sum::<u32>().wrapping_mul(number),
                };
                Ok(Outcome::exact(Shape::Vector(results), found, expected))
            },
        );
        variant
            .group(of.used_in().name())
            .axis("use", of.used_in().name())
            .fact(STALE, if allowed { "allowed" } else { "forbidden" })
            .fact("grid", json!(launch.grid))
            .computes(computes, (results * size_of::<u32>()) as u64)
            .again(self.launches, allowed)
    }
}

/// Whether PTX's memory model allows that the flag is seen and the message is not.
fn allows_stale(way: Way) -> Result<bool> {
    let (name, text) = way.test();
    let wrong = |error: String| Error::request(name, error);
    let program = litmus::read(name, text).map_err(|error| wrong(error.to_string()))?;
    let outcomes = Outcomes::of(&program).map_err(|error| wrong(error.to_string()))?;
    Ok(program.questions.first().is_some_and(|question| outcomes.allows(question)))
}

#[cfg(test)]
mod tests {
    use super::{Way, allows_stale};
    use crate::labs::variants::Variants;

    /// A flag that is relaxed, volatile, or fenced for a block alone says nothing of the message.
    #[test]
    fn the_model_allows_what_the_rows_say() {
        let allowed = |way: Way| allows_stale(way).unwrap();
        assert!([Way::Volatile, Way::Relaxed, Way::BlockFence, Way::LookBackRelaxed].into_iter().all(allowed));
        let rest = [Way::DeviceFence, Way::Release, Way::Packed, Way::LookBackRelease, Way::LookBackPacked];
        assert!(!rest.into_iter().any(allowed));
        assert_eq!(Way::TABLE.len(), 9);
    }
}
