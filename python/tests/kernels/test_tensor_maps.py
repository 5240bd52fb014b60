"""Boxes of tensors copied by tensor maps (TMA), through NVRTC and cuTensorMapEncodeTiled, against NumPy."""

import ctypes

import numpy as np
import pytest
from conftest import run_check

import cucore

KERNEL = r"""
#ifndef ASIDE
#define ASIDE 0
#endif
// Copies the box at (x, y, z) into shared memory, ASIDE bytes from where it should lie, and from there to `out` as it
// lies and back into the second tensor.
extern "C" __global__ void boxes(const void* from, const void* to, unsigned* out, int words, int x, int y, int z) {
  extern __shared__ __align__(1024) unsigned cells[];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(cells) + ASIDE, bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(from) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(4 * words));
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(at), "l"(from), "r"(x), "r"(y), "r"(z), "r"(bar) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}"
               ::"r"(bar) : "memory");
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = cells[i];
  __syncthreads();
  bool may_be_written = x >= 0 && y >= 0 && z >= 0;  // where it begins, that is; it may end outside
  if (threadIdx.x == 0 && may_be_written) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(to), "r"(x), "r"(y), "r"(z), "r"(at) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
"""

# Combines the box at (x, y, z), which holds 1, 2, 3 ..., with a tensor.
REDUCING_KERNEL = r"""
struct Half {
  unsigned short bits;
  __device__ explicit Half(int n) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"((float)n)); }
};
struct Brain {
  unsigned short bits;
  __device__ explicit Brain(int n) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"((float)n)); }
};
template <class T> __device__ void reduce(const void* map, int elements, int x, int y, int z) {
  extern __shared__ __align__(1024) unsigned char room[];
  T* cells = reinterpret_cast<T*>(room);
  for (int i = threadIdx.x; i < elements; i += blockDim.x) cells[i] = T(i + 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta." OPERATION ".tile.bulk_group "
                 "[%0, {%1, %2, %3}], [%4];"
                 ::"l"(map), "r"(x), "r"(y), "r"(z), "r"((unsigned)__cvta_generic_to_shared(cells)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
extern "C" __global__ void reduces(const void* map, int elements, int x, int y, int z) {
  reduce<TYPE>(map, elements, x, y, z);
}
"""

SHAPE, BOX = (3, 9, 64), (2, 4, 32)  # depth, height, width, as NumPy has them


FLOAT32 = 7


def encode(driver, address, swizzle, fill, kind=FLOAT32, size=4):
    """The 128 bytes of a map of elements of a kind, as the driver numbers them, and a size."""
    room = (ctypes.c_uint8 * 192)()
    start = -ctypes.addressof(room) % 64
    extents = (ctypes.c_uint64 * 3)(*reversed(SHAPE))
    strides = (ctypes.c_uint64 * 2)(size * SHAPE[2], size * SHAPE[2] * SHAPE[1])
    box, ones = (ctypes.c_uint32 * 3)(*reversed(BOX)), (ctypes.c_uint32 * 3)(1, 1, 1)
    code = driver.cuTensorMapEncodeTiled(
        ctypes.byref(room, start),
        kind,
        3,
        ctypes.c_void_p(address),
        extents,
        strides,
        box,
        ones,
        0,
        swizzle,
        0,
        fill,
    )
    assert code == 0
    return bytes(room[start : start + 128])


def swizzle_of(words, swizzle):
    """How 128-byte lines lie in memory: word w of line l at chunk (w / 4) ^ (l % chunks)."""
    out = np.empty_like(words)
    for word in range(words.size):
        chunk, line = word // 4, word // 32
        moved = chunk ^ (line & (1 << swizzle) - 1)
        out[4 * moved + word % 4] = words[word]
    return out


def check(x, y, z, swizzle=0, fill=0, aside=0, encode=encode):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    code = cucore.Program(f"#define ASIDE {aside}\n{KERNEL}", "c++", {"arch": f"sm_{device.arch}"}).compile("ptx")
    tensor = np.arange(1, 1 + np.prod(SHAPE), dtype=np.float32).reshape(SHAPE)
    words = int(np.prod(BOX))
    pinned = cucore.LegacyPinnedMemoryResource()
    sizes = {"source": tensor.nbytes, "target": tensor.nbytes, "maps": 256, "out": 4 * words}
    on_host = {name: pinned.allocate(size) for name, size in sizes.items()}
    on_device = {name: device.allocate(size, stream=stream) for name, size in sizes.items()}
    driver = ctypes.CDLL(cucore.driver_info().path)
    maps = b"".join(encode(driver, int(on_device[name].handle), swizzle, fill) for name in ("source", "target"))
    host = {name: np.frombuffer(memoryview(buffer), np.uint8)[: sizes[name]] for name, buffer in on_host.items()}
    host["source"][:] = tensor.view(np.uint8).ravel()
    host["target"][:] = 0
    host["maps"][:] = np.frombuffer(maps, np.uint8)
    for name in ("source", "target", "maps"):
        on_device[name].copy_from(on_host[name], stream=stream)
    place = int(on_device["maps"].handle)
    config = cucore.LaunchConfig(grid=1, block=64, shmem_size=4 * words + aside)
    cucore.launch(stream, config, code.get_kernel("boxes"), place, place + 128, on_device["out"], words, x, y, z)
    for name in ("out", "target"):
        on_device[name].copy_to(on_host[name], stream=stream)
    stream.sync()

    want = np.full(BOX, np.nan if fill else 0, np.float32)
    back = np.zeros(SHAPE, np.float32)
    for place in np.ndindex(*BOX):
        at = tuple(np.add(place, (z, y, x)))
        if all(0 <= a < n for a, n in zip(at, SHAPE)):
            want[place] = tensor[at]
            if min(x, y, z) >= 0:
                back[at] = tensor[at]
    out = host["out"].view(np.float32)
    np.testing.assert_array_equal(out, swizzle_of(want.ravel(), swizzle))
    np.testing.assert_array_equal(host["target"].view(np.float32).reshape(SHAPE), back)


