"""Small results with named parts."""

from collections import namedtuple

ComputeCapability = namedtuple("ComputeCapability", "major minor")
MemoryInfo = namedtuple("MemoryInfo", "free total")
PriorityRange = namedtuple("PriorityRange", "lowest highest")
ParamInfo = namedtuple("ParamInfo", "offset size")
MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", "min_grid_size max_block_size"
)
AccessPolicyWindow = namedtuple(
    "AccessPolicyWindow", "base_ptr num_bytes hit_ratio hit_prop miss_prop", defaults=(1.0, "persisting", "normal")
)
DriverInfo = namedtuple("DriverInfo", "kind path version chosen_by")
ToolkitLibrary = namedtuple("ToolkitLibrary", "available path version build found_by why_not")
ToolkitInfo = namedtuple("ToolkitInfo", "nvrtc nvjitlink include_paths nvvm libdevice")
ProgramCacheStats = namedtuple(
    "ProgramCacheStats",
    "hits shared misses uncacheable bad_records stores store_failures evictions lock_timeouts store_hits",
)
ProgramCacheEntry = namedtuple("ProgramCacheEntry", "key bytes stored used")
ArchiveImport = namedtuple("ArchiveImport", "imported already_there rejected")
KernelStatistics = namedtuple(
    "KernelStatistics",
    "kernel arch registers barriers stack_bytes spill_store_bytes spill_load_bytes "
    "shared_bytes constant_bytes local_bytes",
)
Diagnostic = namedtuple("Diagnostic", "file line column severity number text context")


class KernelParameter(namedtuple("KernelParameter", "type kind offset size alignment name")):
    """One parameter of a kernel: its C++ (else PTX) type, what kind of value it takes, where it lies in the parameter
    block in bytes, and its name where hand-written PTX has one."""

    __slots__ = ()

    def __str__(self):
        text = self.type or f"{self.size} byte{'s' if self.size != 1 else ''}"
        return f"{text} {self.name}" if self.name else text


class KernelSignature(tuple):
    """A kernel's parameters, in order: a tuple of KernelParameter that prints as a C++ parameter list."""

    __slots__ = ()

    def __str__(self):
        return f"({', '.join(map(str, self))})"

    def __repr__(self):
        return f"<KernelSignature {self}>"

    def _repr_html_(self):
        from html import escape

        return f"<code>{escape(str(self))}</code>"
