"""ld and st in every state space, vector size and cache operator; mov, cvta, isspacep, prefetch."""

import random

from reference.kernel import REGISTER, Case, memory_type, place, register_type
from reference.values import WIDTH, operand_rows, random_bits, to_signed, mask
from table import SIZES

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


def cases():
    for text in LOADS.split():
        access = Access("ld", text)
        yield {"param": load_parameter, "const": load_constant, "shared": load_shared, "local": load_local}.get(
            access.space, load_global)(access)
        if access.space == "param":
            yield load_callee_parameter(access)
    for text in STORES.split():
        access = Access("st", text)
        yield {"param": store_parameter, "shared": store_shared, "local": store_local}.get(access.space, store_global)(access)
    yield from generic_cases()
    yield from address_cases()
    yield from move_cases()
    yield from extension_cases()


def load_global(access):
    """The prologue's own loads are bypassed: %in already points at the row."""
    body = f"{access.spelling} {access.vector('d')}, [%in];"
    return LoadCase(access, "the row in global memory", body, access.rows(), lambda rows: rows)


class LoadCase(Case):
    """A load whose inputs are not read by the prologue but by the instruction itself."""

    def __init__(self, access, says, body, rows, order, **more):
        super().__init__(access.spelling, f"loads {says}", access.columns("", access.type), access.columns("d", access.register),
                         body, rows, model_all=lambda all_rows: [access.extended(r) for r in order(all_rows)],
                         tolerance="exact", **more)
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
    return [f"ld.global.{memory_type(access.type)} %{n}, [{address}{place(i * access.size)}];"
            for i, n in enumerate(access.names)]


def element_stores(access, space, address, prefix=""):
    return [f"st.{space}.{memory_type(access.type)} [{address}{place(i * access.size)}], %{prefix}{n};"
            for i, n in enumerate(access.names)]


def declare(access, prefix=""):
    return f".reg {register_type(access.type)} {', '.join('%' + prefix + n for n in access.names)};"


def load_shared(access):
    """Every thread writes its row and, after a barrier, reads the row of the thread opposite."""
    rows = access.rows()
    body = [*element_loads(access), "mov.u32 %cell, cells;", f"mad.lo.s32 %mine, %row, {access.bytes}, %cell;",
            *element_stores(access, "shared", "%mine"), "bar.sync 0;", f"sub.s32 %other, {len(rows) - 1}, %row;",
            f"mad.lo.s32 %other, %other, {access.bytes}, %cell;", f"{access.spelling} {access.vector('d')}, [%other];"]
    return LoadCase(access, "what the opposite thread stored in shared memory", "\n".join(body), rows, lambda r: r[::-1],
                    module=f".shared .align 16 .b8 cells[{len(rows) * access.bytes}];",
                    registers=declare(access) + "\n.reg .b32 %cell, %mine, %other;")


def load_local(access):
    rows = access.rows()
    body = [*element_loads(access), "mov.u64 %depot, depot;", "and.b32 %slot, %row, 3;",
            f"mad.wide.u32 %mine, %slot, {access.bytes}, %depot;", *element_stores(access, "local", "%mine"),
            f"{access.spelling} {access.vector('d')}, [%mine];"]
    return LoadCase(access, "what the thread stored in its local memory", "\n".join(body), rows, lambda r: r,
                    registers=f".local .align 16 .b8 depot[{4 * access.bytes}];\n" + declare(access)
                    + "\n.reg .b64 %depot, %mine;\n.reg .b32 %slot;")


def literal(bits, type_name):
    if type_name == "f32":
        return f"0f{bits:08X}"
    return f"0d{bits:016X}" if type_name == "f64" else f"0x{bits:x}" if type_name[0] != "s" else str(
        to_signed(bits, WIDTH[type_name]))


def load_constant(access):
    rows = access.rows()
    values = ", ".join(literal(v, access.type) for row in rows for v in row)
    count = len(rows) * access.lanes
    body = ["mov.u64 %table, constants;", f"mad.wide.u32 %table, %row, {access.bytes}, %table;",
            f"{access.spelling} {access.vector('d')}, [%table];"]
    return LoadCase(access, "an element of an initialised constant array", "\n".join(body), rows, lambda r: r,
                    module=f".const .align 16 .{access.type} constants[{count}] = {{{values}}};", registers=".reg .b64 %table;")


