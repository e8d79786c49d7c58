// Cooperative groups: of a warp, of a block, and of a grid that waits for itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void sums(const int *in, int *of_warps, int *of_block) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = cg::reduce(warp, in[block.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) {
        of_warps[warp.meta_group_rank()] = sum;
        atomicAdd(of_block, sum);
    }
}

// Each round adds up what the round before has left, so that a block that does not wait is found out.
__global__ void rounds(int *data, int *other, int n) {
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < 4; round++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) other[i] = data[(i + 1) % n] + data[i];
        grid.sync();
        int *swapped = data;
        data = other, other = swapped;
    }
}

int main() {
    std::vector<int> values(128, 1);
    int *in = on_device(values), *of_warps = on_device(std::vector<int>(4)), *of_block = on_device(std::vector<int>(1));
    sums<<<1, 128>>>(in, of_warps, of_block);
    REQUIRE(on_host(of_warps, 4) == std::vector<int>(4, 32) && on_host(of_block, 1)[0] == 128);

    int n = 1000, cooperative = 0;
    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    REQUIRE(cooperative == 1);
    int *data = on_device(std::vector<int>(n, 1)), *other = on_device(std::vector<int>(n));
    void *arguments[] = {&data, &other, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)rounds, dim3(8), dim3(64), arguments, 0, 0));
    REQUIRE(on_host(data, n) == std::vector<int>(n, 16));
    return done("cooperative");
}
