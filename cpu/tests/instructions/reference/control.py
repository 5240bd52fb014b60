"""Branches, calls and the ends of threads: bra brx ret exit trap call, and the runtime's vprintf and __assertfail."""

from reference.kernel import Case
from reference.values import mask, operand_rows

M32 = mask(32)


def cases():
    yield from branch_cases()
    yield from end_cases()
    yield from call_cases()


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
    yield Case("bra", "a loop whose trip count differs in every thread: steps of the Collatz sequence", "a:u32", "d:u32", """
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
done:""", [(n,) for n in range(80)], collatz, registers=".reg .pred %p, %even;\n.reg .b32 %bit;")
    yield Case("bra.uni", "a loop that every thread runs equally often", "a:u32", "d:u32", """
mov.u32 %i, 0;
mov.u32 %d, %a;
again:
mad.lo.s32 %d, %d, 5, 7;
add.s32 %i, %i, 1;
setp.lt.s32 %p, %i, 10;
@%p bra.uni again;
bra.uni done;
trap;
done:""", [(n,) for n in range(40)], linear_steps, registers=".reg .pred %p;\n.reg .b32 %i;")
    yield Case("bra.gcd", "Euclid's loop: data-dependent exits", "a:u32 b:u32", "d:u32", """
again:
setp.eq.s32 %p, %b, 0;
@%p bra done;
rem.u32 %r, %a, %b;
mov.u32 %a, %b;
mov.u32 %b, %r;
bra again;
done:
mov.u32 %d, %a;""", [(n * 12, 200 - 3 * n) for n in range(64)], gcd, registers=".reg .pred %p;\n.reg .b32 %r;")
    yield Case("bra.nested", "two nested loops with continue and break", "a:u32", "d:u32", """
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
done:""", [(n,) for n in range(64)], nested, registers=".reg .pred %p;\n.reg .b32 %n, %i, %j, %odd, %t;")
    yield Case("bra.predicated", "instructions under @p and @!p instead of branches", "a:s32 b:s32", "d:s32 e:s32", """
setp.lt.s32 %p, %a, %b;
mov.u32 %e, 5;
@%p sub.s32 %d, %b, %a;
@!%p sub.s32 %d, %a, %b;
@%p mul.lo.s32 %e, %e, %d;
@!%p st.global.u32 [%out], 9;""", operand_rows("predicated", ["s32", "s32"], 40), predicated, registers=".reg .pred %p;")
    yield Case("brx.idx", "an indexed branch", "a:u32", "d:u32", """
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
done:""", [(n,) for n in range(40)], lambda a: (11, 22, 33, 11)[a & 3], registers=".reg .b32 %i;")


def linear_steps(a):
    for _ in range(10):
        a = (a * 5 + 7) & M32
    return a


def predicated(a, b):
    x, y = (v - (1 << 32) if v >> 31 else v for v in (a, b))
    d = (y - x if x < y else x - y) & M32
    return d, 5 * d & M32 if x < y else 5


def end_cases():
    early = lambda opcode: f"""
mov.u32 %d, 1;
and.b32 %bit, %a, 3;
setp.eq.s32 %p, %bit, 0;
@%p {opcode};
mov.u32 %d, 2;"""  # noqa: E731
    for opcode in ("ret", "exit"):
        yield Case(opcode, f"every fourth thread takes {opcode} before it stores", "a:u32", "d:u32", early(opcode),
                   [(n,) for n in range(70)], lambda a: 0xCDCDCDCD if a % 4 == 0 else 2, registers=".reg .pred %p;\n.reg .b32 %bit;")
    yield Case("exit.in_function", "exit inside a function ends the thread, ret only the call", "a:u32", "d:u32", """{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
call (r), leave, (x);
ld.param.b32 %d, [r];
}""", [(n,) for n in range(70)], lambda a: 0xCDCDCDCD if a % 5 == 0 else (100 if a % 5 == 1 else a + 1), module="""
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
}""")
    yield Case("exit.before_barrier", "threads that exited do not hold up a barrier", "a:u32", "d:u32", """
setp.ge.u32 %p, %a, 40;
@%p exit;
mov.u32 %cell, cells;
mad.lo.s32 %mine, %a, 4, %cell;
st.shared.u32 [%mine], %a;
bar.sync 0;
sub.s32 %other, 39, %a;
mad.lo.s32 %other, %other, 4, %cell;
ld.shared.u32 %d, [%other];""", [(n,) for n in range(96)], lambda a: 39 - a if a < 40 else 0xCDCDCDCD,
               module=".shared .align 4 .b8 cells[160];", registers=".reg .pred %p;\n.reg .b32 %cell, %mine, %other;")
    yield Case("trap", "ends the launch with an error", "", "d:u32", "trap;\nmov.u32 %d, 1;", [()], lambda: "*",
               headers={"launch-error": "719"}, notes=lambda: "nothing is stored")
    yield Case("trap.not_reached", "a trap that no thread reaches does nothing", "a:u32", "d:u32", """
setp.gt.u32 %p, %a, 1000;
@!%p bra fine;
trap;
fine:
add.s32 %d, %a, 1;""", [(n,) for n in range(40)], lambda a: a + 1, registers=".reg .pred %p;")


