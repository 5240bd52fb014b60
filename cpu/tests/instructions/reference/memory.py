"""ld and st in every state space, vector size and cache operator."""

import random

from table import SIZES

from reference.kernel import REGISTER, Case, memory_type, place, register_type
from reference.values import WIDTH, mask, operand_rows, random_bits, to_signed

LOADS = """
param.u64 param.u32 param.f32 param.v2.u32 param.s8 param.f64 param.b32 param.v2.f32 param.u8 param.v2.u8 param.v4.u8 param.u16
param.s32 param.b64 param.s16
global.u32 global.f32 global.nc.u32 global.nc.f32 global.v4.u32 global.u64 global.f64 global.nc.f64 global.u16 global.u8
global.nc.u64 global.nc.u16 global.nc.u8 volatile.global.u32 global.v4.f32 relaxed.gpu.v2.u32 global.v2.f32 global.nc.v2.u64
global.nc.v4.f32 global.nc.v4.u32 global.nc.v2.f32 relaxed.gpu.v2.u64 global.nc.v2.f64 global.v4.u8 global.s32 global.s8
global.cs.f32 global.nc.v2.u32 relaxed.sys.b64 global.v2.u32 global.cs.v4.s32 acquire.cta.u32 u32 f32 global.nc.v2.u16
relaxed.sys.b32 u64 global.s16 global.v2.f64 global.cs.b16 f64 global.v2.u8 global.nc.v4.u8 global.nc.s32 global.v2.u16
volatile.global.f32 acquire.gpu.u32 acquire.gpu.v2.u32 volatile.global.v4.u32 ca.u32 cg.u32 u8 relaxed.gpu.u32 global.v4.u16
acquire.sys.global.u8 volatile.global.u64 volatile.global.u8 global.cg.b32 global.v2.u64 global.cs.v4.f32 relaxed.cta.b32 v2.f32
global.s64 s16 s8 v4.u32 global.lu.u32 global.cv.u32 global.ca.v2.u64 global.nc.s8 global.nc.s16
shared.u32 shared.f32 shared.v4.u32 shared.v4.f32 shared.v2.f32 shared.u64 volatile.shared.u32 shared.u16 shared.f64
shared.v2.u32 shared.u8 volatile.shared.f32 shared.s32 shared.v2.u16 shared.v2.u64 shared.v2.f64 shared.s8 shared.s16
volatile.shared.u64 shared.v4.u8 volatile.shared.f64 volatile.shared.u16 volatile.shared.u8 shared.v4.u16 shared.v2.u8
local.u32 local.f32 local.f64 local.u8 local.v2.f32 local.u64 local.v2.f64 local.v2.u32 local.v4.f32 local.s8 local.v4.u32
local.s16 local.v2.u64 local.s32 local.u16 local.v4.u8
const.f32 const.f64 const.u32 const.u16 const.v4.f32 const.v2.u32 const.u64 const.u8 const.s8 const.v4.u32 const.v2.f32 const.s16
"""

STORES = """
global.f32 global.u32 global.u64 global.f64 global.v4.u32 global.u8 global.u16 volatile.global.u32 global.v4.f32 global.v2.f32
relaxed.gpu.v2.u32 global.v2.u32 relaxed.gpu.v2.u64 global.cs.f32 global.v4.u8 volatile.global.f32 global.v2.u64 global.v4.u16
u32 global.v2.u8 global.v2.f64 f64 f32 global.cs.v4.s32 release.gpu.v2.u32 u64 global.cg.v4.s32 cg.u32 release.gpu.u32
release.sys.global.u8 volatile.global.u8 relaxed.cta.b32 global.cs.b16 global.v2.u16 global.wb.u32 global.wt.u32 v4.f32 u8 u16
shared.u32 shared.f32 shared.u64 shared.v2.f32 shared.v4.f32 volatile.shared.u32 shared.v4.u32 shared.f64 shared.u8
shared.v2.u32 shared.u16 volatile.shared.f32 volatile.shared.u64 volatile.shared.f64 shared.v4.u8 shared.v2.u16 shared.v2.u64
shared.v2.f64 volatile.shared.u8 volatile.shared.u16
local.u32 local.v2.u32 local.v4.u32 local.u64 local.v4.f32 local.f64 local.f32 local.u8 local.v2.f64 local.v4.u8 local.v2.f32
local.u16 local.v4.u16 local.v2.u64 local.v2.u8
param.b64 param.b32 param.f64 param.f32
"""

