"""Cubins that are linked already, as inputs of a Linker."""

import pytest
from test_linker import compiled, doubled, linked

import cucore as core


def test_a_cubin_that_is_linked_already_is_its_own_link(stream, pinned):
    whole = compiled(
        'extern "C" __global__ void k(int* p) { *p = 42; }', "cubin", "whole", relocatable_device_code=False
    )
    code = linked(whole, name="again")
    assert (code.name, code.code, code.ptx) == ("again", whole.code, whole.ptx)
    assert doubled(code, stream, pinned) == 42
    assert linked(whole, embed_ptx=False).ptx is None
    with pytest.raises(core.NvJitLinkError, match="kernel 'k' of input 'whole'.* is not in the result") as failure:
        linked(whole, compiled("__device__ int other;", "cubin", "other"))
    assert "relocatable_device_code" in failure.value.hint
