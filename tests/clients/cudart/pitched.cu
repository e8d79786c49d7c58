// Rows at a pitch, boxes of three dimensions, fills, and arrays of them.
#include "check.h"

__global__ void add_row(char *rows, size_t pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height) ((float *)(rows + y * pitch))[x] += y;
}

__global__ void add_slice(cudaPitchedPtr box, int width, int height, int depth) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x < width && y < height && z < depth)
        ((int *)((char *)box.ptr + (z * height + y) * box.pitch))[x] += 100 * z;
}

int main() {
    const int width = 37, height = 11, depth = 3;
    size_t row = width * sizeof(float), pitch;
    std::vector<float> in(width * height), out(width * height);
    for (size_t i = 0; i < in.size(); i++) in[i] = i;
    char *rows;
    CHECK(cudaMallocPitch(&rows, &pitch, row, height));
    REQUIRE(pitch >= row && pitch % 32 == 0);
    CHECK(cudaMemcpy2D(rows, pitch, in.data(), row, row, height, cudaMemcpyHostToDevice));
    add_row<<<dim3(2, height), 32>>>(rows, pitch, width, height);
    CHECK(cudaMemcpy2D(out.data(), row, rows, pitch, row, height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) REQUIRE(out[y * width + x] == in[y * width + x] + y);
    CHECK(cudaMemset2D(rows, pitch, 0, 4 * sizeof(float), height));
    CHECK(cudaMemcpy2D(out.data(), row, rows, pitch, row, height, cudaMemcpyDeviceToHost));
    REQUIRE(out[width] == 0 && out[width + 3] == 0 && out[width + 4] == in[width + 4] + 1);
    REQUIRE(cudaMemcpy2D(out.data(), 8, rows, pitch, row, height, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
    (void)cudaGetLastError();

    std::vector<int> box(width * height * depth), back(box.size());
    for (size_t i = 0; i < box.size(); i++) box[i] = i;
    cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
    cudaPitchedPtr memory;
    CHECK(cudaMalloc3D(&memory, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(box.data(), width * sizeof(int), width, height);
    copy.dstPtr = memory;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    add_slice<<<depth, dim3(64, 16)>>>(memory, width, height, depth);
    cudaMemcpy3DParms home = {};
    home.srcPtr = memory;
    home.dstPtr = make_cudaPitchedPtr(back.data(), width * sizeof(int), width, height);
    home.extent = extent;
    home.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&home));
    for (size_t i = 0; i < box.size(); i++) REQUIRE(back[i] == box[i] + 100 * (int)(i / (width * height)));

    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth)));
    cudaMemcpy3DParms into = {};
    into.srcPtr = memory;
    into.dstArray = array;
    into.extent = make_cudaExtent(width, height, depth);
    into.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&into));
    cudaMemcpy3DParms from = {};
    from.srcArray = array;
    from.srcPos = make_cudaPos(1, 2, 1);
    from.dstPtr = make_cudaPitchedPtr(box.data(), 2 * sizeof(int), 2, 1);
    from.extent = make_cudaExtent(2, 1, 1);
    from.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&from));
    REQUIRE(box[0] == back[(height + 2) * width + 1] && box[1] == back[(height + 2) * width + 2]);
    CHECK(cudaFreeArray(array));
    return done("pitched");
}
