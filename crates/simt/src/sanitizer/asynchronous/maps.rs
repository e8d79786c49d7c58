//! Finds changes to tensor maps that a copy may not see. Part of the race detector: the hooks
//! report acquisitions, the checker asks which fence is missing.
//!
//! A copy reads its tensor map through the tensormap proxy. What a thread of the launch wrote to a
//! map (with stores, `tensormap.replace` or `tensormap.cp_fenceproxy`) is visible to a copy only if
//! both of these are on the path that orders the two: a `fence.proxy.tensormap::generic.release`
//! (`cp_fenceproxy` is one itself), and after it a `fence.proxy.tensormap::generic.acquire` of the
//! map's address. By the programming guide, what the host or an earlier launch wrote needs an
//! acquire as well; that is not reported.
//!
//! The release is passed on like all fences, by [`Releases`](crate::sanitizer::releases::Releases).
//! The acquire is kept here, with what its thread knew at that time.

use crate::sanitizer::acquisitions::{Acquisition, Acquisitions};
use crate::sanitizer::clocks::Proxied;
use crate::sanitizer::finding::MapFence;
use crate::sanitizer::race::Races;
use crate::sanitizer::stamp::Stamp;
use crate::sanitizer::touch::Reached;
use crate::tensor_map::TENSOR_MAP_BYTES;

/// The most acquisitions of one map that are listed separately, apart from those that all threads
/// of the cluster know.
const KEPT: usize = 256;

impl Races {
    /// A lane of a warp acquires the tensor map at an address.
    pub fn acquire_map(&mut self, warp: u32, lane: u32, map: u64) {
        let warp = self.in_cluster(warp);
        let thread = warp * 32 + lane;
        let time = self.clocks.advance(warp);
        let mut row = self.clocks.row(thread);
        let own = &mut row[self.clocks.column(thread)];
        *own = (*own).max(time);
        let Acquisitions { met, list } = self.map_acquisitions.0.entry(map).or_default();
        let (floor, mut surplus) = (self.clocks.floor, (list.len() + 1).saturating_sub(KEPT));
        list.retain(|earlier| {
            let is_kept = earlier.time > floor && surplus == 0;
            surplus -= usize::from(surplus > 0);
            if !is_kept {
                met.resize(row.len(), 0);
                met.iter_mut().zip(&earlier.row).for_each(|(met, known)| *met = (*met).max(*known));
            }
            is_kept
        });
        list.push(Acquisition { thread, time, row });
    }

    /// The fence that is missing between a write to a tensor map and a lane's copy that reads the
    /// map now. `None` also if nothing orders the two: that is reported as a race.
    pub(in crate::sanitizer) fn missing_map_fence(
        &mut self,
        before: Stamp,
        reached: &Reached,
        address: u64,
    ) -> Option<MapFence> {
        let by = reached.warp * 32 + reached.lanes.mask.trailing_zeros() % 32;
        let (of, time) = (self.clocks.column(before.thread()), before.time());
        let same_cluster = time >= self.clocks.start;
        let is_released = if same_cluster {
            if before.thread() != by && time > self.clocks.known(by, before.thread()) {
                return None;
            }
            self.releases.is_proxied(by, of, time, Proxied::Map)
        } else {
            let (start, _) = self.block_of(before);
            if !self.releases.knows(by, start, of, time) {
                return None;
            }
            self.releases.knows_as_proxied(by, start, of, time, Proxied::Map)
        };
        if !is_released {
            return Some(MapFence::Release);
        }
        // A row does not cover clusters that have ended.
        let covers = |row: &[u32]| !row.is_empty() && (!same_cluster || row[of] >= time);
        let is_known = |acquisition: &&Acquisition| {
            acquisition.thread == by || acquisition.time <= self.clocks.known(by, acquisition.thread)
        };
        let maps = self.map_acquisitions.0.range(address.saturating_sub(TENSOR_MAP_BYTES as u64 - 1)..=address);
        let is_acquired = maps.into_iter().any(|(_, Acquisitions { met, list })| {
            covers(met) || list.iter().filter(is_known).any(|acquisition| covers(&acquisition.row))
        });
        (!is_acquired).then_some(MapFence::Acquire)
    }
}
