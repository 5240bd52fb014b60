"""Programs: sources, back ends, targets, names, logs and caches."""

import io

from common import each, lines

SOURCES = [
    "SOURCE",
    "'int x;'",
    "''",
    "b'int x;'",
    "5",
    "None",
    "'nonsense'",
    "['int x;']",
    "SOURCE.encode()",
    "bytearray(b'int x;')",
]
KINDS = [
    "'c++'",
    "'C++'",
    "'ptx'",
    "'PTX'",
    "'nvvm'",
    "'fortran'",
    "''",
    "None",
    "5",
    "typing.SourceCodeType.CXX",
    "typing.SourceCodeType.PTX",
    "b'c++'",
]
TARGETS = [
    "'ptx'",
    "'cubin'",
    "'ltoir'",
    "'fatbin'",
    "'object'",
    "'PTX'",
    "'exe'",
    "''",
    "None",
    "5",
    "typing.ObjectCodeFormatType.CUBIN",
    "b'ptx'",
]
OPTIONS = [
    "",
    ", None",
    ", {}",
    ", 5",
    ", 'x'",
    ", options=None",
    ", core.ProgramOptions()",
    ", {'none': 1}",
    ", core.LinkerOptions()",
    ", {'arch': arch}",
    ", {'arch': 'sm_1'}",
    ", {'arch': 'nonsense'}",
    ", {'name': 'mine'}",
    ", [], 5",
]
PROPERTIES = "backend handle is_closed pch_status"