SPACES = ("param", "global", "shared", "local", "const")


class Access:
    """The modifiers of one ld or st taken apart."""

    def __init__(self, opcode, text):
        mods = text.split(".")
        self.spelling = f"{opcode}.{text}"
        self.type = mods[-1]
        self.lanes = next((int(m[1]) for m in mods if m in ("v2", "v4")), 1)
        self.space = next((m for m in mods if m in SPACES), "generic")
        self.size = SIZES[self.type]
        self.bytes = self.size * self.lanes
        # A byte loaded with its sign is shown in the 16-bit register it is extended into.
        self.register = "b16" if self.size == 1 and opcode == "ld" else self.type
        self.names = ["abcd"[i] for i in range(self.lanes)]

    def columns(self, prefix, type_name):
        return " ".join(f"{prefix}{n}:{type_name}" for n in self.names)

    def vector(self, prefix):
        registers = [f"%{prefix}{n}" for n in self.names]
        return registers[0] if self.lanes == 1 else "{" + ", ".join(registers) + "}"

    def extended(self, row):
        if self.size != 1 or self.register != "b16":
            return tuple(row)
        return tuple(to_signed(v, 8) & mask(16) if self.type == "s8" else v for v in row)

    def rows(self, count=12):
        edges = operand_rows(self.spelling, [self.type], 8)
        rng = random.Random(self.spelling)
        flat = [v for (v,) in edges][:18] + [random_bits(rng, self.type) for _ in range(count * self.lanes)]
        return [tuple(flat[i : i + self.lanes]) for i in range(0, len(flat) - self.lanes + 1, self.lanes)][: 12 + count]


def whole_of_128_bits():
    yield Case(
        "ld.b128",
        "d and e are b and a, through memory as 128 bits",
        "a:b64 b:b64",
        "d:b64 e:b64",
        """mov.u32 %at, cells;
mad.lo.u32 %at, %row, 16, %at;
mov.b128 %both, {%b, %a};
st.shared.b128 [%at], %both;
ld.shared.b128 %again, [%at];
mov.b128 {%d, %e}, %again;""",
        operand_rows("ld.b128", ["b64", "b64"])[:64],
        lambda a, b: (b, a),
        module=".shared .align 16 .b8 cells[1024];",
        registers=".reg .b32 %at;\n.reg .b128 %both, %again;",
        version="8.3",
        target="sm_90",
    )


def cases():
    yield from whole_of_128_bits()
    yield from stack_cases()
    for text in LOADS.split():
        access = Access("ld", text)
        yield {"param": load_parameter, "const": load_constant, "shared": load_shared, "local": load_local}.get(
            access.space, load_global
        )(access)
        if access.space == "param":
            yield load_callee_parameter(access)
    for text in STORES.split():
        access = Access("st", text)
        yield {"param": store_parameter, "shared": store_shared, "local": store_local}.get(access.space, store_global)(
            access
        )


def load_global(access):
    """The prologue's own loads are bypassed: %in already points at the row."""
    body = f"{access.spelling} {access.vector('d')}, [%in];"
    return LoadCase(access, "the row in global memory", body, access.rows(), lambda rows: rows)


