//! Computes how many blocks of a launch a multiprocessor holds at once, and what limits that. The
//! rules are those of the CUDA occupancy calculator.
//!
//! PTX does not say how many registers a thread will have, so registers limit only if the launch
//! gives them or the kernel has `.maxnreg`. Of the possible sizes of shared memory the model takes
//! the smallest that allows the most blocks; an H200's driver takes a larger one for some kernels
//! that use little shared memory. How many clusters are resident on the chip follows from what a
//! multiprocessor holds (at most 8 blocks of clusters) and from the GPCs. The limit is the
//! hardware's: blocks of 64 threads keep 52 of a multiprocessor's 64 warps busy by themselves, and
//! 15.6 in clusters of two.

use super::gpu::{Model, RegisterAllocation};
use crate::metric::{Metric, MetricValue};

/// The resources that a block of a launch needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockNeeds {
    /// Its threads.
    pub threads: u32,
    /// Its shared memory, static and dynamic, in bytes.
    pub shared: u32,
    /// Registers of each thread, if known: `ptxas` decides, PTX does not say.
    pub registers: Option<u32>,
    /// Blocks of its cluster. 0 or 1 means no cluster.
    pub cluster: u32,
}

/// What limits the blocks on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limiter {
    /// Its warps.
    Warps,
    /// Its number of blocks.
    Blocks,
    /// Its shared memory.
    SharedMemory,
    /// Its registers.
    Registers,
}

impl Limiter {
    /// Its name in Nsight Compute's section "Occupancy".
    pub fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::SharedMemory => "shared memory",
            Self::Registers => "registers",
        }
    }
}

/// What a multiprocessor holds of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks that its warps allow (`launch__occupancy_limit_warps`).
    pub by_warps: u32,
    /// Blocks that it can hold of any kernel (`launch__occupancy_limit_blocks`).
    pub by_blocks: u32,
    /// Blocks that its shared memory allows at the carveout (`launch__occupancy_limit_shared_mem`);
    /// `None` if a block uses none.
    pub by_shared: Option<u32>,
    /// Blocks that its registers allow (`launch__occupancy_limit_registers`); `None` if unknown.
    pub by_registers: Option<u32>,
    /// Clusters that the chip holds at once (`launch__cluster_max_active`); `None` without
    /// clusters.
    pub clusters: Option<u32>,
    /// Warps of a block.
    pub warps_per_block: u32,
    /// Warps that it can hold of any kernel.
    pub most_warps: u32,
    /// The size of shared memory that this assumes, in bytes: one of the model's carveouts.
    pub carveout: u32,
}

impl Occupancy {
    /// Blocks resident at once: the smallest of the limits.
    pub fn blocks(&self) -> u32 {
        self.limits().map(|(_, blocks)| blocks).fold(u32::MAX, u32::min)
    }

    /// Warps resident at once.
    pub fn warps(&self) -> u32 {
        self.blocks() * self.warps_per_block
    }

    /// Warps resident at once, in percent of those that a multiprocessor can hold
    /// (`sm__maximum_warps_per_active_cycle_pct`).
    pub fn percent(&self) -> f64 {
        f64::from(self.warps()) * 100.0 / f64::from(self.most_warps)
    }

    /// The limiters: one, or several that allow the same number.
    pub fn limiters(&self) -> impl Iterator<Item = Limiter> {
        let blocks = self.blocks();
        self.limits().filter(move |&(_, allowed)| allowed == blocks).map(|(limiter, _)| limiter)
    }

    /// These numbers under Nsight Compute's names.
    pub fn metrics(&self) -> Vec<Metric> {
        let limit = |name, blocks: u32| Metric { name, value: MetricValue::Count(blocks.into()) };
        let mut metrics = vec![
            limit("launch__occupancy_limit_warps", self.by_warps),
            limit("launch__occupancy_limit_blocks", self.by_blocks),
        ];
        metrics.extend(self.by_shared.map(|blocks| limit("launch__occupancy_limit_shared_mem", blocks)));
        metrics.extend(self.by_registers.map(|blocks| limit("launch__occupancy_limit_registers", blocks)));
        metrics.extend(self.clusters.map(|clusters| limit("launch__cluster_max_active", clusters)));
        let name = "sm__maximum_warps_per_active_cycle_pct";
        metrics.push(Metric { name, value: MetricValue::Ratio(Some(self.percent())) });
        metrics
    }

    fn limits(&self) -> impl Iterator<Item = (Limiter, u32)> {
        [
            Some((Limiter::Warps, self.by_warps)),
            Some((Limiter::Blocks, self.by_blocks)),
            self.by_shared.map(|blocks| (Limiter::SharedMemory, blocks)),
            self.by_registers.map(|blocks| (Limiter::Registers, blocks)),
        ]
        .into_iter()
        .flatten()
    }
}

