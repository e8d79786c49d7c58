//! A launch's parameters ([`Launch`]), and why a launch did not complete ([`LaunchError`]). Data
//! and messages: [`Program::launch`](crate::Program::launch) takes the one and returns the other.

use std::fmt;
use std::sync::atomic::AtomicBool;

use crate::model::{AccessWindow, LoadCaching, Model};
use crate::order::DrawnOrder;
use crate::request::Watch;
use crate::touch::Followed;
use crate::{Checks, LoadError, Output, Trap};

/// The default limit of warp instructions of a launch: minutes of simulation.
pub const DEFAULT_STEP_LIMIT: u64 = 1 << 36;

/// [`Launch::fault_limit`] of [`Launch::default`]: a loop in which all accesses are wild reaches it
/// in seconds.
pub const DEFAULT_FAULT_LIMIT: u64 = 1 << 24;

/// The default limit of a block's shared memory: what every GPU grants without opting in.
pub const DEFAULT_SHARED_LIMIT: u32 = 48 << 10;

/// One launch of a kernel.
///
/// ```
/// let launch = simt::Launch { kernel: "fill", grid: [4, 1, 1], block: [256, 1, 1], ..simt::Launch::default() };
/// assert_eq!(launch.dynamic_shared, 0);
/// ```
#[derive(Clone)]
pub struct Launch<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// Blocks in the grid: x, y, z. For a `.blocksareclusters` kernel: clusters.
    pub grid: [u32; 3],
    /// Threads in a block: x, y, z.
    pub block: [u32; 3],
    /// Blocks in a cluster: x, y, z. `None`: what the kernel requires (`.reqnctapercluster`), or
    /// one. At most 16 in all; every GPU with clusters grants 8. Models of GPUs without clusters
    /// reject more than one.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks run at the same time, so that they can wait for each other: `grid.sync()`
    /// of CUDA's cooperative groups. With a model, all must be resident. Without one there are
    /// limits, too: [`InvalidLaunch::CooperativeBeyondLimits`].
    pub cooperative: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The most shared memory, static and dynamic together, that a block may use, in bytes.
    pub shared_limit: u32,
    /// The GPU to model, with its caches. `None`: what Volta and all later GPUs have in common,
    /// without caches, which is faster.
    pub model: Option<&'static Model>,
    /// With a model: the share of the unified memory that should be shared memory instead of L1, in
    /// percent.
    pub carveout: Option<u8>,
    /// With a model: whether loads without a cache operator go through L1.
    pub load_caching: LoadCaching,
    /// With a model: the memory whose lines L2 is to keep.
    pub window: Option<AccessWindow>,
    /// With a model: registers of each thread, if known; otherwise the kernel's `.maxnreg`, if it
    /// has one. They limit how many blocks are resident.
    pub registers: Option<u32>,
    /// The bytes of each parameter, little endian, in order.
    pub arguments: &'a [&'a [u8]],
    /// Warp instructions after which the launch stops with a trap.
    pub step_limit: u64,
    /// Faults that the sanitizer finds, each thread's counted, after which the launch stops with a
    /// trap. It looks now and then: a launch that ends soon after is not stopped.
    pub fault_limit: u64,
    /// What the sanitizer looks for. With any check on, blocks run in order on one thread of the
    /// host. With a model, the launch runs twice: first like this, for the findings only, then on
    /// the model without checks.
    pub checks: Checks,
    /// Host threads that run blocks; `None`: those of rayon's global pool. Results do not depend on
    /// it.
    pub threads: Option<usize>,
    /// Set it from another thread to stop the launch with a trap,
    /// [`TrapKind::Cancelled`](crate::TrapKind::Cancelled), which has what the checks had found. A
    /// launch that ends first is not stopped.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then, from any thread, with the blocks done and the blocks to run: those of
    /// the grid, or twice as many with checks on a model.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    /// Receives what the threads print; `None` discards it.
    pub output: Option<&'a Output>,
    /// The requests that the report keeps; `None`: none.
    pub watch: Option<Watch>,
    /// Whether the report has how often each word of global memory is loaded, or updated by atomic
    /// operations.
    pub counts_words: bool,
    /// Predicts how long the launch would take on this GPU
    /// ([`Report::predicted`](crate::Report::predicted)); `None`: does not. With a model, it must
    /// be that one. Without one, a part of the launch runs again on this model, on a copy of
    /// memory; counters and results are as without.
    pub predicts: Option<&'static Model>,
    /// Without a model: predicts the time only if the launch fills half of that GPU. The prediction
    /// of a smaller one is [`Predicted::TOO_SMALL`](crate::prediction::Predicted::TOO_SMALL).
    pub predicts_if_full: bool,
    /// Runs only as much of the launch as its time needs: results and counters mean nothing.
    pub time_only: bool,
    /// Runs blocks and warps in an order that is drawn; `None`: in the usual one. Only without a
    /// model, checks and prediction. Counters are those of this order: lanes that separate make
    /// more requests.
    pub order: Option<DrawnOrder>,
    /// With an order: whose accesses the report keeps; `None`: nobody's.
    pub follows: Option<Followed>,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        Self {
            kernel: "",
            grid: [1; 3],
            block: [1; 3],
            cluster: None,
            cooperative: false,
            dynamic_shared: 0,
            shared_limit: DEFAULT_SHARED_LIMIT,
            model: None,
            carveout: None,
            load_caching: LoadCaching::Default,
            window: None,
            registers: None,
            arguments: &[],
            step_limit: DEFAULT_STEP_LIMIT,
            fault_limit: DEFAULT_FAULT_LIMIT,
            checks: Checks::NONE,
            threads: None,
            cancel: None,
            progress: None,
            output: None,
            watch: None,
            counts_words: false,
            predicts: None,
            predicts_if_full: false,
            time_only: false,
            order: None,
            follows: None,
        }
    }
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Launch")
            .field("kernel", &self.kernel)
            .field("grid", &self.grid)
            .field("block", &self.block)
            .field("cluster", &self.cluster)
            .field("cooperative", &self.cooperative)
            .field("dynamic_shared", &self.dynamic_shared)
            .field("model", &self.model.map(|model| model.name))
            .field("arguments", &self.arguments)
            .field("step_limit", &self.step_limit)
            .field("fault_limit", &self.fault_limit)
            .field("checks", &self.checks)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// The most blocks that run side by side without a model.
