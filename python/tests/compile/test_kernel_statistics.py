"""What compilers and linkers tell of kernels' registers and memory, as data. Needs no driver."""

import pytest

import cucore

SOURCE = """
template <class T> __global__ void fill(T* p, int n) {
  __shared__ T s[32];
  T spilt[300];
  for (int i = 0; i < 300; ++i) spilt[i] = p[i] * i;
  s[threadIdx.x % 32] = spilt[n % 300];
  __syncthreads();
  p[n] = s[(n + 1) % 32];
}
"""
NAMES = ["fill<double>", "fill<int>"]
# Of what was compiled before, NVRTC's and nvJitLink's own cache may have the code, and then no log.
AGAIN = {"no_cache": True}


def statistics_of(program, target="cubin", names=NAMES, **arguments):
    code = program.compile(target, names if program.backend == "NVRTC" else (), **arguments)
    return code, {kernel.kernel: kernel for kernel in program.kernel_statistics}


def symbols_of(code):
    return {name: symbol.decode() for name, symbol in code.symbol_mapping.items()}


def test_a_programs_kernels_are_told_apart():
    program = cucore.Program(SOURCE, "c++", {"arch": "sm_80", "ptxas_options": "-v", **AGAIN})
    assert program.kernel_statistics == []
    code, told = statistics_of(program)
    assert set(told) == set(symbols_of(code).values())
    double = told[symbols_of(code)["fill<double>"]]
    assert (double.arch, double.shared_bytes, double.stack_bytes) == ("sm_80", 256, 2400)
    assert double.registers > 0 and double.barriers == 1 and double.constant_bytes > 0
    assert told[symbols_of(code)["fill<int>"]].shared_bytes == 128
    ptx = cucore.Program(SOURCE, "c++", {"arch": "sm_80"}).compile("ptx", NAMES).code.decode()
    _, of_ptx = statistics_of(cucore.Program(ptx, "ptx", {"arch": "sm_80", "ptxas_options": "-v", **AGAIN}))
    assert set(of_ptx) == set(told)


def test_spills_are_told():
    program = cucore.Program(
        "__global__ void __launch_bounds__(1024) k(float* p) { float a[64]; for (int i = 0; i < 64; ++i) a[i] = p[i]; "
        "__syncthreads(); for (int i = 0; i < 64; ++i) for (int j = 0; j < 64; ++j) p[i + 64 * j] = a[i] * a[j]; }",
        "c++",
        {"arch": "sm_80", "ptxas_options": ["-v"], **AGAIN},
    )
    program.compile("cubin")
    (kernel,) = program.kernel_statistics
    assert kernel.spill_store_bytes > 0 and kernel.spill_load_bytes > 0


def test_every_architecture_is_told_of():
    options = {"arch": ["sm_80", "sm_90"], "ptxas_options": "-v", **AGAIN}
    program = cucore.Program("__global__ void k() {}", "c++", options)
    program.compile("cubin")
    assert [kernel.arch for kernel in program.kernel_statistics] == ["sm_80", "sm_90"]


def test_a_hit_tells_what_the_compile_told(tmp_path):
    cache = cucore.ProgramCache(tmp_path)
    told = []
    for _ in range(2):
        program = cucore.Program(SOURCE, "c++", {"arch": "sm_80", "ptxas_options": "-v", **AGAIN})
        told.append(statistics_of(program, cache=cache)[1])
    assert program.last_report["cache"] == "hit" and told[0] == told[1] != {}


@pytest.mark.parametrize("options", [{"verbose": True}, {"ptxas_options": "-v"}])
def test_a_linkers_kernels_are_told(options):
    code = cucore.Program(SOURCE, "c++", {"arch": "sm_80", "relocatable_device_code": True}).compile("ptx", NAMES)
    with cucore.Linker(code, options={"arch": "sm_80", **options, **AGAIN}) as linker:
        assert linker.kernel_statistics == []
        linker.link("cubin")
        told = {kernel.kernel: kernel for kernel in linker.kernel_statistics}
    assert set(told) == set(symbols_of(code).values())
    if "verbose" in options:  # only the linker knows what relocatable code shares
        assert told[symbols_of(code)["fill<double>"]].shared_bytes == 256
    assert all(kernel.registers > 0 for kernel in told.values())


def test_without_asking_nothing_is_told():
    program = cucore.Program(SOURCE, "c++", {"arch": "sm_80"})
    assert statistics_of(program)[1] == {}