class LoadCase(Case):
    """A load whose inputs are not read by the prologue but by the instruction itself."""

    def __init__(self, access, says, body, rows, order, **more):
        super().__init__(
            access.spelling,
            f"loads {says}",
            access.columns("", access.type),
            access.columns("d", access.register),
            body,
            rows,
            model_all=lambda all_rows: [access.extended(r) for r in order(all_rows)],
            tolerance="exact",
            **more,
        )
        self.prologue_inputs = False

    def declarations(self):
        outputs, self.inputs_kept = self.outputs, self.inputs
        self.inputs = []
        try:
            return super().declarations()
        finally:
            self.inputs, self.outputs = self.inputs_kept, outputs

    def prologue(self):
        lines = super().prologue()
        return [line for line in lines if "[%in" not in line]


def element_loads(access, address="%in"):
    """Plain loads of every element into %a, %b..., for kernels that then put them elsewhere."""
    return [
        f"ld.global.{memory_type(access.type)} %{n}, [{address}{place(i * access.size)}];"
        for i, n in enumerate(access.names)
    ]


def element_stores(access, space, address, prefix=""):
    return [
        f"st.{space}.{memory_type(access.type)} [{address}{place(i * access.size)}], %{prefix}{n};"
        for i, n in enumerate(access.names)
    ]


def declare(access, prefix=""):
    return f".reg {register_type(access.type)} {', '.join('%' + prefix + n for n in access.names)};"


def load_shared(access):
    """Every thread writes its row and, after a barrier, reads the row of the thread opposite."""
    rows = access.rows()
    body = [
        *element_loads(access),
        "mov.u32 %cell, cells;",
        f"mad.lo.s32 %mine, %row, {access.bytes}, %cell;",
        *element_stores(access, "shared", "%mine"),
        "bar.sync 0;",
        f"sub.s32 %other, {len(rows) - 1}, %row;",
        f"mad.lo.s32 %other, %other, {access.bytes}, %cell;",
        f"{access.spelling} {access.vector('d')}, [%other];",
    ]
    return LoadCase(
        access,
        "what the opposite thread stored in shared memory",
        "\n".join(body),
        rows,
        lambda r: r[::-1],
        module=f".shared .align 16 .b8 cells[{len(rows) * access.bytes}];",
        registers=declare(access) + "\n.reg .b32 %cell, %mine, %other;",
    )


def stack_cases():
    """Arrays whose length the thread chooses, filled upwards and read downwards, in a loop that gives them back."""
    fill = """
mov.u32 %d, 0;
mov.u32 %n, %a;
again:
{save}
mul.wide.u32 %bytes, %n, 4;
alloca.u64 %array, %bytes{align};
and.b64 %low, %array, {mask};
mov.u32 %i, 0;
up:
mad.wide.u32 %at, %i, 4, %array;
st.local.u32 [%at], %i;
add.u32 %i, %i, 1;
setp.lt.u32 %more, %i, %n;
@%more bra up;
down:
sub.u32 %i, %i, 1;
mad.wide.u32 %at, %i, 4, %array;
ld.local.u32 %x, [%at];
mad.lo.u32 %d, %d, 3, %x;
setp.gt.u32 %more, %i, 0;
@%more bra down;
{restore}
sub.u32 %n, %n, 1;
setp.gt.u32 %more, %n, 0;
@%more bra again;"""
    for name, save, restore, align in (
        ("alloca.u64", "", "", 8),
        ("alloca.u64.align", "", "", 32),
        ("stacksave.u64", "stacksave.u64 %kept;", "stackrestore.u64 %kept;", 8),
    ):
        yield Case(
            name,
            "what threads keep in arrays of their own lengths, and whether the last one is aligned",
            "a:u32",
            "d:u32 low:u64",
            fill.format(save=save, restore=restore, mask=align - 1, align=f", {align}" if align > 8 else ""),
            [(n,) for n in (1, 2, 3, 5, 8, 13, 7)],  # a GPU's stack has 1 KiB
            lambda n: (reversed_digits(n), 0),
            version="7.3",
            registers=".reg .b32 %n, %i, %x;\n.reg .b64 %bytes, %array, %at, %kept;\n.reg .pred %more;",
        )


def reversed_digits(longest):
    total = 0
    for length in range(longest, 0, -1):
        for i in range(length - 1, -1, -1):
            total = (3 * total + i) & 0xFFFFFFFF
    return total


