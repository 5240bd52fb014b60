"""BackendStore: an object that is a remote cache of another package already, by its methods ``get`` and ``put``."""

import inspect
from collections.abc import Iterable

from cucore.stores._store import Store


class BackendStore(Store):
    """An object with ``put(name, data)`` and either ``get(name)``, which gives bytes or None (as of Inductor's remote
    cache backends), or ``get(filenames)``, which gives a mapping of those that are there (as of Triton's). It has no
    leases; it lists and removes nothing."""

    def __init__(self, backend: object):
        self._backend = backend
        first = next(iter(inspect.signature(backend.get).parameters), "")
        self._takes_many = first in ("filenames", "names", "keys")

    def get(self, name: str) -> bytes | None:
        found = self._backend.get([name]).get(name) if self._takes_many else self._backend.get(name)
        return None if found is None else bytes(found)

    def put(self, name: str, data: bytes) -> None:
        self._backend.put(name, data)

    def delete(self, name: str) -> None:
        raise NotImplementedError(f"{self!r}.delete: a backend that only has get and put cannot delete")

    def list(self) -> Iterable[str]:
        raise NotImplementedError(f"{self!r}.list: a backend that only has get and put cannot list")

    def __repr__(self):
        return f"BackendStore({type(self._backend).__name__})"
