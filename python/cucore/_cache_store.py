"""Which store a ProgramCache shares with other hosts. Where there is none, cucore.stores is not even imported."""

from cucore._cache_settings import named_store


def shared_store(store):
    """What ProgramCache(store=...) uses; None without one, and where $CUCORE_CACHE_STORE names none either."""
    if not (store or named_store()):
        return None
    from cucore.stores import _shared

    return _shared.shared_store(store)
