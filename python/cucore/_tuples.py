"""Small results with named parts."""

from collections import namedtuple

ComputeCapability = namedtuple("ComputeCapability", "major minor")
ParamInfo = namedtuple("ParamInfo", "offset size")
MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", "min_grid_size max_block_size"
)
DriverInfo = namedtuple("DriverInfo", "kind path version chosen_by")
ToolkitLibrary = namedtuple("ToolkitLibrary", "available path version build found_by why_not")
ToolkitInfo = namedtuple("ToolkitInfo", "nvrtc nvjitlink include_paths nvvm libdevice")
ProgramCacheStats = namedtuple(
    "ProgramCacheStats",
    "hits shared misses uncacheable bad_records stores store_failures evictions lock_timeouts",
)
Diagnostic = namedtuple("Diagnostic", "file line column severity number text context")
