"""Block barriers, fences, waiting and special registers: bar barrier membar fence nanosleep griddepcontrol, mov of %tid and kin."""

from reference.kernel import Case
from reference.values import mask

SM_90 = {"version": "7.8", "target": "sm_90"}
M32 = mask(32)


def cases():
    yield from barrier_cases()
    yield from fence_cases()
    yield from register_cases()


EXCHANGE = """
mov.u32 %cell, cells;
mad.lo.s32 %mine, %row, 4, %cell;
st.shared.u32 [%mine], %a;
{barrier}
xor.b32 %other, %row, 63;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];"""
CELLS = {"module": ".shared .align 4 .b8 cells[1024];", "registers": ".reg .b32 %cell, %mine, %other;"}


def barrier_cases():
    rows = [(7 * n + 3,) for n in range(128)]
    opposite = lambda r: [r[i ^ 63][0] for i in range(len(r))]  # noqa: E731
    for spelling, operands in (
        ("bar.sync", "0"),
        ("barrier.sync", "0"),
        ("bar.cta.sync", "0"),
        ("barrier.sync.aligned", "3"),
        ("barrier.cta.sync", "0"),
    ):
        yield Case(
            spelling,
            "warps exchange through shared memory",
            "a:u32",
            "d:u32",
            EXCHANGE.format(barrier=f"{spelling} {operands};"),
            rows,
            model_all=opposite,
            **CELLS,
            version="7.8" if "cta" in spelling else "7.1",
        )
    for spelling in ("bar.sync", "barrier.sync"):
        yield Case(
            f"{spelling}.counted",
            "each half of the block meets at a barrier of its own",
            "a:u32",
            "d:u32",
            EXCHANGE.format(barrier=f"shr.u32 %other, %row, 6;\nadd.s32 %other, %other, 1;\n{spelling} %other, 64;"),
            rows,
            model_all=opposite,
            **CELLS,
        )
    yield Case(
        "bar.arrive",
        "two warps produce and go on, two wait and consume",
        "a:u32",
        "d:u32",
        """
mov.u32 %cell, cells;
mov.u32 %d, 0;
setp.ge.u32 %consumer, %row, 64;
@%consumer bra consume;
mad.lo.s32 %mine, %row, 4, %cell;
st.shared.u32 [%mine], %a;
membar.cta;
bar.arrive 1, 128;
bra done;
consume:
bar.sync 1, 128;
sub.s32 %other, 127, %row;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];
done:""",
        rows,
        model_all=lambda r: [r[127 - i][0] if i >= 64 else 0 for i in range(128)],
        module=CELLS["module"],
        registers=CELLS["registers"] + "\n.reg .pred %consumer;",
    )
    yield Case(
        "bar.sync.in_loop",
        "a tree sum in shared memory: a barrier in every round",
        "a:u32",
        "d:u32",
        """
mov.u32 %cell, cells;
mad.lo.s32 %mine, %row, 4, %cell;
st.shared.u32 [%mine], %a;
bar.sync 0;
mov.u32 %span, 64;
again:
setp.ge.u32 %idle, %row, %span;
@%idle bra meet;
mad.lo.s32 %other, %span, 4, %mine;
ld.shared.u32 %x, [%mine];
ld.shared.u32 %y, [%other];
add.s32 %x, %x, %y;
st.shared.u32 [%mine], %x;
meet:
bar.sync 0;
shr.u32 %span, %span, 1;
setp.ne.s32 %more, %span, 0;
@%more bra again;
ld.shared.u32 %d, [cells];""",
        rows,
        model_all=lambda r: [sum(v for (v,) in r) & M32] * len(r),
        module=CELLS["module"],
        registers=CELLS["registers"] + "\n.reg .b32 %span, %x, %y;\n.reg .pred %idle, %more;",
    )
    truths = [(int(n % 3 == 0),) for n in range(128)]
    for name, model in (("and", lambda r: int(all(v for (v,) in r))), ("or", lambda r: int(any(v for (v,) in r)))):
        for what, data in (("", truths), (".all_true", [(1,)] * 128)):
            yield Case(
                f"bar.red.{name}.pred{what}",
                f"d = {name} of the block's predicates",
                "a:pred",
                "d:pred",
                f"bar.red.{name}.pred %d, 0, %a;",
                data,
                model_all=lambda r, m=model: [m(r)] * len(r),
            )
    yield Case(
        "bar.red.popc.u32",
        "d = how many predicates of the block hold",
        "a:pred",
        "d:u32",
        "bar.red.popc.u32 %d, 0, %a;",
        truths,
        model_all=lambda r: [sum(v for (v,) in r)] * len(r),
    )
    yield Case(
        "bar.sync.dynamic_shared",
        "the exchange in dynamic shared memory",
        "a:u32",
        "d:u32",
        EXCHANGE.format(barrier="bar.sync 0;"),
        rows,
        model_all=opposite,
        registers=CELLS["registers"],
        module=".extern .shared .align 16 .b8 cells[];",
        headers={"shared": "512"},
    )
    yield Case(
        "bar.sync.blocks",
        "shared memory belongs to one block",
        "a:u32",
        "d:u32",
        """
mov.u32 %cell, cells;
mov.u32 %thread, %tid.x;
mad.lo.s32 %mine, %thread, 4, %cell;
st.shared.u32 [%mine], %a;
bar.sync 0;
xor.b32 %other, %thread, 63;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];""",
        rows * 2,
        model_all=opposite,
        block="64",
        grid="4",
        module=CELLS["module"],
        registers=".reg .b32 %cell, %mine, %other, %thread;",
    )


