//! The counters of a model, in addition to those of every launch. `multiprocessor` and `chip` fill
//! them; reports read them, under the profiler's names.

use super::gpu::Model;
use crate::metric::{Metric, MetricValue, add_each_field};

/// Transactions of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionCounters {
    /// Transactions, each of 32, 64 or 128 bytes.
    pub transactions: u64,
    /// Bytes that they move.
    pub bytes_moved: u64,
    /// Bytes that were requested: the distinct ones of each request, summed.
    pub bytes_asked: u64,
}

impl TransactionCounters {
    /// Bytes moved for each byte requested: 1 is perfect. `None` without transactions.
    pub fn moved_per_asked(&self) -> Option<f64> {
        (self.bytes_asked != 0).then(|| self.bytes_moved as f64 / self.bytes_asked as f64)
    }

    /// Of the bytes moved, the percentage that was requested: the lectures' bus use. `None` without
    /// transactions.
    pub fn percent_used(&self) -> Option<f64> {
        (self.bytes_moved != 0).then(|| self.bytes_asked as f64 * 100.0 / self.bytes_moved as f64)
    }

    fn each(&mut self) -> [&mut u64; 3] {
        let Self { transactions, bytes_moved, bytes_asked } = self;
        [transactions, bytes_moved, bytes_asked]
    }

    /// All but those of `part`.
    fn without(&self, part: &Self) -> Self {
        Self {
            transactions: self.transactions - part.transactions,
            bytes_moved: self.bytes_moved - part.bytes_moved,
            bytes_asked: self.bytes_asked - part.bytes_asked,
        }
    }
}

/// Sectors requested from a cache; lines if its sectors are as large as its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorCounters {
    /// Sectors requested.
    pub sectors: u64,
    /// Sectors that hit.
    pub hits: u64,
}

impl SectorCounters {
    fn each(&mut self) -> [&mut u64; 2] {
        let Self { sectors, hits } = self;
        [sectors, hits]
    }

    /// Sectors that missed.
    pub fn misses(&self) -> u64 {
        self.sectors - self.hits
    }

    /// The hit rate in percent; `None` if nothing was requested.
    pub fn hit_percent(&self) -> Option<f64> {
        (self.sectors != 0).then(|| self.hits as f64 * 100.0 / self.sectors as f64)
    }
}

/// What the caches of a launch did. All are empty when it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters {
    /// L1: loads from global memory that go through it.
    pub l1_global_load: SectorCounters,
    /// The read-only cache: queries of read-only loads from global memory.
    pub read_only_load: SectorCounters,
    /// The read-only cache: queries of texture fetches.
    pub read_only_texture: SectorCounters,
    /// L1: loads from local memory.
    pub l1_local_load: SectorCounters,
    /// 32-byte sectors that L2 sent to the multiprocessors.
    pub l2_to_l1_sectors: u64,
    /// 32-byte sectors that multiprocessors sent to L2: stores and atomic operations.
    pub l1_to_l2_sectors: u64,
    /// 32-byte sectors that went from one multiprocessor to another, for accesses to the shared
    /// memory of other blocks.
    pub distributed_sectors: u64,
    /// L2: reads of the multiprocessors.
    pub l2_read: SectorCounters,
    /// L2: writes of the multiprocessors. A write always hits.
    pub l2_write: u64,
    /// L2: atomic operations that return the old value.
    pub l2_atomic: SectorCounters,
    /// L2: atomic operations that return nothing.
    pub l2_reduction: SectorCounters,
    /// Bytes read from DRAM.
    pub dram_read_bytes: u64,
    /// Bytes written to DRAM during the launch, without what stays in L2 at its end.
    pub dram_write_bytes: u64,
}

impl CacheCounters {
    /// Sectors that L2 served, each as often as a read of one would take the simulator's host as
    /// long: a write is kept until it is written back, and an atomic operation reads and writes.
    pub(crate) fn work_of_l2(&self) -> u64 {
        self.l2_read.sectors + 3 * self.l2_write + 5 * (self.l2_atomic.sectors + self.l2_reduction.sectors)
    }

    /// The read-only cache: all queries.
    pub fn read_only(&self) -> SectorCounters {
        let mut all = self.read_only_load;
        all += self.read_only_texture;
        all
    }
}

/// What a model counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCounters {
    /// The model.
    pub model: &'static Model,
    /// Loads from global memory.
    pub global_load: TransactionCounters,
    /// Those of them that go through the read-only cache: a transaction is a segment that a request
    /// touches.
    pub read_only_load: TransactionCounters,
    /// Stores to global memory.
    pub global_store: TransactionCounters,
    /// Its caches and its DRAM.
    pub caches: CacheCounters,
}

impl ModelCounters {
    pub(crate) fn new(model: &'static Model) -> Self {
        Self {
            model,
            global_load: TransactionCounters::default(),
            read_only_load: TransactionCounters::default(),
            global_store: TransactionCounters::default(),
            caches: CacheCounters::default(),
        }
    }

    /// How many numbers it consists of.
    pub const NUMBERS: usize = 29;

    /// Its numbers, for a file.
    pub fn numbers(mut self) -> [u64; Self::NUMBERS] {
        self.each().map(|number| *number)
    }

    /// The counters of a model with such numbers.
    pub fn of_numbers(model: &'static Model, numbers: [u64; Self::NUMBERS]) -> Self {
        let mut counters = Self::new(model);
        counters.each().into_iter().zip(numbers).for_each(|(counter, number)| *counter = number);
        counters
    }

