// `cucore compile FILE ...`: CUDA C++, PTX or NVVM IR to PTX, a cubin, LTO-IR or a fat binary, by NVRTC and its like.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"
#include "cucore/program_cache.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

SourceType source_type(const fs::path& source) {
  const std::string extension = source.extension();
  if (extension == ".ptx") return SourceType::ptx;
  return extension == ".ll" || extension == ".bc" ? SourceType::nvvm : SourceType::cxx;
}

ProgramOptions options_of(const CLI::App& command, const fs::path& source) {
  using Words = std::vector<std::string>;
  ProgramOptions options;
  options.name = source.string();
  const auto archs = value_of<Words>(command, "--arch");
  if (archs.size() == 1) options.arch = archs.front();
  if (archs.size() > 1) options.archs = archs;
  options.define_macro = value_of<Words>(command, "--define-macro");
  options.include_path = value_of<Words>(command, "--include-path");
  const bool includes_what_lies_beside_it = source_type(source) == SourceType::cxx && source.has_parent_path();
  if (includes_what_lies_beside_it) options.include_path.push_back(source.parent_path());
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

/// What came of one source: what goes to standard output and to standard error.
struct Outcome {
  bool failed = true;
  std::string facts;  ///< as JSON
  std::string messages;
};

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || text.empty()) throw std::runtime_error(path.string() + " cannot be read, or is empty");
  return text;
}

/// The file to write: what --output says, in that folder if it is one, else named after the source.
fs::path output_for(const CLI::App& command, const fs::path& source, const ObjectCode& code) {
  const fs::path wanted = value_of<std::string>(command, "--output");
  std::string name = source.stem().string() + "." + std::string(code.code_type().name());
  if (wanted.empty()) return name;
  return fs::is_directory(wanted) ? wanted / name : wanted;
}

void compile_one(const CLI::App& command, ProgramCache& cache, const fs::path& source, Outcome& outcome) {
  const auto word = value_of<std::string>(command, "--to", "cubin");
  const bool as_fat_binary = word == "fatbin";
  const Program program(read_file(source), source_type(source), options_of(command, source));
  CompileReport report;
  ObjectCode code = program.compile(as_fat_binary ? "cubin" : word.c_str(),
                                    value_of<std::vector<std::string>>(command, "--name-expression"),
                                    {.cache = command.count("--no-cache") > 0 ? nullptr : &cache, .report = &report});
  if (as_fat_binary && !(code.code_type() == CodeType::fatbin)) code = ObjectCode::from_images({{.code = code}});
  if (!report.log.empty()) outcome.messages = report.log + "\n";
  const fs::path output = output_for(command, source, code);
  const std::string bytes = code.read();
  if (output == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    outcome.failed = false;
    return;
  }
  std::ofstream file(output, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error(output.string() + " cannot be written");
  std::vector<std::string> kernels;
  for (const std::string& kernel : code.kernel_names()) kernels.push_back(json_text(kernel));
  JsonObject json;
  json.text("source", source.string()).text("output", output.string());
  json.text("type", code.code_type().name()).number("bytes", bytes.size());
  json.flag("from_cache", report.cache == CacheResult::hit).raw("kernels", json_array(kernels));
  outcome.facts = json.str();
  outcome.failed = false;
}

/// All sources, as many side by side as --jobs says; each gets its outcome.
std::vector<Outcome> compile_each(const CLI::App& command, const std::vector<std::string>& sources) {
  ProgramCache cache;
  std::vector<Outcome> outcomes(sources.size());
  Progress progress("cucore compile", sources.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        compile_one(command, cache, sources[i], outcomes[i]);
      } catch (const std::exception& error) {
        outcomes[i].messages = "cucore compile: " + std::string(error.what()) + "\n";
      }
      progress.advance();
    }
  };
  const auto jobs = value_of<std::size_t>(command, "--jobs", std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(jobs, sources.size()); ++i) workers.emplace_back(work);
  work();
  workers.clear();  // waits for them
  return outcomes;
}

int run_compile(const CLI::App& command) {
  const auto sources = value_of<std::vector<std::string>>(command, "FILE");
  const auto output = value_of<std::string>(command, "--output");
  if (sources.size() > 1 && !output.empty() && !fs::is_directory(output)) {
    std::fprintf(stderr, "cucore compile: --output wants a folder that exists for several files, not '%s'\n",
                 output.c_str());
    return 2;
  }
  std::set<std::string> stems;
  for (const std::string& source : sources) {
    if (stems.insert(fs::path(source).stem()).second) continue;
    std::fprintf(stderr, "cucore compile: two files would give the same output as '%s'\n", source.c_str());
    return 2;
  }
  const std::vector<Outcome> outcomes = compile_each(command, sources);
  std::vector<std::string> facts;
  for (const Outcome& outcome : outcomes) {
    std::fputs(outcome.messages.c_str(), stderr);
    if (!outcome.facts.empty()) facts.push_back(outcome.facts);
  }
  if (wants_json(command) && output != "-") {
    if (sources.size() > 1) {
      std::printf("%s\n", json_array(facts).c_str());
    } else if (!facts.empty()) {
      std::printf("%s\n", facts.front().c_str());
    }
  }
  const auto failed = [](const Outcome& outcome) { return outcome.failed; };
  return std::any_of(outcomes.begin(), outcomes.end(), failed) ? 1 : 0;
}

}  // namespace

void add_compile(CLI::App& tool, int& status) {
  CLI::App& command =
      add_command(tool, status, "compile", "Compile sources to PTX, cubins, LTO-IR or fat binaries", run_compile);
  add_value(command, "FILE", "CUDA C++ (.cu), PTX (.ptx) or NVVM IR (.ll, .bc); several are compiled side by side")
      ->required()
      ->expected(-1)
      ->take_all()
      ->type_name("");
  add_value(command, "--to", "what to make: ptx, cubin (if nothing is said), ltoir, fatbin")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"ptx", "cubin", "ltoir", "fatbin"}));
  add_value(command, "-o,--output",
            "where to: a file, a folder, '-' for standard output; otherwise named after the source")
      ->type_name("FILE");
  add_value(command, "-j,--jobs", "how many files are compiled at the same time; otherwise one a core")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
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
