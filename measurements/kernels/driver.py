"""The CUDA driver and NVML, as far as `measure.py` needs them, by ctypes: no package is needed."""

import ctypes
import time
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p

from launches import PTX, Buffer

# Attributes of a device and of a function (cuda.h).
MULTIPROCESSORS, WARP_THREADS, CORE_CLOCK, MEMORY_CLOCK, BUS_BITS, L2_BYTES = 16, 39, 13, 36, 37, 38
SHARED_BYTES, LOCAL_BYTES, REGISTERS = 1, 3, 4
NOT_SUPPORTED = 801

# Why a clock is low, by bits of NVML's answer.
HELD_BY = {"power": 0x4 | 0x80, "thermal": 0x20 | 0x40, "hardware": 0x8, "setting": 0x2}


class Failed(Exception):
    """What the driver says."""


class Gpu:
    """The first GPU, with the kernels loaded."""

    def __init__(self, ptx=PTX):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as problem:
            raise Failed(f"no CUDA driver: {problem}") from None
        self.call("cuInit", 0)
        device, context, self.module = c_int(), c_void_p(), c_void_p()
        self.call("cuDeviceGet", byref(device), 0)
        self.device = device
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", byref(self.module), c_char_p(ptx.read_bytes() + b"\0"))
        self.stream, self.start, self.end = c_void_p(), c_void_p(), c_void_p()
        self.call("cuStreamCreate", byref(self.stream), 1)
        self.call("cuEventCreate", byref(self.start), 0)
        self.call("cuEventCreate", byref(self.end), 0)
        self.l2 = self.attribute(L2_BYTES)
        self.flush_bytes = 2 * self.l2
        self.flushed = self.allocate(self.flush_bytes)
        self.nvml = Management(self)
        self.flush_ms = min(self.timed(self.flush) for _ in range(5))

    def call(self, function, *arguments):
        status = getattr(self.cuda, function)(*arguments)
        if status != 0:
            name = c_char_p()
            self.cuda.cuGetErrorName(status, byref(name))
            raise Failed(f"{function}: {(name.value or b'unknown').decode()} ({status})")

    def attribute(self, which):
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), which, self.device)
        return value.value

    def text(self, function, *arguments):
        buffer = ctypes.create_string_buffer(256)
        self.call(function, buffer, 256, *arguments)
        return buffer.value.decode()

    def machine(self):
        version = c_int()
        self.call("cuDriverGetVersion", byref(version))
        return {
            "device": self.text("cuDeviceGetName", self.device),
            "driver": self.nvml.driver,
            "cuda": f"{version.value // 1000}.{version.value % 1000 // 10}",
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "multiprocessors": self.attribute(MULTIPROCESSORS),
            "l2_bytes": self.l2,
            "max_clock_mhz": self.attribute(CORE_CLOCK) / 1000,
            "memory_clock_mhz": self.attribute(MEMORY_CLOCK) / 1000,
            "memory_bus_bits": self.attribute(BUS_BITS),
        }

    def allocate(self, size):
        address = c_ulonglong()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        return address

    def free(self, address):
        self.call("cuMemFree_v2", address)

    def function(self, name):
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), self.module, name.encode())
        return function

    def facts(self, launch):
        """What the loaded kernel takes, and how many of its blocks a multiprocessor holds."""
        function, value = self.function(launch.kernel), c_int()

        def fact(which):
            self.call("cuFuncGetAttribute", byref(value), which, function)
            return value.value

        found = {
            "registers": fact(REGISTERS),
            "local_bytes": fact(LOCAL_BYTES),
            "shared_bytes": fact(SHARED_BYTES) + launch.shared,
        }
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        self.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(value), function, threads,
                  c_size_t(launch.shared))
        found["blocks_per_multiprocessor"] = value.value
        warps = value.value * -(-threads // 32)
        found["occupancy_percent"] = 100.0 * warps * 32 / self.attribute(WARP_THREADS)
        return found

    def packed(self, function, grid, block, shared, values):
        """The arguments of cuLaunchKernel. `values` are ctypes objects."""
        pointers = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        extents = [c_uint(number) for number in (*grid, *block, shared)]
        packed = (function, *extents, self.stream, pointers, None)
        return packed, values  # the values must outlive the launches

    def fill(self, buffer, address):
        """Puts into a buffer what `host run` would."""
        if buffer.fill is None:
            self.call("cuMemsetD8_v2", address, 0, c_size_t(buffer.bytes))
            return
        values = [address, c_ulonglong(buffer.count)]
        kind = "ramp"
        if buffer.fill != "ramp":
            kind = "random"
            values.append(c_ulonglong(buffer.fill))
        function = self.function(f"fill_{kind}_{buffer.type}")
        packed, _ = self.packed(function, (1056, 1, 1), (256, 1, 1), 0, values)
        self.call("cuLaunchKernel", *packed)
        self.synchronize()

    def prepare(self, launch):
        """Makes the buffers of a launch; returns the function that launches it, and its buffers."""
        values, buffers = [], []
        for argument in launch.arguments:
            if isinstance(argument, Buffer):
                address = self.allocate(argument.bytes)
                buffers.append(address)
                self.fill(argument, address)
                values.append(address)
            else:
                values.append(ctypes.create_string_buffer(argument.data, len(argument.data)))
        for name, contents in launch.variables.items():
            address, size = c_ulonglong(), c_size_t()
            self.call("cuModuleGetGlobal_v2", byref(address), byref(size), self.module,
                      name.encode())
            self.fill(contents, address)
        self.synchronize()
        packed, kept = self.packed(self.function(launch.kernel), launch.grid, launch.block,
                                   launch.shared, values)
        submit = self.cuda.cuLaunchKernel

        def work(kept=kept):
            if status := submit(*packed):
                raise Failed(f"{launch.name}: cuLaunchKernel gives {status}")

        return work, buffers

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)
        self.call("cuCtxSynchronize")

    def reset_l2_priorities(self):
        if self.cuda.cuCtxResetPersistingL2Cache() not in (0, NOT_SUPPORTED):
            raise Failed("cuCtxResetPersistingL2Cache")

    def flush(self):
        """Starts to fill memory of twice the size of the level-2 cache."""
        self.call("cuMemsetD8Async", self.flushed, 0, c_size_t(self.flush_bytes), self.stream)

    def timed(self, work):
        """Milliseconds between two events around the work."""
        self.call("cuEventRecord", self.start, self.stream)
        work()
        self.call("cuEventRecord", self.end, self.stream)
        self.call("cuEventSynchronize", self.end)
        elapsed = c_float()
        self.call("cuEventElapsedTime", byref(elapsed), self.start, self.end)
        return elapsed.value


class Management:
    """NVML: the driver's version, and the clock. Without it both are unknown."""

    def __init__(self, gpu):
        self.nvml, self.driver = None, "unknown"
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if nvml.nvmlInit_v2() != 0:
            return
        text = ctypes.create_string_buffer(96)
        if nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
            self.driver = text.value.decode()
        self.handle, self.highest = c_void_p(), c_uint()
        address = gpu.text("cuDeviceGetPCIBusId", gpu.device).encode()
        found = nvml.nvmlDeviceGetHandleByPciBusId_v2(address, byref(self.handle)) == 0
        if found and nvml.nvmlDeviceGetMaxClockInfo(self.handle, 1, byref(self.highest)) == 0:
            self.nvml = nvml

    def clock(self):
        """The multiprocessors' clock now, the highest one (MHz), and why it is low; or None."""
        now, bits = c_uint(), c_ulonglong()
        if not self.nvml or self.nvml.nvmlDeviceGetClockInfo(self.handle, 1, byref(now)) != 0:
            return None
        self.nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle, byref(bits))
        held_by = [name for name, mask in HELD_BY.items() if bits.value & mask]
        return now.value, self.highest.value, held_by
