"""Integer arithmetic: add sub mul mad neg abs min max div rem, carry chains, sad, dp4a, dp2a, mul24."""

from reference.kernel import Case
from reference.values import WIDTH, mask, operand_rows, to_signed


def value(bits, type_name):
    return to_signed(bits, WIDTH[type_name]) if type_name[0] == "s" else bits


def per_half(operation):
    """Applies an operation on 16-bit values to both halves of packed operands."""
    return lambda *args: (
        operation(*(a & 0xFFFF for a in args)) & 0xFFFF | (operation(*(a >> 16 for a in args)) & 0xFFFF) << 16
    )


def case(spelling, says, types, result, model, special=(), notes=None, **more):
    """`d = model(operands as Python ints)`, wrapped to the result's width."""
    names = "abcd"[: len(types)] if len(types) < 4 else "abce"
    if len(types) == 3:
        names = "abc"
    columns = " ".join(f"{n}:{t}" for n, t in zip(names, types))
    body = f"{spelling} %d, {', '.join('%' + n for n in names)};"
    if result[:-2] in ("s16", "u16") and result.endswith("x2"):
        kind = result[:-2]
        packed = per_half(lambda *args: model(*(value(a, kind) for a in args)))
        run = lambda *args: packed(*args)  # noqa: E731
    else:
        run = lambda *args: model(*(value(a, t) for a, t in zip(args, types))) & mask(WIDTH[result])  # noqa: E731
    rows = operand_rows(spelling, types, special=special)
    return Case(spelling, says, columns, f"d:{result}", body, rows, run, notes=notes, **more)


def clamp(number, type_name):
    width = WIDTH[type_name]
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if type_name[0] == "s" else (0, mask(width))
    return max(low, min(high, number))


def quotient(a, b, width):
    """What the hardware gives: PTX leaves x / 0 open. MIN / -1 wraps by itself."""
    if b == 0:
        return mask(width)
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b, width):
    """What the hardware gives: all ones for x rem 0, as for x / 0, and not the x that the formula would."""
    return mask(width) if b == 0 else a - b * quotient(a, b, width)


def cases():
    yield from simple_cases()
    yield from packed_cases()
    yield from carry_cases()
    yield from dot_cases()


def simple_cases():
    for t in ["s16", "u16", "s32", "u32", "s64", "u64"]:
        yield case(f"add.{t}", "d = a + b, wrapping", [t, t], t, lambda a, b: a + b)
        yield case(f"sub.{t}", "d = a - b, wrapping", [t, t], t, lambda a, b: a - b)
        yield case(f"mul.lo.{t}", "d = low half of a * b", [t, t], t, lambda a, b: a * b)
        yield case(f"mul.hi.{t}", "d = high half of a * b", [t, t], t, lambda a, b, w=WIDTH[t]: (a * b) >> w)
        yield case(f"mad.lo.{t}", "d = low half of a * b, plus c", [t] * 3, t, lambda a, b, c: a * b + c)
        yield case(
            f"mad.hi.{t}", "d = high half of a * b, plus c", [t] * 3, t, lambda a, b, c, w=WIDTH[t]: ((a * b) >> w) + c
        )
        yield case(f"min.{t}", "d = the smaller of a and b", [t, t], t, min)
        yield case(f"max.{t}", "d = the larger of a and b", [t, t], t, max)
        yield case(f"sad.{t}", "d = c + |a - b|", [t] * 3, t, lambda a, b, c: c + abs(a - b))
        open_rows = lambda a, b, t=t: unspecified(a, b, t)  # noqa: E731
        edges = [(7, 0), (0, 0), (1 << (WIDTH[t] - 1), mask(WIDTH[t])), (mask(WIDTH[t]), 0), (mask(WIDTH[t]), 3)]
        yield case(
            f"div.{t}",
            "d = a / b, towards zero",
            [t, t],
            t,
            lambda a, b, w=WIDTH[t]: quotient(a, b, w),
            edges,
            open_rows,
        )
        yield case(
            f"rem.{t}", "d = a - b * (a / b)", [t, t], t, lambda a, b, w=WIDTH[t]: remainder(a, b, w), edges, open_rows
        )
        if t[0] == "s":
            yield case(f"neg.{t}", "d = -a", [t], t, lambda a: -a)
            yield case(f"abs.{t}", "d = |a|, MIN stays MIN", [t], t, abs)
    for t, wide in (("s16", "s32"), ("u16", "u32"), ("s32", "s64"), ("u32", "u64")):
        yield case(f"mul.wide.{t}", "d = a * b at twice the width", [t, t], wide, lambda a, b: a * b)
        yield case(f"mad.wide.{t}", "d = a * b + c at twice the width", [t, t, wide], wide, lambda a, b, c: a * b + c)
    yield case("add.sat.s32", "d = a + b, clamped", ["s32"] * 2, "s32", lambda a, b: clamp(a + b, "s32"))
    yield case("sub.sat.s32", "d = a - b, clamped", ["s32"] * 2, "s32", lambda a, b: clamp(a - b, "s32"))
    yield case(
        "mad.hi.sat.s32",
        "d = high half of a * b, plus c, clamped",
        ["s32"] * 3,
        "s32",
        lambda a, b, c: clamp(((a * b) >> 32) + c, "s32"),
    )
    for t in ("s32", "u32"):
        cut = lambda x, t=t: value(x & 0xFFFFFF, "u32") - (1 << 24 if t == "s32" and x & 0x800000 else 0)  # noqa: E731
        yield case(
            f"mul24.lo.{t}",
            "d = low 32 bits of the 48-bit product of the low 24 bits",
            [t, t],
            t,
            lambda a, b, cut=cut: cut(a) * cut(b),
        )
        yield case(f"mad24.lo.{t}", "d = mul24.lo(a, b) + c", [t] * 3, t, lambda a, b, c, cut=cut: cut(a) * cut(b) + c)