pub(crate) const MOST_BLOCKS: u64 = 1 << 14;

/// The most threads that these blocks have in total.
pub(crate) const MOST_THREADS: u64 = 1 << 20;

/// The most shared memory that they have in total, in bytes.
pub(crate) const MOST_SHARED: u64 = 1 << 30;

/// The most local memory that the threads have in total, in bytes, whose blocks run side by side.
pub(crate) const MOST_LOCAL: u64 = 8 << 30;

/// How many blocks with `threads` threads and `shared_bytes` bytes of shared memory can run side by
/// side without a model. Each thread has `local_bytes` bytes of local memory.
pub(crate) fn most_blocks(threads: u32, shared_bytes: u32, local_bytes: u64) -> u64 {
    let by_threads = MOST_THREADS / u64::from(threads.max(1));
    let by_shared = MOST_SHARED / u64::from(shared_bytes.max(1));
    let by_local = MOST_LOCAL / local_bytes.saturating_mul(threads.into()).max(1);
    MOST_BLOCKS.min(by_threads).min(by_shared).min(by_local)
}

/// Why a launch did not complete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A fault of the program.
    #[error(transparent)]
    Trap(Box<Trap>),
    /// The request is invalid; nothing ran.
    #[error(transparent)]
    Invalid(#[from] InvalidLaunch),
    /// The kernel, or a function that it may call, has an unsupported instruction; nothing ran.
    #[error(transparent)]
    Unsupported(Box<LoadError>),
}

