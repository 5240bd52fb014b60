"""Addresses and moves: mov, cvta, isspacep, generic accesses, prefetch, and ld or st with a register wider than the type."""

from table import SIZES

from reference.kernel import Case
from reference.values import WIDTH, mask, operand_rows, to_signed


def cases():
    yield from generic_cases()
    yield from address_cases()
    yield from element_cases()
    yield from move_cases()
    yield from extension_cases()


def generic_cases():
    """Generic addresses into shared and local memory."""
    for opcode, t in (("ld", "u32"), ("ld", "f64"), ("st", "u32"), ("st", "f64")):
        for space in ("shared", "local"):
            values = operand_rows(f"{opcode}.{t} {space}", [t], 24)
            size = SIZES[t]
            if space == "shared":
                setup = [
                    "mov.u64 %base, cells;",
                    "cvta.shared.u64 %base, %base;",
                    f"mad.wide.u32 %mine, %row, {size}, %base;",
                    "mov.u32 %near, cells;",
                    f"mad.lo.s32 %near, %row, {size}, %near;",
                ]
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
            yield Case(
                f"{opcode}.{t}.{space}_window",
                f"a generic {opcode} at an address in {space} memory",
                f"a:{t}",
                f"d:{t}",
                "\n".join(setup + access),
                values,
                lambda a: a,
                registers=registers,
                tolerance="exact",
                **more,
            )


def address_cases():
    values = [(v,) for v in range(24)]
    table = ", ".join(str(100 + 3 * n) for n in range(24))
    triple = lambda a: 100 + 3 * a  # noqa: E731
    for name, says, setup in (
        ("cvta.global.u64", "global to generic", "mov.u64 %p, table;\ncvta.global.u64 %p, %p;"),
        (
            "cvta.to.global.u64",
            "generic to global",
            "mov.u64 %p, table;\ncvta.global.u64 %p, %p;\ncvta.to.global.u64 %p, %p;",
        ),
        ("cvta.const.u64", "const to generic", "mov.u64 %p, fixed;\ncvta.const.u64 %p, %p;"),
        (
            "cvta.to.const.u64",
            "generic to const",
            "mov.u64 %p, fixed;\ncvta.const.u64 %p, %p;\ncvta.to.const.u64 %p, %p;",
        ),
    ):
        space = {"cvta.to.global.u64": ".global", "cvta.to.const.u64": ".const"}.get(name, "")
        yield Case(
            name,
            f"{says} address of an initialised array",
            "a:u32",
            "d:u32",
            f"{setup}\nmad.wide.u32 %p, %a, 4, %p;\nld{space}.u32 %d, [%p];",
            values,
            triple,
            registers=".reg .b64 %p;",
            module=f".global .align 4 .u32 table[24] = {{{table}}};\n.const .align 4 .u32 fixed[24] = {{{table}}};",
        )
    for space, declare_in_module in (("shared", True), ("local", False)):
        array = f".{space} .align 4 .b8 cells[{4 * len(values)}];"
        for direction in ("", "to."):
            there = f"mov.u64 %p, cells;\ncvta.{space}.u64 %p, %p;\nmad.wide.u32 %p, %a, 4, %p;\n"
            use = (
                "st.u32 [%p], %a;\nld.u32 %d, [%p];"
                if not direction
                else (f"st.u32 [%p], %a;\ncvta.to.{space}.u64 %p, %p;\nld.{space}.u32 %d, [%p];")
            )
            yield Case(
                f"cvta.{direction}{space}.u64",
                f"{space} to generic{' and back' if direction else ''}",
                "a:u32",
                "d:u32",
                there + use,
                values,
                lambda a: a,
                registers=("" if declare_in_module else array + "\n") + ".reg .b64 %p;",
                module=array if declare_in_module else "",
            )
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
        yield Case(
            f"isspacep.{space}",
            f"which of four generic addresses are in {space} memory",
            "",
            "d0:pred d1:pred d2:pred d3:pred",
            body,
            [()] * 4,
            lambda truth=truth: truth,
            registers=".local .align 4 .b8 local_word[4];\n.reg .b64 %g, %s, %l, %c;",
            module=".global .align 4 .u32 global_word;\n.shared .align 4 .u32 shared_word;\n"
            ".const .align 4 .u32 const_word = 5;",
            notes=lambda: "d3: whether const is also global is open",
        )
    for name in ("prefetch.global.L2", "prefetch.global.L1", "prefetch.L1", "prefetchu.L1"):
        yield Case(name, "changes nothing", "a:u32", "d:u32", f"{name} [%in];\nmov.u32 %d, %a;", values, lambda a: a)


