"""The options of programs: what each field takes, and what it becomes for each back end."""

from pathlib import Path

from common import each, lines, rows

FLAGS = """
relocatable_device_code extensible_whole_program debug lineinfo device_code_optimize ftz prec_sqrt prec_div fma
use_fast_math extra_device_vectorization link_time_optimization gen_opt_lto device_as_default_execution_space device_int128
device_float128 builtin_move_forward builtin_initializer_list disable_warnings restrict brief_diagnostics
no_source_include no_display_error_number instantiate_templates_in_pch pch_verbose pch_messages pch no_cache minimal
numba_debug use_libdevice fdevice_syntax_only use_bundled_headers
"""
OTHERS = """
name                | 'mine' | '' | None | 5 | b'x' | False
arch                | 'sm_80' | 'sm_90a' | 'compute_90' | 'x' | '' | None | 5 | False
max_register_count  | 32 | 0 | -1 | None | '32' | 1.5 | True | False
ptxas_options       | '-v' | ['-v', '-O1'] | ('-v',) | [] | '' | None | 5 | [5] | False
std                 | 'c++17' | 'c++20' | 'c++03' | 'x' | '' | None | 17 | False
split_compile       | 0 | 2 | -1 | None | '2' | True | False
optimization_info   | 'inline' | 'x' | '' | None | 5 | False
ofast_compile       | '0' | 'min' | 'mid' | 'max' | 'x' | None | 0 | False
frandom_seed        | 'x' | '' | None | 5 | False
define_macro        | 'A' | 'A=1' | ('A', '1') | ['A', 'B'] | [('A', '1'), 'B'] | ('A', 1) | '' | None | 5 | [] | () | False | ('A',) | ('A', 'B', 'C') | [5] | {'A': 1}
undefine_macro      | 'A' | ['A', 'B'] | ('A', 'B') | '' | None | 5 | [] | [5] | False
include_path        | '/x' | ['/x', '/y'] | ('/x',) | None | 5 | [] | [5] | Path('/x') | [Path('/x')] | b'/x'
pre_include         | 'x.h' | ['x.h', 'y.h'] | ('x.h',) | None | 5 | [] | [5] | Path('x.h')
diag_error          | 1 | [1, 2] | (1,) | '1' | [] | None | 'x' | -1 | True | False
diag_suppress       | 1 | [1, 2] | (1,) | '1' | [] | None | 'x' | -1 | True | False
diag_warn           | 1 | [1, 2] | (1,) | '1' | [] | None | 'x' | -1 | True | False
fdevice_time_trace  | 'x.json' | None | 5 | True | Path('x.json')
create_pch          | 'x.pch' | None | 5 | True | Path('x.pch')
use_pch             | 'x.pch' | None | 5 | True | Path('x.pch')
pch_dir             | '/x' | None | 5 | True | Path('/x')
time                | 'x.csv' | True | None | False | '' | 5
extra_sources       | [('a', 'b')] | [] | None | 5 | 'x' | [5] | [('a', b'b')] | (('a', 'b'),)
"""
CONFLICTS = """
ftz=False, use_fast_math=True
debug=True, lineinfo=True
debug=True, device_code_optimize=True
debug=True, link_time_optimization=True
relocatable_device_code=True, extensible_whole_program=True
gen_opt_lto=True, link_time_optimization=True
define_macro='A', undefine_macro='A'
pch=True, create_pch='x'
use_pch='x', create_pch='x'
arch='sm_90', name='x', ftz=True, fma=False, std='c++20'
max_register_count=32, debug=True, lineinfo=False
"""

