// Kernels that mostly compute: physics, finance, fractals, random numbers, hashes.

#pragma once

// Gravity of n bodies on each of them, n a multiple of 128: bodies by way of shared memory.
extern "C" __global__ void nbody(const float4* bodies, float4* forces, unsigned n) {
    __shared__ float4 tile[128];
    const float4 me = bodies[linear_index()];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (unsigned first = 0; first < n; first += 128) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < 128; j++) {
            const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float pull = tile[j].w * inverse * inverse * inverse;
            x += pull * dx;
            y += pull * dy;
            z += pull * dz;
        }
        __syncthreads();
    }
    forces[linear_index()] = make_float4(x, y, z, 0.0f);
}

// Softmax of rows, a warp a row.
extern "C" __global__ void softmax(const float* in, float* out, unsigned width) {
    const float* row = in + size_t(warp_index()) * width;
    float largest = row[lane()];
    for (unsigned i = lane() + 32; i < width; i += 32) largest = fmaxf(largest, row[i]);
    for (unsigned distance = 16; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
    float sum = 0.0f;
    for (unsigned i = lane(); i < width; i += 32) sum += expf(row[i] - largest);
    sum = warp_sum_to_all(sum);
    for (unsigned i = lane(); i < width; i += 32)
        out[size_t(warp_index()) * width + i] = expf(row[i] - largest) / sum;
}

// Rows to a mean of 0 and a variance of 1, then scaled and moved: a block of 256 a row.
extern "C" __global__ void layer_norm(const float* in, const float* gain, const float* bias,
                                      float* out, unsigned width) {
    __shared__ float sums[8], squares[8];
    const float* row = in + size_t(blockIdx.x) * width;
    float sum = 0.0f, square = 0.0f;
    for (unsigned i = threadIdx.x; i < width; i += 256) {
        sum += row[i];
        square += row[i] * row[i];
    }
    sum = warp_sum(sum);
    square = warp_sum(square);
    if (lane() == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    sum = square = 0.0f;
    for (unsigned warp = 0; warp < 8; warp++) {
        sum += sums[warp];
        square += squares[warp];
    }
    const float mean = sum / width, factor = rsqrtf(square / width - mean * mean + 1e-5f);
    for (unsigned i = threadIdx.x; i < width; i += 256)
        out[size_t(blockIdx.x) * width + i] = (row[i] - mean) * factor * gain[i] + bias[i];
}

// Steps until a point leaves the circle; neighbouring threads need very different numbers of them.
extern "C" __global__ void mandelbrot(unsigned* steps, unsigned width, unsigned height,
                                      unsigned limit) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float cx = 3.0f * x / width - 2.2f, cy = 2.4f * y / height - 1.2f;
    float a = 0.0f, b = 0.0f;
    unsigned step = 0;
    while (step < limit && a * a + b * b < 4.0f) {
        const float next = a * a - b * b + cx;
        b = 2.0f * a * b + cy;
        a = next;
        step++;
    }
    steps[y * width + x] = step;
}

// The normal distribution (Abramowitz and Stegun 26.2.17).
__device__ inline float normal(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f +
                      k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * expf(-0.5f * d * d) * sum;
    return d > 0.0f ? 1.0f - tail : tail;
}

// Prices of calls and puts (Black and Scholes); inputs from -1 to 1 become prices and years.
extern "C" __global__ void black_scholes(const float* prices, const float* strikes,
                                         const float* years, float* calls, float* puts,
                                         unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    const float rate = 0.02f, volatility = 0.3f;
    const float price = 17.5f + 12.5f * prices[i], strike = 50.5f + 49.5f * strikes[i];
    const float time = 5.125f + 4.875f * years[i], root = sqrtf(time);
    const float first = (logf(price / strike) + (rate + 0.5f * volatility * volatility) * time) /
                        (volatility * root);
    const float second = first - volatility * root, discount = expf(-rate * time);
    calls[i] = price * normal(first) - strike * discount * normal(second);
    puts[i] = strike * discount * normal(-second) - price * normal(-first);
}

// Points in a square that lie in a circle; random numbers by xorshift.
extern "C" __global__ void monte_carlo(unsigned* inside, unsigned draws) {
    unsigned state = linear_index() * 0x9e3779b1u + 1;
    unsigned mine = 0;
    for (unsigned i = 0; i < draws; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        const float x = (state & 0xffff) * 0x1p-16f, y = (state >> 16) * 0x1p-16f;
        if (x * x + y * y < 1.0f) mine++;
    }
    mine = __reduce_add_sync(~0u, mine);
    if (lane() == 0) atomicAdd(inside, mine);
}

// A random walk by a linear congruential generator of 64 bits.
extern "C" __global__ void random_walk(int* ends, unsigned steps, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    u64 state = i;
    int place = 0;
    for (unsigned step = 0; step < steps; step++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        place += state >> 63 ? 1 : -1;
    }
    ends[i] = place;
}

// A hash of 64 bits (the finaliser of MurmurHash3), several times over.
extern "C" __global__ void hash64(const u64* in, u64* out, unsigned rounds, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    u64 bits = in[i] + i;
    for (unsigned round = 0; round < rounds; round++) {
        bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdull;
        bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ull;
        bits ^= bits >> 33;
    }
    out[i] = bits;
}

// Steps of Collatz until 1: the lanes of a warp need very different numbers of them.
extern "C" __global__ void collatz(unsigned* steps, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    u64 value = i + 1;
    unsigned count = 0;
    while (value != 1) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        count++;
    }
    steps[i] = count;
}

