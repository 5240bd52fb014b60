"""What kernels see and write: arguments of each type for parameters of each, fills, copies and graphs, by value.

long because a table of snippets and the functions that they call belong together.
"""

from common import each, lines

# type in C++ | NumPy's | values that fit, which both packages pass alike
PARAMETERS = {
    "signed char": ("i1", ["-128", "127", "5"]),
    "unsigned char": ("u1", ["0", "255"]),
    "short": ("i2", ["-32768", "32767"]),
    "unsigned short": ("u2", ["0", "65535"]),
    "int": ("i4", ["-2**31", "2**31-1", "7"]),
    "unsigned": ("u4", ["0", "2**32-1"]),
    "long long": ("i8", ["-2**63", "2**63-1"]),
    "unsigned long long": ("u8", ["0", "2**63"]),
    "float": ("f4", ["1.5", "-0.0", "float('inf')", "float('nan')", "1e-45"]),
    "double": ("f8", ["1.5", "-0.0", "float('inf')", "5e-324"]),
}
CTYPES = {
    "signed char": ["c_int8", "c_byte"],
    "unsigned char": ["c_uint8", "c_ubyte"],
    "short": ["c_int16", "c_short"],
    "unsigned short": ["c_uint16", "c_ushort"],
    "int": ["c_int32", "c_int"],
    "unsigned": ["c_uint32", "c_uint"],
    "long long": ["c_int64", "c_longlong", "c_long", "c_ssize_t"],
    "unsigned long long": ["c_uint64", "c_ulonglong", "c_ulong", "c_size_t"],
    "float": ["c_float"],
    "double": ["c_double"],
}
ELEMENTS = [
    f"np.{kind}({value})"
    for kind in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"]
    for value in (0, 1, 7)
]

