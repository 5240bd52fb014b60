"""atom and red: each spelling on a word of the thread's own (every edge value), then a word that a whole grid fights over."""

from reference.floating import ADD
from reference.ieee import BF16, F16, F32, F64
from reference.integer import value
from reference.kernel import Case, memory_type
from reference.values import WIDTH, mask, operand_rows

ATOMS = """
global.add.u32 shared.add.u32 global.add.u64 global.add.f32 global.cas.b32 global.inc.u32 global.cas.b64 shared.add.f32
global.add.f64 shared.add.f64 or.acq_rel.cta.b32 global.max.s32 global.and.b32 global.exch.b32 shared.exch.b32 global.min.s32
add.release.gpu.u32 global.sys.add.u32 global.or.b32 shared.max.s32 global.dec.u32 global.xor.b32 global.sys.and.b32
global.sys.cas.b32 global.sys.exch.b32 global.sys.max.s32 global.sys.min.s32 global.sys.or.b32 global.sys.xor.b32
global.max.u64 shared.min.s32 shared.or.b32 global.xor.b64 global.sys.add.f64 global.max.u32 global.min.u32 global.sys.dec.u32
global.sys.inc.u32 add.acquire.cta.u32 add.relaxed.cta.u32 add.u32 cas.b32
global.add.s32 global.min.u64 global.min.s64 global.max.s64 global.and.b64 global.or.b64 global.exch.b64 shared.cas.b32
shared.cas.b64 shared.inc.u32 shared.dec.u32 shared.and.b32 shared.xor.b32 shared.add.u64 shared.min.u32 shared.max.u32
global.cta.add.u32 global.gpu.add.u64 add.f32 add.f64 exch.b64 relaxed.gpu.global.add.u32 global.cas.b16
global.add.noftz.f16 global.add.noftz.f16x2 shared.add.noftz.f16x2 add.noftz.f16x2 add.noftz.bf16x2 global.add.noftz.bf16
"""

REDUCTIONS = """
and.release.cta.b32 global.add.u32 global.add.f32 global.add.f64 global.add.u64 global.min.s32 global.max.u32 global.or.b32
global.xor.b64 global.inc.u32 shared.add.u32 shared.add.f32 relaxed.gpu.global.add.s32 add.u32
"""

OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas")
FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def parse(text):
    mods = text.split(".")
    operation = next(m for m in mods if m in OPERATIONS)
    space = next((m for m in mods if m in ("global", "shared")), "generic")
    return operation, space, mods[-1]


def float_add(type_name, space):
    lane = type_name[:-2] if type_name.endswith("x2") else type_name
    # f32 atomics in global memory flush subnormals; in shared memory they keep them.
    one = ADD("add.ftz" if type_name == "f32" and space != "shared" else "add", FLOATS[lane])
    if lane == type_name:
        return one
    return lambda a, b: one(a & 0xFFFF, b & 0xFFFF) | one(a >> 16, b >> 16) << 16


def updater(operation, type_name, space):
    """The new value of the word from its old one and the operands."""
    if type_name in FLOATS or type_name.endswith("x2"):
        return float_add(type_name, space)
    pick = {"min": min, "max": max}
    plain = {
        "add": lambda a, b: a + b,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "exch": lambda a, b: b,
        "inc": lambda a, b: 0 if a >= b else a + 1,
        "dec": lambda a, b: b if a == 0 or a > b else a - 1,
        "cas": lambda a, b, c: c if a == b else a,
    }
    if operation in pick:
        return lambda a, b: pick[operation](a, b, key=lambda bits: value(bits, type_name))
    return lambda *args: plain[operation](*args) & mask(WIDTH[type_name])


def rows_for(spelling, operation, type_name):
    if operation == "cas":
        base = operand_rows(spelling, [type_name] * 2, 24)[:60]
        return [(a, a, b) for a, b in base[:30]] + [(a, b, a ^ 1) for a, b in base[30:]]
    if operation in ("inc", "dec"):
        near = [(a, b) for b in (0, 1, 5, 0xFFFFFFFF) for a in (0, 1, 4, 5, 6, 0xFFFFFFFE, 0xFFFFFFFF)]
        return near + operand_rows(spelling, [type_name] * 2, 24)[:30]
    rows = operand_rows(spelling, [type_name] * 2, 24)
    if type_name == "f32":
        # What becomes of subnormal numbers is subnormal_atomic's.
        rows = [r for r in rows if not any(0 < bits & 0x7FFFFFFF < F32.smallest_normal for bits in r)]
        add = float_add("f32", "shared")
        rows = [r for r in rows if not 0 < add(*r) & 0x7FFFFFFF < F32.smallest_normal]
    return rows


