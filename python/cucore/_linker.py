"""Linker: several pieces of compiled code made one."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cucore import _seam
from cucore._architecture import current_arch
from cucore._checked import shown
from cucore._errors import AttributeTypeError, CUDAError, NvJitLinkInputError
from cucore._options import accept
from cucore.typing import CompilerBackendType

_SEQUENCES = ("kernels_used", "variables_used", "ptxas_options")  # the options that may be any


@dataclass
class LinkerOptions:
    """How ``Linker`` links. None always means: say nothing to the linker, so that its own default holds.

    A DeprecationWarning names what the driver's linker ignores; options that only nvJitLink has, it refuses. The last
    two are cucore's own.

    The fields of LinkerOptions:

    name: name of the result
    arch: "sm_90", "sm_90a"; "compute_90" for target ptx. Not set: the current device's, found when linking.
    max_register_count: registers of a thread, at most
    time: times into the info log (nvJitLink only)
    verbose: registers and sizes into the info log
    link_time_optimization: not set: on if an input is LTO-IR (the driver's linker ignores it)
    ptx: make PTX; link("ptx") needs no option (nvJitLink only)
    optimization_level: nvJitLink 0 or 3, the driver 0 to 4
    debug: debug information
    lineinfo: line numbers
    ftz: flush denormals; LTO-IR inputs only, as the next three (the driver's linker ignores it)
    prec_div: IEEE division (the driver's linker ignores it)
    prec_sqrt: IEEE square root (the driver's linker ignores it)
    fma: contract a*b+c (the driver's linker ignores it)
    kernels_used: keep only these kernels, with LTO (the driver's linker ignores it)
    variables_used: keep only these variables, with LTO (the driver's linker ignores it)
    optimize_unused_variables: drop variables that nothing uses, with LTO (the driver's linker ignores it)
    ptxas_options: for ptxas, one each (nvJitLink only)
    split_compile: threads, 0 = one per CPU (nvJitLink only)
    split_compile_extended: as above, with LTO (nvJitLink only)
    no_cache: nvJitLink's and the driver's own caches (nvJitLink 12.5 or newer)
    numba_debug: no linker has it
    incremental: Make a relocatable cubin, in which symbols may stay undefined, as an input for further links (nvJitLink
        only).
    embed_ptx: False: leave the PTX out of a cubin
    """

    name: str | None = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = None
    time: bool | None = None
    verbose: bool | None = None
    link_time_optimization: bool | None = None
    ptx: bool | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    ftz: bool | None = None
    prec_div: bool | None = None
    prec_sqrt: bool | None = None
    fma: bool | None = None
    kernels_used: str | Sequence[str] | None = None
    variables_used: str | Sequence[str] | None = None
    optimize_unused_variables: bool | None = None
    ptxas_options: str | Sequence[str] | None = None
    split_compile: int | None = None
    split_compile_extended: int | None = None
    no_cache: bool | None = None
    numba_debug: bool | None = None
    incremental: bool | None = None
    embed_ptx: bool | None = None

    def __post_init__(self):
        if not isinstance(self.name, str):
            raise AttributeTypeError(f"name must be a str, not {type(self.name).__name__}")
        if self.numba_debug is not None:
            warnings.warn("numba_debug: no linker supports it, so it has no effect", DeprecationWarning, stacklevel=3)
        if self.kernels_used is not None or self.variables_used is not None or self.ptxas_options is not None:
            for name in _SEQUENCES:  # what can be walked once only is kept as a list
                value = getattr(self, name)
                if hasattr(value, "__next__"):
                    setattr(self, name, list(value))

    def as_bytes(self, backend="nvjitlink") -> list:
        """The flags that nvJitLink is given for these options."""
        if not isinstance(backend, str) or backend != "nvjitlink":
            if not isinstance(backend, str):
                raise TypeError(f"backend must be a str, not {type(backend).__name__}")
            if str(backend).lower() != "nvjitlink":
                raise ValueError(f"as_bytes only supports 'nvjitlink', not {backend!r}")
        if not _has_nvjitlink:
            _require_nvjitlink()
        return _seam.linker_flags(self)

    _own = ("incremental", "embed_ptx")
    __repr__ = shown


_has_nvjitlink = False


def _require_nvjitlink():
    global _has_nvjitlink
    used, why_not = _seam.linker_backend()
    if used != CompilerBackendType.NVJITLINK:
        raise RuntimeError(f"nvJitLink is not available: {why_not}")
    _has_nvjitlink = True  # it stays


class Linker:
    """Links ObjectCodes: PTX, LTO-IR, cubins, fat binaries, objects and libraries, also mixed, in bytes or files.

    nvJitLink does the work and needs neither a driver nor a GPU when ``options.arch`` is given; where it is missing or
    older than 12.3, the driver's own linker (with one RuntimeWarning). No input is loaded. A linked cubin carries the
    PTX it was made from where all inputs have it, host objects and libraries too; get_info_log() says why not where it
    does not. A symbol that two inputs define, and that is not weak, is a ValueError naming both. The options are
    copied, but for the name, which may change until a link.
    """

    __slots__ = ("__weakref__", "_given", "_has_linked", "_linker", "_logs", "_options")

    def __init__(self, *object_codes, options=None):
        if not object_codes:
            raise ValueError("At least one ObjectCode must be given to a Linker")
        for code in object_codes:
            if not isinstance(code, _seam.ObjectCode):
                raise TypeError(f"a Linker takes ObjectCodes, not {type(code).__name__}")
        self._given = accept(LinkerOptions, options)
        self._options = replace(self._given)
        self._has_linked, self._logs = False, None
        if self._given.arch is None:
            current_arch()  # asked again when linking; a child of fork() is told here that it cannot
        used = self.which_backend()
        try:
            for name in _seam.ignored_linker_options(self._options):
                warnings.warn(
                    f"the option {name} is deprecated: {used} does not have it, and links without it",
                    DeprecationWarning,
                    stacklevel=2,
                )
            self._linker = _seam.CoreLinker(list(object_codes), self._options)
        except (TypeError, ValueError, CUDAError) as fault:
            if isinstance(fault, CUDAError) and fault.name != "CUDA_ERROR_FILE_NOT_FOUND":
                raise
            raise NvJitLinkInputError(str(fault)) from None

    def link(self, target_type, *, cache=None):
        """Links to "cubin", "ptx" (of LTO-IR, or one PTX input as it is) or "ltoir" (nvJitLink 13.4), and returns an
        ObjectCode named ``options.name``. A second link to the same target gives the same code again.

        Args:
            target_type: what to make.
            cache: a ProgramCache.
        """
        target = str(target_type)
        if target not in ("cubin", "ptx", "ltoir"):
            raise ValueError(f"Unsupported target type {target_type!r}: a Linker makes 'cubin', 'ptx' and 'ltoir'")
        if cache is not None and not isinstance(cache, _seam.ProgramCache):
            raise TypeError(f"cache must be a ProgramCache, not {type(cache).__name__}")
        try:
            linked = self._linker.link(target, cache)
        except ValueError as fault:
            if isinstance(fault, CUDAError) or target == "ltoir":
                raise
            raise NvJitLinkInputError(str(fault)) from None
        self._has_linked = True
        return linked if self._given.name == self._options.name else _renamed(linked, self._given.name)

    def get_error_log(self):
        """The linker's error log of the last link. RuntimeError after ``close``, unless it has linked."""
        return self._logs_now()[0]

    def get_info_log(self):
        """The linker's info log of the last link. RuntimeError after ``close``, unless it has linked."""
        return self._logs_now()[1]

    def _logs_now(self):
        if self._logs is not None:
            return self._logs
        if self.is_closed:
            raise RuntimeError("the Linker has been closed without a link: there are no logs")
        return self._linker.error_log(), self._linker.info_log()

    @property
    def kernel_statistics(self):
        """What the info log says of each kernel, as a list of named tuples: kernel, arch, registers, barriers,
        stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, constant_bytes, local_bytes. Empty without
        ``verbose`` or ``ptxas_options="-v"``."""
        return self._linker.kernel_statistics()

    @classmethod
    def which_backend(cls):
        """Who links: nvJitLink or the driver. Looks for nvJitLink at the first call and warns if there is none."""
        return _backend()

    @property
    def handle(self):
        """The linker's own object (nvJitLinkHandle or CUlinkState) as an int, with the inputs added; 0 when closed."""
        return self._linker.handle()

    @property
    def is_closed(self):
        """Whether it has been closed."""
        return self._linker.is_closed

    def close(self):
        """Frees the inputs and the linker's object. Closing twice is allowed; a later link raises RuntimeError."""
        if self._has_linked and self._logs is None:
            self._logs = self._logs_now()
        self._linker.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception_info):
        self.close()

    def __repr__(self):
        return f"<Linker backend='{self.which_backend()}' name={self._options.name!r}>"

    def __reduce__(self):
        raise TypeError("a Linker cannot be pickled: pickle the ObjectCode that link() returns")


def _renamed(code, name):
    make = getattr(_seam.ObjectCode, f"from_{code.code_type}")
    return make(code.code, name=name, symbol_mapping=code.symbol_mapping)


_warned = False


def _backend():
    global _warned
    used, why_not = _seam.linker_backend()
    if used == CompilerBackendType.DRIVER and not _warned:
        _warned = True
        warnings.warn(
            f"linking with the driver, since nvJitLink 12.3 or newer is not available ({why_not}): LTO-IR cannot be "
            "linked, and code of a newer minor version than the driver's may be refused",
            RuntimeWarning,
            stacklevel=3,
        )
    return CompilerBackendType(used)


__all__ = ["Linker", "LinkerOptions"]
for _class in (Linker, LinkerOptions):
    _class.__module__ = "cucore"
del _class