SQUARE = """
.func (.param .b32 r) square(.param .b32 x)
{
	.reg .b32 %x;
	ld.param.b32 %x, [x];
	mul.lo.s32 %x, %x, %x;
	st.param.b32 [r], %x;
	ret;
}"""


def call_cases():
    rows = [(v,) for v in (0, 1, 2, 3, 7, 46340, 65535, M32, 0x80000000, *range(100, 140))]
    for opcode in ("call", "call.uni"):
        yield Case(opcode, "calls a function", "a:u32", "d:u32", f"""{{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
{opcode} (r), square, (x);
ld.param.b32 %d, [r];
}}""", rows, lambda a: a * a & M32, module=SQUARE)
    yield Case("call.divergent", "only odd threads call", "a:u32", "d:u32", """
mov.u32 %d, 5;
and.b32 %bit, %a, 1;
setp.eq.s32 %p, %bit, 0;
@%p bra done;
{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
call (r), square, (x);
ld.param.b32 %d, [r];
}
done:""", rows, lambda a: a * a & M32 if a & 1 else 5, module=SQUARE, registers=".reg .pred %p;\n.reg .b32 %bit;")
    yield Case("call.void", "calls a function without a result that stores through a pointer, from inside another", "a:u32", "d:u32", """{
.param .b64 p;
.param .b32 x;
st.param.b64 [p], %out;
st.param.b32 [x], %a;
call twice, (p, x);
}
ld.global.u32 %d, [%out];""", rows, lambda a: (2 * a + 1) & M32, module="""
.func put(.param .b64 p, .param .b32 x)
{
	.reg .b64 %p;
	.reg .b32 %x;
	ld.param.u64 %p, [p];
	ld.param.u32 %x, [x];
	st.global.u32 [%p], %x;
	ret;
}

.func twice(.param .b64 p, .param .b32 x)
{
	.reg .b64 %p;
	.reg .b32 %x;
	ld.param.u64 %p, [p];
	ld.param.u32 %x, [x];
	mad.lo.s32 %x, %x, 2, 1;
	{
	.param .b64 q;
	.param .b32 y;
	st.param.b64 [q], %p;
	st.param.b32 [y], %x;
	call put, (q, y);
	}
	ret;
}""")
    yield Case("call.registers", "arguments and results in registers", "a:u32 b:u32", "d:u32 e:u32", "call (%d, %e), both, (%a, %b);",
               operand_rows("call.registers", ["u32", "u32"], 24), lambda a, b: ((a + b) & M32, (a - b) & M32), module="""
.func (.reg .b32 %s, .reg .b32 %t) both(.reg .b32 %x, .reg .b32 %y)
{
	add.s32 %s, %x, %y;
	sub.s32 %t, %x, %y;
	ret;
}""")
    yield Case("call.recursive", "a function that calls itself", "a:u32", "d:u32", """{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
call (r), fibonacci, (x);
ld.param.b32 %d, [r];
}""", [(n % 12,) for n in range(40)], fibonacci, module="""
.func (.param .b32 r) fibonacci(.param .b32 x)
{
	.reg .b32 %x, %y, %s;
	.reg .pred %p;
	ld.param.b32 %x, [x];
	mov.u32 %s, %x;
	setp.lt.u32 %p, %x, 2;
	@%p bra done;
	sub.s32 %y, %x, 1;
	{
	.param .b32 x1;
	.param .b32 r1;
	st.param.b32 [x1], %y;
	call (r1), fibonacci, (x1);
	ld.param.b32 %s, [r1];
	}
	sub.s32 %y, %x, 2;
	{
	.param .b32 x2;
	.param .b32 r2;
	st.param.b32 [x2], %y;
	call (r2), fibonacci, (x2);
	ld.param.b32 %y, [r2];
	}
	add.s32 %s, %s, %y;
done:
	st.param.b32 [r], %s;
	ret;
}""")
    yield Case("call.indirect", "calls through an address, different in odd and even threads", "a:u32", "d:u32", """
and.b32 %bit, %a, 1;
setp.eq.s32 %p, %bit, 0;
mov.u64 %f, square;
mov.u64 %g, next;
selp.b64 %f, %f, %g, %p;
{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
shape: .callprototype (.param .b32 _) _ (.param .b32 _);
call (r), %f, (x), shape;
ld.param.b32 %d, [r];
}""", rows, lambda a: (a + 1 if a & 1 else a * a) & M32, module=SQUARE + """

.func (.param .b32 r) next(.param .b32 x)
{
	.reg .b32 %x;
	ld.param.b32 %x, [x];
	add.s32 %x, %x, 1;
	st.param.b32 [r], %x;
	ret;
}""", registers=".reg .pred %p;\n.reg .b32 %bit;\n.reg .b64 %f, %g;")
    yield from runtime_call_cases()


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def bytes_of(text):
    return ", ".join(str(b) for b in text.encode() + b"\0")


