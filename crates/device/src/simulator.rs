//! The simulator as a device. [`super::open`] makes it, and [`super::Device`] calls it through
//! [`Backend`]. It owns `simt`'s memory, program and printf output, and keeps each launch's report
//! until it is taken.

mod messages;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use cuda_std::launch::Arguments;
use simt::faults::AllocationSpan;
use simt::orders::{Bounds, Explored, Snapshot};
use simt::tensors::{TENSOR_MAP_BYTES, TensorMap};
use simt::textures::{ArrayHandle, ArrayShape, Sampling, TextureError};
use simt::transfers::Outside;
use simt::{
    Finding, InvalidLaunch, Launch, LaunchError, LoadCaching, Memory, MemoryError, Model, Output, Printed, Program,
    Report, Trap, TrapKind,
};

use super::array::{Array, TextureSource};
use super::backend::{Backend, SameWords, Transfer, Watch};
use super::image::{Checked, Image, Loaded, Part};
use super::{CacheConfig, ComputeCapability, LaunchConfig, Options, Predict, Properties};
use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::limits::Limits;
use messages::{refused, waiting_advice, with_shown_names};
use wording::one_line;

/// The model whose times are predicted if none is asked for: an H200.
pub(super) fn predicted() -> Option<&'static Model> {
    Model::named("hopper")
}

/// The simulator's memory if the host's memory is unknown.
const DEFAULT_MEMORY: u64 = 4 << 30;

/// After this many warp instructions a launch counts as endless: enough for a few warps that work
/// for long, plus some for each warp, so that an endless launch of a few thousand threads is
/// reported within a minute or two.
fn step_limit(config: &LaunchConfig) -> u64 {
    let count = |extents: [u32; 3]| extents.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    let warps = count(config.grid).saturating_mul(count(config.block).div_ceil(32));
    (1 << 31) + warps.saturating_mul(1 << 16).min(simt::limits::DEFAULT_STEP_LIMIT)
}

/// The carveout that a preference stands for, in percent.
fn wish(cache: CacheConfig) -> Option<u8> {
    match cache {
        CacheConfig::None => None,
        CacheConfig::Shared => Some(100),
        CacheConfig::L1 => Some(0),
        CacheConfig::Equal => Some(50),
    }
}

/// The simulator with the kernels loaded.
pub(super) struct Simulator {
    loaded: Rc<Loaded>,
    /// What is loaded from the start, for each image.
    programs: Vec<Rc<Program>>,
    memory: RefCell<Memory>,
    properties: Properties,
    /// The model of a GPU, if any.
    placed: Option<ModelAndCaching>,
    /// The preference of launches without their own.
    preferred: Cell<CacheConfig>,
    watch: RefCell<Option<Watch>>,
    output: Output,
    limits: Limits,
    advice: Advice,
    cancel: Option<&'static AtomicBool>,
    /// All arrays so far, by their handles.
    arrays: RefCell<Vec<ArrayHandle>>,
    /// Memory outside the device's own, by number.
    outside: RefCell<Vec<OutsideMemory>>,
    /// Whose times are predicted without a model, if not an H200's.
    predicted: Option<&'static Model>,
    /// Whether nobody reads results, so that memory need not be filled.
    predicts_only: bool,
}

/// Memory outside the device's own.
enum OutsideMemory {
    /// The host's alone.
    Host(Vec<u8>),
    /// What kernels reach, at this address.
    Reached(u64),
    Freed,
}