def element_cases():
    """Elements of arrays by an index: of the scalar type in every array, the index scaled in 32 bits without a sign."""
    table = ", ".join(str(100 + 3 * n) for n in range(24))
    values = [(v,) for v in range(24)]
    for space, arrays in (
        ("global", ("cells[24]", "cells[4][6]", ".v4 cells[6]")),
        ("const", ("cells[24]",)),
        ("shared", ("cells[24]",)),
        ("local", ("cells[24]",)),
    ):
        for n, array in enumerate(arrays):
            vector, _, name = array.rpartition(" ")
            written = space in ("shared", "local")
            declared = f".{space} .align 16 {vector} .u32 {name}" + (";" if written or n else f" = {{{table}}};")
            put = "mad.lo.u32 %v, %a, 3, 100;\n"
            if written:
                put += f"st.{space}.u32 cells[%a], %v;\n"
            elif n:
                put += "mov.u64 %p, cells;\nmad.wide.u32 %p, %a, 4, %p;\nst.global.u32 [%p], %v;\n"
            yield Case(
                f"ld.{space}.u32.element" + (f".{n}" if n else ""),
                f"an element of {array.replace(' ', '.u32 ')} by an index in a register",
                "a:u32",
                "d:u32",
                f"{put}ld.{space}.u32 %d, cells[%a];",
                values,
                lambda a: 100 + 3 * a,
                registers=(declared + "\n" if space == "local" else "") + ".reg .b64 %p;\n.reg .b32 %v;",
                module="" if space == "local" else declared,
            )
    module = f".global .align 4 .u32 cells[24] = {{{table}}};"
    registers = ".reg .b64 %p, %w;\n.reg .b16 %h;\n.reg .pred %q;"
    wrapped = [(v & 0xFFFFFFFF,) for v in range(-3, 20)]
    for name, says, body, rows, wanted in (
        ("constant", "with a constant index", "ld.global.u32 %d, cells[7];", values, lambda a: 121),
        (
            "sum",
            "at an index and a constant",
            "ld.global.u32 %d, cells[%a+3];",
            wrapped,
            lambda a: 100 + 3 * ((a + 3) & 31),
        ),
        (
            "b64",
            "at a 64-bit index",
            "cvt.s64.s32 %w, %a;\nld.global.u32 %d, cells[%w+3];",
            wrapped,
            lambda a: 100 + 3 * ((a + 3) & 31),
        ),
        (
            "b16",
            "at a 16-bit index",
            "cvt.u16.u32 %h, %a;\nld.global.u32 %d, cells[%h];",
            values,
            lambda a: 100 + 3 * a,
        ),
        (
            "guarded",
            "under a guard",
            "mov.u32 %d, 1;\nsetp.lt.u32 %q, %a, 24;\n@%q ld.global.u32 %d, cells[%a];",
            values + [(24,), (0xFFFFFFFF,)],
            lambda a: 100 + 3 * a if a < 24 else 1,
        ),
    ):
        yield Case(
            f"ld.global.u32.element.{name}",
            f"an element {says}",
            "a:u32",
            "d:u32",
            body,
            rows,
            wanted,
            registers=registers,
            module=module,
        )
    yield Case(
        "mov.u64.element",
        "the address of an element by an index in a register",
        "a:u32",
        "d:u32",
        "mov.u64 %p, cells[%a];\nld.global.u32 %d, [%p];",
        values,
        lambda a: 100 + 3 * a,
        registers=registers,
        module=module,
    )
    for name, index, row in (("of_vectors", "2", ".v2 .u32 cells[8]"), ("of_rows", "5", ".u32 cells[4][4]")):
        yield Case(
            f"mov.u64.element.{name}",
            f"the distance of an element of {row.replace(' .', '.')} from its array",
            "",
            "d:u64",
            f"mov.u64 %p, cells;\nmov.u64 %d, cells[{index}];\nsub.u64 %d, %d, %p;",
            [()],
            lambda index=index: 4 * int(index),
            registers=".reg .b64 %p;",
            module=f".global .align 16 {row};",
        )


