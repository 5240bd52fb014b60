"""SharedStore: a store as ProgramCache uses it, with signed entries, one compile a key, deadlines and counts.

src/store/shared_store.cpp is the same for C++, written again on purpose: stores of Python are Python's objects
(fsspec's, the package redis, a backend of someone else's), which take calls on threads that the interpreter knows and
ends; one for C++ programs has no Python to ask. Both follow the rules in docs/cache-format.md, and share entries and
leases.
"""

import os
import threading
import time
import uuid
import weakref
from dataclasses import asdict, dataclass

from cucore._cache_settings import named_store
from cucore.stores._seal import KeyRing, RejectedEntry, seal, unseal
from cucore.stores._store import Store

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds a store that failed is left alone
POLL = 0.005, 0.1  # seconds between looks at what another host compiles: at first, and at most
MOST_HANGING = 4  # calls that have not returned; beyond them a store is not asked
FAILED = object()


@dataclass
class StoreStats:
    """Counts since the SharedStore was made."""

    hits: int = 0
    misses: int = 0  # compiles that it could not save, for whatever reason
    waits: int = 0  # for another host's compile
    wait_timeouts: int = 0
    rejected: int = 0  # entries without a valid signature; each is no hit
    published: int = 0
    fenced: int = 0  # results not stored since the lease had gone to another, who stored one
    errors: int = 0
    timeouts: int = 0
    skipped: int = 0  # calls not made since the store had just failed or had cost enough
    sent: int = 0  # code that went to another process by reference (cucore.stores.send_by_reference)
    sent_whole: int = 0  # code that was to go by reference, and went as bytes since the store did not take it
    received: int = 0  # code that came by reference
    bytes_in: int = 0
    bytes_out: int = 0
    seconds: float = 0.0  # spent in calls


class _Work:
    """A compile under way: its lease and what its calls may still cost."""

    def __init__(self, seconds):
        self.token = uuid.uuid4().hex
        self.left = seconds
        self.holds = False
        self.ended = threading.Event()


_all = weakref.WeakSet()


