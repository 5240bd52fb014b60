"""One program: what it wrote against what the interpreter says, and the smallest part of it that still differs."""

import struct
import time

from interpreter import interpret
from launches import Launcher, N, make_inputs, text_of
from program import (
    ACCUMULATORS,
    EXTRA_WORD,
    LEFT_WORD,
    RESULT_WORDS,
    SLOTS,
    make_program,
    result_offsets,
)

SECONDS = 120  # for a minimisation


def word_name(program, index):
    """What a word of the output is, in words."""
    accumulators = program.output_words - 2 * ACCUMULATORS
    if index >= accumulators:
        return f"accumulator {SLOTS[(index - accumulators) // 2]}"
    thread, word = divmod(index, RESULT_WORDS)
    offsets, predicates = result_offsets()
    if word >= predicates:
        names = {predicates: "predicates", LEFT_WORD: "where it left"}
        name = names.get(word, f"store {word - EXTRA_WORD}" if word >= EXTRA_WORD else "unused")
    else:
        name = max((at, name) for name, at in offsets.items() if at <= word)[1]
    return f"block {thread // program.threads} thread {thread % program.threads} {name}"


class Reproducer:
    """Runs programs on the driver and in the interpreter."""

    def __init__(self):
        self.launcher, self.inputs = Launcher(1 << 22), make_inputs()

    def differing(self, program):
        """(word's name, driver's, interpreter's) for each word that differs."""
        got, want = (
            struct.unpack(f"<{program.output_words}I", data)
            for data in (self.launcher.outputs_of([program])[0], interpret(program, self.inputs, N))
        )
        return [(word_name(program, n), g, w) for n, (g, w) in enumerate(zip(got, want)) if g != w]

    def minimise(self, program):
        """Takes statement after statement away while a difference stays; changes the program."""
        end = time.monotonic() + SECONDS
        shrunk = True
        while shrunk and time.monotonic() < end:
            shrunk = False
            for statements in lists_of(program):
                for place in reversed(range(len(statements))):
                    taken = statements.pop(place)
                    if time.monotonic() < end and self.still_differs(program):
                        shrunk = True
                    else:
                        statements.insert(place, taken)

    def still_differs(self, program):
        try:
            return bool(self.differing(program))
        except self.launcher.cucore.CUDAError:
            return False


def lists_of(program):
    """All lists of statements in it, outer before inner."""
    pending = [program.body, *(function.body for function in program.functions)]
    for statements in pending:
        yield statements
        for statement in statements:
            for name in ("then", "otherwise", "body"):
                pending += [getattr(statement, name)] if getattr(statement, name, None) else []
            pending += getattr(statement, "cases", [])


def show(seed, text, minimise):
    program = make_program(seed)
    reproducer = Reproducer()
    differing = reproducer.differing(program)
    if differing and minimise:
        reproducer.minimise(program)
        differing = reproducer.differing(program)
    if text or minimise:
        print(text_of(program))
    print(f"seed {seed}: {program.language}, grid {program.grid}, block {program.block}, driver against interpreter:")
    for name, got, want in differing[:20]:
        print(f"  {name}: 0x{got:08x} instead of 0x{want:08x}")
    print(f"  {len(differing)} words of {program.output_words} differ")
    return 1 if differing else 0
