//! The product of the lab: its matrices on a device, and a row for each order of its tiles.

use std::sync::OnceLock;

use device::{Device, Error, LaunchConfig, Matrix, Result};
use kernels::order::{self as kernel, TILE, Tiles};
use picture::TileOrder;
use serde_json::json;

use super::Data;
use super::table::TileWalk;
use crate::labs::compare::Shape;
use crate::labs::inputs::HostMatrix;
use crate::labs::lab::{Outcome, Variant};
use crate::labs::product::Products;
use crate::report::Tolerance;

/// The most blocks of a linear grid.
const MOST_BLOCKS: u64 = (1 << 31) - 1;

/// A product.
pub(super) struct Product {
    pub(super) a: HostMatrix,
    pub(super) b: HostMatrix,
    pub(super) seed: u64,
    /// Rows of tiles in a band of squares.
    pub(super) side: u32,
    pub(super) expected: OnceLock<Products>,
}

/// Its matrices on a device.
pub(super) struct OnDevice {
    a: Matrix<f32>,
    b: Matrix<f32>,
    pub(super) c: Matrix<f32>,
}

impl Product {
    /// Rows, columns, and what is summed for each element.
    pub(super) fn extents(&self) -> [usize; 3] {
        [self.a.rows, self.b.columns, self.a.columns]
    }

    fn tiles(&self) -> Tiles {
        Tiles::of(self.a.rows as u32, self.b.columns as u32)
    }

    /// Fails if there are more tiles than a grid has blocks. A curve has at most four for each tile,
    /// unless there is a single row or column.
    pub(super) fn check_grid(&self) -> Result<()> {
        let [down, across] = [self.a.rows, self.b.columns].map(|extent| extent.div_ceil(TILE as usize) as u64);
        match down.saturating_mul(across) > MOST_BLOCKS / 4 {
            true => Err(Error::request(
                "--m",
                format!("{down} x {across} tiles are more than a grid has blocks; give less"),
            )),
            false => Ok(()),
        }
    }

    pub(super) fn place(&self, device: &Device) -> Result<OnDevice> {
        let [m, n, k] = self.extents();
        let matrix = |rows, columns| device.matrix(rows, columns, false);
        let mut data = OnDevice { a: matrix(m, k)?, b: matrix(k, n)?, c: matrix(m, n)? };
        data.a.write(&self.a.elements)?;
        data.b.write(&self.b.elements)?;
        Ok(data)
    }

    pub(super) fn variant(&self, name: &str, walk: TileWalk, device: &Device) -> Variant<'_, Data> {
        let ([m, n, k], tiles, side) = (self.extents(), self.tiles(), self.side);
        let blocks = match walk {
            TileWalk::Curve => kernel::curve_turns(tiles),
            _ => tiles.rows * tiles.cols,
        };
        let launch = LaunchConfig::new([blocks, 1, 1], [TILE, TILE, 1]);
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| {
                let OnDevice { a, b, c } = &mut data.product;
                match walk {
                    TileWalk::Rows => launcher.launch(&kernel::order_rows, &launch, (&*a, &*b, c)),
                    TileWalk::Squares => launcher.launch(&kernel::order_squares, &launch, (&*a, &*b, c, side)),
                    TileWalk::Curve => launcher.launch(&kernel::order_curve, &launch, (&*a, &*b, c)),
                }
            },
            |data| self.outcome(data),
        );
        let factors = ((m * k + k * n) * size_of::<f32>()) as u64;
        let result = (m * n * size_of::<f32>()) as u64;
        variant
            .group("product")
            .fact("blocks", blocks)
            .fact("ideal_bytes", factors)
            .fact("grid", json!(launch.grid))
            .bytes(factors + result)
            .operations(2 * (m * n) as u64 * k as u64)
            .computes("the product", result)
            .takes_tiles(self.order_of(walk, blocks, device))
    }

    /// Which tile each block takes, for a picture.
    fn order_of(&self, walk: TileWalk, blocks: u32, device: &Device) -> TileOrder {
        let (tiles, side) = (self.tiles(), self.side);
        // Threads alone limit the blocks of these kernels.
        let resident = device.properties().max_threads_per_multiprocessor.map_or(1, |most| most / (TILE * TILE));
        let tile = |turn| match walk {
            TileWalk::Rows => kernel::in_rows(turn, tiles),
            TileWalk::Squares => kernel::in_squares(turn, tiles, side),
            TileWalk::Curve => kernel::on_curve(turn, tiles),
        };
        let mut order = TileOrder::new([tiles.rows, tiles.cols], device.multiprocessors() * resident);
        (0..blocks).map(tile).for_each(|tile| order.take(tile));
        order
    }

    fn outcome(&self, data: &mut Data) -> Result<Outcome> {
        let found = data.product.c.read()?;
        let expected = self.expected.get_or_init(|| Products::of(&self.a, &self.b, self.seed));
        let shape = Shape::Matrix { rows: self.a.rows, columns: self.b.columns };
        // Each product is rounded and each sum: on the way to an element, at most as many as there
        // are terms, and one.
        let tolerance = Tolerance::Roundings(self.a.columns as u64 + 1);
        Ok(Outcome::near_where(shape, found, tolerance, |row, column| expected.of_element(row, column)))
    }
}
