"""Where the environment says so, ObjectCodes are pickled as references to a store, from the first one on."""

import copyreg

from cucore._cache_settings import sends_by_reference
from cucore._seam import ObjectCode


def _reduced_first(code):
    from cucore.stores import _references

    _references.send_by_reference()
    return _references.reduced(code)


if sends_by_reference():
    copyreg.pickle(ObjectCode, _reduced_first)
