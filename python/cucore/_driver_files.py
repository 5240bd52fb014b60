"""The CPU device's file, the driver that a process has loaded, and the environment in which programs find it."""

import ctypes
import os


def find_library():
    """The file of the CPU device: CUCORE_CPU_DRIVER, or what was installed with the package."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cucore-cpu", "libcuda.so.1")
    path = os.environ.get("CUCORE_CPU_DRIVER") or beside
    if not os.path.isfile(path):
        raise ImportError(
            f"cucore.cpu_device: the CPU device is not installed: there is no {path}; set CUCORE_CPU_DRIVER to its file"
        )
    return os.path.realpath(path)


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
        raise OSError("dladdr does not know where a function is")
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
