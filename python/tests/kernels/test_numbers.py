"""The CPU device's checker of numbers: each planted exception is found on its line and by its thread, the same kernels
on harmless numbers give no alarm, and reports say where a value came from."""

import re
from pathlib import Path

import planted_numbers
import pytest
from conftest import run_python
from planted_numbers import BAD_THREAD, PLANTED, checked, line_of, module, reports
from test_async_copies import headers

import cucore

if cucore.driver_info().kind != "cpu":
    pytest.skip("the checker is the CPU device's", allow_module_level=True)


@pytest.fixture(scope="module", params=["auto", "scalar", "vector", "masked"])
def said(request):
    """Of the planted kernels and their twins, in each form."""

    return {what: checked(what, request.param) for what in ("bad", "clean")}


def test_each_planted_exception_is_found(said):
    found = reports(said["bad"])
    ptx = module(PLANTED)
    wrong = []
    for planted in PLANTED:
        expected = [(planted.found, line_of(planted.name, ptx))]
        got = found.get(planted.name, [])
        if [(headline[: len(planted.found)], line) for headline, line, _ in got] != expected:
            wrong.append((planted.name, expected, got))
        elif planted.says not in got[0][2] or f"by thread ({BAD_THREAD},0,0) in block (0,0,0)\n" not in got[0][2]:
            wrong.append((planted.name, planted.says, got))
    assert not wrong, wrong
    assert len(PLANTED) > 60


def test_the_same_kernels_on_harmless_numbers_give_no_alarm(said):
    assert reports(said["clean"]) == {}, said["clean"]
    assert "SUMMARY: 0 errors" in said["clean"]


PROGRAM = """
import sys
import cucore
source = open(sys.argv[1]).read() if len(sys.argv) > 1 else SOURCE
device = cucore.Device()
device.set_current()
stream = device.create_stream()
options = cucore.ProgramOptions(lineinfo=True, name=sys.argv[1] if len(sys.argv) > 1 else "numbers.cu", arch="sm_90a",
                                include_path=INCLUDE)
code = cucore.Program(source, "c++", options).compile("cubin", name_expressions=NAMES)
data = device.allocate(1 << 16, stream=stream)
data.fill(0, stream=stream)
for name in NAMES:
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=BLOCK), code.get_kernel(name), data)
stream.sync()
"""


def check(source, names, tmp_path=None, include=(), block=32, **environment):
    """What is said of these kernels, which run one after the other on the same memory."""
    program = f"SOURCE = {source!r}\nNAMES = {names!r}\nINCLUDE = {list(include)!r}\nBLOCK = {block}\n"
    program += PROGRAM
    words = []
    if tmp_path is not None:
        words.append(str(tmp_path / "numbers.cu"))
        Path(words[0]).write_text(source)
    done = run_python(program, *words, env={"CUCORE_CPU_CHECK": "fp", **environment})
    assert done.returncode == 0, done.stderr
    return done.stderr


CHAIN = """
__global__ void makes(float* x) {
  float big = 3e38f + x[threadIdx.x];
  x[threadIdx.x] = threadIdx.x == 7 ? big * 2.0f : 1.0f;  // made
}
__global__ void copies(float* x) {
  __shared__ float box[32];
  box[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float other = box[threadIdx.x ^ 1];
  x[32 + threadIdx.x] = other;
}
__global__ void subtracts(float* x) {
  float v = x[32 + threadIdx.x] + 1.0f;
  x[64 + threadIdx.x] = v - v * 0.5f;  // nan
}
__global__ void shuffles(float* x) {
  float v = 1.0f / (threadIdx.x == 3 ? x[1000] : 2.0f);  // zero
  v = __shfl_xor_sync(~0u, v, 16);
  x[threadIdx.x] = v - v;
}
"""


