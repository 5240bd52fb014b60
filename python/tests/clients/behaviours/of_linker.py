"""The linker and its options."""

from common import each, lines, rows

FLAGS = """
time verbose link_time_optimization ptx debug lineinfo ftz prec_div prec_sqrt fma optimize_unused_variables no_cache
numba_debug
"""
OTHERS = """
name                 | 'mine' | '' | None | 5 | b'x'
arch                 | 'sm_90' | 'sm_90a' | '90' | '' | None | 5 | 'compute_90'
max_register_count   | 32 | 0 | -1 | None | '32' | 1.5 | True
optimization_level   | 0 | 3 | 5 | -1 | None | '3' | True
kernels_used         | 'k' | ['k', 'l'] | ('k',) | '' | [] | None | 5 | [5]
variables_used       | 'v' | ['v', 'w'] | ('v',) | '' | [] | None | 5
ptxas_options        | '-v' | ['-v', '-O1'] | ('-v',) | [] | '' | None | 5
split_compile        | 0 | 2 | -1 | None | '2'
split_compile_extended | 0 | 2 | -1 | None | '2'
"""
PROPERTIES = "handle is_closed"
INPUTS = [
    "cubin",
    "ptx",
    "ltoir",
    "ptx, ptx",
    "device_function, caller",
    "caller, device_function",
    "caller",
    "None",
    "5",
    "'x'",
    "b'x'",
    "",
    "[ptx]",
    "kernel",
    "cubin, cubin",
    "cubin, ptx",
    "ltoir, ptx",
    "lto_function, lto_caller",
]

