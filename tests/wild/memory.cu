// Every way to memory: volatile, cache operators, read-only loads, fences, local arrays, generic pointers, prefetches.
__device__ int counter = 3;
__shared__ int shared_one;
extern "C" __global__ void ways(const int *__restrict__ in, int *out, const volatile int *flag) {
    int t = threadIdx.x, *o = out + 12 * t;
    o[0] = __ldg(in + t), o[1] = __ldcg(in + t), o[2] = __ldcs(in + t), o[3] = __ldcv(in + t), o[4] = __ldlu(in + t), o[5] = *flag;
    __stcg(o + 6, t), __stcs(o + 7, t + 1), __stwt(o + 8, t + 2), __stwb(o + 9, t + 3);
    int local[8];
    for (int i = 0; i < 8; i++) local[(i * 5 + t) & 7] = i * t;
    if (t == 0) shared_one = 77;
    __threadfence_system(), __threadfence(), __threadfence_block();
    __syncthreads();
    int *p = t & 1 ? &shared_one : &local[3];
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
    o[10] = *p + (__isShared(p) ? 1000 : 0) + (__isLocal(p) ? 2000 : 0) + (__isGlobal(in) ? 4000 : 0);
    o[11] = counter + *(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(&shared_one));
}
//# x = [i * 3 - 4 for i in range(8)]
//# def ways(t):
//#     local = [0] * 8
//#     for i in range(8): local[(i * 5 + t) & 7] = i * t
//#     return [x[t]] * 5 + [55, t, t + 1, t + 2, t + 3, (77 + 1000 if t & 1 else local[3] + 2000) + 4000, 80]
// run: ways block=8
//= in: s32 x
// in: s32 -4 -1 2 5 8 11 14 17
//= out: s32 sum([ways(t) for t in range(8)], [])
// out: s32 -4 -4 -4 -4 -4 55 0 1 2 3 6000 80 -1 -1 -1 -1 -1 55 1 2 3 4 5077 80 2 2 2 2 2 55 2 3 4 5 6010 80 5 5 5 5 5 55 3 4 5 6 5077 80 8 8 8 8 8 55 4 5 6 7 6012 80 11 11 11 11 11 55 5 6 7 8 5077 80 14 14 14 14 14 55 6 7 8 9 6006 80 17 17 17 17 17 55 7 8 9 10 5077 80
//= in: s32 [55]
// in: s32 55
