#!/usr/bin/env python3
"""Writes the translation unit and the export list that make the driver's surface complete.

Input: the folder with cuda.h and its *Typedefs.h companions. Output, in the build folder:
  entries.cpp  for every driver function a weak definition that answers CUDA_ERROR_NOT_SUPPORTED (or, for a variant
               with per-thread default stream, that calls the plain function inside a PerThreadDefaultStream scope),
               and the table the entry-point look-up and the status report read;
  exports.map  the linker's list of exported names;
  names.cpp    functions of the same names that nobody calls, for libcuda.so of the Python package.
The real functions in this folder are strong definitions of the same names, so "is a stub" is an address comparison.

A driver name is `base[_vN][_ptds|_ptsz]`. The Typedefs headers list the versions of each base in ascending order, and
so are the `_vN`: the two lists pair up one to one, which is checked here.
"""

import pathlib
import re
import sys

NAME = re.compile(r"(cu\w+?)(?:_v(\d+))?(_ptds|_ptsz)?$")
FOREIGN_HEADERS = ("cudaGL", "cudaEGL", "cudaVDPAU", "cudaProfiler")
WINDOWS_ONLY = {"cuWGLGetDevice"}
# What newer headers than those of 13.0 declare: {name: (version, parameters)}, for both kinds of default stream where
# a parameter is a stream. Declared in cuda_13_5.hpp, except what is refused and takes nothing known here.
NEWER = {
    "cuDevSmResourceSplit": (
        13010,
        "CUdevResource *result, unsigned int nbGroups, const CUdevResource *input, CUdevResource *remainder, "
        "unsigned int flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams",
    ),
    "cuGraphExecGetId": (13010, "CUgraphExec hGraphExec, unsigned int *graphId"),
    "cuGraphGetId": (13010, "CUgraph hGraph, unsigned int *graphId"),
    "cuGraphNodeGetContainingGraph": (13010, "CUgraphNode hNode, CUgraph *phGraph"),
    "cuGraphNodeGetLocalId": (13010, "CUgraphNode hNode, unsigned int *nodeId"),
    "cuGraphNodeGetToolsId": (13010, "CUgraphNode hNode, unsigned long long *toolsNodeId"),
    "cuLaunchHostFunc_v2": (13010, "CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode"),
    "cuMulticastBindAddr_v2": (
        13010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUdeviceptr memptr, size_t size, "
        "unsigned long long flags",
    ),
    "cuMulticastBindMem_v2": (
        13010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, "
        "CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags",
    ),
    "cuStreamGetDevResource": (13010, "CUstream hStream, CUdevResource *resource, CUdevResourceType type"),
    "cuFuncGetParamCount": (13020, "CUfunction func, size_t *paramCount"),
    "cuGraphNodeGetParams": (13020, "CUgraphNode hNode, CUgraphNodeParams *nodeParams"),
    "cuKernelGetParamCount": (13020, "CUkernel kernel, size_t *paramCount"),
    "cuMemcpy3DWithAttributesAsync": (
        13020,
        "CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream",
    ),
    "cuMemcpyWithAttributesAsync": (
        13020,
        "CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream",
    ),
    "cuGraphAddNode_v3": (
        13040,
        "CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, "
        "const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams",
    ),
    "cuGraphNodeSetParams_v2": (13040, "CUgraphNode hNode, CUgraphNodeParams *nodeParams"),
}
NEWER_WITHOUT_TYPES = {
    13010: [
        "cuStreamBeginCaptureToCig",
        "cuStreamBeginCaptureToCig_ptsz",
        "cuStreamEndCaptureToCig",
        "cuStreamEndCaptureToCig_ptsz",
    ],
    13020: [
        "cuCoredumpDeregisterCompleteCallback",
        "cuCoredumpDeregisterStartCallback",
        "cuCoredumpRegisterCompleteCallback",
        "cuCoredumpRegisterStartCallback",
    ],
    13030: [
        "cuLogicalEndpointAddDevice",
        "cuLogicalEndpointBindAddr",
        "cuLogicalEndpointBindMem",
        "cuLogicalEndpointCreate",
        "cuLogicalEndpointDestroy",
        "cuLogicalEndpointExport",
        "cuLogicalEndpointGetLimits",
        "cuLogicalEndpointIdRelease",
        "cuLogicalEndpointIdReserve",
        "cuLogicalEndpointImport",
        "cuLogicalEndpointQuery",
        "cuLogicalEndpointUnbind",
        "cuStreamBeginRecaptureToGraph",
        "cuStreamBeginRecaptureToGraph_ptsz",
    ],
    13040: [
        "cuCheckpointOperationComplete",
        "cuDeviceGetCliqueCount",
        "cuDeviceGetCliqueInfo",
        "cuDeviceGetFabricClusterUuid",
        "cuMemGetLocationInfo",
    ],
    13050: ["cuFabricCpyBatchAsync", "cuFabricCpyBatchAsync_ptsz", "cuTensorMapSetAllocationClass"],
}
OWN_EXPORTS = (
    "InitializeInjectionNvtx2",  # NVTX: nvtx.cpp
    "__jit_debug_descriptor",  # where debuggers look, in stripped libraries too
    "__jit_debug_register_code",
    "cucore_cpu_device_version",
    "cucore_cpu_dump",
    "cucore_cpu_driver_status",
    "cucore_cpu_findings",
    "cucore_cpu_is_initialized",
    "cucore_cpu_kernel_counts",
    "cucore_cpu_last_fault",
    "cucore_cpu_last_report",
    "cucore_cpu_live_objects",
    "cucore_cpu_set_origin",
    "cucore_cpu_trace_caller_writes",
    "cucore_cpu_trace_end",
    "cucore_cpu_trace_join",
    "cucore_cpu_trace_write",
)


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def versions_by_base(folder):
    """{base: {suffix: [versions]}} from `PFN_base_vVERSION[_suffix]`."""
    found = {}
    for stem in ("cuda", *FOREIGN_HEADERS):
        header = folder / f"{stem}Typedefs.h"
        if not header.exists():
            continue
        for base, version, suffix in re.findall(r"CUDAAPI \*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)", header.read_text()):
            if base not in WINDOWS_ONLY:
                found.setdefault(base, {}).setdefault(suffix, set()).add(int(version))
    return {base: {suffix: sorted(v) for suffix, v in by.items()} for base, by in found.items()}


