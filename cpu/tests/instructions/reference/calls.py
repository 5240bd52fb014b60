"""Calls: direct, divergent, nested, recursive, indirect, and the runtime's vprintf and __assertfail."""

from reference.kernel import Case
from reference.values import mask, operand_rows

M32 = mask(32)


def cases():
    yield from call_cases()
    yield from runtime_call_cases()
    yield from heap_cases()


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
        yield Case(
            opcode,
            "calls a function",
            "a:u32",
            "d:u32",
            f"""{{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
{opcode} (r), square, (x);
ld.param.b32 %d, [r];
}}""",
            rows,
            lambda a: a * a & M32,
            module=SQUARE,
        )
    yield Case(
        "call.divergent",
        "only odd threads call",
        "a:u32",
        "d:u32",
        """
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
done:""",
        rows,
        lambda a: a * a & M32 if a & 1 else 5,
        module=SQUARE,
        registers=".reg .pred %p;\n.reg .b32 %bit;",
    )
    yield Case(
        "call.alias",
        "calls a function by its other name",
        "a:u32",
        "d:u32",
        """{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
call (r), second_power, (x);
ld.param.b32 %d, [r];
}""",
        rows,
        lambda a: a * a & M32,
        module=SQUARE + "\n\n.visible .func (.param .b32 r) second_power(.param .b32 x);\n.alias second_power, square;",
    )
    yield Case(
        "call.void",
        "calls a function without a result that stores through a pointer, from inside another",
        "a:u32",
        "d:u32",
        """{
.param .b64 p;
.param .b32 x;
st.param.b64 [p], %out;
st.param.b32 [x], %a;
call twice, (p, x);
}
ld.global.u32 %d, [%out];""",
        rows,
        lambda a: (2 * a + 1) & M32,
        module="""
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
}""",
    )
    yield Case(
        "call.registers",
        "arguments and results in registers",
        "a:u32 b:u32",
        "d:u32 e:u32",
        "call (%d, %e), both, (%a, %b);",
        operand_rows("call.registers", ["u32", "u32"], 24),
        lambda a, b: ((a + b) & M32, (a - b) & M32),
        module="""
.func (.reg .b32 %s, .reg .b32 %t) both(.reg .b32 %x, .reg .b32 %y)
{
	add.s32 %s, %x, %y;
	sub.s32 %t, %x, %y;
	ret;
}""",
    )
    yield Case(
        "call.recursive",
        "a function that calls itself",
        "a:u32",
        "d:u32",
        """{
.param .b32 x;
.param .b32 r;
st.param.b32 [x], %a;
call (r), fibonacci, (x);
ld.param.b32 %d, [r];
}""",
        [(n % 12,) for n in range(40)],
        fibonacci,
        module="""
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
}""",
    )
    yield Case(
        "call.indirect",
        "calls through an address, different in odd and even threads",
        "a:u32",
        "d:u32",
        """
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
}""",
        rows,
        lambda a: (a + 1 if a & 1 else a * a) & M32,
        module=SQUARE
        + """

.func (.param .b32 r) next(.param .b32 x)
{
	.reg .b32 %x;
	ld.param.b32 %x, [x];
	add.s32 %x, %x, 1;
	st.param.b32 [r], %x;
	ret;
}""",
        registers=".reg .pred %p;\n.reg .b32 %bit;\n.reg .b64 %f, %g;",
    )


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def bytes_of(text):
    return ", ".join(str(b) for b in text.encode() + b"\0")


def print_call(text, stores, size=24):
    return (
        (
            f".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
            f".global .align 1 .b8 text[{len(text.encode()) + 1}] = {{{bytes_of(text)}}};\n"
            f".global .align 1 .b8 word[4] = {{{bytes_of('abc')}}};"
        ),
        f"""
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
}}""",
        f".local .align 8 .b8 arguments[{size}];\n.reg .b64 %list, %generic, %format, %w;",
    )


