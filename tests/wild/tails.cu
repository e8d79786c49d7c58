// Threads beyond the end return first, and the others vote, match, reduce and shuffle with a full mask, or with one of those that are left.
//@ sm_75 sm_80 debug
extern "C" __global__ void tails(const int *in, int *out, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    int *o = out + 5 * t, equal;
    o[0] = __ballot_sync(~0u, in[t] % 3 == 0), o[1] = __any_sync(~0u, in[t] == 7) + 2 * __all_sync(~0u, t < 25);
    o[2] = __match_any_sync(~0u, in[t] & 1), o[3] = __match_all_sync(~0u, n, &equal) + equal;
    o[4] = __shfl_sync(~0u, in[t], 2);
}
extern "C" __global__ void dropped(const int *in, int *sum, int *scan, int n) {
    unsigned left = __ballot_sync(~0u, threadIdx.x < n);
    int t = threadIdx.x;
    if (t >= n) return;
    int v = in[t], w = v;
    for (int d = 16; d; d /= 2) {
        int other = __shfl_down_sync(left, v, d);
        if (t + d < n) v += other;
    }
    if (t == 0) *sum = v;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(left, w, d);
        w += t >= d ? other : 0;
    }
    scan[t] = w;
}
//# def tails(t, n):
//#     return [sum(1 << i for i in range(n) if i % 3 == 0), 1 + 2, sum(1 << i for i in range(n) if i % 2 == t % 2), (1 << n) - 1 + 1, 2]
// run: tails block=32
//= in: s32 list(range(20))
// in: s32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
//= out: s32 sum([tails(t, 20) for t in range(20)], [])
// out: s32 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2 299593 3 349525 1048576 2 299593 3 699050 1048576 2
// arg: s32 20
// run: dropped block=32
//= in: s32 [t * t for t in range(20)]
// in: s32 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361
//= out: s32 [sum(t * t for t in range(20))]
// out: s32 2470
//= out: s32 [sum(i * i for i in range(t + 1)) for t in range(20)]
// out: s32 0 1 5 14 30 55 91 140 204 285 385 506 650 819 1015 1240 1496 1785 2109 2470
// arg: s32 20
