#!/usr/bin/env python3
"""Measures the launches of `kernels.toml` on a GPU. Needs Python 3.11, the driver, no package.

    measurements/kernels/measure.py --output h200.json            all launches, in at most --total seconds
    measurements/kernels/measure.py --ncu h200_ncu.csv            what limits each, by Nsight Compute
    measurements/kernels/measure.py --dry-run                     reads everything, needs no GPU

The PTX is compiled by the driver, as `host run` does it. Times are taken by the rules of
`docs/TIMING.md`; the data is what `host run` puts into the buffers.
"""

import argparse
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import launches as manifest
from driver import Failed, Gpu
from timing import Stopwatch

PERCENT = "avg.pct_of_peak_sustained_elapsed"
STALLS = ["barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle",
          "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "no_instruction",
          "not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait"]
METRICS = [
    "gpu__time_duration.sum", "launch__registers_per_thread", "smsp__inst_executed.sum",
    f"dram__throughput.{PERCENT}", "dram__bytes_read.sum", "dram__bytes_write.sum",
    f"lts__t_sectors.{PERCENT}", f"l1tex__data_pipe_lsu_wavefronts.{PERCENT}",
    f"l1tex__data_pipe_lsu_wavefronts_mem_shared.{PERCENT}",
    f"l1tex__t_output_wavefronts.{PERCENT}", f"sm__inst_issued.{PERCENT}",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    *[f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active"
      for pipe in ("alu", "fma", "fp64", "lsu", "xu")],
    *[f"smsp__average_warps_issue_stalled_{why}_per_issue_active.ratio" for why in STALLS],
]


def seconds(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def options():
    parser = argparse.ArgumentParser(description="Measures the launches of kernels.toml.")
    parser.add_argument("--output", type=Path, metavar="FILE.json",
                        help="where to write the times [default: the standard output]")
    parser.add_argument("--only", metavar="REGEX", default="", help="launches whose names match")
    parser.add_argument("--time-limit", type=seconds, metavar="SECONDS", default=1.5,
                        help="for each launch [default: 1.5]")
    parser.add_argument("--total", type=seconds, metavar="SECONDS", default=180,
                        help="for all of them [default: 180]")
    parser.add_argument("--once", action="store_true", help="launch once, for a profiler; no times")
    parser.add_argument("--ncu", type=Path, metavar="FILE.csv",
                        help="profile each launch by ncu, which must be in the path; no times")
    parser.add_argument("--dry-run", action="store_true", help="list the launches; needs no GPU")
    return parser.parse_args()


def shape(extents):
    return ",".join(str(extent) for extent in extents)


def dry_run(launches):
    for one in launches:
        print(f"{one.name:32} grid {shape(one.grid):14} block {shape(one.block):9} "
              f"{one.footprint / 2**20:9.3f} MiB, {len(one.arguments)} arguments")
    kernels = {one.kernel for one in launches}
    print(f"{len(launches)} launches of {len(kernels)} kernels, at most "
          f"{max(one.footprint for one in launches) / 2**30:.2f} GiB at once")


def with_buffers(gpu, one, use):
    """Makes a launch's buffers, uses it, and frees them."""
    work, buffers = gpu.prepare(one)
    try:
        return use(work)
    finally:
        gpu.synchronize()
        for buffer in buffers:
            gpu.free(buffer)


def once(gpu, launches):
    for one in launches:
        def profiled(work):
            gpu.call("cuProfilerStart")
            work()
            gpu.synchronize()
            gpu.call("cuProfilerStop")

        with_buffers(gpu, one, profiled)


def measure(gpu, launches, arguments):
    begin = time.perf_counter()
    report = {
        "machine": gpu.machine(),
        "ptx_sha256": hashlib.sha256(manifest.PTX.read_bytes()).hexdigest(),
        "launches": {},
    }
    for number, one in enumerate(launches):
        left = arguments.total - (time.perf_counter() - begin)
        limit = min(arguments.time_limit, max(left / (len(launches) - number), 0.1))
        cold, warm = with_buffers(
            gpu, one, lambda work: Stopwatch(gpu, work).measure(limit))
        report["launches"][one.name] = {
            "kernel": one.kernel,
            "grid": one.grid,
            "block": one.block,
            **gpu.facts(one),
            "footprint_bytes": one.footprint,
            "time_ms": cold["time_ms"],
            "warm_time_ms": warm["time_ms"],
            "timing": cold,
            "warm_timing": warm,
        }
        if arguments.output:  # after each launch: what was measured survives an interruption
            write(arguments.output, report)
        unsteady = "" if cold["steady"] and warm["steady"] else "  not steady"
        print(f"{one.name:32} {cold['time_ms'] * 1e3:10.2f} us +- {cold['spread_percent']:4.1f} %"
              f"  warm {warm['time_ms'] * 1e3:10.2f} us{unsteady}", file=sys.stderr)
    if not arguments.output:
        print(text_of(report), end="")
    print(f"{len(launches)} launches in {time.perf_counter() - begin:.0f} s", file=sys.stderr)


def text_of(report):
    """The report as JSON, with each launch in a line."""
    compact = lambda value: json.dumps(value, separators=(",", ":"))
    entries = {name: compact(value) for name, value in report.items() if name != "launches"}
    launches = [f"  {json.dumps(name)}: {compact(launch)}" for name, launch in report["launches"].items()]
    entries["launches"] = "{\n" + ",\n".join(launches) + "\n }"
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {text}" for name, text in entries.items()) + "\n}\n"


def write(path, report):
    """Writes the whole report, or nothing."""
    part = path.with_name(path.name + ".part")
    part.write_text(text_of(report))
    os.replace(part, path)


def profile(launches, arguments):
    """Runs this program under ncu, and writes a line for each launch."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log),
                   "--cache-control", "all", "--clock-control", "none", "--profile-from-start",
                   "off", "--metrics", ",".join(METRICS), sys.executable, __file__, "--once",
                   "--only", arguments.only]
        try:
            status = subprocess.run(command).returncode
        except FileNotFoundError:
            raise Failed("ncu is not in the path; it comes with Nsight Compute") from None
        text = log.read_text() if log.exists() else ""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))[1:]  # the first row has the units
    if status != 0 or len(rows) != len(launches):
        print(text[-2000:], file=sys.stderr)
        raise Failed(f"ncu gave {len(rows)} rows for {len(launches)} launches (status {status})")
    with arguments.ncu.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["launch", *METRICS])
        for one, row in zip(launches, rows):
            if one.kernel not in row["Kernel Name"]:
                raise Failed(f"ncu's row for {one.name} is of {row['Kernel Name']}")
            table.writerow([one.name, *[row.get(name, "").replace(",", "") for name in METRICS]])


def main():
    arguments = options()
    launches = manifest.read()
    manifest.check(launches)
    manifest.check(manifest.read("check"))
    launches = [one for one in launches if re.search(arguments.only, one.name)]
    if not launches:
        raise manifest.Wrong(f"no launch matches --only {arguments.only}")
    if arguments.dry_run:
        dry_run(launches)
    elif arguments.ncu:
        profile(launches, arguments)
    elif arguments.once:
        once(Gpu(), launches)
    else:
        measure(Gpu(), launches, arguments)


if __name__ == "__main__":
    try:
        main()
    except (Failed, manifest.Wrong, OSError, re.error) as problem:
        print(f"measure.py: {problem}", file=sys.stderr)
        sys.exit(2)
