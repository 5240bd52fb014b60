"""``CUDAError`` and ``NVRTCError`` under the path that code written for cuda.core imports them from."""

from cucore._errors import CUDAError, NVRTCError

__all__ = ["CUDAError", "NVRTCError"]
