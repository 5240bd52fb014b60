// The key of a compile: SHA-256 over every input, each with a label. What is put in, and why:
//   schema       what this file puts in
//   kind, target c++/ptx; ptx/cubin/ltoir
//   name         it is in messages, in __FILE__ and the name of the result
//   source, options, names, headers in memory
//   architecture exact, with its a or f suffix, also when it was the device's
//   compiler     version and build of NVRTC, nvJitLink or libNVVM
//   header       every file that #include could reach, by path and contents
//   folder       the current directory, when file names are recorded in the code (lineinfo, debug)
#include "src/compile/compile_key.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/program_cache.hpp"
#include "cucore/program_options.hpp"
#include "cucore/toolkit.hpp"
#include "src/compile/key_parts.hpp"
#include "src/compile/program_flags.hpp"
#include "src/compile/program_option_table.hpp"
#include "src/files/files.hpp"
#include "src/files/include_closure.hpp"
#include "src/toolkit/library.hpp"

namespace cucore {
namespace {

constexpr std::string_view key_schema = "2";

// Options with effects besides the result, or with inputs whose contents are not looked at.
std::string option_that_cannot_be_keyed(const ProgramOptions& o) {
  detail::PlacedTexts found;
  for (const detail::ProgramOptionLine& option : detail::program_option_lines()) {
    const bool is_one = option.key.way == detail::Handling::Way::not_cached && option.line.is_used(o);
    if (is_one) found.add(option.key, option.line.name);
  }
  std::string names;
  for (const std::string& name : found.take()) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? names : "the compile reads or writes other files: " + names;
}

// A library that is missing is another input than any that is there; the compile will say what is wrong.
void add_library(detail::KeyParts& key, const std::string& label, const ToolkitLibrary& library) {
  library.available ? key.add_library(label, library) : key.add(label + ", missing", {});
}

void add_driver(detail::KeyParts& key) {
  try {
    const DriverInfo driver = driver_info();
    key.add("driver", {driver.path, std::to_string(driver.version)});
  } catch (const Error&) {
    key.add("driver, missing", {});
  }
}

}  // namespace

bool detail::KeyAndFiles::still_holds() const {
  if (!files->is_settled() || !files->unchanged()) return false;
  std::error_code error;
  return !folder || *folder == std::filesystem::current_path(error);
}

CompileKey make_compile_key(std::string_view code, SourceType code_type, const ProgramOptions& options, CodeType target,
                            const std::vector<std::string>& name_expressions) {
  validate(options);
  const ProgramOptions resolved = options.archs.empty() ? detail::with_arch(options) : options;
  return *detail::read_compile_key(code, code_type, resolved, target, name_expressions).key;
}

detail::KeyAndFiles detail::read_compile_key(std::string_view code, SourceType code_type, const ProgramOptions& options,
                                             CodeType target, const std::vector<std::string>& name_expressions) {
  KeyAndFiles result;
  auto files = std::make_shared<FileSnapshot>();

  detail::KeyParts key;
  key.add("schema", {std::string(key_schema)});
  key.add("kind of source", {std::string(code_type.name())});
  key.add("target", {std::string(target.name())});
  key.add("name of the program", {options.name});
  key.add("source", {std::string(code)});
  key.add("architecture", options.archs.empty() ? std::vector{*options.arch} : options.archs);
  key.add("options", detail::flags_for(code_type, options, target));
  key.add("embed_ptx", {options.embed_ptx.value_or(true) ? "true" : "false"});

  std::string uncacheable;
  if (code_type == SourceType(SourceType::ptx)) {
    add_library(key, "nvJitLink", toolkit::nvjitlink_library());
    if (!toolkit::nvjitlink_library().available) add_driver(key);  // it links
    if (detail::has_times_in_log(options)) uncacheable = "the log has times in it: time";
  } else if (code_type == SourceType(SourceType::nvvm)) {
    add_library(key, "libNVVM", toolkit::nvvm_library());
    std::vector<std::string> modules;
    for (const auto& [name, text] : options.extra_sources) {
      modules.push_back(name);
      modules.push_back(text);
    }
    key.add("extra_sources", modules);
    if (options.use_libdevice.value_or(false)) {
      struct stat status{};
      const std::string path = toolkit::libdevice().string();
      if (::stat(path.c_str(), &status) == 0) {
        files->add_file(path, status);
      } else {
        files->add_absent(path);
      }
      key.add("libdevice", {detail::read_file(path).value_or("none")});
    }
  } else {
    add_library(key, "NVRTC", toolkit::nvrtc_library());
    std::vector<std::string> names = name_expressions;  // a mapping comes of them, which has no order
    std::sort(names.begin(), names.end());
    key.add("name expressions", names);
    std::vector<std::string> headers;
    for (const auto& [name, text] : options.headers) {
      headers.push_back(name);
      headers.push_back(text);
    }
    key.add("headers in memory", headers);
    const bool is_ltoir = target == CodeType(CodeType::ltoir) || options.link_time_optimization.value_or(false);
    if (options.lineinfo.value_or(false) || options.debug.value_or(false) || is_ltoir) {  // its name is in the result
      std::error_code error;
      result.folder = std::filesystem::current_path(error);
      key.add("current directory", {result.folder->string()});
    }
    uncacheable = option_that_cannot_be_keyed(options);
    if (uncacheable.empty()) {
      detail::IncludeClosure closure = detail::include_closure({.source = code,
                                                                .program_name = options.name,
                                                                .headers = options.headers,
                                                                .pre_include = options.pre_include,
                                                                .include_path = options.include_path,
                                                                .toolkit_path = toolkit_folders(options)});
      for (auto& [path, digest] : closure.files) key.add_digest("header " + path, std::move(digest));
      uncacheable = std::move(closure.unknowable);
      result.files = std::move(closure.snapshot);
    }
  }
  result.key = std::make_shared<const CompileKey>(key.finish(std::move(uncacheable)));
  if (result.files == nullptr) result.files = std::move(files);
  return result;
}

}  // namespace cucore
