//! Validates a launch: compares what it requests with what the kernel and the model allow.

use crate::launch::{MOST_LOCAL, most_blocks};
use crate::machine::Placement;
use crate::model::{BlockNeeds, Limiter, Model, Timing};
use crate::program::KernelInfo;
use crate::sanitizer::MOST_RACING;
use crate::timing::Timed;
use crate::{InvalidLaunch, Launch};

/// The most blocks of a grid in y and z.
const GRID_LIMIT_YZ: u32 = 65_535;
/// The most threads of a block.
const BLOCK_LIMIT: u64 = 1024;
/// The most blocks of a cluster, as on an H100. (Every GPU with clusters allows 8.)
const CLUSTER_LIMIT: u64 = 16;

/// How many there are, of so many in each dimension.
pub(super) fn count(extents: &[u32]) -> u64 {
    extents.iter().fold(1, |product: u64, &n| product.saturating_mul(n.into()))
}

/// A launch's grid in blocks: for some kernels, its `grid` counts clusters.
pub(super) fn grid_of_blocks(launch: &Launch, info: &KernelInfo) -> [u32; 3] {
    let cluster = info.required_cluster.filter(|_| info.grid_in_clusters).unwrap_or([1; 3]);
    std::array::from_fn(|axis| launch.grid[axis].saturating_mul(cluster[axis]))
}

/// Rejects requests that the kernel does not allow. Returns the size of clusters, if there are any.
pub(super) fn check(launch: &Launch, info: &KernelInfo) -> Result<Option<[u32; 3]>, InvalidLaunch> {
    let name = || launch.kernel.to_string();
    let (grid, block) = (launch.grid, launch.block);
    if grid.contains(&0) {
        return Err(InvalidLaunch::EmptyGrid { kernel: name(), grid });
    }
    if grid[0] > i32::MAX as u32 || grid[1] > GRID_LIMIT_YZ || grid[2] > GRID_LIMIT_YZ {
        return Err(InvalidLaunch::GridTooLarge { kernel: name(), grid });
    }
    if block.contains(&0) {
        return Err(InvalidLaunch::EmptyBlock { kernel: name(), block });
    }
    let threads = count(&block);
    if block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > BLOCK_LIMIT {
        return Err(InvalidLaunch::BlockTooLarge { kernel: name(), block });
    }
    if let Some(limit) = info.max_threads.map(|most| count(&most))
        && threads > limit
    {
        return Err(InvalidLaunch::BeyondMaximumThreads { kernel: name(), limit, given: threads });
    }
    if let Some(required) = info.required_threads
        && required != block
    {
        return Err(InvalidLaunch::NotRequiredThreads { kernel: name(), required, given: block });
    }
    let cluster = cluster(launch, info)?;
    if launch.order.is_some() {
        let with = match () {
            () if launch.model.is_some() => Some("a model"),
            () if launch.checks.any() => Some("checks"),
            () if launch.predicts.is_some() => Some("a prediction"),
            () => None,
        };
        if let Some(with) = with {
            return Err(InvalidLaunch::DrawnOrder { kernel: name(), with });
        }
    }
    let needed = info.static_shared.saturating_add(launch.dynamic_shared.into());
    if needed > launch.shared_limit.into() {
        let (fixed, limit) = (info.static_shared, launch.shared_limit);
        return Err(InvalidLaunch::SharedMemory { kernel: name(), needed, fixed, limit });
    }
    let (expected, given) = (info.parameters.len(), launch.arguments.len());
    if expected != given {
        return Err(InvalidLaunch::ArgumentCount { kernel: name(), expected, given });
    }
    for (index, (&(expected, _), argument)) in info.parameters.iter().zip(launch.arguments).enumerate() {
        if expected != argument.len() as u64 {
            let given = argument.len();
            return Err(InvalidLaunch::ArgumentSize { kernel: name(), index, expected, given });
        }
    }
    Ok(cluster)
}

/// The size of clusters that the launch or the kernel requests. Rejects invalid ones.
fn cluster(launch: &Launch, info: &KernelInfo) -> Result<Option<[u32; 3]>, InvalidLaunch> {
    let kernel = || launch.kernel.to_string();
    let cluster = match (launch.cluster, info.required_cluster) {
        (Some(given), Some(required)) if given != required => {
            return Err(InvalidLaunch::NotRequiredCluster { kernel: kernel(), required, given });
        }
        (None, None) if info.explicit_cluster => return Err(InvalidLaunch::NoCluster { kernel: kernel() }),
        (None, None) => return Ok(None),
        (Some(cluster), _) | (None, Some(cluster)) => cluster,
    };
    let blocks = count(&cluster);
    if blocks == 0 || blocks > CLUSTER_LIMIT {
        return Err(InvalidLaunch::ClusterSize { kernel: kernel(), cluster, limit: CLUSTER_LIMIT });
    }
    if let Some(limit) = info.max_cluster_blocks
        && blocks > limit.into()
    {
        return Err(InvalidLaunch::BeyondMaximumCluster { kernel: kernel(), limit, given: blocks });
    }
    let grid = launch.grid;
    if grid.iter().zip(cluster).any(|(&blocks, of_cluster)| !blocks.is_multiple_of(of_cluster)) {
        return Err(InvalidLaunch::GridNotInClusters { kernel: kernel(), grid, cluster });
    }
    if let Some(model) = launch.model
        && blocks > 1
        && model.gpcs.is_empty()
    {
        return Err(InvalidLaunch::ModelWithoutClusters { kernel: kernel(), cluster, model });
    }
    Ok(Some(cluster))
}

