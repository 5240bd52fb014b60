"""Compiled code on a Dask cluster: compile once, run on every worker.

    from dask.distributed import Client
    import cucore.dask

    client = Client(...)
    cucore.dask.install(client, cache="/scratch/kernels")        # once for each client
    code = cucore.dask.compile(client, source, options={"arch": "sm_90"})   # a Future; one worker compiles
    results = cucore.dask.run(client, function, code)             # function(code) on every worker

Code travels between workers as frames that are not copied on the way out, with a checksum, or as a name in the store
that all of them have (``install(client, store=...)``); it is loaded by each worker when it first asks for a kernel. All
workers share one ProgramCache, so that what one has compiled no other compiles again, also after a worker died.
Importing this needs ``distributed``; importing cucore never imports it.
"""

import copyreg
import hashlib
import os

from distributed import WorkerPlugin
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from cucore import ObjectCode, Program, ProgramCache
from cucore._cache_store import shared_store

REFERENCES = "cucore.stores._references"
_cache = None
_sending = None


def install(client, *, cache=None, store=None):
    """Prepares all workers of ``client``, those that come later or are restarted too, and this process.

    cache: the folder of the ProgramCache that the workers share; None is ProgramCache's own default. Workers on
    several hosts share what they compile if the folder is on a file system they share, or by a store.
    store: the URL or folder of the store that ProgramCache asks after the folder; its keys are those that
    $CUCORE_CACHE_KEYS names on each worker. Where it names them here, too, code travels by reference to the store
    between all these processes (``cucore.stores.send_by_reference``).
    """
    store = store if store is None else os.fspath(store)
    by_reference = store is not None and _can_open(store)
    client.register_plugin(Setup(None if cache is None else os.fspath(cache), store, by_reference))
    _register()
    _send(store if by_reference else None)


def compile(client, code, code_type="c++", target_type="cubin", options=None, name_expressions=(), **submit):
    """A Future of the ObjectCode that ``Program(code, code_type, options).compile(...)`` gives, compiled by one worker
    through its cache. The same call again gives the same Future's result without another compile. With no ``arch`` in
    the options the code is for the device of the worker that compiles. ``submit`` goes to ``Client.submit``.
    """
    return client.submit(_compile, code, code_type, target_type, options, tuple(name_expressions), **submit)


def run(client, function, code, *arguments, **submit):
    """Calls ``function(code, *arguments)`` once on each worker there is, and returns the results by worker address.

    code: an ObjectCode or a Future of one. A worker that dies before its call is done is replaced by any other worker.
    """
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    futures = {
        worker: client.submit(
            function, code, *arguments, workers=[worker], allow_other_workers=True, pure=False, **submit
        )
        for worker in workers
    }
    return client.gather(futures)


def cache():
    """The ProgramCache of this worker process."""
    global _cache
    if _cache is None:
        _cache = ProgramCache()
    return _cache


class Setup(WorkerPlugin):
    """What ``install`` sends to each worker. Unpickling it imports this module there."""

    name = "cucore"
    idempotent = False

    def __init__(self, folder, store=None, by_reference=False):
        self.folder = folder
        self.store = store
        self.by_reference = by_reference

    def setup(self, worker):
        global _cache
        _register()
        _cache = ProgramCache(self.folder, store=self.store)
        _send(self.store if self.by_reference else None)


def _compile(code, code_type, target_type, options, name_expressions):
    with Program(code, code_type, options) as program:
        return program.compile(target_type, name_expressions, cache=cache())


def _can_open(store):
    """Whether this process has the keys of a store: it cannot take code by reference without."""
    try:
        shared_store(store)
    except ValueError:
        return False
    return True


def _send(store):
    """By reference to that store; None: the bytes."""
    global _sending
    if _sending is not None:
        _sending.__exit__()
    _sending = None
    if store is not None:
        from cucore.stores import send_by_reference

        _sending = send_by_reference(store)


def _register():
    dask_serialize.register(ObjectCode)(_serialize)
    dask_deserialize.register(ObjectCode)(_deserialize)


def _serialize(code):
    reducer = copyreg.dispatch_table.get(ObjectCode)  # as pickle does, which send_by_reference tells so
    make, arguments = (None, ()) if reducer is None else reducer(code)
    if make is not None and make.__module__ == REFERENCES:
        name, size, called, *mapping = arguments
        return {"reference": [name, size, called, *(list(each.items()) for each in mapping)]}, []
    data = code.code
    if not isinstance(data, bytes):  # a file, or bytes that may change
        data = ObjectCode.deserialize(code.serialize()).code
    header = {
        "code_type": code.code_type,
        "name": code.name,
        "symbol_mapping": list(code.symbol_mapping.items()),
        "sha256": hashlib.sha256(data).digest(),
    }
    return header, [data]


def _deserialize(header, frames):
    if "reference" in header:
        from cucore.stores import _references

        name, size, called, *mapping = header["reference"]
        return _references.object_code(name, size, called, *map(dict, mapping))
    data = frames[0] if len(frames) == 1 and isinstance(frames[0], bytes) else b"".join(frames)
    if hashlib.sha256(data).digest() != header["sha256"]:
        raise ValueError(f"the code {header['name']!r} was damaged on its way: the checksum does not match")
    make = getattr(ObjectCode, f"from_{header['code_type']}")
    return make(data, name=header["name"], symbol_mapping=dict(header["symbol_mapping"]))


__all__ = ["Setup", "cache", "compile", "install", "run"]
