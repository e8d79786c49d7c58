//! The walks over an image, and how the image of a walk is stored.

use device::LaunchConfig;
use kernels::texture::Walk;

/// A walk over an image, and its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub name: &'static str,
    /// The distance to the next lane's texel, and to the next row of threads'.
    pub step_x: [u32; 2],
    pub step_y: [u32; 2],
    pub origin: [u32; 2],
    pub block: [u32; 2],
}

pub(super) const COLUMNS: Way = Way { name: "columns", step_x: [0, 1], step_y: [1, 0], origin: [0, 0], block: [32, 8] };

pub(super) const WAYS: [Way; 4] = [
    Way { name: "rows", step_x: [1, 0], step_y: [0, 1], origin: [0, 0], block: [32, 8] },
    COLUMNS,
    Way { name: "diagonals", step_x: [1, 1], step_y: [0, 1], origin: [0, 0], block: [32, 8] },
    // Each warp has 4 x 8 threads, and none begins at the start of a sector.
    Way { name: "windows", step_x: [1, 0], step_y: [0, 1], origin: [3, 1], block: [4, 64] },
];

impl Way {
    /// The launch that walks over an image of this side, and where its threads look.
    pub fn over(self, side: u32) -> (LaunchConfig, Walk) {
        let Self { step_x, step_y, origin, block, .. } = self;
        (covering(side, block.map(|threads| threads.min(side))), Walk { step_x, step_y, origin, mask: side - 1 })
    }
}

/// A launch with a thread for each texel of a square image.
pub(super) fn covering(side: u32, block: [u32; 2]) -> LaunchConfig {
    LaunchConfig::new([side.div_ceil(block[0]), side.div_ceil(block[1]), 1], [block[0], block[1], 1])
}

/// How the image of a walk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Texture,
    Rows,
    Morton,
}

impl Layout {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Texture => "texture",
            Self::Rows => "row-order",
            Self::Morton => "morton-order",
        }
    }
}
