"""Kernels with one planted floating-point exception each, and the same kernels on harmless numbers: what the CPU
device's checker of numbers (`CUCORE_CPU_CHECK=fp`) must find, and that it says nothing of the twins.

    python planted_numbers.py bad|clean NAME ...   runs them, saying `#### NAME` on stderr before each
    python planted_numbers.py table                counts what is found on its line, and false alarms, by type and form

Each is one instruction of PTX between loads and a store. In `bad` one of the 64 threads gets the numbers that make the
exception, in `clean` none does.
"""

import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass

THREADS = 64
BAD_THREAD = 37
SLOTS = 16  # of eight bytes for each thread: operands from 0 on, results from 12 on

INF = float("inf")
NAN = float("nan")
FORMATS = {"f16": "e", "f32": "f", "f64": "d"}


def bits(kind, value):
    """A number, or a pair of packed ones, as an integer."""
    if isinstance(value, tuple):
        width = 32 if kind == "f32x2" else 16
        return bits(kind[:-2], value[0]) | bits(kind[:-2], value[1]) << width
    if kind in ("bf16", "bf16x2"):
        return int.from_bytes(struct.pack("<f", value), "little") >> 16
    if kind in FORMATS:
        return int.from_bytes(struct.pack("<" + FORMATS[kind], value), "little")
    return value & (1 << 64) - 1


@dataclass(frozen=True)
class Planted:
    """`code` computes %d from %a, %b and %c, whose kinds of numbers are `kinds` (the result first)."""

    name: str
    code: str
    kinds: str
    bad: tuple
    clean: tuple
    found: str
    says: str = ""  # in the report

    @property
    def ptx(self):
        return kernel(self)


SIZES = {"f16": 16, "bf16": 16, "f64": 64, "s64": 64, "u64": 64, "f32x2": 64, "e4m3x2": 16, "e5m2x2": 16}


def kernel(planted):
    kinds = planted.kinds.split()
    kinds = [kinds[0]] + (kinds[1:] or kinds[:1]) * (3 if len(kinds) < 3 else 1)
    sizes = [SIZES.get(kind, 32) for kind in kinds]
    names = "dabc"
    lines = [f".visible .entry {planted.name}(.param .u64 p)", "{"]
    lines += [f"  .reg .b{size} %{name};" for name, size in zip(names, sizes, strict=False)]
    lines += ["  .reg .b64 %p, %o;", "  .reg .b32 %t;", "  .reg .pred %q;"]
    lines += ["  ld.param.u64 %p, [p];", "  mov.u32 %t, %tid.x;", f"  mul.wide.u32 %o, %t, {8 * SLOTS};"]
    lines += ["  add.s64 %p, %p, %o;"]
    for at, (name, size) in enumerate(list(zip(names, sizes, strict=False))[1:]):
        lines.append(f"  ld.global.b{size} %{name}, [%p+{8 * at}];")
    lines += [f"  {planted.code}  // planted"]
    lines += [f"  st.global.b{sizes[0]} [%p+96], %d;", "  ret;", "}"]
    return "\n".join(lines)


def module(planted):
    """The PTX of several kernels."""
    return "\n".join([".version 8.6", ".target sm_90a", ".address_size 64", *[each.ptx for each in planted]]) + "\n"


def line_of(name, ptx):
    """The line of the planted instruction."""
    inside = False
    for number, text in enumerate(ptx.splitlines(), 1):
        if ".entry " in text:
            inside = f" {name}(" in text
        if inside and "// planted" in text:
            return number
    raise LookupError(name)


def number(planted, bad):
    """What each thread gets."""
    kinds = planted.kinds.split()
    kinds = kinds[1:] or kinds
    data = bytearray(8 * SLOTS * THREADS)
    for thread in range(THREADS):
        values = planted.bad if bad and thread == BAD_THREAD else planted.clean
        for at, value in enumerate(values):
            kind = kinds[min(at, len(kinds) - 1)]
            struct.pack_into("<Q", data, 8 * (SLOTS * thread + at), bits(kind, value))
    return data


NAN_MADE, OVERFLOW, BY_ZERO = "NaN made", "Overflow to infinity", "Division by zero"
SUBNORMAL, ZERO, CANCELLED = "Underflow to a subnormal number", "Underflow to zero", "Catastrophic cancellation"
NEXT = 1.0000001192092896  # after 1 in f32


