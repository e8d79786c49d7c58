// Clocks, timers, sleep, special registers, asserts that hold, and printf that is not reached.
#include <cstdio>
#include <cassert>
extern "C" __global__ void timing(unsigned *out) {
    long long start = clock64();
    unsigned begin = clock();
    unsigned smid, nsmid, lane, warp, nwarp, gt, lt;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsmid));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(nwarp));
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    __nanosleep(20);
    unsigned *o = out + 5 * threadIdx.x;
    o[0] = clock64() >= start && (unsigned)clock() - begin < 100000000u, o[1] = smid < nsmid, o[2] = lane, o[3] = gt | lt, o[4] = warp < nwarp;
    assert(lane < 32);
    if (ns == 42) printf("%d %f %s\n", smid, 1.5, "never");
}
// `clock()` is a `long` of 64 bits: cut off like the first, or the difference is 2^32 too large on a GPU that has run for some seconds.
// run: timing block=32
//= out: u32 sum([[1, 1, t, 0xffffffff & ~(1 << t), 1] for t in range(32)], [])
// out: u32 1 1 0 4294967294 1 1 1 1 4294967293 1 1 1 2 4294967291 1 1 1 3 4294967287 1 1 1 4 4294967279 1 1 1 5 4294967263 1 1 1 6 4294967231 1 1 1 7 4294967167 1 1 1 8 4294967039 1 1 1 9 4294966783 1 1 1 10 4294966271 1 1 1 11 4294965247 1 1 1 12 4294963199 1 1 1 13 4294959103 1 1 1 14 4294950911 1 1 1 15 4294934527 1 1 1 16 4294901759 1 1 1 17 4294836223 1 1 1 18 4294705151 1 1 1 19 4294443007 1 1 1 20 4293918719 1 1 1 21 4292870143 1 1 1 22 4290772991 1 1 1 23 4286578687 1 1 1 24 4278190079 1 1 1 25 4261412863 1 1 1 26 4227858431 1 1 1 27 4160749567 1 1 1 28 4026531839 1 1 1 29 3758096383 1 1 1 30 3221225471 1 1 1 31 2147483647 1