/// The model, and how it caches loads without a cache operator.
pub(super) type ModelAndCaching = (&'static Model, LoadCaching);

/// The simulator's properties. Its memory is the limit's, or three quarters of what the host has
/// available.
pub(super) fn properties(image: &Image, limits: &Limits, placed: Option<ModelAndCaching>) -> Properties {
    let three_quarters = || crate::memory::available_on_host().unwrap_or(DEFAULT_MEMORY) / 4 * 3;
    let memory_bytes = limits.memory_limit.unwrap_or_else(three_quarters);
    let plain = Properties::simulator(image.capability, image.target.clone(), memory_bytes);
    let Some((model, caching)) = placed else { return plain };
    let (major, minor) = model.compute_capability;
    let sizes = model.shared.carveouts;
    let l1 = sizes.first().map(|&least| model.l1_bytes(least)).filter(|&bytes| bytes > 0);
    let loads = if model.caches_global_loads(caching) { "through L1" } else { "past L1" };
    Properties {
        name: format!("simulator of {}", model.chip),
        compute_capability: ComputeCapability { major, minor },
        multiprocessors: Some(model.multiprocessors),
        l2_bytes: model.l2.map(|l2| l2.bytes),
        shared_per_block: model.shared.per_block.into(),
        shared_per_block_opt_in: model.shared.per_block_opt_in.into(),
        shared_per_multiprocessor: sizes.last().map(|&most| most.into()),
        max_threads_per_block: model.limits.threads_per_block,
        max_threads_per_multiprocessor: Some(model.limits.threads),
        pitch_alignment: model.pitch_alignment.into(),
        texture_alignment: model.texture_alignment.into(),
        shared_sizes: sizes.to_vec(),
        max_blocks_per_multiprocessor: Some(model.limits.blocks),
        registers_per_multiprocessor: Some(model.limits.registers),
        l1_bytes: l1.map(u64::from),
        simulates: Some(model.name),
        model: Some(match (model.l1.is_some(), model.read_only.is_some()) {
            (true, true) => {
                format!("the model {}: L1, read-only cache, L2 and DRAM; loads go {loads}; no clock", model.name)
            }
            (true, false) => format!("the model {}: L1, L2 and DRAM; loads go {loads}; no clock", model.name),
            (false, _) => format!("the model {}: transactions, no caches, no clock", model.name),
        }),
        ..plain
    }
}

impl Simulator {
    /// Loads what launches need from the start.
    pub fn open(loaded: &Rc<Loaded>, options: &Options, placed: Option<ModelAndCaching>) -> Result<Self> {
        let limits = &options.limits;
        let properties = properties(loaded.newest(), limits, placed);
        let limit = properties.memory_bytes;
        let mut memory = Memory::new(limit);
        if let Some(bytes) = limits.heap_limit {
            let failed = |error: MemoryError| Error::Simulator { doing: "the heap".into(), problem: error.to_string() };
            memory.set_heap_limit(bytes).map_err(failed)?;
        }
        let mut load = |part: &Part| {
            let program = Program::load(&part.module, &mut memory);
            program.map(Rc::new).map_err(|error| refused(&error, &options.advice.memory_note(limits.memory_limit)))
        };
        let programs = loaded.parts().iter().map(&mut load).collect::<Result<_>>()?;
        Ok(Self {
            loaded: loaded.clone(),
            programs,
            memory: RefCell::new(memory),
            preferred: Cell::default(),
            watch: RefCell::default(),
            output: limits.output_limit.map_or_else(Output::default, |bytes| Output::new(bytes as usize)),
            limits: limits.clone(),
            advice: options.advice,
            cancel: options.cancel,
            placed,
            properties,
            arrays: RefCell::default(),
            outside: RefCell::default(),
            predicted: options.predicted,
            predicts_only: options.predict_only,
        })
    }

    /// The error for memory that is misused or full.
    fn memory_error(&self, doing: &str, error: MemoryError) -> Error {
        match error {
            MemoryError::OutOfMemory { requested, free, .. } => Error::OutOfMemory {
                what: doing.to_owned(),
                place: "the simulator".to_owned(),
                needed: requested,
                available: free,
                limit: self.advice.memory_note(self.limits.memory_limit),
            },
            other => Error::Simulator { doing: doing.to_owned(), problem: one_line(&other.to_string()) },
        }
    }
}

impl Simulator {
    /// The program with this kernel, which is loaded. Loaded on first use.
    fn program_of(&self, kernel: &str) -> Result<Rc<Program>> {
        let Some(own) = self.loaded.kernel(kernel)? else { return Ok(self.programs[0].clone()) };
        if let Some(known) = own.program.get() {
            return Ok(known.clone());
        }
        let shared = &self.programs[own.part];
        let program = match Rc::ptr_eq(&own.module, &self.loaded.parts()[own.part].module) {
            true => shared.clone(),
            false => {
                let beside = shared.load_beside(&own.module, &mut self.memory.borrow_mut());
                Rc::new(beside.map_err(|error| refused(&error, &self.advice.memory_note(self.limits.memory_limit)))?)
            }
        };
        Ok(own.program.get_or_init(|| program).clone())
    }

    /// The simulator's handle of an array.
    fn array(&self, array: &Array) -> ArrayHandle {
        self.arrays.borrow()[array.handle as usize]
    }

    fn texture_error(&self, error: TextureError) -> Error {
        match error {
            TextureError::Memory(error) => self.memory_error("a texture", error),
            other => other.into(),
        }
    }
}

impl Simulator {
    /// A launch as `simt` takes it.
    fn launch_of<'a>(
        &'a self,
        (kernel, config): (&'a str, &LaunchConfig),
        arguments: &'a [&'a [u8]],
        progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    ) -> Launch<'a> {
        Launch {
            kernel,
            grid: config.grid,
            block: config.block,
            cluster: config.cluster,
            cooperative: config.cooperative,
            dynamic_shared: config.dynamic_shared,
            // A launch with dynamic shared memory opts in, as on a GPU.
            shared_limit: if config.dynamic_shared > 0 {
                self.properties.shared_per_block_opt_in as u32
            } else {
                self.properties.shared_per_block as u32
            },
            arguments,
            step_limit: self.limits.step_limit.unwrap_or_else(|| step_limit(config)),
            fault_limit: self.limits.fault_limit.unwrap_or(simt::limits::DEFAULT_FAULT_LIMIT),
            output: Some(&self.output),
            checks: config.checks,
            progress,
            model: self.placed.map(|(model, _)| model),
            load_caching: match config.load_caching {
                LoadCaching::Default => self.placed.map_or(LoadCaching::Default, |(_, caching)| caching),
                caching => caching,
            },
            carveout: config.carveout.or(wish(config.cache)).or(wish(self.preferred.get())),
            window: config.window,
            registers: config.registers,
            cancel: self.cancel,
            counts_words: config.counts_words,
            watch: (config.watch > 0).then_some(simt::requests::Watch {
                blocks: config.watched_block..config.watched_block + 1,
                warps: 0..32,
                requests: config.watch,
            }),
            predicts: match config.predict {
                Predict::Nothing => None,
                Predict::Time | Predict::TimeIfFull | Predict::TimeOnly => {
                    self.placed.map(|(model, _)| model).or(self.predicted).or_else(predicted)
                }
            },
            predicts_if_full: config.predict == Predict::TimeIfFull,
            time_only: config.predict == Predict::TimeOnly,
            order: config.order,
            follows: config.follows,
            ..Launch::default()
        }
    }

    fn launch_error(&self, error: LaunchError, launch: &Launch<'_>, config: &LaunchConfig) -> Error {
        match error {
            LaunchError::Trap(trap) => {
                let (trap, fault) = self.fault(&trap, launch, config);
                Error::Fault { kernel: launch.kernel.to_owned(), fault, trap: Some(Box::new(trap)) }
            }
            other => Error::Simulator { doing: "the launch".to_owned(), problem: one_line(&other.to_string()) },
        }
    }

    /// A trap with shown names, and what is said of it.
    fn fault(&self, trap: &Trap, launch: &Launch<'_>, config: &LaunchConfig) -> (Trap, String) {
        let trap = with_shown_names(trap);
        let mut fault = one_line(&trap.to_string());
        fault += waiting_advice(&trap.kind, config, &self.advice);
        fault += self.advice.on_limit(&trap.kind);
        if launch.model.is_some() && config.checks.any() && matches!(trap.kind, TrapKind::StepLimit { .. }) {
            // The model alone might have ended.
            fault += self.advice.endless_under_checks;
        }
        (trap, fault)
    }
}

