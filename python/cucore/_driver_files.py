"""The CPU device's file, the driver that a process has loaded, and the environment in which programs find it."""

import ctypes
import importlib.util
import os


def find_library():
    """The file of the CPU device: CUCORE_CPU_DRIVER, or that of the package cucore-cpu-device."""
    path = os.environ.get("CUCORE_CPU_DRIVER") or find_installed()
    if not os.path.isfile(path):
        raise ImportError(
            f"cucore.cpu_device: the CPU device is not installed: there is no {path}; "
            "pip install cucore-cpu-device, or set CUCORE_CPU_DRIVER to its file"
        )
    return os.path.realpath(path)


def find_installed():
    """Where the package cucore-cpu-device keeps it, along sys.path. (cpu_driver_path() knows more places, but to ask it
    would let the library read an environment that prepare_environment has yet to change.)"""
    found = importlib.util.find_spec("cucore_cpu_device")
    if found is None or not found.submodule_search_locations:
        beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        return os.path.join(beside, "cucore_cpu_device", "libcuda.so.1")
    return os.path.join(found.submodule_search_locations[0], "libcuda.so.1")


def loaded_driver():
    """The file of the libcuda.so.1 that this process has loaded, or None."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None
    return os.path.realpath(_file_of(driver.cuInit))


def _file_of(function):
    class DlInfo(ctypes.Structure):
        _fields_ = [
            ("file", ctypes.c_char_p),
            ("base", ctypes.c_void_p),
            ("symbol", ctypes.c_char_p),
            ("address", ctypes.c_void_p),
        ]

    info = DlInfo()
    dladdr = ctypes.CDLL(None).dladdr
    if not dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(info)):
        raise OSError("dladdr does not find the library of a function")
    return os.fsdecode(info.file)


def prepare_environment(path, environment):
    """What programs need to find the CPU device at `path`, as docs/clients.md has it, into `environment`."""
    folder = os.path.dirname(path)
    environment["CUCORE_DEVICE"] = "cpu"
    environment["CUCORE_CPU_DRIVER"] = path
    programs = os.path.join(folder, "bin")
    for name, value in (("LD_LIBRARY_PATH", folder), ("PATH", programs)):
        old = environment.get(name, "")
        if value not in old.split(os.pathsep):
            environment[name] = f"{value}{os.pathsep}{old}" if old else value
    for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
        environment.setdefault(name, os.path.join(programs, "ptxas"))
