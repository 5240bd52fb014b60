"""What this process holds of the driver, for finding what is not given back."""

from cucore._seam import live_handles as _live_handles

__all__ = ["live_handles"]


def live_handles() -> dict[str, int]:
    """How many driver objects cucore owns now, by kind: Stream, Event, Buffer, MemoryPool, Library, GreenContext,
    Array (opaque and mipmapped), TextureObject and SurfaceObject.

    Opens no driver. Objects of other code that were wrapped (``from_handle``, ``__cuda_stream__``) do not count. An
    event of a pool does, lent or not, and so does a memory pool that is kept for the next resource like its own; a
    kernel is part of its library. Where the objects were made, the CPU device tells at the end of the process: set
    ``CUCORE_CPU_REPORT_LEAKS=1``.
    """
    return _live_handles()
