"""mbarrier and what reports to one: arrivals, phases, bulk copies, cp.async, st.async, red.async; fences on the way."""

import random

from reference.kernel import Case
from reference.values import mask

THREADS = 64
NINE = {"version": "8.1", "target": "sm_90"}
# What writes to the memory of a cluster is an illegal instruction on a GPU, but in a kernel that says it is one.
CLUSTER = NINE | {"directives": ".reqnctapercluster 1, 1, 1"}

WAIT = """
again{n}:
mbarrier.try_wait.parity.shared::cta.b64 %done, [barrier], {parity};
@!%done bra again{n};"""

SETUP = """
setp.eq.u32 %first, %row, 0;
@%first mbarrier.init.shared.b64 [barrier], {count};
bar.sync 0;
mov.u32 %cells, cells;
mad.lo.s32 %mine, %row, 4, %cells;
xor.b32 %other, %row, 63;
mad.lo.s32 %other, %other, 4, %cells;"""

REGISTERS = """
.reg .pred %first, %done;
.reg .b32 %cells, %mine, %other;
.reg .b64 %state, %from;"""
MODULE = ".shared .align 8 .b64 barrier;\n.shared .align 128 .b8 cells[1024];\n.global .align 128 .b8 elsewhere[256];"


def reversed_rows(rows):
    return [rows[len(rows) - 1 - i][0] for i in range(len(rows))]


def mbarrier_case(name, says, body, *, count=THREADS, model=reversed_rows, inputs="a:b32", **target):
    """64 threads with a cell of 4 bytes each; the model gives each the value of the opposite one."""
    rng = random.Random("cucore " + name)
    return Case(
        name,
        says,
        inputs,
        "d:b32",
        SETUP.format(count=count) + body,
        [(rng.getrandbits(32),) for _ in range(THREADS)],
        model_all=model,
        module=MODULE,
        registers=REGISTERS,
        family="mbarrier",
        **({"version": "7.4"} | target),
    )


def launch_control_case():
    """No block of this grid waits to begin, so that no launch can be cancelled."""
    return Case(
        "clusterlaunchcontrol.declined",
        "d = whether a launch was cancelled, in a grid of one block",
        "a:b32",
        "d:b32",
        SETUP.format(count=1)
        + """
@!%first bra wait;
mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [cells], [barrier];
wait:"""
        + WAIT.format(n=0, parity=0)
        + """
ld.shared.b128 %response, [cells];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %done, %response;
selp.b32 %d, 1, 0, %done;""",
        [(0,)] * THREADS,
        model_all=lambda rows: [0] * len(rows),
        module=MODULE,
        registers=REGISTERS + "\n.reg .b128 %response;",
        family="clusterlaunchcontrol",
        version="8.6",
        target="sm_100",
    )


def mbarrier_cases():
    store = "\nst.shared.b32 [%mine], %a;"
    load = "\nld.shared.b32 %d, [%other];"
    for test in ("test_wait", "try_wait"):
        target = NINE if test == "try_wait" else {}
        yield mbarrier_case(
            f"mbarrier.{test}.shared.b64",
            "threads arrive, then wait for the end of the phase in which they did",
            f"""{store}
mbarrier.arrive.shared.b64 %state, [barrier];
again:
mbarrier.{test}.shared.b64 %done, [barrier], %state;
@!%done bra again;{load}""",
            **target,
        )
    yield mbarrier_case(
        "mbarrier.try_wait.parity.three_phases",
        "the opposite value after three phases",
        f"""
mov.b32 %d, %a;
{
            "".join(
                f'''
st.shared.b32 [%mine], %d;
mbarrier.arrive.release.cta.shared::cta.b64 %state, [barrier];{WAIT.format(n=2 * n, parity=0)}
ld.shared.b32 %d, [%other];
mbarrier.arrive.shared::cta.b64 _, [barrier];{WAIT.format(n=2 * n + 1, parity=1)}'''
                for n in range(3)
            )
        }""",
        **NINE,
    )
    yield mbarrier_case(
        "mbarrier.generic_address",
        "a barrier named by its generic address, and a wait with a time limit",
        f"""{store}
mov.u64 %from, barrier;
cvta.shared.u64 %from, %from;
mbarrier.arrive.b64 %state, [%from];
again:
mbarrier.try_wait.b64 %done, [%from], %state, 1000;
@!%done bra again;{load}""",
        **NINE,
    )
    yield mbarrier_case(
        "cp.async.mbarrier.arrive.noinc.shared.b64",
        "copies are there when the phase ends that they arrive in",
        f"""
cp.async.ca.shared.global [%mine], [%in], 4;
cp.async.mbarrier.arrive.noinc.shared.b64 [barrier];
again:
mbarrier.test_wait.parity.shared.b64 %done, [barrier], 0;
@!%done bra again;{load}""",
    )
    yield mbarrier_case(
        "cp.async.mbarrier.arrive.shared.b64",
        "copies count themselves, and threads arrive as well",
        f"""
cp.async.ca.shared.global [%mine], [%in], 4;
cp.async.mbarrier.arrive.shared.b64 [barrier];
mbarrier.arrive.shared.b64 %state, [barrier];
again:
mbarrier.test_wait.shared.b64 %done, [barrier], %state;
@!%done bra again;{load}""",
    )
    yield mbarrier_case(
        "mbarrier.arrive_drop.shared.b64",
        "half of the threads leave in the first phase; the others meet once more",
        f"""{store}
setp.ge.u32 %first, %row, 32;
mov.b32 %d, 0;
@%first mbarrier.arrive_drop.shared.b64 %state, [barrier];
@%first bra done;
mbarrier.arrive.shared.b64 %state, [barrier];
one:
mbarrier.test_wait.shared.b64 %done, [barrier], %state;
@!%done bra one;{load}
mbarrier.arrive.shared.b64 %state, [barrier];
two:
mbarrier.test_wait.shared.b64 %done, [barrier], %state;
@!%done bra two;
done:""",
        model=lambda rows: [v if i < 32 else 0 for i, v in enumerate(reversed_rows(rows))],
    )


