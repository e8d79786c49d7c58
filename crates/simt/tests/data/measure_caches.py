#!/usr/bin/env python3
"""Measures the launches of h200_caches.json anew, on a machine with a GPU, Nsight Compute and CuPy.

    M=$(python3 measure_caches.py metrics)
    ncu --profile-from-start off --cache-control all --clock-control none --csv --page raw --print-units base \
        --metrics $M --log-file caches.csv python3 measure_caches.py launch
    python3 measure_caches.py collect caches.csv > h200_caches.json.new && mv h200_caches.json.new h200_caches.json

It takes about two minutes on an H200. `launch` and `collect` take starts of names as well (`cluster,bulk`), and then only the launches
whose names start so are measured; the others stay as they are. `occupancy` prints how many clusters the driver says are resident at once.
"""
import csv
import ctypes
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {
    "patterns.ptx": "patterns.ptx",
    "caches.ptx": "caches.ptx",
    "clusters.ptx": "clusters.ptx",
    "kernels.ptx": "labs.ptx",
    "matmul.ptx": "../../benches/matmul.ptx",
    "reduction.ptx": "../../benches/reduction.ptx",
}
LAUNCH = {
    "registers": "launch__registers_per_thread",
    "carveout": "launch__shared_mem_config_size",
    "by_warps": "launch__occupancy_limit_warps",
    "by_blocks": "launch__occupancy_limit_blocks",
    "by_registers": "launch__occupancy_limit_registers",
    "by_shared": "launch__occupancy_limit_shared_mem",
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
}


def rows():
    with open(os.path.join(HERE, "h200_caches.json")) as file:
        return json.load(file)


def counters():
    return sorted({name for row in rows() for name in row.get("counters", [])})


