//! One product of the lab: its matrices on a device, and a row for each kernel. [`super`] makes one
//! for each size.

use std::sync::OnceLock;

use best_kernels::matmul::{self as best, Best};
use best_kernels::product::{Shares, TileLaunch};
use device::{Device, LaunchConfig, Matrix, Result};
use serde_json::json;

use super::table::{Plain, Step};
use crate::labs::best::{SplitWorkspace, gpu};
use crate::labs::compare::Shape;
use crate::labs::inputs::HostMatrix;
use crate::labs::lab::{Outcome, Variant};
use crate::labs::launcher::config_of;
use crate::labs::product::Products;
use crate::labs::variants::VariantSpec;
use crate::report::Tolerance;

/// A product.
pub(super) struct Product {
    /// Where its data is.
    pub(super) index: usize,
    pub(super) a: HostMatrix,
    pub(super) b: HostMatrix,
    pub(super) seed: u64,
    /// Threads of a block of the naive kernel.
    pub(super) block: [u32; 2],
    /// Whether its rows say which product they are of.
    pub(super) named: bool,
    pub(super) expected: OnceLock<Products>,
}

/// What lies on a device, for each product.
pub struct Data(pub(super) Vec<OnDevice>);

/// A product on a device.
pub(super) struct OnDevice {
    pub(super) a: Matrix<f32>,
    pub(super) b: Matrix<f32>,
    pub(super) c: Matrix<f32>,
    /// Of the best kernel.
    pub(super) workspace: SplitWorkspace,
}

impl Product {
    /// Rows, columns, and what is summed for each element.
    pub(super) fn extents(&self) -> [usize; 3] {
        [self.a.rows, self.b.columns, self.a.columns]
    }

    /// The name of a row.
    pub(super) fn name(&self, name: &str) -> String {
        if self.named { format!("{name} of {}", self.a.rows) } else { name.to_owned() }
    }

    /// The matrices on a device.
    pub(super) fn place(&self, device: &Device, pitched: bool) -> Result<OnDevice> {
        let [m, n, k] = self.extents();
        let matrix = |rows, columns| device.matrix(rows, columns, pitched);
        let workspace = SplitWorkspace::new(device, 0)?;
        let mut data = OnDevice { a: matrix(m, k)?, b: matrix(k, n)?, c: matrix(m, n)?, workspace };
        for (matrix, elements) in [(&mut data.a, &self.a.elements), (&mut data.b, &self.b.elements)] {
            // The padding of a pitched matrix is never right to read.
            matrix.poison()?;
            matrix.write(elements)?;
        }
        Ok(data)
    }

    fn shape(&self, data: &OnDevice) -> best::Shape {
        best::Shape {
            m: self.a.rows as u32,
            n: self.b.columns as u32,
            k: self.a.columns as u32,
            a_pitch: data.a.pitch() as u32,
            b_pitch: data.b.pitch() as u32,
            c_pitch: data.c.pitch() as u32,
        }
    }

    /// The threads of a block of the step's own kernel.
    pub(super) fn block(&self, step: &Step) -> [u32; 3] {
        let [x, y] = self.block;
        step.kernel.shape().block.unwrap_or([x, y, 1])
    }

    /// The best kernel for this shape. Products that are smaller than a tile are left to
    /// `matmul_wide`.
    pub(super) fn best(&self, device: &Device, data: &OnDevice) -> Option<TileLaunch<Best>> {
        best::best(gpu(device), self.shape(data))
    }

    pub(super) fn variant(
        &self,
        &VariantSpec { name, of: ref step, .. }: &VariantSpec<Step>,
        device: &Device,
        data: &OnDevice,
    ) -> Variant<'_, Data> {
        let ([m, n, _], index) = (self.extents(), self.index);
        let shape = self.shape(data);
        let block = self.block(step);
        let [across, down] = step.tile.map_or([block[0], block[1]], |side| [side, side]);
        let launch = LaunchConfig::new([shape.n.div_ceil(across), shape.m.div_ceil(down), 1], block);
        let best = if step.best { self.best(device, data) } else { None };
        let (kernel, launch) = match best {
            Some(best) => (Entry::Tiled(best.kernel, best.shares), config_of(best.launch())),
            None => (Entry::Plain(step.kernel), launch),
        };
        let variant = Variant::new(
            self.name(name),
            move |data: &mut Data, launcher| {
                let OnDevice { a, b, c, workspace } = &mut data.0[index];
                match kernel {
                    Entry::Plain(kernel) => launcher.launch(kernel, &launch, (&*a, &*b, c)),
                    // SAFETY: the shape is that of these matrices, and nothing else uses them.
                    Entry::Tiled(Best::Alone(kernel), _) => unsafe {
                        launcher.launch_unchecked(kernel, &launch, (&*a, &*b, c, shape, 1.0_f32))
                    },
                    Entry::Tiled(Best::Split(kernel), shares) => {
                        let SplitWorkspace { ready, sums } = workspace;
                        let arguments = (&*a, &*b, c, shape, 1.0_f32, shares, ready, sums);
                        // SAFETY: the same, and the workspace is as large as the shares need.
                        unsafe { launcher.launch_unchecked(kernel, &launch, arguments) }
                    }
                }
            },
            |data| self.outcome(data),
        )
        .fact("block", json!(launch.block[..2]))
        .fact("grid", json!(launch.grid))
        .computes(self.name("the product"), (m * n * size_of::<f32>()) as u64);
        let variant = self.described(name, variant);
        if step.best { variant.one_of_several_kernels() } else { variant }
    }

    /// A row with what it moves and computes, and which product it is of.
    pub(super) fn described<'v>(&self, step: &'static str, variant: Variant<'v, Data>) -> Variant<'v, Data> {
        let variant = variant.bytes(self.bytes()).operations(self.operations());
        let variant = variant.fact("input_bytes", self.input_bytes());
        match self.named {
            true => variant.axis("step", step).axis("m", self.a.rows).group(format!("m {}", self.a.rows)),
            false => variant,
        }
    }

    /// Whether the product is right.
    pub(super) fn outcome(&self, data: &mut Data) -> Result<Outcome> {
        let found = data.0[self.index].c.read()?;
        let expected = self.expected.get_or_init(|| Products::of(&self.a, &self.b, self.seed));
        let shape = Shape::Matrix { rows: self.a.rows, columns: self.b.columns };
        // Each product is rounded and each sum: on the way to an element, at most as many as there
        // are terms, and one.
        let tolerance = Tolerance::Roundings(self.a.columns as u64 + 1);
        Ok(Outcome::near_where(shape, found, tolerance, |row, column| expected.of_element(row, column)))
    }

    /// The bytes of the three matrices.
    fn bytes(&self) -> u64 {
        let (m, n, k) = (self.a.rows, self.b.columns, self.a.columns);
        ((m * k + k * n + m * n) * size_of::<f32>()) as u64
    }

    /// The bytes of the two factors.
    fn input_bytes(&self) -> usize {
        (self.a.rows + self.b.columns) * self.a.columns * size_of::<f32>()
    }

    fn operations(&self) -> u64 {
        2 * (self.a.rows * self.b.columns) as u64 * self.a.columns as u64
    }
}

/// A kernel of this lab.
#[derive(Clone, Copy)]
enum Entry {
    Plain(&'static Plain),
    /// With how its tiles are shared out.
    Tiled(Best, Shares),
}
