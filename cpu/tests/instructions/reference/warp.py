"""Warp operations: shfl vote match redux activemask elect bar.warp.sync, with full, partial and several warps."""

import random

from reference.kernel import Case
from reference.values import mask, to_signed

FULL = 0xFFFFFFFF


def warps(rows, count=32):
    return [rows[i : i + count] for i in range(0, len(rows), count)]


def shuffle_source(mode, lane, b, c):
    """The source lane and whether it is in range, by the rule of the PTX manual."""
    b &= 31
    segment, clamp = (c >> 8) & 31, c & 31
    highest = (lane & segment) | (clamp & ~segment & 31)
    lowest = lane & segment
    if mode == "up":
        source = lane - b
        valid = source >= highest
    elif mode == "down":
        source = lane + b
        valid = source <= highest
    elif mode == "bfly":
        source = lane ^ b
        valid = source <= highest
    else:
        source = lowest | (b & ~segment & 31)
        valid = source <= highest
    return (source if valid else lane), int(valid)


def shuffle(mode):
    def model(rows):
        out = []
        for warp in warps(rows):
            for lane, (_, b, c) in enumerate(warp):
                source, valid = shuffle_source(mode, lane, b, c)
                out.append((warp[source][0], valid))
        return out

    return model


def shuffle_cases():
    for mode in ("up", "down", "bfly", "idx"):
        clamps = [0] if mode == "up" else [31]
        plain = clamps[0]
        rng = random.Random(f"shfl {mode}")
        rows = []
        for distance in (0, 1, 2, 5, 16, 31, 32, 33):
            rows += [(rng.getrandbits(32), distance, plain) for _ in range(32)]
        for segments in (0x1E00, 0x1C00, 0x1800, 0x1000):
            rows += [(rng.getrandbits(32), 3, segments | plain) for _ in range(32)]
        rows += [(rng.getrandbits(32), rng.randrange(32), plain) for _ in range(64)]
        rows += [
            (rng.getrandbits(32), rng.randrange(32), rng.choice([7, 15, 0, 31]) | rng.choice([0, 0x1800]))
            for _ in range(64)
        ]
        yield Case(
            f"shfl.sync.{mode}.b32",
            "d = a of another lane, p = in range",
            "a:b32 b:u32 c:u32",
            "d:b32 p:pred",
            f"shfl.sync.{mode}.b32 %d|%p, %a, %b, %c, -1;",
            rows,
            model_all=shuffle(mode),
        )
        for distance in (1, 16):
            clamp = 0 if mode == "up" else 31
            rows = [(rng.getrandbits(32),) for _ in range(64)]
            yield Case(
                f"shfl.sync.{mode}.b32.by_{distance}",
                f"d = a of another lane, constant operand {distance}",
                "a:b32",
                "d:b32",
                f"shfl.sync.{mode}.b32 %d, %a, {distance}, 0x{clamp:x}, 0xffffffff;",
                rows,
                model_all=lambda r, m=mode, n=distance, c=clamp: [x[0] for x in shuffle(m)([(v, n, c) for (v,) in r])],
            )
    rows = [(n * n + 1,) for n in range(64)]
    yield Case(
        "shfl.sync.bfly.b32.half_warp",
        "the lower half exchanges, the upper half does not take part",
        "a:b32",
        "d:b32",
        """
mov.u32 %lane, %laneid;
mov.u32 %d, 0;
setp.ge.u32 %upper, %lane, 16;
@%upper bra done;
shfl.sync.bfly.b32 %d, %a, 1, 0x1f, 0xffff;
done:""",
        rows,
        model_all=lambda r: [r[i ^ 1][0] if i % 32 < 16 else 0 for i in range(len(r))],
        registers=".reg .b32 %lane;\n.reg .pred %upper;",
    )
    yield Case(
        "shfl.sync.down.b32.sum",
        "a warp sums by halving distances",
        "a:u32",
        "d:u32",
        "mov.u32 %d, %a;\n"
        + "\n".join(f"shfl.sync.down.b32 %other, %d, {n}, 0x1f, -1;\nadd.u32 %d, %d, %other;" for n in (16, 8, 4, 2, 1))
        + "\nshfl.sync.idx.b32 %d, %d, 0, 0x1f, -1;",
        rows,
        model_all=lambda r: [sum(v for (v,) in warp) & FULL for warp in warps(r) for _ in warp],
        registers=".reg .b32 %other;",
    )


def vote_rows():
    rng = random.Random("vote")
    rows = [(0,)] * 32 + [(1,)] * 32 + [(int(i == 7),) for i in range(32)] + [(int(i != 31),) for i in range(32)]
    return rows + [(rng.getrandbits(1),) for _ in range(64)]


def ballot(warp):
    return sum(row[0] << lane for lane, row in enumerate(warp))


def per_warp(function):
    return lambda rows: [function(warp) for warp in warps(rows) for _ in warp]


