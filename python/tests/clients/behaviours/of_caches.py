"""Caches of programs, their keys, and what checkpoints a process."""

from pathlib import Path

from common import each, lines

CACHES = ["memory()", "files()"]
KEYS = ["b'k'", "'k'", "''", "b''", "5", "None", "bytearray(b'k')", "('k',)"]
VALUES = [
    "b'v'",
    "bytearray(b'v')",
    "memoryview(b'v')",
    "'v'",
    "5",
    "None",
    "ptx",
    "cubin",
    "b''",
    "core.ObjectCode.from_ptx('/none/such')",
]
KEY = {
    "code": ["'x'", "b'x'", "''", "5", "None"],
    "code_type": ["'c++'", "'ptx'", "'nvvm'", "'none'", "None", "5", "typing.SourceCodeType.CXX"],
    "options": [
        "core.ProgramOptions(arch='sm_90')",
        "core.ProgramOptions(arch='sm_80')",
        "None",
        "{}",
        "5",
        "core.ProgramOptions(arch='sm_90', include_path='/x')",
        "core.ProgramOptions(arch='sm_90', time='x')",
        "core.ProgramOptions(arch='sm_90', pre_include='x.h')",
        "core.ProgramOptions(arch='sm_90', create_pch='x')",
    ],
    "target_type": ["'ptx'", "'cubin'", "'ltoir'", "'none'", "None", "5", "typing.ObjectCodeFormatType.CUBIN"],
    "name_expressions": ["()", "('a',)", "['a']", "(b'a',)", "(bytearray(b'a'),)", "'a'", "None", "5", "(5,)"],
    "extra_digest": ["None", "b'x'", "'x'", "5", "b''"],
}
GIVEN = {
    "code": "'x'",
    "code_type": "'c++'",
    "options": "core.ProgramOptions(arch='sm_90')",
    "target_type": "'ptx'",
}


def key(**changed):
    """The text of a call of make_program_cache_key."""
    return (
        "utils.make_program_cache_key("
        + ", ".join(f"{name}={value}" for name, value in {**GIVEN, **changed}.items())
        + ")"
    )


