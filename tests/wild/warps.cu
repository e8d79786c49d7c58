// What lanes tell each other: votes, matches, reductions, shuffles of 64 bits and of segments.
extern "C" __global__ void votes(unsigned *out) {
    unsigned t = threadIdx.x, *o = out + 8 * t;
    o[0] = __ballot_sync(~0u, t % 3 == 0), o[1] = __any_sync(~0u, t == 40) + 2 * __all_sync(~0u, t < 32);
    o[2] = __match_any_sync(~0u, t / 5);
    int all;
    o[3] = __match_all_sync(~0u, t & 64, &all) + all;
    o[4] = __shfl_xor_sync(~0u, t * t, 5, 16);
    o[5] = (unsigned)(__shfl_down_sync(~0u, (long long)t << 33, 3) >> 33);
    unsigned active = 0;
    if (t & 1) { active = __activemask(); __syncwarp(active); }
    o[6] = active, o[7] = __shfl_sync(~0u, t, t + 9, 8);
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(unsigned *out) {
    unsigned t = threadIdx.x, *o = out + 6 * t, m = t < 7 ? 0x7fu : ~0x7fu;
    if (t < 7) o[0] = __reduce_add_sync(m, t); else o[0] = __reduce_add_sync(m, t);
    o[1] = __reduce_min_sync(~0u, (int)t - 5), o[2] = __reduce_max_sync(~0u, t ^ 21);
    o[3] = __reduce_and_sync(~0u, t | 64), o[4] = __reduce_or_sync(~0u, 1u << t), o[5] = __reduce_xor_sync(~0u, t * 3);
}
#endif
//# def votes(t):
//#     x = t ^ 5
//#     return [sum(1 << i for i in range(0, 32, 3)), 2, sum(1 << i for i in range(32) if i // 5 == t // 5), 0xffffffff + 1 & 0xffffffff,
//#             x * x, t + 3 if t + 3 < 32 else t, 0xaaaaaaaa if t & 1 else 0, t & ~7 | t + 9 & 7]
// run: votes block=32
//= out: u32 sum([votes(t) for t in range(32)], [])
// out: u32 @1
//# from functools import reduce
//# def reductions(t):
//#     return [21 if t < 7 else sum(range(7, 32)), -5 & 0xffffffff, 31, 64, 0xffffffff, reduce(lambda a, b: a ^ b, [i * 3 for i in range(32)])]
// run: reductions block=32
//= out: u32 sum([reductions(t) for t in range(32)], [])
// out: u32 @2
