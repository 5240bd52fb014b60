"""What the areas share: the names that every snippet has, how a result is shown, and tables that make snippets."""

import copy
import ctypes
import dataclasses
import enum
import gc
import importlib
import inspect
import itertools
import operator
import os
import pickle
import re
import tempfile
import threading
import weakref

import numpy as np

SOURCE = """
extern "C" __global__ void k(int* out) { *out = 1; }
extern "C" __global__ void none() {}
extern "C" __global__ void many(int a, float b, double c, char d, long long e, int* f) {
  *f = a + int(b) + int(c) + d + int(e);
}
template <class T> __global__ void fill(T* out, T value) { *out = value; }
"""

ERRORS = ("cudaerror", "nvrtcerror", "nvjitlinkerror", "nvvmerror", "nvmlerror")  # besides those of Python


def lines(text):
    """The snippets of a table, one a line."""
    return [line.strip() for line in text.strip().splitlines() if line.strip() and not line.strip().startswith("#")]


def each(template, **columns):
    """The template with every combination of the columns' words for ``{name}``; a column may be a string of words."""
    words = [column.split() if isinstance(column, str) else column for column in columns.values()]
    place = re.compile(r"\{(" + "|".join(columns) + r")(!r)?\}")
    return [
        place.sub(lambda found: (repr if found[2] else str)(row[found[1]]), template)
        for row in (dict(zip(columns, values)) for values in itertools.product(*words))
    ]


def rows(template, table, **columns):
    """The template with each row of a table: ``name | good | good``, a snippet for each name and value."""
    return [
        part
        for line in lines(table)
        for name, *values in [[word.strip() for word in line.split("|")]]
        for value in values
        for part in each(template, name=[name], value=[value], **columns)
    ]


def kind_of_error(error):
    """The type that a program catches, by the name that both packages have, and the driver's code."""
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins" or kind.__name__.lower() in ERRORS:
            break
    code = re.search(r"\bCUDA_ERROR_\w+", str(error))
    return kind.__name__.lower() + (f" {code[0]}" if code and kind.__name__ == "CUDAError" else "")


def kind_of_warning(category):
    """A class of warnings that both packages have."""
    return next(kind.__name__ for kind in category.__mro__ if kind.__module__ == "builtins")


def shown(value):
    """What can be compared between the packages."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}={value.value!r}"
    if value is None or type(value) in (bool, bytes, float) or isinstance(value, np.dtype):
        return repr(value)
    if isinstance(value, str):
        return repr(str(value))
    if type(value) is int or (isinstance(value, int) and type(value).__module__ == "builtins"):
        return repr(value)
    if isinstance(value, np.generic):
        return f"{type(value).__name__} {value}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.tolist()}"
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        opened, closed = "()" if isinstance(value, tuple) else "[]"
        return opened + ", ".join(shown(item) for item in value) + closed
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__} {sorted(shown(item) for item in value)}"
    if type(value) is dict:
        return "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, type):
        return f"class {value.__name__}"
    return kind(value)


def kind(value):
    """The name of a type; with @ what compare.py takes for any object unless the peer makes it public."""
    module, name = type(value).__module__.split(".")[0], type(value).__name__
    return name if module in ("builtins", "numpy") else f"@{name}"


def shape(text):
    """A repr without what differs from run to run and from package to package."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x#", text)
    text = re.sub(r"\b(cuda\.core|cucore)(\.\w+)*\.(?=[A-Z])", "", text)
    return re.sub(r"\b\d{6,}\b", "#", text)


def closed(thing, *arguments):
    """The object, after its close()."""
    thing.close(*arguments)
    return thing


def in_thread(call):
    """What the call gives or raises in a thread of its own."""
    kept = []

    def work():
        try:
            kept.append(call())
        except Exception as error:
            kept.append(f"raises {kind_of_error(error)}")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return kept[0]


def raised(call):
    """The type of what the call raises, or None."""
    try:
        call()
    except Exception as error:
        return kind_of_error(error)
    return None


def dies(make):
    """Whether nothing keeps the object that is made alive."""
    kept = weakref.ref(make())
    gc.collect()
    return kept() is None


def contextual(thing):
    """Whether ``with`` takes it, and gives the thing itself."""
    with thing as entered:
        return entered is thing


def names(core):
    """The names that every snippet has."""
    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    resource = core.DeviceMemoryResource(device, {"max_size": 1 << 24})
    buffer = resource.allocate(256, stream=stream)
    pinned = core.LegacyPinnedMemoryResource()
    arch = f"sm_{device.arch}"
    cubin = core.Program(SOURCE, "c++", {"arch": arch}).compile("cubin", ("fill<int>", "fill<float>"))
    ptx = core.Program(SOURCE, "c++", {"arch": arch}).compile("ptx", ("fill<int>",))
    stream.sync()
    modules = ("graph", "texture", "typing", "utils", "checkpoint", "system")
    shared = {name: importlib.import_module(f"{core.__name__}.{name}") for name in modules}
    shared.update(np=np, ctypes=ctypes, copy=copy, pickle=pickle, weakref=weakref, gc=gc, os=os, inspect=inspect)
    shared.update(dataclasses=dataclasses, operator=operator, threading=threading, tempfile=tempfile)
    shared.update(
        shape=shape, kind=kind, closed=closed, in_thread=in_thread, raised=raised, dies=dies, contextual=contextual
    )
    shared.update(core=core, device=device, stream=stream, resource=resource, buffer=buffer, pinned=pinned)
    shared.update(__name__="snippets")  # the module of the classes that they make
    shared.update(SOURCE=SOURCE, arch=arch, cubin=cubin, ptx=ptx, kernel=cubin.get_kernel("k"))
    shared.update(View=shared["utils"].StridedMemoryView, one=core.LaunchConfig(grid=1, block=1))
    return shared
