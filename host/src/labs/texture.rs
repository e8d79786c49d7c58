//! The lab `texture`: textures against global memory. The kernels and what they show are in
//! `kernels::texture`. It owns its arrays, textures and buffers.

mod made;
mod parts;
mod sampling;
mod table;
mod walks;

use std::rc::Rc;

use common::random::Random;
use device::{
    Array, ArrayShape, Buffer, ChannelType, Device, Error, Matrix, OwnedTexture, Result, Sampling, TexelFormat,
};
use half::f16;
use kernels::texture as kernel;
use serde_json::{Value, json};

use made::Made;
use sampling::{Image, SAMPLED, Texels};
pub use table::Options;
use table::{CONCLUSIONS, FIRST, MEANINGS, MOST_SIDE, Part, SECTORS_A_WARP};
use walks::{Layout, WAYS};

use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named};
use super::lab::{Lab, Plan};
use super::settings::Settings;
use super::showcase::{Showcase, Steps};
use crate::report::{Best, Bound, Conclusion, FirstScreen, Goal, Grid, Meaning, Row, Subject, Target};

/// The default side of the image.
const SIDE: DefaultSize = DefaultSize { on_gpu: 8192, on_simulator: 128 };

/// The most texels of a texture in linear memory that every GPU supports.
const MOST_LINEAR: usize = 1 << 27;

/// The lab: an image.
pub struct Texture {
    options: Options,
    image: Image,
    predicts: bool,
}

/// The data on a device.
pub struct Data {
    image: Rc<Buffer<f32>>,
    morton: Buffer<f32>,
    output: Matrix<f32>,
    linear: Option<OwnedTexture>,
    walked: Option<OwnedTexture>,
    sampled: Vec<OwnedTexture>,
    made: Option<Made>,
}

const F32: TexelFormat = TexelFormat { channels: 1, ty: ChannelType::F32 };
const F16: TexelFormat = TexelFormat { channels: 1, ty: ChannelType::F16 };
const U8: TexelFormat = TexelFormat { channels: 1, ty: ChannelType::U8 };

