"""A case (one instruction, its rows and the model that gives the expected values) and the PTX text made from it."""

from table import SIZES, Row, Table, layout, parse_columns

from reference.values import WIDTH, is_float

REGISTER = {1: ".b16", 2: ".b16", 4: ".b32", 8: ".b64"}


def register_type(type_name):
    if type_name == "pred":
        return ".pred"
    return "." + type_name if type_name in ("f32", "f64") else REGISTER[SIZES[type_name]]


def memory_type(type_name):
    if type_name == "pred":
        return "u32"
    return type_name if type_name in ("f32", "f64") else {1: "u8", 2: "b16", 4: "b32", 8: "b64"}[SIZES[type_name]]


def packed_float(type_name):
    return type_name in ("f16x2", "bf16x2")


class Case:
    """One kernel and its table.

    `model` maps one row of input bits to the expected outputs (an int, or a tuple; "*" for don't care); `model_all` maps all
    rows at once, for instructions that see other threads. `body` is PTX over registers named after the columns (%a, %d).
    """

    def __init__(
        self,
        name,
        says,
        inputs,
        outputs,
        body,
        rows,
        model=None,
        *,
        model_all=None,
        version="7.1",
        target="sm_80",
        tolerance=None,
        module="",
        registers="",
        parameters="",
        directives="",
        notes=None,
        block=None,
        grid=None,
        whole=None,
        headers=None,
        family=None,
    ):
        self.name, self.says = name, says
        self.family = family or name.split(".")[0]
        self.inputs, self.outputs = parse_columns(inputs), parse_columns(outputs)
        self.body, self.module, self.registers, self.parameters = body, module, registers, parameters
        self.directives = directives
        self.version, self.target, self.whole = version, target, whole
        self.block, self.grid = block, grid
        self.headers = headers or {}
        self.tolerance = tolerance
        self.model = model
        self.rows = [tuple(row) for row in rows]
        expected = model_all(self.rows) if model_all else [model(*row) for row in self.rows]
        self.expected = [value if isinstance(value, tuple) else (value,) for value in expected]
        self.notes = [notes(*row) or "" if notes else "" for row in self.rows]

    @property
    def path(self):
        return f"{self.family}/{self.name}"

    def table(self):
        headers = {"in": columns_text(self.inputs), "out": columns_text(self.outputs)}
        loose = [f"{n}={self.tolerance or 'nan-any'}" for n, t in self.outputs if is_float(t) or packed_float(t)]
        if loose:
            headers["tolerance"] = ", ".join(loose)
        if self.block:
            headers["block"] = self.block
        if self.grid:
            headers["grid"] = self.grid
        if self.target != "sm_80":
            digits = self.target.strip("sm_a")
            headers["compute"] = f"{digits[:-1]}.{digits[-1]}"
        headers.update(self.headers)
        rows = [Row(list(i), list(e), n) for i, e, n in zip(self.rows, self.expected, self.notes)]
        for row in rows:
            for bits, (_, type_name) in zip(row.inputs, self.inputs):
                assert 0 <= bits < 1 << WIDTH[type_name], (self.name, hex(bits), type_name)
        return Table(
            f"{self.name}: {self.says}", {k: v for k, v in headers.items() if v != ""}, self.inputs, self.outputs, rows
        )

    def ptx(self):
        lines = [
            f"// {self.name}: {self.says}",
            f".version {self.version}",
            f".target {self.target}",
            *([".address_size 64"] if float(self.version) >= 2.3 else []),
            "",
        ]
        lines += [*self.module.strip("\n").splitlines(), ""] if self.module else []
        if self.whole:
            return "\n".join(lines) + "\n" + self.whole.strip("\n") + "\n"
        entry = f".visible .entry test(.param .u64 in, .param .u64 out{self.parameters}) {self.directives}"
        lines += [entry.rstrip(), "{"]
        lines += ["\t" + line if line else "" for line in [*self.declarations(), "", *self.prologue(), ""]]
        lines += [
            "\t" + line if line.strip() and not line.endswith(":") else line
            for line in self.body.strip("\n").splitlines()
        ]
        lines += ["\t" + line for line in [*self.stores(), "ret;"]]
        return "\n".join(lines) + "\n}\n"

    def declarations(self):
        out = [".reg .b64 %in, %out;", ".reg .b32 %row;"]
        by_type = {}
        for name, type_name in self.inputs + self.outputs:
            by_type.setdefault(register_type(type_name), []).append("%" + name)
            if type_name == "pred":
                by_type.setdefault(".b32", []).append(f"%{name}_word")
        out += [f".reg {kind} {', '.join(dict.fromkeys(names))};" for kind, names in by_type.items()]
        return out + [line.strip() for line in self.registers.strip().splitlines()]

    def prologue(self):
        out = ["ld.param.u64 %in, [in];"] if self.inputs else []
        out += ["ld.param.u64 %out, [out];", "mov.u32 %row, %tid.x;"]
        if self.grid or (self.block and len(self.block.split()) > 1):
            out += linear_row(self.grid, self.block)
        offsets, size = layout(self.inputs)
        if self.inputs:
            out.append(f"mad.wide.u32 %in, %row, {size}, %in;")
        out.append(f"mad.wide.u32 %out, %row, {layout(self.outputs)[1]}, %out;")
        for offset, (name, type_name) in zip(offsets, self.inputs):
            register = f"%{name}_word" if type_name == "pred" else f"%{name}"
            out.append(f"ld.global.{memory_type(type_name)} {register}, [%in{place(offset)}];")
            if type_name == "pred":
                out.append(f"setp.ne.s32 %{name}, %{name}_word, 0;")
        return out

    def stores(self):
        out = []
        for offset, (name, type_name) in zip(layout(self.outputs)[0], self.outputs):
            if type_name == "pred":
                out.append(f"selp.b32 %{name}_word, 1, 0, %{name};")
            register = f"%{name}_word" if type_name == "pred" else f"%{name}"
            out.append(f"st.global.{memory_type(type_name)} [%out{place(offset)}], {register};")
        return out


def columns_text(columns):
    return " ".join(f"{name}:{type_name}" for name, type_name in columns)


def place(offset):
    return f"+{offset}" if offset else ""


def linear_row(grid, block):
    """Instructions that turn %row from %tid.x into the linear index of the thread in the whole launch."""
    out = [".reg .b32 %part, %size;"]
    if len((block or "1").split()) > 1:
        out += ["mov.u32 %part, %tid.y;", "mov.u32 %size, %ntid.x;", "mad.lo.s32 %row, %part, %size, %row;"]
        out += [
            "mov.u32 %part, %tid.z;",
            "mov.u32 %size, %ntid.y;",
            "mul.lo.s32 %part, %part, %size;",
            "mov.u32 %size, %ntid.x;",
            "mad.lo.s32 %row, %part, %size, %row;",
        ]
    if grid:
        threads = 1
        for n in (block or "1").split():
            threads *= int(n)
        out += ["mov.u32 %part, %ctaid.x;"]
        if len(grid.split()) > 1:
            out += [
                "mov.u32 %size, %ctaid.y;",
                ".reg .b32 %width;",
                "mov.u32 %width, %nctaid.x;",
                "mad.lo.s32 %part, %size, %width, %part;",
                "mov.u32 %size, %ctaid.z;",
                "mul.lo.s32 %size, %size, %width;",
                "mov.u32 %width, %nctaid.y;",
                "mad.lo.s32 %part, %size, %width, %part;",
            ]
        out += [f"mad.lo.s32 %row, %part, {threads}, %row;"]
    return out
