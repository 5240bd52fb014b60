"""Handles: ints, and where a program has cuda.bindings, instances of its types that compare with its objects."""

import copy
import ctypes
import enum
import pickle
import sys
import types

import pytest

from cucore import graph


@pytest.fixture
def bindings(monkeypatch):
    """A module in the place of cuda.bindings.driver, with a class of streams as that has it."""

    class CUstream:
        def __init__(self, value):
            self.value = value

        def __int__(self):
            return self.value

        def __eq__(self, other):
            return type(other) is CUstream and self.value == other.value

        __hash__ = None

    made = types.ModuleType("cuda.bindings.driver")
    made.CUstream = CUstream
    made.CUgraphNodeType = enum.IntEnum("CUgraphNodeType", {"CU_GRAPH_NODE_TYPE_EMPTY": 5})
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", made)
    return made


def test_a_handle_is_an_int_and_an_instance_of_the_type_of_cuda_bindings(stream, bindings):
    handle = stream.handle
    assert isinstance(handle, int) and isinstance(handle, bindings.CUstream)
    assert handle == bindings.CUstream(int(handle)) and (handle != bindings.CUstream(int(handle))) is False
    assert handle != bindings.CUstream(5) and handle == int(handle) and handle != 5 and handle != "x"
    assert hash(handle) == hash(int(handle)) and {handle: 1}[int(handle)] == 1


def test_a_handle_is_an_int_where_there_is_no_cuda_bindings(stream, monkeypatch):
    monkeypatch.delitem(sys.modules, "cuda.bindings.driver", raising=False)
    assert stream.handle.__class__ is type(stream.handle) and stream.handle == int(stream.handle)


def test_what_a_node_does_is_a_member_of_the_enumeration_of_cuda_bindings(bindings, device, monkeypatch):
    node = graph.GraphDefinition().empty()
    assert node.type is bindings.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY
    monkeypatch.delitem(sys.modules, "cuda.bindings.driver")
    assert type(node.type) is graph.CUgraphNodeType and node.type == bindings.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY


def test_handles_are_copied_and_pickled(stream, bindings):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(stream.handle, protocol))
        assert type(again) is type(stream.handle) and again == stream.handle
    assert copy.copy(stream.handle) == copy.deepcopy(stream.handle) == stream.handle


def test_the_place_of_a_handle_has_its_value(stream):
    place = stream.handle.getPtr()
    assert ctypes.c_uint64.from_address(place).value == stream.handle and stream.handle.getPtr() == place
