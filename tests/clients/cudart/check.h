// What the programs here share: each ends with `ok NAME` or `FAIL NAME why`.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Ends the program if a call of the runtime library fails.
#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                       \
            std::printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)

// Ends the program if something is not as it must be.
#define REQUIRE(condition)                                                      \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("FAIL %s:%d %s\n", __FILE__, __LINE__, #condition);     \
            std::exit(1);                                                       \
        }                                                                       \
    } while (0)

template <class T> T *on_device(const std::vector<T> &values) {
    T *memory;
    CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <class T> std::vector<T> on_host(const T *memory, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

inline int done(const char *name) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::printf("ok %s\n", name);
    return 0;
}