def vote_cases():
    rows = vote_rows()
    everyone = lambda w: mask(len(w))  # noqa: E731
    for spelling in ("vote.sync.ballot.b32", "vote.ballot.sync.b32"):
        yield Case(
            spelling,
            "d = which lanes hold a true predicate",
            "a:pred",
            "d:b32",
            f"{spelling} %d, %a, -1;",
            rows,
            model_all=per_warp(ballot),
        )
    for name, model in (
        ("any", lambda w: int(ballot(w) != 0)),
        ("all", lambda w: int(ballot(w) == everyone(w))),
        ("uni", lambda w: int(ballot(w) in (0, everyone(w)))),
    ):
        for spelling in (f"vote.sync.{name}.pred", f"vote.{name}.sync.pred"):
            yield Case(
                spelling,
                f"d = {name} of the lanes' predicates",
                "a:pred",
                "d:pred",
                f"{spelling} %d, %a, -1;",
                rows,
                model_all=per_warp(model),
            )
    yield Case(
        "vote.sync.ballot.b32.negated",
        "d = which lanes hold a false predicate",
        "a:pred",
        "d:b32",
        "vote.sync.ballot.b32 %d, !%a, 0xffffffff;",
        rows,
        model_all=per_warp(lambda w: ballot(w) ^ FULL),
    )
    yield Case(
        "vote.sync.ballot.b32.part_of_warp",
        "only the lanes of the member mask take part",
        "a:pred",
        "d:b32",
        """
mov.u32 %lane, %laneid;
mov.u32 %d, 0;
and.b32 %odd, %lane, 1;
setp.eq.s32 %even, %odd, 0;
@%even bra done;
vote.sync.ballot.b32 %d, %a, 0xaaaaaaaa;
done:""",
        rows,
        model_all=lambda r: [ballot(w) & 0xAAAAAAAA if lane & 1 else 0 for w in warps(r) for lane in range(len(w))],
        registers=".reg .b32 %lane, %odd;\n.reg .pred %even;",
    )
    yield Case(
        "vote.sync.ballot.b32.last_warp_partial",
        "a block of 45 threads: the last warp has 13 lanes",
        "a:pred",
        "d:b32",
        """
mov.u32 %lane, %laneid;
setp.ge.u32 %second, %row, 32;
selp.b32 %members, 0x1fff, 0xffffffff, %second;
vote.sync.ballot.b32 %d, %a, %members;""",
        rows[-45:],
        model_all=per_warp(ballot),
        registers=".reg .b32 %lane, %members;\n.reg .pred %second;",
    )


def match_all(warp):
    same = all(row[0] == warp[0][0] for row in warp)
    return (mask(len(warp)) if same else 0, int(same))


def set_cases():
    rng = random.Random("match")
    for t in ("b32", "b64"):
        values = [rng.getrandbits(32 if t == "b32" else 64) for _ in range(4)]
        rows = [(rng.choice(values),) for _ in range(64)] + [(values[0],)] * 32
        yield Case(
            f"match.any.sync.{t}",
            "d = the lanes that hold the same a",
            f"a:{t}",
            "d:b32",
            f"match.any.sync.{t} %d, %a, -1;",
            rows,
            model_all=lambda r: [
                sum((row[0] == other[0]) << i for i, other in enumerate(w)) for w in warps(r) for row in w
            ],
        )
        yield Case(
            f"match.all.sync.{t}",
            "d = all lanes if they hold the same a, p = whether",
            f"a:{t}",
            "d:b32 p:pred",
            f"match.all.sync.{t} %d|%p, %a, -1;",
            rows,
            model_all=per_warp(match_all),
        )
    rows = [(rng.getrandbits(32),) for _ in range(64)] + [(n,) for n in range(32)]
    signed = lambda w: [to_signed(a, 32) for (a,) in w]  # noqa: E731
    plain = lambda w: [a for (a,) in w]  # noqa: E731
    for name, model in (
        ("add.s32", lambda w: sum(plain(w))),
        ("add.u32", lambda w: sum(plain(w))),
        ("min.s32", lambda w: min(signed(w))),
        ("max.s32", lambda w: max(signed(w))),
        ("min.u32", lambda w: min(plain(w))),
        ("max.u32", lambda w: max(plain(w))),
    ):
        yield Case(
            f"redux.sync.{name}",
            "d = the reduction over the warp",
            f"a:{name[-3:]}",
            f"d:{name[-3:]}",
            f"redux.sync.{name} %d, %a, -1;",
            rows,
            model_all=per_warp(lambda w, m=model: m(w) & FULL),
        )
    for name, start, combine in (
        ("and", FULL, lambda x, y: x & y),
        ("or", 0, lambda x, y: x | y),
        ("xor", 0, lambda x, y: x ^ y),
    ):

        def model(warp, start=start, combine=combine):
            total = start
            for (a,) in warp:
                total = combine(total, a)
            return total

        yield Case(
            f"redux.sync.{name}.b32",
            "d = the reduction over the warp",
            "a:b32",
            "d:b32",
            f"redux.sync.{name}.b32 %d, %a, -1;",
            rows,
            model_all=per_warp(model),
        )
    # PTX promises no more than this; what the CPU device adds is tested beside its run-time.
    yield Case(
        "activemask.b32",
        "d = this lane is in it, e = lanes in it that do not exist, in a block of 45 threads",
        "",
        "d:pred e:b32",
        """
setp.ge.u32 %second, %row, 32;
selp.b32 %missing, 0xffffe000, 0, %second;
activemask.b32 %active;
mov.u32 %own, %lanemask_eq;
and.b32 %own, %own, %active;
setp.ne.u32 %d, %own, 0;
and.b32 %e, %active, %missing;""",
        [()] * 45,
        lambda: (1, 0),
        registers=".reg .b32 %missing, %active, %own;\n.reg .pred %second;",
    )
    yield Case(
        "elect.sync",
        "d = the elected lane, p = this lane is it",
        "",
        "d:b32 p:pred",
        "elect.sync %d|%p, -1;",
        [()] * 64,
        model_all=lambda r: [(0, int(i % 32 == 0)) for i in range(len(r))],
        version="8.0",
        target="sm_90",
    )


