# A client of the driver: tensor maps of both kinds through ctypes, in the 64-byte alignment that the manual asks for,
# and maps that kernels make, on a device of compute capability 9.0 (CUCORE_CPU_COMPUTE_CAPABILITY).
import ctypes

from checked import checked

driver = ctypes.CDLL("libcuda.so.1")
INVALID, ILLEGAL_INSTRUCTION = 1, 715
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


# One warp makes a map of a matrix of floats, 64 columns wide and 32 high, of shared memory full of FILLER, as Triton
# does of zeros; hands it over through global memory; and copies the box of 16 columns and 8 rows at column 8, row 4.
BY_KERNEL = """
.version 8.3
.target sm_90a
.address_size 64
.visible .entry copy_box(.param .u64 matrix, .param .u64 scratch, .param .u64 out) {
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  .reg .pred %p, %thread0;
  .shared .align 128 .b8 map[128];
  .shared .align 128 .b8 box[512];
  .shared .align 8 .b64 arrived;
  ld.param.u64 %d1, [matrix];
  ld.param.u64 %d2, [scratch];
  ld.param.u64 %d3, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %thread0, %r1, 0;
  mov.u32 %r2, map;
  mad.lo.u32 %r3, %r1, 4, %r2;
  st.shared.b32 [%r3], FILLER;
  bar.warp.sync -1;
  cvt.u64.u32 %d4, %r2;
  @!%thread0 bra made;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%d4], %d1;
  RANK
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d4], 0, 16;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d4], 1, 8;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d4], 0, 64;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d4], 1, 32;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d4], 0, 256;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%d4], 0, 1;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%d4], 1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%d4], 7;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%d4], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%d4], 0;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%d4], 0;
  mbarrier.init.shared.b64 [arrived], 1;
made:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d2], [%d4], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;
  @!%thread0 bra wait;
  mbarrier.arrive.expect_tx.shared.b64 %d5, [arrived], 512;
  mov.b32 %r4, 8;
  mov.b32 %r5, 4;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
      [box], [%d2, {%r4, %r5}], [arrived];
wait:
  mbarrier.try_wait.parity.shared.b64 %p, [arrived], 0;
  @!%p bra wait;
  mov.u32 %r2, box;
  mad.lo.u32 %r3, %r1, 16, %r2;
  mad.wide.u32 %d6, %r1, 16, %d3;
  ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];
  st.global.v4.b32 [%d6], {%r4, %r5, %r6, %r7};
  ret;
}
"""
RANK = "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d4], 1;"


def box_of_a_kernels_map(filler, rank):
    """What the kernel copied, or the error of synchronizing after it."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    text = BY_KERNEL.replace("FILLER", filler).replace("RANK", rank)
    ok(driver.cuModuleLoadData(ctypes.byref(module), text.encode()))
    ok(driver.cuModuleGetFunction(ctypes.byref(function), module, b"copy_box"))
    matrix = array(ctypes.c_float, range(64 * 32))
    ok(driver.cuMemcpyHtoD_v2(memory, matrix, ctypes.sizeof(matrix)))
    values = [ctypes.c_uint64(memory.value + offset) for offset in (0, 16384, 32768)]
    pointers = array(ctypes.c_void_p, [ctypes.addressof(each) for each in values])
    ok(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, pointers, None))
    code, out = driver.cuCtxSynchronize(), (ctypes.c_float * 128)()
    if code == 0:
        ok(driver.cuMemcpyDtoH_v2(out, ctypes.c_void_p(memory.value + 32768), ctypes.sizeof(out)))
    return code or list(out)


def a_kernel_makes_a_map_of_zeros():
    wanted = [row * 64 + column for row in range(4, 12) for column in range(8, 24)]
    assert box_of_a_kernels_map("0", RANK) == wanted


def what_no_rank_was_given_is_no_map():  # the last: it ends the context
    assert box_of_a_kernels_map("-1", "") == ILLEGAL_INSTRUCTION


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
        a_kernel_makes_a_map_of_zeros,
        what_no_rank_was_given_is_no_map,
    ):
        checked(part.__name__, part)
