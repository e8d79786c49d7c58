// Carry chains by inline PTX, 128-bit products, 64-bit division and remainder.
extern "C" __global__ void add256(const unsigned *a, const unsigned *b, unsigned *sum, unsigned *difference) {
    unsigned r[8], q[8];
    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\taddc.cc.u32 %3, %11, %19;\n\t"
        "addc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\taddc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
        : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3]), "=&r"(r[4]), "=&r"(r[5]), "=&r"(r[6]), "=&r"(r[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    asm("sub.cc.u32 %0, %8, %16;\n\tsubc.cc.u32 %1, %9, %17;\n\tsubc.cc.u32 %2, %10, %18;\n\tsubc.cc.u32 %3, %11, %19;\n\t"
        "subc.cc.u32 %4, %12, %20;\n\tsubc.cc.u32 %5, %13, %21;\n\tsubc.cc.u32 %6, %14, %22;\n\tsubc.u32 %7, %15, %23;"
        : "=&r"(q[0]), "=&r"(q[1]), "=&r"(q[2]), "=&r"(q[3]), "=&r"(q[4]), "=&r"(q[5]), "=&r"(q[6]), "=&r"(q[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    for (int i = 0; i < 8; i++) { sum[i] = r[i]; difference[i] = q[i]; }
}
typedef unsigned long long u64;
extern "C" __global__ void products(const u64 *a, const u64 *b, u64 *out) {
    u64 x = a[threadIdx.x], y = b[threadIdx.x];
    unsigned __int128 p = (unsigned __int128)x * y;
    u64 *o = out + 6 * threadIdx.x;
    o[0] = (u64)p, o[1] = (u64)(p >> 64), o[2] = x / y, o[3] = x % y, o[4] = (u64)((long long)x / (long long)y);
    o[5] = (u64)((long long)x % (long long)y);
}
//# a, b = 2**255 + 2**200 - 1, 2**255 - 2**96 + 12345
//# w = lambda n, bits=32, count=8: [n >> bits * i & (1 << bits) - 1 for i in range(count)]
// run: add256
//= in: u32 w(a)
// in: u32 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 255 2147483648
//= in: u32 w(b)
// in: u32 12345 0 0 4294967295 4294967295 4294967295 4294967295 2147483647
//= out: u32 w((a + b) % 2**256)
// out: u32 12344 0 0 4294967295 4294967295 4294967295 255 0
//= out: u32 w((a - b) % 2**256)
// out: u32 4294954950 4294967295 4294967295 0 0 0 256 0
//# xs, ys = [2**64 - 1, 10**19, 2**63, 12345678901234567], [3, 2**32 + 1, 10**9 + 7, 2**64 - 2]
//# s = lambda v: v - 2**64 if v >> 63 else v
//# td = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
//# M = 2**64 - 1
// run: products block=4
//= in: u64 xs
// in: u64 18446744073709551615 10000000000000000000 9223372036854775808 12345678901234567
//= in: u64 ys
// in: u64 3 4294967297 1000000007 18446744073709551614
//= out: u64 sum([[x * y & M, x * y >> 64, x // y, x % y, td(s(x), s(y)) & M, (s(x) - td(s(x), s(y)) * s(y)) & M] for x, y in zip(xs, ys)], [])
// out: u64 18446744073709551613 2 6148914691236517205 0 0 18446744073709551615 1490448504083447808 2328306437 2328306435 4280343805 18446744071742890757 18446744073694928123 9223372036854775808 500000003 9223371972 291172004 18446744064486179644 18446744073418379612 18422052715907082482 12345678901234566 0 12345678901234567 18440571234258934333 1