BEHAVIOURS = [
    *[
        f"passed({kind!r}, np.dtype({dtype!r}).type({value}))"
        for kind, (dtype, values) in PARAMETERS.items()
        for value in values
    ],
    *[
        f"passed({kind!r}, ctypes.{name}({values[-1]}))"
        for kind, (_, values) in PARAMETERS.items()
        for name in CTYPES[kind]
    ],
    *[f"passed('long long', {value})" for value in ("0", "-1", "2**62", "True + 0", "int(np.int16(5))")],
    *[f"passed('double', {value})" for value in ("0.0", "-1.5", "1e308", "float('inf')", "float('nan')")],
    *[
        f"passed('bool', {value})"
        for value in ("True", "False", "np.bool_(True)", "ctypes.c_bool(True)", "np.bool_(0)")
    ],
    *[f"passed('half', {value})" for value in ("np.float16(1.5)", "np.float16('inf')", "np.float16(-0.0)")],
    *[f"passed('float2', {value})" for value in ("np.complex64(1+2j)", "np.complex64(0)", "np.complex64(-1j)")],
    *[f"passed('double2', {value})" for value in ("1+2j", "np.complex128(1+2j)", "0j")],
    *[
        f"several({values})"
        for values in (
            "np.int8(1), np.float64(2), np.int8(3), np.int64(4)",
            "np.int8(-1), np.float64(-2), np.int8(-3), np.int64(-4)",
            "ctypes.c_int8(1), ctypes.c_double(2), ctypes.c_int8(3), ctypes.c_int64(4)",
            "np.int8(1), 2.0, np.int8(3), 4",
        )
    ],
    *each(
        "filled({value}, {size})",
        value=["0", "1", "255", "b'a'", "b'ab'", "b'abcd'", "bytearray(b'xy')", "memoryview(b'wxyz')"],
        size="4 16 64",
    ),
    *each("filled({value}, 16)", value=ELEMENTS),
    *each("filled({value}, {size})", value=["b'ab'", "b'abcd'", "np.int32(1)"], size="1 3 6 7"),
    *each(
        "copied({source}, {target}, {size})",
        source="'pinned' 'device' 'pool' 'managed'",
        target="'pinned' 'device' 'pool' 'managed'",
        size="1 64",
    ),
    *each(
        "in_memset({value}, {width})",
        value=["0", "7", "255", "b'a'", "b'ab'", "b'abcd'", "np.uint16(513)", "np.uint32(7)"],
        width="1 4 8",
    ),
    *each(
        "in_memset({value}, {width}, height={height}, pitch={pitch})",
        value="7 b'ab'",
        width="1 2",
        height="1 2 4",
        pitch="4 8",
    ),
    *each(
        "in_chain({kinds})",
        kinds=[
            "'kernel'",
            "'kernel', 'kernel'",
            "'memset', 'kernel'",
            "'kernel', 'memset'",
            "'kernel', 'host'",
            "'host', 'kernel', 'host'",
            "'memcpy', 'kernel'",
            "'kernel', 'record', 'kernel'",
            "'record', 'wait', 'kernel'",
            "'child'",
            "'child', 'kernel'",
            "'kernel', 'child', 'child'",
            "'alloc', 'kernel'",
            "'empty', 'kernel', 'empty'",
            "'if0'",
            "'if1'",
            "'if1', 'kernel'",
            "'kernel', 'if0', 'kernel'",
            "'while3'",
            "'switch0'",
            "'switch1'",
            "'switch2'",
            "'switch5'",
            "'else0'",
            "'else1'",
        ],
    ),
    *each(
        "captured({kinds})",
        kinds=[
            "'kernel'",
            "'kernel', 'kernel'",
            "'memset', 'kernel'",
            "'copy', 'kernel'",
            "'host', 'kernel'",
            "'kernel', 'host'",
            "'child'",
            "'child', 'kernel'",
            "'fork2'",
            "'fork3', 'kernel'",
            "'if0'",
            "'if1'",
            "'while3'",
            "'switch1'",
            "'switch5'",
            "'else0'",
            "'else1'",
            "'alloc'",
            "'alloc', 'kernel'",
            "'fork2', 'fork2'",
            "'kernel', 'if1', 'kernel'",
        ],
    ),
    *each("captured({kinds}, times={times})", kinds="'kernel' 'while3' 'child'", times="0 2 5"),
    *each("updated({first}, {second})", first="'kernel' 'memset' 'two'", second="'kernel' 'memset' 'two' 'other'"),
    *each("toggled({kind!r}, {state})", kind="kernel memset memcpy", state="True False"),
    *each("replaced({kind!r})", kind="kernel memset memcpy host"),
    *each("occupied({block}, {shared})", block="32 64 96 128 256 512 1024", shared="0 1024 16384 49152"),
    *each("best({shared}, {limit})", shared="0 1024 48*1024", limit="0 32 100 256"),
    *each("best(lambda block: block * {by}, 0)", by="0 4 64"),
    *each("threads({grid}, {block})", grid=["1", "3", "(2, 3)", "(1, 2, 2)"], block=["1", "32", "(4, 2)", "(2, 2, 2)"]),
    *each("threads({grid}, 32, cluster={cluster})", grid=["1", "2", "(2, 2)"], cluster=["1", "2", "(1, 2)", "(2, 2)"]),
    *each("shared_bytes({size})", size="4 1024 49152 65536 200000 232448 300000"),
    *each("printed({mode})", mode=["'line'", "'none'"]),
    *lines("""
        defined('VALUE=3')
        defined(('VALUE', '4'))
        defined(['VALUE=5'])
        defined([('VALUE', '6')])
        defined(('VALUE=7', 'OTHER'))
        defined(['VALUE=8', ('OTHER', '1')])
        defined(['VALUE=1'], undefine_macro='VALUE')
        defined('VALUE=9', undefine_macro='OTHER')
        defined(None)
        option('debug', True, '.debug')
        option('debug', False, '.debug')
        option('lineinfo', True, '.loc')
        option('lineinfo', None, '.loc')
        option('ftz', True, '.ftz')
        option('ftz', False, '.ftz')
        option('prec_div', False, 'div.rn')
        option('prec_div', True, 'div.rn')
        option('prec_sqrt', False, 'sqrt.rn')
        option('prec_sqrt', True, 'sqrt.rn')
        option('fma', False, 'fma.rn')
        option('fma', True, 'fma.rn')
        option('use_fast_math', True, '.approx')
        option('use_fast_math', False, '.approx')
        option('max_register_count', 32, '.maxnreg')
        option('arch', 'sm_80', '.target sm_80')
        option('arch', 'compute_80', '.target sm_80')
        option('arch', 'sm_90a', '.target sm_90a')
        option('relocatable_device_code', True, '.weak')
        option('device_int128', True, '.target')
        option('restrict', True, 'ld.global.nc')
        option('extra_device_vectorization', True, '.target')
        option('std', 'c++11', '.target')
        option('std', 'c++20', '.target')
        option('minimal', True, '.target')
        option('split_compile', 2, '.target')
        option('no_source_include', True, '.target')
        option('builtin_move_forward', False, '.target')
        option('builtin_initializer_list', False, '.target')
        option('brief_diagnostics', True, '.target')
        option('disable_warnings', True, '.target')
        option('no_display_error_number', True, '.target')
        option('ptxas_options', '-v', '.target')
        option('ptxas_options', ['-v', '-O2'], '.target')
        option('diag_error', 177, '.target')
        option('diag_suppress', [177, 1], '.target')
        option('diag_warn', (177,), '.target')
        option('device_as_default_execution_space', True, '.target')
        option('optimization_info', 'inline', '.target')
        option('fdevice_syntax_only', False, '.target')
        option('frandom_seed', 'x', '.target')
        option('gen_opt_lto', False, '.target')
        option('extensible_whole_program', True, '.target')
        logged('int unused;')
        logged('#warning "mine"')
        logged('')
        logged('#pragma message("note")')
        failed('broken')
        failed('int f() { return "x"; }')
        failed('#include <none_such.h>')
        failed('#error mine')
        failed('extern "C" __global__ void k(none x) {}')
        includes('folder')
        includes('folder', as_list=True)
        includes('none')
        pre_included('folder')
    """),
]

