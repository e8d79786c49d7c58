// SIMD within a word, dot products of bytes, and scalar video instructions by inline PTX.
extern "C" __global__ void simd(const unsigned *a, const unsigned *b, unsigned *out) {
    unsigned x = a[threadIdx.x], y = b[threadIdx.x], *o = out + 16 * threadIdx.x;
    o[0] = __vadd2(x, y), o[1] = __vsub4(x, y), o[2] = __vabsdiffu4(x, y), o[3] = __vavgu4(x, y), o[4] = __vmaxs2(x, y), o[5] = __vminu4(x, y);
    o[6] = __vcmpgts4(x, y), o[7] = __vseteq2(x, y), o[8] = __vsadu4(x, y), o[9] = __vabsss2(x), o[10] = __vaddus4(x, y), o[11] = __vsubss2(x, y);
    o[12] = __dp4a((int)x, (int)y, 7), o[13] = __dp2a_lo(x, y, 9u), o[14] = __vneg4(x), o[15] = __vhaddu2(x, y);
}
extern "C" __global__ void scalar(const unsigned *a, const unsigned *b, unsigned *out) {
    unsigned x = a[threadIdx.x], y = b[threadIdx.x], *o = out + 6 * threadIdx.x;
    asm("vadd.s32.u32.s32.sat %0, %1.b1, %2.h1;" : "=r"(o[0]) : "r"(x), "r"(y));
    asm("vabsdiff.u32.s32.s32.add %0, %1.h0, %2.h1, %3;" : "=r"(o[1]) : "r"(x), "r"(y), "r"(100));
    asm("vmad.s32.s32.s32.shr7 %0, %1.b0, %2.b3, %3;" : "=r"(o[2]) : "r"(x), "r"(y), "r"(-5000));
    asm("vset.u32.u32.lt %0, %1.h0, %2.h0;" : "=r"(o[3]) : "r"(x), "r"(y));
    asm("vshl.u32.u32.u32.wrap %0, %1, %2.b0;" : "=r"(o[4]) : "r"(x), "r"(y));
    asm("vmax.s32.s32.s32 %0.b2, %1.b3, %2.b1, %3;" : "=r"(o[5]) : "r"(x), "r"(y), "r"(0x11223344));
}
//# M = 0xffffffff
//# L = lambda w, n: [w >> n * i & (1 << n) - 1 for i in range(32 // n)]
//# S = lambda v, n: v - (1 << n) if v >> n - 1 & 1 else v
//# P = lambda l, n: sum((v & (1 << n) - 1) << n * i for i, v in enumerate(l))
//# def each(f, x, y, n, signed=False):
//#     u = (lambda v: S(v, n)) if signed else (lambda v: v)
//#     return P([f(u(a), u(b)) for a, b in zip(L(x, n), L(y, n))], n)
//# clamp = lambda v, lo, hi: max(lo, min(hi, v))
//# def simd(x, y):
//#     return [each(lambda a, b: a + b, x, y, 16), each(lambda a, b: a - b, x, y, 8), each(lambda a, b: abs(a - b), x, y, 8), each(lambda a, b: a + b + 1 >> 1, x, y, 8),
//#             each(max, x, y, 16, True), each(min, x, y, 8), each(lambda a, b: -(a > b), x, y, 8, True), each(lambda a, b: int(a == b), x, y, 16),
//#             sum(abs(a - b) for a, b in zip(L(x, 8), L(y, 8))), each(lambda a, b: clamp(abs(a), 0, 32767), x, y, 16, True), each(lambda a, b: min(a + b, 255), x, y, 8),
//#             each(lambda a, b: clamp(a - b, -32768, 32767), x, y, 16, True), (7 + sum(S(a, 8) * S(b, 8) for a, b in zip(L(x, 8), L(y, 8)))) & M,
//#             (9 + L(x, 16)[0] * L(y, 8)[0] + L(x, 16)[1] * L(y, 8)[1]) & M, each(lambda a, b: -a, x, x, 8), each(lambda a, b: a + b >> 1, x, y, 16)]
//# xs, ys = [0x7fff8001, 0x01020304, 0xdeadbeef, 0x80008000, 0], [0x00018001, 0xff02fd04, 0x12345678, 0x7fffffff, 0x0a0b0c0d]
// run: simd block=5
//= in: u32 xs
// in: u32 2147450881 16909060 3735928559 2147516416 0
//= in: u32 ys
// in: u32 98305 4278385924 305419896 2147483647 168496141
//= out: u32 sum([simd(x, y) for x, y in zip(xs, ys)], [])
// out: u32 2147483650 2147352576 2147352576 1082163201 2147450881 98305 4278190080 1 381 2147450879 2147483394 2147352576 16391 4226954 2164359423 1073774593 262152 33555968 4261476864 2147647492 16909060 16909060 4278255360 0 504 16909060 4278517512 33555968 17 68371 4294901244 2147647492 4041282919 3430508663 3430508663 2020706996 305419896 305419896 0 0 548 559104273 4041342975 3430514688 4294954659 10767919 575881745 2020641459 4294934527 16875777 33521663 2155921536 2147483647 2130739200 16711935 0 638 2147450879 4294967295 2147516417 4294951175 16711689 2147516416 2147467263 168496141 4143314163 168496141 84280839 168496141 0 0 0 46 0 168496141 4126536691 7 9 0 84215302
//# def scalar(x, y):
//#     v2 = S(L(x, 8)[0], 8) * S(L(y, 8)[3], 8) - 5000 >> 7
//#     big = max(S(L(x, 8)[3], 8), S(L(y, 8)[1], 8))
//#     return [L(x, 8)[1] + S(L(y, 16)[1], 16) & M, abs(S(L(x, 16)[0], 16) - S(L(y, 16)[1], 16)) + 100, v2 & M, int(L(x, 16)[0] < L(y, 16)[0]),
//#             x << (L(y, 8)[0] & 31) & M, 0x11003344 | (big & 255) << 16]
// run: scalar block=5
//= in: u32 xs
// in: u32 2147450881 16909060 3735928559 2147516416 0
//= in: u32 ys
// in: u32 98305 4278385924 305419896 2147483647 168496141
//= out: u32 sum([scalar(x, y) for x, y in zip(xs, ys)], [])
// out: u32 129 32868 4294967256 0 4294901762 293548868 4294967045 1126 4294967256 1 270544960 285291332 4850 21417 4294967254 0 4009754624 290861892 32895 65635 4294967256 1 0 301937476 2571 2671 4294967256 1 0 286012228