def own_word(opcode, text):
    """Every thread has a word of its own: the values are those of the operation alone."""
    operation, space, type_name = parse(text)
    spelling = f"{opcode}.{text}"
    kind = memory_type(type_name)
    size = WIDTH[type_name] // 8
    rows = rows_for(spelling, operation, type_name)
    names = ["b", "c"] if operation == "cas" else ["b"]
    columns = " ".join(f"{n}:{type_name}" for n in ["a", *names])
    update = updater(operation, type_name, space)
    operands = ", ".join("%" + n for n in names)
    cell = {"global": "%out", "generic": "%out", "shared": "%cell"}[space]
    # In global memory the word lies in the output row itself, where the first column is.
    at = "global" if space == "generic" else space
    body = [f"mov.u32 %cell, cells;\nmad.lo.s32 %cell, %row, {size}, %cell;"] if space == "shared" else []
    body += [f"st.{at}.{kind} [{cell}], %a;"]
    body += [f"{spelling} %old, [{cell}], {operands};" if opcode == "atom" else f"{spelling} [{cell}], {operands};"]
    body += [f"ld.{at}.{kind} %now, [{cell}];"]
    outputs = f"now:{type_name}" + (f" old:{type_name}" if opcode == "atom" else "")
    new = lambda *args: update(*args)  # noqa: E731
    model = (lambda *args: (new(*args), args[0])) if opcode == "atom" else (lambda *args: new(*args))
    version, target = ("7.8", "sm_90") if "bf16" in type_name else ("7.1", "sm_80")
    return Case(
        spelling,
        f"{operation} on a word, old and new value",
        columns,
        outputs,
        "\n".join(body),
        rows,
        model,
        version=version,
        target=target,
        registers=".reg .b32 %cell;" if space == "shared" else "",
        module=f".shared .align 8 .b8 cells[{size * len(rows)}];" if space == "shared" else "",
    )


def cases():
    for text in ATOMS.split():
        yield own_word("atom", text)
    for text in REDUCTIONS.split():
        yield own_word("red", text)
    yield from contended_cases()
    yield lock_free_increment()


def contended_cases():
    """Four blocks of 64 threads update one word; the operations commute, so the sum is certain whatever the order."""
    blocks, threads = 4, 64
    count = blocks * threads
    for opcode, text, literal in (
        ("atom", "global.add.u32", "%a"),
        ("atom", "global.add.u64", "%a"),
        ("atom", "global.add.f64", "%a"),
        ("atom", "global.add.f32", "%a"),
        ("atom", "global.max.s32", "%a"),
        ("atom", "global.or.b32", "%a"),
        ("atom", "global.xor.b32", "%a"),
        ("atom", "global.inc.u32", "1000"),
        ("red", "global.add.u32", "%a"),
        ("red", "global.add.f32", "%a"),
    ):
        operation, _, t = parse(text)
        fmt = FLOATS.get(t)
        values = [(n * 2654435761) & 0xFFFF for n in range(count)]
        rows = [(fmt.encode(False, v) if fmt else v,) for v in values]
        total = {
            "add": sum(values),
            "max": max(values),
            "or": fold(values, lambda x, y: x | y),
            "xor": fold(values, lambda x, y: x ^ y),
            "inc": count,
        }[operation]
        final = fmt.encode(False, total) if fmt else total
        destination = "%old, " if opcode == "atom" else ""
        body = f"ld.param.u64 %word, [out];\n{opcode}.{text} {destination}[%word], {literal};"
        case = Case(
            f"{opcode}.{text}.contended",
            f"{count} threads update one word",
            f"a:{t}",
            f"d:{t}",
            body,
            rows,
            model_all=lambda all_rows, final=final: [final] + [0] * (len(all_rows) - 1),
            block=str(threads),
            grid=str(blocks),
            registers=f".reg .b64 %word;\n.reg .{'f' if fmt else 'b'}{WIDTH[t]} %old;",
            headers={"fill": "0x00"},
        )
        case.stores = list
        yield case
    values = [(n * 40503) & 0xFFF for n in range(96)]
    yield Case(
        "atom.shared.add.u32.contended",
        "a block sums into one shared word",
        "a:u32",
        "d:u32",
        """
setp.eq.s32 %first, %row, 0;
@%first st.shared.u32 [word], 0;
bar.sync 0;
atom.shared.add.u32 %old, [word], %a;
bar.sync 0;
ld.shared.u32 %d, [word];""",
        [(v,) for v in values],
        model_all=lambda rows: [sum(values)] * len(rows),
        module=".shared .align 4 .u32 word;",
        registers=".reg .pred %first;\n.reg .b32 %old;",
    )


def fold(values, combine):
    total = 0
    for v in values:
        total = combine(total, v)
    return total


def lock_free_increment():
    """The usual loop around cas: load, add, swap if unchanged, else again."""
    count = 128
    case = Case(
        "atom.global.cas.b32.contended",
        "128 threads add to one word through a compare-and-swap loop",
        "a:u32",
        "d:u32",
        """
ld.param.u64 %word, [out];
ld.volatile.global.u32 %seen, [%word];
again:
add.s32 %sum, %seen, %a;
mov.u32 %expected, %seen;
atom.global.cas.b32 %seen, [%word], %expected, %sum;
setp.ne.s32 %changed, %seen, %expected;
@%changed bra again;""",
        [(n + 1,) for n in range(count)],
        model_all=lambda rows: [count * (count + 1) // 2] + [0] * (count - 1),
        block="64",
        grid="2",
        registers=".reg .b64 %word;\n.reg .b32 %seen, %sum, %expected;\n.reg .pred %changed;",
        headers={"fill": "0x00"},
    )
    case.stores = list
    return case
