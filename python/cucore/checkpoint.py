"""Checkpoints of processes that use CUDA: stopping one, bringing its device memory to the host, and back.

    process = Process(pid)
    process.lock(timeout_ms=5000)
    process.checkpoint()
    ...
    process.restore()
    process.unlock()

Needs a driver of CUDA 12.8; the CPU device has no checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cucore import _seam
from cucore import typing as _types

__all__ = ["Process"]

_MOST_MILLISECONDS = 2**32 - 1


class Process:
    """The process with this number. Calls in the wrong order are a CUDAError; a driver without checkpoints is a
    RuntimeError.
    """

    __slots__ = ("__weakref__", "_pid")

    def __init__(self, pid: int):
        number = _integer("pid", pid)
        if number <= 0:
            raise ValueError(f"pid must be positive, not {number}")
        self._pid = number

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._pid

    @property
    def state(self) -> _types.ProcessStateType:
        """ "running", "locked", "checkpointed" or "failed"."""
        return _seam.checkpoint_state(self._pid)

    @property
    def restore_thread_id(self) -> int:
        """The thread of the process on whose behalf restore() works."""
        return _seam.checkpoint_restore_thread_id(self._pid)

    def lock(self, timeout_ms: int = 0) -> None:
        """Makes its CUDA calls block; 0 waits without a limit for those that run."""
        timeout = _integer("timeout_ms", timeout_ms)
        if not 0 <= timeout <= _MOST_MILLISECONDS:
            raise ValueError(f"timeout_ms must be 0 (no limit) to {_MOST_MILLISECONDS}, not {timeout}")
        _seam.checkpoint_lock(self._pid, timeout)

    def checkpoint(self) -> None:
        """Brings the device memory of the locked process to the host."""
        _seam.checkpoint_checkpoint(self._pid)

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """Brings it back; onto other GPUs if ``gpu_mapping`` says so, from the UUID of each to the UUID of the one that
        takes its place, as Device.uuid writes it or as an object of the driver's. It must name every GPU of the
        machine, also those that the environment hides.
        """
        if gpu_mapping is not None and not isinstance(gpu_mapping, Mapping):
            raise TypeError(
                f"gpu_mapping must be a mapping of UUIDs to UUIDs or None, not {type(gpu_mapping).__name__}"
            )
        pairs = [(_uuid(before), _uuid(after)) for before, after in (gpu_mapping or {}).items()]
        _seam.checkpoint_restore(self._pid, pairs)

    def unlock(self) -> None:
        """Lets it go on."""
        _seam.checkpoint_unlock(self._pid)

    def __repr__(self):
        return f"<Process pid={self._pid}>"


def _integer(what, value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    return int(value)


def _uuid(value):
    """16 bytes of a string, or of a CUuuid of cuda.bindings."""
    if isinstance(value, str):
        digits = value.replace("-", "")
        if len(digits) != 32 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            raise ValueError(f"a GPU's UUID must have 32 hexadecimal digits, with or without hyphens, not {value!r}")
        return bytes.fromhex(digits)
    content = getattr(value, "bytes", None)
    if isinstance(content, bytes) and len(content) == 16:
        return content
    raise TypeError(f"a GPU's UUID must be a str or a CUuuid, not {type(value).__name__}")


Process.__module__ = "cucore.checkpoint"
