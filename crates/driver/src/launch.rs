//! Launches, and how many blocks a multiprocessor would hold.

use std::ffi::{c_int, c_uint};
use std::io::Write;
use std::time::Instant;

use simt::models::BlockNeeds;
use simt::prediction::Predicted;
use simt::{InvalidLaunch, Launch, LaunchError};

use crate::boundary::callbacks::{DynamicShared, dynamic_shared};
use crate::boundary::{Done, In, Out, Status, driver, say};
use crate::module::{info, offsets, registers};
use crate::objects::{Function, Handle};
use crate::places::share;
use crate::record::Shape;
use crate::report;
use crate::settings::SETTINGS;
use crate::state::{ready, working};

/// After this many warp instructions a launch counts as endless.
fn step_limit(shape: &Shape) -> u64 {
    let count = |extents: [u32; 3]| extents.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    let warps = count(shape.grid).saturating_mul(count(shape.block).div_ceil(32));
    (1 << 31) + warps.saturating_mul(1 << 16).min(simt::limits::DEFAULT_STEP_LIMIT)
}

/// The bytes of each argument, from pointers to them or from one buffer.
fn arguments(function: &Function, pointers: In<In<u8>>, extra: In<In<u8>>) -> Done<Vec<Vec<u8>>> {
    let info = info(function)?;
    if !pointers.is_null() {
        let one = |(index, &(bytes, _)): (usize, &(u64, u32))| pointers.at(index).get()?.bytes(bytes as usize);
        return info.parameters.iter().enumerate().map(one).collect();
    }
    let (mut buffer, mut length) = (In::NULL, 0);
    let mut at = extra;
    // 0 ends the list; 1 comes before the buffer, 2 before a pointer to its length.
    while let Some(key) = at.optional().map(In::address).filter(|&key| key != 0) {
        let value = at.at(1).get()?;
        match key {
            1 => buffer = value,
            2 => length = value.cast::<usize>().get()?,
            _ => return Err(Status::INVALID_VALUE),
        }
        at = at.at(2);
    }
    let all = buffer.bytes(length)?;
    let one = |(start, bytes): (usize, usize)| all.get(start..start + bytes).map(<[u8]>::to_vec);
    offsets(info).into_iter().map(one).collect::<Option<_>>().ok_or(Status::INVALID_VALUE)
}

fn launch(function: Handle, shape: Shape, pointers: In<In<u8>>, extra: In<In<u8>>) -> Done {
    let mut state = working()?;
    let function = state.functions.get(&function).ok_or(Status::INVALID_HANDLE)?.clone();
    let owned = arguments(&function, pointers, extra)?;
    if state.pending.is_some() {
        // A GPU starts nothing after a fault, either; the next synchronisation reports it.
        return Ok(());
    }
    let arguments: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
    let gpu = SETTINGS.gpu;
    let chosen = SETTINGS.only.as_ref().is_none_or(|only| is_named(&function.name, only));
    let predicts = chosen && SETTINGS.predict.unwrap_or(state.timed);
    let shared = &gpu.shared;
    let request = Launch {
        kernel: &function.name,
        grid: shape.grid,
        block: shape.block,
        cluster: shape.cluster,
        cooperative: shape.cooperative,
        dynamic_shared: shape.dynamic_shared,
        shared_limit: if function.dynamic_limit >= 0 { shared.per_block_opt_in } else { shared.per_block },
        arguments: &arguments,
        step_limit: SETTINGS.steps.unwrap_or_else(|| step_limit(&shape)),
        checks: if chosen { SETTINGS.checks } else { SETTINGS.unchosen_checks },
        model: (chosen && SETTINGS.modelled).then_some(gpu),
        carveout: u8::try_from(function.carveout).ok(),
        predicts: (predicts && gpu.timing().is_some()).then_some(gpu),
        ..Launch::default()
    };
    share(&mut state, true);
    let began = Instant::now();
    let request = Launch { output: Some(&state.output), ..request };
    let outcome = function.program.launch(&state.memory, &request);
    let seconds = began.elapsed().as_secs_f64();
    share(&mut state, false);
    print(&state.output.take().text());
    let lost = match outcome {
        Ok(done) => {
            state.clock += match done.predicted() {
                Some(Predicted::Time(time)) => time.cold_us,
                _ => seconds * 1e6,
            };
            if chosen {
                state.recorder.add(&function, &shape, &done, seconds);
            }
            report::findings(done.findings(), done.findings_beyond()).filter(|_| !SETTINGS.goes_on)
        }
        Err(LaunchError::Trap(trap)) => {
            state.recorder.stopped(&function, &shape, &trap);
            Some(report::trap(&trap))
        }
        Err(LaunchError::Invalid(invalid)) => {
            say(&invalid.to_string());
            return Err(match invalid {
                InvalidLaunch::CooperativeBeyondLimits { .. } | InvalidLaunch::CooperativeBeyondModel { .. } => {
                    Status::COOPERATIVE_TOO_LARGE
                }
                InvalidLaunch::DoesNotFit { .. } => Status::LAUNCH_OUT_OF_RESOURCES,
                InvalidLaunch::LocalMemory { .. } => Status::OUT_OF_MEMORY,
                _ => Status::INVALID_VALUE,
            });
        }
        Err(error) => {
            say(&error.to_string());
            return Err(Status::NOT_SUPPORTED);
        }
    };
    // As on a GPU, nothing works in this context from here on.
    if SETTINGS.defers {
        state.pending = lost;
        return Ok(());
    }
    state.lost = lost;
    lost.map_or(Ok(()), Err)
}

