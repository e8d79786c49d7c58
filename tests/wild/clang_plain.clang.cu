// CUDA by clang, without NVIDIA's headers: what LLVM makes of loops, switches, vectors, 64-bit arithmetic and atomics.
//@ sm_75 sm_90 O0
#include <__clang_cuda_builtin_vars.h>
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
typedef unsigned u32;
typedef unsigned long long u64;
typedef float f4 __attribute__((ext_vector_type(4)));
GLOBAL void saxpy(float a, const f4 *x, f4 *y) { y[threadIdx.x] = a * x[threadIdx.x] + y[threadIdx.x]; }
GLOBAL void collatz(const u32 *in, u32 *out) {
    u64 n = in[threadIdx.x];
    u32 steps = 0;
    while (n != 1) n = n & 1 ? 3 * n + 1 : n / 2, steps++;
    out[threadIdx.x] = steps;
}
GLOBAL void reverse(const u32 *in, u32 *out) {
    SHARED static u32 tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
GLOBAL void mixed(const u64 *in, u64 *out) {
    u64 x = in[threadIdx.x];
    u64 *o = out + 6 * threadIdx.x;
    o[0] = __builtin_bswap64(x), o[1] = __builtin_popcountll(x), o[2] = x ? __builtin_clzll(x) : 64, o[3] = (x << 13) | (x >> 51);
    o[4] = x % 1000000007ull, o[5] = (u64)((unsigned __int128)x * x >> 64);
}
GLOBAL void counts(u32 *out, float *sum) {
    __atomic_fetch_add(out, threadIdx.x, __ATOMIC_RELAXED);
    __atomic_fetch_max(out + 1, threadIdx.x * 3, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(out + 2, 1u << (threadIdx.x & 31), __ATOMIC_ACQ_REL);
    __nvvm_atom_add_gen_f(sum, 0.5f);
    u32 expected = threadIdx.x;
    __atomic_compare_exchange_n(out + 3 + threadIdx.x, &expected, 99u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
DEVICE __attribute__((noinline)) int dispatch(int op, int a, int b) {
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return b ? a / b : 0;
    case 4: return b ? a % b : 0;
    case 5: return a << (b & 31);
    case 6: return a < b ? a : b;
    default: return -1;
    }
}
GLOBAL void operations(const int *op, int *out) { out[threadIdx.x] = dispatch(op[threadIdx.x], 37 - (int)threadIdx.x * 5, (int)threadIdx.x - 2); }
//# x = [i + 1 for i in range(16)]
// run: saxpy block=4
// arg: f32 2.5
//= in: f32 x
// in: f32 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0
//= inout: f32 [i * 0.5 for i in range(16)] -> [2.5 * x[i] + i * 0.5 for i in range(16)]
// inout: f32 0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0 4.5 5.0 5.5 6.0 6.5 7.0 7.5 -> 2.5 5.5 8.5 11.5 14.5 17.5 20.5 23.5 26.5 29.5 32.5 35.5 38.5 41.5 44.5 47.5
//# def collatz(n):
//#     s = 0
//#     while n != 1: n, s = (3 * n + 1 if n & 1 else n // 2), s + 1
//#     return s
//# c = [1, 2, 27, 97, 871, 113383]
// run: collatz block=6
//= in: u32 c
// in: u32 1 2 27 97 871 113383
//= out: u32 [collatz(n) for n in c]
// out: u32 0 1 111 118 178 247
// run: reverse block=48
//= in: u32 list(range(48))
// in: u32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
//= out: u32 list(range(47, -1, -1))
// out: u32 47 46 45 44 43 42 41 40 39 38 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
//# m = [0, 1, 0x0123456789abcdef, 2**64 - 1]
//# mixed = lambda x: [int.from_bytes(x.to_bytes(8, "little"), "big"), bin(x).count("1"), 64 - x.bit_length(), (x << 13 | x >> 51) % 2**64, x % 1000000007, x * x >> 64]
// run: mixed block=4
//= in: u64 m
// in: u64 0 1 81985529216486895 18446744073709551615
//= out: u64 sum([mixed(v) for v in m], [])
// out: u64 0 0 64 0 0 0 72057594037927936 1 63 8192 1 0 17279655951921914625 32 7 7542668687916785700 642588199 364380129851052 18446744073709551615 64 0 18446744073709551615 582344007 18446744073709551614
// run: counts block=40
//= inout: u32 [0, 0, 0] + [i & ~1 for i in range(40)] -> [780, 117, 0xffffffff] + [i - 1 if i & 1 else 99 for i in range(40)]
// inout: u32 0 0 0 0 0 2 2 4 4 6 6 8 8 10 10 12 12 14 14 16 16 18 18 20 20 22 22 24 24 26 26 28 28 30 30 32 32 34 34 36 36 38 38 -> 780 117 4294967295 99 0 99 2 99 4 99 6 99 8 99 10 99 12 99 14 99 16 99 18 99 20 99 22 99 24 99 26 99 28 99 30 99 32 99 34 99 36 99 38
//= inout: f32 [1.0] -> [21.0]
// inout: f32 1.0 -> 21.0
//# ops = [0, 1, 2, 3, 4, 5, 6, 7, 3, 4]
//# td = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
//# def op(t):
//#     a, b, o = 37 - t * 5, t - 2, ops[t]
//#     return [a + b, a - b, a * b, td(a, b) if b else 0, a - td(a, b) * b if b else 0, ((a << (b & 31)) + 2**31) % 2**32 - 2**31, min(a, b), -1][o]
// run: operations block=10
//= in: s32 ops
// in: s32 0 1 2 3 4 5 6 7 3 4
//= out: s32 [op(t) for t in range(10)]
// out: s32 35 33 0 22 1 96 4 -1 0 -1
