"""Programs as CUDA C++, compiled with --fmad=false: operators and intrinsics where there are any, else assembly."""

from cuda_forms import FORMS
from operations import KINDS
from program import LEFT_WORD, LOCAL_BYTES, REGION_BYTES, RESULT_WORDS, SLOTS, TILE_WORDS, result_offsets
from ptx_writer import INC_BOUND, with_registers

PRELUDE = """
typedef unsigned long long u64;
template <class T, T ABOVE, T ALL> __device__ T clean(T x) { return (T)(x & ALL) > ABOVE ? ALL : x; }
__device__ unsigned clean_f(float x) { return clean<unsigned, 0x7f800000u, 0x7fffffffu>(__float_as_uint(x)); }
__device__ u64 clean_e(double x) {
  return clean<u64, 0x7ff0000000000000ull, 0x7fffffffffffffffull>((u64)__double_as_longlong(x));
}
__device__ unsigned short clean_x(unsigned short x) { return clean<unsigned short, 0x7c00, 0x7fff>(x); }
__device__ unsigned short clean_y(unsigned short x) { return clean<unsigned short, 0x7f80, 0x7fff>(x); }
__device__ unsigned clean_u(unsigned x) {
  return clean_x((unsigned short)x) | (unsigned)clean_x((unsigned short)(x >> 16)) << 16;
}
__device__ unsigned clean_v(unsigned x) {
  return clean_y((unsigned short)x) | (unsigned)clean_y((unsigned short)(x >> 16)) << 16;
}
__device__ float small(unsigned x) { return (float)(x & 255); }
struct Memory {
  unsigned words[16];
  __device__ unsigned b8(unsigned i) const { return words[i % 64 / 4] >> i % 4 * 8 & 0xff; }
  __device__ unsigned b16(unsigned i) const { return words[i % 32 / 2] >> i % 2 * 16 & 0xffff; }
  __device__ unsigned b32(unsigned i) const { return words[i % 16]; }
  __device__ u64 b64(unsigned i) const { return words[i % 8 * 2] | (u64)words[i % 8 * 2 + 1] << 32; }
  __device__ void set_b8(unsigned i, unsigned v) {
    unsigned& word = words[i % 64 / 4];
    word = (word & ~(0xffu << i % 4 * 8)) | (v & 0xff) << i % 4 * 8;
  }
  __device__ void set_b16(unsigned i, unsigned v) {
    unsigned& word = words[i % 32 / 2];
    word = (word & ~(0xffffu << i % 2 * 16)) | (v & 0xffff) << i % 2 * 16;
  }
  __device__ void set_b32(unsigned i, unsigned v) { words[i % 16] = v; }
  __device__ void set_b64(unsigned i, u64 v) {
    words[i % 8 * 2] = (unsigned)v;
    words[i % 8 * 2 + 1] = (unsigned)(v >> 32);
  }
};
"""

FROM_BITS = {"f": "__uint_as_float({})", "e": "__longlong_as_double((long long){})"}


def write_source(programs):
    return PRELUDE + "".join(Writer(program).text() for program in programs)


