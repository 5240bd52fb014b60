"""Which store a ProgramCache shares with other hosts. Where there is none, cucore.stores is not even imported."""

import os


def shared_store(store):
    """What ProgramCache(store=...) uses; None without one, and where $CUCORE_CACHE_STORE names none either."""
    store = store or os.environ.get("CUCORE_CACHE_STORE") or None
    if store is None:
        return None
    from cucore.stores import SharedStore

    return store if isinstance(store, SharedStore) else SharedStore(store)
