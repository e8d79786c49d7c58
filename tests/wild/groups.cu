// Cooperative groups: blocks, tiles of a warp, coalesced threads, a reduction and a scan by tile.
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
// out: s32 28 0 0 3 11000 2016 28 1 1 3 -1 2016 28 3 2 3 -1 2016 28 6 3 3 11001 2016 28 10 4 3 -1 2016 28 15 5 3 -1 2016 28 21 6 3 11002 2016 28 28 7 3 -1 2016 92 8 100 12 -1 2016 92 17 101 12 11003 2016 92 27 102 12 -1 2016 92 38 103 12 -1 2016 92 50 104 12 11004 2016 92 63 105 12 -1 2016 92 77 106 12 -1 2016 92 92 107 12 11005 2016 156 16 200 19 -1 2016 156 33 201 19 -1 2016 156 51 202 19 11006 2016 156 70 203 19 -1 2016 156 90 204 19 -1 2016 156 111 205 19 11007 2016 156 133 206 19 -1 2016 156 156 207 19 -1 2016 220 24 300 27 11008 2016 220 49 301 27 -1 2016 220 75 302 27 -1 2016 220 102 303 27 11009 2016 220 130 304 27 -1 2016 220 159 305 27 -1 2016 220 189 306 27 11010 2016 220 220 307 27 -1 2016 284 32 400 35 -1 2016 284 65 401 35 11000 2016 284 99 402 35 -1 2016 284 134 403 35 -1 2016 284 170 404 35 11001 2016 284 207 405 35 -1 2016 284 245 406 35 -1 2016 284 284 407 35 11002 2016 348 40 500 43 -1 2016 348 81 501 43 -1 2016 348 123 502 43 11003 2016 348 166 503 43 -1 2016 348 210 504 43 -1 2016 348 255 505 43 11004 2016 348 301 506 43 -1 2016 348 348 507 43 -1 2016 412 48 600 51 11005 2016 412 97 601 51 -1 2016 412 147 602 51 -1 2016 412 198 603 51 11006 2016 412 250 604 51 -1 2016 412 303 605 51 -1 2016 412 357 606 51 11007 2016 412 412 607 51 -1 2016 476 56 700 59 -1 2016 476 113 701 59 11008 2016 476 171 702 59 -1 2016 476 230 703 59 -1 2016 476 290 704 59 11009 2016 476 351 705 59 -1 2016 476 413 706 59 -1 2016 476 476 707 59 11010 2016
