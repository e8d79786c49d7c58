//! The configuration of a launch, and the check that a device allows it: [`super::Device`] checks
//! it before the backend launches. Pure.

use cuda_std::launch::{Kernel, LaunchShape};
use simt::models::AccessWindow;
use simt::orders::{DrawnOrder, Followed};
use simt::{Checks, LoadCaching};

use super::{ComputeCapability, Properties};
use crate::error::{Error, Result};

/// The maximum number of blocks in a cluster. Every GPU with clusters allows 8; more are opted
/// into.
const MOST_BLOCKS_OF_A_CLUSTER: u64 = 16;
/// The first compute capability with clusters.
const FIRST_WITH_CLUSTERS: ComputeCapability = ComputeCapability { major: 9, minor: 0 };

/// Whether a kernel prefers a large L1 cache or a lot of shared memory; both share a
/// multiprocessor's memory.
///
/// Only a hint: today's GPUs choose the split from the kernel's shared memory and
/// [`LaunchConfig::carveout`]. The simulator has an L1 cache only with a model; there the
/// preferences stand for a carveout of 100, 0 and 50 percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheConfig {
    /// No preference.
    #[default]
    None,
    /// More shared memory.
    Shared,
    /// More L1 cache.
    L1,
    /// Both equally.
    Equal,
}

/// The occupancy of a launch, as the driver computes it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct GpuOccupancy {
    /// Blocks resident at once on a multiprocessor.
    pub blocks: u32,
    /// Their threads, in percent of the maximum.
    pub percent: f64,
}

/// Whether the simulator predicts how long a launch takes on a GPU: on its model's, or on an H200
/// without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Predict {
    /// It does not.
    #[default]
    Nothing,
    /// It does.
    Time,
    /// Without a model, it does if the launch fills half of the GPU; of a smaller one, the time
    /// says little.
    TimeIfFull,
    /// It does nothing else: only as much of the launch runs as its time needs, and its results and
    /// counters mean nothing.
    TimeOnly,
}

/// One launch's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z. `None`: the size that the kernel requires, else no
    /// clusters.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must be resident at once, so that they can wait for each other
    /// (`cuLaunchCooperativeKernel`).
    pub cooperative: bool,
    /// Dynamic shared memory of a block in bytes. Launching opts in to more than
    /// [`Properties::shared_per_block`].
    pub dynamic_shared: u32,
    /// Preference between L1 cache and shared memory.
    pub cache: CacheConfig,
    /// The share of a multiprocessor's memory to use as shared memory, in percent. `None` leaves it
    /// to the driver.
    pub carveout: Option<u8>,
    /// Whether loads without a cache operator go through L1, as with nvcc's `-dlcm`. A GPU's driver
    /// compiles the kernels accordingly; a model of the simulator runs them accordingly. The
    /// default is the device's.
    pub load_caching: LoadCaching,
    /// The memory whose lines L2 is to keep during the launch: an access policy window of the
    /// driver, with a part of L2 set aside for it. On the simulator only models have an L2. Ignored
    /// by GPUs before compute capability 8.0.
    pub window: Option<AccessWindow>,
    /// What the simulator's sanitizer looks for. Ignored on a GPU.
    pub checks: Checks,
    /// Registers of a thread, for the occupancy on a model of the simulator. `None`: unknown, and
    /// no limit.
    pub registers: Option<u32>,
    /// How many requests of each memory instruction the simulator's report keeps, in each warp of
    /// the watched block. Ignored on a GPU.
    pub watch: u32,
    /// The block whose requests are kept, by its number in the launch: the first, unless another
    /// shows more.
    pub watched_block: u64,
    /// On the simulator: whether the report has how often each word of global memory is
    /// loaded, or updated by atomic operations.
    pub counts_words: bool,
    /// Whether the simulator's report has the predicted time. Ignored on a GPU.
    pub predict: Predict,
    /// The order of blocks and warps on the simulator: one that is drawn; `None`: the usual one.
    /// Not with a model, checks or a prediction. Ignored on a GPU.
    pub order: Option<DrawnOrder>,
    /// With an order: whose accesses the simulator's report keeps. Ignored on a GPU.
    pub follows: Option<Followed>,
    /// The stream, of those that [`crate::Device::fork`] has let begin; 0 is the one of all other
    /// work. The simulator runs launches one after the other.
    pub stream: u32,
}

