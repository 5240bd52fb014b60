"""Atomic additions of f32 at the lower end: in global memory subnormal operands and results become zeros of their sign and
every NaN 0x7fffffff, in shared memory subnormal numbers are kept, and by bulk reductions everywhere. A generic address counts
as what it points to."""

import random

from reference.floating import ADD
from reference.ieee import F32
from reference.kernel import Case

TELLING = [0, 1, 0x7FFFFF, 0x400000, 0x800000, 0x800001, 0xFFFFFF, 0x1000000, 0x3F800000]
SIGNED = [bits | sign for bits in TELLING for sign in (0, F32.sign)]
SPECIAL = [0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFF812345]
KEEP, FLUSH = ADD("add", F32), ADD("add.ftz", F32)

# The space that is spelt, the cell's address, and the space that the cell is in.
PLACES = {
    "global": ("global.", "%at", "global"),
    "shared": ("shared.", "%at", "shared"),
    "generic": ("", "%at", "global"),
    "generic.shared": ("", "%generic", "shared"),
}


def pairs(space):
    """NaNs in global memory alone: what a host makes of them elsewhere is left open."""
    rng = random.Random("cucore subnormal atomics")
    tiny = lambda: rng.getrandbits(1) << 31 | rng.randrange(0x1800000)  # noqa: E731
    special = [(a, b) for a in SPECIAL for b in (1, *SPECIAL)] if space == "global" else []
    return [(a, b) for a in SIGNED for b in SIGNED] + special + [(tiny(), tiny()) for _ in range(64)]


def words(letter, count):
    return " ".join(f"{letter}{n}:b32" for n in range(count))


def braced(letter, count):
    return "{" + ", ".join(f"%{letter}{n}" for n in range(count)) + "}" if count > 1 else f"%{letter}0"


def addition(opcode, place, width=1):
    spelt, address, space = PLACES[place]
    text = f"{spelt}add.v{width}.f32" if width > 1 else f"{spelt}add.f32"
    flat = [bits for pair in pairs(space) for bits in pair]
    flat += [0] * (-len(flat) % (2 * width))
    rows = []
    for n in range(0, len(flat), 2 * width):
        several = flat[n : n + 2 * width]
        rows.append((*several[0::2], *several[1::2]))
    add = FLUSH if space == "global" else KEEP

    def model(*row):
        sums = tuple(add(a, b) for a, b in zip(row[:width], row[width:]))
        return sums if opcode == "red" else (*sums, *row[:width])

    size = 4 * width
    lines = ["mov.u64 %at, cells;", f"mad.wide.u32 %at, %row, {size}, %at;"]
    if address == "%generic":
        lines += ["cvta.shared.u64 %generic, %at;"]
    lines += [f"st.{space}.b32 [%at+{4 * n}], %a{n};" for n in range(width)]
    lines += [f"mov.b32 %f{n}, %b{n};" for n in range(width)]
    result = f"{braced('g', width)}, " if opcode == "atom" else ""
    if address == "%at" and spelt == "":
        lines += ["cvta.global.u64 %generic, %at;"]
        address = "%generic"
    lines += [f"{opcode}.{text} {result}[{address}], {braced('f', width)};"]
    lines += [f"ld.{space}.b32 %d{n}, [%at+{4 * n}];" for n in range(width)]
    if opcode == "atom":
        lines += [f"mov.b32 %e{n}, %g{n};" for n in range(width)]
    name = f"{opcode}.{text}.subnormal" if spelt else f"{opcode}.{text}.{place}.subnormal"
    return Case(
        name,
        "what a sum leaves of subnormal numbers",
        f"{words('a', width)} {words('b', width)}",
        words("d", width) + (" " + words("e", width) if opcode == "atom" else ""),
        "\n".join(lines),
        rows,
        model,
        module=f".{space} .align 16 .b8 cells[{size * len(rows)}];",
        registers=".reg .b64 %at, %generic;\n.reg .f32 %f<4>, %g<4>;",
        **({"version": "8.1", "target": "sm_90"} if width > 1 else {}),
    )


def bulk_addition():
    """As a reduction of an array; a row is an element. NaNs are left out as in shared memory."""
    rows = pairs("shared")
    rows = rows[: len(rows) // 4 * 4]
    size = 4 * len(rows)
    return Case(
        "cp.reduce.async.bulk.global.shared::cta.add.f32.subnormal",
        "a combined with b, for all threads at once",
        "a:b32 b:b32",
        "d:b32",
        f"""
setp.eq.u32 %first, %row, 0;
mov.u64 %cells, cells;
mov.u64 %to, elsewhere;
mad.wide.u32 %mine, %row, 4, %cells;
st.shared.b32 [%mine], %b;
mad.wide.u32 %mine, %row, 4, %to;
st.global.b32 [%mine], %a;
fence.proxy.async;
bar.sync 0;
@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%to], [%cells], {size};
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
fence.proxy.async;
bar.sync 0;
ld.global.b32 %d, [%mine];""",
        rows,
        KEEP,
        module=f".shared .align 128 .b8 cells[{size}];\n.global .align 128 .b8 elsewhere[{size}];",
        registers=".reg .pred %first;\n.reg .b64 %cells, %to, %mine;",
        version="8.1",
        target="sm_90",
        family="cp",
    )


def cases():
    for opcode in ("atom", "red"):
        for place in PLACES:
            yield addition(opcode, place)
        for width in (2, 4):
            yield addition(opcode, "global", width)
    yield bulk_addition()
