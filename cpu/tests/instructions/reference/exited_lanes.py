"""Warp operations with a full member mask where lanes have exited before, or do not exist: the others participate
alone.

The rows are warps of a block whose lanes exit in several patterns; the last warp has no more than 10 lanes.
"""

import random

from reference.kernel import Case
from reference.values import to_signed
from reference.warp import FULL, shuffle_source, warps

STAYS = (0x3FF, 0x55555555, FULL ^ 31, 1 << 17, 0xB6DB6DB6, FULL, 0x80000001)
LAST = 10
OPEN = "*"  # a lane that has exited writes nothing


def stays():
    """Per row, whether it goes on."""
    return [mask >> lane & 1 for mask in STAYS for lane in range(32)] + [1] * LAST


def exited(spelling, says, columns, outputs, instruction, values, model, **more):
    """`values`: per row the inputs beside `go`; `model(members)` gives the outputs of a warp's lanes, of which `members`
    has the inputs by their numbers."""

    def expected(rows):
        out = []
        for warp in warps(rows):
            members = {lane: row[1:] for lane, row in enumerate(warp) if row[0]}
            results = model(members)
            nothing = (OPEN,) * len(outputs.split())
            out += [results.get(lane, nothing) for lane in range(len(warp))]
        return out

    return Case(
        spelling,
        f"of the lanes that have not exited: {says}",
        f"go:pred {columns}".strip(),
        outputs,
        f"@%go bra stays;\nexit;\nstays:\n{instruction}",
        [(go, *row) for go, row in zip(stays(), values)],
        model_all=expected,
        family="exited_lanes",
        **more,
    )


def everywhere(function):
    """A model of which each lane takes away the same."""

    def model(members):
        result = function({lane: row[0] if row else None for lane, row in members.items()})
        return dict.fromkeys(members, result)

    return model


def bits(lanes):
    return sum(1 << lane for lane in lanes)


def vote_cases(rng, count):
    # Some warps agree: all true, all false, all but one.
    agreed = [1] * 64 + [0] * 32 + [1] * 32
    rows = [(agreed[i] if i < len(agreed) else rng.getrandbits(1),) for i in range(count)]
    holders = lambda members: [lane for lane, value in members.items() if value]  # noqa: E731
    for name, outputs, function in (
        ("ballot.b32", "d:b32", lambda m: (bits(holders(m)),)),
        ("any.pred", "d:pred", lambda m: (int(bool(holders(m))),)),
        ("all.pred", "d:pred", lambda m: (int(len(holders(m)) == len(m)),)),
        ("uni.pred", "d:pred", lambda m: (int(len(holders(m)) in (0, len(m))),)),
    ):
        yield exited(
            f"vote.sync.{name}",
            "the vote",
            "a:pred",
            outputs,
            f"vote.sync.{name} %d, %a, -1;",
            rows,
            everywhere(function),
        )


def shuffle_cases(rng, count):
    for mode in ("up", "down", "bfly", "idx"):
        clamp = 0 if mode == "up" else 31
        rows = [(rng.getrandbits(32), rng.randrange(32), rng.choice((0, 0x1800)) | clamp) for _ in range(count)]

        def model(members, mode=mode):
            out = {}
            for lane, (_, b, c) in members.items():
                source, in_range = shuffle_source(mode, lane, b, c)
                # Undefined in PTX where the source takes no part; an H200 gives 0.
                out[lane] = (members[source][0] if source in members else 0, in_range)
            return out

        yield exited(
            f"shfl.sync.{mode}.b32",
            "d = a of another one, p = in range",
            "a:b32 b:u32 c:u32",
            "d:b32 p:pred",
            f"shfl.sync.{mode}.b32 %d|%p, %a, %b, %c, -1;",
            rows,
            model,
        )