def load_local(access):
    rows = access.rows()
    body = [
        *element_loads(access),
        "mov.u64 %depot, depot;",
        "and.b32 %slot, %row, 3;",
        f"mad.wide.u32 %mine, %slot, {access.bytes}, %depot;",
        *element_stores(access, "local", "%mine"),
        f"{access.spelling} {access.vector('d')}, [%mine];",
    ]
    return LoadCase(
        access,
        "what the thread stored in its local memory",
        "\n".join(body),
        rows,
        lambda r: r,
        registers=f".local .align 16 .b8 depot[{4 * access.bytes}];\n"
        + declare(access)
        + "\n.reg .b64 %depot, %mine;\n.reg .b32 %slot;",
    )


def literal(bits, type_name):
    if type_name == "f32":
        return f"0f{bits:08X}"
    return (
        f"0d{bits:016X}"
        if type_name == "f64"
        else f"0x{bits:x}"
        if type_name[0] != "s"
        else str(to_signed(bits, WIDTH[type_name]))
    )


def load_constant(access):
    rows = access.rows()
    values = ", ".join(literal(v, access.type) for row in rows for v in row)
    count = len(rows) * access.lanes
    body = [
        "mov.u64 %table, constants;",
        f"mad.wide.u32 %table, %row, {access.bytes}, %table;",
        f"{access.spelling} {access.vector('d')}, [%table];",
    ]
    return LoadCase(
        access,
        "an element of an initialised constant array",
        "\n".join(body),
        rows,
        lambda r: r,
        module=f".const .align 16 .{access.type} constants[{count}] = {{{values}}};",
        registers=".reg .b64 %table;",
    )


def load_parameter(access):
    """One thread reads a structure passed by value at constant offsets."""
    rows = access.rows(4)[:6]
    step = (access.bytes + 15) // 16 * 16
    blob = b"".join(b"".join(v.to_bytes(access.size, "little") for v in row).ljust(step, b"\0") for row in rows)
    body, outputs, stored = [], [], []
    for index, row in enumerate(rows):
        names = [f"d{index}{n}" for n in access.names]
        registers = ", ".join("%" + n for n in names)
        body.append(
            f"{access.spelling} {registers if access.lanes == 1 else '{' + registers + '}'}, [structure{place(index * step)}];"
        )
        outputs += [f"{n}:{access.register}" for n in names]
        stored += access.extended(row)
    return Case(
        access.spelling,
        "loads members of a structure passed to the kernel",
        "",
        " ".join(outputs),
        "\n".join(body),
        [()],
        lambda: tuple(stored),
        tolerance="exact",
        parameters=f", .param .align 16 .b8 structure[{len(blob)}]",
        headers={"params": blob.hex()},
    )


def load_callee_parameter(access):
    """A function reads its own parameter, a structure that the caller filled."""
    rows = access.rows()
    outs = access.vector("r")
    register = REGISTER[SIZES[access.register]] if access.type not in ("f32", "f64") else "." + access.type
    widen = {2: "cvt.u64.u16", 4: "cvt.u64.u32"}
    inner = []
    for i, n in enumerate(access.names):
        bits = f"%r{n}"
        if access.type in ("f32", "f64"):
            inner.append(f"mov.b{8 * access.size} %bits{8 * access.size}, {bits};")
            bits = f"%bits{8 * access.size}"
        size = SIZES[access.register]
        inner.append(f"{widen[size]} %wide, {bits};" if size < 8 else f"mov.b64 %wide, {bits};")
        inner.append(f"st.param.b64 [result{place(8 * i)}], %wide;")
    function = [
        f".func (.param .align 8 .b8 result[{8 * access.lanes}]) read(.param .align 16 .b8 x[16])",
        "{",
        f"\t.reg {register} {', '.join('%r' + n for n in access.names)};",
        "\t.reg .b32 %bits32;",
        "\t.reg .b64 %wide, %bits64;",
        f"\t{access.spelling} {outs}, [x];",
        *("\t" + line for line in inner),
        "\tret;",
        "}",
    ]
    body = [
        *element_loads(access),
        "{",
        ".param .align 16 .b8 x[16];",
        f".param .align 8 .b8 result[{8 * access.lanes}];",
        *(f"st.param.b{8 * access.size} [x{place(i * access.size)}], %{n};" for i, n in enumerate(access.names)),
        "call (result), read, (x);",
        *(f"ld.param.b64 %d{n}, [result{place(8 * i)}];" for i, n in enumerate(access.names)),
        "}",
    ]
    return Case(
        f"{access.spelling}.callee",
        "loads a function's parameter",
        access.columns("", access.type),
        access.columns("d", "b64"),
        "\n".join(body),
        rows,
        lambda *row: access.extended(row),
        tolerance="exact",
        module="\n".join(function),
    )


