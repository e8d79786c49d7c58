// Each atomic operation, on integers and floats, and a lock by compare and swap.
#include "check.h"

struct Results {
    int sum, least, greatest, last, count, xored, ored, anded;
    unsigned wrapped;
    float floats;
    double doubles;
    unsigned long long wide;
};

__global__ void update(Results *results, int *lock, int *guarded) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&results->sum, i);
    atomicMin(&results->least, -i);
    atomicMax(&results->greatest, i);
    atomicExch(&results->last, 5);
    atomicSub(&results->count, 1);
    atomicXor(&results->xored, 1 << i % 32);
    atomicOr(&results->ored, 1 << i % 16);
    atomicAnd(&results->anded, ~(1 << i % 8));
    atomicInc(&results->wrapped, 9);
    atomicAdd(&results->floats, 0.5f);
    atomicAdd(&results->doubles, 0.25);
    atomicAdd(&results->wide, 1ull << 33);
    for (bool waits = true; waits;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)guarded = *(volatile int *)guarded + 1;
            __threadfence();
            atomicExch(lock, 0);
            waits = false;
        }
    }
}

int main() {
    const int n = 256;
    Results start = {};
    start.anded = -1;
    Results *results = on_device(std::vector<Results>{start});
    int *words = on_device(std::vector<int>{0, 0});
    update<<<2, n / 2>>>(results, words, words + 1);
    Results got = on_host(results, 1)[0];
    REQUIRE(got.sum == n * (n - 1) / 2 && got.least == 1 - n && got.greatest == n - 1 && got.last == 5);
    REQUIRE(got.count == -n && got.xored == 0 && got.ored == 0xffff && got.anded == -256);
    REQUIRE(got.wrapped == n % 10 && got.floats == n / 2 && got.doubles == n / 4 && got.wide == (unsigned long long)n << 33);
    REQUIRE(on_host(words, 2)[1] == n);
    return done("atomics");
}
