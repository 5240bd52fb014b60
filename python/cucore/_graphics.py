"""GraphicsResource: memory of OpenGL, used by CUDA while it is mapped.

Tested only with a stand-in for the driver, never with a real OpenGL.
"""

import weakref
from operator import index

from cucore import _seam

_FLAGS = {"none": 0, "read_only": 1, "write_discard": 2, "surface_load_store": 4, "texture_gather": 8}


class GraphicsResource:
    """A buffer or image of OpenGL that has been registered with CUDA. ``map()`` gives its memory, and OpenGL must leave
    that alone until it is unmapped::

        with GraphicsResource.from_gl_buffer(vbo) as resource:
            with resource.map(stream=stream) as buffer:
                launch(stream, config, kernel, buffer, n)
    """

    __slots__ = ("__weakref__", "_mapped", "_resource", "_stream")

    def __init__(self):
        raise RuntimeError(
            "GraphicsResource cannot be instantiated directly: use from_gl_buffer() or from_gl_image() of the class"
        )

    @classmethod
    def _of(cls, resource, stream=None):
        self = super().__new__(cls)
        self._resource = resource
        self._stream = stream
        self._mapped = None
        return self

    @classmethod
    def from_gl_buffer(cls, gl_buffer, *, flags=None, stream=None):
        """Registers the buffer object with this name. With ``stream``, ``with`` maps it and gives the Buffer.

        flags: "none", "read_only", "write_discard", "surface_load_store", "texture_gather", or several of them.
        """
        if stream is not None:
            _seam.check_stream(stream)
        return cls._of(_seam.register_gl_buffer(_name("gl_buffer", gl_buffer), _flags(flags)), stream)

    @classmethod
    def from_gl_image(cls, image, target, *, flags=None):
        """Registers the texture or renderbuffer with this name; ``target`` is GL_TEXTURE_2D and the like."""
        return cls._of(_seam.register_gl_image(_name("image", image), _name("target", target), _flags(flags)))

    @property
    def handle(self):
        """The driver's handle as an int; 0 when closed."""
        return self._resource.handle

    @property
    def resource_handle(self):
        """The same as ``handle``."""
        return self.handle

    @property
    def is_mapped(self):
        """Whether it is mapped; False when closed."""
        return self._resource.is_mapped

    @property
    def is_closed(self):
        """Whether it has been closed."""
        return self.handle == 0

    def _require_open(self):
        if self.is_closed:
            raise RuntimeError("the GraphicsResource has been closed")

    def map(self, *, stream):
        """Its memory, in the order of ``stream``: a Buffer, or of an image an OpaqueArray. Closing that unmaps it, in
        the order of ``stream`` or of the one that a Buffer is closed with.
        """
        self._require_open()
        mapped = self._resource.map(stream)
        self._mapped = weakref.ref(mapped)
        return mapped

    def unmap(self, *, stream=None):
        """Closes what ``map()`` gave, in the order of ``stream`` or of the stream it was mapped with."""
        self._require_open()
        self._resource.unmap(stream)
        mapped = self._mapped()
        if mapped is not None:
            mapped.close()

    def close(self, stream=None):
        """Unmaps, if need be in the order of ``stream``, and ends the registration. Closing twice is allowed."""
        try:
            if self.is_mapped:
                self.unmap(stream=stream)
        finally:
            self._resource.close()

    def __enter__(self):
        self._require_open()
        return self if self._stream is None else self.map(stream=self._stream)

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        mapped = " mapped" if self.is_mapped else ""
        closed = " closed" if self.is_closed else ""
        return f"<GraphicsResource handle={self.handle:#x}{mapped}{closed}>"


def _name(what, value):
    number = index(value)
    if not 0 <= number < 2**32:
        raise ValueError(f"{what} must be an unsigned number of 32 bits, not {number}")
    return number


def _flags(flags):
    names = (flags,) if isinstance(flags, str) else () if flags is None else flags
    bits = 0
    for name in names:
        if not isinstance(name, str) or name not in _FLAGS:
            legal = ", ".join(repr(legal) for legal in _FLAGS)
            raise ValueError(f"unknown flag {name!r}: the flags are {legal}")
        bits |= _FLAGS[name]
    return bits


GraphicsResource.__module__ = "cucore"
