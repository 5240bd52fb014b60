"""The architecture that options without one compile for."""

from cucore import _seam
from cucore._errors import CUDAError


def current_arch():
    """The current device's; None with no device, which the compile then reports as an error. A child of fork() cannot
    ask, and is told so at once."""
    try:
        major, minor = _seam.device_compute_capability(_seam.current_device())
    except (CUDAError, RuntimeError) as error:
        if getattr(error, "name", "") == "CUDA_ERROR_NOT_INITIALIZED":
            raise
        return None
    return f"sm_{major}{minor}"
