"""Signed entries: what docs/cache-format.md describes, and the keys that sign.

src/store (sealed_entry.cpp, key_ring.cpp) reads and writes the same bytes: what SharedStore of either language stores,
the other must read, and here Python's own hashlib, hmac and json are shorter than a binding would be.
"""

import hashlib
import hmac
import json
import os
import struct

from cucore import _seam

MAGIC = b"cucore sealed entry\n"
VERSION = 1
DIGEST = hashlib.sha256().digest_size
MOST_HEADER = 4096
LEAST_KEY = 16


class RejectedEntry(ValueError):
    """An entry that is not to be trusted; says why."""


class KeyRing:
    """Secret keys by id. The first one signs; an entry signed by any of them is taken, so that a new key is put first,
    and the old one removed when nobody signs with it any more."""

    def __init__(self, keys: dict[str, bytes]):
        if not keys:
            raise ValueError("KeyRing: there is no key: give at least one as {id: bytes}")
        for name, key in keys.items():
            if not name or len(name) > 64 or not name.isprintable() or len(key) < LEAST_KEY:
                raise ValueError(f"KeyRing: key {name!r}: an id of 1 to 64 characters and at least {LEAST_KEY} bytes")
        self._keys = {name: bytes(key) for name, key in keys.items()}
        self.signer = next(iter(self._keys))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> "KeyRing":
        """The keys of a file with one ``ID HEX`` a line; ``#`` begins a comment."""
        keys = {}
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fields = line.partition("#")[0].split()
                if not fields:
                    continue
                try:
                    name, value = fields
                    keys[name] = bytes.fromhex(value)
                except ValueError:
                    raise ValueError(f"KeyRing: {os.fspath(path)}:{number}: not 'ID HEX'") from None
        return cls(keys)

    def get(self, name: str) -> bytes | None:
        return self._keys.get(name)

    def items(self) -> list[tuple[str, bytes]]:
        """Ids and keys; the first signs."""
        return list(self._keys.items())

    def __repr__(self):
        return f"KeyRing({list(self._keys)})"


def toolkit():
    """The compiler that entries are of, as part of what is signed."""
    nvrtc = _seam.toolkit_info().nvrtc
    return f"nvrtc {nvrtc.version} {nvrtc.build}" if nvrtc.available else "none"


def seal(key, payload, ring, made_by=None):
    """An entry; without a ring its digest is of SHA-256 alone, which shows damage and proves nothing. `made_by`: what
    stands for the compiler in an entry of another kind than ProgramCache's."""
    header = json.dumps(
        {
            "version": VERSION,
            "key": key,
            "toolkit": made_by or toolkit(),
            "size": len(payload),
            "signed_by": None if ring is None else ring.signer,
        },
        sort_keys=True,
    ).encode()
    body = MAGIC + struct.pack("<I", len(header)) + header + payload
    return body + _digest(body, None if ring is None else ring.get(ring.signer))


def unseal(key, sealed, ring, allow_unsigned=False, made_by=None):
    """The payload of an entry. Raises RejectedEntry."""
    start = len(MAGIC) + 4
    if len(sealed) < start + DIGEST or not sealed.startswith(MAGIC):
        raise RejectedEntry("no sealed entry")
    (size,) = struct.unpack_from("<I", sealed, len(MAGIC))
    if size > min(MOST_HEADER, len(sealed) - start - DIGEST):
        raise RejectedEntry("it is cut")
    try:
        header = json.loads(sealed[start : start + size])
        signer, version = header["signed_by"], header["version"]
        said = header["key"], header["toolkit"], header["size"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RejectedEntry("its header cannot be read") from None
    if version != VERSION:
        raise RejectedEntry(f"it is of format version {version!r}")
    secret = None
    if signer is not None:
        secret = ring.get(signer) if ring is not None and isinstance(signer, str) else None
        if secret is None:
            raise RejectedEntry("it is signed with a key that is not known here")
    elif not allow_unsigned:
        raise RejectedEntry("it is not signed")
    if not hmac.compare_digest(_digest(sealed[:-DIGEST], secret), sealed[-DIGEST:]):
        raise RejectedEntry("its digest does not match")
    payload = sealed[start + size : -DIGEST]
    if said != (key, made_by or toolkit(), len(payload)):
        raise RejectedEntry("it is of another key, toolkit or size")
    return payload


def _digest(body, secret):
    return hashlib.sha256(body).digest() if secret is None else hmac.digest(secret, body, "sha256")
