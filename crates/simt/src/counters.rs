//! The counters: of each instruction while it runs, and of a launch when it is over. The machine
//! adds to an instruction's counters; reports sum them up and give them their names.
//!
//! Names are Nsight Compute's. A GPU executes machine code, not PTX, so counters of PTX
//! instructions have no counterpart there; their names begin with `ptx__`.
//!
//! An access to another block's shared memory is one request of
//! `l1tex__t_requests_pipe_lsu_mem_dshared_op_...` for each warp and instruction, whatever the
//! addresses, the width and the number of lanes (65 kernels on an H200, 2026-11-21, `ncu
//! --clock-control none`). Accesses to the block's own shared memory do not count. Only additions
//! of f32, which are compare-and-swap loops in machine code, count more on hardware.

use std::ops::AddAssign;

use crate::instruction::AccessKind;
use crate::metric::{Metric, MetricValue, add_each_field};
use crate::model::{ModelCounters, Occupancy};

/// Accesses to global or local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounters {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// 32-byte sectors: the distinct ones of each request, summed.
    pub sectors: u64,
    /// The fewest sectors that could hold the bytes requested: of each request, summed.
    pub ideal_sectors: u64,
    /// Bytes requested: the distinct ones of each request, summed.
    pub bytes: u64,
}

/// Accesses to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCounters {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Passes over the banks.
    pub wavefronts: u64,
    /// Passes that were needed only because of bank conflicts.
    pub bank_conflicts: u64,
}

/// Loads from constant memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstantCounters {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// The distinct addresses of each request, summed: the constant cache serves one at a time.
    pub addresses: u64,
}

/// Accesses to the shared memory of other blocks of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DistributedCounters {
    /// Warp instructions, counted once for each block that they reach.
    pub requests: u64,
    /// Bytes that the lanes access, summed.
    pub bytes: u64,
}

/// What one instruction of the program did in a launch. An instruction that names no state space
/// may reach several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCounters {
    /// How often warps executed it.
    pub executed: u64,
    /// Active lanes, whether or not its guard held for them, summed over all executions.
    pub active_lanes: u64,
    /// Those of them for which its guard did not hold.
    pub guarded_off_lanes: u64,
    /// How often the lanes of a warp diverged at it.
    pub divergent: u64,
    /// Its accesses to global memory. (Loads of parameters are not counted.)
    pub global: MemoryCounters,
    /// Its loads from constant memory.
    pub constant: ConstantCounters,
    /// Its accesses to local memory.
    pub local: MemoryCounters,
    /// Its accesses to shared memory.
    pub shared: SharedCounters,
    /// Its accesses to the shared memory of other blocks of the cluster.
    pub distributed: DistributedCounters,
    /// Its accesses to textures and surfaces.
    pub texture: MemoryCounters,
    /// Sectors that it fetches from textures: the distinct ones of each warp, summed.
    pub texture_sectors_of_warps: u64,
}

impl InstructionCounters {
    /// How many numbers it consists of.
    pub const NUMBERS: usize = 24;

    /// Its numbers, for a file.
    pub fn numbers(mut self) -> [u64; Self::NUMBERS] {
        self.each().map(|number| *number)
    }

    /// The counters of such numbers.
    pub fn of_numbers(numbers: [u64; Self::NUMBERS]) -> Self {
        let mut counters = Self::default();
        counters.each().into_iter().zip(numbers).for_each(|(counter, number)| *counter = number);
        counters
    }

    /// All of its numbers, always in this order.
    fn each(&mut self) -> [&mut u64; Self::NUMBERS] {
        let Self { executed, active_lanes, guarded_off_lanes, divergent, texture_sectors_of_warps, .. } = self;
        let ConstantCounters { requests, addresses } = &mut self.constant;
        let SharedCounters { requests: shared, wavefronts, bank_conflicts } = &mut self.shared;
        let DistributedCounters { requests: distributed, bytes: distributed_bytes } = &mut self.distributed;
        let [g0, g1, g2, g3] = self.global.each();
        let [l0, l1, l2, l3] = self.local.each();
        let [t0, t1, t2, t3] = self.texture.each();
        [
            executed,
            active_lanes,
            guarded_off_lanes,
            divergent,
            g0,
            g1,
            g2,
            g3,
            requests,
            addresses,
            l0,
            l1,
            l2,
            l3,
            shared,
            wavefronts,
            bank_conflicts,
            distributed,
            distributed_bytes,
            t0,
            t1,
            t2,
            t3,
            texture_sectors_of_warps,
        ]
    }

