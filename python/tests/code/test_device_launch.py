"""Kernels that launch kernels, linked with CUDA's device runtime library."""

from pathlib import Path

import numpy as np
import pytest

import cucore

SOURCE = """
extern "C" __global__ void leaf(int* out, int what) { out[1 + atomicAdd(out, 1)] = what; }
extern "C" __global__ void root(int* out) {
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 3);
  for (int i = 0; i < 3; ++i) leaf<<<1, 1>>>(out, i);
}
"""


@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_a_kernel_launches_kernels_in_streams_and_behind_itself(stream, pinned, target):
    library = Path(cucore.toolkit_info().nvrtc.path).parent / "libcudadevrt.a"
    if not library.exists():
        pytest.skip(f"no {library}")
    arch = f"sm_{cucore.Device().arch}"
    options = cucore.ProgramOptions(arch=arch, std="c++17", relocatable_device_code=True)
    unit = cucore.Program(SOURCE, "c++", options).compile(target)
    with cucore.Linker(unit, cucore.ObjectCode.from_library(library), options={"arch": arch}) as linker:
        code = linker.link("cubin")
    memory = pinned.allocate(64)
    out = np.frombuffer(memory, np.int32)
    out[:] = 0
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), code.get_kernel("root"), memory)
    stream.sync()
    assert list(out[:5]) == [4, 0, 1, 2, 3]
