//! Runs an exercise's kernels once on a device: copies the data there, launches, and reads the buffers. [`crate::judge`] calls it.

use std::path::Path;
use std::rc::Rc;

use cuda_std::launch::Arguments;
use host::device::{
    self, AddressMode, ArrayShape, Buffer, ChannelType, Device, DeviceChoice, Filter, LaunchConfig, OnDevice, Options,
    OwnedTexture, PitchedBuffer, PtxFile, Sampling, TexelFormat,
};
use host::limits::Limits;
use host::random::Random;
use indexmap::IndexMap;
use simt::{Checks, LoadCaching, Model};

use crate::data::{self, Sizes};
use crate::exercise::{Address, Argument, Data, Exercise, Extents, Filter as FilterName, Launch};
use crate::expression::Expression;
use crate::metric::Launched;
use crate::verdict::{Fault, Problem};
use crate::words::several;

/// Memory of the simulated device: enough for every exercise, and a limit for a kernel's own allocations.
const DEVICE_MEMORY: u64 = 1 << 30;

/// The name of a block's size in `goals.toml` if the kernel decides it.
const LAUNCH_BOUNDS: &str = "launch_bounds";

/// Compiled kernels on a device.
pub struct Module {
    device: Device,
    kernels: IndexMap<String, Signature>,
}

/// A kernel's signature in the PTX.
struct Signature {
    /// Bytes of each parameter.
    parameters: Vec<u64>,
    /// The block that it was compiled for.
    bounds: Option<[u32; 3]>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The contents of each buffer, without padding between rows.
    pub buffers: IndexMap<String, Vec<u8>>,
    /// The counts of each launch; empty on a GPU.
    pub launches: Vec<Launched>,
    /// The sanitizer's findings.
    pub faults: Vec<Fault>,
}

/// The initial values of a trial.
pub type Values = IndexMap<String, Vec<u8>>;

/// Draws the initial values of every buffer.
pub fn draw_values(exercise: &Exercise, sizes: &Sizes, random: &mut Random) -> Result<Values, String> {
    let of = |(name, plan): (&String, &Data)| {
        let [rows, columns] = data::shape(plan, sizes).map_err(|problem| format!("data '{name}': {problem}"))?;
        let values = match plan.scratch || plan.output && plan.values.is_none() {
            true => vec![device::POISON; rows * columns * plan.element.bytes()],
            false => data::values(plan, rows * columns, sizes, random)?,
        };
        Ok((name.clone(), values))
    };
    exercise.goals.data.iter().map(of).collect()
}

/// Which launches to make.
#[derive(Clone, Copy)]
pub enum Kernels<'a> {
    /// The launches of the exercise.
    Student,
    /// The reference's launch.
    Reference(&'a crate::exercise::Answer),
}

/// A buffer on the device.
enum DeviceBuffer {
    Linear(Buffer<u8>),
    Pitched(PitchedBuffer<u8>),
}

impl DeviceBuffer {
    fn address(&self) -> u64 {
        match self {
            Self::Linear(buffer) => buffer.address(),
            Self::Pitched(buffer) => buffer.address(),
        }
    }

    /// The address after the last byte.
    fn end(&self) -> u64 {
        self.address()
            + match self {
                Self::Linear(buffer) => buffer.len() as u64,
                Self::Pitched(buffer) => buffer.rows() as u64 * buffer.pitch_bytes(),
            }
    }

    fn read(&self) -> host::Result<Vec<u8>> {
        match self {
            Self::Linear(buffer) => buffer.read(),
            Self::Pitched(buffer) => buffer.read(),
        }
    }
}

/// A trial's data on the device.
struct DeviceData<'a> {
    exercise: &'a Exercise,
    sizes: &'a Sizes,
    buffers: IndexMap<String, DeviceBuffer>,
    textures: IndexMap<String, OwnedTexture>,
}

impl Module {
    /// Loads PTX on a device, with limits for a launch.
    ///
    /// # Errors
    ///
    /// Those of [`device::open`].
    pub fn open(ptx: &Path, choice: DeviceChoice, steps: Option<u64>) -> Result<Self, host::Error> {
        let file = PtxFile::from(ptx.to_owned());
        let module = file.module()?;
        let limits = Limits { memory_limit: Some(DEVICE_MEMORY), step_limit: steps, ..Limits::default() };
        let device = device::open(choice, &Options { ptx: Some(file), limits })?;
        let signature = |kernel: &ptx::Function| Signature {
            parameters: kernel.parameters.iter().map(|&one| module.variables[one].size.unwrap_or(0)).collect(),
            bounds: kernel.required_threads.or(kernel.max_threads),
        };
        let kernels = module.kernels().map(|(_, kernel)| (kernel.name.clone(), signature(kernel))).collect();
        Ok(Self { device, kernels })
    }

