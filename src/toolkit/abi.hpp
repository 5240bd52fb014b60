// What this code knows of nvrtc.h, nvJitLink.h and nvvm.h: handle and result types. The values are checked against the
// real headers by tests/unit/toolkit/toolkit_abi_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

struct _nvrtcProgram;
struct nvJitLink;
struct _nvvmProgram;

namespace cucore::toolkit {

using NvrtcProgram = ::_nvrtcProgram*;
using NvJitLinkHandle = ::nvJitLink*;
using NvvmProgram = ::_nvvmProgram*;

enum class NvrtcResult : int {
  success = 0,
  out_of_memory = 1,
  program_creation_failure = 2,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation = 6,
  builtin_operation_failure = 7,
  no_name_expressions_after_compilation = 8,
  no_lowered_names_before_compilation = 9,
  name_expression_not_valid = 10,
  internal_error = 11,
  time_file_write_failed = 12,
  no_pch_create_attempted = 13,
  pch_create_heap_exhausted = 14,
  pch_create = 15,
  cancelled = 16,
  time_trace_file_write_failed = 17,
  missing_function = -1,  ///< ours: what the stub of a function that the loaded library lacks returns
};

enum class NvJitLinkResult : int {
  success = 0,
  unrecognized_option,
  missing_arch,
  invalid_input,
  ptx_compile,
  nvvm_compile,
  internal,
  threadpool,
  unrecognized_input,
  finalize,
  null_input,
  incompatible_options,
  incorrect_input_type,
  arch_mismatch,
  outdated_library,
  missing_fatbin,
  unrecognized_arch,
  unsupported_arch,
  lto_not_enabled,
  missing_function = -1,  ///< ours, as above
};

enum class NvvmResult : int {
  success = 0,
  out_of_memory,
  program_creation_failure,
  ir_version_mismatch,
  invalid_input,
  invalid_program,
  invalid_ir,
  invalid_option,
  no_module_in_program,
  compilation,
  cancelled,
  missing_function = -1,  ///< ours, as above
};

enum class NvJitLinkInput : int { none = 0, cubin, ptx, ltoir, fatbin, object, library, index, any = 10 };

}  // namespace cucore::toolkit
