//! The lab `texture`: textures against global memory. The kernels and what they show are in
//! `kernels::texture`. It owns its arrays, textures and buffers.

use std::rc::Rc;

use clap::Args;
use device::random::Random;
use device::{
    AddressMode, Array, ArrayShape, Buffer, ChannelType, Device, Error, Filter, LaunchConfig, Matrix, OwnedTexture,
    ReadMode, Result, Sampling, TexelFormat,
};
use kernels::texture::{self as kernel, Walk};
use serde_json::{Value, json};

use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Whole};
use crate::report::measures::A_LOAD;
use crate::report::{Cell, Conclusion, Cost, LabReport, Row, Subject, Tolerance};
use crate::units::three_digits;

/// The default side of the image.
const SIDE: DefaultSize = DefaultSize { on_gpu: 8192, on_simulator: 128 };

/// The largest side: the Morton curve has 16 bits for each coordinate, and arrays are not larger.
const MOST_SIDE: u32 = 32768;

/// The most texels of a texture in linear memory that every GPU supports.
const MOST_LINEAR: usize = 1 << 27;

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Linear,
    Sampling,
    Walks,
}

impl Variants for Part {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("linear", "A texture in linear memory against plain loads", Self::Linear).extra(),
        variant(
            "sampling",
            "Beyond the edges: clamp, wrap, mirror, border; between texels: nearest, linear; bytes as fractions",
            Self::Sampling,
        )
        .extra(),
        variant(
            "walks",
            "Walks along rows, columns, diagonals and in windows: texture, row order, Morton order",
            Self::Walks,
        ),
    ];
}

/// The flags of `host texture`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    variants: Chosen<Part>,
    /// All of these variants
    #[arg(long)]
    all: bool,
    /// The image's side in texels: a power of two from 32 to 32768
    #[arg(long, value_name = "NUMBER", value_parser = device::flag_values::power_of_two(32, MOST_SIDE))]
    size: Option<u32>,
    /// Take the image from this NumPy file: a float32 matrix, square, with a power of two as its side
    #[arg(long, value_name = "A.npy", conflicts_with = "size")]
    input: Option<std::path::PathBuf>,
}

/// The sum of what a load takes over the four walks, in an order of the image, divided by four.
fn mean_over_walks(report: &LabReport, order: &str) -> Option<f64> {
    let of = |walk| Cost::of_loads(report.variant(&format!("{walk}-{order}"))?.counters.as_ref()?);
    let each = ["rows", "columns", "diagonals", "windows"].map(|walk| Some(of(walk)?.per_request));
    Some(each.into_iter().sum::<Option<f64>>()? / 4.0)
}

const COLUMNS: Row = Row::Named("columns-row-order");

const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Down the columns the texture is {} as row order; along the rows it is {}.",
        &[
            AsFast(Row::Named("columns-texture"), COLUMNS),
            AsFast(Row::Named("rows-texture"), Row::Named("rows-row-order")),
        ],
    ),
    Conclusion::new(
        "Over the four walks, a load takes {} in row order and {} in Morton order; down the columns alone, {} and {}.",
        &[
            Whole(|report| {
                let unit = Cost::of_loads(COLUMNS.find(report)?.counters.as_ref()?)?.unit;
                let mean = mean_over_walks(report, "row-order")?;
                Some(Cell::new(mean, format!("{} {unit}", three_digits(mean))))
            }),
            Whole(|report| mean_over_walks(report, "morton-order").map(Cell::number)),
            Of(COLUMNS, &A_LOAD),
            Of(Row::Named("columns-morton-order"), &A_LOAD),
        ],
    ),
];

/// How an image is sampled.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    name: &'static str,
    mode: AddressMode,
    filter: Filter,
    bytes: bool,
}