KERNELS = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);
struct half_ { unsigned short bits; };
template <class T> __device__ void put(char* out, T x) { for (int i = 0; i < sizeof(T); ++i) out[i] = ((char*)&x)[i]; }
#define TAKES(name, type) extern "C" __global__ void name(char* out, type x) { put(out, x); }
TAKES(p_signed_char, signed char) TAKES(p_unsigned_char, unsigned char) TAKES(p_short, short)
TAKES(p_unsigned_short, unsigned short) TAKES(p_int, int) TAKES(p_unsigned, unsigned) TAKES(p_long_long, long long)
TAKES(p_unsigned_long_long, unsigned long long) TAKES(p_float, float) TAKES(p_double, double) TAKES(p_bool, bool)
TAKES(p_half, half_) TAKES(p_float2, float2) TAKES(p_double2, double2)
extern "C" __global__ void several(char* out, char a, double b, char c, long long d) {
  put(out, a); put(out + 8, b); put(out + 16, c); put(out + 24, d);
}
extern "C" __global__ void more(int* out) { *out = *out * 2 + 1; }
extern "C" __global__ void triple(int* out) { *out *= 3; }
extern "C" __global__ void count(int* out) { atomicAdd(out, 1); }
extern "C" __global__ void dynamic(int* out) { extern __shared__ int s[]; s[0] = 5; *out = s[0]; }
extern "C" __global__ void says() { printf("said\\n"); }
extern "C" __global__ void down(int* out, int* left, cudaGraphConditionalHandle handle) {
  *out += 10; *left -= 1; cudaGraphSetConditional(handle, *left > 0);
}
"""
OPTIONS = """
extern "C" __global__ void k(float* __restrict__ out, const float* __restrict__ in, float a, float b) {
  *out = sqrtf(in[0]) / a + a * b + in[1];
}
"""


def names(shared):
    import os
    import tempfile

    import numpy as np

    core, graph, device, stream, pinned = shared.core, shared.graph, shared.device, shared.stream, shared.pinned
    resource, arch, one = shared.resource, shared.arch, shared.one
    code = core.Program(KERNELS, "c++", core.ProgramOptions(std="c++17", arch=arch)).compile("cubin")
    out = pinned.allocate(64)
    seen = np.from_dlpack(out)
    left = pinned.allocate(4)
    left_seen = np.from_dlpack(left).view("i4")
    event = device.create_event()
    pool = core.DeviceMemoryResource(device)
    managed = core.ManagedMemoryResource()
    resources = {"pinned": pinned, "device": resource, "pool": pool, "managed": managed}

    def kernel(name):
        return code.get_kernel(name)

    def passed(kind, value):
        seen[:] = 255
        core.launch(stream, one, kernel("p_" + kind.replace(" ", "_")), out, value)
        stream.sync()
        return seen[:16].tobytes()

    def several(*values):
        seen[:] = 0
        core.launch(stream, one, kernel("several"), out, *values)
        stream.sync()
        return seen[:32].tobytes()

    def filled(value, size):
        memory = pinned.allocate(size)
        memory.fill(value, stream=stream)
        stream.sync()
        return np.from_dlpack(memory).tobytes()[:16]

    def copied(source, target, size):
        a, b = (resources[way].allocate(size, stream=stream) for way in (source, target))
        a.fill(7, stream=stream)
        a.copy_to(b, stream=stream)
        back = pinned.allocate(size)
        back.copy_from(b, stream=stream)
        stream.sync()
        return set(np.from_dlpack(back).tolist())

    def number(value=None):
        view = seen[:4].view("i4")
        if value is not None:
            view[0] = value
        return int(view[0])

    def in_memset(value, width, **more):
        seen[:] = 1
        definition = graph.GraphDefinition()
        definition.memset(out, value, width, **more)
        definition.instantiate().launch(stream)
        stream.sync()
        return seen[:32].tobytes()

    def child():
        inner = graph.GraphDefinition()
        inner.launch(one, kernel("more"), out)
        return inner

    def body(definition, name="more"):
        definition.launch(one, kernel(name), out)

    order = []

    def work():
        order.append(number())

    def in_chain(*kinds):
        order.clear()
        number(1)
        left_seen[0] = 3
        definition = graph.GraphDefinition()
        last = definition
        for kind in kinds:
            if kind == "kernel":
                last = last.launch(one, kernel("more"), out)
            elif kind == "memset":
                last = last.memset(out, 0, 4)
            elif kind == "memcpy":
                last = last.memcpy(out, left, 4)
            elif kind == "host":
                last = last.callback(work)
            elif kind == "record":
                last = last.record(event)
            elif kind == "wait":
                last = last.wait(event)
            elif kind == "child":
                last = last.embed(child())
            elif kind == "alloc":
                last = last.allocate(64)
            elif kind == "empty":
                last = last.join() if last is not definition else definition.empty()
            elif kind == "while3":
                condition = definition.create_condition(1)
                last = last.while_loop(condition)
                last.body.launch(one, kernel("down"), out, left, condition)
            elif kind.startswith("switch"):
                last = last.switch(definition.create_condition(int(kind[-1])), 3)
                for branch, name in zip(last.branches, ("more", "triple", "count")):
                    body(branch, name)
            elif kind.startswith("else"):
                last = last.if_else(definition.create_condition(int(kind[-1])))
                body(last.then)
                body(last.else_, "triple")
            else:
                last = last.if_then(definition.create_condition(int(kind[-1])))
                body(last.then)
        definition.instantiate().launch(stream)
        stream.sync()
        return number(), list(order), len(definition.nodes()), len(definition.edges())

    def captured(*kinds, times=1):
        order.clear()
        number(1)
        left_seen[0] = 3
        builder = device.create_graph_builder().begin_building()
        for kind in kinds:
            if kind == "kernel":
                core.launch(builder, one, kernel("more"), out)
            elif kind == "memset":
                out.fill(0, stream=builder)
            elif kind == "copy":
                left.copy_to(out, stream=builder) if left.size == out.size else out.fill(2, stream=builder)
            elif kind == "host":
                builder.callback(work)
            elif kind == "child":
                inner = device.create_graph_builder().begin_building()
                core.launch(inner, one, kernel("more"), out)
                builder.embed(inner.end_building())
            elif kind == "alloc":
                memory = core.GraphMemoryResource(device).allocate(4, stream=builder)
                memory.fill(3, stream=builder)
                memory.close()
            elif kind.startswith("fork"):
                parts = builder.split(int(kind[-1]))
                for part in parts:
                    core.launch(part, one, kernel("count"), out)
                builder = graph.GraphBuilder.join(*parts)
            elif kind == "while3":
                condition = builder.create_condition(1)
                inside = builder.while_loop(condition).begin_building()
                core.launch(inside, one, kernel("down"), out, left, condition)
                inside.end_building()
            elif kind.startswith("switch"):
                for inside, name in zip(
                    builder.switch(builder.create_condition(int(kind[-1])), 3), ("more", "triple", "count")
                ):
                    core.launch(inside.begin_building(), one, kernel(name), out)
                    inside.end_building()
            elif kind.startswith("else"):
                for inside, name in zip(builder.if_else(builder.create_condition(int(kind[-1]))), ("more", "triple")):
                    core.launch(inside.begin_building(), one, kernel(name), out)
                    inside.end_building()
            else:
                inside = builder.if_then(builder.create_condition(int(kind[-1]))).begin_building()
                core.launch(inside, one, kernel("more"), out)
                inside.end_building()
        made = builder.end_building().complete()
        for _ in range(times):
            made.launch(stream)
        stream.sync()
        return number(), list(order)

    def definition_of(form):
        definition = graph.GraphDefinition()
        if form == "memset":
            definition.memset(out, 0, 4)
        else:
            last = definition.launch(one, kernel("triple" if form == "other" else "more"), out)
            if form == "two":
                last.launch(one, kernel("more"), out)
        return definition

    def updated(first, second):
        made = definition_of(first).instantiate()
        failure = shared.raised(lambda: made.update(definition_of(second)))
        number(2)
        made.launch(stream)
        stream.sync()
        return failure is None, number()

    def node_of(kind, definition):
        if kind == "kernel":
            return definition.launch(one, kernel("more"), out)
        if kind == "memset":
            return definition.memset(out, 7, 1)
        if kind == "memcpy":
            return definition.memcpy(out, left, 4)
        return definition.callback(work)

    def toggled(kind, state):
        number(2)
        left_seen[0] = 9
        definition = graph.GraphDefinition()
        node = node_of(kind, definition)
        made = definition.instantiate()
        made[node].is_enabled = state
        made.launch(stream)
        stream.sync()
        return number(), made[node].is_enabled

    def replaced(kind):
        order.clear()
        number(2)
        left_seen[0] = 9
        definition = graph.GraphDefinition()
        node = node_of(kind, definition)
        made = definition.instantiate()
        view = made[node]
        if kind == "kernel":
            view.update(config=one, kernel=kernel("triple"), args=(out,))
        elif kind == "memset":
            view.update(value=3)
        elif kind == "memcpy":
            view.update(dst=out, src=left, size=2)
        else:
            view.update(lambda: order.append("new"))
        made.launch(stream)
        stream.sync()
        return number(), list(order)

    def occupied(block, size):
        return kernel("more").occupancy.max_active_blocks_per_multiprocessor(block, size)

    def best(size, limit):
        found = kernel("dynamic").occupancy.max_potential_block_size(size, limit)
        return found.min_grid_size, found.max_block_size

    def threads(grid, block, cluster=None):
        number(0)
        core.launch(stream, core.LaunchConfig(grid=grid, block=block, cluster=cluster), kernel("count"), out)
        stream.sync()
        return number()

    def shared_bytes(size):
        number(0)
        core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=size), kernel("dynamic"), out)
        stream.sync()
        return number()

    def printed(mode):
        if mode == "line":
            core.launch(stream, one, kernel("more"), out)
        stream.sync()

    def defined(macro, **more):
        source = """
        #ifndef VALUE
        #define VALUE -1
        #endif
        extern "C" __global__ void k(int* out) { *out = VALUE; }"""
        made = core.Program(source, "c++", core.ProgramOptions(arch=arch, define_macro=macro, **more)).compile("cubin")
        core.launch(stream, one, made.get_kernel("k"), out)
        stream.sync()
        return number()

    def option(name, value, text):
        given = {"arch": arch, name: value}
        return text.encode() in core.Program(OPTIONS, "c++", core.ProgramOptions(**given)).compile("ptx").code

    class Log:
        def __init__(self):
            self.texts = []

        def write(self, text):
            self.texts.append(text)

    def logged(line):
        log = Log()
        source = f'{line}\nextern "C" __global__ void k() {{ int unused_here; }}'
        core.Program(source, "c++", {"arch": arch}).compile("ptx", logs=log)
        return len(log.texts), [type(text).__name__ for text in log.texts], "unused_here" in "".join(log.texts)

    def failed(source):
        try:
            core.Program(source, "c++", {"arch": arch}).compile("ptx")
        except Exception as error:
            return "error" in str(error), "NVRTC" in str(error), isinstance(error, RuntimeError)

    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "mine.h"), "w") as file:
        file.write("#define MINE 42\n")
    folders = {"folder": folder, "none": "/none/such"}

    def includes(which, as_list=False):
        path = [folders[which]] if as_list else folders[which]
        source = '#include "mine.h"\nextern "C" __global__ void k(int* out) { *out = MINE; }'
        made = core.Program(source, "c++", core.ProgramOptions(arch=arch, include_path=path)).compile("cubin")
        core.launch(stream, one, made.get_kernel("k"), out)
        stream.sync()
        return number()

    def pre_included(which):
        source = 'extern "C" __global__ void k(int* out) { *out = MINE; }'
        options = core.ProgramOptions(arch=arch, pre_include="mine.h", include_path=folders[which])
        made = core.Program(source, "c++", options).compile("cubin")
        core.launch(stream, one, made.get_kernel("k"), out)
        stream.sync()
        return number()

    return {name: value for name, value in locals().items() if callable(value) and name not in ("shared", "Log")}