class Writer:
    """Writes one program: a kernel and its functions."""

    def __init__(self, program):
        self.program, self.lines, self.numbers = program, [], 0

    def text(self):
        functions = "".join(self.function(n, f) for n, f in enumerate(self.program.functions))
        self.lines = []
        self.prologue()
        self.statements(self.program.body)
        self.epilogue()
        parameters = "const unsigned char* in, unsigned* out, unsigned n"
        return f'{functions}\nextern "C" __global__ void {self.program.name}({parameters}) ' + self.body()

    def body(self):
        return "{\n" + "".join(f"  {line}\n" for line in self.lines) + "}\n"

    def line(self, text):
        self.lines.append(text + ";")

    def number(self):
        self.numbers += 1
        return self.numbers

    def prologue(self):
        program = self.program
        self.line(f"__shared__ __align__(8) unsigned tile[{TILE_WORDS}]")
        self.line("const unsigned linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x")
        self.line(f"const unsigned global = blockIdx.x * {program.threads}u + linear")
        self.line(f"u64* accumulators = (u64*)(out + {program.threads * program.grid * RESULT_WORDS})")
        self.line(f"out += global * {RESULT_WORDS}")
        self.line("Memory own")
        self.line(f"for (unsigned i = 0; i < {LOCAL_BYTES // 4}; ++i) own.words[i] = global + i * 0x01010101u")
        for letter in "rdhfexyuv":
            kind = KINDS[letter]
            for n in range(kind.variables):
                self.line(f"{kind.cpp} {letter}{n} = {self.input(letter, kind.width, False, 'global % 64', 16 * n)}")
        self.line("r0 = global, r1 = linear, r5 = n")
        self.line("bool p0 = global % 2 == 0, p1 = linear < 3, p2 = false")

    def input(self, letter, width, signed, index, offset):
        cpp = {8: "char", 16: "short", 32: "int", 64: "long long"}[width]
        cpp = f"{'signed' if signed else 'unsigned'} {cpp}"
        if width == KINDS[letter].width:
            cpp = KINDS[letter].cpp
        region = f"in + {REGION_BYTES * list(KINDS).index(letter)}"
        return f"((const {cpp}*)({region}))[({index} + {offset}u) % {REGION_BYTES * 8 // width}]"

    def epilogue(self):
        offsets, predicates = result_offsets()
        for name, word in offsets.items():
            place = f"*(u64*)(out + {word})" if KINDS[name[0]].width == 64 else f"out[{word}]"
            self.line(f"{place} = {self.clean(name)}")
        bits = " | ".join(f"(unsigned)p{n} << {n}" for n in range(KINDS["p"].variables))
        self.line(f"out[{predicates}] = {bits}")

    def clean(self, name):
        return f"clean_{name[0]}({name})" if KINDS[name[0]].format else name

    def function(self, number, function):
        name = f"{self.program.name}_f{number}"
        fields = " ".join(f"{KINDS[r[0]].cpp} m{n};" for n, r in enumerate(function.results))
        parameters = ", ".join(f"{KINDS[p[0]].cpp} {p}" for p in function.parameters)
        self.lines = []
        for letter in "rdfp":
            for n in range(KINDS[letter].variables):
                if f"{letter}{n}" not in function.parameters:
                    value = FROM_BITS.get(letter, "{}").format(f"{n * 0x1234567}u" if letter != "p" else "false")
                    self.line(f"{KINDS[letter].cpp} {letter}{n} = {value}")
        self.statements(function.body)
        self.line(f"return {{{', '.join(function.results)}}}")
        head = f"struct {name}_result {{ {fields} }};\n__device__ __noinline__ {name}_result {name}({parameters}) "
        return head + self.body()

    def block(self, head, statements):
        self.lines.append(f"{head} {{")
        self.statements(statements)
        self.lines.append("}")

    def statements(self, statements):
        for statement in statements:
            getattr(self, f"write_{type(statement).__name__}")(statement)

    def operands(self, s):
        """The operands' text: a number has the type of its column."""
        for operand, (_, type_name) in zip(s.operands, s.operation.inputs):
            if isinstance(operand, str):
                yield operand
            else:
                suffix = {"64": "ull"}.get(type_name[1:], "u")
                yield f"{operand}{suffix}" if type_name[1:] in ("32", "64") else f"(unsigned short){operand}"

    def write_Operate(self, s):  # noqa: N802 (named after the statement)
        guard = "" if s.guard is None else f"if ({'!' if s.negated else ''}{s.guard}) "
        form = FORMS.get(s.operation.name)
        operands = list(self.operands(s))
        if form:
            names = {column: text for (column, _), text in zip(s.operation.inputs, operands)}
            self.line(f"{guard}{s.results[0]} = {form.format(**names)}")
        else:
            self.line(guard + self.assembly(s, operands))

    def assembly(self, s, operands):
        """The operation's PTX on registers of its own, between moves from the operands and to the results."""
        operation, before, after, names, outs, ins = s.operation, [], [], {}, [], []
        for (column, _), name in zip(operation.outputs, s.results):
            kind, place = KINDS[name[0]], f"%{len(outs)}"
            names[column] = f"to_{column}"
            before.append(f".reg .{kind.register} to_{column};")
            if name[0] == "p":
                temporary = f"q{self.number()}"
                self.line(f"unsigned {temporary} = 0")
                after.append(f"selp.u32 {place}, 1, 0, to_{column};")
                outs.append((name, f'"=r"({temporary})', f"{name} = {temporary} != 0"))
            else:
                after.append(f"mov.b{kind.width} {place}, to_{column};")
                outs.append((name, f'"={kind.constraint}"({name})', None))
        for ((column, type_name), text), operand in zip(zip(operation.inputs, operands), s.operands):
            letter = operand[0] if isinstance(operand, str) else None
            width = KINDS[letter].width if letter else {"6": 64}.get(type_name[1], 32 if type_name[1:] == "32" else 16)
            constraint = KINDS[letter].constraint if letter else {16: "h", 32: "r", 64: "l"}[width]
            place = f"%{len(outs) + len(ins)}"
            names[column] = f"from_{column}"
            if letter == "p":
                before.append(f".reg .pred from_{column}; setp.ne.u32 from_{column}, {place}, 0;")
                text = f"(unsigned){text}"
            else:
                before.append(f".reg .b{width} from_{column}; mov.b{width} from_{column}, {place};")
            ins.append(f'"{constraint}"({text})')
        for column, type_name in operation.outputs:
            if type_name in ("u8", "s8"):
                after.insert(0, f"and.b16 to_{column}, to_{column}, 255;")
        lines = with_registers(operation, names)
        text = " ".join(["{", *before, *lines, *after, "}"])
        said = f'asm("{text}" : {", ".join(o[1] for o in outs)} : {", ".join(ins)});'
        return "{ " + " ".join([said, *(f"{o[2]};" for o in outs if o[2])]) + " }"

    def write_Transfer(self, s):  # noqa: N802
        self.line(f"{s.result} = {FROM_BITS.get(s.result[0], '{}').format(self.clean(s.source))}")

    def write_Load(self, s):  # noqa: N802
        letter = s.result[0]
        if s.place == "input":
            return self.line(f"{s.result} = {self.input(letter, s.width, s.signed, s.index, s.offset)}")
        value = f"own.b{s.width}({s.index} + {s.offset}u)"
        if s.signed and s.width < KINDS[letter].width:
            value = f"({KINDS[letter].cpp})({'signed char' if s.width == 8 else 'short'}){value}"
        return self.line(f"{s.result} = {FROM_BITS.get(letter, '{}').format(value)}")

    def write_LocalStore(self, s):  # noqa: N802
        self.line(f"own.set_b{s.width}({s.index}, {s.source})")

    def write_StoreExtra(self, s):  # noqa: N802
        self.line(f"out[{s.word}] = {s.source}")

    def write_If(self, s):  # noqa: N802
        self.block(f"if ({'!' if s.negated else ''}{s.condition})", s.then)
        if s.otherwise:
            self.block("else", s.otherwise)

    def write_Loop(self, s):  # noqa: N802
        counter = f"c{self.number()}"
        rounds = f"{s.mask}u" if s.count is None else f"({s.count} & {s.mask}u)"
        self.block(f"for (unsigned {counter} = {rounds} + 1; {counter} != 0; --{counter})", s.body)

    def write_Switch(self, s):  # noqa: N802
        self.lines.append(f"switch ({s.index} % {len(s.cases)}) {{")
        for n, case in enumerate(s.cases):
            self.block(f"case {n}:" if n + 1 < len(s.cases) else "default:", case)
            self.line("break")
        self.lines.append("}")

    def write_Leave(self, s):  # noqa: N802
        if s.how == "return":
            self.line(f"out[{LEFT_WORD}] = r0")
        self.line(s.how)

    def write_Accumulate(self, s):  # noqa: N802
        name, _, kind = SLOTS[s.slot].partition(".")
        cpp = {"s32": "int", "u64": "u64", "f32": "float"}.get(kind, "unsigned")
        value = {"f32": f"small({s.source})", "s32": f"(int){s.source}"}.get(kind, s.source)
        if name == "inc":
            value = f"{INC_BOUND}u"
        self.line(f"atomic{name.capitalize()}(({cpp}*)(accumulators + {s.slot}), {value})")

    def write_Call(self, s):  # noqa: N802
        result = f"result{self.number()}"
        self.line(f"auto {result} = {self.program.name}_f{s.function}({', '.join(s.arguments)})")
        for n, name in enumerate(s.results):
            self.line(f"{name} = {result}.m{n}")

    def write_Exchange(self, s):  # noqa: N802
        threads = self.program.threads
        index = {"xor": f"(linear ^ {s.amount}u)", "variable": s.index, "byte": s.index}.get(
            s.how, f"(linear + {s.amount}u)"
        )
        self.line(f"tile[linear] = {s.source}")
        self.line("__syncthreads()")
        if s.how == "byte":
            self.line(f"{s.result} = ((const unsigned char*)tile)[{index} % {4 * threads}]")
        elif s.how == "wide":
            pair = f"pair{self.number()}"
            self.line(f"uint2 {pair} = ((const uint2*)tile)[{index} % {threads // 2}]")
            self.line(f"{s.result} = {pair}.x + {pair}.y")
        else:
            self.line(f"{s.result} = tile[{index} % {threads}]")
        self.line("__syncthreads()")

    def write_SharedAtomic(self, s):  # noqa: N802
        initial = 0 if s.operation == "add.f32" else s.initial
        self.line(f"if (linear < 8) tile[linear] = {initial}u")
        self.line("__syncthreads()")
        word = f"tile + {s.index} % 8"
        name, _, kind = s.operation.partition(".")
        if name == "cas":
            old, seen = f"old{self.number()}", f"seen{self.number()}"
            self.line(f"unsigned {old} = *(volatile unsigned*)({word}), {seen}")
            again = f"{seen} = atomicCAS({word}, {old}, {old} + {s.source} * 3)"
            self.line(f"while (({again}) != {old}) {old} = {seen}")
        else:
            cpp = {"s32": "int", "f32": "float"}.get(kind, "unsigned")
            value = {"f32": f"small({s.source})", "s32": f"(int){s.source}"}.get(kind, s.source)
            if name == "inc":
                value = f"{INC_BOUND}u"
            self.line(f"atomic{name.capitalize()}(({cpp}*)({word}), {value})")
        self.line("__syncthreads()")
        self.line(f"{s.result} = tile[linear % 8]")
        self.line("__syncthreads()")

    def write_Repeat(self, s):  # noqa: N802
        counter = f"c{self.number()}"
        self.lines.append(f"for (unsigned {counter} = 0; {counter} < {s.rounds}; ++{counter}) {{")
        self.statements(s.body)
        self.line(f"{s.counted} += {counter}")
        self.lines.append("}")

    def write_Warp(self, s):  # noqa: N802
        if s.condition is None:
            return self.warp(s, "0xffffffffu")
        mask = f"mask{self.number()}"
        self.line(f"const unsigned {mask} = __ballot_sync(0xffffffffu, {s.condition})")
        self.lines.append(f"if ({s.condition}) {{")
        self.warp(s, mask)
        self.statements(s.then)
        return self.lines.append("}")

    def warp(self, s, mask):
        family, _, what = s.operation.partition(".")
        result, operand = s.results[0], s.operands[0]
        if family == "shfl":
            return self.shuffle(s, what, mask)
        if family == "match" and what == "all":
            flag = f"flag{self.number()}"
            self.line(f"int {flag}")
            self.line(f"{result} = __match_all_sync({mask}, {operand}, &{flag})")
            return self.line(f"{s.results[1]} = {flag} != 0")
        if family == "match":
            return self.line(f"{result} = __match_any_sync({mask}, {operand})")
        if family == "redux" and what == "smin":
            return self.line(f"{result} = (unsigned)__reduce_min_sync({mask}, (int){operand})")
        if family == "redux":
            return self.line(f"{result} = __reduce_{what}_sync({mask}, {operand})")
        if family == "block":
            name = {"popc": "count", "and": "and", "or": "or"}[what]
            return self.line(f"{result} = __syncthreads_{name}({operand}){'' if what == 'popc' else ' != 0'}")
        end = "" if family == "ballot" else " != 0"
        return self.line(f"{result} = __{family}_sync({mask}, {operand}){end}")

    def shuffle(self, s, what, mask):
        result, operand = s.results[0], s.operands[0]
        if len(s.results) == 1:
            name, lane = {"up": "_up", "down": "_down", "bfly": "_xor"}.get(what, ""), f"{s.constant}"
            lane = {"variable": s.operands[-1], "first": f"__ffs({mask}) - 1"}.get(what, lane)
            segment = 32 if what == "first" else s.segment
            return self.line(f"{result} = __shfl{name}_sync({mask}, {operand}, {lane}, {segment})")
        flag = f"flag{self.number()}"
        mode = "idx" if what == "variable" else what
        clamp = (32 - s.segment) << 8 | (0 if what == "up" else 31)
        lane = s.operands[-1] if what == "variable" else f"{s.constant}u"
        text = f"{{ .reg .pred p; shfl.sync.{mode}.b32 %0|p, %2, %3, {clamp}, %4; selp.u32 %1, 1, 0, p; }}"
        self.line(f"unsigned {flag}")
        self.line(f'asm volatile("{text}" : "=r"({result}), "=r"({flag}) : "r"({operand}), "r"({lane}), "r"({mask}))')
        return self.line(f"{s.results[1]} = {flag} != 0")