def load_parameter(access):
    """One thread reads a structure passed by value at constant offsets."""
    rows = access.rows(4)[:6]
    step = (access.bytes + 15) // 16 * 16
    blob = b"".join(b"".join(v.to_bytes(access.size, "little") for v in row).ljust(step, b"\0") for row in rows)
    body, outputs, stored = [], [], []
    for index, row in enumerate(rows):
        names = [f"d{index}{n}" for n in access.names]
        registers = ", ".join("%" + n for n in names)
        body.append(f"{access.spelling} {registers if access.lanes == 1 else '{' + registers + '}'}, [structure{place(index * step)}];")
        outputs += [f"{n}:{access.register}" for n in names]
        stored += access.extended(row)
    return Case(access.spelling, "loads members of a structure passed to the kernel", "", " ".join(outputs), "\n".join(body), [()],
                lambda: tuple(stored), tolerance="exact", parameters=f", .param .align 16 .b8 structure[{len(blob)}]",
                headers={"params": blob.hex()})


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
    function = [f".func (.param .align 8 .b8 result[{8 * access.lanes}]) read(.param .align 16 .b8 x[16])", "{",
                f"\t.reg {register} {', '.join('%r' + n for n in access.names)};",
                "\t.reg .b32 %bits32;", "\t.reg .b64 %wide, %bits64;", f"\t{access.spelling} {outs}, [x];",
                *("\t" + line for line in inner), "\tret;", "}"]
    body = [*element_loads(access), "{", ".param .align 16 .b8 x[16];", f".param .align 8 .b8 result[{8 * access.lanes}];",
            *(f"st.param.b{8 * access.size} [x{place(i * access.size)}], %{n};" for i, n in enumerate(access.names)),
            "call (result), read, (x);",
            *(f"ld.param.b64 %d{n}, [result{place(8 * i)}];" for i, n in enumerate(access.names)), "}"]
    case = Case(f"{access.spelling}.callee", "loads a function's parameter", access.columns("", access.type),
                access.columns("d", "b64"), "\n".join(body), rows, lambda *row: access.extended(row), tolerance="exact",
                module="\n".join(function))
    return case


def store_global(access):
    body = f"{access.spelling} [%out], {access.vector('')};"
    return StoreCase(access, "the row to global memory", body, lambda rows: rows)


class StoreCase(Case):
    """A store whose outputs are not written by the epilogue but by the instruction itself."""

    def __init__(self, access, says, body, order, **more):
        super().__init__(access.spelling, f"stores {says}", access.columns("", access.type), access.columns("d", access.type),
                         body, access.rows(), model_all=lambda rows: [tuple(r) for r in order(rows)], tolerance="exact", **more)
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
    return [f"ld.{space}.{memory_type(access.type)} %d{n}, [{address}{place(i * access.size)}];"
            for i, n in enumerate(access.names)]


def store_shared(access):
    count = len(access.rows())
    body = ["mov.u32 %cell, cells;", f"mad.lo.s32 %mine, %row, {access.bytes}, %cell;",
            f"{access.spelling} [%mine], {access.vector('')};", "bar.sync 0;", f"sub.s32 %other, {count - 1}, %row;",
            f"mad.lo.s32 %other, %other, {access.bytes}, %cell;", *element_reads(access, "shared", "%other")]
    return StoreCase(access, "to shared memory, read by the opposite thread", "\n".join(body), lambda rows: rows[::-1],
                     module=f".shared .align 16 .b8 cells[{count * access.bytes}];", registers=".reg .b32 %cell, %mine, %other;")


def store_local(access):
    body = ["mov.u64 %depot, depot;", "and.b32 %slot, %row, 3;", f"mad.wide.u32 %mine, %slot, {access.bytes}, %depot;",
            f"{access.spelling} [%mine], {access.vector('')};", *element_reads(access, "local", "%mine")]
    return StoreCase(access, "to the thread's local memory and back", "\n".join(body), lambda rows: rows,
                     registers=f".local .align 16 .b8 depot[{4 * access.bytes}];\n.reg .b64 %depot, %mine;\n.reg .b32 %slot;")


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


def generic_cases():
    """Generic addresses into shared and local memory."""
    for opcode, t in (("ld", "u32"), ("ld", "f64"), ("st", "u32"), ("st", "f64")):
        for space in ("shared", "local"):
            values = operand_rows(f"{opcode}.{t} {space}", [t], 24)
            size = SIZES[t]
            if space == "shared":
                setup = ["mov.u64 %base, cells;", "cvta.shared.u64 %base, %base;", f"mad.wide.u32 %mine, %row, {size}, %base;",
                         "mov.u32 %near, cells;", f"mad.lo.s32 %near, %row, {size}, %near;"]
                near, more = "%near", {"module": f".shared .align 8 .b8 cells[{size * len(values)}];"}
                registers = ".reg .b64 %base, %mine;\n.reg .b32 %near;"
            else:
                setup = ["mov.u64 %near, depot;", "cvta.local.u64 %mine, %near;"]
                near, more = "%near", {}
                registers = ".local .align 8 .b8 depot[8];\n.reg .b64 %near, %mine;"
            if opcode == "ld":
                access = [f"st.{space}.{t} [{near}], %a;", f"ld.{t} %d, [%mine];"]
            else:
                access = [f"st.{t} [%mine], %a;", f"ld.{space}.{t} %d, [{near}];"]
            yield Case(f"{opcode}.{t}.{space}_window", f"a generic {opcode} at an address in {space} memory", f"a:{t}", f"d:{t}",
                       "\n".join(setup + access), values, lambda a: a, registers=registers, tolerance="exact", **more)


