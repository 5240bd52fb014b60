"""Random programs as trees: what the writers of PTX and CUDA C++ print and the interpreter runs.

A program is well defined by construction. Lanes converge (barriers, warp operations) only in statements of the
outermost level, where all threads of the block are; atomic operations whose order could show return nothing; indexes
are masked.
"""

import random
from dataclasses import dataclass

from left_out import leave_out
from operations import FIRST_LATER, KINDS, draw, kind_of, operations
from statements import (
    Accumulate,
    Call,
    Exchange,
    Function,
    If,
    Leave,
    Load,
    LocalStore,
    Loop,
    Operate,
    Repeat,
    SharedAtomic,
    StoreExtra,
    Switch,
    Transfer,
    Warp,
)

REGION_BYTES = 1 << 10  # of the input, for each kind of variable
INPUT_BYTES = REGION_BYTES * len(KINDS)
LOCAL_BYTES = 64
TILE_WORDS = 256  # one for each thread of the largest block
RESULT_WORDS = 44  # of each thread: its variables, then two words for stores on the way, then where it left early
EXTRA_WORD, LEFT_WORD = 40, 42
ACCUMULATORS = 8  # 64-bit words after the threads' results
BLOCKS = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (16, 4, 1), (8, 8, 2), (4, 4, 4), (32, 2, 2), (256, 1, 1)]
RAGGED = [(1, 1, 1), (7, 1, 1), (40, 1, 1), (33, 3, 1), (5, 5, 5)]


@dataclass
class Program:
    seed: int
    language: str
    block: tuple
    grid: int
    functions: list
    body: list

    @property
    def name(self):
        return f"k{self.seed}"

    @property
    def threads(self):
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def output_words(self):
        return self.threads * self.grid * RESULT_WORDS + 2 * ACCUMULATORS


def result_offsets():
    """Word of each variable among the thread's results; predicates share the word after the last."""
    offsets, at = {}, 0
    for letter in "derfhxyuv":
        for n in range(KINDS[letter].variables):
            offsets[f"{letter}{n}"] = at
            at += KINDS[letter].width // 64 + 1
    return offsets, at


