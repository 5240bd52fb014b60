"""Program caches: where ``Program.compile(..., cache=)`` keeps what it has compiled."""

from cucore._core import ProgramCache
from cucore.utils._file_stream import FileStreamProgramCache
from cucore.utils._in_memory import InMemoryProgramCache
from cucore.utils._key import make_program_cache_key
from cucore.utils._resource import ProgramCacheResource

__all__ = [
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "ProgramCache",
    "ProgramCacheResource",
    "make_program_cache_key",
]
for _class in (FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource, make_program_cache_key):
    _class.__module__ = "cucore.utils"
del _class