    /// The active lanes for which its guard held.
    pub fn guarded_on_lanes(&self) -> u64 {
        self.active_lanes - self.guarded_off_lanes
    }
}

/// The counters of one state space, by kind of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByKind<T> {
    /// Loads.
    pub load: T,
    /// Stores.
    pub store: T,
    /// Atomic operations that return the old value.
    pub atomic: T,
    /// Atomic operations that return nothing.
    pub reduction: T,
    /// What asynchronous copies write to shared memory; nothing in other memories.
    pub copy: T,
}

impl<T> ByKind<T> {
    pub(crate) fn of(&mut self, kind: AccessKind) -> &mut T {
        match kind {
            AccessKind::Load => &mut self.load,
            AccessKind::Store => &mut self.store,
            AccessKind::Atomic => &mut self.atomic,
            AccessKind::Reduction => &mut self.reduction,
            AccessKind::Copy => &mut self.copy,
        }
    }
}

/// The counters of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// PTX instructions that warps executed.
    pub instructions_executed: u64,
    /// PTX instructions that threads executed: the active lanes of each warp instruction, summed.
    pub thread_instructions_executed: u64,
    /// Those of them whose guard did not hold, which therefore did nothing.
    pub thread_instructions_guarded_off: u64,
    /// Branch instructions that warps executed.
    pub branches: u64,
    /// Branch instructions at which lanes diverged.
    pub divergent_branches: u64,
    /// Block-wide barriers that warps executed.
    pub barriers: u64,
    /// Global memory.
    pub global: ByKind<MemoryCounters>,
    /// Constant memory.
    pub constant: ConstantCounters,
    /// Local memory.
    pub local: ByKind<MemoryCounters>,
    /// Shared memory.
    pub shared: ByKind<SharedCounters>,
    /// Shared memory of other blocks of the cluster.
    pub distributed: ByKind<DistributedCounters>,
    /// Textures: a request is of four lanes, or of eight.
    pub texture: MemoryCounters,
    /// Sectors of textures, as global memory counts them: the distinct ones of each warp's fetch,
    /// summed.
    pub texture_sectors_of_warps: u64,
    /// Surfaces.
    pub surface: ByKind<MemoryCounters>,
    /// What the launch's model counted; `None` without one.
    pub model: Option<ModelCounters>,
    /// The launch's occupancy on a multiprocessor of its model; `None` without one.
    pub occupancy: Option<Occupancy>,
}

impl Counters {
    /// Adds the counters of one instruction; `kind` is `None` if it does not access memory.
    pub(crate) fn add(&mut self, counted: &InstructionCounters, kind: Option<AccessKind>) {
        self.instructions_executed += counted.executed;
        self.thread_instructions_executed += counted.active_lanes;
        self.thread_instructions_guarded_off += counted.guarded_off_lanes;
        self.constant += counted.constant;
        if let Some(kind) = kind {
            let from = if kind == AccessKind::Copy { AccessKind::Load } else { kind };
            *self.global.of(from) += counted.global;
            *self.local.of(kind) += counted.local;
            *self.shared.of(kind) += counted.shared;
            *self.distributed.of(kind) += counted.distributed;
        }
    }

