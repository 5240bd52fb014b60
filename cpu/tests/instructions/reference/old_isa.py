"""Old PTX: ISA 1.0 to 3.0 for sm_1x to sm_3x, with its spellings and defaults.

Before 1.4 kernels declared their parameters in the body, and instructions had default roundings; sm_1x flushed subnormal
numbers without .ftz; before 6.0 votes and shuffles named no lanes.
"""

from fractions import Fraction

from reference.ieee import F32, F64, add, divide, multiply
from reference.kernel import Case
from reference.values import mask, operand_rows, to_signed

SM_1X = {"version": "1.4", "target": "sm_13"}
LANES = 32


def floating_cases():
    def fused(ftz):
        def model(a, b, c):
            x, y, z = (F32.decode(v, ftz) for v in (a, b, c))
            return F32.round_real(add(multiply(x, y), z), "rn", ftz)

        return model

    def of_two(operation):
        return lambda a, b: F32.round_real(operation(F32.decode(a, True), F32.decode(b, True)), "rn", True)

    subnormals = [(1, F32.one, 0), (0x00400000, 0x40000000, 0x80000001), (0x807FFFFF, 0x3F800000, 0x3F800000)]
    for name, more, ftz in (
        ("mad.f32.sm_13", SM_1X, True),
        ("mad.f32.sm_20", {"version": "3.0", "target": "sm_20"}, False),
    ):
        rows = operand_rows(name, ["f32"] * 3, special=subnormals)
        yield Case(name, "d = a * b + c, rounded once", "a:f32 b:f32 c:f32", "d:f32", "mad.f32 %d, %a, %b, %c;", rows,
                   fused(ftz), family="old", **more)  # fmt: skip
    for name, operation in (("add", add), ("mul", multiply)):
        rows = operand_rows(f"old {name}", ["f32"] * 2, special=[row[:2] for row in subnormals])
        yield Case(f"{name}.f32.sm_13", f"d = {name}(a, b), subnormals flushed", "a:f32 b:f32", "d:f32",
                   f"{name}.f32 %d, %a, %b;", rows, of_two(operation), family="old", **SM_1X)  # fmt: skip


def integer_cases():
    def cut(bits, is_signed):
        return to_signed(bits, 24) if is_signed else bits & mask(24)

    for t in ("s32", "u32"):
        high = lambda a, b, s=t == "s32": cut(a, s) * cut(b, s) >> 16  # noqa: E731
        rows = operand_rows(f"mul24.hi.{t}", [t] * 2)
        yield Case(f"mul24.hi.{t}", "d = bits 47 to 16 of the product of the low 24 bits", f"a:{t} b:{t}", f"d:{t}",
                   f"mul24.hi.{t} %d, %a, %b;", rows, lambda a, b, high=high: high(a, b) & mask(32), family="old",
                   **SM_1X)  # fmt: skip
        rows = operand_rows(f"mad24.hi.{t}", [t] * 3)
        yield Case(f"mad24.hi.{t}", "d = mul24.hi(a, b) + c", f"a:{t} b:{t} c:{t}", f"d:{t}",
                   f"mad24.hi.{t} %d, %a, %b, %c;", rows, lambda a, b, c, high=high: (high(a, b) + c) & mask(32),
                   family="old", **SM_1X)  # fmt: skip

    def clamped(a, b, c):
        total = (cut(a, True) * cut(b, True) >> 16) + to_signed(c, 32)
        return max(-(1 << 31), min((1 << 31) - 1, total)) & mask(32)

    rows = operand_rows(
        "mad24.hi.sat.s32", ["s32"] * 3, special=[(0x7FFFFF, 0x7FFFFF, 0x7FFFFFFF), (0x800000, 0x7FFFFF, 1 << 31)]
    )
    yield Case("mad24.hi.sat.s32", "d = mul24.hi(a, b) + c, clamped", "a:s32 b:s32 c:s32", "d:s32",
               "mad24.hi.sat.s32 %d, %a, %b, %c;", rows, clamped, family="old",
               **SM_1X)  # fmt: skip


def warp_cases():
    truths = [(n % 3 == 0,) for n in range(LANES)] + [(1,)] * LANES + [(0,)] * LANES
    truths = [(int(row[0]),) for row in truths]

    def by_warp(rows, answer):
        out = []
        for start in range(0, len(rows), LANES):
            votes = [row[0] for row in rows[start : start + LANES]]
            out += [(answer(votes),)] * LANES
        return out

    for mode, answer in (("all", all), ("any", any), ("uni", lambda v: len(set(v)) == 1)):
        yield Case(f"vote.{mode}.pred", f"d = {mode} of a in the warp", "a:pred", "d:pred", f"vote.{mode}.pred %d, %a;",
                   truths, model_all=lambda rows, answer=answer: by_warp(rows, lambda v: int(answer(v))), family="old",
                   version="1.4", target="sm_13")  # fmt: skip
    yield Case("vote.ballot.b32", "d = the lanes whose a is true", "a:pred", "d:b32", "vote.ballot.b32 %d, %a;", truths,
               model_all=lambda rows: by_warp(rows, lambda v: sum(bit << n for n, bit in enumerate(v))), family="old",
               version="2.0", target="sm_20")  # fmt: skip
    sources = {
        "up": lambda lane: lane - 3,
        "down": lambda lane: lane + 3,
        "bfly": lambda lane: lane ^ 5,
        "idx": lambda _: 7,
    }
    for mode, source in sources.items():
        amount, bound = {"up": (3, 0), "down": (3, 31), "bfly": (5, 31), "idx": (7, 31)}[mode]

        def shuffled(rows, source=source):
            out = []
            for n, row in enumerate(rows):
                lane, first = n % LANES, n - n % LANES
                there = 0 <= source(lane) < LANES
                out.append((rows[first + source(lane)][0] if there else row[0], int(there)))
            return out

        yield Case(f"shfl.{mode}.b32", "d = a of another lane, e whether there is one", "a:b32", "d:b32 e:pred",
                   f"shfl.{mode}.b32 %d|%e, %a, {amount}, {bound};", operand_rows(f"old shfl {mode}", ["b32"])[:LANES],
                   model_all=shuffled, family="old", version="3.0", target="sm_30")  # fmt: skip


