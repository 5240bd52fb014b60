"""The keys of program caches: what enters them, and what cannot be keyed. Needs no driver."""

import pytest
from conftest import run_python
from test_caches import ARCH, TEMPLATE

import cucore
from cucore import utils


def test_equivalent_options_have_one_key_and_names_as_bytes_are_others():
    def key(**options):
        names = options.pop("names", ())
        target = options.pop("target", "ptx")
        return utils.make_program_cache_key(
            code=TEMPLATE, code_type="c++", options={**ARCH, **options}, target_type=target, name_expressions=names
        )

    assert key() == key(debug=False) == key(target="PTX") == key(ptxas_options=[])
    assert key(ptxas_options="-v") == key(ptxas_options=["-v"]) != key()
    assert key(names=["a", b"b"]) == key(names=(b"b", "a")) and key(names=["a", "b"]) == key(names=iter("ba"))
    assert key(names="ab") == key(names=["ab"]) != key(names=["a", "b"])
    assert len({key(names=names) for names in (["a", "b"], ["a", b"b"], [b"a", "b"], [b"a", b"b"])}) == 4
    assert len({key(), key(fma=True), key(fma=False), key(target="cubin"), key(names=["a"])}) == 5
    assert len(key()) == 32


def test_keys_of_ptx_ignore_what_only_the_cxx_compiler_has():
    def key(**options):
        return utils.make_program_cache_key(
            code=".version 8.0", code_type="ptx", options={**ARCH, **options}, target_type="cubin"
        )

    assert key() == key(std="c++17", restrict=True) != key(max_register_count=32)


def test_a_key_is_the_same_in_another_process():
    program = """
        from cucore.utils import make_program_cache_key as key
        print(key(code="int x;", code_type="c++", options={"arch": "sm_80"}, target_type="ptx").hex())
        """
    assert len({run_python(program, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"code_type": "fortran"}, ValueError),
        ({"target_type": "exe"}, ValueError),
        ({"code": b"bytes"}, TypeError),
        ({"options": {**ARCH, "create_pch": "a"}}, ValueError),
        ({"options": {**ARCH, "time": "a.csv"}, "extra_digest": b"x"}, ValueError),
        ({"options": {**ARCH, "include_path": "a"}}, ValueError),
        ({"options": {**ARCH, "name": "dir/file"}}, ValueError),
        ({"name_expressions": [bytearray(b"x")]}, TypeError),
    ],
)
def test_keys_refuse_what_they_cannot_cover(change, expected):
    arguments = {"code": "", "code_type": "c++", "options": ARCH, "target_type": "ptx", **change}
    with pytest.raises(expected):
        utils.make_program_cache_key(**arguments)


@pytest.mark.parametrize("how", ["computed include", "option"])
def test_an_extra_digest_stands_for_files_and_for_nothing_else(how):
    def key(source="", target="cubin", extra=b"x", **options):
        if how == "computed include":
            source = f'#define H "a.h"\n#include H\n{source}'
        else:
            options["pch"] = True
        return utils.make_program_cache_key(
            code=source, code_type="c++", options={**ARCH, **options}, target_type=target, extra_digest=extra
        )

    assert key() == key()
    others = [key(arch="sm_90"), key(use_fast_math=True), key(name="other"), key("int x;"), key(target="ptx")]
    assert len({key(), key(extra=b"y"), *others}) == 7
    assert key(extra=bytearray(b"x")) == key(extra=[ord("x")]) == key()
    for digest in ("x", 1.5, object()):
        with pytest.raises(TypeError, match="extra_digest must be bytes"):
            key(extra=digest)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code_type": "fortran"}, "not a valid SourceCodeType"),
        ({"code_type": "ptx", "target_type": "ltoir"}, "ltoir"),
        ({"code_type": "nvvm", "target_type": "cubin"}, "cubin"),
        ({"options": {**ARCH, "create_pch": "a"}, "extra_digest": b"x"}, "create_pch"),
        ({"options": {**ARCH, "fdevice_time_trace": "a"}, "extra_digest": b"x"}, "fdevice_time_trace"),
        ({"options": {**ARCH, "pre_include": ["a"]}}, "extra_digest"),
        ({"options": {**ARCH, "pch": True}}, "extra_digest"),
        ({"options": {**ARCH, "use_pch": "a"}}, "extra_digest"),
        ({"options": {**ARCH, "pch_dir": "a"}}, "extra_digest"),
        ({"options": {**ARCH, "name": "dir\\file"}}, "directory component"),
        ({"options": {**ARCH, "extra_sources": [("a", "b")]}}, "extra_sources"),
        ({"code_type": "ptx", "target_type": "cubin", "options": {"extra_sources": [("a", "b")]}}, "extra_sources"),
        ({"code_type": "nvvm", "options": {**ARCH, "use_libdevice": True}}, "libdevice"),
    ],
)
def test_refusals_of_keys_say_what_cannot_be_covered(change, words):
    arguments = {"code": "", "code_type": "c++", "options": ARCH, "target_type": "ptx", **change}
    with pytest.raises(ValueError, match=words):
        utils.make_program_cache_key(**arguments)


def test_a_header_in_the_current_directory_is_in_the_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def key():
        return utils.make_program_cache_key(code='#include "here.h"', code_type="c++", options=ARCH, target_type="ptx")

    keys = [key()]
    for text in ("int a;", "int b;"):
        (tmp_path / "here.h").write_text(text)
        keys.append(key())
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("target", "options", "expected"),
    [("ltoir", {}, "misses"), ("cubin", {"lineinfo": True, "name": "k.cu"}, "misses"), ("cubin", {}, "hits")],
)
def test_code_that_names_the_current_directory_is_keyed_by_it(target, options, expected, tmp_path, monkeypatch):
    cache = cucore.ProgramCache(tmp_path / "cache")
    codes = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        program = cucore.Program("__global__ void k() {}", "c++", {"arch": "sm_80", **options})
        codes.append(program.compile(target, cache=cache).code)
    assert getattr(cache.stats, expected) == {"misses": 2, "hits": 1}[expected]
    assert (codes[0] == codes[1]) == (expected == "hits")


def test_extra_digest_enters_the_key():
    arguments = {"code": "int x;", "code_type": "C++", "options": {**ARCH, "include_path": "a"}, "target_type": "PTX"}
    one = utils.make_program_cache_key(**arguments, extra_digest=b"1")
    assert one == utils.make_program_cache_key(**arguments, extra_digest=b"1")
    assert one != utils.make_program_cache_key(**arguments, extra_digest=b"2")