def fence_cases():
    rows = [(3 * n + 1,) for n in range(64)]
    for spelling in (
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.sc.cta",
        "fence.sc.gpu",
        "fence.acq_rel.gpu",
        "fence.acq_rel.cta",
        "fence.sc.sys",
    ):
        yield Case(
            spelling,
            "a value, the fence, a flag: who sees the flag sees the value",
            "a:u32",
            "d:u32",
            f"""
mov.u32 %cell, cells;
mad.lo.s32 %mine, %row, 8, %cell;
st.shared.u32 [%mine+4], 0;
bar.sync 0;
st.volatile.shared.u32 [%mine], %a;
{spelling};
st.volatile.shared.u32 [%mine+4], 1;
xor.b32 %other, %row, 33;
mad.lo.s32 %other, %other, 8, %cell;
wait:
ld.volatile.shared.u32 %flag, [%other+4];
setp.eq.s32 %p, %flag, 0;
@%p bra wait;
{spelling};
ld.volatile.shared.u32 %d, [%other];""",
            rows,
            model_all=lambda r: [r[i ^ 33][0] for i in range(len(r))],
            module=CELLS["module"],
            registers=".reg .b32 %cell, %mine, %other, %flag;\n.reg .pred %p;",
        )
    yield Case(
        "nanosleep.u32",
        "waits and changes nothing",
        "a:u32",
        "d:u32",
        "nanosleep.u32 %a;\nmov.u32 %d, %a;",
        [(n % 3 * 20,) for n in range(40)],
        lambda a: a,
    )
    for name in ("wait", "launch_dependents"):
        yield Case(
            f"griddepcontrol.{name}",
            "does nothing in a launch that depends on none",
            "a:u32",
            "d:u32",
            f"griddepcontrol.{name};\nmov.u32 %d, %a;",
            [(n,) for n in range(40)],
            lambda a: a,
            **SM_90,
        )


