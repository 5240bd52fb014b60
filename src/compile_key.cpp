// The key of a compile: SHA-256 over every input, each with a label. What is put in, and why:
//   schema       what this file puts in
//   kind, target c++/ptx; ptx/cubin/ltoir
//   name         it is in messages, in __FILE__ and the name of the result
//   source, options, names, headers in memory
//   architecture exact, with its a or f suffix, also when it was the device's
//   compiler     version and build of NVRTC or nvJitLink
//   header       every file that #include could reach, by path and contents
//   folder       the current directory, when file names are recorded in the code (lineinfo, debug)
#include <filesystem>
#include <system_error>

#include "cucore/error.hpp"
#include "cucore/program_cache.hpp"
#include "cucore/program_options.hpp"
#include "cucore/toolkit.hpp"
#include "src/detail/include_closure.hpp"
#include "src/detail/key_parts.hpp"
#include "src/program_flags.hpp"
#include "src/toolkit/library.hpp"

namespace cucore {
namespace {

constexpr std::string_view kSchema = "1";

// Options with effects besides the result, or with inputs whose contents are not looked at.
std::string option_that_cannot_be_keyed(const ProgramOptions& o) {
  std::string names;
  const auto note = [&](bool set, const char* name) {
    if (set) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  note(o.time.has_value(), "time");
  note(o.fdevice_time_trace.has_value(), "fdevice_time_trace");
  note(o.create_pch.has_value(), "create_pch");
  note(o.use_pch.has_value(), "use_pch");
  note(o.pch_dir.has_value(), "pch_dir");
  note(o.pch.value_or(false), "pch");
  return names.empty() ? names : "the compile reads or writes other files: " + names;
}

}  // namespace

CompileKey make_compile_key(std::string_view code, SourceType code_type, const ProgramOptions& options, CodeType target,
                            const std::vector<std::string>& name_expressions) {
  validate(options);
  const ProgramOptions resolved = detail::with_arch(options);
  const bool cxx = code_type == SourceType(SourceType::cxx);

  detail::KeyParts key;
  key.add("schema", {std::string(kSchema)});
  key.add("kind of source", {std::string(code_type.name())});
  key.add("target", {std::string(target.name())});
  key.add("name of the program", {options.name});
  key.add("source", {std::string(code)});
  key.add("architecture", {*resolved.arch});
  key.add("options", detail::flags_for(code_type, resolved, target));
  key.add("embed_ptx", {options.embed_ptx.value_or(true) ? "true" : "false"});

  std::string uncacheable;
  if (!cxx) {
    (void)toolkit::nvjitlink();
    key.add_library("nvJitLink", toolkit::nvjitlink_library());
  } else {
    (void)toolkit::nvrtc();
    key.add_library("NVRTC", toolkit::nvrtc_library());
    key.add("name expressions", name_expressions);
    std::vector<std::string> headers;
    for (const auto& [name, text] : options.headers) {
      headers.push_back(name);
      headers.push_back(text);
    }
    key.add("headers in memory", headers);
    if (options.lineinfo.value_or(false) || options.debug.value_or(false)) {
      std::error_code error;
      key.add("current directory", {std::filesystem::current_path(error).string()});
    }
    uncacheable = option_that_cannot_be_keyed(options);
    if (uncacheable.empty()) {
      detail::IncludeClosure closure = detail::include_closure(
          {.source = code,
           .program_name = options.name,
           .headers = options.headers,
           .pre_include = options.pre_include,
           .include_path = options.include_path,
           .toolkit_path = options.toolkit_headers.value_or(true) ? toolkit::include_paths()
                                                                  : std::vector<std::filesystem::path>()});
      for (auto& [path, digest] : closure.files) key.add_digest("header " + path, std::move(digest));
      uncacheable = std::move(closure.unknowable);
    }
  }
  return key.finish(std::move(uncacheable));
}

}  // namespace cucore
