"""Object codes and kernels: where they come from, what they tell, and occupancy."""

from pathlib import Path

from common import each, lines

FORMATS = "ptx cubin fatbin ltoir object library"
GIVEN = [
    "ptx.code",
    "cubin.code",
    "b''",
    "b'nonsense'",
    "'/none/such'",
    "None",
    "5",
    "bytearray(ptx.code)",
    "memoryview(ptx.code)",
    "path",
    "Path(path)",
    "Path('/none')",
    "''",
    "ptx",
]
ATTRIBUTES = """
max_threads_per_block shared_size_bytes const_size_bytes local_size_bytes num_regs ptx_version binary_version cache_mode_ca
max_dynamic_shared_size_bytes preferred_shared_memory_carveout cluster_size_must_be_set required_cluster_width
required_cluster_height required_cluster_depth non_portable_cluster_size_allowed cluster_scheduling_policy_preference
"""
PROPERTIES = "code code_type handle name symbol_mapping"

BEHAVIOURS = [
    *each(
        "core.ObjectCode.from_{format}({given}).code_type",
        format=FORMATS,
        given=["ptx.code", "b'x'", "'/none/such'", "None", "5", "path"],
    ),
    *each("core.ObjectCode.from_ptx({given}).get_kernel('k').num_arguments", given=GIVEN),
    *each("core.ObjectCode.from_cubin({given}).get_kernel('k').num_arguments", given=GIVEN[:7]),
    *each(
        "core.ObjectCode.from_ptx(ptx.code, {more}).{name}",
        more=[
            "name='mine'",
            "name=''",
            "name=None",
            "name=5",
            "symbol_mapping=None",
            "symbol_mapping={}",
            "symbol_mapping={'fill<int>': '_Z4fillIiEvPT_S0_'}",
            "symbol_mapping={'a': b'k'}",
            "symbol_mapping=5",
            "'mine'",
        ],
        name="name symbol_mapping",
    ),
    *each("kind({thing}.{name})", thing=["ptx", "cubin", "foreign"], name=PROPERTIES),
    *each("{thing}.{name}", thing=["ptx", "cubin", "foreign"], name="code_type name"),
    *each("ptx.{name} = 5", name=PROPERTIES),
    *each(
        "{thing}.get_kernel({name}).num_arguments",
        thing=["ptx", "cubin"],
        name=[
            "'k'",
            "b'k'",
            "'none'",
            "''",
            "'none_such'",
            "5",
            "None",
            "'fill<int>'",
            "b'fill<int>'",
            "'fill<float>'",
            "name='k'",
            "'K'",
            "",
            "bytearray(b'k')",
        ],
    ),
    *each("{done}(ptx)", done="copy.copy copy.deepcopy len iter bool callable int"),
    *each(
        "ptx {operator} {other}",
        operator="== != <",
        other=[
            "ptx",
            "cubin",
            "pickled",
            "None",
            "5",
            "core.ObjectCode.from_ptx(ptx.code)",
            "core.ObjectCode.from_ptx(ptx.code, name='x')",
        ],
    ),
    *each("hash(ptx) == hash({other})", other=["ptx", "cubin", "pickled", "core.ObjectCode.from_ptx(ptx.code)"]),
    *each("shape(repr({thing}))", thing=["ptx", "cubin", "foreign", "kernel"]),
    *each("pickled.{name}", name="code_type name symbol_mapping get_kernel('k').num_arguments"),
    *each("kernel.attributes.{name}", name=ATTRIBUTES),
    *each(
        "kind(kernel.attributes.{name}({arguments}))",
        name="num_regs max_threads_per_block",
        arguments=["device", "0", "1", "None", "device_id=0", "99", "-1", "'x'", "1.5"],
    ),
    *each("foreign.get_kernel('many').attributes.{name} = 5", name=ATTRIBUTES),
    *each(
        "kernel.attributes[{key}].{name}",
        key=["0", "device", "1", "99", "'x'", "None"],
        name="num_regs max_threads_per_block",
    ),
    *each("many.{name}", name="num_arguments arguments_info attributes occupancy"),
    *each("many.arguments_info[{number}].{name}", number=range(6), name="offset size"),
    *each("none.{name}", name="num_arguments arguments_info"),
    *each("kind(kernel.{name})", name="attributes occupancy handle num_arguments arguments_info"),
    *each("kernel.{name} = 5", name="attributes occupancy handle num_arguments arguments_info"),
    *each("{done}(kernel)", done="copy.copy copy.deepcopy len iter bool callable int pickle.dumps"),
    *each(
        "kernel {operator} {other}",
        operator="== != <",
        other=[
            "kernel",
            "cubin.get_kernel('k')",
            "many",
            "None",
            "core.Kernel.from_handle(kernel.handle)",
            "core.Kernel.from_handle(int(kernel.handle))",
        ],
    ),
    *each(
        "hash(kernel) == hash({other})",
        other=["kernel", "cubin.get_kernel('k')", "many", "core.Kernel.from_handle(int(kernel.handle))"],
    ),
    *each(
        "core.Kernel.from_handle({handle}).num_arguments",
        handle=[
            "kernel.handle",
            "int(kernel.handle)",
            "handle=int(kernel.handle)",
            "int(kernel.handle), None",
            "int(kernel.handle), cubin",
            "int(kernel.handle), mod=cubin",
            "int(kernel.handle), 5",
            "None",
            "'x'",
            "1.5",
            "",
            "-1",
            "many.handle",
        ],
    ),
    *each(
        "kernel.occupancy.max_active_blocks_per_multiprocessor({arguments}) > 0",
        arguments=[
            "128, 0",
            "128",
            "128, dynamic_shared_memory_size=0",
            "block_size=128, dynamic_shared_memory_size=0",
            "0, 0",
            "-1, 0",
            "2000, 0",
            "128, -1",
            "128, 1 << 30",
            "'x', 0",
            "128.0, 0",
            "128, None",
            "",
        ],
    ),
    *each(
        "kernel.occupancy.max_potential_block_size({arguments})",
        arguments=[
            "0, 0",
            "0, 128",
            "dynamic_shared_memory_needed=0, block_size_limit=0",
            "0",
            "",
            "-1, 0",
            "'x', 0",
            "0, 'x'",
            "None, 0",
            "0, 5000",
            "lambda size: 0, 0",
            "sized, 0",
        ],
    ),
    *each(
        "kernel.occupancy.available_dynamic_shared_memory_per_block({arguments}) > 0",
        arguments=[
            "1, 128",
            "num_blocks_per_multiprocessor=1, block_size=128",
            "0, 128",
            "1, 0",
            "1",
            "",
            "'x', 128",
            "-1, 128",
            "1, 5000",
        ],
    ),
    *each(
        "kernel.occupancy.{name}({arguments})",
        name="max_potential_cluster_size max_active_clusters",
        arguments=[
            "config, stream=stream",
            "config",
            "config, stream",
            "config, stream=None",
            "clustered, stream=stream",
            "5, stream=stream",
            "None, stream=stream",
            "config, stream=5",
            "",
            "config=clustered, stream=stream",
        ],
    ),
    *lines("""
        core.ObjectCode()
        core.ObjectCode(ptx.code, "ptx")
        core.ObjectCode.__new__(core.ObjectCode)
        core.ObjectCode.from_ptx()
        core.ObjectCode.from_ptx(module=ptx.code).code_type
        core.ObjectCode.from_ptx(ptx.code).code == ptx.code
        core.ObjectCode.from_ptx(path).code == path
        core.ObjectCode.from_ptx(Path(path)).code_type
        core.ObjectCode.from_cubin(cubin.code).get_kernel("many").num_arguments
        core.ObjectCode.from_cubin(cubin.code, symbol_mapping=cubin.symbol_mapping).get_kernel("fill<int>").num_arguments
        core.ObjectCode.from_cubin(cubin.code, symbol_mapping={"mine": "k"}).get_kernel("mine").num_arguments
        core.ObjectCode.from_ltoir(b"x").get_kernel("k")
        core.ObjectCode.from_object(b"x").get_kernel("k")
        core.ObjectCode.from_ltoir(b"x").handle
        kind(ptx.get_module())
        int(ptx.get_module()) != 0
        ptx.get_module(5)
        core.ObjectCode.from_ltoir(b"x").get_module()
        int(ptx.handle) == int(ptx.handle)
        int(ptx.handle) != 0
        ptx.none
        ptx.none = 1
        ptx.get_kernel("k") is ptx.get_kernel("k")
        ptx.get_kernel("k") == ptx.get_kernel("k")
        sorted(cubin.symbol_mapping)
        list(map(type, cubin.symbol_mapping.values()))
        ptx.symbol_mapping is ptx.symbol_mapping
        weakref.ref(ptx)() is ptx
        weakref.ref(kernel)() is kernel
        dies(lambda: core.ObjectCode.from_ptx(ptx.code))
        in_thread(lambda: ptx.get_kernel("k").num_arguments)
        in_thread(lambda: kernel.attributes.num_regs >= 0)
        in_thread(lambda: core.ObjectCode.from_ptx(ptx.code).get_kernel("k").num_arguments)
        len(pickle.dumps(ptx)) > len(ptx.code)
        pickle.loads(pickle.dumps(cubin)).get_kernel("fill<int>").num_arguments
        copy.copy(ptx).code_type
        core.Kernel()
        core.Kernel(5)
        core.Kernel.__new__(core.Kernel)
        kernel.none
        kernel.none = 1
        kernel.attributes is kernel.attributes
        kernel.attributes == kernel.attributes
        kernel.attributes.none
        kernel.occupancy is kernel.occupancy
        kernel.occupancy.none
        kernel.occupancy()
        kernel.occupancy.max_potential_block_size(0, 0)._fields
        kernel.occupancy.max_potential_block_size(0, 0).min_grid_size > 0
        kernel.occupancy.max_potential_block_size(0, 0).max_block_size > 0
        kind(many.arguments_info)
        kind(many.arguments_info[0])
        many.arguments_info[0]._fields
        many.arguments_info == many.arguments_info
        many.arguments_info[0] == (0, 4)
        int(kernel.handle) != 0
        kernel.handle == kernel.handle
        {kernel: 1}[cubin.get_kernel("k")]
        list(cubin.symbol_mapping.values())
    """),
]


def names(shared):
    ctypes, core = shared.ctypes, shared.core
    path = Path(shared.tempfile.mkdtemp()) / "k.ptx"
    path.write_bytes(shared.ptx.code)
    return {
        "foreign": core.ObjectCode.from_ptx(shared.ptx.code, name="foreign"),
        "pickled": shared.pickle.loads(shared.pickle.dumps(shared.ptx)),
        "many": shared.cubin.get_kernel("many"),
        "none": shared.cubin.get_kernel("none"),
        "config": core.LaunchConfig(grid=4, block=64),
        "clustered": core.LaunchConfig(grid=4, cluster=2, block=64),
        "Path": Path,
        "path": str(path),
        "sized": ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda size: 0),
    }