def declarations(folder):
    """{exported name: parameter list} from cuda.h, with its renaming macros applied as the driver's own build does."""
    text = without_comments((folder / "cuda.h").read_text())
    main, _, internal = text.partition("#undef cuMemHostRegister")
    if not internal:
        sys.exit("cuda.h: its section with the older declarations was not found")
    renamed = {}
    for name, macro, target in re.findall(r"#\s*define\s+(cu\w+)\s+(?:(__CUDA_API_PT[DS][SZ])\(\s*)?(cu\w+)\)?", main):
        suffix = {"__CUDA_API_PTDS": "_ptds", "__CUDA_API_PTSZ": "_ptsz"}.get(macro, "")
        renamed[name] = target + suffix
    found = {}
    pattern = re.compile(r"CUresult\s+CUDAAPI\s+(cu\w+)\s*\(([^;]*?)\)\s*;", re.S)
    for part, names in ((main, renamed), (internal, {})):
        for name, parameters in pattern.findall(part):
            found[names.get(name, name)] = [" ".join(p.split()) for p in parameters.split(",")]
    return found


def argument(parameter):
    return re.search(r"(\w+)\s*$", parameter)[1]


def add_newer(declared, versions):
    """Adds what the headers at hand do not have."""

    def add(name, version):
        base, _, suffix = NAME.match(name).groups()
        versions.setdefault(base, {}).setdefault(suffix or "", []).append(version)

    for name, (version, parameters) in NEWER.items():
        if name in declared:
            continue
        for each in (name, f"{name}_ptsz") if "CUstream " in parameters else (name,):
            declared[each] = parameters.split(", ")
            add(each, version)
    for version, names in NEWER_WITHOUT_TYPES.items():
        for name in names:
            if name not in declared:
                add(name, version)


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    declared = declarations(folder)
    versions = versions_by_base(folder)
    add_newer(declared, versions)
    symbols = {}
    for name in declared:
        base, number, suffix = NAME.match(name).groups()
        symbols.setdefault(base, {}).setdefault(suffix or "", []).append((int(number or 1), name))
    rows = []
    for base, by_suffix in sorted(versions.items()):
        for suffix, versions in by_suffix.items():
            names = [name for _, name in sorted(symbols.get(base, {}).get(suffix, []))]
            if not names:  # GL, EGL, VDPAU, profiler: their headers need other libraries' types, so not included
                names = [base + ("" if i == 0 else f"_v{i + 1}") + suffix for i in range(len(versions))]
            if len(names) != len(versions):
                sys.exit(f"{base}{suffix}: {len(versions)} versions in the Typedefs header but {names} in cuda.h")
            rows += [(base, suffix, version, name) for version, name in zip(versions, names)]
    missing = set(declared) - {row[3] for row in rows}
    if missing:
        sys.exit(f"cuda.h declares names without a version: {sorted(missing)}")

    known = {row[3] for row in rows}
    text = [
        "// Made by generate_entries.py from the CUDA headers. Do not edit.",
        "#include <cuda.h>",
        '#include "cpu/api/cuda_13_5.hpp"',
        '#include "cpu/api/entry_table.hpp"',
        '#include "cpu/runtime/process/default_stream.hpp"',
        '#pragma GCC diagnostic ignored "-Wunused-parameter"',
        "#ifndef __clang__",
        '#pragma GCC diagnostic ignored "-Wmissing-attributes"',
        "#endif",
        '#define HIDDEN __attribute__((visibility("hidden")))',
        '#define WEAK __attribute__((weak, visibility("default")))',
        "using cucore::cpu::runtime::PerThreadDefaultStream;",
        'extern "C" {',
    ]
    table = []
    for base, suffix, version, name in rows:
        parameters = declared.get(name, ["void"])
        listed = ", ".join(parameters)
        text.append(f"HIDDEN CUresult cucore_stub_{name}({listed}) {{ return CUDA_ERROR_NOT_SUPPORTED; }}")
        plain = name[: -len(suffix)] if suffix else name
        if suffix and plain in known and name in declared:
            text.append(f"HIDDEN CUresult cucore_per_thread_{name}({listed}) {{")
            text.append(f"  PerThreadDefaultStream scope; return {plain}({', '.join(map(argument, parameters))});")
            text.append("}")
            target = f"cucore_per_thread_{name}"
        else:
            target, plain = f"cucore_stub_{name}", name
        text.append(f'WEAK __attribute__((alias("{target}"))) CUresult {name}({listed});')
        flag = {"": "None", "_ptds": "Ptds", "_ptsz": "Ptsz"}[suffix]
        table.append(
            f'{{"{base}", "{name}", {version}, Variant::{flag}, reinterpret_cast<void*>(&{name}), '
            f"reinterpret_cast<void*>(&{plain}), reinterpret_cast<void*>(&cucore_stub_{plain})}},"
        )
    text += ["}", "namespace cucore::cpu::api {", "const Entry entries[] = {", *table, "};"]
    text += [f"const std::size_t entry_count = {len(rows)};", "}  // namespace cucore::cpu::api", ""]
    out.mkdir(parents=True, exist_ok=True)
    (out / "entries.cpp").write_text("\n".join(text))
    exported = sorted(known) + list(OWN_EXPORTS)
    named = [
        f'extern "C" __attribute__((visibility("default"))) void {name}() {{ __builtin_trap(); }}\n'
        for name in exported
    ]
    (out / "names.cpp").write_text("".join(named))
    (out / "exports.map").write_text("{\n  global:\n    " + ";\n    ".join(exported) + ";\n  local: *;\n};\n")


if __name__ == "__main__":
    main()