    /// All counters under Nsight Compute's names, in a fixed order. Counters of PTX instructions,
    /// which a GPU never executes as such, begin with `ptx__` and have no counterpart there.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        let mut count = |name, value: u64| metrics.push(Metric { name, value: MetricValue::Count(value) });
        count("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", self.global.load.requests);
        count("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", self.global.store.requests);
        count("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", self.global.atomic.requests);
        count("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", self.global.reduction.requests);
        count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", self.global.load.sectors);
        count("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", self.global.store.sectors);
        count("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", self.local.load.requests);
        count("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", self.local.store.requests);
        count("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", self.local.load.sectors);
        count("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", self.local.store.sectors);
        count("smsp__sass_inst_executed_op_shared_ld.sum", self.shared.load.requests);
        count("smsp__sass_inst_executed_op_shared_st.sum", self.shared.store.requests);
        count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", self.shared.load.wavefronts);
        count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", self.shared.store.wavefronts);
        count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", self.shared.load.bank_conflicts);
        count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", self.shared.store.bank_conflicts);
        count("l1tex__t_requests_pipe_tex_mem_texture.sum", self.texture.requests);
        count("l1tex__t_sectors_pipe_tex_mem_texture.sum", self.texture.sectors);
        count("l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum", self.surface.load.requests);
        count("l1tex__t_requests_pipe_tex_mem_surface_op_st.sum", self.surface.store.requests);
        count("l1tex__t_requests_pipe_tex_mem_surface_op_red.sum", self.surface.reduction.requests);
        count("l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum", self.surface.load.sectors);
        count("l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum", self.surface.store.sectors);
        count("l1tex__t_sectors_pipe_tex_mem_surface_op_red.sum", self.surface.reduction.sectors);
        count("smsp__sass_inst_executed_op_ldgsts.sum", self.shared.copy.requests);
        count("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", self.shared.copy.wavefronts);
        count(
            "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
            self.shared.copy.bank_conflicts,
        );
        let ByKind { atomic, reduction, .. } = &self.shared;
        count("smsp__sass_inst_executed_op_shared_atom.sum", atomic.requests + reduction.requests);
        count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", atomic.wavefronts + reduction.wavefronts);
        count(
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
            atomic.bank_conflicts + reduction.bank_conflicts,
        );
        count("ptx__ideal_sectors_mem_global_op_ld.sum", self.global.load.ideal_sectors);
        count("ptx__ideal_sectors_mem_global_op_st.sum", self.global.store.ideal_sectors);
        count("ptx__inst_executed_op_ld_constant.sum", self.constant.requests);
        count("ptx__addresses_op_ld_constant.sum", self.constant.addresses);
        count("ptx__inst_executed.sum", self.instructions_executed);
        count("ptx__thread_inst_executed.sum", self.thread_instructions_executed);
        count("ptx__thread_inst_executed_pred_on.sum", self.thread_instructions_guarded_on());
        count("ptx__inst_executed_op_branch.sum", self.branches);
        count("ptx__inst_executed_op_branch_divergent.sum", self.divergent_branches);
        count("ptx__inst_executed_op_barrier.sum", self.barriers);
        let ByKind { load, store, atomic, reduction, .. } = &self.distributed;
        count("l1tex__t_requests_pipe_lsu_mem_dshared_op_ld.sum", load.requests);
        count("l1tex__t_requests_pipe_lsu_mem_dshared_op_st.sum", store.requests);
        // On hardware, a reduction of distributed shared memory is an atomic operation.
        count("l1tex__t_requests_pipe_lsu_mem_dshared_op_atom.sum", atomic.requests + reduction.requests);
        let mut ratio = |name, value: Option<f64>| metrics.push(Metric { name, value: MetricValue::Ratio(value) });
        ratio(
            "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
            self.global.load.sectors_per_request(),
        );
        ratio(
            "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
            self.global.store.sectors_per_request(),
        );
        ratio(
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
            self.global.load.percent_of_bytes_used(),
        );
        ratio(
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
            self.global.store.percent_of_bytes_used(),
        );
        ratio("ptx__thread_inst_executed_per_inst_executed.ratio", self.active_lanes_per_instruction());
        ratio(
            "ptx__thread_inst_executed_pred_on_per_inst_executed.ratio",
            quotient(self.thread_instructions_guarded_on(), self.instructions_executed),
        );
        metrics.extend(self.model.iter().flat_map(ModelCounters::metrics));
        metrics.extend(self.occupancy.iter().flat_map(Occupancy::metrics));
        metrics
    }

    /// Of the PTX instructions that threads executed, those whose guard held.
    fn thread_instructions_guarded_on(&self) -> u64 {
        self.thread_instructions_executed - self.thread_instructions_guarded_off
    }

    /// The average number of active lanes of a warp instruction, whether or not its guard holds for
    /// them: 32 unless threads are missing or a branch has divided the warp.
    pub fn active_lanes_per_instruction(&self) -> Option<f64> {
        quotient(self.thread_instructions_executed, self.instructions_executed)
    }
}

