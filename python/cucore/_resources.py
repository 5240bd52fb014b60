"""Dividing a device: the options of splits, work queues and green contexts, checked for the core."""

from collections.abc import Sequence
from operator import index

from cucore import _seam
from cucore._options import ContextOptions, SMResourceOptions, WorkqueueResourceOptions, accept
from cucore.typing import WorkqueueSharingScopeType

_MOST = 2**31 - 1  # no device has more SMs than that; the driver will say so


def split(resource, options, dry_run):
    """``SMResource.split``."""
    if options is None:
        raise TypeError("options must be SMResourceOptions or a dict of its fields, not None")
    return resource._split(_groups(accept(SMResourceOptions, options)), bool(dry_run))


def split_fractions(resource, fractions, dry_run):
    """``SMResource.split_fractions``."""
    if not fractions:
        raise ValueError("split_fractions needs at least one fraction")
    counts = resource._fractions([float(fraction) for fraction in fractions])
    return resource._split([(count, None, None, False) for count in counts], bool(dry_run))


def split_evenly(resource, groups, dry_run):
    """``SMResource.split_evenly``."""
    if groups < 1:
        raise ValueError(f"groups must be at least 1, not {groups}")
    counts = resource._fractions([1 / groups])
    return resource._split([(counts[0], None, None, False)] * groups, bool(dry_run))


def _groups(options):
    """(count, coscheduled, preferred, backfill) of each group."""
    count = options.count
    if count is None or _is_number(count):
        counts = None
        number = 1
    elif _is_sequence(count):
        counts = list(count)
        number = len(counts)
        if number == 0:
            raise ValueError("count must name at least one group: it is an empty sequence")
    else:
        raise TypeError(f"count must be an int, a sequence of ints or None, not {type(count).__name__}")

    def field(name, value):
        if not _is_sequence(value):
            return [value] * number
        if counts is None:
            raise ValueError(f"{name} is a sequence, but count is scalar: give {name} as one value")
        if len(value) != number:
            raise ValueError(f"{name} has {len(value)} entries; expected {number}, one for each group of count")
        return list(value)

    together = field("coscheduled_sm_count", options.coscheduled_sm_count)
    preferred = field("preferred_coscheduled_sm_count", options.preferred_coscheduled_sm_count)
    backfill = field("backfill", options.backfill)
    return [
        (
            _number("count", counts[i] if counts is not None else count) or 0,
            _number("coscheduled_sm_count", together[i]),
            _number("preferred_coscheduled_sm_count", preferred[i]),
            bool(backfill[i]),
        )
        for i in range(number)
    ]


def _is_sequence(value):
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def _is_number(value):
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _number(name, value):
    if value is None:
        return None
    if not _is_number(value):
        raise TypeError(f"{name} must be an int or None, not {type(value).__name__}")
    number = index(value)
    if number < 0:
        raise ValueError(f"{name} must not be negative: {number}")
    return min(number, _MOST)


def configure(resource, options):
    """``WorkqueueResource.configure``."""
    if options is None:
        raise TypeError("options must be WorkqueueResourceOptions or a dict of its fields, not None")
    options = accept(WorkqueueResourceOptions, options)
    scope, limit = options.sharing_scope, options.concurrency_limit
    balanced = None if scope is None else scope == WorkqueueSharingScopeType.GREEN_CTX_BALANCED
    resource._configure(balanced, None if limit is None else min(index(limit), _MOST))


def create_context(ordinal, options):
    """``Device.create_context``."""
    if options is None:
        raise ValueError(
            "a context is made of resources: pass ContextOptions(resources=[...]), for example a group of "
            "device.resources.sm.split(...)"
        )
    resources = accept(ContextOptions, options).resources
    if resources is None:
        raise ValueError("ContextOptions.resources is None: a context is made of at least one resource")
    if not isinstance(resources, Sequence) or isinstance(resources, (str, bytes)):
        raise TypeError(
            f"resources must be a sequence of SMResource and WorkqueueResource, not {type(resources).__name__}"
        )
    if not resources:
        raise ValueError("ContextOptions.resources is empty: a context is made of at least one resource")
    for resource in resources:
        if not isinstance(resource, (_seam.SMResource, _seam.WorkqueueResource)):
            raise TypeError(
                f"resources must hold SMResource and WorkqueueResource objects, not {type(resource).__name__}"
            )
    return _seam.create_green_context(ordinal, list(resources))


def partition(device, shares):
    """``Device.partition``."""
    shares = list(shares)
    if not shares:
        raise ValueError("partition needs at least one share")
    whole = device.resources.sm
    if all(isinstance(share, float) for share in shares):
        groups, _ = split_fractions(whole, shares, False)
    else:
        groups, _ = split(whole, SMResourceOptions(count=shares), False)
    if len(groups) < len(shares):
        raise ValueError(f"the driver made {len(groups)} of the {len(shares)} groups asked for: ask for smaller ones")
    return [create_context(device.device_id, ContextOptions(resources=[group])) for group in groups]
