//! The walks over an image, and how the image of a walk is stored.

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

pub(super) const WAYS: [Way; 4] = [
    Way { name: "rows", step_x: [1, 0], step_y: [0, 1], origin: [0, 0], block: [32, 8] },
    Way { name: "columns", step_x: [0, 1], step_y: [1, 0], origin: [0, 0], block: [32, 8] },
    Way { name: "diagonals", step_x: [1, 1], step_y: [0, 1], origin: [0, 0], block: [32, 8] },
    // Each warp has 4 x 8 threads, and none begins at the start of a sector.
    Way { name: "windows", step_x: [1, 0], step_y: [0, 1], origin: [3, 1], block: [4, 64] },
];

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
