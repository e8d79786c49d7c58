// Conversions between all types, in every rounding that CUDA has a name for.
extern "C" __global__ void conversions(const double *in, long long *out) {
    double d = in[threadIdx.x];
    float f = (float)d;
    long long *o = out + 20 * threadIdx.x;
    o[0] = __double2int_rz(d), o[1] = __double2int_rn(d), o[2] = __double2int_ru(d), o[3] = __double2int_rd(d), o[4] = __double2uint_rz(d), o[5] = __double2ll_rn(d);
    o[6] = __float2int_rn(f), o[7] = __float2uint_ru(f), o[8] = __float2ll_rd(f), o[9] = (signed char)__float2int_rz(f), o[10] = (unsigned short)__float2int_rz(f);
    o[11] = __float_as_int(__int2float_rd(0x7fffffff)), o[12] = __float_as_int(__uint2float_ru(0xffffff01u)), o[13] = __double_as_longlong(__ll2double_rz(0x7fffffffffffffffll));
    o[14] = __float_as_int(__double2float_ru(d)), o[15] = __double2hiint(d), o[16] = __double2loint(d), o[17] = (long long)(float)d, o[18] = (bool)d, o[19] = (long long)(unsigned char)(int)f;
}
//# import math, struct
//# x = [0.0, 1.5, 2.5, -3.7, 1e10, -1e20, 255.99]
//# bits = lambda v: struct.unpack("<i", struct.pack("<f", v))[0]
//# f32 = lambda v: struct.unpack("<f", struct.pack("<f", v))[0]
//# clamp = lambda v, lo, hi: max(lo, min(hi, v))
//# i32 = lambda v: clamp(int(v), -2**31, 2**31 - 1)
//# u32 = lambda v: clamp(int(v), 0, 2**32 - 1)
//# i64 = lambda v: clamp(int(v), -2**63, 2**63 - 1)
//# s8 = lambda v: (v & 255) - (256 if v & 128 else 0)
//# word = lambda v: struct.unpack("<q", struct.pack("<d", v))[0]
//# s32 = lambda v: (v & 0xffffffff) - (1 << 32 if v & 1 << 31 else 0)
//# def up(d):
//#     f = f32(d)
//#     return bits(f) + (0 if f >= d else 1 if f > 0 else -1)
//# def conv(d):
//#     f = f32(d); t = i32(f)
//#     return [i32(d), i32(round(d)), i32(math.ceil(d)), i32(math.floor(d)), u32(d), i64(round(d)), i32(round(f)), u32(math.ceil(f)), i64(math.floor(f)), s8(t), t & 0xffff,
//#             bits(2.0**31 - 128), bits(2.0**32), word(2.0**63 - 1024), up(d), s32(word(d) >> 32), s32(word(d)), i64(f), int(d != 0), t & 255]
// run: conversions block=7
//= in: f64 x
// in: f64 0.0 1.5 2.5 -3.7 10000000000.0 -1e+20 255.99
//= out: s64 sum([conv(v) for v in x], [])
// out: s64 0 0 0 0 0 0 0 0 0 0 0 1325400063 1333788672 4890909195324358655 0 0 0 0 0 0 1 2 2 1 1 2 2 2 1 1 1 1325400063 1333788672 4890909195324358655 1069547520 1073217536 0 1 1 1 2 2 3 2 2 2 2 3 2 2 2 1325400063 1333788672 4890909195324358655 1075838976 1074003968 0 2 1 2 -3 -4 -3 -4 0 -4 -4 0 -4 -3 65533 1325400063 1333788672 4890909195324358655 -1066611508 -1072850535 -1717986918 -3 1 253 2147483647 2147483647 2147483647 2147483647 4294967295 10000000000 2147483647 4294967295 10000000000 -1 65535 1325400063 1333788672 4890909195324358655 1343554297 1107468383 536870912 10000000000 1 255 -2147483648 -2147483648 -2147483648 -2147483648 0 -9223372036854775808 -2147483648 0 -9223372036854775808 0 0 1325400063 1333788672 4890909195324358655 -525502229 -1005211875 2025163840 -9223372036854775808 1 0 255 256 256 255 255 256 256 256 255 -1 255 1325400063 1333788672 4890909195324358655 1132461425 1081081774 343597384 255 1 255
