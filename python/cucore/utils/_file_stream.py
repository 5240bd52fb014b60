"""FileStreamProgramCache: compiled code in a folder, one raw image per entry.

``entries/<2 hex>/<62 hex>`` (SHA-256 of the key) is the image as the compiler made it, usable by cuobjdump and others.
Beside it, ``records/<2 hex>/<62 hex>`` says in JSON how long it is, its SHA-256 and the mapping from name expressions
to symbols. An image that does not agree with its record is a miss, and removed; one without a record that can be read
is a miss too, since nothing tells whether it is whole: readers of other programs ignore the record. Files are written
in ``tmp/``, synced and renamed, so that a crash leaves the old entry or none. Processes share a folder without locks.
Symbolic links are no entries, and neither are files of other users unless it is ``shared``.

In a store, of hosts that share it, an entry is the two in one: the record, a line feed, the image; signed.
"""

import hashlib
import json
import os
import tempfile
import threading
import time
from contextlib import suppress
from errno import ELOOP
from pathlib import Path
from stat import S_ISREG

from cucore._cache_store import shared_store
from cucore.utils._in_memory import check_cap
from cucore.utils._resource import Record, RecordCache, key_bytes

STORED_KIND = "image and record"
STORED_ENDING = ".image"
STALE_SECONDS = 3600
MOST_KNOWN = 256


def default_folder():
    """$XDG_CACHE_HOME/cucore/program-cache, else ~/.cache/cucore/program-cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "cucore" / "program-cache"


def _open_no_link(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)


def _state(status):
    """What differs once a file has been replaced."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def _agreed(described, data):
    """What image and record make together; None if they do not agree."""
    if described.get("size") != len(data) or described.get("sha256") != hashlib.sha256(data).hexdigest():
        return None
    mapping = described.get("symbol_mapping")
    return Record(data, mapping if isinstance(mapping, dict) else None)


def _stored_name(key):
    return hashlib.sha256(key_bytes(key)).hexdigest() + STORED_ENDING


