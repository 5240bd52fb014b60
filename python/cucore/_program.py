"""Program: source text and options, compiled to an ObjectCode as often as wanted."""

import warnings

from cucore import _linker, _seam
from cucore._architecture import current_arch
from cucore._errors import (
    CUDAError,
    NVRTCOptionError,
    UnsupportedOptionError,
    ValueTypeError,
    option_error,
)
from cucore._handles import nvrtcProgram
from cucore._options import ProgramOptions, accept
from cucore.typing import CompilerBackendType, ObjectCodeFormatType, SourceCodeType

_ProgramCache = _seam.ProgramCache
FORMATS = {member.value: member.value for member in ObjectCodeFormatType}
KINDS = {member.value: member.value for member in SourceCodeType}


_DEFAULTS = {name: one.default for name, one in ProgramOptions.__dataclass_fields__.items()}


def _default_options():
    """ProgramOptions(), for programs that give none, in one step: only the architecture depends on anything."""
    made = object.__new__(ProgramOptions)
    made.__dict__.update(_DEFAULTS, arch=current_arch())
    return made


def _is_empty(name_expressions):
    return name_expressions is None or (isinstance(name_expressions, (tuple, str)) and not name_expressions)


def inputs_of_compile(program, target_type, name_expressions):
    """The core's program, the target in lower case, and the name expressions as a list of str."""
    if not isinstance(program, Program):
        raise TypeError(f"program must be a Program, not {type(program).__name__}")
    target = str(target_type).lower()
    if target not in FORMATS:
        raise ValueError(
            f'Unsupported target_type="{target_type}" for {program.backend}: the targets are {tuple(FORMATS)}'
        )
    program._heed_changes()
    if program._fault is not None:
        raise program._fault.with_traceback(None)
    if _is_empty(name_expressions):
        return program._program, target, []
    names = [name_expressions] if isinstance(name_expressions, (str, bytes)) else list(name_expressions)
    for name in names:
        if not isinstance(name, (str, bytes)):
            error = ValueTypeError if hasattr(name_expressions, "__array__") else TypeError
            raise error(f"a name expression must be str or bytes, not {type(name).__name__}")
        if not name:
            raise NVRTCOptionError("a name expression is empty")
    return program._program, target, [name.decode() if isinstance(name, bytes) else name for name in names]


def _way_of(cache):
    """How a ``cache`` that is not the core's is used; the module that decides is loaded at first use."""
    global _way_of
    from cucore.utils._protocol import way_of as _way_of

    return _way_of(cache)


