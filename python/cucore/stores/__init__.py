"""Stores: where hosts share compiled code, for ``ProgramCache(store=...)``.

    cache = cucore.ProgramCache(store="redis://cache:6379/0")      # keys from $CUCORE_CACHE_KEYS
    cache = cucore.ProgramCache(store=SharedStore("/nfs/kernels", keys=KeyRing.from_file("keys")))

A compile asks memory, then the folder of this host, then the store; only what neither has costs a call to a store, and
what it gives stays in the folder. A store is trusted with nothing: every entry is signed, and one without a valid
signature is a miss. One host compiles a key, the others wait for it.
"""

from cucore.stores._backend import BackendStore
from cucore.stores._counts import opentelemetry, prometheus
from cucore.stores._folder import FolderStore
from cucore.stores._fsspec import FsspecStore
from cucore.stores._redis import RedisStore
from cucore.stores._seal import KeyRing, RejectedEntry
from cucore.stores._shared import SharedStore, StoreStats, open_store
from cucore.stores._store import Store

__all__ = [
    "BackendStore",
    "FolderStore",
    "FsspecStore",
    "KeyRing",
    "RedisStore",
    "RejectedEntry",
    "SharedStore",
    "Store",
    "StoreStats",
    "open_store",
    "opentelemetry",
    "prometheus",
]
