"""libnvidia-ml.so.1, NVIDIA's management library: opened at the first call, initialised once per process.

By ctypes, and not by nvidia-ml-py: that one opens the library by its bare name, so it cannot be pointed at the CPU
device's, which lies in a folder of its own; and what is needed here is a few dozen calls whose C interface is kept.

Thread-safety: any thread may call. Calls run without the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from cucore import _seam
from cucore._errors import CUDAWarning
from cucore.system.exceptions import LibraryNotFoundError, NvmlError, error_of

_lock = threading.Lock()
_functions: dict[str, Callable[..., int]] = {}
_library: ctypes.CDLL | None = None
_process: int | None = None  # which initialised it: a child made by fork has to do so itself

NOT_SUPPORTED = 3
_FUNCTION_NOT_FOUND = 13
_LIBRARY_NOT_FOUND = 12
_INSUFFICIENT_SIZE = 7

byref = ctypes.byref
uint = ctypes.c_uint
ulonglong = ctypes.c_ulonglong
SomeStruct = TypeVar("SomeStruct", bound=ctypes.Structure)


def call(name: str, *arguments: Any, on: object) -> None:
    """Calls a function. Arguments are of ctypes; ``on`` is the object that an error names. Raises NvmlError."""
    code = _function(name)(*arguments)
    if code:
        raise error_of(code, name, str(on))


def get_uint(name: str, *arguments: Any, on: object) -> int:
    """Calls a function whose last argument is a place for an unsigned int."""
    return get(uint, name, *arguments, on=on).value


def get_text(name: str, *arguments: Any, on: object, size: int = 96) -> str:
    """Calls a function whose last arguments are a place for a text, and its size."""
    text = ctypes.create_string_buffer(size)
    call(name, *arguments, text, uint(size), on=on)
    return text.value.decode("utf-8", "replace")


def get(kind: Any, name: str, *arguments: Any, on: object) -> Any:
    """Calls a function whose last argument is a place for a ``kind``, a type of ctypes."""
    value = kind()
    call(name, *arguments, ctypes.byref(value), on=on)
    return value


def get_versioned(kind: type[SomeStruct], name: str, *arguments: Any, on: object, **fields: int) -> SomeStruct:
    """``get`` for a struct that carries its version and, it may be, a question in its ``fields``."""
    value = versioned(kind, **fields)
    call(name, *arguments, ctypes.byref(value), on=on)
    return value


def get_list(kind: Any, name: str, *arguments: Any, on: object, spare: int = 0) -> list[Any]:
    """Calls a function whose last arguments are how much there is room for, and the room: first to learn how much is
    needed. ``spare`` is room for what may come between the two calls."""
    count, room = uint(0), None
    while True:
        had = count.value
        code = _function(name)(*arguments, ctypes.byref(count), room)
        if code not in (0, _INSUFFICIENT_SIZE):
            raise error_of(code, name, str(on))
        if count.value <= had and code == 0:
            return [] if room is None else room[: count.value]
        count.value += spare
        room = (kind * count.value)()


def release(name: str, *arguments: Any) -> None:
    """Calls a function that frees something, from a destructor: a failure is a CUDAWarning."""
    code = _function(name)(*arguments)
    if code:
        warnings.warn(str(error_of(code, name, "what is no longer used")), CUDAWarning, stacklevel=3)


def versioned(kind: type[SomeStruct], **fields: Any) -> SomeStruct:
    """A struct that says which it is: its size, and the number of its version in the top byte."""
    return kind(version=ctypes.sizeof(kind) | getattr(kind, "_number_", 1) << 24, **fields)


def _function(name: str) -> Callable[..., int]:
    _initialise()
    function = _functions.get(name)
    if function is None:
        try:
            function = _functions[name] = getattr(_library, name)
        except AttributeError:
            raise error_of(_FUNCTION_NOT_FOUND, name, getattr(_library, "_name", "")) from None
    return function


def _initialise() -> None:
    global _library, _process
    if _process == os.getpid():
        return
    with _lock:
        if _process == os.getpid():
            return
        library = _open() if _library is None else _start(_library)
        _library, _process = library, os.getpid()


def _open() -> ctypes.CDLL:
    """The first library that can be used and has devices; the last place need not have any."""
    places = _seam.management_library_places()
    refusals: list[str] = []
    failure: NvmlError | None = None
    for place in places:
        try:
            library = _start(ctypes.CDLL(place))
        except OSError as error:
            refusals.append(str(error))
        except NvmlError as error:
            failure = error
            refusals.append(f"{place}: {str(error).splitlines()[0]}")
        else:
            if place == places[-1] or _has_devices(library):
                return library
            refusals.append(f"{place} has no devices")
    if failure is not None:
        raise failure
    hint = LibraryNotFoundError._hint
    raise LibraryNotFoundError(
        _LIBRARY_NOT_FOUND, f"NVML_ERROR_LIBRARY_NOT_FOUND: no NVML can be used: {'; '.join(refusals)}\nhint: {hint}"
    )


def _start(library: ctypes.CDLL) -> ctypes.CDLL:
    code = library.nvmlInit_v2()
    if code:
        raise error_of(code, "nvmlInit_v2", library._name)
    return library


def _has_devices(library: ctypes.CDLL) -> bool:
    count = uint(0)
    return library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value > 0


def _after_fork() -> None:
    """A thread that does not exist in the child may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
