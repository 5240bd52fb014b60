"""Runs a program one thread at a time, in exact arithmetic: a second opinion that shares nothing with a compiler.

All threads go through the statements of the outermost level together, since only there lanes converge.
"""

import struct

from operations import KINDS
from program import (
    ACCUMULATORS,
    INITIAL_ACCUMULATORS,
    LEFT_WORD,
    LOCAL_BYTES,
    REGION_BYTES,
    RESULT_WORDS,
    SLOTS,
    result_offsets,
)
from ptx_writer import INC_BOUND
from statements import Exchange, Repeat, SharedAtomic, Warp

WORD = 0xFFFFFFFF


def clean(letter, bits):
    """The bits with all NaNs made one."""
    kind = KINDS[letter]
    if not kind.format:
        return bits
    if kind.packed:
        half = (1 << 15) - 1
        parts = (half if part & half > kind.nan_above else part for part in (bits & 0xFFFF, bits >> 16))
        return sum(part << 16 * n for n, part in enumerate(parts))
    everything = (1 << (kind.width - 1)) - 1
    return everything if bits & everything > kind.nan_above else bits


def to_signed(word):
    return word - (1 << 32) if word >> 31 else word


def combine(operation, old, value):
    """The new value of an atomic operation."""
    return {
        "add.u32": lambda: (old + value) & WORD,
        "add.u64": lambda: (old + value) & (1 << 64) - 1,
        "max.u32": lambda: max(old, value),
        "min.u32": lambda: min(old, value),
        "min.s32": lambda: min(old, value, key=to_signed),
        "max.s32": lambda: max(old, value, key=to_signed),
        "and.b32": lambda: old & value,
        "or.b32": lambda: old | value,
        "xor.b32": lambda: old ^ value,
        "inc.u32": lambda: 0 if old >= INC_BOUND else old + 1,
        "cas": lambda: (old + 3 * value) & WORD,
        "add.f32": lambda: float_bits(bits_float(old) + (value & 255)),
    }[operation]()


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bits_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


