// A kernel that may be launched in clusters (its own is one block), and one that reads the cluster's shape.
//@ sm_90
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(1, 1, 1) alone(int *out) {
    __shared__ int mine;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 5 + blockIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(&mine, 0);
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x)] = *other;
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + 1] = cluster.num_blocks() * 10 + cluster.block_rank();
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + 2] = cluster.num_threads();
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + 3] = cluster.thread_rank();
    cluster.sync();
}
// run: alone grid=3 block=8
// blamed: race_in_warp
//= out: s32 sum([[5 + b, 10, 8, t] for b in range(3) for t in range(8)], [])
// out: s32 5 10 8 0 5 10 8 1 5 10 8 2 5 10 8 3 5 10 8 4 5 10 8 5 5 10 8 6 5 10 8 7 6 10 8 0 6 10 8 1 6 10 8 2 6 10 8 3 6 10 8 4 6 10 8 5 6 10 8 6 6 10 8 7 7 10 8 0 7 10 8 1 7 10 8 2 7 10 8 3 7 10 8 4 7 10 8 5 7 10 8 6 7 10 8 7
