"""PTX that is newer than what the driver can compile: nvJitLink compiles it, or the error says what to do."""

import os
import shutil
import subprocess

import pytest
from conftest import build_stand_in, run_python

import cucore

PRELUDE = """
    import cucore
    SOURCE = 'extern "C" __global__ void k(int* p) { *p += 2; }'
    device = cucore.Device(); device.set_current()
    def compiled(target, arch):
        return cucore.Program(SOURCE, "c++", cucore.ProgramOptions(arch=arch, name="newer")).compile(target)
    ptx = compiled("ptx", "sm_80")
    assert b".version 9" in ptx.code, "the tests want PTX of a version that the driver refuses"
    def run(code):
        pinned = cucore.LegacyPinnedMemoryResource()
        buffer = pinned.allocate(4)
        import numpy as np
        view = np.from_dlpack(buffer).view(np.int32)
        view[0] = 40
        cucore.launch(device.default_stream, cucore.LaunchConfig(grid=1, block=1), code.get_kernel("k"), buffer)
        device.sync()
        return int(view[0])
"""


@pytest.fixture(scope="module")
def old_driver(tmp_path_factory):
    return build_stand_in("old_ptx_driver.c", tmp_path_factory.mktemp("driver") / "libold_driver.so")


def run_on(library, source, **environment):
    driver = os.path.realpath(cucore.driver_info().path)
    environment |= {"CUCORE_DEVICE": "cpu", "CUCORE_CPU_DRIVER": str(library), "NEWER_DRIVER": driver}
    result = run_python(PRELUDE + source, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_nvjitlink_compiles_it_for_the_device_and_that_is_told(old_driver):
    source = """
    print(ptx.loaded_image, run(ptx), ptx.loaded_image == ("cubin", f"sm_{device.arch}"), ptx.code_type)
    fat = cucore.ObjectCode.from_images([compiled("cubin", "sm_120"), ptx])
    print(run(fat), fat.loaded_image[0])
    """
    assert run_on(old_driver, source) == "None 42 True ptx\n42 cubin\n"


def test_without_nvjitlink_the_error_names_both_versions_and_what_to_do(old_driver, tmp_path):
    library = tmp_path / "libnvJitLink.so"  # as old as 12.2
    command = [shutil.which("cc"), "-shared", "-x", "c", "-o", library, "-"]
    subprocess.run(command, input=b"void nvJitLinkCreate(void) {}", check=True)
    source = """
    for use in range(2):
        try:
            ptx.get_kernel("k")
        except cucore.CUDAError as error:
            print(error.name, "PTX is of version 9.0, newer than the driver (CUDA" in str(error), ptx.is_loaded)
            assert "'newer'" in str(error) and "nvJitLink" in str(error) and "update the driver" in error.hint, error
    """
    expected = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION True False\n" * 2
    assert run_on(old_driver, source, CUCORE_NVJITLINK=str(library)) == expected
