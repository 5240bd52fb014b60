// What the tests of the code generator run kernels on: one host thread, one block after the other, and the services of
// kernel_abi.hpp on plain fibers. Simple rather than fast; the real run-time has its own tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/loader/compiler.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu {

struct CheckTable;

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// What kernels left behind besides memory.
struct Observations {
  std::string printed;
  std::string assertion;
  int traps = 0;
  int yields = 0;
  int laps = 0;
};
Observations& observations();

/// A processor for CompileOptions::march of which every one that tests run on is a newer kind, and whose vectors have
/// no mask registers.
#if defined(__aarch64__)
inline constexpr const char* plain_processor = "armv8-a";
#else
inline constexpr const char* plain_processor = "x86-64-v3";
#endif

/// The form that tests run kernels in if they name none: CUCORE_CPU_FORM, else the scalar one.
FormOfCode form_under_test();

/// One parsed module and the memory of its variables; kernels compile on first launch. Fails the running test, with the
/// text of the error, if the PTX does not parse or compile.
class TestModule {
 public:
  explicit TestModule(std::string_view text, FormOfCode form_ = form_under_test());
  ~TestModule();

  /// Runs every block of a grid. `parameters` is the kernel's parameter block.
  void launch_block_of_bytes(std::string_view kernel, Extent grid, Extent block, std::uint32_t dynamic_shared,
                             const std::vector<std::byte>& parameters);

  template <typename... Parameters>
  void launch(std::string_view kernel, Extent grid, Extent block, Parameters... parameters) {
    launch_with_shared(kernel, grid, block, 0, parameters...);
  }
  template <typename... Parameters>
  void launch_with_shared(std::string_view kernel, Extent grid, Extent block, std::uint32_t dynamic_shared,
                          Parameters... parameters) {
    std::vector<std::byte> bytes;
    (append(bytes, parameters), ...);
    launch_block_of_bytes(kernel, grid, block, dynamic_shared, bytes);
  }

  const Code* compile(std::string_view kernel, Extent block = {});
  const FormOfCode form;
  std::string refusal;      ///< of the vector form, by the kernel compiled last
  bool was_cached = false;  ///< the kernel compiled last
  loader::KernelCache* cache = nullptr;
  std::uint32_t checks = 0;                 ///< of CompileOptions
  const CheckTable* check_table = nullptr;  ///< what checked code needs to run
  std::string march;  ///< of CompileOptions: what CUCORE_CPU_MARCH says, until the test says otherwise
  const ptx::Module& module() const { return *module_; }
  void* variable(std::string_view name) const;

 private:
  template <typename Parameter>
  static void append(std::vector<std::byte>& bytes, const Parameter& parameter) {
    static_assert(std::is_trivially_copyable_v<Parameter>);
    const std::size_t at = (bytes.size() + alignof(Parameter) - 1) / alignof(Parameter) * alignof(Parameter);
    bytes.resize(at + sizeof(Parameter));
    std::memcpy(bytes.data() + at, &parameter, sizeof(Parameter));
  }

  std::unique_ptr<ptx::Module> module_;
  std::vector<std::vector<std::uint64_t>> storage_;
  loader::ModuleAddresses addresses_;
  struct Variant {
    std::string kernel;
    Extent block;
    std::unique_ptr<Code> code;
  };
  std::vector<Variant> compiled_;
};

/// The value, or an exception with the sentence of the failure.
template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.failure().sentence());
  return *std::move(result);
}

/// The contents of a file under cpu/tests.
std::string read_test_file(const std::string& path);

}  // namespace cucore::cpu