    /// All of its numbers, always in this order.
    fn each(&mut self) -> [&mut u64; Self::NUMBERS] {
        let Self { model: _, global_load, read_only_load, global_store, caches } = self;
        let [a0, a1, a2] = global_load.each();
        let [b0, b1, b2] = read_only_load.each();
        let [c0, c1, c2] = global_store.each();
        let CacheCounters { l1_global_load, read_only_load, read_only_texture, l1_local_load, .. } = caches;
        let CacheCounters { l2_read, l2_atomic, l2_reduction, .. } = caches;
        let CacheCounters { l2_to_l1_sectors, l1_to_l2_sectors, distributed_sectors, l2_write, .. } = caches;
        let CacheCounters { dram_read_bytes, dram_write_bytes, .. } = caches;
        let [d0, d1] = l1_global_load.each();
        let [e0, e1] = read_only_load.each();
        let [f0, f1] = read_only_texture.each();
        let [g0, g1] = l1_local_load.each();
        let [h0, h1] = l2_read.each();
        let [i0, i1] = l2_atomic.each();
        let [j0, j1] = l2_reduction.each();
        [
            a0,
            a1,
            a2,
            b0,
            b1,
            b2,
            c0,
            c1,
            c2,
            d0,
            d1,
            e0,
            e1,
            f0,
            f1,
            g0,
            g1,
            l2_to_l1_sectors,
            l1_to_l2_sectors,
            distributed_sectors,
            h0,
            h1,
            l2_write,
            i0,
            i1,
            j0,
            j1,
            dram_read_bytes,
            dram_write_bytes,
        ]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.global_load += other.global_load;
        self.read_only_load += other.read_only_load;
        self.global_store += other.global_store;
        self.caches += other.caches;
    }

    /// The counters by name: Nsight Compute's from compute capability 7.0 on, nvprof's for older
    /// models.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        let mut count = |name, value| metrics.push(Metric { name, value: MetricValue::Count(value) });
        let CacheCounters { l1_global_load, l1_local_load, l2_read, l2_atomic, l2_reduction, .. } = self.caches;
        let CacheCounters { read_only_load, read_only_texture, .. } = self.caches;
        let caches = &self.caches;
        if self.model.compute_capability >= (7, 0) {
            count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", l1_global_load.hits);
            count("l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum", l1_local_load.hits);
            // Traffic between multiprocessors crosses the crossbar, too.
            count("l1tex__m_xbar2l1tex_read_sectors.sum", caches.l2_to_l1_sectors + caches.distributed_sectors);
            count("l1tex__m_l1tex2xbar_write_sectors.sum", caches.l1_to_l2_sectors + caches.distributed_sectors);
            count("lts__t_sectors_srcunit_tex_op_read.sum", l2_read.sectors);
            count("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", l2_read.hits);
            count("lts__t_sectors_srcunit_tex_op_write.sum", caches.l2_write);
            count("lts__t_sectors_srcunit_tex_op_atom.sum", l2_atomic.sectors);
            count("lts__t_sectors_srcunit_tex_op_red.sum", l2_reduction.sectors);
            count("dram__bytes_read.sum", caches.dram_read_bytes);
            count("dram__bytes_write.sum", caches.dram_write_bytes);
            return metrics;
        }
        // nvprof counts loads through the read-only cache apart.
        let plain_load = self.global_load.without(&self.read_only_load);
        count("gld_transactions", plain_load.transactions);
        count("gst_transactions", self.global_store.transactions);
        if self.model.l1.is_some() {
            count("l1_global_load_hit", l1_global_load.hits);
            count("l1_global_load_miss", l1_global_load.misses());
            count("l1_local_load_hit", l1_local_load.hits);
            count("l1_local_load_miss", l1_local_load.misses());
        }
        if self.model.read_only.is_some() {
            // Events `tex0_...` to `tex3_...`, summed.
            count("tex_cache_sector_queries", caches.read_only().sectors);
            count("tex_cache_sector_misses", caches.read_only().misses());
            count("nc_l2_read_transactions", read_only_load.misses());
            count("tex_cache_transactions", read_only_texture.sectors);
            count("l2_tex_read_transactions", read_only_texture.misses());
        }
        if self.model.l2.is_some() {
            count("l2_read_transactions", l2_read.sectors);
            count("l2_write_transactions", caches.l2_write);
            count("l2_atomic_transactions", l2_atomic.sectors + l2_reduction.sectors);
        }
        count("dram_read_bytes", caches.dram_read_bytes);
        count("dram_write_bytes", caches.dram_write_bytes);
        let mut ratio = |name, value| metrics.push(Metric { name, value: MetricValue::Ratio(value) });
        ratio("gld_efficiency", plain_load.percent_used());
        ratio("gst_efficiency", self.global_store.percent_used());
        if self.model.read_only.is_some() {
            ratio("nc_cache_global_hit_rate", read_only_load.hit_percent());
            ratio("tex_cache_hit_rate", read_only_texture.hit_percent());
        }
        if self.model.l2.is_some() {
            ratio("l2_l1_read_hit_rate", l2_read.hit_percent());
        }
        metrics
    }
}

add_each_field! {
    TransactionCounters { transactions, bytes_moved, bytes_asked }
    SectorCounters { sectors, hits }
    CacheCounters {
        l1_global_load,
        read_only_load,
        read_only_texture,
        l1_local_load,
        l2_to_l1_sectors,
        l1_to_l2_sectors,
        distributed_sectors,
        l2_read,
        l2_write,
        l2_atomic,
        l2_reduction,
        dram_read_bytes,
        dram_write_bytes,
    }
}
