"""The interface of stores: names to bytes, and leases. Names are of letters, digits, ``.`` and ``-``."""

import abc
from collections.abc import Iterable


class Store(abc.ABC):
    """Bytes by name. Any member may raise, be slow, or know of another host's change late: its user copes."""

    @abc.abstractmethod
    def get(self, name: str) -> bytes | None:
        """The bytes, or None."""

    @abc.abstractmethod
    def put(self, name: str, data: bytes) -> None:
        """Stores whole, or not at all."""

    @abc.abstractmethod
    def delete(self, name: str) -> None:
        """Removes what is there, if anything is."""

    @abc.abstractmethod
    def list(self) -> Iterable[str]:
        """All names."""

    def exists(self, name: str) -> bool:
        return self.get(name) is not None

    def lease(self, name: str, token: str, seconds: float) -> bool:
        """Takes the lease of that name, or renews it: whether ``token`` holds it now. It ends ``seconds`` after it was
        last renewed. A store that has no leases says yes to all: each host compiles for itself then."""
        return True

    def release(self, name: str, token: str) -> None:  # noqa: B027 - nothing to do without leases
        """Ends the lease if ``token`` holds it."""