class Thread:
    """One device thread: its variables and local memory."""

    def __init__(self, run, block, linear):
        self.run, self.linear, self.left = run, linear, False
        self.number = block * run.program.threads + linear
        self.variables = {}
        self.local = bytearray()
        for word in range(LOCAL_BYTES // 4):
            self.local += struct.pack("<I", (self.number + word * 0x01010101) & WORD)
        for letter in "rdhfexyuv":
            for n in range(KINDS[letter].variables):
                self.variables[f"{letter}{n}"] = self.input(letter, KINDS[letter].width, self.number % 64 + 16 * n)
        self.variables |= {"r0": self.number, "r1": linear, "r5": run.n}
        self.variables |= {"p0": int(self.number % 2 == 0), "p1": int(linear < 3), "p2": 0}

    def input(self, letter, width, index):
        size = width // 8
        at = REGION_BYTES * list(KINDS).index(letter) + index * size % REGION_BYTES
        return int.from_bytes(self.run.inputs[at : at + size], "little")

    def store(self, word, bits, width=32):
        words = self.run.words
        at = self.number * RESULT_WORDS + word
        words[at] = bits & WORD
        if width == 64:
            words[at + 1] = bits >> 32

    def finish(self):
        offsets, predicates = result_offsets()
        for name, word in offsets.items():
            self.store(word, clean(name[0], self.variables[name]), KINDS[name[0]].width)
        self.store(predicates, sum(self.variables[f"p{n}"] << n for n in range(KINDS["p"].variables)))

    def value(self, operand):
        return operand if isinstance(operand, int) else self.variables[operand]

    def statements(self, statements):
        """Runs them; returns how they were left early, or None."""
        for statement in statements:
            how = getattr(self, f"run_{type(statement).__name__}")(statement)
            if how:
                return how
        return None

    def run_Operate(self, s):  # noqa: N802 (named after the statement)
        if s.guard is not None and bool(self.variables[s.guard]) == s.negated:
            return
        results = s.operation.compute([self.value(operand) for operand in s.operands])
        self.variables.update(zip(s.results, results))

    def run_Transfer(self, s):  # noqa: N802
        self.variables[s.result] = clean(s.source[0], self.variables[s.source])

    def run_Load(self, s):  # noqa: N802
        letter, size = s.result[0], s.width // 8
        index = self.variables[s.index] + s.offset
        if s.place == "input":
            bits = self.input(letter, s.width, index)
        else:
            at = index * size % LOCAL_BYTES
            bits = int.from_bytes(self.local[at : at + size], "little")
        if s.signed and bits >> (s.width - 1):
            bits += (1 << KINDS[letter].width) - (1 << s.width)
        self.variables[s.result] = bits

    def run_LocalStore(self, s):  # noqa: N802
        size = s.width // 8
        at = self.variables[s.index] * size % LOCAL_BYTES
        bits = self.variables[s.source] & (1 << s.width) - 1
        self.local[at : at + size] = bits.to_bytes(size, "little")

    def run_StoreExtra(self, s):  # noqa: N802
        self.store(s.word, self.variables[s.source])

    def run_If(self, s):  # noqa: N802
        return self.statements(s.then if bool(self.variables[s.condition]) != s.negated else s.otherwise)

    def run_Loop(self, s):  # noqa: N802
        for _ in range((s.mask if s.count is None else self.variables[s.count] & s.mask) + 1):
            how = self.statements(s.body)
            if how == "break":
                break
            if how == "return":
                return how
        return None

    def run_Switch(self, s):  # noqa: N802
        return self.statements(s.cases[self.variables[s.index] % len(s.cases)])

    def run_Leave(self, s):  # noqa: N802
        if s.how == "return":
            self.store(LEFT_WORD, self.variables["r0"])
        return s.how

    def run_Accumulate(self, s):  # noqa: N802
        accumulators = self.run.accumulators
        accumulators[s.slot] = combine(SLOTS[s.slot], accumulators[s.slot], self.variables[s.source])

    def run_Call(self, s):  # noqa: N802
        function = self.run.program.functions[s.function]
        outer = self.variables
        arguments = [outer[name] for name in s.arguments]
        self.variables = {
            f"{letter}{n}": n * 0x1234567 if letter != "p" else 0
            for letter in "rdfp"
            for n in range(KINDS[letter].variables)
        }
        self.variables.update(zip(function.parameters, arguments))
        self.statements(function.body)
        results = [self.variables[name] for name in function.results]
        self.variables = outer
        outer.update(zip(s.results, results))


class Run:
    """A launch of a program; `words` is what it writes."""

    def __init__(self, program, inputs, n):
        self.program, self.inputs, self.n = program, inputs, n
        self.words = [0] * (program.output_words - 2 * ACCUMULATORS)
        self.accumulators = list(INITIAL_ACCUMULATORS)

    def output(self):
        for block in range(self.program.grid):
            self.threads = [Thread(self, block, linear) for linear in range(self.program.threads)]
            self.together(self.program.body)
            for thread in self.threads:
                if not thread.left:
                    thread.finish()
        return struct.pack(f"<{len(self.words)}I", *self.words) + struct.pack(f"<{ACCUMULATORS}Q", *self.accumulators)

    def together(self, statements):
        for s in statements:
            if isinstance(s, Exchange):
                self.exchange(s)
            elif isinstance(s, SharedAtomic):
                self.shared_atomic(s)
            elif isinstance(s, Warp):
                self.warps(s)
            elif isinstance(s, Repeat):
                for number in range(s.rounds):
                    self.together(s.body)
                    for thread in self.threads:
                        thread.variables[s.counted] = (thread.variables[s.counted] + number) & WORD
            else:
                for thread in self.threads:
                    if not thread.left and thread.statements([s]) == "return":
                        thread.left = True

    def exchange(self, s):
        tile = b"".join(struct.pack("<I", thread.variables[s.source]) for thread in self.threads)
        words = struct.unpack(f"<{len(self.threads)}I", tile)
        for thread in self.threads:
            index = {"xor": thread.linear ^ s.amount, "byte": thread.variables[s.index]}.get(s.how)
            if s.how == "variable":
                index = thread.variables[s.index]
            elif index is None:
                index = thread.linear + s.amount
            if s.how == "byte":
                result = tile[index % len(tile)]
            elif s.how == "wide":
                pair = index % (len(words) // 2)
                result = (words[2 * pair] + words[2 * pair + 1]) & WORD
            else:
                result = words[index % len(words)]
            thread.variables[s.result] = result

    def shared_atomic(self, s):
        words = [0 if s.operation == "add.f32" else s.initial] * 8
        for thread in self.threads:
            index = thread.variables[s.index] % 8
            words[index] = combine(s.operation, words[index], thread.variables[s.source])
        for thread in self.threads:
            thread.variables[s.result] = words[thread.linear % 8]

    def warps(self, s):
        if s.operation.startswith("block."):
            bits = [thread.variables[s.operands[0]] for thread in self.threads]
            result = {"popc": sum(bits), "and": int(all(bits)), "or": int(any(bits))}[s.operation[6:]]
            for thread in self.threads:
                thread.variables[s.results[0]] = result
            return
        for first in range(0, len(self.threads), 32):
            warp = self.threads[first : first + 32]
            lanes = [n for n, t in enumerate(warp) if s.condition is None or t.variables[s.condition]]
            results = warp_results(s, [t.variables for t in warp], lanes) if lanes else []
            for lane, result in zip(lanes, results):
                warp[lane].variables.update(zip(s.results, result))
                warp[lane].statements(s.then)


def warp_results(s, variables, lanes):
    """For each of the lanes, which converge, the tuple of its results."""
    values = {lane: variables[lane][s.operands[0]] for lane in lanes}
    mask = sum(1 << lane for lane in lanes)
    family, _, what = s.operation.partition(".")
    if family == "shfl":
        return [shuffled(s, what, values, lanes, lane, variables) for lane in lanes]
    if family == "match":
        same = {lane: sum(1 << other for other in lanes if values[other] == values[lane]) for lane in lanes}
        if what == "all":
            return [(mask, 1) if same[lane] == mask else (0, 0) for lane in lanes]
        return [(same[lane],) for lane in lanes]
    if family == "redux":
        operation = {"add": "add.u32", "min": "min.u32", "max": "max.u32", "smin": "min.s32"}.get(what, f"{what}.b32")
        total, *rest = values.values()
        for value in rest:
            total = combine(operation, total, value)
        return [(total,)] * len(lanes)
    bits = list(values.values())
    result = {
        "all": int(all(bits)),
        "any": int(any(bits)),
        "uni": int(len(set(bits)) == 1),
        "ballot": sum(value << lane for lane, value in values.items()),
    }[family]
    return [(result,)] * len(lanes)


def shuffled(s, what, values, lanes, lane, variables):
    """As PTX defines shfl.sync: the value and whether the source lane lay in the segment."""
    if what == "first":
        return (values[lanes[0]],)
    amount = (variables[lane][s.operands[1]] if what == "variable" else s.constant) & 31
    low = lane & ~(s.segment - 1)
    high = low + s.segment - 1
    source, inside = {
        "up": (lane - amount, lane - amount >= low),
        "down": (lane + amount, lane + amount <= high),
        "bfly": (lane ^ amount, lane ^ amount <= high),
    }.get(what, (low | amount & (s.segment - 1), True))
    return values[source if inside else lane], int(inside)


def interpret(program, inputs, n):
    return Run(program, inputs, n).output()
