// CUDA C++ twin of `kernels/src/layout.rs`: arrays of structures and structures of arrays.
// By hand: nvcc -ptx -arch=sm_90 -o layout.ptx docs/compare/layout.cu; host layout --ptx layout.ptx

struct Point {
    float x, y, z;
};

struct Particle {
    double position, speed, acceleration, time;
};

using Row = float[32];

__device__ float square(Point p) { return p.x * p.x + p.y * p.y + p.z * p.z; }

__device__ double moved(Particle p) {
    return p.position + p.time * (p.speed + p.time * p.acceleration);
}

__device__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// The thread's row in the grid, counted through its layers, and its column.
__device__ unsigned thread_row() {
    return (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
}
__device__ unsigned thread_col() { return blockIdx.x * blockDim.x + threadIdx.x; }

// A slice is two parameters: its first element and its length. A matrix is four: its first element,
// rows, columns, and the pitch in elements.

// An array of structures: three loads, each with a stride of 12 bytes.
extern "C" __global__ void layout_points_direct(const Point* points, float* out, size_t length) {
    const size_t i = thread_index();
    if (i < length) out[i] = square(points[i]);
}

// The same loads through the read-only cache.
extern "C" __global__ void layout_points_read_only(const Point* __restrict__ points, size_t count,
                                                   float* out, size_t length) {
    const size_t i = thread_index();
    if (i < count && i < length) out[i] = square(points[i]);
}

// The block loads its points as consecutive words and takes them apart in shared memory.
extern "C" __global__ void __launch_bounds__(128)
    layout_points_staged(const Point* __restrict__ points, size_t count, float* out,
                         size_t length) {
    __shared__ float stage[3 * 128];
    const float* words = reinterpret_cast<const float*>(points);
    const unsigned t = threadIdx.x;
    const size_t first = size_t(3 * 128) * blockIdx.x;
#pragma unroll
    for (unsigned part = 0; part < 3; ++part) {
        const unsigned word = 128 * part + t;
        stage[word] = first + word < 3 * count ? words[first + word] : 0.0f;
    }
    __syncthreads();
    const size_t i = thread_index();
    if (i < length) out[i] = square({stage[3 * t], stage[3 * t + 1], stage[3 * t + 2]});
}

// A structure of arrays: three loads, each of consecutive words.
extern "C" __global__ void layout_points_arrays(const float* __restrict__ x, size_t x_length,
                                                const float* __restrict__ y, size_t y_length,
                                                const float* __restrict__ z, size_t z_length,
                                                float* out, size_t length) {
    const size_t i = thread_index();
    if (i < x_length && i < y_length && i < z_length && i < length)
        out[i] = square({x[i], y[i], z[i]});
}

// Particles as an array of structures: four loads of 8 bytes, each with a stride of 32.
extern "C" __global__ void layout_particles_direct(const Particle* __restrict__ particles,
                                                   size_t count, double* out, size_t length) {
    const size_t i = thread_index();
    if (i < count && i < length) out[i] = moved(particles[i]);
}

// Particles as a structure of arrays.
extern "C" __global__ void layout_particles_arrays(
    const double* __restrict__ position, size_t positions, const double* __restrict__ speed,
    size_t speeds, const double* __restrict__ acceleration, size_t accelerations,
    const double* __restrict__ time, size_t times, double* out, size_t length) {
    const size_t i = thread_index();
    if (i < positions && i < speeds && i < accelerations && i < times && i < length)
        out[i] = moved({position[i], speed[i], acceleration[i], time[i]});
}

// [count][32]: each thread adds up a row.
extern "C" __global__ void layout_rows(const Row* __restrict__ matrix, size_t rows, float* out,
                                       size_t length) {
    const size_t i = thread_index();
    if (i < rows && i < length) {
        float sum = 0.0f;
        for (unsigned k = 0; k < 32; ++k) sum += matrix[i][k];
        out[i] = sum;
    }
}

// [32][count]: each thread adds up a column.
extern "C" __global__ void layout_columns(const float* __restrict__ matrix, unsigned rows,
                                          unsigned cols, unsigned pitch, float* out,
                                          size_t length) {
    const size_t i = thread_index();
    if (i < cols && i < length) {
        float sum = 0.0f;
        for (unsigned k = 0; k < rows; ++k) sum += matrix[size_t(k) * pitch + i];
        out[i] = sum;
    }
}

// Rows that hang on a table of pointers: a load of a pointer before each element.
extern "C" __global__ void layout_pointers(const float* const* __restrict__ table, size_t pointers,
                                           float* out, unsigned rows, unsigned cols,
                                           unsigned pitch) {
    const unsigned row = thread_row(), col = thread_col();
    if (row < pointers && row < rows && col < cols)
        out[size_t(row) * pitch + col] = table[row][col];
}

// A matrix in one piece.
extern "C" __global__ void layout_pitched(const float* __restrict__ in, unsigned in_rows,
                                          unsigned in_cols, unsigned in_pitch, float* out,
                                          unsigned rows, unsigned cols, unsigned pitch) {
    const unsigned row = thread_row(), col = thread_col();
    if (row < in_rows && col < in_cols && row < rows && col < cols)
        out[size_t(row) * pitch + col] = in[size_t(row) * in_pitch + col];
}