def unspecified(a, b, type_name):
    if b == 0:
        return "unspecified by PTX: division by zero"
    minimum = 1 << (WIDTH[type_name] - 1)
    return "overflows: MIN / -1" if type_name[0] == "s" and a == minimum and b == mask(WIDTH[type_name]) else ""


def packed_cases():
    sm_90 = {"version": "8.0", "target": "sm_90"}
    for t in ("s16x2", "u16x2"):
        yield case(f"add.{t}", "both halves: d = a + b, wrapping", [t, t], t, lambda a, b: a + b, **sm_90)
        for name, pick in (("min", min), ("max", max)):
            yield case(f"{name}.{t}", f"both halves: d = {name}(a, b)", [t, t], t, pick, **sm_90)
    for name, pick in (("min", min), ("max", max)):
        for spelling in (f"{name}.s16x2.relu", f"{name}.relu.s16x2"):
            yield case(
                spelling,
                f"both halves: d = max({name}(a, b), 0)",
                ["s16x2"] * 2,
                "s16x2",
                lambda a, b, pick=pick: max(pick(a, b), 0),
                **sm_90,
            )
        for spelling in (f"{name}.s32.relu", f"{name}.relu.s32"):
            yield case(
                spelling,
                f"d = max({name}(a, b), 0)",
                ["s32"] * 2,
                "s32",
                lambda a, b, pick=pick: max(pick(a, b), 0),
                **sm_90,
            )


def chain(spelling, says, inputs, outputs, body, model, count=64):
    types = [item.split(":")[1] for item in inputs.split()]
    return Case(spelling, says, inputs, outputs, body, operand_rows(spelling, types, count), model)


