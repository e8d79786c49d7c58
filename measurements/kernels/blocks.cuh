// Kernels whose threads work together: scans, sums, histograms, sorts.

#pragma once

// Sums of all elements before each one, in a block of 2 * blockDim.x elements: up and down a tree
// in shared memory (Blelloch). The dynamic shared memory holds the elements.
extern "C" __global__ void scan_tree(const unsigned* in, unsigned* out) {
    extern __shared__ unsigned sums[];
    const unsigned t = threadIdx.x, size = 2 * blockDim.x, first = blockIdx.x * size;
    sums[t] = in[first + t];
    sums[t + blockDim.x] = in[first + t + blockDim.x];
    unsigned stride = 1;
    for (unsigned pairs = size / 2; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (t < pairs) sums[stride * (2 * t + 2) - 1] += sums[stride * (2 * t + 1) - 1];
        stride *= 2;
    }
    if (t == 0) sums[size - 1] = 0;
    for (unsigned pairs = 1; pairs < size; pairs *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < pairs) {
            const unsigned left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
            const unsigned sum = sums[left];
            sums[left] = sums[right];
            sums[right] += sum;
        }
    }
    __syncthreads();
    out[first + t] = sums[t];
    out[first + t + blockDim.x] = sums[t + blockDim.x];
}

__device__ inline unsigned warp_scan(unsigned value) {
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(~0u, value, distance);
        if (lane() >= distance) value += before;
    }
    return value;
}

// Running sums in a block of 256, by shuffles; `totals` has each block's sum.
extern "C" __global__ void scan_shuffles(const unsigned* in, unsigned* out, unsigned* totals) {
    __shared__ unsigned warps[8];
    const unsigned i = linear_index(), warp = threadIdx.x / 32;
    unsigned sum = warp_scan(in[i]);
    if (lane() == 31) warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const unsigned scanned = warp_scan(lane() < 8 ? warps[lane()] : 0);
        if (lane() < 8) warps[lane()] = scanned;
    }
    __syncthreads();
    if (warp > 0) sum += warps[warp - 1];
    out[i] = sum;
    if (threadIdx.x == 255) totals[blockIdx.x] = sum;
}

// A sum by shuffles, and one atomic addition a warp.
extern "C" __global__ void sum_warps(const float* in, float* sum, unsigned n) {
    float mine = 0.0f;
    for (unsigned i = linear_index(); i < n; i += gridDim.x * blockDim.x) mine += in[i];
    mine = warp_sum(mine);
    if (lane() == 0) atomicAdd(sum, mine);
}

// One atomic addition an element, all to the same address.
extern "C" __global__ void sum_atomics(const float* in, float* sum, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) atomicAdd(sum, in[i]);
}

// The sum of products in double precision: a tree in shared memory, an atomic addition a block.
extern "C" __global__ void dot_double(const double* a, const double* b, double* sum, unsigned n) {
    __shared__ double sums[256];
    double mine = 0.0;
    for (unsigned i = linear_index(); i < n; i += gridDim.x * blockDim.x) mine += a[i] * b[i];
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, sums[0]);
}

// The largest element and its index, a row a block of 128.
extern "C" __global__ void argmax(const float* in, unsigned* where, unsigned width) {
    __shared__ float values[128];
    __shared__ unsigned places[128];
    const float* row = in + size_t(blockIdx.x) * width;
    const unsigned t = threadIdx.x;
    float best = row[t];
    unsigned place = t;
    for (unsigned i = t + 128; i < width; i += 128)
        if (row[i] > best) {
            best = row[i];
            place = i;
        }
    values[t] = best;
    places[t] = place;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            places[t] = places[t + half];
        }
        __syncthreads();
    }
    if (t == 0) where[blockIdx.x] = places[0];
}

