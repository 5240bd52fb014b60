"""cp.async: copies from global to shared memory, whole and with the rest filled with zeros, in groups and one by one."""

import random

from reference.kernel import Case
from reference.values import mask

THREADS = 64
COLUMNS = "abcd"


def words(count):
    return " ".join(f"{n}:b32" for n in COLUMNS[:count])


def copy(spelling, says, size, *, source_bytes=None, name=None, wait="cp.async.wait_all;"):
    """Each thread copies the first `size` bytes of its row into its own cell of shared memory and reads them back."""
    given = size if source_bytes is None else source_bytes
    count = size // 4
    rng = random.Random("cucore " + (name or spelling))
    rows = [tuple(rng.getrandbits(32) for _ in range(4)) for _ in range(THREADS)]
    last = f", {source_bytes}" if source_bytes is not None else ""
    reads = "\n".join(f"ld.shared.b32 %d{n}, [%mine+{4 * n}];" for n in range(count))

    def model(*row):
        bits = sum(word << 32 * n for n, word in enumerate(row)) & mask(8 * given)
        return tuple((bits >> 32 * n) & mask(32) for n in range(count))

    return Case(
        name or spelling,
        says,
        words(4),
        " ".join(f"d{n}:b32" for n in range(count)),
        f"""
mov.u32 %mine, cells;
mad.lo.s32 %mine, %row, 16, %mine;
{spelling} [%mine], [%in], {size}{last};
{wait}
{reads}""",
        rows,
        model,
        module=f".shared .align 16 .b8 cells[{16 * THREADS}];",
        registers=".reg .b32 %mine;",
        version="7.4",
        family="cp",
    )


def cases():
    for size in (4, 8, 16):
        yield copy("cp.async.ca.shared.global", f"{size} bytes", size, name=f"cp.async.ca.shared.global.{size}_bytes")
    yield copy("cp.async.cg.shared.global", "16 bytes past the first cache", 16)
    yield copy(
        "cp.async.cg.shared.global.L2::128B",
        "16 bytes with a prefetch hint",
        16,
        name="cp.async.cg.shared.global.L2_128B",
    )
    for size, given in ((4, 0), (4, 1), (8, 4), (16, 7), (16, 12), (16, 16)):
        yield copy(
            "cp.async.ca.shared.global",
            f"{given} of {size} bytes, zeros after them",
            size,
            source_bytes=given,
            name=f"cp.async.ca.shared.global.{given}_of_{size}_bytes",
        )
    yield copy(
        "cp.async.ca.shared.global",
        "waits for its one group",
        8,
        name="cp.async.wait_group.0",
        wait="cp.async.commit_group;\ncp.async.wait_group 0;",
    )
    yield Case(
        "cp.async.wait_group.1",
        "two groups; the older is there after the first wait, both after the second",
        words(4),
        "d0:b32 d1:b32",
        """
mov.u32 %mine, cells;
mad.lo.s32 %mine, %row, 8, %mine;
cp.async.ca.shared.global [%mine], [%in], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%mine+4], [%in+12], 4;
cp.async.commit_group;
cp.async.wait_group 1;
ld.shared.b32 %d0, [%mine];
cp.async.wait_group 0;
ld.shared.b32 %d1, [%mine+4];""",
        [(n, ~n & mask(32), 5, n << 16 | 9) for n in range(THREADS)],
        lambda a, b, c, d: (a, d),
        module=f".shared .align 16 .b8 cells[{8 * THREADS}];",
        registers=".reg .b32 %mine;",
        version="7.4",
        family="cp",
    )
    yield Case(
        "cp.async.other_threads",
        "after a barrier every thread reads what another one copied",
        "a:b32",
        "d:b32",
        f"""
mov.u32 %cells, cells;
mad.lo.s32 %mine, %row, 4, %cells;
cp.async.ca.shared.global [%mine], [%in], 4;
cp.async.wait_all;
bar.sync 0;
xor.b32 %other, %row, {THREADS - 1};
mad.lo.s32 %other, %other, 4, %cells;
ld.shared.b32 %d, [%other];""",
        [(n * 2654435761 & mask(32),) for n in range(THREADS)],
        model_all=lambda rows: [rows[len(rows) - 1 - i][0] for i in range(len(rows))],
        module=f".shared .align 16 .b8 cells[{4 * THREADS}];",
        registers=".reg .b32 %cells, %mine, %other;",
        version="7.4",
        family="cp",
    )