def reduction_cases(rng, count):
    rows = [(rng.getrandbits(32),) for _ in range(count)]

    def fold(combine):
        def function(members):
            values = list(members.values())
            total = values[0]
            for value in values[1:]:
                total = combine(total, value)
            return (total & FULL,)

        return function

    signed = lambda x: to_signed(x, 32)  # noqa: E731
    for name, combine in (
        ("add.u32", lambda x, y: x + y),
        ("add.s32", lambda x, y: x + y),
        ("min.u32", min),
        ("max.u32", max),
        ("min.s32", lambda x, y: min(x, y, key=signed)),
        ("max.s32", lambda x, y: max(x, y, key=signed)),
        ("and.b32", lambda x, y: x & y),
        ("or.b32", lambda x, y: x | y),
        ("xor.b32", lambda x, y: x ^ y),
    ):
        kind = name[-3:]
        yield exited(
            f"redux.sync.{name}",
            "the reduction",
            f"a:{kind}",
            f"d:{kind}",
            f"redux.sync.{name} %d, %a, -1;",
            rows,
            everywhere(fold(combine)),
        )


def match_cases(rng, count):
    for kind in ("b32", "b64"):
        width = int(kind[1:])
        values = [rng.getrandbits(width) for _ in range(3)]
        rows = [(rng.choice(values),) for _ in range(count)]
        same = [(values[i // 32 % 3] if i // 32 % 2 == 0 else values[i % 3],) for i in range(count)]
        yield exited(
            f"match.any.sync.{kind}",
            "d = those that hold the same a",
            f"a:{kind}",
            "d:b32",
            f"match.any.sync.{kind} %d, %a, -1;",
            rows,
            lambda members: {
                lane: (bits(other for other, row in members.items() if row == mine),) for lane, mine in members.items()
            },
        )
        yield exited(
            f"match.all.sync.{kind}",
            "d = all of them if they hold the same a, p = whether",
            f"a:{kind}",
            "d:b32 p:pred",
            f"match.all.sync.{kind} %d|%p, %a, -1;",
            same,
            everywhere(lambda m: (bits(m), 1) if len(set(m.values())) == 1 else (0, 0)),
        )


def meeting_cases(rng, count):
    yield exited(
        "elect.sync",
        "d = the elected one, p = this lane is it",
        "",
        "d:b32 p:pred",
        "elect.sync %d|%p, -1;",
        [()] * count,
        lambda members: {lane: (min(members), int(lane == min(members))) for lane in members},
        version="8.0",
        target="sm_90",
    )
    # PTX does not promise that lanes are converged behind a vote, and no more than that activemask names who runs.
    yield exited(
        "activemask.b32",
        "d = this lane is in it, e = lanes in it that do not take part",
        "",
        "d:pred e:b32",
        """
vote.sync.ballot.b32 %members, 1, -1;
activemask.b32 %active;
mov.u32 %own, %lanemask_eq;
and.b32 %own, %own, %active;
setp.ne.u32 %d, %own, 0;
not.b32 %members, %members;
and.b32 %e, %active, %members;""",
        [()] * count,
        everywhere(lambda m: (1, 0)),
        registers=".reg .b32 %members, %active, %own;",
    )
    yield exited(
        "bar.warp.sync",
        "lanes exchange through shared memory",
        "a:u32",
        "d:u32",
        """
mov.u32 %cell, cells;
mad.lo.s32 %mine, %row, 4, %cell;
st.shared.u32 [%mine], %a;
bar.warp.sync 0xffffffff;
xor.b32 %other, %row, 1;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];""",
        [(rng.getrandbits(32),) for _ in range(count)],
        lambda members: {lane: (members[lane ^ 1][0] if lane ^ 1 in members else OPEN,) for lane in members},
        module=f".shared .align 4 .b8 cells[{4 * 32 * (len(STAYS) + 1)}];",
        registers=".reg .b32 %cell, %mine, %other;",
    )


def cases():
    count = len(stays())
    for chapter in (vote_cases, shuffle_cases, reduction_cases, match_cases, meeting_cases):
        yield from chapter(random.Random(f"exited lanes {chapter.__name__}"), count)
