"""Launches: configurations, kernels and arguments."""

from common import each, lines

FIELDS = "grid cluster block shmem_size is_cooperative programmatic_stream_serialization"
SIZES = [
    "1",
    "(2,)",
    "(2, 3)",
    "(2, 3, 4)",
    "[2, 3]",
    "0",
    "-1",
    "(1, 0)",
    "(1, 2, 3, 4)",
    "()",
    "None",
    "'x'",
    "1.5",
    "(1, 'x')",
    "True",
    "np.int32(3)",
    "2**40",
    "np.array([2, 3])",
]
# arguments | of the kernel: what its parameters are given
ARGUMENTS = {
    "one_int": [
        "1",
        "-1",
        "2**31",
        "2**40",
        "1.5",
        "None",
        "'x'",
        "np.int32(5)",
        "np.int64(5)",
        "np.float32(5)",
        "ctypes.c_int(5)",
        "ctypes.c_long(5)",
        "1+2j",
        "[1]",
        "b'a'",
        "object()",
    ],
    "one_float": [
        "1.5",
        "1",
        "np.float64(1.5)",
        "ctypes.c_float(1.5)",
        "ctypes.c_double(1.5)",
        "np.int32(1)",
        "'x'",
        "None",
    ],
    "one_double": ["1.5", "np.float64(1.5)", "ctypes.c_double(1.5)", "1"],
    "one_long": ["1", "2**62", "-2**62", "2**64", "np.int64(7)", "np.uint64(2**63)", "ctypes.c_longlong(5)"],
    "one_char": ["ctypes.c_char(b'a')", "np.int8(5)", "ctypes.c_int8(5)", "ctypes.c_char(97)"],
    "one_bool": ["True", "False", "np.bool_(True)", "ctypes.c_bool(True)"],
    "one_complex": ["1+2j", "np.complex64(1+2j)", "np.complex128(1+2j)"],
    "one_pointer": [
        "buffer",
        "int(buffer.handle)",
        "buffer.handle",
        "None",
        "0",
        "np.intp(int(buffer.handle))",
        "ctypes.c_void_p(int(buffer.handle))",
        "view",
        "graph_view",
        "np.zeros(4)",
        "'x'",
        "host_buffer",
        "closed_buffer()",
    ],
}

