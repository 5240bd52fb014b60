"""mma.sp: half of A's elements are stored, and metadata says where in its row each belongs.

The fragments and the metadata are written here as the manual's tables give them, places in the whole A first. Lanes
that bring no metadata hold noise.
"""

import random

from reference.kernel import Case
from reference.matrix import (
    BITS,
    FORMATS,
    LANES,
    WARPS,
    c_place,
    columns,
    encode,
    fragment,
    matrix,
    pack,
    product,
    random_value,
    vector,
)

# Of each chunk of a row: how many columns it has, how many of them stand together, and how many such groups are stored.
CHUNKS = {"tf32": (2, 1, 1), "f16": (4, 1, 2), "bf16": (4, 1, 2), "e4m3": (4, 1, 2), "e5m2": (4, 1, 2)}
CHUNKS |= {"s8": (4, 1, 2), "u8": (4, 1, 2), "s4": (8, 2, 2), "u4": (8, 2, 2)}


def unpack(words, bits):
    """What reference.matrix.pack packed."""
    return [word >> bits * n & (1 << bits) - 1 for word in words for n in range(32 // bits)]


def stored_place(kind, lane, i):
    """Row in A, first column of the chunk in A, and which of the chunk's stored elements element i of a lane is."""
    group, thread = lane >> 2, lane % 4
    if kind == "tf32":
        return group + 8 * (i % 2), thread * 2 + 8 * (i // 2), 0
    if kind in ("f16", "bf16"):
        return group + 8 * (i // 2 % 2), thread * 4 + 16 * (i // 4), i % 2
    if BITS[kind] == 8:
        return group + 8 * (i // 4 % 2), thread * 8 + 4 * (i // 2 % 2) + 32 * (i // 8), i % 2
    return group + 8 * (i // 8 % 2), thread * 16 + 8 * (i // 4 % 2) + 64 * (i // 16), i % 4


def b_place(shape, kind, lane, i):
    group, thread = lane >> 2, lane % 4
    per_word = 32 // BITS[kind]
    return thread * per_word + i % per_word + 4 * per_word * (i // per_word), group


def choose(kind, k, rng):
    """For each chunk of a row which of its groups are stored, in ascending order."""
    width, together, stored = CHUNKS[kind]
    return [sorted(rng.sample(range(width // together), stored)) for _ in range(k // width)]


def metadata_of(kind, chosen):
    """The bits of a row, the first chunk's the lowest."""
    if kind == "tf32":
        return sum({0: 0b0100, 1: 0b1110}[places[0]] << 4 * n for n, places in enumerate(chosen))
    return sum((places[0] | places[1] << 2) << 4 * n for n, places in enumerate(chosen))


def metadata_words(kind, rows, bits, selector, rng):
    """Per lane its word: `rows` holds the `bits` bits of each row of A."""
    words = [rng.randrange(1 << 32) for _ in range(LANES)]
    count = bits // 16  # lanes of each four that bring metadata
    for group in range(8):
        upper, lower = rows[group], rows[group + 8]
        for n in range(count):
            lane = group * 4 + selector * count + n
            if BITS[kind] >= 16:
                words[lane] = upper >> 16 * n & 0xFFFF | (lower >> 16 * n & 0xFFFF) << 16
            else:
                words[lane] = (lower if n % 2 else upper) >> 32 * (n // 2) & 0xFFFFFFFF
    return words


def infinities_in(words, kind, shape, rows):
    """Fragments of B with infinity in some rows."""
    fmt, out = FORMATS[kind], {}
    for lane, own in words.items():
        patterns = unpack(own, BITS[kind])
        places = [b_place(shape, kind, lane, i)[0] for i in range(len(patterns))]
        out[lane] = pack([fmt.infinity if r in rows else p for r, p in zip(places, patterns)], BITS[kind])
    return out


def sparse(shape, d_kind, a_kind, b_kind, c_kind, selector, *, ordered=False, saturates=False, large=False,
           infinite=False, version="7.1", target="sm_80"):  # fmt: skip
    m, n, k = shape
    variant = "sp::ordered_metadata" if ordered else "sp"
    spelling = (
        f"mma.{variant}.sync.aligned.m{m}n{n}k{k}.row.col{'.satfinite' if saturates else ''}"
        f".{d_kind}.{a_kind}.{b_kind}.{c_kind}"
    )
    width, together, stored = CHUNKS[a_kind]
    counts = {"a": m * k // 2 // LANES, "b": k * n // LANES, "c": m * n // LANES}
    rng = random.Random(f"cucore {spelling} {selector} {large}" + (" infinite" if infinite else ""))
    rows, expected = [], []
    for _ in range(WARPS):
        chosen = [choose(a_kind, k, rng)] * m if infinite else [choose(a_kind, k, rng) for _ in range(m)]
        a = [[0] * k for _ in range(m)]
        for row, chunks in zip(a, chosen):
            for chunk, places in enumerate(chunks):
                for place in places:
                    for column in range(chunk * width + place * together, chunk * width + (place + 1) * together):
                        row[column] = random_value(a_kind, rng)
        b, c = matrix(k, n, rng, b_kind), matrix(m, n, rng, c_kind, True)
        if large:
            c = [[rng.choice((-1, 1)) * ((1 << 31) - 1 - rng.randrange(2000)) for _ in range(n)] for _ in range(m)]
        bits = 2 * (k // width) * (2 if a_kind == "tf32" else stored)
        words = metadata_words(a_kind, [metadata_of(a_kind, row) for row in chosen], bits, selector, rng)
        outputs = fragment(product(a, b, c), c_place, shape, d_kind, counts["c"], range(LANES), saturates)
        b_words = fragment(b, b_place, shape, b_kind, counts["b"], range(LANES))
        if infinite:
            met = {chunk * width + place for chunk, places in enumerate(chosen[0]) for place in places}
            b_words = infinities_in(b_words, b_kind, shape, set(range(k)) - met)
        c_words = fragment(c, c_place, shape, c_kind, counts["c"], range(LANES))
        for lane in range(LANES):
            elements = []
            for i in range(counts["a"]):
                row, first, which = stored_place(a_kind, lane, i)
                places = chosen[row][first // width]
                column = first + places[which // together] * together + which % together
                elements.append(encode(a_kind, a[row][column]))
            rows.append((*pack(elements, BITS[a_kind]), *b_words[lane], *c_words[lane], words[lane]))
        expected += [tuple(outputs[lane]) for lane in range(LANES)]
    size = {p: counts[p] * BITS[kind] // 32 for p, kind in zip("abc", (a_kind, b_kind, c_kind))}
    d_words = counts["c"] * BITS[d_kind] // 32
    operands = f"{vector('a', size['a'])}, {vector('b', size['b'])}, {vector('c', size['c'])}, %e, {selector}"
    return Case(
        f"{spelling}.selector_{selector}{'.large' if large else ''}{'.infinite' if infinite else ''}",
        "d = a * b + c, a sparse"
        + (", the sums beyond 32 bits" if large else "")
        + (", infinities in b where a has nothing" if infinite else ""),
        " ".join(columns(p, kind, size[p]) for p, kind in zip("abc", (a_kind, b_kind, c_kind))) + " e:b32",
        columns("d", d_kind, d_words),
        f"{spelling} {vector('d', d_words)}, {operands};",
        rows,
        model_all=lambda _: expected,
        version=version,
        target=target,
    )


def cases():
    for k in (16, 32):
        for selector in range(4 if k == 16 else 2):
            yield sparse((16, 8, k), "f32", "f16", "f16", "f32", selector)
        yield sparse((16, 8, k), "f16", "f16", "f16", "f16", 1)
        yield sparse((16, 8, k), "f32", "f16", "f16", "f32", 0, infinite=True)
        yield sparse((16, 8, k), "f32", "bf16", "bf16", "f32", 0)
        yield sparse((16, 8, k), "f32", "bf16", "bf16", "f32", 1, ordered=True, version="8.5")
    for k in (8, 16):
        for selector in range(4 if k == 8 else 2):
            yield sparse((16, 8, k), "f32", "tf32", "tf32", "f32", selector)
        yield sparse((16, 8, k), "f32", "tf32", "tf32", "f32", 0, infinite=True)
    for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3")):
        yield sparse((16, 8, 64), "f32", a, b, "f32", 0, version="8.4", target="sm_89")
    for k, first, second in ((32, "s8", "u8"), (64, "s8", "u8"), (64, "s4", "u4"), (128, "s4", "u4")):
        selectors = range(1 if (k, first) in ((64, "s8"), (128, "s4")) else 2)
        for selector in selectors:
            yield sparse((16, 8, k), "s32", first, first, "s32", selector)
        yield sparse((16, 8, k), "s32", second, first, "s32", 0)
        yield sparse((16, 8, k), "s32", first, first, "s32", 0, saturates=True, large=True)
