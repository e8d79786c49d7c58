// CUDA by clang: indirect calls, recursion, structs by value, local arrays and constant tables.
//@ sm_75 sm_90 O0
#include <__clang_cuda_builtin_vars.h>
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define CONSTANT __attribute__((constant))
struct Point { int x; short y; char z; };
DEVICE __attribute__((noinline)) Point moved(Point p, int by) { return {p.x + by, (short)(p.y * by), (char)(p.z - by)}; }
DEVICE __attribute__((noinline)) int square(int v) { return v * v; }
DEVICE __attribute__((noinline)) int cube(int v) { return v * v * v; }
DEVICE __attribute__((noinline)) int power(int b, int n) { return n == 0 ? 1 : b * power(b, n - 1); }
CONSTANT const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
GLOBAL void calls(Point p, const int *which, int *out) {
    int t = threadIdx.x, *o = out + 5 * t;
    Point q = moved(moved(p, t), 2);
    o[0] = q.x, o[1] = q.y, o[2] = q.z;
    int (*f)(int) = which[t] ? square : cube;
    o[3] = f(t - 4), o[4] = power(3, t) + primes[t];
}
GLOBAL void sieve(int *out) {
    bool composite[64] = {};
    int n = 0;
    for (int i = 2; i < 64; i++) {
        if (composite[i]) continue;
        out[n++] = i;
        for (int j = i * i; j < 64; j += i) composite[j] = true;
    }
}
//# import struct
//# s = lambda v, n: (v + (1 << n - 1)) % (1 << n) - (1 << n - 1)
//# w = [1, 0, 0, 1, 1, 0, 1, 0]
//# pr = [2, 3, 5, 7, 11, 13, 17, 19]
// run: calls block=8
//= bytes: u8 list(struct.pack("<ihbx", 100, -7, 50))
// bytes: u8 100 0 0 0 249 255 50 0
//= in: s32 w
// in: s32 1 0 0 1 1 0 1 0
//= out: s32 sum([[100 + t + 2, s(-7 * t * 2, 16), s(50 - t - 2, 8), (t - 4) ** (2 if w[t] else 3), 3 ** t + pr[t]] for t in range(8)], [])
// out: s32 102 0 48 16 3 103 -14 47 -27 6 104 -28 46 -8 14 105 -42 45 1 34 106 -56 44 0 92 107 -70 43 1 256 108 -84 42 4 746 109 -98 41 27 2206
// run: sieve
//= out: s32 [i for i in range(2, 64) if all(i % j for j in range(2, i))]
// out: s32 2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61
