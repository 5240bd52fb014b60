"""Programs, code objects, kernels and linkers: what each takes, gives and refuses."""

from common import lines
from of_wrong_arguments import names  # noqa: F401

BEHAVIOURS = lines("""
    import io; log = io.StringIO(); o = core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', logs=log); o.code_type, kind(log.getvalue())
    import io; log = io.StringIO(); raised(lambda: core.Program('broken', 'c++', {'arch': arch}).compile('ptx', logs=log)), 'error' in log.getvalue()
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', logs=5).code_type
    import io; log = io.StringIO(); core.Program(ptx.code, 'ptx', {'arch': arch}).compile('cubin', logs=log).code_type
    import io; log = io.StringIO(); core.Program(ptx.code.decode(), 'ptx', {'arch': arch, 'ptxas_options': '-v'}).compile('cubin', logs=log).code_type
    core.Program('broken', 'ptx', {'arch': arch}).compile('cubin')
    core.Program('', 'ptx', {'arch': arch}).compile('cubin')
    core.Program('', 'c++', {'arch': arch}).compile('cubin').code_type
    core.Program('', 'c++', {'arch': arch}).compile('ptx').get_kernel('k')
    core.Program(b'', 'c++')
    core.Program(SOURCE.encode(), 'c++', {'arch': arch}).compile('ptx').code_type
    core.Program(SOURCE, 'C++', {'arch': arch}).compile('PTX').code_type
    core.Program(SOURCE, 'cpp')
    core.Program(SOURCE, 'cuda')
    core.Program(SOURCE, None)
    core.Program(SOURCE)
    core.Program(None, 'c++')
    core.Program(5, 'c++')
    core.Program(SOURCE, 'nvvm')
    core.Program(SOURCE, 'nvvm', {'arch': arch}).compile('ptx')
    core.Program(b'x', 'nvvm', {'arch': arch}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': 'sm_1'}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': 'compute_90'}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'arch': 'sm_90a'}).compile('cubin').code_type
    core.Program(SOURCE, 'c++', {'arch': '90'}).compile('cubin').code_type
    core.Program(SOURCE, 'c++', {'arch': 90}).compile('cubin').code_type
    core.Program(SOURCE, 'c++', {'arch': ''}).compile('cubin').code_type
    core.Program(SOURCE, 'c++', {'std': 'c++17', 'arch': arch}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'std': 'c++99', 'arch': arch}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'nope': 1})
    core.Program(SOURCE, 'c++', 5)
    core.Program(SOURCE, 'c++', 'x')
    core.Program(SOURCE, 'c++', core.LinkerOptions(arch=arch))
    core.Program(SOURCE, 'c++', core.StreamOptions())
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.backend, kind(p.handle)
    p = core.Program(ptx.code.decode(), 'ptx', {'arch': arch}); p.backend, kind(p.handle)
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.close(); p.close(); p.compile('ptx')
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.close(); p.handle
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.close(); p.backend
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.close(); shape(repr(p))
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p == p, p == core.Program(SOURCE, 'c++', {'arch': arch}), hash(p) == hash(p)
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.pch_status
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('ptx'); p.pch_status
    p = core.Program(SOURCE, 'c++', {'arch': arch, 'pch': True}); p.compile('ptx').code_type, p.pch_status
    p = core.Program(SOURCE, 'c++', {'arch': arch, 'create_pch': os.path.join(tempfile.mkdtemp(), 'x.pch')}); p.compile('ptx').code_type, p.pch_status
    p = core.Program(ptx.code.decode(), 'ptx', {'arch': arch}); p.pch_status
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.backend = 5
    p = core.Program(SOURCE, 'c++', {'arch': arch}); [p.compile(t).code_type for t in ('ptx', 'cubin', 'ltoir')]
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('fatbin')
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('x')
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile(None)
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile()
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile(5)
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('object')
    p = core.Program(ptx.code.decode(), 'ptx', {'arch': arch}); p.compile('ltoir')
    p = core.Program(ptx.code.decode(), 'ptx', {'arch': arch}); p.compile('cubin', name_expressions=('k',)).code_type
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', name_expressions=('nope<int>',))
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', name_expressions=('fill<int>', 'fill<int>')).symbol_mapping.keys() == {'fill<int>'}
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', name_expressions=('k',)).symbol_mapping
    p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', name_expressions=(5,))
    p = core.Program(SOURCE, 'c++', {'arch': arch, 'name': 'hello'}); p.compile('cubin').name
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin').name
    core.Program(ptx.code.decode(), 'ptx', {'arch': arch, 'name': 'hello'}).compile('cubin').name
    core.Linker(ptx, options={'arch': arch, 'name': 'hello'}).link('cubin').name
    core.ObjectCode.from_ptx(ptx.code, name='x').name, core.ObjectCode.from_ptx(ptx.code).name, core.ObjectCode.from_cubin(cubin.code).name
    core.ObjectCode.from_ptx(ptx.code.decode()).code_type
    core.ObjectCode.from_ptx(5)
    core.ObjectCode.from_ptx(None)
    core.ObjectCode.from_ptx()
    core.ObjectCode.from_ptx('/nope.ptx').code
    core.ObjectCode.from_cubin('/nope.cubin').get_kernel('k')
    core.ObjectCode.from_fatbin(b'x').get_kernel('k')
    core.ObjectCode.from_library(b'x').get_kernel('k')
    core.ObjectCode.from_object(b'x').get_kernel('k')
    core.ObjectCode.from_ltoir(b'x').get_kernel('k')
    [getattr(core.ObjectCode, 'from_' + x)(b'x').code_type for x in ('ptx', 'cubin', 'fatbin', 'ltoir', 'object', 'library')]
    core.ObjectCode.from_cubin(bytearray(cubin.code)).get_kernel('k').num_arguments
    core.ObjectCode.from_ptx(bytearray(ptx.code)).code_type
    core.ObjectCode.from_cubin(cubin.code, name=5)
    core.ObjectCode.from_cubin(cubin.code, symbol_mapping=5)
    core.ObjectCode.from_cubin(cubin.code, symbol_mapping={'a': b'k'}).get_kernel('a').num_arguments
    core.ObjectCode.from_cubin(cubin.code, symbol_mapping={'a': b'k'}).get_kernel('k').num_arguments
    cubin.get_kernel('nope')
    cubin.get_kernel(5)
    cubin.get_kernel(None)
    cubin.get_kernel('')
    cubin.get_kernel('k') == cubin.get_kernel('k'), hash(cubin.get_kernel('k')) == hash(cubin.get_kernel('k')), cubin.get_kernel('k') is cubin.get_kernel('k'), cubin.get_kernel('k') != cubin.get_kernel('none')
    cubin == cubin, cubin == ptx, cubin == core.ObjectCode.from_cubin(cubin.code), cubin != 5, hash(cubin) == hash(cubin)
    cubin.code = b'x'
    cubin.name = 'x'
    cubin.code_type = 'ptx'
    cubin.symbol_mapping['fill<int>'] == cubin.symbol_mapping['fill<int>'], kind(cubin.symbol_mapping), kind(cubin.code)
    shape(repr(cubin))[:40], str(cubin) == repr(cubin)
    shape(repr(kernel))
    kernel.num_arguments, [(a.offset, a.size) for a in kernel.arguments_info], kind(kernel.arguments_info), kind(kernel.arguments_info[0])
    cubin.get_kernel('many').num_arguments, [tuple(a) for a in cubin.get_kernel('many').arguments_info]
    cubin.get_kernel('none').arguments_info
    kernel.attributes is kernel.attributes, kernel.occupancy is kernel.occupancy
    kernel.attributes.num_regs(5)
    kernel.attributes.num_regs(device), kernel.attributes.num_regs(0), kernel.attributes.num_regs(None)
    kernel.attributes.num_regs('x')
    kernel.attributes.num_regs
    kernel.attributes.max_threads_per_block(), kernel.attributes.shared_size_bytes(), kernel.attributes.const_size_bytes(), kernel.attributes.local_size_bytes(), kernel.attributes.cache_mode_ca()
    kernel.attributes.ptx_version(), kernel.attributes.binary_version()
    kernel.attributes.cluster_size_must_be_set(), kernel.attributes.required_cluster_width(), kernel.attributes.non_portable_cluster_size_allowed(), kernel.attributes.cluster_scheduling_policy_preference()
    kernel.attributes.max_dynamic_shared_size_bytes(), kernel.attributes.preferred_shared_memory_carveout()
    kernel.attributes.nope
    kernel.attributes[0]
    kernel.attributes[device]
    kernel.occupancy.max_active_blocks_per_multiprocessor(0, 0)
    kernel.occupancy.max_active_blocks_per_multiprocessor(-1, 0)
    kernel.occupancy.max_active_blocks_per_multiprocessor(1025, 0)
    kernel.occupancy.max_active_blocks_per_multiprocessor(32, -1)
    kernel.occupancy.max_active_blocks_per_multiprocessor(32, 1 << 20)
    kernel.occupancy.max_active_blocks_per_multiprocessor('x', 0)
    kernel.occupancy.max_potential_block_size(0, 0)
    tuple(kernel.occupancy.max_potential_block_size(0, 64)), kernel.occupancy.max_potential_block_size(0, 64).min_grid_size, kernel.occupancy.max_potential_block_size(0, 64).max_block_size
    kernel.occupancy.max_potential_block_size(-1, 0)
    kernel.occupancy.max_potential_block_size(0, -1)
    kernel.occupancy.available_dynamic_shared_memory_per_block(1, 32) > 0
    kernel.occupancy.available_dynamic_shared_memory_per_block(0, 32)
    kernel.occupancy.available_dynamic_shared_memory_per_block(1, 0)
    kernel.occupancy.available_dynamic_shared_memory_per_block(1000, 1024)
    kernel.occupancy.max_potential_cluster_size(core.LaunchConfig(grid=8, block=32), stream=stream)
    kernel.occupancy.max_active_clusters(core.LaunchConfig(grid=8, block=32, cluster=2), stream=stream)
    kernel.occupancy.max_active_clusters(core.LaunchConfig(grid=8, block=32), stream=stream)
    core.Linker()
    core.Linker(5)
    core.Linker(ptx, 5)
    core.Linker(ptx, options=5)
    core.Linker(ptx, options={'nope': 1})
    core.Linker(ptx, options={'arch': arch}).link('x')
    core.Linker(ptx, options={'arch': arch}).link()
    core.Linker(ptx, options={'arch': arch}).link(None)
    core.Linker(ptx, options={'arch': arch}).backend
    core.Linker(ptx, options={'arch': arch}).get_error_log(), core.Linker(ptx, options={'arch': arch}).get_info_log()
    l = core.Linker(ptx, options={'arch': arch, 'verbose': True}); l.link('cubin'); kind(l.get_info_log()), len(l.get_info_log()) > 0
    l = core.Linker(ptx, options={'arch': arch}); l.close(); l.link('cubin')
    l = core.Linker(ptx, options={'arch': arch}); l.close(); l.close(); l.handle
    l = core.Linker(ptx, options={'arch': arch}); l == l, hash(l) == hash(l), l == 5
    core.Linker(core.ObjectCode.from_ptx(b'broken'), options={'arch': arch})
    core.Linker(core.ObjectCode.from_ptx(b'broken'), options={'arch': arch}).link('cubin')
    core.Linker(core.ObjectCode.from_cubin(b'broken'), options={'arch': arch})
    core.Linker(core.ObjectCode.from_fatbin(b'broken'), options={'arch': arch})
    core.Linker(core.ObjectCode.from_ltoir(b'broken'), options={'arch': arch})
    core.Linker(core.ObjectCode.from_object(b'broken'), options={'arch': arch})
    core.Linker(core.ObjectCode.from_library(b'broken'), options={'arch': arch})
    core.Linker(ptx, options=core.LinkerOptions(arch='x'))
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', ptxas_options=['-v', '-O3'])).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', max_register_count=32)).link('cubin').get_kernel('k').attributes.num_regs() <= 32
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', time=True)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', lineinfo=True, debug=True)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', optimization_level=0)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', optimization_level=9)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', split_compile=0)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', split_compile_extended=1)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', no_cache=True)).link('cubin').code_type
    core.Linker(ptx, options=core.LinkerOptions(arch='sm_90', ftz=True, prec_div=False, prec_sqrt=False, fma=False)).link('cubin').code_type
    core.Linker.which_backend() if hasattr(core.Linker, 'which_backend') else None
    repr(core.LinkerOptions(arch='sm_90')), core.LinkerOptions(arch='sm_90') == core.LinkerOptions(arch='sm_90')
    core.LinkerOptions().arch, core.ProgramOptions().arch
    core.ProgramOptions(arch='sm_90').as_bytes('nope')
    core.ProgramOptions(arch='sm_90').as_bytes('nvvm')
    core.ProgramOptions(arch='sm_90').as_bytes('nvjitlink')
    core.ProgramOptions(arch='sm_90').as_bytes('NVRTC')
    core.ProgramOptions(arch='sm_90').as_bytes()
    core.ProgramOptions(arch='sm_90', define_macro='A').as_bytes('nvrtc'), core.ProgramOptions(arch='sm_90', define_macro=('A', '1')).as_bytes('nvrtc'), core.ProgramOptions(arch='sm_90', define_macro=['A', ('B', '2')]).as_bytes('nvrtc')
    core.ProgramOptions(arch='sm_90', define_macro=('A', 1)).as_bytes('nvrtc')
    core.ProgramOptions(arch='sm_90', define_macro=5).as_bytes('nvrtc')
    core.ProgramOptions(arch='sm_90', define_macro=('A', '1', '2')).as_bytes('nvrtc')
    core.ProgramOptions(arch='sm_90', include_path=['/a', '/b']).as_bytes('nvrtc'), core.ProgramOptions(arch='sm_90', include_path=('/a', '/b')).as_bytes('nvrtc')
    core.ProgramOptions(arch='sm_90', debug=True, lineinfo=True).as_bytes('nvrtc')
    core.ProgramOptions(arch='sm_90', no_source_include=True, no_cache=True).as_bytes('nvrtc')
    len(core.Program(SOURCE, 'c++', {'arch': 'compute_90'}).compile('cubin').code)
    core.Linker(core.ObjectCode.from_ptx(b'broken'))
    core.Linker(core.ObjectCode.from_ptx(b''))
    core.Linker(core.ObjectCode.from_ptx(ptx.code[:300]))
    core.Linker(ptx, core.ObjectCode.from_ptx(b'broken'))
    core.Linker(core.ObjectCode.from_ptx(ptx.code.replace(b'sm_90', b'sm_100')), options={'arch': arch})
    core.Linker(core.ObjectCode.from_ptx(ptx.code.replace(b'.version', b'.versoin')), options={'arch': arch})
    core.Linker(core.ObjectCode.from_ptx(ptx.code.replace(b'ret;', b'rett;')), options={'arch': arch})
    core.Linker(core.ObjectCode.from_ptx(ptx.code.replace(b'ret;', b'rett;')), options={'arch': arch}).link('cubin')
    core.Linker(core.ObjectCode.from_ltoir(core.Program(SOURCE, 'c++', {'arch': arch, 'link_time_optimization': True}).compile('ltoir').code[:500]), options={'arch': arch, 'link_time_optimization': True})
    core.Program(ptx.code.decode().replace('ret;', 'rett;'), 'ptx', {'arch': arch})
    core.Program('broken', 'ptx', {'arch': arch})
    core.Program('', 'ptx', {'arch': arch})
    core.Program(ptx.code.decode(), 'ptx', {'arch': 'sm_80'})
    core.Program(ptx.code.decode(), 'ptx', {'arch': 'sm_80'}).compile('cubin')
    core.Linker(ptx, options={'arch': 'sm_80'})
    core.Linker(ptx, options={'arch': 'sm_80'}).link('cubin')
    core.Linker(cubin, options={'arch': 'sm_80'})
    core.Linker(cubin, options={'arch': 'sm_90'}).link('ptx')
    core.Linker(ptx, options={'arch': 'bad'})
    core.Linker(ptx, options={'arch': 'sm_90', 'optimization_level': 9})
    core.Linker(ptx, options={'arch': 'sm_90', 'max_register_count': -1})
    core.Linker(ptx, options={'arch': 'sm_90', 'ptxas_options': ['--nope']})
    core.Linker(ptx, options={'arch': 'sm_90', 'ptxas_options': ['--nope']}).link('cubin')
    core.Linker(core.ObjectCode.from_ltoir(b'broken'), options={'arch': arch, 'link_time_optimization': True})
    core.Linker(core.ObjectCode.from_ltoir(b'broken' * 1000), options={'arch': arch, 'link_time_optimization': True})
    core.Linker(core.ObjectCode.from_ltoir(b''), options={'arch': arch, 'link_time_optimization': True})
    core.Linker(core.ObjectCode.from_ltoir(ptx.code), options={'arch': arch, 'link_time_optimization': True})
    core.Linker(core.ObjectCode.from_ltoir(cubin.code), options={'arch': arch, 'link_time_optimization': True})
    core.Linker(core.ObjectCode.from_ptx(cubin.code), options={'arch': arch})
    core.Linker(core.ObjectCode.from_cubin(ptx.code), options={'arch': arch})
    core.Linker(core.ObjectCode.from_ptx(b'broken'), options={'arch': arch, 'link_time_optimization': True})
    core.Program(SOURCE, 'c++', {'arch': arch, 'link_time_optimization': True}).compile('ltoir').code[:8]
""")
