"""cvt between every pair of types that the spelling list names, with its roundings and saturation."""

from reference import ieee
from reference.ieee import FORMATS
from reference.kernel import Case
from reference.values import WIDTH, is_float, mask, number, operand_rows, to_signed

SPELLINGS = """
s64.s32 u64.u32 u32.u64 rn.f32.s32 u32.u16 f32.bf16 f32.f16 u16.u32 rn.f32.u32 sat.f32.f32 rzi.s32.f32 rn.bf16.f32 rn.f32.f64
rn.f16.f32 rn.f64.s32 rzi.u32.f32 f64.f32 rn.f16.s32 rni.f32.f32 rni.s32.f32 u64.u16 rn.f64.s64 rzi.f32.f32 rmi.f32.f32 s32.s8
rn.bf16.s32 u16.u64 rzi.s32.f64 rn.f32.u16 s32.s16 s16.s8 rni.s32.f64 rzi.f64.f64 rn.f64.u64 rn.f32.s16 rn.f64.u32 rpi.f32.f32
rzi.u32.f64 s64.s8 rn.f64.u16 rni.f64.f64 rzi.s64.f64 rn.f32.s64 rn.f32.u64 rmi.f64.f64 rzi.u64.f32 rzi.s64.f32 s64.s16
rn.f16.s16 rmi.bf16.bf16 rmi.f16.f16 rmi.s32.f32 rzi.s16.f16 rn.f64.s16 rni.s64.f32 rzi.u64.f64 u32.u8 rpi.f64.f64 rm.f32.s32
rm.f32.s64 rm.f32.u32 rm.f32.u64 rm.f64.s64 rm.f64.u64 rmi.s32.f64 rmi.s64.f32 rmi.s64.f64 rmi.u32.f32 rmi.u32.f64 rmi.u64.f32
rmi.u64.f64 rn.bf16.f64 rn.bf16.s16 rn.bf16.s64 rn.bf16.u64 rn.f16.bf16 rn.f16.f64 rn.f16.s64 rn.f16.u64 rni.s32.bf16
rni.s32.f16 rni.s64.f64 rni.u32.f32 rni.u32.f64 rni.u64.f32 rni.u64.f64 rp.f32.s32 rp.f32.s64 rp.f32.u32 rp.f32.u64 rp.f64.s64
rp.f64.u64 rpi.s32.f32 rpi.s32.f64 rpi.s64.f32 rpi.s64.f64 rpi.u32.f32 rpi.u32.f64 rpi.u64.f32 rpi.u64.f64 rz.f32.s32 rz.f32.s64
rz.f32.u32 rz.f32.u64 rz.f64.s64 rz.f64.u64 rzi.s32.bf16 rzi.s32.f16 rzi.s8.f16 rzi.u8.f16 rz.bf16.f32
"""

# Not in the census list, but one step away from it: narrowing, saturation between integers, flushing, directed narrowing.
FURTHER = """
u8.u32 s8.s32 s8.s64 u8.u64 s16.s32 s16.s64 s32.s64 u32.s32 s32.u32 u64.s32 s64.u32 u64.s64 s64.u64 u16.u8 u64.u8 s64.u16
sat.s8.s32 sat.u8.s32 sat.s16.s32 sat.u16.s32 sat.s32.s64 sat.u32.s64 sat.u32.s32 sat.s32.u32 sat.s64.u64 sat.u64.s64 sat.u8.u32
rz.f32.f64 rm.f32.f64 rp.f32.f64 rz.f16.f32 rn.ftz.f32.f64 ftz.f64.f32 rzi.ftz.s32.f32 rni.ftz.f32.f32 sat.ftz.f32.f32
rn.f32.s8 rn.f32.u8 rn.f64.s8 rn.f64.u8 rn.f16.u32 rn.f16.u16 rn.f16.s8 rn.f16.u8 rzi.u16.f16 rzi.u32.f16 rzi.s64.f16
rzi.u64.f16 rzi.s16.f32 rzi.u16.f32 rzi.s8.f32 rzi.u8.f32 rzi.s16.f64 rzi.u8.f64 rzi.sat.u8.f32 f64.f16 sat.f64.f64
rn.relu.f16.f32 rn.relu.bf16.f32 rni.f16.f16 rpi.f16.f16 rzi.f16.f16 sat.f16.f16 rn.sat.f16.f32 rn.sat.f32.f64 rn.sat.f32.s32
rn.satfinite.f16.f32 rn.satfinite.bf16.f32 rz.satfinite.f16.f32 rz.satfinite.bf16.f32 rn.satfinite.relu.f16.f32
rn.satfinite.relu.bf16.f32
"""

INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def nan_to_integer(to_type, from_type):
    """0 between types of at most 32 bits, else the top bit alone."""
    return 1 << (WIDTH[to_type] - 1) if 64 in (WIDTH[to_type], WIDTH[from_type]) else 0


def limits(type_name):
    width = WIDTH[type_name]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if type_name[0] == "s" else (0, mask(width))


def converter(mods):
    to_type, from_type = mods[-2:]
    rounding = next((INTEGRAL.get(m, m) for m in mods if m in INTEGRAL or m in ("rn", "rz", "rm", "rp", "rna")), "rn")
    integral = any(m in INTEGRAL for m in mods)
    ftz, sat, relu = "ftz" in mods, "sat" in mods, "relu" in mods

    def from_integer(bits):
        value = to_signed(bits, WIDTH[from_type]) if from_type[0] == "s" else bits
        if is_float(to_type):
            return FORMATS[to_type].encode(value < 0, abs(ieee.Fraction(value)), rounding, False, sat)
        if sat:
            value = max(limits(to_type)[0], min(limits(to_type)[1], value))
        return value & mask(WIDTH[to_type])

    def from_float(bits):
        real = FORMATS[from_type].decode(bits, ftz and from_type == "f32")
        if is_float(to_type):
            if integral:
                real = ieee.to_integral(real, rounding)
            if relu and real is not None and real.negative:
                return 0
            result = FORMATS[to_type].round_real(real, rounding, ftz and to_type == "f32", sat)
            is_largest = "satfinite" in mods and result & ~FORMATS[to_type].sign == FORMATS[to_type].infinity
            return result - 1 if is_largest else result
        if real is None:
            return nan_to_integer(to_type, from_type)
        low, high = limits(to_type)
        if real.infinite:
            return (low if real.negative else high) & mask(WIDTH[to_type])
        steps = ieee.round_magnitude(real.magnitude, rounding, real.negative)
        return max(low, min(high, -steps if real.negative else steps)) & mask(WIDTH[to_type])

    return from_float if is_float(from_type) else from_integer


def near(from_type, to_type):
    """Operands at halves and around the limits of the target."""
    if not is_float(from_type):
        return [(1 << 24 | 1,), ((1 << 24) + 3,)] if WIDTH[from_type] >= 32 else []
    fmt = FORMATS[from_type]
    rows = [(number(fmt, n / 4),) for n in range(-11, 12)]
    if not is_float(to_type):
        for limit in limits(to_type):
            middle = number(fmt, limit)
            rows += [(b,) for b in (middle - 1, middle, middle + 1) if 0 <= b < 1 << fmt.width]
            rows += [(number(fmt, limit + ieee.Fraction(n, 2)),) for n in (-2, -1, 1, 2)]
        return rows
    target = FORMATS[to_type]
    if target.mantissa < fmt.mantissa:
        # Halfway between the smallest normal and what would lie below it if the exponent had no end.
        edge = number(fmt, target.decode(target.smallest_normal).value * (1 - ieee.power_of_two(-target.mantissa - 2)))
        rows += [(edge - 1,), (edge,), (edge + 1,)]
        for bits in (target.one, target.smallest_normal, target.largest, 1, target.smallest_normal - 1, target.one + 1):
            low, high = target.decode(bits), target.decode(bits + 1)
            rows += [(number(fmt, low.value),)]
            if not high.infinite:
                middle = number(fmt, (low.value + high.value) / 2)
                rows += [(middle - 1,), (middle,), (middle + 1,), (middle | fmt.sign,)]
            else:
                beyond = number(fmt, low.value + (low.value - target.decode(bits - 1).value) / 2)
                rows += [(beyond - 1,), (beyond,), (beyond | fmt.sign,)]
    return rows


