"""Zeros, infinities, NaNs and subnormal numbers in reductions and loads by tensor maps and in bulk reductions: a model
of what an H200 makes of each pair, checked on both drivers."""

import ctypes

import numpy as np
import pytest
from conftest import run_check

import cucore

# Combines `cells` with a tensor, in both senses of the word; or loads the tensor into `cells`.
KERNEL = r"""
extern "C" __global__ void combines(const void* map, void* tensor, unsigned* cells, int words) {
  extern __shared__ __align__(1024) unsigned box[];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(box), bar = __cvta_generic_to_shared(&barrier);
  for (int i = threadIdx.x; i < words; i += blockDim.x) box[i] = cells[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) { COPY }
  __syncthreads();
  for (int i = threadIdx.x; i < words; i += blockDim.x) cells[i] = box[i];
}
"""
GROUP = r'asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");'
BOXES = r"""
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.OPERATION.tile.bulk_group [%0, {%1, %1}], [%2];"
                 ::"l"(map), "r"(0), "r"(at) : "memory");"""
ARRAYS = r"""
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.OPERATION [%0], [%1], %2;"
                 ::"l"(tensor), "r"(at), "r"(4 * words) : "memory");"""
LOADS = r"""
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(4 * words));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %2}], [%3];" ::"r"(at), "l"(map), "r"(0), "r"(bar) : "memory");
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}"
                 ::"r"(bar) : "memory");"""

HALVES = "0000 8000 3c00 bc00 7c00 fc00 7e00 fe01 7c01 0001 8001 03ff 7bff fbff 3555 4248"
BRAINS = "0000 8000 3f80 bf80 7f80 ff80 7fc0 ffc1 7f81 0001 8001 007f 7f7f ff7f 3eab 4049"
FLOATS = """00000000 80000000 3f800000 bf800000 7f800000 ff800000 7fc00000 ffc00001 7f800001 00000001 80000001 007fffff
            7f7fffff ff7fffff 3eaaaaab 40490fdb"""
# The driver's numbers of the types; the patterns are paired each with each.
FLOAT16, FLOAT32, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ = 6, 7, 9, 10, 11, 12
PATTERNS = {
    FLOAT16: np.array([int(word, 16) for word in HALVES.split()], np.uint16),
    BFLOAT16: np.array([int(word, 16) for word in BRAINS.split()], np.uint16),
    FLOAT32: np.array([int(word, 16) for word in FLOATS.split()], np.uint32),
}


def patterns(kind):
    return PATTERNS.get(kind, PATTERNS[FLOAT32])


def values(kind, bits):
    if kind == FLOAT16:
        return bits.view(np.float16).astype(np.float64)
    wide = bits.astype(np.uint32) << 16 if kind == BFLOAT16 else bits
    return wide.view(np.float32).astype(np.float64)


def bits_of(kind, numbers):
    """The patterns of numbers; of every NaN the one with all bits but the sign."""
    single = numbers.astype(np.float32).view(np.uint32)
    if kind == FLOAT16:
        return np.where(np.isnan(numbers), 0x7FFF, numbers.astype(np.float16).view(np.uint16))
    if kind == BFLOAT16:
        return np.where(np.isnan(numbers), 0x7FFF, (single + 0x7FFF + (single >> 16 & 1)) >> 16)
    return np.where(np.isnan(numbers), 0x7FFFFFFF, single)


def flushed(bits):
    return np.where(bits & 0x7F800000, bits, bits & 0x80000000)


def combined(kind, operation, old, new):
    flushes = kind in (FLOAT32_FTZ, TFLOAT32_FTZ)
    if flushes:
        old, new = flushed(old), flushed(new)
    a, b = values(kind, old), values(kind, new)
    if operation == "add":
        bits = bits_of(kind, a + b)
        return flushed(bits) if flushes else bits
    is_below = np.where(a == b, np.signbit(b), b < a)
    takes_new = is_below if operation == "min" else ~is_below
    both = np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where(takes_new, b, a)))
    return bits_of(kind, both)


