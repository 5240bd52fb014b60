"""What the environment says of stores and of the CPU device's kernels; both are of Python alone here."""

import os


def named_store():
    """The URL or folder of the store that the environment names."""
    return os.environ.get("CUCORE_CACHE_STORE") or None


def sends_by_reference():
    """Whether the environment says that code goes by reference to that store."""
    return os.environ.get("CUCORE_SEND_BY_REFERENCE", "0") not in ("", "0")


def cpu_kernels_folder():
    """Where the CPU device keeps compiled kernels, as it finds that; None if it keeps none."""
    folder = os.environ.get("CUCORE_CPU_CACHE") or None
    if folder is not None:
        return None if folder == "0" else folder
    for name, rest in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
        base = os.environ.get(name, "")
        if os.path.isabs(base):
            return os.path.join(base, rest, "cucore", "cpu-kernels")
    return None
