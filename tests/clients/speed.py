"""How long calls of the driver take, in processor time of this process: `coalesce run -- python speed.py`."""
import ctypes, time

cuda = ctypes.CDLL("libcuda.so.1")
PTX = b"""
.version 7.8
.target sm_75
.address_size 64
.visible .entry empty() { ret; }
.visible .entry store(.param .u64 to) { .reg .b64 %r; ld.param.u64 %r, [to]; st.global.u32 [%r], 1; ret; }
\0"""
BYTES = 4 << 20


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    assert status == 0, (name, status)


def made(name, *arguments, kind=ctypes.c_void_p):
    value = kind()
    call(name, ctypes.byref(value), *arguments)
    return value


def least(work, repeats):
    """The least time of one of several rounds, in microseconds."""
    times = []
    for _ in range(7):
        begin = time.process_time()
        for _ in range(repeats):
            work()
        times.append((time.process_time() - begin) / repeats * 1e6)
    return min(times)


call("cuInit", 0)
call("cuCtxSetCurrent", made("cuDevicePrimaryCtxRetain", 0))
module = made("cuModuleLoadData", PTX)
empty, store = (made("cuModuleGetFunction", module, name) for name in (b"empty", b"store"))
launch = cuda.cuLaunchKernel
launch.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
to_device, to_host = cuda.cuMemcpyHtoD_v2, cuda.cuMemcpyDtoH_v2
to_device.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
to_host.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
device = made("cuMemAlloc_v2", ctypes.c_size_t(BYTES), kind=ctypes.c_uint64).value
one, other = (ctypes.create_string_buffer(b"\1" * BYTES, BYTES) for _ in range(2))
address, target = ctypes.addressof(one), ctypes.addressof(other)


def row(name, work, repeats):
    print(f"{name:40}{least(work, repeats):8.2f} us")


flags = ctypes.c_uint()
row("a call that does nothing", lambda: cuda.cuCtxGetFlags(ctypes.byref(flags)), 2000)
pointer = ctypes.c_uint64(device)
passed = (ctypes.c_void_p * 1)(ctypes.addressof(pointer))
row("launch of an empty kernel", lambda: launch(empty, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0), 2000)
row("launch of one that stores", lambda: launch(store, 1, 1, 1, 32, 1, 1, 0, 0, passed, 0), 500)
managed = made("cuMemAllocManaged", ctypes.c_size_t(1 << 30), 1, kind=ctypes.c_uint64)
row("an empty kernel, beside 1 GiB managed", lambda: launch(empty, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0), 2000)
row("4 MiB: memmove", lambda: ctypes.memmove(target, address, BYTES), 20)
row("4 MiB: to the device", lambda: to_device(device, address, BYTES), 20)
row("4 MiB: to the host", lambda: to_host(target, device, BYTES), 20)