impl Lab for Texture {
    const NAME: &'static str = "texture";
    const ABOUT: &'static str = "Textures: locality in two dimensions, Morton order";
    const SUBJECTS: &'static [Subject] = &[Subject::ReadTotals];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIDE)];
    const SHOWCASE: Showcase = Showcase {
        start: &[("size", "64")],
        row: "columns-row-order",
        beside: "columns-morton-order",
        access: "global load",
        charted: Some(("columns-row-order", "columns-texture")),
        steps: Some(Steps {
            title: "image, down its columns",
            rows: &[
                ("columns-row-order", "in row order"),
                ("columns-morton-order", "in Morton order"),
                ("columns-texture", "a texture"),
            ],
        }),
        goals: &[Goal {
            ask: "Walk down the columns with half the sectors.",
            row: Row::Named(""),
            measure: &SECTORS_A_WARP,
            unit: " sectors of 32 texels",
            bound: Bound::AtMost(Target::Part(0.5, Row::Named("columns-row-order"))),
            except: &[],
        }],
        ..Showcase::DEFAULTS
    };
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        // On the device, the image in row order, in Morton order, as three arrays, and a result,
        // and one that a kernel makes, twice; on the host, the image, once more in narrower texels,
        // and a result.
        let room = |side: u64| {
            let each = |arrays: u64| bytes_of::<f32>(&[arrays, side, side]);
            check_room(device, &format!("reading textures of {side} x {side} texels"), each(7), each(3))
        };
        let mut random = Random::new(settings.seed);
        let (side, floats) = match &options.input {
            Some(path) => {
                let HostMatrix { rows, columns, elements } = HostMatrix::read(path)?;
                if rows != columns || !rows.is_power_of_two() || !(32..=MOST_SIDE as usize).contains(&rows) {
                    let needed =
                        format!("a square image is needed, with a power of two from 32 to {MOST_SIDE} as its side");
                    return Err(Error::file(path, format!("is {rows} x {columns}, but {needed}")));
                }
                room(rows as u64)?;
                (rows, elements)
            }
            None => {
                let side = options.size.unwrap_or_else(|| SIDE.on(device) as u32);
                room(side.into())?;
                (side as usize, random.vector((side * side) as usize))
            }
        };
        let bytes = random.samples(side * side);
        let halves = floats.iter().map(|&texel| f16::from_f32(texel)).collect();
        let predicts = settings.predicts();
        Ok(Self { options, image: Image { side, floats, halves, bytes }, predicts })
    }

    fn parameters(&self) -> Value {
        json!({"side": self.image.side, "input": named(self.options.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let parts = self.options.variants.chosen_or(self.options.all);
        let parts: Vec<_> = parts.into_iter().map(|part| part.of).collect();
        let data = self.data(device, &parts)?;
        let counted = !device.properties().is_gpu() && !self.predicts;
        let compact = counted && parts == [Part::Walks];
        let mut variants = Vec::new();
        for part in parts {
            match part {
                Part::Linear => variants.extend(self.linear()),
                Part::Sampling => variants.extend((0..SAMPLED.len()).map(|index| self.sample(index))),
                Part::Walks => variants.extend(WAYS.into_iter().flat_map(|way| {
                    [Layout::Rows, Layout::Morton, Layout::Texture].map(|place| self.walk(way, place))
                })),
                Part::Made => variants.extend(self.made()),
            }
        }
        let walks = Grid {
            title: String::new(),
            rows: "walk",
            columns: "image",
            group: String::new(),
            best: Best::OfRow,
            measures: &[&SECTORS_A_WARP],
        };
        let plan = Plan::new(data, variants).grid(walks);
        Ok(if compact { plan.compact() } else { plan })
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.output.poison()
    }
}

impl Texture {
    fn data(&self, device: &Device, parts: &[Part]) -> Result<Data> {
        let mut image = device.buffer(self.image.floats.len())?;
        image.write(&self.image.floats)?;
        let image = Rc::new(image);
        let mut in_order = vec![0.0; self.image.floats.len()];
        for (i, &texel) in self.image.floats.iter().enumerate() {
            in_order[kernel::morton((i % self.image.side) as u32, (i / self.image.side) as u32) as usize] = texel;
        }
        let mut morton = device.buffer(in_order.len())?;
        morton.write(&in_order)?;
        let side = self.image.side as u32;
        let shape = |format| ArrayShape { width: side, height: side, ..ArrayShape::of(format) };
        let array = |format| -> Result<Array> { device.array(&shape(format)) };
        let (mut floats, mut halves, mut bytes) = (array(F32)?, array(F16)?, array(U8)?);
        floats.write(0, &self.image.floats)?;
        halves.write(0, &self.image.halves)?;
        bytes.write(0, &self.image.bytes)?;
        let (floats, halves, bytes) = (Rc::new(floats), Rc::new(halves), Rc::new(bytes));
        let has = |part| parts.contains(&part);
        let sampled = SAMPLED.iter().filter(|_| has(Part::Sampling)).map(|sampled| {
            let array = match sampled.texels {
                Texels::Floats => &floats,
                Texels::Halves => &halves,
                Texels::Bytes => &bytes,
            };
            device.array_texture(Rc::clone(array), &sampled.sampling())
        });
        let linear = has(Part::Linear) && self.image.floats.len() <= MOST_LINEAR;
        Ok(Data {
            linear: linear.then(|| device.buffer_texture(Rc::clone(&image), F32)).transpose()?,
            walked: has(Part::Walks)
                .then(|| device.array_texture(Rc::clone(&floats), &Sampling::default()))
                .transpose()?,
            sampled: sampled.collect::<Result<_>>()?,
            made: has(Part::Made).then(|| Made::new(device, self.image.side)).transpose()?,
            output: device.matrix(self.image.side, self.image.side, false)?,
            image,
            morton,
        })
    }

    /// Bytes that every variant reads and writes.
    fn useful(&self) -> u64 {
        2 * size_of_val(self.image.floats.as_slice()) as u64
    }
}