# By the driver's number of the type: that of the kernel, NumPy's, and what each operation does with two of them.
EXTREMES = {"min": np.minimum, "max": np.maximum}
INTEGERS = {
    "add": np.add,
    **EXTREMES,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
WORDS = {
    **INTEGERS,
    "inc": lambda old, new: np.where(old >= new, 0, old + 1),
    "dec": lambda old, new: np.where((old == 0) | (old > new), new, old - (old > 0)),
}
SUMS = {"add": np.add}


def to_brain(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


def of_brain(bits):
    return (np.asarray(bits, np.uint32) << 16).view(np.float32)


KINDS = {
    2: ("unsigned", np.uint32, WORDS),
    3: ("int", np.int32, INTEGERS),
    4: ("unsigned long long", np.uint64, INTEGERS),
    5: ("long long", np.int64, EXTREMES),
    6: ("Half", np.float16, SUMS | EXTREMES),
    7: ("float", np.float32, SUMS),
    8: ("double", np.float64, SUMS),
    9: ("Brain", np.uint16, {"add": lambda old, new: to_brain(of_brain(old) + of_brain(new)), **EXTREMES}),
}


def reduce(kind, operation, x=40, y=6, z=1):
    """What became of a tensor of `kind`, and what should have."""
    type_name, dtype, operations = KINDS[kind]
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    source = f'#define OPERATION "{operation}"\n#define TYPE {type_name}\n' + REDUCING_KERNEL
    code = cucore.Program(source, "c++", {"arch": f"sm_{device.arch}"}).compile("ptx")
    make = to_brain if type_name == "Brain" else dtype
    tensor = make(np.random.default_rng(kind).integers(0, 500, SHAPE))
    pinned, on_device = cucore.LegacyPinnedMemoryResource(), device.allocate(tensor.nbytes + 128, stream=stream)
    on_host = pinned.allocate(tensor.nbytes + 128)
    host = np.frombuffer(memoryview(on_host), np.uint8)
    driver = ctypes.CDLL(cucore.driver_info().path)
    host[128:] = tensor.view(np.uint8).ravel()
    host[:128] = np.frombuffer(encode(driver, int(on_device.handle) + 128, 0, 0, kind, tensor.itemsize), np.uint8)
    on_device.copy_from(on_host, stream=stream)
    elements = int(np.prod(BOX))
    config = cucore.LaunchConfig(grid=1, block=64, shmem_size=elements * tensor.itemsize)
    cucore.launch(stream, config, code.get_kernel("reduces"), int(on_device.handle), elements, x, y, z)
    on_device.copy_to(on_host, stream=stream)
    stream.sync()

    want = tensor.copy()
    for n, place in enumerate(np.ndindex(*BOX)):
        at = tuple(np.add(place, (z, y, x)))
        if all(a < size for a, size in zip(at, SHAPE)):
            want[at] = operations[operation](tensor[at], make(n + 1))
    return host[128:].view(dtype).reshape(SHAPE), want


def check_all():
    check(0, 0, 0)
    check(16, 3, 1)
    check(-4, -2, -1)
    check(48, 7, 2)
    check(48, 7, 2, fill=1)
    check(32, 4, 0, swizzle=3)
    check(-16, 6, 2, swizzle=3)


def test_boxes_of_a_tensor_are_copied_both_ways(device):
    run_check(device, __file__, "check_all()")


def check_reductions():
    for kind, (_, _, operations) in KINDS.items():
        for operation in operations:
            np.testing.assert_array_equal(*reduce(kind, operation), err_msg=f"{operation} of {kind}")


def check_refused(statement):
    try:
        eval(statement)
    except cucore.CUDAError as error:
        assert error.name == f"CUDA_ERROR_{REFUSED[statement]}", error
    else:
        raise AssertionError(f"{statement} is not refused")


def test_boxes_are_combined_with_a_tensor(device):
    run_check(device, __file__, "check_reductions()")


REFUSED = {
    "reduce(FLOAT32, 'max')": "ILLEGAL_INSTRUCTION",
    "reduce(5, 'add')": "ILLEGAL_INSTRUCTION",  # of 64-bit signed integers
    "reduce(6, 'xor')": "ILLEGAL_INSTRUCTION",
    "reduce(3, 'inc')": "ILLEGAL_INSTRUCTION",
    "reduce(2, 'add', y=-1)": "ILLEGAL_INSTRUCTION",
    "reduce(2, 'add', x=2)": "ILLEGAL_INSTRUCTION",  # not a multiple of 16 bytes
    "check(-5, 0, 0)": "ILLEGAL_INSTRUCTION",
    "check(0, 0, 0, encode=lambda *_: bytes(128))": "ILLEGAL_INSTRUCTION",
    "check(0, 0, 0, aside=64)": "MISALIGNED_ADDRESS",  # in shared memory
}


@pytest.mark.parametrize("statement", REFUSED)
def test_copies_that_hardware_refuses_end_the_launch_with_its_error(device, statement):
    run_check(device, __file__, f"check_refused({statement!r})")