impl LaunchConfig {
    /// A launch of `grid` blocks of `block` threads, with no dynamic shared memory and no
    /// preferences.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid,
            block,
            cluster: None,
            cooperative: false,
            dynamic_shared: 0,
            cache: CacheConfig::None,
            carveout: None,
            load_caching: LoadCaching::Default,
            window: None,
            checks: Checks::NONE,
            registers: None,
            watch: 0,
            watched_block: 0,
            counts_words: false,
            predict: Predict::Nothing,
            order: None,
            follows: None,
            stream: 0,
        }
    }

    /// A one-dimensional launch with at least `threads` threads, in blocks of `block` threads.
    ///
    /// If `threads / block` exceeds the largest grid, the launch will fail.
    pub fn linear(threads: usize, block: u32) -> Self {
        let blocks = threads.div_ceil(block.max(1) as usize);
        Self::new([u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1], [block, 1, 1])
    }

    /// `grid` blocks of the shape that the kernel declares.
    ///
    /// # Panics
    ///
    /// If the kernel declares none (`#[kernel(block(..))]`): a bug of the caller.
    pub fn blocks<P>(kernel: &Kernel<P>, grid: [u32; 3]) -> Self {
        Self::new(grid, kernel.block())
    }

    /// Fails unless the kernel and the device allow this launch.
    ///
    /// # Errors
    ///
    /// [`Error::Launch`] names the wrong extent and its limit (CUDA programming guide, "Compute
    /// capabilities").
    pub fn check(&self, kernel: &str, shape: LaunchShape, device: &Properties) -> Result<()> {
        let refuse = |problem: String| Err(Error::Launch { kernel: kernel.to_owned(), problem });
        let list = |extents: [u32; 3]| format!("{} x {} x {}", extents[0], extents[1], extents[2]);
        let threads: u64 = self.block.iter().fold(1, |all, &extent| all.saturating_mul(extent.into()));
        let most = device.max_threads_per_block;
        let most = shape.bounds.map_or(most, |bounds| bounds.max_threads().min(most));
        for (extents, limits, what) in
            [(self.block, [1024, 1024, 64], "a block"), (self.grid, [i32::MAX as u32, 65_535, 65_535], "a grid")]
        {
            if extents.contains(&0) {
                return refuse(format!("{what} of {} has no threads", list(extents)));
            }
            if extents.iter().zip(limits).any(|(&extent, limit)| extent > limit) {
                return refuse(format!("{what} of {} exceeds the limit of {}", list(extents), list(limits)));
            }
        }
        if let Some(block) = shape.block
            && block != self.block
        {
            return refuse(format!("its blocks are {}, not {}", list(block), list(self.block)));
        }
        if shape.linear && [self.grid, self.block].iter().any(|[_, y, z]| y * z > 1) {
            return refuse(format!(
                "it has one dimension, so a grid of {} and a block of {} do not fit",
                list(self.grid),
                list(self.block)
            ));
        }
        if threads > u64::from(most) {
            return refuse(format!(
                "a block of {} has {threads} threads, but at most {most} are allowed",
                list(self.block)
            ));
        }
        if let Some(cluster) = self.cluster {
            self.check_cluster(cluster, device).or_else(refuse)?;
        }
        if u64::from(self.dynamic_shared) > device.shared_per_block_opt_in {
            return refuse(format!(
                "{} bytes of dynamic shared memory are more than the {} bytes that a block can have",
                self.dynamic_shared, device.shared_per_block_opt_in
            ));
        }
        if let Some(percent) = self.carveout
            && percent > 100
        {
            return refuse(format!("a carveout of {percent}% is more than 100%"));
        }
        Ok(())
    }

    /// Fails if positions in the grid would not fit 32 bits, in which threads count them: a block's
    /// tile is taken to extend by as many elements as the block has threads, in x and in y; y goes
    /// on through the grid's layers in z.
    pub fn check_positions(&self, kernel: &str, shape: LaunchShape) -> Result<()> {
        let [x, y, z] = self.grid.map(u64::from);
        let threads: u64 = self.block.iter().fold(1, |all, &extent| all.saturating_mul(extent.into()));
        for (blocks, name) in [(x, "x"), (y.saturating_mul(z), "y")] {
            // A linear launch counts in 64 bits: `#[kernel]` refuses a safe one with positions.
            if !shape.linear && blocks.saturating_mul(threads) > 1 << 32 {
                let [x, y, z] = self.grid;
                let problem = format!("a grid of {x} x {y} x {z} blocks of {threads} threads is too long in {name}");
                return Err(Error::Launch { kernel: kernel.to_owned(), problem });
            }
        }
        Ok(())
    }

    /// Checks that the device can run these clusters; `Err` says why not.
    fn check_cluster(&self, cluster: [u32; 3], device: &Properties) -> std::result::Result<(), String> {
        let list = |extents: [u32; 3]| format!("{} x {} x {}", extents[0], extents[1], extents[2]);
        let blocks = cluster.iter().fold(1_u64, |all, &extent| all.saturating_mul(extent.into()));
        if blocks == 0 || blocks > MOST_BLOCKS_OF_A_CLUSTER {
            return Err(format!(
                "a cluster of {} has {blocks} blocks, but 1 to {MOST_BLOCKS_OF_A_CLUSTER} are allowed",
                list(cluster)
            ));
        }
        if self.grid.iter().zip(cluster).any(|(blocks, of_cluster)| !blocks.is_multiple_of(of_cluster)) {
            return Err(format!(
                "a grid of {} blocks cannot be divided into clusters of {}",
                list(self.grid),
                list(cluster)
            ));
        }
        if device.is_gpu() && device.compute_capability < FIRST_WITH_CLUSTERS {
            return Err(format!(
                "clusters need a GPU of compute capability {FIRST_WITH_CLUSTERS} or later, but {} has {}",
                device.name, device.compute_capability
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComputeCapability;
    use cuda_std::launch::LaunchBounds;

    fn device() -> Properties {
        let capability = ComputeCapability { major: 7, minor: 5 };
        Properties { shared_per_block_opt_in: 64 << 10, ..Properties::simulator(capability, "sm_75".into(), 0) }
    }

    const ANY: LaunchShape = LaunchShape { block: None, linear: false, bounds: None };

    fn bounds(threads: [u32; 3], minimum_blocks: u32) -> LaunchShape {
        LaunchShape { bounds: Some(LaunchBounds { threads, minimum_blocks }), ..ANY }
    }

    fn problem(config: LaunchConfig, shape: LaunchShape) -> String {
        config.check("k", shape, &device()).unwrap_err().to_string()
    }

    #[test]
    fn what_fits_is_allowed() {
        LaunchConfig::new([i32::MAX as u32, 65_535, 65_535], [1024, 1, 1]).check("k", ANY, &device()).unwrap();
        LaunchConfig::new([1, 1, 1], [256, 1, 1]).check("k", bounds([16, 16, 1], 0), &device()).unwrap();
        let declared = LaunchShape { block: Some([256, 1, 1]), linear: true, ..ANY };
        LaunchConfig::linear(usize::MAX, 256).check("k", declared, &device()).unwrap_err();
        LaunchConfig::new([i32::MAX as u32, 1, 1], [256, 1, 1]).check("k", declared, &device()).unwrap();
        let config = LaunchConfig { dynamic_shared: 64 << 10, carveout: Some(100), ..LaunchConfig::linear(1000, 32) };
        assert_eq!(config.grid, [32, 1, 1]);
        config.check("k", ANY, &device()).unwrap();
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_limit() {
        let one = [1, 1, 1];
        assert_eq!(problem(LaunchConfig::new([1, 0, 1], one), ANY), "kernel k: a grid of 1 x 0 x 1 has no threads");
        assert_eq!(
            problem(LaunchConfig::new([1, 65_536, 1], one), ANY),
            "kernel k: a grid of 1 x 65536 x 1 exceeds the limit of 2147483647 x 65535 x 65535"
        );
        assert_eq!(
            problem(LaunchConfig::new(one, [1, 1, 65]), ANY),
            "kernel k: a block of 1 x 1 x 65 exceeds the limit of 1024 x 1024 x 64"
        );
        assert_eq!(
            problem(LaunchConfig::new(one, [64, 32, 1]), ANY),
            "kernel k: a block of 64 x 32 x 1 has 2048 threads, but at most 1024 are allowed"
        );
        assert_eq!(
            problem(LaunchConfig::new(one, [257, 1, 1]), bounds([16, 16, 1], 2)),
            "kernel k: a block of 257 x 1 x 1 has 257 threads, but at most 256 are allowed"
        );
        let large = LaunchConfig { dynamic_shared: (64 << 10) + 1, ..LaunchConfig::new(one, one) };
        assert_eq!(
            problem(large, ANY),
            "kernel k: 65537 bytes of dynamic shared memory are more than the 65536 bytes that a block can have"
        );
        let carveout = LaunchConfig { carveout: Some(101), ..LaunchConfig::new(one, one) };
        assert_eq!(problem(carveout, ANY), "kernel k: a carveout of 101% is more than 100%");
    }

    #[test]
    fn a_launch_has_the_shape_that_its_kernel_declares() {
        let exact = LaunchShape { block: Some([32, 8, 1]), ..ANY };
        LaunchConfig::new([7, 7, 7], [32, 8, 1]).check("k", exact, &device()).unwrap();
        assert_eq!(
            problem(LaunchConfig::new([1; 3], [16, 16, 1]), exact),
            "kernel k: its blocks are 32 x 8 x 1, not 16 x 16 x 1"
        );
        let linear = LaunchShape { linear: true, ..ANY };
        for (grid, block) in [([1, 2, 1], [32, 1, 1]), ([1, 1, 3], [32, 1, 1]), ([1; 3], [32, 1, 2])] {
            let problem = problem(LaunchConfig::new(grid, block), linear);
            assert!(problem.starts_with("kernel k: it has one dimension, so a grid of "), "{problem}");
        }
    }

    #[test]
    fn positions_fit_32_bits() {
        let check = |grid, block, shape| LaunchConfig::new(grid, block).check_positions("k", shape);
        check([1 << 22, 1 << 11, 1 << 11], [1024, 1, 1], ANY).unwrap();
        check([i32::MAX as u32, 1, 1], [1024, 1, 1], LaunchShape { linear: true, ..ANY }).unwrap();
        let problem = |grid, block| check(grid, block, ANY).unwrap_err().to_string();
        assert_eq!(
            problem([(1 << 22) + 1, 1, 1], [1024, 1, 1]),
            "kernel k: a grid of 4194305 x 1 x 1 blocks of 1024 threads is too long in x"
        );
        assert_eq!(
            problem([1, 65_535, 65_535], [1, 2, 1]),
            "kernel k: a grid of 1 x 65535 x 65535 blocks of 2 threads is too long in y"
        );
    }
}