def address_cases():
    values = [(v,) for v in range(24)]
    table = ", ".join(str(100 + 3 * n) for n in range(24))
    triple = lambda a: 100 + 3 * a  # noqa: E731
    for name, says, setup in (
        ("cvta.global.u64", "global to generic", "mov.u64 %p, table;\ncvta.global.u64 %p, %p;"),
        ("cvta.to.global.u64", "generic to global", "mov.u64 %p, table;\ncvta.global.u64 %p, %p;\ncvta.to.global.u64 %p, %p;"),
        ("cvta.const.u64", "const to generic", "mov.u64 %p, fixed;\ncvta.const.u64 %p, %p;"),
        ("cvta.to.const.u64", "generic to const", "mov.u64 %p, fixed;\ncvta.const.u64 %p, %p;\ncvta.to.const.u64 %p, %p;")):
        space = {"cvta.to.global.u64": ".global", "cvta.to.const.u64": ".const"}.get(name, "")
        yield Case(name, f"{says} address of an initialised array", "a:u32", "d:u32",
                   f"{setup}\nmad.wide.u32 %p, %a, 4, %p;\nld{space}.u32 %d, [%p];", values, triple, registers=".reg .b64 %p;",
                   module=f".global .align 4 .u32 table[24] = {{{table}}};\n.const .align 4 .u32 fixed[24] = {{{table}}};")
    for space, declare_in_module in (("shared", True), ("local", False)):
        array = f".{space} .align 4 .b8 cells[{4 * len(values)}];"
        for direction in ("", "to."):
            there = f"mov.u64 %p, cells;\ncvta.{space}.u64 %p, %p;\nmad.wide.u32 %p, %a, 4, %p;\n"
            use = "st.u32 [%p], %a;\nld.u32 %d, [%p];" if not direction else (
                f"st.u32 [%p], %a;\ncvta.to.{space}.u64 %p, %p;\nld.{space}.u32 %d, [%p];")
            yield Case(f"cvta.{direction}{space}.u64", f"{space} to generic{' and back' if direction else ''}", "a:u32", "d:u32",
                       there + use, values, lambda a: a, registers=("" if declare_in_module else array + "\n") + ".reg .b64 %p;",
                       module=array if declare_in_module else "")
    for space in ("global", "shared", "local", "const"):
        body = f"""mov.u64 %g, global_word;
cvta.global.u64 %g, %g;
isspacep.{space} %d0, %g;
mov.u64 %s, shared_word;
cvta.shared.u64 %s, %s;
isspacep.{space} %d1, %s;
mov.u64 %l, local_word;
cvta.local.u64 %l, %l;
isspacep.{space} %d2, %l;
mov.u64 %c, const_word;
cvta.const.u64 %c, %c;
isspacep.{space} %d3, %c;"""
        # Where constants lie is the driver's choice: on a GPU they are a window of global memory.
        truth = tuple(int(space == s) for s in ("global", "shared", "local")) + ("*",)
        yield Case(f"isspacep.{space}", f"which of four generic addresses are in {space} memory", "", "d0:pred d1:pred d2:pred d3:pred",
                   body, [()] * 4, lambda truth=truth: truth, registers=".local .align 4 .b8 local_word[4];\n.reg .b64 %g, %s, %l, %c;",
                   module=".global .align 4 .u32 global_word;\n.shared .align 4 .u32 shared_word;\n"
                          ".const .align 4 .u32 const_word = 5;", notes=lambda: "d3: whether const is also global is open")
    for name in ("prefetch.global.L2", "prefetch.global.L1", "prefetch.L1", "prefetchu.L1"):
        yield Case(name, "changes nothing", "a:u32", "d:u32", f"{name} [%in];\nmov.u32 %d, %a;", values, lambda a: a)


