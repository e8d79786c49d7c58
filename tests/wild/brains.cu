// bf16: arithmetic, comparisons, conversions.
//@ fast sm_90
#include <cuda_bf16.h>
extern "C" __global__ void brains(const float *in, unsigned short *out, float *back) {
    __nv_bfloat16 a = __float2bfloat16(in[threadIdx.x]), b = __float2bfloat16(0.5f);
    __nv_bfloat16 r[] = {a, __hadd(a, b), __hmul(a, b), __hfma(a, b, a), __hmax(a, b), __hneg(a), __hsub(a, b), __hmin(a, b)};
    for (int i = 0; i < 8; i++) out[8 * threadIdx.x + i] = __bfloat16_as_ushort(r[i]);
    back[threadIdx.x] = __bfloat162float(r[3]);
}
//# import struct
//# x = [1.0, -2.5, 0.125, 100.0, 0.30005]
//# def r16(v):
//#     n = struct.unpack("<I", struct.pack("<f", v))[0]; n += 0x7fff + (n >> 16 & 1); return n >> 16
//# f = lambda n: struct.unpack("<f", struct.pack("<I", n << 16))[0]
//# br = lambda v: f(r16(v))
//# def brains(v):
//#     a = br(v)
//#     return [a, br(a + 0.5), br(a * 0.5), br(a * 1.5), max(a, 0.5), -a, br(a - 0.5), min(a, 0.5)]
// run: brains block=5
//= in: f32 x
// in: f32 1.0 -2.5 0.125 100.0 0.30005
//= out: u16 [r16(r) for v in x for r in brains(v)]
// out: u16 16256 16320 16128 16320 16256 49024 16128 16128 49184 49152 49056 49264 16128 16416 49216 49184 15872 16160 15744 15936 16128 48640 48832 15872 17096 17097 16968 17174 17096 49864 17095 16128 16026 16205 15898 16103 16128 48794 48716 16026
//= out: f32 [br(br(v) * 1.5) for v in x]
// out: f32 1.5 -3.75 0.1875 150.0 0.451171875
