// cucore-embed: makes a header of a CUDA source, with one typed function for each kernel. cucore_embed of CMake runs
// it.
//
//   cucore-embed --output FILE.hpp --namespace NAME [--std c++17] [--arch sm_90]... [--include FOLDER]... SOURCE.cu
//
// With --arch the code is compiled here, and the header holds a fat binary instead of the source.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/embed/declarations.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"

namespace {

using cucore::embed::Declaration;
using cucore::embed::Parameter;

constexpr const char* usage =
    "usage: cucore-embed --output FILE.hpp --namespace NAME [--std WORD] [--arch sm_NN]... [--include FOLDER]... "
    "SOURCE.cu\n";

struct Request {
  std::string output;
  std::string name_space;
  std::string standard = "c++17";
  std::vector<std::string> archs;
  std::vector<std::string> include_path;
  std::string source;
};

bool read(int count, char** words, Request& request) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!word.starts_with("--")) {
      if (!request.source.empty()) return false;
      request.source = word;
      continue;
    }
    if (i + 1 == count) return false;
    const std::string value = words[++i];
    if (word == "--output") {
      request.output = value;
    } else if (word == "--namespace") {
      request.name_space = value;
    } else if (word == "--std") {
      request.standard = value;
    } else if (word == "--arch") {
      request.archs.push_back(value);
    } else if (word == "--include") {
      request.include_path.push_back(value);
    } else {
      return false;
    }
  }
  return !request.output.empty() && !request.name_space.empty() && !request.source.empty();
}

// Bytes as the elements of an array; a terminating 0 is added.
std::string elements(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += std::to_string(static_cast<unsigned char>(bytes[i])) + ",";
    if (i % 32 == 31) text += '\n';
  }
  return text + "0";
}

// Without its namespaces.
std::string function_of(const Declaration& kernel) { return kernel.name.substr(kernel.name.rfind(':') + 1); }

std::string function_text(const Declaration& kernel) {
  std::string types, parameters, arguments, unknown;
  for (const Parameter& parameter : kernel.parameters) {
    std::string type = parameter.type;
    if (type.empty()) {  // a struct of the source: the caller's of the same size
      type = "type_of_" + parameter.name;
      unknown += (unknown.empty() ? "class " : ", class ") + type;
    }
    types += (types.empty() ? "" : ", ") + type;
    parameters += parameter.type.empty() ? ", const " + type + "& " + parameter.name
                                         : ", const cucore::detail::Passed<" + type + ">& " + parameter.name;
    arguments += ", " + parameter.name;
  }
  std::string text = "/// " + kernel.text + "\n";
  if (!unknown.empty()) text += "template <" + unknown + ">\n";
  text += "inline void " + function_of(kernel) + "(const cucore::Stream& stream_, const cucore::LaunchConfig& config_" +
          parameters + ") {\n" + "  static cucore::EmbeddedKernel<" + types + "> kernel(embedded_code(), \"" +
          kernel.name + "\");\n" + "  kernel.launch(stream_, config_" + arguments + ");\n}\n\n";
  return text;
}

std::string header_of(const Request& request, std::string_view source) {
  const std::string file = std::filesystem::path(request.source).filename().string();
  std::vector<Declaration> kernels = cucore::embed::kernels_of(source);
  std::string left_out;
  for (const Declaration& kernel : kernels)
    if (kernel.is_template) left_out += "// A template has no function here: " + kernel.text + "\n";
  std::erase_if(kernels, [](const Declaration& kernel) { return kernel.is_template; });
  if (kernels.empty())
    throw std::runtime_error(request.source + ": has no kernel (a __global__ function that is no template)");
  for (const Declaration& kernel : kernels)
    if (std::count_if(kernels.begin(), kernels.end(),
                      [&](const Declaration& other) { return function_of(other) == function_of(kernel); }) > 1)
      throw std::runtime_error(request.source + ": two kernels are called " + function_of(kernel));

  std::string bytes(source);
  std::string made = "{.name = \"" + file + "\", .std = \"" + request.standard + "\"}";
  std::string how = "compiled by NVRTC at the first launch on a device, through the user's cache";
  if (!request.archs.empty()) {
    cucore::ProgramOptions options;
    options.name = file;
    options.std = request.standard;
    options.archs = request.archs;
    options.include_path.assign(request.include_path.begin(), request.include_path.end());
    const cucore::ObjectCode code = cucore::Program(source, "c++", options).compile("cubin");
    bytes = code.read();
    how = "compiled ahead for";
    for (const std::string& arch : request.archs) how += " " + arch;
  }
  std::string text = "// Made by cucore_embed of " + file + ", do not edit: its kernels, " + how + ".\n" + left_out +
                     "#pragma once\n\n#include <cucore/embedded.hpp>\n\nnamespace " + request.name_space + " {\n\n";
  text += "inline cucore::EmbeddedCode& embedded_code() {\n  static constexpr unsigned char bytes[] = {\n";
  text += elements(bytes) +
          "};\n  const std::string_view text(reinterpret_cast<const char*>(bytes), sizeof bytes - 1);\n"
          "  static cucore::EmbeddedCode code(";
  if (request.archs.empty()) {
    text += "text, " + made;
  } else {
    text += "\"" + std::string(request.archs.size() > 1 ? "fatbin" : "cubin") + "\", text, \"" + file + "\"";
  }
  text += ");\n  return code;\n}\n\n";
  for (const Declaration& kernel : kernels) text += function_text(kernel);
  return text + "}  // namespace " + request.name_space + "\n";
}

}  // namespace

int main(int count, char** words) try {
  Request request;
  if (!read(count, words, request)) return std::fputs(usage, stderr), 2;
  std::ifstream file(request.source, std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw std::runtime_error(request.source + ": cannot be read");
  const std::string header = header_of(request, source);
  std::ofstream output(request.output, std::ios::binary);
  if (!output.write(header.data(), static_cast<std::streamsize>(header.size())).flush())
    throw std::runtime_error(request.output + ": cannot be written");
} catch (const std::exception& error) {
  std::fprintf(stderr, "cucore-embed: %s\n", error.what());
  return 1;
}