// How often each value of the upper 32 - shift bits occurs, at most 256: counted in shared memory.
extern "C" __global__ void histogram_shared(const unsigned* in, unsigned* bins, unsigned shift,
                                            unsigned n) {
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = linear_index(); i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[in[i] >> shift], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// The same in global memory, with as many bins as one likes.
extern "C" __global__ void histogram_global(const unsigned* in, unsigned* bins, unsigned shift,
                                            unsigned n) {
    const unsigned i = linear_index();
    if (i < n) atomicAdd(&bins[in[i] >> shift], 1);
}

// How often each digit of four bits occurs in a block's 4096 keys, for a radix sort. Each thread
// counts in its own column.
extern "C" __global__ void radix_count(const unsigned* keys, unsigned* totals, unsigned shift) {
    __shared__ unsigned counts[16][256];
    const unsigned t = threadIdx.x, warp = t / 32;
    for (unsigned digit = 0; digit < 16; digit++) counts[digit][t] = 0;
    for (unsigned k = 0; k < 16; k++) {
        const unsigned key = keys[blockIdx.x * 4096 + k * 256 + t];
        counts[(key >> shift) & 15][t]++;
    }
    __syncthreads();
    for (unsigned digit = warp; digit < 16; digit += 8) {
        unsigned sum = 0;
        for (unsigned i = lane(); i < 256; i += 32) sum += counts[digit][i];
        sum = warp_sum(sum);
        if (lane() == 0) totals[digit * gridDim.x + blockIdx.x] = sum;
    }
}

// How often a byte occurs in a text; a thread reads 16 bytes.
extern "C" __global__ void count_bytes(const uint4* text, unsigned* count, unsigned wanted,
                                       unsigned words) {
    const unsigned i = linear_index();
    unsigned found = 0;
    if (i < words) {
        const uint4 four = text[i];
        const unsigned parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (unsigned part = 0; part < 4; part++)
#pragma unroll
            for (unsigned bit = 0; bit < 32; bit += 8)
                found += ((parts[part] >> bit) & 255) == wanted;
    }
    found = __reduce_add_sync(~0u, found);
    if (lane() == 0) atomicAdd(count, found);
}

// Appends the positive elements to a queue, a ring of `mask` + 1 places: a warp's lie next to each
// other. Whole warps only.
extern "C" __global__ void enqueue(const float* in, float* queue, unsigned* end, unsigned mask) {
    const float value = in[linear_index()];
    const unsigned kept = __ballot_sync(~0u, value > 0.0f);
    unsigned first = 0;
    if (lane() == 0) first = atomicAdd(end, unsigned(__popc(kept)));
    first = __shfl_sync(~0u, first, 0);
    const unsigned before = __popc(kept & ((1u << lane()) - 1));
    if (value > 0.0f) queue[(first + before) & mask] = value;
}

// A step of a bitonic sort in global memory: a thread orders two elements `distance` apart.
extern "C" __global__ void bitonic_step(float* keys, unsigned distance, unsigned run) {
    const unsigned i = linear_index();
    const unsigned low = 2 * i - (i & (distance - 1)), high = low + distance;
    const float a = keys[low], b = keys[high];
    const bool rising = (low & run) == 0;
    keys[low] = rising ? fminf(a, b) : fmaxf(a, b);
    keys[high] = rising ? fmaxf(a, b) : fminf(a, b);
}

// Sorts 1024 elements a block of 512, in shared memory.
extern "C" __global__ void bitonic_block(const float* in, float* out) {
    __shared__ float keys[1024];
    const unsigned t = threadIdx.x, first = blockIdx.x * 1024;
    keys[t] = in[first + t];
    keys[t + 512] = in[first + t + 512];
    for (unsigned run = 2; run <= 1024; run *= 2)
        for (unsigned distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const unsigned low = 2 * t - (t & (distance - 1)), high = low + distance;
            const float a = keys[low], b = keys[high];
            const bool rising = (low & run) == 0;
            keys[low] = rising ? fminf(a, b) : fmaxf(a, b);
            keys[high] = rising ? fmaxf(a, b) : fminf(a, b);
        }
    __syncthreads();
    out[first + t] = keys[t];
    out[first + t + 512] = keys[t + 512];
}
