"""make_program_cache_key: the inputs of one compile as 32 bytes."""

import hashlib
import itertools

from cucore import _seam
from cucore._errors import AttributeTypeError
from cucore._options import ProgramOptions, accept
from cucore.typing import CompilerBackendType, SourceCodeType

TARGETS = {"c++": ("ptx", "cubin", "ltoir"), "ptx": ("ptx", "cubin"), "nvvm": ("ptx", "ltoir")}
TARGETS_OF_SEVERAL = ("cubin", "fatbin")
SIDE_EFFECTS = ("create_pch", "time", "fdevice_time_trace")
NOT_OF_DRIVER = ("time", "ptxas_options", "split_compile")
FILES = ("include_path", "pre_include", "pch", "use_pch", "pch_dir")


def make_program_cache_key(*, code, code_type, options, target_type, name_expressions=(), extra_digest=None):
    """The key of such a compile of ``code``: SHA-256 over every input, the compiler's version and build, and the
    contents of the headers that the source can reach.

    What cannot be keyed raises ValueError. ``extra_digest`` (bytes of your own that stand for files the options name)
    lifts that for options that name files.
    """
    if extra_digest is not None:
        try:
            extra_digest = bytes(extra_digest)
        except TypeError:
            raise TypeError(f"extra_digest must be bytes or None, not {type(extra_digest).__name__}") from None
    one = isinstance(name_expressions, (str, bytes))
    name_expressions = (name_expressions,) if one else tuple(name_expressions)
    kind, target, options, names = checked(code, code_type, options, target_type, name_expressions)
    if options.extra_sources is not None and kind != "nvvm":
        raise ValueError(f"extra_sources are for code_type 'nvvm', not {kind!r}")
    if kind == "c++":
        _refuse_unkeyable(options, extra_digest)
    if kind == "ptx" and _seam.linker_backend()[0] == CompilerBackendType.DRIVER:
        refused = [name for name in NOT_OF_DRIVER if getattr(options, name) is not None]
        if refused:
            raise ValueError(f"{', '.join(refused)}: not supported by the driver's linker, which compiles PTX here")
    if kind == "nvvm" and options.use_libdevice and extra_digest is None:
        raise ValueError("use_libdevice links a libdevice that is not part of the key: pass extra_digest")
    digest, why, parts = _seam.compile_key(
        bytes(code) if isinstance(code, bytearray) else code, kind, options, target, names
    )
    if not digest:
        if extra_digest is None:
            raise ValueError(f"the program cannot be keyed: {why}; pass extra_digest")
        digest = _digest_of(parts)
    return combined_key(digest, _spelled(name_expressions, kind), extra_digest)


def checked(code, code_type, options, target_type, name_expressions):
    """The arguments with case folded and types checked."""
    kind = SourceCodeType(str(code_type).lower()).value
    target = str(target_type).lower()
    options = accept(ProgramOptions, options, error=AttributeTypeError)
    several = options.arch is not None and not isinstance(options.arch, str)
    if target not in (TARGETS_OF_SEVERAL if several and kind != "nvvm" else TARGETS[kind]):
        raise ValueError(f"target_type {target_type!r} is not possible for code_type {kind!r}: use {TARGETS[kind]}")
    if kind != "nvvm" and not isinstance(code, str):
        raise TypeError(f"code must be str for code_type {kind!r}, not {type(code).__name__}")
    if not isinstance(code, (str, bytes, bytearray)):
        raise TypeError(f"code must be str or bytes, not {type(code).__name__}")
    names = []
    for name in name_expressions if kind == "c++" else ():
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"a name expression must be str or bytes, not {type(name).__name__}")
        names.append(name.decode() if isinstance(name, bytes) else name)
    return kind, target, options, names


def _refuse_unkeyable(options, extra_digest):
    for name in SIDE_EFFECTS:
        if getattr(options, name) is not None:
            raise ValueError(f"a compile with {name} writes a file: it cannot be cached")
    if extra_digest is not None:
        return
    named = [name for name in FILES if getattr(options, name)]
    if named:
        raise ValueError(f"{', '.join(named)}: pass extra_digest, bytes that change when the files these name change")
    if "/" in options.name or "\\" in options.name:
        raise ValueError(
            f"options.name {options.name!r} has a directory component, where quoted includes are looked for: "
            "pass extra_digest"
        )


def _spelled(name_expressions, kind):
    """Which name expressions are bytes: they are other keys of a mapping than the same names as str."""
    if kind != "c++":
        return []
    return sorted(bytes(name) for name in name_expressions if isinstance(name, bytes))


def _digest_of(parts):
    """Stands for all inputs that the core knows of, where there are others: those are the caller's to digest."""
    hasher = hashlib.sha256()
    for text in itertools.chain.from_iterable(parts):
        hasher.update(_sized(text.encode()))
    return hasher.hexdigest()


def _sized(text):
    return len(text).to_bytes(8, "little") + text


def combined_key(digest, as_bytes=(), extra_digest=None):
    """The key made of the core's digest of all inputs, of how names are spelled, and of the caller's own digest."""
    text = b"cucore program cache key 2" + digest.encode()
    for name in as_bytes:
        text += b"bytes " + _sized(name)
    if extra_digest is not None:
        text += b"extra " + _sized(bytes(extra_digest))
    return hashlib.sha256(text).digest()