def of_type(kind, most, least, close):
    """Each operation and each exception of a type of scalars. `most`, `least`: near the ends of its range."""
    r = "" if kind in ("f16", "bf16") else ".rn"
    rows = [
        Planted(f"add_overflow_{kind}", f"add{r}.{kind} %d, %a, %b;", kind, (most, most), (1.5, 2.5), OVERFLOW),
        Planted(
            f"add_nan_{kind}", f"add{r}.{kind} %d, %a, %b;", kind, (INF, -INF), (1.5, 2.5), NAN_MADE, "inf + (-inf)"
        ),
        Planted(f"sub_nan_{kind}", f"sub{r}.{kind} %d, %a, %b;", kind, (INF, INF), (5.5, 2.5), NAN_MADE, "inf - inf"),
        Planted(f"sub_cancels_{kind}", f"sub{r}.{kind} %d, %a, %b;", kind, close, (5.5, 2.25), CANCELLED),
        Planted(f"mul_overflow_{kind}", f"mul{r}.{kind} %d, %a, %b;", kind, (most, most), (1.5, 0.0), OVERFLOW),
        Planted(f"mul_nan_{kind}", f"mul{r}.{kind} %d, %a, %b;", kind, (INF, 0.0), (1.5, 0.0), NAN_MADE, "inf * 0"),
        Planted(f"mul_subnormal_{kind}", f"mul{r}.{kind} %d, %a, %b;", kind, (least, 0.25), (1.5, 2.5), SUBNORMAL),
        Planted(f"mul_zero_{kind}", f"mul{r}.{kind} %d, %a, %b;", kind, (least, least), (0.0, 2.5), ZERO),
        Planted(
            f"fma_overflow_{kind}", f"fma.rn.{kind} %d, %a, %b, %c;", kind, (most, most, 1.0), (1.5, 2.5, 1.0), OVERFLOW
        ),
        Planted(
            f"fma_nan_{kind}", f"fma.rn.{kind} %d, %a, %b, %c;", kind, (most, INF, -INF), (1.5, 2.5, 0.0), NAN_MADE
        ),
    ]
    if kind in ("f32", "f64"):
        rows += [
            Planted(
                f"div_zero_{kind}", f"div.rn.{kind} %d, %a, %b;", kind, (3.0, 0.0), (1.5, 2.5), BY_ZERO, "3 / 0 = inf"
            ),
            Planted(f"div_nan_{kind}", f"div.rn.{kind} %d, %a, %b;", kind, (0.0, 0.0), (1.5, 2.5), NAN_MADE, "0 / 0"),
            Planted(f"div_overflow_{kind}", f"div.rn.{kind} %d, %a, %b;", kind, (most, 0.25), (1.5, INF), OVERFLOW),
            Planted(f"div_subnormal_{kind}", f"div.rn.{kind} %d, %a, %b;", kind, (least, 4.0), (1.5, 4.0), SUBNORMAL),
            Planted(f"rcp_zero_{kind}", f"rcp.rn.{kind} %d, %a;", kind, (0.0,), (1.5,), BY_ZERO),
            Planted(f"sqrt_nan_{kind}", f"sqrt.rn.{kind} %d, %a;", kind, (-2.0,), (2.0,), NAN_MADE, "sqrt(-2)"),
        ]
    return rows


