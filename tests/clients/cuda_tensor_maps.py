# A client of the driver: tensor maps of both kinds through ctypes, in the 64-byte alignment that the manual asks for,
# on a device of compute capability 9.0 (CUCORE_CPU_COMPUTE_CAPABILITY).
import ctypes

from checked import checked

driver = ctypes.CDLL("libcuda.so.1")
INVALID = 1
FLOAT16, FLOAT32 = 6, 7  # CUtensorMapDataType
SWIZZLE_NONE, SWIZZLE_32B = 0, 1


def ok(code):
    assert code == 0, code


class Map:
    """128 bytes at an address that 64 divides."""

    def __init__(self):
        self.room = ctypes.create_string_buffer(256)
        start = ctypes.addressof(self.room)
        self.address = ctypes.c_void_p(start + -start % 64)

    def contents(self):
        return ctypes.string_at(self.address.value, 128)


def array(kind, values):
    return (kind * len(values))(*values)


def common(extents, element_bytes):
    """Rank, address, extents and strides of a packed tensor, innermost dimension first; and its element strides."""
    strides, bytes_so_far = [], element_bytes
    for extent in extents[:-1]:
        bytes_so_far *= extent
        strides.append(bytes_so_far)
    sizes, strides = array(ctypes.c_uint64, extents), array(ctypes.c_uint64, strides)
    return (len(extents), memory, sizes, strides), array(ctypes.c_uint32, [1] * len(extents))


def tiled(extents=(64, 32), box=(16, 8), swizzle=SWIZZLE_NONE):
    made = Map()
    tensor, steps = common(extents, 4)
    corners = array(ctypes.c_uint32, box)
    return driver.cuTensorMapEncodeTiled(made.address, FLOAT32, *tensor, corners, steps, 0, swizzle, 0, 0), made


def im2col(extents=(16, 8, 8, 2), lower=(-1, -1), upper=(-1, -1), channels=16, pixels=32, swizzle=SWIZZLE_NONE):
    made = Map()
    tensor, steps = common(extents, 2)
    box = (array(ctypes.c_int, lower), array(ctypes.c_int, upper), channels, pixels)
    return driver.cuTensorMapEncodeIm2col(made.address, FLOAT16, *tensor, *box, steps, 0, swizzle, 0, 0), made


def a_tiled_map_follows_its_memory():
    code, made = tiled()
    ok(code)
    before = made.contents()
    ok(driver.cuTensorMapReplaceAddress(made.address, ctypes.c_void_p(memory.value + 256)))
    assert made.contents() != before
    assert driver.cuTensorMapReplaceAddress(made.address, ctypes.c_void_p(memory.value + 4)) == INVALID


def tiled_maps_have_limits():
    assert tiled(box=(16, 257))[0] == INVALID
    assert tiled(box=(2, 8))[0] == INVALID  # 8 bytes: less than the 16 that are copied at once
    assert tiled(swizzle=SWIZZLE_32B)[0] == INVALID  # 64 bytes in a span of 32
    ok(tiled(box=(8, 8), swizzle=SWIZZLE_32B)[0])


def im2col_maps_differ_by_every_argument():
    made = [
        im2col(),
        im2col(lower=(0, -1)),
        im2col(upper=(-1, 0)),
        im2col(channels=8),
        im2col(pixels=16),
        im2col(extents=(16, 8, 8, 4)),
        tiled(),
    ]
    assert [code for code, _ in made] == [0] * len(made)
    assert len({each.contents() for _, each in made}) == len(made)


def im2col_maps_have_limits():
    ok(im2col(extents=(16, 8, 2), lower=(-32768,), upper=(0,))[0])
    ok(im2col(extents=(16, 8, 8, 8, 2), lower=(-16, 0, 0), upper=(0, 0, 15))[0])
    for code, _ in (
        im2col(extents=(16, 8), lower=(), upper=()),
        im2col(lower=(-129, 0)),
        im2col(upper=(0, 128)),
        im2col(extents=(16, 8, 8, 8, 2), lower=(-17, 0, 0), upper=(0, 0, 0)),
        im2col(lower=(4, 0), upper=(-4, 0)),  # a box of no width
        im2col(channels=257),
        im2col(channels=0),
        im2col(pixels=1025),
        im2col(channels=32, swizzle=SWIZZLE_32B),
    ):
        assert code == INVALID, code


if __name__ == "__main__":
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    ok(driver.cuInit(0))
    ok(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    ok(driver.cuCtxSetCurrent(context))
    ok(driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 16)))
    memory = ctypes.c_void_p(memory.value)
    for part in (
        a_tiled_map_follows_its_memory,
        tiled_maps_have_limits,
        im2col_maps_differ_by_every_argument,
        im2col_maps_have_limits,
    ):
        checked(part.__name__, part)
