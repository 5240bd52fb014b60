"""The types of ``.handle``: ints, named after the driver's types, holding the address.

Being ints they pass to cuda.bindings, CuPy, torch and ctypes as they are, and cost no import of any of those. Where a
program has imported cuda.bindings, they are instances of its types of the same names too, and equal to its objects.
"""

import sys

_places = {}  # what getPtr() points to, for ever


class _Handle(int):
    __slots__ = ()
    _of = "driver"  # the module of cuda.bindings

    @property
    def __class__(self):
        mine = type(self)
        return getattr(sys.modules.get(f"cuda.bindings.{mine._of}"), mine.__name__, mine)

    def __eq__(self, other):
        if type(other) is not type(self) and type(other) is self.__class__:
            return int(self) == int(other)
        return int.__eq__(self, other)

    def __ne__(self, other):
        equal = self == other
        return equal if equal is NotImplemented else not equal

    __hash__ = int.__hash__

    def getPtr(self):
        """The address of a place with the handle in it, for arrays of pointers to arguments."""
        import ctypes

        return ctypes.addressof(_places.setdefault(int(self), ctypes.c_void_p(int(self))))

    def __reduce__(self):
        return type(self), (int(self),)

    def __repr__(self):
        return f"<{type(self).__name__} {int(self):#x}>"

    def __str__(self):
        return str(int(self))


class CUcontext(_Handle):
    """A context."""

    __slots__ = ()


class CUstream(_Handle):
    """A stream, which what takes objects with a stream takes too, as of cuda.bindings 13.5."""

    __slots__ = ()

    def __cuda_stream__(self):
        return 0, int(self)


class CUevent(_Handle):
    """An event."""

    __slots__ = ()


class CUlibrary(_Handle):
    """Loaded code."""

    __slots__ = ()


class CUmodule(_Handle):
    """Loaded code in one context."""

    __slots__ = ()


class CUkernel(_Handle):
    """A kernel of loaded code."""

    __slots__ = ()


class CUmemoryPool(_Handle):
    """A memory pool."""

    __slots__ = ()


class CUgraph(_Handle):
    """A graph."""

    __slots__ = ()


class CUgraphNode(_Handle):
    """A node of a graph."""

    __slots__ = ()


class CUgraphExec(_Handle):
    """An executable graph."""

    __slots__ = ()


class nvrtcProgram(_Handle):
    """A program of NVRTC."""

    __slots__ = ()
    _of = "nvrtc"
