"""FsspecStore: any URL of the package ``fsspec`` (s3, gcs, http, memory...).

It has no leases: nothing that all of these file systems offer makes a file for one of two who ask at once.
"""

import posixpath
from collections.abc import Iterable

from cucore.stores._store import Store


class FsspecStore(Store):
    """The folder at a URL; ``options`` go to fsspec. One that can only be read gives hits, and refuses what is put."""

    def __init__(self, url: str, **options: object):
        import fsspec

        self._url = url
        self._files, self._root = fsspec.core.url_to_fs(url, use_listings_cache=False, **options)

    def _file(self, name):
        return posixpath.join(self._root, name)

    def get(self, name: str) -> bytes | None:
        try:
            return self._files.cat_file(self._file(name))
        except FileNotFoundError:
            return None

    def put(self, name: str, data: bytes) -> None:
        self._files.pipe_file(self._file(name), data)

    def exists(self, name: str) -> bool:
        return self._files.isfile(self._file(name))

    def delete(self, name: str) -> None:
        try:
            self._files.rm_file(self._file(name))
        except FileNotFoundError:
            pass

    def list(self) -> Iterable[str]:
        try:
            return [posixpath.basename(path) for path in self._files.find(self._root)]
        except FileNotFoundError:
            return []

    def __repr__(self):
        return f"FsspecStore(protocol={self._files.protocol!r})"  # the URL may hold a password
