//! The table of the lab: its variants and its flags.

use std::path::PathBuf;

use clap::Args;
use cuda_std::launch::{DisjointMatrix, Matrix, SafeKernel};
use device::Device;
use kernels::stencil_volume::{self as volume, Shape, WALK};
use kernels::stencil_walk as walk;
use kernels::{stencil as plane, stencil_registers as registers};

use crate::labs::inputs::{DefaultSize, MatrixFlags};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Meaning;

pub(super) const SIDE: DefaultSize = DefaultSize { on_gpu: 8192, on_simulator: 256 };

/// The default volume: planes, rows and columns.
pub(super) struct DefaultVolume {
    on_gpu: [u64; 3],
    on_simulator: [u64; 3],
}

pub(super) const VOLUME: DefaultVolume = DefaultVolume { on_gpu: [512; 3], on_simulator: [32, 96, 128] };

impl DefaultVolume {
    /// That for `device`.
    pub(super) fn on(&self, device: &Device) -> [u64; 3] {
        [0, 1, 2].map(|i| DefaultSize { on_gpu: self.on_gpu[i], on_simulator: self.on_simulator[i] }.on(device))
    }
}

/// A kernel on a matrix, and one on a volume.
type OnPlane = SafeKernel<(Matrix<f32>, DisjointMatrix<f32>)>;
type OnVolume = SafeKernel<(Matrix<f32>, DisjointMatrix<f32>, Shape)>;

/// What a row launches.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub points: u32,
    pub run: Run,
    /// Columns and rows of results of a block of 32 x 8 threads.
    pub results: [u32; 2],
    /// Planes of results of a block.
    pub planes: u32,
}

#[derive(Clone, Copy)]
pub(super) enum Run {
    Plane(&'static OnPlane),
    Volume(&'static OnVolume),
    Texture,
}

impl Step {
    pub(super) fn is_of_volume(self) -> bool {
        matches!(self.run, Run::Volume(_))
    }

    pub(super) fn is_texture(self) -> bool {
        matches!(self.run, Run::Texture)
    }
}

const fn on_plane(points: u32, kernel: &'static OnPlane, results: [u32; 2]) -> Step {
    Step { points, run: Run::Plane(kernel), results, planes: 1 }
}

const fn on_volume(kernel: &'static OnVolume, results: [u32; 2], planes: u32) -> Step {
    Step { points: 7, run: Run::Volume(kernel), results, planes }
}

const fn texture(points: u32) -> Step {
    Step { points, run: Run::Texture, results: EACH, planes: 1 }
}

/// A result for each thread.
const EACH: [u32; 2] = [32, 8];
const TILE: [u32; 2] = [plane::TILE, plane::TILE];
/// Four results side by side for each thread.
const WORDS: [u32; 2] = [128, 8];

const HELP_GLOBAL: &str = "A thread for each result, straight from global memory";
const HELP_SHARED: &str = "A tile with its halo in shared memory";
const HELP_REGISTERS: &str = "In registers: of a tile, four results below each other; of a volume, a walk along z";
const HELP_BOTH: &str = "Of a volume: a tile of a plane in shared memory, and a walk along z in registers";
const HELP_TEXTURE: &str = "By texture fetches";
const HELP_WIDE: &str = "Words of 16 bytes: four results side by side; of a volume, along z in registers";

impl Variants for Step {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("global-5", HELP_GLOBAL, on_plane(5, &plane::stencil_global_5, EACH)).flag("global"),
        variant("shared-5", HELP_SHARED, on_plane(5, &plane::stencil_shared_5, TILE)).flag("shared"),
        variant("texture-5", HELP_TEXTURE, texture(5)).flag("texture"),
        variant("wide-5", HELP_WIDE, on_plane(5, &registers::stencil_wide_5, WORDS)).flag("wide"),
        variant("global-25", "", on_plane(25, &plane::stencil_global_25, EACH)).flag("global"),
        variant("shared-25", "", on_plane(25, &plane::stencil_shared_25, TILE)).flag("shared"),
        variant("registers-25", HELP_REGISTERS, on_plane(25, &registers::stencil_registers_25, TILE)).flag("registers"),
        variant("texture-25", "", texture(25)).flag("texture"),
        variant("wide-25", "", on_plane(25, &registers::stencil_wide_25, WORDS)).flag("wide"),
        variant("global-7", "", on_volume(&volume::stencil_global_7, EACH, 1)).flag("global"),
        variant("shared-7", "", on_volume(&volume::stencil_shared_7, EACH, 1)).flag("shared"),
        variant("registers-7", "", on_volume(&walk::stencil_registers_7, EACH, WALK)).flag("registers"),
        variant("both-7", HELP_BOTH, on_volume(&walk::stencil_both_7, EACH, WALK)).flag("both"),
        variant("wide-7", "", on_volume(&walk::stencil_wide_7, WORDS, WALK)).flag("wide"),
    ];
}

/// What the names of the rows mean.
pub(super) const MEANINGS: &[Meaning] = &[
    (
        "global-N",
        "Straight from global memory, a thread for each result. N are the points: of a matrix 5 (a value and its four neighbours) or \
         25 (the 5 x 5 around it), of a volume 7 (its six neighbours); what is outside counts as 0",
    ),
    ("shared-N", HELP_SHARED),
    ("registers-N", HELP_REGISTERS),
    ("both-N", HELP_BOTH),
    ("texture-N", HELP_TEXTURE),
    ("wide-N", HELP_WIDE),
];

/// The flags of `host stencil`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) ways: Chosen<Step>,
    /// Numbers of points, separated by commas: 5 and 25 of a matrix, 7 of a volume [default: all; with
    /// a file those that it is for]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = points)]
    pub(super) points: Vec<u32>,
    #[command(flatten)]
    pub(super) matrix: MatrixFlags,
    /// Planes, rows and columns of the volume [default: 512,512,512 on a GPU, 32,96,128 on the
    /// simulator]
    #[arg(long, value_name = "P,R,C", value_parser = extents)]
    pub(super) volume: Option<[u32; 3]>,
    /// Take the float32 volume in this NumPy file, of three dimensions, instead of a random one
    #[arg(long, value_name = "V.npy", conflicts_with = "volume")]
    pub(super) input_volume: Option<PathBuf>,
    /// Start each row at the device's preferred alignment
    #[arg(long)]
    pub(super) pitched: bool,
}

impl Options {
    /// The rows that the flags choose.
    pub(super) fn rows(&self) -> Vec<&'static VariantSpec<Step>> {
        let (plane, volume) = (self.matrix.input.is_some(), self.input_volume.is_some());
        let has = |row: &&VariantSpec<Step>| match self.points.as_slice() {
            [] => plane == volume || row.of.is_of_volume() == volume,
            points => points.contains(&row.of.points),
        };
        self.ways.chosen().into_iter().filter(has).collect()
    }
}

/// A number of points for which there are kernels.
fn points(text: &str) -> std::result::Result<u32, String> {
    let number = text.parse().ok().filter(|number| [5, 25, 7].contains(number));
    number.ok_or_else(|| "give 5, 25 or 7".to_owned())
}

/// Three extents.
fn extents(text: &str) -> std::result::Result<[u32; 3], String> {
    let numbers = text.split(',').map(|number| number.trim().parse::<u32>().ok().filter(|&number| number > 0));
    let numbers: Option<Vec<u32>> = numbers.collect();
    let extents = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
    extents.ok_or_else(|| "give planes, rows and columns: three numbers from 1 up, as in 32,256,256".to_owned())
}