/// Why a launch is invalid. `given` is the launch's, `limit` and `required` the kernel's or the
/// device's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message says what its fields are
pub enum InvalidLaunch {
    /// The module has no kernel of that name; `available` are those that it has.
    #[error("the module `{module}` has no kernel `{kernel}`; it has {}", list(.available))]
    NoSuchKernel { module: String, kernel: String, available: Vec<String> },
    /// More or fewer arguments than parameters.
    #[error("kernel `{kernel}` takes {}, but was given {given}", arguments(*.expected))]
    ArgumentCount { kernel: String, expected: usize, given: usize },
    /// Argument `index`, from 0, is longer or shorter than its parameter.
    #[error("parameter {index} of kernel `{kernel}` has {expected} bytes, but the argument has {given}")]
    ArgumentSize { kernel: String, index: usize, expected: u64, given: usize },
    /// An extent of the grid is 0.
    #[error("kernel `{kernel}`: the grid {grid:?} is empty")]
    EmptyGrid { kernel: String, grid: [u32; 3] },
    /// The grid exceeds what any GPU takes.
    #[error("kernel `{kernel}`: the grid {grid:?} exceeds 2147483647 x 65535 x 65535 blocks")]
    GridTooLarge { kernel: String, grid: [u32; 3] },
    /// An extent of the block is 0.
    #[error("kernel `{kernel}`: the block {block:?} is empty")]
    EmptyBlock { kernel: String, block: [u32; 3] },
    /// The block exceeds what any GPU takes.
    #[error("kernel `{kernel}`: the block {block:?} exceeds 1024 threads, or 1024 x 1024 x 64")]
    BlockTooLarge { kernel: String, block: [u32; 3] },
    /// The block has more threads than one can have on the model.
    #[error("kernel `{kernel}`: the block {block:?} exceeds the {limit} threads that a block can have on `{model}`")]
    BeyondModelThreads { kernel: String, block: [u32; 3], limit: u32, model: &'static str },
    /// Checks on a model run the launch twice, and the host has no memory for the copy of device
    /// memory that this takes.
    #[error(
        "kernel `{kernel}`: the host cannot allocate {bytes} bytes to copy device memory, which checks on a model need"
    )]
    NoRoomForChecks { kernel: String, bytes: u64 },
    /// The threads that are resident at once on a model have more local memory than the simulator
    /// holds.
    #[error(
        "kernel `{kernel}`: {local} bytes of local memory for each of the {threads} threads that are resident at once on \
         `{model}`: the simulator holds {MOST_LOCAL} bytes in all"
    )]
    LocalMemory { kernel: String, local: u64, threads: u64, model: &'static str },
    /// A block needs more of `limiter` than a multiprocessor of the model has.
    #[error("kernel `{kernel}`: no block fits on a multiprocessor of `{model}`: not enough {limiter}")]
    DoesNotFit { kernel: String, model: &'static str, limiter: &'static str },
    /// More threads than the kernel's `.maxntid`.
    #[error(
        "kernel `{kernel}` is compiled for blocks of at most {limit} threads (.maxntid), but the launch has {given}"
    )]
    BeyondMaximumThreads { kernel: String, limit: u64, given: u64 },
    /// Another block than the kernel's `.reqntid`.
    #[error(
        "kernel `{kernel}` is compiled for blocks of {required:?} threads (.reqntid), but the launch has {given:?}"
    )]
    NotRequiredThreads { kernel: String, required: [u32; 3], given: [u32; 3] },
    /// Another cluster than the kernel's `.reqnctapercluster`.
    #[error(
        "kernel `{kernel}` is compiled for clusters of {required:?} blocks (.reqnctapercluster), but the launch has {given:?}"
    )]
    NotRequiredCluster { kernel: String, required: [u32; 3], given: [u32; 3] },
    /// The kernel has `.explicitcluster`, and the launch gives no cluster.
    #[error("kernel `{kernel}` runs in clusters (.explicitcluster), but the launch does not give their size")]
    NoCluster { kernel: String },
    /// An extent of the cluster is 0, or it has more blocks than clusters may have.
    #[error("kernel `{kernel}`: a cluster of {cluster:?} blocks: 1 to {limit} blocks in all are allowed")]
    ClusterSize { kernel: String, cluster: [u32; 3], limit: u64 },
    /// A cluster of more blocks than the kernel's `.maxclusterrank`.
    #[error(
        "kernel `{kernel}` is compiled for clusters of at most {limit} blocks (.maxclusterrank), but the launch has {given}"
    )]
    BeyondMaximumCluster { kernel: String, limit: u32, given: u64 },
    /// An extent of the grid is not a multiple of the cluster's.
    #[error("kernel `{kernel}`: the grid {grid:?} cannot be divided into clusters of {cluster:?} blocks")]
    GridNotInClusters { kernel: String, grid: [u32; 3], cluster: [u32; 3] },
    /// A cluster of several blocks on a model of a GPU older than sm_90.
    #[error(
        "kernel `{kernel}` runs in clusters of {cluster:?} blocks, which need compute capability 9.0, but the model {} has {}.{}",
        .model.name, .model.compute_capability.0, .model.compute_capability.1
    )]
    ModelWithoutClusters { kernel: String, cluster: [u32; 3], model: &'static Model },
    /// A cooperative launch of more blocks than the model holds at once.
    #[error(
        "kernel `{kernel}`: a cooperative launch needs all its blocks resident at once; it has {blocks} blocks, and `{model}` \
         holds {resident} of them"
    )]
    CooperativeBeyondModel { kernel: String, blocks: u64, resident: u64, model: &'static str },
    /// A cooperative launch of more blocks than the simulator holds at once.
    #[error(
        "kernel `{kernel}`: a cooperative launch needs all its blocks at once; it has {blocks} blocks, and the simulator holds \
         {limit} of them (in all {MOST_BLOCKS} blocks, {MOST_THREADS} threads, {MOST_SHARED} bytes of shared memory and {MOST_LOCAL} \
         of local memory)"
    )]
    CooperativeBeyondLimits { kernel: String, blocks: u64, limit: u64 },
    /// A cooperative launch of more threads than the check `race` follows.
    #[error(
        "kernel `{kernel}`: the check `race` follows at most {limit} threads at once, in whole warps, and this cooperative launch has \
         {threads}: launch fewer, or leave that check out"
    )]
    CooperativeBeyondRaces { kernel: String, threads: u64, limit: u64 },
    /// The check `race` in a cooperative launch of clusters of several blocks.
    #[error(
        "kernel `{kernel}`: in a cooperative launch, the check `race` does not support clusters of several blocks: leave it out"
    )]
    CooperativeClusterRaces { kernel: String },
    /// A launch whose orders cannot all be explored.
    #[error("kernel `{kernel}`: its orders of blocks and warps cannot be explored: {why}")]
    NotExplored { kernel: String, why: &'static str },
    /// A drawn order together with what needs the usual one.
    #[error("kernel `{kernel}`: a drawn order of blocks and warps cannot be combined with {with}")]
    DrawnOrder { kernel: String, with: &'static str },
    /// Static and dynamic shared memory exceed the limit of a block.
    #[error(
        "kernel `{kernel}` needs {needed} bytes of shared memory per block ({fixed} static), but the limit is {limit}"
    )]
    SharedMemory { kernel: String, needed: u64, fixed: u64, limit: u32 },
}

fn arguments(count: usize) -> String {
    format!("{count} argument{}", if count == 1 { "" } else { "s" })
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => "no kernels".into(),
        names => {
            let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
            if names.len() > SHOWN {
                text.push(format!("{} more", names.len() - SHOWN));
            }
            text.join(", ")
        }
    }
}
