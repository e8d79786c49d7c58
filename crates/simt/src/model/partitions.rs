//! The partitions of DRAM on GPUs without L2, each with its own controller: consecutive 256 bytes
//! belong to consecutive ones. If many warps access the same one at a time, the others idle
//! (*partition camping*). Later GPUs choose the partition by a hash of the address.
//!
//! Source: Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009.

/// Consecutive bytes in a partition.
const WIDTH: u64 = 256;
/// The most partitions of a GPU.
const MOST: usize = 8;

/// The bytes that went to each partition.
pub(crate) type PartitionBytes = [u64; MOST];

/// What a multiprocessor sent to so many partitions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    partitions: u32,
    all: PartitionBytes,
    written: PartitionBytes,
}

impl Sent {
    /// Nothing so far.
    pub fn new(partitions: u32) -> Self {
        Self { partitions: partitions.clamp(1, MOST as u32), ..Self::default() }
    }

    /// A transaction, which never crosses a boundary of [`WIDTH`] bytes.
    pub fn add(&mut self, address: u64, bytes: u32, writes: bool) {
        let partition = (address / WIDTH % u64::from(self.partitions.max(1))) as usize;
        self.all[partition] += u64::from(bytes);
        self.written[partition] += if writes { bytes.into() } else { 0 };
    }
}

/// How unevenly a launch uses the partitions.
#[derive(Debug, Default)]
pub(crate) struct Camping {
    /// All accesses, and those that write.
    all: Sums,
    written: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    /// What went to each partition since the last look.
    now: PartitionBytes,
    /// Sums over all looks, of the busiest partition and of all of them.
    busiest: u64,
    all: u64,
}

impl Camping {
    /// Takes what a multiprocessor sent.
    #[inline]
    pub fn take(&mut self, sent: &mut Sent) {
        let Sent { all, written, .. } = std::mem::replace(sent, Sent::new(sent.partitions));
        self.all.take(all);
        self.written.take(written);
    }

    /// Looks at what waits at the partitions, once this is as much as DRAM delivers in its latency:
    /// less never waits at a time.
    pub fn look(&mut self, least: u64) {
        self.all.look(least);
        self.written.look(least);
    }

    /// How many times as long the busiest partition works as if all worked alike; and the same of
    /// what is written.
    pub fn factors(&self, partitions: u32) -> [f64; 2] {
        [&self.all, &self.written].map(|sums| sums.factor(partitions))
    }
}

impl Sums {
    #[inline]
    fn take(&mut self, sent: PartitionBytes) {
        self.now.iter_mut().zip(sent).for_each(|(sum, bytes)| *sum += bytes);
    }

    fn look(&mut self, least: u64) {
        let all = self.now.iter().sum::<u64>();
        if all >= least {
            self.busiest += std::mem::take(&mut self.now).into_iter().max().unwrap_or(0);
            self.all += all;
        }
    }

    /// 1 if nobody looked.
    fn factor(&self, partitions: u32) -> f64 {
        match self.all {
            0 => 1.0,
            all => (self.busiest as f64 * f64::from(partitions) / all as f64).max(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes and reads of 128 bytes, this many bytes apart, 64 of each at a time.
    fn strided(partitions: u32, writes: u64, reads: u64) -> [f64; 2] {
        let mut camping = Camping::default();
        let mut sent = Sent::new(partitions);
        for window in 0..10 {
            for index in 64 * window..64 * (window + 1) {
                sent.add(index * writes, 128, true);
                sent.add(index * reads, 128, false);
            }
            camping.take(&mut sent);
            camping.look(64 * 128);
        }
        camping.factors(partitions)
    }

    #[test]
    fn one_partition_takes_all_or_each_its_part() {
        for (stride, written) in [(256, 1.0), (512, 2.0), (2048, 8.0), (2048 + 256, 1.0), (128, 1.0)] {
            assert_eq!(strided(8, stride, 256), [(written + 1.0) / 2.0, written], "{stride}");
        }
        // Rows of 1024 floats are in one partition of eight, and in three of six.
        assert_eq!(strided(8, 4096, 4096), [8.0, 8.0]);
        assert!(strided(6, 4096, 4096)[1] < 2.1);
    }

    #[test]
    fn little_never_camps() {
        let mut camping = Camping::default();
        let mut sent = Sent::new(8);
        sent.add(0, 128, true);
        camping.take(&mut sent);
        camping.look(1000);
        assert_eq!(camping.factors(8), [1.0, 1.0]);
    }
}
