// Function pointers, virtual calls, recursion, switch tables, pointers in __constant__ and __device__ initialisers.
//@ sm_75 sm_90 debug
typedef int (*Function)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int sub(int a, int b) { return a - b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ Function table[3] = {add, sub, mul};
__device__ int numbers[4] = {10, 20, 30, 40};
__constant__ int *where[2] = {&numbers[1], numbers + 3};
__device__ const char text[] = "wild";
extern "C" __global__ void calls(const int *in, int *out) {
    int t = threadIdx.x;
    out[2 * t] = table[in[t]](t, 3);
    out[2 * t + 1] = *where[t & 1] + text[t & 3];
}
struct Shape { __device__ virtual int area() const = 0; int side; __device__ Shape(int s) : side(s) {} };
struct Square : Shape { __device__ Square(int s) : Shape(s) {} __device__ int area() const override { return side * side; } };
struct Triangle : Shape { __device__ Triangle(int s) : Shape(s) {} __device__ int area() const override { return side * side / 2; } };
extern "C" __global__ void shapes(int *out, int n) {
    Square square(threadIdx.x + n);
    Triangle triangle(threadIdx.x + n);
    Shape *shape = (threadIdx.x & 1) ? (Shape *)&square : (Shape *)&triangle;
    out[threadIdx.x] = shape->area();
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x) * 100 + ackermann(2, threadIdx.x & 3); }
extern "C" __global__ void switches(const int *in, int *out) {
    int x = in[threadIdx.x], r = 0;
    switch (x) {
    case 0: r = 17; break;
    case 1: r = x * 31 + out[0];  break;
    case 2: r = threadIdx.x ^ 5; break;
    case 3: r = in[0] - 9;  // falls through
    case 4: r += 1000; break;
    case 5: r = -x; break;
    case 6: r = x << threadIdx.x; break;
    case 7: return;
    default: r = 99;
    }
    out[threadIdx.x + 1] = r;
}
//# x = [0, 1, 2, 2, 1, 0]
//# f = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b]
// run: calls block=6
//= in: s32 x
// in: s32 0 1 2 2 1 0
//= out: s32 sum([[f[x[t]](t, 3), [20, 40][t & 1] + ord("wild"[t & 3])] for t in range(6)], [])
// out: s32 3 139 -2 145 6 128 9 140 1 139 8 145
// run: shapes block=32
//= out: s32 [(t + 3) ** 2 // (1 if t & 1 else 2) for t in range(32)]
// out: s32 4 16 12 36 24 64 40 100 60 144 84 196 112 256 144 324 180 400 220 484 264 576 312 676 364 784 420 900 480 1024 544 1156
// arg: s32 3
//# fib = lambda n: n if n < 2 else fib(n - 1) + fib(n - 2)
// run: recursion block=10
//= out: s32 [fib(t) * 100 + 2 * (t & 3) + 3 for t in range(10)]
// out: s32 3 105 107 209 303 505 807 1309 2103 3405
//# y = [3, 0, 1, 2, 4, 5, 6, 8, -1, 7]
// run: switches block=10
//= in: s32 y
// in: s32 3 0 1 2 4 5 6 8 -1 7
//= inout: s32 [7] + [-1] * 10 -> [7, 1000 - 6, 17, 31 + 7, 3 ^ 5, 1000, -5, 6 << 6, 99, 99, -1]
// inout: s32 7 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -> 7 994 17 38 6 1000 -5 384 99 99 -1
