"""The catalogue of errors has every class of error, and the list of hints every hint that an error is found to have."""

import ast
import re
import sys

import pytest
from snippets import ROOT

import cucore
import cucore.system

sys.path.insert(0, str(ROOT / "tools"))
import make_hints

ERRORS = (ROOT / "docs/reference/errors.md").read_text()
HINTS = (ROOT / "docs/reference/hints.md").read_text()


def test_every_class_is_in_the_catalogue():
    in_cpp = re.findall(r"class CUCORE_API (\w+) : public", (ROOT / "include/cucore/error.hpp").read_text())
    in_python = [name for name in cucore.__all__ if name.endswith(("Error", "Errors", "Warning"))]
    assert len(in_cpp) > 10 and len(in_python) > 10
    for name in {*in_cpp, *in_python} - {"Error"}:
        assert f"`{name}`" in ERRORS or f"`cucore.{name}`" in ERRORS, name
    for name in cucore.system.exceptions.__all__:
        assert f"`{name}`" in HINTS + ERRORS or f"`cucore.system.{name}`" in ERRORS, name


def test_every_literal_hint_of_the_source_is_in_the_list():
    """Found in a simpler way than the list is made: literals after `.hint =`."""
    listed = HINTS.replace("\\", "")
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        for texts in re.findall(r'\.hint =\s*((?:"(?:\\.|[^"\\])*"\s*)+)[,}]', path.read_text()):
            hint = "".join(ast.literal_eval(text) for text in re.findall(r'"(?:\\.|[^"\\])*"', texts))
            assert " ".join(hint.split()) in listed, f"{path}: {hint}"


def is_listed(hint):
    """Whether a row of the list is this hint, with something for each ellipsis."""
    cells = [
        row.split(" | ")[-1].removesuffix(" |").replace("\\", "") for row in HINTS.splitlines() if row.startswith("|")
    ]
    return any(re.fullmatch(".*".join(map(re.escape, cell.split("…"))), hint, re.DOTALL) for cell in cells)


@pytest.mark.parametrize(
    "fails",
    [
        lambda device, stream: device.allocate(1 << 50, stream=stream),
        lambda device, stream: cucore.Program("__global__ void f() { g(); }", "c++").compile("cubin"),
        lambda device, stream: cucore.Program("", "c++", {"arch": "compute_90"}).compile("cubin"),
        lambda device, stream: stream.record() - stream.record(),
        lambda device, stream: cucore.compile_cubin("__global__ void f() {}").get_kernel("g"),
        lambda device, stream: cucore.graph.GraphDefinition().callback(None),
        lambda device, stream: cucore.system.Device(index=0).get_fan(0).speed,
    ],
)
def test_the_hint_of_an_error_is_in_the_list(fails):
    device = cucore.Device()
    device.set_current()
    with pytest.raises(Exception) as raised:
        fails(device, device.create_stream())
    hint = getattr(raised.value, "hint", "")
    assert not hint or is_listed(hint), hint


def test_the_list_is_made_of_conditionals_and_sums_too(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text(
        'void f() { throw ValueError({.call = "f", .message = "n is " + std::to_string(n), '
        '.hint = n > 1 ? "use " + limit + " at most" : "one is " "enough"}); }\n'
        'std::string hint_for(Result r) { switch (r) { case Result::bad: return "mend it now"; default: return {}; } }'
    )
    assert list(make_hints.rows_of(source)) == [
        ("ValueError", "n is …", "use … at most"),
        ("ValueError", "n is …", "one is enough"),
        ("", "bad", "mend it now"),
    ]
