"""The types of ``.handle``: ints, named after the driver's types, holding the address.

Being ints they pass to cuda.bindings, CuPy, torch and ctypes as they are, and cost no import of any of those.
"""


class _Handle(int):
    __slots__ = ()

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
