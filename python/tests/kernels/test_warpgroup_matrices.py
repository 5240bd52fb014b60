"""Matrices multiplied as libraries for Hopper do it: a producer copies boxes of tensors into a ring in shared memory, a
warpgroup multiplies what mbarriers say is there; through NVRTC for sm_90a, against NumPy."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from conftest import launch_on_arrays, run_check, run_python

import cucore

TILE_M, TILE_N, TILE_K, STAGES = 64, 128, 64, 2
ACCUMULATORS = TILE_N // 2
FLOAT16, SWIZZLE_128 = 6, 3


def kernel(b_is_transposed):
    """B is stored with its columns along K, or (`b_is_transposed`) along N, which takes two boxes of 64 columns."""
    registers = ", ".join(f"%{n}" for n in range(ACCUMULATORS))
    constraints = ", ".join(f'"+f"(d[{n}])' for n in range(ACCUMULATORS))
    at = ACCUMULATORS
    multiply = (
        f'asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{at + 2}, 0;\\n'
        f"wgmma.mma_async.sync.aligned.m64n{TILE_N}k16.f32.f16.f16 {{{registers}}}, "
        f'%{at}, %{at + 1}, p, 1, 1, 0, {int(b_is_transposed)};\\n}}" '
        f': {constraints} : "l"(of_a), "l"(of_b), "r"(counts));'
    )
    return f"""
#define B_IS_TRANSPOSED {int(b_is_transposed)}
#define MULTIPLY(of_a, of_b, counts) {multiply}
{BODY}"""


BODY = r"""
using u32 = unsigned;
using u64 = unsigned long long;
constexpr u32 bytes_of_a = 64 * 64 * 2, bytes_of_b = 128 * 64 * 2, bytes = bytes_of_a + bytes_of_b, stages = 2;

__device__ void wait(u32 barrier, u32 parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}"
               ::"r"(barrier), "r"(parity) : "memory");
}

