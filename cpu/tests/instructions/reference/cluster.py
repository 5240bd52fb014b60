"""Clusters: where a block stands in one, shared memory of other blocks, their barrier, and mbarriers across blocks."""

import random

from reference.kernel import Case
from reference.values import mask

BLOCK = 32
NINE = {"version": "8.1", "target": "sm_90"}


def directives(shape):
    return f".explicitcluster .reqnctapercluster {shape}"


MODULE = ".shared .align 8 .b64 barrier;\n.shared .align 128 .b8 cells[1024];"
REGISTERS = """
.reg .pred %first, %done;
.reg .b32 %lane, %rank, %count, %next, %mine, %cells, %other, %there;
.reg .b64 %from, %to, %state;"""
# %mine is the thread's cell, %other the same cell of the next block of the cluster, %there that block's barrier.
SETUP = """
mov.u32 %lane, %tid.x;
setp.eq.u32 %first, %lane, 0;
mov.u32 %rank, %cluster_ctarank;
mov.u32 %count, %cluster_nctarank;
add.u32 %next, %rank, 1;
rem.u32 %next, %next, %count;
mov.u32 %cells, cells;
mad.lo.s32 %mine, %lane, 4, %cells;
mapa.shared::cluster.u32 %other, %mine, %next;
mov.u32 %there, barrier;
mapa.shared::cluster.u32 %there, %there, %next;"""
MEET = """
barrier.cluster.arrive;
barrier.cluster.wait;"""
# A cell of each block, cleared; %other is that of the cluster's first block.
CELL_OF_FIRST = """
st.shared.b32 [%mine], 0;
mov.b32 %next, 0;
mapa.shared::cluster.u32 %other, %mine, %next;"""


def first_in_cluster(index, blocks):
    """The row of the first thread of the first block of the cluster that row `index` is in."""
    return index // (BLOCK * blocks) * BLOCK * blocks


def neighbour(index, blocks, distance=1):
    """The row of the same thread of the block that is `distance` after this one in the cluster."""
    start = first_in_cluster(index, blocks)
    return start + (index - start + distance * BLOCK) % (BLOCK * blocks)


def of_next(blocks, distance=1):
    return lambda rows: [rows[neighbour(i, blocks, distance)][0] for i in range(len(rows))]


def of_previous(blocks):
    return of_next(blocks, -1)


def cluster_case(name, says, body, *, blocks=2, clusters=2, model=None, outputs="d:b32", inputs="a:b32", **target):
    """Clusters of blocks of 32 threads in a row, a row of the table for each thread."""
    rng = random.Random("cucore " + name)
    return Case(
        name,
        says,
        inputs,
        outputs,
        SETUP + body + MEET,  # no block ends while others use its memory
        [(rng.getrandbits(32),) for _ in range(BLOCK * blocks * clusters)],
        model_all=model or of_next(blocks),
        module=MODULE,
        registers=REGISTERS,
        grid=str(blocks * clusters),
        block=str(BLOCK),
        directives=directives(f"{blocks}, 1, 1"),
        family="cluster",
        **(NINE | target),
    )