    /// Opens the simulator with `model`, or without a model.
    ///
    /// # Errors
    ///
    /// As [`Module::open`].
    pub fn simulated(ptx: &Path, model: Option<&'static Model>, steps: Option<u64>) -> Result<Self, host::Error> {
        let choice = match model {
            Some(model) => DeviceChoice::Model(model, LoadCaching::Default),
            None => DeviceChoice::Simulator,
        };
        Self::open(ptx, choice, steps)
    }

    /// Runs the kernels once.
    ///
    /// # Errors
    ///
    /// [`Problem`] for a mistake of the kernels, the exercise or the device.
    pub fn run(
        &self,
        exercise: &Exercise,
        sizes: &Sizes,
        values: &Values,
        kernels: Kernels<'_>,
        checks: Checks,
    ) -> Result<Outcome, Problem> {
        let placed = self.place(exercise, sizes, values)?;
        let mut outcome = Outcome::default();
        match kernels {
            Kernels::Reference(answer) => {
                let config = LaunchConfig { checks, ..LaunchConfig::new([1; 3], [1; 3]) };
                self.launch(&placed, &answer.kernel, &config, &answer.arguments, &mut outcome)?;
            }
            Kernels::Student => self.launch_all(&placed, checks, &mut outcome)?,
        }
        self.device.synchronize().map_err(Problem::of)?;
        for (name, buffer) in &placed.buffers {
            outcome.buffers.insert(name.clone(), buffer.read().map_err(Problem::of)?);
        }
        Ok(outcome)
    }

    /// The launches, in order.
    fn launch_all(&self, placed: &DeviceData<'_>, checks: Checks, outcome: &mut Outcome) -> Result<(), Problem> {
        for launch in &placed.exercise.goals.launch {
            if launch.optional && !self.kernels.contains_key(&launch.kernel) {
                continue;
            }
            let config = LaunchConfig { checks, ..self.config(launch, placed)? };
            self.launch(placed, &launch.kernel, &config, &launch.arguments, outcome)?;
        }
        Ok(())
    }