def test_a_value_is_followed_through_memory_and_other_lanes():
    said = check(CHAIN, ["makes", "copies", "subtracts", "shuffles"])
    found = reports(said)
    assert [each[0] for each in found["makes"]] == ["Overflow to infinity"], said
    assert "copies" not in found, said
    ((headline, _, rest),) = found["subtracts"]
    assert headline == "NaN made" and "numbers.cu:15" in said, said
    assert "by thread (6,0,0)" in rest and re.search("Overflow to infinity at .*numbers.cu:4", rest), said
    assert "thread (7,0,0) in block (0,0,0), by way of memory at 0x" in rest, said
    assert [each[0] for each in found["shuffles"]] in (
        ["Division by zero", "NaN made"],
        ["NaN made", "Division by zero"],
    )
    assert any(re.search("Division by zero at .*numbers.cu:18", each[2]) for each in found["shuffles"]), said


def test_results_that_an_exception_reaches_are_counted():
    said = check(
        "__global__ void k(float* x) {\n float v = 1.0f / x[0];\n for (int i = 0; i < 5; ++i) v = v * 1.5f + 1.0f;\n"
        " x[1 + threadIdx.x] = v;\n}",
        ["k"],
    )
    ((headline, _, rest),) = reports(said)["k"]
    assert headline == "Division by zero" and "the first of 32" in rest, said
    assert re.search(r"it made \d+ other results NaN or infinite", rest), said


QUIET = """
__global__ void k(float* x) {
  float a = 1.0f / x[0];  // one
  float b = x[0] / x[0];  // two
  x[1 + threadIdx.x] = a; x[64 + threadIdx.x] = b;
}
"""


@pytest.mark.parametrize(
    ("source", "quiet", "expected"),
    [
        (QUIET, "", ["Division by zero", "NaN made"]),
        (QUIET, "k", []),
        (QUIET, "other", ["Division by zero", "NaN made"]),
        (QUIET, "numbers.cu:3", ["NaN made"]),
        (QUIET, "nan=numbers.cu", ["Division by zero"]),
        (QUIET, "division=*", ["NaN made"]),
        (QUIET.replace("// one", "// cucore: fp quiet"), "", ["NaN made"]),
        (QUIET.replace("// one", "// cucore: fp quiet nan"), "", ["Division by zero", "NaN made"]),
        (QUIET.replace("  float b", "  // cucore: fp quiet\n  float b"), "", ["Division by zero"]),
        (
            QUIET.replace("  float a", '  asm volatile("// cucore: fp quiet begin");\n  float a').replace(
                "  x[1", '  asm volatile("// cucore: fp quiet end");\n  x[1'
            ),
            "",
            None,
        ),
    ],
)
def test_what_is_made_on_purpose_is_left_out(tmp_path, source, quiet, expected):
    said = check(source, ["k"], tmp_path, CUCORE_CPU_CHECK_FP_QUIET=quiet)
    found = sorted(headline for each in reports(said).values() for headline, *_ in each)
    if expected is None:  # the compiler moves arithmetic past comments
        assert len(found) < 3, said
    else:
        assert found == expected, said


def test_constants_by_name_and_results_that_are_dropped_give_no_alarm():
    source = """
    #define INF __int_as_float(0x7f800000)
    __global__ void k(float* x) {
      float most = -INF;
      for (int i = 0; i < 8; ++i) most = fmaxf(most, x[i] + threadIdx.x);
      float safe = x[0] == 0.0f ? 0.0f : 1.0f / x[0];
      x[64 + threadIdx.x] = most + safe + expf(most) + logf(most + 1.0f) + sinf(most) + powf(most + 1.0f, 1.5f);
      x[96 + threadIdx.x] = threadIdx.x == 0 ? -INF : most;
      x[128 + threadIdx.x] = fmaxf(x[96 + threadIdx.x], most);
    }
    """
    said = check(source, ["k"])
    assert "SUMMARY: 0 errors" in said, said


