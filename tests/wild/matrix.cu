// Tiled matrix products: floats in shared memory, integers with templates and unrolling, doubles by double2.
template <typename T, int N> __device__ void product(const T *a, const T *b, T *c, int n) {
    __shared__ T as[N][N + 1], bs[N][N + 1];
    T sum = 0;
    int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
    for (int k = 0; k < n; k += N) {
        as[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x], bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < N; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
extern "C" __global__ void __launch_bounds__(64, 2) floats(const float *a, const float *b, float *c, int n) { product<float, 8>(a, b, c, n); }
extern "C" __global__ void shorts(const short *a, const short *b, short *c, int n) { product<short, 4>(a, b, c, n); }
extern "C" __global__ void doubles(const double *a, const double *b, double *c, int n) { product<double, 8>(a, b, c, n); }
//# n = 16
//# a = [(i * 5 + 2) % 13 - 6 for i in range(n * n)]
//# b = [(i * 7 + 1) % 11 - 5 for i in range(n * n)]
//# c = [sum(a[i * n + k] * b[k * n + j] for k in range(n)) for i in range(n) for j in range(n)]
// run: floats grid=2,2 block=8,8
//= in: f32 a
// in: f32 @1
//= in: f32 b
// in: f32 @2
//= out: f32 c
// out: f32 @3
// arg: s32 16
// run: shorts grid=4,4 block=4,4
//= in: s16 a
// in: s16 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3 2 -6 -1 4 -4 1 6 -2 3 -5 0 5 -3
//= in: s16 b
// in: s16 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1 -5 2 -2 5 1 -3 4 0 -4 3 -1
//= out: s16 c
// out: s16 37 -30 -9 -21 22 10 -79 41 106 -82 5 37 -30 -9 -21 22 -2 91 -14 -31 29 34 -38 -44 38 -12 -51 -2 91 -14 -31 29 -28 30 33 -41 -16 97 -10 -51 -4 32 -42 -28 30 33 -41 -16 -67 8 28 -51 -9 -22 31 7 -72 102 45 -67 8 28 -51 -9 24 -79 49 56 -80 15 33 -26 3 -23 28 24 -79 49 56 -80 -15 -10 -60 33 5 -78 48 97 -52 8 24 -15 -10 -60 33 5 102 -19 -52 36 25 -41 -41 25 36 -52 -19 102 -19 -52 36 25 -15 24 8 -52 97 48 -78 5 33 -60 -10 -15 24 8 -52 97 24 28 -23 3 -26 33 15 -80 56 49 -79 24 28 -23 3 -26 -67 45 102 -72 7 31 -22 -9 -51 28 8 -67 45 102 -72 7 -28 -42 32 -4 -51 -10 97 -16 -41 33 30 -28 -42 32 -4 -51 -2 -51 -12 38 -44 -38 34 29 -31 -14 91 -2 -51 -12 38 -44 37 5 -82 106 41 -79 10 22 -21 -9 -30 37 5 -82 106 41 37 -30 -9 -21 22 10 -79 41 106 -82 5 37 -30 -9 -21 22 -2 91 -14 -31 29 34 -38 -44 38 -12 -51 -2 91 -14 -31 29 -28 30 33 -41 -16 97 -10 -51 -4 32 -42 -28 30 33 -41 -16
// arg: s32 16
// run: doubles grid=2,2 block=8,8
//= in: f64 a
// in: f64 @1
//= in: f64 b
// in: f64 @2
//= out: f64 c
// out: f64 @3
// arg: s32 16
