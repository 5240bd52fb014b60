# A client of the driver: cuda.core compiling, linking and launching in every form, and cuda.bindings beside it.
import ctypes
import pickle

import numpy as np
from checked import checked
from cuda.bindings import driver
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    launch,
)

device = Device()
device.set_current()
stream = device.create_stream()
host = LegacyPinnedMemoryResource().allocate(4096)
numbers = np.from_dlpack(host).view(np.int32)
one = LaunchConfig(grid=1, block=1)
arch = f"sm_{device.arch}"


KERNEL = 'extern "C" __global__ void k(int* p, int v) { *p = v; }'
MAIN = 'extern "C" __device__ int twice(int); extern "C" __global__ void k(int* p, int v) { *p = twice(v) / 2; }'
HELP = 'extern "C" __device__ int twice(int v) { return 2 * v; }'


def runs(code, name="k"):
    numbers[0] = 0
    launch(stream, one, code.get_kernel(name), host, 7)
    stream.sync()
    assert numbers[0] == 7, numbers[0]


def every_target():
    for kind in ("ptx", "cubin"):
        runs(Program(KERNEL, "c++", options=ProgramOptions(arch=arch)).compile(kind))


def templates():
    source = "template <class T> __global__ void fill(T* p, T v) { *p = v; }"
    code = Program(source, "c++", options=ProgramOptions(arch=arch)).compile("cubin", name_expressions=("fill<int>",))
    runs(code, "fill<int>")


def ptx_programs():
    ptx = Program(KERNEL, "c++", options=ProgramOptions(arch=arch)).compile("ptx").code.decode()
    runs(Program(ptx, "ptx", options=ProgramOptions(arch=arch)).compile("cubin"))


def pickles():
    for kind in ("ptx", "cubin"):
        code = Program(KERNEL, "c++", options=ProgramOptions(arch=arch)).compile(kind)
        runs(pickle.loads(pickle.dumps(code)))
    runs(ObjectCode.from_cubin(bytes(code.code)))


def linking_ptx():
    options = ProgramOptions(arch=arch, relocatable_device_code=True)
    parts = [Program(text, "c++", options=options).compile("ptx") for text in (MAIN, HELP)]
    runs(Linker(*parts, options=LinkerOptions(arch=arch)).link("cubin"))


def linking_cubins():
    options = ProgramOptions(arch=arch, relocatable_device_code=True)
    parts = [Program(text, "c++", options=options).compile("cubin") for text in (MAIN, HELP)]
    runs(Linker(*parts, options=LinkerOptions(arch=arch)).link("cubin"))


def linking_lto():
    options = ProgramOptions(arch=arch, link_time_optimization=True)
    parts = [Program(text, "c++", options=options).compile("ltoir") for text in (MAIN, HELP)]
    runs(Linker(*parts, options=LinkerOptions(arch=arch, link_time_optimization=True)).link("cubin"))
    ptx = Linker(*parts, options=LinkerOptions(arch=arch, link_time_optimization=True, ptx=True)).link("ptx")
    runs(ptx)


def many_arguments():
    source = """
    struct Pair { double a; int b; };
    extern "C" __global__ void k(int* out, char c, short s, int i, long long l, float f, double d, bool b, void* p) {
      out[0] = c; out[1] = s; out[2] = i; out[3] = (int)l; out[4] = (int)f; out[5] = (int)d; out[6] = b; out[7] = !!p;
    }"""
    code = Program(source, "c++", options=ProgramOptions(arch=arch)).compile("cubin")
    arguments = (np.int8(1), np.int16(2), np.int32(3), np.int64(4), np.float32(5), np.float64(6), True, host.handle)
    launch(stream, one, code.get_kernel("k"), host, *arguments)
    stream.sync()
    assert list(numbers[:8]) == [1, 2, 3, 4, 5, 6, 1, 1], numbers[:8]
    arguments = (ctypes.c_int8(1), ctypes.c_int16(2), ctypes.c_int32(3), ctypes.c_int64(4), ctypes.c_float(5))
    launch(stream, one, code.get_kernel("k"), host, *arguments, ctypes.c_double(6), ctypes.c_bool(True), host.handle)
    stream.sync()


