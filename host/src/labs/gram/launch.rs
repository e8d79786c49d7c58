//! The launch of each variant.

use best_kernels::gram::{self as best, Best};
use best_kernels::product::Shares;
use best_kernels::transpose;
use device::{Device, LaunchConfig};
use serde_json::json;

use super::table::{Plain, Step};
use super::{Data, Gram};
use crate::labs::best::{SplitWorkspace, gpu};
use crate::labs::lab::Variant;
use crate::labs::launcher::config_of;
use crate::labs::variants::VariantSpec;

/// A kernel of this lab.
#[derive(Clone, Copy)]
enum Entry {
    Plain(&'static Plain),
    Split(Best, Shares),
}

impl Gram {
    pub(super) fn variant(&self, spec: &VariantSpec<Step>, device: &Device, data: &Data) -> Variant<'_, Data> {
        let step = spec.of;
        let rows = self.a.rows;
        let shape = best::Shape {
            rows: rows as u32,
            columns: self.a.columns as u32,
            a_pitch: data.a.pitch() as u32,
            c_pitch: data.c.pitch() as u32,
        };
        let best = if step.best { self.best(device) } else { None };
        let (kernel, launch) = match best {
            Some(best) => (Entry::Split(best.kernel, best.shares), config_of(best.launch())),
            None => {
                let kernel = step.kernel;
                let tiles = shape.rows.div_ceil(step.tile.unwrap_or(kernel.block()[0]));
                (Entry::Plain(kernel), LaunchConfig::blocks(kernel, [tiles, tiles, 1]))
            }
        };
        let variant = Variant::new(
            spec.name,
            move |data: &mut Data, launcher| {
                let Data { a, c, transposed, workspace: SplitWorkspace { ready, sums } } = data;
                match kernel {
                    Entry::Plain(kernel) => launcher.launch(kernel, &launch, (&*a, c)),
                    // SAFETY: the shape is that of these matrices, and the workspace is as large as
                    // the shares need.
                    Entry::Split(Best::Plain(kernel), shares) => unsafe {
                        launcher.launch_unchecked(kernel, &launch, (&*a, c, shape, 1.0_f32, shares, ready, sums))
                    },
                    Entry::Split(Best::Transposed(kernel), shares) => {
                        let best::Shape { rows, columns, a_pitch, .. } = shape;
                        let pitch = transposed.pitch() as u32;
                        let (turn, turn_launch) =
                            transpose::best(gpu(launcher.device()), [rows, columns], [a_pitch, pitch]);
                        let arguments = (&*a, &mut *transposed, rows, columns, a_pitch, pitch);
                        // SAFETY: rows, columns and pitches are those of the two matrices.
                        unsafe { launcher.launch_before(turn, &config_of(turn_launch), arguments)? };
                        let shape = best::Shape { a_pitch: pitch, ..shape };
                        let arguments = (&*transposed, c, shape, 1.0_f32, shares, ready, sums);
                        // SAFETY: the same as without a transposed copy.
                        unsafe { launcher.launch_unchecked(kernel, &launch, arguments) }
                    }
                }
            },
            |data| self.outcome(data, false),
        )
        .fact("block", json!(launch.block[..2]))
        .fact("grid", json!(launch.grid))
        .bytes(self.bytes())
        .operations(self.operations())
        .computes("the product", (rows * rows * size_of::<f32>()) as u64);
        if step.best { variant.one_of_several_kernels() } else { variant }
    }
}
