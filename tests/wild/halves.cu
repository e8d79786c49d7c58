// f16: arithmetic, comparisons, conversions, packed forms.
#include <cuda_fp16.h>
extern "C" __global__ void halves(const float *in, unsigned short *out) {
    __half a = __float2half(in[threadIdx.x]), b = __float2half_rz(0.3f);
    __half r[] = {__hadd(a, b), __hsub(a, b), __hmul(a, b), __hfma(a, b, a), __hdiv(a, b), hsqrt(__habs(a)), __hneg(a), __hmax(a, b), __hmin(a, b),
                  __int2half_rn(__half2int_rz(a)), hfloor(a), hrint(a), __hgt(a, b) ? a : b, __hadd_sat(a, b)};
    for (int i = 0; i < 14; i++) out[14 * threadIdx.x + i] = __half_as_ushort(r[i]);
}
extern "C" __global__ void pairs(const float2 *in, unsigned *out, float2 *back) {
    __half2 a = __float22half2_rn(in[threadIdx.x]), b = __half2half2(__float2half(2.0f));
    unsigned *o = out + 8 * threadIdx.x;
    auto bits = [](__half2 h) { return *reinterpret_cast<unsigned *>(&h); };
    o[0] = bits(a), o[1] = bits(__hadd2(a, b)), o[2] = bits(__hfma2(a, b, a)), o[3] = bits(__hgt2(a, b)), o[4] = bits(__lowhigh2highlow(a));
    o[5] = __hgt2_mask(a, b), o[6] = bits(__hmax2(a, b)), o[7] = __hbeq2(a, a);
    back[threadIdx.x] = __half22float2(__hmul2(a, b));
}
//# import struct, math
//# from fractions import Fraction as F
//# h = lambda v: struct.unpack("<H", struct.pack("<e", v))[0]
//# q = lambda v: struct.unpack("<e", struct.pack("<e", v))[0]
//# x = [1.0, -2.5, 0.125, 100.0, 0.30005]
//# b = 1228 / 4096
//# def fma(a, b, c):
//#     e = F(a) * F(b) + F(c); lo = q(float(e)); return lo
//# def halves(v):
//#     a = q(v)
//#     return [q(a + b), q(a - b), q(a * b), fma(a, b, a), q(a / b), q(math.sqrt(abs(a))), -a, max(a, b), min(a, b), float(int(a)), float(math.floor(a)),
//#             float(round(a)), a if a > b else b, min(max(q(a + b), 0.0), 1.0)]
// run: halves block=5
//= in: f32 x
// in: f32 1.0 -2.5 0.125 100.0 0.30005
//= out: u16 [h(r) for v in x for r in halves(v)]
// out: u16 15667 14746 13516 15667 17068 15360 48128 15360 13516 15360 15360 15360 15360 15360 49254 49562 47615 49792 51243 15955 16640 13516 49408 49152 49664 49152 13516 0 14028 45464 10444 12595 13996 13736 45056 13516 12288 0 0 0 13516 14028 22085 22075 20351 22544 23862 18688 54848 22080 13516 22080 22080 22080 22080 15360 14540 3072 11714 13885 15361 14434 46285 13517 13516 0 0 0 13517 14540
//# y = [[1.0, 3.0], [-0.5, 2.0], [65504.0, 1e-7]]
//# w = lambda lo, hi: h(lo) | h(hi) << 16
//# def sat(v):
//#     return v if abs(v) < 65520 else math.copysign(math.inf, v)
//# def pairs(p):
//#     a, c = q(p[0]), q(p[1])
//#     return [w(a, c), w(q(a + 2), q(c + 2)), w(sat(a * 3), q(sat(c * 3))), w(float(a > 2), float(c > 2)), w(c, a),
//#             (0xffff if a > 2 else 0) | (0xffff0000 if c > 2 else 0), w(max(a, 2.0), max(c, 2.0)), 1]
// run: pairs block=3
//= in: f32 sum(y, [])
// in: f32 1.0 3.0 -0.5 2.0 65504.0 1e-07
//= out: u32 sum([pairs(p) for p in y], [])
// out: u32 1107311616 1157644800 1216365056 1006632960 1006649856 4294901760 1107312640 1 1073788928 1140866560 1174453760 0 3087024128 0 1073758208 1 162815 1073773567 424960 15360 2080309250 65535 1073773567 1
//= out: f32 [sat(q(v) * 2) for p in y for v in p]
// out: f32 2.0 6.0 -1.0 4.0 inf 2.384185791015625e-07
