// nvcc: --default-stream per-thread
// The default stream is the thread's own, so that it can be captured.
#include "check.h"

__global__ void add(int *out, int value) { atomicAdd(out, value); }

int main() {
    int *memory = on_device(std::vector<int>{1});
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    add<<<1, 32>>>(memory, 1);
    CHECK(cudaStreamEndCapture(0, &graph));
    REQUIRE(on_host(memory, 1)[0] == 1);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaStreamSynchronize(0));
    REQUIRE(on_host(memory, 1)[0] == 65);
    // The default stream of all threads cannot be.
    REQUIRE(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(memory));
    return done("per_thread");
}
