"""FsspecStore: any URL of the package ``fsspec`` (s3, gcs, http, memory...).

A lease is an object that only one of those who ask at once can make, where the file system can do that (S3 and GCS by
conditional writes). Nothing that all of them offer replaces an object of another only if it has not changed; so who
takes a lease over makes the next one of a row, ``leases/NAME.NUMBER``, and the last one counts. It has the holder's
token, how long it lasts and a number that each renewal raises, and has ended when it has stayed as it is for as long as
it lasts by the clock of the one who looks: no two hosts' clocks are compared.
"""

import posixpath
import threading
import time
from collections.abc import Iterable

from cucore.stores._store import Store

MAKES_ONCE = {"s3", "s3a", "gcs", "gs", "memory", "file", "local"}  # protocols whose files one of two can make


class FsspecStore(Store):
    """The folder at a URL; ``options`` go to fsspec. One that can only be read gives hits, and refuses what is put."""

    def __init__(self, url: str, **options: object):
        import fsspec

        self._url = url
        self._files, self._root = fsspec.core.url_to_fs(url, use_listings_cache=False, **options)
        protocol = self._files.protocol
        protocols = {protocol} if isinstance(protocol, str) else set(protocol)
        self._has_leases = not MAKES_ONCE.isdisjoint(protocols)
        if "s3" in protocols:  # reads its tables for half a second, which is not the first compile's to wait for
            self._files.connect()
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[bytes, float]] = {}  # leases of others: what they said, and since when

    def _file(self, name):
        return posixpath.join(self._root, name)

    def _read(self, path):
        try:
            return self._files.cat_file(path)
        except FileNotFoundError:
            return None

    def get(self, name: str) -> bytes | None:
        return self._read(self._file(name))

    def put(self, name: str, data: bytes) -> None:
        self._files.pipe_file(self._file(name), data)

    def exists(self, name: str) -> bool:
        return self._files.isfile(self._file(name))

    def _remove(self, path):
        try:
            self._files.rm_file(path)
        except FileNotFoundError:
            pass

    def delete(self, name: str) -> None:
        self._remove(self._file(name))

    def _names_in(self, folder):
        try:
            found = self._files.ls(folder, detail=True)
        except FileNotFoundError:
            return []
        return [posixpath.basename(each["name"]) for each in found if each["type"] == "file"]

    def list(self) -> Iterable[str]:
        return self._names_in(self._root)

    def _leases(self, name):
        """The numbers of the leases of a name, the one that counts last."""
        found = (each.rpartition(".") for each in self._names_in(self._file("leases")))
        return sorted(int(number) for start, _, number in found if start == name and number.isdecimal())

    def _has_ended(self, path, said, seconds):
        """Whether the lease of another has stayed as it is for as long as it lasts."""
        try:
            seconds = float(said.split()[1])
        except (IndexError, ValueError):
            pass  # cut: as long as one's own
        now = time.monotonic()
        with self._lock:
            known, since = self._seen.get(path, (None, now))
            if known != said:
                self._seen[path] = said, now
                return False
        return now - since >= seconds

    def lease(self, name: str, token: str, seconds: float) -> bool:
        if not self._has_leases:
            return True
        row = self._leases(name)
        number = row[-1] + 1 if row else 0
        path = self._file(f"leases/{name}.{number - 1}")
        said = self._read(path) if row else None
        if said is not None:
            if said.split()[:1] == [token.encode()]:
                self._files.pipe_file(path, f"{token} {seconds} {int(said.split()[2]) + 1}".encode())
                return True
            if not self._has_ended(path, said, seconds):
                return False
        with self._lock:
            self._seen.pop(path, None)
        try:
            self._files.pipe_file(self._file(f"leases/{name}.{number}"), f"{token} {seconds} 0".encode(), mode="create")
        except FileExistsError:
            return False
        for old in row:
            self._remove(self._file(f"leases/{name}.{old}"))
        return True

    def release(self, name: str, token: str) -> None:
        for number in self._leases(name) if self._has_leases else ():
            path = self._file(f"leases/{name}.{number}")
            said = self._read(path)
            if said is not None and said.split()[:1] == [token.encode()]:
                self._remove(path)

    def __repr__(self):
        return f"FsspecStore(protocol={self._files.protocol!r})"  # the URL may hold a password
