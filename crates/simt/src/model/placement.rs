//! Places the blocks of a launch on a chip.
//!
//! A multiprocessor has as many block slots as blocks can be resident on it. The blocks of a
//! cluster run on different multiprocessors of one neighbourhood: a GPC (graphics processing
//! cluster). Without clusters, each multiprocessor is a neighbourhood. A cluster takes and frees
//! all its slots at once.
//!
//! The rules were measured on an H200 (2026-11-21, `%smid` in each block, clusters of 1 to 16
//! blocks). It has eight GPCs: one of 8 multiprocessors, five of 16, two of 18. TPCs, pairs of
//! multiprocessors, are numbered across the GPCs in turn. The last four pairs belong to no GPC:
//! only clusters of two blocks run there, before all others. Each GPC takes a cluster in turn,
//! first those with the fewest blocks on a multiprocessor. So a GPC of 8 never runs a cluster of 9
//! to 16 blocks, however small they are. Other chips of the same kind have other multiprocessors
//! disabled, and the first GPC differs from launch to launch; the model begins with the first.
//! Launches without clusters fill the multiprocessors in the order of their numbers.

use super::gpu::Model;
use super::multiprocessor::Position;

/// Multiprocessors of a TPC (texture processing cluster), which have neighbouring numbers.
const OF_TPC: usize = 2;

/// The most blocks of clusters that a multiprocessor holds at once, by an H200's driver and its
/// count of active warps.
const OF_CLUSTERS: u32 = 8;

/// The slot of a resident block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockSlot {
    /// The index of the multiprocessor in the neighbourhood.
    pub multiprocessor: usize,
    /// The slot's number on the multiprocessor.
    pub number: u64,
}

/// Multiprocessors that can host the blocks of one cluster.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Neighbourhood {
    /// Where they are on the chip.
    pub multiprocessors: Vec<Position>,
    /// Clusters that are resident here before any has ended.
    pub clusters: usize,
    blocks_per_cluster: usize,
}

impl Neighbourhood {
    /// The slots of a cluster's blocks, by rank.
    pub fn slots(&self, cluster: usize) -> impl Iterator<Item = BlockSlot> {
        let count = self.multiprocessors.len();
        let first = cluster * self.blocks_per_cluster;
        (first..first + self.blocks_per_cluster)
            .map(move |slot| BlockSlot { multiprocessor: slot % count, number: (slot / count) as u64 })
    }

    /// The most blocks that are resident on one of its multiprocessors.
    pub fn blocks_per_multiprocessor(&self) -> usize {
        (self.clusters * self.blocks_per_cluster).div_ceil(self.multiprocessors.len())
    }

    /// Whether one more cluster fits with at most `blocks` on a multiprocessor.
    fn has_room(&self, blocks: usize) -> bool {
        (self.clusters + 1) * self.blocks_per_cluster <= self.multiprocessors.len() * blocks
    }
}

impl Model {
    /// Places `clusters` clusters, if a multiprocessor holds `resident` blocks at once. Returns the
    /// neighbourhoods in use, in the order in which they take one cluster each in turn.
    pub(crate) fn neighbourhoods(&self, resident: u32, blocks_per_cluster: u32, clusters: u64) -> Vec<Neighbourhood> {
        let of_cluster = blocks_per_cluster as usize;
        let multiprocessors: Vec<Vec<u32>> = match of_cluster {
            // A launch with few blocks uses as many neighbourhoods.
            1 => (0..self.multiprocessors).take(clusters.try_into().unwrap_or(usize::MAX)).map(|n| vec![n]).collect(),
            _ => self.gpcs().into_iter().filter(|gpc| gpc.len() >= of_cluster).collect(),
        };
        let partitions = self.l2.map_or(1, |l2| l2.partitions as usize);
        let merges_reads_of = self.l2.map_or(1, |l2| l2.merges_reads_of as usize);
        let total: usize = multiprocessors.iter().map(Vec::len).sum();
        let (mut before, mut groups_before) = (0, 0);
        let neighbourhood = |numbers: Vec<u32>| {
            let near = before * partitions / total;
            let position = |(index, &number)| Position { number, near, group: groups_before + index / merges_reads_of };
            let multiprocessors: Vec<_> = numbers.iter().enumerate().map(position).collect();
            before += numbers.len();
            // Reads are merged among single multiprocessors, but not among GPCs.
            groups_before = match numbers.len() {
                1 => before / merges_reads_of,
                count => groups_before + count.div_ceil(merges_reads_of),
            };
            Neighbourhood { multiprocessors, clusters: 0, blocks_per_cluster: of_cluster }
        };
        let mut all: Vec<_> = multiprocessors.into_iter().map(neighbourhood).collect();
        let resident = if of_cluster == 1 { resident } else { resident.min(OF_CLUSTERS) };
        // Neighbourhoods with emptier multiprocessors come first.
        let (mut waiting, mut turn) = (clusters, 0);
        for blocks in 1..=resident as usize {
            while waiting > 0
                && let Some(next) = (turn..turn + all.len()).find(|&next| all[next % all.len()].has_room(blocks))
            {
                turn = next % all.len();
                all[turn].clusters += 1;
                turn += 1;
                waiting -= 1;
            }
        }
        all.retain(|neighbourhood| neighbourhood.clusters > 0);
        all
    }

