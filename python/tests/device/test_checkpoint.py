"""Checkpoints of processes: the arguments, what a driver without them says, and, against a driver that plays them
(playing_driver.c), which calls are made with what. They have not run against the real thing here: the CPU device has
no checkpoints.
"""

import os

import pytest
from conftest import build_stand_in, run_python

import cucore
from cucore.checkpoint import Process

UUID = "00112233-4455-6677-8899-aabbccddeeff"

PRELUDE = """
import ctypes, sys
import cucore
from cucore.checkpoint import Process

driver = ctypes.CDLL(sys.argv[1])
driver.take_calls.restype = ctypes.c_char_p

def calls():
    return driver.take_calls().decode()

def refuse(name, code):
    driver.refuse(name.encode(), code)

def error_of(call, kind=cucore.CUDAError):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError("nothing was raised")

process = Process(41)
"""


@pytest.fixture(scope="module")
def playing_driver(tmp_path_factory):
    return build_stand_in("playing_driver.c", tmp_path_factory.mktemp("driver") / "libplaying_driver.so")


def passes(source, library):
    environment = {
        "CUCORE_DEVICE": "cpu",
        "CUCORE_CPU_DRIVER": str(library),
        "REAL_DRIVER": os.path.realpath(cucore.driver_info().path),
    }
    done = run_python(PRELUDE + source + '\nprint("passed")', library, env=environment)
    assert (done.stdout, done.stderr, done.returncode) == ("passed\n", "", 0), done.stderr


def test_a_process_has_a_number():
    assert Process(7).pid == 7 and repr(Process(7)) == "<Process pid=7>"
    for wrong in (True, "7", 7.0, None):
        with pytest.raises(TypeError, match="pid must be an int"):
            Process(wrong)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="pid must be"):
            Process(wrong)
    with pytest.raises(OverflowError):
        Process(2**31).lock()
    with pytest.raises(AttributeError):
        Process(7).pid = 8


def test_arguments_of_checkpoints_are_checked_before_the_driver_is_asked():
    process = Process(7)
    for wrong in (True, "7", 7.0, None):
        with pytest.raises(TypeError, match="timeout_ms must be an int"):
            process.lock(wrong)
    for wrong in (-1, 2**32):
        with pytest.raises(ValueError, match="timeout_ms"):
            process.lock(wrong)
    for wrong in (3, [], "x", [(UUID, UUID)]):
        with pytest.raises(TypeError, match="mapping"):
            process.restore(wrong)
    for wrong in (3, None, b"x" * 16, cucore.Device):
        for mapping in ({wrong: UUID}, {UUID: wrong}):
            with pytest.raises(TypeError, match="UUID"):
                process.restore(mapping)
    for wrong in ("x", UUID[:-1], "GPU-" + UUID, UUID[:-1] + "g", " " + UUID):
        with pytest.raises(ValueError, match="32 hexadecimal digits"):
            process.restore({UUID: wrong})


def test_a_driver_without_checkpoints_is_a_runtime_error():
    if cucore.driver_info().kind != "cpu":
        pytest.skip("a GPU's driver may have them")
    process = Process(os.getpid())
    for use in (
        lambda: process.state,
        lambda: process.restore_thread_id,
        process.lock,
        process.checkpoint,
        process.restore,
        process.unlock,
    ):
        with pytest.raises(RuntimeError, match="(?s)does not support checkpoints.*CUDA 12.8"):
            use()


def test_checkpoints_call_the_driver(playing_driver):
    passes(
        """
for number, name in enumerate(("running", "locked", "checkpointed", "failed")):
    driver.set_state(number)
    assert process.state == name
assert calls() == "state(41) state(41) state(41) state(41)"
driver.set_state(9)
assert "9" in str(error_of(lambda: process.state, RuntimeError))
assert process.restore_thread_id == 42
calls()
process.lock()
process.lock(timeout_ms=2**32 - 1)
process.checkpoint()
process.restore()
process.restore({})
uuid = "00112233-4455-6677-8899-AABBCCDDEEFF"
other_uuid = "f" * 31 + "e"
class Native:
    bytes = bytes(range(16))
process.restore({uuid: other_uuid, Native(): uuid})
process.unlock()
assert calls() == ("lock(41, 0 ms) lock(41, 4294967295 ms) checkpoint(41) restore(41,) restore(41,) "
                   "restore(41, 00..ff ff..fe 00..0f 00..ff) unlock(41)")
for code in (500, 801):
    refuse("lock", code)
    assert "does not support checkpoints" in str(error_of(process.lock, RuntimeError))
refuse("checkpoint", 401)
error = error_of(process.checkpoint)
assert (error.code, error.call) == (401, "cuCheckpointProcessCheckpoint") and "process 41" in str(error)
assert "lock()" in error.hint
""",
        playing_driver,
    )


def test_the_module_shows_no_name_of_another_one():
    from cucore import checkpoint

    shown = {name for name in vars(checkpoint) if name[0] != "_"} - {"annotations", "Any", "Mapping"}
    assert shown == set(checkpoint.__all__)
