//! Rings in registers, local and shared memory, and lists that fewer threads follow several at a
//! time. The kernels and what they show are in `kernels::spill`.

mod data;
mod table;

use common::random::Random;
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use device::{Buffer, Device, Error, LaunchConfig, Result};
use kernels::spill::{self as kernel, BLOCK};
use serde_json::{Value, json};

pub use table::Options;
use table::{CHANNELS, CONCLUSIONS, FIRST, LISTS, MEANINGS, SAMPLES, SHOWCASE, STEPS, Way};

use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::models::stand_in;
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::VariantSpec;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// The lab: channels of samples, and lists.
pub struct Spill {
    options: Options,
    samples: HostMatrix,
    lists: data::Lists,
    /// The largest sample of each channel, with an echo after 16 samples and after 64.
    peaks: [Vec<f32>; 2],
}

/// The data on a device.
pub struct Data {
    samples: Buffer<f32>,
    peaks: Buffer<f32>,
    next: Buffer<u32>,
    ends: Buffer<u32>,
}

/// A kernel that computes echoes.
type Echo = SafeKernel<(Slice<f32>, DisjointSlice<f32>)>;

impl Lab for Spill {
    const NAME: &'static str = "spill";
    const ABOUT: &'static str = "Registers against occupancy: local memory, and more work for fewer threads";
    const SUBJECTS: &'static [Subject] = &[Subject::LocalMemory, Subject::SharedTotals, Subject::GlobalLoadTotals];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] =
        &[("rows", SAMPLES), ("cols", CHANNELS), ("lists", LISTS), ("steps", STEPS)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let rings = options.ways.chosen_or(true);
        if !rings.iter().any(|way| way.of.is_of(&options.words)) {
            return Err(Error::request("--words", "no chosen variant has a ring of this many words"));
        }
        if !has_room_for_one(device) {
            let why = "a multiprocessor has room for two blocks with all the shared memory that a block may have";
            match options.ways.any() {
                true if options.ways.chosen().iter().any(|way| way.of.is_alone()) => {
                    return Err(Error::request("--alone", format!("no block is alone on this device: {why}")));
                }
                false if options.words.is_empty() => settings.progress.note_once(&format!("no rows alone-N: {why}")),
                _ => {}
            }
        }
        let lists = u64::from(options.lists.unwrap_or_else(|| LISTS.on(device) as u32));
        let steps = u64::from(options.steps.unwrap_or_else(|| STEPS.on(device) as u32));
        if lists * (steps + 1) > u64::from(u32::MAX) {
            let problem = format!("{lists} lists of {steps} steps are more than 4294967295 elements; give fewer");
            return Err(Error::request("--lists", problem));
        }
        let room = |rows: u64, columns: u64| {
            // Samples and peaks, lists and their ends; on the host also echoes, and what was found.
            let samples = bytes_of::<f32>(&[rows.saturating_add(2), columns]);
            let lists_bytes = bytes_of::<u32>(&[steps + 3, lists]);
            let what = format!("the lab with {rows} samples of {columns} channels and {lists} lists of {steps} steps");
            let on_device = samples.saturating_add(lists_bytes);
            check_room(device, &what, on_device, on_device.saturating_add(samples))
        };
        let samples = match &options.matrix.input {
            Some(path) => {
                let samples = HostMatrix::read(path)?;
                room(samples.rows as u64, samples.columns as u64)?;
                samples
            }
            None => {
                let rows = options.matrix.rows.map_or_else(|| SAMPLES.on(device), u64::from);
                let columns = options.matrix.cols.map_or_else(|| CHANNELS.on(device), u64::from);
                room(rows, columns)?;
                HostMatrix::random(rows, columns, &mut random)
            }
        };
        let lists = data::Lists::new(lists as usize, steps as usize, &mut random);
        let peaks = [16, 64].map(|ring| data::peaks(&samples, ring));
        Ok(Self { options, samples, lists, peaks })
    }

    fn parameters(&self) -> Value {
        let HostMatrix { rows, columns, .. } = self.samples;
        let input = named(self.options.matrix.input.as_ref());
        json!({"rows": rows, "cols": columns, "lists": self.lists.ends.len(), "steps": self.lists.steps, "input": input})
    }

