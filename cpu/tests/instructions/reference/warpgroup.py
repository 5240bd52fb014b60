"""wgmma: matrices of a warpgroup, in registers and in shared memory as descriptors say.

Each thread brings chunks of 16 bytes of A and B, and where in shared memory they belong: the manual's canonical layouts,
written here element by element. All values are small integers or halves of them, as in reference.matrix, so that every
sum is exact, but for the scattered ones, which are added as H200s were seen to do it.
"""

import random
from fractions import Fraction
from typing import NamedTuple

from reference.kernel import Case
from reference.matrix import BITS, LANES, a_place, columns, encode, matrix, pack, product, random_value, result, vector
from reference.sparse_matrix import CHUNKS, choose, metadata_of, metadata_words, stored_place

M = 64
THREADS = 128
B_BEGINS = 8192
NOWHERE = 0xFFFFFFFF
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


class Layout(NamedTuple):
    """How a matrix lies: whether its elements follow each other along K, the bytes of the swizzle, and both distances."""

    along_k: bool
    swizzle: int
    leading: int
    stride: int
    start: int = 0

    def descriptor(self, begin):
        return (begin + self.start) >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | MODES[self.swizzle] << 62

    def place(self, begin, outer, k, size):
        """The byte of element `k` of row or column `outer`; `size` in bytes."""
        per_chunk, lines = 16 // size, self.swizzle
        if self.along_k and not lines:
            offset = outer % 8 * 16 + outer // 8 * self.stride + k % per_chunk * size + k // per_chunk * self.leading
        elif self.along_k:
            offset = outer % 8 * lines + outer // 8 * self.stride + k * size
        elif not lines:
            offset = outer % 8 * size + outer // 8 * self.stride + k % 8 * 16 + k // 8 * self.leading
        else:
            wide = lines // size
            offset = outer % wide * size + outer // wide * self.leading + k % 8 * lines + k // 8 * self.stride
        address = begin + self.start + offset
        return address ^ (address // 128 % (lines // 16) * 16 if lines else 0)

    def __str__(self):
        name = ("k" if self.along_k else "mn") + (str(self.swizzle) if self.swizzle else "")
        return name + (f"_from_{self.start}" if self.start else "")


def along_k(swizzle=0, start=0):
    return Layout(True, swizzle, 128 if not swizzle else 16, 8 * swizzle or 256, start)


def across_k(swizzle=0):
    return Layout(False, swizzle, 16 * swizzle or 128, 8 * swizzle or 256)


def chunks(layout, begin, rows, kind):
    """The words of each chunk by its address; `rows`: of A, or columns of B, as patterns along K."""
    if BITS[kind] == 1:
        rows, bits = [pack(row, 1) for row in rows], 32
    else:
        bits = BITS[kind]
    memory = {}
    for outer, row in enumerate(rows):
        for k, pattern in enumerate(row):
            at = layout.place(begin, outer, k, bits // 8)
            memory.setdefault(at // 16 * 16, {})[at % 16 * 8 // bits] = pattern
    return [(at, pack([elements[n] for n in range(128 // bits)], bits)) for at, elements in sorted(memory.items())]


def accumulator_place(lane, i):
    return lane // 4 + 8 * (i // 2 % 2), lane % 4 * 2 + i % 2 + 8 * (i // 4)


def accumulators(values, kind, n, saturates=False):
    """Per thread the words of its accumulators."""
    out = []
    for thread in range(THREADS):
        places = [accumulator_place(thread % LANES, i) for i in range(n // 2)]
        patterns = [result(kind, values[16 * (thread // LANES) + r][c], saturates) for r, c in places]
        out.append(pack(patterns, BITS[kind]))
    return out


def dense_fragments(a, kind, k):
    """Per thread the words of A that it holds."""
    out = []
    for thread in range(THREADS):
        places = [a_place((16, 8, k), kind, thread % LANES, i) for i in range(128 // BITS[kind])]
        out.append(pack([encode(kind, a[16 * (thread // LANES) + r][c]) for r, c in places], BITS[kind]))
    return out


class Sparse:
    """A with half of its elements, and what says which."""

    def __init__(self, kind, k, selector, rng):
        self.kind, self.width = kind, CHUNKS[kind][0]
        self.chosen = [choose(kind, k, rng) for _ in range(M)]
        self.a = [[0] * k for _ in range(M)]
        for row, chosen in zip(self.a, self.chosen):
            for chunk, places in enumerate(chosen):
                for place in places:
                    row[chunk * self.width + place] = random_value(kind, rng)
        bits = 4 * (k // self.width)
        self.metadata = []
        for warp in range(4):
            rows = [metadata_of(kind, row) for row in self.chosen[16 * warp : 16 * warp + 16]]
            self.metadata += metadata_words(kind, rows, bits, selector, rng)

    def stored(self):
        return [
            [row[chunk * self.width + place] for chunk, places in enumerate(chosen) for place in places]
            for row, chosen in zip(self.a, self.chosen)
        ]

    def fragments(self):
        out = []
        for thread in range(THREADS):
            patterns = []
            for i in range(128 // BITS[self.kind]):
                row, first, which = stored_place(self.kind, thread % LANES, i)
                row += 16 * (thread // LANES)
                place = self.chosen[row][first // self.width][which]
                patterns.append(encode(self.kind, self.a[row][first + place]))
            out.append(pack(patterns, BITS[self.kind]))
        return out


KEPT = {"e4m3": 13, "e5m2": 13, "f16": 25, "bf16": 25, "tf32": 25}
FRACTION = {"e4m3": 3, "e5m2": 2, "f16": 10, "bf16": 7, "tf32": 10, "f32": 23}
SCATTER = {"e4m3": (-6, 7), "e5m2": (-14, 15), "f16": (-14, 15), "bf16": (-14, 15), "tf32": (-14, 15)}


def scattered_value(kind, rng, least, most):
    """A normal number with all bits of its fraction."""
    significand = (1 << FRACTION[kind]) + rng.randrange(1 << FRACTION[kind])
    return rng.choice((-1, 1)) * Fraction(significand) * Fraction(2) ** (rng.randint(least, most) - FRACTION[kind])


def exponent(value):
    """Of a number that is not zero: the power of two not above it."""
    found = value.numerator.bit_length() - value.denominator.bit_length()
    return found if abs(value) >= Fraction(2) ** found else found - 1


def cut_off(value, unit):
    return int(value / unit) * unit


def aligned_sum(row, column, before, kind, d_kind):
    """As tensor cores of sm_90 add: all cut off toward zero so many bits below the largest exponent, then summed."""
    exponents = [exponent(a) + exponent(b) for a, b in zip(row, column)] + ([exponent(before)] if before else [])
    unit = Fraction(2) ** (max(exponents) - KEPT[kind])
    total = sum(cut_off(a * b, unit) for a, b in zip(row, column)) + cut_off(before, unit)
    if d_kind == "f16" or total == 0:
        return total
    return cut_off(total, Fraction(2) ** (exponent(total) - min(FRACTION[d_kind], KEPT[kind])))


REGISTERS = ".reg .b32 %cells, %to;\n.reg .b64 %base, %first, %second;\n.reg .pred %counts, %brings;"


def wgmma(n, d_kind, a_kind, b_kind, a_layout, b_layout, *, selector=None, saturates=False, counts=True,
          scales=(1, 1),
          scattered=False):  # fmt: skip
    """`a_layout` is None for A in registers; `selector`: A is sparse; `scattered`: values whose sums must be rounded."""
    k = 256 // BITS[a_kind] * (1 if selector is None else 2)
    spelling = (
        f"wgmma.mma_async{'' if selector is None else '.sp'}.sync.aligned.m{M}n{n}k{k}.{d_kind}.{a_kind}.{b_kind}"
        f"{'.satfinite' if saturates else ''}{'.and.popc' if a_kind == 'b1' else ''}"
    )
    name = f"{spelling}.{a_layout or 'registers'}.{b_layout}"
    name += "" if selector is None else f".selector_{selector}"
    name += ("" if counts else ".without_d") + ("" if scales == (1, 1) else ".negated")
    name += ".scattered" if scattered else ""
    rng = random.Random(f"cucore {name}")
    sparse = None if selector is None else Sparse(a_kind, k, selector, rng)
    a = sparse.a if sparse else matrix(M, k, rng, a_kind)
    b, c = matrix(k, n, rng, b_kind), matrix(M, n, rng, d_kind, True)
    if saturates:
        c = [[rng.choice((-1, 1)) * ((1 << 31) - 1 - rng.randrange(2000)) for _ in range(n)] for _ in range(M)]
    sign = scales[0] * scales[1]
    before = c if counts else [[0] * n for _ in range(M)]
    d = product([[sign * x for x in row] for row in a], b, before, "and" if a_kind == "b1" else None)
    if scattered:
        least, most = (-3, 2) if d_kind == "f16" else SCATTER[a_kind]
        a = [[scattered_value(a_kind, rng, least, most) for _ in range(k)] for _ in range(M)]
        b = [[scattered_value(b_kind, rng, least, most) for _ in range(n)] for _ in range(k)]
        c = [[scattered_value(d_kind if d_kind == "f32" else "f16", rng, least, most) for _ in range(n)] for _ in a]
        d = [[aligned_sum(row, column, x, a_kind, d_kind) for column, x in zip(zip(*b), xs)] for row, xs in zip(a, c)]
    if a_layout:
        stored = [[encode(a_kind, x) for x in row] for row in (sparse.stored() if sparse else a)]
        of_a = chunks(a_layout, 0, stored, a_kind)
    else:
        of_a = [(0, words) for words in (sparse.fragments() if sparse else dense_fragments(a, a_kind, k))]
    of_b = chunks(b_layout, B_BEGINS, [[encode(b_kind, x) for x in column] for column in zip(*b)], b_kind)
    assert len(of_a) == THREADS and len(of_b) <= THREADS, name
    of_b += [(NOWHERE, [0] * 4)] * (THREADS - len(of_b))
    before, after = accumulators(c, d_kind, n), accumulators(d, d_kind, n, saturates)
    rows = []
    for thread in range(THREADS):
        (to_a, words_a), (to_b, words_b) = of_a[thread], of_b[thread]
        extra = (sparse.metadata[thread],) if sparse else ()
        rows.append((to_a, *words_a, to_b, *words_b, *before[thread], *extra))
    size = n // 2 * BITS[d_kind] // 32
    is_float, is_half = d_kind != "s32", BITS[a_kind] == 16
    operands = [vector("d", size), "%first" if a_layout else vector("a", 4), "%second"]
    operands += [] if selector is None else ["%e", str(selector)]
    operands += ["%counts"] + [str(x) for x in scales] * is_float
    operands += [str(int(not layout.along_k)) for layout in (a_layout, b_layout) if layout and is_half]
    put = "\n".join(
        f"setp.ne.u32 %brings, %p{p}, {NOWHERE};\nadd.u32 %to, %cells, %p{p};\n"
        f"@%brings st.shared.v4.b32 [%to], {vector(p, 4)};"
        for p in ("ab" if a_layout else "b")
    )
    names_a = f"add.u64 %first, %base, {a_layout.descriptor(0):#x};\n" if a_layout else ""
    moves = "\n".join(f"mov.{'f32' if d_kind == 'f32' else 'b32'} %d{i}, %c{i};" for i in range(size))
    body = f"""
mov.u32 %cells, cells;
{put}
fence.proxy.async;
bar.sync 0;
shr.u32 %to, %cells, 4;
cvt.u64.u32 %base, %to;
{names_a}add.u64 %second, %base, {b_layout.descriptor(B_BEGINS):#x};
setp.{"eq" if counts else "ne"}.u32 %counts, %row, %row;
{moves}
wgmma.fence.sync.aligned;
{spelling} {", ".join(operands)};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;"""
    return Case(
        name,
        "d = a * b + d, the chunks of a and b at the places pa and pb of shared memory",
        f"pa:b32 {columns('a', 'b32', 4)} pb:b32 {columns('b', 'b32', 4)} {columns('c', d_kind, size)}"
        + (" e:b32" if sparse else ""),
        columns("d", d_kind, size),
        body,
        rows,
        model_all=lambda _: [tuple(words) for words in after],
        version="8.4",
        target="sm_90a",
        module=".shared .align 1024 .b8 cells[16384];",
        registers=REGISTERS,
        family="wgmma",
    )


def cases():
    for swizzle in (0, 32, 64, 128):
        yield wgmma(16, "f32", "f16", "f16", None, along_k(swizzle))
        yield wgmma(32, "f32", "f16", "f16", along_k(swizzle), across_k(swizzle))
        yield wgmma(8, "f32", "bf16", "bf16", across_k(swizzle), along_k(swizzle))
    yield wgmma(16, "f32", "f16", "f16", along_k(128, 32), along_k(128, 96))
    yield wgmma(64, "f32", "bf16", "bf16", along_k(128), across_k(128))
    yield wgmma(24, "f16", "f16", "f16", None, across_k(32))
    yield wgmma(8, "f32", "f16", "f16", None, along_k(), counts=False)
    yield wgmma(8, "f32", "f16", "f16", None, along_k(), scales=(-1, 1))
    yield wgmma(8, "f16", "f16", "f16", along_k(), along_k(), scales=(1, -1))
    yield wgmma(8, "f32", "tf32", "tf32", None, along_k(64))
    yield wgmma(16, "f32", "tf32", "tf32", along_k(), along_k(128))
    for a, b in (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")):
        yield wgmma(8, "f32", a, b, None, along_k(32))
    yield wgmma(16, "f16", "e4m3", "e5m2", along_k(128), along_k(64))
    for a, b in (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")):
        yield wgmma(8, "s32", a, b, None, along_k(128))
    yield wgmma(32, "s32", "s8", "s8", along_k(32), along_k(), saturates=True)
    yield wgmma(8, "s32", "b1", "b1", None, along_k())
    yield wgmma(16, "s32", "b1", "b1", along_k(128), along_k(128))
    for kind in KEPT:
        yield wgmma(8, "f32", kind, kind, None, along_k(), scattered=True)
    for kind in ("f16", "e4m3"):
        yield wgmma(8, "f16", kind, kind, None, along_k(), scattered=True)
    for selector in (0, 1):
        yield wgmma(8, "f32", "f16", "f16", None, along_k(128), selector=selector)
        yield wgmma(8, "f32", "tf32", "tf32", None, along_k(64), selector=selector)
    yield wgmma(16, "f16", "f16", "f16", along_k(), across_k(64), selector=1)
    yield wgmma(8, "f32", "bf16", "bf16", along_k(128), along_k(), selector=0)
    yield wgmma(8, "f32", "e4m3", "e5m2", None, along_k(128), selector=0)
    yield wgmma(16, "s32", "s8", "u8", along_k(32), along_k(64), selector=0)
