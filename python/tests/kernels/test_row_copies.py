"""Copies of four rows of a matrix by a tensor map (.tile::gather4, .tile::scatter4, which came with compute capability
10.0), against NumPy."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from conftest import run_python

import cucore

# Copies four rows at a column into shared memory, from there to `out` as they lie, and back into the second matrix.
PTX = """
.version 8.6
.target sm_100a
.address_size 64
.visible .entry rows(.param .u64 from, .param .u64 to, .param .u64 out, .param .u32 words,
                     .param .u32 x, .param .u32 a, .param .u32 b, .param .u32 c, .param .u32 d) {
  .reg .b64 %from, %to, %out; .reg .b32 %words, %x, %a, %b, %c, %d, %s, %m, %bytes, %w; .reg .pred %p;
  .shared .align 1024 .b8 cells[4096];
  .shared .align 8 .b64 barrier;
  ld.param.u64 %from, [from]; ld.param.u64 %to, [to]; ld.param.u64 %out, [out]; ld.param.u32 %words, [words];
  ld.param.u32 %x, [x]; ld.param.u32 %a, [a]; ld.param.u32 %b, [b]; ld.param.u32 %c, [c]; ld.param.u32 %d, [d];
  mov.u32 %s, cells;
  mov.u32 %m, barrier;
  mbarrier.init.shared.b64 [%m], 1;
  shl.b32 %bytes, %words, 2;
  mbarrier.arrive.expect_tx.shared.b64 _, [%m], %bytes;
  cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%from, {%x, %a, %b, %c, %d}];
  cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
      [%s], [%from, {%x, %a, %b, %c, %d}], [%m];
again:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%m], 0;
  @!%p bra again;
  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%to, {%x, %a, %b, %c, %d}], [%s];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
next:
  sub.u32 %words, %words, 1;
  ld.shared.u32 %w, [%s];
  st.global.u32 [%out], %w;
  add.u32 %s, %s, 4;
  add.u64 %out, %out, 4;
  setp.ne.u32 %p, %words, 0;
  @%p bra next;
  ret;
}
"""
SHAPE, WIDTH = (40, 96), 32


def encode(driver, address, swizzle, rows_of_box):
    room = (ctypes.c_uint8 * 192)()
    start = -ctypes.addressof(room) % 64
    extents, strides = (ctypes.c_uint64 * 2)(*reversed(SHAPE)), (ctypes.c_uint64 * 1)(4 * SHAPE[1])
    box, ones = (ctypes.c_uint32 * 2)(WIDTH, rows_of_box), (ctypes.c_uint32 * 2)(1, 1)
    place, at = ctypes.byref(room, start), ctypes.c_void_p(address)
    assert driver.cuTensorMapEncodeTiled(place, 7, 2, at, extents, strides, box, ones, 0, swizzle, 0, 0) == 0
    return bytes(room[start : start + 128])


def copy(x, rows, swizzle=0, rows_of_box=1):
    """Out as it lies in shared memory, and the second matrix, which was 0; and what both should be."""
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    pinned = cucore.LegacyPinnedMemoryResource()
    matrix = np.arange(1, 1 + SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)
    memory = {
        name: pinned.allocate(size) for name, size in dict(a=matrix.nbytes, b=matrix.nbytes, o=512, m=256).items()
    }
    host = {name: np.frombuffer(memoryview(buffer), np.float32) for name, buffer in memory.items()}
    host["a"][:] = matrix.ravel()
    host["b"][:] = host["o"][:] = 0
    driver = ctypes.CDLL(cucore.driver_info().path)
    maps = b"".join(encode(driver, int(memory[name].handle), swizzle, rows_of_box) for name in "ab")
    host["m"].view(np.uint8)[:] = np.frombuffer(maps, np.uint8)
    place = int(memory["m"].handle)
    kernel = cucore.ObjectCode.from_ptx(PTX.encode()).get_kernel("rows")
    numbers = [np.int32(n) for n in (4 * WIDTH, x, *rows)]
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel, place, place + 128, memory["o"], *numbers)
    stream.sync()
    want, back = np.zeros((4, WIDTH), np.float32), np.zeros(SHAPE, np.float32)
    for n, row in enumerate(rows):
        for column in range(WIDTH):
            if 0 <= row < SHAPE[0] and x + column < SHAPE[1]:
                want[n, column] = back[row, x + column] = matrix[row, x + column]
    lines = want.reshape(-1, 8, 4)  # of 128 bytes, in chunks of 16
    for line, chunks in enumerate(lines):
        chunks[:] = chunks[np.arange(8) ^ (line & (1 << swizzle) - 1)]
    return host["o"], want.ravel(), host["b"], back.ravel()


def check_all():
    for x, rows, swizzle in (
        (0, (0, 1, 2, 3), 0),
        (32, (39, 7, 7, 0), 0),  # in any order, and one twice
        (80, (5, 40, 3, 1000), 0),  # beyond the last column, and rows that are none
        (64, (8, 13, 21, 34), 3),
        (4, (30, 20, 10, 0), 3),
    ):
        out, want, second, back = copy(x, rows, swizzle)
        np.testing.assert_array_equal(out, want)
        np.testing.assert_array_equal(second, back)


def run(call, **environment):
    program = f"import sys; sys.path[:0] = sys.argv[1:]; import test_row_copies; test_row_copies.{call}"
    return run_python(
        program,
        Path(__file__).parent,
        Path(__file__).parent.parent,
        env={"CUCORE_CPU_COMPUTE_CAPABILITY": "10.0", **environment},
    )


@pytest.fixture(autouse=True)
def only_where_there_is_such_a_device():
    if cucore.driver_info().kind != "cpu" and cucore.Device().compute_capability[0] != 10:
        pytest.skip("needs compute capability 10.x")


@pytest.mark.parametrize("check", ["", "memory,race,init,sync"])
def test_four_rows_are_gathered_and_scattered(check):
    done = run("check_all()", CUCORE_CPU_CHECK=check)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or done.stderr.endswith(": 0 errors\n")


def test_a_map_whose_box_is_not_one_row_is_refused():
    done = run("copy(0, (0, 1, 2, 3), rows_of_box=4)", CUCORE_CPU_REPORT="stderr")
    assert done.returncode == 1 and "CUDA_ERROR_ILLEGAL_INSTRUCTION" in done.stderr
    assert "a tensor map whose box is not one row" in done.stderr or cucore.driver_info().kind != "cpu"