// Length and angle to x and y, by the special function units.
extern "C" __global__ void polar(const float* lengths, const float* angles, float2* points,
                                 unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    points[i] = make_float2(lengths[i] * __cosf(angles[i]), lengths[i] * __sinf(angles[i]));
}

// A power of each element.
extern "C" __global__ void gamma_curve(const float* in, float* out, float exponent, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) out[i] = powf(fabsf(in[i]), exponent);
}

// Numbers in a mixed base, by divisions whose divisors the compiler does not know.
extern "C" __global__ void mixed_base(const unsigned* in, uint4* out, unsigned a, unsigned b,
                                      unsigned c, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    const unsigned value = in[i], upper = value / a, top = upper / b;
    out[i] = make_uint4(value % a, upper % b, top % c, top / c);
}

__constant__ unsigned crc_table[256];

// A checksum of 64 bytes a thread, with a table in constant memory. Lanes read different entries.
extern "C" __global__ void crc(const uint4* in, unsigned* sums, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    unsigned sum = ~0u;
    for (unsigned k = 0; k < 4; k++) {
        const uint4 four = in[k * n + i];
        const unsigned parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (unsigned part = 0; part < 4; part++)
#pragma unroll
            for (unsigned bit = 0; bit < 32; bit += 8)
                sum = (sum >> 8) ^ crc_table[(sum ^ (parts[part] >> bit)) & 255];
    }
    sums[i] = sum;
}

// Sorts 16 elements a thread by insertion, in local memory.
extern "C" __global__ void sort_local(const float* in, float* out, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    float keys[16];
    for (unsigned k = 0; k < 16; k++) {
        const float key = in[k * n + i];
        unsigned place = k;
        while (place > 0 && keys[place - 1] > key) {
            keys[place] = keys[place - 1];
            place--;
        }
        keys[place] = key;
    }
    for (unsigned k = 0; k < 16; k++) out[k * n + i] = keys[k];
}

__constant__ float4 centres[64];

// The nearest of 64 centres, which all lanes read at once.
extern "C" __global__ void nearest(const float4* points, unsigned* which, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    const float4 point = points[i];
    float least = 1e30f;
    unsigned best = 0;
    for (unsigned k = 0; k < 64; k++) {
        const float dx = point.x - centres[k].x, dy = point.y - centres[k].y;
        const float dz = point.z - centres[k].z, dw = point.w - centres[k].w;
        const float distance = dx * dx + dy * dy + dz * dz + dw * dw;
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    which[i] = best;
}