    /// The numbers of the multiprocessors that are neighbours: TPCs that are in no GPC, then GPCs.
    ///
    /// TPCs are numbered across the GPCs, one of each in turn while it has more; then come those in
    /// no GPC.
    fn gpcs(&self) -> Vec<Vec<u32>> {
        let mut gpcs: Vec<Vec<u32>> = vec![Vec::new(); self.gpcs.len()];
        let mut numbers = 0..self.multiprocessors;
        let largest = self.gpcs.iter().max().map_or(0, |&size| size as usize);
        for _ in 0..largest.div_ceil(OF_TPC) {
            for (gpc, &size) in gpcs.iter_mut().zip(self.gpcs) {
                let more = (size as usize - gpc.len()).min(OF_TPC);
                gpc.extend(numbers.by_ref().take(more));
            }
        }
        let rest: Vec<u32> = numbers.collect();
        rest.chunks(OF_TPC).map(<[u32]>::to_vec).chain(gpcs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::occupancy::BlockNeeds;

    /// The multiprocessors of each cluster, in the order in which they take slots.
    fn taken(resident: u32, of_cluster: u32, clusters: u64) -> Vec<Vec<u32>> {
        let hopper = Model::named("hopper").unwrap();
        let all = hopper.neighbourhoods(resident, of_cluster, clusters);
        let most = all.iter().map(|neighbourhood| neighbourhood.clusters).max().unwrap();
        let each = (0..most).flat_map(|cluster| all.iter().map(move |neighbourhood| (neighbourhood, cluster)));
        each.filter(|(neighbourhood, cluster)| *cluster < neighbourhood.clusters)
            .map(|(neighbourhood, cluster)| {
                let slots = neighbourhood.slots(cluster);
                slots.map(|slot| neighbourhood.multiprocessors[slot.multiprocessor].number).collect()
            })
            .collect()
    }

    /// As on an H200, where `%smid` was read in each block, by clusters' sets of multiprocessors.
    #[test]
    fn clusters_run_where_an_h200_runs_them() {
        assert_eq!(taken(16, 4, 2), [[0, 1, 16, 17], [2, 3, 18, 19]]);
        assert_eq!(taken(16, 8, 1), [[0, 1, 16, 17, 32, 33, 48, 49]]);
        // A GPC of eight has no room for sixteen, however few slots are taken.
        let sixteen = [2, 3, 18, 19, 34, 35, 50, 51, 64, 65, 78, 79, 92, 93, 106, 107];
        assert_eq!(taken(16, 16, 8)[0], sixteen);
        assert_eq!(taken(16, 16, 8)[7], sixteen);
        // Two TPCs are in GPCs, and used where all others are; four are in none, and for clusters
        // of two.
        let twos = taken(16, 2, 66);
        assert_eq!(twos[0], [124, 125]);
        assert_eq!(twos[4], [0, 1]);
        assert!(twos.iter().all(|pair| pair[0].is_multiple_of(2) && pair[1] == pair[0] + 1));
        let mut all = twos.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..132));
        // The second of a GPC of eight would share multiprocessors: the third ones of others are
        // first.
        let count = |clusters| {
            let all = Model::named("hopper").unwrap().neighbourhoods(16, 5, clusters);
            all.iter().map(|neighbourhood| neighbourhood.clusters).collect::<Vec<_>>()
        };
        assert_eq!(count(22), [1, 3, 3, 3, 3, 3, 3, 3]);
        assert_eq!(count(24), [2, 4, 3, 3, 3, 3, 3, 3]);
    }

    /// `cuOccupancyMaxActiveClusters` on an H200, for 2 to 16 blocks a cluster: threads, shared
    /// memory, clusters.
    const RESIDENT: [(u32, u32, [u32; 15]); 4] = [
        (64, 0, [528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58]),
        (256, 0, [528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58]),
        (1024, 0, [132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14]),
        (256, 200 << 10, [66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7]),
    ];

    #[test]
    fn blocks_of_a_cluster_have_a_multiprocessor_each_and_as_many_are_resident_as_the_driver_says() {
        let hopper = Model::named("hopper").unwrap();
        for (threads, shared, clusters) in RESIDENT {
            for (cluster, wanted) in (2..).zip(clusters) {
                let needs = BlockNeeds { threads, shared, cluster, ..BlockNeeds::default() };
                let occupancy = hopper.occupancy(&needs, None);
                assert_eq!(occupancy.clusters, Some(wanted), "{cluster} blocks of {threads} threads");
                let all = hopper.neighbourhoods(occupancy.blocks(), cluster, u64::MAX);
                for neighbourhood in &all {
                    assert!(neighbourhood.blocks_per_multiprocessor() <= occupancy.blocks() as usize);
                    for index in 0..neighbourhood.clusters {
                        let mut taken: Vec<_> = neighbourhood.slots(index).map(|slot| slot.multiprocessor).collect();
                        taken.sort_unstable();
                        taken.dedup();
                        assert_eq!(taken.len(), cluster as usize);
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_by_themselves_go_one_to_each_multiprocessor_in_turn() {
        let blocks = |count| {
            let all = Model::named("fermi").unwrap().neighbourhoods(3, 1, count);
            all.iter()
                .map(|neighbourhood| (neighbourhood.multiprocessors[0].number, neighbourhood.clusters))
                .collect::<Vec<_>>()
        };
        assert_eq!(blocks(3), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(blocks(16), (0..14).map(|number| (number, 1 + usize::from(number < 2))).collect::<Vec<_>>());
        assert_eq!(blocks(1000), (0..14).map(|number| (number, 3)).collect::<Vec<_>>());
    }
}
