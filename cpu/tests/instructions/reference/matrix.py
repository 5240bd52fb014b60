"""Matrices of a warp: mma.sync with the fragments of the PTX manual, and wmma through memory.

All values are small integers or halves of them, so that every product and sum is exact in every accumulator: there a GPU
has no choice either. The fragments are written here one by one as the manual gives them.
"""

import random
from fractions import Fraction

from reference.ieee import BF16, F16, F32, F64
from reference.kernel import Case
from reference.values import mask, number

LANES = 32
WARPS = 2
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s32": 32}
BITS |= {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}


def e4m3(pattern):
    exponent, fraction = pattern >> 3 & 15, pattern & 7
    magnitude = Fraction(fraction, 512) if exponent == 0 else Fraction(8 + fraction) * Fraction(2) ** (exponent - 10)
    return -magnitude if pattern & 0x80 else magnitude


E4M3 = {e4m3(p): p for p in range(0xFF) if p not in (0x7F, 0x80)}
FORMATS = {"f16": F16, "bf16": BF16, "tf32": F32, "f32": F32, "f64": F64}


def encode(kind, value):
    if kind in FORMATS:
        return number(FORMATS[kind], value)
    if kind == "e4m3":
        return E4M3[Fraction(value)]
    if kind == "e5m2":
        return number(F16, value) >> 8
    return value & mask(BITS[kind])


def random_value(kind, rng):
    if kind in ("s8", "s4"):
        return rng.randrange(-(1 << BITS[kind] - 1), 1 << BITS[kind] - 1)
    if kind in ("u8", "u4", "b1"):
        return rng.randrange(1 << BITS[kind])
    if kind == "s32":
        return rng.randrange(-(1 << 20), 1 << 20)
    if kind in ("f32", "f64"):
        return Fraction(rng.randrange(-400, 401), 4)
    return Fraction(rng.randrange(-6, 7), 2)


def accumulator_value(kind, rng):
    return Fraction(rng.randrange(-200, 201), 4) if kind == "f16" else random_value(kind, rng)


# ---- fragments -----------------------------------------------------------------------------------------------------


