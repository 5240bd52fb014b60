"""Kernels on a driver before 12.4, which cannot be asked for their parameters: the code tells, or a clear error."""

import os

from conftest import build_stand_in, run_python

import cucore


def test_parameters_come_from_the_code_or_the_error_names_the_version(tmp_path):
    driver = build_stand_in("driver_of_12_3.c", tmp_path / "libdriver_of_12_3.so")
    source = """
        import cucore
        device = cucore.Device(); device.set_current()
        source = '''extern "C" __global__ void k(int* p, short s, double d) { *p = s + int(d); }'''
        for target in ("ptx", "cubin"):
            kernel = cucore.Program(source, "c++", {"arch": "sm_80"}).compile(target).get_kernel("k")
            print(kernel.num_arguments, [tuple(info) for info in kernel.arguments_info])
        # A kernel that came past us: nothing is known of its code.
        import ctypes, os
        driver = ctypes.CDLL(os.environ["NEWER_DRIVER"])
        library, handle = ctypes.c_void_p(), ctypes.c_void_p()
        ptx = cucore.Program(source, "c++", {"arch": "sm_80"}).compile("ptx").code
        assert driver.cuLibraryLoadData(ctypes.byref(library), ptx, None, None, 0, None, None, 0) == 0
        assert driver.cuLibraryGetKernel(ctypes.byref(handle), library, b"k") == 0
        foreign = cucore.Kernel.from_handle(handle.value)
        for ask in (lambda: foreign.num_arguments, lambda: foreign.arguments_info):
            try:
                print("answered", ask())
            except NotImplementedError as error:
                print("12.4" in str(error))
    """
    environment = {
        "CUCORE_DEVICE": "cpu",
        "CUCORE_CPU_DRIVER": str(driver),
        "NEWER_DRIVER": os.path.realpath(cucore.driver_info().path),
    }
    result = run_python(source, env=environment)
    layout = "3 [(0, 8), (8, 2), (16, 8)]"
    assert result.stdout.splitlines() == [layout, layout, "True", "True"], result.stdout + result.stderr
