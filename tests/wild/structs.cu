// Structs by value as parameters and results, arrays in parameters, __grid_constant__, vector types, unions, bit fields.
//@ sm_75 sm_90 debug
struct Small { char a; short b; int c; double d; };
struct Big { int values[37]; float4 f; };
struct Bits { unsigned a : 3, b : 11, c : 18; };
__device__ __noinline__ Small twist(Small s, int k) { return {(char)(s.a + k), (short)(s.b * k), s.c - k, s.d / k}; }
__device__ __noinline__ int pick(Big b, int i) { return b.values[i] + (int)b.f.z; }
extern "C" __global__ void structs(Small s, int k, double *out) {
    Small r = twist(twist(s, k), 2);
    out[0] = r.a, out[1] = r.b, out[2] = r.c, out[3] = r.d;
}
extern "C" __global__ void arrays(const __grid_constant__ Big big, int *out) {
    Big copy = big;
    copy.values[threadIdx.x] *= 2;
    out[threadIdx.x] = big.values[36 - threadIdx.x] + pick(copy, threadIdx.x);
}
extern "C" __global__ void vectors(const float4 *in, float4 *out, double2 *d, uchar4 *c, ushort2 *h) {
    float4 v = in[threadIdx.x];
    out[threadIdx.x] = make_float4(v.w, v.z + 1, v.y * 2, -v.x);
    d[threadIdx.x] = make_double2(v.x, v.y), c[threadIdx.x] = make_uchar4(v.x, v.y, v.z, v.w), h[threadIdx.x] = make_ushort2(v.z, v.w);
}
extern "C" __global__ void bitfields(Bits *bits, unsigned *out) {
    Bits b = bits[threadIdx.x];
    b.b += 5, b.c ^= b.a;
    bits[threadIdx.x] = b;
    union { float f; unsigned u; unsigned char c[4]; } x;
    x.f = b.a;
    x.c[0] = 0x55;
    out[threadIdx.x] = x.u;
}
//# import struct
// run: structs
//= bytes: u8 list(struct.pack("<bxhi", 5, -300, 1000)) + list(struct.pack("<d", 3.0))
// bytes: u8 5 0 212 254 232 3 0 0 0 0 0 0 0 0 8 64
// arg: s32 6
//= out: f64 [13, -3600, 992, 0.25]
// out: f64 13.0 -3600.0 992.0 0.25
// run: arrays block=37
//= bytes: u8 list(struct.pack("<37i", *[i * i for i in range(37)])) + [0] * 12 + list(struct.pack("<4f", 1, 2, 3, 4))
// bytes: u8 0 0 0 0 1 0 0 0 4 0 0 0 9 0 0 0 16 0 0 0 25 0 0 0 36 0 0 0 49 0 0 0 64 0 0 0 81 0 0 0 100 0 0 0 121 0 0 0 144 0 0 0 169 0 0 0 196 0 0 0 225 0 0 0 0 1 0 0 33 1 0 0 68 1 0 0 105 1 0 0 144 1 0 0 185 1 0 0 228 1 0 0 17 2 0 0 64 2 0 0 113 2 0 0 164 2 0 0 217 2 0 0 16 3 0 0 73 3 0 0 132 3 0 0 193 3 0 0 0 4 0 0 65 4 0 0 132 4 0 0 201 4 0 0 16 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 128 63 0 0 0 64 0 0 64 64 0 0 128 64
//= out: s32 [(36 - i) ** 2 + 2 * i * i + 3 for i in range(37)]
// out: s32 1299 1230 1167 1110 1059 1014 975 942 915 894 879 870 867 870 879 894 915 942 975 1014 1059 1110 1167 1230 1299 1374 1455 1542 1635 1734 1839 1950 2067 2190 2319 2454 2595
//# v = [[i, i + 1, i + 2, i + 3] for i in range(5)]
// run: vectors block=5
//= in: f32 sum(v, [])
// in: f32 0.0 1.0 2.0 3.0 1.0 2.0 3.0 4.0 2.0 3.0 4.0 5.0 3.0 4.0 5.0 6.0 4.0 5.0 6.0 7.0
//= out: f32 sum([[a[3], a[2] + 1, a[1] * 2, -float(a[0])] for a in v], [])
// out: f32 3.0 3.0 2.0 -0.0 4.0 4.0 4.0 -1.0 5.0 5.0 6.0 -2.0 6.0 6.0 8.0 -3.0 7.0 7.0 10.0 -4.0
//= out: f64 sum([[a[0], a[1]] for a in v], [])
// out: f64 0.0 1.0 1.0 2.0 2.0 3.0 3.0 4.0 4.0 5.0
//= out: u8 sum(v, [])
// out: u8 0 1 2 3 1 2 3 4 2 3 4 5 3 4 5 6 4 5 6 7
//= out: u16 sum([[a[2], a[3]] for a in v], [])
// out: u16 2 3 3 4 4 5 5 6 6 7
//# b = [(i % 8) | (i * 300 % 2048) << 3 | (i * 7777 % 2**18) << 14 for i in range(9)]
//# bf = lambda w: (w & 7) | ((w >> 3) + 5 & 2047) << 3 | (w >> 14 ^ w & 7) << 14
// run: bitfields block=9
//= inout: u32 b -> [bf(w) for w in b]
// inout: u32 0 127420769 254841538 382262307 509683076 637103845 764524614 891928999 1019349760 -> 40 127404425 254808810 382213195 509617580 637021965 764426350 891814351 1019349800
//= out: u32 [struct.unpack("<I", struct.pack("<f", w & 7))[0] & ~255 | 0x55 for w in b]
// out: u32 85 1065353301 1073741909 1077936213 1082130517 1084227669 1086324821 1088421973 85
