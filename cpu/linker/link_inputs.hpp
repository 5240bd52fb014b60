// The inputs of a link, of any kind, and what the CPU device links: the PTX of each unit, or PTX made from its LTO-IR.
// Of libraries only what others need is taken. A unit with machine code alone is not an error unless one needs it.
//
//   LinkInputs inputs;
//   inputs.add_ptx(text, "main");
//   inputs.add(bytes, "libdevice_code.a", 90);
//   Result<std::vector<PtxModule>> modules = inputs.modules(compile_lto_ir);
//   if (modules) checked = inputs.check_machine_code(*modules);
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/image/device_units.hpp"

namespace cucore::cpu::linker {

struct PtxModule {
  std::string ptx;
  std::string name;  ///< of the input; of a member of a library "input(member)"
  bool is_for_this_device = false;
};

struct LtoIr {
  std::string bytes;
  bool is_fat_binary = false;  ///< the LTO-IR lies in one
};

/// PTX of all `parts` together, in which code outside finds the functions in `kept`, as far as they are there.
using CompileLtoIr =
    std::function<Result<std::string>(const std::vector<LtoIr>& parts, const std::set<std::string>& kept)>;

class LinkInputs {
 public:
  void add_ptx(std::string ptx, std::string name, bool is_for_this_device = false);
  void add_lto_ir(std::string bytes, std::string name);
  /// A cubin, fat binary, host object or library: what of it fits a device of `architecture`. Fails with InvalidImage.
  Result<void> add(std::string_view bytes, const std::string& name, std::uint32_t architecture);

  /// What has to be linked. Fails as `compile` does, which is called only if there is LTO-IR.
  Result<std::vector<PtxModule>> modules(const CompileLtoIr& compile) const;

  /// NoBinaryForGpu if machine code alone defines what `modules` need, or what a program could ask for: a kernel or a
  /// variable of an input that is not a library. The sentence names inputs and symbols.
  Result<void> check_machine_code(const std::vector<PtxModule>& modules) const;

 private:
  struct Unit {
    std::string name = {};
    bool is_in_library = false;
    image::DeviceUnit code = {};
  };

  std::vector<Unit> units_;
  std::vector<LtoIr> lto_ir_;  ///< of units without PTX, also in libraries: a link drops what nothing needs
};

}  // namespace cucore::cpu::linker