BEHAVIOURS = [
    *each("core.Program({source}, 'c++')", source=SOURCES),
    *each(
        "core.Program({source}, 'c++').compile('ptx').code_type",
        source=["SOURCE", "'int x;'", "''", "'nonsense'", "'#error no'", "'#include <none.h>'", "'int x = ;'"],
    ),
    *each("core.Program(SOURCE, {kind}).backend", kind=KINDS),
    *each("core.Program(ptx_text, {kind}).backend", kind=KINDS[2:4]),
    *each("core.Program({source}, 'ptx')", source=["ptx_text", "ptx_text.encode()", "'nonsense'", "''", "5", "None"]),
    *each("core.Program(ptx_text, 'ptx').compile({target}).code_type", target=TARGETS),
    *each("core.Program({source}, 'ptx').compile('cubin').code_type", source=["ptx_text", "'nonsense'", "''"]),
    *each("core.Program(SOURCE, 'c++', {'arch': arch}).compile({target}).code_type", target=TARGETS),
    *each("kind(core.Program(SOURCE, 'c++', {'arch': arch}).compile({target}).code)", target=TARGETS[:3]),
    *each("core.Program(SOURCE, 'c++'{options})", options=OPTIONS),
    *each("core.Program(SOURCE, 'c++'{options}).compile('ptx').name", options=OPTIONS),
    *each("kind(program.{name})", name=PROPERTIES),
    *each("program.{name} = 5", name=PROPERTIES),
    *each("closed(core.Program(SOURCE, 'c++')).{name}", name="backend is_closed pch_status close() compile('ptx')"),
    *each("closed(core.Program(ptx_text, 'ptx')).{name}", name="backend is_closed pch_status close() compile('cubin')"),
    *each(
        "program.compile({arguments}).code_type",
        arguments=[
            "",
            "'ptx', ()",
            "'ptx', None",
            "'ptx', 5",
            "'ptx', 'fill<int>'",
            "'ptx', ['fill<int>']",
            "'ptx', ('fill<int>',)",
            "'ptx', name_expressions=['fill<int>']",
            "'ptx', (5,)",
            "'ptx', ('none<int>',)",
            "'ptx', ('',)",
            "'ptx', (b'fill<int>',)",
            "target_type='ptx'",
            "'ptx', (), None",
            "'ptx', (), log()",
            "'ptx', logs=log()",
            "'ptx', logs=5",
            "'ptx', (), None, None",
            "'ptx', cache=None",
            "'ptx', cache=5",
            "'ptx', cache={}",
            "'ptx', cache=memory_cache",
            "'ptx', none=1",
            "'ptx', {'fill<int>'}",
        ],
    ),
    *each(
        "sorted(core.Program(SOURCE, 'c++').compile('{target}', {names}).symbol_mapping)",
        target="ptx cubin",
        names=["()", "['fill<int>']", "('fill<int>', 'fill<float>')", "['k']"],
    ),
    *each("{done}(program)", done="copy.copy copy.deepcopy len iter bool callable int"),
    *each(
        "shape(repr({thing}))",
        thing=["program", "closed(core.Program(SOURCE, 'c++'))", "core.Program(ptx_text, 'ptx')"],
    ),
    *each("program {operator} {other}", operator="== != <", other=["program", "core.Program(SOURCE, 'c++')", "None"]),
    *each(
        "core.Program(SOURCE, 'c++', {'arch': {given}}).compile('ptx').code_type",
        given=[
            "'sm_80'",
            "'sm_90'",
            "'sm_90a'",
            "'compute_80'",
            "'80'",
            "80",
            "''",
            "None",
            "'sm_999'",
            "'SM_80'",
            "b'sm_80'",
        ],
    ),
    *each(
        "core.Program(nvvm_text, 'nvvm', {options}).compile({target}).code_type",
        options=["{'arch': arch}", "None"],
        target=["'ptx'", "'cubin'", "'ltoir'", "'exe'"],
    ),
    *each(
        "core.Program({source}, 'nvvm').backend",
        source=["nvvm_text", "nvvm_text.encode()", "bytearray(nvvm_text.encode())", "''", "5", "'nonsense'", "None"],
    ),
    *lines("""
        core.Program()
        core.Program(SOURCE)
        core.Program(code=SOURCE, code_type="c++").backend
        core.Program(SOURCE, code_type="c++", options=None).backend
        core.Program(SOURCE, "c++", core.ProgramOptions(), 5)
        core.Program.__new__(core.Program)
        program.none
        contextual(core.Program(SOURCE, 'c++'))
        pickle.dumps(program)
        program.none = 1
        hash(program) == hash(program)
        program.close(5)
        closed(closed(core.Program(SOURCE, "c++"))).is_closed
        core.Program(SOURCE, "c++", {"name": "mine"}).compile("ptx").name
        core.Program(SOURCE, "c++").compile("ptx").code[:2]
        core.Program(SOURCE, "c++").compile("ptx").code == core.Program(SOURCE, "c++").compile("ptx").code
        isinstance(core.Program(SOURCE, "c++").compile("cubin").code, bytes)
        kept = log(); core.Program("nonsense", "c++").compile("ptx", logs=kept)
        kept = log(); raised(lambda: core.Program("nonsense", "c++").compile("ptx", logs=kept)); len(kept.getvalue()) > 0
        kept = log(); core.Program("__global__ void k() { int unused; }", "c++").compile("ptx", logs=kept); "unused" in kept.getvalue()
        kept = log(); core.Program(SOURCE, "c++").compile("ptx", logs=kept); kept.getvalue()
        in_thread(lambda: core.Program(SOURCE, "c++").compile("ptx").code_type)
        in_thread(lambda: core.Program(SOURCE, "c++", {"arch": arch}).compile("ptx").code_type)
        dies(lambda: core.Program(SOURCE, "c++"))
        core.Program(SOURCE, "c++").compile("ptx").get_kernel("k").num_arguments
        core.Program(ptx_text, "ptx").compile("cubin").get_kernel("k").num_arguments
        core.Program(ptx_text, "ptx").compile("cubin").name
        core.Program(ptx_text, "ptx", {"name": "mine"}).compile("cubin").name
        core.Program(ptx_text, "ptx").compile("cubin", ("fill<int>",)).code_type
        core.Program(ptx_text, "ptx").compile("cubin", logs=log()).code_type
        core.Program(SOURCE, "c++").pch_status
        one = core.Program(SOURCE, "c++"); one.compile("ptx"); one.pch_status
        one = core.Program(SOURCE, "c++", {"pch": True}); one.compile("ptx"); one.pch_status
        one = core.Program(ptx_text, "ptx"); one.pch_status
        cache = utils.InMemoryProgramCache(); program.compile("ptx", cache=cache); len(cache)
        cache = utils.InMemoryProgramCache(); program.compile("ptx", cache=cache); program.compile("ptx", cache=cache); len(cache)
        cache = utils.InMemoryProgramCache(); program.compile("ptx", cache=cache); program.compile("cubin", cache=cache); len(cache)
        cache = utils.InMemoryProgramCache(); program.compile("ptx", ["fill<int>"], cache=cache).symbol_mapping.keys() == program.compile("ptx", ["fill<int>"], cache=cache).symbol_mapping.keys()
        cache = utils.InMemoryProgramCache(); one = program.compile("ptx", cache=cache); two = program.compile("ptx", cache=cache); one == two
        cache = utils.InMemoryProgramCache(); core.Program("nonsense", "c++").compile("ptx", cache=cache)
        cache = utils.InMemoryProgramCache(); core.Program(ptx_text, "ptx").compile("cubin", cache=cache); len(cache)
        cache = utils.InMemoryProgramCache(); kept = log(); program.compile("ptx", cache=cache, logs=kept); len(cache)
        core.Program("#include <none.h>", "c++", {"no_cache": True}).compile("ptx", cache=utils.InMemoryProgramCache())
        kind(core.Program("nonsense", "c++").backend)
        core.Program(SOURCE, "c++", {"extra_sources": [("a", "b")]})
        core.Program(nvvm_text, "nvvm", {"extra_sources": 5})
        core.Program(nvvm_text, "nvvm", {"use_libdevice": True}).compile("ptx").code_type
        core.Program(ptx_text, "ptx", {"use_libdevice": True})
        p = debugged(lineinfo=True); c = p.compile("ptx"); os.path.isfile(c.name), c.name.endswith(".cu")
        p = debugged(lineinfo=True); open(p.compile("ptx").name).read() == SOURCE
        p = debugged(lineinfo=True); oct(os.stat(p.compile("ptx").name).st_mode & 0o777)
        p = debugged(lineinfo=True); os.path.basename(p.compile("ptx").name).split("_")[:3]
        p = debugged(lineinfo=True); os.path.dirname(p.compile("ptx").name) == tempfile.gettempdir()
        p = debugged(lineinfo=True); c = p.compile("ptx"); c.name.encode() in c.code
        p = debugged(lineinfo=True); p.compile("ptx").name == p.compile("cubin").name
        p = debugged(lineinfo=True); name = p.compile("ptx").name; p.close(); os.path.exists(name)
        p = debugged(lineinfo=True); name = p.compile("ptx").name; del p; gc.collect(); os.path.exists(name)
        p = debugged(lineinfo=True); c = p.compile("cubin", ["fill<int>"]); c.get_kernel("fill<int>").num_arguments
        p = debugged(debug=True); os.path.isfile(p.compile("cubin").name)
        p = debugged(debug=True, name="mine"); p.compile("ptx").name
        p = debugged(lineinfo=True, name="mine.cu"); p.compile("ptx").name
        p = debugged(lineinfo=False); p.compile("ptx").name
        p = debugged(debug=False, lineinfo=None); p.compile("ptx").name
        p = core.Program(ptx_text, "ptx", {"arch": arch, "lineinfo": True}); p.compile("cubin").name
        p = debugged(lineinfo=True); cache = utils.InMemoryProgramCache(); p.compile("ptx", cache=cache); len(cache)
    """),
]


NVVM = """target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @k(ptr %out) {
  store i32 1, ptr %out
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


def names(shared):
    def debugged(**options):
        return shared.core.Program(shared.SOURCE, "c++", {"arch": shared.arch, **options})

    return {
        "debugged": debugged,
        "program": shared.core.Program(shared.SOURCE, "c++", {"arch": shared.arch}),
        "ptx_text": shared.ptx.code.decode(),
        "nvvm_text": NVVM,
        "log": io.StringIO,
        "memory_cache": shared.utils.InMemoryProgramCache(),
    }