def print_call(text, stores, size=24):
    return (f".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
            f".global .align 1 .b8 text[{len(text.encode()) + 1}] = {{{bytes_of(text)}}};\n"
            f".global .align 1 .b8 word[4] = {{{bytes_of('abc')}}};"), f"""
mov.u64 %list, arguments;
cvta.local.u64 %generic, %list;
{stores}
mov.u64 %format, text;
cvta.global.u64 %format, %format;
{{
.param .b64 f;
.param .b64 l;
.param .b32 r;
st.param.b64 [f], %format;
st.param.b64 [l], %generic;
call.uni (r), vprintf, (f, l);
ld.param.b32 %d, [r];
}}""", f".local .align 8 .b8 arguments[{size}];\n.reg .b64 %list, %generic, %format, %w;"


def runtime_call_cases():
    module, body, registers = print_call("a=%d b=%5.2f s=%s u=%u x=%llx%%\n", """st.local.u32 [%list], -7;
st.local.f64 [%list+8], 0d400921FB54442D18;
mov.u64 %w, word;
cvta.global.u64 %w, %w;
st.local.u64 [%list+16], %w;
st.local.u32 [%list+24], 4000000000;
st.local.u64 [%list+32], 0x123456789a;""", 40)
    yield Case("call.vprintf", "prints through the format and packed arguments, gives the number of arguments", "", "d:s32", body, [()],
               lambda: 5, module=module, registers=registers,
               headers={"stdout": repr("a=-7 b= 3.14 s=abc u=4000000000 x=123456789a%\n")})
    module, body, registers = print_call("thread %d\n", "st.local.u32 [%list], %row;", 8)
    yield Case("call.vprintf.every_thread", "each thread of a warp prints, in lane order", "", "d:s32", body, [()] * 8, lambda: 1,
               module=module, registers=registers, headers={"stdout": repr("".join(f"thread {n}\n" for n in range(8)))})
    texts = {"message": "x > 0", "file": "kernel.cu", "function": "check"}
    module = (".extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, "
              ".param .b64 charSize);\n" + "\n".join(f".global .align 1 .b8 {n}_text[{len(t) + 1}] = {{{bytes_of(t)}}};"
                                                     for n, t in texts.items()))
    body = "\n".join(f"mov.u64 %{n}, {n}_text;\ncvta.global.u64 %{n}, %{n};" for n in texts) + """
{
.param .b64 m;
.param .b64 f;
.param .b32 l;
.param .b64 n;
.param .b64 c;
st.param.b64 [m], %message;
st.param.b64 [f], %file;
st.param.b32 [l], 42;
st.param.b64 [n], %function;
st.param.b64 [c], 1;
call.uni __assertfail, (m, f, l, n, c);
}
mov.u32 %d, 1;"""
    yield Case("call.assertfail", "a failed assertion ends the launch with an error", "", "d:u32", body, [()], lambda: "*", module=module,
               registers=".reg .b64 %message, %file, %function;", headers={"launch-error": "710"}, notes=lambda: "nothing is stored")
