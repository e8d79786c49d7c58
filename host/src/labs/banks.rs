//! The banks of shared memory, pattern by pattern. The kernels and what they show are in
//! `kernels::banks`; `table` has the patterns.

mod table;

use crate::flag_values::each_once;
use common::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, Result};
use kernels::banks::{self as kernel, STAGE_WORDS};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, MEANINGS, PASSES, PATTERNS, Pattern, Reads, SHOWCASE, SWEEPS, of_stride};

use super::compare::Shape;
use super::inputs::{DefaultSize, bytes_of, check_room};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::launcher::Launcher;
use super::models::stand_in;
use super::settings::Settings;
use super::showcase::Showcase;
use crate::report::measures::TIME;
use crate::report::{Best, Conclusion, FirstScreen, Grid, Meaning, Subject, Sweep};

const BLOCKS: DefaultSize = DefaultSize { on_gpu: 1 << 16, on_simulator: 4 };

/// The default number of reads per thread.
const ROUNDS: DefaultSize = DefaultSize { on_gpu: 128, on_simulator: 32 };

/// A plot has the strides up to this one.
const SWEPT: u32 = 33;

/// Threads of a block: one warp.
const WARP: u32 = 32;

/// Whether all lanes' words are staged.
fn reaches(stride: u32, rounds: u32) -> bool {
    u64::from(WARP - 1) * u64::from(stride) + u64::from(rounds) <= u64::from(STAGE_WORDS)
}

/// The lab: the staged data.
pub struct Banks {
    patterns: Vec<Pattern>,
    blocks: u32,
    rounds: u32,
    words: Vec<u32>,
}

/// The data on each device.
pub struct Data(Vec<(Buffer<u32>, Buffer<u32>)>);

impl Lab for Banks {
    const NAME: &'static str = "banks";
    const ABOUT: &'static str = "The banks of shared memory: which patterns conflict, and how many ways";
    const SUBJECTS: &'static [Subject] = &[Subject::SharedLoads, Subject::BankConflicts];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("blocks", BLOCKS), ("rounds", ROUNDS)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let blocks = options.blocks.unwrap_or_else(|| BLOCKS.on(device) as u32);
        let rounds = options.rounds.unwrap_or_else(|| ROUNDS.on(device) as u32);
        let bytes = bytes_of::<u32>(&[blocks.into(), WARP.into()]);
        check_room(device, "reading shared memory", bytes.saturating_mul(2), bytes)?;
        let words = Random::new(settings.seed).samples(STAGE_WORDS as usize);
        let chosen = !options.pattern.is_empty() || options.all;
        let strides = match options.stride {
            strides if strides.is_empty() && settings.plot && !chosen => (0..=SWEPT).collect(),
            strides => each_once(strides),
        };
        if let Some(stride) = strides.iter().find(|&&stride| !reaches(stride, rounds)) {
            let most = (STAGE_WORDS - rounds) / (WARP - 1);
            let problem = format!(
                "the last lane's last word at a stride of {stride} is beyond the {STAGE_WORDS} words that are staged; with {rounds} \
                 rounds, give at most {most}"
            );
            return Err(Error::request("--stride", problem));
        }
        let patterns = match options.pattern {
            _ if !strides.is_empty() => strides.into_iter().map(of_stride).collect(),
            patterns if patterns.is_empty() => PATTERNS.into_iter().filter(|it| options.all || !it.extra).collect(),
            patterns => each_once(patterns),
        };
        Ok(Self { patterns, blocks, rounds, words })
    }

    fn parameters(&self) -> Value {
        json!({"blocks": self.blocks, "rounds": self.rounds})
    }

    fn chooses_rows(&self) -> bool {
        !self.patterns.iter().eq(&PATTERNS.into_iter().filter(|pattern| !pattern.extra).collect::<Vec<_>>())
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let mut devices = vec![("this device", device.clone())];
        if let Some(model) = stand_in(device, "g80")? {
            // The lecture's table has both: 32 banks for a warp, and 16 for each half-warp.
            devices[0].0 = "32 banks";
            devices.push(("g80", model));
        }
        let mut data = Data(Vec::new());
        let mut variants = Vec::new();
        for (index, (name, device)) in devices.into_iter().enumerate() {
            let mut input = device.buffer(self.words.len())?;
            input.write(&self.words)?;
            data.0.push((input, device.buffer((self.blocks * WARP) as usize)?));
            variants.extend(self.patterns.iter().map(|pattern| self.variant(pattern, index, name, device.clone())));
        }
        let grid = |title: &str, measures| Grid {
            title: title.to_owned(),
            rows: "pattern",
            columns: "banks",
            group: String::new(),
            best: Best::Unmarked,
            measures,
        };
        Ok(Plan::new(data, variants).grid(grid("a load from shared memory", PASSES)).grid(grid("", &[&TIME])).compact())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.0.iter_mut().try_for_each(|(_, output)| output.poison())
    }
}