impl Backend for Simulator {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn available(&self) -> Result<u64> {
        let memory = self.memory.borrow();
        let free = memory.limit() - memory.used();
        Ok(crate::memory::available_on_host().map_or(free, |host| host.min(free)))
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        let doing = "an allocation";
        self.memory.borrow_mut().allocate(bytes).map_err(|error| self.memory_error(doing, error))
    }

    fn allocate_pitched(&self, row_bytes: u64, rows: u64, _element_bytes: u32) -> Result<(u64, u64)> {
        let pitch = row_bytes.next_multiple_of(self.properties.pitch_alignment);
        let address = self.allocate(pitch.saturating_mul(rows))?;
        Ok((address, pitch))
    }

    fn free(&self, address: u64) {
        // Each buffer frees its own allocation once, so this cannot fail.
        let _ = self.memory.borrow_mut().free(address);
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.memory.borrow_mut().write(address, bytes).map_err(|error| self.memory_error("a copy to the device", error))
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.memory.borrow().read(address, bytes).map_err(|error| self.memory_error("a copy from the device", error))
    }

    fn unwritten(&self, address: u64, element: u64, count: usize) -> Vec<bool> {
        self.memory.borrow().unwritten(address, element, count)
    }

    fn fill(&self, address: u64, length: u64, value: u8) -> Result<()> {
        if self.predicts_only {
            return Ok(());
        }
        self.memory
            .borrow_mut()
            .fill(address, length, value)
            .map_err(|error| self.memory_error("filling memory", error))
    }