BEHAVIOURS = [
    *each("core.LinkerOptions({field}={value}).{field}", field=FLAGS, value=["True", "False", "None", "1", "'x'"]),
    *rows("core.LinkerOptions({name}={value}).{name}", OTHERS),
    *each("core.LinkerOptions(arch='sm_90', {field}={value}).as_bytes()", field=FLAGS, value="True False None 1"),
    *rows("core.LinkerOptions(**{'arch': 'sm_90', '{name}': {value}}).as_bytes()", OTHERS),
    *each(
        "core.LinkerOptions(arch='sm_90').as_bytes({arguments})",
        arguments=[
            "",
            "'nvjitlink'",
            "'nvJitLink'",
            "'driver'",
            "'none'",
            "None",
            "5",
            "backend='nvjitlink'",
            "typing.CompilerBackendType.NVJITLINK",
            "'nvrtc'",
        ],
    ),
    *each("kind(core.Linker({inputs}).link('cubin').code)", inputs=INPUTS),
    *each(
        "core.Linker({inputs}, options={'arch': arch}).link('cubin').code_type",
        inputs=[text or "ptx" for text in INPUTS],
    ),
    *each("core.Linker(ptx, options={'arch': arch, '{field}': True}).link('cubin').code_type", field=FLAGS),
    *each(
        "core.Linker(ltoir, options={'arch': arch, 'link_time_optimization': True, '{field}': True}).link('cubin').code_type",
        field=FLAGS,
    ),
    *each(
        "core.Linker(ptx, options={options})",
        options=[
            "None",
            "{}",
            "5",
            "'x'",
            "core.LinkerOptions()",
            "core.ProgramOptions()",
            "{'none': 1}",
            "{'arch': 'nonsense'}",
            "{'arch': arch, 'name': 'mine'}",
            "[]",
        ],
    ),
    *each(
        "core.Linker(ptx, options={'arch': arch}).link({target}).code_type",
        target=[
            "'cubin'",
            "'ptx'",
            "'CUBIN'",
            "'exe'",
            "''",
            "None",
            "5",
            "",
            "typing.ObjectCodeFormatType.CUBIN",
            "'ltoir'",
            "b'cubin'",
            "target_type='cubin'",
        ],
    ),
    *each(
        "core.Linker(ltoir, options={'arch': arch, 'link_time_optimization': True, 'ptx': True}).link({target}).code_type",
        target=["'cubin'", "'ptx'"],
    ),
    *each("kind(linker.{name})", name=PROPERTIES),
    *each("linker.{name} = 5", name=PROPERTIES),
    *each("closed(core.Linker(ptx)).{name}", name="is_closed close() link('cubin') get_error_log() get_info_log()"),
    *each("linker.{name}", name="get_error_log() get_info_log() get_error_log(5) which_backend() none"),
    *each("{done}(linker)", done="copy.copy copy.deepcopy len iter bool callable int pickle.dumps"),
    *each("shape(repr({thing}))", thing=["core.LinkerOptions(arch='sm_90')", "core.LinkerOptions()"]),
    *lines("""
        [one.name for one in dataclasses.fields(core.LinkerOptions)]
        core.LinkerOptions("mine").name
        core.LinkerOptions("mine", "sm_90").arch
        core.LinkerOptions(none=1)
        core.LinkerOptions().arch == arch
        core.LinkerOptions().name
        core.LinkerOptions() == core.LinkerOptions()
        hash(core.LinkerOptions())
        copy.copy(core.LinkerOptions(ftz=True)).ftz
        options = core.LinkerOptions(); options.ftz = True; options.ftz
        options = core.LinkerOptions(); options.none = 5; options.none
        options = core.LinkerOptions(arch="sm_90"); options.ftz = True; options.as_bytes()
        dataclasses.replace(core.LinkerOptions(ftz=True), fma=True).ftz
        core.Linker()
        core.Linker.__new__(core.Linker)
        core.Linker.which_backend()
        core.Linker.which_backend(5)
        core.Linker(ptx, options={"arch": arch, "name": "mine"}).link("cubin").name
        core.Linker(ptx).link("cubin").name
        core.Linker(ptx).link("cubin").get_kernel("k").num_arguments
        core.Linker(ptx).link("cubin").symbol_mapping
        core.Linker(device_function, caller).link("cubin").get_kernel("call").num_arguments
        one = core.Linker(ptx); one.link("cubin"); one.link("cubin").code_type
        one = core.Linker(ptx); one.link("cubin"); one.get_error_log()
        one = core.Linker(ptx); one.link("cubin"); kind(one.get_info_log())
        one = core.Linker(caller); raised(lambda: one.link("cubin")); "twice" in one.get_error_log()
        one = core.Linker(ptx, options={"arch": arch, "verbose": True}); one.link("cubin"); len(one.get_info_log()) > 0
        closed(closed(core.Linker(ptx))).is_closed
        contextual(core.Linker(ptx))
        linker.close(5)
        linker == linker
        hash(linker) == hash(linker)
        weakref.ref(linker)() is linker
        dies(lambda: core.Linker(ptx))
        in_thread(lambda: core.Linker(ptx, options={"arch": arch}).link("cubin").code_type)
        in_thread(lambda: core.Linker(ptx).link("cubin").code_type)
        linker.handle == linker.handle
        int(linker.handle) != 0
    """),
]


def names(shared):
    core, arch = shared.core, shared.arch
    function = "__device__ int twice(int x) { return 2 * x; }"
    call = 'extern __device__ int twice(int); extern "C" __global__ void call(int* out) { *out = twice(4); }'

    def compiled(source, target, **options):
        return core.Program(source, "c++", {"arch": arch, **options}).compile(target)

    return {
        "ltoir": compiled(shared.SOURCE, "ltoir", link_time_optimization=True),
        "device_function": compiled(function, "ptx", relocatable_device_code=True),
        "caller": compiled(call, "ptx", relocatable_device_code=True),
        "lto_function": compiled(function, "ltoir", link_time_optimization=True),
        "lto_caller": compiled(call, "ltoir", link_time_optimization=True),
        "linker": core.Linker(shared.ptx, options={"arch": arch}),
    }
