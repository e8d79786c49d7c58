// Cooperative groups: blocks, tiles of a warp, coalesced threads, a reduction and a scan by tile.
//@ sm_75 sm_90 debug
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank(), *o = out + 6 * t;
    o[0] = cg::reduce(tile, t, cg::plus<int>()), o[1] = cg::inclusive_scan(tile, t), o[2] = tile.meta_group_rank() * 100 + tile.thread_rank();
    o[3] = tile.shfl(t, 3) + tile.any(t == 12), o[4] = -1;
    if (t % 3 == 0) {
        auto active = cg::coalesced_threads();
        o[4] = active.thread_rank() + 1000 * active.size();
    }
    __shared__ int total;
    if (t == 0) total = 0;
    block.sync();
    if (tile.thread_rank() == 0) atomicAdd(&total, o[0]);
    cg::sync(block);
    o[5] = total;
}
//# def groups(t):
//#     base = t & ~7
//#     mine = [u for u in range(32) if (u + (t & ~31)) % 3 == 0]
//#     return [sum(range(base, base + 8)), sum(range(base, t + 1)), t // 8 * 100 + t % 8, base + 3 + (base <= 12 < base + 8),
//#             mine.index(t % 32) + 1000 * len(mine) if t % 3 == 0 else -1, sum(range(64))]
// run: groups block=64
//= out: s32 sum([groups(t) for t in range(64)], [])
// out: s32 @1
