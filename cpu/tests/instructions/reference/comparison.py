"""Comparisons and selection: setp set selp slct."""

from reference import ieee
from reference.ieee import FORMATS
from reference.kernel import Case
from reference.values import WIDTH, is_float, lane_type, mask, operand_rows, to_signed

INTEGER = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare(relation, type_name, ftz=False):
    """A model on bits: ordered relations are false on NaN, those ending in u are true."""

    def on_floats(a, b):
        x, y = FORMATS[type_name].decode(a, ftz), FORMATS[type_name].decode(b, ftz)
        unordered = x is None or y is None
        if relation in ("nan", "num"):
            return int(unordered == (relation == "nan"))
        if unordered:
            return int(len(relation) == 3)
        return int(INTEGER[relation[:2]](ieee.order(x), ieee.order(y)))

    def on_integers(a, b):
        if type_name[0] == "s":
            a, b = to_signed(a, WIDTH[type_name]), to_signed(b, WIDTH[type_name])
        return int(INTEGER[{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(relation, relation)](a, b))

    return on_floats if is_float(type_name) else on_integers


def close_pairs(type_name):
    """Equal operands and neighbours, which random pairs never are."""
    rows = operand_rows(f"pairs {type_name}", [type_name], 8)[-12:]
    return [(a, a) for (a,) in rows] + [(a, a ^ 1) for (a,) in rows]


def setp(relation, type_name, more=""):
    spelling = f"setp.{relation}{more}.{type_name}"
    new = {"version": "7.8", "target": "sm_90"} if type_name == "bf16" else {}
    return Case(
        spelling,
        f"p = a {relation} b",
        f"a:{type_name} b:{type_name}",
        "p:pred",
        f"{spelling} %p, %a, %b;",
        close_pairs(type_name) + operand_rows(spelling, [type_name] * 2, 56),
        compare(relation, type_name, "ftz" in more),
        **new,
    )


def cases():
    for t in ["s16", "u16", "b16", "s32", "u32", "b32", "s64", "u64", "b64"]:
        relations = ["eq", "ne"] if t[0] == "b" else ["eq", "ne", "lt", "le", "gt", "ge"]
        for relation in relations + (["lo", "ls", "hi", "hs"] if t == "u32" else []):
            yield setp(relation, t)
    for t in ("f32", "f64", "f16"):
        for relation in ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]:
            yield setp(relation, t)
    for relation in ("lt", "eq", "gtu"):
        yield setp(relation, "f32", ".ftz")
        yield setp(relation, "bf16")
    yield from combined_cases()
    yield from set_cases()
    yield from select_cases()


def combined_cases():
    """Two results, and a comparison combined with a predicate."""
    rows = close_pairs("s32") + operand_rows("setp.two", ["s32", "s32"], 56)
    yield Case(
        "setp.lt.s32.both",
        "p = a < b, q = its complement",
        "a:s32 b:s32",
        "p:pred q:pred",
        "setp.lt.s32 %p|%q, %a, %b;",
        rows,
        lambda a, b: (compare("lt", "s32")(a, b), 1 - compare("lt", "s32")(a, b)),
    )
    for name, combine in (("and", lambda x, c: x & c), ("or", lambda x, c: x | c), ("xor", lambda x, c: x ^ c)):
        with_c = [(a, b, i % 2) for i, (a, b) in enumerate(rows)]
        yield Case(
            f"setp.lt.{name}.s32",
            f"p = (a < b) {name} c, q = (a >= b) {name} c",
            "a:s32 b:s32 c:pred",
            "p:pred q:pred",
            f"setp.lt.{name}.s32 %p|%q, %a, %b, %c;",
            with_c,
            lambda a, b, c, f=combine: (f(compare("lt", "s32")(a, b), c), f(1 - compare("lt", "s32")(a, b), c)),
        )
    with_c = [(a, b, i % 2) for i, (a, b) in enumerate(operand_rows("setp.f32", ["f32", "f32"]))]
    yield Case(
        "setp.gtu.and.f32",
        "p = (a > b or unordered) and not c",
        "a:f32 b:f32 c:pred",
        "p:pred",
        "setp.gtu.and.f32 %p, %a, %b, !%c;",
        with_c,
        lambda a, b, c: compare("gtu", "f32")(a, b) & (1 - c),
    )


def set_cases():
    one = {"f32": FORMATS["f32"].one, "u32": mask(32), "s32": mask(32), "f16": FORMATS["f16"].one}
    for relation, to_type, from_type in (
        ("eq", "f16", "f16"),
        ("lt", "u32", "s32"),
        ("lt", "s32", "f32"),
        ("gtu", "f32", "f32"),
        ("ne", "u32", "f64"),
        ("ge", "f32", "u32"),
        ("nan", "u32", "f32"),
        ("le", "u32", "f16"),
    ):
        spelling = f"set.{relation}.{to_type}.{from_type}"
        yield Case(
            spelling,
            f"d = a {relation} b, as all ones or 1.0",
            f"a:{from_type} b:{from_type}",
            f"d:{to_type}",
            f"{spelling} %d, %a, %b;",
            close_pairs(from_type) + operand_rows(spelling, [from_type] * 2),
            lambda a, b, r=relation, t=to_type, s=from_type: one[t] if compare(r, s)(a, b) else 0,
        )
    for relation in ("eq", "gt"):
        spelling = f"set.{relation}.f16x2.f16x2"
        half = lambda a, b, r=relation: one["f16"] if compare(r, "f16")(a, b) else 0  # noqa: E731
        yield Case(
            spelling,
            f"both halves: d = a {relation} b as 1.0",
            "a:f16x2 b:f16x2",
            "d:f16x2",
            f"{spelling} %d, %a, %b;",
            operand_rows(spelling, ["f16x2"] * 2),
            lambda a, b, half=half: half(a & 0xFFFF, b & 0xFFFF) | half(a >> 16, b >> 16) << 16,
        )


def select_cases():
    for t in ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"]:
        rows = [(a, b, i % 2) for i, (a, b) in enumerate(operand_rows(f"selp.{t}", [t, t], 24))]
        yield Case(
            f"selp.{t}",
            "d = c ? a : b, bits unchanged",
            f"a:{t} b:{t} c:pred",
            f"d:{t}",
            f"selp.{t} %d, %a, %b, %c;",
            rows,
            lambda a, b, c: a if c else b,
            tolerance="exact",
        )
        if t[0] == "b" and lane_type(t) is None:
            yield Case(
                f"slct.{t}.s32",
                "d = c >= 0 ? a : b",
                f"a:{t} b:{t} c:s32",
                f"d:{t}",
                f"slct.{t}.s32 %d, %a, %b, %c;",
                operand_rows(f"slct.{t}", [t, t, "s32"], 40),
                lambda a, b, c: b if c >> 31 else a,
            )
    yield Case(
        "slct.f32.f32",
        "d = c >= 0 ? a : b; NaN takes b",
        "a:f32 b:f32 c:f32",
        "d:f32",
        "slct.f32.f32 %d, %a, %b, %c;",
        operand_rows("slct.f32.f32", ["f32"] * 3, 48),
        lambda a, b, c: a if compare("ge", "f32")(c, 0) else b,
    )