impl Banks {
    fn variant(&self, pattern: &Pattern, index: usize, banks: &str, device: Device) -> Variant<'_, Data> {
        let (blocks, rounds) = (self.blocks, self.rounds);
        let (name, reads) = (&*pattern.name, pattern.reads);
        let launch = LaunchConfig::new([blocks, 1, 1], [WARP, 1, 1]);
        let full_name = if index == 0 { name.to_owned() } else { format!("{name} on {banks}") };
        let bytes = u64::from(blocks) * u64::from(WARP) * reads.bytes() * u64::from(rounds);
        Variant::new(
            full_name,
            move |data: &mut Data, launcher| {
                let (input, output) = &mut data.0[index];
                launch_pattern(launcher, reads, &launch, input, output, rounds)
            },
            move |data| {
                let found = data.0[index].1.read()?;
                // All warps read the same.
                let expected: Vec<u32> = (0..WARP as usize).map(|lane| self.expected(reads, lane)).collect();
                Ok(Outcome::exact(Shape::Vector(found.len()), found, |_, i| expected[i % WARP as usize]))
            },
        )
        .group(banks)
        .axis("pattern", name)
        .fact("stride", if let Reads::Stride(stride) = reads { Value::from(stride) } else { Value::Null })
        .axis("banks", banks)
        .bytes(bytes)
        .computes(format!("the sums of {name}"), u64::from(blocks * WARP) * 4)
        .on(device)
    }

    /// The sum of what a lane reads.
    fn expected(&self, reads: Reads, lane: usize) -> u32 {
        let word = |index: usize| self.words[index];
        let sum = |values: &mut dyn Iterator<Item = u32>| values.fold(0, u32::wrapping_add);
        let each = |round: usize| match reads {
            Reads::Stride(stride) => word(stride as usize * lane + round),
            Reads::Permuted => word((lane ^ 5) + round),
            Reads::Bytes(1) => word((lane + 4 * round) / 4) >> (8 * (lane % 4)) & 0xff,
            Reads::Bytes(2) => word((lane + 2 * round) / 2) >> (16 * (lane % 2)) & 0xffff,
            Reads::Bytes(bytes) => {
                let words = bytes as usize / 4;
                sum(&mut (0..words).map(|i| word((lane + round) * words + i)))
            }
            Reads::Structure(words) => sum(&mut (0..words as usize).map(|i| word(words as usize * lane + i + round))),
            Reads::Two(apart) => {
                let first = if apart == 1 { 2 * lane } else { lane } + round;
                word(first).wrapping_add(word(first + apart as usize))
            }
        };
        sum(&mut (0..self.rounds as usize).map(each))
    }
}

fn launch_pattern(
    launcher: &mut Launcher<'_>,
    reads: Reads,
    launch: &LaunchConfig,
    input: &Buffer<u32>,
    output: &mut Buffer<u32>,
    rounds: u32,
) -> Result<()> {
    match reads {
        Reads::Stride(stride) => launcher.launch(&kernel::banks_stride, launch, (input, output, rounds, stride)),
        Reads::Permuted => launcher.launch(&kernel::banks_permuted, launch, (input, output, rounds)),
        Reads::Bytes(1) => launcher.launch(&kernel::banks_bytes1, launch, (input, output, rounds)),
        Reads::Bytes(2) => launcher.launch(&kernel::banks_bytes2, launch, (input, output, rounds)),
        Reads::Bytes(8) => launcher.launch(&kernel::banks_bytes8, launch, (input, output, rounds)),
        Reads::Bytes(_) => launcher.launch(&kernel::banks_bytes16, launch, (input, output, rounds)),
        Reads::Structure(2) => launcher.launch(&kernel::banks_structure2, launch, (input, output, rounds)),
        Reads::Structure(_) => launcher.launch(&kernel::banks_structure3, launch, (input, output, rounds)),
        Reads::Two(apart) => launcher.launch(&kernel::banks_two, launch, (input, output, rounds, apart)),
    }
}
