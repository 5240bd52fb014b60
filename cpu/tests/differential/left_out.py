"""Takes out of a program what NVIDIA's assembler (ptxas 13.0, for sm_90) makes otherwise than PTX says.

All of it was found by these programs on an H200 and read in the SASS of those that differed. It comes after drawing,
so that only programs with such a pattern change. A rule asks for its pattern anywhere in a body, in whatever order:
loops carry values back, and the assembler moves instructions.
"""

from operations import KINDS, operations
from statements import If, Loop, Operate, statements_in

SHORT_SHIFTS = ("shl.b16", "shr.b16", "shr.u16", "shr.s16")


def leave_out(body):
    found = list(statements_in(body))
    operates = [s for s in found if isinstance(s, Operate)]
    for rule in (
        subtract_without_saturation,
        run_unguarded,
        combine_three_registers,
        negate_instead_of_abs,
        invert_instead_of_cnot,
        select_no_sign,
        subtract_unknown_words,
    ):
        rule(operates)
    for outer in found:
        if isinstance(outer, If):
            run_unguarded_in_loops(outer)


def subtract_without_saturation(operates):
    """Of a - (a + b) is made -b, where the sum has wrapped too."""
    for s in operates:
        if s.operation.name == "sub.sat.s32":
            s.operation = operations()["sub.s32"]


def run_unguarded(operates):
    """Some of the instructions that set and testp become run whether the predicate holds or not."""
    for s in operates:
        if s.operation.family in ("set", "testp"):
            s.guard = None


def combine_three_registers(operates):
    """A register that comes twice is not always folded as it should: of d = lop3(a, 1, a, 0x96) the lowest bit becomes
    that of ~a instead of 1."""
    for s in operates:
        if s.operation.family == "lop3" and len(set(s.operands)) < 3:
            s.operands = ["r0", "r1", "r2"]


def negate_instead_of_abs(operates):
    """a - abs(b) becomes a + (b < 0 ? b : -b), whose carry is not the borrow where b is 0."""
    chains = ("subc.s64", "subc.u64", "addc.after_subc.u64")
    subtracted = {s.operands[1] for s in operates if s.operation.name in chains}
    for s in operates:
        if s.operation.name == "abs.s64" and s.results[0] in subtracted:
            s.operation = operations()["neg.s64"]


def invert_instead_of_cnot(operates):
    """cnot becomes -(a == 0 ? -1 : 0); as the amount of a 16-bit shift it loses the negation or is not computed."""
    amounts = {s.operands[1] for s in operates if s.operation.name in SHORT_SHIFTS}
    for s in operates:
        if s.operation.name == "cnot.b32" and s.results[0] in amounts:
            s.operation = operations()["not.b32"]


def select_no_sign(operates):
    """Where only the lowest byte of a prmt is needed and is the sign of a byte of the first operand (8 to 11), that
    operand becomes 0, as if the selector named one of the second's."""
    for s in operates:
        if s.operation.name == "prmt.b32" and isinstance(s.operands[2], int) and s.operands[2] & 12 == 8:
            s.operands[2] &= ~8


def subtract_unknown_words(operates):
    """Where a branch has shown that b equals a constant, and another instruction needs it in a register, the subc of
    a - b becomes a + constant + carry: the complement is lost."""
    shown = set()
    for s in operates:
        if s.operation.name.startswith(("setp.eq.", "setp.ne.")) and any(isinstance(o, int) for o in s.operands):
            shown |= {o for o in s.operands if isinstance(o, str)}
    places = {"subc.cc.u32": (0, 2), "subc.after_add.u32": (), "addc.after_subc.u64": (3,)}
    for s in operates:
        if s.operation.family == "subc" or s.operation.name in places:
            for place in places.get(s.operation.name, (3,)):
                if s.operands[place] in shown:
                    s.operands[place] = other_than(shown, s.operands[place][0])


def other_than(names, letter):
    """A variable of this kind that is not among them; if there is none, a constant, of which subc is right."""
    variables = (f"{letter}{n}" for n in range(KINDS[letter].variables))
    return next((variable for variable in variables if variable not in names), 7)


def run_unguarded_in_loops(outer):
    """In a loop entered where a predicate holds, what is guarded by it can be left out although the loop changes it."""
    for loop in statements_in(outer.then + outer.otherwise):
        if isinstance(loop, Loop):
            inside = list(statements_in(loop.body))
            changed = {name for s in inside for name in getattr(s, "results", ())}
            for s in inside:
                if isinstance(s, Operate) and s.guard == outer.condition and s.guard in changed:
                    s.guard = None
