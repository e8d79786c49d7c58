// Hashes: rotations, byte permutations, three-input logic, bit counting.
extern "C" __global__ void murmur(const unsigned *in, unsigned *out) {
    unsigned k = in[threadIdx.x] * 0xcc9e2d51u;
    k = __funnelshift_l(k, k, 15) * 0x1b873593u;
    unsigned h = 42 ^ k;
    h = __funnelshift_l(h, h, 13) * 5 + 0xe6546b64u;
    h ^= 4, h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
    out[threadIdx.x] = h;
}
extern "C" __global__ void bits(const unsigned *in, unsigned *out) {
    unsigned a = in[threadIdx.x], b = ~a * 3;
    unsigned *o = out + 10 * threadIdx.x;
    o[0] = __popc(a), o[1] = __clz(a), o[2] = __ffs(a), o[3] = __brev(a), o[4] = __byte_perm(a, b, 0x2617);
    o[5] = (a & b) | (~a & (b >> 3)), o[6] = __funnelshift_rc(a, b, 7), o[7] = __popcll((unsigned long long)a << 20 | b);
    o[8] = __clzll((long long)a << 9), o[9] = __umulhi(a, b) + __usad(a, b, 5u) + __mul24(a, b) + __umul24(a, 77);
}
//# M = 0xffffffff
//# rot = lambda v, n: (v << n | v >> 32 - n) & M
//# def murmur(x):
//#     k = rot(x * 0xcc9e2d51 & M, 15) * 0x1b873593 & M
//#     h = (rot(42 ^ k, 13) * 5 + 0xe6546b64 & M) ^ 4
//#     h = (h ^ h >> 16) * 0x85ebca6b & M
//#     h = (h ^ h >> 13) * 0xc2b2ae35 & M
//#     return h ^ h >> 16
//# x = [0, 1, 0xdeadbeef, M]
// run: murmur block=4
//= in: u32 x
// in: u32 0 1 3735928559 4294967295
//= out: u32 [murmur(v) for v in x]
// out: u32 933211791 3735386339 141248195 2690190909
//# bytes_ = lambda v: [v >> 8 * i & 255 for i in range(4)]
//# s24 = lambda v: (v & 0xffffff) - (1 << 24 if v & 0x800000 else 0)
//# def bits(a):
//#     b = (~a & M) * 3 & M
//#     ab = bytes_(a) + bytes_(b)
//#     return [bin(a).count("1"), 32 - a.bit_length(), (a & -a).bit_length(), int(f"{a:032b}"[::-1], 2),
//#             ab[7] | ab[1] << 8 | ab[6] << 16 | ab[2] << 24, a & b | ~a & M & b >> 3, (b << 32 | a) >> 7 & M,
//#             bin(a << 20 | b).count("1"), 64 - (a << 9).bit_length(),
//#             (a * b >> 32) + abs(a - b) + 5 + s24(a) * s24(b) + (a & 0xffffff) * 77 & M]
// run: bits block=4
//= in: u32 x
// in: u32 0 1 3735928559 4294967295
//= out: u32 sum([bits(v) for v in x], [])
// out: u32 0 32 0 0 16711935 536870911 4194304000 31 64 2 1 31 1 2147483648 16711935 536870910 4093640704 30 54 69 24 0 1 4152210811 2918628963 1123467808 1639799677 33 23 3650820362 32 0 1 4294967295 4278255360 0 33554431 32 23 1291845559
