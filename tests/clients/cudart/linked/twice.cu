// What linked.cu calls and counts with.
__device__ int calls;

__device__ int twice(int value) { return 2 * value; }
