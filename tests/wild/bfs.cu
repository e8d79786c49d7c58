// Breadth-first search: one level a pass of a grid-wide loop in one block; divergent loops, volatile flags, early continue.
extern "C" __global__ void bfs(const int *rows, const int *columns, int n, int *level) {
    __shared__ volatile int changed;
    for (int depth = 0;; depth++) {
        __syncthreads();
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        for (int v = threadIdx.x; v < n; v += blockDim.x) {
            if (level[v] != depth) continue;
            for (int e = rows[v]; e < rows[v + 1]; e++)
                if (atomicCAS(&level[columns[e]], -1, depth + 1) == -1) changed = 1;
        }
        if (!__syncthreads_or(changed)) break;
    }
}
//# n = 40
//# g = [sorted({(v * 3 + 1) % n, (v + 7) % n} if v % 4 else {v // 2}) for v in range(n)]
//# rows = [sum(len(e) for e in g[:v]) for v in range(n + 1)]
//# level = [-1] * n; level[1] = 0
//# queue = [1]
//# for v in queue:
//#     for w in g[v]:
//#         if level[w] < 0: level[w] = level[v] + 1; queue.append(w)
// run: bfs block=24
// A plain read of a distance, and another lane's compare-and-swap of it, are a data race by PTX's memory model, in which both would have to be strong. All
// goes well because either value of that distance tells the reader to go on: no check can know.
// blamed: race_in_warp
//= in: s32 rows
// in: s32 0 1 3 5 6 7 9 11 13 14 16 18 20 21 23 25 27 28 30 32 34 35 37 39 40 41 43 45 47 48 50 52 54 55 57 59 61 62 64 66 68
//= in: s32 sum(g, [])
// in: s32 0 4 8 7 9 10 2 12 16 13 19 14 22 4 16 28 17 31 18 34 6 0 20 3 21 6 22 8 12 24 15 25 18 26 10 24 28 27 29 30 12 32 36 33 39 2 34 14 8 36 11 37 14 38 16 0 20 1 23 2 26 18 4 32 5 35 6 38
// arg: s32 40
//= inout: s32 [-1, 0] + [-1] * 38 -> level
// inout: s32 -1 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -> 10 0 2 5 1 9 8 3 1 3 6 9 7 9 4 8 4 7 7 9 10 5 4 7 6 8 10 5 4 5 8 7 9 11 6 9 6 9 8 11