def table():
    rows = of_type("f32", 3e38, 1.5e-38, (NEXT * 3, 3.0))
    rows += of_type("f64", 1e308, 3e-308, (1.1, 1.1 - 2.3e-16))
    rows += of_type("f16", 6e4, 7e-5, (1.099609375, 1.0986328125))
    rows += of_type("bf16", 3e38, 1.5e-38, (1.1015625, 1.09375))
    for kind, most, least in (("f16x2", 6e4, 7e-5), ("bf16x2", 3e38, 1.5e-38), ("f32x2", 3e38, 1.5e-38)):
        for half, pair in (("low", lambda bad, good: (bad, good)), ("high", lambda bad, good: (good, bad))):
            r = ".rn" if kind == "f32x2" else ""
            if kind == "f32x2":
                continue  # of sm_100
            rows += [
                Planted(
                    f"mul_overflow_{kind}_{half}",
                    f"mul{r}.{kind} %d, %a, %b;",
                    kind,
                    (pair(most, 1.0), pair(most, 1.0)),
                    ((1.5, 2.0), (1.0, 3.0)),
                    OVERFLOW,
                ),
                Planted(
                    f"mul_subnormal_{kind}_{half}",
                    f"mul{r}.{kind} %d, %a, %b;",
                    kind,
                    (pair(least, 1.0), pair(0.25, 1.0)),
                    ((1.5, 0.0), (0.0, 3.0)),
                    SUBNORMAL,
                ),
                Planted(
                    f"fma_nan_{kind}_{half}",
                    f"fma.rn.{kind} %d, %a, %b, %c;",
                    kind,
                    (pair(INF, 1.0), pair(0.0, 1.0), (1.0, 1.0)),
                    ((1.5, 2.0), (1.0, 3.0), (1.0, 1.0)),
                    NAN_MADE,
                ),
            ]
    approximate = [
        ("div.approx.f32 %d, %a, %b;", (3.0, 0.0), (3.0, 2.0), BY_ZERO),
        ("div.full.f32 %d, %a, %b;", (0.0, 0.0), (3.0, 2.0), NAN_MADE),
        ("rcp.approx.ftz.f32 %d, %a;", (0.0,), (2.0,), BY_ZERO),
        ("rcp.approx.ftz.f32 %d, %a;", (1e-39,), (2.0,), BY_ZERO),
        ("rcp.approx.ftz.f32 %d, %a;", (3e38,), (2.0,), ZERO),
        ("rcp.approx.f32 %d, %a;", (2e38,), (INF,), SUBNORMAL),
        ("sqrt.approx.f32 %d, %a;", (-1.0,), (2.0,), NAN_MADE),
        ("rsqrt.approx.f32 %d, %a;", (0.0,), (2.0,), BY_ZERO),
        ("rsqrt.approx.f32 %d, %a;", (-1.0,), (2.0,), NAN_MADE),
        ("ex2.approx.f32 %d, %a;", (130.0,), (3.0,), OVERFLOW),
        ("ex2.approx.f32 %d, %a;", (-130.0,), (-INF,), SUBNORMAL),
        ("ex2.approx.ftz.f32 %d, %a;", (-130.0,), (-3.0,), ZERO),
        ("lg2.approx.f32 %d, %a;", (0.0,), (1.0,), "Logarithm of zero"),
        ("lg2.approx.f32 %d, %a;", (-1.0,), (2.0,), NAN_MADE),
        ("sin.approx.f32 %d, %a;", (INF,), (0.0,), NAN_MADE),
        ("cos.approx.f32 %d, %a;", (INF,), (2.0,), NAN_MADE),
        ("tanh.approx.f32 %d, %a;", (1e-39,), (0.0,), ""),
        ("mul.ftz.f32 %d, %a, %b;", (1.5e-38, 0.25), (0.0, 0.25), ZERO),
        ("add.ftz.f32 %d, %a, %b;", (1.5e-38, -1.2e-38), (1.5, -1.5), ZERO),
        ("fma.rn.ftz.f32 %d, %a, %b, %c;", (1.5e-38, 0.25, 0.0), (1.5, 2.0, -3.0), ZERO),
    ]
    for number_of_row, (code, bad, clean, found) in enumerate(approximate):
        name = code.split(" ")[0].replace(".", "_")
        if found:
            rows.append(Planted(f"{name}_{number_of_row}", code, "f32", bad, clean, found))
    rows += [
        Planted("ex2_f16", "ex2.approx.f16 %d, %a;", "f16", (17.0,), (3.0,), OVERFLOW),
        Planted("ex2_bf16x2", "ex2.approx.ftz.bf16x2 %d, %a;", "bf16x2", ((1.0, 200.0),), ((1.0, 2.0),), OVERFLOW),
        Planted("cvt_overflow_f16", "cvt.rn.f16.f32 %d, %a;", "f16 f32", (1e5,), (1e4,), OVERFLOW, "100000 became inf"),
        Planted("cvt_subnormal_f16", "cvt.rn.f16.f32 %d, %a;", "f16 f32", (1e-6,), (0.0,), SUBNORMAL),
        Planted("cvt_zero_f16", "cvt.rn.f16.f32 %d, %a;", "f16 f32", (1e-9,), (0.5,), ZERO),
        Planted("cvt_overflow_bf16", "cvt.rn.bf16.f32 %d, %a;", "bf16 f32", (3.4e38,), (1e38,), OVERFLOW),
        Planted("cvt_overflow_f32", "cvt.rn.f32.f64 %d, %a;", "f32 f64", (1e39,), (1e38,), OVERFLOW),
        Planted("cvt_subnormal_f32", "cvt.rn.f32.f64 %d, %a;", "f32 f64", (1e-40,), (0.0,), SUBNORMAL),
        Planted("cvt_zero_f32", "cvt.rn.f32.f64 %d, %a;", "f32 f64", (1e-60,), (1.0,), ZERO),
        Planted("cvt_tf32", "cvt.rna.tf32.f32 %d, %a;", "f32 f32", (3.402e38,), (1.0,), OVERFLOW),
        Planted("cvt_int_f16", "cvt.rn.f16.s32 %d, %a;", "f16 s32", (-100000,), (-1000,), OVERFLOW),
        Planted("cvt_f16x2", "cvt.rn.f16x2.f32 %d, %a, %b;", "f16x2 f32", (1.0, 1e5), (1.0, 0.0), OVERFLOW),
        Planted("cvt_bf16x2", "cvt.rn.bf16x2.f32 %d, %a, %b;", "bf16x2 f32", (3.4e38, 1.0), (1.0, 0.0), OVERFLOW),
        Planted(
            "cvt_e4m3_most",
            "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
            "e4m3x2 f32",
            (1.0, 1000.0),
            (0.0, 448.0),
            "Overflow to the largest",
        ),
        Planted(
            "cvt_e4m3_least", "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", "e4m3x2 f32", (1e-4, 1.0), (0.5, 1.0), ZERO
        ),
        Planted(
            "cvt_e4m3_subnormal",
            "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
            "e4m3x2 f32",
            (0.01, 1.0),
            (0.5, 1.0),
            SUBNORMAL,
        ),
        Planted(
            "cvt_e5m2_most",
            "cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;",
            "e5m2x2 f32",
            (1e5, 1.0),
            (0.0, 57344.0),
            "Overflow to the largest",
        ),
        Planted(
            "cvt_e4m3_halves",
            "cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;",
            "e4m3x2 f16x2",
            ((1.0, 1000.0),),
            ((0.0, 448.0),),
            "Overflow to the largest",
        ),
        Planted(
            "fma_cancels",
            "{ .reg .b32 %m, %n; mul.rn.f32 %m, %a, %c; neg.f32 %n, %m;\n  fma.rn.f32 %d, %a, %b, %n; }",
            "f32",
            (1.1, 1.3, 1.3000001),
            (1.1, 1.3, 0.5),
            CANCELLED,
        ),
        Planted(
            "guarded", "setp.gt.f32 %q, %a, 0f00000000;\n  @!%q sqrt.rn.f32 %d, %a;", "f32", (-2.0,), (2.0,), NAN_MADE
        ),
        Planted(
            "chosen",
            "{ .reg .b32 %m; rcp.rn.f32 %m, %a; setp.gt.f32 %q, %b, 0f00000000; selp.f32 %d, %m, %b, %q; }",
            "f32",
            (0.0, 1.0),
            (0.0, -1.0),
            BY_ZERO,
        ),
    ]
    return rows