    /// Times the student's launches on a GPU, in milliseconds: the median of several runs. `None` on the simulator.
    ///
    /// # Errors
    ///
    /// As [`Module::run`].
    pub fn time(&self, exercise: &Exercise, sizes: &Sizes, values: &Values) -> Result<Option<f64>, Problem> {
        const RUNS: usize = 21;
        let placed = self.place(exercise, sizes, values)?;
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let mut failed = None;
            let time = self.device.time(&mut || {
                failed = self.launch_all(&placed, Checks::NONE, &mut Outcome::default()).err();
                Ok(())
            });
            if let Some(problem) = failed {
                return Err(problem);
            }
            match time.map_err(Problem::of)? {
                Some(time) => times.push(time),
                None => return Ok(None),
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(Some(times[RUNS / 2]))
    }

    /// Copies the data to the device.
    fn place<'a>(&self, exercise: &'a Exercise, sizes: &'a Sizes, values: &Values) -> Result<DeviceData<'a>, Problem> {
        let mut placed = DeviceData { exercise, sizes, buffers: IndexMap::new(), textures: IndexMap::new() };
        for (name, plan) in &exercise.goals.data {
            let [rows, columns] = data::shape(plan, sizes).map_err(Problem::Exercise)?;
            let bytes = &values[name];
            let row_bytes = columns * plan.element.bytes();
            let buffer = if plan.pitched {
                let mut buffer = self.device.pitched_buffer::<u8>(rows, row_bytes).map_err(Problem::of)?;
                if !plan.scratch {
                    buffer.write(bytes).map_err(Problem::of)?;
                }
                DeviceBuffer::Pitched(buffer)
            } else {
                let mut buffer = self.device.buffer::<u8>(bytes.len()).map_err(Problem::of)?;
                if !plan.scratch {
                    buffer.write(bytes).map_err(Problem::of)?;
                }
                DeviceBuffer::Linear(buffer)
            };
            placed.buffers.insert(name.clone(), buffer);
            if let Some(texture) = &plan.texture {
                let made = self.texture(texture, rows, columns, bytes).map_err(Problem::of)?;
                placed.textures.insert(name.clone(), made);
            }
        }
        Ok(placed)
    }

    fn texture(
        &self,
        plan: &crate::exercise::Texture,
        rows: usize,
        columns: usize,
        bytes: &[u8],
    ) -> host::Result<OwnedTexture> {
        let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
        let shape = ArrayShape { width: columns as u32, height: rows as u32, ..ArrayShape::of(format) };
        let mut array = self.device.array(&shape)?;
        array.write(0, bytes)?;
        let address = match plan.address {
            Address::Clamp => AddressMode::Clamp,
            Address::Wrap => AddressMode::Wrap,
            Address::Mirror => AddressMode::Mirror,
            Address::Border => AddressMode::Border,
        };
        let sampling = Sampling {
            address_modes: [address; 3],
            filter: match plan.filter {
                FilterName::Nearest => Filter::Point,
                FilterName::Linear => Filter::Linear,
            },
            // The hardware repeats and mirrors only at normalised coordinates.
            normalized_coordinates: matches!(plan.address, Address::Wrap | Address::Mirror),
            ..Sampling::default()
        };
        self.device.array_texture(Rc::new(array), &sampling)
    }

    fn config(&self, launch: &Launch, placed: &DeviceData<'_>) -> Result<LaunchConfig, Problem> {
        let signature = self.signature(&launch.kernel)?;
        let decided = matches!(launch.block.0.as_slice(), [one] if one.as_name() == Some(LAUNCH_BOUNDS));
        let block = match (decided, signature.bounds) {
            (true, Some(bounds)) => bounds,
            (true, None) => {
                return Err(Problem::Signature(format!(
                    "kernel `{}` does not say how large its blocks are: write #[kernel(launch_bounds(N))]",
                    launch.kernel
                )));
            }
            (false, _) => extents(&launch.block, &|name| placed.lookup(name))?,
        };
        let with_block = |name: &str| match name {
            "block.x" => Some(block[0].into()),
            "block.y" => Some(block[1].into()),
            "block.z" => Some(block[2].into()),
            _ => placed.lookup(name),
        };
        let grid = extents(&launch.grid, &with_block)?;
        let shared = match &launch.shared {
            Some(shared) => shared.whole(&with_block, u32::MAX.into()).map_err(Problem::Exercise)?,
            None => 0,
        };
        Ok(LaunchConfig { dynamic_shared: shared as u32, ..LaunchConfig::new(grid, block) })
    }

    fn signature(&self, kernel: &str) -> Result<&Signature, Problem> {
        self.kernels.get(kernel).ok_or_else(|| {
            let there: Vec<String> = self.kernels.keys().map(|name| format!("`{name}`")).collect();
            Problem::Signature(format!("there is no kernel `{kernel}`; this file has {}", there.join(", ")))
        })
    }

    fn launch(
        &self,
        placed: &DeviceData<'_>,
        kernel: &str,
        config: &LaunchConfig,
        arguments: &[Argument],
        outcome: &mut Outcome,
    ) -> Result<(), Problem> {
        let bytes = self.arguments(placed, kernel, arguments)?;
        let counters =
            self.device.launch_untyped(kernel, config, &bytes).map_err(|error| match Problem::of(error) {
                Problem::Fault(fault) => Problem::Fault(Box::new(placed.with_element(*fault))),
                other => other,
            })?;
        if let (Some(counters), Some(report)) = (counters, self.device.last_report()) {
            let named = |finding| placed.with_element(Fault::found(finding));
            outcome.faults.extend(report.findings().iter().map(named));
            outcome.launches.push(Launched { kernel: kernel.to_owned(), report, counters });
        }
        Ok(())
    }

    /// The kernel's parameters, each as wide as the PTX has it.
    fn arguments(&self, placed: &DeviceData<'_>, kernel: &str, arguments: &[Argument]) -> Result<Arguments, Problem> {
        let sizes = &self.signature(kernel)?.parameters;
        let wanted: usize = arguments.iter().map(|one| if matches!(one, Argument::Slice(_)) { 2 } else { 1 }).sum();
        if wanted != sizes.len() {
            return Err(Problem::Signature(format!(
                "kernel `{kernel}` has {} parameters in the PTX, and is launched with {wanted} (a slice counts as two): keep \
                 its signature as it was",
                sizes.len()
            )));
        }
        let mut bytes = Arguments::new();
        for argument in arguments {
            let size = sizes[bytes.len()];
            let mut push = |value: &[u8]| match value.len() as u64 == size {
                true => {
                    bytes.push_bytes(value, value.len());
                    Ok(())
                }
                false => Err(Problem::Signature(format!(
                    "parameter {} of kernel `{kernel}` has {size} bytes, and is launched with {}: keep its signature as it was",
                    bytes.len() + 1,
                    value.len()
                ))),
            };
            match argument {
                Argument::Slice(name) => {
                    let (address, length) = placed.slice(name)?;
                    push(&address.to_le_bytes())?;
                    bytes.push_bytes(&length.to_le_bytes(), 8);
                }
                Argument::F32(value) => push(&(placed.number(value)? as f32).to_le_bytes())?,
                Argument::F64(value) => push(&placed.number(value)?.to_le_bytes())?,
                Argument::Value(value) => match value.as_name().and_then(|name| placed.pointer(name)) {
                    Some(address) => push(&address.to_le_bytes())?,
                    None => {
                        let number = value.whole(&|name| placed.lookup(name), 1 << 53).map_err(Problem::Exercise)?;
                        match size {
                            4 if number <= u32::MAX.into() => push(&(number as u32).to_le_bytes())?,
                            _ => push(&number.to_le_bytes())?,
                        }
                    }
                },
            }
        }
        Ok(bytes)
    }
}

impl DeviceData<'_> {
    /// The value of a name in an expression: a size, or the pitch of data in elements.
    fn lookup(&self, name: &str) -> Option<f64> {
        if let Some(&size) = self.sizes.get(name) {
            return Some(size as f64);
        }
        let data = name.strip_suffix(".pitch")?;
        let plan = self.exercise.goals.data.get(data)?;
        match self.buffers.get(data)? {
            DeviceBuffer::Pitched(buffer) => Some(buffer.pitch() as f64 / plan.element.bytes() as f64),
            DeviceBuffer::Linear(_) => data::shape(plan, self.sizes).ok().map(|[_, columns]| columns as f64),
        }
    }

