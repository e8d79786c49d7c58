// A two-dimensional stencil with a halo in shared memory, and __constant__ weights.
//@ sm_75 sm_90 debug
__constant__ int weights[3] = {1, -2, 1};
extern "C" __global__ void stencil(const int *in, int *out, int width, int height) {
    __shared__ int tile[10][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    auto at = [=](int x, int y) { return x < 0 || y < 0 || x >= width || y >= height ? 0 : in[y * width + x]; };
    for (int j = threadIdx.y; j < 10; j += 8)
        for (int i = threadIdx.x; i < 10; i += 8)
            tile[j][i] = at(blockIdx.x * 8 + i - 1, blockIdx.y * 8 + j - 1);
    __syncthreads();
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int k = 0; k < 3; k++) sum += weights[k] * (tile[threadIdx.y + 1][threadIdx.x + k] + tile[threadIdx.y + k][threadIdx.x + 1]);
    out[y * width + x] = sum;
}
//# a = lambda x, y: (x * x + 3 * y) % 17 if 0 <= x < 13 and 0 <= y < 9 else 0
//# g = [(x, y) for y in range(9) for x in range(13)]
// run: stencil grid=2,2 block=8,8
//= in: s32 [a(x, y) for x, y in g]
// in: s32 0 1 4 9 16 8 2 15 13 13 15 2 8 3 4 7 12 2 11 5 1 16 16 1 5 11 6 7 10 15 5 14 8 4 2 2 4 8 14 9 10 13 1 8 0 11 7 5 5 7 11 0 12 13 16 4 11 3 14 10 8 8 10 14 3 15 16 2 7 14 6 0 13 11 11 13 0 6 1 2 5 10 0 9 3 16 14 14 16 3 9 4 5 8 13 3 12 6 2 0 0 2 6 12 7 8 11 16 6 15 9 5 3 3 5 9 15
//= out: s32 [a(x - 1, y) + a(x + 1, y) + a(x, y - 1) + a(x, y + 1) - 4 * a(x, y) for x, y in g]
// out: s32 4 4 1 -4 -45 -3 20 -44 -8 -8 -44 20 -19 -2 2 2 -15 36 -15 2 36 -32 -32 36 2 -17 -5 2 2 -32 19 -32 2 2 19 19 2 2 -37 -8 2 -15 36 -15 36 -15 2 2 2 2 -15 28 -11 2 -32 19 -15 19 -32 2 2 2 2 -32 8 -31 -32 36 2 -32 2 36 -15 2 2 -15 36 -12 17 19 2 -15 36 -15 19 -32 -15 -15 -32 19 -15 -3 2 2 -15 19 -15 2 19 19 19 19 2 -18 -16 -9 -12 -34 10 -33 -10 -6 -4 -4 -6 -10 -39
// arg: s32 13
// arg: s32 9
