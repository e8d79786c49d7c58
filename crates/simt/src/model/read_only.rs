//! Kepler's read-only cache, through which `ld.global.nc` and texture fetches read.
//! `multiprocessor` owns one and sends its misses to L2.
//!
//! A multiprocessor has one cache for each scheduler, and a warp uses its scheduler's. They share
//! nothing: what warps of all schedulers read is in all of them. A request, one instruction of a
//! warp, asks for 32-byte segments. Four lanes at a time form the queries, one for each segment
//! that they touch, so a warp that reads side by side makes eight. The first query for a segment
//! hits or misses; further ones of the same request hit. Stores do not reach the cache: nothing may
//! write what is read through it.
//!
//! Sources: KAUST CS 380, lecture 14. The CUDA C programming guide, "Compute Capability 3.x", has
//! the total size, and that textures share it. NVIDIA's profiler counts `texN_cache_sector_queries`
//! and `texN_cache_sector_misses` for N from 0 to 3, one for each 32 bytes. Nothing here was
//! measured on a Kepler.
//!
//! The assumptions are: four sets of 96 segments in each cache, the least recently used one
//! evicted; warps that alternate between schedulers; separate rates of loads and fetches; and a
//! texture's layout, two rows of 16 bytes to a segment, which is that of an H200. Rows that share a
//! segment are often read by warps of different schedulers, so a walk along the rows of a texture
//! never hits.

use super::cache::Cache;
use super::counters::SectorCounters;
use super::gpu::ReadOnly;

/// Bytes of a segment: what a query asks for, and what a miss fetches.
pub(super) const SEGMENT_BYTES: u64 = 32;

/// Lanes that form queries together.
const LANES_TOGETHER: u32 = 4;

/// The read-only caches of a multiprocessor.
pub(super) struct ReadOnlyCaches {
    of_schedulers: Vec<Cache>,
    /// The queries of a request: their group of lanes, and the segment. Kept for its memory.
    queries: Vec<(u32, u64)>,
    /// The segments of the last request that missed, in rising order.
    missed: Vec<u64>,
}

impl ReadOnlyCaches {
    /// Empty caches.
    pub fn new(sizes: &ReadOnly) -> Self {
        let lines = sizes.bytes_of_scheduler as usize / SEGMENT_BYTES as usize;
        let cache = |_| Cache::new(lines, sizes.ways as usize);
        let of_schedulers = (0..sizes.schedulers).map(cache).collect();
        Self { of_schedulers, queries: Vec::new(), missed: Vec::new() }
    }

    /// Serves a request of a warp, given its number on the chip: `touched` has the lane and the
    /// segment of each element. Returns the queries, and the segments that missed.
    pub fn request(&mut self, warp: u64, touched: impl Iterator<Item = (u32, u64)>) -> (SectorCounters, &[u64]) {
        let Self { of_schedulers, queries, missed } = self;
        queries.clear();
        queries.extend(touched.map(|(lane, segment)| (lane / LANES_TOGETHER, segment)));
        queries.sort_unstable();
        queries.dedup();
        missed.clear();
        missed.extend(queries.iter().map(|&(_, segment)| segment));
        missed.sort_unstable();
        missed.dedup();
        // Warps go to the schedulers in turn.
        let scheduler = (warp % of_schedulers.len().max(1) as u64) as usize;
        if let Some(cache) = of_schedulers.get_mut(scheduler) {
            missed.retain(|&segment| cache.look_up(segment) == 0);
            for &segment in missed.iter() {
                cache.insert(segment, 1, 0);
            }
        }
        let sectors = queries.len() as u64;
        (SectorCounters { sectors, hits: sectors - missed.len() as u64 }, missed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Model;
    use super::*;

    /// Queries and misses of each request: the warp, and the address of each lane.
    fn counted(requests: &[(u64, &dyn Fn(u64) -> u64)]) -> Vec<(u64, u64)> {
        let mut caches = ReadOnlyCaches::new(&Model::named("kepler").unwrap().read_only.unwrap());
        let mut count = |warp, address: &dyn Fn(u64) -> u64| {
            let touched = (0..32).map(|lane| (lane as u32, address(lane) / SEGMENT_BYTES));
            let (counters, missed) = caches.request(warp, touched);
            assert_eq!(counters.sectors - counters.hits, missed.len() as u64);
            (counters.sectors, missed.len() as u64)
        };
        requests.iter().map(|&(warp, address)| count(warp, address)).collect()
    }

    #[test]
    fn the_patterns_of_the_lecture() {
        let once = |address: &dyn Fn(u64) -> u64| counted(&[(0, address)])[0];
        // Side by side, the eight groups ask for 16 bytes each: two of them for the same segment,
        // which misses once.
        assert_eq!(once(&|lane| 4 * lane), (8, 4));
        assert_eq!(once(&|lane| 4 * (lane ^ 3)), (8, 4));
        // Across groups, a permutation costs queries, but no misses.
        assert_eq!(once(&|lane| 4 * (lane % 4 * 8 + lane / 4)), (32, 4));
        // Misaligned by a word: every other group is in two segments.
        assert_eq!(once(&|lane| 4 * lane + 4), (12, 5));
        assert_eq!(once(&|_| 64), (8, 1));
        assert_eq!(once(&|lane| 4096 * lane), (32, 32));
        assert_eq!(once(&|lane| 8 * lane), (8, 8));
        assert_eq!(once(&|lane| 32 * lane), (32, 32));
    }

    #[test]
    fn structures_of_twelve_bytes_are_fetched_once() {
        let field = |offset| move |lane| 12 * lane + offset;
        let counted = counted(&[(0, &field(0)), (0, &field(4)), (0, &field(8))]);
        // Four structures are 48 bytes, in two segments; 32 are 12 segments.
        assert_eq!(counted, [(16, 12), (16, 0), (16, 0)]);
    }

    #[test]
    fn each_scheduler_fetches_for_itself() {
        let line = |lane| 4 * lane;
        let counted = counted(&[(0, &line), (1, &line), (2, &line), (3, &line), (4, &line), (7, &line)]);
        assert_eq!(counted, [(8, 4), (8, 4), (8, 4), (8, 4), (8, 0), (8, 0)]);
    }

    #[test]
    fn a_scheduler_keeps_twelve_kilobytes() {
        let part = |part: u64| move |lane: u64| 128 * part + 4 * lane;
        let twice = |parts: u64| {
            let parts: Vec<_> = (0..parts).chain(0..parts).map(part).collect();
            let requests: Vec<_> = parts.iter().map(|part| (5, part as &dyn Fn(u64) -> u64)).collect();
            let misses = counted(&requests).into_iter().map(|(_, misses)| misses);
            misses.skip(parts.len() / 2).sum::<u64>()
        };
        assert_eq!(twice(12 << 10 >> 7), 0);
        // Least recently used: one line more, and each set that it is in drops what is read next.
        assert_eq!(twice((12 << 10 >> 7) + 1), (12 << 10 >> 5) + 4);
    }

    #[test]
    fn no_lane_no_query() {
        let mut caches = ReadOnlyCaches::new(&Model::named("kepler").unwrap().read_only.unwrap());
        assert_eq!(caches.request(0, std::iter::empty()), (SectorCounters::default(), [].as_slice()));
    }
}
