"""How Program.compile() uses a program cache.

cucore's own caches keep the mapping of name expressions beside the code, and their keys cover the headers a program can
reach; a program that cannot be keyed is compiled without the cache. Other ProgramCacheResources, and subclasses of
cucore's own that look up or store in their own way, get the protocol of cuda.core: ``get`` and item assignment, keys of
``make_program_cache_key``, no name expressions.
"""

import functools

from cucore import _core
from cucore.utils._key import combined_key, make_program_cache_key
from cucore.utils._resource import ProgramCacheResource, Record, RecordCache

FACTORIES = {
    "ptx": _core.ObjectCode.from_ptx,
    "cubin": _core.ObjectCode.from_cubin,
    "ltoir": _core.ObjectCode.from_ltoir,
    "fatbin": _core.ObjectCode.from_fatbin,
}


def check(cache):
    """Duck types are no caches: what looks like a mapping may not be safe to share."""
    if not isinstance(cache, ProgramCacheResource):
        raise TypeError(f"cache must be a ProgramCacheResource or a ProgramCache, not {type(cache).__name__}")


@functools.cache
def _keeps_records(cls):
    """Whether ``cls`` is a cache of cucore's own, and no subclass that looks up or stores in another way."""
    if not issubclass(cls, RecordCache):
        return False
    own = next((base for base in cls.__mro__ if base.__module__ == "cucore.utils"), cls)
    return all(getattr(cls, name) is getattr(own, name) for name in ("get", "__getitem__", "__setitem__"))


def compile_with(cache, program, target, names):
    """(ObjectCode, report) of compiling ``program``, through ``cache``."""
    if _keeps_records(type(cache)) and "get" not in cache.__dict__:
        return _through_records(cache, program, target, names)
    if names:
        raise ValueError(
            f"name_expressions cannot be used with a {type(cache).__name__}: the names would not survive it; use a "
            "ProgramCache or one of cucore's own program caches"
        )
    key = make_program_cache_key(
        code=program._code, code_type=program._code_type, options=program._options, target_type=target
    )
    found = cache.get(key)
    if found is not None:
        return _factory(program, target)(bytes(found), name=program._options.name), _report("hit", key)
    code, report = program._program.compile(target, [], None)
    cache[key] = code
    return code, {**report, **_report("miss", key, report["log"])}


def _through_records(cache, program, target, names):
    digest, why = program._program.cache_key(target, names)
    if not digest:
        code, report = program._program.compile(target, names, None)
        return code, {**report, "cache": "uncacheable", "cache_why": why}
    key = program._keys.get(digest)
    if key is None:
        key = combined_key(digest, program._code_type, target, names, None, program._code)
        program._keys[digest] = key
    record = cache.get_record(key)
    if record is not None and (record.symbol_mapping is not None or not names):
        code = _factory(program, target)(
            record.data, name=program._options.name, symbol_mapping=record.symbol_mapping or {}
        )
        return code, _report("hit", key)
    code, report = program._program.compile(target, names, None)
    cache.set_record(key, Record(code.code, code.symbol_mapping))
    return code, {**report, **_report("miss", key, report["log"])}


def _factory(program, target):
    """What makes the result of a compile to ``target``: code for several architectures is a fatbin."""
    arch = program._options.arch
    return FACTORIES[target if arch is None or isinstance(arch, str) else "fatbin"]


def _report(result, key, log=""):
    return {"log": log, "cache": result, "cache_why": "", "cache_key": key.hex()}
