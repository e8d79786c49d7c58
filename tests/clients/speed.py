"""How long calls of the driver take, in processor time of this process: `coalesce run -- python speed.py`."""
import ctypes, time

cuda = ctypes.CDLL("libcuda.so.1")
PTX = b".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n\0"
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
function = made("cuModuleGetFunction", made("cuModuleLoadData", PTX), b"empty")
launch = cuda.cuLaunchKernel
launch.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
to_device, to_host = cuda.cuMemcpyHtoD_v2, cuda.cuMemcpyDtoH_v2
to_device.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
to_host.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
device = made("cuMemAlloc_v2", ctypes.c_size_t(BYTES), kind=ctypes.c_uint64).value
managed = made("cuMemAllocManaged", ctypes.c_size_t(1 << 30), 1, kind=ctypes.c_uint64)
one, other = (ctypes.create_string_buffer(b"\1" * BYTES, BYTES) for _ in range(2))
address, target = ctypes.addressof(one), ctypes.addressof(other)

count = getattr(cuda, "cuCtxGetFlags")
flags = ctypes.c_uint()
print(f"a call that does nothing       {least(lambda: count(ctypes.byref(flags)), 2000):8.2f} us")
print(f"launch of an empty kernel      {least(lambda: launch(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0), 2000):8.2f} us")
for name, work in [
    ("memmove", lambda: ctypes.memmove(target, address, BYTES)),
    ("to the device", lambda: to_device(device, address, BYTES)),
    ("to the host", lambda: to_host(target, device, BYTES)),
]:
    print(f"4 MiB: {name:16}        {least(work, 20):8.2f} us")