BEHAVIOURS = [
    *each("c = {cache}; c[{key}] = b'v'; c[{key}]", cache=CACHES, key=KEYS),
    *each(
        "c = {cache}; c['k'] = {value}; c['k'] if len(c['k']) < 99 else c['k'] == ptx.code", cache=CACHES, value=VALUES
    ),
    *each("c = {cache}; c[{key}]", cache=CACHES, key=KEYS),
    *each("c = {cache}; c.get({key})", cache=CACHES, key=KEYS),
    *each("c = {cache}; {key} in c", cache=CACHES, key=KEYS),
    *each("c = {cache}; del c[{key}]", cache=CACHES, key=KEYS),
    *each(
        "c = {cache}; c.update({items}); len(c)",
        cache=CACHES,
        items=[
            "{}",
            "{'k': b'v'}",
            "[('k', b'v')]",
            "None",
            "5",
            "[]",
            "[('k',)]",
            "{'k': 5}",
            "{b'a': b'1', 'b': ptx}",
            "iter([('k', b'v')])",
            "",
            "items={}",
            "k=b'v'",
        ],
    ),
    *each(
        "c = {cache}; {call}",
        cache=CACHES,
        call=[
            "len(c)",
            "c.clear()",
            "c.close()",
            "c.clear(5)",
            "c['k'] = b'v'; c.clear(); len(c)",
            "c['k'] = b'v'; len(c)",
            "c['k'] = b'v'; c['k'] = b'w'; len(c)",
            "c['k'] = b'v'; del c['k']; 'k' in c",
            "c['k'] = b'v'; 'k' in c",
            "c['k'] = b'v'; b'k' in c",
            "c['k'] = b'v'; c.get('k')",
            "c.get('k', b'd')",
            "c.get('k', 5)",
            "c.get()",
            "c['k'] = b'v'; c.close(); c['k']",
            "c.close(); c.close()",
            "c.close(); len(c)",
            "list(c)",
            "c['k'] = b'v'; list(c)",
            "bool(c)",
            "contextual(c)",
            "c == c",
            "hash(c) == hash(c)",
            "copy.copy(c)",
            "c.none",
            "c.none = 1",
            "c.keys()",
            "c.items()",
            "c.pop('k')",
            "kind(c)",
            "c['k'] = b'v'; in_thread(lambda: c['k'])",
            "weakref.ref(c)() is c",
            "c['k'] = b'v' * 100; c['l'] = b'w'; len(c)",
            "repr(c) != ''",
            "isinstance(c, utils.ProgramCacheResource)",
        ],
    ),
    *each(
        "utils.InMemoryProgramCache({arguments})",
        arguments=[
            "",
            "max_size_bytes=None",
            "max_size_bytes=100",
            "max_size_bytes=0",
            "max_size_bytes=-1",
            "max_size_bytes='x'",
            "max_size_bytes=1.5",
            "100",
            "none=1",
        ],
    ),
    *each(
        "utils.FileStreamProgramCache({arguments})",
        arguments=[
            "folder()",
            "path=folder()",
            "Path(folder())",
            "folder(), max_size_bytes=None",
            "folder(), max_size_bytes=100",
            "folder(), max_size_bytes=0",
            "folder(), max_size_bytes=-1",
            "folder(), max_size_bytes='x'",
            "folder(), 100",
            "5",
            "folder() + '/a/b'",
            "file_",
            "folder().encode()",
        ],
    ),
    *each(
        "c = {cache}; c['a'] = b'1' * 60; c['b'] = b'2' * 60; ['a' in c, 'b' in c]",
        cache=[
            "utils.InMemoryProgramCache(max_size_bytes=100)",
            "utils.FileStreamProgramCache(folder(), max_size_bytes=100)",
        ],
    ),
    *each(
        "c = {cache}; c['a'] = b'1' * 200; 'a' in c",
        cache=[
            "utils.InMemoryProgramCache(max_size_bytes=100)",
            "utils.FileStreamProgramCache(folder(), max_size_bytes=100)",
        ],
    ),
    *each("utils.ProgramCacheResource({arguments})", arguments=["", "5"]),
    *[f"len({key(**{name: value})})" for name, values in KEY.items() for value in values],
    *[f"{key()} == {key(**{name: value})}" for name, values in KEY.items() for value in values[:2]],
    *lines("""
        utils.make_program_cache_key()
        utils.make_program_cache_key("x", "c++", core.ProgramOptions(), "ptx")
        f = folder(); c = utils.FileStreamProgramCache(f); c["k"] = b"v"; utils.FileStreamProgramCache(f)["k"]
        f = folder(); c = utils.FileStreamProgramCache(f); c["k"] = b"v"; c.close(); len(utils.FileStreamProgramCache(f))
        c = Mine(); c["k"] = b"v"; core.Program(SOURCE, "c++").compile("ptx", cache=c).code_type
        c = Mine(); core.Program(SOURCE, "c++").compile("ptx", cache=c); len(c.kept)
        c = Mine(); c.get("k")
        c = Mine(); c.update({"k": b"v"}); c.kept
        c = Mine(); "k" in c
        c = Mine(); c.close()
        utils.ProgramCacheResource.clear(Mine())
        sorted(name for name in dir(utils.ProgramCacheResource) if name[0] != "_")
        c = Mine(); contextual(c)
        issubclass(utils.InMemoryProgramCache, utils.ProgramCacheResource)
        issubclass(utils.FileStreamProgramCache, utils.ProgramCacheResource)
        sorted(utils.ProgramCacheResource.__abstractmethods__)
        checkpoint.Process()
        checkpoint.Process("x")
        checkpoint.Process(None)
        checkpoint.Process(-1)
        checkpoint.Process(0)
        checkpoint.Process(1.5)
        checkpoint.Process(True)
        checkpoint.Process(2**40)
        checkpoint.Process(pid=os.getpid()).pid == os.getpid()
        checkpoint.Process(os.getpid()).pid = 5
        checkpoint.Process(os.getpid(), 5)
        checkpoint.Process(os.getpid()).state
        checkpoint.Process(os.getpid()).state = 5
        checkpoint.Process(os.getpid()).restore_thread_id > 0
        kind(checkpoint.Process(os.getpid()).restore_thread_id)
        checkpoint.Process(2**22 + 5).state
        checkpoint.Process(2**22 + 5).restore_thread_id
        checkpoint.Process(2**22 + 5).lock()
        checkpoint.Process(2**22 + 5).unlock()
        checkpoint.Process(2**22 + 5).checkpoint()
        checkpoint.Process(2**22 + 5).restore()
        checkpoint.Process(os.getpid()).unlock()
        checkpoint.Process(os.getpid()).lock(timeout_ms=-1)
        checkpoint.Process(os.getpid()).lock(timeout_ms="x")
        checkpoint.Process(os.getpid()).lock(1.5)
        checkpoint.Process(os.getpid()).lock(1, 2)
        checkpoint.Process(os.getpid()).restore(5)
        checkpoint.Process(os.getpid()).restore(gpu_mapping="x")
        checkpoint.Process(os.getpid()).restore({1: 2})
        checkpoint.Process(os.getpid()).restore({})
        checkpoint.Process(os.getpid()).none
        checkpoint.Process(os.getpid()) == checkpoint.Process(os.getpid())
        hash(checkpoint.Process(5)) == hash(checkpoint.Process(5))
        shape(repr(checkpoint.Process(5)))
        pickle.loads(pickle.dumps(checkpoint.Process(5))).pid
        copy.copy(checkpoint.Process(5)).pid
        bool(checkpoint.Process(5))
        weakref.ref(checkpoint.Process(5))() is None
        checkpoint.Mapping is not None
        checkpoint.Any is not None
        dataclasses.is_dataclass(checkpoint.Process)
    """),
]


def names(shared):
    tempfile, utils = shared.tempfile, shared.utils

    class Mine(utils.ProgramCacheResource):
        """A cache that is written in Python."""

        def __init__(self):
            self.kept = {}

        def __getitem__(self, key):
            return self.kept[key]

        def __setitem__(self, key, value):
            self.kept[key] = value

        def __delitem__(self, key):
            del self.kept[key]

        def __len__(self):
            return len(self.kept)

        def clear(self):
            self.kept.clear()

    file = Path(tempfile.mkdtemp()) / "file"
    file.write_text("x")
    return {
        "memory": utils.InMemoryProgramCache,
        "files": lambda: utils.FileStreamProgramCache(tempfile.mkdtemp()),
        "folder": tempfile.mkdtemp,
        "Path": Path,
        "file_": str(file),
        "Mine": Mine,
    }
