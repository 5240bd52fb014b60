"""RedisStore: a Redis or Valkey server, by the package ``redis``."""

import re
from collections.abc import Iterable

from cucore.stores._store import Store

# Takes a lease that is free or one's own; the server's clock ends it.
LEASE = """
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1
"""
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end"


class RedisStore(Store):
    """The server at a URL (``redis://``, ``rediss://``, ``unix://``); names there begin with ``prefix``."""

    def __init__(self, url: str, *, prefix: str = "cucore:", timeout: float = 1.0):
        import redis

        if url.startswith("valkey"):
            url = "redis" + url.removeprefix("valkey")
        self._url, self._prefix = url, prefix
        self._client = redis.Redis.from_url(
            url, socket_timeout=timeout, socket_connect_timeout=timeout, decode_responses=False
        )

    def get(self, name: str) -> bytes | None:
        return self._client.get(f"{self._prefix}entry:{name}")

    def put(self, name: str, data: bytes) -> None:
        self._client.set(f"{self._prefix}entry:{name}", data)

    def exists(self, name: str) -> bool:
        return bool(self._client.exists(f"{self._prefix}entry:{name}"))

    def delete(self, name: str) -> None:
        self._client.delete(f"{self._prefix}entry:{name}")

    def list(self) -> Iterable[str]:
        start = f"{self._prefix}entry:"
        pattern = re.sub(r"([*?\[\]^\\])", r"\\\1", start)  # whatever signs of patterns the prefix has
        for name in self._client.scan_iter(match=f"{pattern}*"):
            yield name.decode().removeprefix(start)

    def lease(self, name: str, token: str, seconds: float) -> bool:
        return bool(self._client.eval(LEASE, 1, f"{self._prefix}lease:{name}", token, max(1, int(seconds * 1000))))

    def release(self, name: str, token: str) -> None:
        self._client.eval(RELEASE, 1, f"{self._prefix}lease:{name}", token)

    def __repr__(self):
        return f"RedisStore(prefix={self._prefix!r})"  # the URL may hold a password