impl Model {
    /// What a multiprocessor holds of a launch with such blocks. `hint` is the share of the unified
    /// memory that should be shared memory, in percent; by default, the driver takes the smallest
    /// carveout that allows the most blocks.
    ///
    /// If a block does not fit at all, there are 0 blocks.
    pub fn occupancy(&self, needs: &BlockNeeds, hint: Option<u8>) -> Occupancy {
        let shared = &self.shared;
        let each = if needs.shared == 0 && shared.reserved == 0 {
            0
        } else {
            let each = needs.shared.saturating_add(shared.reserved);
            // More than any multiprocessor has, whatever the unit.
            each.checked_next_multiple_of(shared.unit).unwrap_or(u32::MAX)
        };
        let fits = |carveout: u32| if needs.shared == 0 { None } else { Some(carveout / each) };
        let warps_per_block = needs.threads.div_ceil(32).max(1);
        let limits = &self.limits;
        let mut found = Occupancy {
            by_warps: limits.threads / 32 / warps_per_block,
            by_blocks: limits.blocks,
            by_shared: None,
            by_registers: needs.registers.map(|registers| self.blocks_by_registers(warps_per_block, registers)),
            clusters: None,
            warps_per_block,
            most_warps: limits.threads / 32,
            carveout: 0,
        };
        let most = shared.carveouts[shared.carveouts.len() - 1];
        // A hint is ignored if not even one block would fit.
        let wanted = match hint {
            Some(percent) => (u64::from(most) * u64::from(percent.min(100))).div_ceil(100).max(each.into()),
            None => u64::from(found.blocks()) * u64::from(each),
        };
        let enough = shared.carveouts.iter().copied().find(|&carveout| u64::from(carveout) >= wanted);
        found.carveout = match (hint, enough) {
            (_, Some(carveout)) => carveout,
            (Some(_), None) => most,
            // Not all the blocks fit; the smallest carveout that holds as many as the largest does.
            (None, None) => {
                let reached = |carveout: &u32| fits(*carveout) == fits(most);
                shared.carveouts.iter().copied().find(reached).unwrap_or(most)
            }
        };
        found.by_shared = fits(found.carveout);
        if needs.cluster > 1 {
            let all = self.neighbourhoods(found.blocks(), needs.cluster, u64::MAX);
            found.clusters = Some(all.iter().map(|neighbourhood| neighbourhood.clusters as u32).sum());
        }
        found
    }

    fn blocks_by_registers(&self, warps_per_block: u32, registers: u32) -> u32 {
        let limits = &self.limits;
        if registers > limits.registers_per_thread {
            return 0;
        }
        let registers = registers.max(1);
        match limits.register_allocation {
            RegisterAllocation::Block { unit } => {
                let each = (warps_per_block.next_multiple_of(2) * registers * 32).next_multiple_of(unit);
                limits.registers / each
            }
            RegisterAllocation::Warp { unit, warps } => {
                let each = (registers * 32).next_multiple_of(unit);
                let resident = limits.registers / each / warps * warps;
                resident / warps_per_block
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str, threads: u32, shared: u32, registers: Option<u32>) -> Occupancy {
        Model::named(model).unwrap().occupancy(&BlockNeeds { threads, shared, registers, cluster: 1 }, None)
    }

    #[test]
    fn each_limit_in_turn() {
        let limiters = |found: Occupancy| (found.blocks(), found.limiters().collect::<Vec<_>>());
        assert_eq!(limiters(of("hopper", 256, 0, None)), (8, vec![Limiter::Warps]));
        assert_eq!(limiters(of("hopper", 32, 0, None)), (32, vec![Limiter::Blocks]));
        assert_eq!(limiters(of("hopper", 64, 0, None)), (32, vec![Limiter::Warps, Limiter::Blocks]));
        assert_eq!(limiters(of("hopper", 256, 48 << 10, None)), (4, vec![Limiter::SharedMemory]));
        // 40 registers: 1280 a warp, 51 warps, 48 in fours.
        assert_eq!(limiters(of("hopper", 256, 0, Some(40))), (6, vec![Limiter::Registers]));
        assert_eq!(of("hopper", 256, 0, Some(40)).percent(), 75.0);
        assert_eq!(limiters(of("hopper", 1024, 228 << 10, None)), (0, vec![Limiter::SharedMemory]));
    }

    #[test]
    fn the_lectures_machines() {
        // 256 threads with 16 registers on G80: 4096 registers a block, two blocks; with 10, three.
        assert_eq!(of("g80", 256, 0, Some(16)).blocks(), 2);
        assert_eq!(of("g80", 256, 0, Some(10)).blocks(), 3);
        assert_eq!(of("g80", 256, 16 << 10, None).blocks(), 1);
        // Fermi: 192 threads fill 1536 with 8 blocks; 20 registers take 640 a warp, 51 warps, 50 in
        // twos.
        assert_eq!(of("fermi", 192, 0, Some(20)).blocks(), 8);
        assert_eq!(of("fermi", 256, 0, Some(63)).blocks(), 2);
        assert_eq!(of("fermi", 256, 0, Some(64)).blocks(), 0);
        assert_eq!(of("kepler", 128, 0, Some(32)).blocks(), 16);
        assert_eq!(of("turing", 1024, 0, None).blocks(), 1);
    }

    #[test]
    fn the_carveout_is_no_larger_than_it_must_be() {
        let carveout = |model, threads, shared| of(model, threads, shared, None).carveout >> 10;
        // 8 blocks of 4 KiB and 1 KiB reserved: 40 KiB.
        assert_eq!(carveout("hopper", 256, 4 << 10), 64);
        assert_eq!(carveout("hopper", 256, 227 << 10), 228);
        // 96 KiB: two blocks in 196 KiB, as many as in 228.
        assert_eq!(carveout("hopper", 256, 96 << 10), 196);
        assert_eq!(carveout("volta", 256, 0), 0);
        assert_eq!(carveout("fermi", 256, 0), 16);
        assert_eq!(carveout("fermi", 256, 4 << 10), 48);
        let wished = |percent| {
            let needs = BlockNeeds { threads: 256, shared: 20 << 10, ..BlockNeeds::default() };
            Model::named("hopper").unwrap().occupancy(&needs, Some(percent))
        };
        assert_eq!((wished(0).carveout >> 10, wished(0).blocks()), (32, 1));
        assert_eq!((wished(50).carveout >> 10, wished(50).blocks()), (132, 6));
        assert_eq!((wished(100).carveout >> 10, wished(100).blocks()), (228, 8));
    }
}