def cooperative_groups():
    source = """
    extern "C" __global__ void sum(int* out, int* steps) {
      int blocks = gridDim.x;
      atomicAdd(&out[0], 1);
      // a barrier of the whole grid, by hand: what grid.sync() does
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&steps[0], 1);
        while (*(volatile int*)&steps[0] < blocks) {}
        __threadfence();
      }
      __syncthreads();
      if (out[0] != blocks * (int)blockDim.x) atomicAdd(&out[1], 1);
    }"""
    code = Program(source, "c++", options=ProgramOptions(arch=arch)).compile("cubin")
    numbers[:] = 0
    config = LaunchConfig(grid=6, block=64, is_cooperative=True)
    launch(stream, config, code.get_kernel("sum"), host, host.handle + 256)
    stream.sync()
    assert numbers[0] == 384 and numbers[1] == 0, numbers[:2]


def include_folder():
    import pathlib

    import nvidia.cu13

    return str(pathlib.Path(list(nvidia.cu13.__path__)[0]) / "include")


def grid_sync():
    source = """
    #include <cooperative_groups.h>
    extern "C" __global__ void sum(int* out) {
      auto grid = cooperative_groups::this_grid();
      for (int round = 1; round <= 3; ++round) {
        atomicAdd(&out[0], 1);
        grid.sync();
        if (*(volatile int*)&out[0] != round * (int)(gridDim.x * blockDim.x)) atomicAdd(&out[1], 1);
        grid.sync();
      }
    }"""
    folder = include_folder()
    options = ProgramOptions(arch=arch, include_path=[folder, folder + "/cccl"])
    code = Program(source, "c++", options=options).compile("cubin")
    numbers[:] = 0
    launch(stream, LaunchConfig(grid=5, block=40, is_cooperative=True), code.get_kernel("sum"), host)
    stream.sync()
    assert numbers[0] == 600 and numbers[1] == 0, numbers[:2]


def events():
    first, second = (device.create_event({"timing_enabled": True}) for _ in range(2))
    stream.record(first)
    runs(Program(KERNEL, "c++", options=ProgramOptions(arch=arch)).compile("cubin"))
    stream.record(second)
    second.sync()
    assert second - first >= 0 and first.is_done
    other = device.create_stream(options={"priority": -1, "nonblocking": False})
    other.wait(second)
    other.wait(stream)
    assert other.priority == -1 and not other.is_nonblocking
    other.sync()
    assert Stream.from_handle(int(other.handle)) == other


def bindings():
    def ok(answer):
        assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer[0]
        return answer[1] if len(answer) == 2 else answer[1:]

    ok(driver.cuInit(0))
    pointer = ok(driver.cuMemAlloc(256))
    ok(driver.cuMemsetD32(pointer, 5, 64))
    back = np.zeros(64, dtype=np.int32)
    ok(driver.cuMemcpyDtoH(back.ctypes.data, pointer, 256))
    assert (back == 5).all()
    ok(driver.cuMemFree(pointer))
    graph = ok(driver.cuGraphCreate(0))
    node = ok(driver.cuGraphAddEmptyNode(graph, None, 0))
    assert ok(driver.cuGraphNodeGetType(node)) == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuGraphLaunch(executable, driver.CUstream(int(stream.handle))))
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))
    assert driver.cuGraphDestroy(graph)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE


def errors():
    bad = LaunchConfig(grid=1, block=2048)
    code = Program(KERNEL, "c++", options=ProgramOptions(arch=arch)).compile("cubin")
    try:
        launch(stream, bad, code.get_kernel("k"), host, 1)
    except Exception as error:
        assert "CUDA_ERROR_INVALID_VALUE" in str(error), error
    else:
        raise AssertionError("a block of 2048 threads went through")
    try:
        code.get_kernel("absent")
    except Exception as error:
        assert "NOT_FOUND" in str(error), error


if __name__ == "__main__":
    for part in (
        every_target,
        templates,
        ptx_programs,
        pickles,
        linking_ptx,
        linking_cubins,
        linking_lto,
        many_arguments,
        cooperative_groups,
        grid_sync,
        events,
        bindings,
        errors,
    ):
        checked(part.__name__, part)