INITIAL_ACCUMULATORS = [0x5A5A5A5A, 0, 0, 0, 0x7FFFFFFF, 0x123456789, 0, 0]
SLOTS = ["add.u32", "max.u32", "xor.b32", "or.b32", "min.s32", "add.u64", "add.f32", "inc.u32"]
SLOT_SOURCES = ["r", "r", "r", "r", "r", "d", "r", "r"]
WARP_OPERATIONS = """
shfl.up shfl.down shfl.bfly shfl.idx shfl.variable all any uni ballot match.any match.any64 match.all
redux.add redux.min redux.max redux.smin redux.and redux.or redux.xor block.popc block.and block.or
""".split()  # noqa: SIM905 (a table)
SHARED_ATOMICS = ["add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "add.f32", "inc.u32", "cas"]
FUNCTION_KINDS = "rdfp"  # what functions compute with


class Maker:
    """Draws a program from a seed."""

    def __init__(self, seed, language=None):
        self.random = random.Random(f"cucore differential {seed}")
        drawn = self.random.choice(["ptx", "cuda"])
        self.seed, self.language = seed, language or drawn
        self.functions = []
        self.kinds = "".join(KINDS)
        self.in_function = False
        self.converges = False

    def program(self):
        self.converges = self.random.random() < 0.6
        block = self.random.choice(BLOCKS if self.converges or self.random.random() < 0.6 else RAGGED)
        grid = self.random.choice([1, 1, 2, 3])
        for _ in range(self.random.choice([0, 0, 1, 2])):
            self.functions.append(self.function())
        body = self.statements(self.random.randint(4, 9), 0, False)
        for _ in range(self.random.randint(1, 3) if self.converges else 0):
            body += [*self.convergent_operation(), *self.statements(self.random.randint(1, 4), 0, False)]
        for statements in (body, *(function.body for function in self.functions)):
            leave_out(statements)
        return Program(self.seed, self.language, block, grid, self.functions, body)

    def pick(self, letter):
        return f"{letter}{self.random.randrange(KINDS[letter].variables)}"

    def pick_any(self, letters):
        return self.pick(self.random.choice(letters))

    def function(self):
        """A function of a few arguments; within it the variables are its own."""
        self.kinds, self.in_function = FUNCTION_KINDS, True
        body = self.statements(self.random.randint(2, 4), 1, False)
        results = self.random.choice([["r0"], ["d1"], ["r1", "r2", "d0", "f0"]])
        self.kinds, self.in_function = "".join(KINDS), False
        return Function(["r0", "d0", "f0", "r1"], results, body)

    def statements(self, count, depth, in_loop):
        return [s for _ in range(count) for s in self.statement(depth, in_loop)]

    def statement(self, depth, in_loop):
        roll = self.random.random()
        if depth >= 3:
            roll *= 0.72
        if roll < 0.50:
            return self.operate(self.random.randint(1, 4))
        if roll < 0.58:
            return [self.transfer()]
        if roll < 0.65:
            return [self.load()] if not self.in_function else self.operate(1)
        if roll < 0.72:
            return [self.effect()] if not self.in_function else self.operate(1)
        if roll < 0.85:
            return self.branch(depth, in_loop)
        if roll < 0.92:
            return [self.loop(depth)]
        if roll < 0.96:
            cases = [self.statements(1, depth + 1, False) for _ in range(self.random.choice([2, 4]))]
            return [Switch(self.pick("r"), cases)]
        return [self.call()] if self.functions and not self.in_function else self.operate(2)

    def operate(self, count):
        out = []
        field = 15 if self.in_function else 255  # in a function variables begin as constants: see README.md
        for _ in range(count):
            operation = draw(self.random, self.kinds, self.seed >= FIRST_LATER)
            operands = [self.pick(kind_of(t)) for _, t in operation.inputs]
            integers = [
                i for i, (_, t) in enumerate(operation.inputs) if t[1:] in ("8", "16", "32", "64") and t[0] in "bsu"
            ]
            if integers and len(operands) > 1 and self.random.random() < 0.25:
                place = self.random.choice(integers)
                small = self.random.choice([0, 1, 2, 7, 8, 15, 16, 31, 32, 100, 255, 32767])
                small &= field if operation.family in ("bfe", "bfi") else small  # what ptxas takes
                operands[place] = small & 127 if operation.inputs[place][1][1:] == "8" else small
            if operation.divides_integers:
                out += self.make_odd(operands)
            if operation.family in ("bfe", "bfi"):
                out += [Operate(operations()["and.b32"], [o], [o, field]) for o in operands[-2:] if isinstance(o, str)]
            if operation.shows_sign_of_nan:
                out += [Transfer(operand, operand) for operand in operands]
            results = []
            for _, t in operation.outputs:
                choices = [f"{kind_of(t)}{n}" for n in range(KINDS[kind_of(t)].variables)]
                results.append(self.random.choice([name for name in choices if name not in results]))
            guard = self.pick("p") if len(operation.lines) == 1 and self.random.random() < 0.12 else None
            out.append(Operate(operation, results, operands, guard, self.random.random() < 0.5))
        return out

    def make_odd(self, operands):
        """PTX leaves x / 0 open."""
        divisor = operands[1]
        if isinstance(divisor, int):
            operands[1] = divisor | 1
            return []
        return [Operate(operations()[f"or.b{KINDS[divisor[0]].width}"], [divisor], [divisor, 1])]

    def transfer(self):
        pairs = [("r", "f"), ("f", "r"), ("d", "e"), ("e", "d"), ("h", "x"), ("x", "h"), ("h", "y"), ("y", "h")]
        pairs += [("r", "u"), ("u", "r"), ("r", "v"), ("v", "r")]
        result, source = self.random.choice([pair for pair in pairs if set(pair) <= set(self.kinds)])
        return Transfer(self.pick(result), self.pick(source))

    def load(self):
        place = self.random.choice(["input", "input", "local"])
        letter = self.random.choice("rrdhffexyuv")
        width = KINDS[letter].width
        if letter in "rh" and self.random.random() < 0.3:
            width = self.random.choice([w for w in (8, 16) if w < width])
        return Load(
            self.pick(letter), place, width, self.random.random() < 0.5, self.pick("r"), self.random.randrange(64)
        )

    def effect(self):
        roll = self.random.random()
        if roll < 0.4:
            width = self.random.choice([8, 16, 32, 64])
            return LocalStore(width, self.pick("r"), self.pick({8: "h", 16: "h", 32: "r", 64: "d"}[width]))
        if roll < 0.7:
            slot = self.random.randrange(ACCUMULATORS)
            return Accumulate(slot, self.pick(SLOT_SOURCES[slot]))
        return StoreExtra(EXTRA_WORD + self.random.randrange(2), self.pick("r"))

    def condition(self):
        """Statements that set a predicate from a few low bits, so that lanes part, and the predicate."""
        predicate = self.pick("p")
        if self.random.random() < 0.35:
            return [], predicate
        source = self.pick("r")
        masked = self.pick("r")
        relation = self.random.choice(["lt.u32", "gt.s32", "eq.u32", "ne.s32"])
        return [
            Operate(operations()["and.b32"], [masked], [source, self.random.choice([1, 3, 7, 15])]),
            Operate(operations()[f"setp.{relation}"], [predicate], [masked, self.random.randrange(5)]),
        ], predicate

    def branch(self, depth, in_loop):
        before, predicate = self.condition()
        then = self.statements(self.random.randint(1, 3), depth + 1, in_loop)
        roll = self.random.random()
        if in_loop and roll < 0.3:
            then.append(Leave(self.random.choice(["break", "continue"])))
        elif not self.in_function and not self.converges and roll < 0.1:
            then.append(Leave("return"))
        otherwise = self.statements(self.random.randint(1, 2), depth + 1, in_loop) if self.random.random() < 0.5 else []
        return [*before, If(predicate, self.random.random() < 0.5, then, otherwise)]

    def loop(self, depth):
        count = self.pick("r") if self.random.random() < 0.6 else None
        body = self.statements(self.random.randint(1, 3), max(depth + 1, 2), True)
        return Loop(count, self.random.choice([1, 3, 3, 2, 5]), body, depth)

    def call(self):
        index = self.random.randrange(len(self.functions))
        function = self.functions[index]
        results = []
        for result in function.results:
            choices = [f"{result[0]}{n}" for n in range(KINDS[result[0]].variables)]
            results.append(self.random.choice([name for name in choices if name not in results]))
        return Call(index, results, [self.pick(p[0]) for p in function.parameters])

    def convergent_operation(self, nested=False):
        roll = self.random.random()
        if roll < 0.2:
            how = self.random.choice(["rotate", "xor", "byte", "variable", "wide"])
            return [Exchange(self.pick("r"), self.pick("r"), how, self.random.randrange(1, 64), self.pick("r"))]
        if roll < 0.35:
            initial = self.random.choice([0, 0xFFFFFFFF, 0x12345678])
            operation = self.random.choice(SHARED_ATOMICS)
            return [SharedAtomic(self.pick("r"), operation, self.pick("r"), self.pick("r"), initial)]
        if roll < 0.45 and not nested:
            inside = [s for _ in range(2) for s in (*self.convergent_operation(True), *self.operate(1))]
            return [Repeat(self.random.randint(2, 4), inside, self.pick("r"))]
        return self.warp()

    def warp(self):
        if self.random.random() < 0.35:
            before, predicate = self.condition()
            operation = self.random.choice(["shfl.first", "any", "ballot", "match.any", "redux.add", "redux.max"])
            then = self.operate(self.random.randint(1, 3))
            return [*before, self.warp_operation(operation, predicate, then)]
        operation = self.random.choice(WARP_OPERATIONS)
        return [self.warp_operation(operation, None, [])]

    def warp_operation(self, operation, condition, then):
        results, operands = [self.pick("r")], [self.pick("r")]
        if operation in ("all", "any", "uni", "block.and", "block.or"):
            results, operands = [self.pick("p")], [self.pick("p")]
        elif operation in ("ballot", "block.popc"):
            operands = [self.pick("p")]
        elif operation == "match.any64":
            operands = [self.pick("d")]
        elif operation == "match.all":
            results.append(self.pick("p"))
        elif operation == "shfl.variable":
            operands.append(self.pick("r"))
        if operation.startswith("shfl") and operation != "shfl.first" and self.random.random() < 0.5:
            results.append(self.pick("p"))
        return Warp(
            operation,
            results,
            operands,
            self.random.randrange(32),
            self.random.choice([32, 32, 16, 8]),
            condition,
            then,
        )


def make_program(seed, language=None):
    return Maker(seed, language).program()
