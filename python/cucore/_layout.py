"""The layout class under cuda.core's name for it; cucore's own is ``cucore.StridedLayout``."""

from cucore._seam import StridedLayout as _StridedLayout

__all__ = ["_StridedLayout"]