def run(copy, kind, tensor, cells):
    """The tensor and the cells afterwards."""
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    code = cucore.Program(KERNEL.replace("COPY", copy), "c++", {"arch": f"sm_{device.arch}"}).compile("ptx")
    buffers = [device.allocate(tensor.nbytes, stream=stream) for _ in range(2)]
    pinned = [cucore.LegacyPinnedMemoryResource().allocate(tensor.nbytes) for _ in range(2)]
    hosts = [np.frombuffer(memoryview(buffer), tensor.dtype) for buffer in pinned]
    for buffer, page, host, data in zip(buffers, pinned, hosts, (tensor, cells), strict=True):
        host[:] = data
        buffer.copy_from(page, stream=stream)
    driver = ctypes.CDLL(cucore.driver_info().path)
    room = (ctypes.c_uint8 * 192)()
    start = -ctypes.addressof(room) % 64
    pair, size = ctypes.c_uint64 * 2, tensor.itemsize
    columns, rows = 16, tensor.size // 16
    code_of_map = driver.cuTensorMapEncodeTiled(
        *(ctypes.byref(room, start), kind, 2, ctypes.c_void_p(int(buffers[0].handle)), pair(columns, rows)),
        *(ctypes.byref(ctypes.c_uint64(columns * size)), (ctypes.c_uint32 * 2)(columns, rows)),
        *((ctypes.c_uint32 * 2)(1, 1), 0, 0, 0, 0),
    )
    assert code_of_map == 0
    page = cucore.LegacyPinnedMemoryResource().allocate(128)
    np.frombuffer(memoryview(page), np.uint8)[:] = np.frombuffer(bytes(room[start : start + 128]), np.uint8)
    map_on_device = device.allocate(128, stream=stream)
    map_on_device.copy_from(page, stream=stream)
    config = cucore.LaunchConfig(grid=1, block=32, shmem_size=tensor.nbytes)
    words = tensor.nbytes // 4
    cucore.launch(stream, config, code.get_kernel("combines"), map_on_device, *buffers, words)
    for buffer, page in zip(buffers, pinned, strict=True):
        buffer.copy_to(page, stream=stream)
    stream.sync()
    return hosts


def check(kind, copy, operation):
    """All pairs of patterns."""
    some = patterns(kind)
    old, new = np.tile(some, some.size), np.repeat(some, some.size)
    with np.errstate(all="ignore"):
        want = combined(kind, operation.split(".")[0], old, new)
    now, _ = run(copy.replace("OPERATION", operation) + GROUP, kind, old, new)
    if copy == ARRAYS:  # the pattern of a NaN is not kept here
        nan = bits_of(kind, np.array([np.nan]))[0]
        now = np.where(np.isnan(values(kind, now)), nan, now)
    np.testing.assert_array_equal(now, want, err_msg=f"{operation} of {kind}")


def check_boxes():
    for kind in (FLOAT16, FLOAT32, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ):
        check(kind, BOXES, "add")
    for kind in (FLOAT16, BFLOAT16):
        for operation in ("min", "max"):
            check(kind, BOXES, operation)


def check_arrays():
    for kind, name in {FLOAT16: "f16", BFLOAT16: "bf16"}.items():
        for operation in ("min", "max", "add.noftz"):
            check(kind, ARRAYS, f"{operation}.{name}")


def check_loads():
    more = np.array([0x3F801000, 0x3F803000, 0x3F801001, 0x3F800FFF] * 4, np.uint32)  # halfway and beside it
    tensor = np.concatenate([patterns(FLOAT32), more])
    for kind in (FLOAT32, FLOAT32_FTZ):
        np.testing.assert_array_equal(run(LOADS, kind, tensor, np.zeros_like(tensor))[1], tensor)
    magnitude = tensor & 0x7FFFFFFF
    rounded = tensor + 0xFFF + (tensor >> 13 & 1) & 0xFFFFE000
    want = np.where(magnitude > 0x7F800000, 0x7FFFE000, rounded)
    for kind in (TFLOAT32, TFLOAT32_FTZ):
        np.testing.assert_array_equal(run(LOADS, kind, tensor, np.zeros_like(tensor))[1], want)


@pytest.mark.parametrize("name", ["check_boxes", "check_arrays", "check_loads"])
def test_special_values(device, name):
    run_check(device, __file__, f"{name}()")
