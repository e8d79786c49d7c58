// Plain C for nvptx64, by clang: no CUDA at all, special registers by builtins.
//@ sm_75 sm_90 O0
#define KERNEL __attribute__((nvptx_kernel))
typedef unsigned u32;
typedef _Float16 half;
KERNEL void __attribute__((used)) dot(const float *a, const float *b, float *out, u32 n) {
    float sum = 0;
    for (u32 i = __nvvm_read_ptx_sreg_tid_x(); i < n; i += __nvvm_read_ptx_sreg_ntid_x()) sum += a[i] * b[i];
    out[__nvvm_read_ptx_sreg_tid_x()] = sum;
}
static __attribute__((noinline)) int total(int count, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, count);
    int sum = 0;
    for (int i = 0; i < count; i++) sum += i % 2 ? (int)__builtin_va_arg(list, double) : __builtin_va_arg(list, int);
    __builtin_va_end(list);
    return sum;
}
KERNEL void variadic(int *out) { int t = __nvvm_read_ptx_sreg_tid_x(); out[t] = total(4, t, 2.0, 30, 4.5); }
KERNEL void halfs(const float *in, half *out) {
    u32 t = __nvvm_read_ptx_sreg_tid_x();
    half h = (half)in[t];
    out[2 * t] = h * h + (half)1.0f, out[2 * t + 1] = h > (half)2.0f ? -h : h / (half)4.0f;
}
KERNEL void characters(const char *in, unsigned char *out, long long *sums) {
    u32 t = __nvvm_read_ptx_sreg_tid_x();
    signed char c = in[t];
    out[t] = (c >= 'a' && c <= 'z') ? c - 32 : c;
    sums[t] = (long long)c * -1000000007ll % 97 + ((short)(c << 9) >> 3);
}
//# a = [i % 7 - 3 for i in range(50)]
//# b = [i % 5 + 0.5 for i in range(50)]
// run: dot block=4
//= in: f32 a
// in: f32 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 -3.0
//= in: f32 b
// in: f32 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5 0.5 1.5 2.5 3.5 4.5
//= out: f32 [sum(a[i] * b[i] for i in range(t, 50, 4)) for t in range(4)]
// out: f32 -3.0 -13.5 -3.0 7.0
// arg: u32 50
// run: variadic block=8
//= out: s32 [t + 36 for t in range(8)]
// out: s32 36 37 38 39 40 41 42 43
//# import struct, math
//# h = lambda v: struct.unpack("<H", struct.pack("<e", v))[0]
//# x = [0.5, 2.0, 3.0, -8.0]
// run: halfs block=4
//= in: f32 x
// in: f32 0.5 2.0 3.0 -8.0
//= out: u16 sum([[h(v * v + 1), h(-v if v > 2 else v / 4)] for v in x], [])
// out: u16 15616 12288 17664 14336 18688 49664 21520 49152
//# text = b"Wild PTX, 2026!"
//# s16 = lambda v: (v + 32768) % 65536 - 32768
// run: characters block=15
//= in: u8 list(text)
// in: u8 87 105 108 100 32 80 84 88 44 32 50 48 50 54 33
//= out: u8 list(text.upper())
// out: u8 87 73 76 68 32 80 84 88 44 32 50 48 50 54 33
//= out: s64 [int(math.fmod(c * -1000000007, 97)) + (s16(c << 9) >> 3) for c in text]
// out: s64 -2699 -1509 -1343 -1818 1997 -3151 -2865 -2579 2758 1997 3187 3044 3187 3376 2020