def register_cases():
    grid, block = (3, 2, 2), (5, 4, 2)
    threads = block[0] * block[1] * block[2]
    rows = [()] * (grid[0] * grid[1] * grid[2] * threads)

    def place(index):
        b, t = divmod(index, threads)
        tid = (t % block[0], t // block[0] % block[1], t // (block[0] * block[1]))
        ctaid = (b % grid[0], b // grid[0] % grid[1], b // (grid[0] * grid[1]))
        return {"tid": tid, "ctaid": ctaid, "ntid": block, "nctaid": grid}

    for name in ("tid", "ctaid", "ntid", "nctaid"):
        yield Case(
            f"mov.u32.{name}",
            f"the three parts of %{name} in a launch of 3x2x2 blocks of 5x4x2 threads",
            "",
            "x:u32 y:u32 z:u32",
            "\n".join(f"mov.u32 %{axis}, %{name}.{axis};" for axis in "xyz"),
            rows,
            model_all=lambda r, name=name: [place(i)[name] for i in range(len(r))],
            block="5 4 2",
            grid="3 2 2",
        )
    lanes = {
        "laneid": lambda n: n,
        "lanemask_eq": lambda n: 1 << n,
        "lanemask_lt": lambda n: mask(n),
        "lanemask_le": lambda n: mask(n + 1),
        "lanemask_gt": lambda n: M32 & ~mask(n + 1),
        "lanemask_ge": lambda n: M32 & ~mask(n),
    }
    for name, model in lanes.items():
        yield Case(
            f"mov.u32.{name}",
            f"%{name} in a block of 8x10 threads",
            "",
            "d:u32",
            f"mov.u32 %d, %{name};",
            [()] * 80,
            model_all=lambda r, m=model: [m(i % 32) for i in range(len(r))],
            block="8 10",
        )
    yield Case(
        "mov.u32.warp_registers",
        "the warp size; %warpid and %smid below their counts",
        "",
        "size:u32 warp:pred sm:pred grid:pred",
        """
mov.u32 %size, WARP_SZ;
mov.u32 %x, %warpid;
mov.u32 %y, %nwarpid;
setp.lt.u32 %warp, %x, %y;
mov.u32 %x, %smid;
mov.u32 %y, %nsmid;
setp.lt.u32 %sm, %x, %y;
mov.u64 %g, %gridid;
setp.ge.u64 %grid, %g, 0;""",
        [()] * 64,
        lambda: (32, 1, 1, 1),
        registers=".reg .b32 %x, %y;\n.reg .b64 %g;",
    )
    yield Case(
        "mov.u64.clocks",
        "clocks do not run backwards, and the nanosecond timer is running",
        "",
        "c32:pred c64:pred ns:pred on:pred",
        """
mov.u32 %x, %clock;
mov.u64 %c, %clock64;
mov.u64 %t, %globaltimer;
nanosleep.u32 2000;
mov.u32 %y, %clock;
mov.u64 %e, %clock64;
mov.u64 %u, %globaltimer;
sub.s32 %y, %y, %x;
setp.gt.s32 %c32, %y, 0;
setp.gt.u64 %c64, %e, %c;
setp.ge.u64 %ns, %u, %t;
setp.ne.s64 %on, %t, 0;""",
        [()] * 32,
        lambda: (1, 1, 1, 1),
        registers=".reg .b32 %x, %y;\n.reg .b64 %c, %e, %t, %u;",
    )
    yield Case(
        "mov.u32.dynamic_smem_size",
        "%dynamic_smem_size is what the launch asked for",
        "",
        "d:u32",
        "mov.u32 %d, %dynamic_smem_size;",
        [()] * 2,
        lambda: 512,
        headers={"shared": "512"},
    )
    yield Case(
        "mov.u32.reserved_smem_offset",
        "what GPUs reserve of shared memory: that there is room, and the first thread's value kept there beside the kernel's own",
        "a:u32",
        "room:u32 inside:pred kept:u32 own:u32",
        """
mov.u32 %begin, %reserved_smem_offset_begin;
mov.u32 %end, %reserved_smem_offset_end;
sub.u32 %room, %end, %begin;
mov.u32 %part, %reserved_smem_offset_1;
sub.u32 %x, %part, %begin;
setp.lt.u32 %inside, %x, %room;
min.u32 %room, %room, 1;
setp.eq.u32 %first, %row, 0;
@%first st.shared.u32 [%part], %a;
mov.u32 %cell, cells;
mad.lo.u32 %cell, %row, 4, %cell;
st.shared.u32 [%cell], %a;
bar.sync 0;
ld.shared.u32 %kept, [%part];
ld.shared.u32 %own, [%cell];""",
        [(100 + n,) for n in range(64)],
        lambda a: (1, 1, 100, a),
        version="7.6",
        module=".shared .align 4 .b8 cells[256];",
        registers=".reg .b32 %begin, %end, %part, %x, %cell;\n.reg .pred %first;",
    )
