// CUDA C++ twin of `kernels/src/pitch.rs`: rows padded to the hardware's alignment.
// By hand: nvcc -ptx -arch=sm_90 -o pitch.ptx docs/compare/pitch.cu; host pitch --ptx pitch.ptx

// A matrix is four parameters: its first element, rows, columns, and the pitch in elements.

// The thread's row in the grid, counted through its layers, and its column.
__device__ unsigned thread_row() {
    return (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
}
__device__ unsigned thread_col() { return blockIdx.x * blockDim.x + threadIdx.x; }

// 64 bits: a large matrix passes 32 bits of bytes.
__device__ size_t at(unsigned row, unsigned col, unsigned pitch) {
    return size_t(row) * pitch + col;
}

// Lanes side by side in a row.
extern "C" __global__ void pitch_rows(const float* __restrict__ in, unsigned rows, unsigned cols,
                                      unsigned in_pitch, float* out, unsigned out_rows,
                                      unsigned out_cols, unsigned out_pitch) {
    const unsigned row = thread_row(), col = thread_col();
    if (row < rows && col < cols && row < out_rows && col < out_cols)
        out[at(row, col, out_pitch)] = 2.0f * in[at(row, col, in_pitch)];
}

// Lanes one below the other; the output is the transpose.
extern "C" __global__ void pitch_columns(const float* __restrict__ in, unsigned rows, unsigned cols,
                                         unsigned in_pitch, float* out, unsigned out_rows,
                                         unsigned out_cols, unsigned out_pitch) {
    const unsigned row = thread_row(), col = thread_col();
    if (col < rows && row < cols && row < out_rows && col < out_cols)
        out[at(row, col, out_pitch)] = 2.0f * in[at(col, row, in_pitch)];
}
