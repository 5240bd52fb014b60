"""The exceptions and the warning category of cucore.

A failed CUDA call raises CUDAError or one of its subclasses; its parts are attributes. Misuse raises the builtin
ValueError, TypeError or RuntimeError with the same attributes where they apply.
"""

from cucore._seam import parse_diagnostics

# After these the driver answers every later call in the context with the same error, until the process ends: what a
# kernel did wrong (addresses, instructions, the stack, an assertion, a trap), and a launch that ran too long.
_STICKY = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719, 721})


class CUDAError(Exception):
    """A CUDA driver call failed.

    Attributes:
        code: the driver's number for the error, 0 when cucore itself refused.
        name: its symbolic name, for example "CUDA_ERROR_OUT_OF_MEMORY", or "".
        call: the function that failed, for example "cuMemAllocFromPoolAsync", or "".
        log: the compiler's, linker's or JIT compiler's log, or None.
        hint: what to do about it, or "".
    """

    code = 0
    name = ""
    call = ""
    log = None
    hint = ""

    @property
    def api(self):
        """The same as ``call``."""
        return self.call

    @property
    def is_sticky(self):
        """Whether the context is unusable now: every later call in it fails with this error until the process ends."""
        return self.code in _STICKY

    @property
    def diagnostics(self):
        """The messages in ``log`` as a list of Diagnostic: file, line, column, severity, number, text, context."""
        return parse_diagnostics(self.log or "")


class CUDAOutOfMemoryError(CUDAError, MemoryError):
    """CUDA_ERROR_OUT_OF_MEMORY: there is not enough memory on the device, or on the host, for what was asked."""


class CUDAInvalidValueError(CUDAError, ValueError):
    """A value that the driver would refuse with ``code``, said in words before it is asked."""


class CUDAInvalidArgumentError(CUDAError, TypeError):
    """Arguments of a kernel that are missing, for which the driver would refuse the launch with ``code``."""


class CUDANotReadyError(CUDAError):
    """CUDA_ERROR_NOT_READY: what was asked about has not completed."""


class CUDAInvalidContextError(CUDAError):
    """No context is current where one is needed, or it has been destroyed."""


class CUDAStickyError(CUDAError):
    """The context is unusable now (``is_sticky``): every later call in it fails with this error."""


class NVRTCError(CUDAError):
    """An NVRTC call failed; ``log`` is the compilation log."""


class NVVMError(CUDAError):
    """A libNVVM call failed; ``log`` is its program log."""


class NvJitLinkError(CUDAError):
    """An nvJitLink call failed; ``log`` is its error log."""


class UnsupportedOptionError(CUDAError, ValueError):
    """Options are set that the compiler, or its version, does not have; the message names all of them."""


# Errors of two types: the one that says what is wrong, and the one that programs written for cuda.core catch there.
class AttributeTypeError(AttributeError, TypeError):
    """An object of a wrong type, which cuda.core finds out by an attribute that it lacks."""


class AttributeRuntimeError(AttributeError, RuntimeError):
    """What the object cannot do, and in cuda.core has no attribute for."""


class AttributeValueError(AttributeError, ValueError):
    """A value of a wrong type, which cuda.core finds out by an attribute that it lacks."""


class AssertionTypeError(AssertionError, TypeError):
    """An object of a wrong type, of which cuda.core asserts that it is none."""


class AssertionValueError(AssertionError, ValueError):
    """A value of which cuda.core asserts that it is another."""


class NVRTCOptionError(NVRTCError, ValueError, TypeError):
    """Options, or name expressions, that NVRTC would refuse, in words."""

    code = 5
    name = "NVRTC_ERROR_INVALID_OPTION"


class NVRTCUnsupportedOptionError(NVRTCOptionError, UnsupportedOptionError):
    """Options that this NVRTC, or its version, does not have."""


class CUDAInvalidImageError(CUDAError, RuntimeError):
    """Code of a type that the driver does not load."""

    code = 200
    name = "CUDA_ERROR_INVALID_IMAGE"


class CUDAUnknownParametersError(CUDAError, NotImplementedError):
    """Parameters of a kernel that neither its code nor the driver tells, for which cuda.core has the driver's error."""

    code = 400
    name = "CUDA_ERROR_INVALID_HANDLE"


class NVVMOptionError(NVVMError, ValueError, TypeError):
    """Options that libNVVM would refuse, in words."""


class NVVMUnsupportedOptionError(NVVMOptionError, UnsupportedOptionError):
    """Options that libNVVM does not have."""


class NvJitLinkInputError(NvJitLinkError, ValueError, TypeError):
    """Options and inputs that nvJitLink would refuse, in words."""


class NvJitLinkUnsupportedOptionError(NvJitLinkInputError, UnsupportedOptionError):
    """Options that no linker has."""


_OPTION_ERRORS = {
    "c++": (NVRTCOptionError, NVRTCUnsupportedOptionError),
    "ptx": (NvJitLinkInputError, NvJitLinkUnsupportedOptionError),
    "nvvm": (NVVMOptionError, NVVMUnsupportedOptionError),
}


def option_error(code_type, refusal, is_unsupported=False):
    """The core's refusal of options as an error of the compiler of such source: also a ValueError and a TypeError, of
    which the core raised one."""
    error = _OPTION_ERRORS[code_type][is_unsupported](str(refusal))
    error.call, error.hint = getattr(refusal, "call", "ProgramOptions"), getattr(refusal, "hint", "")
    return error


class RuntimeTypeError(RuntimeError, TypeError):
    """An object of a wrong type that cuda.core calls one in a wrong state."""


class RuntimeValueError(RuntimeError, ValueError):
    """A value that cuda.core calls an object in a wrong state."""


class RuntimeInvalidatedError(RuntimeError, CUDAError):
    """A capture that an earlier error has made invalid, which cuda.core calls a builder in a wrong state."""

    code = 901
    name = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"


class RuntimeForkedError(RuntimeError, CUDAError):
    """An event that a child of fork() cannot make, which cuda.core reports without the driver's error."""

    code = 3
    name = "CUDA_ERROR_NOT_INITIALIZED"


class TypeValueError(TypeError, ValueError):
    """A value that cuda.core calls one of a wrong type."""


class ValueTypeError(ValueError, TypeError):
    """What is no number, which cuda.core tries to read as one."""


class CUDAWarning(RuntimeWarning):
    """A failure that cannot be raised: a driver object could not be released in a destructor."""


nvvmError = NVVMError
nvJitLinkError = NvJitLinkError

for _class in (
    CUDAError,
    CUDAOutOfMemoryError,
    CUDAInvalidValueError,
    CUDAInvalidArgumentError,
    CUDANotReadyError,
    CUDAInvalidContextError,
    CUDAStickyError,
    NVRTCError,
    NVVMError,
    NvJitLinkError,
    UnsupportedOptionError,
    CUDAWarning,
):
    _class.__module__ = "cucore"
del _class
