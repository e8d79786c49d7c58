// An FFT of 16 points over the integers modulo 17 (so that it is exact), and one of 8 over floats with exact results.
__device__ __constant__ int roots[16] = {1, 3, 9, 10, 13, 5, 15, 11, 16, 14, 8, 7, 4, 12, 2, 6};
extern "C" __global__ void ntt(const int *in, int *out) {
    __shared__ int s[16];
    int t = threadIdx.x;
    s[__brev(t) >> 28] = in[t];
    __syncthreads();
    for (int half = 1; half < 16; half *= 2) {
        if (t < 8) {
            int k = t % half, i = t / half * 2 * half + k;
            int a = s[i], b = s[i + half] * roots[k * (8 / half)] % 17;
            s[i] = (a + b) % 17, s[i + half] = (a - b + 17) % 17;
        }
        __syncthreads();
    }
    out[t] = s[t];
}
extern "C" __global__ void dft4(const float2 *in, float2 *out) {
    float2 a = in[0], b = in[1], c = in[2], d = in[3];
    out[0] = make_float2(a.x + b.x + c.x + d.x, a.y + b.y + c.y + d.y);
    out[1] = make_float2(a.x + b.y - c.x - d.y, a.y - b.x - c.y + d.x);
    out[2] = make_float2(a.x - b.x + c.x - d.x, a.y - b.y + c.y - d.y);
    out[3] = make_float2(a.x - b.y - c.x + d.y, a.y + b.x - c.y - d.x);
}
//# x = [(i * i + 1) % 17 for i in range(16)]
// run: ntt block=16
//= in: s32 x
// in: s32 1 2 5 10 0 9 3 16 14 14 16 3 9 0 10 5
//= out: s32 [sum(x[i] * pow(3, i * k, 17) for i in range(16)) % 17 for k in range(16)]
// out: s32 15 2 2 14 9 3 3 1 16 10 14 10 5 9 5 0
//# c = [1 + 2j, -3 + 0.5j, 4j, 2.25 - 1j]
//# X = [sum(c[n] * (-1j) ** (n * k) for n in range(4)) for k in range(4)]
// run: dft4
//= in: f32 sum([[z.real, z.imag] for z in c], [])
// in: f32 1.0 2.0 -3.0 0.5 0.0 4.0 2.25 -1.0
//= out: f32 sum([[z.real, z.imag] for z in X], [])
// out: f32 0.25 5.5 2.5 3.25 1.75 6.5 -0.5 -7.25
