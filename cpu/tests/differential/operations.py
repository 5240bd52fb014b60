"""The operations that random programs are made of: the PTX instructions of ../instructions/reference with their models.

Each is exact and total: its result is a function of its operands' bits, but for the payload of a NaN, which no program
lets flow into anything that is compared (see `Kind.nan_above`). Their C++ spellings are in cuda_forms.py.
"""

import functools
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "instructions"))

from reference import bits, comparison, conversion, floating, integer
from reference.ieee import FORMATS
from reference.values import WIDTH


@dataclass(frozen=True)
class Kind:
    """A kind of variable. `letter` begins their names; `nan_above`: the largest that is no NaN, of each float in it."""

    letter: str
    width: int
    cpp: str
    constraint: str  # of inline assembly
    variables: int
    format: str = ""

    @property
    def register(self):
        return "pred" if self.letter == "p" else f"b{self.width}"

    @property
    def packed(self):
        return self.format.endswith("x2")

    @property
    def nan_above(self):
        return FORMATS[self.format.removesuffix("x2")].infinity if self.format else None


KINDS = {
    kind.letter: kind
    for kind in (
        Kind("r", 32, "unsigned", "r", 6),
        Kind("d", 64, "unsigned long long", "l", 4),
        Kind("h", 16, "unsigned short", "h", 3),
        Kind("f", 32, "float", "f", 4, "f32"),
        Kind("e", 64, "double", "d", 3, "f64"),
        Kind("x", 16, "unsigned short", "h", 2, "f16"),
        Kind("y", 16, "unsigned short", "h", 2, "bf16"),
        Kind("u", 32, "unsigned", "r", 2, "f16x2"),
        Kind("v", 32, "unsigned", "r", 2, "bf16x2"),
        Kind("p", 1, "bool", "r", 3),
    )
}
OF_TYPE = {kind.format: kind.letter for kind in KINDS.values() if kind.format} | {"pred": "p"}


def kind_of(type_name):
    return OF_TYPE.get(type_name) or {8: "h", 16: "h", 32: "r", 64: "d"}[WIDTH[type_name]]


@dataclass(frozen=True)
class Operation:
    """One instruction or a short chain: columns of operands and results, PTX over registers named after them, model."""

    name: str
    family: str
    inputs: tuple  # of (column, type)
    outputs: tuple
    body: str
    model: object

    def compute(self, operands):
        result = self.model(*(b & (1 << WIDTH[t]) - 1 for b, (_, t) in zip(operands, self.inputs)))
        return result if isinstance(result, tuple) else (result,)

    @property
    def lines(self):
        return [line.strip() for line in self.body.strip().splitlines()]

    @property
    def divides_integers(self):
        return self.family in ("div", "rem") and kind_of(self.outputs[0][1]) not in "fe"

    @property
    def shows_sign_of_nan(self):
        return self.family == "copysign" or "xorsign" in self.name


@functools.cache
def operations():
    """All of them by name."""
    found = {}
    for module in (integer, bits, floating, conversion, comparison):
        for case in module.cases():
            plain = not (case.registers or case.module or case.whole or case.block or case.parameters)
            if plain and case.model and "tf32" not in case.name:
                found[case.name] = Operation(
                    case.name, case.family, tuple(case.inputs), tuple(case.outputs), rounded(case), case.model
                )
    return found


def rounded(case):
    """The case's PTX with its rounding spelt out: ptxas may fuse an add and a mul that leave it open."""
    words = case.body.split(" ")[0].split(".")
    floats = {word.removesuffix("x2") for word in words} & FORMATS.keys()
    if case.family not in ("add", "sub", "mul") or not floats or set(words) & {"rn", "rz", "rm", "rp"}:
        return case.body
    return case.body.replace(case.family, case.family + ".rn", 1)


# What keeps variables full of entropy; the rest (a count of bits, a comparison) are drawn by family.
MIXING = """
add.u32 sub.s32 mul.lo.u32 mul.hi.u32 mad.lo.u32 xor.b32 shf.l.wrap.b32 add.s64 mul.lo.u64 mul.hi.s64 xor.b64 mad.lo.s64
mul.wide.u32 mul.wide.s32 add.u16 mul.lo.s16 cvt.u32.u64 cvt.u64.u32 cvt.s64.s32 cvt.u32.u16 cvt.u16.u32 prmt.b32
add.f32 sub.f32 mul.f32 fma.rn.f32 div.rn.f32 sqrt.rn.f32 add.f64 mul.f64 fma.rn.f64 div.rn.f64 cvt.rn.f32.s32
cvt.rn.f64.s32 cvt.rn.f32.f64 cvt.f64.f32 fma.rn.f16 add.f16 fma.rn.bf16 fma.rn.f16x2 fma.rn.bf16x2 cvt.rn.f16.f32
cvt.rn.bf16.f32 cvt.rn.f16x2.f32 cvt.rn.bf16x2.f32 cvt.f32.f16
""".split()  # noqa: SIM905 (a table)


# Operations that came when GPUs had run the programs of the seeds before FIRST_LATER, which stay as they were.
LATER = {"fns.b32", "addc.after_sub.u32", "addc.after_subc.u64", "subc.after_add.u32"}
LATER |= {f"cvt.pack.sat.{to}.s32.b32" for to in ("u2", "s2", "u4", "s4", "u8", "s8")}
LATER |= {"cvt.pack.sat.u16.s32", "cvt.pack.sat.s16.s32"}
LATER |= {f"cvt.rn.satfinite.{to}.f32" for to in ("f16", "bf16", "f16x2", "relu.f16", "relu.bf16", "relu.bf16x2")}
LATER |= {f"cvt.rz.satfinite.{to}.f32" for to in ("f16", "bf16", "bf16x2")}
FIRST_LATER = 10_000


@functools.cache
def families(later=False):
    by_family = defaultdict(list)
    for operation in operations().values():
        if later or operation.name not in LATER:
            by_family[operation.family].append(operation)
    return [by_family[name] for name in sorted(by_family)]


def draw(random, only=None, later=False):
    """An operation, of LATER too if `later`; `only`: whose every operand and result is of one of these kinds."""
    while True:
        if random.random() < 0.45:
            operation = operations()[random.choice(MIXING)]
        else:
            operation = random.choice(random.choice(families(later)))
        letters = {kind_of(t) for _, t in operation.inputs + operation.outputs}
        if only is None or letters <= set(only):
            return operation
