// Textures of an array, of linear and of pitched memory, and a surface.
#include "check.h"

__global__ void sample(cudaTextureObject_t texture, float *out, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 1.0f, y + 0.5f);
}

__global__ void fetch(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

__global__ void add_one(cudaSurfaceObject_t surface) {
    float value;
    surf2Dread(&value, surface, threadIdx.x * sizeof(float), threadIdx.y);
    surf2Dwrite(value + 1, surface, threadIdx.x * sizeof(float), threadIdx.y);
}

int main() {
    const int width = 16, height = 8;
    std::vector<float> texels(width * height);
    for (size_t i = 0; i < texels.size(); i++) texels[i] = i;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    size_t row = width * sizeof(float);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    float *out;
    CHECK(cudaMalloc(&out, texels.size() * sizeof(float)));
    sample<<<1, dim3(width, height)>>>(texture, out, width, height);
    std::vector<float> got = on_host(out, texels.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) REQUIRE(got[y * width + x] == y * width + (x < width - 1 ? x + 0.5f : x));
    CHECK(cudaDestroyTextureObject(texture));

    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    add_one<<<1, dim3(width, height)>>>(surface);
    CHECK(cudaMemcpy2DFromArray(got.data(), row, array, 0, 0, row, height, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < got.size(); i++) REQUIRE(got[i] == i + 1);
    CHECK(cudaDestroySurfaceObject(surface));

    float *linear = on_device(texels);
    cudaResourceDesc of_memory = {};
    of_memory.resType = cudaResourceTypeLinear;
    of_memory.res.linear.devPtr = linear;
    of_memory.res.linear.desc = format;
    of_memory.res.linear.sizeInBytes = texels.size() * sizeof(float);
    CHECK(cudaCreateTextureObject(&texture, &of_memory, &description, nullptr));
    fetch<<<1, width * height>>>(texture, out);
    REQUIRE(on_host(out, texels.size()) == texels);
    CHECK(cudaDestroyTextureObject(texture));

    void *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, row, height));
    CHECK(cudaMemcpy2D(pitched, pitch, texels.data(), row, row, height, cudaMemcpyHostToDevice));
    cudaResourceDesc of_rows = {};
    of_rows.resType = cudaResourceTypePitch2D;
    of_rows.res.pitch2D.devPtr = pitched;
    of_rows.res.pitch2D.desc = format;
    of_rows.res.pitch2D.width = width;
    of_rows.res.pitch2D.height = height;
    of_rows.res.pitch2D.pitchInBytes = pitch;
    CHECK(cudaCreateTextureObject(&texture, &of_rows, &description, nullptr));
    sample<<<1, dim3(width, height)>>>(texture, out, width, height);
    REQUIRE(on_host(out, 2)[1] == 1.5f);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    return done("texture");
}
