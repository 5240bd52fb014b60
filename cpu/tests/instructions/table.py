"""The .tsv table beside every kernel: columns, layout of a row in memory, and what counts as equal.

    # add.f32: d = a + b
    # in: a:f32 b:f32
    # out: d:f32
    # tolerance: d=nan-any
    0x3f800000	0x40000000	|	0x40400000
    0x7f800000	0xff800000	|	0x7fffffff	|	a note, or ~TOLERANCE for this row alone

A row is one thread. Its columns lie in memory in order, each aligned to its own size, and a row is padded to 16 bytes.
An expected `*` is not compared (the note says why); `?` has not been recorded yet and fails.

Tolerances: `exact` compares bits; `nan-any` compares bits but takes any NaN for a NaN; `ulp N`, `abs X` and `rel X` bound
the error of a float (X may be written 2^-20.5), NaNs and infinities as in nan-any.

Other header lines: `block: X Y Z`, `grid: X Y Z` (default: one block of as many threads as rows), `shared: BYTES` of
dynamic shared memory, `params: HEX...` further kernel parameters, `fill: 0x00` what output memory holds before (default
0xcd), `compute: 9.0` the capability needed, `launch-error: 719` the code that synchronising must return, and
`stdout: "text"` what the launch must print.
"""

import ast
import math
import struct

SIZES = {
    "pred": 4,
    "b8": 1,
    "u8": 1,
    "s8": 1,
    "b16": 2,
    "u16": 2,
    "s16": 2,
    "f16": 2,
    "bf16": 2,
    "b32": 4,
    "u32": 4,
    "s32": 4,
    "f32": 4,
    "f16x2": 4,
    "bf16x2": 4,
    "s16x2": 4,
    "u16x2": 4,
    "b64": 8,
    "u64": 8,
    "s64": 8,
    "f64": 8,
}
EXPONENT = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def parse_columns(text):
    return [tuple(item.split(":")) for item in text.split()]