    fn chooses_rows(&self) -> bool {
        self.options.ways.any() || !self.options.words.is_empty()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let stand_in = stand_in(device, MODEL)?;
        let on = stand_in.as_ref().unwrap_or(device);
        let mut data = Data {
            samples: on.buffer(self.samples.elements.len())?,
            peaks: on.buffer(self.samples.columns)?,
            next: on.buffer(self.lists.next.len())?,
            ends: on.buffer(self.lists.ends.len())?,
        };
        data.samples.write(&self.samples.elements)?;
        data.next.write(&self.lists.next)?;
        let Options { ways, all, words, .. } = &self.options;
        let fits = |way: &VariantSpec<Way>| match way.of.is_alone() {
            true => has_room_for_one(on),
            false => ways.any() || way.of.shared() <= on.properties().shared_per_block,
        };
        // PTX does not have what `ptxas` spills, so that only a GPU shows it.
        let rows = ways.chosen_or(*all || device.properties().is_gpu()).into_iter();
        let rows = rows.filter(|way| fits(way) && way.of.is_of(words));
        let variants = rows.map(|way| {
            let variant = match way.of {
                Way::Echo(kernel, ring, _) => self.echo(way.name, kernel, ring),
                Way::Walk { at_a_time, alone } => self.walk(way.name, on, at_a_time, alone),
            };
            match &stand_in {
                Some(model) => variant.axis("model", MODEL).on(model.clone()),
                None => variant,
            }
        });
        Ok(Plan::new(data, variants.collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.peaks.poison()?;
        data.ends.poison()
    }
}

/// Whether all the shared memory that a block may have leaves no room for a second block.
fn has_room_for_one(device: &Device) -> bool {
    let properties = device.properties();
    properties.shared_per_multiprocessor.is_none_or(|all| all < 2 * properties.shared_per_block_opt_in)
}

/// The model that replaces the plain simulator, which has no caches and no occupancy.
const MODEL: &str = "hopper";

impl Spill {
    /// The peaks of the channels, by this kernel with a ring of so many words.
    fn echo(&self, name: &str, kernel: &'static Echo, ring: usize) -> Variant<'_, Data> {
        let launch = LaunchConfig::linear(self.samples.columns, BLOCK);
        let peaks = &self.peaks[usize::from(ring == 64)];
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| launcher.launch(kernel, &launch, (&data.samples, &mut data.peaks)),
            move |data| {
                let found = data.peaks.read()?;
                Ok(Outcome::exact(Shape::Vector(peaks.len()), found, |_, channel| peaks[channel]))
            },
        );
        variant
            .group(format!("a ring of {ring} words"))
            .fact("words", ring)
            .fact("grid", json!(launch.grid))
            .bytes(size_of_val(self.samples.elements.as_slice()) as u64)
            .computes(format!("the peaks with rings of {ring}"), size_of_val(peaks.as_slice()) as u64)
    }

    /// The ends of the lists, each thread following so many at a time; `alone`: with so much
    /// dynamic shared memory that a multiprocessor has room for one block.
    fn walk(&self, name: &str, device: &Device, at_a_time: u32, alone: bool) -> Variant<'_, Data> {
        let lists = self.lists.ends.len();
        let dynamic_shared = if alone { device.properties().shared_per_block_opt_in as u32 } else { 0 };
        let threads = lists.div_ceil(at_a_time as usize);
        let launch = LaunchConfig { dynamic_shared, ..LaunchConfig::linear(threads, WALKERS) };
        let steps = self.lists.steps as u32;
        let kernel = match at_a_time {
            1 => &kernel::spill_walk_1,
            2 => &kernel::spill_walk_2,
            4 => &kernel::spill_walk_4,
            _ => &kernel::spill_walk_8,
        };
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| launcher.launch(kernel, &launch, (&data.next, &mut data.ends, steps)),
            move |data| {
                let found = data.ends.read()?;
                Ok(Outcome::exact(Shape::Vector(lists), found, |_, list| self.lists.ends[list]))
            },
        );
        variant
            .group("lists")
            .fact("lists_at_a_time", at_a_time)
            .fact("grid", json!(launch.grid))
            .bytes(u64::from(steps) * size_of_val(self.lists.ends.as_slice()) as u64)
            .computes("the ends of the lists", size_of_val(self.lists.ends.as_slice()) as u64)
    }
}

/// Threads of a block that follows lists.
const WALKERS: u32 = 256;