const SAMPLED: [Sampled; 9] = [
    Sampled { name: "clamp-nearest", mode: AddressMode::Clamp, filter: Filter::Point, bytes: false },
    Sampled { name: "wrap-nearest", mode: AddressMode::Wrap, filter: Filter::Point, bytes: false },
    Sampled { name: "mirror-nearest", mode: AddressMode::Mirror, filter: Filter::Point, bytes: false },
    Sampled { name: "border-nearest", mode: AddressMode::Border, filter: Filter::Point, bytes: false },
    Sampled { name: "clamp-linear", mode: AddressMode::Clamp, filter: Filter::Linear, bytes: false },
    Sampled { name: "wrap-linear", mode: AddressMode::Wrap, filter: Filter::Linear, bytes: false },
    Sampled { name: "mirror-linear", mode: AddressMode::Mirror, filter: Filter::Linear, bytes: false },
    Sampled { name: "border-linear", mode: AddressMode::Border, filter: Filter::Linear, bytes: false },
    Sampled { name: "bytes-nearest", mode: AddressMode::Clamp, filter: Filter::Point, bytes: true },
];

/// A walk over an image, and its block.
#[derive(Clone, Copy, Debug)]
struct Way {
    name: &'static str,
    /// The distance to the next lane's texel, and to the next row of threads'.
    step_x: [u32; 2],
    step_y: [u32; 2],
    origin: [u32; 2],
    block: [u32; 2],
}

const WAYS: [Way; 4] = [
    Way { name: "rows", step_x: [1, 0], step_y: [0, 1], origin: [0, 0], block: [32, 8] },
    Way { name: "columns", step_x: [0, 1], step_y: [1, 0], origin: [0, 0], block: [32, 8] },
    Way { name: "diagonals", step_x: [1, 1], step_y: [0, 1], origin: [0, 0], block: [32, 8] },
    // Each warp has 4 x 8 threads, and none begins at the start of a sector.
    Way { name: "windows", step_x: [1, 0], step_y: [0, 1], origin: [3, 1], block: [4, 64] },
];

/// How the image of a walk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Texture,
    Rows,
    Morton,
}

/// The lab: an image.
pub struct Texture {
    options: Options,
    side: usize,
    image: Vec<f32>,
    bytes: Vec<u8>,
}

/// The data on a device.
pub struct Data {
    image: Rc<Buffer<f32>>,
    morton: Buffer<f32>,
    output: Matrix<f32>,
    linear: Option<OwnedTexture>,
    walked: Option<OwnedTexture>,
    sampled: Vec<OwnedTexture>,
}

const F32: TexelFormat = TexelFormat { channels: 1, ty: ChannelType::F32 };
const U8: TexelFormat = TexelFormat { channels: 1, ty: ChannelType::U8 };