__device__ void copy(u32 to, const void* map, u32 x, u32 y, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

__device__ u64 descriptor(u32 at, u32 leading, u32 stride) {
  return u64(at >> 4 & 0x3fff) | u64(leading >> 4) << 16 | u64(stride >> 4) << 32 | u64(1) << 62;
}

extern "C" __global__ void __launch_bounds__(256) product(const char* maps, float* c, u32 n, u32 k) {
  extern __shared__ __align__(1024) char cells[];
  __shared__ __align__(8) u64 full[stages], empty[stages];
  const void *a = maps, *b = maps + 128;
  u32 ring = __cvta_generic_to_shared(cells);
  u32 first_full = __cvta_generic_to_shared(full), first_empty = __cvta_generic_to_shared(empty);
  if (threadIdx.x == 0) {
    for (u32 s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(first_full + 8 * s));
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(first_empty + 8 * s));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(a) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(b) : "memory");
  }
  __syncthreads();
  u32 row = blockIdx.y * 64, column = blockIdx.x * 128;
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 128) {
      for (u32 tile = 0; tile < k / 64; ++tile) {
        u32 stage = tile % stages, of_a = ring + stage * bytes, of_b = of_a + bytes_of_a;
        u32 barrier = first_full + 8 * stage;
        wait(first_empty + 8 * stage, tile / stages % 2 ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes));
        copy(of_a, a, tile * 64, row, barrier);
        if (B_IS_TRANSPOSED) {
          copy(of_b, b, column, tile * 64, barrier);
          copy(of_b + bytes_of_b / 2, b, column + 64, tile * 64, barrier);
        } else {
          copy(of_b, b, tile * 64, column, barrier);
        }
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64];
  for (u32 i = 0; i < 64; ++i) d[i] = __int_as_float(0x7fc00000);  // the first product is to ignore it
  for (u32 tile = 0; tile < k / 64; ++tile) {
    u32 stage = tile % stages, at = ring + stage * bytes;
    wait(first_full + 8 * stage, tile / stages % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (u32 step = 0; step < 4; ++step) {
      u64 of_a = descriptor(at + 32 * step, 16, 1024);
      u64 of_b = B_IS_TRANSPOSED ? descriptor(at + bytes_of_a + 2048 * step, bytes_of_b / 2, 1024)
                                 : descriptor(at + bytes_of_a + 32 * step, 16, 1024);
      u32 counts = tile + step;
      MULTIPLY(of_a, of_b, counts)
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    // One thread speaks for the warpgroup: after its wait all four warps have read the stage.
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(first_empty + 8 * stage) : "memory");
  }
  u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (u32 i = 0; i < 64; ++i) {
    u32 r = row + warp * 16 + lane / 4 + 8 * (i / 2 % 2), x = column + lane % 4 * 2 + i % 2 + 8 * (i / 4);
    c[r * n + x] = d[i];
  }
}
"""


def encode(driver, address, rows, columns, box_rows):
    """The map of a matrix of halves, row after row, whose boxes are `box_rows` by 64."""
    room = (ctypes.c_uint8 * 192)()
    start = -ctypes.addressof(room) % 64
    extents, strides = (ctypes.c_uint64 * 2)(columns, rows), (ctypes.c_uint64 * 1)(2 * columns)
    box, ones = (ctypes.c_uint32 * 2)(64, box_rows), (ctypes.c_uint32 * 2)(1, 1)
    place = ctypes.c_void_p(address)
    code = driver.cuTensorMapEncodeTiled(
        ctypes.byref(room, start), FLOAT16, 2, place, extents, strides, box, ones, 0, SWIZZLE_128, 0, 0
    )
    assert code == 0
    return bytes(room[start : start + 128])


def multiply(a, b, b_is_transposed):
    """a @ b.T of matrices of halves; `b_is_transposed`: b lies in memory as the transposed matrix."""
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    code = cucore.Program(kernel(b_is_transposed), "c++", {"arch": "sm_90a"}).compile("cubin")
    (m, k), n = a.shape, b.shape[0]
    if b_is_transposed:
        b = np.ascontiguousarray(b.T)
    sizes = {"a": a.nbytes, "b": b.nbytes, "maps": 256, "c": 4 * m * n}
    pinned = cucore.LegacyPinnedMemoryResource()
    on_host = {name: pinned.allocate(size) for name, size in sizes.items()}
    on_device = {name: device.allocate(size, stream=stream) for name, size in sizes.items()}
    driver = ctypes.CDLL(cucore.driver_info().path)
    maps = encode(driver, int(on_device["a"].handle), *a.shape, TILE_M)
    maps += encode(driver, int(on_device["b"].handle), *b.shape, TILE_K if b_is_transposed else TILE_N)
    for name, values in (("a", a), ("b", b), ("maps", np.frombuffer(maps, np.uint8))):
        np.frombuffer(memoryview(on_host[name]), np.uint8)[: sizes[name]] = values.view(np.uint8).ravel()
        on_device[name].copy_from(on_host[name], stream=stream)
    stage = 2 * TILE_K * (TILE_M + TILE_N)
    config = cucore.LaunchConfig(grid=(n // TILE_N, m // TILE_M), block=256, shmem_size=STAGES * stage)
    cucore.launch(stream, config, code.get_kernel("product"), int(on_device["maps"].handle), on_device["c"], n, k)
    on_device["c"].copy_to(on_host["c"], stream=stream)
    stream.sync()
    return np.frombuffer(memoryview(on_host["c"]), np.float32)[: m * n].reshape(m, n).copy()


def check(b_is_transposed):
    rng = np.random.default_rng(9)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((128, 384), (256, 384)))
    np.testing.assert_array_equal(multiply(a, b, b_is_transposed), a.astype(np.float32) @ b.astype(np.float32).T)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((64, 384), (128, 384)))
    want = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(multiply(a, b, b_is_transposed), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("b_is_transposed", [False, True])
def test_a_pipeline_of_copies_and_warpgroup_products(device, b_is_transposed):
    run_check(device, __file__, f"check({b_is_transposed})")


ONCE = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry once(.param .u32 beyond, .param .u32 divergent)
{
	.reg .b32 %r<4>;
	.reg .b64 %at;
	.reg .f32 %d<4>;
	.reg .pred %parts;
	.shared .align 128 .b8 cells[256];
	mov.u32 %r0, cells;
	ld.param.u32 %r1, [beyond];
	add.u32 %r0, %r0, %r1;
	shr.u32 %r0, %r0, 4;
	cvt.u64.u32 %at, %r0;
	or.b64 %at, %at, 0x800080000;
	mov.f32 %d0, 0f00000000;
	mov.f32 %d1, %d0;
	mov.f32 %d2, %d0;
	mov.f32 %d3, %d0;
	mov.b32 %r3, 0;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %parts, %r1, 64;
	shl.b32 %r1, %r1, 2;
	mov.u32 %r2, cells;
	add.u32 %r1, %r1, %r2;
	@%parts st.shared.b32 [%r1], 0;
	fence.proxy.async;
	ld.param.u32 %r1, [divergent];
	bar.sync 0;
	setp.ne.u32 %parts, %r1, 0;
	mov.u32 %r1, %tid.x;
	setp.ge.and.u32 %parts, %r1, 96, %parts;
	@%parts exit;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%r3, %r3, %r3, %r3}, %at, 1, 1, 1, 0;
	ret;
}
"""


