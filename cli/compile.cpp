// `cucore compile FILE`: CUDA C++, PTX or NVVM IR to PTX, a cubin, LTO-IR or a fat binary, by NVRTC and its like.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"
#include "cucore/program_cache.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

ProgramOptions options_of(const CLI::App& command, const fs::path& source) {
  using Words = std::vector<std::string>;
  ProgramOptions options;
  options.name = source.string();
  const auto archs = value_of<Words>(command, "--arch");
  if (archs.size() == 1) options.arch = archs.front();
  if (archs.size() > 1) options.archs = archs;
  options.define_macro = value_of<Words>(command, "--define-macro");
  options.include_path = value_of<Words>(command, "--include-path");
  if (source.has_parent_path()) options.include_path.push_back(source.parent_path());
  options.ptxas_options = value_of<Words>(command, "--ptxas-option");
  if (command.count("--std") > 0) options.std = value_of<std::string>(command, "--std");
  if (command.count("--max-register-count") > 0) {
    options.max_register_count = value_of<int>(command, "--max-register-count");
  }
  if (command.count("--lineinfo") > 0) options.lineinfo = true;
  if (command.count("--debug") > 0) options.debug = true;
  if (command.count("--use-fast-math") > 0) options.use_fast_math = true;
  if (command.count("--relocatable-device-code") > 0) options.relocatable_device_code = true;
  return options;
}

SourceType source_type(const fs::path& source) {
  const std::string extension = source.extension();
  if (extension == ".ptx") return SourceType::ptx;
  return extension == ".ll" || extension == ".bc" ? SourceType::nvvm : SourceType::cxx;
}

int run_compile(const CLI::App& command) {
  const fs::path source = value_of<std::string>(command, "FILE");
  std::ifstream stream(source, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || text.empty()) {
    std::fprintf(stderr, "cucore compile: %s cannot be read, or is empty\n", source.c_str());
    return 1;
  }
  const auto word = value_of<std::string>(command, "--to", "cubin");
  const bool as_fat_binary = word == "fatbin";
  const Program program(text, source_type(source), options_of(command, source));
  ProgramCache cache;
  CompileReport report;
  ObjectCode code = program.compile(as_fat_binary ? "cubin" : word.c_str(),
                                    value_of<std::vector<std::string>>(command, "--name-expression"),
                                    {.cache = command.count("--no-cache") > 0 ? nullptr : &cache, .report = &report});
  if (as_fat_binary && !(code.code_type() == CodeType::fatbin)) code = ObjectCode::from_images({{.code = code}});
  if (!report.log.empty()) std::fprintf(stderr, "%s\n", report.log.c_str());
  const std::string output =
      value_of<std::string>(command, "--output", source.stem().string() + "." + std::string(code.code_type().name()));
  const std::string bytes = code.read();
  if (output == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return 0;
  }
  std::ofstream file(output, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) {
    std::fprintf(stderr, "cucore compile: %s cannot be written\n", output.c_str());
    return 1;
  }
  if (wants_json(command)) {
    std::vector<std::string> kernels;
    for (const std::string& kernel : code.kernel_names()) kernels.push_back(json_text(kernel));
    JsonObject json;
    json.text("output", output).text("type", code.code_type().name()).number("bytes", bytes.size());
    json.flag("from_cache", report.cache == CacheResult::hit).raw("kernels", json_array(kernels));
    std::printf("%s\n", json.str().c_str());
  }
  return 0;
}

}  // namespace

void add_compile(CLI::App& tool, int& status) {
  CLI::App& command =
      add_command(tool, status, "compile", "Compile a source to PTX, a cubin, LTO-IR or a fat binary", run_compile);
  add_value(command, "FILE", "CUDA C++ (.cu), PTX (.ptx) or NVVM IR (.ll, .bc)")->required()->type_name("");
  add_value(command, "--to", "what to make: ptx, cubin (if nothing is said), ltoir, fatbin")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"ptx", "cubin", "ltoir", "fatbin"}));
  add_value(command, "-o,--output", "where to; '-' is standard output; otherwise named after the source")
      ->type_name("FILE");
  const auto words = [&](const char* names, const char* meaning, const char* type) {
    add_value(command, names, meaning)->type_name(type)->expected(1)->take_all();
  };
  words("--arch", "sm_90, compute_90, ...; otherwise the device's; several make a fat binary", "ARCH");
  words("-D,--define-macro", "a macro", "NAME[=VALUE]");
  words("-I,--include-path", "a folder of headers", "FOLDER");
  words("--name-expression", "a template's instance to compile, such as 'axpy<float>'", "NAME");
  words("--ptxas-option", "one more option for ptxas", "OPTION");
  add_value(command, "--std", "c++11, c++14, c++17, c++20")->type_name("STANDARD");
  add_value(command, "--max-register-count", "registers of a thread at most")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_flag(command, "--lineinfo", "keep source lines");
  add_flag(command, "--debug", "compile for a debugger");
  add_flag(command, "--use-fast-math", "faster and less exact");
  add_flag(command, "--relocatable-device-code", "for linking with other code");
  add_flag(command, "--no-cache", "compile even if the result is kept from last time");
  add_json(command);
}

}  // namespace cucore::cli
