// `cucore dump [--fidelity|--ptx|--ir|--assembly] [--kernel NAME] [--block X,Y,Z] FILE`: what the CPU device makes of
// the kernels in a file of PTX, a cubin or a fat binary.
#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/commands.hpp"
#include "cpu/api/cucore_cpu.h"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"

namespace {

constexpr const char* dump_usage =
    "usage: cucore dump [--fidelity|--ptx|--ir|--assembly] [--kernel NAME] [--block X,Y,Z] FILE\n";

struct Request {
  std::string what = "fidelity";
  std::string kernel;
  std::string file;
  unsigned block[3] = {256, 1, 1};
};

/// False if the words make no request.
bool read(cucore::cli::Arguments arguments, Request& request) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string word(arguments[i]);
    const bool has_next = i + 1 < arguments.size();
    if (word == "--fidelity" || word == "--ptx" || word == "--ir" || word == "--assembly") {
      request.what = word.substr(2);
    } else if (word == "--kernel" && has_next) {
      request.kernel = arguments[++i];
    } else if (word == "--block" && has_next) {
      unsigned* const block = request.block;
      block[1] = block[2] = 1;
      if (std::sscanf(std::string(arguments[++i]).c_str(), "%u,%u,%u", &block[0], &block[1], &block[2]) < 1)
        return false;
      if (block[0] == 0 || block[1] == 0 || block[2] == 0) return false;
    } else if (word.starts_with('-') || !request.file.empty()) {
      return false;
    } else {
      request.file = word;
    }
  }
  return !request.file.empty();
}

void append(void* to, const char* text, size_t size) { static_cast<std::string*>(to)->append(text, size); }

}  // namespace

int cucore::cli::dump(Arguments arguments) {
  Request request;
  if (!read(arguments, request)) {
    std::fputs(dump_usage, stderr);
    return 2;
  }
  std::ifstream file(request.file, std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || image.empty()) {
    std::fprintf(stderr, "cucore dump: %s cannot be read, or is empty\n", request.file.c_str());
    return 1;
  }
  const std::string path = cpu_driver_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UnavailableError({.call = "dlopen", .message = dlerror()});
  using Dump = decltype(cucore_cpu_dump);
  auto* const dump_image = reinterpret_cast<Dump*>(dlsym(library, "cucore_cpu_dump"));
  if (dump_image == nullptr)
    throw UnavailableError({.call = "cucore_cpu_dump", .message = path + " is not this version's CPU device"});
  std::string text;
  const int result = dump_image(image.c_str(), image.size(), request.kernel.c_str(), request.what.c_str(),
                                request.block, append, &text);
  if (result == 0) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  std::fprintf(stderr, "cucore dump: %s: %s\n", request.file.c_str(), text.c_str());
  return 1;
}