    fn number(&self, expression: &Expression) -> Result<f64, Problem> {
        expression.evaluate(&|name| self.lookup(name)).map_err(Problem::Exercise)
    }

    /// The parameter for data: an address, or a texture's handle.
    fn pointer(&self, name: &str) -> Option<u64> {
        if let Some(texture) = self.textures.get(name) {
            return Some(texture.argument().handle());
        }
        Some(self.buffers.get(name.strip_suffix(".values").unwrap_or(name))?.address())
    }

    /// The fault with the name of the element concerned.
    fn with_element(&self, mut fault: Fault) -> Fault {
        fault.element = fault.address.and_then(|address| self.element(address, fault.allocation.unwrap_or(address)));
        fault
    }

    /// Which element of which buffer is at an address, if it is within a buffer.
    fn element(&self, address: u64, allocation: u64) -> Option<String> {
        let (name, buffer) =
            self.buffers.iter().find(|(_, buffer)| (buffer.address()..buffer.end()).contains(&allocation))?;
        let plan = &self.exercise.goals.data[name];
        let [rows, columns] = data::shape(plan, self.sizes).ok()?;
        let (bytes, offset) = (plan.element.bytes() as i64, address.wrapping_sub(buffer.address()) as i64);
        let has = |count: usize, what: &str| format!("{name} has {}", several(count, what));
        if plan.rows.is_none() {
            return Some(format!("{name}[{}]; {}", offset.div_euclid(bytes), has(columns, "element")));
        }
        let pitch = match buffer {
            DeviceBuffer::Pitched(buffer) => buffer.pitch() as i64,
            DeviceBuffer::Linear(_) => columns as i64 * bytes,
        };
        let (row, column) = (offset.div_euclid(pitch), offset.rem_euclid(pitch) / bytes);
        Some(format!("{name}[{row}][{column}]; {} of {columns}", has(rows, "row")))
    }

    fn slice(&self, name: &str) -> Result<(u64, u64), Problem> {
        let unknown = || Problem::Exercise(format!("argument '&{name}': there is no such data"));
        let buffer = self.buffers.get(name).ok_or_else(unknown)?;
        let plan = &self.exercise.goals.data[name];
        let [rows, columns] = data::shape(plan, self.sizes).map_err(Problem::Exercise)?;
        let length = match buffer {
            DeviceBuffer::Linear(_) => rows * columns,
            DeviceBuffer::Pitched(buffer) => (rows - 1) * buffer.pitch() / plan.element.bytes() + columns,
        };
        Ok((buffer.address(), length as u64))
    }
}

/// The numbers of a grid or a block.
fn extents(written: &Extents, value_of: &dyn Fn(&str) -> Option<f64>) -> Result<[u32; 3], Problem> {
    let mut extents = [1; 3];
    for (extent, expression) in extents.iter_mut().zip(&written.0) {
        *extent = expression.whole(value_of, u32::MAX.into()).map_err(Problem::Exercise)? as u32;
    }
    Ok(extents)
}