def places():
    """The special registers, for clusters of 2 x 3 blocks in a grid of 4 x 3 x 2."""
    grid, shape = (4, 3, 2), (2, 3, 1)

    def model(rows):
        out = []
        for index in range(len(rows)):
            block = index // 4
            at = (block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1])
            inside = [a % s for a, s in zip(at, shape)]
            cluster = [a // s for a, s in zip(at, shape)]
            rank = inside[0] + shape[0] * (inside[1] + shape[1] * inside[2])
            count = [g // s for g, s in zip(grid, shape)]
            pack = [x | y << 8 | z << 16 for x, y, z in (cluster, count, inside, shape)]
            out.append((*pack, rank, 6, 1))
        return out

    names = ["clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"]
    body = "".join(
        f"""
mov.u32 %{name}, %{name}.x;
mov.u32 %t, %{name}.y;
mad.lo.u32 %{name}, %t, 256, %{name};
mov.u32 %t, %{name}.z;
mad.lo.u32 %{name}, %t, 65536, %{name};""".replace(f"%{name},", f"%{name}_,").replace(f", %{name};", f", %{name}_;")
        for name in names
    )
    outputs = " ".join(f"{name}_:u32" for name in names) + " rank:u32 all:u32 named:pred"
    yield Case(
        "cluster.special_registers",
        "where each thread's block stands in its cluster and that in the grid",
        "a:b32",
        outputs,
        body
        + "\nmov.u32 %rank, %cluster_ctarank;\nmov.u32 %all, %cluster_nctarank;\nmov.pred %named, %is_explicit_cluster;",
        [(0,)] * (4 * 24),
        model_all=model,
        registers=".reg .b32 %t;",
        grid="4 3 2",
        block="4 1 1",
        directives=directives("2, 3, 1"),
        family="cluster",
        **NINE,
    )
    yield Case(
        "cluster.special_registers.none",
        "a launch without clusters is one of clusters of one block",
        "a:b32",
        "id:u32 clusters:u32 inside:u32 shape:u32 rank:u32 all:u32 named:pred",
        """
mov.u32 %id, %clusterid.x;
mov.u32 %clusters, %nclusterid.x;
mov.u32 %inside, %cluster_ctaid.x;
mov.u32 %shape, %cluster_nctaid.x;
mov.u32 %rank, %cluster_ctarank;
mov.u32 %all, %cluster_nctarank;
mov.pred %named, %is_explicit_cluster;""",
        [(0,)] * 24,
        model_all=lambda rows: [(i // 8, 3, 0, 1, 0, 1, 0) for i in range(len(rows))],
        grid="3",
        block="8",
        family="cluster",
        **NINE,
    )


def addresses():
    store = "\nst.shared.b32 [%mine], %a;"
    for blocks in (2, 3, 8):
        yield cluster_case(
            f"mapa.shared::cluster.u32.{blocks}_blocks",
            "what the next block of the cluster stored",
            store + MEET + "\nld.shared::cluster.b32 %d, [%other];",
            blocks=blocks,
        )
    yield cluster_case(
        "mapa.u64",
        "the same by a generic address",
        store
        + MEET
        + """
cvt.u64.u32 %from, %mine;
cvta.shared.u64 %from, %from;
mapa.u64 %to, %from, %next;
ld.b32 %d, [%to];""",
    )
    yield cluster_case(
        "mapa.shared::cluster.u32.variable",
        "a place given by its name",
        """
@%first st.shared.b32 [cells], %a;"""
        + MEET
        + """
mapa.shared::cluster.u32 %other, cells, %next;
ld.shared::cluster.b32 %d, [%other];""",
        model=lambda rows: [rows[neighbour(i, 2) // BLOCK * BLOCK][0] for i in range(len(rows))],
    )
    yield cluster_case(
        "mapa.shared::cluster.u32.of_mapped",
        "an address of the block after the next, made from one of the next",
        store
        + """
add.u32 %next, %rank, 2;
rem.u32 %next, %next, %count;
mapa.shared::cluster.u32 %other, %other, %next;"""
        + MEET
        + "\nld.shared::cluster.b32 %d, [%other];",
        blocks=4,
        clusters=1,
        model=of_next(4, 2),
    )
    yield cluster_case(
        "getctarank.shared::cluster.u32",
        "whose memory an address is in: the own block's, the next one's, and that by a generic address",
        """
mov.u32 %own, cells;
getctarank.shared::cluster.u32 %own, %own;
getctarank.shared::cluster.u32 %far, %other;
cvt.u64.u32 %from, %other;
cvta.shared::cluster.u64 %from, %from;
getctarank.u64 %generic, %from;""",
        blocks=3,
        outputs="own:u32 far:u32 generic:u32",
        model=lambda rows: [(i // BLOCK % 3, (i // BLOCK + 1) % 3, (i // BLOCK + 1) % 3) for i in range(len(rows))],
    )
    yield cluster_case(
        "isspacep.shared::cluster",
        "what spaces the own memory, another block's and global memory are in",
        "".join(
            f"""
{address}
isspacep.shared::cta %cta{n}, %from;
isspacep.shared::cluster %cluster{n}, %from;
isspacep.global %global{n}, %from;"""
            for n, address in enumerate(
                (
                    "cvt.u64.u32 %from, %mine;\ncvta.shared.u64 %from, %from;",
                    "cvt.u64.u32 %from, %other;\ncvta.shared::cluster.u64 %from, %from;",
                    "mov.u64 %from, %in;",
                )
            )
        ),
        outputs=" ".join(f"{space}{n}:pred" for n in range(3) for space in ("cta", "cluster", "global")),
        model=lambda rows: [(1, 1, 0, 0, 1, 0, 0, 0, 1)] * len(rows),
    )


def accesses():
    load = "\nld.shared.b32 %d, [%mine];"
    yield cluster_case(
        "st.shared::cluster.b32",
        "what the block before stored here",
        MEET + "\nst.shared::cluster.b32 [%other], %a;" + MEET + load,
        blocks=3,
        model=of_previous(3),
    )
    yield cluster_case(
        "st.shared::cluster.v2.b32",
        "a vector stored to the next block and loaded again",
        MEET
        + """
mad.lo.s32 %other, %lane, 4, %other;
mad.lo.s32 %mine, %lane, 4, %mine;
st.shared::cluster.v2.b32 [%other], {%lane, %a};"""
        + MEET
        + "\nld.shared.v2.b32 {%next, %d}, [%mine];",
        model=of_previous(2),
    )
    yield cluster_case(
        "atom.shared::cluster.add.u32",
        "all threads of all blocks add to a cell of the first; the old value of the last, which is the sum of the others",
        CELL_OF_FIRST
        + MEET
        + """
and.b32 %a, %a, 0xffff;
atom.relaxed.cluster.shared::cluster.add.u32 %next, [%other], %a;"""
        + MEET
        + "\nld.shared::cluster.b32 %d, [%other];",
        blocks=4,
        model=lambda rows: [
            sum(rows[first_in_cluster(i, 4) + i % BLOCK + BLOCK * b][0] & 0xFFFF for b in range(4))
            for i in range(len(rows))
        ],
    )
    yield cluster_case(
        "red.shared::cluster.max.u32",
        "the greatest value that any block brings",
        CELL_OF_FIRST
        + MEET
        + """
red.relaxed.cluster.shared::cluster.max.u32 [%other], %a;"""
        + MEET
        + "\nld.shared::cluster.b32 %d, [%other];",
        blocks=4,
        model=lambda rows: [
            max(rows[first_in_cluster(i, 4) + i % BLOCK + BLOCK * b][0] for b in range(4)) for i in range(len(rows))
        ],
    )


def barriers():
    store = "\nst.shared.b32 [%mine], %a;"
    load = "\nld.shared::cluster.b32 %d, [%other];"
    for arrive, wait in (
        ("arrive.aligned", "wait.aligned"),
        ("arrive.release", "wait.acquire"),
        ("arrive.release.aligned", "wait.acquire.aligned"),
        ("arrive.relaxed", "wait"),
    ):
        fence = "\nfence.acq_rel.cluster;" if "relaxed" in arrive else ""
        yield cluster_case(
            f"barrier.cluster.{arrive}",
            f"values that cross barrier.cluster.{arrive} and .{wait}",
            f"{store}{fence}\nbarrier.cluster.{arrive};\nbarrier.cluster.{wait};{fence}{load}",
        )
    yield cluster_case(
        "barrier.cluster.phases",
        "values that go round the cluster, a block further in each phase",
        "\nmov.b32 %d, %a;" + 5 * f"\nst.shared.b32 [%mine], %d;{MEET}\nld.shared::cluster.b32 %d, [%other];{MEET}",
        blocks=4,
        model=of_next(4, 5),
    )
    yield cluster_case(
        "barrier.cluster.between_arrive_and_wait",
        "what a thread does between its arrival and its wait, another barrier too",
        store
        + """
barrier.cluster.arrive;
bar.sync 0;
mov.b32 %d, 1;
barrier.cluster.wait;"""
        + load,
    )
    yield cluster_case(
        "barrier.cluster.exited_threads",
        "threads that have exited are not waited for",
        f"{store}{MEET}{load}"
        + """
st.global.b32 [%out], %d;
and.b32 %next, %lane, 1;
setp.eq.u32 %first, %next, 1;
@%first exit;"""
        + MEET,
    )


def messages():
    """mbarriers of other blocks. Each block's barrier says when its cells are full."""
    wait = """
again:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [barrier], 0;
@!%done bra again;"""
    load = "\nld.shared.b32 %d, [%mine];"

    def ready(count, expected=None):
        expect = f"\n@%first mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], {expected};" if expected else ""
        return (
            f"\n@%first mbarrier.init.shared.b64 [barrier], {count};"
            f"\n@%first fence.mbarrier_init.release.cluster;{expect}" + MEET
        )

    yield cluster_case(
        "mbarrier.arrive.shared::cluster.b64",
        "threads store to the next block and arrive at its barrier",
        ready(BLOCK)
        + """
st.shared::cluster.b32 [%other], %a;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%there];"""
        + wait
        + load,
        model=of_previous(2),
    )
    yield cluster_case(
        "mbarrier.arrive.shared::cluster.b64.count",
        "an arrival that counts for many",
        ready(BLOCK * 3)
        + """
st.shared::cluster.b32 [%other], %a;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%there], 3;"""
        + wait
        + load,
        model=of_previous(2),
    )
    yield cluster_case(
        "mbarrier.arrive.expect_tx.shared::cluster.b64",
        "what a block expects is told by another one",
        ready(1)
        + f"""
@%first mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%there], {4 * BLOCK};
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%other], %a, [%there];"""
        + wait
        + load,
        model=of_previous(2),
    )
    yield cluster_case(
        "st.async.shared::cluster.b32.remote",
        "stores to the next block that report to its barrier",
        ready(1, 4 * BLOCK)
        + "\nst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%other], %a, [%there];"
        + wait
        + load,
        blocks=3,
        model=of_previous(3),
    )
    yield cluster_case(
        "st.async.shared::cluster.v2.b32.remote",
        "the same of vectors",
        ready(1, 8 * BLOCK)
        + """
mad.lo.s32 %other, %lane, 4, %other;
mad.lo.s32 %mine, %lane, 4, %mine;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%other], {%lane, %a}, [%there];"""
        + wait
        + "\nld.shared.v2.b32 {%next, %d}, [%mine];",
        model=of_previous(2),
    )
    for operation, of_two in (
        ("add.u32", lambda old, new: (old + new) & mask(32)),
        ("max.u32", max),
        ("xor.b32", lambda old, new: old ^ new),
        ("inc.u32", lambda old, new: 0 if old >= new else old + 1),
    ):
        yield cluster_case(
            f"red.async.shared::cluster.{operation}.remote",
            "what the block before adds to a cell that holds 5",
            ready(1, 4 * BLOCK).replace("\nbarrier", "\nst.shared.b32 [%mine], 5;\nbarrier", 1)
            + f"""
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{operation} [%other], %a, [%there];"""
            + wait
            + load,
            model=lambda rows, of_two=of_two: [of_two(5, v) for v in of_previous(2)(rows)],
        )
    yield cluster_case(
        "cp.async.bulk.shared::cluster.shared::cta.remote",
        "one thread copies its block's cells to the next block",
        f"""
st.shared.b32 [%mine+{4 * BLOCK}], %a;
fence.proxy.async.shared::cta;"""
        + ready(1, 4 * BLOCK)
        + f"""
add.u32 %cells, %cells, {4 * BLOCK};
@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%other], [%cells], {4 * BLOCK}, [%there];"""
        + wait
        + load,
        blocks=3,
        model=of_previous(3),
    )
    yield cluster_case(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.remote",
        "one thread adds its block's cells to those of the next, which hold their lanes",
        f"""
st.shared.b32 [%mine+{4 * BLOCK}], %a;
st.shared.b32 [%mine], %lane;
fence.proxy.async.shared::cta;"""
        + ready(1, 4 * BLOCK)
        + f"""
add.u32 %cells, %cells, {4 * BLOCK};
@%first cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%other], [%cells], {4 * BLOCK}, [%there];"""
        + wait
        + load,
        model=lambda rows: [(v + i % BLOCK) & mask(32) for i, v in enumerate(of_previous(2)(rows))],
    )
    yield cluster_case(
        "cp.async.bulk.multicast::cluster",
        "the first block copies from global memory to all but the second",
        ready(1)
        + """
mov.u64 %from, numbers;
setp.eq.and.u32 %first, %rank, 0, %first;
mov.b16 %ranks, 0xd;
setp.ne.u32 %done, %rank, 1;
mov.b32 %d, 0;
@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%cells], [%from], 128, [barrier], %ranks;
setp.eq.u32 %first, %lane, 0;
@%first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [barrier], 128;
@%first mbarrier.arrive.shared.b64 %state, [barrier];
@!%done bra none;"""
        + wait
        + """
ld.shared.b32 %d, [%mine];
none:""",
        blocks=4,
        model=lambda rows: [0 if i // BLOCK % 4 == 1 else 7 * (i % BLOCK) + 1 for i in range(len(rows))],
    )


def cases():
    for case in (*places(), *addresses(), *accesses(), *barriers(), *messages()):
        if case.name == "cp.async.bulk.multicast::cluster":
            numbers = ", ".join(str(7 * n + 1) for n in range(BLOCK))
            case.module += f"\n.global .align 128 .b32 numbers[{BLOCK}] = {{{numbers}}};"
            case.registers += "\n.reg .b16 %ranks;"
        yield case