BEHAVIOURS = [
    *each("core.ProgramOptions({field}={value}).{field}", field=FLAGS, value=["True", "False", "None", "1", "'x'"]),
    *rows("core.ProgramOptions({name}={value}).{name}", OTHERS),
    *each("core.ProgramOptions(arch='sm_90', {field}={value}).as_bytes('nvrtc')", field=FLAGS, value="True False"),
    *each("core.ProgramOptions(arch='sm_90', {field}={value}).as_bytes('nvvm')", field=FLAGS, value="True"),
    *each("core.ProgramOptions(arch='sm_90', {field}={value}).as_bytes('nvjitlink')", field=FLAGS, value="True False"),
    *rows("core.ProgramOptions(**{'arch': 'sm_90', '{name}': {value}}).as_bytes('nvrtc')", OTHERS),
    *[
        snippet
        for back_end in ("nvvm", "nvJitLink")
        for snippet in rows(
            "core.ProgramOptions(**{'arch': 'sm_90', '{name}': {value}}).as_bytes('" + back_end + "')",
            "\n".join(line.rsplit("|", line.count("|") - 1)[0] for line in lines(OTHERS)),
        )
    ],
    *each(
        "core.ProgramOptions({options}).as_bytes('nvrtc')",
        options=[f"{'' if 'arch' in line else 'arch=' + repr('sm_90') + ', '}{line}" for line in lines(CONFLICTS)],
    ),
    *each(
        "core.ProgramOptions(arch='sm_90').as_bytes({arguments})",
        arguments=[
            "",
            "'nvrtc'",
            "'NVRTC'",
            "'nvvm'",
            "'nvJitLink'",
            "'nvjitlink'",
            "'driver'",
            "'none'",
            "None",
            "5",
            "typing.CompilerBackendType.NVRTC",
            "typing.CompilerBackendType.NVVM",
            "'nvrtc', 'ptx'",
            "'nvrtc', 'cubin'",
            "'nvrtc', 'ltoir'",
            "'nvvm', 'ltoir'",
            "'nvvm', 'ptx'",
            "'nvrtc', None",
            "'nvrtc', 'exe'",
            "backend='nvrtc'",
            "'nvrtc', target_type='ptx'",
            "b'nvrtc'",
        ],
    ),
    *each(
        "core.ProgramOptions(arch='sm_90', link_time_optimization=True).as_bytes('nvrtc', {target})",
        target="'ptx' 'cubin' 'ltoir' None",
    ),
    *each("core.Program(SOURCE, 'c++', {'arch': arch, '{field}': True}).compile('ptx').code_type", field=FLAGS),
    *lines("""
        [one.name for one in dataclasses.fields(core.ProgramOptions)]
        dataclasses.is_dataclass(core.ProgramOptions)
        core.ProgramOptions("mine").name
        core.ProgramOptions("mine", "sm_90").arch
        core.ProgramOptions(none=1)
        core.ProgramOptions().arch == arch
        core.ProgramOptions().name
        core.ProgramOptions() == core.ProgramOptions()
        core.ProgramOptions(ftz=True) == core.ProgramOptions()
        core.ProgramOptions() != core.ProgramOptions()
        hash(core.ProgramOptions())
        core.ProgramOptions() < core.ProgramOptions()
        shape(repr(core.ProgramOptions()))
        str(core.ProgramOptions(arch="sm_90", ftz=True))
        copy.copy(core.ProgramOptions(ftz=True)).ftz
        copy.deepcopy(core.ProgramOptions(ftz=True)).ftz
        dataclasses.replace(core.ProgramOptions(ftz=True), fma=True).ftz
        dataclasses.asdict(core.ProgramOptions(arch="sm_90"))["arch"]
        len(dataclasses.asdict(core.ProgramOptions(arch="sm_90")))
        pickle.loads(pickle.dumps(core.ProgramOptions(ftz=True))).ftz
        options = core.ProgramOptions(); options.ftz = True; options.ftz
        options = core.ProgramOptions(arch="sm_90"); options.ftz = True; options.as_bytes("nvrtc")
        options = core.ProgramOptions(); options.none = 5; options.none
        options = core.ProgramOptions(); options.arch = "sm_75"; options.as_bytes("nvrtc")
        options = core.ProgramOptions(arch="sm_90"); options.as_bytes("nvrtc") == options.as_bytes("nvrtc")
        in_thread(lambda: core.ProgramOptions(arch="sm_90").arch)
        in_thread(lambda: core.ProgramOptions().arch)
        in_thread(lambda: core.Device(0).set_current() or core.ProgramOptions().arch) == arch
        isinstance(core.ProgramOptions(arch="sm_90").as_bytes("nvrtc"), list)
        [type(one).__name__ for one in core.ProgramOptions(arch="sm_90").as_bytes("nvrtc")][:1]
    """),
]


def names(shared):
    return {"Path": Path}
