"""How Program.compile() uses a program cache.

cucore's own caches keep the mapping of name expressions beside the code, and their keys cover the headers a program can
reach; a program that cannot be keyed is compiled without the cache. Other ProgramCacheResources, and subclasses of
cucore's own that look up or store in their own way, get the protocol of cuda.core: ``get`` and item assignment, keys of
``make_program_cache_key``, no name expressions.
"""

from cucore.utils._key import combined_key, make_program_cache_key
from cucore.utils._resource import ProgramCacheResource, Record, text_mapping


def way_of(cache):
    """The function of (cache, program, target, names) that gives (ObjectCode, report) of a compile through ``cache``.

    Duck types are no caches: what looks like a mapping may not be safe to share.
    """
    if getattr(type(cache), "keeps_records", False) is True and "get" not in cache.__dict__:
        return _through_records
    if isinstance(cache, ProgramCacheResource):
        return _through_mapping
    raise TypeError(f"cache must be a ProgramCacheResource or a ProgramCache, not {type(cache).__name__}")


def _through_mapping(cache, program, target, names):
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
        return program._program.result(target, bytes(found), {}), _report("hit", key)
    code, report = program._program.compile(target, [], None)
    cache[key] = code
    return code, {**report, **_report("miss", key, report["log"])}


def _through_records(cache, program, target, names):
    native = program._program
    digest, why = native.cache_key(target, names)
    known = program._keys.get(digest)
    if known is None:
        if not digest:
            code, report = native.compile(target, names, None)
            return code, {**report, "cache": "uncacheable", "cache_why": why}
        key = combined_key(digest)
        known = program._keys[digest] = (key, _report("hit", key))
    key, hit = known
    record = cache.get_record(key)
    if record is not None:
        data, mapping = record
        if mapping is not None or not names:
            return native.result(target, data, _in_order(mapping, names)), hit
    code, report = native.compile(target, names, None)
    cache.set_record(key, Record(code.code, text_mapping(code.symbol_mapping)))
    return code, {**report, **_report("miss", key, report["log"])}


def _in_order(mapping, names):
    """The mapping of a record as compile() gives it: symbols as bytes, in the order of the name expressions."""
    return {name: mapping[name].encode() for name in sorted(mapping or (), key=names.index)} if names else {}


def _report(result, key, log=""):
    return {"log": log, "cache": result, "cache_why": "", "cache_key": key.hex()}
