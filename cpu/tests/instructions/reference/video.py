"""Video instructions: vadd and the like on parts of registers, and the SIMD forms on two halves or four bytes.

Everything is a Python int as the PTX manual's pseudo-code has it. ptxas makes sequences of ordinary instructions of these
for all GPUs after sm_3x, and in some of the scalar forms they differ from the manual where a result does not fit 31 bits:
such cells are open.
"""

from reference.kernel import Case
from reference.values import mask, operand_rows, to_signed


def clamp(x, width, is_signed):
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, mask(width))
    return max(low, min(high, x))


def average(a, b):
    return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1


OPERATIONS = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vavrg": average,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}
COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def extended(bits, width, type_name):
    return to_signed(bits, width) if type_name == "s32" else bits & mask(width)


def operands(selectors, c=True):
    to, a, b = ("." + s if s else "" for s in selectors)
    return f"%d{to}, %a{a}, %b{b}" + (", %c" if c else "")


def simd(name, lanes, types, *, sat=False, add=False, selectors=("", "", ""), comparison=None):
    """`types`: of d, a and b; a comparison has none of d."""
    width = 32 // lanes
    letter = "h" if lanes == 2 else "b"
    spelt_types = types[1:] if comparison else types
    spelling = ".".join([f"{name}{lanes}", *spelt_types, *filter(None, [comparison, "sat" * sat, "add" * add])])
    operation = COMPARISONS[comparison] if comparison else OPERATIONS[name]
    to, of_a, of_b = (s[1:] for s in selectors)
    full = [str(n) for n in reversed(range(2 * lanes))]
    to, of_a, of_b = to or "".join(full[lanes:]), of_a or "".join(full[lanes:]), of_b or "".join(full[:lanes])
    assert all(not s or s[0] == letter for s in selectors)

    def model(a, b, c):
        both = a | b << 32
        total = c if add else 0
        for lane in range(lanes):
            x, y = (
                extended(both >> width * int(choice[lanes - 1 - lane]), width, t)
                for choice, t in ((of_a, types[1]), (of_b, types[2]))
            )
            result = int(operation(x, y))
            if sat:
                result = clamp(result, width, types[0] == "s32")
            if add:
                total += result if str(lane) in to else 0
            else:
                total |= ((result if str(lane) in to else c >> width * lane) & mask(width)) << width * lane
        return total & mask(32)

    says = f"{lanes} elements, " + ("their sum and c" if add else "each its result or the element of c")
    return case(spelling, says, operands(selectors), selectors, model)


def case(spelling, says, text, selectors, model, columns="a:b32 b:b32 c:b32", notes=None):
    tail = "".join("-" + (s or "all") for s in selectors) if any(selectors) else ""
    special = [(0x7F80FF01, 0x807F01FF, 0x12345678), (0x80007FFF, 0x7FFF8000, 0xFFFFFFFF), (0xFFFF0000, 0x0000FFFF, 1)]
    count = len(columns.split())
    rows = operand_rows(spelling + tail, ["b32"] * count, special=[row[:count] for row in special])
    return Case(
        spelling + tail, says, columns, "d:b32", f"{spelling} {text};", rows, model, notes=notes, family="video"
    )


def simd_cases():
    kinds = [("u32",) * 3, ("s32",) * 3, ("s32", "u32", "s32"), ("u32", "s32", "u32")]
    for lanes in (2, 4):
        for name in OPERATIONS:
            for types in kinds:
                yield simd(name, lanes, types)
                yield simd(name, lanes, types, sat=True)
                yield simd(name, lanes, types, add=True)
        for comparison in COMPARISONS:
            for types in (("u32",) * 3, ("u32", "s32", "s32"), ("u32", "s32", "u32")):
                yield simd("vset", lanes, types, comparison=comparison)
            yield simd("vset", lanes, ("u32",) * 3, comparison=comparison, add=True)
    for add in (False, True):
        for selectors in (("h0", "", ""), ("h1", "h23", "h00"), ("h10", "h01", "h13")):
            yield simd("vadd", 2, ("s32",) * 3, add=add, selectors=selectors)
        for selectors in (("b0", "", ""), ("b31", "b7531", "b0123"), ("b210", "b0000", "b4567")):
            yield simd("vabsdiff", 4, ("u32",) * 3, add=add, selectors=selectors)
    yield simd("vset", 4, ("u32",) * 3, comparison="lt", selectors=("b20", "b3120", ""))


# ---- scalar forms --------------------------------------------------------------------------------------------------


def part(bits, selector, type_name):
    if not selector:
        return extended(bits, 32, type_name)
    width = 8 if selector[0] == "b" else 16
    return extended(bits >> width * int(selector[1]), width, type_name)


