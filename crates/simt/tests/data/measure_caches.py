#!/usr/bin/env python3
"""Measures the launches of h200_caches.json anew, on a machine with a GPU, Nsight Compute and CuPy.

    M=$(python3 measure_caches.py metrics)
    ncu --profile-from-start off --cache-control all --clock-control none --csv --page raw --print-units base \
        --metrics $M --log-file caches.csv python3 measure_caches.py launch
    python3 measure_caches.py collect caches.csv > h200_caches.json

It takes about a minute and a half on an H200.
"""
import csv
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {
    "patterns.ptx": "patterns.ptx",
    "caches.ptx": "caches.ptx",
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
    return sorted({name for row in rows() for name in row["counters"]})


def launch():
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
        name, _, offset = value.partition("+")
        return np.uint64(buffers[name].data.ptr + int(offset or 0))

    ready = []
    for row in rows():
        kernel = modules[row["module"]].get_function(row["kernel"])
        if row["shared"] > 48 << 10:
            kernel.max_dynamic_shared_size_bytes = row["shared"]
        ready.append((kernel, row, tuple(map(argument, row["args"]))))
    cp.cuda.runtime.profilerStart()
    for kernel, row, arguments in ready:
        kernel(tuple(row["grid"]), tuple(row["block"]), arguments, shared_mem=row["shared"])
        cp.cuda.runtime.deviceSynchronize()
    cp.cuda.runtime.profilerStop()


def collect(path):
    with open(path) as file:
        head, _, *body = csv.reader(line for line in file if line.startswith('"'))
    number = lambda text: float(text.replace(",", ""))
    whole = lambda value: int(value) if value == int(value) else value
    measured = []
    for row, line in zip(rows(), body, strict=True):
        values = dict(zip(head, line))
        row["launch"] = {key: whole(number(values[name])) for key, name in LAUNCH.items()}
        row["counters"] = {name: whole(number(values[name])) for name in counters()}
        measured.append(json.dumps(row))
    print("[\n" + ",\n".join(measured) + "\n]")


if sys.argv[1:] == ["metrics"]:
    print(",".join([*LAUNCH.values(), *counters()]))
elif sys.argv[1:] == ["launch"]:
    launch()
elif sys.argv[1:2] == ["collect"] and len(sys.argv) == 3:
    collect(sys.argv[2])
else:
    sys.exit(__doc__)
