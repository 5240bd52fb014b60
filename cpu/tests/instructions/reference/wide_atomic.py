"""Atomics on 128 bits and on vectors, each thread on memory of its own: the old value, and what is there afterwards."""

import random

from reference.ieee import BF16, F16, F32
from reference.kernel import Case
from reference.values import mask, number

WIDE = {"version": "8.3", "target": "sm_90"}


def words(letter, count, kind="b32"):
    return " ".join(f"{letter}{n}:{kind}" for n in range(count))


def whole(name, operation, model, sources):
    rng = random.Random("cucore " + name)
    rows = []
    for n in range(32):
        row = [rng.getrandbits(64) for _ in range(2 * sources + 2)]
        if n % 2 and sources == 2:
            row[2:4] = row[0:2]  # the values compared are equal
        if n % 4 == 2 and sources == 2:
            row[2:4] = row[0], row[1] ^ 1 << 63
        rows.append(tuple(row))
    packs = "\n".join(f"mov.b128 %v{s}, {{%b{2 * s}, %b{2 * s + 1}}};" for s in range(sources))
    return Case(
        name,
        "the old 128 bits, and those there afterwards",
        "a0:b64 a1:b64 " + words("b", 2 * sources, "b64"),
        "d0:b64 d1:b64 e0:b64 e1:b64",
        f"""
mov.u64 %at, cells;
mad.wide.u32 %at, %row, 16, %at;
st.global.v2.b64 [%at], {{%a0, %a1}};
{packs}
{operation}
mov.b128 {{%d0, %d1}}, %old;
ld.global.v2.b64 {{%e0, %e1}}, [%at];""",
        rows,
        model,
        module=".global .align 16 .b8 cells[512];",
        registers=".reg .b64 %at;\n.reg .b128 %v<2>, %old;",
        **WIDE,
    )


def vector(name, says, kind, width, bits, fmt, *, reduces=False):
    """Small integers, so that every sum is exact."""
    rng = random.Random("cucore " + name)
    per_word = 32 // bits
    count = width * bits // 32 if bits < 32 else width
    make = lambda: sum(number(fmt, rng.randrange(-99, 100)) << bits * n for n in range(per_word))  # noqa: E731
    rows = [tuple(make() for _ in range(2 * count)) for _ in range(32)]

    def add(x, y):
        total = 0
        for n in range(per_word):
            a, b = (fmt.decode(v >> bits * n & mask(bits)).value for v in (x, y))
            total |= number(fmt, a + b) << bits * n
        return total

    def model(*row):
        sums = tuple(add(x, y) for x, y in zip(row[:count], row[count:]))
        return sums if reduces else (*row[:count], *sums)

    list_of = lambda letter, n: "{" + ", ".join(f"%{letter}{k}" for k in range(n)) + "}"  # noqa: E731
    load = f"ld.global.v{count}.b32" if count > 1 else "ld.global.b32"
    split = kind in ("f16", "bf16")
    elements = count * 2 if split else count
    unpack = [f"mov.b32 {{%y{2 * n}, %y{2 * n + 1}}}, %b{n};" for n in range(count)] if split else []
    pack = [f"mov.b32 %d{n}, {{%x{2 * n}, %x{2 * n + 1}}};" for n in range(count)] if split else []
    from_, to = ("y", "x") if split else ("b", "d")
    operands = (
        f"[%at], {list_of(from_, elements)};"
        if reduces
        else f"{list_of(to, elements)}, [%at], {list_of(from_, elements)};"
    )
    lines = [
        "mov.u64 %at, cells;",
        "mad.wide.u32 %at, %row, 16, %at;",
        *[f"st.global.b32 [%at+{4 * n}], %a{n};" for n in range(count)],
        *unpack,
        f"{name} {operands}",
        *([] if reduces else pack),
        f"{load} {list_of('e', count) if count > 1 else '%e0'}, [%at];",
    ]
    return Case(
        name,
        says,
        f"{words('a', count)} {words('b', count)}",
        words("e", count) if reduces else f"{words('d', count)} {words('e', count)}",
        "\n".join(lines),
        rows,
        model,
        module=".global .align 16 .b8 cells[512];",
        registers=".reg .b64 %at;\n.reg .b16 %x<8>, %y<8>;",
        **WIDE | {"version": "8.1"},
    )


def cases():
    yield whole(
        "atom.global.cas.b128",
        "atom.global.cas.b128 %old, [%at], %v0, %v1;",
        lambda a0, a1, b0, b1, c0, c1: (a0, a1, *((c0, c1) if (a0, a1) == (b0, b1) else (a0, a1))),
        2,
    )
    yield whole(
        "atom.global.exch.b128", "atom.global.exch.b128 %old, [%at], %v0;", lambda a0, a1, b0, b1: (a0, a1, b0, b1), 1
    )
    for width in (2, 4):
        yield vector(f"atom.global.add.v{width}.f32", "sums of floats", "f32", width, 32, F32)
        yield vector(f"red.global.add.v{width}.f32", "sums of floats", "f32", width, 32, F32, reduces=True)
        yield vector(f"atom.global.add.noftz.v{width}.f16x2", "sums of halves", "f16x2", 2 * width, 16, F16)
        yield vector(f"red.global.add.noftz.v{width}.bf16x2", "sums", "bf16x2", 2 * width, 16, BF16, reduces=True)
    for width in (2, 4, 8):
        yield vector(f"atom.global.add.noftz.v{width}.bf16", "sums", "bf16", width, 16, BF16)
        yield vector(f"red.global.add.noftz.v{width}.f16", "sums of halves", "f16", width, 16, F16, reduces=True)