def a_place(shape, kind, lane, i):
    """Row and column in A of element i of a lane."""
    group, thread = lane >> 2, lane % 4
    m, _, k = shape
    if m == 8:
        return group, {"f64": thread, "s8": thread * 4 + i, "s4": thread * 8 + i, "b1": thread * 32 + i}[unsigned(kind)]
    if kind == "f64":
        return group + 8 * (i % 2), thread + 4 * (i // 2)
    if kind == "tf32":
        return group + 8 * (i % 2), thread + (0 if i < 2 else 4)
    if kind in ("f16", "bf16"):
        if k == 8:
            return group + (0 if i < 2 else 8), thread * 2 + (i & 1)
        return (group if 0 <= i < 2 or 4 <= i < 6 else group + 8), thread * 2 + (i & 1) + (0 if i < 4 else 8)
    if BITS[kind] == 8:
        if k == 16:
            return group + (0 if i < 4 else 8), thread * 4 + (i & 3)
        return (group if 0 <= i < 4 or 8 <= i < 12 else group + 8), thread * 4 + (i & 3) + (0 if i < 8 else 16)
    if BITS[kind] == 4:
        if k == 32:
            return group + (0 if i < 8 else 8), thread * 8 + (i & 7)
        return (group if 0 <= i < 8 or 16 <= i < 24 else group + 8), thread * 8 + (i & 7) + (0 if i < 16 else 32)
    if k == 128:
        return group + (0 if i < 32 else 8), thread * 32 + (i & 31)
    return (group if 0 <= i < 32 or 64 <= i < 96 else group + 8), thread * 32 + (i & 31) + (0 if i < 64 else 128)


def b_place(shape, kind, lane, i):
    group, thread = lane >> 2, lane % 4
    if kind in ("f64", "tf32"):
        return thread + 4 * i, group
    if kind in ("f16", "bf16"):
        return thread * 2 + (i & 1) + (0 if i < 2 else 8), group
    if BITS[kind] == 8:
        return thread * 4 + (i & 3) + (0 if i < 4 else 16), group
    if BITS[kind] == 4:
        return thread * 8 + (i & 7) + (0 if i < 8 else 32), group
    return thread * 32 + (i & 31) + (0 if i < 32 else 128), group


def c_place(shape, kind, lane, i):
    group, thread = lane >> 2, lane % 4
    return group + (0 if i < 2 else 8), thread * 2 + (i & 1)


def unsigned(kind):
    return {"u8": "s8", "u4": "s4"}.get(kind, kind)


def quad_places(layouts, c_kind):
    """m8n8k4 of halves: lanes 0-3 and 16-19 hold the first of four products, and so on."""

    def a(shape, kind, lane, i):
        if layouts[0] == "row":
            return (lane % 4 if lane < 16 else lane % 4 + 4), i
        return (i if lane < 16 else i + 4), lane % 4

    def b(shape, kind, lane, i):
        if layouts[1] == "row":
            return lane % 4, (i if lane < 16 else i + 4)
        return i, (lane % 4 if lane < 16 else lane % 4 + 4)

    def c(shape, kind, lane, i):
        if kind == "f16":
            return (lane % 4 if lane < 16 else lane % 4 + 4), i
        row = (lane & 0b1) + (i & 0b10)
        return (row if lane < 16 else row + 4), (i & 0b100) + (lane & 0b10) + (i & 0b1)

    return a, b, c


# ---- products ------------------------------------------------------------------------------------------------------


def product(a, b, c, bitwise=None):
    columns = list(zip(*b))
    operation = {"xor": lambda x, y: x ^ y, "and": lambda x, y: x & y, None: lambda x, y: x * y}[bitwise]
    return [
        [before + sum(map(operation, row, column)) for before, column in zip(sums, columns)] for row, sums in zip(a, c)
    ]


def result(kind, value, saturates):
    if kind == "s32" and saturates:
        value = max(-(1 << 31), min((1 << 31) - 1, value))
    return encode(kind, value)


def matrix(rows, columns, rng, kind, accumulates=False):
    make = accumulator_value if accumulates else random_value
    return [[make(kind, rng) for _ in range(columns)] for _ in range(rows)]


def pack(patterns, bits):
    """Elements, first the lowest, in words of 32 bits (64 of binary64)."""
    per_word = max(1, 32 // bits)
    return [
        sum(p << bits * n for n, p in enumerate(patterns[w : w + per_word])) for w in range(0, len(patterns), per_word)
    ]


def fragment(values, place, shape, kind, count, lanes, saturates=False):
    """Per lane the words that hold its elements."""
    out = {}
    for lane in lanes:
        places = [place(shape, kind, lane, i) for i in range(count)]
        out[lane] = pack([result(kind, values[r][c], saturates) for r, c in places], BITS[kind])
    return out


def word_type(kind):
    return {"f64": "f64", "f32": "f32"}.get(kind, "b32")


def register_kind(kind):
    return {"f64": "f64", "f32": "f32", "s32": "s32"}.get(kind, "b32")


def columns(letter, kind, count):
    return " ".join(f"{letter}{n}:{word_type(kind)}" for n in range(count))


def vector(letter, count):
    """mma takes single registers with or without braces; ptxas wants them."""
    return "{" + ", ".join(f"%{letter}{n}" for n in range(count)) + "}"


def one_rounding(a, c):
    """Of binary64: one product for each sum, so that only one rounding matters, and sums that need it."""
    return [[row[0], *[Fraction(0)] * (len(row) - 1)] for row in a], [[v * 2**52 for v in row] for row in c]


def rounded(values, rounding):
    if not rounding:
        return values
    return [[F64.decode(F64.encode(v < 0, abs(v), rounding)).value for v in row] for row in values]


def mma(shape, d_kind, a_kind, b_kind, c_kind, *, layouts=("row", "col"), bitwise=None, saturates=False, version="7.1",
        target="sm_80", large=False, rounding=""):  # fmt: skip
    m, n, k = shape
    name = f"m{m}n{n}k{k}"
    tail = f".{bitwise}.popc" if bitwise else ""
    spelling = (
        f"mma.sync.aligned.{name}.{layouts[0]}.{layouts[1]}{'.satfinite' if saturates else ''}"
        f"{'.' + rounding if rounding else ''}.{d_kind}.{a_kind}.{b_kind}.{c_kind}{tail}"
    )
    by_quads = shape == (8, 8, 4) and a_kind == "f16"
    a_of, b_of, c_of = quad_places(layouts, c_kind) if by_quads else (a_place, b_place, c_place)
    sharers = 8 if by_quads else LANES
    counts = {"a": m * k // sharers, "b": k * n // sharers, "c": m * n // sharers}
    groups = [[x for x in range(LANES) if x % 16 // 4 == q] for q in range(4)] if by_quads else [range(LANES)]
    rng = random.Random(f"cucore {spelling} {large}")
    rows, expected = [], []
    for _ in range(WARPS):
        inputs, outputs = {}, {}
        for lanes in groups:
            a, b = matrix(m, k, rng, a_kind), matrix(k, n, rng, b_kind)
            c = matrix(m, n, rng, c_kind, True)
            if large:
                c = [[rng.choice((-1, 1)) * ((1 << 31) - 1 - rng.randrange(2000)) for _ in range(n)] for _ in range(m)]
            if rounding:
                a, c = one_rounding(a, c)
            d = rounded(product(a, b, c, bitwise), rounding)
            parts = [
                fragment(a, a_of, shape, a_kind, counts["a"], lanes),
                fragment(b, b_of, shape, b_kind, counts["b"], lanes),
                fragment(c, c_of, shape, c_kind, counts["c"], lanes),
            ]
            outputs |= fragment(d, c_of, shape, d_kind, counts["c"], lanes, saturates)
            for lane in lanes:
                inputs[lane] = tuple(word for part in parts for word in part[lane])
        rows += [inputs[lane] for lane in range(LANES)]
        expected += [tuple(outputs[lane]) for lane in range(LANES)]
    words = {
        p: counts[p] * BITS[kind] // (64 if kind == "f64" else 32) for p, kind in zip("abc", (a_kind, b_kind, c_kind))
    }
    d_words = counts["c"] * BITS[d_kind] // (64 if d_kind == "f64" else 32)
    return Case(
        spelling + (".large" if large else ""),
        "d = a * b + c" + (", the sums beyond 32 bits" if large else ""),
        " ".join(columns(p, kind, words[p]) for p, kind in zip("abc", (a_kind, b_kind, c_kind))),
        columns("d", d_kind, d_words),
        f"{spelling} {vector('d', d_words)}, {vector('a', words['a'])}, {vector('b', words['b'])}, {vector('c', words['c'])};",
        rows,
        model_all=lambda _: expected,
        version=version,
        target=target,
    )


def mma_cases():
    for layouts in (("row", "col"), ("row", "row"), ("col", "row"), ("col", "col")):
        for kind in ("f16", "f32"):
            yield mma((8, 8, 4), kind, "f16", "f16", kind, layouts=layouts)
    for k in (8, 16):
        yield mma((16, 8, k), "f16", "f16", "f16", "f16")
        yield mma((16, 8, k), "f32", "f16", "f16", "f32")
        yield mma((16, 8, k), "f32", "bf16", "bf16", "f32")
    for k in (4, 8):
        yield mma((16, 8, k), "f32", "tf32", "tf32", "f32")
    yield mma((8, 8, 4), "f64", "f64", "f64", "f64")
    for rounding in ("rn", "rz", "rm", "rp"):
        yield mma((8, 8, 4), "f64", "f64", "f64", "f64", rounding=rounding)
    for k in (4, 8, 16):
        yield mma((16, 8, k), "f64", "f64", "f64", "f64", version="7.8", target="sm_90")
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield mma((16, 8, 32), "f32", a, b, "f32", version="8.4", target="sm_89")
    for shape in ((8, 8, 16), (16, 8, 16), (16, 8, 32)):
        for a, b in (("s8", "s8"), ("u8", "u8"), ("u8", "s8"), ("s8", "u8")):
            yield mma(shape, "s32", a, b, "s32")
        yield mma(shape, "s32", "s8", "s8", "s32", large=True)
        yield mma(shape, "s32", "s8", "s8", "s32", saturates=True, large=True)
    for shape in ((8, 8, 32), (16, 8, 32), (16, 8, 64)):
        for a, b in (("s4", "s4"), ("u4", "u4"), ("u4", "s4")):
            yield mma(shape, "s32", a, b, "s32")
        yield mma(shape, "s32", "s4", "s4", "s32", saturates=True)
    for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
        for bitwise in ("xor", "and"):
            yield mma(shape, "s32", "b1", "b1", "s32", bitwise=bitwise)


# ---- wmma: what lies in which register is the device's own affair, so matrices come from memory and go there ---------


def in_memory(values, kind, layout):
    lines = values if layout == "row" else list(zip(*values))
    return pack([encode(kind, v) for line in lines for v in line], BITS[kind])


REGISTERS = {  # of a lane for A and B
    ("f16", (16, 16, 16)): (8, 8), ("f16", (32, 8, 16)): (8, 8), ("f16", (8, 32, 16)): (8, 8),
    ("bf16", (16, 16, 16)): (4, 4), ("bf16", (32, 8, 16)): (8, 2), ("bf16", (8, 32, 16)): (2, 8),
    ("s8", (16, 16, 16)): (2, 2), ("s8", (32, 8, 16)): (4, 1), ("s8", (8, 32, 16)): (1, 4),
    ("tf32", (16, 16, 8)): (4, 4), ("f64", (8, 8, 4)): (1, 1), ("s4", (8, 8, 32)): (1, 1), ("b1", (8, 8, 128)): (1, 1),
}  # fmt: skip


def wmma(shape, kind, c_kind, d_kind, *, layouts=("row", "col"), store="row", bitwise=None, saturates=False, doubles=False,
         name=None, rounding=""):  # fmt: skip
    m, n, k = shape
    shape_name = f"m{m}n{n}k{k}"
    a_count, b_count = REGISTERS[unsigned(kind), shape]
    c_count = {"f16": 4, "f32": 8, "s32": 8, "f64": 2}[c_kind] if m * n == 256 else 2
    d_count = {"f16": 4, "f32": 8, "s32": 8, "f64": 2}[d_kind] if m * n == 256 else 2
    mode = f"{'.' + bitwise + '.popc' if bitwise else ''}.sync.aligned.{layouts[0]}.{layouts[1]}.{shape_name}"
    mode += f".{rounding}" if rounding else ""
    types = f".{d_kind}.{c_kind}" if kind == "f16" else f".{d_kind}.{kind}.{kind}.{c_kind}"
    spelling = f"wmma.mma{mode}{types}{'.satfinite' if saturates else ''}"
    rng = random.Random(f"cucore {name or spelling}")
    size = lambda rows, columns, of: rows * columns * BITS[of] // 32  # noqa: E731
    words = {"a": size(m, k, kind), "b": size(k, n, kind), "c": size(m, n, c_kind), "d": size(m, n, d_kind)}
    if kind == "f64":
        words = {p: w // 2 for p, w in words.items()}
    wide = 8 if kind == "f64" else 4
    kinds = dict(zip("abcd", (kind, kind, c_kind, d_kind)))
    share = {p: max(1, w // LANES) for p, w in words.items()}
    rows, expected = [], []
    for _ in range(WARPS):
        a, b, c = matrix(m, k, rng, kind), matrix(k, n, rng, kind), matrix(m, n, rng, c_kind, True)
        if rounding:
            a, c = one_rounding(a, c)
        d = rounded(product(a, b, c, bitwise), rounding)
        if doubles:
            d = [[2 * v for v in row] for row in d]
        memory = {"a": in_memory(a, kind, layouts[0]), "b": in_memory(b, kind, layouts[1]),
                  "c": in_memory(c, c_kind, store)}  # fmt: skip
        result_words = in_memory(d, d_kind, store)
        for lane in range(LANES):
            rows.append(tuple(memory[p][lane * share[p] + i] for p in "abc" for i in range(share[p])))
            expected.append(tuple(result_words[lane * share["d"] + i] for i in range(share["d"])))
    space = {p: LANES * share[p] * wide for p in "abcd"}
    starts = {p: sum(space[q] for q in "abcd" if q < p) for p in "abcd"}
    total = sum(space.values())
    move = lambda p: "f64" if kinds[p] == "f64" else "f32" if kinds[p] == "f32" else "b32"  # noqa: E731
    body = ["shr.u32 %warp, %row, 5;", "and.b32 %lane, %row, 31;", "mov.u32 %cells, cells;"]
    body += [f"mad.lo.s32 %cells, %warp, {total}, %cells;"]
    for p in "abc":
        body += [f"mad.lo.s32 %mine, %lane, {share[p] * wide}, %cells;"]
        body += [f"st.shared.{move(p)} [%mine+{starts[p] + wide * i}], %{p}{i};" for i in range(share[p])]
    body += ["bar.warp.sync -1;"]
    stride = {
        "a": k if layouts[0] == "row" else m,
        "b": n if layouts[1] == "row" else k,
        "c": n if store == "row" else m,
    }
    for p, count, layout in (("a", a_count, layouts[0]), ("b", b_count, layouts[1]), ("c", c_count, store)):
        body += [f"add.s32 %mine, %cells, {starts[p]};"]
        body += [
            f"wmma.load.{p}.sync.aligned.{layout}.{shape_name}.shared.{kinds[p]} {vector('f' + p, count)}, [%mine], {stride[p]};"
        ]
    body += [
        f"{spelling} {vector('fd', d_count)}, {vector('fa', a_count)}, {vector('fb', b_count)}, {vector('fc', c_count)};"
    ]
    if doubles:
        body += [f"add.f32 %fd{i}, %fd{i}, %fd{i};" for i in range(d_count)]
    body += [f"add.s32 %mine, %cells, {starts['d']};"]
    body += [
        f"wmma.store.d.sync.aligned.{store}.{shape_name}.shared.{d_kind} [%mine], {vector('fd', d_count)}, {stride['c']};",
        "bar.warp.sync -1;",
        f"mad.lo.s32 %mine, %lane, {share['d'] * wide}, %cells;",
    ]
    body += [f"ld.shared.{move('d')} %d{i}, [%mine+{starts['d'] + wide * i}];" for i in range(share["d"])]
    registers = [".reg .b32 %warp, %lane, %cells, %mine;"]
    for p, count in (("a", a_count), ("b", b_count), ("c", c_count), ("d", d_count)):
        registers.append(f".reg .{register_kind(kinds[p])} %f{p}<{count}>;")
    return Case(
        name or spelling,
        f"d = a * b + c through memory, c and d in {store}s" + (", and all elements of d doubled" if doubles else ""),
        " ".join(columns(p, kinds[p], share[p]) for p in "abc"),
        columns("d", d_kind, share["d"]),
        "\n".join(body),
        rows,
        model_all=lambda _: expected,
        module=f".shared .align 32 .b8 cells[{WARPS * total}];",
        registers="\n".join(registers),
    )


def wmma_cases():
    for shape in ((16, 16, 16), (32, 8, 16), (8, 32, 16)):
        for layouts in (("row", "col"), ("col", "row")):
            yield wmma(shape, "f16", "f32", "f32", layouts=layouts)
        yield wmma(shape, "f16", "f16", "f16", store="col")
        yield wmma(shape, "f16", "f16", "f32", layouts=("row", "row"))
        yield wmma(shape, "f16", "f32", "f16", layouts=("col", "col"))
        yield wmma(shape, "bf16", "f32", "f32", layouts=("row", "row"))
        yield wmma(shape, "bf16", "f32", "f32", layouts=("col", "col"), store="col")
        for kind in ("s8", "u8"):
            yield wmma(shape, kind, "s32", "s32", layouts=("row", "col"))
            yield wmma(shape, kind, "s32", "s32", layouts=("col", "row"), store="col", saturates=True)
        yield wmma(shape, "f16", "f32", "f32", doubles=True,
                   name=f"wmma.mma.elements.m{shape[0]}n{shape[1]}k{shape[2]}")  # fmt: skip
    yield wmma((16, 16, 8), "tf32", "f32", "f32")
    yield wmma((16, 16, 8), "tf32", "f32", "f32", layouts=("col", "row"), store="col")
    yield wmma((8, 8, 4), "f64", "f64", "f64")
    yield wmma((8, 8, 4), "f64", "f64", "f64", layouts=("col", "row"), store="col")
    for rounding in ("rn", "rz", "rm", "rp"):
        yield wmma((8, 8, 4), "f64", "f64", "f64", rounding=rounding)
    for kind in ("s4", "u4"):
        yield wmma((8, 8, 32), kind, "s32", "s32")
    for bitwise in ("xor", "and"):
        yield wmma((8, 8, 128), "b1", "s32", "s32", bitwise=bitwise)


def cases():
    yield from mma_cases()
    yield from wmma_cases()
