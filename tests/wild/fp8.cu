// fp8: conversions between f32, f16, e4m3 and e5m2.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" __global__ void fp8(const float *in, unsigned char *out, unsigned short *back) {
    float x = in[threadIdx.x];
    unsigned char *o = out + 4 * threadIdx.x;
    o[0] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3), o[1] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    o[2] = __nv_cvt_halfraw_to_fp8(__half_raw(__float2half(x)), __NV_SATFINITE, __NV_E4M3);
    o[3] = __nv_cvt_halfraw_to_fp8(__half_raw(__float2half(x)), __NV_SATFINITE, __NV_E5M2);
    back[2 * threadIdx.x] = __nv_cvt_fp8_to_halfraw(o[0], __NV_E4M3).x, back[2 * threadIdx.x + 1] = __nv_cvt_fp8_to_halfraw(o[1], __NV_E5M2).x;
}
extern "C" __global__ void fp8x2(const float2 *in, unsigned short *out, unsigned *back) {
    unsigned short e4 = __nv_cvt_float2_to_fp8x2(in[threadIdx.x], __NV_SATFINITE, __NV_E4M3);
    unsigned short e5 = __nv_cvt_float2_to_fp8x2(in[threadIdx.x], __NV_SATFINITE, __NV_E5M2);
    __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(e4, __NV_E4M3);
    out[2 * threadIdx.x] = e4, out[2 * threadIdx.x + 1] = e5, back[threadIdx.x] = h.x | h.y << 16;
}
//# import struct, math
//# from fractions import Fraction as F
//# def values(e, m, bias, top): return {c: math.ldexp((c & (1 << m) - 1) + ((1 << m) if c >> m else 0), max(c >> m, 1) - bias - m) for c in range(top + 1)}
//# tables = {"e4m3": values(4, 3, 7, 0x7e), "e5m2": values(5, 2, 15, 0x7b)}
//# def encode(x, kind):
//#     t = tables[kind]; a = abs(x)
//#     code = max(t) if a >= t[max(t)] else min(t, key=lambda c: (abs(F(t[c]) - F(a)), c & 1))
//#     return code | (0x80 if math.copysign(1, x) < 0 else 0)
//# def h16(code, kind): return struct.unpack("<H", struct.pack("<e", math.copysign(tables[kind][code & 127], -1 if code & 128 else 1)))[0]
//# x = [0.0, 1.0, -1.0625, 17.0, 500.0, -1e6, 0.001, 0.0146484375, -0.0009765625, 3.3, 447.0, 57345.0]
//# f16 = lambda v: struct.unpack("<e", struct.pack("<e", v))[0] if abs(v) < 65520 else math.copysign(math.inf, v)
// run: fp8 block=12
//= in: f32 x
// in: f32 0.0 1.0 -1.0625 17.0 500.0 -1000000.0 0.001 0.0146484375 -0.0009765625 3.3 447.0 57345.0
//= out: u8 sum([[encode(v, "e4m3"), encode(v, "e5m2"), encode(max(min(f16(v), 1e9), -1e9), "e4m3"), encode(max(min(f16(v), 1e9), -1e9), "e5m2")] for v in x], [])
// out: u8 0 0 0 0 56 60 56 60 184 188 184 188 88 76 88 76 126 96 126 96 254 251 254 251 1 20 1 20 8 36 8 36 128 148 128 148 69 67 69 67 126 95 126 95 126 123 126 123
//= out: u16 sum([[h16(encode(v, "e4m3"), "e4m3"), h16(encode(v, "e5m2"), "e5m2")] for v in x], [])
// out: u16 0 0 15360 15360 48128 48128 19456 19456 24320 24576 57088 64256 6144 5120 9216 9216 32768 37888 17024 17152 24320 24320 24320 31488
//# p = [[x[i], x[i + 1]] for i in range(0, 12, 2)]
// run: fp8x2 block=6
//= in: f32 sum(p, [])
// in: f32 0.0 1.0 -1.0625 17.0 500.0 -1000000.0 0.001 0.0146484375 -0.0009765625 3.3 447.0 57345.0
//= out: u16 sum([[encode(a, k) | encode(b, k) << 8 for k in ("e4m3", "e5m2")] for a, b in p], [])
// out: u16 14336 15360 22712 19644 65150 64352 2049 9236 17792 17300 32382 31583
//= out: u32 [h16(encode(a, "e4m3"), "e4m3") | h16(encode(b, "e4m3"), "e4m3") << 16 for a, b in p]
// out: u32 1006632960 1275116544 3741343488 603985920 1115717632 1593859840
