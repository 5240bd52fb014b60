"""FolderStore: a folder on a file system that hosts share, NFS too: files are renamed into place; nothing is locked.

A lease is a file that link() puts in place, with its holder's token, how long it lasts, and a number that each renewal
raises. Clocks of hosts are not compared: a lease has ended when the file has stayed as it is for as long as it lasts by
the clock of the one who looks.
"""

import contextlib
import os
import time
import uuid
from collections.abc import Iterable

from cucore.stores._store import Store


class FolderStore(Store):
    """A folder, which is made with mode 0700 if it is not there."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.path.abspath(os.fspath(path))
        self._seen: dict[str, tuple[bytes, float]] = {}  # leases of others: what they said, and since when

    def _file(self, shelf, name):
        return os.path.join(self.path, shelf, name[:2], name)

    def _temporary(self, data):
        folder = os.path.join(self.path, "tmp")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, uuid.uuid4().hex)
        try:
            with open(path, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            _unlink(path)
            raise
        return path

    def _place(self, shelf, name, data, move):
        target = self._file(shelf, name)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        temporary = self._temporary(data)
        try:
            move(temporary, target)
        finally:
            _unlink(temporary)

    def get(self, name: str) -> bytes | None:
        return _read(self._file("entries", name))

    def put(self, name: str, data: bytes) -> None:
        self._place("entries", name, data, os.replace)

    def exists(self, name: str) -> bool:
        return os.path.isfile(self._file("entries", name))

    def delete(self, name: str) -> None:
        _unlink(self._file("entries", name))

    def list(self) -> Iterable[str]:
        for _, _, names in os.walk(os.path.join(self.path, "entries")):
            yield from names

    def lease(self, name: str, token: str, seconds: float) -> bool:
        path = self._file("leases", name)
        said = _read(path)
        if said is not None and said.startswith(token.encode() + b" "):
            number = int(said.rpartition(b" ")[2]) + 1
            self._place("leases", name, f"{token} {seconds} {number}".encode(), os.replace)
            return True
        if said is not None:
            before, since = self._seen.get(name, (None, 0.0))
            if before != said:
                self._seen[name] = said, time.monotonic()
                return False
            if time.monotonic() - since < _seconds(said, seconds):
                return False
            # Its holder is gone. Of those who see that, one moves the file away.
            grave = os.path.join(self.path, "tmp", uuid.uuid4().hex)
            with contextlib.suppress(FileNotFoundError):
                os.rename(path, grave)
                _unlink(grave)
        self._seen.pop(name, None)
        try:
            self._place("leases", name, f"{token} {seconds} 0".encode(), os.link)
        except FileExistsError:
            return False
        return True

    def release(self, name: str, token: str) -> None:
        said = _read(self._file("leases", name))
        if said is not None and said.startswith(token.encode() + b" "):
            _unlink(self._file("leases", name))

    def __repr__(self):
        return f"FolderStore({self.path!r})"


def _seconds(said, otherwise):
    """How long a lease lasts by what its file says; one that says nothing that can be read, as long as one's own."""
    try:
        return float(said.split()[1])
    except (IndexError, ValueError):
        return otherwise


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _unlink(path):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