def scalar(name, types, *, mode="", sat=False, second="", selectors=("", "", ""), comparison=None):
    spelt_types = types[1:] if comparison else types
    spelling = ".".join([name, *spelt_types, *filter(None, [comparison, "sat" * sat, mode, second])])
    to = selectors[0]
    has_c = bool(second or to)
    is_signed = types[0] == "s32"
    width = 32 if not to else 8 if to[0] == "b" else 16

    def plain(a, b):
        x, y = part(a, selectors[1], types[1]), part(b, selectors[2], types[2])
        if comparison:
            return int(COMPARISONS[comparison](x, y))
        if name in ("vshl", "vshr"):
            amount = y & 31 if mode == "wrap" else min(y, 32)
            return x << amount if name == "vshl" else x >> amount
        return OPERATIONS[name](x, y)

    def model(a, b, c=0):
        result = plain(a, b)
        fits_31 = 0 <= result < 1 << 31 or (is_signed and -(1 << 31) <= result < 0)
        if not fits_31 and (second in ("min", "max") or (sat and not is_signed) or (sat and name == "vshl")):
            return "*"
        if sat:
            result = clamp(result, width, is_signed)
        if to:
            low = width * int(to[1])
            return (result & mask(width)) << low | c & ~(mask(width) << low)
        if second == "add":
            result += c
        elif second:
            result = (min if second == "min" else max)(result, extended(c, 32, types[0]))
        return result & mask(32)

    open_note = lambda *row: "open: beyond 31 bits" if model(*row) == "*" else ""  # noqa: E731
    columns = "a:b32 b:b32 c:b32" if has_c else "a:b32 b:b32"
    return case(spelling, "d = a op b, of parts of registers", operands(selectors, has_c), selectors, model, columns,
                open_note)  # fmt: skip


def multiply_add(types, tail="", signs=("", "", "")):
    spelling = ".".join(["vmad", *types]) + tail
    negative = signs[0] != signs[1]
    is_signed = "s32" in types[1:] or negative or bool(signs[2])

    def model(a, b, c):
        product = extended(a, 32, types[1]) * extended(b, 32, types[2])
        c = extended(c, 32, "s32" if is_signed else "u32")
        total = (-product if negative else product) + (-c if signs[2] else c) + (".po" in tail)
        total >>= 7 if ".shr7" in tail else 15 if ".shr15" in tail else 0
        if ".sat" in tail:
            if not is_signed and total > mask(32):
                return "*"
            total = clamp(total, 32, is_signed)
        return total & mask(32)

    a, b, c = (sign + "%" + name for sign, name in zip(signs, "abc"))
    spelt = "".join("-n" if sign else "-p" for sign in signs) if any(signs) else ""
    made = case(spelling, "d = a * b + c", f"%d, {a}, {b}, {c}", ("", "", ""), model,
                notes=lambda *row: "open: beyond 32 bits" if model(*row) == "*" else "")  # fmt: skip
    made.name += spelt
    return made


def scalar_cases():
    kinds = [("u32",) * 3, ("s32",) * 3, ("s32", "u32", "s32")]
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for types in kinds:
            yield scalar(name, types)
            yield scalar(name, types, sat=True)
            for second in ("add", "min", "max"):
                yield scalar(name, types, second=second)
        if name == "vabsdiff":  # of the others GPUs give another result where it is negative, so they are refused
            yield scalar(name, ("s32",) * 3, selectors=("b2", "b1", "h1"), sat=True)
        yield scalar(name, ("u32", "s32", "u32"), selectors=("h0", "h0", "b3"))
        yield scalar(name, ("s32",) * 3, selectors=("", "b3", "h0"), second="add")
    for name in ("vshl", "vshr"):
        for types in (("u32",) * 3, ("s32", "s32", "u32")):
            for mode in ("clamp", "wrap"):
                yield scalar(name, types, mode=mode)
                yield scalar(name, types, mode=mode, second="add")
    for comparison in COMPARISONS:
        yield scalar("vset", ("u32", "u32", "u32"), comparison=comparison)
        yield scalar("vset", ("u32", "s32", "u32"), comparison=comparison, second="add")
        yield scalar("vset", ("u32", "s32", "s32"), comparison=comparison, selectors=("b3", "b0", "h1"))
    for types in (("u32",) * 3, ("s32",) * 3, ("s32", "u32", "s32")):
        # The others of numbers without sign are refused: GPUs take these for signed there.
        changed = (".sat", ".shr7", ".shr15", ".po.sat.shr7", ".sat.shr15") if "u32" not in types else ()
        for tail in ("", ".po", *changed):
            yield multiply_add(types, tail)
    yield multiply_add(("s32",) * 3, "", ("-", "", ""))
    yield multiply_add(("s32",) * 3, "", ("", "", "-"))


def cases():
    yield from simd_cases()
    yield from scalar_cases()
