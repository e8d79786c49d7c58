// Coefficients in constant memory, copied from the host, from the device, and in part.
#include "check.h"

__constant__ float coefficients[5];
__constant__ int offset = 7;

__global__ void convolve(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = offset;
    for (int k = -2; k <= 2; k++)
        if (i + k >= 0 && i + k < n) sum += coefficients[k + 2] * in[i + k];
    out[i] = sum;
}

int main() {
    const int n = 300;
    float of_host[5] = {1, 2, 4, 2, 1};
    std::vector<float> in(n);
    for (int i = 0; i < n; i++) in[i] = i % 13;
    float *din = on_device(in), *out;
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    auto check = [&](float more) {
        convolve<<<3, 100>>>(din, out, n);
        std::vector<float> got = on_host(out, n);
        for (int i = 0; i < n; i++) {
            float sum = more;
            for (int k = -2; k <= 2; k++)
                if (i + k >= 0 && i + k < n) sum += of_host[k + 2] * in[i + k];
            REQUIRE(got[i] == sum);
        }
    };
    CHECK(cudaMemcpyToSymbol(coefficients, of_host, sizeof of_host));
    check(7);
    of_host[4] = 9;
    CHECK(cudaMemcpyToSymbol(coefficients, &of_host[4], sizeof(float), 4 * sizeof(float)));
    check(7);
    int other = -3;
    int *on = on_device(std::vector<int>{other});
    CHECK(cudaMemcpyToSymbol(offset, on, sizeof other, 0, cudaMemcpyDeviceToDevice));
    check(-3);
    float back[5];
    CHECK(cudaMemcpyFromSymbol(back, coefficients, sizeof back));
    for (int k = 0; k < 5; k++) REQUIRE(back[k] == of_host[k]);
    return done("constants");
}