class Attribute(ctypes.Structure):
    """The driver's CUlaunchAttribute, whose value is the blocks of a cluster."""

    CLUSTER = 4
    _fields_ = [("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    """The driver's CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    ]


def driver(name, *arguments):
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if status:
        sys.exit(f"{name}: error {status}")


def tensor_map(text, address):
    """The bytes of a map of a tensor of 32-bit words in two dimensions, as the simulator writes it: `u32[64x32],box:32x8`."""
    WORDS = 2
    width, height, *box = map(int, re.fullmatch(r"u32\[(\d+)x(\d+)\],box:(\d+)x(\d+)", text).groups())
    room = ctypes.create_string_buffer(192)
    place = (ctypes.addressof(room) + 63) // 64 * 64
    driver(
        "cuTensorMapEncodeTiled",
        ctypes.c_void_p(place),
        ctypes.c_uint(WORDS),
        ctypes.c_uint(2),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * 2)(width, height),
        (ctypes.c_uint64 * 1)(4 * width),
        (ctypes.c_uint * 2)(*box),
        (ctypes.c_uint * 2)(1, 1),
        *[ctypes.c_uint(0)] * 4,
    )
    return ctypes.string_at(place, 128)


def clusters_of(blocks, kernel, grid, block, shared):
    """How to launch a kernel in clusters of so many blocks, and the kernel."""
    function = ctypes.c_void_p(kernel.kernel.ptr)
    MORE_THAN_8_BLOCKS = 14
    driver("cuFuncSetAttribute", function, MORE_THAN_8_BLOCKS, 1)
    attribute = Attribute(Attribute.CLUSTER, 0, (blocks, 1, 1))
    return Config((*grid,), (*block,), shared, None, ctypes.pointer(attribute), int(blocks > 1)), function


def launch_in_clusters(row, kernel, arguments):
    config, function = clusters_of(row.get("cluster", 1), kernel, row["grid"], row["block"], row["shared"])
    # As they are in the host's memory; a tensor's map wants 64 bytes of alignment in the kernel's alone.
    values = [ctypes.create_string_buffer(getattr(argument, "tobytes", lambda: argument)()) for argument in arguments]
    pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    driver("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)


def occupancy():
    import cupy as cp

    cp.zeros(1)
    kernel = cp.RawModule(path=os.path.join(HERE, "clusters.ptx")).get_function("k_share")
    print("blocks,threads,shared,clusters")
    for threads, shared in [(32, 0), (64, 0), (256, 0), (1024, 0), (64, 8 << 10), (256, 100 << 10), (256, 200 << 10)]:
        kernel.max_dynamic_shared_size_bytes = shared
        for blocks in range(2, 17):
            config, function = clusters_of(blocks, kernel, (blocks, 1, 1), (threads, 1, 1), shared)
            found = ctypes.c_int()
            driver("cuOccupancyMaxActiveClusters", ctypes.byref(found), function, ctypes.byref(config))
            print(f"{blocks},{threads},{shared},{found.value}")


def launch(starts):
    import cupy as cp
    import numpy as np

    def buffer(array):
        device = cp.empty(array.shape, array.dtype)
        device.set(array)
        return device

    def mixed(count):
        h, low = np.arange(count, dtype=np.uint64), np.uint64(0xFFFFFFFF)
        for shift, factor in [(16, 0x85EBCA6B), (13, 0xC2B2AE35)]:
            h ^= h >> np.uint64(shift)
            h = (h * np.uint64(factor)) & low
        return (h ^ (h >> np.uint64(16))).astype(np.uint32)

    i = np.arange(65536, dtype=np.uint64)
    buffers = {name: buffer(np.zeros(1 << 24, np.uint32)) for name in "ABIO"}
    buffers["W"] = buffer(np.zeros(1 << 25, np.uint32))
    buffers["IDX0"] = buffer(np.zeros(65536, np.uint32))
    buffers["IDXR"] = buffer((((i * 2654435761 + 12345) & 0xFFFFFFFF) >> 8 & 0xFFFF).astype(np.uint32))
    buffers["IDXP"] = buffer(((i & ~np.uint64(31)) | ((7 * i + 3) & 31)).astype(np.uint32))
    buffers["RND"] = buffer(mixed(1 << 20))
    modules = {name: cp.RawModule(path=os.path.join(HERE, file)) for name, file in FILES.items()}

    def argument(value):
        if isinstance(value, list):
            return np.uint64(value[1])
        if isinstance(value, int):
            return np.uint32(value)
        if ":" in value:
            name, _, text = value.partition(":")
            return tensor_map(text, buffers[name].data.ptr)
        name, _, offset = value.partition("+")
        return np.uint64(buffers[name].data.ptr + int(offset or 0))

    ready = []
    for row in rows():
        if not row["case"].startswith(starts):
            continue
        kernel = modules[row["module"]].get_function(row["kernel"])
        if row["shared"] > 48 << 10:
            kernel.max_dynamic_shared_size_bytes = row["shared"]
        ready.append((kernel, row, tuple(map(argument, row["args"]))))
    cp.cuda.runtime.profilerStart()
    for kernel, row, arguments in ready:
        if row["module"] == "clusters.ptx":
            launch_in_clusters(row, kernel, arguments)
        else:
            kernel(tuple(row["grid"]), tuple(row["block"]), arguments, shared_mem=row["shared"])
        cp.cuda.runtime.deviceSynchronize()
    cp.cuda.runtime.profilerStop()


def collect(path, starts):
    with open(path) as file:
        head, _, *body = csv.reader(line for line in file if line.startswith('"'))
    number = lambda text: float(text.replace(",", ""))
    whole = lambda value: int(value) if value == int(value) else value
    lines = iter(body)
    texts = []
    for row in rows():
        if row["case"].startswith(starts):
            values = dict(zip(head, next(lines)))
            row["launch"] = {key: whole(number(values[name])) for key, name in LAUNCH.items()}
            row["counters"] = {name: whole(number(values[name])) for name in counters()}
        texts.append(json.dumps(row))
    if left := list(lines):
        sys.exit(f"{path} has {len(left)} launches too many")
    print("[\n" + ",\n".join(texts) + "\n]")


match sys.argv[1:]:
    case ["metrics"]:
        print(",".join([*LAUNCH.values(), *counters()]))
    case ["occupancy"]:
        occupancy()
    case ["launch", *starts] if len(starts) < 2:
        launch(tuple("".join(starts).split(",")))
    case ["collect", path, *starts] if len(starts) < 2:
        collect(path, tuple("".join(starts).split(",")))
    case _:
        sys.exit(__doc__)
