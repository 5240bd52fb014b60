"""The CPU device for everything in this process: ``import cucore.cpu_device`` before anything opens the CUDA driver.

From then on ``libcuda.so.1`` is the CPU device for whatever asks for it by that name (cuda.bindings, cuda.core, Numba,
CuPy, PyCUDA, ...), and ``libcuda.so`` too where the CPU device is the Python package, in this process and those it
starts, with no ``LD_LIBRARY_PATH`` set beforehand: a library that is loaded is found again by its name.
``libnvidia-ml.so.1`` is the one that comes with it. Its settings are read from the environment when this is imported
(``CUCORE_CPU_CHECK``, ``CUCORE_CPU_DEVICES``, ...).

Raises ImportError if another driver is loaded already, or the CPU device is not installed.
"""

import ctypes
import os

from cucore import _driver_files

__all__ = ["folder", "library"]


def _load():
    path = _driver_files.find_library()
    before = _driver_files.loaded_driver()
    if before not in (None, path):
        raise ImportError(
            f"cucore.cpu_device: {before} is loaded already, and a process has one driver; import this before anything "
            "that uses CUDA, or start the program by 'cucore run'"
        )
    _driver_files.prepare_environment(path, os.environ)
    driver = ctypes.CDLL(path)
    for name in ("libcuda.so", "libnvidia-ml.so.1"):
        beside = os.path.join(os.path.dirname(path), name)
        if os.path.isfile(beside):
            ctypes.CDLL(beside)
    return path, driver


#: Its file and the folder of that; the folder is what ``cucore driver-path`` prints.
library, _driver = _load()
folder = os.path.dirname(library)


def _text(function, *before):
    size = function(*before, None, 0)
    text = ctypes.create_string_buffer(size + 1)
    function(*before, text, size + 1)
    return text.value.decode(errors="backslashreplace")


def _findings(seen):
    """What the checker found, without the first `seen` bytes; and how many bytes there are now."""
    function = _driver.cucore_cpu_findings
    function.argtypes = [ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_size_t
    text = _text(function, seen)
    return text, seen + len(text.encode(errors="backslashreplace"))


def _wait_for_kernels():
    """Waits until all that was launched in primary contexts has ended. Errors are left to those who launched it."""
    count, flags, active = (ctypes.c_int() for _ in range(3))
    if _driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return  # not initialised: nothing was launched
    for device in range(count.value):
        context = ctypes.c_void_p()
        state = _driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active))
        if state != 0 or not active.value:
            continue
        if _driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) != 0:
            continue
        if _driver.cuCtxPushCurrent_v2(context) == 0:
            _driver.cuCtxSynchronize()
            _driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        _driver.cuDevicePrimaryCtxRelease_v2(device)
