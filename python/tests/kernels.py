"""Kernels of numba for the tests: the driver must be there when this is imported."""

import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def transpose(a, out):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]  # conflicts


@cuda.jit(lineinfo=True)
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        bins[values[i]] += 1  # race


@cuda.jit(lineinfo=True)
def beyond(a):
    a[cuda.grid(1) + 1] = 1


def line_of(mark):
    """Return the line that ends with this comment."""
    with open(__file__) as source:
        return next(at for at, line in enumerate(source, 1) if line.endswith(f"# {mark}\n"))


def run_transpose():
    a = np.arange(1024, dtype=np.float32).reshape(32, 32)
    out = cuda.device_array((32, 32), np.float32)
    transpose[1, (32, 32)](a, out)
    assert (out.copy_to_host() == a.T).all()


def run_histogram():
    histogram[4, 64](np.zeros(256, np.int32), np.zeros(8, np.int32))


def run_beyond():
    beyond[1, 64](cuda.device_array(64, np.float32))