def layout(columns):
    """Offsets of the columns in a row, and the row's size."""
    offsets, end = [], 0
    for _, type_name in columns:
        size = SIZES[type_name]
        end = (end + size - 1) // size * size
        offsets.append(end)
        end += size
    return offsets, max(16, (end + 15) // 16 * 16)


def hexadecimal(bits, type_name):
    return f"0x{bits:0{2 * SIZES[type_name]}x}"


class Row:
    """Input bits, expected cells (an int, "*" or "?"), and the note with the row's own tolerance if it has one."""

    def __init__(self, inputs, expected, note=""):
        self.inputs, self.expected, self.note = inputs, expected, note

    @property
    def tolerance(self):
        return self.note[1:].split(";")[0].strip() if self.note.startswith("~") else None


class Table:
    def __init__(self, title, headers, inputs, outputs, rows):
        self.title, self.headers, self.inputs, self.outputs, self.rows = title, headers, inputs, outputs, rows

    @classmethod
    def parse(cls, text):
        lines = text.splitlines()
        headers = dict(line[2:].split(": ", 1) for line in lines[1:] if line.startswith("# "))
        inputs, outputs = parse_columns(headers.get("in", "")), parse_columns(headers.get("out", ""))
        rows = []
        for line in lines:
            if line.startswith("#") or not line:
                continue
            parts = [part.split("\t") for part in ("\t" + line + "\t").split("\t|\t")]
            cells = [[cell for cell in part if cell] for part in parts]
            expected = [cell if cell in "*?" else int(cell, 16) for cell in cells[1]]
            row = Row(
                [int(cell, 16) for cell in cells[0]], expected, cells[2][0] if len(cells) > 2 and cells[2] else ""
            )
            if len(row.inputs) != len(inputs) or len(row.expected) != len(outputs):
                raise ValueError(f"row with the wrong number of columns: {line!r}")
            rows.append(row)
        return cls(lines[0][2:], headers, inputs, outputs, rows)

    def text(self):
        lines = [f"# {self.title}", *(f"# {key}: {value}" for key, value in self.headers.items())]
        for row in self.rows:
            inputs = [hexadecimal(bits, t) for bits, (_, t) in zip(row.inputs, self.inputs)]
            outputs = [c if isinstance(c, str) else hexadecimal(c, t) for c, (_, t) in zip(row.expected, self.outputs)]
            lines.append("\t".join([*inputs, "|", *outputs, *(["|", row.note] if row.note else [])]))
        return "\n".join(lines) + "\n"

    def dimensions(self, which):
        default = str(len(self.rows)) if which == "block" else "1"
        sizes = [int(n) for n in self.headers.get(which, default).split()]
        return (sizes + [1, 1])[:3]

    def tolerances(self):
        by_name = dict(item.split("=") for item in self.headers.get("tolerance", "").split(", ") if item)
        return [by_name.get(name, "exact") for name, _ in self.outputs]

    def stdout(self):
        return ast.literal_eval(self.headers["stdout"]) if "stdout" in self.headers else None

    def pack_inputs(self):
        offsets, size = layout(self.inputs)
        blob = bytearray(size * len(self.rows))
        for index, row in enumerate(self.rows):
            for offset, bits, (_, type_name) in zip(offsets, row.inputs, self.inputs):
                put = index * size + offset
                blob[put : put + SIZES[type_name]] = bits.to_bytes(SIZES[type_name], "little")
        return bytes(blob)

    def unpack_outputs(self, blob, fill):
        """Per row the output bits, and whether the bytes between the columns still hold `fill`."""
        offsets, size = layout(self.outputs)
        for index in range(len(self.rows)):
            row, untouched = bytearray(blob[index * size : (index + 1) * size]), True
            values = []
            for offset, (_, type_name) in zip(offsets, self.outputs):
                values.append(int.from_bytes(row[offset : offset + SIZES[type_name]], "little"))
                row[offset : offset + SIZES[type_name]] = bytes([fill]) * SIZES[type_name]
            untouched = row == bytes([fill]) * size
            yield values, untouched


def amount(text):
    if "^" in text:
        base, exponent = text.split("^")
        return float(base) ** float(exponent)
    return float(text)


def is_nan(bits, type_name):
    exponent, mantissa = EXPONENT[type_name]
    return (bits & ((1 << (exponent + mantissa)) - 1)) > (((1 << exponent) - 1) << mantissa)


def to_double(bits, type_name):
    if type_name == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if type_name == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits << 16 if type_name == "bf16" else bits))[0]


def ordinal(bits, type_name):
    sign = 1 << (8 * SIZES[type_name] - 1)
    return -(bits & ~sign) if bits & sign else bits


def error(got, expected, type_name, tolerance):
    """How far `got` is from `expected` in units of what is allowed: 0 equal, up to 1 acceptable, above 1 wrong."""
    if got == expected:
        return 0.0
    if type_name.endswith("x2") and tolerance != "exact":
        half = type_name[:-2]
        return max(
            error(got & 0xFFFF, expected & 0xFFFF, half, tolerance), error(got >> 16, expected >> 16, half, tolerance)
        )
    if tolerance == "exact":
        return math.inf
    if is_nan(got, type_name) or is_nan(expected, type_name):
        return 0.0 if is_nan(got, type_name) and is_nan(expected, type_name) else math.inf
    if tolerance == "nan-any":
        return math.inf
    kind, text = tolerance.split()
    if kind == "ulp":
        return abs(ordinal(got, type_name) - ordinal(expected, type_name)) / amount(text)
    a, b = to_double(got, type_name), to_double(expected, type_name)
    if math.isinf(a) or math.isinf(b) or (kind == "rel" and b == 0):
        return math.inf
    return abs(a - b) / (amount(text) * (abs(b) if kind == "rel" else 1.0))
