// Finds and opens the compiler beside this library, once: see compiler_library.hpp.
#include "cpu/loader/compiler_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>

#include "compiler_interface.hpp"
#include "cpu/loader/cache/host_identity.hpp"

namespace cucore::cpu::loader {
namespace {

constexpr const char* file_name = "libcucore-cpu-compiler.so";
constexpr const char* entry_point_name = "cucore_cpu_compiler";
using EntryPoint = const CompilerLibrary* (*)();

Result<const CompilerLibrary*> open_library() {
  const std::string& path = compiler_library_path();
  // LLVM's names must not clash with others: the library exports one name, and binds its own names to itself.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return Failure(ErrorCode::JitCompilerNotFound,
                   "the CPU device's compiler cannot be opened (it lies beside libcuda.so.1: install both): " +
                       std::string(reason != nullptr ? reason : path));
  }
  const auto entry_point = reinterpret_cast<EntryPoint>(dlsym(library, entry_point_name));
  const CompilerLibrary* const opened = entry_point != nullptr ? entry_point() : nullptr;
  if (opened == nullptr || std::string_view(opened->interface) != compiler_interface) {
    return Failure(ErrorCode::JitCompilerNotFound,
                   "the CPU device's compiler " + path + " is of another build than its driver: install both again");
  }
  return opened;
}

}  // namespace

const std::string& compiler_library_path() {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& path = *new std::string([]() -> std::string {
    std::error_code failed;
    const std::filesystem::path file = std::filesystem::canonical(own_library().file, failed);
    if (failed) return {};
    return file.parent_path() / file_name;
  }());
  return path;
}

Result<const CompilerLibrary*> open_compiler_library() {
  static auto& mutex = *new std::mutex;
  static const CompilerLibrary* opened = nullptr;
  const std::lock_guard lock(mutex);
  if (opened == nullptr) {
    Result<const CompilerLibrary*> library = open_library();
    if (!library) return library;
    opened = *library;
  }
  return opened;
}

}  // namespace cucore::cpu::loader
