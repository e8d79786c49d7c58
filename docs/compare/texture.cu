// CUDA C++ twin of `kernels/src/texture.rs`: textures, and the Morton order that they hide.
// By hand: nvcc -ptx -arch=sm_90 -o texture.ptx docs/compare/texture.cu; host texture --ptx texture.ptx

// Thread (x, y) looks at origin + x * step_x + y * step_y, wrapped to the image.
struct Walk {
    unsigned step_x[2], step_y[2], origin[2];
    unsigned mask;  // one less than the image's side, which is a power of two
};

__device__ unsigned thread_x() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned thread_y() { return blockIdx.y * blockDim.y + threadIdx.y; }

// The texel of this thread.
__device__ uint2 texel(const Walk& walk) {
    const unsigned x = thread_x(), y = thread_y();
    return make_uint2((walk.origin[0] + x * walk.step_x[0] + y * walk.step_y[0]) & walk.mask,
                      (walk.origin[1] + x * walk.step_x[1] + y * walk.step_y[1]) & walk.mask);
}

// The lower 16 bits, each followed by a 0.
__device__ unsigned spread(unsigned bits) {
    bits &= 0xffff;
    bits = (bits | bits << 8) & 0x00ff00ff;
    bits = (bits | bits << 4) & 0x0f0f0f0f;
    bits = (bits | bits << 2) & 0x33333333;
    return (bits | bits << 1) & 0x55555555;
}

// A texture in linear memory, by whole indices.
extern "C" __global__ void texture_linear(cudaTextureObject_t texture, float* output,
                                          size_t length) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < length) output[i] = 2.0f * tex1Dfetch<float>(texture, int(i));
}

// The same from global memory.
extern "C" __global__ void texture_global(const float* __restrict__ input, size_t texels,
                                          float* output, size_t length) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < texels && i < length) output[i] = 2.0f * input[i];
}

// A matrix that the host passes: the output of the kernels in two dimensions.
#define OUTPUT float *output, unsigned rows, unsigned cols, unsigned pitch

// A texture of two dimensions at (x, y) * scale + shift.
extern "C" __global__ void texture_sample(cudaTextureObject_t texture, OUTPUT, float scale,
                                          float shift) {
    const unsigned x = thread_x(), y = thread_y();
    if (y < rows && x < cols)
        output[size_t(y) * pitch + x] =
            tex2D<float>(texture, x * scale + shift, y * scale + shift);
}

// Writes `factor` times an image to an array through a surface; a factor of 1 copies it.
extern "C" __global__ void texture_write(const float* __restrict__ image, size_t texels,
                                         cudaSurfaceObject_t surface, unsigned width,
                                         float factor) {
    const unsigned x = thread_x(), y = thread_y();
    const size_t i = size_t(y) * width + x;
    if (x < width && i < texels) surf2Dwrite(factor * image[i], surface, x * sizeof(float), y);
}

// A walk over a texture.
extern "C" __global__ void texture_walk(cudaTextureObject_t texture, OUTPUT, Walk walk) {
    const unsigned x = thread_x(), y = thread_y();
    const uint2 place = texel(walk);
    if (y < rows && x < cols)
        output[size_t(y) * pitch + x] = tex2D<float>(texture, place.x + 0.5f, place.y + 0.5f);
}

// The same walk over an image that lies row by row in global memory.
extern "C" __global__ void texture_rows(const float* __restrict__ image, size_t texels, OUTPUT,
                                        Walk walk) {
    const unsigned x = thread_x(), y = thread_y();
    const uint2 place = texel(walk);
    const unsigned i = place.y * (walk.mask + 1) + place.x;
    if (y < rows && x < cols && i < texels) output[size_t(y) * pitch + x] = image[i];
}

// The same walk over an image that lies along the Morton curve in global memory.
extern "C" __global__ void texture_morton(const float* __restrict__ image, size_t texels, OUTPUT,
                                          Walk walk) {
    const unsigned x = thread_x(), y = thread_y();
    const uint2 place = texel(walk);
    const unsigned i = spread(place.x) | spread(place.y) << 1;
    if (y < rows && x < cols && i < texels) output[size_t(y) * pitch + x] = image[i];
}