impl Lab for Texture {
    const NAME: &'static str = "texture";
    const ABOUT: &'static str = "Textures: locality in two dimensions, edges and filters, Morton order";
    const SUBJECTS: &'static [Subject] = &[Subject::Textures, Subject::GlobalLoads];
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIDE)];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        // On the device, the image in row order, in Morton order, as two arrays, and a result; on the host, the image and a result.
        let room = |side: u64| {
            let each = |arrays: u64| bytes_of::<f32>(&[arrays, side, side]);
            check_room(device, &format!("reading textures of {side} x {side} texels"), each(5), each(3))
        };
        let mut random = Random::new(settings.seed);
        let (side, image) = match &options.input {
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
        Ok(Self { options, side, image, bytes })
    }

    fn parameters(&self) -> Value {
        json!({"side": self.side, "input": named(self.options.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let parts = self.options.variants.chosen_or(self.options.all);
        let parts: Vec<_> = parts.into_iter().map(|part| part.of).collect();
        let data = self.data(device, &parts)?;
        let mut variants = Vec::new();
        for part in parts {
            match part {
                Part::Linear => variants.extend(self.linear()),
                Part::Sampling => variants.extend((0..SAMPLED.len()).map(|index| self.sample(index))),
                Part::Walks => variants.extend(WAYS.into_iter().flat_map(|way| {
                    [Layout::Rows, Layout::Morton, Layout::Texture].map(|place| self.walk(way, place))
                })),
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.output.poison()
    }
}

impl Texture {
    fn data(&self, device: &Device, parts: &[Part]) -> Result<Data> {
        let mut image = device.buffer(self.image.len())?;
        image.write(&self.image)?;
        let image = Rc::new(image);
        let mut in_order = vec![0.0; self.image.len()];
        for (i, &texel) in self.image.iter().enumerate() {
            in_order[kernel::morton((i % self.side) as u32, (i / self.side) as u32) as usize] = texel;
        }
        let mut morton = device.buffer(in_order.len())?;
        morton.write(&in_order)?;
        let side = self.side as u32;
        let shape = |format| ArrayShape { width: side, height: side, ..ArrayShape::of(format) };
        let (mut floats, mut bytes): (Array, Array) = (device.array(&shape(F32))?, device.array(&shape(U8))?);
        floats.write(0, &self.image)?;
        bytes.write(0, &self.bytes)?;
        let (floats, bytes) = (Rc::new(floats), Rc::new(bytes));
        let has = |part| parts.contains(&part);
        let sampled = SAMPLED.iter().filter(|_| has(Part::Sampling)).map(|sampled| {
            let array = if sampled.bytes { &bytes } else { &floats };
            device.array_texture(Rc::clone(array), &sampled.sampling())
        });
        let linear = has(Part::Linear) && self.image.len() <= MOST_LINEAR;
        Ok(Data {
            linear: linear.then(|| device.buffer_texture(Rc::clone(&image), F32)).transpose()?,
            walked: has(Part::Walks)
                .then(|| device.array_texture(Rc::clone(&floats), &Sampling::default()))
                .transpose()?,
            sampled: sampled.collect::<Result<_>>()?,
            output: device.matrix(self.side, self.side, false)?,
            image,
            morton,
        })
    }

    /// Bytes that every variant reads and writes.
    fn useful(&self) -> u64 {
        2 * size_of_val(self.image.as_slice()) as u64
    }

    fn linear(&self) -> Vec<Variant<'_, Data>> {
        let length = self.image.len();
        let launch = LaunchConfig::linear(length, 256);
        let variant = |name, texture: bool| {
            Variant::new(
                name,
                move |data: &mut Data, launcher: &mut super::Launcher<'_>| match (&data.linear, texture) {
                    (Some(linear), true) => {
                        let arguments = (linear.argument(), &mut data.output);
                        // SAFETY: the texture is alive, and made of as many texels in one dimension.
                        unsafe { launcher.launch_unchecked(&kernel::texture_linear, &launch, arguments) }
                    }
                    _ => launcher.launch(&kernel::texture_global, &launch, (&*data.image, &mut data.output)),
                },
                move |data| {
                    let found = data.output.read()?;
                    Ok(Outcome::exact(Shape::Vector(length), found, |_, i| 2.0 * self.image[i]))
                },
            )
            .group("linear memory")
            .bytes(self.useful())
            .computes("the doubled image", self.useful() / 2)
        };
        let mut variants = vec![variant("linear-global", false)];
        if length <= MOST_LINEAR {
            variants.push(variant("linear-texture", true));
        }
        variants
    }

    /// Samples the image, and a quarter of its side beyond each edge.
    fn sample(&self, index: usize) -> Variant<'_, Data> {
        let sampled = SAMPLED[index];
        let side = self.side as u32;
        let launch = covering(side, [32, 8]);
        // In normalised coordinates. The shift of 0.3 texels avoids positions on the boundary of two texels.
        let scale = 1.5 / side as f32;
        let shift = -0.25 + 0.3 / side as f32;
        let scale = if sampled.filter == Filter::Point { 1.0 / side as f32 } else { scale };
        Variant::new(
            sampled.name,
            move |data: &mut Data, launcher| {
                let texture = data.sampled[index].argument();
                let arguments = (texture, &mut data.output, scale, shift);
                // SAFETY: the texture is alive, and made of an array of two dimensions.
                unsafe { launcher.launch_unchecked(&kernel::texture_sample, &launch, arguments) }
            },
            move |data| {
                let found = data.output.read()?;
                let shape = Shape::Matrix { rows: self.side, columns: self.side };
                let place = |i: usize| f64::from(i as f32 * scale + shift) * f64::from(side);
                // Normalised coordinates keep at least 18 bits, and a weight is rounded to 8 bits, in each direction; neighbours differ by at
                // most 2. A byte is exact but for rounding.
                let tolerance = match sampled.filter {
                    Filter::Linear => {
                        Tolerance::Absolute(4.0 * (2.0_f64.powi(-9) + f64::from(side) * 2.0_f64.powi(-18)))
                    }
                    Filter::Point => Tolerance::Ulps(1),
                };
                Ok(Outcome::near(shape, found, tolerance, |row, column| {
                    Reference::from(self.sampled(sampled, place(column), place(row)))
                }))
            },
        )
        .group("sampling")
        .bytes(self.useful())
        .computes(format!("the image as {}", sampled.name), self.useful() / 2)
    }

    /// The expected sample at a position in texels.
    fn sampled(&self, sampled: Sampled, x: f64, y: f64) -> f64 {
        let texel = |x: f64, y: f64| {
            let (Some(x), Some(y)) = (self.index(sampled.mode, x), self.index(sampled.mode, y)) else { return 0.0 };
            match sampled.bytes {
                true => f64::from(self.bytes[y * self.side + x]) / 255.0,
                false => f64::from(self.image[y * self.side + x]),
            }
        };
        if sampled.filter == Filter::Point {
            return texel(x.floor(), y.floor());
        }
        let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
        let (right_part, bottom_part) = (x - 0.5 - left, y - 0.5 - top);
        let row = |y: f64| texel(left, y) * (1.0 - right_part) + texel(left + 1.0, y) * right_part;
        row(top) * (1.0 - bottom_part) + row(top + 1.0) * bottom_part
    }

    /// The texel that is read for a position beyond the edge; `None` for the border colour.
    fn index(&self, mode: AddressMode, place: f64) -> Option<usize> {
        let side = self.side as f64;
        let inside = match mode {
            AddressMode::Clamp => place.clamp(0.0, side - 1.0),
            AddressMode::Wrap => place.rem_euclid(side),
            AddressMode::Mirror => {
                let place = place.rem_euclid(2.0 * side);
                if place < side { place } else { 2.0 * side - 1.0 - place }
            }
            AddressMode::Border => place,
        };
        (0.0..side).contains(&inside).then_some(inside as usize)
    }

    fn walk(&self, way: Way, place: Layout) -> Variant<'_, Data> {
        let Way { name, step_x, step_y, origin, block } = way;
        let side = self.side as u32;
        let launch = covering(side, block.map(|threads| threads.min(side)));
        let walk = Walk { step_x, step_y, origin, mask: side - 1 };
        Variant::new(
            format!("{name}-{}", place.name()),
            move |data: &mut Data, launcher| match (place, &data.walked) {
                (Layout::Texture, Some(walked)) => {
                    let arguments = (walked.argument(), &mut data.output, walk);
                    // SAFETY: the texture is alive, made of an array of two dimensions and of this side.
                    unsafe { launcher.launch_unchecked(&kernel::texture_walk, &launch, arguments) }
                }
                (Layout::Morton, _) => {
                    launcher.launch(&kernel::texture_morton, &launch, (&data.morton, &mut data.output, walk))
                }
                _ => launcher.launch(&kernel::texture_rows, &launch, (&*data.image, &mut data.output, walk)),
            },
            move |data| {
                let found = data.output.read()?;
                let shape = Shape::Matrix { rows: self.side, columns: self.side };
                Ok(Outcome::exact(shape, found, |row, column| {
                    let [u, v] = walk.texel(column as u32, row as u32);
                    self.image[v as usize * self.side + u as usize]
                }))
            },
        )
        .group(name)
        .bytes(self.useful())
        .computes(format!("the walk along {name}"), self.useful() / 2)
    }
}

/// A launch with a thread for each texel of a square image.
fn covering(side: u32, block: [u32; 2]) -> LaunchConfig {
    LaunchConfig::new([side.div_ceil(block[0]), side.div_ceil(block[1]), 1], [block[0], block[1], 1])
}

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Self::Texture => "texture",
            Self::Rows => "row-order",
            Self::Morton => "morton-order",
        }
    }
}

impl Sampled {
    fn sampling(self) -> Sampling {
        Sampling {
            address_modes: [self.mode; 3],
            filter: self.filter,
            read_mode: if self.bytes { ReadMode::NormalizedFloat } else { ReadMode::Element },
            normalized_coordinates: true,
            ..Sampling::default()
        }
    }
}
