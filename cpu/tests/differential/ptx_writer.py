"""Programs as PTX."""

import re

from operations import KINDS
from program import (
    LEFT_WORD,
    LOCAL_BYTES,
    REGION_BYTES,
    RESULT_WORDS,
    SLOTS,
    TILE_WORDS,
    result_offsets,
)

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
INC_BOUND = 0xFFFF
TEMPORARIES = {"b16": "%th", "b32": "%tw", "b64": "%td", "pred": "%tp"}  # ptxas takes no digit before <count>
SHUFFLE_MODES = {"shfl.variable": "idx", "shfl.first": "idx"}


def with_registers(operation, names):
    """The operation's PTX with registers or constants in place of its columns."""
    return [re.sub(r"%([a-z])\b", lambda m: names[m[1]], line) for line in operation.lines]


def write_module(programs):
    return HEADER + "".join(Writer(program).text() for program in programs)


class Writer:
    """Writes one program: a kernel and its functions."""

    def __init__(self, program):
        self.program = program
        self.lines, self.temporaries, self.labels = [], {}, 0
        self.continues, self.breaks = [], []

    def text(self):
        functions = "".join(self.function(n, f) for n, f in enumerate(self.program.functions))
        self.lines = []
        self.prologue()
        self.statements(self.program.body)
        self.epilogue()
        self.line("ret")
        parameters = ".param .u64 in, .param .u64 out, .param .u32 n"
        return functions + self.body(f".visible .entry {self.program.name}({parameters})")

    def body(self, signature):
        declared = [
            f".reg .{kind.register} " + ", ".join(f"%{letter}{n}" for n in range(kind.variables)) + ";"
            for letter, kind in KINDS.items()
        ]
        declared += [f".reg .{kind} {TEMPORARIES[kind]}<{count}>;" for kind, count in self.temporaries.items()]
        declared += [".reg .b64 %in, %out, %accumulators;", ".reg .b32 %linear, %global;"]
        if ".entry" in signature:
            declared += [f".local .align 8 .b8 own[{LOCAL_BYTES}];", f".shared .align 8 .b8 tile[{4 * TILE_WORDS}];"]
        text = f"{signature}\n{{\n" + "".join(f"  {line}\n" for line in declared + self.lines) + "}\n"
        self.lines, self.temporaries = [], {}
        return text

    def line(self, text):
        self.lines.append(text + ";")

    def temporary(self, register):
        count = self.temporaries.get(register, 0)
        self.temporaries[register] = count + 1
        return f"{TEMPORARIES[register]}{count}"

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def place(self, label):
        self.lines.append(f"{label}:")

    def compute(self, register, text):
        """A new register with the result of an instruction whose destination is left out of `text`."""
        result = self.temporary(register)
        opcode, operands = text.split(" ", 1)
        self.line(f"{opcode} {result}, {operands}")
        return result

    def prologue(self):
        program = self.program
        for name in ("in", "out"):
            self.line(f"ld.param.u64 %{name}, [{name}]")
        x, y, z = (self.compute("b32", f"mov.u32 %tid.{axis}") for axis in "xyz")
        rows = self.compute("b32", f"mad.lo.u32 {z}, {program.block[1]}, {y}")
        width = self.compute("b32", "mov.u32 %ntid.x")
        self.line(f"mad.lo.u32 %linear, {rows}, {width}, {x}")
        block = self.compute("b32", "mov.u32 %ctaid.x")
        self.line(f"mad.lo.u32 %global, {block}, {program.threads}, %linear")
        self.line(f"add.u64 %accumulators, %out, {4 * program.threads * program.grid * RESULT_WORDS}")
        offset = self.compute("b64", f"mul.wide.u32 %global, {4 * RESULT_WORDS}")
        self.line(f"add.u64 %out, %out, {offset}")
        first = self.compute("b32", "and.b32 %global, 63")
        at = {width: self.compute("b64", f"mad.wide.u32 {first}, {width // 8}, %in") for width in (16, 32, 64)}
        for letter in "rdhfexyuv":
            width = KINDS[letter].width
            for n in range(KINDS[letter].variables):
                offset = REGION_BYTES * list(KINDS).index(letter) + 16 * n * width // 8
                self.line(f"ld.global.b{width} %{letter}{n}, [{at[width]}+{offset}]")
        self.line("mov.u32 %r0, %global")
        self.line("mov.u32 %r1, %linear")
        self.line("ld.param.u32 %r5, [n]")
        odd = self.compute("b32", "and.b32 %global, 1")
        self.line(f"setp.eq.u32 %p0, {odd}, 0")
        self.line("setp.lt.u32 %p1, %linear, 3")
        self.line("setp.ne.u32 %p2, %r5, %r5")
        for word in range(LOCAL_BYTES // 4):
            value = self.compute("b32", f"add.u32 %global, {word * 0x01010101}")
            self.line(f"st.local.u32 [own+{4 * word}], {value}")

    def epilogue(self):
        offsets, predicates = result_offsets()
        for name, word in offsets.items():
            kind = KINDS[name[0]]
            register = self.clean(name)
            if kind.width == 16:
                register = self.compute("b32", f"cvt.u32.u16 {register}")
            self.line(f"st.global.b{max(32, kind.width)} [%out+{4 * word}], {register}")
        word = self.compute("b32", "mov.u32 0")
        for n in range(KINDS["p"].variables):
            bit = self.compute("b32", f"selp.b32 {1 << n}, 0, %p{n}")
            word = self.compute("b32", f"or.b32 {word}, {bit}")
        self.line(f"st.global.b32 [%out+{4 * predicates}], {word}")

    def clean(self, name):
        """A register with the variable's bits, all NaNs made one."""
        kind = KINDS[name[0]]
        if not kind.format:
            return f"%{name}"
        if not kind.packed:
            return self.clean_float(f"%{name}", kind.width, kind.nan_above)
        halves = [self.temporary("b16"), self.temporary("b16")]
        self.line(f"mov.b32 {{{', '.join(halves)}}}, %{name}")
        halves = [self.clean_float(half, 16, kind.nan_above) for half in halves]
        return self.compute("b32", f"mov.b32 {{{', '.join(halves)}}}")

    def clean_float(self, register, width, nan_above):
        everything = (1 << (width - 1)) - 1
        magnitude = self.compute(f"b{width}", f"and.b{width} {register}, {everything}")
        predicate = self.compute("pred", f"setp.gt.u{width} {magnitude}, {nan_above}")
        return self.compute(f"b{width}", f"selp.b{width} {everything}, {register}, {predicate}")

    def function(self, number, function):
        program = self.program
        for letter in "rdf":
            for n in range(KINDS[letter].variables):
                self.line(f"mov.b{KINDS[letter].width} %{letter}{n}, {n * 0x1234567}")
        for n in range(KINDS["p"].variables):
            self.line(f"setp.ne.u32 %p{n}, %r0, %r0")
        for n, name in enumerate(function.parameters):
            self.line(f"ld.param.b{KINDS[name[0]].width} %{name}, [a{n}]")
        self.statements(function.body)
        for offset, name in self.result_places(function):
            self.line(f"st.param.b{KINDS[name[0]].width} [result+{offset}], %{name}")
        self.line("ret")
        parameters = ", ".join(f".param .b{KINDS[name[0]].width} a{n}" for n, name in enumerate(function.parameters))
        return self.body(f".func ({self.result_parameter(function)}) {program.name}_f{number}({parameters})")

    def result_places(self, function):
        return [(8 * n, name) for n, name in enumerate(function.results)]

    def result_parameter(self, function):
        if len(function.results) == 1:
            return f".param .b{KINDS[function.results[0][0]].width} result"
        return f".param .align 8 .b8 result[{8 * len(function.results)}]"

    def statements(self, statements):
        for statement in statements:
            getattr(self, f"write_{type(statement).__name__}")(statement)

    def write_Operate(self, s):  # noqa: N802 (named after the statement)
        operation = s.operation
        names = {column: o if isinstance(o, str) else str(o) for (column, _), o in zip(operation.inputs, s.operands)}
        names = {column: f"%{o}" if o[0].isalpha() else o for column, o in names.items()}
        moves = []
        for (column, type_name), name in zip(operation.outputs, s.results):
            names[column] = f"%{name}"
            if len(operation.lines) > 1:  # its first results may come before its last operands are read
                names[column] = self.temporary(KINDS[name[0]].register)
                moves.append(f"mov.b{KINDS[name[0]].width} %{name}, {names[column]}")
            elif type_name in ("u8", "s8"):
                moves.append(f"and.b16 %{name}, %{name}, 255")
        guard = "" if s.guard is None else f"@{'!' if s.negated else ''}%{s.guard} "
        for line in with_registers(operation, names):
            self.lines.append(guard + line)
        for move in moves:
            self.line(guard + move)

    def write_Transfer(self, s):  # noqa: N802
        self.line(f"mov.b{KINDS[s.result[0]].width} %{s.result}, {self.clean(s.source)}")

    def element(self, base, width, bytes_, index, offset):
        """The address of element (index + offset) of a place of so many bytes."""
        sum_ = self.compute("b32", f"add.u32 {index}, {offset}")
        masked = self.compute("b32", f"and.b32 {sum_}, {bytes_ * 8 // width - 1}")
        scaled = self.compute("b64", f"mul.wide.u32 {masked}, {width // 8}")
        return self.compute("b64", f"add.u64 {scaled}, {base}")

    def write_Load(self, s):  # noqa: N802
        letter = s.result[0]
        space, base, size = "local", "own", LOCAL_BYTES
        if s.place == "input":
            space, size = "global", REGION_BYTES
            base = f"add.u64 %in, {REGION_BYTES * list(KINDS).index(letter)}"
        base = self.compute("b64", base if s.place == "input" else "mov.u64 own")
        address = self.element(base, s.width, size, f"%{s.index}", s.offset)
        extends = f"{'s' if s.signed else 'u'}{s.width}" if s.width < KINDS[letter].width else f"b{s.width}"
        self.line(f"ld.{space}.{extends} %{s.result}, [{address}]")

    def write_LocalStore(self, s):  # noqa: N802
        own = self.compute("b64", "mov.u64 own")
        address = self.element(own, s.width, LOCAL_BYTES, f"%{s.index}", 0)
        self.line(f"st.local.{'u' if s.width == 8 else 'b'}{s.width} [{address}], %{s.source}")

    def write_StoreExtra(self, s):  # noqa: N802
        self.line(f"st.global.u32 [%out+{4 * s.word}], %{s.source}")

    def write_If(self, s):  # noqa: N802
        otherwise, end = self.label(), self.label()
        self.lines.append(f"@{'' if s.negated else '!'}%{s.condition} bra {otherwise};")
        self.statements(s.then)
        if s.otherwise:
            self.line(f"bra {end}")
        self.place(otherwise)
        self.statements(s.otherwise)
        self.place(end)

    def write_Loop(self, s):  # noqa: N802
        head, next_round, end = self.label(), self.label(), self.label()
        counter = self.temporary("b32")
        if s.count is None:
            self.line(f"mov.u32 {counter}, {s.mask}")
        else:
            self.line(f"and.b32 {counter}, %{s.count}, {s.mask}")
        self.continues.append(next_round)
        self.breaks.append(end)
        self.place(head)
        self.statements(s.body)
        self.place(next_round)
        done = self.compute("pred", f"setp.eq.u32 {counter}, 0")
        self.lines.append(f"@{done} bra {end};")
        self.line(f"sub.u32 {counter}, {counter}, 1")
        self.line(f"bra {head}")
        self.place(end)
        self.continues.pop()
        self.breaks.pop()

    def write_Switch(self, s):  # noqa: N802
        end = self.label()
        places = [self.label() for _ in s.cases]
        index = self.compute("b32", f"and.b32 %{s.index}, {len(s.cases) - 1}")
        if len(s.cases) == 4:
            table = self.label()
            self.lines.append(f"{table}: .branchtargets {', '.join(places)};")
            self.line(f"brx.idx {index}, {table}")
        else:
            for n, place in enumerate(places[1:], 1):
                here = self.compute("pred", f"setp.eq.u32 {index}, {n}")
                self.lines.append(f"@{here} bra {place};")
        for place, case in zip(places, s.cases):
            self.place(place)
            self.statements(case)
            self.line(f"bra {end}")
        self.place(end)

    def write_Leave(self, s):  # noqa: N802
        if s.how == "return":
            self.line(f"st.global.u32 [%out+{4 * LEFT_WORD}], %r0")
            self.line("ret")
        else:
            self.line(f"bra {(self.breaks if s.how == 'break' else self.continues)[-1]}")

    def small_float(self, register):
        low = self.compute("b32", f"and.b32 {register}, 255")
        return self.compute("b32", f"cvt.rn.f32.u32 {low}")

    def write_Accumulate(self, s):  # noqa: N802
        operation = SLOTS[s.slot]
        value = f"%{s.source}"
        if operation == "add.f32":
            value = self.small_float(value)
        elif operation == "inc.u32":
            value = str(INC_BOUND)
        self.line(f"red.global.{operation.replace('xor.u', 'xor.b')} [%accumulators+{8 * s.slot}], {value}")

    def write_Call(self, s):  # noqa: N802
        function = self.program.functions[s.function]
        self.lines.append("{")
        for n, (parameter, argument) in enumerate(zip(function.parameters, s.arguments)):
            width = KINDS[parameter[0]].width
            self.line(f".param .b{width} p{n}")
            self.line(f"st.param.b{width} [p{n}], %{argument}")
        self.line(self.result_parameter(function))
        passed = ", ".join(f"p{n}" for n in range(len(s.arguments)))
        self.line(f"call (result), {self.program.name}_f{s.function}, ({passed})")
        for (offset, _), name in zip(self.result_places(function), s.results):
            self.line(f"ld.param.b{KINDS[name[0]].width} %{name}, [result+{offset}]")
        self.lines.append("}")

    def tile(self, index, scale=4):
        base = self.compute("b32", "mov.u32 tile")
        return self.compute("b32", f"mad.lo.u32 {index}, {scale}, {base}")

    def write_Exchange(self, s):  # noqa: N802
        threads = self.program.threads
        self.line(f"st.shared.u32 [{self.tile('%linear')}], %{s.source}")
        self.line("bar.sync 0")
        if s.how == "xor":
            index = self.compute("b32", f"xor.b32 %linear, {s.amount}")
        elif s.how in ("variable", "byte"):
            index = f"%{s.index}"
        else:
            index = self.compute("b32", f"add.u32 %linear, {s.amount}")
        if s.how == "byte":
            index = self.compute("b32", f"rem.u32 {index}, {4 * threads}")
            self.line(f"ld.shared.u8 %{s.result}, [{self.tile(index, 1)}]")
        elif s.how == "wide":
            index = self.compute("b32", f"rem.u32 {index}, {threads // 2}")
            pair = [self.temporary("b32"), self.temporary("b32")]
            self.line(f"ld.shared.v2.u32 {{{', '.join(pair)}}}, [{self.tile(index, 8)}]")
            self.line(f"add.u32 %{s.result}, {', '.join(pair)}")
        else:
            index = self.compute("b32", f"rem.u32 {index}, {threads}")
            self.line(f"ld.shared.u32 %{s.result}, [{self.tile(index)}]")
        self.line("bar.sync 0")

    def write_SharedAtomic(self, s):  # noqa: N802
        start, skip = self.compute("pred", "setp.ge.u32 %linear, 8"), self.label()
        self.lines.append(f"@{start} bra {skip};")
        initial = 0 if s.operation == "add.f32" else s.initial
        self.line(f"st.shared.u32 [{self.tile('%linear')}], {initial}")
        self.place(skip)
        self.line("bar.sync 0")
        word = self.tile(self.compute("b32", f"and.b32 %{s.index}, 7"))
        value = f"%{s.source}"
        if s.operation == "cas":
            again = self.label()
            self.place(again)
            old = self.temporary("b32")
            self.line(f"ld.volatile.shared.u32 {old}, [{word}]")
            new = self.compute("b32", f"mad.lo.u32 {value}, 3, {old}")
            seen = self.compute("b32", f"atom.shared.cas.b32 [{word}], {old}, {new}")
            failed = self.compute("pred", f"setp.ne.u32 {seen}, {old}")
            self.lines.append(f"@{failed} bra {again};")
        else:
            if s.operation == "add.f32":
                value = self.small_float(value)
            elif s.operation == "inc.u32":
                value = str(INC_BOUND)
            self.line(f"red.shared.{s.operation} [{word}], {value}")
        self.line("bar.sync 0")
        own = self.compute("b32", "and.b32 %linear, 7")
        self.line(f"ld.shared.u32 %{s.result}, [{self.tile(own)}]")
        self.line("bar.sync 0")

    def write_Repeat(self, s):  # noqa: N802
        head = self.label()
        counter = self.compute("b32", "mov.u32 0")
        self.place(head)
        self.statements(s.body)
        self.line(f"add.u32 %{s.counted}, %{s.counted}, {counter}")
        self.line(f"add.u32 {counter}, {counter}, 1")
        more = self.compute("pred", f"setp.lt.u32 {counter}, {s.rounds}")
        self.lines.append(f"@{more} bra {head};")

    def write_Warp(self, s):  # noqa: N802
        if s.condition is None:
            self.warp(s, "0xffffffff")
            return
        mask, skip = self.compute("b32", f"vote.sync.ballot.b32 %{s.condition}, 0xffffffff"), self.label()
        self.lines.append(f"@!%{s.condition} bra {skip};")
        self.warp(s, mask)
        self.statements(s.then)
        self.place(skip)

    def warp(self, s, mask):
        family, _, what = s.operation.partition(".")
        result, operand = f"%{s.results[0]}", f"%{s.operands[0]}"
        both = "|".join(f"%{name}" for name in s.results)
        if family == "shfl":
            lane, clamp = str(s.constant), (32 - s.segment) << 8 | (0 if what == "up" else 31)
            if what == "variable":
                lane = f"%{s.operands[1]}"
            elif what == "first":
                clamp, lane = 31, self.compute("b32", f"clz.b32 {self.compute('b32', f'brev.b32 {mask}')}")
            mode = SHUFFLE_MODES.get(s.operation, what)
            self.line(f"shfl.sync.{mode}.b32 {both}, {operand}, {lane}, {clamp}, {mask}")
        elif family == "match":
            kind = f"any.sync.b{64 if what == 'any64' else 32}" if what != "all" else "all.sync.b32"
            self.line(f"match.{kind} {both}, {operand}, {mask}")
        elif family == "redux":
            kinds = {"add": "u32", "min": "u32", "max": "u32", "and": "b32", "or": "b32", "xor": "b32"}
            form = "min.s32" if what == "smin" else None
            self.line(f"redux.sync.{form or f'{what}.{kinds[what]}'} {result}, {operand}, {mask}")
        elif family == "block":
            self.line(f"bar.red.{what}.{'u32' if what == 'popc' else 'pred'} {result}, 0, {operand}")
        elif s.operation == "ballot" or s.condition is None:
            self.line(f"vote.sync.{family}.{'b32' if family == 'ballot' else 'pred'} {result}, {operand}, {mask}")
        else:
            self.line(f"vote.sync.{family}.pred {result}, {operand}, {mask}")
