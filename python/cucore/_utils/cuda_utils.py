"""What code written for cuda.core imports from its private ``_utils.cuda_utils``: the errors, and ``handle_return`` for
programs that call cuda.bindings themselves. ``driver``, ``nvrtc`` and ``runtime`` are cuda.bindings' modules, imported
when they are asked for: this package does without them.
"""

import importlib as _importlib

from cucore._errors import CUDAError, NVRTCError, nvJitLinkError, nvvmError
from cucore._tuples import ComputeCapability

__all__ = ["CUDAError", "ComputeCapability", "NVRTCError", "handle_return", "nvJitLinkError", "nvvmError"]


def __getattr__(name):
    if name in ("driver", "nvrtc", "runtime"):
        return _importlib.import_module(f"cuda.bindings.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def handle_return(result, handle=None):
    """What a call of cuda.bindings gave besides its status: None, a value, or a tuple of them.

    Raises CUDAError or NVRTCError for any status but success; ``handle`` is the nvrtcProgram whose log the
    error is to have.
    """
    if not isinstance(result, tuple):
        raise TypeError(
            f"handle_return takes the tuple that a call of cuda.bindings gives, not {type(result).__name__}"
        )
    status, values = result[0], result[1:]
    kind = type(status).__name__
    if kind not in ("CUresult", "cudaError_t", "nvrtcResult"):
        raise RuntimeError(f"Unknown error type: {status!r} is no status of cuda.bindings")
    if int(status) != 0:
        raise _error_of(status, kind, handle)
    return None if not values else values[0] if len(values) == 1 else values


def _error_of(status, kind, handle):
    log = None
    if kind == "nvrtcResult":
        text = f"{status.name} ({int(status)})"
        if handle is not None:
            log = _log_of(handle)
            text += f", compilation log:\n\n{log}"
        error = NVRTCError(text)
    else:
        error = CUDAError(f"{status.name} ({int(status)}){_explained(status, kind)}")
    error.code, error.name, error.log = int(status), status.name, log
    return error


def _log_of(program):
    nvrtc = _importlib.import_module("cuda.bindings.nvrtc")
    size = handle_return(nvrtc.nvrtcGetProgramLogSize(program))
    log = bytes(size)
    handle_return(nvrtc.nvrtcGetProgramLog(program, log))
    return log.rstrip(b"\0").decode(errors="replace")


def _explained(status, kind):
    """The driver's own words for the status, where it has some; the runtime's statuses have names that say as much."""
    if kind != "CUresult":
        return ""
    failed, text = _importlib.import_module("cuda.bindings.driver").cuGetErrorString(status)
    return "" if int(failed) != 0 else f": {text.decode()}"
