"""A transpose of 128 x 128 through a padded tile, by numba: `coalesce run -- python numba_speed.py` on the driver,
and with NUMBA_ENABLE_CUDASIM=1, without `coalesce run`, on numba's own simulator. Processor time of a launch."""
import time

import numpy as np
from numba import config, cuda, float32

SIZE, TILE, WIDE = 128, 16, 17


@cuda.jit
def transpose(to, source):
    tile = cuda.shared.array((TILE, WIDE), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    to[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


source = np.arange(SIZE * SIZE, dtype=np.float32).reshape(SIZE, SIZE)
given, to = cuda.to_device(source), cuda.device_array_like(source)
times = []
# On the driver, the first launch compiles; the simulator of numba compiles nothing.
for _ in range(1 if config.ENABLE_CUDASIM else 4):
    begin = time.process_time()
    transpose[(SIZE // TILE, SIZE // TILE), (TILE, TILE)](to, given)
    cuda.synchronize()
    times.append(time.process_time() - begin)
assert (to.copy_to_host() == source.T).all()
print(f"transpose of {SIZE} x {SIZE}: first launch {times[0] * 1e3:.1f} ms, fastest {min(times) * 1e3:.1f} ms")
