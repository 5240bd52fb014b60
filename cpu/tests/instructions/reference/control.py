"""Branches and the ends of threads: bra brx ret exit trap."""

from reference.kernel import Case
from reference.values import mask, operand_rows

M32 = mask(32)


def cases():
    yield from branch_cases()
    yield from end_cases()


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def nested(a):
    total = 0
    for i in range(a % 7):
        for j in range(i + 1):
            if (i ^ j) & 1:
                continue
            if j == 4:
                break
            total += 10 * i + j
    return total


def branch_cases():
    yield Case(
        "bra",
        "a loop whose trip count differs in every thread: steps of the Collatz sequence",
        "a:u32",
        "d:u32",
        """
mov.u32 %d, 0;
again:
setp.le.u32 %p, %a, 1;
@%p bra done;
and.b32 %bit, %a, 1;
setp.eq.s32 %even, %bit, 0;
@%even bra halve;
mad.lo.s32 %a, %a, 3, 1;
bra next;
halve:
shr.u32 %a, %a, 1;
next:
add.s32 %d, %d, 1;
bra again;
done:""",
        [(n,) for n in range(80)],
        collatz,
        registers=".reg .pred %p, %even;\n.reg .b32 %bit;",
    )
    yield Case(
        "bra.uni",
        "a loop that every thread runs equally often",
        "a:u32",
        "d:u32",
        """
mov.u32 %i, 0;
mov.u32 %d, %a;
again:
mad.lo.s32 %d, %d, 5, 7;
add.s32 %i, %i, 1;
setp.lt.s32 %p, %i, 10;
@%p bra.uni again;
bra.uni done;
trap;
done:""",
        [(n,) for n in range(40)],
        linear_steps,
        registers=".reg .pred %p;\n.reg .b32 %i;",
    )
    yield Case(
        "bra.gcd",
        "Euclid's loop: data-dependent exits",
        "a:u32 b:u32",
        "d:u32",
        """
again:
setp.eq.s32 %p, %b, 0;
@%p bra done;
rem.u32 %r, %a, %b;
mov.u32 %a, %b;
mov.u32 %b, %r;
bra again;
done:
mov.u32 %d, %a;""",
        [(n * 12, 200 - 3 * n) for n in range(64)],
        gcd,
        registers=".reg .pred %p;\n.reg .b32 %r;",
    )
    yield Case(
        "bra.nested",
        "two nested loops with continue and break",
        "a:u32",
        "d:u32",
        """
rem.u32 %n, %a, 7;
mov.u32 %d, 0;
mov.u32 %i, 0;
outer:
setp.ge.u32 %p, %i, %n;
@%p bra done;
mov.u32 %j, 0;
inner:
setp.gt.u32 %p, %j, %i;
@%p bra step;
xor.b32 %odd, %i, %j;
and.b32 %odd, %odd, 1;
setp.ne.s32 %p, %odd, 0;
@%p bra skip;
setp.eq.s32 %p, %j, 4;
@%p bra step;
mad.lo.s32 %t, %i, 10, %j;
add.s32 %d, %d, %t;
skip:
add.s32 %j, %j, 1;
bra inner;
step:
add.s32 %i, %i, 1;
bra outer;
done:""",
        [(n,) for n in range(64)],
        nested,
        registers=".reg .pred %p;\n.reg .b32 %n, %i, %j, %odd, %t;",
    )
    yield Case(
        "bra.predicated",
        "instructions under @p and @!p instead of branches",
        "a:s32 b:s32",
        "d:s32 e:s32",
        """
setp.lt.s32 %p, %a, %b;
mov.u32 %e, 5;
@%p sub.s32 %d, %b, %a;
@!%p sub.s32 %d, %a, %b;
@%p mul.lo.s32 %e, %e, %d;
@!%p st.global.u32 [%out], 9;""",
        operand_rows("predicated", ["s32", "s32"], 40),
        predicated,
        registers=".reg .pred %p;",
    )
    yield Case(
        "brx.idx",
        "an indexed branch",
        "a:u32",
        "d:u32",
        """
and.b32 %i, %a, 3;
targets: .branchtargets one, two, three, one;
brx.idx %i, targets;
one:
mov.u32 %d, 11;
bra done;
two:
mov.u32 %d, 22;
bra done;
three:
mov.u32 %d, 33;
done:""",
        [(n,) for n in range(40)],
        lambda a: (11, 22, 33, 11)[a & 3],
        registers=".reg .b32 %i;",
    )


def linear_steps(a):
    for _ in range(10):
        a = (a * 5 + 7) & M32
    return a


def predicated(a, b):
    x, y = (v - (1 << 32) if v >> 31 else v for v in (a, b))
    d = (y - x if x < y else x - y) & M32
    return d, 5 * d & M32 if x < y else 5


EARLY = """
mov.u32 %d, 1;
and.b32 %bit, %a, 3;
setp.eq.s32 %p, %bit, 0;
@%p {opcode};
mov.u32 %d, 2;"""


def end_cases():
    for opcode in ("ret", "exit"):
        yield Case(
            opcode,
            f"every fourth thread takes {opcode} before it stores",
            "a:u32",
            "d:u32",
            EARLY.format(opcode=opcode),
            [(n,) for n in range(70)],
            lambda a: 0xCDCDCDCD if a % 4 == 0 else 2,
            registers=".reg .pred %p;\n.reg .b32 %bit;",
        )
    yield Case(
        "exit.in_function",
        "exit inside a function ends the thread, ret only the call",
        "a:u32",
        "d:u32",
        """{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
call (r), leave, (x);
ld.param.b32 %d, [r];
}""",
        [(n,) for n in range(70)],
        lambda a: 0xCDCDCDCD if a % 5 == 0 else (100 if a % 5 == 1 else a + 1),
        module="""
.func (.param .b32 r) leave(.param .b32 x)
{
	.reg .b32 %x, %m;
	.reg .pred %p;
	ld.param.b32 %x, [x];
	rem.u32 %m, %x, 5;
	setp.eq.s32 %p, %m, 0;
	@%p exit;
	st.param.b32 [r], 100;
	setp.eq.s32 %p, %m, 1;
	@%p ret;
	add.s32 %x, %x, 1;
	st.param.b32 [r], %x;
	ret;
}""",
    )
    yield Case(
        "exit.before_barrier",
        "threads that exited do not hold up a barrier",
        "a:u32",
        "d:u32",
        """
setp.ge.u32 %p, %a, 40;
@%p exit;
mov.u32 %cell, cells;
mad.lo.s32 %mine, %a, 4, %cell;
st.shared.u32 [%mine], %a;
bar.sync 0;
sub.s32 %other, 39, %a;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];""",
        [(n,) for n in range(96)],
        lambda a: 39 - a if a < 40 else 0xCDCDCDCD,
        module=".shared .align 4 .b8 cells[160];",
        registers=".reg .pred %p;\n.reg .b32 %cell, %mine, %other;",
    )
    yield Case(
        "trap",
        "ends the launch with an error",
        "",
        "d:u32",
        "trap;\nmov.u32 %d, 1;",
        [()],
        lambda: "*",
        headers={"launch-error": "719"},
        notes=lambda: "nothing is stored",
    )
    yield Case(
        "trap.not_reached",
        "a trap that no thread reaches does nothing",
        "a:u32",
        "d:u32",
        """
setp.gt.u32 %p, %a, 1000;
@!%p bra fine;
trap;
fine:
add.s32 %d, %a, 1;""",
        [(n,) for n in range(40)],
        lambda a: a + 1,
        registers=".reg .pred %p;",
    )