def transactions():
    load = "\nld.shared.b32 %d, [%other];"
    expect = """
@%first mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], 256;"""
    yield mbarrier_case(
        "cp.async.bulk.shared::cluster.global",
        "one thread copies what all wait for",
        f"""
@!%first bra wait;
mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %state, [barrier], 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%cells], [%in], 256, [barrier];
wait:{WAIT.format(n=0, parity=0)}{load}""",
        count=1,
        inputs="a:b32",
        model=lambda rows: [0 if i % 4 != 3 else rows[(63 - i) // 4][0] for i in range(THREADS)],
        **NINE,
    )
    yield mbarrier_case(
        "mbarrier.expect_tx.after_the_copy",
        "bytes that come before they are expected count too",
        f"""
@!%first bra wait;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%cells], [%in], 256, [barrier];
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [barrier], 256;
mbarrier.arrive.shared.b64 %state, [barrier];
wait:{WAIT.format(n=0, parity=0)}{load}""",
        count=1,
        model=lambda rows: [0 if i % 4 != 3 else rows[(63 - i) // 4][0] for i in range(THREADS)],
        **NINE,
    )
    yield mbarrier_case(
        "cp.async.bulk.shared::cluster.shared::cta",
        "a copy within shared memory",
        f"""
st.shared.b32 [%mine+256], %a;
fence.proxy.async.shared::cta;
bar.sync 0;{expect}
add.s32 %mine, %cells, 256;
@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%cells], [%mine], 256, [barrier];
{WAIT.format(n=0, parity=0)}{load}""",
        count=1,
        **CLUSTER,
    )
    yield mbarrier_case(
        "cp.async.bulk.global.shared::cta",
        "a copy to global memory, in a group",
        """
st.shared.b32 [%mine], %a;
fence.proxy.async;
bar.sync 0;
mov.u64 %from, elsewhere;
@!%first bra wait;
cp.async.bulk.global.shared::cta.bulk_group [%from], [%cells], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.wait_group 0;
fence.proxy.async.global;
wait:
bar.sync 0;
sub.s32 %other, %other, %cells;
cvt.u64.u32 %state, %other;
add.s64 %from, %from, %state;
ld.global.b32 %d, [%from];""",
        **NINE,
    )
    yield mbarrier_case(
        "st.async.shared::cluster",
        "every thread stores to the opposite one's cell",
        f"""{expect}
bar.sync 0;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%other], %a, [barrier];
{WAIT.format(n=0, parity=0)}
ld.shared.b32 %d, [%mine];""",
        count=1,
        **CLUSTER,
    )
    yield mbarrier_case(
        "red.async.shared::cluster.add.u32",
        "all threads add to their opposite's cell, which is not zero",
        f"""
st.shared.b32 [%mine], %row;{expect}
bar.sync 0;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%other], %a, [barrier];
{WAIT.format(n=0, parity=0)}
ld.shared.b32 %d, [%mine];""",
        count=1,
        model=lambda rows: [(v + i) & mask(32) for i, v in enumerate(reversed_rows(rows))],
        **CLUSTER,
    )


def alone():
    """One barrier per thread, which makes all arrivals itself."""

    rest = """
mov.b32 %n, 1;
more:
setp.ge.u32 %p, %n, %count;
@%p bra enough;
mbarrier.arrive.noComplete.shared.b64 %state, [%mine], 1;
mbarrier.pending_count.b64 %last, %state;
add.s32 %n, %n, 1;
bra more;
enough:"""
    yield Case(
        "mbarrier.phases",
        "what a thread sees that arrives as often as a barrier counts",
        "count:u32",
        "before:pred after:pred previous:pred current:pred next:pred",
        """
mov.u32 %mine, barriers;
mad.lo.s32 %mine, %row, 8, %mine;
mbarrier.init.shared.b64 [%mine], %count;
mbarrier.test_wait.parity.shared.b64 %before, [%mine], 0;
mbarrier.test_wait.parity.shared.b64 %previous, [%mine], 1;
mov.b32 %n, 1;
more:
mbarrier.arrive.shared.b64 %state, [%mine];
setp.ge.u32 %p, %n, %count;
add.s32 %n, %n, 1;
@!%p bra more;
mbarrier.test_wait.shared.b64 %after, [%mine], %state;
mbarrier.test_wait.parity.shared.b64 %current, [%mine], 0;
mbarrier.test_wait.parity.shared.b64 %next, [%mine], 1;
mbarrier.inval.shared.b64 [%mine];""",
        [(n,) for n in range(1, 33)],
        lambda count: (0, 1, 1, 1, 0),
        module=".shared .align 8 .b64 barriers[32];",
        registers=".reg .b32 %mine, %n;\n.reg .b64 %state;\n.reg .pred %p;",
        family="mbarrier",
    )
    yield Case(
        "mbarrier.pending_count.b64",
        "arrivals that were pending before the last one",
        "count:u32",
        "first:u32 last:u32",
        f"""
mov.u32 %mine, barriers;
mad.lo.s32 %mine, %row, 8, %mine;
add.s32 %n, %count, 1;
mbarrier.init.shared.b64 [%mine], %n;
mbarrier.arrive.noComplete.shared.b64 %state, [%mine], 1;
mbarrier.pending_count.b64 %first, %state;
mov.b32 %last, %first;{rest}""",
        [(n,) for n in range(1, 33)],
        lambda count: (count + 1, 2),
        module=".shared .align 8 .b64 barriers[32];",
        registers=".reg .b32 %mine, %n;\n.reg .b64 %state;\n.reg .pred %p;",
        family="mbarrier",
    )


def others():
    yield Case(
        "createpolicy.fractional",
        "a load with a cache policy",
        "a:b32",
        "d:b32",
        """
createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;
ld.global.L2::cache_hint.b32 %d, [%in], %policy;""",
        [(n * 77,) for n in range(32)],
        lambda a: a,
        registers=".reg .b64 %policy;",
        version="7.4",
    )
    fences = ["proxy.alias", "proxy.async", "proxy.async.global", "proxy.async.shared::cta", "mbarrier_init.release.cluster",
              "sc.cluster", "acq_rel.cluster", "proxy.tensormap::generic.release.gpu"]  # fmt: skip
    yield Case(
        "fence.proxies",
        "a thread sees what it wrote before any fence",
        "a:b32",
        "d:b32",
        "mov.u32 %mine, cells;\nmad.lo.s32 %mine, %row, 4, %mine;\nst.shared.b32 [%mine], %a;\n"
        + "\n".join(f"fence.{f};" for f in fences)
        + "\nld.shared.b32 %d, [%mine];",
        [(n * 77,) for n in range(32)],
        lambda a: a,
        module=".shared .align 4 .b8 cells[128];",
        registers=".reg .b32 %mine;",
        version="8.3",
        target="sm_90",
    )
    yield Case(
        "setmaxnreg.sync.aligned.u32",
        "registers given back and taken again change no value",
        "a:b32",
        "d:b32",
        "",
        [(n * 77,) for n in range(128)],
        lambda a: a,
        whole="""
.visible .entry test(.param .u64 in, .param .u64 out) .maxnreg 64 .reqntid 128, 1, 1
{
	.reg .b64 %in, %out;
	.reg .b32 %row, %a;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	mov.u32 %row, %tid.x;
	mad.wide.u32 %in, %row, 16, %in;
	mad.wide.u32 %out, %row, 16, %out;
	ld.global.b32 %a, [%in];
	setmaxnreg.dec.sync.aligned.u32 40;
	setmaxnreg.inc.sync.aligned.u32 64;
	st.global.b32 [%out], %a;
	ret;
}""",
        version="8.0",
        target="sm_90a",
    )


def cases():
    yield launch_control_case()
    yield from mbarrier_cases()
    yield from transactions()
    yield from alone()
    yield from others()