def runtime_call_cases():
    module, body, registers = print_call(
        "a=%d b=%5.2f s=%s u=%u x=%llx%%\n",
        """st.local.u32 [%list], -7;
st.local.f64 [%list+8], 0d400921FB54442D18;
mov.u64 %w, word;
cvta.global.u64 %w, %w;
st.local.u64 [%list+16], %w;
st.local.u32 [%list+24], 4000000000;
st.local.u64 [%list+32], 0x123456789a;""",
        40,
    )
    yield Case(
        "call.vprintf",
        "prints through the format and packed arguments, gives the number of arguments",
        "",
        "d:s32",
        body,
        [()],
        lambda: 5,
        module=module,
        registers=registers,
        headers={"stdout": repr("a=-7 b= 3.14 s=abc u=4000000000 x=123456789a%\n")},
    )
    module, body, registers = print_call("thread %d\n", "st.local.u32 [%list], %row;", 8)
    yield Case(
        "call.vprintf.every_thread",
        "each thread of a warp prints, in lane order",
        "",
        "d:s32",
        body,
        [()] * 8,
        lambda: 1,
        module=module,
        registers=registers,
        headers={"stdout": repr("".join(f"thread {n}\n" for n in range(8)))},
    )
    texts = {"message": "x > 0", "file": "kernel.cu", "function": "check"}
    module = (
        ".extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, "
        ".param .b64 charSize);\n"
        + "\n".join(f".global .align 1 .b8 {n}_text[{len(t) + 1}] = {{{bytes_of(t)}}};" for n, t in texts.items())
    )
    body = (
        "\n".join(f"mov.u64 %{n}, {n}_text;\ncvta.global.u64 %{n}, %{n};" for n in texts)
        + """
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
    )
    yield Case(
        "call.assertfail",
        "a failed assertion ends the launch with an error",
        "",
        "d:u32",
        body,
        [()],
        lambda: "*",
        module=module,
        registers=".reg .b64 %message, %file, %function;",
        headers={"launch-error": "710"},
        notes=lambda: "nothing is stored",
    )


HEAP = """
.extern .func (.param .b64 p) malloc(.param .b64 size);
.extern .func free(.param .b64 p);"""


def heap_cases():
    """malloc and free of the device: every thread its own memory, aligned to 16 bytes, and null when there is none."""
    yield Case(
        "call.malloc",
        "d = a kept in memory of its own across a barrier, e = misalignment, f = null",
        "a:u32",
        "d:u32 e:b32 f:pred",
        """{
.param .b64 size;
.param .b64 p;
st.param.b64 [size], 24;
call (p), malloc, (size);
ld.param.b64 %p, [p];
}
setp.eq.u64 %f, %p, 0;
cvt.u32.u64 %e, %p;
and.b32 %e, %e, 15;
@%f bra done;
st.u32 [%p], %a;
st.u32 [%p+20], %row;
bar.sync 0;
ld.u32 %d, [%p];
ld.u32 %last, [%p+20];
sub.u32 %last, %last, %row;
add.u32 %d, %d, %last;
{
.param .b64 q;
st.param.b64 [q], %p;
call free, (q);
}
done:""",
        [(n * 2654435761 & M32,) for n in range(64)],
        lambda a: (a, 0, 0),
        module=HEAP,
        registers=".reg .b64 %p;\n.reg .b32 %last;",
    )
    yield Case(
        "call.malloc.count_before",
        "d = a kept in memory of its own, whose eight bytes before it hold a count, as nvcc 13.0 writes some arrays' there",
        "a:u32",
        "d:u32",
        """{
.param .b64 size;
.param .b64 p;
st.param.b64 [size], 12;
call (p), malloc, (size);
ld.param.b64 %p, [p];
}
st.u64 [%p+-8], 1;
st.u32 [%p], %a;
st.u32 [%p+8], %row;
bar.sync 0;
ld.u32 %d, [%p];
{
.param .b64 q;
st.param.b64 [q], %p;
call free, (q);
}""",
        [(n * 2654435761 & M32,) for n in range(64)],
        lambda a: a,
        module=HEAP,
        registers=".reg .b64 %p;",
    )
    yield Case(
        "call.malloc.too_much",
        "p = null for more than any heap holds; null may be freed",
        "",
        "p:pred",
        """{
.param .b64 size;
.param .b64 q;
st.param.b64 [size], 0x7fffffff0000;
call (q), malloc, (size);
ld.param.b64 %p_address, [q];
}
setp.eq.u64 %p, %p_address, 0;
{
.param .b64 q;
st.param.b64 [q], %p_address;
call free, (q);
}""",
        [()] * 32,
        lambda: 1,
        module=HEAP,
        registers=".reg .b64 %p_address;",
    )