def requirements(mods):
    """bf16 converts to and from f32 on 8.0; everything else about it came with 9.0."""
    if "satfinite" in mods:
        return {"version": "8.1", "target": "sm_90"}
    if "bf16" in mods and mods[-2:] not in (["bf16", "f32"], ["f32", "bf16"]):
        return {"version": "7.8", "target": "sm_90"}
    return {}


def case(text):
    mods = text.split(".")
    to_type, from_type = mods[-2:]
    spelling = f"cvt.{text}"
    says = f"{from_type} to {to_type}" + (f" ({', '.join(mods[:-2])})" if mods[:-2] else "")
    rows = list(dict.fromkeys(near(from_type, to_type) + operand_rows(spelling, [from_type], 30)))
    return Case(
        spelling,
        says,
        f"a:{from_type}",
        f"d:{to_type}",
        f"{spelling} %d, %a;",
        rows,
        converter(mods),
        **requirements(mods),
    )


def cases():
    for text in (SPELLINGS + FURTHER).split():
        yield case(text)
    yield from packed_cases()
    yield from byte_register_cases()
    yield from wide_register_cases()
    yield from packing_cases()


def packed_cases():
    plain = ("rn.f16x2.f32", "rn.bf16x2.f32", "rn.relu.f16x2.f32", "rz.bf16x2.f32")
    saturating = ("rn.satfinite.f16x2.f32", "rz.satfinite.bf16x2.f32", "rn.satfinite.relu.bf16x2.f32")
    for text in plain + saturating:
        mods = text.split(".")
        lane = mods[-2][:-2]
        one = converter([*mods[:-2], lane, "f32"])
        rows = near("f32", lane)
        rows = [(a, b) for (a,), (b,) in zip(rows, rows[7:] + rows[:7])] + operand_rows(
            f"cvt.{text}", ["f32", "f32"], 30
        )[40:]
        yield Case(
            f"cvt.{text}",
            "a to the upper half, b to the lower",
            "a:f32 b:f32",
            f"d:{mods[-2]}",
            f"cvt.{text} %d, %a, %b;",
            rows,
            lambda a, b, one=one: one(a) << 16 | one(b),
            **requirements(mods),
        )
    for text in ("rn", "rz", "rn.relu", "rz.relu", "rna.satfinite"):
        yield tf32_case(text)
    yield Case(
        "cvt.rna.tf32.f32",
        "f32 to tf32, ties away from zero",
        "a:f32",
        "d:b32",
        "cvt.rna.tf32.f32 %d, %a;",
        [row for row in operand_rows("cvt.rna.tf32.f32", ["f32"], 60) if row[0] & 0x7F800000 != 0x7F800000],
        lambda a: (a + 0x1000) & 0xFFFFE000 if (a & 0x7FFFFFFF) + 0x1000 < 0x7F800000 else a & 0x80000000 | 0x7F800000,
        notes=lambda a: "the low 13 bits are unspecified by PTX" if a & 0x1FFF else "",
    )