/// Rejects launches whose resident threads have more local memory than the simulator holds.
/// `local`: bytes of a thread.
pub(super) fn local_memory(launch: &Launch, local: u64, placement: Option<&Placement>) -> Result<(), InvalidLaunch> {
    let Some(Placement { model, occupancy, .. }) = placement else { return Ok(()) };
    let resident = count(&[model.multiprocessors, occupancy.blocks()]).min(count(&launch.grid));
    let threads = resident * count(&launch.block);
    match threads.saturating_mul(local) > MOST_LOCAL {
        true => {
            let kernel = launch.kernel.to_string();
            Err(InvalidLaunch::LocalMemory { kernel, local, threads, model: model.name })
        }
        false => Ok(()),
    }
}

/// Rejects cooperative launches whose blocks cannot all run at once, or are too many for the
/// checks. `local`: bytes of a thread's local memory.
pub(super) fn cooperative(
    launch: &Launch,
    info: &KernelInfo,
    local: u64,
    cluster: Option<[u32; 3]>,
    placement: Option<&Placement>,
) -> Result<(), InvalidLaunch> {
    if !launch.cooperative {
        return Ok(());
    }
    let kernel = || launch.kernel.to_string();
    let blocks = count(&launch.grid);
    let threads: u32 = launch.block.iter().product();
    let of_cluster: u32 = cluster.unwrap_or([1; 3]).iter().product();
    if let Some(Placement { model, occupancy, .. }) = placement {
        let clusters = blocks / u64::from(of_cluster);
        let neighbourhoods = model.neighbourhoods(occupancy.blocks(), of_cluster, clusters);
        let resident: u64 = neighbourhoods.iter().map(|neighbourhood| neighbourhood.clusters as u64).sum();
        if resident < clusters {
            let resident = resident * u64::from(of_cluster);
            return Err(InvalidLaunch::CooperativeBeyondModel {
                kernel: kernel(),
                blocks,
                resident,
                model: model.name,
            });
        }
    }
    // With checks on a model, the dry run needs no model.
    if placement.is_none() || launch.checks.any() {
        let limit = most_blocks(threads, info.static_shared as u32 + launch.dynamic_shared, local);
        if blocks > limit {
            return Err(InvalidLaunch::CooperativeBeyondLimits { kernel: kernel(), blocks, limit });
        }
    }
    if launch.checks.race {
        let threads = blocks * u64::from(threads.next_multiple_of(32));
        if threads > MOST_RACING {
            return Err(InvalidLaunch::CooperativeBeyondRaces { kernel: kernel(), threads, limit: MOST_RACING });
        }
        if of_cluster > 1 {
            return Err(InvalidLaunch::CooperativeClusterRaces { kernel: kernel() });
        }
    }
    Ok(())
}

/// How the launch runs on its model, if it has one. `estimate`: registers of a thread, for its
/// time. Rejects launches that do not fit.
pub(super) fn placement(
    launch: &Launch,
    info: &KernelInfo,
    cluster: Option<[u32; 3]>,
    estimate: impl Fn(&Model, &Timing) -> u32,
) -> Result<Option<Placement>, InvalidLaunch> {
    let Some(model) = launch.model else { return Ok(None) };
    let kernel = || launch.kernel.to_string();
    let threads = launch.block.iter().product();
    let limit = model.limits.threads_per_block;
    if threads > limit {
        return Err(InvalidLaunch::BeyondModelThreads {
            kernel: kernel(),
            block: launch.block,
            limit,
            model: model.name,
        });
    }
    let needed = info.static_shared.saturating_add(launch.dynamic_shared.into());
    if needed > model.shared.per_block_opt_in.into() {
        let limit = model.shared.per_block_opt_in;
        return Err(InvalidLaunch::SharedMemory { kernel: kernel(), needed, fixed: info.static_shared, limit });
    }
    // A limit above the hardware's means the hardware's.
    let allowed = info.max_registers.map(|most| most.min(model.limits.registers_per_thread));
    let registers = launch.registers.or(allowed);
    let cluster = cluster.unwrap_or([1; 3]).iter().product();
    let needs = BlockNeeds { threads, shared: needed as u32, registers, cluster };
    let occupancy = model.occupancy(&needs, launch.carveout);
    if occupancy.blocks() == 0 {
        let limiter = occupancy.limiters().next().map_or("its limits", Limiter::name);
        return Err(InvalidLaunch::DoesNotFit { kernel: kernel(), model: model.name, limiter });
    }
    let timed = launch.predicts.and_then(|model| Some((model, model.timing()?))).map(|(of, timing)| {
        let registers = registers.unwrap_or_else(|| estimate(of, timing)).min(model.limits.registers_per_thread);
        let needs = BlockNeeds { registers: Some(registers), ..needs };
        let resident = model.occupancy(&needs, launch.carveout).blocks().clamp(1, occupancy.blocks());
        Timed { timing, registers, resident }
    });
    Ok(Some(Placement { model, occupancy, timed }))
}
