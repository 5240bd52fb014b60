"""Launching: every kind of argument on the device, and every wrong one refused before anything runs."""

import ctypes
import enum
import threading
import warnings

import numpy as np
import pytest
from conftest import SAXPY, compile_cubin

import cucore

HEADER = b".version 7.0\n.target sm_70\n.address_size 64\n"

ONE = cucore.LaunchConfig(grid=1, block=1)

# One kernel per C++ type: it stores its argument, and a guard value behind it that shows the width was right.
STORE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Pair { float x; int y; };
struct Complex64 { float re, im; };
struct Complex128 { double re, im; };
enum Color : unsigned char { red, green };
template <class T> __global__ void store(T* out, T value, unsigned long long guard) {
  if (guard == 0x1122334455667788ull) *out = value;
}
template <class T> __global__ void store_pointer(unsigned long long* out, T* value, unsigned long long guard) {
  if (guard == 0x1122334455667788ull) *out = reinterpret_cast<unsigned long long>(value);
}
"""
GUARD = 0x1122334455667788
TYPES = ["bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long",
         "unsigned long long", "float", "double", "__half", "__nv_bfloat16", "Pair", "Complex64",
         "Complex128"]  # fmt: skip
NAMES = {t: f"store<{t}>" for t in TYPES}


@pytest.fixture(scope="module")
def store_code():
    return compile_cubin(STORE, [*NAMES.values(), "store_pointer<float>"])


class Number(enum.IntEnum):
    SEVEN = 7


class FloatSubclass(float):
    pass


class CtypesPair(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_int)]


pair_dtype = np.dtype([("x", np.float32), ("y", np.int32)])

CASES = [
    # parameter type, argument, dtype of the result, expected
    ("bool", True, np.bool_, True),
    ("bool", np.bool_(True), np.bool_, True),
    ("bool", ctypes.c_bool(True), np.bool_, True),
    ("bool", 1, np.bool_, True),
    ("signed char", -5, np.int8, -5),
    ("signed char", np.int8(-5), np.int8, -5),
    ("signed char", ctypes.c_int8(-5), np.int8, -5),
    ("signed char", ctypes.c_char(b"A"), np.int8, 65),
    ("unsigned char", 200, np.uint8, 200),
    ("unsigned char", np.uint8(200), np.uint8, 200),
    ("unsigned char", ctypes.c_uint8(200), np.uint8, 200),
    ("short", -3000, np.int16, -3000),
    ("short", np.int16(-3000), np.int16, -3000),
    ("short", ctypes.c_int16(-3000), np.int16, -3000),
    ("unsigned short", 60000, np.uint16, 60000),
    ("unsigned short", np.uint16(60000), np.uint16, 60000),
    ("unsigned short", ctypes.c_uint16(60000), np.uint16, 60000),
    ("int", -(2**31), np.int32, -(2**31)),
    ("int", Number.SEVEN, np.int32, 7),
    ("int", True, np.int32, 1),
    ("int", np.int32(-9), np.int32, -9),
    ("int", ctypes.c_int(-9), np.int32, -9),
    ("int", np.int64(-9), np.int32, -9),
    ("int", ctypes.c_long(-9), np.int32, -9),
    ("long long", np.uint8(200), np.int64, 200),
    ("unsigned char", np.uint64(200), np.uint8, 200),
    ("unsigned", 2**32 - 1, np.uint32, 2**32 - 1),
    ("unsigned", np.uint32(4000000000), np.uint32, 4000000000),
    ("unsigned", ctypes.c_uint32(4000000000), np.uint32, 4000000000),
    ("long long", -(2**63), np.int64, -(2**63)),
    ("long long", np.int64(-(2**40)), np.int64, -(2**40)),
    ("long long", np.longlong(5), np.int64, 5),
    ("long long", ctypes.c_int64(-(2**40)), np.int64, -(2**40)),
    ("unsigned long long", 2**64 - 1, np.uint64, 2**64 - 1),
    ("unsigned long long", np.uint64(2**63), np.uint64, 2**63),
    ("unsigned long long", ctypes.c_size_t(2**63), np.uint64, 2**63),
    ("float", 2.5, np.float32, 2.5),
    ("float", FloatSubclass(2.5), np.float32, 2.5),
    ("float", np.float32(2.5), np.float32, 2.5),
    ("float", ctypes.c_float(2.5), np.float32, 2.5),
    ("float", 3, np.float32, 3.0),
    ("double", 2.1, np.float64, 2.1),
    ("double", np.float64(2.1), np.float64, 2.1),
    ("double", ctypes.c_double(2.1), np.float64, 2.1),
    ("__half", 1.5, np.float16, 1.5),
    ("__half", np.float16(1.5), np.float16, 1.5),
    ("__nv_bfloat16", 1.5, np.uint16, 0x3FC0),
    ("Pair", CtypesPair(1.5, 7), pair_dtype, (1.5, 7)),
    ("Pair", np.array([(1.5, 7)], pair_dtype)[0], pair_dtype, (1.5, 7)),
    ("Complex64", 1 + 2j, np.complex64, 1 + 2j),
    ("Complex64", np.complex64(1 + 2j), np.complex64, 1 + 2j),
    ("Complex128", 1 + 2j, np.complex128, 1 + 2j),
    ("Complex128", np.complex128(1 + 2j), np.complex128, 1 + 2j),
    # Bits of the parameter's size, as programs for cuda.core 1.2 pass what it has no type for.
    ("__half", np.uint16(0x3E00), np.float16, 1.5),
    ("__nv_bfloat16", np.uint16(0x3FC0), np.uint16, 0x3FC0),
    ("Pair", 7 << 32, pair_dtype, (0.0, 7)),
]


IDS = [f"{case[0]}-{type(case[1]).__name__}-{i}" for i, case in enumerate(CASES)]


@pytest.mark.parametrize(
    ("kind", "argument", "dtype", "expected"), CASES, ids=IDS
)  # fmt: skip
def test_an_argument_arrives(stream, pinned, store_code, kind, argument, dtype, expected):
    kernel = store_code.get_kernel(NAMES[kind])
    out = pinned.allocate(np.dtype(dtype).itemsize)
    result = np.frombuffer(out, dtype)
    memoryview(out)[:] = b"\xcc" * out.size
    cucore.launch(stream, ONE, kernel, out, argument, GUARD)
    stream.sync()
    assert result[0] == np.array([expected], dtype)[0]


class CudaArray:
    """What CuPy's and PyTorch's arrays look like to others."""

    def __init__(self, address, stream=None):
        self.__cuda_array_interface__ = {
            "shape": (2,), "typestr": "<f4", "data": (address, False), "version": 3, "stream": stream,
        }  # fmt: skip


class DLPackOf:
    """An array that has DLPack and nothing else."""

    def __init__(self, buffer):
        self.buffer = buffer

    def __dlpack_device__(self):
        return self.buffer.__dlpack_device__()

    def __dlpack__(self, **keywords):
        return self.buffer.__dlpack__(**keywords)


class StandsFor:
    def __init__(self, value):
        self.value = value

    def __kernel_argument__(self):
        return self.value


@pytest.mark.parametrize(
    "pointer",
    ["buffer", "int", "None", "c_void_p", "POINTER", "uint64", "cuda_array", "dlpack", "stands_for", "CUdeviceptr"],
)
def test_a_pointer_arrives(stream, pinned, store_code, pointer):
    if pointer == "CUdeviceptr":
        driver = pytest.importorskip("cuda.bindings.driver")
    out, target = pinned.allocate(8), pinned.allocate(8)
    address = target.handle
    arguments = {
        "buffer": lambda: target,
        "int": lambda: address,
        "None": lambda: None,
        "c_void_p": lambda: ctypes.c_void_p(address),
        "POINTER": lambda: ctypes.cast(address, ctypes.POINTER(ctypes.c_float)),
        "uint64": lambda: np.uint64(address),
        "cuda_array": lambda: CudaArray(address),
        "dlpack": lambda: DLPackOf(target),
        "stands_for": lambda: StandsFor(address),
        "CUdeviceptr": lambda: driver.CUdeviceptr(int(address)),
    }
    argument = arguments[pointer]()
    cucore.launch(stream, ONE, store_code.get_kernel("store_pointer<float>"), out, argument, GUARD)
    stream.sync()
    assert np.frombuffer(out, np.uint64)[0] == (0 if pointer == "None" else address)


@pytest.mark.parametrize(
    ("kind", "argument", "expected"),
    [
        ("bool", 2, OverflowError),
        ("signed char", 128, OverflowError),
        ("unsigned char", 256, OverflowError),
        ("unsigned char", -1, OverflowError),
        ("short", -32769, OverflowError),
        ("int", 2**31, OverflowError),
        ("unsigned", -1, OverflowError),
        ("unsigned", 2**32, OverflowError),
        ("long long", 2**63, OverflowError),
        ("long long", 2**64, OverflowError),
        ("unsigned long long", 2**64, OverflowError),
        ("unsigned long long", -(2**63) - 1, OverflowError),
        ("int", 1.5, TypeError),
        ("int", np.int64(2**31), OverflowError),
        ("unsigned char", ctypes.c_int(-1), OverflowError),
        ("int", np.float32(1), TypeError),
        ("int", None, TypeError),
        ("float", np.float64(1), TypeError),
        ("float", np.int32(1), TypeError),
        ("float", True, TypeError),
        ("double", np.float32(1), TypeError),
        ("float", 1j, TypeError),
        ("int", "1", TypeError),
        ("int", b"1", TypeError),
        ("int", [1], TypeError),
        ("int", (1,), TypeError),
        ("int", np.array([1], np.int32), TypeError),
        ("int", np.array(1, np.int32), TypeError),
        ("int", np.datetime64(0, "s"), TypeError),
        ("double", np.longdouble(1), TypeError),
        ("int", object(), TypeError),
        ("Complex128", 5, TypeError),
        ("Complex128", 5.0, TypeError),
        ("Pair", True, TypeError),
        ("Pair", ctypes.c_int(5), TypeError),
        ("__half", np.int16(5), TypeError),
        ("__nv_bfloat16", np.float16(5), TypeError),
        ("float", 2**24 + 1, OverflowError),
    ],
)
def test_a_wrong_argument_is_refused(stream, pinned, store_code, kind, argument, expected):
    kernel = store_code.get_kernel(NAMES[kind])
    out = pinned.allocate(16)
    view = np.frombuffer(out, np.uint8)
    view[:] = 0xCC
    with pytest.raises(expected, match="store") as caught:
        cucore.launch(stream, ONE, kernel, out, argument, GUARD)
    assert "argument 2" in str(caught.value), caught.value
    stream.sync()
    assert (view == 0xCC).all()


def test_an_object_may_stand_for_the_bytes_of_a_struct(stream, pinned, store_code):
    out = pinned.allocate(8)
    expected = np.array([(1.5, 7)], pair_dtype).tobytes()
    for given in (expected, bytearray(expected), memoryview(expected)):
        np.frombuffer(out, np.uint8)[:] = 0
        cucore.launch(stream, ONE, store_code.get_kernel("store<Pair>"), out, StandsFor(given), GUARD)
        stream.sync()
        assert bytes(memoryview(out)) == expected


def test_scalars_of_ml_dtypes(stream, pinned, store_code):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    out = pinned.allocate(2)
    cucore.launch(stream, ONE, store_code.get_kernel("store<__nv_bfloat16>"), out, ml_dtypes.bfloat16(1.5), GUARD)
    stream.sync()
    assert np.frombuffer(out, np.uint16)[0] == 0x3FC0
    with pytest.raises(TypeError, match="bfloat16"):
        cucore.launch(stream, ONE, store_code.get_kernel("store<__half>"), out, ml_dtypes.bfloat16(1.5), GUARD)


def test_a_subclass_of_a_scalar_passes_as_the_scalar(stream, pinned, store_code):
    class Meters(np.float32):
        pass

    class Count(ctypes.c_int):
        pass

    out = pinned.allocate(4)
    cucore.launch(stream, ONE, store_code.get_kernel("store<float>"), out, Meters(2.5), GUARD)
    stream.sync()
    assert np.frombuffer(out, np.float32)[0] == 2.5
    cucore.launch(stream, ONE, store_code.get_kernel("store<int>"), out, Count(-3), GUARD)
    stream.sync()
    assert np.frombuffer(out, np.int32)[0] == -3


def test_an_array_written_on_another_stream_is_waited_for(device, stream, pinned):
    kernel = compile_cubin('extern "C" __global__ void copy(int* to, const int* from) { *to = *from; }').get_kernel(
        "copy"
    )
    other = device.create_stream()
    source, out = pinned.allocate(4), pinned.allocate(4)
    np.frombuffer(out, np.int32)[0] = 0
    source.fill(np.int32(5), stream=other)
    cucore.launch(stream, ONE, kernel, out, CudaArray(source.handle, int(other.handle)))
    stream.sync()
    assert np.frombuffer(out, np.int32)[0] == 5


def test_a_refusal_names_kernel_position_parameter_expected_and_given(stream, store_code, pinned):
    kernel = store_code.get_kernel("store<int>")
    with pytest.raises(TypeError) as caught:
        cucore.launch(stream, ONE, kernel, pinned.allocate(4), np.float32(1), GUARD)
    for part in ("argument 2", "store<int>(int*, int, unsigned long long)", "signed integer of 4 bytes (int)",
                 "floating-point number of 4 bytes", "given: numpy.float32"):  # fmt: skip
        assert part in str(caught.value)
    ptx = (
        b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 here, .param .f32 x)\n{ ret; }\n"
    )
    named = cucore.ObjectCode.from_ptx(ptx).get_kernel("k")
    with pytest.raises(TypeError, match=r"argument 2 \('x'\) of Kernel 'k'"):
        cucore.launch(stream, ONE, named, 0, "text")
    with pytest.raises(
        TypeError, match="the parameter is an integer of 8 bytes .*the argument a floating-point number"
    ):
        cucore.launch(stream, ONE, named, 1.5, 1)


def test_unsupported_types_are_named(stream, store_code, pinned):
    kernel = store_code.get_kernel("store<int>")
    with pytest.raises(TypeError, match="unsupported type str"):
        cucore.launch(stream, ONE, kernel, pinned.allocate(4), "text", GUARD)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 100])
def test_the_number_of_arguments_is_checked(stream, pinned, store_code, count):
    arguments = [pinned.allocate(4), 1, GUARD, *range(200)][:count]
    with pytest.raises(TypeError, match=r"store.*3|3.*store"):
        cucore.launch(stream, ONE, store_code.get_kernel("store<int>"), *arguments)


def test_a_closed_buffer_is_refused(stream, pinned, store_code):
    buffer = pinned.allocate(4)
    buffer.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        cucore.launch(stream, ONE, store_code.get_kernel("store<int>"), buffer, 1, GUARD)


@pytest.mark.parametrize(
    ("position", "wrong", "expected"),
    [(0, None, TypeError), (0, 5, TypeError), (1, None, TypeError), (1, 5, TypeError), (1, {"block": 1}, ValueError),
     (1, {"grid": 1, "block": 1, "shape": 2}, TypeError), (2, None, TypeError), (2, "kernel", TypeError)],
)  # fmt: skip
def test_stream_config_and_kernel_are_checked(stream, pinned, store_code, position, wrong, expected):
    arguments = [stream, ONE, store_code.get_kernel("store<int>")]
    arguments[position] = wrong
    with pytest.raises(expected):
        cucore.launch(*arguments, pinned.allocate(4), 1, GUARD)


def test_launch_takes_keywords_and_a_dict(stream, store_code, pinned):
    kernel = compile_cubin('extern "C" __global__ void nothing() {}').get_kernel("nothing")
    cucore.launch(stream, {"grid": 1, "block": (32, 2)}, kernel)
    cucore.launch(stream=stream, config=ONE, kernel=kernel)
    cucore.launch(stream, ONE, kernel=kernel)
    for bad in ({"kernal": kernel}, {}):
        with pytest.raises(TypeError):
            cucore.launch(stream, ONE, **bad)
    with pytest.raises(TypeError):
        cucore.launch()
    assert cucore.launch.__text_signature__ == "(stream, config, kernel, *kernel_args)"
    stream.sync()


def test_a_closed_stream_is_refused(device, store_code, pinned):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        cucore.launch(stream, ONE, store_code.get_kernel("store<int>"), pinned.allocate(4), 1, GUARD)


def test_a_foreign_stream_works_and_warns(stream, store_code, pinned):
    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    out = pinned.allocate(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cucore.launch(Foreign(), ONE, store_code.get_kernel("store<int>"), out, 5, GUARD)
    stream.sync()
    assert [w.category for w in caught] == [DeprecationWarning]
    assert np.frombuffer(out, np.int32)[0] == 5


@pytest.mark.parametrize("grid", [1, 4, (2, 3), (2, 2, 2)])
@pytest.mark.parametrize("block", [1, 64, (8, 4), (4, 2, 2)])
def test_the_whole_grid_runs(device, stream, pinned, grid, block):
    source = """
    extern "C" __global__ void count(unsigned* n) {
      atomicAdd(n + 0, 1u);
      atomicMax(n + 1, blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z) + 1);
      atomicMax(n + 2, threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z) + 1);
    }
    """
    kernel = compile_cubin(source).get_kernel("count")
    counts = device.allocate(12, stream=stream)
    counts.fill(0, stream=stream)
    cucore.launch(stream, cucore.LaunchConfig(grid=grid, block=block), kernel, counts)
    host = pinned.allocate(12)
    counts.copy_to(host, stream=stream)
    stream.sync()
    blocks, threads = np.prod(grid), np.prod(block)
    assert list(np.frombuffer(host, np.uint32)) == [blocks * threads, blocks, threads]


def test_dynamic_shared_memory_beyond_the_default(device, stream, pinned):
    source = """
    extern __shared__ int tile[];
    extern "C" __global__ void reverse(int* out, int n) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = i;
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
    }
    """
    kernel = compile_cubin(source).get_kernel("reverse")
    most = device.properties.max_shared_memory_per_block_optin
    for size in (1024, min(most, 96 * 1024)):
        n = size // 4
        out = pinned.allocate(size)
        cucore.launch(stream, cucore.LaunchConfig(grid=1, block=128, shmem_size=size), kernel, out, n)
        stream.sync()
        assert (np.frombuffer(out, np.int32) == np.arange(n)[::-1]).all()
    with pytest.raises((cucore.CUDAError, ValueError)):
        cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1, shmem_size=most + 1), kernel, out, 1)


def test_a_block_that_is_too_large_says_which_limit(stream, store_code, pinned):
    config = cucore.LaunchConfig(grid=1, block=2048)
    with pytest.raises((cucore.CUDAError, ValueError), match="1024|threads"):
        cucore.launch(stream, config, store_code.get_kernel("store<int>"), pinned.allocate(4), 1, GUARD)


def test_saxpy_over_many_elements(device, stream, pinned):
    n = 100_000
    kernel = compile_cubin(SAXPY, ["saxpy<float>"]).get_kernel("saxpy<float>")
    rng = np.random.default_rng(0)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    buffers = []
    for array in (x, y):
        host = pinned.allocate(array.nbytes)
        np.frombuffer(host, np.float32)[:] = array
        buffers.append(device.allocate(array.nbytes, stream=stream))
        buffers[-1].copy_from(host, stream=stream)
    out, result = device.allocate(4 * n, stream=stream), pinned.allocate(4 * n)
    config = cucore.LaunchConfig(grid=-(-n // 256), block=256)
    cucore.launch(stream, config, kernel, 2.0, *buffers, out, n)
    out.copy_to(result, stream=stream)
    stream.sync()
    np.testing.assert_allclose(np.frombuffer(result, np.float32), np.float32(2) * x + y, rtol=1e-6)


def test_threads_share_a_kernel_a_config_and_a_stream(device, stream, pinned):
    kernel = compile_cubin('extern "C" __global__ void add(int* n, int v) { atomicAdd(n, v); }').get_kernel("add")
    total = device.allocate(4, stream=stream)
    total.fill(0, stream=stream)
    errors = []

    def work():
        try:
            cucore.Device().set_current()
            for _ in range(100):
                cucore.launch(stream, ONE, kernel, total, 3)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    host = pinned.allocate(4)
    total.copy_to(host, stream=stream)
    stream.sync()
    assert not errors and np.frombuffer(host, np.int32)[0] == 1200


def test_more_arguments_than_fit_inline(stream, pinned):
    count = 100
    parameters = ", ".join(f"int a{i}" for i in range(count))
    total = " + ".join(f"a{i}" for i in range(count))
    source = f'extern "C" __global__ void sum(int* out, {parameters}) {{ *out = {total}; }}'
    out = pinned.allocate(4)
    cucore.launch(stream, ONE, compile_cubin(source).get_kernel("sum"), out, *range(count))
    stream.sync()
    assert np.frombuffer(out, np.int32)[0] == sum(range(count))
