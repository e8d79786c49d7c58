//! The transpose of a matrix: naive, in blocks, through shared memory, padded. The kernels and what
//! they show are in `kernels::transpose`; `table` has the variants, `peer` the libraries.

mod outcome;
mod peer;
mod table;

use std::rc::Rc;

use crate::flag_values::each_once;
use best_kernels::Launch;
use best_kernels::transpose as best;
use common::random::Random;
use device::peers::Peers;
use device::{Device, Error, LaunchConfig, Matrix, Result};
use kernels::transpose as kernel;
use kernels::transpose_wide::transpose_wide;
use serde_json::{Value, json};

use outcome::target;
pub use table::Options;
use table::{CONCLUSIONS, FIRST, SHOWCASE, Step};

use super::best::gpu;
use super::inputs::{DefaultSize, HostMatrix, MemoryNeeds, named};
use super::lab::{Lab, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::labs::launcher::config_of;
use crate::peers::Peer;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

const SIZE: DefaultSize = DefaultSize { on_gpu: 16384, on_simulator: 1024 };

/// The input and the transpose on the device, and a third matrix for the copy; the input and one
/// output on the host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "the transpose of a matrix", on_device: 2, on_host: 2 };
const NEEDS_WITH_COPY: MemoryNeeds = MemoryNeeds { on_device: 3, ..NEEDS };

/// The best kernel for a matrix, and its launch.
type Best = (&'static best::Transpose, Launch);

/// The lab: a matrix and how to turn it.
pub struct Transpose {
    options: Options,
    matrix: HostMatrix,
    steps: Vec<&'static VariantSpec<Step>>,
    /// Whether a plain copy is among them, ours or the driver's.
    copies: bool,
}

/// What lies on a device.
pub struct Data {
    input: Matrix<f32>,
    /// As large as the transpose.
    output: Matrix<f32>,
    /// As large as the input, for the plain copy; only if that runs.
    copied: Option<Matrix<f32>>,
}

impl Lab for Transpose {
    const NAME: &'static str = "transpose";
    const ABOUT: &'static str = "Strided stores coalesced through shared memory; bank conflicts, padding";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalLoadsOverIdeal, Subject::GlobalStoresOverIdeal, Subject::SharedLoads, Subject::SharedStores];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Driver, Peer::Cublas];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Step>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        // Before compute capability 2.0 a block has no room for the best kernel's tile.
        let steps = options.variants.chosen_for(device, true, |step| match step.of {
            Step::Best => (best::THREADS, best::SHARED_BYTES.into()),
            _ => (0, 0),
        });
        // The widths alone, unless variants are chosen, too.
        let steps = if options.tile_width.is_empty() || options.variants.any() { steps } else { Vec::new() };
        let options = Options { tile_width: each_once(options.tile_width), ..options };
        let has = |is: fn(&Step) -> bool| steps.iter().any(|step| is(&step.of));
        if options.block.is_some() && !has(|step| matches!(step, Step::Elements(_))) {
            return Err(Error::request(
                "--block",
                "only --block16 takes blocks of any shape; the other kernels' are their own",
            ));
        }
        let copies = has(|step| matches!(step, Step::Copies(_))) || settings.peer.peer;
        let needs = if copies { NEEDS_WITH_COPY } else { NEEDS };
        let matrix = options.matrix.matrix(device, SIZE, needs, &mut Random::new(settings.seed))?;
        Ok(Self { options, matrix, steps, copies })
    }

    fn parameters(&self) -> Value {
        let Options { pitched, matrix, .. } = &self.options;
        let HostMatrix { rows, columns, .. } = self.matrix;
        json!({"rows": rows, "cols": columns, "pitched": pitched, "input": named(matrix.input.as_ref())})
    }

    fn chooses_rows(&self) -> bool {
        self.options.variants.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let pitched = self.options.pitched;
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let mut data = Data {
            input: device.matrix(rows, columns, pitched)?,
            output: device.matrix(columns, rows, pitched)?,
            copied: if self.copies { Some(device.matrix(rows, columns, pitched)?) } else { None },
        };
        for matrix in [&data.input, &data.output] {
            u32::try_from(matrix.pitch())
                .map_err(|_| Error::request("--pitched", "rows of this length are beyond a kernel's 32-bit pitch"))?;
        }
        // The padding of a pitched input is never right to read.
        data.input.poison()?;
        data.input.write(elements)?;
        let pitches = [&data.input, &data.output].map(|matrix| matrix.pitch() as u32);
        let best = best::best(gpu(device), [rows, columns].map(|side| side as u32), pitches);
        let steps = self.steps.iter().map(|step| self.variant(step.name, step.of, best, &data));
        let widths = self.options.tile_width.iter().map(|&width| {
            let step = Step::Wide(&transpose_wide, width);
            self.variant(&format!("width-{width}"), step, best, &data).fact("tile_width", width)
        });
        let variants = steps.chain(widths).collect();
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        Ok(self.library_rows(device, peers))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        if let Some(copied) = &mut data.copied {
            copied.poison()?;
        }
        data.output.poison()
    }
}

impl Transpose {
    fn variant(&self, name: &str, of: Step, (best, best_launch): Best, data: &Data) -> Variant<'_, Data> {
        let (rows, columns) = (self.matrix.rows as u32, self.matrix.columns as u32);
        let launch = match of {
            Step::Best => config_of(best_launch),
            Step::Elements(_) => {
                let [x, y] = self.options.block.unwrap_or([kernel::BLOCK16, kernel::BLOCK16]);
                LaunchConfig::new(kernel::grid(rows, columns, [x, y]), [x, y, 1])
            }
            Step::Tiles(plain) | Step::Copies(plain) => {
                LaunchConfig::blocks(plain, kernel::grid(rows, columns, [kernel::TILE, kernel::TILE]))
            }
            Step::Wide(wide, _) => {
                LaunchConfig::blocks(wide, kernel::grid(rows, columns, [kernel::TILE, kernel::TILE]))
            }
        };
        let bytes = self.bytes();
        let copies = matches!(of, Step::Copies(_));
        let output = data.copied.as_ref().filter(|_| copies).unwrap_or(&data.output);
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| {
                let (input, output) = (&data.input, target(copies, &mut data.output, &mut data.copied));
                match of {
                    Step::Tiles(plain) | Step::Elements(plain) | Step::Copies(plain) => {
                        launcher.launch(plain, &launch, (input, output))
                    }
                    Step::Wide(wide, width) => launcher.launch(wide, &launch, (input, output, width)),
                    Step::Best => {
                        let pitches = [input.pitch() as u32, output.pitch() as u32];
                        let arguments = (input, output, rows, columns, pitches[0], pitches[1]);
                        // SAFETY: rows, columns and pitches are those of the two matrices.
                        unsafe { launcher.launch_unchecked(best, &launch, arguments) }
                    }
                }
            },
            move |data| self.outcome(copies, data),
        );
        let variant = variant
            .fact("block", json!(launch.block[..2]))
            .fact("grid", json!(launch.grid))
            .fact("input_pitch_bytes", data.input.pitch() * size_of::<f32>())
            .fact("output_pitch_bytes", output.pitch() * size_of::<f32>())
            .bytes(2 * bytes);
        match of {
            Step::Copies(_) => variant,
            Step::Best => variant.computes("the transpose", bytes).one_of_several_kernels(),
            _ => variant.computes("the transpose", bytes),
        }
    }

    /// The bytes of the matrix.
    fn bytes(&self) -> u64 {
        size_of_val(self.matrix.elements.as_slice()) as u64
    }
}