def once(threads=128, beyond=0, divergent=0):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    kernel = cucore.ObjectCode.from_ptx(ONCE.encode()).get_kernel("once")
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=threads), kernel, np.uint32(beyond), np.uint32(divergent))
    stream.sync()


@pytest.mark.skipif(cucore.driver_info().kind != "cpu", reason="undefined in PTX")
@pytest.mark.parametrize(
    ("call", "checks", "says"),
    [
        ("once(threads=96)", "", "ILLEGAL_INSTRUCTION"),
        ("once(divergent=1)", "sync", "at wgmma (96 of 128 threads arrived)"),
        ("once()", "memory,init,race,sync", "SUMMARY: 0 errors"),
        ("once(beyond=0x8000)", "memory", "by thread (0,0,0) in block (0,0,0), the first of 16"),
        ("once(beyond=128)", "memory", "by thread (1,0,0) in block (0,0,0), the first of 8"),
    ],
)
def test_what_a_warpgroup_must_not_do_is_said(call, checks, says):
    program = f"import sys; sys.path[:0] = sys.argv[1:]; import test_warpgroup_matrices as t; t.{call}"
    here = Path(__file__).parent
    done = run_python(program, here, here.parent, env={"CUCORE_CPU_CHECK": checks} if checks else None)
    assert says in done.stderr, done.stderr


IN_CLUSTER = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry in_cluster(.param .u64 out) .reqntid 128 .explicitcluster .reqnctapercluster 2
{
	.reg .b32 %r<8>;
	.reg .b64 %at, %out;
	.reg .f32 %d<4>;
	.reg .pred %fills;
	.shared .align 128 .b8 cells[256];
	mov.u32 %r0, cells;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %cluster_ctarank;
	mapa.shared::cluster.u32 %r3, %r0, %r2;
	setp.lt.u32 %fills, %r1, 64;
	mad.lo.u32 %r4, %r1, 4, %r3;
	mad.lo.u32 %r5, %r2, 0x04000400, 0x3c003c00;
	@%fills st.shared::cluster.b32 [%r4], %r5;
	fence.proxy.async;
	bar.sync 0;
	shr.u32 %r4, %r0, 4;
	and.b32 %r4, %r4, 0x3fff;
	cvt.u64.u32 %at, %r4;
	or.b64 %at, %at, 0x800080000;
	mov.b32 %r6, 0x3c003c00;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%r6, %r6, %r6, %r6}, %at, 0, 1, 1, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	ld.param.u64 %out, [out];
	mov.u32 %r7, %ctaid.x;
	mad.lo.u32 %r1, %r7, 128, %r1;
	mad.wide.u32 %out, %r1, 4, %out;
	st.global.f32 [%out], %d3;
	ret;
}
"""


def check_blocks_of_a_cluster():
    """Each block fills its matrix with its rank and one: descriptors name the block's own memory."""
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    kernel = cucore.ObjectCode.from_ptx(IN_CLUSTER.encode()).get_kernel("in_cluster")
    config = cucore.LaunchConfig(grid=2, block=128)
    (out,) = launch_on_arrays(stream, config, kernel, np.zeros(256, np.float32))
    np.testing.assert_array_equal(out, np.repeat(np.float32([16, 32]), 128))


def test_a_descriptor_names_the_memory_of_its_own_block(device):
    run_check(device, __file__, "check_blocks_of_a_cluster()")