class FileStreamProgramCache(RecordCache):
    """Compiled code in a folder (by default one of the user's), shared by any number of threads and processes.

    With ``max_size_bytes``, a soft cap, the entries whose last use is longest ago go when the images' sum passes it
    (their records do not count).
    ``shared`` takes entries of other users, who can then put code into this process; root's are always taken.
    ``store``, a URL or a store of ``cucore.stores``, is asked for what the folder lacks, and gets what is put here: all
    who use it must mean the same by a key, as those of ``make_program_cache_key`` do. ``clear`` leaves it alone.
    """

    def __init__(self, path=None, *, max_size_bytes=None, shared=False, store=None):
        self._cap = check_cap(max_size_bytes)
        self._owners = None if shared else (os.geteuid(), 0)
        self._store = None if store is None else shared_store(store)  # others' keys may be anything: not by environment
        self._root = default_folder() if path is None else Path(path)
        self._entries, self._records, self._tmp = (self._root / name for name in ("entries", "records", "tmp"))
        self._entries_name, self._records_name = str(self._entries), str(self._records)
        self._known = {}  # of keys: names and identities of the files, and the record that was read and agreed
        self._lock = threading.Lock()
        for folder in (self._root, self._entries, self._records, self._tmp):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._remove_stale_temporaries()
        self._size = self._measure() if self._cap is not None else 0

    @property
    def path(self):
        """The folder."""
        return self._root

    def _names(self, key):
        digest = hashlib.sha256(key_bytes(key)).hexdigest()
        name = f"{digest[:2]}/{digest[2:]}"
        return f"{self._entries_name}/{name}", f"{self._records_name}/{name}"

    def _paths(self, key):
        return tuple(map(Path, self._names(key)))

    def _identity(self, name):
        """Identifies the file that was read; None for one that would not be read."""
        try:
            status = os.lstat(name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not S_ISREG(status.st_mode) or (self._owners is not None and status.st_uid not in self._owners):
            return None
        return status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns

    def _files(self):
        """(path, stat) of every image, record and temporary file."""
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = os.path.join(folder, name)
                with suppress(OSError):
                    yield path, os.lstat(path)

    def _images(self):
        """(path, stat) of every image."""
        return [item for item in self._files() if item[0].startswith(self._entries_name + os.sep)]

    def _measure(self):
        return sum(stat.st_size for _, stat in self._images())

    def _remove_stale_temporaries(self):
        oldest = time.time() - STALE_SECONDS
        with suppress(OSError):
            for path in self._tmp.iterdir():
                with suppress(OSError):
                    if path.lstat().st_mtime < oldest:
                        path.unlink()

    def _write(self, path, data):
        self._tmp.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix="entry-", dir=self._tmp)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def _read(self, path):
        """The bytes of a file, or None; marks it as used now, unless it has been replaced meanwhile."""
        try:
            with open(path, "rb", opener=_open_no_link) as file:
                status = os.fstat(file.fileno())
                if not (S_ISREG(status.st_mode) and (self._owners is None or status.st_uid in self._owners)):
                    return None
                data = file.read()
                with suppress(OSError):
                    os.utime(file.fileno(), ns=(time.time_ns(), status.st_mtime_ns))
                return data
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == ELOOP:  # a symbolic link
                return None
            raise

    def _record(self, path):
        """The record as a dict; None without one, and if it is damaged."""
        try:
            record = json.loads(self._read(path) or b"null")
            return record if isinstance(record, dict) else None
        except (OSError, ValueError):
            return None

    def get_record(self, key):
        key = key_bytes(key)
        known = self._known.get(key)
        image, record_name = known[0] if known is not None else self._names(key)
        identities = self._identity(image), self._identity(record_name)
        if known is not None and known[1] == identities:
            try:  # the time of last use
                os.utime(image, ns=(time.time_ns(), identities[0][3]), follow_symlinks=False)
            except OSError:
                pass
            return known[2]
        record = self._read_record(Path(image), Path(record_name)) or self._fetch(key)
        if record is None or record.symbol_mapping is None:
            self._known.pop(key, None)
        else:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = (image, record_name), identities, record
        return record

    def _read_record(self, image_path, record_path):
        data = self._read(image_path)
        if data is None:
            return None
        described = self._record(record_path)
        if described is None:
            return None
        record = _agreed(described, data)
        if record is None:
            self._remove(image_path, record_path)
        return record

    def _fetch(self, key):
        """What the store has, which the folder keeps from now on."""
        if self._store is None:
            return None
        try:
            stored = self._store.fetch(_stored_name(key), STORED_KIND)
            text, _, data = (stored or b"null").partition(b"\n")
            described = json.loads(text)
        except (TimeoutError, ValueError):
            return None
        record = _agreed(described, data) if isinstance(described, dict) else None
        if record is not None:
            self._keep(key, data, text)
        return record

    def set_record(self, key, record):
        described = {
            "size": len(record.data),
            "sha256": hashlib.sha256(record.data).hexdigest(),
            "symbol_mapping": dict(record.symbol_mapping or {}),
        }
        text = json.dumps(described, sort_keys=True).encode()
        self._keep(key, record.data, text)
        if self._store is not None:
            self._store.keep(_stored_name(key), text + b"\n" + record.data, STORED_KIND)

    def _keep(self, key, data, text):
        image_path, record_path = self._paths(key)
        self._write(image_path, data)
        self._write(record_path, text)
        if self._cap is None:
            return
        with self._lock:
            self._size += len(data)
            if self._size > self._cap:
                self._size = self._evict()

    def _evict(self):
        """Removes what was used longest ago until the sum fits; returns the sum."""
        images = sorted(self._images(), key=lambda item: item[1].st_atime_ns)
        total = sum(stat.st_size for _, stat in images)
        for path, stat in images:
            if total <= self._cap:
                break
            record = self._records / os.path.relpath(path, self._entries)
            try:
                if _state(os.lstat(path)) != _state(stat):
                    continue  # replaced since: in use
                os.unlink(path)
            except FileNotFoundError:
                pass  # another process removed it: it counts as gone
            except OSError:
                continue
            total -= stat.st_size
            with suppress(OSError):
                record.unlink()
        return total

    def _remove(self, *paths):
        for path in paths:
            with suppress(OSError):
                size = path.lstat().st_size if self._entries in path.parents else 0
                path.unlink()
                with self._lock:
                    self._size = max(self._size - size, 0)

    def __delitem__(self, key):
        image_path, record_path = self._paths(key)
        was_stored = self._store is not None and self._store.remove(_stored_name(key))
        if not os.path.lexists(image_path) and not was_stored:
            raise KeyError(key)
        self._remove(image_path, record_path)

    def __len__(self):
        return len(self._images())

    def clear(self):
        for path, seen in list(self._files()):
            if not path.startswith(str(self._tmp) + os.sep):
                with suppress(OSError):
                    if _state(os.lstat(path)) == _state(seen):  # else it has just been stored again
                        self._remove(Path(path))
        self._remove_stale_temporaries()
        for folder in (self._entries, self._records):
            for part in list(folder.iterdir()):
                with suppress(OSError):
                    part.rmdir()

    def __repr__(self):
        return f"<FileStreamProgramCache path={str(self._root)!r}>"
