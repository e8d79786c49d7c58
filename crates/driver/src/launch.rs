//! Launches, and how many blocks a multiprocessor would hold.

use std::ffi::{c_int, c_uint};

use simt::models::BlockNeeds;

use crate::boundary::callbacks::{DynamicShared, dynamic_shared};
use crate::boundary::{Done, In, Out, Status, driver, say, traces};
use crate::kernel::arguments;
use crate::module::{info, registers};
use crate::objects::Handle;
use crate::queue::submit;
use crate::record::Shape;
use crate::state::{ready, working};
use crate::work::{Kernel, Work};

fn launch(stream: Handle, handle: Handle, shape: Shape, pointers: In<In<u8>>, extra: In<In<u8>>) -> Done {
    let function = working()?.functions.get(&handle).ok_or(Status::INVALID_HANDLE)?.clone();
    if traces() {
        say(&format!("{}: grid {:?}, block {:?}", function.name, shape.grid, shape.block));
    }
    let arguments = arguments(&function, pointers, extra)?;
    submit(stream, Work::Launch(Kernel { handle, function, shape, arguments }))
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
    let gpu = state.gpu();
    let function = state.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
    let info = info(function)?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(Status::INVALID_VALUE)?;
    let needs = BlockNeeds {
        threads,
        shared: (info.static_shared + dynamic as u64).min(u32::MAX.into()) as u32,
        registers: Some(registers(function, gpu)),
        cluster: 0,
    };
    if threads > gpu.limits.threads_per_block {
        return Ok(0);
    }
    Ok(gpu.occupancy(&needs, None).blocks())
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
    let gpu = ready()?.gpu();
    let most = gpu.limits.threads_per_block as c_int;
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
    grid.put(best.2 * gpu.multiprocessors as c_int)
}

driver! {
    fn cuLaunchKernel [cuLaunchKernel_ptsz] (
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, dynamic_shared: c_uint, stream: Handle, arguments: In<In<u8>>, extra: In<In<u8>>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        launch(stream, function, Shape { grid, block, dynamic_shared, cooperative: false, cluster: None }, arguments, extra)
    }

    fn cuLaunchKernelEx [cuLaunchKernelEx_ptsz] (config: In<Config>, function: Handle, arguments: In<In<u8>>, extra: In<In<u8>>) {
        let config = config.get()?;
        if traces() {
            let attributes = config.attributes.list(config.count as usize);
            let shown: Vec<String> =
                attributes.iter().map(|it| format!("{}: {:?}", it.number, &it.value[..3])).collect();
            say(&format!("attributes: {}", shown.join(", ")));
        }
        launch(config.stream, function, config.shape(), arguments, extra)
    }

    fn cuLaunchCooperativeKernel [cuLaunchCooperativeKernel_ptsz] (
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, dynamic_shared: c_uint, stream: Handle, arguments: In<In<u8>>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { grid, block, dynamic_shared, cooperative: true, cluster: None };
        launch(stream, function, shape, arguments, In::NULL)
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
        let gpu = ready()?.gpu();
        let most = gpu.shared.carveouts.last().copied().unwrap_or(0) as usize;
        let each = most / blocks.max(1) as usize;
        to.put(each.saturating_sub(gpu.shared.reserved as usize))
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
        to.give((blocks * ready()?.gpu().multiprocessors / cluster.max(1)) as c_int);
        Ok(())
    }
}
