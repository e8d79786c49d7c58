// Streams, events between them, pinned memory, a function of the host, and a captured graph.
#include "check.h"

__global__ void scale(float *data, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
}

static void count(void *data) { ++*(int *)data; }

int main() {
    const int n = 4096, parts = 4, part = n / parts;
    float *pinned, *memory;
    CHECK(cudaMallocHost(&pinned, n * sizeof(float)));
    CHECK(cudaMalloc(&memory, n * sizeof(float)));
    for (int i = 0; i < n; i++) pinned[i] = i;
    cudaStream_t streams[parts];
    cudaEvent_t copied;
    CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
    int calls = 0;
    for (int s = 0; s < parts; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        int at = s * part;
        CHECK(cudaMemcpyAsync(memory + at, pinned + at, part * sizeof(float), cudaMemcpyHostToDevice, streams[s]));
        scale<<<part / 128, 128, 0, streams[s]>>>(memory + at, 2, part);
        CHECK(cudaMemcpyAsync(pinned + at, memory + at, part * sizeof(float), cudaMemcpyDeviceToHost, streams[s]));
    }
    CHECK(cudaEventRecord(copied, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], copied, 0));
    CHECK(cudaLaunchHostFunc(streams[1], count, &calls));
    for (cudaStream_t stream : streams) CHECK(cudaStreamSynchronize(stream));
    REQUIRE(calls == 1 && cudaStreamQuery(streams[1]) == cudaSuccess);
    for (int i = 0; i < n; i++) REQUIRE(pinned[i] == 2 * i);

    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CHECK(cudaStreamBeginCapture(streams[2], cudaStreamCaptureModeGlobal));
    scale<<<n / 128, 128, 0, streams[2]>>>(memory, 3, n);
    scale<<<n / 128, 128, 0, streams[2]>>>(memory, 0.5f, n);
    CHECK(cudaStreamEndCapture(streams[2], &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    REQUIRE(nodes == 2);
    CHECK(cudaGraphInstantiate(&instance, graph, 0));
    for (int run = 0; run < 2; run++) CHECK(cudaGraphLaunch(instance, streams[2]));
    CHECK(cudaStreamSynchronize(streams[2]));
    std::vector<float> result = on_host(memory, n);
    for (int i = 0; i < n; i++) REQUIRE(result[i] == 2 * i * 2.25f);
    CHECK(cudaGraphExecDestroy(instance));
    CHECK(cudaGraphDestroy(graph));
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    return done("streams");
}