BEHAVIOURS = [
    *each("core.LaunchConfig(grid={size}, block=1).grid", size=SIZES),
    *each("core.LaunchConfig(grid=1, block={size}).block", size=SIZES),
    *each("core.LaunchConfig(grid=(8, 8, 8), block=1, cluster={size}).cluster", size=SIZES),
    *each("core.LaunchConfig(grid=(8, 8, 8), block=1, cluster={size}).grid", size=SIZES[:4]),
    *each(
        "core.LaunchConfig(grid=1, block=1, shmem_size={size}).shmem_size",
        size=["0", "1024", "-1", "None", "'x'", "1.5", "True", "2**40"],
    ),
    *each(
        "core.LaunchConfig(grid=1, block=1, {field}={value}).{field}",
        field="is_cooperative programmatic_stream_serialization",
        value=["True", "False", "None", "1", "0", "'x'", "[]"],
    ),
    *each(
        "core.LaunchConfig({arguments}).{field}",
        arguments=[
            "1, None, 1",
            "grid=1, block=1",
            "1, 1, 1",
            "(2, 2), None, (4, 4), 64",
            "grid=(4,), cluster=2, block=32",
            "1, None, 1, 0, True",
            "1, None, 1, 0, False, True",
        ],
        field=FIELDS,
    ),
    *each(
        "core.LaunchConfig({arguments})",
        arguments=[
            "",
            "1",
            "grid=1",
            "block=1",
            "1, None, 1, 0, True, True, 5",
            "grid=1, block=1, none=1",
            "None, None, None",
            "1, 1",
        ],
    ),
    *each(
        "config = core.LaunchConfig(grid=1, block=1); config.{field} = {value}; config.{field}",
        field="grid block cluster",
        value="2 (2,3) None 'x' 0",
    ),
    *each(
        "config = core.LaunchConfig(grid=1, block=1); config.{field} = {value}; config.{field}",
        field="shmem_size is_cooperative programmatic_stream_serialization",
        value="5 True None 'x'",
    ),
    *each(
        "core.LaunchConfig(grid=1, block=1) {operator} {other}",
        operator="== !=",
        other=[
            "core.LaunchConfig(grid=1, block=1)",
            "core.LaunchConfig(grid=(1, 1, 1), block=1)",
            "core.LaunchConfig(grid=2, block=1)",
            "None",
            "5",
        ],
    ),
    *each(
        "hash(core.LaunchConfig(grid=1, block=1)) == hash(core.LaunchConfig(grid={size}, block=1))", size="1 (1,1,1) 2"
    ),
    *each(
        "shape(repr(core.LaunchConfig({arguments})))",
        arguments=[
            "grid=1, block=1",
            "grid=(2, 3), block=4, shmem_size=8",
            "grid=4, cluster=2, block=1",
            "grid=1, block=1, is_cooperative=True",
        ],
    ),
    *each(
        "{done}(core.LaunchConfig(grid=1, block=1))",
        done="copy.copy copy.deepcopy len iter bool callable int dataclasses.asdict dataclasses.is_dataclass pickle.dumps type",
    ),
    *each(
        "core.launch({stream}, one, kernel, buffer)",
        stream=[
            "stream",
            "None",
            "5",
            "'x'",
            "device",
            "core.LEGACY_DEFAULT_STREAM",
            "core.PER_THREAD_DEFAULT_STREAM",
            "gives",
            "closed(device.create_stream())",
            "object()",
            "stream.handle",
            "buffer",
        ],
    ),
    *each(
        "core.launch(stream, {config}, kernel, buffer)",
        config=[
            "one",
            "None",
            "5",
            "{'grid': 1, 'block': 1}",
            "core.LaunchConfig(grid=1, block=1024)",
            "core.LaunchConfig(grid=1, block=1025)",
            "core.LaunchConfig(grid=1, block=1, shmem_size=1 << 30)",
            "core.LaunchConfig(grid=1, block=1, shmem_size=1024)",
            "core.LaunchConfig(grid=2**31, block=1)",
            "core.LaunchConfig(grid=(1, 70000), block=1)",
            "core.LaunchConfig(grid=4, cluster=2, block=1)",
            "core.LaunchConfig(grid=1, cluster=64, block=1)",
            "core.LaunchConfig(grid=1, block=1, is_cooperative=True)",
            "core.LaunchConfig(grid=100000, block=1, is_cooperative=True)",
            "core.LaunchConfig(grid=1, block=(1, 1, 65))",
            "core.LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True)",
        ],
    ),
    *each(
        "core.launch(stream, one, {kernel}, buffer)",
        kernel=[
            "kernel",
            "None",
            "5",
            "'k'",
            "cubin",
            "int(kernel.handle)",
            "core.Kernel.from_handle(int(kernel.handle))",
            "lambda: 0",
        ],
    ),
    *each(
        "core.launch(stream, one, kernel, {arguments})",
        arguments=["buffer", "", "buffer, buffer", "buffer, 1", "*[buffer]", "kernel_args=buffer", "(buffer,)"],
    ),
    *each(
        "core.launch({arguments})",
        arguments=[
            "",
            "stream",
            "stream, one",
            "one, stream, kernel, buffer",
            "stream=stream, config=one, kernel=kernel",
            "stream, one, none_",
            "config=one, stream=stream, kernel=none_",
        ],
    ),
    *[
        snippet
        for kernel, values in ARGUMENTS.items()
        for snippet in each("run({kernel!r}, {value})", kernel=[kernel], value=values)
    ],
    *lines("""
        core.launch(stream, one, none_) is None
        core.launch(stream, one, none_, 1)
        in_thread(lambda: core.launch(stream, one, none_))
        in_thread(lambda: core.Device(0).set_current() or core.launch(stream, one, none_))
        core.launch(device.create_stream(), one, none_)
        core.launch(core.Device(1).default_stream, one, none_)
        core.LaunchConfig.__new__(core.LaunchConfig)
        one.none
        core.LaunchConfig(grid=1, block=1).none = 5
        issubclass(type("Mine", (core.LaunchConfig,), {}), core.LaunchConfig)
        copy.copy(core.LaunchConfig(grid=2, block=3)).block
        copy.deepcopy(core.LaunchConfig(grid=2, block=3)) == core.LaunchConfig(grid=2, block=3)
        {core.LaunchConfig(grid=1, block=1): 1}[core.LaunchConfig(grid=1, block=1)]
        len({core.LaunchConfig(grid=1, block=1), core.LaunchConfig(grid=1, block=1)})
        pickle.loads(pickle.dumps(core.LaunchConfig(grid=2, block=3))).grid
        dataclasses.replace(core.LaunchConfig(grid=2, block=3), grid=4).grid
        weakref.ref(one)() is one
        dies(lambda: core.LaunchConfig(grid=1, block=1))
    """),
]

KERNELS = """
extern "C" __global__ void one_int(char* out, int x) { *(int*)out = x; }
extern "C" __global__ void one_float(char* out, float x) { *(float*)out = x; }
extern "C" __global__ void one_double(char* out, double x) { *(double*)out = x; }
extern "C" __global__ void one_long(char* out, long long x) { *(long long*)out = x; }
extern "C" __global__ void one_char(char* out, char x) { *out = x; }
extern "C" __global__ void one_bool(char* out, bool x) { *out = x; }
struct two { float x, y; };
extern "C" __global__ void one_complex(char* out, two x) { *(two*)out = x; }
extern "C" __global__ void one_pointer(char* out, char* x) { *out = x != nullptr; }
"""


def names(shared):
    core, stream, np = shared.core, shared.stream, shared.np
    code = core.Program(KERNELS, "c++", {"arch": shared.arch}).compile("cubin")
    out = shared.pinned.allocate(8)
    seen = np.from_dlpack(out)

    class Gives:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    def run(name, value):
        seen[:] = 0
        core.launch(stream, core.LaunchConfig(grid=1, block=1), code.get_kernel(name), out, value)
        stream.sync()
        return seen.tobytes()

    return {
        "run": run,
        "gives": Gives(),
        "none_": shared.cubin.get_kernel("none"),
        "view": shared.View.from_any_interface(shared.buffer, -1),
        "graph_view": shared.utils,
        "host_buffer": shared.pinned.allocate(16),
        "closed_buffer": lambda: shared.closed(shared.resource.allocate(16, stream=stream)),
    }
