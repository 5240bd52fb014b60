"""Tensor maps whose fields a kernel replaces: they must become the bytes of a map that the driver encodes."""

import ctypes

import numpy as np
from conftest import run_check

import cucore

ENCODED = ctypes.c_uint8 * 192
HEAD = ".version 8.3\n.target sm_90a\n.address_size 64\n"

# A map in global memory field by field; the second entry does so in shared memory and copies the map out.
KERNELS = (
    HEAD
    + """
.visible .entry in_global(.param .u64 map, .param .u64 tensor)
{
  .reg .b64 %map, %tensor, %stride;
  .reg .b32 %n;
  ld.param.u64 %map, [map];
  ld.param.u64 %tensor, [tensor];
  tensormap.replace.tile.global_address.global.b1024.b64 [%map], %tensor;
  tensormap.replace.tile.rank.global.b1024.b32 [%map], 1;
  tensormap.replace.tile.elemtype.global.b1024.b32 [%map], 9;
  mov.u32 %n, 40;
  tensormap.replace.tile.global_dim.global.b1024.b32 [%map], 0, %n;
  mov.u32 %n, 30;
  tensormap.replace.tile.global_dim.global.b1024.b32 [%map], 1, %n;
  mov.u64 %stride, 320;
  tensormap.replace.tile.global_stride.global.b1024.b64 [%map], 0, %stride;
  mov.u32 %n, 16;
  tensormap.replace.tile.box_dim.global.b1024.b32 [%map], 0, %n;
  mov.u32 %n, 3;
  tensormap.replace.tile.box_dim.global.b1024.b32 [%map], 1, %n;
  mov.u32 %n, 2;
  tensormap.replace.tile.element_stride.global.b1024.b32 [%map], 1, %n;
  tensormap.replace.tile.interleave_layout.global.b1024.b32 [%map], 0;
  tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%map], 3;
  tensormap.replace.tile.fill_mode.global.b1024.b32 [%map], 1;
  ret;
}
.visible .entry in_shared(.param .u64 map, .param .u64 tensor)
{
  .shared .align 128 .b8 copy[128];
  .reg .b64 %map, %tensor, %word;
  .reg .b32 %at, %n, %lane;
  .reg .pred %first;
  ld.param.u64 %map, [map];
  ld.param.u64 %tensor, [tensor];
  mov.u32 %at, copy;
  mov.u32 %lane, %tid.x;
  mov.u32 %n, 0;
  setp.eq.u32 %first, %lane, 31;
  @!%first bra together;
again:
  ld.global.u64 %word, [%map];
  st.shared.u64 [%at], %word;
  add.u64 %map, %map, 8;
  add.u32 %at, %at, 8;
  add.u32 %n, %n, 1;
  setp.lt.u32 %first, %n, 16;
  @%first bra again;
  mov.u32 %at, copy;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%at], %tensor;
together:
  ld.param.u64 %map, [map];
  mov.u32 %at, copy;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [%at], 128;
  ret;
}
"""
)

FLOAT32, FLOAT64, PLAIN, SWIZZLE_128B, ZEROS, NANS = 7, 8, 0, 3, 0, 1


def encode(driver, kind, address, extents, stride, box, strides, swizzle, fill):
    room = ENCODED()
    start = -ctypes.addressof(room) % 64
    code = driver.cuTensorMapEncodeTiled(
        ctypes.byref(room, start),
        kind,
        2,
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * 2)(*extents),
        (ctypes.c_uint64 * 1)(stride),
        (ctypes.c_uint32 * 2)(*box),
        (ctypes.c_uint32 * 2)(*strides),
        0,
        swizzle,
        0,
        fill,
    )
    assert code == 0
    return np.frombuffer(bytes(room[start : start + 128]), np.uint8)


def check(entry, threads):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    driver = ctypes.CDLL(cucore.driver_info().path)
    tensor = device.allocate(1 << 16, stream=stream)
    place = device.allocate(256, stream=stream)
    pinned = cucore.LegacyPinnedMemoryResource().allocate(256)
    host = np.frombuffer(memoryview(pinned), np.uint8)[:128]
    base = int(tensor.handle)
    before = (FLOAT32, base, (64, 9), 256, (32, 4), (1, 1), PLAIN, ZEROS)
    host[:] = encode(driver, *before)
    place.copy_from(pinned, stream=stream)
    kernel = cucore.ObjectCode.from_ptx(KERNELS.encode()).get_kernel(entry)
    config = cucore.LaunchConfig(grid=1, block=threads)
    cucore.launch(stream, config, kernel, place, base + 1024)
    place.copy_to(pinned, stream=stream)
    stream.sync()
    all_replaced = (FLOAT64, base + 1024, (40, 30), 320, (16, 3), (1, 2), SWIZZLE_128B, NANS)
    address_replaced = (FLOAT32, base + 1024, *before[2:])
    if entry == "in_global" and cucore.driver_info().kind != "cpu":
        host[64:76] = encode(driver, *all_replaced)[
            64:76
        ]  # sizes that GPUs' drivers derive, which no replacement changes
    np.testing.assert_array_equal(host, encode(driver, *(all_replaced if entry == "in_global" else address_replaced)))


def test_every_field_of_a_map_can_be_replaced(device):
    run_check(device, __file__, "check('in_global', 1)")


def test_a_map_changed_in_shared_memory_is_copied_out_by_the_warp(device):
    run_check(device, __file__, "check('in_shared', 32)")
