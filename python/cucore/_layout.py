"""The layout class under the name that cuda.core has for it; its own is ``cucore.StridedLayout``."""

from cucore._seam import StridedLayout as _StridedLayout

__all__ = ["_StridedLayout"]
