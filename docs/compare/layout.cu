// CUDA C++ twin of `kernels/src/layout.rs`: arrays of structures and structures of arrays.
// By hand: nvcc -ptx -arch=sm_90 -o layout.ptx docs/compare/layout.cu; host layout --ptx layout.ptx

struct Point {
    float x, y, z;
};

struct Particle {
    double position, speed, acceleration, time;
};

constexpr unsigned Staged = 128;  // threads of a block of layout_points_staged
constexpr unsigned Row = 32;      // numbers that a thread of layout_rows and layout_columns adds up

__device__ float square(Point p) { return p.x * p.x + p.y * p.y + p.z * p.z; }

__device__ double moved(Particle p) {
    return p.position + p.time * (p.speed + p.time * p.acceleration);
}

__device__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// An array of structures: three loads, each with a stride of 12 bytes.
extern "C" __global__ void layout_points_direct(const Point* points, float* output, size_t count) {
    const size_t i = thread_index();
    if (i < count) output[i] = square(points[i]);
}

// The same loads through the read-only cache.
extern "C" __global__ void layout_points_read_only(const Point* points, float* output,
                                                   size_t count) {
    const size_t i = thread_index();
    if (i < count) {
        const Point* point = &points[i];
        output[i] = square({__ldg(&point->x), __ldg(&point->y), __ldg(&point->z)});
    }
}

// The block loads its points as consecutive words and takes them apart in shared memory.
extern "C" __global__ void __launch_bounds__(Staged)
    layout_points_staged(const Point* points, float* output, size_t count) {
    __shared__ float stage[3 * Staged];
    const size_t first = size_t(blockIdx.x) * Staged;
    const unsigned t = threadIdx.x;
    const unsigned words = 3 * min(count - first, size_t(Staged));
    const float* source = reinterpret_cast<const float*>(points + first);
#pragma unroll
    for (unsigned part = 0; part < 3; ++part) {
        const unsigned word = part * Staged + t;
        if (word < words) stage[word] = source[word];
    }
    __syncthreads();
    if (first + t < count)
        output[first + t] = square({stage[3 * t], stage[3 * t + 1], stage[3 * t + 2]});
}

// A structure of arrays: three loads, each of consecutive words.
extern "C" __global__ void layout_points_arrays(const float* x, const float* y, const float* z,
                                                float* output, size_t count) {
    const size_t i = thread_index();
    if (i < count) output[i] = square({x[i], y[i], z[i]});
}

// Particles as an array of structures: four loads of 8 bytes, each with a stride of 32.
extern "C" __global__ void layout_particles_direct(const Particle* particles, double* output,
                                                   size_t count) {
    const size_t i = thread_index();
    if (i < count) output[i] = moved(particles[i]);
}

// Particles as a structure of arrays, one behind the other.
extern "C" __global__ void layout_particles_arrays(const double* fields, double* output,
                                                   size_t count) {
    const size_t i = thread_index();
    if (i < count)
        output[i] =
            moved({fields[i], fields[count + i], fields[2 * count + i], fields[3 * count + i]});
}

// [count][32]: each thread adds up a row.
extern "C" __global__ void layout_rows(const float* matrix, float* output, size_t count) {
    const size_t i = thread_index();
    if (i < count) {
        float sum = 0.0f;
        for (unsigned k = 0; k < Row; ++k) sum += matrix[i * Row + k];
        output[i] = sum;
    }
}

// [32][count]: each thread adds up a column.
extern "C" __global__ void layout_columns(const float* matrix, float* output, size_t count) {
    const size_t i = thread_index();
    if (i < count) {
        float sum = 0.0f;
        for (unsigned k = 0; k < Row; ++k) sum += matrix[k * count + i];
        output[i] = sum;
    }
}

// Rows that hang on a table of pointers: a load of a pointer before each element.
extern "C" __global__ void layout_pointers(const float* const* rows, float* output,
                                           size_t columns) {
    const size_t column = thread_index(), row = blockIdx.y;
    if (column < columns) output[row * columns + column] = rows[row][column];
}

// A matrix in one piece.
extern "C" __global__ void layout_pitched(const float* matrix, float* output, size_t columns,
                                          size_t pitch) {
    const size_t column = thread_index(), row = blockIdx.y;
    if (column < columns) output[row * columns + column] = matrix[row * pitch + column];
}