def store_global(access):
    body = f"{access.spelling} [%out], {access.vector('')};"
    return StoreCase(access, "the row to global memory", body, lambda rows: rows)


class StoreCase(Case):
    """A store whose outputs are not written by the epilogue but by the instruction itself."""

    def __init__(self, access, says, body, order, **more):
        super().__init__(
            access.spelling,
            f"stores {says}",
            access.columns("", access.type),
            access.columns("d", access.type),
            body,
            access.rows(),
            model_all=lambda rows: [tuple(r) for r in order(rows)],
            tolerance="exact",
            **more,
        )
        self.writes_itself = "[%out]" in body

    def stores(self):
        return [] if self.writes_itself else super().stores()

    def declarations(self):
        kept = self.outputs
        self.outputs = [] if self.writes_itself else kept
        try:
            return super().declarations()
        finally:
            self.outputs = kept


def element_reads(access, space, address):
    return [
        f"ld.{space}.{memory_type(access.type)} %d{n}, [{address}{place(i * access.size)}];"
        for i, n in enumerate(access.names)
    ]


def store_shared(access):
    count = len(access.rows())
    body = [
        "mov.u32 %cell, cells;",
        f"mad.lo.s32 %mine, %row, {access.bytes}, %cell;",
        f"{access.spelling} [%mine], {access.vector('')};",
        "bar.sync 0;",
        f"sub.s32 %other, {count - 1}, %row;",
        f"mad.lo.s32 %other, %other, {access.bytes}, %cell;",
        *element_reads(access, "shared", "%other"),
    ]
    return StoreCase(
        access,
        "to shared memory, read by the opposite thread",
        "\n".join(body),
        lambda rows: rows[::-1],
        module=f".shared .align 16 .b8 cells[{count * access.bytes}];",
        registers=".reg .b32 %cell, %mine, %other;",
    )


def store_local(access):
    body = [
        "mov.u64 %depot, depot;",
        "and.b32 %slot, %row, 3;",
        f"mad.wide.u32 %mine, %slot, {access.bytes}, %depot;",
        f"{access.spelling} [%mine], {access.vector('')};",
        *element_reads(access, "local", "%mine"),
    ]
    return StoreCase(
        access,
        "to the thread's local memory and back",
        "\n".join(body),
        lambda rows: rows,
        registers=f".local .align 16 .b8 depot[{4 * access.bytes}];\n.reg .b64 %depot, %mine;\n.reg .b32 %slot;",
    )


def store_parameter(access):
    """The caller stores an argument, the callee stores its result: both are st.param."""
    t = access.type
    kind = register_type(t)
    function = f""".func (.param .{t} out) same(.param .{t} x)
{{
\t.reg {kind} %x;
\tld.param.{t} %x, [x];
\t{access.spelling} [out], %x;
\tret;
}}"""
    body = f"""{{
.param .{t} x;
.param .{t} result;
{access.spelling} [x], %a;
call (result), same, (x);
ld.param.{t} %da, [result];
}}"""
    return StoreCase(access, "an argument and a result", body, lambda rows: rows, module=function)
