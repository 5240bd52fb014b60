"""Operands to test with: the edges of every type, and seeded random ones. Everything is a bit pattern (an int)."""

import random

from reference.ieee import BF16, F16, F32, F64, FORMATS

WIDTH = {
    "pred": 32,
    "b8": 8,
    "u8": 8,
    "s8": 8,
    "b16": 16,
    "u16": 16,
    "s16": 16,
    "b32": 32,
    "u32": 32,
    "s32": 32,
    "b64": 64,
    "u64": 64,
    "s64": 64,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "f16x2": 32,
    "bf16x2": 32,
    "s16x2": 32,
    "u16x2": 32,
}


def mask(width):
    return (1 << width) - 1


def to_signed(bits, width):
    bits &= mask(width)
    return bits - (1 << width) if bits >> (width - 1) else bits


def is_float(type_name):
    return type_name in FORMATS


def lane_type(type_name):
    """f16 for f16x2 and so on; None when the type is not packed."""
    return type_name[:-2] if type_name.endswith("x2") else None


def number(fmt, value):
    """The bits of a Python int, float or Fraction in a format."""
    from fractions import Fraction

    return fmt.encode(value < 0, abs(Fraction(value)))


def float_edges(fmt):
    """The values at which floating-point code goes wrong, most telling first."""
    positive = [
        0,
        fmt.one,
        fmt.infinity,
        fmt.nan,
        1,
        fmt.largest,
        fmt.smallest_normal,
        number(fmt, 1.5),
        number(fmt, 0.5),
        number(fmt, 2.5),
        fmt.smallest_normal - 1,
        fmt.one + 1,
        fmt.one - 1,
        number(fmt, 3),
        number(fmt, 1 / 3),
    ]
    out = []
    for bits in positive:
        out += [bits] if bits == fmt.nan else [bits, bits | fmt.sign]
    return out + [fmt.infinity | (1 << (fmt.mantissa - 1)) | 0x15]


def integer_edges(width):
    top = 1 << (width - 1)
    out = [0, 1, mask(width), top, top - 1, 2, top + 1, mask(width) - 1, 7, 0x55, 0xAA, width - 1, width, width + 1]
    out += [mask(width // 2), 1 << (width // 2), mask(width) // 3]
    return list(dict.fromkeys(v & mask(width) for v in out))


def edges(type_name):
    if type_name == "pred":
        return [0, 1]
    if is_float(type_name):
        return float_edges(FORMATS[type_name])
    if lane_type(type_name):
        lanes = edges(lane_type(type_name))
        return [a | (lanes[(3 * i + 1) % len(lanes)] << 16) for i, a in enumerate(lanes)]
    return integer_edges(WIDTH[type_name])


def random_bits(rng, type_name):
    """A random operand: floats cluster around one so that sums and products exercise rounding, not only overflow."""
    if type_name == "pred":
        return rng.getrandbits(1)
    if lane_type(type_name):
        return random_bits(rng, lane_type(type_name)) | (random_bits(rng, lane_type(type_name)) << 16)
    width = WIDTH[type_name]
    if is_float(type_name):
        fmt = FORMATS[type_name]
        if rng.getrandbits(2) == 0:
            return rng.getrandbits(width)
        exponent = fmt.bias + rng.randint(-6, 6)
        return (rng.getrandbits(1) << (width - 1)) | (exponent << fmt.mantissa) | rng.getrandbits(fmt.mantissa)
    return rng.getrandbits(width) >> rng.choice([0, 0, 0, width // 2, width - 4])


def operand_rows(seed, types, count=64, special=()):
    """`special` rows first, then combinations of edges, then random rows. The seed is the spelling, so files never change."""
    rng = random.Random("cucore " + seed)
    rows = [tuple(row) for row in special]
    lists = [edges(t) for t in types]
    if len(types) == 1:
        rows += [(v,) for v in lists[0]]
    elif len(types) == 2:
        few = 7
        rows += [(a, b) for a in lists[0][:few] for b in lists[1][:few]]
        rows += [(rng.choice(lists[0]), rng.choice(lists[1])) for _ in range(12)]
    elif types:
        rows += [tuple(rng.choice(values[:8]) for values in lists) for _ in range(count // 2)]
        rows += [tuple(rng.choice(values) for values in lists) for _ in range(count // 4)]
    while len(rows) < count or len(rows) < 24:
        rows.append(tuple(random_bits(rng, t) for t in types))
        if not types:
            break
    rows += [tuple(random_bits(rng, t) for t in types) for _ in range(12)]
    return list(dict.fromkeys(rows))


__all__ = [
    "BF16",
    "F16",
    "F32",
    "F64",
    "WIDTH",
    "edges",
    "is_float",
    "lane_type",
    "mask",
    "number",
    "operand_rows",
    "random_bits",
    "to_signed",
]