    fn write_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &[u8]) -> Result<()> {
        for (row, bytes) in bytes.chunks_exact(row_bytes as usize).enumerate() {
            self.write(address + row as u64 * pitch, bytes)?;
        }
        Ok(())
    }

    fn read_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &mut [u8]) -> Result<()> {
        for (row, bytes) in bytes.chunks_exact_mut(row_bytes as usize).enumerate() {
            self.read(address + row as u64 * pitch, bytes)?;
        }
        Ok(())
    }

    fn copy(&self, from: u64, to: u64, length: u64) -> Result<()> {
        let mut bytes = vec![0; length as usize];
        self.read(from, &mut bytes)?;
        self.write(to, &bytes)
    }

    fn launch(&self, kernel: Checked<'_>, config: &LaunchConfig, arguments: &Arguments) -> Result<Option<Report>> {
        let arguments: Vec<&[u8]> = arguments.iter().collect();
        let watch = self.watch.borrow();
        let launch = self.launch_of((kernel.name, config), &arguments, watch.as_ref().map(|watch| &**watch as _));
        if self.placed.is_some() && config.checks.any() {
            crate::memory::check_host(
                "copying the device's memory for checks on a model",
                self.memory.borrow().used(),
            )?;
        }
        let program = self.program_of(kernel.name)?;
        let report = program.launch(&self.memory.borrow(), &launch);
        report.map(Some).map_err(|error| self.launch_error(error, &launch, config))
    }

    fn explore(
        &self,
        kernel: Checked<'_>,
        config: &LaunchConfig,
        arguments: &Arguments,
        bounds: &Bounds,
        differs: &mut dyn FnMut(Option<&str>) -> bool,
    ) -> Result<Explored> {
        let arguments: Vec<&[u8]> = arguments.iter().collect();
        let launch = self.launch_of((kernel.name, config), &arguments, None);
        let mut differs =
            |trap: Option<&Trap>| differs(trap.map(|trap| self.fault(trap, &launch, config).1).as_deref());
        let program = self.program_of(kernel.name)?;
        let explored = program.explore(&self.memory.borrow(), &launch, bounds, &mut differs);
        explored.map_err(|error| match error {
            LaunchError::Invalid(InvalidLaunch::NotExplored { why, .. }) => Error::request("exploring orders", why),
            error => self.launch_error(error, &launch, config),
        })
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.memory.borrow().snapshot()
    }

    fn first_difference(&self, before: &Snapshot, same: SameWords<'_>) -> Option<(AllocationSpan, u64)> {
        self.memory.borrow().first_difference(before, same).map(|(span, address, _)| (span, address))
    }

    fn prefer(&self, cache: CacheConfig) -> Result<()> {
        self.preferred.set(cache);
        Ok(())
    }

    fn symbol(&self, name: &str) -> Result<Option<(u64, u64)>> {
        let symbol = self.programs.iter().find_map(|program| program.symbol(name));
        Ok(symbol.map(|symbol| (symbol.address, symbol.bytes)))
    }

    fn write_on_stream(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.write(address, bytes)
    }

    fn has_peer(&self) -> bool {
        let model = self.placed.map(|(model, _)| model).or(self.predicted).or_else(predicted);
        model.and_then(Model::links).is_some_and(|links| links.peer.is_some())
    }

    fn allocate_outside(&self, kind: Outside, bytes: u64) -> Result<u64> {
        let memory = match kind {
            Outside::Pageable => {
                crate::memory::check_host("memory of the host", bytes)?;
                OutsideMemory::Host(vec![0; bytes as usize])
            }
            Outside::Pinned | Outside::Managed | Outside::Peer => OutsideMemory::Reached(self.allocate(bytes)?),
        };
        let mut all = self.outside.borrow_mut();
        all.push(memory);
        Ok(all.len() as u64 - 1)
    }

    fn free_outside(&self, number: u64) {
        if let Some(memory) = self.outside.borrow_mut().get_mut(number as usize)
            && let OutsideMemory::Reached(address) = std::mem::replace(memory, OutsideMemory::Freed)
        {
            self.free(address);
        }
    }

    fn write_outside(&self, number: u64, bytes: &[u8]) -> Result<()> {
        match self.outside.borrow_mut().get_mut(number as usize) {
            Some(OutsideMemory::Host(memory)) => {
                memory[..bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
            Some(OutsideMemory::Reached(address)) => self.write(*address, bytes),
            _ => Err(not_there()),
        }
    }

    fn read_outside(&self, number: u64, bytes: &mut [u8]) -> Result<()> {
        match self.outside.borrow().get(number as usize) {
            Some(OutsideMemory::Host(memory)) => {
                bytes.copy_from_slice(&memory[..bytes.len()]);
                Ok(())
            }
            Some(OutsideMemory::Reached(address)) => self.read(*address, bytes),
            _ => Err(not_there()),
        }
    }

    fn outside_address(&self, number: u64) -> Result<u64> {
        match self.outside.borrow().get(number as usize) {
            Some(OutsideMemory::Reached(address)) => Ok(*address),
            _ => Err(not_there()),
        }
    }

    fn start_transfer(&self, transfer: &Transfer) -> Result<()> {
        let &Transfer { outside, first, address, bytes, to_device, .. } = transfer;
        match self.outside.borrow_mut().get_mut(outside as usize) {
            Some(OutsideMemory::Host(memory)) => {
                let bytes = &mut memory[first as usize..(first + bytes) as usize];
                if to_device { self.write(address, bytes) } else { self.read(address, bytes) }
            }
            Some(OutsideMemory::Reached(far)) => {
                let far = *far + first;
                if to_device { self.copy(far, address, bytes) } else { self.copy(address, far, bytes) }
            }
            _ => Err(not_there()),
        }
    }

    fn prefetch(&self, _number: u64, _to_device: bool) -> Result<()> {
        Ok(())
    }

    fn fork(&self, _streams: u32) -> Result<()> {
        Ok(())
    }

    fn join(&self, _streams: u32) -> Result<()> {
        Ok(())
    }

    fn resident_blocks(&self, _kernel: &str, _config: &LaunchConfig) -> Result<Option<u32>> {
        Ok(None)
    }

    fn leaks(&self) -> Vec<Finding> {
        self.memory.borrow().leaks()
    }

    fn allocate_array(&self, shape: &ArrayShape) -> Result<u64> {
        let mut arrays = self.arrays.borrow_mut();
        let array = self.memory.borrow_mut().allocate_array(shape).map_err(|error| self.texture_error(error))?;
        arrays.push(array);
        Ok(arrays.len() as u64 - 1)
    }

    fn free_array(&self, array: &Array) {
        // Each array is freed once, so this cannot fail.
        let _ = self.memory.borrow_mut().free_array(self.array(array));
    }

    fn write_array(&self, array: &Array, level: u32, bytes: &[u8]) -> Result<()> {
        let mut memory = self.memory.borrow_mut();
        memory.write_array(self.array(array), level, bytes).map_err(|error| self.texture_error(error))
    }

    fn read_array(&self, array: &Array, level: u32, bytes: &mut [u8]) -> Result<()> {
        let memory = self.memory.borrow();
        memory.read_array(self.array(array), level, bytes).map_err(|error| self.texture_error(error))
    }

    fn create_texture(&self, source: &TextureSource<'_>, sampling: &Sampling) -> Result<u64> {
        let source = match *source {
            TextureSource::Array(array) => simt::textures::TextureSource::Array(self.array(array)),
            TextureSource::Linear { buffer, texels, format } => {
                simt::textures::TextureSource::Linear { address: buffer.address(), texels, format }
            }
            TextureSource::Pitched { buffer, width, height, pitch, format } => {
                simt::textures::TextureSource::Pitched { address: buffer.address(), width, height, pitch, format }
            }
        };
        self.memory.borrow_mut().create_texture(&source, sampling).map_err(|error| self.texture_error(error))
    }

    fn destroy_texture(&self, handle: u64) {
        let _ = self.memory.borrow_mut().destroy_texture(handle);
    }

    fn create_surface(&self, array: &Array) -> Result<u64> {
        let array = self.array(array);
        self.memory.borrow_mut().create_surface(array).map_err(|error| self.texture_error(error))
    }

    fn destroy_surface(&self, handle: u64) {
        let _ = self.memory.borrow_mut().destroy_surface(handle);
    }

    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; TENSOR_MAP_BYTES]> {
        Ok(map.encode()?)
    }

    fn take_printed(&self) -> Option<Printed> {
        Some(self.output.take())
    }

    fn watch(&self, watch: Option<Watch>) {
        self.watch.replace(watch);
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn time(&self, _work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        Ok(None)
    }
}

/// The error for memory outside the device that kernels do not reach.
fn not_there() -> Error {
    Error::request("memory of the host", "kernels reach pinned and managed memory only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_launches_have_room_and_endless_ones_an_end() {
        let limit = |grid, block| step_limit(&LaunchConfig::new(grid, block));
        assert!(limit([1, 1, 1], [1, 1, 1]) > 1 << 31);
        // A naive matrix product of 4096 x 4096: 25000 instructions in each of 524288 warps.
        assert!(limit([128, 128, 1], [32, 32, 1]) > 524_288 * 25_000);
        assert!(limit([32, 32, 1], [32, 8, 1]) < 4 << 30);
        assert!(limit([u32::MAX; 3], [1024; 3]) < 2 * simt::limits::DEFAULT_STEP_LIMIT);
    }
}