class Program:
    """Source text and options.

    ``code_type`` is "c++" (compiled by NVRTC), "ptx" (by nvJitLink, or the driver where there is none) or "nvvm" (by
    libNVVM). Needs neither a driver nor a GPU when ``options.arch`` is given. Options that are changed later count from
    the next compile on, but for the name, and for PTX, whose linker is made at once. C++ source with ``debug`` or
    ``lineinfo`` and no ``name`` is also written to a file of the temporary folder, which debuggers show, until the
    Program is closed or gone.
    """

    __slots__ = (
        "__weakref__",
        "_backend",
        "_code",
        "_code_type",
        "_fault",
        "_given",
        "_keys",
        "_options",
        "_program",
        "_report",
        "_source_file",
        "_text",
    )

    def __init__(self, code, code_type, options=None):
        self._report = self._fault = self._source_file = None
        self._keys = {}  # keys of the program caches by the core's
        kind = KINDS.get(code_type if type(code_type) is str else str(code_type))
        if kind is None:
            kind = KINDS.get(str(code_type).lower())
        given, options = options, _default_options() if options is None else accept(ProgramOptions, options)
        self._given = None
        if kind is None:
            known = tuple(KINDS)
            if options.use_libdevice:
                raise ValueError(
                    f"use_libdevice is for code_type 'nvvm'; code_type {code_type!r} is not one of {known}"
                )
            raise RuntimeError(f"unsupported code_type {code_type!r}: the supported types are {known}")
        if kind in ("c++", "ptx"):
            if not isinstance(code, str):
                raise TypeError(f"code must be a str for code_type {kind!r}, not {type(code).__name__}")
            if options.extra_sources is not None:
                raise ValueError(f"extra_sources are for code_type 'nvvm', not {kind!r}")
        elif not isinstance(code, (str, bytes, bytearray)):
            raise TypeError(f"code must be str, bytes or bytearray for code_type 'nvvm', not {type(code).__name__}")
        elif not _seam.toolkit_info().nvvm.available:
            raise RuntimeError(_seam.toolkit_info().nvvm.why_not)
        if isinstance(code, bytearray):
            code = bytes(code)
        self._code = code
        self._code_type = kind
        self._options = options if given is None else options.snapshot()
        if kind == "c++" and (options.debug or options.lineinfo) and options.name == "default_program":
            from cucore._debug_source import with_a_file

            code = with_a_file(self, code)
        self._text = code
        self._make(code, kind)
        if kind != "ptx" and given is not None:
            self._given = options
        _warn_of_options(kind, self._options)

    def _make(self, code, kind):
        """The core's program. Options that the compiler does not have are refused at once, and so is all that PTX
        cannot have, whose linker would be made now; other faults in the options are for a compile to tell."""
        try:
            self._program = _seam.CoreProgram(code, kind, self._options)
        except (TypeError, ValueError) as fault:
            is_unsupported = isinstance(fault, UnsupportedOptionError)
            is_about_options = getattr(fault, "call", "ProgramOptions") == "ProgramOptions"
            if not is_unsupported and (isinstance(fault, CUDAError) or not is_about_options):
                raise
            refused = option_error(kind, fault, is_unsupported)
            if is_unsupported or kind == "ptx":
                raise refused from None
            self._fault = refused
            self._program = _seam.CoreProgram(code, kind, ProgramOptions(arch="sm_90"))

    def _heed_changes(self):
        """Makes the core's program anew if the options that were given have changed since it was made."""
        if self._given is None or not self._given._differs_from(self._options) or self._program.is_closed:
            return
        changed = self._given.snapshot()
        changed.name = self._options.name
        self._options, self._fault, self._keys = changed, None, {}
        self._make(self._text, self._code_type)

    def compile(self, target_type, name_expressions=(), logs=None, *, cache=None):
        """Compiles to "ptx", "cubin" or "ltoir" and returns an ObjectCode named ``options.name``.

        Args:
            target_type: what to make. C++ source: "ptx", "cubin" or "ltoir", with several architectures "cubin" or
                "fatbin"; PTX source: "cubin", or "ptx" for the source as it is; NVVM source: "ptx" or "ltoir".
            name_expressions: C++ spellings of kernels or variables to instantiate, for example ``"axpy<float>"``;
                ``get_kernel`` takes them as they are spelled here.
            logs: an object with ``write(str)`` that is given the compiler's log after success, if there is one.
            cache: a ProgramCache, or a program cache of ``cucore.utils``.
        """
        through = None if cache is None or isinstance(cache, _ProgramCache) else _way_of(cache)
        self._heed_changes()
        plain = isinstance(target_type, str) and self._fault is None and _is_empty(name_expressions)
        target = FORMATS.get(target_type) if plain else None
        if target is None:
            _, target, names = inputs_of_compile(self, target_type, name_expressions)
        else:
            names = []
        if self._code_type == "c++" and target != "ltoir" and self._options.link_time_optimization:
            warnings.warn(
                f"link_time_optimization is left out for target {target!r}: with it, NVRTC makes LTO-IR only",
                stacklevel=2,
            )
        if self._code_type == "ptx" and target != "ptx":
            _linker._backend()  # warns once where the driver has to link
        try:
            if through is None:
                code, report = self._program.compile(target, names, cache)
            else:
                code, report = through(cache, self, target, names)
        except CUDAError as error:
            self._report = {"log": error.log or "", "cache": "not used", "cache_why": "", "cache_key": ""}
            raise
        except ValueError as fault:
            if not isinstance(self._options.arch, (list, tuple)):
                raise
            raise option_error(self._code_type, fault) from None  # a list of architectures is none for cuda.core
        self._report = report
        if logs is not None and report["log"] and report["cache"] not in ("hit", "shared"):
            logs.write(report["log"])
        if target == "ptx" and self.backend == CompilerBackendType.NVRTC:
            _warn_of_new_ptx()
        if self._source_file is not None:
            from cucore._debug_source import named_after_it

            code = named_after_it(self, code)
        return code

    @property
    def last_report(self):
        """The report of the last compile, also if it failed, as a dict: log, cache, cache_why, cache_key; None
        before."""
        return None if self._report is None else dict(self._report)

    @property
    def diagnostics(self):
        """The messages of the last compile, also if it failed, as a list of named tuples: file, line, column, severity
        ("info", "remark", "warning", "error" or "fatal"), number, text, context."""
        return [] if self._report is None else _seam.parse_diagnostics(self._report["log"])

    @property
    def kernel_statistics(self):
        """What the log of the last compile says of each kernel, as a list of named tuples: kernel (its symbol), arch,
        registers, barriers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, constant_bytes,
        local_bytes. Empty without ``ptxas_options="-v"``."""
        return [] if self._report is None else _seam.parse_kernel_statistics(self._report["log"])

    def cancel(self):
        """Ends the compiles of C++ source that other threads have asked for and that have not returned: they raise
        NVRTCError with the name NVRTC_ERROR_CANCELLED. Later compiles are not affected. Does not wait: NVRTC checks
        while it generates code, not while it parses."""
        self._program.cancel()

    @property
    def handle(self):
        """The compiler's own object, as an int: an nvrtcProgram, an nvvmProgram, an nvJitLinkHandle or a CUlinkState.
        Valid until the next compile or close()."""
        value = 0 if self.is_closed else self._program.handle
        return nvrtcProgram(value) if self._code_type == "c++" else value

    @property
    def backend(self):
        """Which compiler does the work."""
        return CompilerBackendType(self._program.backend)

    @property
    def pch_status(self):
        """What became of the precompiled header in the last compile; None if none was asked for."""
        return self._program.pch_status

    @property
    def is_closed(self):
        """Whether it has been closed."""
        return self._program.is_closed

    def close(self):
        """Frees the source. Closing twice is allowed; a later compile raises RuntimeError."""
        self._program.close()
        if self._source_file is not None:
            self._source_file[1]()

    def __enter__(self):
        return self

    def __exit__(self, *exception_info):
        self.close()

    def __repr__(self):
        return f"<Program backend='{self.backend}'>"

    def __reduce__(self):
        raise TypeError("a Program cannot be pickled: pickle the ObjectCode that compile() returns")