def divided_cases():
    """The upper half of each warp does the operation by itself."""
    rng = random.Random("divided")
    rows = [(rng.getrandbits(32) & 0x80000003,) for _ in range(64)]

    def divided(spelling, says, inputs, outputs, instruction, upper, nothing, **more):
        preset = "".join(
            f"\nmov.u32 %{n}, 0;" if t != "pred" else f"\nsetp.ne.s32 %{n}, 0, 0;"
            for n, t in (item.split(":") for item in outputs.split())
        )
        return Case(
            f"{spelling}.part_of_warp",
            f"in lanes 16..31 alone: {says}",
            inputs,
            outputs,
            f"{preset}\nmov.u32 %lane, %laneid;\nsetp.lt.u32 %lower, %lane, 16;\n@%lower bra done;\n{instruction}\ndone:",
            rows if inputs else [()] * 64,
            model_all=lambda r: [
                v for w in warps(r) for v in [nothing] * 16 + upper([row[0] for row in w[16:] if row])
            ],
            registers=".reg .b32 %lane;\n.reg .pred %lower;",
            **more,
        )

    everyone = "0xffff0000"
    yield divided(
        "match.any.sync.b32",
        "d = the lanes that hold the same a",
        "a:b32",
        "d:b32",
        f"match.any.sync.b32 %d, %a, {everyone};",
        lambda half: [sum((x == y) << (16 + i) for i, y in enumerate(half)) for x in half],
        0,
    )
    yield divided(
        "match.all.sync.b32",
        "d = the members if they hold the same a, p = whether",
        "a:b32",
        "d:b32 p:pred",
        f"and.b32 %a, %a, 0;\nmatch.all.sync.b32 %d|%p, %a, {everyone};",
        lambda half: [(0xFFFF0000, 1)] * 16,
        (0, 0),
    )
    for name, model in (("add.s32", sum), ("max.u32", max)):
        yield divided(
            f"redux.sync.{name}",
            "d = the reduction",
            f"a:{name[-3:]}",
            f"d:{name[-3:]}",
            f"redux.sync.{name} %d, %a, {everyone};",
            lambda half, model=model: [model(half) & FULL] * 16,
            0,
        )
    yield divided(
        "elect.sync",
        "d = the elected lane, p = this lane is it",
        "",
        "d:b32 p:pred",
        f"elect.sync %d|%p, {everyone};",
        lambda half: [(16, int(i == 0)) for i in range(16)],
        (0, 0),
        version="8.0",
        target="sm_90",
    )


def sync_cases():
    rows = [(7 * n + 3,) for n in range(64)]
    yield Case(
        "bar.warp.sync",
        "lanes exchange through shared memory",
        "a:u32",
        "d:u32",
        """
mov.u32 %cell, cells;
mad.lo.s32 %mine, %row, 4, %cell;
st.shared.u32 [%mine], %a;
bar.warp.sync 0xffffffff;
xor.b32 %other, %row, 31;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];""",
        rows,
        model_all=lambda r: [r[i ^ 31][0] for i in range(len(r))],
        module=".shared .align 4 .b8 cells[256];",
        registers=".reg .b32 %cell, %mine, %other;",
    )
    yield Case(
        "bar.warp.sync.divided",
        "each half of the warp meets by itself, then both",
        "a:u32",
        "d:u32",
        """
mov.u32 %cell, cells;
mad.lo.s32 %mine, %row, 4, %cell;
st.shared.u32 [%mine], %a;
and.b32 %half, %row, 16;
setp.ne.s32 %upper, %half, 0;
@%upper bra above;
bar.warp.sync 0x0000ffff;
bra.uni both;
above:
bar.warp.sync 0xffff0000;
both:
xor.b32 %other, %row, 1;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %got, [%other];
bar.warp.sync -1;
add.s32 %d, %got, %half;""",
        rows,
        model_all=lambda r: [r[i ^ 1][0] + (i & 16) for i in range(len(r))],
        module=".shared .align 4 .b8 cells[256];",
        registers=".reg .b32 %cell, %mine, %other, %half, %got;\n.reg .pred %upper;",
    )


def cases():
    yield from shuffle_cases()
    yield from vote_cases()
    yield from set_cases()
    yield from divided_cases()
    yield from sync_cases()