def tf32_case(text):
    """Ten fraction bits: the last 13 are rounded away and zero. NaN is left to `.rna`, which keeps it."""
    spelling = f"cvt.{text}.tf32.f32"
    mods = text.split(".")

    def converted(bits):
        sign, size = bits & 0x80000000, bits & 0x7FFFFFFF
        if sign and "relu" in mods:
            return 0
        if size < 0x7F800000:
            size += {"rna": 0x1000, "rn": 0xFFF + (size >> 13 & 1), "rz": 0}[mods[0]]
            size &= ~0x1FFF
        return sign | (0x7F7FE000 if size == 0x7F800000 and "satfinite" in mods else size)

    edges = (0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000, 0x7F7FE000, 0x7F7FEFFF, 0x7F7FF000, 0x7F7FFFFF, 0x7F800000)
    rows = [(bits | sign,) for bits in edges for sign in (0, 0x80000000)] + operand_rows(spelling, ["f32"], 40)
    rows = [row for row in dict.fromkeys(rows) if row[0] & 0x7FFFFFFF <= 0x7F800000]
    says = f"f32 to tf32 ({', '.join(mods)})"
    return Case(spelling, says, "a:f32", "d:b32", f"{spelling} %d, %a;", rows, converted, version="8.1", target="sm_90")


def packing_cases():
    """Two words, each saturated, below a third one that is moved up; two halves fill a word."""
    for to_type, bits in (("u2", 2), ("s2", 2), ("u4", 4), ("s4", 4), ("u8", 8), ("s8", 8), ("u16", 16), ("s16", 16)):
        most = (1 << (bits - (to_type[0] == "s"))) - 1
        least = -most - 1 if to_type[0] == "s" else 0

        def within(word, most=most, least=least, bits=bits):
            signed = word - (word >> 31 << 32)
            return max(least, min(most, signed)) & (1 << bits) - 1

        def packed(a, b, c=0, within=within, bits=bits):
            return (c << 2 * bits | within(a) << bits | within(b)) & 0xFFFFFFFF

        name = f"cvt.pack.sat.{to_type}.s32" + (".b32" if bits < 16 else "")
        names = "abc"[: 3 if bits < 16 else 2]
        edges = [value & 0xFFFFFFFF for limit in (least, most) for value in (limit - 1, limit, limit + 1)]
        rows = [(edge, other, 0x12345678)[: len(names)] for edge in edges for other in edges]
        rows += operand_rows(name, ["s32"] * len(names), 30)
        yield Case(
            name,
            f"two s32 to {to_type}, saturated and packed",
            " ".join(f"{each}:b32" for each in names),
            "d:b32",
            f"{name} %d, " + ", ".join(f"%{each}" for each in names) + ";",
            rows,
            packed,
            version="6.5",
            target="sm_75" if bits < 8 else "sm_72",
        )


def byte_register_cases():
    """bf16 to a byte exists only with an 8-bit register, as the headers' inline assembly has it."""
    for to_type in ("s8", "u8"):
        mods = ["rzi", to_type, "bf16"]
        yield Case(
            f"cvt.rzi.{to_type}.bf16",
            f"bf16 to {to_type} (rzi) in an 8-bit register",
            "a:bf16",
            "d:u16",
            f"cvt.rzi.{to_type}.bf16 %byte, %a;\nmov.b16 %d, {{%byte, 0}};",
            near("bf16", to_type) + operand_rows(f"cvt.rzi.{to_type}.bf16", ["bf16"], 30),
            converter(mods),
            registers=".reg .b8 %byte;",
            version="7.8",
            target="sm_90",
        )


def wide_register_cases():
    """A destination register wider than the type is extended by the type's sign."""
    for to_type, source in (("s8", "s32"), ("u8", "s32"), ("s16", "s32"), ("u16", "s32"), ("s8", "f32")):
        text = f"{'rzi.' if source == 'f32' else ''}{to_type}.{source}"
        narrow = converter(text.split("."))
        yield Case(
            f"cvt.{text}.wide",
            f"{source} to {to_type}, extended into a 32-bit register",
            f"a:{source}",
            "d:b32",
            f"cvt.{text} %d, %a;",
            operand_rows(f"cvt.{text}.wide", [source], 24),
            lambda a, to_type=to_type, narrow=narrow: (
                narrow(a) if to_type[0] == "u" else to_signed(narrow(a), WIDTH[to_type]) & mask(32)
            ),
        )