impl MemoryCounters {
    fn each(&mut self) -> [&mut u64; 4] {
        let Self { requests, sectors, ideal_sectors, bytes } = self;
        [requests, sectors, ideal_sectors, bytes]
    }

    /// The average number of sectors that a request touches; `None` without requests.
    pub fn sectors_per_request(&self) -> Option<f64> {
        quotient(self.sectors, self.requests)
    }

    /// The sectors touched, over the fewest that could hold the bytes requested: 1 is perfect, and
    /// 8 a column of floats. `None` without requests.
    pub fn sectors_per_ideal(&self) -> Option<f64> {
        quotient(self.sectors, self.ideal_sectors)
    }

    /// The percentage of the touched sectors' bytes that was requested; `None` without requests.
    pub fn percent_of_bytes_used(&self) -> Option<f64> {
        quotient(self.bytes * 100, self.sectors * 32)
    }
}

impl ConstantCounters {
    /// The average number of distinct addresses of a request: 1 if all lanes read the same; `None`
    /// without requests.
    pub fn addresses_per_request(&self) -> Option<f64> {
        quotient(self.addresses, self.requests)
    }
}

impl SharedCounters {
    /// The wavefronts, over those without bank conflicts: 1 is perfect, and 32 if all lanes need
    /// different words of one bank. `None` without requests.
    pub fn wavefronts_per_ideal(&self) -> Option<f64> {
        quotient(self.wavefronts, self.wavefronts.saturating_sub(self.bank_conflicts))
    }

    /// The average number of wavefronts of a request: 1 for words without bank conflicts; `None`
    /// without requests.
    pub fn wavefronts_per_request(&self) -> Option<f64> {
        quotient(self.wavefronts, self.requests)
    }
}

fn quotient(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator != 0).then(|| numerator as f64 / denominator as f64)
}

/// Sums the counters of several launches of one program. The occupancy is the first launch's.
impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.instructions_executed += other.instructions_executed;
        self.thread_instructions_executed += other.thread_instructions_executed;
        self.thread_instructions_guarded_off += other.thread_instructions_guarded_off;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.global += other.global;
        self.constant += other.constant;
        self.local += other.local;
        self.shared += other.shared;
        self.distributed += other.distributed;
        self.texture += other.texture;
        self.texture_sectors_of_warps += other.texture_sectors_of_warps;
        self.surface += other.surface;
        match (&mut self.model, &other.model) {
            (Some(model), Some(other)) => model.add(other),
            (model, _) => *model = model.or(other.model),
        }
        self.occupancy = self.occupancy.or(other.occupancy);
    }
}

impl<T: AddAssign> AddAssign for ByKind<T> {
    fn add_assign(&mut self, other: Self) {
        self.load += other.load;
        self.store += other.store;
        self.atomic += other.atomic;
        self.reduction += other.reduction;
        self.copy += other.copy;
    }
}

add_each_field! {
    MemoryCounters { requests, sectors, ideal_sectors, bytes }
    ConstantCounters { requests, addresses }
    DistributedCounters { requests, bytes }
    SharedCounters { requests, wavefronts, bank_conflicts }
    InstructionCounters {
        executed, active_lanes, guarded_off_lanes, divergent, global, constant, local, shared, distributed, texture,
        texture_sectors_of_warps,
    }
}