/// Whether a kernel has this name: in the PTX, or in the source that a mangled name tells.
fn is_named(kernel: &str, name: &str) -> bool {
    kernel == name || kernel.starts_with("_Z") && kernel.contains(&format!("{}{name}", name.len()))
}

/// Writes what a kernel printed to the standard output, which may be closed.
fn print(text: &str) {
    if !text.is_empty() {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    dynamic_shared: c_uint,
    stream: Handle,
    attributes: In<Attribute>,
    count: c_uint,
}

/// `CUlaunchAttribute`: a number and 64 bytes of value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    number: c_uint,
    padding: c_uint,
    value: [c_uint; 16],
}

impl Config {
    fn shape(&self) -> Shape {
        let mut shape = Shape {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            cooperative: false,
            cluster: None,
        };
        for attribute in self.attributes.list(self.count as usize) {
            match attribute.number {
                2 => shape.cooperative = attribute.value[0] != 0,
                4 => shape.cluster = Some([attribute.value[0], attribute.value[1], attribute.value[2]]),
                // Priorities, overlap with the launch before, cache policies: nothing to do here.
                _ => {}
            }
        }
        shape
    }
}

/// Blocks of a kernel that a multiprocessor holds at once.
fn resident(function: Handle, threads: c_int, dynamic: usize) -> Done<u32> {
    let state = ready()?;
    let function = state.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
    let info = info(function)?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(Status::INVALID_VALUE)?;
    let needs = BlockNeeds {
        threads,
        shared: (info.static_shared + dynamic as u64).min(u32::MAX.into()) as u32,
        registers: Some(registers(info)),
        cluster: 0,
    };
    if threads > SETTINGS.gpu.limits.threads_per_block {
        return Ok(0);
    }
    Ok(SETTINGS.gpu.occupancy(&needs, None).blocks())
}

/// The block with which most threads are resident, the largest of them; and the grid that fills the
/// device.
fn potential(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: Handle,
    of_block: DynamicShared,
    dynamic: usize,
    limit: c_int,
) -> Done {
    let most = SETTINGS.gpu.limits.threads_per_block as c_int;
    let most = if limit > 0 { most.min(limit) } else { most };
    let mut best = (0, 0, 0);
    for threads in (32..=most).step_by(32) {
        let shared = dynamic_shared(of_block, threads, dynamic);
        let blocks = resident(function, threads, shared)? as c_int;
        if blocks * threads >= best.0 {
            best = (blocks * threads, threads, blocks);
        }
    }
    grid.check()?;
    block.put(best.1)?;
    grid.put(best.2 * SETTINGS.gpu.multiprocessors as c_int)
}

driver! {
    fn cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, dynamic_shared: c_uint, stream: Handle, arguments: In<In<u8>>, extra: In<In<u8>>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        launch(function, Shape { grid, block, dynamic_shared, cooperative: false, cluster: None }, arguments, extra)
    }

    fn cuLaunchKernelEx(config: In<Config>, function: Handle, arguments: In<In<u8>>, extra: In<In<u8>>) {
        let shape = config.get()?.shape();
        launch(function, shape, arguments, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, dynamic_shared: c_uint, stream: Handle, arguments: In<In<u8>>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { grid, block, dynamic_shared, cooperative: true, cluster: None };
        launch(function, shape, arguments, In::NULL)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(to: Out<c_int>, function: Handle, threads: c_int, dynamic: usize) {
        to.put(resident(function, threads, dynamic)? as c_int)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: Out<c_int>, function: Handle, threads: c_int, dynamic: usize, flags: c_uint,
    ) {
        to.put(resident(function, threads, dynamic)? as c_int)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        grid: Out<c_int>, block: Out<c_int>, function: Handle, of_block: DynamicShared, dynamic: usize, limit: c_int,
    ) {
        potential(grid, block, function, of_block, dynamic, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<c_int>, block: Out<c_int>, function: Handle, of_block: DynamicShared, dynamic: usize, limit: c_int,
        flags: c_uint,
    ) {
        potential(grid, block, function, of_block, dynamic, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(to: Out<usize>, function: Handle, blocks: c_int, threads: c_int) {
        resident(function, threads, 0)?;
        let most = SETTINGS.gpu.shared.carveouts.last().copied().unwrap_or(0) as usize;
        let each = most / blocks.max(1) as usize;
        to.put(each.saturating_sub(SETTINGS.gpu.shared.reserved as usize))
    }

    fn cuOccupancyMaxPotentialClusterSize(to: Out<c_int>, function: Handle, config: In<Config>) {
        resident(function, 1, 0)?;
        to.put(8)
    }

    fn cuOccupancyMaxActiveClusters(to: Out<c_int>, function: Handle, config: In<Config>) {
        let shape = config.get()?.shape();
        let threads = shape.block.into_iter().fold(1, u32::saturating_mul).min(c_int::MAX as u32);
        let blocks = resident(function, threads as c_int, shape.dynamic_shared as usize)?;
        let cluster = shape.cluster.unwrap_or([1; 3]).into_iter().fold(1, u32::saturating_mul);
        to.give((blocks * SETTINGS.gpu.multiprocessors / cluster.max(1)) as c_int);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn kernels_are_named_as_in_the_ptx_or_the_source() {
        let mangled = "_ZN8__main__3addB2v1E5ArrayIf";
        assert!(is_named(mangled, mangled) && is_named(mangled, "add") && is_named("add", "add"));
        assert!(!is_named(mangled, "dd") && !is_named("k3add", "add") && !is_named("add2", "add"));
    }
}