_IGNORED_BY_NVVM = (
    "device_float128",
    "frandom_seed",
    "ofast_compile",
    "pch",
    "create_pch",
    "use_pch",
    "pch_dir",
    "pch_verbose",
    "pch_messages",
    "instantiate_templates_in_pch",
    "fdevice_time_trace",
)


def _warn_of_options(kind, options):
    """Warns of options with which the compiler does less than their names suggest."""
    if kind == "ptx":
        for name in ("numba_debug", "fdevice_syntax_only"):
            if getattr(options, name):
                warnings.warn(f"{name} is ignored for code_type 'ptx': the linker does not have it", stacklevel=3)
    elif kind == "nvvm":
        for name in _IGNORED_BY_NVVM:
            if getattr(options, name):
                warnings.warn(f"{name} is ignored for code_type 'nvvm': libNVVM does not have it", stacklevel=3)
    elif kind == "c++":
        if options.fdevice_syntax_only:
            warnings.warn(
                "fdevice_syntax_only: the compiler checks only, and the result has no code in it", stacklevel=3
            )
        if options.time is True:
            warnings.warn("time=True does nothing for code_type 'c++': NVRTC wants the path of a file", stacklevel=3)


def _warn_of_new_ptx():
    """PTX of a newer compiler may not load on an older driver. Asks only a driver that is open already."""
    driver = _seam.open_driver_version()
    if driver is None:
        return
    compiler = _seam.nvrtc_version()
    if (driver // 1000, driver % 1000 // 10) < compiler:
        warnings.warn(
            f"PTX made by NVRTC {compiler[0]}.{compiler[1]} may not load on this driver, which implements CUDA "
            f"{driver // 1000}.{driver % 1000 // 10}: compile to cubin, or use an older NVRTC",
            RuntimeWarning,
            stacklevel=3,
        )


def compile_ptx(code, options=None, name_expressions=()):
    """C++ source to PTX in one call."""
    with Program(code, "c++", options) as program:
        return program.compile("ptx", name_expressions)


def compile_cubin(code, options=None, name_expressions=()):
    """C++ source to a cubin in one call."""
    with Program(code, "c++", options) as program:
        return program.compile("cubin", name_expressions)


def compile_ltoir(code, options=None, name_expressions=()):
    """C++ source to LTO-IR in one call."""
    with Program(code, "c++", options) as program:
        return program.compile("ltoir", name_expressions)


class Module:
    """Explicit loading, for programs that want its cost and its errors at a place of their choice.

    ``kernel = Module().load(code).get_kernel("saxpy")``
    """

    __slots__ = ("__weakref__", "_code")

    def __init__(self):
        self._code = None

    def load(self, code):
        """Loads ``code`` (an ObjectCode) now and keeps it in place of what was loaded before. Returns self."""
        if not isinstance(code, _seam.ObjectCode):
            raise TypeError(f"load takes an ObjectCode, not {type(code).__name__}")
        code.load()
        self._code = code
        return self

    @property
    def object_code(self):
        """What is loaded."""
        if self._code is None:
            raise RuntimeError("nothing is loaded: call load() first")
        return self._code

    def get_kernel(self, name):
        """The kernel of that name."""
        return self.object_code.get_kernel(name)

    def __repr__(self):
        return f"<Module of {self._code!r}>" if self._code is not None else "<Module, nothing loaded>"


_seam.set_program_class(Program)
_seam.keep_property(Program, "backend", "_backend")

__all__ = ["Module", "Program", "compile_cubin", "compile_ltoir", "compile_ptx"]
for _class in (Program, Module, compile_cubin, compile_ltoir, compile_ptx):
    _class.__module__ = "cucore"
del _class
