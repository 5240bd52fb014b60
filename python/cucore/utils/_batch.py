"""Batches of copies: the options, and copy_batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cucore import _seam
from cucore._device import Device
from cucore._host import Host
from cucore._options import member
from cucore.typing import MemcpyOverlapMode, MemcpySrcAccessOrder


@dataclass(frozen=True)
class CopyOptions:
    """How a batch copies.

    src_access_order: "stream": the source is read in the order of the stream; "during_api_call": before the call
        returns; "any": at any time until the copy is complete.
    src_location_hint, dst_location_hint: the Device or Host where managed or pageable memory is, and is to be.
    overlap_mode: "prefer_overlap_with_compute" leaves the SMs to kernels, even if the copy is slower for it.
    """

    src_access_order: MemcpySrcAccessOrder | str = MemcpySrcAccessOrder.STREAM
    src_location_hint: Device | Host | None = None
    dst_location_hint: Device | Host | None = None
    overlap_mode: MemcpyOverlapMode | str = MemcpyOverlapMode.DEFAULT

    def __post_init__(self):
        order = member(MemcpySrcAccessOrder, self.src_access_order, "src_access_order")
        object.__setattr__(self, "src_access_order", order)
        object.__setattr__(self, "overlap_mode", member(MemcpyOverlapMode, self.overlap_mode, "overlap_mode"))


def copy_batch(stream, srcs, dsts, *, options=None):
    """Copies each Buffer of ``srcs`` whole into the one of ``dsts`` with the same index, in one call of the driver.

    ``options``: CopyOptions for all, or a sequence with one for each pair. The items may run in any order: what they
    touch must not overlap.
    """
    if options is None:
        chosen = []
    elif isinstance(options, Sequence):
        if isinstance(srcs, Sequence) and len(options) != len(srcs):
            raise ValueError(f"options has {len(options)} entries for {len(srcs)} copies: give one, or one for each")
        chosen = [_copy_options(one) for one in options]
    else:
        chosen = [_copy_options(options)]
    _seam.copy_batch(stream, srcs, dsts, chosen)


def _copy_options(options):
    if options is None:
        return CopyOptions()
    if not isinstance(options, CopyOptions):
        raise TypeError(f"options must be CopyOptions or None, not {type(options).__name__}")
    return options
