"""Caches, where ``Program.compile(..., cache=)`` keeps what it has compiled, batches of copies, and views of arrays."""

from cucore._seam import ProgramCache, discard_batch, discard_prefetch_batch, prefetch_batch
from cucore.typing import MemcpyOverlapMode, MemcpySrcAccessOrder
from cucore.utils._batch import CopyOptions, copy_batch
from cucore.utils._file_stream import FileStreamProgramCache
from cucore.utils._in_memory import InMemoryProgramCache
from cucore.utils._key import make_program_cache_key
from cucore.utils._memory_view import StridedMemoryView
from cucore.utils._resource import ProgramCacheResource
from cucore.utils._viewable_arguments import args_viewable_as_strided_memory

__all__ = [
    "CopyOptions",
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ProgramCache",
    "ProgramCacheResource",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "make_program_cache_key",
    "prefetch_batch",
]
for _class in (
    CopyOptions,
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    StridedMemoryView,
    args_viewable_as_strided_memory,
    copy_batch,
    make_program_cache_key,
):
    _class.__module__ = "cucore.utils"
del _class
