// Cooperative launches: `grid.sync()`, both its halves, a sum over all blocks; and flags, by which blocks wait for each other.
//@ sm_75 sm_90 debug
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Each round adds up the two neighbours: nobody may begin the next one before all have ended this one.
extern "C" __global__ void rounds(int *a, int *b, int n, int rounds) {
    auto grid = cg::this_grid();
    for (int round = 0; round < rounds; round++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) b[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
        grid.sync();
        int *other = a;
        a = b, b = other;
    }
}
// Other work between arrival and wait.
extern "C" __global__ void halves(int *out, int *sums) {
    auto grid = cg::this_grid();
    int me = grid.thread_rank();
    out[me] = me * me;
    auto token = grid.barrier_arrive();
    int mine = me % 7;
    grid.barrier_wait(std::move(token));
    sums[me] = out[grid.size() - 1 - me] + mine + grid.is_valid();
}
// Each block waits for the next one: without a cooperative launch, too.
extern "C" __global__ void chain(unsigned *flags, unsigned *out) {
    if (threadIdx.x == 0) {
        unsigned next = 0;
        if (blockIdx.x + 1 < gridDim.x)
            while ((next = atomicAdd(flags + blockIdx.x + 1, 0)) == 0) {}
        out[blockIdx.x] = next;
        __threadfence();
        atomicExch(flags + blockIdx.x, next + blockIdx.x + 1);
    }
}
//# def rounded(values, rounds):
//#     for _ in range(rounds):
//#         values = [values[i - 1] + values[(i + 1) % len(values)] for i in range(len(values))]
//#     return values
//# start = [3 * i % 11 for i in range(500)]
// run: rounds grid=6 block=64 cooperative
//= inout: s32 start -> rounded(start, 4)
// inout: s32 @1 -> @2
//= out: s32 rounded(start, 3)
// out: s32 @3
// arg: s32 500
// arg: s32 4
// run: halves grid=2,2 block=8,4 cooperative
//= out: s32 [i * i for i in range(128)]
// out: s32 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361 400 441 484 529 576 625 676 729 784 841 900 961 1024 1089 1156 1225 1296 1369 1444 1521 1600 1681 1764 1849 1936 2025 2116 2209 2304 2401 2500 2601 2704 2809 2916 3025 3136 3249 3364 3481 3600 3721 3844 3969 4096 4225 4356 4489 4624 4761 4900 5041 5184 5329 5476 5625 5776 5929 6084 6241 6400 6561 6724 6889 7056 7225 7396 7569 7744 7921 8100 8281 8464 8649 8836 9025 9216 9409 9604 9801 10000 10201 10404 10609 10816 11025 11236 11449 11664 11881 12100 12321 12544 12769 12996 13225 13456 13689 13924 14161 14400 14641 14884 15129 15376 15625 15876 16129
//= out: s32 [(127 - i) ** 2 + i % 7 + 1 for i in range(128)]
// out: s32 16130 15878 15628 15380 15134 14890 14648 14401 14163 13927 13693 13461 13231 13003 12770 12546 12324 12104 11886 11670 11456 11237 11027 10819 10613 10409 10207 10007 9802 9606 9412 9220 9030 8842 8656 8465 8283 8103 7925 7749 7575 7403 7226 7058 6892 6728 6566 6406 6248 6085 5931 5779 5629 5481 5335 5191 5042 4902 4764 4628 4494 4362 4232 4097 3971 3847 3725 3605 3487 3371 3250 3138 3028 2920 2814 2710 2608 2501 2403 2307 2213 2121 2031 1943 1850 1766 1684 1604 1526 1450 1376 1297 1227 1159 1093 1029 967 907 842 786 732 680 630 582 536 485 443 403 365 329 295 263 226 198 172 148 126 106 88 65 51 39 29 21 15 11 2 2
// run: chain grid=9 block=32 cooperative
//= inout: u32 [0] * 9 -> [sum(range(i, 10)) for i in range(1, 10)]
// inout: u32 0 0 0 0 0 0 0 0 0 -> 45 44 42 39 35 30 24 17 9
//= out: u32 [sum(range(i + 1, 10)) for i in range(1, 10)]
// out: u32 44 42 39 35 30 24 17 9 0
