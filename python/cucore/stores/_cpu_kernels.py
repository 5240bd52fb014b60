"""The CPU device's compiled kernels in a store: a host's folder of them takes what others have compiled, and gives.

The CPU device itself knows no stores: it compiles at a launch, on whatever thread needs the code, and asks its folder
alone. So kernels move between folder and store when a program says so: before its work and after it. A file of the
folder is one signed entry. It is native code: what no key that is known here has signed never gets into the folder.
"""

import contextlib
import hashlib
import os
import stat
import time
import uuid
from dataclasses import dataclass, field

from cucore._cache_settings import cpu_kernels_folder
from cucore.stores._shared import shared_store

KIND = "cpu device"
ENDING = ".cpu"  # of an entry's name; before it stands the name of the file
FILE_ENDING = ".kernel"
MARK = b"cucpu"  # a file: 8 bytes that begin so, the key, the content, BLAKE2b of all that
KEY_AT, DIGEST_BYTES = 8, 32
MOST_FILE_BYTES = 64 << 20  # as the device's
ONE_CALL = 10.0


@dataclass
class KernelTransfer:
    """What became of the kernels on one side."""

    copied: int = 0
    already_there: int = 0
    rejected: dict[str, str] = field(default_factory=dict)  # by key: why it was not taken
    left: int = 0  # not come to, since ...
    stopped: str | None = None  # ... the store failed, or the time or the room was used up; None: nothing was left


def push_cpu_kernels(store: object = None, folder: object = None, *, seconds: float = 60.0) -> KernelTransfer:
    """Stores the compiled kernels of the CPU device's folder that the store lacks.

    store: a SharedStore or what ``open_store`` takes; None is $CUCORE_CACHE_STORE. folder: None is the device's, as
    $CUCORE_CPU_CACHE says. seconds: how long it may take; what is left then is counted. ValueError: there is no store
    or no folder, or others could have written to the folder, whose kernels are then not to be signed.
    """
    shared, place, ends = _given("push_cpu_kernels", store, folder, seconds)
    report = KernelTransfer()
    if not os.path.lexists(place):
        return report
    with _opened("push_cpu_kernels", place) as descriptor:
        keys = sorted(name.removesuffix(FILE_ENDING) for name in os.listdir(descriptor) if _is_key(name, FILE_ENDING))
        report.left = len(keys)
        there = _names(shared, report, ends)
        for key in keys if there is not None else ():
            if key in there:
                report.already_there += 1
            else:
                data = _read(descriptor, key)
                why = "it is no longer there" if data is None else _fault(key, data)
                if why is not None:
                    report.rejected[key] = why
                elif _has_ended(report, ends):
                    break
                elif not shared.keep(key + ENDING, data, KIND):
                    report.stopped = f"{shared.store!r} failed, or did not take a kernel in time"
                    break
                else:
                    report.copied += 1
            report.left -= 1
    return report


def pull_cpu_kernels(
    store: object = None, folder: object = None, *, seconds: float = 60.0, max_bytes: int = 256 << 20
) -> KernelTransfer:
    """Takes into the CPU device's folder what the store has and the folder lacks; arguments as of push_cpu_kernels.

    max_bytes: nothing more is taken once what was taken passes it; the device keeps its folder below 256 MiB. OSError:
    the folder cannot be written.
    """
    shared, place, ends = _given("pull_cpu_kernels", store, folder, seconds)
    report = KernelTransfer()
    os.makedirs(place, mode=0o700, exist_ok=True)
    with _opened("pull_cpu_kernels", place) as descriptor:
        there = _names(shared, report, ends)
        if there is None:
            return report
        here = set(os.listdir(descriptor))
        report.left = len(there)
        room = max_bytes
        for key in sorted(there):
            if key + FILE_ENDING in here:
                report.already_there += 1
            else:
                if _has_ended(report, ends):
                    break
                try:
                    data = shared.fetch(key + ENDING, KIND, min(ONE_CALL, max(ends - time.monotonic(), 0.001)))
                except TimeoutError as error:
                    report.stopped = str(error)
                    break
                why = "it is not signed by a key known here, or was removed" if data is None else _fault(key, data)
                if why is not None:
                    report.rejected[key] = why
                elif len(data) > room:
                    report.stopped = f"{max_bytes} bytes were taken"
                    break
                else:
                    _write(descriptor, key, data)
                    room -= len(data)
                    report.copied += 1
            report.left -= 1
    return report


@contextlib.contextmanager
def cpu_kernels_from(store: object = None, folder: object = None, *, seconds: float = 60.0):
    """Takes what others have compiled, and gives what the block compiled: pull_cpu_kernels(), the block,
    push_cpu_kernels(). The subject is the report of what was taken."""
    yield pull_cpu_kernels(store, folder, seconds=seconds)
    push_cpu_kernels(store, folder, seconds=seconds)


def _given(call, store, folder, seconds):
    shared = shared_store(store)
    if shared is None:
        raise ValueError(f"{call}: there is no store: give one, or set CUCORE_CACHE_STORE")
    place = cpu_kernels_folder() if folder is None else os.fspath(folder)
    if place is None:
        raise ValueError(f"{call}: the CPU device keeps no kernels here: give folder=, or set CUCORE_CPU_CACHE to one")
    return shared, os.path.abspath(place), time.monotonic() + seconds


@contextlib.contextmanager
def _opened(call, place):
    """The folder, as the CPU device opens it: this user's, written by nobody else, not by way of a link."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ValueError(f"{call}: {place}: {error.strerror}: it must be a folder, and no symbolic link") from error
    try:
        if not _is_own(os.fstat(descriptor)):
            raise ValueError(
                f"{call}: {place}: it is another user's, or others can write to it: the CPU device takes no kernels "
                "from it either; chmod go-w, or give another folder"
            )
        yield descriptor
    finally:
        os.close(descriptor)


def _is_own(status):
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_key(name, ending):
    digits = name.removesuffix(ending)
    return digits != name and len(digits) == 64 and not digits.strip("0123456789abcdef")


def _names(shared, report, ends):
    """Keys of the kernels in the store; None if it cannot be asked, which the report then says."""
    try:
        names = shared.names(max(ends - time.monotonic(), 0.001))
    except TimeoutError as error:
        report.stopped = str(error)
        return None
    return {name.removesuffix(ENDING) for name in names if _is_key(name, ENDING)}


def _has_ended(report, ends):
    if time.monotonic() > ends:
        report.stopped = "the time was used up"
    return report.stopped is not None


def _fault(key, data):
    """Why the bytes are no file of that key; None if they are one."""
    whole = len(data) >= KEY_AT + 2 * DIGEST_BYTES and data.startswith(MARK)
    if not whole or data[KEY_AT : KEY_AT + DIGEST_BYTES].hex() != key:
        return "it is no kernel of that key"
    body, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    return None if hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() == digest else "it is damaged"


def _read(folder, key):
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(key + FILE_ENDING, flags, dir_fd=folder), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_own(status) or status.st_size > MOST_FILE_BYTES:
                return b""
            return file.read()
    except OSError:
        return None


def _write(folder, key, data):
    """The file is there whole or not at all; the device removes what is unfinished after an hour."""
    unfinished = f"unfinished-{uuid.uuid4().hex}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(unfinished, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
        os.rename(unfinished, key + FILE_ENDING, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise
