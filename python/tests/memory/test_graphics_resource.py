"""Memory of OpenGL: the arguments, what a driver without an OpenGL says, and, against a driver that plays one
(playing_driver.c), which calls are made in which order. It has not run against a real OpenGL: there is none here.
"""

import os

import pytest
from conftest import build_stand_in, run_python

import cucore

PRELUDE = """
import ctypes, gc, sys, warnings
import numpy as np
import cucore

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

device = cucore.Device()
device.set_current()
stream, other = device.create_stream(), device.create_stream()
s, o = (f"{int(each.handle):#x}" for each in (stream, other))
memory = device.allocate(256, stream=stream)
driver.set_memory(ctypes.c_ulonglong(memory.handle), ctypes.c_ulonglong(0))
GL = cucore.GraphicsResource
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


def test_arguments_of_graphics_resources_are_checked():
    resource = cucore.GraphicsResource
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        resource()
    for wrong in ("bad", "", ("read_only", "bad"), (1,)):
        with pytest.raises(ValueError, match="unknown flag .*'read_only'"):
            resource.from_gl_buffer(1, flags=wrong)
        with pytest.raises(ValueError, match="unknown flag"):
            resource.from_gl_image(1, 3553, flags=wrong)
    for wrong in ("1", None, 1.5):
        with pytest.raises(TypeError):
            resource.from_gl_buffer(wrong)
    for wrong in (-1, 2**32):
        with pytest.raises(ValueError, match="32 bits"):
            resource.from_gl_buffer(wrong)
        with pytest.raises(ValueError, match="32 bits"):
            resource.from_gl_image(1, wrong)
    with pytest.raises(TypeError):
        resource.from_gl_buffer(1, stream=3)


def test_without_opengl_nothing_can_be_registered(device):
    for register in (
        lambda: cucore.GraphicsResource.from_gl_buffer(1),
        lambda: cucore.GraphicsResource.from_gl_image(1, 3553),
    ):
        with pytest.raises(cucore.CUDAError, match="OpenGL") as caught:
            register()
        assert caught.value.call.startswith("cuGraphicsGLRegister")


def test_buffers_are_mapped_and_unmapped_in_order(playing_driver):
    passes(
        """
resource = GL.from_gl_buffer(5, flags=("read_only", "surface_load_store"))
assert calls() == "register_buffer(5, 5)"
assert (resource.handle, resource.resource_handle) == (0x1000, 0x1000) and not resource.is_mapped
assert not resource.is_closed
assert repr(resource) == "<GraphicsResource handle=0x1000>" and resource == resource != GL.from_gl_buffer(5)
assert "not mapped" in str(error_of(resource.unmap, RuntimeError))
gc.collect()
calls()
with resource.map(stream=stream) as buffer:
    assert (buffer.handle, buffer.size, buffer.is_device_accessible) == (memory.handle, 256, True)
    assert buffer.device_id == 0
    assert resource.is_mapped and repr(resource) == "<GraphicsResource handle=0x1000 mapped>"
    assert "already mapped" in str(error_of(lambda: resource.map(stream=stream), RuntimeError))
    buffer.fill(7, stream=stream)
assert not resource.is_mapped and buffer.handle == 0
assert calls() == f"map(1 0x1000 {s}) pointer(0x1000) unmap(1 0x1000 {s})"
# On another stream, in each of the ways.
resource.map(stream=stream).close(other)
buffer = resource.map(stream=stream)
resource.unmap(stream=other)
assert (buffer.handle, buffer.size, buffer.is_closed, resource.is_mapped) == (0, 0, True, False)
buffer.close()
buffer = resource.map(stream=stream)
resource.unmap()
assert f"unmap(1 0x1000 {o}) map(1 0x1000 {s}) pointer(0x1000) unmap(1 0x1000 {o})" in calls()
buffer = resource.map(stream=stream)
calls()
resource.close(other)
assert (buffer.handle, resource.handle, resource.is_closed, resource.is_mapped) == (0, 0, True, False)
assert calls() == f"unmap(1 0x1000 {o}) unregister(0x1000)"
resource.close()
assert repr(resource) == "<GraphicsResource handle=0x0 closed>"
for use in (lambda: resource.map(stream=stream), resource.unmap, resource.__enter__):
    assert "has been closed" in str(error_of(use, RuntimeError))
assert calls() == ""
""",
        playing_driver,
    )


def test_a_resource_with_a_stream_is_mapped_by_with(playing_driver):
    passes(
        """
with GL.from_gl_buffer(5, stream=stream) as buffer:
    assert type(buffer) is cucore.Buffer
assert buffer.handle == 0
assert calls() == f"register_buffer(5, 0) map(1 0x1000 {s}) pointer(0x1000) unmap(1 0x1000 {s}) unregister(0x1000)"
try:
    with GL.from_gl_buffer(5, flags="write_discard") as resource, resource.map(stream=stream) as buffer:
        raise KeyError("inside")
except KeyError:
    pass
assert resource.is_closed
assert calls() == f"register_buffer(5, 2) map(1 0x1000 {s}) pointer(0x1000) unmap(1 0x1000 {s}) unregister(0x1000)"
""",
        playing_driver,
    )


def test_what_is_mapped_alone_keeps_the_registration(playing_driver):
    passes(
        """
buffer = GL.from_gl_buffer(5).map(stream=stream)
gc.collect()
assert calls() == f"register_buffer(5, 0) map(1 0x1000 {s}) pointer(0x1000)"
buffer.fill(1, stream=stream)
del buffer
gc.collect()
assert calls() == f"unmap(1 0x1000 {s}) unregister(0x1000)"
""",
        playing_driver,
    )


def test_images_are_mapped_as_arrays(playing_driver):
    passes(
        """
from cucore.texture import OpaqueArrayOptions
image = device.create_opaque_array(OpaqueArrayOptions((4, 2), "uint8", 4))
driver.set_memory(ctypes.c_ulonglong(0), ctypes.c_ulonglong(image.handle))
resource = GL.from_gl_image(6, 3553, flags="texture_gather")
with resource.map(stream=stream) as array:
    assert (array.shape, array.format, array.num_channels, array == image) == ((4, 2), "uint8", 4, True)
    array.copy_from(bytes(range(32)), stream=stream)
assert calls() == (f"register_image(6, 3553, 8) map(1 0x2000 {s}) array(0x2000, 0, 0) unmap(1 0x2000 {s})")
array = resource.map(stream=stream)
resource.unmap(stream=other)
assert array.handle == 0 and not resource.is_mapped
assert calls().endswith(f"unmap(1 0x2000 {o})")
del resource, array
gc.collect()
assert calls() == "unregister(0x2000)"
""",
        playing_driver,
    )


def test_a_mapping_that_fails_halfway_is_undone(playing_driver):
    passes(
        """
resource = GL.from_gl_buffer(5)
calls()
refuse("pointer", 212)
error = error_of(lambda: resource.map(stream=stream))
assert (error.code, error.call, resource.is_mapped) == (212, "cuGraphicsResourceGetMappedPointer", False)
assert calls() == f"map(1 0x1000 {s}) pointer(0x1000) unmap(1 0x1000 {s})"
refuse("map", 999)
assert error_of(lambda: resource.map(stream=stream)).call == "cuGraphicsMapResources"
assert calls() == f"map(1 0x1000 {s})"
refuse("unmap", 999)
buffer = resource.map(stream=stream)
assert error_of(buffer.close).call == "cuGraphicsUnmapResources"
buffer = resource.map(stream=stream)
error = error_of(resource.close)
assert error.call == "cuGraphicsUnmapResources" and "0x1000" in str(error) and resource.is_closed
del buffer
gc.collect()
assert calls().endswith(f"unmap(1 0x1000 {s}) unregister(0x1000)")
refuse("register_buffer", 304)
assert error_of(lambda: GL.from_gl_buffer(5)).code == 304
refuse("unregister", 400)
resource = GL.from_gl_buffer(5)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    del resource
    gc.collect()
assert len(said) == 1 and "cuGraphicsUnregisterResource" in str(said[0].message), said
""",
        playing_driver,
    )