def move_cases():
    for t in ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"]:
        yield Case(
            f"mov.{t}",
            "d = a, bits unchanged",
            f"a:{t}",
            f"d:{t}",
            f"mov.{t} %d, %a;",
            operand_rows(f"mov.{t}", [t], 24),
            lambda a: a,
            tolerance="exact",
        )
    yield Case("mov.pred", "d = a", "a:pred", "d:pred", "mov.pred %d, %a;", [(0,), (1,), (1,), (0,)], lambda a: a)
    for t, text, bits in (
        ("u32", "0xdeadbeef", 0xDEADBEEF),
        ("s32", "-7", 0xFFFFFFF9),
        ("u64", "0x123456789abcdef0", 0x123456789ABCDEF0),
        ("b16", "-2", 0xFFFE),
        ("f32", "0f3FC00000", 0x3FC00000),
        ("f64", "0dBFF8000000000000", 0xBFF8000000000000),
        ("f32", "-2.5", 0xC0200000),
        ("b32", "(1 << 4) + 2", 18),
        ("u64", "07777", 0o7777),
        ("u32", "0b1011", 11),
    ):
        name = f"mov.{t}.immediate.{bits:x}"
        yield Case(
            name, f"d = the constant {text}", "", f"d:{t}", f"mov.{t} %d, {text};", [()] * 2, lambda bits=bits: bits
        )
    quarter = mask(16)
    yield Case(
        "mov.b32.pack",
        "d = two halves, the first one lowest",
        "a:b16 b:b16",
        "d:b32",
        "mov.b32 %d, {%a, %b};",
        operand_rows("pack", ["b16", "b16"], 24),
        lambda a, b: a | b << 16,
    )
    yield Case(
        "mov.b32.unpack",
        "d, e = the halves of a",
        "a:b32",
        "d:b16 e:b16",
        "mov.b32 {%d, %e}, %a;",
        operand_rows("unpack", ["b32"], 24),
        lambda a: (a & quarter, a >> 16),
    )
    yield Case(
        "mov.b64.pack",
        "d = two words, the first one lowest",
        "a:b32 b:b32",
        "d:b64",
        "mov.b64 %d, {%a, %b};",
        operand_rows("pack", ["b32", "b32"], 24),
        lambda a, b: a | b << 32,
    )
    yield Case(
        "mov.b64.unpack",
        "d, e = the words of a",
        "a:b64",
        "d:b32 e:b32",
        "mov.b64 {%d, %e}, %a;",
        operand_rows("unpack", ["b64"], 24),
        lambda a: (a & mask(32), a >> 32),
    )
    four = operand_rows("pack four", ["b16"] * 4, 24)
    yield Case(
        "mov.b64.pack4",
        "d = four halves, the first one lowest",
        "a:b16 b:b16 c:b16 e:b16",
        "d:b64",
        "mov.b64 %d, {%a, %b, %c, %e};",
        four,
        lambda a, b, c, e: a | b << 16 | c << 32 | e << 48,
    )
    yield Case(
        "mov.b64.unpack4",
        "d, e, f, g = the quarters of a",
        "a:b64",
        "d:b16 e:b16 f:b16 g:b16",
        "mov.b64 {%d, %e, %f, %g}, %a;",
        operand_rows("unpack four", ["b64"], 24),
        lambda a: tuple(a >> s & quarter for s in (0, 16, 32, 48)),
    )
    yield Case(
        "mov.u64.address",
        "d = the word at a module variable plus an offset",
        "",
        "d:u32 e:u32",
        "mov.u64 %p, table;\nld.global.u32 %d, [%p+4];\nmov.u64 %p, table+8;\nld.global.u32 %e, [%p];",
        [()] * 2,
        lambda: (22, 33),
        module=".global .align 4 .u32 table[3] = {11, 22, 33};",
        registers=".reg .b64 %p;",
    )
    yield Case(
        "mov.u64.pointer_variable",
        "follows a module variable initialised with another's address",
        "",
        "d:u32",
        "ld.global.u64 %p, [pointer];\nld.u32 %d, [%p];",
        [()] * 2,
        lambda: 33,
        registers=".reg .b64 %p;",
        module=".global .align 4 .u32 table[3] = {11, 22, 33};\n.global .align 8 .u64 pointer = generic(table)+8;",
    )


def extension_cases():
    """Loads into registers wider than the type extend by the type's sign; stores from wider registers truncate."""
    for t, wide in (
        ("s8", "b32"),
        ("u8", "b32"),
        ("s16", "b32"),
        ("u16", "b32"),
        ("s8", "b64"),
        ("s16", "b64"),
        ("s32", "b64"),
        ("u32", "b64"),
    ):
        bits = WIDTH[wide]
        extend = (lambda a, t=t, bits=bits: to_signed(a, WIDTH[t]) & mask(bits)) if t[0] == "s" else (lambda a: a)
        yield Case(
            f"ld.global.{t}.into_{wide}",
            f"a {t} extended into a {wide} register",
            f"a:{t}",
            f"d:{wide}",
            f"ld.global.{t} %d, [%in];",
            operand_rows(f"extend {t}", [t], 24),
            extend,
        )
    for t, wide in (("u8", "b32"), ("u16", "b32"), ("u8", "b64"), ("u32", "b64")):
        case = Case(
            f"st.global.{t}.from_{wide}",
            f"the low {WIDTH[t]} bits of a {wide} register",
            f"a:{wide}",
            f"d:{t}",
            f"st.global.{t} [%out], %a;",
            operand_rows(f"truncate {t}", [wide], 24),
            lambda a, t=t: a & mask(WIDTH[t]),
        )
        case.stores = list
        yield case
