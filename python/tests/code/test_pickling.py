"""What can be pickled comes back; what cannot says so. Bad bytes are refused, never trusted."""

import copy
import pickle

import pytest
from conftest import run_python

import cucore

cloudpickle = pytest.importorskip("cloudpickle")
PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"
TYPES = ("ptx", "cubin", "ltoir", "fatbin", "object", "library")


@pytest.mark.parametrize("module", [pickle, cloudpickle])
@pytest.mark.parametrize("kind", TYPES)
def test_object_code_of_every_type_comes_back(kind, module):
    factory = getattr(cucore.ObjectCode, f"from_{kind}")
    code = factory(b"\x00bytes\xff", name="näme", symbol_mapping={"f<int>": "_Z1fi"})
    again = module.loads(module.dumps(code))
    assert (again.code, again.code_type, again.name) == (code.code, kind, "näme")
    assert again.symbol_mapping == {"f<int>": "_Z1fi"}
    assert not again.is_loaded
    assert again != code


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_carries_code(protocol):
    code = cucore.ObjectCode.from_ptx(PTX, name="k", symbol_mapping={"a": "k"})
    for module in (pickle, cloudpickle):
        again = module.loads(module.dumps(code, protocol))
        assert (again.code, again.name, again.symbol_mapping) == (PTX, "k", {"a": "k"})


def test_one_flipped_bit_of_a_pickle_is_an_error_or_harmless():
    code = cucore.ObjectCode.from_cubin(b"\x7fELF and so on", name="cubin", symbol_mapping={"f<int>": "_Z1fi"})
    data = pickle.dumps(code)
    wrong = []
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            again = pickle.loads(flipped)
        except Exception:
            continue
        if isinstance(again, cucore.ObjectCode) and (again.code, again.name) != (code.code, code.name):
            wrong.append(bit)
    assert not wrong


def test_code_in_a_file_travels_with_its_bytes(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_bytes(PTX)
    code = cucore.ObjectCode.from_ptx(path, name="k")
    assert code.code == str(path)
    data = pickle.dumps(code)
    path.unlink()
    assert pickle.loads(data).code == PTX.rstrip(b"\0")


def test_pickled_code_runs_in_another_process(tmp_path):
    arch = cucore.Device().arch
    code = cucore.Program(
        "template <class T> __global__ void set(T* x) { *x = T(42); }", "c++", {"arch": f"sm_{arch}"}
    ).compile("cubin", ["set<int>"])
    path = tmp_path / "code.pickle"
    path.write_bytes(pickle.dumps(code))
    done = run_python(
        """
        import pickle, sys
        import cucore
        code = pickle.load(open(sys.argv[1], "rb"))
        assert not code.is_loaded
        device = cucore.Device()
        device.set_current()
        stream = device.create_stream()
        buffer = cucore.LegacyPinnedMemoryResource().allocate(4)
        cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), code.get_kernel("set<int>"), buffer)
        stream.sync()
        print(int.from_bytes(bytes(memoryview(buffer)), "little"))
        """,
        path,
    )
    assert done.stdout == "42\n", done.stderr


@pytest.mark.parametrize("damage", ["truncated", "bit", "magic", "empty"])
def test_damaged_bytes_are_refused(damage):
    data = cucore.ObjectCode.from_ptx(PTX).serialize()
    bad = {
        "truncated": data[:-5],
        "bit": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        "magic": b"XXXX" + data[4:],
        "empty": b"",
    }[damage]
    with pytest.raises(ValueError, match=r"."):
        cucore.ObjectCode.deserialize(bad)


def test_a_device_comes_back_as_the_singleton(device):
    assert pickle.loads(pickle.dumps(device)) is device
    assert cloudpickle.loads(cloudpickle.dumps(device)) is device
    assert copy.copy(device) is device and copy.deepcopy(device) is device


def test_driver_objects_cannot_be_pickled(device, stream, saxpy_code):
    event = device.create_event()
    buffer = device.allocate(16, stream=stream)
    for thing in (stream, event, device.context, saxpy_code.get_kernel("saxpy<float>")):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
    with pytest.raises(RuntimeError):
        pickle.dumps(buffer)
    with pytest.raises(RuntimeError):
        pickle.dumps(device.memory_resource)


def test_errors_can_be_pickled():
    with pytest.raises(cucore.NVRTCError) as caught:
        cucore.Program("x", "c++", {"arch": "sm_80"}).compile("ptx")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.code, again.log) == (cucore.NVRTCError, caught.value.code, caught.value.log)