MATRICES = """
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;
__global__ void halves(float* x) {
  __shared__ __half a[256], b[256];
  __shared__ float c[256];
  for (int i = threadIdx.x; i < 256; i += 32) { a[i] = __float2half(x[i] + 1.0f); b[i] = __float2half(2.0f); c[i] = 0; }
  __syncwarp();
  if (threadIdx.x == 0 && BAD) { a[0] = __ushort_as_half(0x7c00); b[0] = __ushort_as_half(0); }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(x, fc, 16, wmma::mem_row_major);
}
__device__ unsigned pair(float v) { unsigned h = __bfloat16_as_ushort(__float2bfloat16(v)); return h | h << 16; }
__global__ void brains(float* x) {
  float v = BAD && threadIdx.x == 5 ? 3e38f : 1.0f, d0, d1, d2, d3;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%5,%5,%5,%5};"
    : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(pair(v)), "f"(0.0f));
  x[threadIdx.x] = d0 + d1 + d2 + d3;
}
__global__ void half_sums(float* x) {
  unsigned v = BAD && threadIdx.x == 5 ? 0x7bff7bff : 0x3c003c00, d0, d1;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%3,%3};"
    : "=r"(d0), "=r"(d1) : "r"(v), "r"(0));
  x[threadIdx.x] = d0 + d1;
}
__global__ void doubles(float* x) {
  double v = BAD && threadIdx.x == 5 ? 1e200 : 1.0, d0, d1;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%3,%3};"
    : "=d"(d0), "=d"(d1) : "d"(v), "d"(1.0));
  x[threadIdx.x] = (float)(d0 > d1);
}
__global__ void small(float* x) {
  unsigned v = BAD && threadIdx.x == 5 ? 0x7f7f7f7f : 0x38383838;
  float d0, d1, d2, d3, c = BAD ? 0.0f : 1.0f;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%5,%5,%5,%5};"
    : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(v), "f"(c));
  x[threadIdx.x] = d0 > d1;
}
"""
FOUND = {
    "halves": ("NaN made", "a[0][0] * b[0][0] = inf * 0"),
    "brains": ("Overflow to infinity", ""),
    "half_sums": ("Overflow to infinity", ""),
    "doubles": ("Overflow to infinity", ""),
    "small": ("Overflow to infinity", ""),
}


@pytest.mark.parametrize("form", ["scalar", "vector"])
def test_products_of_matrices_are_looked_at(form):
    for bad in (1, 0):
        source = f"#define BAD {bad}\n" + MATRICES
        said = check(source, list(FOUND), include=[str(each) for each in headers()], CUCORE_CPU_FORM=form)
        found = reports(said)
        if not bad:
            assert found == {}, said
            continue
        for name, (headline, detail) in FOUND.items():
            assert [each[0] for each in found[name]] == [headline], (name, said)
            assert "mma" in said and detail in found[name][0][2], (name, said)


GROUP = """
__global__ void group(float* x) {
  __shared__ __align__(1024) unsigned a[1024], b[1024];
  for (int i = threadIdx.x; i < 1024; i += 128) {
    a[i] = BAD ? 0x7c007c00 : 0x3c003c00;
    b[i] = BAD ? 0 : 0x3c003c00;
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  auto describe = [](const void* at) {
    return (unsigned long long)(__cvta_generic_to_shared(at) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
  };
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0;\\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(describe(a)), "l"(describe(b)), "r"(1));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  x[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
"""


def test_products_by_a_warpgroup_are_looked_at():
    for bad in (1, 0):
        found = reports(said := check(f"#define BAD {bad}\n" + GROUP, ["group"], block=128))
        if not bad:
            assert found == {}, said
            continue
        ((headline, _, rest),) = found["group"]
        assert headline == "NaN made" and "a[0][0] * b[0][0] = inf * 0" in rest and "wgmma" in said, said


def test_every_operation_and_format_is_planted():
    operations = {planted.code.split(" ")[0].split(".")[0] for planted in planted_numbers.PLANTED}
    wanted = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "cvt"}
    assert wanted <= operations
    for kind in ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "e4m3x2", "e5m2x2"):
        assert any(planted.kinds.split()[0] == kind for planted in planted_numbers.PLANTED), kind
