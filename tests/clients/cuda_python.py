"""NVIDIA's cuda-python: programs of cuda.core and of cuda.bindings. `ok NAME` or `FAIL NAME why` for each.

    python cuda_python.py [NAME...]
"""
import ctypes, sys
import numpy as np
import cuda.core as core
from cuda.bindings import driver, nvrtc

device = core.Device(0)
device.set_current()
stream = device.create_stream()
ARCH = "".join(map(str, device.compute_capability))

ADD = 'extern "C" __global__ void add(int *out, int value, int n) {' \
      ' int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] += value; }'


def kernel(source, name, **options):
    program = core.Program(source, "c++", core.ProgramOptions(arch=f"sm_{ARCH}", **options))
    return program.compile("ptx").get_kernel(name)


def words(buffer, count):
    """The buffer's bytes, which the host can read, too."""
    return np.frombuffer((ctypes.c_int * count).from_address(int(buffer.handle)), dtype=np.int32)


def pinned(values):
    values = np.asarray(values, dtype=np.int32)
    buffer = core.LegacyPinnedMemoryResource().allocate(max(values.nbytes, 1))
    words(buffer, len(values))[:] = values
    return buffer


def done(result):
    """What a function of cuda.bindings returns, without the status."""
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else tuple(values)


def core_launch():
    data = pinned(np.arange(1000))
    config = core.LaunchConfig(grid=4, block=256)
    core.launch(stream, config, kernel(ADD, "add"), int(data.handle), np.int32(5), np.int32(1000))
    stream.sync()
    assert (words(data, 1000) == np.arange(1000) + 5).all()


def core_copies():
    host, back = pinned(np.arange(256)), pinned(np.zeros(256))
    memory = device.memory_resource.allocate(1024, stream=stream)
    memory.copy_from(host, stream=stream)
    memory.copy_to(back, stream=stream)
    stream.sync()
    assert (words(back, 256) == np.arange(256)).all()


def core_events():
    begin, end = (device.create_event(core.EventOptions(timing_enabled=True)) for _ in range(2))
    data, add = pinned(np.zeros(32)), kernel(ADD, "add")
    stream.record(begin)
    core.launch(stream, core.LaunchConfig(grid=1, block=32), add, int(data.handle), np.int32(1), np.int32(32))
    stream.record(end)
    end.sync()
    assert end.is_done and end - begin > 0
    other = device.create_stream()
    other.wait(end)
    other.sync()


def core_attributes():
    add = kernel(ADD, "add")
    attributes = add.attributes
    assert attributes.max_threads_per_block == 1024 and attributes.shared_size_bytes == 0
    assert add.num_arguments == 3
    assert add.occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
    assert device.properties.warp_size == 32 and "H200" in device.name


def core_linker():
    options = core.ProgramOptions(arch=f"sm_{ARCH}", relocatable_device_code=True)
    sources = ['__device__ int twice(int x) { return 2 * x; }',
               'extern __device__ int twice(int x); extern "C" __global__ void k(int *out)'
               ' { out[threadIdx.x] = twice(threadIdx.x); }']
    objects = [core.Program(source, "c++", options).compile("ptx") for source in sources]
    linked = core.Linker(*objects, options=core.LinkerOptions(arch=f"sm_{ARCH}")).link("cubin")
    data = pinned(np.zeros(32))
    core.launch(stream, core.LaunchConfig(grid=1, block=32), linked.get_kernel("k"), int(data.handle))
    stream.sync()
    assert (words(data, 32) == 2 * np.arange(32)).all()


def core_graph():
    data, add = pinned(np.zeros(32)), kernel(ADD, "add")
    config = core.LaunchConfig(grid=1, block=32)
    builder = device.create_graph_builder().begin_building()
    for value in (1, 2):
        core.launch(builder, config, add, int(data.handle), np.int32(value), np.int32(32))
    graph = builder.end_building().complete()
    assert (words(data, 32) == 0).all()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert (words(data, 32) == 6).all()


