// The three libraries of the toolkit as tables of functions, opened on first use. A function that the loaded library
// does not have is a stub of the same type that returns `missing_function`, so that no caller tests for null; check()
// turns that into an error that names the version that has it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/toolkit.hpp"
#include "src/toolkit/abi.hpp"

namespace cucore::toolkit {

struct NvrtcTable {
#define NVRTC_FUNCTION(name, version, parameters) NvrtcResult(*name) parameters;
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
};

struct NvJitLinkTable {
#define NVJITLINK_FUNCTION(name, version, parameters) NvJitLinkResult(*name) parameters;
#include "src/toolkit/functions.def"
#undef NVJITLINK_FUNCTION
};

struct NvvmTable {
#define NVVM_FUNCTION(name, version, parameters) NvvmResult(*name) parameters;
#include "src/toolkit/functions.def"
#undef NVVM_FUNCTION
};

/// The functions of NVRTC. Throws UnavailableError, with the places that were tried, if there is none.
const NvrtcTable& nvrtc();

/// The functions of nvJitLink, 12.3 or newer. Throws UnavailableError if there is none or it is too old.
const NvJitLinkTable& nvjitlink();

/// The functions of libNVVM. Throws UnavailableError if there is none.
const NvvmTable& nvvm();

/// What was found; the same objects every time. Each opens only the library it describes.
const ToolkitLibrary& nvrtc_library();
const ToolkitLibrary& nvjitlink_library();
const ToolkitLibrary& nvvm_library();
/// The file of libdevice that belongs to libNVVM; empty if there is none.
const std::filesystem::path& libdevice();
/// The toolkit's header folders: those beside NVRTC, else the first of its major version in the places it was looked
/// for.
const std::vector<std::filesystem::path>& include_paths();

/// Symbolic names, e.g. "NVRTC_ERROR_COMPILATION", "NVJITLINK_ERROR_PTX_COMPILE"; "unknown" for other numbers.
std::string_view name_of(NvrtcResult result) noexcept;
std::string_view name_of(NvJitLinkResult result) noexcept;
std::string_view name_of(NvvmResult result) noexcept;

/// Throws NvrtcError / NvJitLinkError / NvvmError (UnavailableError for missing_function) if the call failed. `what`
/// names what was being done and to what, e.g. "compiling program 'axpy' for sm_90".
void check(NvrtcResult result, std::string_view call, std::string_view what, std::string log = {},
           std::string hint = {});
void check(NvJitLinkResult result, std::string_view call, std::string_view what, std::string log = {},
           std::string hint = {});
void check(NvvmResult result, std::string_view call, std::string_view what, std::string log = {},
           std::string hint = {});

}  // namespace cucore::toolkit