def carry_cases():
    m, mm = mask(32), mask(64)
    two = "a:u32 b:u32"
    yield chain(
        "add.cc.u32",
        "d = a + b, c = the carry, read back by addc",
        two,
        "d:u32 c:u32",
        "add.cc.u32 %d, %a, %b;\naddc.u32 %c, 0, 0;",
        lambda a, b: ((a + b) & m, (a + b) >> 32),
    )
    yield chain(
        "sub.cc.u32",
        "d = a - b, c = -borrow, read back by subc",
        two,
        "d:u32 c:u32",
        "sub.cc.u32 %d, %a, %b;\nsubc.u32 %c, 0, 0;",
        lambda a, b: ((a - b) & m, m if a < b else 0),
    )
    yield chain(
        "addc.after_sub.u32",
        "d = a - b, c = 1 where nothing is borrowed: the flag is the carry of a + ~b + 1",
        two,
        "d:u32 c:u32",
        "sub.cc.u32 %d, %a, %b;\naddc.u32 %c, 0, 0;",
        lambda a, b: ((a - b) & m, int(a >= b)),
    )
    yield chain(
        "addc.after_subc.u64",
        "the same of a difference of double width",
        "a:u64 b:u64 e:u64 f:u64",
        "d:u64 g:u64 c:u64",
        "sub.cc.u64 %d, %a, %b;\nsubc.cc.u64 %g, %e, %f;\naddc.u64 %c, 0, 0;",
        lambda a, b, e, f: ((a - b) & mm, (e - f - (a < b)) & mm, int((e << 64 | a) >= (f << 64 | b))),
    )
    yield chain(
        "subc.after_add.u32",
        "d = a + b, c = 0 where the sum carries, else -1",
        two,
        "d:u32 c:u32",
        "add.cc.u32 %d, %a, %b;\nsubc.u32 %c, 0, 0;",
        lambda a, b: ((a + b) & m, 0 if a + b > m else m),
    )
    yield chain(
        "mad.lo.cc.u32",
        "d = low(a * b) + c, e = the carry",
        "a:u32 b:u32 c:u32",
        "d:u32 e:u32",
        "mad.lo.cc.u32 %d, %a, %b, %c;\naddc.u32 %e, 0, 0;",
        lambda a, b, c: (((a * b & m) + c) & m, ((a * b & m) + c) >> 32),
    )
    for t in ("u32", "s32", "u64", "s64"):
        w, low = WIDTH[t], mask(WIDTH[t])
        if t != "u32":
            yield chain(
                f"add.cc.{t}",
                "d = a + b, c = the carry",
                f"a:{t} b:{t}",
                f"d:{t} c:{t}",
                f"add.cc.{t} %d, %a, %b;\naddc.{t} %c, 0, 0;",
                lambda a, b, w=w, low=low: ((a + b) & low, (a + b) >> w),
            )
        four = f"a:{t} b:{t} e:{t} f:{t}"
        yield chain(
            f"addc.{t}",
            "d, g = the double-width sum (a, e) + (b, f)",
            four,
            f"d:{t} g:{t}",
            f"add.cc.{t} %d, %a, %b;\naddc.{t} %g, %e, %f;",
            lambda a, b, e, f, w=w, low=low: ((a + b) & low, (e + f + ((a + b) >> w)) & low),
        )
        yield chain(
            f"subc.{t}",
            "d, g = the double-width difference (a, e) - (b, f)",
            four,
            f"d:{t} g:{t}",
            f"sub.cc.{t} %d, %a, %b;\nsubc.{t} %g, %e, %f;",
            lambda a, b, e, f, low=low: ((a - b) & low, (e - f - (a < b)) & low),
        )
    yield chain(
        "addc.cc.u32",
        "d, g, h = the triple-width sum (a, b, 7) + (b, a, e)",
        "a:u32 b:u32 e:u32",
        "d:u32 g:u32 h:u32",
        "add.cc.u32 %d, %a, %b;\naddc.cc.u32 %g, %b, %a;\naddc.u32 %h, 7, %e;",
        lambda a, b, e: triple(a | b << 32 | 7 << 64, b | a << 32 | e << 64, 1),
    )
    yield chain(
        "subc.cc.u32",
        "d, g, h = the triple-width difference (a, b, 7) - (b, a, e)",
        "a:u32 b:u32 e:u32",
        "d:u32 g:u32 h:u32",
        "sub.cc.u32 %d, %a, %b;\nsubc.cc.u32 %g, %b, %a;\nsubc.u32 %h, 7, %e;",
        lambda a, b, e: triple(a | b << 32 | 7 << 64, b | a << 32 | e << 64, -1),
    )
    four = "a:u32 b:u32 e:u32 f:u32"
    yield chain(
        "madc.hi.u32",
        "d, g = a * b + (f:e), 64 bits",
        four,
        "d:u32 g:u32",
        "mad.lo.cc.u32 %d, %a, %b, %e;\nmadc.hi.u32 %g, %a, %b, %f;",
        lambda a, b, e, f: split((a * b + (e | f << 32)) & mm),
    )
    yield chain(
        "madc.hi.cc.u32",
        "d, g, h = a * b + (f:e) with the carry out",
        four,
        "d:u32 g:u32 h:u32",
        "mad.lo.cc.u32 %d, %a, %b, %e;\nmadc.hi.cc.u32 %g, %a, %b, %f;\naddc.u32 %h, 0, 0;",
        lambda a, b, e, f: split(a * b + (e | f << 32)) + ((a * b + (e | f << 32)) >> 64,),
    )
    yield chain(
        "madc.lo.cc.u32",
        "g = low(e * f) + carry of a + b, h = the carry out",
        four,
        "d:u32 g:u32 h:u32",
        "add.cc.u32 %d, %a, %b;\nmadc.lo.cc.u32 %g, %e, %f, %a;\naddc.u32 %h, 0, 0;",
        lambda a, b, e, f: ((a + b) & m,) + split((e * f & m) + a + ((a + b) >> 32)),
    )


def triple(x, y, sign):
    total = (x + sign * y) & mask(96)
    return (total & mask(32), (total >> 32) & mask(32), total >> 64)


def split(bits):
    return (bits & mask(32), (bits >> 32) & mask(32))


def dot_cases():
    def parts(bits, width, is_signed):
        pieces = [(bits >> s) & mask(width) for s in range(0, 32, width)]
        return [to_signed(p, width) for p in pieces] if is_signed else pieces

    for a_type in ("s32", "u32"):
        for b_type in ("s32", "u32"):
            out = "u32" if a_type == b_type == "u32" else "s32"
            yield case(
                f"dp4a.{a_type}.{b_type}",
                "d = c + sum of four byte products",
                ["b32", "b32", out],
                out,
                lambda a, b, c, s=a_type[0] == "s", u=b_type[0] == "s": (
                    c + sum(x * y for x, y in zip(parts(a, 8, s), parts(b, 8, u)))
                ),
            )
            for half in ("lo", "hi"):
                yield case(
                    f"dp2a.{half}.{a_type}.{b_type}",
                    f"d = c + two products with the {half} bytes of b",
                    ["b32", "b32", out],
                    out,
                    lambda a, b, c, s=a_type[0] == "s", u=b_type[0] == "s", h=2 if half == "hi" else 0: (
                        c + sum(x * y for x, y in zip(parts(a, 16, s), parts(b, 8, u)[h : h + 2]))
                    ),
                )