def core_cluster():
    source = 'extern "C" __global__ void k(int *out) { unsigned n; asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(n));' \
             ' if (threadIdx.x == 0) out[blockIdx.x] = n; }'
    data = pinned(np.zeros(4))
    core.launch(stream, core.LaunchConfig(grid=2, cluster=2, block=32), kernel(source, "k"), int(data.handle))
    stream.sync()
    assert (words(data, 4) == 2).all(), words(data, 4)


def core_cooperative():
    source = 'extern "C" __global__ void k(int *out) { out[blockIdx.x] = 1; }'
    data = pinned(np.zeros(8))
    config = core.LaunchConfig(grid=8, block=32, is_cooperative=True)
    core.launch(stream, config, kernel(source, "k"), int(data.handle))
    stream.sync()
    assert (words(data, 8) == 1).all()


def core_virtual_memory():
    options = core.VirtualMemoryResourceOptions(handle_type=None)
    resource = core.VirtualMemoryResource(device, config=options)
    memory = resource.allocate(1024)
    count = memory.size // 4
    host, back = pinned(np.arange(count)), pinned(np.zeros(count))
    memory.copy_from(host, stream=stream)
    memory.copy_to(back, stream=stream)
    stream.sync()
    assert (words(back, count) == np.arange(count)).all()
    memory.close()


def core_cubin():
    data = pinned(np.arange(32))
    code = core.Program(ADD, "c++", core.ProgramOptions(arch=f"sm_{ARCH}")).compile("cubin")
    config = core.LaunchConfig(grid=1, block=32)
    core.launch(stream, config, code.get_kernel("add"), int(data.handle), np.int32(5), np.int32(32))
    stream.sync()
    assert (words(data, 32) == np.arange(32) + 5).all()


def ptx_of(source):
    program = done(nvrtc.nvrtcCreateProgram(source.encode(), b"it.cu", 0, [], []))
    done(nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture=compute_{ARCH}".encode()]))
    text = b" " * done(nvrtc.nvrtcGetPTXSize(program))
    done(nvrtc.nvrtcGetPTX(program, text))
    return text


def bindings_launch():
    module = done(driver.cuModuleLoadData(np.char.array(ptx_of(ADD))))
    add = done(driver.cuModuleGetFunction(module, b"add"))
    host = np.arange(100, dtype=np.int32)
    memory = done(driver.cuMemAlloc(host.nbytes))
    done(driver.cuMemcpyHtoD(memory, host.ctypes.data, host.nbytes))
    arguments = ((memory, 7, 100), (None, ctypes.c_int, ctypes.c_int))
    done(driver.cuLaunchKernel(add, 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0))
    back = np.zeros_like(host)
    done(driver.cuMemcpyDtoH(back.ctypes.data, memory, host.nbytes))
    assert (back == host + 7).all()
    done(driver.cuMemFree(memory))
    done(driver.cuModuleUnload(module))


def bindings_virtual_memory():
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    minimum = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    part = done(driver.cuMemGetAllocationGranularity(properties, minimum))
    base = done(driver.cuMemAddressReserve(2 * part, 0, 0, 0))
    access = driver.CUmemAccessDesc()
    access.location = properties.location
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for index in range(2):
        memory = done(driver.cuMemCreate(part, properties, 0))
        done(driver.cuMemMap(int(base) + index * part, part, 0, memory, 0))
        done(driver.cuMemRelease(memory))
    done(driver.cuMemSetAccess(base, 2 * part, [access], 1))
    done(driver.cuMemsetD32(base, 9, 2 * part // 4))
    back = np.zeros(2 * part // 4, dtype=np.int32)
    done(driver.cuMemcpyDtoH(back.ctypes.data, base, 2 * part))
    assert (back == 9).all()
    done(driver.cuMemUnmap(base, 2 * part))
    done(driver.cuMemAddressFree(base, 2 * part))


PROGRAMS = [core_launch, core_copies, core_events, core_attributes, core_linker, core_graph, core_cluster,
            core_cooperative, core_virtual_memory, core_cubin, bindings_launch, bindings_virtual_memory]
for program in PROGRAMS:
    if sys.argv[1:] and program.__name__ not in sys.argv[1:]:
        continue
    try:
        program()
        print("ok  ", program.__name__, flush=True)
    except Exception as error:
        print("FAIL", program.__name__, repr(error)[:300], flush=True)