def move_cases():
    for t in "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split():
        yield Case(f"mov.{t}", "d = a, bits unchanged", f"a:{t}", f"d:{t}", f"mov.{t} %d, %a;", operand_rows(f"mov.{t}", [t], 24),
                   lambda a: a, tolerance="exact")
    yield Case("mov.pred", "d = a", "a:pred", "d:pred", "mov.pred %d, %a;", [(0,), (1,), (1,), (0,)], lambda a: a)
    for t, text, bits in (("u32", "0xdeadbeef", 0xDEADBEEF), ("s32", "-7", 0xFFFFFFF9), ("u64", "0x123456789abcdef0", 0x123456789ABCDEF0),
                          ("b16", "-2", 0xFFFE), ("f32", "0f3FC00000", 0x3FC00000), ("f64", "0dBFF8000000000000", 0xBFF8000000000000),
                          ("f32", "-2.5", 0xC0200000), ("b32", "(1 << 4) + 2", 18), ("u64", "07777", 0o7777), ("u32", "0b1011", 11)):
        name = f"mov.{t}.immediate.{bits:x}"
        yield Case(name, f"d = the constant {text}", "", f"d:{t}", f"mov.{t} %d, {text};", [()] * 2, lambda bits=bits: bits)
    quarter = mask(16)
    yield Case("mov.b32.pack", "d = two halves, the first one lowest", "a:b16 b:b16", "d:b32", "mov.b32 %d, {%a, %b};",
               operand_rows("pack", ["b16", "b16"], 24), lambda a, b: a | b << 16)
    yield Case("mov.b32.unpack", "d, e = the halves of a", "a:b32", "d:b16 e:b16", "mov.b32 {%d, %e}, %a;",
               operand_rows("unpack", ["b32"], 24), lambda a: (a & quarter, a >> 16))
    yield Case("mov.b64.pack", "d = two words, the first one lowest", "a:b32 b:b32", "d:b64", "mov.b64 %d, {%a, %b};",
               operand_rows("pack", ["b32", "b32"], 24), lambda a, b: a | b << 32)
    yield Case("mov.b64.unpack", "d, e = the words of a", "a:b64", "d:b32 e:b32", "mov.b64 {%d, %e}, %a;",
               operand_rows("unpack", ["b64"], 24), lambda a: (a & mask(32), a >> 32))
    four = operand_rows("pack four", ["b16"] * 4, 24)
    yield Case("mov.b64.pack4", "d = four halves, the first one lowest", "a:b16 b:b16 c:b16 e:b16", "d:b64",
               "mov.b64 %d, {%a, %b, %c, %e};", four, lambda a, b, c, e: a | b << 16 | c << 32 | e << 48)
    yield Case("mov.b64.unpack4", "d, e, f, g = the quarters of a", "a:b64", "d:b16 e:b16 f:b16 g:b16",
               "mov.b64 {%d, %e, %f, %g}, %a;", operand_rows("unpack four", ["b64"], 24),
               lambda a: tuple(a >> s & quarter for s in (0, 16, 32, 48)))
    yield Case("mov.u64.address", "d = the word at a module variable plus an offset", "", "d:u32 e:u32",
               "mov.u64 %p, table;\nld.global.u32 %d, [%p+4];\nmov.u64 %p, table+8;\nld.global.u32 %e, [%p];", [()] * 2,
               lambda: (22, 33), module=".global .align 4 .u32 table[3] = {11, 22, 33};", registers=".reg .b64 %p;")
    yield Case("mov.u64.pointer_variable", "follows a module variable initialised with another's address", "", "d:u32",
               "ld.global.u64 %p, [pointer];\nld.u32 %d, [%p];", [()] * 2, lambda: 33, registers=".reg .b64 %p;",
               module=".global .align 4 .u32 table[3] = {11, 22, 33};\n.global .align 8 .u64 pointer = generic(table)+8;")


def extension_cases():
    """Loads into registers wider than the type extend by the type's sign; stores from wider registers truncate."""
    for t, wide in (("s8", "b32"), ("u8", "b32"), ("s16", "b32"), ("u16", "b32"), ("s8", "b64"), ("s16", "b64"), ("s32", "b64"),
                    ("u32", "b64")):
        bits = WIDTH[wide]
        extend = (lambda a, t=t, bits=bits: to_signed(a, WIDTH[t]) & mask(bits)) if t[0] == "s" else (lambda a: a)
        yield Case(f"ld.global.{t}.into_{wide}", f"a {t} extended into a {wide} register", f"a:{t}", f"d:{wide}",
                   f"ld.global.{t} %d, [%in];", operand_rows(f"extend {t}", [t], 24), extend)
    for t, wide in (("u8", "b32"), ("u16", "b32"), ("u8", "b64"), ("u32", "b64")):
        access = Access("st", f"global.{t}")
        case = Case(f"st.global.{t}.from_{wide}", f"the low {WIDTH[t]} bits of a {wide} register", f"a:{wide}", f"d:{t}",
                    f"st.global.{t} [%out], %a;", operand_rows(f"truncate {t}", [wide], 24), lambda a, t=t: a & mask(WIDTH[t]))
        case.stores = lambda: []
        del access
        yield case