class SharedStore:
    """``store`` with trust and bounds, for ``ProgramCache(store=...)``.

    store: what ``open_store`` takes. keys: a KeyRing; None is the file named by $CUCORE_CACHE_KEYS. allow_unsigned:
    take and write entries without a signature, for a store to which only those can write who may run code here.
    call_seconds, compile_seconds: the deadline of one call, and of all calls of one compile together. lease_seconds:
    how long after the death of a host that compiles another begins. wait_seconds: how long to wait for another host's
    compile at all.
    """

    def __init__(
        self,
        store: object,
        *,
        keys: KeyRing | None = None,
        allow_unsigned: bool = False,
        call_seconds: float = 0.25,
        compile_seconds: float = 1.0,
        lease_seconds: float = 5.0,
        wait_seconds: float = 60.0,
    ):
        named = os.environ.get("CUCORE_CACHE_KEYS")
        if keys is None and not allow_unsigned and named == "unsigned":
            allow_unsigned = True
        elif keys is None and not allow_unsigned and named:
            keys = KeyRing.from_file(named)
        if keys is None and not allow_unsigned:
            raise ValueError(
                "SharedStore: no keys sign the entries, and whoever can write to the store could run code here: set "
                "CUCORE_CACHE_KEYS to a file of keys, give keys=, or allow_unsigned=True"
            )
        self.store = open_store(store)
        self._keys, self._allow_unsigned = keys, allow_unsigned
        self._call_seconds, self._compile_seconds = call_seconds, compile_seconds
        self._lease_seconds, self._wait_seconds = lease_seconds, wait_seconds
        self._stats = StoreStats()
        self._reset()
        _all.add(self)

    def _reset(self):
        """At the start, and in the child of a fork(), where threads and locks of the parent mean nothing."""
        self._lock = threading.Lock()
        self._works = {}
        self._hanging = 0
        self._pause, self._retry_at = 0.0, 0.0

    @property
    def stats(self) -> StoreStats:
        """Counts until now."""
        with self._lock:
            return StoreStats(**asdict(self._stats))

    def _count(self, **more):
        with self._lock:
            for name, value in more.items():
                setattr(self._stats, name, getattr(self._stats, name) + value)

    # ---- calls with a deadline ----

    def _call(self, work, function, *arguments, is_wait=False, seconds=None):
        """What the store says, or FAILED: it raised, was too slow, or is left alone after that. `seconds`: what the
        call may take, other than those of a compile."""
        limit = self._call_seconds if seconds is None else seconds
        if not is_wait:
            limit = min(limit, work.left)
        begin = time.monotonic()
        with self._lock:
            if limit <= 0 or begin < self._retry_at or self._hanging >= MOST_HANGING:
                self._stats.skipped += 1
                return FAILED
        answer, late, done = [], [], threading.Event()

        def run():
            try:
                answer.append((function(*arguments), None))
            except Exception as error:
                answer.append((FAILED, error))
            finally:
                with self._lock:
                    done.set()
                    if late:
                        self._hanging -= 1

        threading.Thread(target=run, daemon=True, name="cucore store").start()
        done.wait(limit)
        spent = time.monotonic() - begin
        if not is_wait:
            work.left -= spent
        with self._lock:
            if not done.is_set():
                late.append(True)
                self._hanging += 1
            value, error = answer[0] if done.is_set() else (FAILED, TimeoutError())
            self._stats.seconds += spent
            if error is None:
                self._pause = 0.0
                return value
            if done.is_set():
                self._stats.errors += 1
            else:
                self._stats.timeouts += 1
            self._pause = min(max(FIRST_PAUSE, 2 * self._pause), LONGEST_PAUSE)
            self._retry_at = time.monotonic() + self._pause
        return FAILED

    # ---- what ProgramCache asks ----

    def obtain(self, key: str) -> bytes | None:
        """The entry of a key, perhaps once another has compiled it; None: compile it here, then publish or abandon."""
        work = _Work(self._compile_seconds)
        payload = self._obtain(key, work)
        if payload is not None:
            self._release(key, work)
            self._count(hits=1, bytes_in=len(payload))
            return payload
        self._count(misses=1)
        with self._lock:
            self._works[key] = work
        if work.holds:
            threading.Thread(target=self._renew, args=(key, work), daemon=True, name="cucore lease").start()
        return None

    def _obtain(self, key, work):
        rejected = None  # the bytes that were looked at
        give_up = time.monotonic() + self._wait_seconds
        pause, waits = POLL[0], False
        while True:
            sealed = self._call(work, self.store.get, key, is_wait=waits)
            if sealed is FAILED:
                return None
            if sealed is not None and sealed != rejected:
                try:
                    return unseal(key, sealed, self._keys, self._allow_unsigned)
                except RejectedEntry:
                    rejected = sealed
                    self._count(rejected=1)
            if work.holds:
                return None
            held = self._call(work, self.store.lease, key, work.token, self._lease_seconds, is_wait=waits)
            if held is FAILED:
                return None
            if held:
                work.holds = True  # and look once more: it may have been stored between the look and the lease
                continue
            if time.monotonic() > give_up:
                self._count(wait_timeouts=1)
                return None
            if not waits:
                waits = True
                self._count(waits=1)
            time.sleep(pause)
            pause = min(2 * pause, POLL[1])

    def _renew(self, key, work):
        """Keeps the lease while this process lives and compiles."""
        while not work.ended.wait(self._lease_seconds / 3):
            self._call(work, self.store.lease, key, work.token, self._lease_seconds, is_wait=True)

    def _end(self, key):
        with self._lock:
            work = self._works.pop(key, None)
        work = work or _Work(self._compile_seconds)
        work.ended.set()
        return work

    def publish(self, key: str, entry: bytes) -> None:
        """Stores what this process has compiled, and ends its lease."""
        work = self._end(key)
        if work.holds and self._call(work, self.store.lease, key, work.token, self._lease_seconds) is False:
            there = self._call(work, self.store.get, key)
            if there is not FAILED and there is not None and self._is_valid(key, there):
                self._count(fenced=1)
                return
        sealed = seal(key, entry, self._keys)
        if self._call(work, self.store.put, key, sealed) is not FAILED:
            self._count(published=1, bytes_out=len(sealed))
        self._release(key, work)

    def abandon(self, key: str) -> None:
        """Ends the lease: there is no result."""
        self._release(key, self._end(key))

    # ---- values that are no compile's result: code by reference, kernels of the CPU device ----

    def keep(self, name: str, payload: bytes, kind: str) -> bool:
        """Stores a value under a name of its own, in `compile_seconds`; False if the store fails or is late."""
        work = _Work(self._compile_seconds)
        sealed = seal(name, payload, self._keys, kind)
        if self._call(work, self.store.put, name, sealed, seconds=self._compile_seconds) is FAILED:
            return False
        self._count(bytes_out=len(sealed))
        return True

    def has(self, name: str) -> bool:
        """Whether there is something of that name; False, too, if the store fails or is late."""
        return self._call(_Work(self._compile_seconds), self.store.exists, name) is True

    def remove(self, name: str) -> bool:
        """Whether there was something of that name, which is gone now; False, too, if the store fails or is late."""
        return self.has(name) and self._call(_Work(self._compile_seconds), self.store.delete, name) is not FAILED

    def fetch(self, name: str, kind: str, seconds: float | None = None) -> bytes | None:
        """A value that keep() has stored; None if there is none, or none to be trusted. TimeoutError: the store has not
        answered in that time, which is `compile_seconds` by default."""
        seconds = self._compile_seconds if seconds is None else seconds
        work = _Work(seconds)
        sealed = self._call(work, self.store.get, name, seconds=seconds)
        if sealed is FAILED:
            raise TimeoutError(f"{self.store!r} failed, or has not answered in {seconds:g} s")
        if sealed is None:
            return None
        try:
            payload = unseal(name, sealed, self._keys, self._allow_unsigned, kind)
        except RejectedEntry:
            self._count(rejected=1)
            return None
        self._count(bytes_in=len(payload))
        return payload

    def names(self, seconds: float) -> list[str]:
        """Of all that is stored. TimeoutError as of fetch()."""
        found = self._call(_Work(seconds), lambda: list(self.store.list()), seconds=seconds)
        if found is FAILED:
            raise TimeoutError(f"{self.store!r} failed, or has not listed its entries in {seconds:g} s")
        return found

    def _release(self, key, work):
        if work.holds:
            self._call(work, self.store.release, key, work.token)

    def _is_valid(self, key, sealed):
        try:
            unseal(key, sealed, self._keys, self._allow_unsigned)
        except RejectedEntry:
            return False
        return True

    def __repr__(self):
        return f"SharedStore({self.store!r})"


def _reset_all():
    for each in list(_all):
        each._reset()


os.register_at_fork(after_in_child=_reset_all)


def shared_store(store):
    """A SharedStore: itself, or one of what ``open_store`` takes; of nothing, the one that the environment names, if it
    names one."""
    store = store or named_store()
    return store if store is None or isinstance(store, SharedStore) else SharedStore(store)


def open_store(store: object) -> Store:
    """A Store: itself; of a URL (redis, rediss, valkey, unix: a server; any other one is fsspec's); of the path of a
    folder; of an object with ``get`` and ``put``."""
    from cucore.stores import _backend, _folder, _fsspec, _redis

    if isinstance(store, Store):
        return store
    if isinstance(store, str) and "://" in store:
        scheme = store.partition("://")[0]
        if scheme in ("redis", "rediss", "valkey", "unix"):
            return _redis.RedisStore(store)
        return _fsspec.FsspecStore(store)
    if isinstance(store, (str, os.PathLike)):
        return _folder.FolderStore(store)
    if callable(getattr(store, "get", None)) and callable(getattr(store, "put", None)):
        return _backend.BackendStore(store)
    raise TypeError(f"a store must be a URL, a path, a Store or have get and put, not {type(store).__name__}")
