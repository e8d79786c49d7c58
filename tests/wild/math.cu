// Functions of libdevice, f64 and f32. Results are rounded to a few digits: the last bits are nobody's promise.
//@ sm_75 sm_90 fast
#include <math.h>
extern "C" __global__ void doubles(const double *in, long long *out) {
    double x = in[threadIdx.x];
    double r[] = {sin(x), cos(x), tan(x), exp(x), log(fabs(x) + 1), pow(fabs(x), 1.7), erf(x), sqrt(fabs(x)), cbrt(x), atan2(x, 2.0), sinh(x / 4),
                  tanh(x), fmod(x, 0.7), tgamma(fabs(x) / 4 + 1), log2(fabs(x) + 3), exp2(x), hypot(x, 3.0), 1 / (x + 20), rsqrt(fabs(x) + 1), asin(x / 64),
                  lgamma(fabs(x) + 2), expm1(x / 8), floor(x), ceil(x), trunc(x), rint(x), j0(x), normcdf(x)};
    for (int i = 0; i < 28; i++) out[28 * threadIdx.x + i] = llrint(r[i] * 1e6);
}
extern "C" __global__ void singles(const float *in, long long *out) {
    float x = in[threadIdx.x];
    float r[] = {sinf(x), cosf(x), expf(x / 8), logf(fabsf(x) + 1), powf(fabsf(x), 0.7f), erff(x), sqrtf(fabsf(x)), cbrtf(x), atan2f(x, 2), tanhf(x) / 1000, fmodf(x, 0.75f), log10f(fabsf(x) + 3), 1 / (x + 20), x / 3};
    for (int i = 0; i < 14; i++) out[14 * threadIdx.x + i] = llrint(r[i] * 1e4);
}
extern "C" __global__ void exact(const double *in, double *out, float *single) {
    double x = in[threadIdx.x], *o = out + 6 * threadIdx.x;
    float y = x, *s = single + 8 * threadIdx.x;
    o[0] = fma(x, x, -1.0), o[1] = __dadd_rz(x, 1e-20), o[2] = __dmul_ru(x, 0.1), o[3] = __ddiv_rd(x, 3.0), o[4] = __dsqrt_rn(x), o[5] = ldexp(x, -3);
    s[0] = __fadd_ru(y, 1e-9f), s[1] = __fmul_rd(y, 0.1f), s[2] = __fdiv_rz(y, 3), s[3] = __fsqrt_ru(y), s[4] = __saturatef(y / 8), s[5] = fminf(y, NAN), s[6] = copysignf(y, -0.0f), s[7] = __frcp_rn(y);
}
//# import math
//# x = [0.0, 0.5, -1.25, 3.0, -7.5, 10.125]
//# r6 = lambda v: round(v * 10**6)
//# def doubles(x):
//#     a = abs(x)
//#     return [math.sin(x), math.cos(x), math.tan(x), math.exp(x), math.log(a + 1), a ** 1.7, math.erf(x), a ** 0.5, math.copysign(a ** (1 / 3), x), math.atan2(x, 2), math.sinh(x / 4),
//#             math.tanh(x), math.fmod(x, 0.7), math.gamma(a / 4 + 1), math.log2(a + 3), 2 ** x, math.hypot(x, 3), 1 / (x + 20), (a + 1) ** -0.5, math.asin(x / 64),
//#             math.lgamma(a + 2), math.expm1(x / 8), math.floor(x), math.ceil(x), math.trunc(x), round(x), j0(x), math.erfc(-x / 2 ** 0.5) / 2]
//# def j0(x): return sum(math.cos(x * math.sin((k + 0.5) * math.pi / 400)) for k in range(400)) / 400
// run: doubles block=6
//= in: f64 x
// in: f64 0.0 0.5 -1.25 3.0 -7.5 10.125
//= out: s64 [r6(v) for y in x for v in doubles(y)]
// out: s64 @1
//# def singles(x):
//#     a = abs(x)
//#     return [math.sin(x), math.cos(x), math.exp(x / 8), math.log(a + 1), a ** 0.7, math.erf(x), a ** 0.5, math.copysign(a ** (1 / 3), x), math.atan2(x, 2), math.tanh(x) / 1000, math.fmod(x, 0.75), math.log10(a + 3), 1 / (x + 20), x / 3]
// run: singles block=6
//= in: f32 x
// in: f32 0.0 0.5 -1.25 3.0 -7.5 10.125
//= out: s64 [round(v * 10**4) for y in x for v in singles(y)]
// out: s64 0 10000 10000 0 0 0 0 0 0 0 0 4771 500 0 4794 8776 10645 4055 6156 5205 7071 7937 2450 5 5000 5441 488 1667 -9490 3153 8553 8109 11691 -9229 11180 -10772 -5586 -8 -5000 6284 533 -4167 1411 -9900 14550 13863 21577 10000 17321 14422 9828 10 0 7782 435 10000 -9380 3466 3916 21401 40977 -10000 27386 -19574 -13102 -10 0 10212 800 -25000 -6444 -7647 35453 24092 50556 10000 31820 21634 13758 10 3750 11181 332 33750
//# from fractions import Fraction as F
//# import struct
//# def to(value, way, single=False):
//#     """The nearest float below (rd), above (ru), or towards zero (rz) of a Fraction."""
//#     n = float(value) if not single else struct.unpack("<f", struct.pack("<f", float(value)))[0]
//#     step = (lambda v, up: math.nextafter(v, math.inf if up else -math.inf)) if not single else f32step
//#     way = way if way != "rz" else ("rd" if value > 0 else "ru")
//#     while way == "rd" and F(n) > value: n = step(n, False)
//#     while way == "ru" and F(n) < value: n = step(n, True)
//#     return n
//# def f32step(v, up):
//#     b = struct.unpack("<i", struct.pack("<f", v))[0]
//#     b += 1 if (v > 0) == up else -1
//#     return struct.unpack("<f", struct.pack("<i", b))[0]
//# f32 = lambda v: struct.unpack("<f", struct.pack("<f", v))[0]
//# def root(v, way):
//#     n = f32(math.sqrt(v))
//#     while F(n) ** 2 < F(v): n = f32step(n, True)
//#     while F(f32step(n, False)) ** 2 >= F(v): n = f32step(n, False)
//#     return n
//# z = [1.5, 2.0, 7.25]
// run: exact block=3
//= in: f64 z
// in: f64 1.5 2.0 7.25
//= out: f64 sum([[v * v - 1, v, to(F(v) * F(0.1), "ru"), to(F(v) / 3, "rd"), math.sqrt(v), v / 8] for v in z], [])
// out: f64 1.25 1.5 0.15000000000000002 0.5 1.224744871391589 0.1875 3.0 2.0 0.2 0.6666666666666666 1.4142135623730951 0.25 51.5625 7.25 0.7250000000000001 2.4166666666666665 2.692582403567252 0.90625
//= out: f32 sum([[f32step(v, True), to(F(v) * F(f32(0.1)), "rd", True), to(F(v) / 3, "rz", True), root(v, "ru"), v / 8, v, -v, f32(1 / v)] for v in z], [])
// out: f32 1.5000001192092896 0.14999999105930328 0.5 1.2247449159622192 0.1875 1.5 -1.5 0.6666666865348816 2.000000238418579 0.20000000298023224 0.6666666269302368 1.4142136573791504 0.25 2.0 -2.0 0.5 7.250000476837158 0.7249999642372131 2.4166665077209473 2.692582607269287 0.90625 7.25 -7.25 0.13793103396892548
