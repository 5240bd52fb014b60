"""cp.reduce.async.bulk: arrays in shared memory, combined element by element into global or shared memory."""

import random

from reference.ieee import BF16, F16, F32, F64
from reference.kernel import Case
from reference.values import mask, number, to_signed

THREADS = 64
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
OPERATIONS = {
    "add": lambda old, new: old + new,
    "min": min,
    "max": max,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "inc": lambda old, new: 0 if old >= new else old + 1,
    "dec": lambda old, new: new if old == 0 or old > new else old - 1,
}


def combine(operation, kind, width, old, new):
    if kind in FORMATS:
        fmt = FORMATS[kind]
        return number(fmt, OPERATIONS[operation](fmt.decode(old).value, fmt.decode(new).value))
    if kind.startswith("s"):
        old, new = to_signed(old, width), to_signed(new, width)
    return OPERATIONS[operation](old, new) & mask(width)


def reduction(operation, kind, within=False):
    width = int(kind.lstrip("usbf"))
    size, word = width // 8, f"b{width}"
    noftz = ".noftz" if width == 16 else ""
    way = "shared::cluster.shared::cta.mbarrier::complete_tx::bytes" if within else "global.shared::cta.bulk_group"
    name = f"cp.reduce.async.bulk.{'shared::cluster.shared::cta' if within else 'global.shared::cta'}.{operation}{noftz}.{kind}"
    rng = random.Random("cucore " + name)
    make = lambda: number(FORMATS[kind], rng.randrange(-50, 51)) if kind in FORMATS else rng.getrandbits(width)  # noqa: E731
    target = "targets" if within else "elsewhere"
    space = "shared" if within else "global"
    if within:
        act = f"""
@%first mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], {size * THREADS};
@%first cp.reduce.async.bulk.{way}.{operation}{noftz}.{kind} [targets], [cells], {size * THREADS}, [barrier];
again:
mbarrier.try_wait.parity.shared::cta.b64 %done, [barrier], 0;
@!%done bra again;"""
    else:
        act = f"""
@%first cp.reduce.async.bulk.{way}.{operation}{noftz}.{kind} [%to], [%cells], {size * THREADS};
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
fence.proxy.async;
bar.sync 0;"""
    return Case(
        name,
        "a combined with b, for all threads at once",
        f"a:{word} b:{word}",
        f"d:{word}",
        f"""
setp.eq.u32 %first, %row, 0;
@%first mbarrier.init.shared.b64 [barrier], 1;
mov.u64 %cells, cells;
mov.u64 %to, {target};
mad.wide.u32 %mine, %row, {size}, %cells;
st.shared.{word} [%mine], %b;
mad.wide.u32 %mine, %row, {size}, %to;
st.{space}.{word} [%mine], %a;
fence.proxy.async;
bar.sync 0;{act}
ld.{space}.{word} %d, [%mine];""",
        [(make(), make()) for _ in range(THREADS)],
        lambda a, b: combine(operation, kind, width, a, b),
        module=".shared .align 8 .b64 barrier;\n.shared .align 128 .b8 cells[512];\n.shared .align 128 .b8 targets[512];\n"
        ".global .align 128 .b8 elsewhere[512];",
        registers=".reg .pred %first, %done;\n.reg .b64 %cells, %to, %mine, %state;",
        version="8.1",
        target="sm_90",
        directives=".reqnctapercluster 1, 1, 1" if within else "",
        family="cp",
    )


def cases():
    for kind in ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"):
        yield reduction("add", kind)
    for operation in ("min", "max"):
        for kind in ("u32", "s32", "u64", "s64"):
            yield reduction(operation, kind)
    for operation in ("and", "or", "xor"):
        for kind in ("b32", "b64"):
            yield reduction(operation, kind)
    for operation in ("inc", "dec"):
        yield reduction(operation, "u32")
    for operation, kind in (
        ("add", "u32"),
        ("add", "u64"),
        ("min", "s32"),
        ("max", "u32"),
        ("xor", "b32"),
        ("inc", "u32"),
    ):
        yield reduction(operation, kind, within=True)
