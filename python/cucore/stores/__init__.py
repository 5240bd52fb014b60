"""Stores: where hosts share compiled code, for ``ProgramCache(store=...)``.

    cache = cucore.ProgramCache(store="redis://cache:6379/0")      # keys from $CUCORE_CACHE_KEYS
    cache = cucore.ProgramCache(store=SharedStore("/nfs/kernels", keys=KeyRing.from_file("keys")))

A compile asks memory, then the folder of this host, then the store; only what neither has costs a call to a store, and
what it gives stays in the folder. A store is trusted with nothing: every entry is signed, and one without a valid
signature is a miss. One host compiles a key, the others wait for it.

``send_by_reference`` makes an ObjectCode go to other processes as a name in the store; ``push_cpu_kernels`` and
``pull_cpu_kernels`` take what the CPU device has compiled there, and from there.
"""

from cucore.stores._backend import BackendStore
from cucore.stores._counts import opentelemetry, prometheus
from cucore.stores._cpu_kernels import KernelTransfer, cpu_kernels_from, pull_cpu_kernels, push_cpu_kernels
from cucore.stores._folder import FolderStore
from cucore.stores._fsspec import FsspecStore
from cucore.stores._redis import RedisStore
from cucore.stores._references import MissingCode, receive_from, send_by_reference
from cucore.stores._seal import KeyRing, RejectedEntry
from cucore.stores._shared import SharedStore, StoreStats, open_store
from cucore.stores._store import Store

__all__ = [
    "BackendStore",
    "FolderStore",
    "FsspecStore",
    "KernelTransfer",
    "KeyRing",
    "MissingCode",
    "RedisStore",
    "RejectedEntry",
    "SharedStore",
    "Store",
    "StoreStats",
    "cpu_kernels_from",
    "open_store",
    "opentelemetry",
    "prometheus",
    "pull_cpu_kernels",
    "push_cpu_kernels",
    "receive_from",
    "send_by_reference",
]
