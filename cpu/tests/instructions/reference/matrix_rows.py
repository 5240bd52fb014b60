"""ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16 bits, whose rows the lanes of a warp name out of order."""

import random

from reference.kernel import Case
from reference.matrix import LANES, WARPS, pack, vector


def named_row(lane):
    """Lanes name rows of memory out of order."""
    return (lane * 5 + 3) % 32


def halves(words):
    return [word >> 16 * n & 0xFFFF for word in words for n in range(2)]


def place_in_matrix(lane, half, transposed):
    row, column = lane // 4, 2 * (lane % 4) + half
    return (column, row) if transposed else (row, column)


ROWS_BODY = """
shr.u32 %warp, %row, 5;
and.b32 %lane, %row, 31;
mov.u32 %cells, cells;
mad.lo.s32 %cells, %warp, 512, %cells;
mad.lo.s32 %mine, %lane, 16, %cells;
mad.lo.s32 %other, %lane, 5, 3;
and.b32 %other, %other, 31;
mad.lo.s32 %other, %other, 16, %cells;"""
ROWS_REGISTERS = ".reg .b32 %warp, %lane, %cells, %mine, %other;"
ROWS_MODULE = f".shared .align 16 .b8 cells[{512 * WARPS}];"
FOUR_IN = "\n".join(f"st.shared.b32 [%mine+{4 * i}], %a{i};" for i in range(4))
FOUR_OUT = "\n".join(f"ld.shared.b32 %d{i}, [%mine+{4 * i}];" for i in range(4))


def ldmatrix(count, transposed, space=".shared"):
    def model(rows):
        out = []
        for first in range(0, len(rows), LANES):
            memory = [halves(row) for row in rows[first : first + LANES]]
            for lane in range(LANES):
                words = []
                for m in range(count):
                    places = [place_in_matrix(lane, half, transposed) for half in range(2)]
                    words.append(pack([memory[named_row(8 * m + r)][c] for r, c in places], 16)[0])
                out.append(tuple(words))
        return out

    spelling = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}{space}.b16"
    rng = random.Random(f"cucore {spelling}")
    at = "%other"
    generic = ""
    if not space:
        at, generic = "%generic", "cvt.u64.u32 %generic, %other;\ncvta.shared.u64 %generic, %generic;\n"
    return Case(
        spelling,
        "d = what this lane holds of matrices whose rows the lanes name",
        " ".join(f"a{i}:b32" for i in range(4)),
        " ".join(f"d{i}:b32" for i in range(count)),
        f"{ROWS_BODY}\n{FOUR_IN}\nbar.warp.sync -1;\n{generic}{spelling} {vector('d', count)}, [{at}];",
        [tuple(rng.getrandbits(32) for _ in range(4)) for _ in range(LANES * WARPS)],
        model_all=model,
        module=ROWS_MODULE,
        registers=ROWS_REGISTERS + ("" if space else "\n.reg .b64 %generic;"),
    )


def stmatrix(count, transposed):
    def model(rows):
        out = []
        for first in range(0, len(rows), LANES):
            memory = [[0] * 8 for _ in range(LANES)]
            for lane, row in enumerate(rows[first : first + LANES]):
                for index, value in enumerate(halves(row)[: 2 * count]):
                    r, c = place_in_matrix(lane, index % 2, transposed)
                    memory[named_row(8 * (index // 2) + r)][c] = value
            out += [tuple(pack(line, 16)) for line in memory]
        return out

    spelling = f"stmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.shared.b16"
    rng = random.Random(f"cucore {spelling}")
    clear = "\n".join(f"st.shared.b32 [%mine+{4 * i}], 0;" for i in range(4))
    return Case(
        spelling,
        "the lanes store what they hold of matrices whose rows they name; d = 16 bytes of that memory",
        " ".join(f"a{i}:b32" for i in range(4)),
        " ".join(f"d{i}:b32" for i in range(4)),
        f"{ROWS_BODY}\n{clear}\nbar.warp.sync -1;\n{spelling} [%other], {vector('a', count)};\nbar.warp.sync -1;\n{FOUR_OUT}",
        [tuple(rng.getrandbits(32) for _ in range(4)) for _ in range(LANES * WARPS)],
        model_all=model,
        module=ROWS_MODULE,
        registers=ROWS_REGISTERS,
        version="7.8",
        target="sm_90",
    )


def transposed_model(rows):
    out = []
    for first in range(0, len(rows), LANES):
        held = [halves(row) for row in rows[first : first + LANES]]
        matrix_of_halves = [[held[4 * r + c // 2][c % 2] for c in range(8)] for r in range(8)]
        for lane in range(LANES):
            out.append(pack([matrix_of_halves[2 * (lane % 4) + half][lane // 4] for half in range(2)], 16)[0])
    return out


def cases():
    for count in (1, 2, 4):
        for transposed in (False, True):
            yield ldmatrix(count, transposed)
            yield stmatrix(count, transposed)
    yield ldmatrix(4, False, "")
    rng = random.Random("movmatrix")
    yield Case(
        "movmatrix.sync.aligned.m8n8.trans.b16",
        "d = what this lane holds of the transposed matrix",
        "a:b32",
        "d:b32",
        "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;",
        [(rng.getrandbits(32),) for _ in range(LANES * WARPS)],
        model_all=transposed_model,
        version="7.8",
    )