def whole(spelling, columns, result):
    """A kernel as it was before 1.4."""
    kinds = {c: c[-3:] for c in (*columns, f"d:{result}")}
    lines = [
        ".entry test",
        "{",
        "\t.param .u64 in;",
        "\t.param .u64 out;",
        "\t.reg .u64 %in, %out, %at;",
        "\t.reg .u32 %row;",
    ]
    names = [c.split(":")[0] for c in columns]
    lines += [f"\t.reg .{kinds[c]} %{c.split(':')[0]};" for c in (*columns, f"d:{result}")]
    size = {"f32": 4, "f64": 8}[columns[0][-3:]]
    stride = (size * len(columns) + 15) // 16 * 16
    lines += ["\tld.param.u64 %in, [in];", "\tld.param.u64 %out, [out];", "\tcvt.u32.u16 %row, %tid.x;"]
    lines += [f"\tmul.wide.u32 %at, %row, {stride};", "\tadd.u64 %in, %in, %at;"]
    lines += ["\tmul.wide.u32 %at, %row, 16;", "\tadd.u64 %out, %out, %at;"]
    lines += [f"\tld.global.{kinds[c]} %{n}, [%in+{size * i}];" for i, (c, n) in enumerate(zip(columns, names))]
    lines += [
        f"\t{spelling} %d, {', '.join('%' + n for n in names)};",
        f"\tst.global.{result} [%out], %d;",
        "\texit;",
        "}",
    ]
    return "\n".join(lines)


def default_cases():
    ordinary32 = [
        (F32.encode(False, x), F32.encode(False, y)) for x, y in ((1, 3), (7, 2), (100, 7), (5, 8), (1000, 3))
    ]
    ordinary64 = [
        (F64.encode(False, x), F64.encode(False, y)) for x, y in ((1, 3), (7, 2), (100, 7), (5, 8), (1000, 3))
    ]
    v13 = {"version": "1.3", "target": "sm_13", "family": "old"}
    quotient = lambda f: lambda a, b: f.round_real(divide(f.decode(a), f.decode(b)))  # noqa: E731
    yield Case("div.f32.1.3", "d = a / b, approximately", "a:f32 b:f32", "d:f32", "", ordinary32, quotient(F32),
               tolerance="ulp 2", whole=whole("div.f32", ("a:f32", "b:f32"), "f32"), **v13)  # fmt: skip
    yield Case("div.f64.1.3", "d = a / b, rounded to nearest", "a:f64 b:f64", "d:f64", "", ordinary64, quotient(F64),
               whole=whole("div.f64", ("a:f64", "b:f64"), "f64"), **v13)  # fmt: skip
    squares = [(F32.encode(False, x * x),) for x in (1, 2, 3, 10, 255)]
    roots = dict(zip((row[0] for row in squares), (1, 2, 3, 10, 255)))
    yield Case("sqrt.f32.1.3", "d = the square root of a, approximately", "a:f32", "d:f32", "", squares,
               lambda a: F32.encode(False, roots[a]), tolerance="rel 2^-22", whole=whole("sqrt.f32", ("a:f32",), "f32"),
               **v13)  # fmt: skip
    yield Case("rcp.f32.1.3", "d = 1 / a, approximately", "a:f32", "d:f32", "", squares,
               lambda a: F32.round_real(divide(F32.decode(F32.one), F32.decode(a))), tolerance="ulp 1",
               whole=whole("rcp.f32", ("a:f32",), "f32"), **v13)  # fmt: skip
    powers = [(F32.encode(x < 0, abs(x)),) for x in (0, 1, 5, -3, 10)]
    values = dict(zip((row[0] for row in powers), (0, 1, 5, -3, 10)))
    yield Case("ex2.f32.1.3", "d = 2 to the a, approximately", "a:f32", "d:f32", "", powers,
               lambda a: F32.encode(False, Fraction(2) ** values[a]), tolerance="ulp 2",
               whole=whole("ex2.f32", ("a:f32",), "f32"), **v13)  # fmt: skip


def cases():
    yield from floating_cases()
    yield from integer_cases()
    yield from warp_cases()
    yield from default_cases()