PLANTED = table()


def main(what, *names):
    import cucore

    chosen = [planted for planted in PLANTED if not names or planted.name in names]
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    code = cucore.ObjectCode.from_ptx(module(chosen).encode())
    buffer = device.allocate(8 * SLOTS * THREADS, stream=stream)
    import ctypes

    host = cucore.LegacyPinnedMemoryResource().allocate(8 * SLOTS * THREADS)
    for planted in chosen:
        data = bytes(number(planted, what == "bad"))
        ctypes.memmove(int(host.handle), data, len(data))
        host.copy_to(buffer, stream=stream)
        stream.sync()
        print(f"#### {planted.name}", file=sys.stderr, flush=True)
        config = cucore.LaunchConfig(grid=1, block=THREADS)
        cucore.launch(stream, config, code.get_kernel(planted.name), buffer)
        stream.sync()


REPORT = re.compile(
    r"^========= ([A-Z].*)\n=========     in kernel (.+?) at .*?PTX line (\d+).*\n((?:=========  .*\n)*)", re.M
)


def reports(said):
    """By kernel: headline, line, and what is said under it."""
    found = {}
    for headline, kernel_name, line, rest in REPORT.findall(said):
        found.setdefault(kernel_name.split("(")[0], []).append((headline, int(line), rest))
    return found


def checked(what, form):
    """What is said of all kernels."""
    done = subprocess.run(
        [sys.executable, __file__, what],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "CUCORE_CPU_CHECK": "fp", "CUCORE_CPU_CHECK_LIMIT": "1000", "CUCORE_CPU_FORM": form},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def write_table():
    ptx = module(PLANTED)
    kinds = sorted({planted.kinds.split()[0] for planted in PLANTED})
    forms = ("scalar", "vector", "masked")
    print(f"{'result':<10}{'planted':>9}" + "".join(f"{form + ': found':>16}{'false alarms':>14}" for form in forms))
    said = {form: (reports(checked("bad", form)), reports(checked("clean", form))) for form in forms}
    for kind in [*kinds, "all"]:
        chosen = [planted for planted in PLANTED if kind in ("all", planted.kinds.split()[0])]
        row = f"{kind:<10}{len(chosen):>9}"
        for form in forms:
            bad, clean = said[form]
            hits = [
                [(each[0][: len(planted.found)], each[1]) for each in bad.get(planted.name, [])]
                == [(planted.found, line_of(planted.name, ptx))]
                for planted in chosen
            ]
            row += f"{sum(hits):>16}{sum(planted.name in clean for planted in chosen):>14}"
        print(row)


if __name__ == "__main__":
    write_table() if sys.argv[1:] == ["table"] else main(*sys.argv[1:])
