"""The decorator that makes views of a function's arguments: args_viewable_as_strided_memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from cucore.utils._memory_view import StridedMemoryView, has_dlpack


class _StridedMemoryViewProxy:
    """An argument that can be viewed once it is known on which stream."""

    __slots__ = ("has_dlpack", "obj")

    def __init__(self, obj):
        self.obj = obj
        self.has_dlpack = has_dlpack(obj)

    def view(self, stream_ptr: int | None = None) -> StridedMemoryView:
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)


def args_viewable_as_strided_memory(
    arg_indices: tuple[int, ...],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the positional arguments at these places become proxies with ``obj``, ``has_dlpack`` and ``view()``.

    ``proxy.view(stream.handle)`` is the StridedMemoryView. The call raises BufferError for an argument that has neither
    protocol, and IndexError for one that was not given by position.
    """
    if not isinstance(arg_indices, tuple):
        raise TypeError(f"arg_indices must be a tuple of ints, not {type(arg_indices).__name__}")

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            args = list(args)
            for index in arg_indices:
                if not -len(args) <= index < len(args):
                    raise IndexError(
                        f"{function.__name__}() was given {len(args)} positional arguments: none is at {index}"
                    )
                args[index] = _StridedMemoryViewProxy(args[index])
            return function(*args, **kwargs)

        return call

    return decorate
