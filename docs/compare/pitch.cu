// CUDA C++ twin of `kernels/src/pitch.rs`: rows that start where the hardware starts.
// By hand: nvcc -ptx -arch=sm_90 -o pitch.ptx docs/compare/pitch.cu; host pitch --ptx pitch.ptx

__device__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// The block row of this block, counted through the layers of the grid.
__device__ size_t line() { return size_t(blockIdx.z) * gridDim.y + blockIdx.y; }

// Lanes side by side in a row.
extern "C" __global__ void pitch_rows(const float* matrix, float* output, size_t rows,
                                      size_t columns, size_t pitch) {
    const size_t row = line(), column = thread_index();
    if (row < rows && column < columns)
        output[row * columns + column] = 2.0f * matrix[row * pitch + column];
}

// Lanes one below the other; the output is the transpose.
extern "C" __global__ void pitch_columns(const float* matrix, float* output, size_t rows,
                                         size_t columns, size_t pitch) {
    const size_t row = thread_index(), column = line();
    if (row < rows && column < columns)
        output[column * rows + row] = 2.0f * matrix[row * pitch + column];
}
