"""NVML's numbers for the words of ``cucore.system.typing``, and the reverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from cucore._checked import amount
from cucore._options import member
from cucore.system import typing as names
from cucore.typing import StrEnum

Word = TypeVar("Word", bound=StrEnum)


def _in_order(enumeration: type[Word], numbers: Iterable[int]) -> dict[Word, int]:
    return dict(zip(enumeration, numbers))


AFFINITY_SCOPES = _in_order(names.AffinityScope, range(2))
CLOCK_IDS = _in_order(names.ClockId, (0, 3))
CLOCK_TYPES = _in_order(names.ClockType, range(4))
CLOCKS_EVENT_REASONS = _in_order(names.ClocksEventReasons, (0, *(1 << bit for bit in range(11))))
COOLER_TARGETS = _in_order(names.CoolerTarget, (1, 2, 4, 8))
EVENT_TYPES = _in_order(names.EventType, (0, 1, 2, 4, 8, 16, *(1 << bit for bit in range(7, 16))))
INFOROM_OBJECTS = _in_order(names.InforomObject, range(4))
P2P_CAPS = _in_order(names.GpuP2PCapsIndex, (0, 1, 2, 3, 4, 4, 5))
SYSTEM_EVENT_TYPES = _in_order(names.SystemEventType, (1, 2))
TEMPERATURE_THRESHOLDS = _in_order(names.TemperatureThresholds, range(8))
THERMAL_TARGETS = _in_order(names.ThermalTarget, (0, 1, 2, 4, 8, 9, 10, 11, 15))
TOPOLOGY_LEVELS = _in_order(names.GpuTopologyLevel, range(0, 60, 10))

ADDRESSING_MODES_BY_NUMBER = dict(enumerate(names.AddressingMode, 1))
COOLER_CONTROLS_BY_NUMBER = dict(enumerate(names.CoolerControl, 1))
FAN_POLICIES_BY_NUMBER = dict(enumerate(names.FanControlPolicy))
P2P_STATUS_BY_NUMBER = dict(enumerate(names.GpuP2PStatus))
THERMAL_CONTROLLERS_BY_NUMBER = dict(enumerate(list(names.ThermalController)[:-1], 1))
EVENT_TYPES_BY_NUMBER = {number: word for word, number in EVENT_TYPES.items()}
SYSTEM_EVENT_TYPES_BY_NUMBER = {number: word for word, number in SYSTEM_EVENT_TYPES.items()}
THERMAL_TARGETS_BY_NUMBER = {number: word for word, number in THERMAL_TARGETS.items()}
TOPOLOGY_LEVELS_BY_NUMBER = {number: word for word, number in TOPOLOGY_LEVELS.items()}

BRANDS = (
    "Unknown",
    "Quadro",
    "Tesla",
    "NVS",
    "GRID",
    "GeForce",
    "Titan",
    "NVIDIA vApps",
    "NVIDIA VPC",
    "NVIDIA VCS",
    "NVIDIA VWS",
    "NVIDIA vGaming",
    "Quadro RTX",
    "NVIDIA RTX",
    "NVIDIA",
    "GeForce RTX",
    "Titan RTX",
    "NVIDIA DLA",
    "NVIDIA vGameDev",
    "NVIDIA NPU",
)
NVLINK_COUNT = names.FieldId.DEV_NVLINK_LINK_COUNT
NVLINK_VERSIONS = {1: (1, 0), 2: (2, 0), 3: (2, 2), 4: (3, 0), 5: (3, 1), 6: (4, 0), 7: (5, 0), 8: (6, 0)}


def words_of_bits(words: dict[Word, int], bits: int) -> list[Word]:
    """The words whose bits are set. Bits without a word, of a newer driver, are left out."""
    return [word for word, bit in words.items() if bit & bits]


def number_of(words: Mapping[Word, int], word: str, what: str) -> int:
    """The number of a word, a member or its value. Raises ValueError."""
    return words[member(type(next(iter(words))), word, what)]


def word_of(words: Mapping[int, Word], number: int, what: str) -> Word:
    """The word of a number. Raises RuntimeError for one of a newer driver."""
    try:
        return words[number]
    except KeyError:
        raise RuntimeError(
            f"NVML answers {number} for {what}, a number that this version of cucore has no word for"
        ) from None


def unsigned(value: Any, what: str) -> int:
    """``value`` as an int that fits into NVML's unsigned int. Raises TypeError, or OverflowError."""
    try:
        number = amount(what, value)
    except TypeError:
        raise TypeError(f"{what} must be an int, not {type(value).__name__}") from None
    if not 0 <= number < 2**32:
        raise OverflowError(f"{what} must be 0 to {2**32 - 1}, not {number}")
    return number
